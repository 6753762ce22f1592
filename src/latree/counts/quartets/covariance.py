"""Covariances above chance: the four-point rule on the covariances of the columns' indicators, corrected for noise.

With ``C_ij = P_ij - p_i p_jᵀ``, the right pairing {12|34} has the largest of the three products

    ``‖C_12‖ ‖C_34‖``,  ``‖C_13‖ ‖C_24‖``,  ``‖C_14‖ ‖C_23‖``

if all hidden variables have two states. Then ``‖C_ij‖`` is a product of one factor per edge of the path from i to j.
The products of the last two pairings are equal, and smaller than the first by the square of the inner edge's factor.
With more states it is a rule of thumb that holds for nearly all models. Like Algorithm 1 it needs no number of hidden
states. Unlike it, it is not misled by one clear and one noisy column on each side (Felsenstein's zone), since a
column's own factor cancels.

The factor cancels only if sampling noise does not add to it. In m rows even independent columns have a ``‖C‖²`` of
about ``tr S_i tr S_j / m``, so that two noisy columns seem to share more than they do. Hence
:func:`latree.counts.covariance` subtracts what chance alone explains, and smooths out values below the standard
deviation of that. The sum of all squared singular values is moved less by noise than products of some of them, and
needs no singular value decomposition.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from latree._util.arrays import FloatArray, IntArray
from latree.counts.distances import as_pairs, covariance
from latree.counts.quartets.pairings import PAIRINGS, Pairings, QuartetTest, smallest, tensor_test

_ROUNDING = 1e-9  # logarithms of equal products may differ by this much


def covariance_pairings(tensors: NDArray[np.int64] | FloatArray, *, exact: bool = False) -> Pairings:
    """Return the pairings that the covariance test chooses for a stack of tensors.

    Parameters
    ----------
    tensors : array, shape (q, n, n, n, n)
        Counts: their sum says how much of a dependence may be chance. Only the counts of pairs matter.
    exact : bool
        Whether they are distributions instead, known as if from infinitely many rows.

    Returns
    -------
    Pairings
        The margin is the difference of the products' logarithms. Undecided if pairings are tied: a constant column, a
        pair of exactly independent columns on each side, fewer than two rows.
    """
    scores = np.stack([sum(_distance(tensors, pair, exact) for pair in both) for both in PAIRINGS], axis=-1)
    answers = smallest(scores)
    return answers._replace(decided=answers.margin > _ROUNDING)


def covariance_test(
    tables: Callable[[IntArray], NDArray[np.int64] | FloatArray], n_states: int, *, exact: bool = False
) -> QuartetTest:
    """Return the covariance test of quadruples of columns.

    The pairing is the one with the largest product of covariances, ``‖C_12‖ ‖C_34‖`` for {12|34}, above chance. It
    needs no number of hidden states. Prefer it to :func:`nuclear_test` if columns differ much in how noisy they are.

    If all pairs of columns are measured anyway, ``four_point_test(pairwise(table, covariance))`` does the same with
    pair counts. It is faster, and differs only in that a pair is then counted in all rows in which these two columns
    are present.

    Parameters
    ----------
    tables : callable
        From quadruples, shape (q, 4), to tensors, shape (q, n, n, n, n).
    n_states : int
        n, the largest number of states of any column.
    exact : bool
        Whether the tensors are exact distributions instead of counts.

    Examples
    --------
    Four columns of a table, the first two and the last two of which belong together:

    >>> from functools import partial
    >>> import latree, numpy as np
    >>> from latree.counts import quartet_tables
    >>> from latree.counts.quartets import covariance_test
    >>> tree = latree.Tree("abcd", [(0, 4), (1, 4), (4, 5), (2, 5), (3, 5)])
    >>> model = latree.random_model(tree, n_states=3, hidden_states=2, start="identity", random_state=0)
    >>> table = model.sample(2000, random_state=0)
    >>> test = covariance_test(partial(quartet_tables, table), n_states=3)
    >>> test(np.array([[0, 1, 2, 3], [0, 2, 1, 3]])).pairing
    array([0, 1])
    """
    return tensor_test(partial(covariance_pairings, exact=exact), tables, n_states)


def _distance(tensors: NDArray[np.int64] | FloatArray, pair: tuple[int, int], exact: bool) -> FloatArray:
    others = tuple(1 + axis for axis in range(4) if axis not in pair)
    pairs = as_pairs(tensors.sum(axis=others))
    return covariance(replace(pairs, total=np.full_like(pairs.total, np.inf)) if exact else pairs)
