"""What must be known of a column to learn its states, gathered batch by batch; exact quantiles of long columns.

The numbers are divided into intervals with about equally many rows. A first pass over the rows counts the rows of each
interval, which tells in which intervals the wanted ranks are. A second pass collects the numbers of these few intervals
only.

Distinct numbers are counted exactly as long as they are few. Of a column with more of them only a sketch is kept: about
one in every ``step`` numbers. It divides the numbers into intervals, in which :mod:`latree.table.quantiles` later finds
the exact ranks that the cuts depend on. So the cuts are the same as those of all numbers at once.
"""

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from latree._util.arrays import FloatArray, IntArray
from latree.errors import InputError
from latree.table.columns import MAX_STATES, Column, Kind, is_missing, number_label, number_too_large, parse_numbers
from latree.table.raw import EXACT, RawColumn, label_of, parse_number, weighted_counts


class Quantiles(NamedTuple):
    """Numbers at given ranks, with their neighbours among the distinct numbers of the column.

    Attributes
    ----------
    numbers : array of float
        The first number at which the cumulative weight reaches each rank.
    cumulative : array of float
        Weight of all numbers up to and including each.
    below : array of float
        The next smaller number; the number itself where there is none.
    cumulative_below : array of float
        Weight of all numbers up to and including ``below``.
    above : array of float
        The next larger number; the number itself where there is none.
    """

    numbers: FloatArray
    cumulative: FloatArray
    below: FloatArray
    cumulative_below: FloatArray
    above: FloatArray


@dataclass(frozen=True)
class Intervals:
    """The numbers of a column, divided into intervals.

    Attributes
    ----------
    ends : array of float
        The largest number of each interval, which is a number of the column.
    weights : array of float
        The number of rows of each interval, or their weight.
    """

    ends: FloatArray
    weights: FloatArray

    @property
    def total(self) -> float:
        """Weight of all numbers."""
        return float(self.cumulative[-1])

    @property
    def cumulative(self) -> FloatArray:
        """Weight of all numbers up to the end of each interval."""
        return np.cumsum(self.weights)

    def needed(self, ranks: FloatArray) -> NDArray[np.bool_]:
        """Return which intervals must be known in full to find the numbers at these ranks.

        These are the interval of each rank, and the next one: the next larger number may be its first.
        """
        at = self._interval_of(ranks)
        needed = np.zeros(len(self.ends), dtype=bool)
        needed[at] = True
        needed[np.minimum(at + 1, len(self.ends) - 1)] = True
        return needed

    def find(self, ranks: FloatArray, numbers: FloatArray, weights: FloatArray) -> Quantiles:
        """Find the first number at which the cumulative weight reaches each rank.

        Parameters
        ----------
        ranks : array of float
        numbers, weights : array of float
            All distinct numbers of the intervals that are :meth:`needed`, increasing, and their weights.
        """
        # The cumulative weight of a number = weight of all intervals before its own
        #   + weight of the smaller numbers in its interval + its own weight.
        before = np.concatenate([[0.0], self.cumulative])
        interval = np.searchsorted(self.ends, numbers)
        first = np.searchsorted(interval, interval)  # where the interval of each number begins in the array
        smaller_weight = np.cumsum(weights) - weights
        cumulative = before[interval] + (smaller_weight - smaller_weight[first]) + weights
        # The number at a rank is in the interval of the rank, even if rounding of the sums says otherwise.
        at = self._interval_of(ranks)
        low, high = np.searchsorted(interval, at), np.searchsorted(interval, at, side="right")
        place = np.clip(np.searchsorted(cumulative, ranks), low, high - 1)
        # The next smaller number is in the same interval, or is the end of the interval before. The smallest number of
        # the column has none.
        has_smaller_inside = place > low
        is_smallest = ~has_smaller_inside & (at == 0)
        smaller = np.where(has_smaller_inside, numbers[np.maximum(place - 1, 0)], self.ends[np.maximum(at - 1, 0)])
        return Quantiles(
            numbers=numbers[place],
            cumulative=cumulative[place],
            below=np.where(is_smallest, numbers[place], smaller),
            cumulative_below=np.where(is_smallest, cumulative[place], cumulative[place] - weights[place]),
            above=numbers[np.minimum(place + 1, len(numbers) - 1)],
        )

    def _interval_of(self, ranks: FloatArray) -> IntArray:
        """Return the interval in which the cumulative weight reaches each rank."""
        return np.minimum(np.searchsorted(self.cumulative, ranks), len(self.ends) - 1)


def interval_weights(
    raw: RawColumn, weights: FloatArray | None, missing: tuple[str, ...], ends: FloatArray
) -> FloatArray:
    """Return the number of rows, or their weight, in each interval."""
    numbers, number_weights = _present_numbers(raw, weights, missing)
    return weighted_counts(np.searchsorted(ends, numbers), number_weights, len(ends))


