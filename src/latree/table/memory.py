"""Where a table's rows may live, and the rows that are all in memory."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property, reduce
from itertools import count, groupby
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from latree._util.arrays import CodeArray, FloatArray, IntArray
from latree._util.parallel import map_ordered
from latree._util.progress import Progress
from latree.table.chunks import (
    Block,
    Draws,
    Sums,
    added,
    added_up,
    all_distinct,
    blocks_of,
    chunk_rows,
    distinct,
    joined,
    missing_cells,
    parted,
    taken,
    weight_of,
)


class Rows(Protocol):
    """Where a table's rows live. Everything that learners need of them goes through these eight members.

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

    def sum(self, statistic: Callable[[Block], Sums], block_rows: int | None = None, *, in_turn: bool = False) -> Sums:
        """Add up a statistic over all blocks, of at most so many rows, by threads or in turn."""

    def map(self, function: Callable[[Block], NDArray[Any]]) -> NDArray[Any]:
        """Apply a function that gives one result a row to all blocks, and put the results in the rows' order."""

    def fetch(self, rows: IntArray) -> Block:
        """Copy some rows, by their numbers, into memory."""

    def resampled(self, seed: int, number: int) -> "Rows":
        """Draw as many rows anew, with replacement and by their weights; see :class:`Draws`."""

    def distinct(self) -> "Rows":
        """Give rows that are the same only once, with the sum of their weights, where that makes them much fewer."""


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
    def sum(self, statistic: Callable[[Block], Sums], block_rows: int | None = None, *, in_turn: bool = False) -> Sums:
        """Add up a statistic over all blocks, of at most so many rows, by threads or in turn."""

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

    def sum(self, statistic: Callable[[Block], Sums], block_rows: int | None = None, *, in_turn: bool = False) -> Sums:
        """Add up a statistic over all blocks, of at most so many rows, by threads or in turn."""
        parts = map_ordered(lambda item: (item[0], statistic(item[1])), self._blocks(block_rows), in_turn=in_turn)
        return added_up(reduce(added, (part for _, part in chunk)) for _, chunk in groupby(parts, lambda item: item[0]))

    def map(self, function: Callable[[Block], NDArray[Any]]) -> NDArray[Any]:
        """Apply a function that gives one result a row to all blocks, and put the results in the rows' order."""
        results = None
        done = 0
        for part in map_ordered(lambda item: function(item[1]), self._blocks()):
            if results is None:
                results = np.empty((self.n_rows, *part.shape[1:]), dtype=part.dtype)
            results[done : done + len(part)] = part
            done += len(part)
        assert results is not None
        return results

    def _blocks(self, rows: int | None = None) -> Iterator[tuple[int, Block]]:
        """Give all blocks, each with the number of its chunk."""
        numbers = count()
        for place, chunk in enumerate(self.chunks()):
            for block in blocks_of(chunk, rows):
                yield place, block._replace(number=next(numbers))

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

    def distinct(self) -> "LocalRows":
        """Give rows that are the same only once, where that makes them much fewer; these are then in memory."""
        found = all_distinct(map(distinct, self.chunks()), self.n_rows)
        return self if found is None else MemoryRows.of(found)


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
class ToldRows(LocalRows):
    """Rows that tell how many of them a sum has come to."""

    rows: LocalRows
    progress: Progress

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.rows.n_rows

    @property
    def chunk_weights(self) -> tuple[float, ...]:
        """Weight of each chunk."""
        return self.rows.chunk_weights

    def chunks(self) -> Iterator[Block]:
        """Give the chunks in their order."""
        return self.rows.chunks()

    def _blocks(self, rows: int | None = None) -> Iterator[tuple[int, Block]]:
        done = 0
        for place, block in super()._blocks(rows):
            yield place, block
            done += len(block.codes)
            self.progress(done, self.n_rows)


@dataclass(frozen=True)
class MemoryRows(LocalRows):
    """Rows as one array, columns contiguous."""

    codes: CodeArray
    weights: FloatArray | None

    @classmethod
    def of(cls, block: Block) -> "MemoryRows":
        """Take the rows of a block."""
        return cls(block.codes, block.weights)

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
        return MemoryRows.of(joined(super().resampled(seed, number).chunks()))
