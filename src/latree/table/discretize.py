"""Learning the states of columns: categories, or bins with equally many rows.

A column gets bins if its numbers have fractions, if it has many distinct whole numbers, or if it holds dates or times.
Every other column keeps its distinct values as categories. What must be known of a column is gathered batch by batch,
in one pass over the rows. How many bins there are is chosen in a second pass (:mod:`latree.table.binning`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from latree._util.arrays import FloatArray, IntArray
from latree._util.words import setting, whole_shares
from latree.errors import InputError
from latree.table.binning import FINE_BINS, SPIKE, choose_bins
from latree.table.clock import SECONDS, Clock, Unit, as_numbers, clock_label, common_clock, parse_date, unit_of
from latree.table.columns import (
    MAX_STATES,
    Column,
    Kind,
    is_missing,
    number_label,
    number_too_large,
    parse_numbers,
    parse_times,
)
from latree.table.density import Density
from latree.table.raw import EXACT, RawColumn, label_of, parse_number, weighted_counts
from latree.table.sources import Encoder, RawBatch, RowSource
from latree.table.storage import Storage

# Whole numbers with at most this many distinct values are ordered categories, such as answers or numbers of children;
# more of them are a quantity, such as an age. Scales of answers have at most about 20 steps.
MAX_ANSWERS = 20
# A column with at most this many distinct numbers is counted number by number. Of others, numbers near each other are
# counted together.
MAX_NUMBERS = 2**17


# What a column is taken for, whatever the data look like: a number, categories with an order, or without one. A tuple
# has the categories from low to high.
KindSetting: TypeAlias = Literal["number", "ordered", "category"] | tuple[str, ...]


class NumberCounts(NamedTuple):
    """Distinct numbers, increasing, and the number of rows of each, or their weight.

    If there are more than ``MAX_NUMBERS`` distinct numbers, those that differ only in the last ``bits`` bits of their
    fraction are counted together, under the largest of them; ``bits`` is the least number that makes them few enough.
    So the counts do not depend on the batches that they were gathered from.

    Attributes
    ----------
    numbers, weights : array of float
    lowest : float
        The smallest number.
    bits : int
        0 if every number is counted for itself.
    """

    numbers: FloatArray
    weights: FloatArray
    lowest: float = np.inf
    bits: int = 0

    @classmethod
    def of(cls, numbers: FloatArray, weights: FloatArray, bits: int = 0) -> "NumberCounts":
        """Count numbers, given the weight of each."""
        distinct, position = np.unique(numbers + 0.0, return_inverse=True)  # adding zero turns -0.0 into 0.0
        counts = weighted_counts(position, weights, len(distinct))
        lowest = float(distinct.min(initial=np.inf))
        while bits or len(distinct) > MAX_NUMBERS:
            keys = distinct.view(np.int64) >> bits
            starts = np.flatnonzero(np.diff(keys, prepend=keys[:1] - 1))
            distinct, counts = distinct[np.append(starts[1:], len(keys)) - 1], np.add.reduceat(counts, starts)
            if len(distinct) <= MAX_NUMBERS:
                break
            bits += 1
        return cls(distinct, counts, lowest, bits)

    def merge(self, other: "NumberCounts") -> "NumberCounts":
        """Merge the counts of two sets of rows."""
        if not (self.bits or other.bits) and np.array_equal(self.numbers, other.numbers):  # the common case
            return self._replace(weights=self.weights + other.weights)
        numbers = np.concatenate([self.numbers, other.numbers])
        merged = NumberCounts.of(numbers, np.concatenate([self.weights, other.weights]), max(self.bits, other.bits))
        return merged._replace(lowest=min(self.lowest, other.lowest))


@dataclass(frozen=True)
class ColumnSummary:
    """What is known of the cells of a column in some rows.

    Attributes
    ----------
    name : str
    kinds : frozenset of {"text", "boolean", "number", "time"}
        The types of the cells, before texts are read as numbers or dates.
    texts : frozenset of str or None
        Distinct texts that do not mean missing. For cells that are numbers, only those too large to be exact as floats.
        None if there are too many.
    first_text, overflow : str or None
        The first text that is not a number, and the first number that is too large for a float.
    is_whole : bool
        Whether all numbers are whole.
    counts : NumberCounts
        The numbers and their weights, or the seconds of dates and times.
    order : tuple of str or None
        Labels of ordered categories from low to high; see :class:`latree.table.raw.RawColumn`.
    n_present : int
        The number of rows whose cell is not missing.
    clock : {"date", "datetime", "instant", "time", "duration"} or None
        For a column of dates or times: what they show.
    storage : Storage or None
        How a frame or an array holds the column.
    """

    name: str
    kinds: frozenset[str]
    texts: frozenset[str] | None
    first_text: str | None
    overflow: str | None
    is_whole: bool
    counts: NumberCounts
    order: tuple[str, ...] | None
    n_present: int
    clock: Clock | None = None
    storage: Storage | None = None

    def merge(self, other: "ColumnSummary") -> "ColumnSummary":
        """Merge the summaries of two sets of rows."""
        kinds = {kind for summary in (self, other) if not summary.is_empty for kind in summary.kinds}
        if len(mixed := sorted(kinds & _PLURALS.keys())) > 1:
            here, there = (_PLURALS[kind] for kind in reversed(mixed))
            raise InputError(f"column {self.name!r} has {here} in some places, {there} in others: give it one type")
        orders = {summary.order for summary in (self, other) if not summary.is_empty}
        if len(orders) > 1:
            raise InputError(
                f"column {self.name!r} has other categories, or another order of them, in some places than in others: "
                "give it the same categories everywhere"
            )
        filled = [summary for summary in (self, other) if not summary.is_empty]
        clocks = {summary.clock for summary in filled if summary.clock is not None}
        clock = common_clock(clocks) if all(summary.clock for summary in filled) else None
        # Seconds of texts that are dates here count for nothing if those in other places are none.
        counts = NumberCounts.of(np.empty(0), np.empty(0)) if clock is None and clocks else None
        return ColumnSummary(
            self.name,
            frozenset(kinds) or self.kinds,
            _limit(self.texts | other.texts) if self.texts is not None and other.texts is not None else None,
            self.first_text if self.first_text is not None else other.first_text,
            self.overflow if self.overflow is not None else other.overflow,
            self.is_whole and other.is_whole,
            self.counts.merge(other.counts) if counts is None else counts,
            orders.pop() if orders else self.order,
            self.n_present + other.n_present,
            clock,
            other.storage if self.storage is None else self.storage.merge(other.storage),
        )

    @property
    def is_empty(self) -> bool:
        """Whether all cells are missing."""
        return not (self.texts is None or self.texts or self._has_numbers)

    @property
    def is_numeric(self) -> bool:
        """Whether the column is one of numbers."""
        return not self.is_time and self.first_text is None and (self._has_numbers or self.overflow is not None)

    @property
    def is_time(self) -> bool:
        """Whether the column is one of dates or times, and not of categories."""
        return self.clock is not None and self.order is None

    @property
    def _has_numbers(self) -> bool:
        return len(self.counts.numbers) > 0

    def without_clock(self) -> "ColumnSummary":
        """Return the same column with its dates as texts."""
        if self.clock is None:
            return self
        texts = self.texts
        if "time" in self.kinds:
            clock = self.clock
            found = self.counts.numbers.tolist()
            texts = None if self.counts.bits else _limit(frozenset(clock_label(clock, one) for one in found))
        return replace(self, clock=None, texts=texts, first_text="", counts=NumberCounts.of(np.empty(0), np.empty(0)))

    def needs_bins(self, bins: int | None) -> bool:
        """Return whether the column is a number: if it has fractions, many distinct whole numbers, or dates.

        Many are more than 20, or more than two for each of a given number of ``bins``.
        What it is must not depend on a few rows, such as those of a fold: numbers with fractions are never categories,
        however few of them there are. Categories are never numbers.
        """
        if self.order is not None or bins == 0 or not (self.is_numeric or self.is_time):
            return False
        if self.is_time or not self.is_whole:
            return True
        if self.counts.bits:
            return bool(abs(self.counts.numbers).max() < EXACT)
        # Whole numbers that are the same float would be merged: identifiers, which are no quantity.
        most = MAX_ANSWERS if bins is None else 2 * bins
        return self.n_values is not None and most < self.n_values <= len(self.counts.numbers)

    @property
    def n_values(self) -> int | None:
        """The number of distinct values; None if there are too many to count them."""
        if not self.is_numeric and not self.is_time:
            return None if self.texts is None else len(self.texts)
        if self.counts.bits:
            return None
        numbers = self.counts.numbers
        large = abs(numbers) >= EXACT
        if not large.any():
            return len(numbers)
        if self.texts is None:
            return None
        labels = {label for text in self.texts if abs(parse_number(label := number_label(text)) or 0) >= EXACT}
        return int(np.count_nonzero(~large)) + len(labels)

    @property
    def kind(self) -> Kind:
        """The type of the decoded values."""
        if self.clock is not None and self.is_time:
            return self.clock
        if self.is_numeric:
            if self.overflow is not None:
                raise number_too_large(self.name, self.overflow)
            return "integer" if self.is_whole else "number"
        return "boolean" if self.kinds == {"boolean"} else "text"

    def categories(self) -> list[str]:
        """Return the labels of a column without bins: as ordered, numbers by size, texts in alphabetical order."""
        sort_keys: dict[str, Any] = {text: text for text in self.texts or ()}
        too_many = self.texts is None
        if self.is_numeric:
            # Cells that are texts have all their numbers among the texts.
            numbers = [] if self.counts.bits or "text" in self.kinds else self.counts.numbers.tolist()
            sort_keys = {label_of(x): x for x in numbers if abs(x) < EXACT}
            sort_keys |= {number_label(text): parse_number(text) or 0 for text in self.texts or ()}
            too_many |= self.counts.bits > 0
        if too_many or len(sort_keys) > MAX_STATES:
            raise InputError(
                f"column {self.name!r} has more than {MAX_STATES} different values, which is too many categories: drop "
                "it if it is an identifier or a date"
            )
        if self.order:
            spelled = [number_label(label) if self.is_numeric else label for label in self.order]
            if unlisted := sorted(set(sort_keys) - set(spelled)):
                raise InputError(
                    f"column {self.name!r} has the value {unlisted[0]!r:.60}, which its order does not list: list all "
                    "values from low to high, or make such cells missing"
                )
            sort_keys = {label: place for place, label in enumerate(spelled) if label in sort_keys}
        return sorted(sort_keys, key=sort_keys.__getitem__)

    def column_without_bins(self, missing: tuple[str, ...]) -> Column:
        """Return the column with its distinct values as categories."""
        ordered = self.kind != "text" if self.order is None else bool(self.order)
        return Column(self.name, self.kind, tuple(self.categories()), missing, ordered=ordered, storage=self.storage)


# How many cells of a type are called.
_PLURALS = {"text": "texts", "number": "numbers", "time": "dates or times"}


def summarise(raw: RawColumn, weights: FloatArray | None, missing: tuple[str, ...]) -> ColumnSummary:
    """Return the summary of a batch of a column. Rows of weight zero are ignored."""
    value_weights = weighted_counts(raw.codes, weights, len(raw.values))
    used = value_weights > 0
    kept = replace(raw, values=raw.values[used], codes=np.empty(0))
    numbers, first_text, overflow = parse_numbers(kept, missing)
    clock = clock_of(kept, missing) if first_text is not None else None
    if clock is not None:
        numbers = parse_times(kept, missing, clock).values
    is_number = np.isfinite(numbers)
    found = numbers[is_number]
    labels = None if kept.holds_numbers and not kept.is_text else kept.labels()
    present = (
        is_number if labels is None else np.array([not is_missing(label, missing) for label in labels], dtype=bool)
    )
    row_counts = np.bincount(raw.codes if weights is None else raw.codes[weights > 0], minlength=len(raw.values))
    return ColumnSummary(
        raw.name,
        frozenset([_kind_of_cells(kept)]),
        _distinct_texts(kept, present & (abs(numbers) >= EXACT) if kept.holds_numbers else present),
        first_text,
        overflow,
        bool(np.all((found == np.floor(found)) & (abs(found) < EXACT))) or _are_whole(kept, numbers),
        NumberCounts.of(found, value_weights[used][is_number]),
        raw.order,
        int(row_counts[used][present].sum()),
        clock,
        raw.storage,
    )


def _kind_of_cells(raw: RawColumn) -> str:
    if raw.clock is not None:
        return "time"
    return "boolean" if raw.values.dtype == bool else "number" if raw.holds_numbers else "text"


def clock_of(raw: RawColumn, missing: tuple[str, ...]) -> Clock | None:
    """Return what the cells of a column show, if all are dates or times; None if some are not."""
    if raw.clock is not None or not raw.is_text:
        return raw.clock
    clocks: set[Clock] = set()
    for label in raw.labels():
        if not is_missing(label, missing):
            found = parse_date(label)
            if found is None:
                return None
            clocks.add(found[0])
    return common_clock(clocks)


def _distinct_texts(raw: RawColumn, wanted: NDArray[np.bool_]) -> frozenset[str] | None:
    """Return the texts of some values; large whole numbers that are the same float stay apart as texts."""
    if np.count_nonzero(wanted) > 2 * MAX_STATES:
        return None
    return _limit(frozenset(replace(raw, values=raw.values[wanted]).labels()))


def _are_whole(raw: RawColumn, numbers: FloatArray) -> bool:
    """Return whether all numbers are whole, also large ones, which floats hold only if they end in zeros."""
    if raw.values.dtype.kind in "iu":
        return True
    if not raw.is_text:
        return False
    found = (parse_number(text.strip()) for text in raw.values[np.isfinite(numbers)])
    return all(
        isinstance(number, int) or (number is not None and number % 1 == 0 and abs(number) < EXACT) for number in found
    )


def _limit(texts: frozenset[str]) -> frozenset[str] | None:
    return texts if len(texts) <= MAX_STATES else None


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
    # 10.275 and not 10.274999999999999: nobody sees more digits than these, and some of them are rounding.
    short = np.array([float(f"{cut:.12g}") for cut in middle.tolist()])
    middle = np.where((below <= short) & (short < above), short, middle)
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
    bins: int | None,
    missing: tuple[str, ...],
    kinds: Mapping[str, KindSetting],
) -> list[LearnedColumn]:
    """Learn the states of columns. Rows of weight zero are ignored.

    Parameters
    ----------
    source : RowSource
    names : sequence of str
        The columns to learn.
    bins : int or None
        Number of bins of every number; 0 makes no bins. None chooses them by the rows.
    missing : tuple of str
        Cells that mean missing.
    kinds : mapping of str to {"number", "ordered", "category"} or tuple of str
        What some columns are taken for; a tuple has the categories from low to high.
    """
    # Plain categories have an order without labels.
    orders = {name: kind if isinstance(kind, tuple) else () for name, kind in kinds.items() if not _keeps_order(kind)}
    forgotten = frozenset(name for name, kind in kinds.items() if _keeps_order(kind))
    measure = partial(_summarise, names=names, missing=missing, orders=orders, forgotten=forgotten)
    summaries = source.reduce(measure, _merge, None if tuple(names) == source.names else names)
    columns = []
    for summary in summaries:
        try:
            columns.append(LearnedColumn(summary, _learn(summary, bins, missing, kinds.get(summary.name)), None))
        except InputError as error:  # all such columns are told at once
            columns.append(LearnedColumn(summary, None, str(error)))
    return columns if bins is not None else _with_chosen_bins(source, columns, missing)


def _keeps_order(kind: KindSetting) -> bool:
    """Return whether a setting takes a column for numbers, whatever the data say about an order of categories."""
    return kind in ("number", "ordered")


def _learn(summary: ColumnSummary, bins: int | None, missing: tuple[str, ...], kind: KindSetting | None) -> Column:
    """Return a column with its states; fine bins, from which others are chosen, if ``bins`` is None."""
    is_quantity = summary.is_numeric or summary.is_time
    if kind in ("number", "ordered") and not is_quantity and not summary.is_empty and summary.kinds != {"boolean"}:
        example = min(summary.texts or [summary.first_text or ""])
        if kind == "ordered":
            raise InputError(
                f"column {summary.name!r} holds texts, such as {example!r:.40}: list them from low to high, as "
                f"{setting('kinds', {summary.name: ['low', 'high']})}"
            )
        raise InputError(
            f"column {summary.name!r} is to be a number, but has {summary.first_text!r:.40}: correct it, or make such "
            f"cells missing ({setting('missing_also', [summary.first_text])})"
        )
    has_bins = is_quantity if kind == "number" else summary.needs_bins(bins) and (kind != "ordered" or summary.is_time)
    if not has_bins or bins == 0:
        return summary.without_clock().column_without_bins(missing)
    return _fine_column(summary, missing) if bins is None else _column_with_bins(summary, bins, missing)


def _summarise(
    batch: RawBatch,
    names: Sequence[str],
    missing: tuple[str, ...],
    orders: dict[str, tuple[str, ...]],
    forgotten: frozenset[str],
) -> list[ColumnSummary]:
    columns = (batch.columns[name] for name in names)
    ordered = (
        replace(raw, order=None if raw.name in forgotten else orders.get(raw.name, raw.order)) for raw in columns
    )
    return [summarise(raw, batch.weights, missing) for raw in ordered]


def _merge(one: list[ColumnSummary], other: list[ColumnSummary]) -> list[ColumnSummary]:
    return [a.merge(b) for a, b in zip(one, other, strict=True)]


def _with_chosen_bins(source: RowSource, learned: list[LearnedColumn], missing: tuple[str, ...]) -> list[LearnedColumn]:
    """Replace fine bins by as many as the rows call for."""
    fine = [one.column for one in learned if one.column is not None and one.column.n_states > 1]
    if not any(column.cuts is not None for column in fine):
        return learned
    names = [column.name for column in fine]
    rows = source.store(Encoder(tuple(fine), tuple(names), "missing"), names)
    chosen = dict(zip(names, choose_bins(fine, rows), strict=True))
    return [
        one
        if one.column is None or one.column.cuts is None
        else one._replace(column=_column_with_bins(one.summary, chosen[one.column.name], missing))
        for one in learned
    ]


def _fine_column(summary: ColumnSummary, missing: tuple[str, ...]) -> Column:
    """Return a column with fine bins, which have codes only; of one number, what it stays."""
    counts = summary.counts
    if len(counts.numbers) == 1:
        return _column_with_bins(summary, 1, missing)
    numbers, unit = _in_unit(summary)
    is_spike = counts.weights >= SPIKE * counts.weights.sum()
    cumulative = np.cumsum(np.where(is_spike, 0, counts.weights))
    ranks = np.arange(1, FINE_BINS) / FINE_BINS * cumulative[-1]
    spikes = np.flatnonzero(is_spike)
    last = np.unique([*np.searchsorted(cumulative, ranks * (1 - 1e-12)), *spikes, *np.maximum(spikes - 1, 0)])
    cuts = tuple(numbers[last[last < len(numbers) - 1]].tolist()) or (float(numbers[-2]),)
    labels = tuple(map(str, range(len(cuts) + 1)))
    return Column(summary.name, summary.kind, labels, missing, cuts, ordered=True, unit=unit)


def _in_unit(summary: ColumnSummary) -> tuple[FloatArray, Unit | None]:
    """Return the numbers of a column; of dates and times, in the largest unit in which they are whole."""
    if summary.clock is None:
        return summary.counts.numbers, None
    unit = unit_of(summary.clock, summary.counts.numbers)
    return as_numbers(summary.counts.numbers, unit), unit


def _column_with_bins(summary: ColumnSummary, bins: int, missing: tuple[str, ...]) -> Column:
    _, weights, _, bits = summary.counts
    if len(weights) == 1:
        return summary.without_clock().column_without_bins(missing)
    numbers, unit = _in_unit(summary)
    cuts = cut_points(numbers, weights, bins)
    if bits:  # of numbers that are counted together, only the largest is known
        cuts = numbers[np.searchsorted(numbers, cuts, side="right") - 1]
    # Bins of one number each are named by that number.
    is_each = len(numbers) == len(cuts) + 1
    bounds = numbers if is_each else cuts
    if summary.clock is None or unit is None:
        labels = list(map(label_of, numbers.tolist())) if is_each else _interval_labels(_number_texts(cuts))
    else:
        texts = [clock_label(summary.clock, bound * SECONDS[unit], unit) for bound in bounds.tolist()]
        labels = texts if is_each else _interval_labels(texts)
    inside = tuple(cuts.tolist()), Density.learn(numbers, weights, cuts)
    return Column(
        summary.name,
        summary.kind,
        tuple(labels),
        missing,
        *inside,
        ordered=True,
        unit=unit,
        storage=summary.storage,
    )


def cut_points(values: FloatArray, counts: FloatArray, bins: int) -> FloatArray:
    """Return cut points of bins with about equally many rows, in which a number that many rows share is alone.

    Parameters
    ----------
    values, counts : array of float
        As for :func:`equal_cuts`.
    bins : int
        The most bins. If too few would be left for other numbers, none is alone.
    """
    spikes = np.flatnonzero(counts >= SPIKE * counts.sum())
    # The numbers between two spikes are cut by themselves, into bins for their share of the other rows.
    parts = [part for part in np.split(np.arange(len(values)), np.unique([*spikes, *(spikes + 1)])) if len(part)]
    others = [part for part in parts if counts[part].sum() and part[0] not in spikes]
    if len(parts) > bins or not len(spikes):
        return equal_cuts(values, counts, bins)
    cuts = [_between(values, part[-1]) for part in parts[:-1]]
    more = whole_shares([float(counts[part].sum()) for part in others], bins - len(parts))
    for part, own in zip(others, more, strict=True):
        cuts += equal_cuts(values[part], counts[part], 1 + own).tolist()
    return np.array(sorted(cuts))


def _between(values: FloatArray, place: int) -> float:
    """Return the middle between a value and the next one; the value itself, if rounding puts the middle on the next."""
    below, above = float(values[place]), float(values[place + 1])
    middle = below / 2 + above / 2
    return middle if below <= middle < above else below


def _number_texts(cuts: FloatArray) -> list[str]:
    """Return the bounds of bins as texts, with at least four digits and as many as make the bounds differ."""
    digits = next((d for d in range(4, 17) if len({f"{cut:.{d}g}" for cut in cuts}) == len(cuts)), 17)
    # An income of 23450 is easier to read than one of 2.345e+04.
    return [label_of(float(f"{cut:.{digits}g}")) if 1 <= abs(cut) < _MAX_PLAIN else f"{cut:.{digits}g}" for cut in cuts]


def _interval_labels(bounds: Sequence[str]) -> list[str]:
    """Name the bins by their bounds."""
    between = [f"({low}, {high}]" for low, high in pairwise(bounds)]
    return [f"<= {bounds[0]}", *between, f"> {bounds[-1]}"]
