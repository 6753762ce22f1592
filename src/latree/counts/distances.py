"""How much every two columns depend on each other.

A measure is a function of a stack of joint distributions, so that it applies to the counts of a table
(:func:`pairwise`) as well as to the exact distributions of a model.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaincc

from latree._util.arrays import FloatArray
from latree._util.progress import Progress, claim_progress
from latree._util.workers import map_ordered
from latree.counts.contingency import column_tiles, pair_tables, pair_tables_between
from latree.counts.tensor import nuclear_norms, singular_values
from latree.errors import InputError
from latree.table import Table
from latree.table.checking import FEW_STATES

# Pair counts of columns with many states are made in batches of this many cells (32 MB).
WIDE_PAIR_CELLS_AT_ONCE = 2**22

# If columns have many states, all pair counts together have at most this many cells: more would take hours.
_MOST_WIDE_CELLS = 2**34
# In the log-det distance, a singular value of zero counts as at most this, however few rows there are.
_MAX_SINGULAR_FLOOR = 1e-6
# Norms and singular values below this are zero up to rounding: the columns are independent.
ROUNDING = 1e-14
# Below this step, Bennett's exponent is the normal one up to rounding.
_NO_STEP = 1e-4


@dataclass(frozen=True)
class PairDistributions:
    """Joint distributions of pairs of columns, and how many rows each was estimated from.

    Attributes
    ----------
    joint : array, shape (..., n, n)
        Columns with fewer states than n are padded with zeros.
    total : array, shape (...)
        Number of rows (or their weight) that each distribution was counted in; infinite for exact distributions.
    max_states : int
        Number of states of the widest column of the table, if that column is not in this stack.
    """

    joint: FloatArray
    total: FloatArray
    max_states: int = 0

    @cached_property
    def first(self) -> FloatArray:
        """The distribution of the first column of each pair."""
        return np.asarray(self.joint.sum(axis=-1))

    @cached_property
    def second(self) -> FloatArray:
        """The distribution of the second column of each pair."""
        return np.asarray(self.joint.sum(axis=-2))

    @property
    def product(self) -> FloatArray:
        """The joint distributions that independent columns would have, ``p_i p_jᵀ``."""
        return np.asarray(self.first[..., :, None] * self.second[..., None, :])

    @cached_property
    def squared_norm(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """The squared norm of the covariance C, and its mean and s for independent columns; see :func:`covariance`.

        ``‖C‖²``, ``tr S_i tr S_j / (m - 1)`` and ``s = ‖S_i‖ ‖S_j‖ / (m - 1)``, where the standard deviation of
        ``‖C‖²`` is ``√2 s``. The last two are zero if m, the number of rows, is at most 1.
        """
        first, second = self.first, self.second
        per_row = np.divide(1, self.total - 1, out=np.zeros_like(self.total), where=self.total > 1)
        squared = np.asarray(((self.joint - self.product) ** 2).sum(axis=(-2, -1)))
        return squared, per_row * _trace(first) * _trace(second), per_row * _norm(first) * _norm(second)

    @property
    def skewness(self) -> FloatArray:
        """The squared skewness of C for independent columns; see :func:`gamma_tail`."""
        return np.asarray(skewness(self.first) * skewness(self.second) / np.maximum(self.total, 1))


Measure: TypeAlias = Callable[[PairDistributions], FloatArray]


def nuclear(pairs: PairDistributions) -> FloatArray:
    """Return the nuclear-norm distance ``-log ‖P_ij - p_i p_jᵀ‖_*``.

    The nuclear norm of the centred joint distribution is zero if and only if the columns are independent. Then, or if
    two columns are never present together, the distance is infinite. It needs no number of hidden states. Method
    ``tensor`` chooses near leaves by it.

    Parameters
    ----------
    pairs : PairDistributions
        From :func:`as_pairs`.

    Examples
    --------
    The singular values of the centred distribution of two equal columns with states of probability ½ are ½ and 0:

    >>> import numpy as np
    >>> from latree.research import as_pairs, nuclear
    >>> bool(np.isclose(nuclear(as_pairs(np.array([[5, 0], [0, 5]]))), np.log(2)))
    True
    """
    norms = np.asarray(nuclear_norms(pairs.joint - pairs.product))
    norms[norms < ROUNDING] = 0
    with np.errstate(divide="ignore"):
        return -np.log(norms)


def covariance(pairs: PairDistributions) -> FloatArray:
    """Return the covariance distance, from which the part that chance alone explains is subtracted.

    The distance is ``-½ log x``, where x estimates the squared norm ``‖C‖²`` of the covariance of the columns'
    indicators, ``C = P_ij - p_i p_jᵀ``. That norm is the Hilbert-Schmidt independence criterion, HSIC, of Gretton et
    al. 2005 for categories. If the columns are independent, m rows show

    ``E ‖C‖² = tr S_i tr S_j / (m - 1)`` and ``Var ‖C‖² ≈ 2 s²`` with ``s = ‖S_i‖ ‖S_j‖ / (m - 1)``,
    ``S = diag p - p pᵀ``

    (Gretton et al. 2008). The mean is exact for the counted p: it is the mean over all orders of one column's rows. So
    ``T = ‖C‖² - tr S_i tr S_j / (m - 1)`` is the covariance above chance. T may be negative, and the logarithm of a
    number that is little more than noise must not decide. So x is the positive root of ``x - s²/x = T``, which is T if
    T is large, and s if T is zero. As s is a product of one factor per column, columns that share nothing favour no
    tree.

    If all hidden variables have two states, ``‖C‖`` is exactly a product along the path. The distance needs no number
    of hidden states. It is infinite if a column is constant, if two columns are present together in fewer than two
    rows, or if an exact distribution is independent.

    Parameters
    ----------
    pairs : PairDistributions
        From :func:`as_pairs`.

    References
    ----------
    Gretton, Bousquet, Smola and Schölkopf (2005), Measuring Statistical Dependence with Hilbert-Schmidt Norms.
    Gretton, Fukumizu, Teo, Song, Schölkopf and Smola (2008), A Kernel Statistical Test of Independence.

    Examples
    --------
    Columns that agree in 80 % of 100 rows are near each other, independent ones far:

    >>> import numpy as np
    >>> from latree.research import as_pairs, covariance
    >>> covariance(as_pairs(np.array([[[40, 10], [10, 40]], [[25, 25], [25, 25]]]))).round(2)
    array([1.22, 3.23])
    """
    squared, mean, spread = pairs.squared_norm
    known = pairs.total > 1
    above_chance = squared - mean  # T
    twice = 2 * spread
    # x = (T + √(T² + 4s²)) / 2 cancels if T < 0; there 2s² / (√(T² + 4s²) - T) is the same and does not.
    larger = np.hypot(above_chance, twice) + np.abs(above_chance)
    smaller = np.divide(twice**2, larger, out=np.zeros_like(larger), where=larger > 0)
    norm = np.asarray(np.sqrt(np.where(above_chance > 0, larger, smaller) / 2))
    norm[(norm < ROUNDING) | ~known] = 0
    with np.errstate(divide="ignore"):
        return np.asarray(-np.log(norm))


def chance(pairs: PairDistributions) -> FloatArray:
    """Return the p-value of independence: the probability that chance alone makes as large a covariance.

    ``P(‖C‖² ≥ observed)`` for independent columns with these numbers of rows in each state, where ``‖C‖²`` has the mean
    ``tr S_i tr S_j / (m - 1)`` and the variance ``2 s²``; see :func:`covariance` and :func:`gamma_tail`. It is 1 if
    nothing is known: a column is constant, or two columns are present together in fewer than two rows.
    """
    return gamma_tail(*pairs.squared_norm, pairs.skewness)


def gamma_tail(squared: FloatArray, mean: FloatArray, spread: FloatArray, skewness: FloatArray) -> FloatArray:
    """Return the probability that chance alone makes a ``‖C‖²`` of at least ``squared``.

    For independent variables with many rows in every state, C is nearly normal and ``‖C‖²`` nearly a gamma variable
    (Gretton et al. 2008) with this mean and the variance ``2 spread²``, so with scale ``2 spread² / mean`` and shape
    ``mean / scale``. Where states are rare, C is rather like a count with a small mean: one row more is many standard
    deviations more. The tail of a count has Bennett's exponent ``((1 + u) log(1 + u) - u) / g²`` in the place of the
    normal ``z² / 2``, where z is the deviation in standard deviations, g the skewness, and ``u = g z``. The part of
    ``‖C‖²`` above its mean is reduced by the ratio of both. For two rare binary columns the result is about the p-value
    of Fisher's exact test; where nothing is skewed, it is the gamma variable's.

    Parameters
    ----------
    squared, mean, spread : array
    skewness : array
        The square of g. For two columns it is the product of what :func:`skewness` returns, divided by the number of
        rows: one over the expected number of common rows, for two rare states.

    References
    ----------
    Bennett (1962), Probability Inequalities for the Sum of Independent Random Variables.
    """
    known = (spread > 0) & (mean > 0)
    scale = 2 * spread**2 / np.where(known, mean, 1)
    shape = np.where(known, mean, 1) / np.where(known, scale, 1)
    found = squared / np.where(known, scale, 1)
    above = np.maximum(found - shape, 0)  # z² / 2
    step = np.sqrt(2 * above * skewness)
    exponent = np.divide((1 + step) * np.log1p(step) - step, skewness, out=np.array(above), where=step > _NO_STEP)
    return np.where(known, gammaincc(shape, np.minimum(found, shape) + exponent), 1.0)


def skewness(p: FloatArray) -> FloatArray:
    """Return the squared skewness of the indicators of a column's states.

    It is ``E k³ / (E k²)^{3/2}`` with ``k = (e_x - p)ᵀ(e_y - p)`` for two rows in states x and y. For two states, that
    is the squared skewness of a binary variable, ``(1 - 2p)² / (p (1 - p))``: about 1 / p for a rare state.
    """
    two, three, four = ((p**power).sum(axis=-1) for power in (2, 3, 4))
    third = two + 3 * two**2 + 4 * two**3 - 6 * three - 12 * two * three + 10 * four
    norm = _norm(p)
    return np.asarray(np.divide(np.maximum(third, 0), norm**3, out=np.zeros_like(norm), where=norm > ROUNDING))


def _trace(p: FloatArray) -> FloatArray:
    """Return ``tr S`` of ``S = diag p - p pᵀ``."""
    return np.asarray((p * (1 - p)).sum(axis=-1))


def _norm(p: FloatArray) -> FloatArray:
    """Return ``‖S‖ = √(Σ p² - 2 Σ p³ + (Σ p²)²)`` of ``S = diag p - p pᵀ``."""
    squares = (p**2).sum(axis=-1)
    return np.asarray(np.sqrt(np.maximum((p**2 * (1 - 2 * p)).sum(axis=-1) + squares**2, 0)))


def information(pairs: PairDistributions) -> FloatArray:
    """Return the mutual information in nats: ``Σ_xy P_ij(x, y) log(P_ij(x, y) / (p_i(x) p_j(y)))``.

    It is 0 for columns that are never present together. Chow-Liu trees maximise its sum over their edges.

    Parameters
    ----------
    pairs : PairDistributions
        From :func:`as_pairs`.

    Examples
    --------
    Two equal columns share their entropy, log 2 nats for two states of probability ½:

    >>> import numpy as np
    >>> from latree.research import as_pairs, information
    >>> bool(np.isclose(information(as_pairs(np.array([[5, 0], [0, 5]]))), np.log(2)))
    True
    """
    ratio = np.divide(pairs.joint, pairs.product, out=np.ones_like(pairs.joint), where=pairs.joint > 0)
    return np.asarray(np.maximum((pairs.joint * np.log(ratio)).sum(axis=(-2, -1)), 0))


def code_correlation(pairs: PairDistributions) -> FloatArray:
    """Return Pearson's correlation of the codes 0, 1, ...; 0 if a column is constant.

    It is nan for columns that are never present together.
    """
    codes = np.arange(pairs.joint.shape[-1], dtype=np.float64)
    first, second = (shares @ codes for shares in (pairs.first, pairs.second))
    covariance = (pairs.joint @ codes) @ codes - first * second
    # Rounding can make the variance of a constant column a little less than zero.
    spread = np.sqrt(np.maximum((pairs.first @ codes**2 - first**2) * (pairs.second @ codes**2 - second**2), 0))
    found = np.divide(covariance, spread, out=np.zeros_like(covariance), where=spread > ROUNDING)
    return np.where(pairs.total > 0, found, np.nan)


def information_above_chance(pairs: PairDistributions, times: int = 1) -> FloatArray:
    """Return mutual information without its bias, at least 0; nan for columns that are never present together.

    Independent columns with r and c states show ``(r - 1) (c - 1) / 2m`` nats on average in m rows (Miller 1955). Rows
    that are resampled from m rows have been drawn at random two ``times``, and show as much more.
    """
    n_first, n_second = ((share > 0).sum(axis=-1) for share in (pairs.first, pairs.second))
    counted = pairs.total > 0
    bias = np.divide((n_first - 1) * (n_second - 1), 2 * pairs.total, out=np.zeros(pairs.total.shape), where=counted)
    return np.where(counted, np.maximum(information(pairs) - times * bias, 0), np.nan)


def informational_correlation(information: FloatArray) -> FloatArray:
    """Return Linfoot's informational correlation ``sqrt(1 - exp(-2 I))``; that of two normal variables is ``|r|``."""
    found = np.asarray(-2.0 * information)
    for change in (np.expm1, np.negative, np.sqrt):  # in place: with thousands of columns, each copy is much memory
        change(found, out=found)
    return found


