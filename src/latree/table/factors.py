"""Raw columns as distinct values plus a pointer a row, whatever they come from.

All later work on values (parsing, labels, bins, categories) then happens once a distinct value, not once a cell.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from latree._util.arrays import FloatArray
from latree.errors import InputError

_NUMBER = re.compile(r"[+-]?(?=\.?\d)(?!0\d)\d*(?P<point>\.\d*)?(?P<exponent>[eE][+-]?\d+)?")
_MAX_DIGITS = 300  # a longer whole number is beyond what a float can hold


@dataclass(frozen=True)
class Factor:
    """A raw column: ``values[codes[row]]`` is the cell of a row.

    ``values`` is an array of numbers or booleans, or an object array of texts; NaN and ``""`` are missing.
    """

    name: str
    values: NDArray[Any]
    codes: NDArray[Any]

    @property
    def is_text(self) -> bool:
        """Whether the values are texts, as all cells of a text file are."""
        return self.values.dtype == object

    def labels(self) -> list[str]:
        """Give the text of every distinct value; numbers in one spelling."""
        if self.is_text:
            return [text.strip() for text in self.values]
        return [label_of(value) for value in self.values.tolist()]


def masses(places: NDArray[Any], weights: FloatArray | None, size: int) -> FloatArray:
    """Count, or weigh, how much falls to each of so many places."""
    return np.bincount(places, weights, size).astype(np.float64, copy=False)


def label_of(value: Any) -> str:
    """Spell a value: whole numbers without a point, missing as the empty text."""
    if _is_nothing(value):
        return ""
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < 2**53 else repr(value)
    return str(value)


def _is_nothing(value: Any) -> bool:
    try:
        return value is None or bool(value != value)
    except TypeError:  # pandas.NA is neither equal nor unequal to itself
        return True


def parse_number(text: str) -> int | float | None:
    """Read a number, or give None.

    Python's own leniency (``1_000``, ``infinity``) is not wanted here, and ``007`` is a name, not a number.
    """
    match = _NUMBER.fullmatch(text)
    if match is None:
        return None
    whole = match["point"] is None and match["exponent"] is None and len(text) <= _MAX_DIGITS
    return int(text) if whole else float(text)


def from_texts(name: str, texts: list[str]) -> Factor:
    """Factor a list of texts."""
    positions: dict[str, int] = {}
    codes = np.fromiter((positions.setdefault(text, len(positions)) for text in texts), np.intp, len(texts))
    return Factor(name, text_array(list(positions)), codes)


def text_array(texts: list[str]) -> NDArray[Any]:
    """Put texts into an object array (NumPy's own conversion would pad them all to the longest)."""
    array = np.empty(len(texts), dtype=object)
    array[:] = texts
    return array


def from_values(name: str, values: NDArray[Any]) -> Factor:
    """Factor one column of a NumPy array."""
    if values.dtype.kind in "iufb":
        if values.dtype.kind == "f" and np.isinf(values).any():
            raise InputError(f"column {name!r} has an infinite value (row {int(np.argmax(np.isinf(values))) + 1})")
        distinct, codes = np.unique(values, return_inverse=True)
        return Factor(name, distinct, codes.astype(np.intp))
    if values.dtype.kind == "c":
        raise InputError(f"column {name!r} holds complex numbers. Complex data not supported.")
    return from_texts(name, [label_of(value) for value in values.tolist()])


def from_matrix(matrix: NDArray[Any], names: Sequence[str] | None = None) -> list[Factor]:
    """Factor a two-dimensional NumPy array; columns without names become x0, x1, ..."""
    if matrix.ndim != 2:
        raise InputError(f"expected a table with rows and columns, got an array of {matrix.ndim} dimension(s)")
    names = [f"x{j}" for j in range(matrix.shape[1])] if names is None else names
    if len(names) != matrix.shape[1]:
        raise InputError(f"{len(names)} names for an array of {matrix.shape[1]} columns")
    check_names(list(names), "the array")
    return [from_values(name, matrix[:, j]) for j, name in enumerate(names)]


def from_frame(frame: Any) -> list[Factor]:
    """Factor any data frame that narwhals knows."""
    try:
        eager = nw.from_native(frame, eager_only=True)
    except TypeError:
        raise InputError(
            f"cannot read a table from {type(frame).__name__}; give a data frame, a 2-D array or a file name"
        ) from None
    check_names([str(name) for name in eager.columns], "the data frame")
    return [_from_series(str(name), eager.get_column(name)) for name in eager.columns]


def _from_series(name: str, series: "nw.Series[Any]") -> Factor:
    if series.dtype == nw.Boolean and not series.is_null().any():
        return from_values(name, series.to_numpy().astype(bool))
    if series.dtype.is_integer() and not series.is_null().any():
        return from_values(name, series.to_numpy())
    if series.dtype.is_numeric():
        return from_values(name, series.cast(nw.Float64).to_numpy())
    return from_texts(name, [label_of(value) for value in series.to_list()])


def check_same(path: Path, names: Sequence[str], first: Path, expected: Sequence[str]) -> None:
    """Raise if a file has other columns than the first one of several, in any order."""
    for name in (*names, *expected):
        if (name in names) != (name in expected):
            where, other = (path, first) if name in names else (first, path)
            raise InputError(f"{path}: its columns are not those of {first}: {name!r} is in {where} and not in {other}")


def check_names(names: list[str], source: str) -> None:
    """Raise if a column has no name or shares one."""
    seen: dict[str, int] = {}
    for position, name in enumerate(names, start=1):
        if not name.strip():
            raise InputError(f"{source}: column {position} has an empty name")
        if name in seen:
            raise InputError(f"{source}: column name {name!r} appears twice (columns {seen[name]} and {position})")
        seen[name] = position
