"""The heat map: the correlations of columns or, if there are too many of them, of what groups measure."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from latree._util.arrays import FloatArray

# The heat map shows columns if there are no more than this many: with more, a cell is smaller than two pixels.
MAX_COLUMNS = 400
# Otherwise it shows the largest groups, at most this many: their names can still be read beside the map.
MAX_GROUPS = 60


def matrix_facts(correlation: FloatArray, order: Sequence[int], is_ordered: Sequence[bool]) -> dict[str, Any]:
    """Return the heat map of a matrix of correlations.

    Parameters
    ----------
    correlation : array, shape (n, n)
        Symmetric, from -1 to 1.
    order : sequence of int
        The columns or groups in the order in which they are shown.
    is_ordered : sequence of bool
        Which of them are ordered. Only correlations of two ordered ones have a sign.

    Returns
    -------
    dict
        ``order``. ``values``: for each row i, the values of the cells i, i + 1, ... in hundredths plus 100.
        ``signed``: whether any value may be negative.
    """
    arranged = correlation[np.ix_(order, order)]
    hundredths = np.round(100 * np.round(arranged, 9)).astype(int)
    return {
        "order": list(order),
        "values": [(hundredths[i, i:] + 100).tolist() for i in range(len(order))],
        "signed": sum(is_ordered) > 1,
    }
