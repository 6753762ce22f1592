"""Distances between columns that need no number of hidden states."""

import numpy as np
from numpy.typing import NDArray

from latree.arrays import FloatArray
from latree.table import Table
from latree.tables import column_tables
from latree.tensor import nuclear_norms

_CELLS_AT_ONCE = 2**22  # pair tables are made and measured so many cells at a time
ROUNDING = 1e-14  # what independent columns may seem to depend on each other by


def nuclear_distance(table: Table) -> FloatArray:
    """Measure how far two columns are from depending on each other: ``-log ‖P_ij - p_i p_jᵀ‖_*``.

    The nuclear norm of the centred pair table is zero if and only if the columns are independent.

    Returns
    -------
    array, shape (d, d)
        Symmetric; infinite where two columns are exactly independent or never present together.
    """
    d, n = table.n_columns, int(table.n_states.max())
    step = max(1, _CELLS_AT_ONCE // (d * n * n))
    distance = np.empty((d, d))
    for i in range(0, d, step):
        distance[i : i + step] = _from_counts(column_tables(table, i, min(i + step, d)))
    return np.where(np.tri(d, dtype=bool), distance.T, distance)  # rounding must not make it lopsided


def _from_counts(counts: NDArray[np.int64] | FloatArray) -> FloatArray:
    total = counts.sum(axis=(2, 3), keepdims=True)
    joint = counts / np.where(total > 0, total, 1)
    norms = nuclear_norms(joint - joint.sum(axis=3, keepdims=True) * joint.sum(axis=2, keepdims=True))
    norms[norms < ROUNDING] = 0
    with np.errstate(divide="ignore"):
        return -np.log(norms)
