"""What a column of a table is, and how raw values become codes of its states and back."""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date, time, timedelta
from functools import cache
from itertools import pairwise
from math import isfinite
from typing import Any, Literal, NamedTuple, TypeAlias, TypeGuard, cast

import numpy as np

from latree._util.arrays import FloatArray, IntArray, check_fields
from latree._util.words import setting
from latree.errors import FitWarning, InputError
from latree.table.clock import CLOCKS, FORMS, SECONDS, Clock, Unit, as_numbers, clock_label, clock_value, parse_clock
from latree.table.density import Density
from latree.table.raw import RawColumn, label_of, parse_number
from latree.table.storage import Storage

Kind: TypeAlias = Literal["text", "boolean", "integer", "number"] | Clock
Value: TypeAlias = str | bool | int | float | date | time | timedelta

KINDS: tuple[Kind, ...] = ("text", "boolean", "integer", "number", *CLOCKS)
# A column has at most this many states: their codes fit in 16 bits, with one code left that means missing.
MAX_STATES = 65_535
# Most states of a column for learners that look at four columns at a time: the counts of a quartet of columns with n
# states have n^4 cells and unfold to an n^2 x n^2 matrix, so with more states a single test takes minutes.
FEW_STATES = 64
# Cells that mean missing by default, beside empty ones.
DEFAULT_MISSING = ("NA", "N/A", "NaN", "nan", "null", "NULL")


