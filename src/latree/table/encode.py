"""Reading raw values as numbers or labels, and turning them into codes of known columns."""

from collections.abc import Sequence
from functools import cache
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from latree._util.arrays import FloatArray, IntArray
from latree.errors import InputError
from latree.table.columns import Column
from latree.table.factors import Factor, label_of, parse_number

MISSING = -1  # among codes that are still signed

Unseen: TypeAlias = Literal["error", "missing"]


def encode_column(column: Column, factor: Factor, unseen: Unseen) -> IntArray:
    """Turn raw cells into codes of a known column; missing cells into ``MISSING``."""
    missing = column.missing
    if column.cuts is not None:
        numbers, odd, large = read_numbers(factor, missing)
        if odd is None and large is not None:
            raise too_large(factor.name, large)
        if odd is not None and unseen == "error":
            raise InputError(f"column {column.name!r}: {odd!r:.60} is not a number, and the model cuts it as one")
        codes = np.searchsorted(np.array(column.cuts), numbers, side="left")
        return np.asarray(np.where(np.isnan(numbers), MISSING, codes)[factor.codes])
    positions = {label: code for code, label in enumerate(column.categories)}
    codes = np.empty(len(factor.values), dtype=np.intp)
    for index, label in enumerate(factor.labels()):
        if is_missing(label, missing):
            codes[index] = MISSING
            continue
        code = positions.get(number_label(label) if column.kind in ("integer", "number") else label)
        if code is None and unseen == "error":
            raise InputError(
                f"column {column.name!r}: the value {label!r:.60} was never seen when the model was fitted"
            )
        codes[index] = MISSING if code is None else code
    return np.asarray(codes[factor.codes])


class Numbers(NamedTuple):
    """The distinct values of a column read as numbers."""

    values: FloatArray  # NaN where missing, or where there is no number
    odd: str | None = None  # the first value that is neither missing nor a number
    large: str | None = None  # the first number that is too large for a float


def is_missing(label: str, missing: tuple[str, ...]) -> bool:
    """Tell whether a cell's text means missing; an empty one always does, and ``-9.0`` does if ``-9`` does."""
    numbers = _missing_numbers(missing)
    return not label or label in missing or (bool(numbers) and parse_number(label) in numbers)


@cache
def _missing_numbers(missing: tuple[str, ...]) -> frozenset[float]:
    return frozenset(number for token in missing if (number := parse_number(token)) is not None)


def number_label(text: str) -> str:
    """Spell a number in the one way that categories use, so that ``1``, ``1.0`` and ``+1`` are one state."""
    number = parse_number(text)
    return text if number is None else label_of(number)


def read_numbers(factor: Factor, missing: tuple[str, ...]) -> Numbers:
    """Read the distinct values of a column as numbers."""
    if factor.values.dtype == bool:
        return Numbers(np.full(len(factor.values), np.nan), "True")
    if not factor.is_text:
        values = factor.values.astype(np.float64)
        return Numbers(np.where(np.isin(values, list(_missing_numbers(missing))), np.nan, values))
    values = np.full(len(factor.values), np.nan)
    odd = None
    for index, label in enumerate(factor.labels()):
        if not is_missing(label, missing):
            number = parse_number(label)
            if number is not None:
                values[index] = number
            elif odd is None:
                odd = label
    infinite = np.flatnonzero(np.isinf(values))
    return Numbers(values, odd, factor.labels()[infinite[0]] if len(infinite) else None)


def too_large(name: str, label: str) -> InputError:
    """Say that a number is beyond what a float can hold."""
    return InputError(f"column {name!r}: the number {label!r:.60} is too large")


def code_type(columns: Sequence[Column]) -> type[np.uint8] | type[np.uint16]:
    """Give the smallest type that holds the codes of all columns, and one more that means missing."""
    return np.uint8 if max((column.n_states for column in columns), default=0) <= 255 else np.uint16