def log_det(pairs: PairDistributions) -> FloatArray:
    """Return Lake's log-det distance: ``½ log det diag p_i - log |det P_ij| + ½ log det diag p_j``.

    It adds up along the paths of a tree whose hidden variables have as many states as the columns (k = n). So it is the
    distance for :func:`latree.research.neighbor_joining` and the other learners of additive distances.

    It is computed as ``-Σ log σ_s`` of ``diag(p_i)^-½ P_ij diag(p_j)^-½``, whose singular values are at most one; the
    first of them is always one. Three cases that the paper leaves open:

    - A singular value below min(1/m², 1e-6) for m rows counts as that, so that a singular matrix makes a large but
      finite distance.
    - If columns have different numbers of states, or a state does not occur, there are only r < n singular values.
      Their mean logarithm stands for all, ``-(n-1)/(r-1) Σ log σ_s``, so that distances stay comparable.
    - The distance is infinite only if a column is constant or two columns are never present together.

    Parameters
    ----------
    pairs : PairDistributions
        From :func:`as_pairs`.

    References
    ----------
    Lake (1994), Reconstructing Evolutionary Trees from DNA and Protein Sequences: Paralinear Distances.

    Examples
    --------
    The columns agree in 80 % of the rows, so that their correlation is 0.6, and the distance -log 0.6:

    >>> import numpy as np
    >>> from latree.research import as_pairs, log_det
    >>> bool(np.isclose(log_det(as_pairs(np.array([[40, 10], [10, 40]]))), -np.log(0.6)))
    True
    """
    joint, first, second = pairs.joint, pairs.first, pairs.second
    scale = np.sqrt(first[..., :, None] * second[..., None, :])
    # The singular values of diag(p_i)^-½ P_ij diag(p_j)^-½; r of them are not zero by construction.
    values = singular_values(np.divide(joint, scale, out=np.zeros_like(joint), where=joint > 0))
    rank = np.minimum((first > 0).sum(axis=-1), (second > 0).sum(axis=-1))[..., None]
    floor = np.clip(1 / np.maximum(pairs.total, 1) ** 2, ROUNDING, _MAX_SINGULAR_FLOOR)[..., None]
    counted = np.arange(values.shape[-1]) < rank
    # -Σ log σ_s (n - 1) / (r - 1)
    total = -np.log(np.clip(values, floor, 1), out=np.zeros_like(values), where=counted).sum(axis=-1)
    others = rank[..., 0] - 1
    distance = total * (max(joint.shape[-1], pairs.max_states) - 1) / np.maximum(others, 1)
    return np.where(others > 0, distance, np.inf) + 0.0  # adding zero turns -0.0 into 0.0