@dataclass(frozen=True)
class Column:
    """The name and the states of a column.

    Columns that :func:`latree.as_table` learned from one table encode other tables in the same way.

    Attributes
    ----------
    name : str
        Name of the column.
    kind : {"text", "boolean", "integer", "number", "date", "datetime", "instant", "time", "duration"}
        Type of the decoded values. An instant is a date and a time in UTC.
    categories : tuple of str
        The label of each state; a cell's code is the position of its label.
    missing : tuple of str
        Cells that mean missing, beside empty ones.
    cuts : tuple of float or None
        For a column of numbers, dates or times, which has bins: a value ``x`` falls in the first bin ``b`` with
        ``x <= cuts[b]``, and in the last bin if it is above all cuts.
    density : Density or None
        For a column with bins: the distribution of the values inside each bin.
    ordered : bool
        Whether the states are in an order from low to high: numbers, bins, booleans (False is below True) and ordered
        categories are. Texts and plain categories are not; their states are sorted by label only to be listed.
    unit : {"day", "hour", "minute", "second"} or None
        For dates and times: what their numbers count, since the start of 1970 or of a day.
    description : str
        A longer text, such as the wording of a question.
    answers : tuple of str
        What readers call each category, such as "often" for 4; empty if there is nothing to say.
    storage : Storage or None
        How the data frame of the fit holds the column, so that drawn and decoded values come back in the same type.

    Columns that differ only in their description, their answers or their storage are equal.

    Examples
    --------
    >>> from latree import as_table
    >>> size, = as_table([[1.0], [1.5], [2.5], [4.0]], names=["size"], bins=2).columns
    >>> size.categories, size.cuts
    (('<= 2', '> 2'), (2.0,))
    >>> size.ordered
    True
    """

    name: str
    kind: Kind
    categories: tuple[str, ...]
    missing: tuple[str, ...] = DEFAULT_MISSING
    cuts: tuple[float, ...] | None = None
    density: Density | None = None
    ordered: bool = False
    unit: Unit | None = None
    description: str = field(default="", compare=False)
    answers: tuple[str, ...] = field(default=(), compare=False)
    storage: Storage | None = field(default=None, compare=False)

    @property
    def n_states(self) -> int:
        """Number of states."""
        return len(self.categories)

    def decode(self, code: int) -> Value:
        """Return the value that a code stands for.

        Examples
        --------
        >>> from latree import Column
        >>> Column("answer", "integer", ("1", "2", "10"), ordered=True).decode(2)
        10
        """
        if self.density is not None:
            return self.value_of(float(self.density.medians[code]))
        label = self.categories[code]
        if self.kind == "text":
            return label
        if self.kind == "boolean":
            return label == "True"
        return int(label) if self.kind == "integer" else float(label)

    def value_of(self, number: float) -> Value:
        """Return the value of the data that a number of a column with bins stands for: a number, a date and so on.

        Examples
        --------
        >>> from latree import as_table
        >>> age, = as_table([[20 + i] for i in range(50)], names=["age"]).columns
        >>> age.value_of(43.0), age.value_of(43.5)
        (43, 43.5)
        >>> day, = as_table([["2024-03-01"], ["2024-03-04"]]).columns
        >>> day.unit, day.value_of(19784.0)
        ('day', datetime.date(2024, 3, 2))
        """
        if self.unit is not None and self.density is not None:
            # Also a mean is to the resolution of the data: one of days is a day.
            return clock_value(cast(Clock, self.kind), round(number, self.density.decimals) * SECONDS[self.unit])
        value = int(number) if self.kind == "integer" and number.is_integer() else number
        return value if self.storage is None else self.storage.within(value)

    def number_of(self, label: str) -> float | None:
        """Return the number that a text means in a column with bins, in its unit; None if it means none.

        Examples
        --------
        >>> from latree import as_table
        >>> day, = as_table([["2024-03-01"], ["2024-03-04"]]).columns
        >>> day.number_of("1970-01-02T12:00")
        1.5
        """
        found = parse_number(label) if self.unit is None else parse_clock(label, cast(Clock, self.kind))
        if found is None or not isfinite(found):
            return None
        return float(found) if self.unit is None else found / SECONDS[self.unit]

    def text_of(self, number: float) -> str:
        """Return a number of a column with bins as text; a moment between two days is in the first of them.

        Examples
        --------
        >>> from latree import as_table
        >>> day, = as_table([["2024-03-01"], ["2024-03-04"]]).columns
        >>> day.cuts, day.text_of(day.cuts[0])
        ((19784.5,), '2024-03-02')
        """
        if self.unit is None:
            return label_of(number)
        return clock_label(cast(Clock, self.kind), number * SECONDS[self.unit], self.unit)

    @property
    def means(self) -> FloatArray | None:
        """The number that each state counts as: the mean of a bin; None for a column that does not hold numbers.

        Dates and times count in their unit.

        Examples
        --------
        >>> from latree import as_table
        >>> grade, = as_table([[1], [2], [5]], names=["grade"]).columns
        >>> grade.means
        array([1., 2., 5.])
        """
        if self.density is not None:
            return self.density.means
        if self.kind not in ("integer", "number"):
            return None
        return np.array(list(map(float, self.categories)))

    def to_dict(self) -> dict[str, Any]:
        """Return the column as plain data for JSON."""
        plain: dict[str, Any] = {
            "name": self.name,
            "kind": self.kind,
            "categories": list(self.categories),
            "ordered": self.ordered,
            "missing": list(self.missing),
        }
        if self.cuts is not None and self.density is not None:
            plain |= {"cuts": list(self.cuts), "density": self.density.to_dict()}
        if self.unit is not None:
            plain["unit"] = self.unit
        if self.description:
            plain["description"] = self.description
        if self.answers:
            plain["answers"] = list(self.answers)
        if self.storage is not None:
            plain["dtype"] = self.storage.to_plain()
        return plain

    @classmethod
    def from_dict(cls, plain: Any) -> "Column":
        """Make a column from plain data, such as :meth:`to_dict` returns; raise if anything in it is wrong.

        Examples
        --------
        >>> from latree import Column
        >>> column = Column("answer", "text", ("no", "yes"))
        >>> Column.from_dict(column.to_dict()) == column
        True
        """
        if not isinstance(plain, dict):
            raise InputError("a column is not a JSON object")
        keys = ("name", "kind", "categories", "ordered", "missing", "cuts", "density")
        name, kind, categories, ordered, missing, cuts, density = (plain.get(key) for key in keys)
        if not is_text(name):
            raise InputError(f"a column's name is not text: {name!a:.60}")
        check_fields(plain, (*keys, "unit", "description", "answers", "dtype"), f"column {name!r:.60}")
        if kind not in KINDS:
            raise InputError(f"column {name!r:.60}: unknown kind {kind!r:.60}; it must be one of {', '.join(KINDS)}")
        if not _are_texts(categories) or not _are_texts(missing):
            raise InputError(f"column {name!r:.60}: its categories or its missing cells are not a list of texts")
        if not 1 <= len(categories) <= MAX_STATES or len(set(categories)) != len(categories):
            raise InputError(f"column {name!r:.60}: its categories must be 1 to {MAX_STATES} different texts")
        if not isinstance(ordered, bool):
            raise InputError(f"column {name!r:.60}: ordered is {ordered!r:.60}; it must be true or false")
        description = plain.get("description", "")
        if not is_text(description):
            raise InputError(f"column {name!r:.60}: its description is not text: {description!a:.60}")
        unit = plain.get("unit")
        if (unit is not None) != (kind in CLOCKS) or unit not in (None, *SECONDS):
            raise InputError(f"column {name!r:.60}: its unit is {unit!r:.60}, and its kind {kind}")
        try:
            storage = None if plain.get("dtype") is None else Storage.from_plain(plain["dtype"])
        except InputError as error:
            raise InputError(f"column {name!r:.60}: {error}") from None
        answers = plain.get("answers", [])
        if not _are_texts(answers) or len(answers) not in (0, len(categories)):
            raise InputError(f"column {name!r:.60}: its answers are not one text for each category")
        more: dict[str, Any] = {"description": description, "answers": tuple(answers), "storage": storage}
        if cuts is None and density is None:
            column = cls(name, kind, tuple(categories), tuple(missing), ordered=ordered, unit=unit, **more)
            _check_decodes(column)
            return column
        if kind in ("text", "boolean") or not _increases(cuts, len(categories) - 1):
            raise InputError(f"column {name!r:.60}: its cuts are not {len(categories) - 1} increasing numbers")
        if not ordered:
            raise InputError(f"column {name!r:.60}: it has bins, so ordered must be true")
        try:
            inside = Density.from_dict(density, list(map(float, cuts)))
        except InputError as error:
            raise InputError(f"column {name!r:.60}: {error}") from None
        bins = tuple(map(float, cuts)), inside
        return cls(name, kind, tuple(categories), tuple(missing), *bins, ordered=True, unit=unit, **more)


