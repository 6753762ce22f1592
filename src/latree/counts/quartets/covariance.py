"""Covariances above chance: the four-point rule on the covariances of the columns' indicators, noise taken off.

With ``C_ij = P_ij - p_i p_jᵀ``, the right pairing {12|34} has the largest of the three products

    ``‖C_12‖ ‖C_34‖``,  ``‖C_13‖ ‖C_24‖``,  ``‖C_14‖ ‖C_23‖``

where all hidden variables have two states: then ``‖C_ij‖`` is a product of one factor an edge of the path from i to j,
the same for the last two pairings, less by the square of the inner edge's than for the first. With more states it is a
rule of thumb that holds for nearly all models. Like Algorithm 1 it needs no number of hidden states; unlike it, it is
not misled by one clear and one noisy column on each side (Felsenstein's zone), since a column's own factor cancels.

It cancels only as long as counts do not add to it. In m rows even independent columns have a ``‖C‖²`` of about
``tr S_i tr S_j / m``, so that two noisy columns seem to share more than they do; hence
:func:`latree.counts.distances.covariance` takes off what chance alone would make, and levels out what is left below the
standard deviation of that. A norm of all singular values squared is moved less by noise than products of some of them,
and needs no singular value decomposition.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from latree._util.arrays import FloatArray, IntArray
from latree.counts.distances import as_pairs, covariance
from latree.counts.quartets import PAIRINGS, Pairings, QuartetTest, smallest, tensor_test

_ROUNDING = 1e-9  # by how much logarithms that should be equal may differ


def covariance_pairings(tensors: NDArray[np.int64] | FloatArray, *, exact: bool = False) -> Pairings:
    """Apply the test to a stack of tensors.

    Parameters
    ----------
    tensors : array, shape (q, n, n, n, n)
        Counts: how many there are says how much of a dependence may be chance. Only their pair tables matter.
    exact : bool
        Whether they are distributions instead, known as from infinitely many rows.

    Returns
    -------
    Pairings
        The margin is that of the products' logarithms. Undecided where pairings are tied: a constant column, a pair
        of exactly independent columns on each side, fewer than two rows.
    """
    scores = np.stack([sum(_distance(tensors, pair, exact) for pair in both) for both in PAIRINGS], axis=-1)
    answers = smallest(scores)
    return answers._replace(decided=answers.margin > _ROUNDING)


def covariance_test(
    tables: Callable[[IntArray], NDArray[np.int64] | FloatArray], n_states: int, *, exact: bool = False
) -> QuartetTest:
    """Make the test for quadruples whose tensors ``tables`` gives; see :func:`latree.counts.quartets.tensor_test`.

    Where all pairs of columns are measured anyway, :func:`latree.counts.quartets.four_point.four_point_test` on
    :func:`latree.counts.distances.covariance` asks the same of pair tables. It is faster, and differs only in that a
    pair's
    table then counts all rows in which these two are present.
    """
    return tensor_test(partial(covariance_pairings, exact=exact), tables, n_states)


def _distance(tensors: NDArray[np.int64] | FloatArray, pair: tuple[int, int], exact: bool) -> FloatArray:
    others = tuple(1 + axis for axis in range(4) if axis not in pair)
    pairs = as_pairs(tensors.sum(axis=others))
    return covariance(replace(pairs, total=np.full_like(pairs.total, np.inf)) if exact else pairs)
