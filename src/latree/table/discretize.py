"""Learning the states of columns: categories, or bins with equally many rows.

A numeric column gets (at most ``bins``) quantile bins if it has fractions, or more than ``2 * bins`` distinct whole
numbers. Every other column keeps its distinct values as categories.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from latree._util.arrays import FloatArray, IntArray
from latree.errors import InputError
from latree.table.columns import Column
from latree.table.raw import label_of
from latree.table.sources import RawBatch, RowSource
from latree.table.summary import (
    ColumnSummary,
    Intervals,
    NumberCounts,
    Quantiles,
    QuantileSketch,
    interval_weights,
    numbers_in_intervals,
    summarise,
)

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
    above = values[np.minimum(positions + 1, len(values) - 1)]
    return best_cuts(values[positions], above, np.cumsum(counts)[positions], bins)


def best_cuts(below: FloatArray, above: FloatArray, cumulative: FloatArray, bins: int) -> FloatArray:
    """Choose the best cut points among candidates.

    Parameters
    ----------
    below, above : array of float
        The values next to each candidate, increasing. The last candidate is the end of all values, which is no cut.
    cumulative : array of float
        The number of rows below each candidate.
    bins : int
    """
    chosen = _last_of_each_bin(cumulative, min(bins, len(cumulative)))[:-1]
    below, above = below[chosen], above[chosen]
    # A cut is in the middle between its two values. Where rounding puts the middle on the upper value, it is the lower.
    middle = below / 2 + above / 2
    return np.where((below <= middle) & (middle < above), middle, below)


def candidate_ranks(total: float, bins: int) -> FloatArray:
    """Return the ranks among the sorted rows at whose values cuts are searched, just below or just above the value."""
    ranks = total * np.arange(1, bins * RANKS_PER_BIN) / (bins * RANKS_PER_BIN)
    return ranks * (1 - 1e-12)  # a rank that rounding puts just above a whole number must not miss its value


def _candidate_positions(counts: FloatArray, bins: int) -> IntArray:
    """Return the positions in the sorted values after which a cut may come, and the last position."""
    if len(counts) <= 2 * bins * RANKS_PER_BIN:
        return np.arange(len(counts))
    cumulative = np.cumsum(counts)
    at = np.searchsorted(cumulative, candidate_ranks(cumulative[-1], bins))
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


# Numbers of all columns that are collected in one pass over the data; with more, there are several passes.
_NUMBERS_PER_PASS = 2**23
# Bounds of bins from 1 up to this number have no exponent.
_MAX_PLAIN = 1e12

Result = TypeVar("Result")


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
    measure = partial(_summarise, missing=missing, orders=dict(orders or {}))
    summaries = _measure_columns(source, names, measure, ColumnSummary.merge)
    binned = {summary.name for summary in summaries if summary.is_numeric and summary.needs_bins(bins)}
    interval_ends = {
        summary.name: summary.counts.interval_ends
        for summary in summaries
        if summary.name in binned and isinstance(summary.counts, QuantileSketch)
    }
    streamed = _bins_from_stream(source, interval_ends, bins, missing)
    columns = []
    for summary in summaries:
        try:
            if summary.name in streamed:
                cuts, centers = streamed[summary.name]
                column = _binned_column(summary, cuts, centers, _interval_labels(cuts), missing)
            elif summary.name in binned:
                column = _column_with_bins(summary, bins, missing)
            else:
                column = summary.column_without_bins(missing)
            columns.append(LearnedColumn(summary, column, None))
        except InputError as error:  # all such columns are told at once
            columns.append(LearnedColumn(summary, None, str(error)))
    return columns


def _measure_columns(
    source: RowSource,
    names: Sequence[str],
    measure: Callable[[RawBatch, str], Result],
    merge: Callable[[Result, Result], Result],
) -> list[Result]:
    """Apply ``measure`` to each column in one pass over the data; return one result per column."""
    return source.reduce(
        partial(_measure_batch, names=tuple(names), measure=measure),
        partial(_merge_all, merge=merge),
        None if tuple(names) == source.names else names,
    )


def _measure_batch(batch: RawBatch, names: Sequence[str], measure: Callable[[RawBatch, str], Result]) -> list[Result]:
    return [measure(batch, name) for name in names]


def _merge_all(one: list[Any], other: list[Any], merge: Callable[[Any, Any], Any]) -> list[Any]:
    return [merge(a, b) for a, b in zip(one, other, strict=True)]


def _summarise(
    batch: RawBatch, name: str, missing: tuple[str, ...], orders: dict[str, tuple[str, ...]]
) -> ColumnSummary:
    raw = batch.columns[name]
    return summarise(replace(raw, order=orders[name]) if name in orders else raw, batch.weights, missing)


def _column_with_bins(summary: ColumnSummary, bins: int, missing: tuple[str, ...]) -> Column:
    """Bin a column all of whose distinct numbers are known."""
    assert isinstance(summary.counts, NumberCounts)
    numbers, weights = summary.counts
    cuts = equal_cuts(numbers, weights, bins)
    bin_of = np.searchsorted(cuts, numbers, side="left")
    centers = np.array([_lower_median(numbers[bin_of == b], weights[bin_of == b]) for b in range(len(cuts) + 1)])
    # Bins of one number each are named by that number.
    labels = list(map(label_of, numbers.tolist())) if len(numbers) == len(centers) else _interval_labels(cuts)
    return _binned_column(summary, cuts, centers, labels, missing)


def _binned_column(
    summary: ColumnSummary, cuts: FloatArray, centers: FloatArray, labels: list[str], missing: tuple[str, ...]
) -> Column:
    numbers = tuple(cuts.tolist()), tuple(map(float, centers.tolist()))
    return Column(summary.name, summary.kind, tuple(labels), missing, *numbers, ordered=True)


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


def _bins_from_stream(
    source: RowSource, interval_ends: dict[str, FloatArray], bins: int, missing: tuple[str, ...]
) -> dict[str, tuple[FloatArray, FloatArray]]:
    """Return cuts and medians of columns of which only a sketch is known: the same as from all numbers at once."""
    if not interval_ends:
        return {}
    # Pass 1: count the rows of each interval.
    measure = partial(_interval_weights, interval_ends=interval_ends, missing=missing)
    weights = _measure_columns(source, list(interval_ends), measure, np.add)
    intervals = {name: Intervals(interval_ends[name], w) for name, w in zip(interval_ends, weights, strict=True)}
    # Pass 2: find the numbers at the ranks where a cut may come, and choose the cuts among them.
    ranks = {name: candidate_ranks(column.total, bins) for name, column in intervals.items()}
    cuts, median_ranks = {}, {}
    for name, quantiles in _find_quantiles(source, intervals, ranks, missing).items():
        cuts[name], median_ranks[name] = _cuts_and_median_ranks(quantiles, intervals[name], bins)
    # Pass 3: find the median of each bin.
    medians = _find_quantiles(source, intervals, median_ranks, missing)
    return {name: (cuts[name], medians[name].numbers) for name in interval_ends}


def _cuts_and_median_ranks(quantiles: Quantiles, intervals: Intervals, bins: int) -> tuple[FloatArray, FloatArray]:
    """Choose cuts next to the numbers that were found; return them and the rank of the median of each bin."""
    # A cut may come after the number at each rank, or after the number below it. The last candidate is the end.
    largest = intervals.ends[-1]
    below = np.concatenate([quantiles.below, quantiles.numbers, [largest]])
    next_to_below = np.where(quantiles.below < quantiles.numbers, quantiles.numbers, quantiles.above)
    above = np.concatenate([next_to_below, quantiles.above, [largest]])
    cumulative = np.concatenate([quantiles.cumulative_below, quantiles.cumulative, [intervals.total]])
    # Each candidate once, by the number below it.
    below, first = np.unique(below, return_index=True)
    above, cumulative = above[first], cumulative[first]
    cuts = best_cuts(below, above, cumulative, bins)
    # A cut is at or above the number below it and less than the next number, so this finds its candidate again.
    ends = np.concatenate([[0.0], cumulative[np.searchsorted(below, cuts, side="right") - 1], [intervals.total]])
    return cuts, ends[:-1] + np.diff(ends) / 2


def _find_quantiles(
    source: RowSource, intervals: dict[str, Intervals], ranks: dict[str, FloatArray], missing: tuple[str, ...]
) -> dict[str, Quantiles]:
    """Find the numbers at ranks, in one pass for as many columns as fit in memory."""
    needed = {name: intervals[name].needed(ranks[name]) for name in ranks}
    found = {}
    for names in _column_groups({name: float(intervals[name].weights[needed[name]].sum()) for name in ranks}):
        measure = partial(
            _numbers_in_intervals,
            interval_ends={name: intervals[name].ends for name in names},
            needed={name: needed[name] for name in names},
            missing=missing,
        )
        for name, counts in zip(names, _measure_columns(source, names, measure, NumberCounts.merge), strict=True):
            found[name] = intervals[name].find(ranks[name], *counts)
    return found


def _column_groups(sizes: dict[str, float]) -> Iterator[list[str]]:
    """Divide columns into groups whose sizes add up to at most ``_NUMBERS_PER_PASS``, or that are one column."""
    group: list[str] = []
    total = 0.0
    for name, size in sizes.items():
        if group and total + size > _NUMBERS_PER_PASS:
            yield group
            group, total = [], 0.0
        group.append(name)
        total += size
    yield group


def _interval_weights(
    batch: RawBatch, name: str, interval_ends: dict[str, FloatArray], missing: tuple[str, ...]
) -> FloatArray:
    return interval_weights(batch.columns[name], batch.weights, missing, interval_ends[name])


def _numbers_in_intervals(
    batch: RawBatch,
    name: str,
    interval_ends: dict[str, FloatArray],
    needed: dict[str, NDArray[np.bool_]],
    missing: tuple[str, ...],
) -> NumberCounts:
    raw = batch.columns[name]
    return NumberCounts(*numbers_in_intervals(raw, batch.weights, missing, interval_ends[name], needed[name]))
