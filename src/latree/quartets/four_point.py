"""The four-point rule: the pairing whose two distances add up to least.

With the path lengths of a known tree it is an oracle; with an estimated distance it is a pairwise quartet test.
"""

import numpy as np
from numpy.typing import NDArray

from latree.arrays import FloatArray, IntArray
from latree.quartets import Pairings, QuartetTest, smallest


def four_point_test(distance: FloatArray | NDArray[np.int32]) -> QuartetTest:
    """Make the test for a matrix of distances between all columns."""

    def test(quartets: IntArray) -> Pairings:
        i, j, k, m = np.asarray(quartets).T
        sums = [distance[i, j] + distance[k, m], distance[i, k] + distance[j, m], distance[i, m] + distance[j, k]]
        return smallest(np.stack(sums, axis=-1).astype(np.float64))

    return test