def are_counted(columns: Sequence[Column]) -> bool:
    """Return whether these columns hold the numbers of a sparse matrix, and not only whether they are there."""
    return any(column.kind != "boolean" for column in columns)


def has_bins(columns: Sequence[Column]) -> bool:
    """Return whether one of these columns has bins."""
    return any(column.density is not None for column in columns)


def is_number(x: Any) -> bool:
    """Return whether a JSON value is a finite number that a float can hold."""
    return (type(x) is int and abs(x) < 2**63) or (type(x) is float and isfinite(x))


def is_text(value: Any) -> TypeGuard[str]:
    """Return whether a JSON value is text that can be encoded as UTF-8, without NUL characters."""
    return isinstance(value, str) and not any("\ud800" <= letter <= "\udfff" or letter == "\0" for letter in value)


def _are_texts(values: Any) -> TypeGuard[list[str]]:
    return isinstance(values, list) and all(map(is_text, values))


def _increases(numbers: Any, length: int) -> TypeGuard[list[float]]:
    if not isinstance(numbers, list) or len(numbers) != length:
        return False
    if not all(map(is_number, numbers)):
        return False
    return all(a < b for a, b in pairwise(numbers))


def _check_decodes(column: Column) -> None:
    for label in column.categories:
        number = parse_number(label)
        fits = {
            "text": True,
            "boolean": label in ("False", "True"),
            "integer": isinstance(number, int),
            "number": number is not None and isfinite(number),
        }
        if not fits.get(column.kind, False):
            raise InputError(f"column {column.name!r:.60}: the category {label!r:.60} is not of kind {column.kind}")


MISSING = -1  # the code of a missing cell while codes are signed

# What to do with categories that a column does not have: they are refused; or they are missing, with a warning that
# names one, or without. With the first two, a number gets the state of the nearest one.
Unseen: TypeAlias = Literal["warn", "error", "missing"]


class EncodedColumn(NamedTuple):
    """The cells of a column: the code of each, and of a column with bins, the log density of each inside its bin."""

    codes: IntArray
    inside: FloatArray | None = None


