"""Rows of codes: the chunks and blocks they fall into, how results over them are added up, rows in memory and on disk.

Rows fall into chunks, and chunks into blocks. Their bounds depend only on the number of columns and on the statistic. A
statistic is added up over the blocks of a chunk in order, and over chunks in groups of fixed size. So the sums are the
same to the last bit wherever the rows are, and however many threads or machines share the work.
"""

import tempfile
import threading
import weakref
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from itertools import count, groupby
from typing import Any, NamedTuple, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from latree._util.arrays import CodeArray, FloatArray, IntArray
from latree._util.progress import Progress
from latree._util.workers import map_forked, map_ordered
from latree.errors import InputError

# Rows of a block: few enough that the messages of a block stay in the cache, and enough that the overhead of each NumPy
# call does not matter.
BLOCK_ROWS = 2048
# Cells of a chunk, which is read from disk or sent to a worker as a whole: 8 MB of one-byte codes.
CHUNK_CELLS = 2**23
# Number of sums that are added at a time: first sums of chunks, then sums of these sums, and so on.
FAN_IN = 16
# Rows are hashed with random multipliers below this number.
_HASH_RANGE = 2**64
# Merging equal rows is worth it if the distinct rows are at most this share of all rows.
_MAX_DISTINCT_SHARE = 0.75
# Cells of distinct rows that are kept in memory; with more, rows are not merged.
_DISTINCT_CELLS = 2 * CHUNK_CELLS


class Block(NamedTuple):
    """Some consecutive rows of a table: the argument of a statistic that :meth:`Table.sum` adds up.

    Attributes
    ----------
    codes : array of uint8 or uint16
        One row per row, one column per column. The largest value of the type means missing.
    weights : array of float or None
        One weight per row; None where every row counts once.
    number : int or None
        A number that is the same for the same rows of a table in every sum, or None where there is no such number.
    inside : array of float or None
        The log density of each row's numbers inside their bins, added up over the columns with bins; None where there
        are no such columns, or where the numbers are not known.

    Examples
    --------
    >>> from latree import as_table
    >>> table = as_table([[0, 1], [1, 1], [1, 0]])
    >>> table.sum(lambda block: block.codes.sum(axis=0)).tolist()
    [2, 2]
    """

    codes: CodeArray
    weights: FloatArray | None
    number: int | None = None
    inside: FloatArray | None = None


Sums: TypeAlias = NDArray[Any] | tuple[NDArray[Any], ...]


@dataclass(frozen=True)
class BootstrapSample:
    """Rows drawn with replacement, each with a probability proportional to its weight.

    First the number of rows from each chunk is drawn, then the rows within a chunk. The rows within a chunk depend only
    on the seed, the number of the sample and the position of the chunk, so each machine can draw from its own chunks.

    Attributes
    ----------
    seed : int
    number : int
        Number of the sample among those with the same seed.
    chunk_sizes : tuple of int
        How many rows are drawn from each chunk.
    """

    seed: int
    number: int
    chunk_sizes: tuple[int, ...]

    @classmethod
    def from_weights(cls, chunk_weights: Iterable[float], seed: int, number: int) -> "BootstrapSample":
        """Draw how many rows come from each chunk; the total is the rounded weight of all rows."""
        weights = np.array(list(chunk_weights))
        total = weights.sum()
        rng = np.random.default_rng([seed, number, 0, 1])
        return cls(seed, number, tuple(rng.multinomial(max(1, round(total)), weights / total).tolist()))

    def draw(self, position: int, chunk: Block) -> Block:
        """Draw rows of the chunk at this position; the weight of a row is the number of times it was drawn."""
        rng = np.random.default_rng([self.seed, self.number, position])
        n_rows = len(chunk.codes)
        total = total_weight(chunk)
        if not total:
            return Block(chunk.codes[:0], np.zeros(0))
        probabilities = np.full(n_rows, 1 / n_rows) if chunk.weights is None else chunk.weights / total
        times = rng.multinomial(self.chunk_sizes[position], probabilities)
        return Block(np.asfortranarray(chunk.codes[times > 0]), times[times > 0].astype(np.float64))


