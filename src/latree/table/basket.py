"""Baskets: one line per transaction, which lists what is in it."""

import csv
from collections import Counter, defaultdict
from collections.abc import Sequence
from itertools import count
from pathlib import Path

import numpy as np
from scipy.sparse import coo_array

from latree.errors import InputError
from latree.table.sparse import SparseSource, sparse_source
from latree.table.textfile import bad_line, text_lines

# The separators of items that are looked for; if there are none, blanks separate items.
_SEPARATORS = ",;\t"


def basket_source(path: Path, counts: bool) -> SparseSource:
    """Return a source of baskets: a column for each item, in the order in which they first appear.

    Blank lines are ignored. An item that a line names twice is counted twice, if counts are used. New baskets need not
    have all items of a model.
    """
    number_of: defaultdict[str, int] = defaultdict(count().__next__)
    rows: list[int] = []
    items: list[int] = []
    lines = [(number, line) for number, line in enumerate(text_lines(path), start=1) if line.strip()]
    if not lines:
        raise InputError(f"{path}: the file is empty; every line must list the items of a basket")
    separator = _separator([line for _, line in lines])
    for row, (number, line) in enumerate(lines):
        for item in _items(path, number, line, separator):
            rows.append(row)
            items.append(number_of[item])
    if not items:
        raise InputError(f"{path}: no items, only separators; every line must list the items of a basket")
    matrix = coo_array((np.ones(len(items), dtype=np.int64), (rows, items)), shape=(len(lines), len(number_of)))
    return sparse_source(str(path), matrix, list(number_of), counts, "items")


def _separator(lines: Sequence[str]) -> str | None:
    """Return the separator that most lines have; None for blanks."""
    times = Counter(sign for line in lines for sign in _SEPARATORS if sign in line)
    return max(_SEPARATORS, key=lambda sign: times[sign]) if times else None


def _items(path: Path, number: int, line: str, separator: str | None) -> list[str]:
    """Return the items of a line; an item in quotes may have separators in it."""
    try:
        cells = line.split() if separator is None else next(csv.reader([line], delimiter=separator, strict=True))
    except csv.Error as error:
        raise bad_line(path, number, f"{line!r:.40} cannot be divided ({error})", "check its quotes") from None
    return [item for cell in cells if (item := cell.strip())]
