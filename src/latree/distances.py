"""Distances between columns that need no number of hidden states."""

import numpy as np

from latree.arrays import FloatArray
from latree.table import Table
from latree.tables import pair_tables
from latree.tensor import nuclear_norms

ROUNDING = 1e-14  # what independent columns may seem to depend on each other by


def nuclear_distance(table: Table) -> FloatArray:
    """Measure how far two columns are from depending on each other: ``-log ‖P_ij - p_i p_jᵀ‖_*``.

    The nuclear norm of the centred pair table is zero if and only if the columns are independent.

    Returns
    -------
    array, shape (d, d)
        Symmetric; infinite where two columns are exactly independent or never present together.
    """
    first, second = np.triu_indices(table.n_columns)
    counts = pair_tables(table)[first, second]
    total = counts.sum(axis=(1, 2), keepdims=True)
    joint = counts / np.where(total > 0, total, 1)
    centred = joint - joint.sum(axis=2, keepdims=True) * joint.sum(axis=1, keepdims=True)
    norms = nuclear_norms(centred)
    norms[norms < ROUNDING] = 0
    with np.errstate(divide="ignore"):
        upper = -np.log(norms)
    distance = np.empty((table.n_columns, table.n_columns))
    distance[first, second] = distance[second, first] = upper
    return distance
