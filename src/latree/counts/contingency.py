"""Contingency tables: how often the states of two or four columns occur together.

A table counts the rows in which all of its columns are present. Columns with fewer states than the widest one are
padded with zeros, so that many tables make one array; zero rows and columns change no singular value.
"""

from functools import partial
from math import isqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from latree._util.arrays import CodeArray, FloatArray, IntArray
from latree._util.parallel import map_ordered
from latree.errors import InputError
from latree.table import Block, Table
from latree.table.chunks import missing_code

# One quartet of 200-state columns would take 1.6e9 cells: refuse before the memory goes.
MAX_CELLS = 2**27

_CELLS_AT_ONCE = 2**20  # of pair tables that are made, and measured, at a time
_NUMBERS_AT_ONCE = 2**16  # rows of groups are numbered so many at a time, which stay in the cache
_WORDS_AT_ONCE = 2**14  # of bits
_FEW_CELLS = 16  # up to which counting bits is faster than counting numbers
_FEW_ROWS = 2**13
_GROUPS_AT_ONCE = 2**9
_MOST_SINGLE = 2**24  # up to here single precision has all whole numbers


def column_counts(table: Table) -> list[FloatArray]:
    """Count each column's states: rows, or their weight."""
    n_states = table.n_states

    def count(block: Block) -> tuple[FloatArray, ...]:
        states = [np.minimum(block.codes[:, j], n) for j, n in enumerate(n_states)]
        return tuple(np.bincount(x, block.weights, n + 1).astype(float) for x, n in zip(states, n_states, strict=True))

    return [np.asarray(counts)[:-1] for counts in table.sum(count)]


def pair_tables(table: Table, pairs: IntArray | None = None) -> NDArray[np.int64] | FloatArray:
    """Count the states of pairs of columns.

    Parameters
    ----------
    table : Table
    pairs : array of int, shape (p, 2), optional
        Column indices. By default all pairs.

    Returns
    -------
    array, shape (p, n, n), or (d, d, n, n) for all pairs
        ``counts[..., x, y]``: rows (or their weight) with state x in the first column and y in the second; n is the
        largest number of states. Integers unless the rows have weights.
    """
    if pairs is not None:
        return _group_tables(table, pairs, width=2)
    d, n = table.n_columns, int(table.n_states.max())
    _check_size(table, np.arange(d), d * d * n * n)
    squares = tiles(table)
    found = map_ordered(lambda tile: tables_between(table, *tile), squares)
    result: NDArray[Any] | None = None
    for (first, second), counts in zip(squares, found, strict=True):
        if result is None:
            result = np.empty((n, n, d, d), dtype=counts.dtype).transpose(2, 3, 0, 1)
        result[first, second] = counts
        if first != second:
            result[second, first] = counts.transpose(1, 0, 3, 2)
    assert result is not None
    return result


