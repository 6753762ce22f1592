"""Where the rows of a table may be, and rows that are all in memory."""

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
    BootstrapSample,
    Sums,
    add,
    add_in_groups,
    chunk_rows,
    concatenate,
    count_missing,
    distinct_rows,
    merge_distinct,
    reorder_columns,
    split_into_blocks,
    split_rows,
    take_rows,
    total_weight,
)


class Rows(Protocol):
    """The rows of a table, wherever they are. Learners use only these nine members.

    Results must not depend on how the work is distributed: chunks and blocks are fixed and are added in order.
    """

    @property
    def n_rows(self) -> int:
        """Number of rows."""

    @property
    def total_weight(self) -> float:
        """Sum of the weights of the rows."""

    @property
    def n_missing(self) -> NDArray[np.int64]:
        """Number of missing cells of each column."""

    def sum(self, statistic: Callable[[Block], Sums], block_rows: int | None = None, *, in_turn: bool = False) -> Sums:
        """Add up a statistic over all blocks, which have at most ``block_rows`` rows, in threads or one by one."""

    def map(self, function: Callable[[Block], NDArray[Any]]) -> NDArray[Any]:
        """Apply a function that returns one result per row to all blocks, and concatenate the results."""

    def fetch(self, rows: IntArray) -> Block:
        """Copy the rows with these numbers into memory."""

    def resampled(self, seed: int, number: int) -> "Rows":
        """Return a bootstrap sample of the rows; see :class:`BootstrapSample`."""

    def reordered(self, order: IntArray) -> "Rows":
        """Return the same rows with their columns in another order, given by their numbers of now."""

    def distinct(self) -> "Rows":
        """Return rows where equal rows are merged and their weights added, if that makes them much fewer."""


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
        """Add up a statistic over all blocks, which have at most ``block_rows`` rows, in threads or one by one."""

    @property
    def total_weight(self) -> float:
        """Sum of the weights of the rows."""
        return float(sum(self.chunk_weights))

    @cached_property
    def n_missing(self) -> NDArray[np.int64]:
        """Number of missing cells of each column."""
        return np.asarray(self.sum(lambda block: count_missing(block.codes)))


class LocalRows(ChunkedRows):
    """What rows on this machine have in common: chunks are read one by one, and threads work on their blocks."""

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
    """Rows as one array with contiguous columns, and one weight per row or None."""

    codes: CodeArray
    weights: FloatArray | None

    @classmethod
    def from_block(cls, block: Block) -> "MemoryRows":
        """Make a table's rows of the rows of a block."""
        return cls(block.codes, block.weights)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.codes)

    def chunks(self) -> Iterator[Block]:
        """Yield the chunks in order."""
        return split_rows(Block(self.codes, self.weights), chunk_rows(self.codes.shape[1]))

    def fetch(self, rows: IntArray) -> Block:
        """Copy the rows with these numbers."""
        return take_rows(Block(self.codes, self.weights), rows)

    def reordered(self, order: IntArray) -> "MemoryRows":
        """Return a copy of the rows with their columns in another order."""
        return MemoryRows.from_block(reorder_columns(Block(self.codes, self.weights), order))

    def resampled(self, seed: int, number: int) -> "MemoryRows":
        """Return a bootstrap sample of the rows."""
        return MemoryRows.from_block(concatenate(super().resampled(seed, number).chunks()))
