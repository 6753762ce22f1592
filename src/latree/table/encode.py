"""Reading raw values as numbers or labels, and encoding them as codes of known columns."""

from collections.abc import Sequence
from functools import cache
from math import isfinite
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from latree._util.arrays import FloatArray, IntArray
from latree._util.spelling import setting
from latree.errors import InputError
from latree.table.columns import Column
from latree.table.raw import RawColumn, label_of, parse_number

MISSING = -1  # the code of a missing cell while codes are signed

Unseen: TypeAlias = Literal["error", "missing"]


def encode_column(column: Column, raw: RawColumn, unseen: Unseen) -> IntArray:
    """Encode raw cells as codes of a known column; missing cells become ``MISSING``.

    A number that an ordered column of numbers does not have gets the state of the nearest number, as if the column had
    bins: which numbers a column has depends on the rows that it was learned from, such as those of a fold.
    """
    missing = column.missing
    if column.cuts is not None:
        numbers, text, overflow = parse_numbers(raw, missing)
        if text is None and overflow is not None:
            raise number_too_large(raw.name, overflow)
        if text is not None and unseen == "error":
            raise InputError(
                f"column {column.name!r}: {text!r:.60} is not a number, but the model bins this column by number: "
                f"{_hint()}"
            )
        # Bin b holds the numbers x with cuts[b - 1] < x <= cuts[b].
        codes = np.searchsorted(np.array(column.cuts), numbers, side="left")
        return np.asarray(np.where(np.isnan(numbers), MISSING, codes)[raw.codes])
    code_of = {label: code for code, label in enumerate(column.categories)}
    codes = np.full(len(raw.values), MISSING, dtype=np.intp)
    unknown: dict[int, str] = {}
    for index, label in enumerate(raw.labels()):
        if is_missing(label, missing):
            continue
        code = code_of.get(number_label(label) if column.kind in ("integer", "number") else label)
        if code is not None:
            codes[index] = code
        elif unseen == "error":
            unknown[index] = label
    if unknown:
        codes[list(unknown)] = _nearest_states(column, list(unknown.values()))
    return np.asarray(codes[raw.codes])


def _nearest_states(column: Column, labels: Sequence[str]) -> IntArray:
    """Return the states of an ordered column of numbers that are nearest to numbers; the lower of two as near.

    Raise for what is no number, and for other columns. Ordered categories whose numbers do not increase are names.
    """
    holds_numbers = column.ordered and column.kind in ("integer", "number")
    states = np.array(list(map(float, column.categories if holds_numbers else ())))
    increasing = len(states) > 0 and bool((np.diff(states) > 0).all())
    numbers = [parse_number(label) if increasing else None for label in labels]
    for number, label in zip(numbers, labels, strict=True):
        if number is None or not isfinite(number):
            raise InputError(
                f"column {column.name!r}: the value {label!r:.60} was never seen when the model was fitted: {_hint()}"
            )
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
        The first number that is too large for a float.
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
    if not raw.is_text:
        values = raw.values.astype(np.float64)
        return ParsedNumbers(np.where(np.isin(values, list(_missing_numbers(missing))), np.nan, values))
    values = np.full(len(raw.values), np.nan)
    first_text = None
    for index, label in enumerate(raw.labels()):
        if not is_missing(label, missing):
            number = parse_number(label)
            if number is not None:
                values[index] = number
            elif first_text is None:
                first_text = label
    infinite = np.flatnonzero(np.isinf(values))
    return ParsedNumbers(values, first_text, raw.labels()[infinite[0]] if len(infinite) else None)


def number_too_large(name: str, label: str) -> InputError:
    """Return the error for a number that no float can hold."""
    return InputError(
        f"column {name!r}: the number {label!r:.60} is too large for a float: correct it, or make the cell missing"
    )


def code_type(columns: Sequence[Column]) -> type[np.uint8] | type[np.uint16]:
    """Return the smallest type that holds the codes of all columns and the code that means missing."""
    return np.uint8 if max((column.n_states for column in columns), default=0) <= 255 else np.uint16