def tiles(table: Table) -> list[tuple[slice, slice]]:
    """Give squares of pairs of columns that are counted at once; those below the diagonal are left out."""
    d, step = table.n_columns, max(1, isqrt(_CELLS_AT_ONCE) // int(table.n_states.max()))
    return [(slice(i, i + step), slice(j, j + step)) for i in range(0, d, step) for j in range(i, d, step)]


def tables_between(table: Table, first: slice, second: slice) -> NDArray[np.int64] | FloatArray:
    """Count the states of pairs of one of some columns with one of others.

    Returns
    -------
    array, shape (columns of first, columns of second, n, n)
    """
    columns = np.arange(table.n_columns)
    n, shape = int(table.n_states.max()), (len(columns[first]), len(columns[second]))
    counts = table.sum(partial(_count_between, n=n, first=first, second=second))
    assert not isinstance(counts, tuple)
    # The same cells of all tables lie side by side: adding up a table's few cells is then many times as fast.
    cells = np.ascontiguousarray(counts.reshape(shape[0], n, shape[1], n).transpose(1, 3, 0, 2))
    return cells.transpose(2, 3, 0, 1)


def present_together(table: Table) -> NDArray[np.int64]:
    """Count for every two columns the rows in which both are present."""

    def count(block: Block) -> NDArray[np.int64]:
        present = (block.codes != missing_code(block.codes)).astype(np.float32)
        return np.asarray(present.T @ present, dtype=np.int64)

    counts = table.sum(count)
    assert not isinstance(counts, tuple)
    return counts


def quartet_tables(table: Table, quartets: IntArray) -> NDArray[np.int64] | FloatArray:
    """Count the states of quadruples of columns.

    Parameters
    ----------
    table : Table
    quartets : array of int, shape (q, 4)
        Column indices.

    Returns
    -------
    array, shape (q, n, n, n, n)
        The counts; n is the largest number of states among the columns asked for. Integers unless the rows have
        weights.
    """
    return _group_tables(table, quartets, width=4)


def _group_tables(table: Table, groups: IntArray, width: int) -> NDArray[np.int64] | FloatArray:
    groups = np.asarray(groups, dtype=np.intp).reshape(-1, width)
    n = int(table.n_states[groups].max(initial=0))
    _check_size(table, groups.ravel(), len(groups) * n**width)
    if not len(groups):
        return np.zeros((0, *[n] * width), dtype=np.int64)

    def counted(some: IntArray) -> NDArray[np.int64] | FloatArray:
        counts = table.sum(partial(_count_groups, groups=some, n=n))
        assert not isinstance(counts, tuple)
        return counts

    # Rows are shared out to threads in blocks. Where there are few, groups are shared out instead.
    step = _GROUPS_AT_ONCE if table.n_rows <= _FEW_ROWS else len(groups)
    parts = [groups[start : start + step] for start in range(0, len(groups), step)]
    return np.concatenate(list(map_ordered(counted, parts))).reshape(len(groups), *[n] * width)


def _check_size(table: Table, columns: IntArray, cells: int) -> None:
    if cells > MAX_CELLS and len(columns):
        widest = max(columns, key=lambda j: table.n_states[j])
        raise InputError(
            f"column {table.names[widest]!r} has {table.n_states[widest]} states: tables of {cells:.1e} cells would "
            "not fit in memory; ask for fewer at once"
        )


def _count_groups(block: Block, groups: IntArray, n: int) -> NDArray[np.int64] | FloatArray:
    """Count each group's states in one block; gives shape (groups, cells)."""
    count = _count_bits if n ** groups.shape[1] <= _FEW_CELLS and block.weights is None else _count_numbers
    return count(block, groups, n)


def _count_numbers(block: Block, groups: IntArray, n: int) -> NDArray[np.int64] | FloatArray:
    """Give every cell a number, and count the numbers of the cells that rows fall in.

    Rows with a missing cell are counted in one more cell, which is dropped.
    """
    cells = n ** groups.shape[1]
    columns = block.codes.T
    missing = missing_code(columns)
    step = max(1, _NUMBERS_AT_ONCE // max(1, len(block.codes)))
    counted = []
    for start in range(0, len(groups), step):
        some = groups[start : start + step]
        number = np.zeros((len(some), len(block.codes)), dtype=np.min_scalar_type(cells))
        absent = np.zeros(number.shape, dtype=bool)
        for codes in (columns[position] for position in some.T):
            absent |= codes == missing
            number *= n
            np.add(number, codes, out=number, casting="unsafe")
        number[absent] = cells
        place = number + (cells + 1) * np.arange(len(some))[:, None]
        weights = None if block.weights is None else np.broadcast_to(block.weights, place.shape).ravel()
        counts = np.bincount(place.ravel(), weights=weights, minlength=len(some) * (cells + 1))
        counted.append(counts.reshape(-1, cells + 1)[:, :cells])
    return np.concatenate(counted)


def _count_bits(block: Block, groups: IntArray, n: int) -> NDArray[np.int64]:
    """Keep a bit a row for every state, and count the bits that a cell's states share; for rows without weights.

    With 16 cells it takes half the time of counting numbers, with 81 one and a half times as much.
    """
    used, places = np.unique(groups, return_inverse=True)
    codes = block.codes.T[used]
    packed = np.packbits(_shown(codes, n), axis=-1)
    bits = np.pad(packed, [(0, 0), (0, 0), (0, -packed.shape[-1] % 8)]).view(np.uint64)
    places = places.reshape(groups.shape)
    step = max(1, _WORDS_AT_ONCE // max(1, n ** groups.shape[1] * bits.shape[-1]))
    counted = []
    for start in range(0, len(groups), step):
        some = places[start : start + step]
        cells = bits[some[:, 0]]
        for position in some.T[1:]:
            cells = (cells[:, :, None] & bits[position][:, None]).reshape(len(some), -1, bits.shape[-1])
        counted.append(np.bitwise_count(cells).sum(axis=-1, dtype=np.int64))
    return np.concatenate(counted)


def _count_between(block: Block, n: int, first: slice, second: slice) -> NDArray[np.int64] | FloatArray:
    """Count pairs in one block as a product of indicators.

    Single precision counts exactly where rows have no weights, or whole numbers of them, as resampled rows do.
    """
    dtype = np.float32 if block.weights is None or _are_counts(block.weights) else np.float64
    right = _indicators(block, second, n, dtype)
    left = right if first == second else _indicators(block, first, n, dtype)
    if block.weights is not None:
        return np.asarray((left * block.weights.astype(dtype)) @ right.T, dtype=np.float64)
    return np.asarray(left @ right.T, dtype=np.int64)


def _are_counts(weights: FloatArray) -> bool:
    """Tell whether all sums of some weights are whole numbers that single precision has."""
    return bool(weights.sum() < _MOST_SINGLE) and bool((weights == np.floor(weights)).all())


def _indicators(block: Block, columns: slice, n: int, dtype: type[np.floating[Any]]) -> NDArray[Any]:
    """Give a row for every state of every column, 1 where it is the cell's; a missing cell has no state."""
    codes = block.codes.T[columns]
    return _shown(codes, n).astype(dtype).reshape(len(codes) * n, len(block.codes))


def _shown(codes: CodeArray, n: int) -> NDArray[np.bool_]:
    """Say for every column, state and row whether the cell has the state; ``codes`` has a row a column."""
    return np.asarray(codes[:, None] == np.arange(n, dtype=codes.dtype)[:, None])
