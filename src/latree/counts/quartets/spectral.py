"""The spectral quartet test (Anandkumar, Chaudhuri, Hsu, Kakade, Song and Zhang 2011): products of singular values.

If {12|34} is right and every hidden variable has k states, then

    ``Π σ_s(P_12) σ_s(P_34) > Π σ_s(P_13) σ_s(P_24) = Π σ_s(P_14) σ_s(P_23)``    (s = 1 .. k)

The pairing with the largest product is chosen. It is decided if the inequality still holds when all singular values on
the left are lowered and those on the right raised by how far sampling may have moved them; otherwise the test declines.
"""

from typing import NamedTuple

import numpy as np

from latree._util.arrays import FloatArray, IntArray
from latree.counts.distances import Pairs
from latree.counts.quartets import Pairings, QuartetTest, pair_sums, smallest
from latree.counts.tensor import singular_values
from latree.errors import InputError

_ROUNDING = 1e-9  # by how much logarithms that should be equal may differ


class Products(NamedTuple):
    """Logarithms of ``Π σ_s(P_ij)`` for every two columns, each of shape (d, d)."""

    estimate: FloatArray
    lower: FloatArray  # with all singular values lowered; minus infinity if one of them may be zero
    upper: FloatArray
    last: FloatArray  # the k-th singular value itself: how strongly two columns depend on each other


def spectral_products(pairs: Pairs, n_states: int, confidence: float = 0.0) -> Products:
    """Multiply the k largest singular values of pair tables.

    Parameters
    ----------
    pairs : Pairs
        Of all columns, shape (d, d, n, n).
    n_states : int
        k, the number of states of the hidden variables; at most the number of states of every column.
    confidence : float
        Probability with which a pair table's singular values lie in their intervals. By the matrix Bernstein
        inequality, none is off by more than ``sqrt(2 v t / m) + 2 t / (3 m)`` with ``v = max(p_i, p_j)``, m rows and
        ``t = log((n_i + n_j) / (1 - confidence))``. (The paper takes a union bound over all pairs on top, with which
        the test would decline nearly always.) With 0, the default, estimates are taken for exact, and the test declines
        only where products are equal.
    """
    if not 0 <= confidence < 1:
        raise InputError(f"confidence must be at least 0 and less than 1, not {confidence!r}")
    first, second = pairs.joint.sum(axis=-1), pairs.joint.sum(axis=-2)
    values = singular_values(pairs.joint)[..., :n_states]
    n = (first > 0).sum(axis=-1) + (second > 0).sum(axis=-1)
    t = np.log(np.maximum(n, 1) / (1 - confidence)) / np.maximum(pairs.total, 1)
    largest = np.maximum(first.max(axis=-1), second.max(axis=-1))
    off = (np.sqrt(2 * largest * t) + 2 * t / 3)[..., None] if confidence else 0.0
    with np.errstate(divide="ignore"):
        estimate, lower, upper = (np.log(np.maximum(x, 0)).sum(axis=-1) for x in (values, values - off, values + off))
    return Products(estimate, lower, upper, values[..., n_states - 1])


def spectral_test(products: Products) -> QuartetTest:
    """Make the test for columns whose products of singular values are known."""

    def test(quartets: IntArray) -> Pairings:
        estimate, lower, upper = (pair_sums(logs, quartets) for logs in products[:3])
        answers = smallest(-estimate)
        chosen = answers.pairing[:, None]
        np.put_along_axis(upper, chosen, -np.inf, axis=1)
        decided = np.take_along_axis(lower, chosen, axis=1)[:, 0] > upper.max(axis=1) + _ROUNDING
        return answers._replace(decided=decided)

    return test
