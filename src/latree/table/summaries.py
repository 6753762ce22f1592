"""What is to be known of a column to find its states, gathered piece by piece and put together.

Distinct values are counted one by one as long as they are few. Of a column with more of them only marks are kept, one
in so many, between which the ranks that cuts depend on are found later (:mod:`latree.table.ranks`): the cuts are
those that all values at once would have given.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from latree._util.arrays import FloatArray
from latree.errors import InputError
from latree.table.columns import MAX_STATES, Column, Kind
from latree.table.encode import is_missing, number_label, read_numbers, too_large
from latree.table.factors import Factor, label_of, masses, parse_number

MOST_NUMBERS = 2**17  # distinct numbers of a column that are counted one by one, and marks that are kept of more
_STEP = 128  # numbers that a mark stands for, to begin with; twice as many whenever there are too many marks
_EXACT = 2**53  # whole numbers below this have a float of their own


@dataclass(frozen=True)
class Marks:
    """Some of a column's numbers, about one in so many, and the largest of all."""

    numbers: FloatArray  # rising
    step: int  # how many numbers a mark stands for
    largest: float

    @property
    def distinct(self) -> FloatArray:
        """The marks, each once, the largest number last."""
        return np.unique(np.append(self.numbers, self.largest))


@dataclass(frozen=True)
class Summary:
    """What is known of some of a column's cells.

    Attributes
    ----------
    name : str
    kinds : frozenset of {"text", "boolean", "number"}
        What the cells are, before texts are read as numbers.
    texts : frozenset of str or None
        Distinct texts that do not mean missing (of numbers, only those that no float holds); None if they are too many.
    odd, large : str or None
        The first text that is no number, and the first number that is too large for a float.
    whole : bool
        Whether all numbers are whole.
    counts : (array, array) or Marks
        The distinct numbers, rising, and their weight; or, where they are too many, marks.
    """

    name: str
    kinds: frozenset[str]
    texts: frozenset[str] | None
    odd: str | None
    large: str | None
    whole: bool
    counts: tuple[FloatArray, FloatArray] | Marks

    def merged(self, other: "Summary") -> "Summary":
        """Put together what is known of some cells and of others."""
        kinds = {kind for summary in (self, other) if not summary.is_empty for kind in summary.kinds}
        if {"text", "number"} <= kinds:
            raise InputError(f"column {self.name!r} has texts in some places and numbers in others")
        found = Summary(
            self.name,
            frozenset(kinds) or self.kinds,
            _few(self.texts | other.texts) if self.texts is not None and other.texts is not None else None,
            self.odd if self.odd is not None else other.odd,
            self.large if self.large is not None else other.large,
            self.whole and other.whole,
            _merged_counts(self.counts, other.counts),
        )
        if found.odd is not None:
            found.categories()  # raises as soon as there are too many, not after the last row
        return found

    @property
    def is_empty(self) -> bool:
        """Whether all cells are missing."""
        return not (self.texts is None or self.texts or isinstance(self.counts, Marks) or len(self.counts[0]))

    @property
    def is_number(self) -> bool:
        """Whether the column is one of numbers."""
        some = isinstance(self.counts, Marks) or len(self.counts[0]) > 0 or self.large is not None
        return self.odd is None and some

    def is_cut(self, bins: int) -> bool:
        """Tell whether a column of numbers is to be cut: if it has fractions, or many distinct whole numbers."""
        few = 2 * bins if self.whole else 0
        return bins > 0 and (isinstance(self.counts, Marks) or len(self.counts[0]) > few)

    @property
    def kind(self) -> Kind:
        """What the column's decoded values are."""
        if self.is_number:
            if self.large is not None:
                raise too_large(self.name, self.large)
            return "integer" if self.whole else "number"
        return "boolean" if self.kinds == {"boolean"} else "text"

    def categories(self) -> list[str]:
        """Give the labels of a column that is not cut: numbers in their order, texts in alphabetical order."""
        order: dict[str, Any] = {text: text for text in self.texts or ()}
        too_many = self.texts is None
        if self.is_number:
            numbers = () if isinstance(self.counts, Marks) or "text" in self.kinds else self.counts[0].tolist()
            order = {label_of(x): x for x in numbers if abs(x) < _EXACT}
            order |= {number_label(text): parse_number(text) or 0 for text in self.texts or ()}
            too_many |= isinstance(self.counts, Marks)
        if too_many or len(order) > MAX_STATES:
            raise InputError(
                f"column {self.name!r} has more than {MAX_STATES} different values, which cannot be told apart; drop "
                "it if it is an identifier or a date"
            )
        return sorted(order, key=order.__getitem__)

    def uncut(self, missing: tuple[str, ...]) -> Column:
        """Give the column with its distinct values as categories."""
        return Column(self.name, self.kind, tuple(self.categories()), missing)


