"""Where raw rows come from, their weights and their names.

Learning columns and encoding cells are passes over the batches. Data in memory are one batch. Files are read in batches
of about two million cells, or of 256 rows if these are more, and large files are read again at every pass.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from operator import add
from typing import Any, Literal, NamedTuple, TypeAlias, TypeVar

import numpy as np

from latree._util.arrays import FloatArray, IntArray
from latree._util.words import quoted, setting
from latree._util.workers import map_ordered
from latree.errors import InputError
from latree.table.columns import (
    Column,
    Unseen,
    code_type,
    encode_column,
    has_bins,
    number_too_large,
    parse_numbers,
    read_numbers,
)
from latree.table.raw import RawColumn
from latree.table.rows import Block, MemoryRows, Rows, concatenate, store_blocks

# Raw cells that are read from a file at once.
BATCH_CELLS = 2**21
# Tables with more columns than this have larger batches, of 256 rows: some work is done for every column of every
# batch, however few rows it has.
_MAX_BATCH_COLUMNS = 2**13
# Batches of files are kept in memory if they take at most this many bytes, so that small files are read only once.
_CACHE_BYTES = 2**28
# Estimated bytes of a distinct text in memory: a Python string and its place in the array.
_TEXT_BYTES = 100

Result = TypeVar("Result")
Names: TypeAlias = Sequence[str] | None  # columns to read; None for all
# What weights of rows are: numbers of equal rows; or weights of a survey. The latter say how many people a row stands
# for, and nothing about the number of rows.
WeightsAre: TypeAlias = Literal["counts", "survey"]
# How the columns of a model are found in other data: by their names; by their positions, where data have no names; or
# as items, of which data name only those that are there somewhere.
Matching: TypeAlias = Literal["names", "positions", "items"]


class RawBatch(NamedTuple):
    """Some consecutive rows of raw data: columns by name, and one weight per row or None."""

    columns: Mapping[str, RawColumn]
    weights: FloatArray | None


@dataclass(frozen=True)
class Encoder:
    """Encodes batches of raw cells as codes of known columns.

    Attributes
    ----------
    columns : tuple of Column
    names : tuple of str
        The names of these columns in the data.
    unseen : {"warn", "error", "missing"}
        What to do with a category that a column does not have.
    """

    columns: tuple[Column, ...]
    names: tuple[str, ...]
    unseen: Unseen

    def __call__(self, batch: RawBatch) -> Block:
        """Encode a batch."""
        dtype = code_type(self.columns)
        n_rows = count_rows(batch.columns.values()) if self.names else 0
        codes = np.empty((n_rows, len(self.names)), dtype=dtype, order="F")
        inside = np.zeros(n_rows) if has_bins(self.columns) else None
        for j, (column, name) in enumerate(zip(self.columns, self.names, strict=True)):
            cells = encode_column(column, batch.columns[name], self.unseen)
            codes[:, j] = np.where(cells.codes < 0, np.iinfo(dtype).max, cells.codes)
            if inside is not None and cells.inside is not None:
                inside += cells.inside
        return Block(codes, batch.weights, inside=inside)


class WeightSums(NamedTuple):
    """Sums over the weights of some rows.

    They are relative to the largest weight: sums of very large or very small numbers would be infinite or zero.
    """

    n_rows: int
    n_fractional: int  # weights that are not whole numbers
    largest: float
    total: float
    squares: float

    @classmethod
    def of(cls, weights: FloatArray) -> "WeightSums":
        """Add up some weights."""
        largest = float(weights.max(initial=0.0))
        relative = weights / (largest or 1.0)
        n_fractional = int(np.count_nonzero(weights % 1))
        return cls(len(weights), n_fractional, largest, float(relative.sum()), float(relative @ relative))

    def merge(self, other: "WeightSums") -> "WeightSums":
        """Merge the sums over two sets of rows."""
        largest = max(self.largest, other.largest)
        one, two = self.largest / (largest or 1.0), other.largest / (largest or 1.0)
        return WeightSums(
            self.n_rows + other.n_rows,
            self.n_fractional + other.n_fractional,
            largest,
            one * self.total + two * other.total,
            one**2 * self.squares + two**2 * other.squares,
        )

    def survey(self, weights: FloatArray) -> FloatArray:
        """Return weights of a survey, scaled so that they add up to the effective number of rows of Kish (1965).

        It is ``(Σ w)² / Σ w²``: the number of rows of equal weight that say as much as these. The variance of a
        weighted mean of these rows is that of a plain mean of so many rows.
        """
        if not len(weights):
            return weights
        # Single precision makes numbers equal that rounding made different: weights that are multiplied by a constant
        # give the same result to the last bit. The product of two such numbers is exact.
        relative, factor = (weights / self.largest).astype(np.float32), np.float32(self.total / self.squares)
        return relative.astype(np.float64) * float(factor)


@dataclass(frozen=True)
class RowWeights:
    """Where the weights of the rows come from: a column, or an array.

    Attributes
    ----------
    column : str or None
        Name of the column that holds the weights.
    array : array of float or None
        The weights themselves, if they are not in a column.
    missing : tuple of str
        Cells of the column that mean missing.
    are : {"counts", "survey"} or None
        What the weights are; None if nobody said it. They count as rows then.
    sums : WeightSums or None
        The sums over all rows, once they are known: weights of a survey are scaled by them.
    """

    column: str | None
    array: FloatArray | None
    missing: tuple[str, ...]
    are: WeightsAre | None = None
    sums: WeightSums | None = None

    def for_batch(self, columns: Mapping[str, RawColumn], start: int | None) -> FloatArray:
        """Return the weights of a batch; raise if one is not a valid weight.

        ``start`` is the number of the first row of the batch, or None where that is not known.
        """
        if self.column is None:
            assert self.array is not None
            first = start or 0
            weights = self.array[first : first + count_rows(columns.values())]
        else:
            raw = columns[self.column]
            numbers, text, overflow = parse_numbers(raw, self.missing)
            if text is not None:
                raise InputError(f"{self.name}: {text!r:.60} is not a number: correct it, or choose another column")
            if overflow is not None:
                raise number_too_large(self.column, overflow)
            weights = numbers[raw.codes]
        bad = np.flatnonzero(~(np.isfinite(weights) & (weights >= 0)))
        if len(bad):
            row = "a row" if start is None else f"row {start + bad[0] + 1}"
            weight = weights[bad[0]]
            value = "no weight" if np.isnan(weight) else f"weight {weight:g}"
            raise InputError(f"{self.name}: {row} has {value}; every row needs a finite weight that is not negative")
        return self.sums.survey(weights) if self.are == "survey" and self.sums is not None else weights

    @property
    def facts(self) -> dict[str, Any] | None:
        """What they are, and what that means; see :func:`weights_facts`."""
        assert self.sums is not None
        total = self.sums.total**2 / self.sums.squares if self.are == "survey" else self.sums.largest * self.sums.total
        return weights_facts(self.column, self.are or "counts", self.sums.n_rows, total)

    @property
    def name(self) -> str:
        """The name of the weights in messages."""
        return "weights" if self.column is None else f"weight column {self.column!r}"


def weights_facts(column: str | None, are: str | None, n_rows: int, total: float) -> dict[str, Any] | None:
    """Return what the weights of rows are, and what that means, as plain data; None if rows have none.

    Parameters
    ----------
    column : str or None
        Where they are, if that is a column.
    are : {"counts", "survey"} or None
    n_rows : int
    total : float
        What these rows count as.
    """
    if are is None:
        return None
    where = f" of column {quoted(column)}" if column else ""
    if are == "survey":
        meaning = (
            f"The survey weights{where} are scaled to the effective number of rows (Kish): {n_rows} rows count as "
            f"{total:.1f}. If a weight is a number of equal rows, use {setting('weights_are', 'counts')}."
        )
    else:
        meaning = f"The weights{where} are numbers of rows: {n_rows} rows count as {total:g}."
    return {"column": column, "are": are, "effective_rows": total, "meaning": meaning}


def if_survey() -> str:
    """Return what to do if weights that count as rows were meant as weights of a survey."""
    return f"if they are weights of a survey, use {setting('weights_are', 'survey')}"


def batch_rows(n_columns: int) -> int:
    """Return the number of rows to read at once from a file with this many columns."""
    return max(1, BATCH_CELLS // max(1, min(n_columns, _MAX_BATCH_COLUMNS)))


def count_rows(columns: Iterable[RawColumn]) -> int:
    """Return the number of rows of raw columns."""
    return max((len(raw.codes) for raw in columns), default=0)


def raw_batch(columns: Iterable[RawColumn], weights: RowWeights | None, start: int | None) -> RawBatch:
    """Make a batch of raw columns and their weights; ``start`` is the number of its first row, if known."""
    by_name = {raw.name: raw for raw in columns}
    return RawBatch(by_name, None if weights is None else weights.for_batch(by_name, start))


@dataclass(frozen=True)
class RowSource(ABC):
    """Raw rows of any form.

    Attributes
    ----------
    where : str
        Name of the data in messages.
    names : tuple of str
        Names of the columns, without that of the weights.
    weights : RowWeights or None
    matching : {"names", "positions", "items"}
        How the columns of a model are found in these data.
    descriptions : mapping of str to str
        A longer text about some of the columns, by their names.
    remarks : tuple of str
        What a reader of the data should know about how they were read: sentences without their last full stop.
    """

    where: str
    names: tuple[str, ...]
    weights: RowWeights | None
    matching: Matching = field(default="names", kw_only=True)
    descriptions: Mapping[str, str] = field(default_factory=dict, kw_only=True)
    remarks: tuple[str, ...] = field(default=(), kw_only=True)

    @abstractmethod
    def reduce(
        self, measure: Callable[[RawBatch], Result], merge: Callable[[Result, Result], Result], names: Names
    ) -> Result:
        """Apply ``measure`` to all batches, and merge the results."""

    @abstractmethod
    def store(self, encode: Encoder, names: Names) -> Rows:
        """Encode all batches, and keep the codes as rows of a table."""

    @abstractmethod
    def take(self, rows: IntArray, names: Sequence[str]) -> Sequence[Mapping[str, RawColumn]]:
        """Return the cells of some columns in rows with these numbers, which increase, in parts of their order."""

    def n_rows(self) -> int:
        """Count the rows."""
        return int(self.reduce(lambda batch: count_rows(batch.columns.values()), add, self.names[:1]))

    def with_weights(self, weights: RowWeights) -> "RowSource":
        """Return the same data with weights."""
        names = tuple(name for name in self.names if name != weights.column)
        return replace(self, names=names, weights=weights)

    def _names_to_read(self, names: Names) -> Names:
        """Return the names of these columns and of the weight column, if there is one."""
        if names is None or self.weights is None or self.weights.column is None:
            return names
        return [*names, self.weights.column]


@dataclass(frozen=True)
class LocalSource(RowSource):
    """Data that this process reads.

    Attributes
    ----------
    read : callable
        From the names of columns to batches of these columns, maybe with others. Yields at least one batch, which may
        be empty.
    may_go_to_disk : bool
        Whether many codes go to disk. Codes of data that are in memory do not.
    """

    read: Callable[[Names], Iterator[list[RawColumn]]]
    may_go_to_disk: bool = False

    def reduce(
        self, measure: Callable[[RawBatch], Result], merge: Callable[[Result, Result], Result], names: Names
    ) -> Result:
        """Apply ``measure`` to all batches, and merge the results in order."""
        return reduce(merge, map_ordered(measure, self.batches(names)))

    def store(self, encode: Encoder, names: Names) -> Rows:
        """Encode all batches, and keep the codes in memory or on disk."""
        blocks = map_ordered(encode, self.batches(names))
        return store_blocks(blocks) if self.may_go_to_disk else MemoryRows.from_block(concatenate(blocks))

    def take(self, rows: IntArray, names: Sequence[str]) -> Sequence[Mapping[str, RawColumn]]:
        """Return the cells of some columns in rows with these numbers, which increase, in parts of their order."""
        return take_cells(self.read(list(names)), rows, names)

    def batches(self, names: Names) -> Iterator[RawBatch]:
        """Yield the batches in order."""
        start = 0
        for columns in self.read(self._names_to_read(names)):
            yield raw_batch(columns, self.weights, start)
            start += count_rows(columns)


def memory_source(where: str, columns: list[RawColumn], matching: Matching = "names") -> LocalSource:
    """Return a source of data that are all in memory."""
    names = tuple(raw.name for raw in columns)
    return LocalSource(where, names, None, lambda names: iter([columns]), matching=matching)


def file_source(where: str, names: Sequence[str], read: Callable[[Names], Iterator[list[RawColumn]]]) -> LocalSource:
    """Return a source of data in files; the batches of small files are kept in memory."""
    return LocalSource(where, tuple(names), None, _CachingReader(read), may_go_to_disk=True)


class _CachingReader:
    """Reads batches; after the first pass over all columns from memory, if they are not too large."""

    def __init__(self, read: Callable[[Names], Iterator[list[RawColumn]]]) -> None:
        self._read = read
        self._cached: list[list[RawColumn]] | None = None

    def __call__(self, names: Names) -> Iterator[list[RawColumn]]:
        if self._cached is not None:
            yield from self._cached
            return
        batches: list[list[RawColumn]] = []
        bytes_left = _CACHE_BYTES if names is None else -1
        for columns in self._read(names):
            bytes_left -= sum(_estimated_bytes(raw) for raw in columns)
            if bytes_left >= 0:
                batches.append(columns)
            else:
                batches.clear()
            yield columns
        if bytes_left >= 0:
            self._cached = batches


def _estimated_bytes(raw: RawColumn) -> int:
    """Estimate how many bytes a raw column takes."""
    return raw.codes.nbytes + len(raw.values) * (_TEXT_BYTES if raw.is_text else raw.values.itemsize)


@dataclass(frozen=True)
class RowNames:
    """The column that names the rows, which is not learned from.

    Attributes
    ----------
    column : str
        Its name.
    data : RawColumn, RowSource or callable
        Its cells, or the data, or a function that opens the data again: the names of the rows of a large file would
        take more memory than its codes.
    """

    column: str
    data: "RawColumn | RowSource | Callable[[], RowSource]"

    def of(self, rows: IntArray) -> list[str]:
        """Return the names of the rows with these numbers."""
        if isinstance(self.data, RawColumn):
            return texts_of(self.data, rows)
        source = self.data if isinstance(self.data, RowSource) else self.data()
        wanted, position = np.unique(rows, return_inverse=True)
        found = [
            text
            for part in source.take(wanted, [self.column])
            for text in texts_of(part[self.column], np.arange(len(part[self.column].codes)))
        ]
        return [found[place] for place in position.tolist()]


@dataclass(frozen=True)
class RawRows:
    """The data that a table was made from, which are opened again for what codes do not tell.

    Attributes
    ----------
    open : callable
        Returns the source of the rows.
    names : tuple of str
        What the data call the columns of the table.
    unseen : {"warn", "error", "missing"}
        What was done with values that columns do not have.
    """

    open: Callable[[], RowSource]
    names: tuple[str, ...]
    unseen: Unseen

    def numbers(self, columns: Sequence[Column], rows: IntArray) -> FloatArray:
        """Return the numbers of some rows in columns with bins, and NaN in others."""
        names = dict(zip(self.names, columns, strict=True))
        binned = [name for name, column in names.items() if column.density is not None]
        wanted, position = np.unique(rows, return_inverse=True)
        parts = [numbers_in_cells(names, cells, self.unseen) for cells in self.open().take(wanted, binned)]
        return np.concatenate(parts)[position]


def numbers_in_cells(columns: Mapping[str, Column], cells: Mapping[str, RawColumn], unseen: Unseen) -> FloatArray:
    """Return the numbers of rows in columns with bins, and NaN in others, by their names in the data.

    The cells were encoded before: what is odd about them was said then.
    """
    unseen = "missing" if unseen == "warn" else unseen
    found = np.full((count_rows(cells.values()), len(columns)), np.nan)
    for j, (name, column) in enumerate(columns.items()):
        if name in cells and column.density is not None:
            found[:, j] = read_numbers(column, cells[name], unseen)[cells[name].codes]
    return found


def take_cells(
    batches: Iterable[Iterable[RawColumn]], rows: IntArray, names: Sequence[str]
) -> list[dict[str, RawColumn]]:
    """Return the cells of some columns in rows with these numbers, which increase, batch by batch."""
    wanted = set(names)
    found = []
    start = 0
    for batch in batches:
        columns = [raw for raw in batch if raw.name in wanted]
        stop = start + count_rows(columns)
        here = rows[(rows >= start) & (rows < stop)] - start
        found.append({raw.name: replace(raw, codes=raw.codes[here]) for raw in columns})
        start = stop
    return found


def texts_of(raw: RawColumn, rows: IntArray) -> list[str]:
    """Return the texts of some cells of a raw column."""
    labels = raw.labels()
    return [labels[code] for code in raw.codes[rows].tolist()]