def pairwise(table: Table, measure: Measure) -> FloatArray:
    """Return a measure of all pairs of a table's columns, as a symmetric matrix.

    Parameters
    ----------
    table : Table
    measure : callable
        :func:`covariance`, :func:`information`, :func:`log_det`, :func:`nuclear`, or any other function of the
        distributions that :func:`as_pairs` returns.

    Returns
    -------
    array, shape (d, d)
        Symmetric.

    Examples
    --------
    The second column is a copy of the first, the third is independent of both:

    >>> import latree, numpy as np
    >>> from latree.research import information, pairwise
    >>> table = latree.as_table(np.array([[0, 0, 0], [0, 0, 1], [1, 1, 0], [1, 1, 1]]))
    >>> pairwise(table, information).round(2)
    array([[0.69, 0.69, 0.  ],
           [0.69, 0.69, 0.  ],
           [0.  , 0.  , 0.69]])
    """
    return pairwise_all(table, [measure])[0]


def pairwise_all(table: Table, measures: Sequence[Measure]) -> list[FloatArray]:
    """Return several measures of all pairs of columns, whose contingency tables are counted only once."""
    progress = claim_progress()
    d, n = table.n_columns, int(table.n_states.max())
    if n > FEW_STATES:
        return _pairwise_wide(table, measures, progress)
    # Columns with few states come first, so that their tables need not be padded.
    order = np.argsort(table.n_states, kind="stable")
    if not np.array_equal(order, np.arange(d)):
        table = replace(
            table, columns=tuple(table.columns[j] for j in order), rows=table.rows.reordered(order), raw=None
        )
    tiles = column_tiles(table)
    results = [np.empty((d, d)) for _ in measures]

    def measure_tile(tile: tuple[slice, slice]) -> list[FloatArray]:
        pairs = replace(as_pairs(pair_tables_between(table, *tile)), max_states=n)
        return [measure(pairs) for measure in measures]

    measured = map_ordered(measure_tile, tiles)
    for done, ((first, second), values) in enumerate(zip(tiles, measured, strict=True), start=1):
        progress(done, len(tiles))
        for result, value in zip(results, values, strict=True):
            exact = _mirrored(value) if first == second else value
            result[np.ix_(order[first], order[second])] = exact
            result[np.ix_(order[second], order[first])] = exact.T
    return results


