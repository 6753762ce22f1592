"""What is gathered of a column, batch by batch: its distinct values, how often they occur, and what they are."""

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from latree._util.arrays import FloatArray
from latree.errors import InputError
from latree.table.clock import Clock, clock_label, common_clock, parse_date
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
from latree.table.raw import EXACT, RawColumn, label_of, parse_number, weighted_counts
from latree.table.storage import Storage

# Whole numbers with at most this many distinct values are ordered categories, such as answers or numbers of children;
# more of them are a quantity, such as an age. Scales of answers have at most about 20 steps.
MAX_ANSWERS = 20
# A column with at most this many distinct numbers is counted number by number. Of others, numbers near each other are
# counted together.
MAX_NUMBERS = 2**17


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
