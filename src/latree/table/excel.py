"""Reading the first sheet of an Excel file with openpyxl."""

import math
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from latree._util.files import readable
from latree.errors import InputError
from latree.table.raw import RawColumn, check_header, from_texts, from_values, label_of
from latree.table.sources import LocalSource, memory_source


def excel_source(path: Path) -> LocalSource:
    """Return a source of the rows of the first sheet, whose first row names the columns; empty rows are ignored."""
    rows = [row for row in _read(path) if any(cell not in (None, "") for cell in row)]
    if not rows:
        raise InputError(f"{path}: the first sheet is empty; its first row must name the columns")
    # Columns without a name and without any cell are only formatted.
    n_columns = max(place + 1 for row in rows for place, cell in enumerate(row) if cell not in (None, ""))
    names = [label_of(cell).strip() for cell in [*rows[0], *[None] * n_columns][:n_columns]]
    check_header(names, str(path))
    columns = ([row[j] if j < len(row) else None for row in rows[1:]] for j in range(n_columns))
    return memory_source(str(path), [_raw_column(name, cells) for name, cells in zip(names, columns, strict=True)])


def _read(path: Path) -> list[tuple[Any, ...]]:
    """Return the cells of the first sheet; whatever is wrong with the file becomes an InputError of one line."""
    try:
        import openpyxl
    except ModuleNotFoundError:
        raise InputError(f"{path}: Excel files need openpyxl: pip install openpyxl") from None
    try:
        with readable(path), path.open("rb") as stream, warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about styles and other things that are not read
            book = openpyxl.load_workbook(stream, read_only=True, data_only=True)
            return list(book.worksheets[0].iter_rows(values_only=True)) if book.worksheets else []
    except InputError:
        raise
    except Exception as error:  # damaged files make the library raise nearly anything
        reason = " ".join(str(error).split()) or type(error).__name__
        raise InputError(f"{path}: not an Excel file that can be read ({reason:.120}): save it again") from None


def _raw_column(name: str, cells: Sequence[Any]) -> RawColumn:
    """Make a raw column of cells: of numbers or booleans, if all are, and of texts otherwise."""
    if cells and all(isinstance(cell, bool) for cell in cells):
        return from_values(name, np.array(cells))
    if all(cell is None or (isinstance(cell, int | float) and not isinstance(cell, bool)) for cell in cells):
        try:
            return from_values(name, np.array([math.nan if cell is None else cell for cell in cells], dtype=np.float64))
        except OverflowError:  # a whole number that no float can hold
            pass
    return from_texts(name, [label_of(cell) for cell in cells])
