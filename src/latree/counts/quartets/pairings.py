"""What all quartet tests share: their answers, the three pairings, and batches that fit in memory."""

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from latree._util.arrays import FloatArray, IntArray
from latree.counts import limits


class Pairings(NamedTuple):
    """The answers of a quartet test to a batch of quadruples ``(1, 2, 3, 4)``.

    Attributes
    ----------
    pairing : array of int, shape (q,)
        0 for {12|34}, 1 for {13|24}, 2 for {14|23}.
    margin : array, shape (q,)
        How much worse the second-best pairing is; 0 if the two are tied.
    decided : array of bool, shape (q,)
        False if a test that knows its confidence declines to answer.

    Examples
    --------
    Learners accept any function that returns pairings. This test always answers {12|34}:

    >>> import numpy as np
    >>> from latree.counts.quartets import Pairings
    >>> def first_two(quartets):
    ...     q = len(quartets)
    ...     return Pairings(np.zeros(q, dtype=int), np.ones(q), np.ones(q, dtype=bool))
    >>> first_two([[0, 1, 2, 3]]).pairing
    array([0])
    """

    pairing: IntArray
    margin: FloatArray
    decided: NDArray[np.bool_]


# The positions in a quadruple of the two pairs of each pairing.
PAIRINGS = (((0, 1), (2, 3)), ((0, 2), (1, 3)), ((0, 3), (1, 2)))

QuartetTest: TypeAlias = Callable[[IntArray], Pairings]


def tensor_test(
    pairings: Callable[[NDArray[np.int64] | FloatArray], Pairings],
    tables: Callable[[IntArray], NDArray[np.int64] | FloatArray],
    n_states: int,
) -> QuartetTest:
    """Return a test of quadruples, given a test of their tensors; tensors are made in batches that fit in memory.

    Parameters
    ----------
    pairings : callable
        From tensors, shape (q, n, n, n, n), to their pairings.
    tables : callable
        From quadruples, shape (q, 4), to tensors: counts of a table (:func:`latree.counts.quartet_tables`) or exact
        distributions of a model.
    n_states : int
        The largest number of states of any column.
    """
    step = max(1, limits.TENSOR_CELLS_AT_ONCE // n_states**4)

    def test(quartets: IntArray) -> Pairings:
        answers = [pairings(tables(quartets[i : i + step])) for i in range(0, max(1, len(quartets)), step)]
        return Pairings(*(np.concatenate(field) for field in zip(*answers, strict=True)))

    return test


def pair_sums(matrix: FloatArray, quartets: IntArray) -> FloatArray:
    """Return the sum of a matrix's entries for the two pairs of each pairing, shape (q, 3)."""
    i, j, k, m = np.asarray(quartets).T
    return np.stack([matrix[i, j] + matrix[k, m], matrix[i, k] + matrix[j, m], matrix[i, m] + matrix[j, k]], axis=-1)


def smallest(scores: FloatArray) -> Pairings:
    """Return the pairing with the smallest score of each quadruple; ``scores`` has shape (q, 3)."""
    ranked = np.sort(scores, axis=-1)
    with np.errstate(invalid="ignore"):
        margin = np.nan_to_num(ranked[..., 1] - ranked[..., 0], posinf=np.inf)  # two infinite scores are tied
    return Pairings(np.argmin(scores, axis=-1), margin, np.ones(scores.shape[:-1], dtype=bool))
