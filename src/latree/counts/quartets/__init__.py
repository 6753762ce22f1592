"""Quartet tests: which two of four columns belong together.

A test is any function from quadruples to :class:`Pairings`. One file holds one test.
"""

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from latree._util.arrays import FloatArray, IntArray


class Pairings(NamedTuple):
    """The answers of a test to a batch of quadruples ``(1, 2, 3, 4)``."""

    pairing: IntArray  # 0 for {12|34}, 1 for {13|24}, 2 for {14|23}
    margin: FloatArray  # by how much the second-best pairing is worse; 0 is a toss-up
    decided: NDArray[np.bool_]  # False where a test that knows its confidence would rather not answer


# The places in a quadruple of each pairing's two pairs.
PAIRINGS = (((0, 1), (2, 3)), ((0, 2), (1, 3)), ((0, 3), (1, 2)))

QuartetTest: TypeAlias = Callable[[IntArray], Pairings]

# Tensors are made this many cells at a time (32 MB, and three times that unfolded).
_CELLS_AT_ONCE = 2**22


def tensor_test(
    pairings: Callable[[NDArray[np.int64] | FloatArray], Pairings],
    tables: Callable[[IntArray], NDArray[np.int64] | FloatArray],
    n_states: int,
) -> QuartetTest:
    """Make a test of quadruples out of one of their tensors, asked in pieces that fit in memory.

    Parameters
    ----------
    pairings : callable
        From tensors, shape (q, n, n, n, n), to their pairings.
    tables : callable
        From quadruples, shape (q, 4), to tensors: counts of a table
        (:func:`latree.counts.contingency.quartet_tables`) or exact
        distributions of a model.
    n_states : int
        The largest number of states of any column.
    """
    step = max(1, _CELLS_AT_ONCE // n_states**4)

    def test(quartets: IntArray) -> Pairings:
        pieces = [pairings(tables(quartets[i : i + step])) for i in range(0, max(1, len(quartets)), step)]
        return Pairings(*(np.concatenate(parts) for parts in zip(*pieces, strict=True)))

    return test


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
