"""Where a table's rows may live, how results over them are added up, and the rows that are all in memory.

Rows fall into chunks, and chunks into blocks, at places that depend on the number of columns alone. A statistic is
added up over a chunk's blocks in their order, and over chunks in a tree of fixed shape. So every place that rows may
live in gives the same sums, to the last bit, however many threads or machines share the work.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property, reduce
from itertools import groupby
from typing import Any, NamedTuple, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from latree.arrays import CodeArray, FloatArray, IntArray
from latree.parallel import map_ordered

# Small enough that a block's messages stay in the cache, large enough that NumPy's cost a call does not count.
BLOCK_ROWS = 2048
# A chunk is what is read from disk, or worked on by a machine, at once: 8 MB of one-byte codes.
CHUNK_CELLS = 2**23
FAN_IN = 16  # so many sums of chunks, and then so many of these, are added at a time


class Block(NamedTuple):
    """Some consecutive rows of a table: what a statistic is computed from."""

    codes: CodeArray  # rows x columns; the largest value of the type means missing
    weights: FloatArray | None  # one a row, or None where every row counts once


Sums: TypeAlias = NDArray[Any] | tuple[NDArray[Any], ...]


class Rows(Protocol):
    """Where a table's rows live. Everything that learners need of them goes through these seven members.

    Results must not depend on how the work is spread: chunks and blocks are fixed and are added in their order.
    """

    @property
    def n_rows(self) -> int:
        """Number of rows."""

    @property
    def total_weight(self) -> float:
        """Sum of the rows' weights."""

    @property
    def n_missing(self) -> NDArray[np.int64]:
        """Number of missing cells of each column."""

    def sum(self, statistic: Callable[[Block], Sums]) -> Sums:
        """Add up a statistic over all blocks."""

    def map(self, function: Callable[[Block], NDArray[Any]]) -> NDArray[Any]:
        """Apply a function that gives one result a row to all blocks, and put the results in the rows' order."""

    def fetch(self, rows: IntArray) -> Block:
        """Copy some rows, by their numbers, into memory."""

    def resampled(self, seed: int, number: int) -> "Rows":
        """Draw as many rows anew, with replacement and by their weights; see :class:`Draws`."""


class ChunkedRows(ABC):
    """What rows in chunks have in common, wherever the chunks are."""

    @property
    @abstractmethod
    def n_rows(self) -> int:
        """Number of rows."""

    @property
    @abstractmethod
    def chunk_weights(self) -> tuple[float, ...]:
        """Weight of each chunk."""

    @abstractmethod
    def sum(self, statistic: Callable[[Block], Sums]) -> Sums:
        """Add up a statistic over all blocks."""

    @property
    def total_weight(self) -> float:
        """Sum of the rows' weights."""
        return float(sum(self.chunk_weights))

    @cached_property
    def n_missing(self) -> NDArray[np.int64]:
        """Number of missing cells of each column."""
        return np.asarray(self.sum(lambda block: missing_cells(block.codes)))


class LocalRows(ChunkedRows):
    """What rows on this machine have in common: chunk after chunk, worked on by threads."""

    @abstractmethod
    def chunks(self) -> Iterator[Block]:
        """Give the chunks in their order; there is always one, if only an empty one."""

    @cached_property
    def chunk_weights(self) -> tuple[float, ...]:
        """Weight of each chunk."""
        return tuple(map(weight_of, self.chunks()))

    def sum(self, statistic: Callable[[Block], Sums]) -> Sums:
        """Add up a statistic over all blocks."""
        blocks = ((number, block) for number, chunk in enumerate(self.chunks()) for block in blocks_of(chunk))
        parts = map_ordered(lambda item: (item[0], statistic(item[1])), blocks)
        return added_up(reduce(added, (part for _, part in chunk)) for _, chunk in groupby(parts, lambda item: item[0]))

    def map(self, function: Callable[[Block], NDArray[Any]]) -> NDArray[Any]:
        """Apply a function that gives one result a row to all blocks, and put the results in the rows' order."""
        results = None
        done = 0
        for part in map_ordered(function, (block for chunk in self.chunks() for block in blocks_of(chunk))):
            if results is None:
                results = np.empty((self.n_rows, *part.shape[1:]), dtype=part.dtype)
            results[done : done + len(part)] = part
            done += len(part)
        assert results is not None
        return results

    def fetch(self, rows: IntArray) -> Block:
        """Copy some rows, by their numbers."""
        order = np.argsort(rows, kind="stable")
        wanted = rows[order]
        pieces: list[Block] = []
        start = 0
        for chunk in self.chunks():
            stop = start + len(chunk.codes)
            here = wanted[np.searchsorted(wanted, start) : np.searchsorted(wanted, stop)] - start
            pieces.append(taken(chunk, here))
            start = stop
        return taken(joined(pieces), np.argsort(order))

    def resampled(self, seed: int, number: int) -> "LocalRows":
        """Draw as many rows anew, with replacement and by their weights."""
        return ResampledRows(self, Draws.of(self.chunk_weights, seed, number))


