"""The four-point rule: the pairing whose two distances have the smallest sum.

With the path lengths of a known tree it is an oracle; with an estimated distance it is a pairwise quartet test.
"""

import numpy as np
from numpy.typing import NDArray

from latree._util.arrays import FloatArray, IntArray
from latree.counts.quartets.pairings import Pairings, QuartetTest, pair_sums, smallest


def four_point_test(distance: FloatArray | NDArray[np.int32]) -> QuartetTest:
    """Return the four-point test of a matrix of distances between all columns.

    If distances add up along the paths of a tree and {12|34} is its pairing, then

        ``d_12 + d_34 < d_13 + d_24 = d_14 + d_23``

    and the margin is twice the length of the inner edge. The test is much faster than those on tensors, as it only
    looks up six distances.

    Parameters
    ----------
    distance : array, shape (d, d)
        Symmetric.

    References
    ----------
    Buneman (1974), A Note on the Metric Properties of Trees.

    Examples
    --------
    Leaves 0 and 2 are neighbours, and so are 1 and 3. Every leaf is at distance 1 from its inner node, and the inner
    edge has length 2:

    >>> import numpy as np
    >>> from latree.counts.quartets import four_point_test
    >>> distance = np.array([[0, 4, 2, 4], [4, 0, 4, 2], [2, 4, 0, 4], [4, 2, 4, 0]])
    >>> answers = four_point_test(distance)(np.array([[0, 1, 2, 3]]))
    >>> answers.pairing, answers.margin
    (array([1]), array([4.]))
    """
    lengths = np.asarray(distance, dtype=np.float64)

    def test(quartets: IntArray) -> Pairings:
        return smallest(pair_sums(lengths, quartets))

    return test
