"""Two tables with the same columns as one array of numbers: what they hold themselves, without bins."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from latree._util.arrays import FloatArray, IntArray
from latree._util.words import quoted
from latree.errors import InputError
from latree.table import Table
from latree.table.clock import Clock, common_clock
from latree.table.columns import is_missing, number_label, parse_numbers, parse_times
from latree.table.raw import RawColumn
from latree.table.reading import Reading, errors_naming, open_data
from latree.table.sources import LocalSource, count_rows
from latree.table.summary import clock_of

BoolArray: TypeAlias = NDArray[np.bool_]
# Fewer rows of a table say nothing: five folds of a classifier would have one row of it each.
MIN_ROWS = 10


_Only: TypeAlias = tuple[tuple[str, ...], tuple[str, ...]]


@dataclass(frozen=True)
class Stacked:
    """The rows of two tables, one below the other.

    Attributes
    ----------
    names : tuple of str
    cells : array of shape (rows, columns)
        Numbers, or the positions of texts in their sorted list; NaN where a cell is missing.
    is_number : array of bool
        Whether the cells of a column are numbers; dates and times are.
    is_drawn : array of bool
        Whether a row is of the second table.
    only : tuple
        The columns that only the first table has, and those that only the second one has; both are left out.
    """

    names: tuple[str, ...]
    cells: FloatArray
    is_number: BoolArray
    is_drawn: BoolArray
    only: _Only = ((), ())

    @property
    def real(self) -> FloatArray:
        """The rows of the first table."""
        return self.cells[~self.is_drawn]

    @property
    def drawn(self) -> FloatArray:
        """The rows of the second table."""
        return self.cells[self.is_drawn]

    def at_most(self, rows: int, rng: np.random.Generator) -> "Stacked":
        """Return random rows, at most so many of each table."""
        chosen = [np.flatnonzero(self.is_drawn == drawn) for drawn in (False, True)]
        kept = [np.sort(rng.choice(part, rows, replace=False)) if len(part) > rows else part for part in chosen]
        where = np.concatenate(kept)
        return Stacked(self.names, self.cells[where], self.is_number, self.is_drawn[where])


_Kind: TypeAlias = Literal["numbers", "times", "booleans", "texts", "empty"]


class _Cells(NamedTuple):
    """The cells of a column of one table.

    Attributes
    ----------
    kind : {"numbers", "times", "booleans", "texts", "empty"}
    numbers : array of float
        NaN where a cell is missing or not a number; booleans are 0 and 1, dates and times are seconds.
    labels : array of str
        Empty where a cell is missing.
    text : str
        A cell that is not a number, if there is one.
    """

    kind: _Kind
    numbers: FloatArray
    labels: NDArray[Any]
    text: str

    def in_words(self) -> str:
        """Return what the cells are."""
        of_kind = {"times": "dates or times", "booleans": "true or false", "texts": f"texts such as {self.text!r:.40}"}
        return of_kind.get(self.kind, self.kind)


def stack(real: Any, drawn: Any, reading: Reading) -> Stacked:
    """Read two tables and put the rows of the second below those of the first."""
    tables = [_open(data, f"the {which} table", reading) for data, which in ((real, "real"), (drawn, "drawn"))]
    names, only = _common_names(tables, reading)
    read = [_read(table, names, reading) for table in tables]
    rows = [len(cells[0].numbers) for cells in read]
    for table, n_rows in zip(tables, rows, strict=True):
        if n_rows < MIN_ROWS:
            raise InputError(f"{table.where}: {n_rows} rows: a comparison needs at least {MIN_ROWS} rows of each table")
    wheres = [table.where for table in tables]
    columns = [_joined(name, one, two, wheres) for name, one, two in zip(names, *read, strict=True)]
    is_number = np.array([kind for kind, _ in columns])
    is_drawn = np.arange(sum(rows)) >= rows[0]
    return Stacked(tuple(names), np.column_stack([cells for _, cells in columns]), is_number, is_drawn, only)


class _Opened(NamedTuple):
    """One of the two tables: how messages call it, and its rows."""

    where: str
    source: LocalSource


def _open(data: Any, name: str, reading: Reading) -> _Opened:
    if isinstance(data, Table):
        raise InputError(f"{name} is a latree.Table, which has codes for its cells: pass the data themselves")
    where = str(data) if isinstance(data, str | Path) else name
    with errors_naming(where):
        source = open_data(data, None, None, reading, None)
    if not isinstance(source, LocalSource):
        raise InputError(f"{where}: its rows are on a cluster: pass a part of them that is in memory")
    return _Opened(where, source)


def _common_names(tables: Sequence[_Opened], reading: Reading) -> tuple[list[str], _Only]:
    """Return the names of the columns to compare, and those of each table that the other one does not have."""
    known = {name for table in tables for name in table.source.names}
    for name in (*reading.drop, *(reading.keep or ()), *([reading.identifier] if reading.identifier else ())):
        if name not in known:
            raise InputError(f"there is no column {quoted(name)} in {tables[0].where} or {tables[1].where}")
    one, two = (reading.select(table.source.names) for table in tables)
    only = tuple(name for name in one if name not in set(two)), tuple(name for name in two if name not in set(one))
    common = [name for name in one if name not in only[0]]
    wheres = [table.where for table in tables]
    if not common or (len(common) == 1 and any(only)):
        shared = f"only the column {quoted(common[0])}" if common else "no column"
        raise InputError(f"{wheres[0]} and {wheres[1]} have {shared} in common to compare: two are needed")
    return common, only


def _read(table: _Opened, names: Sequence[str], reading: Reading) -> list[_Cells]:
    with errors_naming(table.where):
        batches = [batch.columns for batch in table.source.batches(names)]
        if not sum(count_rows(columns.values()) for columns in batches):
            raise InputError("no rows, only column names: add rows")
        return [_cells([columns[name] for columns in batches], reading.marks) for name in names]


def _cells(parts: Sequence[RawColumn], marks: tuple[str, ...]) -> _Cells:
    """Return the cells of a column, which was read in parts."""
    clock = _common_clock(parts, marks)
    numbers, labels, texts = [], [], []
    for raw in parts:
        parsed = parse_numbers(raw, marks) if clock is None else parse_times(raw, marks, clock)
        if parsed.overflow is not None:
            raise InputError(f"column {raw.name!r}: the number {parsed.overflow!r:.60} is too large: correct it")
        if raw.values.dtype == bool:
            parsed = parsed._replace(values=raw.values.astype(float))
        elif parsed.text is not None:
            texts.append(parsed.text)
        own = np.array([number_label(label) for label in raw.labels()], dtype=object)
        own[[is_missing(label, marks) for label in own]] = ""
        numbers.append(parsed.values[raw.codes])
        labels.append(own[raw.codes])
    joined = np.concatenate(numbers)
    kind: _Kind = "numbers" if clock is None else "times"
    if texts or np.isnan(joined).all():
        kind = "texts" if texts else "empty"
    elif any(raw.values.dtype == bool for raw in parts):
        kind = "booleans"
    return _Cells(kind, joined, np.concatenate(labels), texts[0] if texts else "")


def _common_clock(parts: Iterable[RawColumn], marks: tuple[str, ...]) -> Clock | None:
    """Return what the cells of a column show, if all of them are dates or times."""
    filled = [raw for raw in parts if not all(is_missing(label, marks) for label in raw.labels())]
    clocks = [clock_of(raw, marks) for raw in filled]
    known = {clock for clock in clocks if clock is not None}
    return common_clock(known) if known and None not in clocks else None


def _joined(name: str, real: _Cells, drawn: _Cells, wheres: Sequence[str]) -> tuple[bool, FloatArray]:
    """Return whether a column holds numbers, and the cells of both tables."""
    kinds = {real.kind, drawn.kind} - {"empty"}
    # A yes or no may be True in one table and 1 in the other.
    if kinds == {"times"} or ("numbers" in kinds and kinds <= {"numbers", "booleans"}):
        return True, np.concatenate([real.numbers, drawn.numbers])
    labels, codes = np.unique(np.concatenate([real.labels, drawn.labels]), return_inverse=True)
    if len(kinds) > 1 and kinds != {"booleans", "texts"} and not set(real.labels) & set(drawn.labels) - {""}:
        hold = " and ".join(f"{one.in_words()} in {where}" for one, where in zip((real, drawn), wheres, strict=True))
        raise InputError(f"column {name!r} has {hold}: make both the same")
    return False, np.where(labels[codes] == "", np.nan, codes.astype(np.float64))


def distinct_codes(cells: FloatArray) -> tuple[IntArray, int]:
    """Return the number of each cell's value among the sorted values of a column, -1 if missing; and how many."""
    values, codes = np.unique(cells, return_inverse=True)  # NaN comes last, once
    n_values = int((~np.isnan(values)).sum())
    return np.where(np.isnan(cells), -1, codes).astype(np.intp), n_values
