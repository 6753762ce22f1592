"""Raw columns as distinct values plus one index per row, whatever they are read from.

All later work on values (parsing numbers, labels, bins, categories) is then done once per distinct value, not once per
cell.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from latree._util.arrays import FloatArray
from latree.errors import InputError

_NUMBER = re.compile(r"[+-]?(?=\.?\d)(?!0\d)\d*(?P<point>\.\d*)?(?P<exponent>[eE][+-]?\d+)?")
# Whole numbers with more digits than this are read as floats; they are beyond what a float can hold.
_MAX_DIGITS = 300


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
    """

    name: str
    values: NDArray[Any]
    codes: NDArray[Any]
    order: tuple[str, ...] | None = None

    @property
    def is_text(self) -> bool:
        """Whether the values are texts, as all cells of a text file are."""
        return self.values.dtype == object

    def labels(self) -> list[str]:
        """Return the text of every distinct value; equal numbers have equal texts."""
        if self.is_text:
            return [text.strip() for text in self.values]
        return [label_of(value) for value in self.values.tolist()]


def weighted_counts(codes: NDArray[Any], weights: FloatArray | None, size: int) -> FloatArray:
    """Return the number of rows, or their weight, for each code from 0 to ``size - 1``."""
    return np.bincount(codes, weights, size).astype(np.float64, copy=False)


def label_of(value: Any) -> str:
    """Return the text of a value: whole numbers without a decimal point, missing as the empty text."""
    if _is_missing_value(value):
        return ""
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < 2**53 else repr(value)
    return str(value)


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
    if values.dtype.kind == "c":
        raise InputError(
            f"column {name!r} holds complex numbers. Complex data not supported. Use the real part, or drop the column."
        )
    return from_texts(name, [label_of(value) for value in values.tolist()])


def from_matrix(matrix: NDArray[Any], names: Sequence[str] | None = None) -> list[RawColumn]:
    """Make raw columns of a two-dimensional NumPy array; columns without names become x0, x1, ..."""
    if matrix.ndim != 2:
        raise InputError(
            f"expected an array of rows and columns, got one of {matrix.ndim} dimension(s): reshape it to two"
        )
    names = column_names(names, matrix.shape[1], "the array")
    return [from_values(name, matrix[:, j]) for j, name in enumerate(names)]


def column_names(names: Sequence[str] | None, n_columns: int, where: str) -> list[str]:
    """Return the names that are given for the columns of an array, or x0, x1, ...; raise if they are not good ones."""
    names = [f"x{j}" for j in range(n_columns)] if names is None else list(map(str, names))
    if len(names) != n_columns:
        raise InputError(f"{where}: {len(names)} names for {n_columns} columns: give one name per column")
    check_names(names, where)
    return names


def from_frame(frame: Any) -> list[RawColumn]:
    """Make raw columns of any data frame that narwhals supports."""
    try:
        eager = nw.from_native(frame, eager_only=True)
    except TypeError:
        raise InputError(
            f"cannot read a table from {type(frame).__name__}: pass a data frame, a 2-D array or the name of a file"
        ) from None
    check_names([str(name) for name in eager.columns], "the data frame")
    return [_from_series(str(name), eager.get_column(name)) for name in eager.columns]


def _from_series(name: str, series: "nw.Series[Any]") -> RawColumn:
    if series.dtype == nw.Boolean and not series.is_null().any():
        return from_values(name, series.to_numpy().astype(bool))
    if series.dtype.is_integer() and not series.is_null().any():
        return from_values(name, series.to_numpy())
    if series.dtype.is_numeric():
        return from_values(name, series.cast(nw.Float64).to_numpy())
    return from_texts(name, [label_of(value) for value in series.to_list()], _order_of_series(series))


def _order_of_series(series: "nw.Series[Any]") -> tuple[str, ...] | None:
    """Return the labels of ordered categories from low to high; none for plain categories, None for other types."""
    if isinstance(series.dtype, nw.Enum):  # also an ordered Categorical of pandas
        return order_of(series.dtype.categories)
    if series.dtype != nw.Categorical:
        return None
    if series.implementation.is_pyarrow() and series.to_native().type.ordered:
        return order_of(series.to_native().unify_dictionaries().combine_chunks().dictionary.to_pylist())
    return ()


def order_of(categories: Iterable[Any]) -> tuple[str, ...]:
    """Return the labels of ordered categories, which are spelled like those of cells."""
    return tuple(label_of(category).strip() for category in categories)


def infinite_value(name: str, where: str = "") -> InputError:
    """Return the error for a column that holds infinity."""
    return InputError(f"column {name!r} has an infinite value{where}: replace it, or make the cell missing")


def check_same_columns(path: Path, names: Sequence[str], first: Path, expected: Sequence[str]) -> None:
    """Raise if a file has other columns than the first of several files; their order does not matter."""
    for name in (*names, *expected):
        if (name in names) != (name in expected):
            present, absent = (path, first) if name in names else (first, path)
            raise InputError(
                f"{path}: its columns are not those of {first}: {name!r} is in {present} and not in {absent}; files "
                "that are read together need the same columns"
            )


def check_names(names: list[str], source: str) -> None:
    """Raise if a column has an empty name, or the name of another one."""
    seen: dict[str, int] = {}
    for position, name in enumerate(names, start=1):
        if not name.strip():
            raise InputError(f"{source}: column {position} has an empty name: give every column a name")
        if name in seen:
            raise InputError(
                f"{source}: column name {name!r} appears twice (columns {seen[name]} and {position}): rename one"
            )
        seen[name] = position
