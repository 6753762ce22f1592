"""The spectral quartet test (Anandkumar, Chaudhuri, Hsu, Kakade, Song and Zhang 2011): products of singular values.

If {12|34} is right and every hidden variable has k states, then

    ``Π σ_s(P_12) σ_s(P_34) > Π σ_s(P_13) σ_s(P_24) = Π σ_s(P_14) σ_s(P_23)``    (s = 1 .. k)

The pairing with the largest product is chosen. It is decided if the inequality still holds when all singular values on
the left are lowered, and those on the right raised, by their sampling error. Otherwise the test declines to answer.
"""

from typing import NamedTuple

import numpy as np

from latree._util.arrays import FloatArray, IntArray
from latree.counts.distances import PairDistributions
from latree.counts.quartets.pairings import Pairings, QuartetTest, pair_sums, smallest
from latree.counts.tensor import singular_values
from latree.errors import InputError

_ROUNDING = 1e-9  # logarithms of equal products may differ by this much


class Products(NamedTuple):
    """Logarithms of ``Π σ_s(P_ij)`` for every two columns, each of shape (d, d).

    Attributes
    ----------
    estimate : array
        The estimated logarithms.
    lower, upper : array
        The same with all singular values lowered or raised by their sampling error; ``lower`` is minus infinity if one
        of them may be zero.
    last : array
        The k-th singular value itself: how strongly two columns depend on each other.
    """

    estimate: FloatArray
    lower: FloatArray
    upper: FloatArray
    last: FloatArray


def spectral_products(pairs: PairDistributions, n_states: int, confidence: float = 0.0) -> Products:
    """Return the products of the k largest singular values of the joint distributions of all pairs of columns.

    They are the evidence for :func:`spectral_test`. Use that test if the number of hidden states, k, is known.

    Parameters
    ----------
    pairs : PairDistributions
        Of all columns, shape (d, d, n, n), from :func:`latree.counts.as_pairs`.
    n_states : int
        k, the number of states of the hidden variables; at most the number of states of every column.
    confidence : float
        Probability with which the singular values of a pair lie in their intervals. By the matrix Bernstein
        inequality, no error is larger than ``sqrt(2 v t / m) + 2 t / (3 m)`` with ``v = max(p_i, p_j)``, m rows and
        ``t = log((n_i + n_j) / (1 - confidence))``. (The paper adds a union bound over all pairs, with which the test
        would nearly always decline.) With 0, the default, estimates are taken as exact, and the test declines only if
        products are equal.

    Returns
    -------
    Products
        The logarithms ``estimate``, ``lower`` and ``upper``, and the k-th singular values ``last``, each of shape
        (d, d).

    Examples
    --------
    The joint distribution of these two columns has the singular values 0.5 and 0.3:

    >>> import numpy as np
    >>> from latree.counts import as_pairs
    >>> from latree.counts.quartets import spectral_products
    >>> products = spectral_products(as_pairs(np.array([[40, 10], [10, 40]])), n_states=2)
    >>> float(np.exp(products.estimate).round(6)), float(products.last.round(6))
    (0.15, 0.3)
    """
    if not 0 <= confidence < 1:
        raise InputError(f"confidence must be at least 0 and less than 1, not {confidence!r}")
    first, second = pairs.joint.sum(axis=-1), pairs.joint.sum(axis=-2)
    values = singular_values(pairs.joint)[..., :n_states]
    n = (first > 0).sum(axis=-1) + (second > 0).sum(axis=-1)
    # t / m, and v
    t = np.log(np.maximum(n, 1) / (1 - confidence)) / np.maximum(pairs.total, 1)
    v = np.maximum(first.max(axis=-1), second.max(axis=-1))
    # sqrt(2 v t / m) + 2 t / (3 m)
    error = (np.sqrt(2 * v * t) + 2 * t / 3)[..., None] if confidence else 0.0
    with np.errstate(divide="ignore"):
        estimate, lower, upper = (
            np.log(np.maximum(x, 0)).sum(axis=-1) for x in (values, values - error, values + error)
        )
    return Products(estimate, lower, upper, values[..., n_states - 1])


def spectral_test(products: Products) -> QuartetTest:
    """Return the spectral quartet test of columns whose products of singular values are known.

    The pairing is the one with the largest product, ``Π σ_s(P_12) σ_s(P_34)`` for {12|34}. The margin is the difference
    of the logarithms. The test declines to answer if sampling errors could make another product the largest.

    Parameters
    ----------
    products : Products
        From :func:`spectral_products`.

    References
    ----------
    Anandkumar, Chaudhuri, Hsu, Kakade, Song and Zhang (2011), Spectral Methods for Learning Multivariate Latent Tree
    Structure.

    Examples
    --------
    >>> import latree, numpy as np
    >>> from latree.counts import as_pairs, pair_tables
    >>> from latree.counts.quartets import spectral_products, spectral_test
    >>> tree = latree.Tree("abcd", [(0, 4), (1, 4), (4, 5), (2, 5), (3, 5)])
    >>> model = latree.random_model(tree, n_states=3, hidden_states=2, start="identity", random_state=0)
    >>> pairs = as_pairs(pair_tables(model.sample(2000, random_state=0)))
    >>> spectral_test(spectral_products(pairs, n_states=2))(np.array([[0, 1, 2, 3], [0, 2, 1, 3]])).pairing
    array([0, 1])
    """

    def test(quartets: IntArray) -> Pairings:
        estimate, lower, upper = (pair_sums(logs, quartets) for logs in products[:3])
        answers = smallest(-estimate)
        chosen = answers.pairing[:, None]
        np.put_along_axis(upper, chosen, -np.inf, axis=1)
        # Decided if the lowered product of the chosen pairing is still larger than the raised ones of the others.
        decided = np.take_along_axis(lower, chosen, axis=1)[:, 0] > upper.max(axis=1) + _ROUNDING
        return answers._replace(decided=decided)

    return test
