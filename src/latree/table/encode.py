"""Learning a column's states from raw values, and turning raw values into codes."""

from dataclasses import replace
from functools import cache
from itertools import pairwise
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from latree.arrays import FloatArray, IntArray
from latree.errors import InputError
from latree.table.bins import equal_cuts
from latree.table.columns import MAX_STATES, Column, Kind
from latree.table.factors import Factor, label_of, parse_number

DEFAULT_BINS = 10
MISSING = -1  # among codes that are still signed

Unseen: TypeAlias = Literal["error", "missing"]


def learn_column(factor: Factor, weights: FloatArray | None, bins: int, missing: tuple[str, ...]) -> Column:
    """Find the states of a column.

    A numeric column becomes (at most ``bins``) quantile bins if it has fractions, or more than ``2 * bins`` distinct
    whole numbers; every other column keeps its distinct values as categories, numbers in their order and texts in
    alphabetical order. ``bins=0`` never cuts. Rows without weight are as good as absent.
    """
    if weights is not None:
        factor, weights = replace(factor, codes=factor.codes[weights > 0]), weights[weights > 0]
    used = np.unique(factor.codes)
    factor = Factor(factor.name, factor.values[used], np.searchsorted(used, factor.codes))
    numbers, odd = read_numbers(factor, missing)
    if odd is not None or np.isnan(numbers).all():
        labels = {label for label in factor.labels() if not is_missing(label, missing)}
        return _column(factor, "boolean" if factor.values.dtype == bool else "text", sorted(labels), missing)
    present = numbers[~np.isnan(numbers)]
    distinct = np.unique(present)
    whole = bool(np.all((distinct == np.floor(distinct)) & (abs(distinct) < 2**53)))
    kind: Kind = "integer" if whole else "number"
    if bins and len(distinct) > (2 * bins if whole else 0):
        return _cut(factor, numbers, kind, weights, bins, missing)
    by_number = {
        number_label(label): parse_number(label) for label in factor.labels() if not is_missing(label, missing)
    }
    return _column(factor, kind, sorted(by_number, key=lambda label: by_number[label] or 0), missing)


def encode_column(column: Column, factor: Factor, unseen: Unseen) -> IntArray:
    """Turn raw cells into codes of a known column; missing cells into ``MISSING``."""
    missing = column.missing
    if column.cuts is not None:
        numbers, odd = read_numbers(factor, missing)
        if odd is not None and unseen == "error":
            raise InputError(f"column {column.name!r}: {odd!r:.60} is not a number, and the model cuts it as one")
        codes = np.searchsorted(np.array(column.cuts), numbers, side="left")
        return np.where(np.isnan(numbers), MISSING, codes)[factor.codes]
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
    return codes[factor.codes]


class Numbers(NamedTuple):
    """The distinct values of a column read as numbers."""

    values: FloatArray  # NaN where missing, or where there is no number
    odd: str | None  # the first value that is neither missing nor a number


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
        return Numbers(np.where(np.isin(values, list(_missing_numbers(missing))), np.nan, values), None)
    values = np.full(len(factor.values), np.nan)
    odd = None
    for index, label in enumerate(factor.labels()):
        if not is_missing(label, missing):
            number = parse_number(label)
            if number is not None:
                values[index] = number
            elif odd is None:
                odd = label
    if odd is None and np.isinf(values).any():
        large = factor.labels()[int(np.argmax(np.isinf(values)))]
        raise InputError(f"column {factor.name!r}: the number {large!r:.60} is too large")
    return Numbers(values, odd)


def _column(factor: Factor, kind: Kind, categories: list[str], missing: tuple[str, ...]) -> Column:
    if len(categories) > MAX_STATES:
        raise InputError(
            f"column {factor.name!r} has {len(categories)} different values, at most {MAX_STATES} can be told apart; "
            "drop it if it is an identifier or a date"
        )
    return Column(factor.name, kind, tuple(categories), missing)


def _cut(
    factor: Factor,
    numbers: FloatArray,
    kind: Kind,
    weights: FloatArray | None,
    bins: int,
    missing: tuple[str, ...],
) -> Column:
    mass = np.bincount(factor.codes, weights=weights, minlength=len(numbers)).astype(np.float64)
    usable = ~np.isnan(numbers) & (mass > 0)
    values, position = np.unique(numbers[usable], return_inverse=True)
    counts = np.bincount(position, weights=mass[usable]).astype(np.float64)
    cuts = equal_cuts(values, counts, bins)
    bin_of = np.searchsorted(cuts, values, side="left")
    centers = [_lower_median(values[bin_of == b], counts[bin_of == b]) for b in range(len(cuts) + 1)]
    labels = list(map(label_of, values.tolist())) if len(values) == len(centers) else _interval_labels(cuts)
    return Column(factor.name, kind, tuple(labels), missing, tuple(cuts.tolist()), tuple(centers))


def _lower_median(values: FloatArray, counts: FloatArray) -> float:
    cumulative = np.cumsum(counts)
    return float(values[np.searchsorted(cumulative, cumulative[-1] / 2)])


def _interval_labels(cuts: FloatArray) -> list[str]:
    """Name the bins by their bounds, with as few digits as keep the bounds apart."""
    digits = next((d for d in range(4, 17) if len({f"{cut:.{d}g}" for cut in cuts}) == len(cuts)), 17)
    texts = [f"{cut:.{digits}g}" for cut in cuts]
    between = [f"({low}, {high}]" for low, high in pairwise(texts)]
    return [f"<= {texts[0]}", *between, f"> {texts[-1]}"]
