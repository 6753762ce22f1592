"""The matrix of the dependence between columns that the heat map shows, in the order of the tree."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from latree._util.arrays import FloatArray

# The heat map has at most this many cells in a row. Of more columns, neighbours share a cell.
MAX_CELLS = 400


def matrix_facts(correlation: FloatArray, order: Sequence[int], is_ordered: Sequence[bool]) -> dict[str, Any]:
    """Return the heat map of a matrix of correlations.

    Parameters
    ----------
    correlation : array, shape (d, d)
        Symmetric, from -1 to 1.
    order : sequence of int
        The columns in the order in which they are shown.
    is_ordered : sequence of bool
        Which columns are ordered. Only correlations of two ordered columns have a sign.

    Returns
    -------
    dict
        ``order``: the columns. ``block``: how many neighbouring columns share a cell; the last cell may have fewer.
        ``values``: for each cell row i, the values of the cells i, i + 1, ... in hundredths plus 100. A cell of several
        columns has the mean of all its pairs of different columns. ``signed``: whether any value may be negative.
    """
    d = len(order)
    block = -(-d // MAX_CELLS)
    starts = np.arange(0, d, block)
    arranged = correlation[np.ix_(order, order)].copy()
    pairs = np.ones((d, d))
    if block > 1:
        # A column is not compared with itself, unless it is alone in its cell.
        np.fill_diagonal(arranged, 0)
        np.fill_diagonal(pairs, 0)
        if d % block == 1:
            arranged[-1, -1] = pairs[-1, -1] = 1
    sums, counts = (
        np.add.reduceat(np.add.reduceat(values, starts, axis=0), starts, axis=1) for values in (arranged, pairs)
    )
    hundredths = np.round(100 * np.round(sums / counts, 9)).astype(int)
    return {
        "order": list(order),
        "block": block,
        "values": [(hundredths[i, i:] + 100).tolist() for i in range(len(starts))],
        "signed": sum(is_ordered) > 1,
    }
