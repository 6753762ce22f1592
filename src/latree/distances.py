"""How much every two columns depend on each other, without a number of hidden states."""

from collections.abc import Callable

import numpy as np

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

    def measure(joint: FloatArray, product: FloatArray) -> FloatArray:
        norms = nuclear_norms(joint - product)
        norms[norms < ROUNDING] = 0
        with np.errstate(divide="ignore"):
            return -np.log(norms)

    return _pairwise(table, measure)


def mutual_information(table: Table) -> FloatArray:
    """Give the mutual information of every two columns, in nats: ``Σ P_ij log(P_ij / (p_i p_j))``.

    Returns
    -------
    array, shape (d, d)
        Symmetric, never negative; a column's entropy on the diagonal; 0 for columns that are never present together.
    """

    def measure(joint: FloatArray, product: FloatArray) -> FloatArray:
        ratio = np.divide(joint, product, out=np.ones_like(joint), where=joint > 0)
        return np.asarray(np.maximum((joint * np.log(ratio)).sum(axis=(2, 3)), 0))

    return _pairwise(table, measure)


def _pairwise(table: Table, measure: Callable[[FloatArray, FloatArray], FloatArray]) -> FloatArray:
    """Measure all pairs, some columns at a time, from their joint tables and the products of their marginals."""
    d, n = table.n_columns, int(table.n_states.max())
    step = max(1, _CELLS_AT_ONCE // (d * n * n))
    result = np.empty((d, d))
    for i in range(0, d, step):
        counts = column_tables(table, i, min(i + step, d))
        total = counts.sum(axis=(2, 3), keepdims=True)
        joint = counts / np.where(total > 0, total, 1)
        product = joint.sum(axis=3, keepdims=True) * joint.sum(axis=2, keepdims=True)
        result[i : i + step] = measure(joint, product)
    return np.where(np.tri(d, dtype=bool), result.T, result)  # rounding must not make it lopsided