def _mirrored(result: FloatArray) -> FloatArray:
    """Copy the upper triangle to the lower one, in place, so that the matrix is exactly symmetric."""
    for i in range(len(result)):
        result[i + 1 :, i] = result[i, i + 1 :]
    return result


def _pairwise_wide(table: Table, measures: Sequence[Measure], progress: Progress) -> list[FloatArray]:
    """Measure pairs of columns, some of which have many states: only pairs of about the same width share a stack."""
    d, n = table.n_columns, table.n_states
    pairs = np.column_stack(np.triu_indices(d))
    width = 2 ** np.ceil(np.log2(np.maximum(n[pairs].max(axis=1), 2))).astype(np.intp)
    cells = int((width.astype(float) ** 2).sum())
    if cells > _MOST_WIDE_CELLS:
        widest = int(np.argmax(n))
        many = np.count_nonzero(n > FEW_STATES)
        raise InputError(
            f"{many} columns have more than {FEW_STATES} states, such as {table.names[widest]!r} with {n[widest]}: all "
            f"contingency tables of two columns together would have {cells:.0e} cells; merge rare values, bin numeric "
            "columns, or drop some of these columns"
        )
    results = [np.empty((d, d)) for _ in measures]
    done = 0
    for size in np.unique(width).tolist():
        same_width = pairs[width == size]
        step = max(1, WIDE_PAIR_CELLS_AT_ONCE // size**2)
        for start in range(0, len(same_width), step):
            batch = same_width[start : start + step]
            distributions = replace(as_pairs(pair_tables(table, batch)), max_states=int(n.max()))
            for result, measure in zip(results, measures, strict=True):
                result[batch[:, 0], batch[:, 1]] = measure(distributions)
            done += len(batch)
            progress(done, len(pairs))
    return [_mirrored(result) for result in results]


def as_pairs(counts: NDArray[np.int64] | FloatArray) -> PairDistributions:
    """Return the joint distributions of pairs of columns, given their contingency tables.

    Parameters
    ----------
    counts : array, shape (..., n, n)
        From :func:`pair_tables`, for instance.

    Returns
    -------
    PairDistributions
        ``joint``, the counts divided by their sum, or zeros if nothing was counted; and ``total``, the sums.

    Examples
    --------
    >>> import numpy as np
    >>> from latree.research import as_pairs
    >>> pairs = as_pairs(np.array([[6, 2], [1, 1]]))
    >>> pairs.joint
    array([[0.6, 0.2],
           [0.1, 0.1]])
    >>> float(pairs.total)
    10.0
    """
    total = counts.sum(axis=(-2, -1), keepdims=True)
    return PairDistributions(counts / np.where(total > 0, total, 1), total[..., 0, 0].astype(float))


def finite(distance: FloatArray) -> FloatArray:
    """Return the distances with infinite ones replaced by ``farthest + (farthest - nearest)``, larger than all others.

    ``nearest`` is the smallest finite distance between two columns, or zero if none is negative. If all finite
    distances are zero, ``farthest + 1`` is taken. Infinite values on the diagonal become zero.
    """
    others = distance[np.isfinite(distance) & ~np.eye(len(distance), dtype=bool)]
    farthest = float(others.max(initial=0.0))
    extent = farthest - float(others.min(initial=0.0))
    known = np.where(np.isfinite(distance), distance, farthest + (extent or 1.0))
    np.fill_diagonal(known, np.where(np.isfinite(np.diag(distance)), np.diag(distance), 0.0))
    return known
