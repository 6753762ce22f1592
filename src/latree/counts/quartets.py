"""Quartet tests: which two of four columns belong together.

A test is any function from quadruples of columns, shape (q, 4), to :class:`Pairings`. One on measures of pairs compares
:func:`pair_sums`; one on tensors is made by :func:`tensor_test`, which takes as many at a time as memory allows.

**Four-point rule**: the pairing whose two distances have the smallest sum. With the path lengths of a known tree it
is an oracle; with an estimated distance it is a pairwise quartet test.

**Covariances above chance**: the four-point rule on the covariances of the columns' indicators, corrected for noise.

With ``C_ij = P_ij - p_i p_jᵀ``, the right pairing {12|34} has the largest of the three products

    ``‖C_12‖ ‖C_34‖``,  ``‖C_13‖ ‖C_24‖``,  ``‖C_14‖ ‖C_23‖``

if all hidden variables have two states. Then ``‖C_ij‖`` is a product of one factor per edge of the path from i to j.
The products of the last two pairings are equal, and smaller than the first by the square of the inner edge's factor.
With more states it is a rule of thumb that holds for nearly all models. Like Algorithm 1 it needs no number of hidden
states. Unlike it, it is not misled by one clear and one noisy column on each side (Felsenstein's zone), since a
column's own factor cancels.

The factor cancels only if sampling noise does not add to it. In m rows even independent columns have a ``‖C‖²`` of
about ``tr S_i tr S_j / m``, so that two noisy columns seem to share more than they do. Hence
:func:`latree.research.covariance` subtracts what chance alone explains, and smooths out values below the standard
deviation of that. The sum of all squared singular values is moved less by noise than products of some of them, and
needs no singular value decomposition.

**Spectral test** (Anandkumar, Chaudhuri, Hsu, Kakade, Song and Zhang 2011): products of singular values.

If {12|34} is right and every hidden variable has k states, then

    ``Π σ_s(P_12) σ_s(P_34) > Π σ_s(P_13) σ_s(P_24) = Π σ_s(P_14) σ_s(P_23)``    (s = 1 .. k)

The pairing with the largest product is chosen. It is decided if the inequality still holds when all singular values on
the left are lowered, and those on the right raised, by their sampling error. Otherwise the test declines to answer.

**Nuclear norms**, Algorithm 1 of the paper: the pairing whose unfolding has the smallest nuclear norm. It needs no
number of hidden states. For the right pairing the unfolding has rank k, for a wrong one up to k². The nuclear norm is
the convex stand-in for that rank.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from latree._util.arrays import FloatArray, IntArray
from latree._util.workers import map_ordered
from latree.counts.distances import PairDistributions, as_pairs, covariance
from latree.counts.tensor import namespace, nuclear_norms, singular_values, unfoldings
from latree.errors import InputError

# Quartet tensors are made in batches of this many cells (32 MB, and three times that when they are unfolded).
TENSOR_CELLS_AT_ONCE = 2**22


_ROUNDING = 1e-9  # logarithms of equal products may differ by this much


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
        From quadruples, shape (q, 4), to tensors: counts of a table (:func:`latree.research.quartet_tables`) or exact
        distributions of a model.
    n_states : int
        The largest number of states of any column.
    """
    step = max(1, TENSOR_CELLS_AT_ONCE // n_states**4)

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


def four_point_test(distance: FloatArray | NDArray[np.int32]) -> QuartetTest:
    """Return the four-point test of a matrix of distances between all columns.

    If distances add up along the paths of a tree and {12|34} is its pairing, then

        ``d_12 + d_34 < d_13 + d_24 = d_14 + d_23``

    and the margin is twice the length of the inner edge. The test is much faster than those on tensors, as it only
    looks up six distances.

    Parameters
    ----------
    distance : array, shape (d, d)
        Symmetric.

    References
    ----------
    Buneman (1974), A Note on the Metric Properties of Trees.

    Examples
    --------
    Leaves 0 and 2 are neighbours, and so are 1 and 3. Every leaf is at distance 1 from its inner node, and the inner
    edge has length 2:

    >>> import numpy as np
    >>> from latree.research import four_point_test
    >>> distance = np.array([[0, 4, 2, 4], [4, 0, 4, 2], [2, 4, 0, 4], [4, 2, 4, 0]])
    >>> answers = four_point_test(distance)(np.array([[0, 1, 2, 3]]))
    >>> answers.pairing, answers.margin
    (array([1]), array([4.]))
    """
    lengths = np.asarray(distance, dtype=np.float64)

    def test(quartets: IntArray) -> Pairings:
        return smallest(pair_sums(lengths, quartets))

    return test


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
    >>> from latree.research import covariance_test, quartet_tables
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
        Of all columns, shape (d, d, n, n), from :func:`latree.research.as_pairs`.
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
    >>> from latree.research import as_pairs, spectral_products
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
    >>> from latree.research import as_pairs, pair_tables, spectral_products, spectral_test
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


# A thread works on tensors of this many cells at a time: with fewer, threads would wait for each other.
_CELLS_PER_THREAD = 2**18


def nuclear_pairings(tensors: Any) -> Pairings:
    """Return the pairings that Algorithm 1 chooses for a stack of tensors.

    Parameters
    ----------
    tensors : array, shape (q, n, n, n, n)
        Joint distributions or counts; each is divided by its sum. If a tensor is empty (no row has all four cells),
        the three pairings are tied. Arrays of other libraries than NumPy stay where they are until their three norms
        are known; see :mod:`latree.counts.tensor`.
    """
    if not isinstance(tensors, np.ndarray):
        norms: FloatArray = np.asarray(np.from_dlpack(_norms(tensors), device="cpu"), dtype=np.float64)
        return smallest(norms)
    step = max(1, _CELLS_PER_THREAD // max(1, tensors[:1].size))
    pieces = (tensors[start : start + step] for start in range(0, max(1, len(tensors)), step))
    return smallest(np.concatenate(list(map_ordered(_norms, pieces))))


def _norms(tensors: Any) -> Any:
    """Return the nuclear norms of the three unfoldings of each tensor, divided by its sum; shape (q, 3)."""
    xp = namespace(tensors)
    shares = xp.astype(tensors, xp.float64, copy=False)
    total = xp.sum(shares, axis=(1, 2, 3, 4), keepdims=True)
    return nuclear_norms(unfoldings(shares / xp.where(total > 0, total, xp.ones_like(total))))


def nuclear_test(tables: Callable[[IntArray], NDArray[np.int64] | FloatArray], n_states: int) -> QuartetTest:
    """Return Algorithm 1 of the paper as a test of quadruples of columns.

    The pairing is the one whose unfolding has the smallest nuclear norm: {12|34} if ``‖A‖_*`` is the smallest of
    ``‖A‖_*``, ``‖B‖_*`` and ``‖C‖_*`` (:func:`latree.counts.unfoldings`). The margin is the difference to the second
    smallest. Use it if the number of hidden states is unknown, and columns have few states: a tensor has n⁴ cells.

    Parameters
    ----------
    tables : callable
        From quadruples, shape (q, 4), to tensors, shape (q, n, n, n, n): counts or distributions.
    n_states : int
        n, the largest number of states of any column.

    References
    ----------
    Ishteva, Park and Song (2013), Unfolding Latent Tree Structures using 4th Order Tensors.

    Examples
    --------
    Four columns of a table, the first two and the last two of which belong together:

    >>> from functools import partial
    >>> import latree, numpy as np
    >>> from latree.research import nuclear_test, quartet_tables
    >>> tree = latree.Tree("abcd", [(0, 4), (1, 4), (4, 5), (2, 5), (3, 5)])
    >>> model = latree.random_model(tree, n_states=3, hidden_states=2, start="identity", random_state=0)
    >>> table = model.sample(2000, random_state=0)
    >>> test = nuclear_test(partial(quartet_tables, table), n_states=3)
    >>> test(np.array([[0, 1, 2, 3], [0, 2, 1, 3]])).pairing
    array([0, 1])
    """
    return tensor_test(nuclear_pairings, tables, n_states)
