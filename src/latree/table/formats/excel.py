"""Reading the first visible sheet of an Excel file with openpyxl."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from latree._util.words import plural, quoted
from latree.errors import InputError
from latree.table.formats import FileFormat, Files
from latree.table.formats.foreign import Parcel, packed_columns, read_apart, unpacked_columns
from latree.table.raw import RawColumn, check_header, from_objects, from_values, label_of
from latree.table.sources import LocalSource, memory_source

# The most columns of a sheet, and letters of a cell.
_MAX_COLUMNS, _MAX_LETTERS = 2**14, 2**15 - 1
# Cells of formulas that have no result.
_ERRORS = frozenset(
    f"#{name}"
    for name in (
        *("N/A", "DIV/0!", "VALUE!", "REF!", "NAME?", "NUM!", "NULL!", "GETTING_DATA", "SPILL!", "CALC!", "FIELD!"),
        *("BLOCKED!", "CONNECT!", "UNKNOWN!", "BUSY!", "EXTERNAL!", "PYTHON!"),
    )
)
_FORMULA = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}f"


def excel_source(files: Files) -> LocalSource:
    """Return a source of the rows of the first visible sheet, whose first row names the columns.

    Empty rows are ignored. Errors such as #N/A are missing.
    """
    path = files.path
    try:
        import openpyxl  # noqa: F401
    except ModuleNotFoundError:
        raise InputError(f"{path}: Excel files need openpyxl: pip install openpyxl") from None
    parcel = read_apart(_parse, path, what="an Excel file", remedy="save it again")
    source = memory_source(str(path), unpacked_columns(path, parcel))
    return replace(source, remarks=tuple(map(str, parcel.facts["remarks"])))


def _parse(path: Path) -> Parcel:
    """Read the first visible sheet, in a child process."""
    import openpyxl

    with path.open("rb") as stream:
        book = openpyxl.load_workbook(stream, read_only=True, data_only=True)
        visible = [sheet for sheet in book.worksheets if sheet.sheet_state == "visible"]
        if not visible:
            raise InputError(f"{path}: all its sheets are hidden: unhide the one to read, and save the file")
        sheet, hidden = visible[0], [one.title for one in book.worksheets[: book.worksheets.index(visible[0])]]
        remarks = []
        if hidden:
            remarks.append(f"The sheet {quoted(sheet.title)} is read, the first visible one ({quoted(hidden[0])} is)")
        rows, more = _cells(path, sheet)
    if not rows:
        raise InputError(f"{path}: the first sheet is empty; its first row must name the columns")
    header, *cells = rows
    n_columns = 1 + max(place for row in rows for place in row)
    names = [label_of(header.get(place)).strip() for place in range(n_columns)]
    check_header(names, str(path))
    columns = [_raw_column(name, [row.get(place) for row in cells]) for place, name in enumerate(names)]
    return packed_columns(columns, remarks=[*remarks, *more])


def _cells(path: Path, sheet: Any) -> tuple[list[Mapping[int, Any]], list[str]]:
    """Return the rows of a sheet that are not empty, each with its cells by their places, and what is odd about them.

    What the file says about the size of the sheet is not trusted, and cells that are only formatted are ignored.
    """
    rows: list[Mapping[int, Any]] = []
    errors: list[str] = []
    n_unknown = 0
    for row in _parsed_rows(sheet):
        kept = {}
        for cell in row:
            value, place = cell["value"], cell["column"] - 1
            if value in _ERRORS:
                errors.append(value)
            elif value is _UNKNOWN:
                n_unknown += 1
            elif value not in (None, ""):
                if not 0 <= place < _MAX_COLUMNS:
                    raise InputError(f"{path}: a cell is in column {place + 1}, and Excel has {_MAX_COLUMNS}: move it")
                if isinstance(value, str) and len(value) > _MAX_LETTERS:
                    raise InputError(f"{path}: a cell has {len(value)} letters, more than {_MAX_LETTERS}: shorten it")
                kept[place] = value
        if kept:
            rows.append(kept)
    remarks = []
    if errors:
        kinds = ", ".join(sorted(set(errors)))
        remarks.append(f"{plural(len(errors), 'cell')} with an error of Excel ({kinds}) {_is(len(errors))} missing")
    if n_unknown:
        remarks.append(
            f"{plural(n_unknown, 'cell')} with a formula {_has(n_unknown)} no result in the file, and {_is(n_unknown)} "
            "missing. To store the results, open the file in Excel and save it"
        )
    return rows, remarks


# The value of a cell with a formula whose result is not in the file.
_UNKNOWN = object()


def _parsed_rows(sheet: Any) -> Iterator[list[dict[str, Any]]]:
    """Yield the cells of each row as openpyxl finds them in the file, without those that the file does not have."""
    from openpyxl.worksheet._reader import WorkSheetParser

    class Parser(WorkSheetParser):  # type: ignore[misc]
        def parse_cell(self, element: Any) -> dict[str, Any]:
            cell: dict[str, Any] = super().parse_cell(element)
            if cell["value"] is None and element.find(_FORMULA) is not None:
                cell["value"] = _UNKNOWN
            return cell

    book = sheet.parent
    with sheet._get_source() as source:
        parser = Parser(
            source,
            sheet._shared_strings,
            data_only=True,
            epoch=book.epoch,
            date_formats=book._date_formats,
            timedelta_formats=book._timedelta_formats,
        )
        yield from (cells for _, cells in parser.parse())


def _is(number: int) -> str:
    return "is" if number == 1 else "are"


def _has(number: int) -> str:
    return "has" if number == 1 else "have"


def _raw_column(name: str, cells: Sequence[Any]) -> RawColumn:
    """Make a raw column of cells: of numbers, booleans or dates, if all are, and of texts otherwise."""
    if cells and all(isinstance(cell, bool) for cell in cells):
        return from_values(name, np.array(cells))
    if all(cell is None or (isinstance(cell, int | float) and not isinstance(cell, bool)) for cell in cells):
        try:
            return from_values(name, np.array([math.nan if cell is None else cell for cell in cells], dtype=np.float64))
        except OverflowError:  # a whole number that no float can hold
            pass
    return from_objects(name, cells)


FORMATS = (FileFormat("xlsx", "Excel", (".xlsx", ".xlsm"), excel_source, "see [Excel](#excel)", "excel"),)