def numbers_in_intervals(
    raw: RawColumn,
    weights: FloatArray | None,
    missing: tuple[str, ...],
    ends: FloatArray,
    needed: NDArray[np.bool_],
) -> tuple[FloatArray, FloatArray]:
    """Return the distinct numbers in some of the intervals, increasing, and their weights."""
    numbers, number_weights = _present_numbers(raw, weights, missing)
    inside = needed[np.searchsorted(ends, numbers)]
    distinct, position = np.unique(numbers[inside], return_inverse=True)
    return distinct, weighted_counts(position, number_weights[inside], len(distinct))


def _present_numbers(
    raw: RawColumn, weights: FloatArray | None, missing: tuple[str, ...]
) -> tuple[FloatArray, FloatArray]:
    """Return the numbers of a column that rows with weight have, and the weight of each."""
    number_weights = weighted_counts(raw.codes, weights, len(raw.values))
    numbers = parse_numbers(raw, missing).values
    present = (number_weights > 0) & np.isfinite(numbers)
    return numbers[present], number_weights[present]


# A column with at most this many distinct numbers is counted exactly. A sketch keeps at most this many numbers.
MAX_NUMBERS = 2**17
# A new sketch keeps one in this many numbers. The step doubles whenever the sketch gets too large.
_FIRST_STEP = 128
# A sketch also keeps this many of the smallest and of the largest numbers: codes for missing cells are among them.
_N_EXTREMES = 8


class NumberCounts(NamedTuple):
    """Distinct numbers, increasing, and the number of rows of each, or their weight."""

    numbers: FloatArray
    weights: FloatArray

    def merge(self, other: "NumberCounts") -> "NumberCounts":
        """Merge the counts of two sets of rows."""
        numbers, position = np.unique(np.concatenate([self.numbers, other.numbers]), return_inverse=True)
        return NumberCounts(
            numbers, weighted_counts(position, np.concatenate([self.weights, other.weights]), len(numbers))
        )


@dataclass(frozen=True)
class QuantileSketch:
    """About one in every ``step`` of the numbers of a column, and the smallest and the largest ones, increasing."""

    numbers: FloatArray
    step: int
    extremes: NumberCounts

    @property
    def largest(self) -> float:
        """The largest number."""
        return float(self.extremes.numbers.max(initial=-np.inf))

    @property
    def interval_ends(self) -> FloatArray:
        """The distinct numbers of the sketch, and the largest number: the ends of intervals that hold all numbers."""
        return np.unique(np.append(self.numbers, self.largest))


@dataclass(frozen=True)
class ColumnSummary:
    """What is known of the cells of a column in some rows.

    Attributes
    ----------
    name : str
    kinds : frozenset of {"text", "boolean", "number"}
        The types of the cells, before texts are read as numbers.
    texts : frozenset of str or None
        Distinct texts that do not mean missing. For cells that are numbers, only those too large to be exact as floats.
        None if there are too many.
    first_text, overflow : str or None
        The first text that is not a number, and the first number that is too large for a float.
    is_whole : bool
        Whether all numbers are whole.
    counts : NumberCounts or QuantileSketch
        The distinct numbers and their weights, or a sketch if there are too many.
    order : tuple of str or None
        Labels of ordered categories from low to high; see :class:`latree.table.raw.RawColumn`.
    n_present : int
        The number of rows whose cell is not missing.
    """

    name: str
    kinds: frozenset[str]
    texts: frozenset[str] | None
    first_text: str | None
    overflow: str | None
    is_whole: bool
    counts: NumberCounts | QuantileSketch
    order: tuple[str, ...] | None
    n_present: int

    def merge(self, other: "ColumnSummary") -> "ColumnSummary":
        """Merge the summaries of two sets of rows."""
        kinds = {kind for summary in (self, other) if not summary.is_empty for kind in summary.kinds}
        if {"text", "number"} <= kinds:
            raise InputError(
                f"column {self.name!r} has texts in some places and numbers in others: give it one type everywhere"
            )
        orders = {summary.order for summary in (self, other) if not summary.is_empty}
        if len(orders) > 1:
            raise InputError(
                f"column {self.name!r} has other categories, or another order of them, in some places than in others: "
                "give it the same categories everywhere"
            )
        return ColumnSummary(
            self.name,
            frozenset(kinds) or self.kinds,
            _limit(self.texts | other.texts) if self.texts is not None and other.texts is not None else None,
            self.first_text if self.first_text is not None else other.first_text,
            self.overflow if self.overflow is not None else other.overflow,
            self.is_whole and other.is_whole,
            _merge_counts(self.counts, other.counts),
            orders.pop() if orders else self.order,
            self.n_present + other.n_present,
        )

    @property
    def is_empty(self) -> bool:
        """Whether all cells are missing."""
        return not (self.texts is None or self.texts or self._has_numbers)

    @property
    def is_numeric(self) -> bool:
        """Whether the column is one of numbers."""
        return self.first_text is None and (self._has_numbers or self.overflow is not None)

    @property
    def _has_numbers(self) -> bool:
        return isinstance(self.counts, QuantileSketch) or len(self.counts.numbers) > 0

    def needs_bins(self, bins: int) -> bool:
        """Return whether a numeric column is binned: if it has fractions, or many distinct whole numbers.

        Categories are never binned.
        """
        n_values = self.n_values
        if bins == 0 or self.order is not None:
            return False
        if not self.is_whole:
            return True
        if isinstance(self.counts, NumberCounts):
            # Whole numbers that are the same float would be merged: identifiers, which are no quantity.
            return n_values is not None and 2 * bins < n_values <= len(self.counts.numbers)
        return bool(abs(self.counts.extremes.numbers).max() < EXACT)

    @property
    def n_values(self) -> int | None:
        """The number of distinct values; None if there are too many to count them."""
        if not self.is_numeric:
            return None if self.texts is None else len(self.texts)
        if isinstance(self.counts, QuantileSketch):
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
            is_sketch = isinstance(self.counts, QuantileSketch)
            # Cells that are texts have all their numbers among the texts.
            numbers = [] if is_sketch or "text" in self.kinds else self.counts.numbers.tolist()
            sort_keys = {label_of(x): x for x in numbers if abs(x) < EXACT}
            sort_keys |= {number_label(text): parse_number(text) or 0 for text in self.texts or ()}
            too_many |= is_sketch
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
        return Column(self.name, self.kind, tuple(self.categories()), missing, ordered=ordered)


