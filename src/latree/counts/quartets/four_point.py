"""The four-point rule: the pairing whose two distances add up to least.

With the path lengths of a known tree it is an oracle; with an estimated distance it is a pairwise quartet test.
"""

import numpy as np
from numpy.typing import NDArray

from latree._util.arrays import FloatArray, IntArray
from latree.counts.quartets import Pairings, QuartetTest, pair_sums, smallest


def four_point_test(distance: FloatArray | NDArray[np.int32]) -> QuartetTest:
    """Make the test for a matrix of distances between all columns."""
    exact = np.asarray(distance, dtype=np.float64)

    def test(quartets: IntArray) -> Pairings:
        return smallest(pair_sums(exact, quartets))

    return test
