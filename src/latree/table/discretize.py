"""Learning the states of columns: categories, or bins with equally many rows.

A numeric column gets (at most ``bins``) quantile bins if it has fractions, or more than ``2 * bins`` distinct whole
numbers. Every other column keeps its distinct values as categories.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from latree._util.arrays import FloatArray, IntArray
from latree.errors import InputError
from latree.table.columns import Column
from latree.table.raw import label_of
from latree.table.sources import RawBatch, RowSource
from latree.table.summary import ColumnSummary, summarise

# Cuts are searched at this many evenly spaced ranks per bin (and on both sides of the value at each rank). The ideal
# ranks are among them, and no bin is off its best size by more than one hundredth.
RANKS_PER_BIN = 100


def equal_cuts(values: FloatArray, counts: FloatArray, bins: int) -> FloatArray:
    """Return the cut points that make the sizes of the bins as equal as ties allow.

    Among all ways to cut the sorted values into ``bins`` bins that are not empty, these have the least sum of squared
    sizes. Quantiles would not do: where many rows have the same value, several quantiles coincide, and the remaining
    bins are fewer and of unequal size.

    Parameters
    ----------
    values : array of float
        The distinct values, increasing.
    counts : array of float
        The number of rows (or their weight) of each value.
    bins : int
        The number of bins. If there are fewer values, every value gets its own bin.

    Returns
    -------
    array of float
        Increasing cut points, each between the values it separates: ``x <= cut`` is below it.
    """
    positions = _candidate_positions(counts, bins)
    last = _last_of_each_bin(np.cumsum(counts)[positions], min(bins, len(positions)))[:-1]
    below, above = values[positions[last]], values[np.minimum(positions[last] + 1, len(values) - 1)]
    # A cut is in the middle between its two values. Where rounding puts the middle on the upper value, it is the lower.
    middle = below / 2 + above / 2
    return np.where((below <= middle) & (middle < above), middle, below)


def _candidate_positions(counts: FloatArray, bins: int) -> IntArray:
    """Return the positions in the sorted values after which a cut may come, and the last position."""
    if len(counts) <= 2 * bins * RANKS_PER_BIN:
        return np.arange(len(counts))
    cumulative = np.cumsum(counts)
    ranks = cumulative[-1] * np.arange(1, bins * RANKS_PER_BIN) / (bins * RANKS_PER_BIN)
    # A rank that rounding puts just above a whole number must not miss its value.
    at = np.searchsorted(cumulative, ranks * (1 - 1e-12))
    return np.unique(np.concatenate([at, np.maximum(at - 1, 0), [len(counts) - 1]]))


def _last_of_each_bin(cumulative: FloatArray, bins: int) -> IntArray:
    """Divide candidates into ``bins`` bins with the least sum of squared sizes; return the last candidate of each.

    This is a dynamic program. Let ``C_j`` be the weight of the first ``j`` candidates, and ``cost_b(j)`` the least sum
    of squares when these ``j`` candidates make ``b`` bins. The last bin starts after some candidate ``i``, so

        ``cost_0(0) = 0``,   ``cost_b(j) = min over i < j of cost_{b-1}(i) + (C_j - C_i)^2``.
    """
    total = np.concatenate([[0.0], cumulative])  # C_j
    cost = np.full(len(total), np.inf)  # cost_b(j), at first for b = 0
    cost[0] = 0.0
    starts = []  # of each number of bins: the best i for every j
    for _ in range(bins):
        cost, start = _best_starts(cost, total)
        starts.append(start)
    # Follow the best starts back from the end: the bin that ends with candidate j starts after candidate i.
    j = len(total) - 1
    lasts = []
    for start in reversed(starts):
        lasts.append(j - 1)
        j = int(start[j])
    return np.array(lasts[::-1], dtype=np.intp)


def _best_starts(cost: FloatArray, total: FloatArray) -> tuple[FloatArray, IntArray]:
    """Return for every ``j`` the least ``cost[i] + (total[j] - total[i])^2`` over ``i < j``, and the first best ``i``.

    The best ``i`` never decreases as ``j`` increases, because the square is convex. So the ``j`` are solved level by
    level, at distances that halve: each between two neighbours that are solved already, whose best ``i`` bound its own.
    A level takes about ``n`` comparisons in array operations, and there are about ``log n`` levels.
    """
    size = len(total)
    best = np.zeros(size, dtype=np.intp)
    value = np.full(size, np.inf)
    step = 1 << size.bit_length()
    while step >= 1:
        # The j of this level, and the range low..high of their candidates i.
        targets = np.arange(step, size, 2 * step)
        if len(targets):
            low = best[targets - step]
            right = targets + step
            high = np.minimum(np.where(right < size, best[np.minimum(right, size - 1)], size), targets - 1)
            high = np.maximum(high, low)
            # All pairs (j, i) of the level in one array: the candidates of the first j, then of the second, and so on.
            widths = high - low + 1
            starts = np.cumsum(widths) - widths
            candidates = np.arange(widths.sum()) - np.repeat(starts, widths) + np.repeat(low, widths)
            costs = cost[candidates] + (np.repeat(total[targets], widths) - total[candidates]) ** 2
            costs[candidates >= np.repeat(targets, widths)] = np.inf
            # The least cost of each j, and the first candidate that has it.
            value[targets] = np.minimum.reduceat(costs, starts)
            hits = np.flatnonzero(costs == np.repeat(value[targets], widths))
            best[targets] = candidates[hits[np.searchsorted(hits, starts)]]
        step //= 2
    return value, best


# Bounds of bins from 1 up to this number have no exponent.
_MAX_PLAIN = 1e12


class LearnedColumn(NamedTuple):
    """What is known of a column, and its states: a column, or why it has none."""

    summary: ColumnSummary
    column: Column | None
    problem: str | None


def learn_columns(
    source: RowSource,
    names: Sequence[str],
    bins: int,
    missing: tuple[str, ...],
    orders: Mapping[str, tuple[str, ...]] | None = None,
) -> list[LearnedColumn]:
    """Learn the states of columns. Rows of weight zero are ignored.

    Parameters
    ----------
    source : RowSource
    names : sequence of str
        The columns to learn.
    bins : int
        Number of bins; 0 makes no bins.
    missing : tuple of str
        Cells that mean missing.
    orders : mapping of str to tuple of str, optional
        The categories from low to high of columns that have an order.
    """
    measure = partial(_summarise, names=names, missing=missing, orders=dict(orders or {}))
    columns = []
    for summary in source.reduce(measure, _merge, None if tuple(names) == source.names else names):
        try:
            has_bins = summary.is_numeric and summary.needs_bins(bins)
            column = _column_with_bins(summary, bins, missing) if has_bins else summary.column_without_bins(missing)
            columns.append(LearnedColumn(summary, column, None))
        except InputError as error:  # all such columns are told at once
            columns.append(LearnedColumn(summary, None, str(error)))
    return columns


def _summarise(
    batch: RawBatch, names: Sequence[str], missing: tuple[str, ...], orders: dict[str, tuple[str, ...]]
) -> list[ColumnSummary]:
    columns = (batch.columns[name] for name in names)
    ordered = (replace(raw, order=orders[raw.name]) if raw.name in orders else raw for raw in columns)
    return [summarise(raw, batch.weights, missing) for raw in ordered]


def _merge(one: list[ColumnSummary], other: list[ColumnSummary]) -> list[ColumnSummary]:
    return [a.merge(b) for a, b in zip(one, other, strict=True)]


def _column_with_bins(summary: ColumnSummary, bins: int, missing: tuple[str, ...]) -> Column:
    numbers, weights, _, bits = summary.counts
    cuts = equal_cuts(numbers, weights, bins)
    if bits:  # of numbers that are counted together, only the largest is known
        cuts = numbers[np.searchsorted(numbers, cuts, side="right") - 1]
    bin_of = np.searchsorted(cuts, numbers, side="left")
    centers = [_lower_median(numbers[bin_of == b], weights[bin_of == b]) for b in range(len(cuts) + 1)]
    # Bins of one number each are named by that number.
    labels = list(map(label_of, numbers.tolist())) if len(numbers) == len(centers) else _interval_labels(cuts)
    numbers_of_bins = tuple(cuts.tolist()), tuple(centers)
    return Column(summary.name, summary.kind, tuple(labels), missing, *numbers_of_bins, ordered=True)


def _lower_median(numbers: FloatArray, weights: FloatArray) -> float:
    """Return the first number at which the cumulative weight reaches one half of the total."""
    cumulative = np.cumsum(weights)
    return float(numbers[np.searchsorted(cumulative, cumulative[-1] / 2)])


def _interval_labels(cuts: FloatArray) -> list[str]:
    """Name the bins by their bounds, with at least four digits and as many as make the bounds differ."""
    digits = next((d for d in range(4, 17) if len({f"{cut:.{d}g}" for cut in cuts}) == len(cuts)), 17)
    # An income of 23450 is easier to read than one of 2.345e+04.
    texts = [
        label_of(float(f"{cut:.{digits}g}")) if 1 <= abs(cut) < _MAX_PLAIN else f"{cut:.{digits}g}" for cut in cuts
    ]
    between = [f"({low}, {high}]" for low, high in pairwise(texts)]
    return [f"<= {texts[0]}", *between, f"> {texts[-1]}"]