def summarise(raw: RawColumn, weights: FloatArray | None, missing: tuple[str, ...]) -> ColumnSummary:
    """Return the summary of a batch of a column. Rows of weight zero are ignored."""
    value_weights = weighted_counts(raw.codes, weights, len(raw.values))
    used = value_weights > 0
    kept = replace(raw, values=raw.values[used], codes=np.empty(0))
    numbers, first_text, overflow = parse_numbers(kept, missing)
    is_number = np.isfinite(numbers)
    distinct, position = np.unique(numbers[is_number], return_inverse=True)
    counts = NumberCounts(distinct, weighted_counts(position, value_weights[used][is_number], len(distinct)))
    labels = None if kept.holds_numbers and not kept.is_text else kept.labels()
    present = (
        is_number if labels is None else np.array([not is_missing(label, missing) for label in labels], dtype=bool)
    )
    row_counts = np.bincount(raw.codes if weights is None else raw.codes[weights > 0], minlength=len(raw.values))
    return ColumnSummary(
        raw.name,
        frozenset(["boolean" if kept.values.dtype == bool else "number" if kept.holds_numbers else "text"]),
        _distinct_texts(kept, present & (abs(numbers) >= EXACT) if kept.holds_numbers else present),
        first_text,
        overflow,
        bool(np.all((distinct == np.floor(distinct)) & (abs(distinct) < EXACT))) or _are_whole(kept, numbers),
        _limit_counts(counts),
        raw.order,
        int(row_counts[used][present].sum()),
    )


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


def _limit_counts(counts: NumberCounts) -> NumberCounts | QuantileSketch:
    return counts if len(counts.numbers) <= MAX_NUMBERS else _sketch(counts)


def _merge_counts(
    one: NumberCounts | QuantileSketch, other: NumberCounts | QuantileSketch
) -> NumberCounts | QuantileSketch:
    if isinstance(one, NumberCounts) and isinstance(other, NumberCounts):
        return _limit_counts(one.merge(other))
    sketches = [counts if isinstance(counts, QuantileSketch) else _sketch(counts) for counts in (one, other)]
    # Bring both to the larger step. Steps are powers of two times the first one.
    step = max(sketch.step for sketch in sketches)
    numbers = np.concatenate([sketch.numbers[:: step // sketch.step] for sketch in sketches])
    return _thinned(np.sort(numbers), step, _extremes(sketches[0].extremes.merge(sketches[1].extremes)))


def _sketch(counts: NumberCounts) -> QuantileSketch:
    """Return a sketch of distinct numbers, increasing: the middle one of every ``_FIRST_STEP``."""
    return _thinned(counts.numbers[_FIRST_STEP // 2 :: _FIRST_STEP], _FIRST_STEP, _extremes(counts))


def _extremes(counts: NumberCounts) -> NumberCounts:
    """Return the smallest and the largest numbers."""
    if len(counts.numbers) <= 2 * _N_EXTREMES:
        return counts
    ends = np.r_[:_N_EXTREMES, -_N_EXTREMES:0]
    return NumberCounts(counts.numbers[ends], counts.weights[ends])


def _thinned(numbers: FloatArray, step: int, extremes: NumberCounts) -> QuantileSketch:
    """Return a sketch of these numbers, of which every second one is removed until they are few enough."""
    while len(numbers) > MAX_NUMBERS:
        numbers, step = numbers[::2], 2 * step
    return QuantileSketch(numbers, step, extremes)
