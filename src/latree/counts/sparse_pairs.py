"""Contingency tables of pairs of columns of sparse rows, from products of sparse matrices.

Only stored cells are multiplied. The cells of a contingency table that hold a column's background follow from the
totals of its other cells, so the time depends on the stored cells of each row, not on the number of columns.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array

from latree._util.arrays import FloatArray, IntArray
from latree.table.sparse import SparseRows


def sparse_pair_counts(rows: SparseRows, n: int, first: slice, second: slice) -> NDArray[np.int64] | FloatArray:
    """Count the pairs of states of each column of ``first`` with each column of ``second``.

    Weights must be whole numbers. The state after the last, number ``n``, is a missing cell: it is counted like the
    others and left out at the end.

    Returns
    -------
    array, shape (columns of first, n, columns of second, n)
    """
    left, right = _indicators(rows, n, first), _indicators(rows, n, second)
    weights = np.ones(rows.n_rows, dtype=np.int64) if rows.weights is None else rows.weights
    backgrounds = _background(rows, n, first), _background(rows, n, second)
    shape = len(backgrounds[0]), n + 1, len(backgrounds[1]), n + 1
    counts: NDArray[Any] = (left.T @ right.multiply(weights[:, None]).tocsr()).toarray().reshape(shape)
    # The weight of each state: what is not stored is background.
    totals: list[NDArray[Any]] = []
    for indicators, background in zip((left, right), backgrounds, strict=True):
        total = (indicators.T @ weights).reshape(-1, n + 1)
        total[np.arange(len(total)), background] += weights.sum() - total.sum(axis=1)
        totals.append(total)
    # Background of the second column: the rows with each stored state of the first, less those that are counted.
    stored = totals[0].copy()
    stored[np.arange(len(stored)), backgrounds[0]] = 0
    counts[:, :, np.arange(shape[2]), backgrounds[1]] += stored[:, :, None] - counts.sum(axis=3)
    # Background of the first column: the rows with each state of the second, less those that are counted.
    counts[np.arange(shape[0]), backgrounds[0]] += totals[1] - counts.sum(axis=1)
    return counts[:, :n, :, :n]


def _indicators(rows: SparseRows, n: int, columns: slice) -> csc_array:
    """Return one column for every state of every column, and for its missing cells: 1 where a stored cell has it."""
    part = rows.by_column[:, columns]
    first = (n + 1) * np.repeat(np.arange(part.shape[1]), np.diff(part.indptr))
    place = first + np.minimum(part.data, n)
    ones = np.ones(len(place), dtype=np.int64 if rows.weights is None else np.float64)
    return csc_array((ones, (part.indices, place)), shape=(rows.n_rows, part.shape[1] * (n + 1)))


def _background(rows: SparseRows, n: int, columns: slice) -> IntArray:
    return np.minimum(rows.background[columns], n).astype(np.intp)