def summarised(factor: Factor, weights: FloatArray | None, missing: tuple[str, ...]) -> Summary:
    """Look at some of a column's cells. Rows without weight are as good as absent."""
    mass = masses(factor.codes, weights, len(factor.values))
    used = mass > 0
    kept = Factor(factor.name, factor.values[used], np.empty(0))
    numbers, odd, large = read_numbers(kept, missing)
    present = np.isfinite(numbers)
    distinct, place = np.unique(numbers[present], return_inverse=True)
    counts = distinct, masses(place, mass[used][present], len(distinct))
    return Summary(
        factor.name,
        frozenset(["boolean" if kept.values.dtype == bool else "text" if kept.is_text else "number"]),
        _texts(kept, numbers, missing),
        odd,
        large,
        bool(np.all((distinct == np.floor(distinct)) & (abs(distinct) < _EXACT))),
        counts if len(distinct) <= MOST_NUMBERS else _marks(distinct),
    )


def _texts(factor: Factor, numbers: FloatArray, missing: tuple[str, ...]) -> frozenset[str] | None:
    if factor.values.dtype.kind in "iuf":  # only whole numbers that floats confuse are kept as texts
        factor = Factor(factor.name, factor.values[abs(numbers) >= _EXACT], factor.codes)
    if len(factor.values) > 2 * MAX_STATES:
        return None
    return _few(frozenset(label for label in factor.labels() if not is_missing(label, missing)))


def _few(texts: frozenset[str]) -> frozenset[str] | None:
    return texts if len(texts) <= MAX_STATES else None


def merged_masses(
    one: tuple[FloatArray, FloatArray], other: tuple[FloatArray, FloatArray]
) -> tuple[FloatArray, FloatArray]:
    """Put together distinct numbers and their weights."""
    numbers, place = np.unique(np.concatenate([one[0], other[0]]), return_inverse=True)
    return numbers, masses(place, np.concatenate([one[1], other[1]]), len(numbers))


def _merged_counts(
    one: tuple[FloatArray, FloatArray] | Marks, other: tuple[FloatArray, FloatArray] | Marks
) -> tuple[FloatArray, FloatArray] | Marks:
    if not isinstance(one, Marks) and not isinstance(other, Marks):
        counts = merged_masses(one, other)
        return counts if len(counts[0]) <= MOST_NUMBERS else _marks(counts[0])
    both = [counts if isinstance(counts, Marks) else _marks(counts[0]) for counts in (one, other)]
    step = max(marks.step for marks in both)
    numbers = np.concatenate([marks.numbers[:: step // marks.step] for marks in both])
    return _thinned(np.sort(numbers), step, max(marks.largest for marks in both))


def _marks(numbers: FloatArray) -> Marks:
    return _thinned(numbers[_STEP // 2 :: _STEP], _STEP, float(numbers.max(initial=-np.inf)))


def _thinned(marks: FloatArray, step: int, largest: float) -> Marks:
    while len(marks) > MOST_NUMBERS:
        marks, step = marks[::2], 2 * step
    return Marks(marks, step, largest)