@dataclass(frozen=True)
class ResampledRows(LocalRows):
    """Rows drawn anew from others whenever they are asked for, so that they need no place of their own."""

    rows: LocalRows
    draws: "Draws"

    @cached_property
    def n_rows(self) -> int:
        """Number of rows."""
        return sum(len(chunk.codes) for chunk in self.chunks())

    @property
    def chunk_weights(self) -> tuple[float, ...]:
        """Weight of each chunk."""
        return tuple(map(float, self.draws.sizes))

    def chunks(self) -> Iterator[Block]:
        """Give the chunks in their order."""
        return (self.draws.drawn(place, chunk) for place, chunk in enumerate(self.rows.chunks()))


@dataclass(frozen=True)
class MemoryRows(LocalRows):
    """Rows as one array, columns contiguous."""

    codes: CodeArray
    weights: FloatArray | None

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.codes)

    def chunks(self) -> Iterator[Block]:
        """Give the chunks in their order."""
        return parted(Block(self.codes, self.weights), chunk_rows(self.codes.shape[1]))

    def fetch(self, rows: IntArray) -> Block:
        """Copy some rows, by their numbers."""
        return taken(Block(self.codes, self.weights), rows)

    def resampled(self, seed: int, number: int) -> "MemoryRows":
        """Draw as many rows anew, with replacement and by their weights."""
        return MemoryRows(*joined(super().resampled(seed, number).chunks()))


@dataclass(frozen=True)
class Draws:
    """Rows drawn anew, with replacement, each with a probability in proportion to its weight.

    How many fall into each chunk is drawn first, then which rows of a chunk; the latter depends on the seed, the number
    of the sample and the place of the chunk alone, so that every machine can draw for the chunks that it has.
    """

    seed: int
    number: int
    sizes: tuple[int, ...]  # how many rows are drawn from each chunk

    @classmethod
    def of(cls, weights: Iterable[float], seed: int, number: int) -> "Draws":
        """Draw how many rows fall into chunks of these weights: together as many as the rows, or as their weight."""
        shares = np.array(list(weights))
        total = shares.sum()
        rng = np.random.default_rng([seed, number, 0, 1])
        return cls(seed, number, tuple(rng.multinomial(max(1, round(total)), shares / total).tolist()))

    def drawn(self, place: int, chunk: Block) -> Block:
        """Draw from a chunk; a row that was drawn several times has that weight."""
        rng = np.random.default_rng([self.seed, self.number, place])
        rows = len(chunk.codes)
        total = weight_of(chunk)
        if not total:
            return Block(chunk.codes[:0], np.zeros(0))
        shares = np.full(rows, 1 / rows) if chunk.weights is None else chunk.weights / total
        times = rng.multinomial(self.sizes[place], shares)
        return Block(np.asfortranarray(chunk.codes[times > 0]), times[times > 0].astype(np.float64))


def chunk_rows(n_columns: int) -> int:
    """Give the number of rows of a chunk: a power of two of blocks, by the number of columns alone."""
    blocks = max(1, CHUNK_CELLS // (BLOCK_ROWS * max(1, n_columns)))
    return BLOCK_ROWS * (1 << (blocks.bit_length() - 1))


def parted(block: Block, rows: int) -> Iterator[Block]:
    """Cut rows into pieces of so many; no rows make one empty piece."""
    for start in range(0, max(len(block.codes), 1), rows):
        piece = slice(start, start + rows)
        yield Block(block.codes[piece], None if block.weights is None else block.weights[piece])


def taken(block: Block, rows: IntArray) -> Block:
    """Copy some rows of a block."""
    return Block(np.asfortranarray(block.codes[rows]), None if block.weights is None else block.weights[rows])


def joined(blocks: Iterable[Block]) -> Block:
    """Put rows into one block."""
    codes, weights = zip(*blocks, strict=True)
    return Block(np.asfortranarray(np.concatenate(codes)), None if weights[0] is None else np.concatenate(weights))


def blocks_of(chunk: Block) -> Iterator[Block]:
    """Cut a chunk into blocks."""
    return parted(chunk, BLOCK_ROWS)


def added(one: Sums, other: Sums) -> Sums:
    """Add two results."""
    if isinstance(one, tuple):
        return tuple(a + b for a, b in zip(one, other, strict=True))
    return np.asarray(one + np.asarray(other))


def added_up(parts: Iterable[Sums]) -> Sums:
    """Add up results of chunks in a tree of fixed shape: sixteen at a time, then sixteen of these sums, and so on.

    No more than one sum a level of the tree is kept.
    """
    levels: list[tuple[int, Sums | None]] = []
    for part in parts:
        level = 0
        while True:
            if level == len(levels):
                levels.append((0, None))
            count, total = levels[level]
            part = part if total is None else added(total, part)
            if count + 1 < FAN_IN:
                levels[level] = (count + 1, part)
                break
            levels[level] = (0, None)
            level += 1
    left = [total for _, total in levels if total is not None]
    return reduce(lambda last, total: added(total, last), left)


def weight_of(block: Block) -> float:
    """Give the sum of the rows' weights."""
    return float(len(block.codes) if block.weights is None else block.weights.sum())


def missing_cells(codes: CodeArray) -> NDArray[np.int64]:
    """Count the missing cells of each column."""
    return np.asarray(np.count_nonzero(codes == missing_code(codes), axis=0), dtype=np.int64)


def missing_code(codes: CodeArray) -> int:
    """Give the code that is reserved for missing cells."""
    return int(np.iinfo(codes.dtype).max)