def chunk_rows(n_columns: int) -> int:
    """Return the number of rows per chunk: a power of two times BLOCK_ROWS that depends only on the columns."""
    blocks = max(1, CHUNK_CELLS // (BLOCK_ROWS * max(1, n_columns)))
    return BLOCK_ROWS * (1 << (blocks.bit_length() - 1))


def slice_rows(block: Block, rows: slice) -> Block:
    """Return consecutive rows of a block, without copying them."""
    weights, inside = (None if one is None else one[rows] for one in (block.weights, block.inside))
    return Block(block.codes[rows], weights, inside=inside)


def split_rows(block: Block, size: int) -> Iterator[Block]:
    """Cut rows into blocks of this many rows; no rows make one empty block."""
    for start in range(0, max(len(block.codes), 1), size):
        yield slice_rows(block, slice(start, start + size))


def take_rows(block: Block, rows: IntArray) -> Block:
    """Copy the rows with these numbers."""
    weights, inside = (None if one is None else one[rows] for one in (block.weights, block.inside))
    return Block(np.asfortranarray(block.codes[rows]), weights, inside=inside)


def reorder_columns(block: Block, order: IntArray) -> Block:
    """Copy the rows with their columns in another order: column j is the one that had the number ``order[j]``."""
    inside = block.inside if len(order) == block.codes.shape[1] else None  # of some columns it is not known
    return block._replace(codes=np.asfortranarray(block.codes[:, order]), inside=inside)


def concatenate(blocks: Iterable[Block]) -> Block:
    """Put the rows of several blocks into one block."""
    codes, *others = zip(*((block.codes, block.weights, block.inside) for block in blocks), strict=True)
    weights, inside = (None if parts[0] is None else np.concatenate(parts) for parts in others)
    return Block(np.asfortranarray(np.concatenate(codes)), weights, inside=inside)


def split_into_blocks(chunk: Block, max_rows: int | None = None) -> Iterator[Block]:
    """Cut a chunk into blocks of about the same size, of at most ``max_rows`` rows (BLOCK_ROWS by default)."""
    n_rows = len(chunk.codes)
    n_blocks = max(-(-n_rows // (max_rows or BLOCK_ROWS)), 1)
    return split_rows(chunk, max(-(-n_rows // n_blocks), 1))


def distinct_rows(block: Block) -> Block:
    """Merge equal rows: return each once, in order of first occurrence, with the sum of the weights."""
    first, group = _first_occurrences(block.codes)
    weights = np.bincount(group, block.weights, len(first)).astype(float)
    return take_rows(block, first)._replace(weights=weights, inside=None)  # equal bins have different numbers


def merge_distinct(chunks: Iterable[Block], n_rows: int) -> Block | None:
    """Merge equal rows of several chunks, each of which has distinct rows.

    Return None where the distinct rows are nearly as many as all ``n_rows`` rows, or too many for memory.
    """
    kept: list[Block] = []
    cells = 0
    for chunk in chunks:
        kept.append(chunk)
        cells += chunk.codes.size
        if cells > 2 * _DISTINCT_CELLS:
            kept = [distinct_rows(concatenate(kept))]
            cells = kept[0].codes.size
            if cells > _DISTINCT_CELLS:
                return None
    merged = kept[0] if len(kept) == 1 else distinct_rows(concatenate(kept))
    return merged if len(merged.codes) <= _MAX_DISTINCT_SHARE * n_rows else None


def _first_occurrences(codes: CodeArray) -> tuple[IntArray, IntArray]:
    """Return the first row of each group of equal rows, in order, and the group of every row."""
    # The hash of a row is a sum of its codes times random multipliers, modulo 2^64. Hashes sort faster than rows.
    rng = np.random.default_rng(0)
    hashes = np.zeros(len(codes), dtype=np.uint64)
    for column in codes.T:
        hashes += column * rng.integers(_HASH_RANGE, dtype=np.uint64)
    if len(np.unique(hashes)) == len(codes):
        return np.arange(len(codes)), np.arange(len(codes))
    _, first, group = np.unique(hashes, return_index=True, return_inverse=True)
    # If different rows share a hash, compare the rows themselves.
    if any((column[first][group] != column).any() for column in codes.T):
        _, first, group = np.unique(codes, axis=0, return_index=True, return_inverse=True)
    # Groups come sorted by hash: number them by first occurrence instead.
    order = np.argsort(first)
    return first[order], np.argsort(order)[group]


def add(one: Sums, other: Sums) -> Sums:
    """Add two results of a statistic."""
    if isinstance(one, tuple):
        return tuple(a + b for a, b in zip(one, other, strict=True))
    return np.asarray(one + np.asarray(other))


def add_in_groups(results: Iterable[Sums]) -> Sums:
    """Add up results of chunks in groups of FAN_IN, then these sums in groups of FAN_IN, and so on.

    Floating-point sums depend on the order of addition. This order is the same as on a cluster, where each level of
    sums is computed by tasks of its own. At most one unfinished sum per level is kept.
    """
    levels: list[tuple[int, Sums | None]] = []  # of each level: how many results are added up so far, and their sum
    for result in results:
        level = 0
        while True:
            if level == len(levels):
                levels.append((0, None))
            count, total = levels[level]
            result = result if total is None else add(total, result)
            if count + 1 < FAN_IN:
                levels[level] = (count + 1, result)
                break
            # The group is complete: its sum becomes one result of the next level.
            levels[level] = (0, None)
            level += 1
    unfinished = [total for _, total in levels if total is not None]
    return reduce(lambda last, total: add(total, last), unfinished)


def total_weight(block: Block) -> float:
    """Return the sum of the weights of the rows."""
    return float(len(block.codes) if block.weights is None else block.weights.sum())


def count_missing(codes: CodeArray) -> NDArray[np.int64]:
    """Count the missing cells of each column."""
    return np.asarray(np.count_nonzero(codes == missing_code(codes), axis=0), dtype=np.int64)


def missing_code(codes: CodeArray) -> int:
    """Return the code that means missing: the largest value of the type."""
    return int(np.iinfo(codes.dtype).max)


Item = TypeVar("Item")
Outcome = TypeVar("Outcome")


class Rows(ABC):
    """The rows of a table, wherever they are.

    Results must not depend on how the work is distributed: chunks and blocks are fixed and are added in order.
    """

    @property
    @abstractmethod
    def n_rows(self) -> int:
        """Number of rows."""

    @property
    @abstractmethod
    def chunk_weights(self) -> tuple[float, ...]:
        """Weight of each chunk."""

    @abstractmethod
    def sum(self, statistic: Callable[[Block], Sums], block_rows: int | None = None, *, in_turn: bool = False) -> Sums:
        """Add up a statistic over all blocks, which have at most ``block_rows`` rows, in threads or one by one."""

    @abstractmethod
    def map(self, function: Callable[[Block], NDArray[Any]]) -> NDArray[Any]:
        """Apply a function that returns one result per row to all blocks, and concatenate the results."""

    @abstractmethod
    def fetch(self, rows: IntArray) -> Block:
        """Copy the rows with these numbers into memory."""

    @abstractmethod
    def resampled(self, seed: int, number: int) -> "Rows":
        """Return a bootstrap sample of the rows; see :class:`BootstrapSample`."""

    @abstractmethod
    def reordered(self, order: IntArray) -> "Rows":
        """Return the same rows with their columns in another order, given by their numbers of now."""

    def selected(self, columns: IntArray) -> "Rows":
        """Return the same rows with some of their columns, in the same chunks."""
        return self.reordered(columns)

    @abstractmethod
    def distinct(self) -> "Rows":
        """Return rows where equal rows are merged and their weights added, if that makes them much fewer."""

    @abstractmethod
    def run(self, function: Callable[[Item], Outcome], items: Sequence[Item]) -> list[Outcome]:
        """Apply a function to items that take long and are independent of each other, where there are processors.

        Those that take longest come first. The function and the items do not refer to these rows.
        """

    @property
    def total_weight(self) -> float:
        """Sum of the weights of the rows."""
        return float(sum(self.chunk_weights))

    @cached_property
    def n_missing(self) -> NDArray[np.int64]:
        """Number of missing cells of each column."""
        return np.asarray(self.sum(lambda block: count_missing(block.codes)))


class LocalRows(Rows):
    """What rows on this machine have in common: chunks are read one by one, and threads work on their blocks."""

    def run(self, function: Callable[[Item], Outcome], items: Sequence[Item]) -> list[Outcome]:
        """Apply a function to items that take long, on all cores."""
        return map_forked(function, items, long=True)

    @abstractmethod
    def chunks(self) -> Iterator[Block]:
        """Yield the chunks in order; a table without rows has one empty chunk."""

    @cached_property
    def chunk_weights(self) -> tuple[float, ...]:
        """Weight of each chunk."""
        return tuple(map(total_weight, self.chunks()))

    def sum(self, statistic: Callable[[Block], Sums], block_rows: int | None = None, *, in_turn: bool = False) -> Sums:
        """Add up a statistic over all blocks, which have at most ``block_rows`` rows, in threads or one by one."""
        results = map_ordered(
            lambda numbered: (numbered[0], statistic(numbered[1])), self._blocks(block_rows), in_turn=in_turn
        )
        by_chunk = groupby(results, lambda numbered: numbered[0])
        return add_in_groups(reduce(add, (result for _, result in chunk)) for _, chunk in by_chunk)

    def map(self, function: Callable[[Block], NDArray[Any]]) -> NDArray[Any]:
        """Apply a function that returns one result per row to all blocks, and concatenate the results."""
        results = None
        done = 0
        for part in map_ordered(lambda numbered: function(numbered[1]), self._blocks()):
            if results is None:
                results = np.empty((self.n_rows, *part.shape[1:]), dtype=part.dtype)
            results[done : done + len(part)] = part
            done += len(part)
        assert results is not None
        return results

    def _blocks(self, max_rows: int | None = None) -> Iterator[tuple[int, Block]]:
        """Yield all blocks, each with the position of its chunk."""
        numbers = count()
        for position, chunk in enumerate(self.chunks()):
            for block in split_into_blocks(chunk, max_rows):
                yield position, block._replace(number=next(numbers))

    def fetch(self, rows: IntArray) -> Block:
        """Copy the rows with these numbers into memory."""
        order = np.argsort(rows, kind="stable")
        wanted = rows[order]
        parts: list[Block] = []
        start = 0
        for chunk in self.chunks():
            stop = start + len(chunk.codes)
            in_chunk = wanted[np.searchsorted(wanted, start) : np.searchsorted(wanted, stop)] - start
            parts.append(take_rows(chunk, in_chunk))
            start = stop
        return take_rows(concatenate(parts), np.argsort(order))

    def resampled(self, seed: int, number: int) -> "LocalRows":
        """Return a bootstrap sample of the rows."""
        return ResampledRows(self, BootstrapSample.from_weights(self.chunk_weights, seed, number))

    def reordered(self, order: IntArray) -> "LocalRows":
        """Return the same rows with their columns in another order."""
        return ReorderedRows(self, order)

    def selected(self, columns: IntArray) -> "LocalRows":
        """Return the same rows with some of their columns, in the same chunks."""
        return ReorderedRows(self, columns)

    def distinct(self) -> "LocalRows":
        """Return rows in memory where equal rows are merged, or the same rows if that saves little."""
        merged = merge_distinct(map(distinct_rows, self.chunks()), self.n_rows)
        return self if merged is None else MemoryRows.from_block(merged)


@dataclass(frozen=True)
class ResampledRows(LocalRows):
    """A bootstrap sample that is drawn again at every pass over the rows, so that it takes no space."""

    rows: LocalRows
    sample: BootstrapSample

    @cached_property
    def n_rows(self) -> int:
        """Number of rows."""
        return sum(len(chunk.codes) for chunk in self.chunks())

    @property
    def chunk_weights(self) -> tuple[float, ...]:
        """Weight of each chunk."""
        return tuple(map(float, self.sample.chunk_sizes))

    def chunks(self) -> Iterator[Block]:
        """Yield the chunks in order."""
        return (self.sample.draw(position, chunk) for position, chunk in enumerate(self.rows.chunks()))


@dataclass(frozen=True)
class _SameRows(LocalRows):
    """What views of the same rows have in common."""

    rows: LocalRows

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.rows.n_rows

    @property
    def chunk_weights(self) -> tuple[float, ...]:
        """Weight of each chunk."""
        return self.rows.chunk_weights

    def chunks(self) -> Iterator[Block]:
        """Yield the chunks in order."""
        return self.rows.chunks()


@dataclass(frozen=True)
class ReorderedRows(_SameRows):
    """Rows whose columns are put in another order at every pass over them, so that they take no space."""

    order: IntArray

    def chunks(self) -> Iterator[Block]:
        """Yield the chunks in order."""
        return (reorder_columns(chunk, self.order) for chunk in self.rows.chunks())


@dataclass(frozen=True)
class ProgressRows(_SameRows):
    """Rows that report to a callback how many of them a sum has reached."""

    progress: Progress

    def _blocks(self, max_rows: int | None = None) -> Iterator[tuple[int, Block]]:
        done = 0
        for position, block in super()._blocks(max_rows):
            yield position, block
            done += len(block.codes)
            self.progress(done, self.n_rows)


@dataclass(frozen=True)
class MemoryRows(LocalRows):
    """Rows as one array with contiguous columns, and what else a :class:`Block` has of each row."""

    codes: CodeArray
    weights: FloatArray | None
    inside: FloatArray | None = None

    @classmethod
    def from_block(cls, block: Block) -> "MemoryRows":
        """Make a table's rows of the rows of a block."""
        return cls(block.codes, block.weights, block.inside)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.codes)

    def chunks(self) -> Iterator[Block]:
        """Yield the chunks in order."""
        return split_rows(self._block, chunk_rows(self.codes.shape[1]))

    def fetch(self, rows: IntArray) -> Block:
        """Copy the rows with these numbers."""
        return take_rows(self._block, rows)

    def reordered(self, order: IntArray) -> "MemoryRows":
        """Return a copy of the rows with their columns in another order."""
        return MemoryRows.from_block(reorder_columns(self._block, order))

    def resampled(self, seed: int, number: int) -> "MemoryRows":
        """Return a bootstrap sample of the rows."""
        return MemoryRows.from_block(concatenate(super().resampled(seed, number).chunks()))

    @property
    def _block(self) -> Block:
        return Block(self.codes, self.weights, inside=self.inside)


# Codes of a file that take at most this many bytes are kept in memory. Otherwise all codes go to disk.
MEMORY_BYTES = 2**28


def store_blocks(blocks: Iterable[Block]) -> LocalRows:
    """Keep the rows of blocks of any size: in memory if they are few, otherwise on disk."""
    kept: list[Block] = []
    size = 0
    remaining = iter(blocks)
    for block in remaining:
        kept.append(block)
        size += block.codes.nbytes
        if size > MEMORY_BYTES:
            return _write_to_disk(kept, remaining)
    return MemoryRows.from_block(concatenate(kept))


class DiskRows(LocalRows):
    """Rows in a temporary file: chunk by chunk, in each chunk column by column, then what else a block has of each row.

    The file has no name and is removed with the rows. It is read, not memory-mapped: pages of a mapped file would count
    as memory of this process.

    Parameters
    ----------
    chunks : iterable of Block
        Each has :func:`chunk_rows` rows; the last one may have fewer.
    """

    def __init__(self, chunks: Iterable[Block]) -> None:
        self._stream = tempfile.TemporaryFile()  # noqa: SIM115
        weakref.finalize(self, self._stream.close)
        self._lock = threading.Lock()
        self._locations: list[tuple[int, int]] = []  # where each chunk starts in the file, and its number of rows
        weights = []
        for chunk in chunks:
            self._locations.append((self._stream.tell(), len(chunk.codes)))
            self._write(chunk.codes.ravel(order="F"))
            for numbers in (chunk.weights, chunk.inside):
                if numbers is not None:
                    self._write(numbers)
            weights.append(total_weight(chunk))
        self._stream.flush()
        self.chunk_weights = tuple(weights)
        self._dtype, self._columns = chunk.codes.dtype, chunk.codes.shape[1]
        self._has_numbers = [chunk.weights is not None, chunk.inside is not None]

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return sum(rows for _, rows in self._locations)

    def chunks(self) -> Iterator[Block]:
        """Yield the chunks in order."""
        for start, rows in self._locations:
            with self._lock:
                self._stream.seek(start)
                codes = np.fromfile(self._stream, self._dtype, rows * self._columns)
                weights, inside = (
                    np.fromfile(self._stream, np.float64, rows) if there else None for there in self._has_numbers
                )
            yield Block(codes.reshape((rows, self._columns), order="F"), weights, inside=inside)

    def __reduce__(self) -> Any:
        raise InputError(
            "the table is on this machine's disk and cannot be sent to other processes: use threads, or pass a Dask "
            "client to as_table"
        )

    def _write(self, array: NDArray[Any]) -> None:
        try:
            self._stream.write(array.data)
        except OSError as error:
            raise InputError(
                f"{tempfile.gettempdir()}: {error.strerror}; the table is larger than memory, and its codes take one "
                "byte per cell in this folder: free some space, or set the environment variable TMPDIR to another "
                "folder"
            ) from None


def _write_to_disk(kept: list[Block], remaining: Iterator[Block]) -> DiskRows:
    def all_blocks() -> Iterator[Block]:
        while kept:
            yield kept.pop(0)  # frees its memory once it is written
        yield from remaining

    return DiskRows(rechunk(all_blocks(), chunk_rows(kept[0].codes.shape[1])))


def rechunk(blocks: Iterable[Block], size: int) -> Iterator[Block]:
    """Make chunks of ``size`` rows out of blocks of any size; the last chunk may be smaller."""
    waiting: list[Block] = []
    count = 0
    for block in blocks:
        waiting.append(block)
        count += len(block.codes)
        while count >= size:
            whole = concatenate(waiting)
            yield slice_rows(whole, slice(size))
            waiting = [slice_rows(whole, slice(size, None))]
            count -= size
    if count:
        yield concatenate(waiting)
