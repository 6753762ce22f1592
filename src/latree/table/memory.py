"""Rows that are all in memory: blocks of an array, worked on by threads."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from latree.arrays import CodeArray, FloatArray, IntArray
from latree.parallel import map_ordered

# Small enough that a block's messages stay in the cache, large enough that NumPy's cost a call does not count.
BLOCK_ROWS = 2048
_KEYS = 2**64  # random numbers below this make a row's key
_WORTH = 0.75  # rows are counted once if the distinct ones are no more than this share


class Block(NamedTuple):
    """Some consecutive rows of a table: what a statistic is computed from."""

    codes: CodeArray  # rows x columns; the largest value of the type means missing
    weights: FloatArray | None  # one a row, or None where every row counts once
    number: int | None = None  # the same for the same rows of a table, or None where nobody should rely on that


Sums: TypeAlias = NDArray[Any] | tuple[NDArray[Any], ...]


class Rows(Protocol):
    """Where a table's rows live. Everything that learners need of them goes through these six members.

    Results must not depend on how the work is spread: blocks are fixed and are added in their order.
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


@dataclass(frozen=True)
class MemoryRows:
    """Rows as one array, columns contiguous."""

    codes: CodeArray
    weights: FloatArray | None
    block_rows: int | None = None  # at most so many rows a block, instead of BLOCK_ROWS

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.codes)

    @property
    def total_weight(self) -> float:
        """Sum of the rows' weights."""
        return float(len(self.codes) if self.weights is None else self.weights.sum())

    @property
    def n_missing(self) -> NDArray[np.int64]:
        """Number of missing cells of each column."""
        return np.asarray(np.count_nonzero(self.codes == missing_code(self.codes), axis=0), dtype=np.int64)

    def sum(self, statistic: Callable[[Block], Sums]) -> Sums:
        """Add up a statistic over all blocks, in their order."""
        total: Sums | None = None
        for part in map_ordered(statistic, self._blocks()):
            if total is None:
                total = part
            elif isinstance(total, tuple):
                total = tuple(a + b for a, b in zip(total, part, strict=True))
            else:
                total = total + np.asarray(part)
        assert total is not None  # there is always a block, if only an empty one
        return total

    def map(self, function: Callable[[Block], NDArray[Any]]) -> NDArray[Any]:
        """Apply a function that gives one result a row to all blocks, and put the results in the rows' order."""
        return np.concatenate(list(map_ordered(function, self._blocks())))

    def fetch(self, rows: IntArray) -> Block:
        """Copy some rows, by their numbers."""
        return Block(np.asfortranarray(self.codes[rows]), None if self.weights is None else self.weights[rows])

    def distinct(self, block_rows: int) -> "MemoryRows":
        """Give rows that are the same only once, with the sum of their weights, in blocks of at most so many rows.

        They stay as they are where few of them are the same.
        """
        first, which = _first_of_each(self.codes)
        if len(first) > _WORTH * len(self.codes):
            return replace(self, block_rows=block_rows)
        weights = np.bincount(which, self.weights, len(first)).astype(float)
        return MemoryRows(np.asfortranarray(self.codes[first]), weights, block_rows)

    def _blocks(self) -> Iterator[Block]:
        n_rows = len(self.codes)
        n_blocks = max(-(-n_rows // (self.block_rows or BLOCK_ROWS)), 1)
        for number in range(n_blocks):
            rows = slice(number * n_rows // n_blocks, (number + 1) * n_rows // n_blocks)
            yield Block(self.codes[rows], None if self.weights is None else self.weights[rows], number)


def _first_of_each(codes: CodeArray) -> tuple[IntArray, IntArray]:
    """Give the first of the rows that are the same, in their order, and for each row which of these it is."""
    rng = np.random.default_rng(0)
    keys = np.zeros(len(codes), dtype=np.uint64)
    for column in codes.T:
        keys += column * rng.integers(_KEYS, dtype=np.uint64)
    _, first, which = np.unique(keys, return_index=True, return_inverse=True)
    if any((column[first][which] != column).any() for column in codes.T):  # two rows happen to have the same key
        _, first, which = np.unique(codes, axis=0, return_index=True, return_inverse=True)
    order = np.argsort(first)
    return first[order], np.argsort(order)[which]


def missing_code(codes: CodeArray) -> int:
    """Give the code that is reserved for missing cells."""
    return int(np.iinfo(codes.dtype).max)
