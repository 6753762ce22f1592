"""What must be known of a column to learn its states, gathered batch by batch and merged.

Distinct numbers are counted exactly as long as they are few. Of a column with more of them only a sketch is kept: about
one in every ``step`` numbers. It divides the numbers into intervals, in which :mod:`latree.table.quantiles` later finds
the exact ranks that the cuts depend on. So the cuts are the same as those of all numbers at once.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from latree._util.arrays import FloatArray
from latree.errors import InputError
from latree.table.columns import MAX_STATES, Column, Kind
from latree.table.encode import is_missing, number_label, number_too_large, parse_numbers
from latree.table.raw import RawColumn, label_of, parse_number, weighted_counts

# A column with at most this many distinct numbers is counted exactly. A sketch keeps at most this many numbers.
MAX_NUMBERS = 2**17
# A new sketch keeps one in this many numbers. The step doubles whenever the sketch gets too large.
_FIRST_STEP = 128
# Whole numbers below this are exact as floats.
_EXACT = 2**53


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
    """About one in every ``step`` of the numbers of a column, increasing, and the largest of all."""

    numbers: FloatArray
    step: int
    largest: float

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
    """

    name: str
    kinds: frozenset[str]
    texts: frozenset[str] | None
    first_text: str | None
    overflow: str | None
    is_whole: bool
    counts: NumberCounts | QuantileSketch
    order: tuple[str, ...] | None

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
        merged = ColumnSummary(
            self.name,
            frozenset(kinds) or self.kinds,
            _limit(self.texts | other.texts) if self.texts is not None and other.texts is not None else None,
            self.first_text if self.first_text is not None else other.first_text,
            self.overflow if self.overflow is not None else other.overflow,
            self.is_whole and other.is_whole,
            _merge_counts(self.counts, other.counts),
            orders.pop() if orders else self.order,
        )
        if merged.first_text is not None:
            merged.categories()  # raises as soon as there are too many, not after the last row
        return merged

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
        limit = 2 * bins if self.is_whole else 0
        return (
            bins > 0
            and self.order is None
            and (isinstance(self.counts, QuantileSketch) or len(self.counts.numbers) > limit)
        )

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
            sort_keys = {label_of(x): x for x in numbers if abs(x) < _EXACT}
            sort_keys |= {number_label(text): parse_number(text) or 0 for text in self.texts or ()}
            too_many |= is_sketch
        if too_many or len(sort_keys) > MAX_STATES:
            raise InputError(
                f"column {self.name!r} has more than {MAX_STATES} different values, which is too many categories: drop "
                "it if it is an identifier or a date"
            )
        if self.order:
            spelled = [number_label(label) if self.is_numeric else label for label in self.order]
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
    kept = RawColumn(raw.name, raw.values[used], np.empty(0))
    numbers, first_text, overflow = parse_numbers(kept, missing)
    present = np.isfinite(numbers)
    distinct, position = np.unique(numbers[present], return_inverse=True)
    counts = NumberCounts(distinct, weighted_counts(position, value_weights[used][present], len(distinct)))
    return ColumnSummary(
        raw.name,
        frozenset(["boolean" if kept.values.dtype == bool else "text" if kept.is_text else "number"]),
        _distinct_texts(kept, numbers, missing),
        first_text,
        overflow,
        bool(np.all((distinct == np.floor(distinct)) & (abs(distinct) < _EXACT))),
        _limit_counts(counts),
        raw.order,
    )


def _distinct_texts(raw: RawColumn, numbers: FloatArray, missing: tuple[str, ...]) -> frozenset[str] | None:
    if raw.values.dtype.kind in "iuf":  # large whole numbers that are the same float stay apart as texts
        raw = RawColumn(raw.name, raw.values[abs(numbers) >= _EXACT], raw.codes)
    if len(raw.values) > 2 * MAX_STATES:
        return None
    return _limit(frozenset(label for label in raw.labels() if not is_missing(label, missing)))


def _limit(texts: frozenset[str]) -> frozenset[str] | None:
    return texts if len(texts) <= MAX_STATES else None


def _limit_counts(counts: NumberCounts) -> NumberCounts | QuantileSketch:
    return counts if len(counts.numbers) <= MAX_NUMBERS else _sketch(counts.numbers)


def _merge_counts(
    one: NumberCounts | QuantileSketch, other: NumberCounts | QuantileSketch
) -> NumberCounts | QuantileSketch:
    if isinstance(one, NumberCounts) and isinstance(other, NumberCounts):
        return _limit_counts(one.merge(other))
    sketches = [counts if isinstance(counts, QuantileSketch) else _sketch(counts.numbers) for counts in (one, other)]
    # Bring both to the larger step. Steps are powers of two times the first one.
    step = max(sketch.step for sketch in sketches)
    numbers = np.concatenate([sketch.numbers[:: step // sketch.step] for sketch in sketches])
    return _thinned(np.sort(numbers), step, max(sketch.largest for sketch in sketches))


def _sketch(numbers: FloatArray) -> QuantileSketch:
    """Return a sketch of distinct numbers, increasing: the middle one of every ``_FIRST_STEP``."""
    return _thinned(numbers[_FIRST_STEP // 2 :: _FIRST_STEP], _FIRST_STEP, float(numbers.max(initial=-np.inf)))


def _thinned(numbers: FloatArray, step: int, largest: float) -> QuantileSketch:
    """Return a sketch of these numbers, of which every second one is removed until they are few enough."""
    while len(numbers) > MAX_NUMBERS:
        numbers, step = numbers[::2], 2 * step
    return QuantileSketch(numbers, step, largest)