def encode_column(column: Column, raw: RawColumn, unseen: Unseen) -> EncodedColumn:
    """Encode raw cells as codes of a known column; missing cells become ``MISSING``, and have the log density 0.

    A column of numbers reads the values behind labels of SPSS and Stata: it was learned from the same data as codes.

    A number that an ordered column of numbers does not have gets the state of the nearest number, as if the column had
    bins: which numbers a column has depends on the rows that it was learned from, such as those of a fold.
    """
    missing = column.missing
    if column.kind != "text":
        raw = raw.without_labels()
    if column.cuts is not None:
        numbers = read_numbers(column, raw, unseen)
        # Bin b holds the numbers x with cuts[b - 1] < x <= cuts[b].
        codes, inside = np.full(len(numbers), MISSING), np.zeros(len(numbers))
        there = np.flatnonzero(~np.isnan(numbers))
        codes[there] = np.searchsorted(np.array(column.cuts), numbers[there], side="left")
        if column.density is None:  # while the number of bins is chosen
            return EncodedColumn(codes[raw.codes])
        inside[there] = column.density.log_density(numbers[there], codes[there])
        return EncodedColumn(codes[raw.codes], inside[raw.codes])
    # Data may have the names of answers in the place of their codes.
    code_of = {label: code for names in (column.answers, column.categories) for code, label in enumerate(names)}
    codes = np.full(len(raw.values), MISSING, dtype=np.intp)
    unknown: dict[int, str] = {}
    for index, label in enumerate(raw.labels()):
        if is_missing(label, missing):
            continue
        code = code_of.get(same_label(column, label))
        if code is not None:
            codes[index] = code
        elif unseen != "missing":
            unknown[index] = label
    if unknown:
        near = nearest_states(column, list(unknown.values()))
        if near is not None:
            codes[list(unknown)] = near
            return EncodedColumn(codes[raw.codes])
        label = next(label for label in unknown.values() if nearest_states(column, [label]) is None)
        what = f"column {column.name!r}: the value {label!r:.60} was never seen in the fit"
        if unseen == "error":
            raise InputError(f"{what}: {_hint()}")
        warnings.warn(f"{what}: such cells count as missing.", FitWarning, stacklevel=2)
        for index, one in unknown.items():
            state = nearest_states(column, [one])
            codes[index] = MISSING if state is None else state[0]
    return EncodedColumn(codes[raw.codes])


def read_numbers(column: Column, raw: RawColumn, unseen: Unseen) -> FloatArray:
    """Return the numbers of the distinct values of a column with bins, in its unit; NaN where they mean missing."""
    if column.unit is None:
        numbers, text, overflow = parse_numbers(raw, column.missing)
    else:
        seconds, text, overflow = parse_times(raw, column.missing, cast(Clock, column.kind))
        numbers = as_numbers(seconds, column.unit)
    if text is None and overflow is not None:
        raise number_too_large(raw.name, overflow)
    if text is not None and unseen != "missing":
        what = f"column {column.name!r} has bins, and {text!r:.60} is not a {numbers_are(column)}"
        if unseen == "error":
            raise InputError(f"{what}: {_hint()}")
        warnings.warn(f"{what}: such cells count as missing.", FitWarning, stacklevel=2)
    return numbers


def numbers_are(column: Column) -> str:
    """Return what messages call the values of a column with bins, with the form of text that is read."""
    return FORMS.get(cast(Clock, column.kind), "number")


# How tables write whether something is true, beside True and False.
_TRUTHS = {"0": "False", "1": "True"}


def same_label(column: Column, label: str) -> str:
    """Return the label as the column writes it: 1.0 is 1, and in a column of booleans True."""
    if column.kind == "text":
        return label
    number = number_label(label)
    return _TRUTHS.get(number, label) if column.kind == "boolean" else number


def nearest_states(column: Column, labels: Sequence[str]) -> IntArray | None:
    """Return the states of an ordered column of numbers that are nearest to numbers; the lower of two as near.

    None if one is no number, and for other columns. Ordered categories whose numbers do not increase are names.
    """
    holds_numbers = column.ordered and column.kind in ("integer", "number")
    states = np.array(list(map(float, column.categories if holds_numbers else ())))
    increasing = len(states) > 0 and bool((np.diff(states) > 0).all())
    numbers = [parse_number(label) if increasing else None for label in labels]
    if not all(number is not None and isfinite(number) for number in numbers):
        return None
    return np.searchsorted(states[:-1] / 2 + states[1:] / 2, np.array(numbers, dtype=np.float64), side="left")


