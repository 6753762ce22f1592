"""Quartet tests: which two of four columns belong together.

A test is any function from quadruples to :class:`Pairings`. One file holds one test.
"""

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from latree.arrays import FloatArray, IntArray


class Pairings(NamedTuple):
    """The answers of a test to a batch of quadruples ``(1, 2, 3, 4)``."""

    pairing: IntArray  # 0 for {12|34}, 1 for {13|24}, 2 for {14|23}
    margin: FloatArray  # by how much the second-best pairing is worse; 0 is a toss-up
    decided: NDArray[np.bool_]  # False where a test that knows its confidence would rather not answer


QuartetTest: TypeAlias = Callable[[IntArray], Pairings]


def pair_sums(matrix: FloatArray, quartets: IntArray) -> FloatArray:
    """Add a matrix's entries for the two pairs of each pairing; gives shape (q, 3)."""
    i, j, k, m = np.asarray(quartets).T
    return np.stack([matrix[i, j] + matrix[k, m], matrix[i, k] + matrix[j, m], matrix[i, m] + matrix[j, k]], axis=-1)


def smallest(scores: FloatArray) -> Pairings:
    """Choose the pairing with the smallest score; ``scores`` has shape (q, 3)."""
    ranked = np.sort(scores, axis=-1)
    with np.errstate(invalid="ignore"):
        margin = np.nan_to_num(ranked[..., 1] - ranked[..., 0], posinf=np.inf)  # two infinite scores are a toss-up
    return Pairings(np.argmin(scores, axis=-1), margin, np.ones(scores.shape[:-1], dtype=bool))
