"""Raw columns as distinct values plus one index per row, whatever they are read from.

All later work on values (parsing numbers, labels, bins, categories) is then done once per distinct value, not once per
cell.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from latree._util.arrays import FloatArray
from latree._util.words import MAX_NAME, quoted
from latree.errors import InputError
from latree.table.clock import Clock, clock_label, common_clock, seconds_of

_NUMBER = re.compile(r"[+-]?(?=\.?\d)(?!0\d)\d*(?P<point>\.\d*)?(?P<exponent>[eE][+-]?\d+)?")
# Whole numbers with more digits than this are read as floats; they are beyond what a float can hold.
_MAX_DIGITS = 300
# Whole numbers below this are exact as floats.
EXACT = 2**53


@dataclass(frozen=True)
class RawColumn:
    """A raw column: the cell of a row is ``values[codes[row]]``.

    Attributes
    ----------
    name : str
    values : array
        Numbers or booleans, or an object array of texts; NaN and ``""`` are missing.
    codes : array of int
        One index into ``values`` per row.
    order : tuple of str or None
        For ordered categories, such as those of an ordered pandas Categorical or a polars Enum: their labels from low
        to high, also of those that no row has. Empty for plain categories, and None if the data do not say.
    exact : bool
        Whether texts spell numbers of data that hold numbers: whole ones that no float holds, beside missing cells.
    clock : {"date", "datetime", "instant", "time", "duration"} or None
        For dates and times, whose values are seconds: what they show; see :mod:`latree.table.clock`.
    storage : Storage or None
        How a frame or an array holds the column; None for files.
    behind : array of text, or None
        For labels of SPSS and Stata: the value that each label stands for.
    """

    name: str
    values: NDArray[Any]
    codes: NDArray[Any]
    order: tuple[str, ...] | None = None
    exact: bool = False
    clock: Clock | None = None
    storage: Any = None  # not typed: the module that defines it imports this one
    behind: NDArray[Any] | None = None

    @property
    def holds_numbers(self) -> bool:
        """Whether the data hold numbers, not texts, booleans or dates."""
        return self.clock is None and (self.exact or self.values.dtype.kind in "iuf")

    @property
    def is_text(self) -> bool:
        """Whether the values are texts, as all cells of a text file are."""
        return self.values.dtype == object

    def without_labels(self) -> "RawColumn":
        """Return the same column with the values that labels of SPSS and Stata stand for."""
        return self if self.behind is None else replace(self, values=self.behind, order=None, behind=None)

    def labels(self) -> list[str]:
        """Return the text of every distinct value; equal numbers have equal texts."""
        if self.is_text:
            return [text.strip() for text in self.values]
        if self.clock is not None:
            return [clock_label(self.clock, seconds) for seconds in self.values.tolist()]
        return [label_of(value) for value in self.values.tolist()]


def weighted_counts(codes: NDArray[Any], weights: FloatArray | None, size: int) -> FloatArray:
    """Return the number of rows, or their weight, for each code from 0 to ``size - 1``."""
    return np.bincount(codes, weights, size).astype(np.float64, copy=False)


def label_of(value: Any) -> str:
    """Return the text of a value: whole numbers without a decimal point, dates as in ISO 8601, missing as no text."""
    if _is_missing_value(value):
        return ""
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < EXACT else repr(float(value))
    clock = seconds_of(value)
    return str(value) if clock is None else clock_label(*clock)


def _is_missing_value(value: Any) -> bool:
    try:
        return value is None or bool(value != value)
    except TypeError:  # pandas.NA is neither equal nor unequal to itself
        return True


def parse_number(text: str) -> int | float | None:
    """Return the number that a text spells, or None.

    Stricter than Python: ``1_000`` and ``infinity`` are not numbers, and ``007`` is a name, such as a postal code.
    """
    match = _NUMBER.fullmatch(text)
    if match is None:
        return None
    whole = match["point"] is None and match["exponent"] is None and len(text) <= _MAX_DIGITS
    return int(text) if whole else float(text)


def from_texts(name: str, texts: Sequence[str], order: tuple[str, ...] | None = None) -> RawColumn:
    """Make a raw column of a list of texts."""
    # A new text gets the next number. The loop over cells runs in C, because map and defaultdict call no Python code.
    number_of: defaultdict[str, int] = defaultdict(count().__next__)
    codes = np.fromiter(map(number_of.__getitem__, texts), np.intp, len(texts))
    if any("\0" in text for text in number_of):
        raise InputError(f"column {name!r}: a cell has a NUL character: correct it, or make the cell missing")
    return RawColumn(name, text_array(list(number_of)), codes.astype(np.min_scalar_type(len(number_of))), order)


def text_array(texts: list[str]) -> NDArray[Any]:
    """Put texts into an object array (NumPy's own conversion would pad them all to the longest)."""
    array = np.empty(len(texts), dtype=object)
    array[:] = texts
    return array


def from_values(name: str, values: NDArray[Any]) -> RawColumn:
    """Make a raw column of one column of a NumPy array."""
    if values.dtype.kind in "iufb":
        if values.dtype.kind == "f" and np.isinf(values).any():
            raise infinite_value(name, f" in row {int(np.argmax(np.isinf(values))) + 1}")
        distinct, codes = np.unique(values, return_inverse=True)
        return RawColumn(name, distinct, codes.astype(np.intp))
    if values.dtype.kind in "mM":
        seconds = np.where(np.isnat(values), np.nan, values.astype(f"{values.dtype.kind}8[us]").astype(np.int64) / 1e6)
        return from_seconds(name, seconds, "datetime" if values.dtype.kind == "M" else "duration")
    if values.dtype.kind == "c":
        raise InputError(
            f"column {name!r} holds complex numbers. Complex data not supported. Use the real part, or drop the column."
        )
    return from_objects(name, values.tolist())


def from_integers(name: str, values: Sequence[Any]) -> RawColumn:
    """Make a raw column of whole numbers of any size, None where they are missing; no number is rounded."""
    texts = from_texts(name, list(map(label_of, values)))
    return RawColumn(name, texts.values, texts.codes, exact=True)


def from_objects(name: str, values: Sequence[Any]) -> RawColumn:
    """Make a raw column of objects of Python: of dates or times, if all are, and of texts otherwise."""
    found = [seconds_of(value) for value in values]
    clock = common_clock({one[0] for one in found if one is not None})
    if clock is None or any(
        one is None and not _is_missing_value(value) for one, value in zip(found, values, strict=True)
    ):
        return from_texts(name, list(map(label_of, values)))
    return from_seconds(name, np.array([np.nan if one is None else one[1] for one in found]), clock)


def from_seconds(name: str, seconds: FloatArray, clock: Clock) -> RawColumn:
    """Make a raw column of dates or times, given their seconds."""
    distinct, codes = np.unique(seconds, return_inverse=True)
    return RawColumn(name, distinct, codes.astype(np.intp), clock=clock)


def array_names(n_columns: int) -> list[str]:
    """Return the names of the columns of an array that has none."""
    return [f"x{j}" for j in range(n_columns)]


def from_matrix(matrix: NDArray[Any], names: Sequence[str] | None = None) -> list[RawColumn]:
    """Make raw columns of a two-dimensional NumPy array; columns without names become x0, x1, ..."""
    if matrix.ndim != 2:
        raise InputError(f"expected rows and columns, got an array of {matrix.ndim} dimension(s): reshape it to two")
    names = column_names(names, matrix.shape[1], "the array")
    columns = [from_values(name, np.ma.getdata(matrix)[:, j]) for j, name in enumerate(names)]
    if not np.ma.is_masked(matrix):
        return columns
    return [_with_mask(raw, mask) for raw, mask in zip(columns, np.ma.getmaskarray(matrix).T, strict=True)]


def _with_mask(raw: RawColumn, mask: NDArray[np.bool_]) -> RawColumn:
    """Return a raw column some of whose cells are missing, whatever their values."""
    if not mask.any():
        return raw
    labels = raw.labels()
    texts = from_texts(raw.name, ["" if hidden else labels[code] for code, hidden in zip(raw.codes, mask, strict=True)])
    return replace(texts, exact=raw.holds_numbers)


def column_names(names: Sequence[str] | None, n_columns: int, where: str) -> list[str]:
    """Return the names that are given for the columns of an array, or x0, x1, ...; raise if they are not good ones."""
    names = array_names(n_columns) if names is None else list(map(str, names))
    if len(names) != n_columns:
        raise InputError(f"{where}: {len(names)} names for {n_columns} columns: give one name per column")
    check_names(names, where)
    return names


def order_of(categories: Iterable[Any]) -> tuple[str, ...]:
    """Return the labels of ordered categories, which are spelled like those of cells."""
    return tuple(label_of(category).strip() for category in categories)


def infinite_value(name: str, where: str = "") -> InputError:
    """Return the error for a column that holds infinity."""
    return InputError(f"column {name!r} has an infinite value{where}: replace it, or make the cell missing")


def check_same_columns(path: Path, names: Sequence[str], first: Path, expected: Sequence[str]) -> None:
    """Raise if a file has other columns than the first of several files; their order does not matter."""
    here, there = set(names), set(expected)
    for name in (*names, *expected):
        if (name in here) != (name in there):
            present, absent = (path, first) if name in here else (first, path)
            raise InputError(
                f"{path}: its columns are not those of {first}: {name!r} is in {present} and not in {absent}; files "
                "that are read together need the same columns"
            )


def check_header(names: list[str], source: str) -> None:
    """Raise if the first line of a file cannot name its columns."""
    if len(set(names)) < len(names) and all(parse_number(name.strip()) is not None for name in names):
        raise InputError(f"{source}: the first line seems to hold data, not names: add a line with names above it")
    check_names(names, source)


def check_names(names: list[str], source: str) -> None:
    """Raise if a column has the name of another one, or no name; the first one, which may be an index, needs none."""
    seen: dict[str, int] = {}
    for position, name in enumerate(names, start=1):
        if not name.strip() and position > 1:
            raise InputError(f"{source}: column {position} has an empty name: give every column a name")
        if len(name) > MAX_NAME:
            raise InputError(
                f"{source}: the name of column {position} has {len(name)} letters, {quoted(name)}: names have at most "
                f"{MAX_NAME}; shorten it, or check quotes and ends of lines"
            )
        if "\0" in name:
            raise InputError(f"{source}: the name of column {position} has a NUL character: rename it")
        if name in seen:
            raise InputError(
                f"{source}: column name {quoted(name)} appears twice (columns {seen[name]} and {position}): rename one"
            )
        seen[name] = position