def _hint() -> str:
    return f"correct it, or make such cells missing ({setting('unseen', 'missing')})"


class ParsedNumbers(NamedTuple):
    """The distinct values of a column read as numbers.

    Attributes
    ----------
    values : array of float
        NaN where a value is missing or not a number.
    text : str or None
        The first value that is neither missing nor a number.
    overflow : str or None
        The first number that is too large to compute with.
    """

    values: FloatArray
    text: str | None = None
    overflow: str | None = None


def is_missing(label: str, missing: tuple[str, ...]) -> bool:
    """Return whether the text of a cell means missing; the empty text does, and ``-9.0`` does if ``-9`` does."""
    numbers = _missing_numbers(missing)
    return not label or label in missing or (bool(numbers) and parse_number(label) in numbers)


@cache
def _missing_numbers(missing: tuple[str, ...]) -> frozenset[float]:
    return frozenset(number for token in missing if (number := parse_number(token)) is not None)


def number_label(text: str) -> str:
    """Return the label of a number in the spelling of categories, so that ``1``, ``1.0`` and ``+1`` are one state."""
    number = parse_number(text)
    return text if number is None else label_of(number)


def parse_numbers(raw: RawColumn, missing: tuple[str, ...]) -> ParsedNumbers:
    """Read the distinct values of a column as numbers."""
    if raw.values.dtype == bool:
        return ParsedNumbers(np.full(len(raw.values), np.nan), "True")
    if raw.clock is not None:
        labels = raw.labels()
        return ParsedNumbers(np.full(len(labels), np.nan), next((label for label in labels if label), None))
    if not raw.is_text:
        values = raw.values.astype(np.float64)
        values = np.where(np.isin(values, list(_missing_numbers(missing))), np.nan, values)
        large = np.flatnonzero(np.abs(values) >= _TOO_LARGE)
        return ParsedNumbers(values, None, label_of(float(values[large[0]])) if len(large) else None)
    values = np.full(len(raw.values), np.nan)
    first_text = None
    for index, label in enumerate(raw.labels()):
        if not is_missing(label, missing):
            number = parse_number(label)
            if number is not None:
                values[index] = number
            elif first_text is None:
                first_text = label
    large = np.flatnonzero(np.abs(values) >= _TOO_LARGE)
    return ParsedNumbers(values, first_text, raw.labels()[large[0]] if len(large) else None)


# Sums and differences of numbers below this are finite.
_TOO_LARGE = 1e307


# New data may have dates with a time where those of the fit had none, and the other way round, or in UTC.
_DAYS = frozenset(("date", "datetime", "instant"))


def parse_times(raw: RawColumn, missing: tuple[str, ...], clock: Clock) -> ParsedNumbers:
    """Read the distinct values of a column as dates or times, in seconds."""
    labels = raw.labels()
    present = np.array([not is_missing(label, missing) for label in labels], dtype=bool)
    seconds = np.full(len(labels), np.nan)
    if raw.clock is not None and (raw.clock == clock or {raw.clock, clock} <= _DAYS):
        seconds = raw.values
    elif raw.clock is None:
        found = (parse_clock(label, clock) if has else None for label, has in zip(labels, present, strict=True))
        seconds = np.array([np.nan if one is None else one for one in found], dtype=np.float64)
    wrong = present & np.isnan(seconds)
    return ParsedNumbers(np.where(present, seconds, np.nan), labels[int(np.argmax(wrong))] if wrong.any() else None)


def number_too_large(name: str, label: str) -> InputError:
    """Return the error for a number that floats cannot hold or compute with."""
    return InputError(
        f"column {name!r} has the number {label!r:.60}, which is too large: correct it, or make it missing"
    )


def code_type(columns: Sequence[Column]) -> type[np.uint8] | type[np.uint16]:
    """Return the smallest type that holds the codes of all columns and the code that means missing."""
    return np.uint8 if max((column.n_states for column in columns), default=0) <= 255 else np.uint16
