"""How much every two columns depend on each other.

A measure is a function of joint distributions, whole stacks of them at once, so that it can be asked of the counts of a
table (:func:`pairwise`) as well as of the exact distributions of a model.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaincc

from latree._util.arrays import FloatArray
from latree._util.parallel import map_ordered
from latree._util.progress import Progress, no_progress
from latree.counts.contingency import pair_tables, tables_between, tiles
from latree.counts.tensor import nuclear_norms, singular_values
from latree.errors import InputError
from latree.table import Table
from latree.table.table import FEW_STATES

_WIDE_CELLS_AT_ONCE = 2**22  # of pair tables of columns with many states
_MOST_WIDE_CELLS = 2**34  # of all pair tables together where columns have many states: beyond it, hours
_MOST_SINGULAR = 1e-6  # what a singular value of zero counts as at most, however few rows there are
ROUNDING = 1e-14  # what independent columns may seem to depend on each other by


@dataclass(frozen=True)
class Pairs:
    """Joint distributions of pairs of columns."""

    joint: FloatArray  # shape (..., n, n); columns with fewer states than n are padded with zeros
    total: FloatArray  # shape (...): rows, or their weight, that each was counted in; infinite for exact ones
    widest: int = 0  # states of the widest column of all, where that is not among these

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
        """What the joint distributions would be if columns were independent."""
        return np.asarray(self.first[..., :, None] * self.second[..., None, :])

    @cached_property
    def squared_norm(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """``‖C‖²``, and for independent columns its mean ``tr S_i tr S_j / (m - 1)`` and s, ``√½`` of its spread."""
        first, second = self.first, self.second
        share = np.divide(1, self.total - 1, out=np.zeros_like(self.total), where=self.total > 1)
        squared = np.asarray(((self.joint - self.product) ** 2).sum(axis=(-2, -1)))
        return squared, share * _trace(first) * _trace(second), share * _spread(first) * _spread(second)


Measure: TypeAlias = Callable[[Pairs], FloatArray]


def nuclear(pairs: Pairs) -> FloatArray:
    """Measure how far columns are from depending on each other: ``-log ‖P_ij - p_i p_jᵀ‖_*``.

    The nuclear norm of the centred pair table is zero if and only if the columns are independent; then, or where two
    columns are never present together, the distance is infinite. It needs no number of hidden states.
    """
    norms = nuclear_norms(pairs.joint - pairs.product)
    norms[norms < ROUNDING] = 0
    with np.errstate(divide="ignore"):
        return -np.log(norms)


def covariance(pairs: Pairs) -> FloatArray:
    """Measure how far columns are from depending on each other, less what chance alone makes of so many rows.

    The distance is ``-½ log x``, where x estimates the squared norm ``‖C‖²`` of the covariance of the columns'
    indicators, ``C = P_ij - p_i p_jᵀ`` (the Hilbert-Schmidt independence criterion, HSIC, of Gretton et al. 2005 for
    categories). If the columns are independent, m rows show

    ``E ‖C‖² = tr S_i tr S_j / (m - 1)`` and ``Var ‖C‖² ≈ 2 s²`` with ``s = ‖S_i‖ ‖S_j‖ / (m - 1)``,
    ``S = diag p - p pᵀ``

    (Gretton et al. 2008; the mean is exact for the counted p: it is the mean over all orders of one column's rows). So
    ``T = ‖C‖² - tr S_i tr S_j / (m - 1)`` is what is left when chance is taken off. It may be negative, and a
    logarithm of little more than noise must not decide: x is the positive root of ``x - s²/x = T``, which is T where T
    is large, and s where T is zero. As s is a product of one factor a column, columns that share nothing favour no
    tree.

    Where all hidden variables have two states, ``‖C‖`` is exactly a product along the path. The distance needs no
    number of hidden states. It is infinite where a column is constant, two columns are present together in fewer than
    two rows, or an exact distribution is independent.
    """
    squared, mean, spread = pairs.squared_norm
    known = pairs.total > 1
    left = squared - mean
    twice = 2 * spread
    # x = (T + √(T² + 4s²)) / 2 cancels where T < 0; there 2s² / (√(T² + 4s²) - T) is the same and does not.
    larger = np.hypot(left, twice) + np.abs(left)
    smaller = np.divide(twice**2, larger, out=np.zeros_like(larger), where=larger > 0)
    norm = np.asarray(np.sqrt(np.where(left > 0, larger, smaller) / 2))
    norm[(norm < ROUNDING) | ~known] = 0
    with np.errstate(divide="ignore"):
        return np.asarray(-np.log(norm))


def chance(pairs: Pairs) -> FloatArray:
    """Give the probability that independent columns show as much covariance: a p-value, 1 where nothing is known."""
    return gamma_tail(*pairs.squared_norm)


def gamma_tail(squared: FloatArray, mean: FloatArray, spread: FloatArray) -> FloatArray:
    """Give the probability that chance alone makes a ``‖C‖²`` as large, given its mean and ``√½`` of its spread.

    Of independent variables it is nearly a gamma variable (Gretton et al. 2008).
    """
    known = (spread > 0) & (mean > 0)
    scale = 2 * spread**2 / np.where(known, mean, 1)
    shape = np.where(known, mean, 1) / np.where(known, scale, 1)
    return np.where(known, gammaincc(shape, squared / np.where(known, scale, 1)), 1.0)


def _trace(share: FloatArray) -> FloatArray:
    """Give ``tr S`` of ``S = diag p - p pᵀ``."""
    return np.asarray((share * (1 - share)).sum(axis=-1))


def _spread(share: FloatArray) -> FloatArray:
    """Give ``‖S‖ = √(Σ p² - 2 Σ p³ + (Σ p²)²)``."""
    squares = (share**2).sum(axis=-1)
    return np.asarray(np.sqrt(np.maximum((share**2 * (1 - 2 * share)).sum(axis=-1) + squares**2, 0)))


def information(pairs: Pairs) -> FloatArray:
    """Give mutual information in nats: ``Σ P_ij log(P_ij / (p_i p_j))``; 0 for columns never present together."""
    ratio = np.divide(pairs.joint, pairs.product, out=np.ones_like(pairs.joint), where=pairs.joint > 0)
    return np.asarray(np.maximum((pairs.joint * np.log(ratio)).sum(axis=(-2, -1)), 0))


def log_det(pairs: Pairs) -> FloatArray:
    """Measure Lake's distance: ``½ log det diag p_i - log |det P_ij| + ½ log det diag p_j``.

    It adds up along the paths of a tree whose hidden variables have as many states as the columns (k = n).

    It is computed as ``-Σ log σ_s`` of ``diag(p_i)^-½ P_ij diag(p_j)^-½``, whose singular values are at most one, the
    first of them always one. Where the paper has no answer: a singular value of zero, or below min(1/m², 1e-6) for m
    rows, counts as that, so that a singular table makes a large but finite distance. If columns have different numbers
    of states, or a state does not occur, a table has only r < n singular values; their mean logarithm stands for all,
    ``-(n-1)/(r-1) Σ log σ_s``, so that distances stay comparable. The distance is infinite only where a column is
    constant or two columns are never present together.
    """
    joint, first, second = pairs.joint, pairs.first, pairs.second
    scale = np.sqrt(first[..., :, None] * second[..., None, :])
    values = singular_values(np.divide(joint, scale, out=np.zeros_like(joint), where=joint > 0))
    size = np.minimum((first > 0).sum(axis=-1), (second > 0).sum(axis=-1))[..., None]
    least = np.clip(1 / np.maximum(pairs.total, 1) ** 2, ROUNDING, _MOST_SINGULAR)[..., None]
    counted = np.arange(values.shape[-1]) < size
    total = -np.log(np.clip(values, least, 1), out=np.zeros_like(values), where=counted).sum(axis=-1)
    others = size[..., 0] - 1
    distance = total * (max(joint.shape[-1], pairs.widest) - 1) / np.maximum(others, 1)
    return np.where(others > 0, distance, np.inf) + 0.0  # no zero with a sign


def pairwise(table: Table, measure: Measure, progress: Progress = no_progress) -> FloatArray:
    """Measure all pairs of a table's columns.

    Parameters
    ----------
    table : Table
    measure : callable
        Such as :func:`nuclear`, :func:`information` or :func:`log_det`.
    progress : callable
        Told how many of all stacks of pairs are measured.

    Returns
    -------
    array, shape (d, d)
        Symmetric.
    """
    return pairwise_all(table, [measure], progress)[0]


def pairwise_all(table: Table, measures: Sequence[Measure], progress: Progress = no_progress) -> list[FloatArray]:
    """Take several measures of the same pair tables, which are counted once."""
    d, n = table.n_columns, int(table.n_states.max())
    if n > FEW_STATES:
        return _pairwise_wide(table, measures, progress)
    squares = tiles(table)
    results = [np.empty((d, d)) for _ in measures]

    def measured(tile: tuple[slice, slice]) -> list[FloatArray]:
        pairs = as_pairs(tables_between(table, *tile))
        return [measure(pairs) for measure in measures]

    found = map_ordered(measured, squares)
    for done, ((first, second), values) in enumerate(zip(squares, found, strict=True), start=1):
        progress(done, len(squares))
        for result, value in zip(results, values, strict=True):
            result[first, second] = value
    return [_mirrored(result) for result in results]


def _mirrored(result: FloatArray) -> FloatArray:
    """Copy in place what is above the diagonal to below it: nothing is there, or what rounding made of the same."""
    for i in range(len(result)):
        result[i + 1 :, i] = result[i, i + 1 :]
    return result


def _pairwise_wide(table: Table, measures: Sequence[Measure], progress: Progress) -> list[FloatArray]:
    """Measure pairs of columns of which some have many states: only pairs of about the same width share a stack."""
    d, n = table.n_columns, table.n_states
    pairs = np.column_stack(np.triu_indices(d))
    width = 2 ** np.ceil(np.log2(np.maximum(n[pairs].max(axis=1), 2))).astype(np.intp)
    cells = int((width.astype(float) ** 2).sum())
    if cells > _MOST_WIDE_CELLS:
        widest = int(np.argmax(n))
        many = np.count_nonzero(n > FEW_STATES)
        raise InputError(
            f"{many} columns have more than {FEW_STATES} states, such as {table.names[widest]!r} with {n[widest]}: all "
            f"tables of two columns together would have {cells:.0e} cells; merge rare values, have numbers cut, or "
            "drop some of the columns"
        )
    results = [np.empty((d, d)) for _ in measures]
    done = 0
    for size in np.unique(width).tolist():
        alike = pairs[width == size]
        step = max(1, _WIDE_CELLS_AT_ONCE // size**2)
        for start in range(0, len(alike), step):
            some = alike[start : start + step]
            counted = replace(as_pairs(pair_tables(table, some)), widest=int(n.max()))
            for result, measure in zip(results, measures, strict=True):
                result[some[:, 0], some[:, 1]] = measure(counted)
            done += len(some)
            progress(done, len(pairs))
    return [_mirrored(result) for result in results]


def as_pairs(counts: NDArray[np.int64] | FloatArray) -> Pairs:
    """Turn counts, shape (..., n, n), into joint distributions; all zeros where nothing was counted."""
    total = counts.sum(axis=(-2, -1), keepdims=True)
    return Pairs(counts / np.where(total > 0, total, 1), total[..., 0, 0].astype(float))


def finite(distance: FloatArray) -> FloatArray:
    """Replace infinite distances by one that is farther than all others: by as much as those are from zero, or 1."""
    others = distance[np.isfinite(distance) & ~np.eye(len(distance), dtype=bool)]
    farthest = float(others.max(initial=0.0))
    extent = farthest - float(others.min(initial=0.0))
    known = np.where(np.isfinite(distance), distance, farthest + (extent or 1.0))
    np.fill_diagonal(known, np.where(np.isfinite(np.diag(distance)), np.diag(distance), 0.0))
    return known
