"""Quartet tests: which two of four columns belong together.

A test is any function from quadruples to :class:`Pairings`. One file holds one test.
"""

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import numpy as np

from latree.arrays import FloatArray, IntArray


class Pairings(NamedTuple):
    """The answers of a test to a batch of quadruples ``(1, 2, 3, 4)``."""

    pairing: IntArray  # 0 for {12|34}, 1 for {13|24}, 2 for {14|23}
    margin: FloatArray  # by how much the second-best pairing is worse; 0 is a toss-up


QuartetTest: TypeAlias = Callable[[IntArray], Pairings]


def smallest(scores: FloatArray) -> Pairings:
    """Choose the pairing with the smallest score; ``scores`` has shape (q, 3)."""
    ranked = np.sort(scores, axis=-1)
    return Pairings(np.argmin(scores, axis=-1), ranked[..., 1] - ranked[..., 0])
