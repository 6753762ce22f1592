"""Pieces of rows, and how results over them are put together.

Rows fall into chunks, and chunks into blocks, at places that depend on the number of columns and on what is computed
alone. A statistic is added up over a chunk's blocks in their order, and over chunks in a tree of fixed shape. So every
place that rows may live in gives the same sums, to the last bit, however many threads or machines share the work.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import reduce
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from latree._util.arrays import CodeArray, FloatArray, IntArray

# Small enough that a block's messages stay in the cache, large enough that NumPy's cost a call does not count.
BLOCK_ROWS = 2048
# A chunk is what is read from disk, or worked on by a machine, at once: 8 MB of one-byte codes.
CHUNK_CELLS = 2**23
FAN_IN = 16  # so many sums of chunks, and then so many of these, are added at a time
_KEYS = 2**64  # random numbers below this make a row's key
_WORTH = 0.75  # rows are counted once if the distinct ones are no more than this share
_DISTINCT_CELLS = 2 * CHUNK_CELLS  # of distinct rows that are put together


class Block(NamedTuple):
    """Some consecutive rows of a table: what a statistic is computed from."""

    codes: CodeArray  # rows x columns; the largest value of the type means missing
    weights: FloatArray | None  # one a row, or None where every row counts once
    number: int | None = None  # the same for the same rows of a table, or None where nobody should rely on that


Sums: TypeAlias = NDArray[Any] | tuple[NDArray[Any], ...]


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
    codes, weights, _ = zip(*blocks, strict=True)
    return Block(np.asfortranarray(np.concatenate(codes)), None if weights[0] is None else np.concatenate(weights))


def blocks_of(chunk: Block, rows: int | None = None) -> Iterator[Block]:
    """Cut a chunk into blocks of about the same size, of at most so many rows, or BLOCK_ROWS."""
    n_rows = len(chunk.codes)
    n_blocks = max(-(-n_rows // (rows or BLOCK_ROWS)), 1)
    return parted(chunk, max(-(-n_rows // n_blocks), 1))


def distinct(block: Block) -> Block:
    """Give rows that are the same only once, in the order of their first places, with the sum of their weights."""
    first, which = _first_of_each(block.codes)
    return taken(block, first)._replace(weights=np.bincount(which, block.weights, len(first)).astype(float))


def all_distinct(chunks: Iterable[Block], n_rows: int) -> Block | None:
    """Put distinct rows of chunks together; None where they are nearly as many as all rows, or too many for memory."""
    kept: list[Block] = []
    cells = 0
    for chunk in chunks:
        kept.append(chunk)
        cells += chunk.codes.size
        if cells > 2 * _DISTINCT_CELLS:
            kept = [distinct(joined(kept))]
            cells = kept[0].codes.size
            if cells > _DISTINCT_CELLS:
                return None
    whole = kept[0] if len(kept) == 1 else distinct(joined(kept))
    return whole if len(whole.codes) <= _WORTH * n_rows else None


def _first_of_each(codes: CodeArray) -> tuple[IntArray, IntArray]:
    """Give the first of the rows that are the same, in their order, and for each row which of these it is."""
    rng = np.random.default_rng(0)
    keys = np.zeros(len(codes), dtype=np.uint64)
    for column in codes.T:
        keys += column * rng.integers(_KEYS, dtype=np.uint64)
    if len(np.unique(keys)) == len(codes):
        return np.arange(len(codes)), np.arange(len(codes))
    _, first, which = np.unique(keys, return_index=True, return_inverse=True)
    if any((column[first][which] != column).any() for column in codes.T):  # two rows happen to have the same key
        _, first, which = np.unique(codes, axis=0, return_index=True, return_inverse=True)
    order = np.argsort(first)
    return first[order], np.argsort(order)[which]


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
