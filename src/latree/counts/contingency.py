"""Contingency tables of pairs and quartets of columns: sums over rows.

Only stored cells are multiplied. The cells of a contingency table that hold a column's background follow from the
totals of its other cells, so the time depends on the stored cells of each row, not on the number of columns.

A contingency table counts the rows in which all of its columns are present. Columns with fewer states than the widest
one are padded with zeros, so that many contingency tables fit in one array. Rows and columns of zeros change no
singular value.
"""

from functools import partial
from math import isqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array

from latree._util.arrays import CodeArray, FloatArray, IntArray
from latree._util.workers import map_ordered
from latree.errors import InputError
from latree.table import Block, Table
from latree.table.rows import missing_code, total_weight
from latree.table.sparse import SparseRows

# Contingency tables that one call returns have at most this many cells (1 GB). One quartet of columns with 200 states
# has 1.6e9, and is refused before memory runs out.
MAX_CELLS = 2**27

# Pair counts are made and measured in tiles of this many cells (8 MB).
PAIR_CELLS_AT_ONCE = 2**20


def sparse_pair_counts(rows: SparseRows, n: int, first: slice, second: slice) -> NDArray[np.int64] | FloatArray:
    """Count the pairs of states of each column of ``first`` with each column of ``second``.

    Weights must be whole numbers. The state after the last, number ``n``, is a missing cell: it is counted like the
    others and left out at the end.

    Returns
    -------
    array, shape (columns of first, n, columns of second, n)
    """
    left, right = _stored_indicators(rows, n, first), _stored_indicators(rows, n, second)
    weights = np.ones(rows.n_rows, dtype=np.int64) if rows.weights is None else rows.weights
    backgrounds = _background(rows, n, first), _background(rows, n, second)
    shape = len(backgrounds[0]), n + 1, len(backgrounds[1]), n + 1
    counts: NDArray[Any] = (left.T @ right.multiply(weights[:, None]).tocsr()).toarray().reshape(shape)
    # The weight of each state: what is not stored is background.
    totals: list[NDArray[Any]] = []
    for indicators, background in zip((left, right), backgrounds, strict=True):
        total = (indicators.T @ weights).reshape(-1, n + 1)
        total[np.arange(len(total)), background] += weights.sum() - total.sum(axis=1)
        totals.append(total)
    # Background of the second column: the rows with each stored state of the first, less those that are counted.
    stored = totals[0].copy()
    stored[np.arange(len(stored)), backgrounds[0]] = 0
    counts[:, :, np.arange(shape[2]), backgrounds[1]] += stored[:, :, None] - counts.sum(axis=3)
    # Background of the first column: the rows with each state of the second, less those that are counted.
    counts[np.arange(shape[0]), backgrounds[0]] += totals[1] - counts.sum(axis=1)
    return counts[:, :n, :, :n]


def _stored_indicators(rows: SparseRows, n: int, columns: slice) -> csc_array:
    """Return one column for every state of every column, and for its missing cells: 1 where a stored cell has it."""
    part = rows.by_column[:, columns]
    first = (n + 1) * np.repeat(np.arange(part.shape[1]), np.diff(part.indptr))
    place = first + np.minimum(part.data, n)
    ones = np.ones(len(place), dtype=np.int64 if rows.weights is None else np.float64)
    return csc_array((ones, (part.indices, place)), shape=(rows.n_rows, part.shape[1] * (n + 1)))


def _background(rows: SparseRows, n: int, columns: slice) -> IntArray:
    return np.minimum(rows.background[columns], n).astype(np.intp)


# Cell numbers of rows are computed for this many rows and groups at a time, so that they stay in the cache.
_NUMBERS_AT_ONCE = 2**16
# Bits are combined this many 64-bit words at a time, so that they stay in the cache.
_WORDS_AT_ONCE = 2**14
# Up to this many cells per group, counting bits is faster than counting cell numbers.
_FEW_CELLS = 16
# Tables of at most this many rows are one or two blocks: threads then share out the groups instead of the rows.
_FEW_ROWS = 2**13
# Threads take this many groups at a time when they share out groups.
_GROUPS_AT_ONCE = 2**9
# Single and double precision represent all whole numbers below these.
_MAX_EXACT_SINGLE = 2**24
_MAX_EXACT_DOUBLE = 2**53


def column_counts(table: Table) -> list[FloatArray]:
    """Return for each column how many rows have each of its states, or the weight of these rows."""
    n_states = table.n_states

    def count(block: Block) -> tuple[FloatArray, ...]:
        states = [np.minimum(block.codes[:, j], n) for j, n in enumerate(n_states)]
        return tuple(np.bincount(x, block.weights, n + 1).astype(float) for x, n in zip(states, n_states, strict=True))

    return [np.asarray(counts)[:-1] for counts in table.sum(count)]


def pair_tables(table: Table, pairs: IntArray | None = None) -> NDArray[np.int64] | FloatArray:
    """Return the contingency tables of pairs of columns.

    Use them with :func:`latree.research.as_pairs` and a measure such as :func:`latree.research.log_det`. If only the
    measure of all pairs matters, :func:`latree.research.pairwise` needs less memory.

    Parameters
    ----------
    table : Table
    pairs : array of int, shape (p, 2), optional
        Column indices. By default all pairs.

    Returns
    -------
    array, shape (p, n, n), or (d, d, n, n) for all pairs
        ``counts[..., x, y]`` is the number of rows (or their weight) with state x in the first column and y in the
        second; n is the largest number of states. Integers unless the rows have weights. Rows in which one of the two
        cells is missing are not counted.

    Examples
    --------
    >>> import latree, numpy as np
    >>> from latree.research import pair_tables
    >>> table = latree.as_table(np.array([[0, 1], [0, 1], [1, 0], [1, 1]]))
    >>> pair_tables(table, [[0, 1]])
    array([[[0, 2],
            [1, 1]]])
    """
    if pairs is not None:
        return _group_tables(table, pairs, width=2)
    d, n = table.n_columns, int(table.n_states.max())
    _check_size(table, np.arange(d), d * d * n * n)
    tiles = column_tiles(table)
    counted = map_ordered(lambda tile: pair_tables_between(table, *tile, n), tiles)
    result: NDArray[Any] | None = None
    for (first, second), counts in zip(tiles, counted, strict=True):
        if result is None:
            result = np.empty((n, n, d, d), dtype=counts.dtype).transpose(2, 3, 0, 1)
        result[first, second] = counts
        if first != second:
            result[second, first] = counts.transpose(1, 0, 3, 2)
    assert result is not None
    return result


def column_tiles(table: Table) -> list[tuple[slice, slice]]:
    """Return squares of pairs of columns that are counted at once, without those below the diagonal."""
    d, step = table.n_columns, max(1, isqrt(PAIR_CELLS_AT_ONCE) // int(table.n_states.max()))
    return [(slice(i, i + step), slice(j, j + step)) for i in range(0, d, step) for j in range(i, d, step)]


def pair_tables_between(
    table: Table, first: slice, second: slice, n: int | None = None
) -> NDArray[np.int64] | FloatArray:
    """Return the contingency tables of each column of ``first`` with each column of ``second``.

    Returns
    -------
    array, shape (columns of first, columns of second, n, n)
        By default, n is the number of states of the widest of these columns.
    """
    sizes = table.n_states[first], table.n_states[second]
    n, shape = n or int(max(own.max() for own in sizes)), (len(sizes[0]), len(sizes[1]))
    rows = table.rows
    # Fractions are added row by row, so that their sums do not depend on where the rows are.
    if isinstance(rows, SparseRows) and (rows.weights is None or _exact(rows.weights, _MAX_EXACT_DOUBLE)):
        counts = sparse_pair_counts(rows, n, first, second)
    else:
        counts = np.asarray(table.sum(partial(_count_between, n=n, first=first, second=second)))
    # The same cells of all pairs are adjacent in memory: sums over the few cells of a pair are then many times as fast.
    cells: NDArray[Any] = np.ascontiguousarray(counts.reshape(shape[0], n, shape[1], n).transpose(1, 3, 0, 2))
    return cells.transpose(2, 3, 0, 1)


def quartet_tables(table: Table, quartets: IntArray) -> NDArray[np.int64] | FloatArray:
    """Return the contingency tables of quadruples of columns: fourth-order tensors of counts.

    They are what :func:`latree.research.nuclear_test` asks for.

    Parameters
    ----------
    table : Table
    quartets : array of int, shape (q, 4)
        Column indices.

    Returns
    -------
    array, shape (q, n, n, n, n)
        The counts; n is the largest number of states among the columns asked for. Integers unless the rows have
        weights. Rows in which one of the four cells is missing are not counted.

    Examples
    --------
    >>> import latree, numpy as np
    >>> from latree.research import quartet_tables
    >>> table = latree.as_table(np.array([[0, 0, 0, 0], [0, 0, 1, 1], [1, 1, 0, 0]]))
    >>> counts = quartet_tables(table, [[0, 1, 2, 3]])
    >>> counts.shape, int(counts[0, 0, 0, 1, 1])
    ((1, 2, 2, 2, 2), 1)
    """
    return _group_tables(table, quartets, width=4)


def _group_tables(table: Table, groups: IntArray, width: int) -> NDArray[np.int64] | FloatArray:
    """Return the contingency tables of groups of ``width`` columns each."""
    groups = np.asarray(groups, dtype=np.intp).reshape(-1, width)
    n = int(table.n_states[groups].max(initial=0))
    _check_size(table, groups.ravel(), len(groups) * n**width)
    if not len(groups):
        return np.zeros((0, *[n] * width), dtype=np.int64)

    def count(batch: IntArray) -> NDArray[np.int64] | FloatArray:
        counts = table.sum(partial(_count_groups, groups=batch, n=n))
        assert not isinstance(counts, tuple)
        return counts

    # Threads share out the rows in blocks. If there are few rows, they share out the groups instead.
    step = _GROUPS_AT_ONCE if table.n_rows <= _FEW_ROWS else len(groups)
    batches = [groups[start : start + step] for start in range(0, len(groups), step)]
    return np.concatenate(list(map_ordered(count, batches))).reshape(len(groups), *[n] * width)


def _check_size(table: Table, columns: IntArray, cells: int) -> None:
    if cells > MAX_CELLS and len(columns):
        widest = max(columns, key=lambda j: table.n_states[j])
        raise InputError(
            f"column {table.names[widest]!r} has {table.n_states[widest]} states: contingency tables of {cells:.1e} "
            "cells would not fit in memory; merge rare values, or count fewer columns at once"
        )


def _count_groups(block: Block, groups: IntArray, n: int) -> NDArray[np.int64] | FloatArray:
    """Count the states of each group of columns in one block; returns shape (groups, cells)."""
    count = _count_bits if n ** groups.shape[1] <= _FEW_CELLS and block.weights is None else _count_numbers
    return count(block, groups, n)


def _count_numbers(block: Block, groups: IntArray, n: int) -> NDArray[np.int64] | FloatArray:
    """Count the numbers of the cells that rows fall in.

    Rows with a missing value are counted in one more cell, which is dropped.
    """
    cells = n ** groups.shape[1]
    columns = block.codes.T
    missing = missing_code(columns)
    step = max(1, _NUMBERS_AT_ONCE // max(1, len(block.codes)))
    counted = []
    for start in range(0, len(groups), step):
        batch = groups[start : start + step]
        # The cell of states x1, x2, ... has the number ((x1 n) + x2) n + ...
        number = np.zeros((len(batch), len(block.codes)), dtype=np.min_scalar_type(cells))
        absent = np.zeros(number.shape, dtype=bool)
        for codes in (columns[position] for position in batch.T):
            absent |= codes == missing
            number *= n
            np.add(number, codes, out=number, casting="unsafe")
        number[absent] = cells
        # Every group has numbers of its own, so that one bincount counts them all.
        place = number + (cells + 1) * np.arange(len(batch))[:, None]
        weights = None if block.weights is None else np.broadcast_to(block.weights, place.shape).ravel()
        counts = np.bincount(place.ravel(), weights=weights, minlength=len(batch) * (cells + 1))
        counted.append(counts.reshape(-1, cells + 1)[:, :cells])
    return np.concatenate(counted)


def _count_bits(block: Block, groups: IntArray, n: int) -> NDArray[np.int64]:
    """Keep one bit per row for every state, and count the bits that the states of a cell share.

    Rows must not have weights. With 16 cells it takes half the time of counting cell numbers, with 81 cells one and a
    half times as much.
    """
    used, places = np.unique(groups, return_inverse=True)
    return count_bits(state_bits(block.codes.T[used], n), places.reshape(groups.shape))


def state_bits(codes: CodeArray, n: int) -> NDArray[np.uint64]:
    """Return for every column and state one bit per row, 1 in the rows with the state; ``codes`` has a row per column.

    Returns
    -------
    array, shape (d, n, words of 64 bits)
    """
    packed = np.packbits(_indicator(codes, n), axis=-1)
    return np.pad(packed, [(0, 0), (0, 0), (0, -packed.shape[-1] % 8)]).view(np.uint64)


def count_bits(bits: NDArray[np.uint64], groups: IntArray) -> NDArray[np.int64]:
    """Count the rows in each cell of groups of columns, given :func:`state_bits`; returns shape (groups, cells)."""
    n = bits.shape[1]
    step = max(1, _WORDS_AT_ONCE // max(1, n ** groups.shape[1] * bits.shape[-1]))
    counted = []
    for start in range(0, len(groups), step):
        batch = groups[start : start + step]
        cells = bits[batch[:, 0]]
        for position in batch.T[1:]:
            cells = (cells[:, :, None] & bits[position][:, None]).reshape(len(batch), -1, bits.shape[-1])
        counted.append(np.bitwise_count(cells).sum(axis=-1, dtype=np.int64))
    return np.concatenate(counted)


def _count_between(block: Block, n: int, first: slice, second: slice) -> NDArray[np.int64] | FloatArray:
    """Count pairs of states in one block as a matrix product of indicators.

    Single precision counts exactly if rows have no weights, or weights that are whole numbers, as resampled rows have.
    """
    in_single = block.weights is None or _exact(block.weights, _MAX_EXACT_SINGLE)
    dtype = np.float32 if in_single else np.float64
    parts = [block.codes.T[first], block.codes.T[second]]
    is_complete = in_single and n > 1 and not any((codes == missing_code(codes)).any() for codes in parts)
    counted = n - is_complete  # without missing cells, the totals tell how often the last state occurs
    right = _indicators(parts[1], counted, dtype)
    left = right if first == second else _indicators(parts[0], counted, dtype)
    weighted = left if block.weights is None else left * block.weights.astype(dtype)
    counts: NDArray[Any] = np.asarray(weighted @ right.T, dtype=np.int64 if block.weights is None else np.float64)
    if is_complete:
        own = weighted if first == second else right if block.weights is None else right * block.weights.astype(dtype)
        counts = _with_last_state(counts, weighted.sum(axis=1), own.sum(axis=1), total_weight(block), n)
    return counts


def _with_last_state(
    counts: NDArray[Any], left: NDArray[Any], right: NDArray[Any], total: float, n: int
) -> NDArray[Any]:
    """Add the last state of each column to counts of pairs of all other states, given the totals of these.

    Parameters
    ----------
    counts : array, shape (columns * (n - 1), columns * (n - 1))
    left, right : array
        How often each state of the first and of the second columns occurs.
    total : float
        The number of rows.
    n : int
        The number of states.
    """
    left, right = (totals.astype(counts.dtype).reshape(-1, n - 1) for totals in (left, right))
    found = np.empty((len(left), n, len(right), n), dtype=counts.dtype)
    inner = found[:, :-1, :, :-1]
    inner[:] = counts.reshape(inner.shape)
    found[:, :-1, :, -1] = left[:, :, None] - inner.sum(axis=3)
    found[:, -1, :, :-1] = right - inner.sum(axis=1)
    found[:, -1, :, -1] = int(total) - right.sum(axis=1) - found[:, :-1, :, -1].sum(axis=1)
    return found.reshape(len(left) * n, len(right) * n)


def _exact(weights: FloatArray, limit: float) -> bool:
    """Return whether all sums of these weights are exact: whole numbers, whose sum is below a limit."""
    return bool(weights.sum() < limit) and bool((weights == np.floor(weights)).all())


def _indicators(codes: CodeArray, n: int, dtype: type[np.floating[Any]]) -> NDArray[Any]:
    """Return one row per state of every column, 1 in the rows that have the state; ``codes`` has one row per column."""
    return _indicator(codes, n).astype(dtype).reshape(len(codes) * n, codes.shape[1])


def _indicator(codes: CodeArray, n: int) -> NDArray[np.bool_]:
    """Return for every column, state and row whether the cell has the state; ``codes`` has one row per column.

    A missing cell has no state.
    """
    return np.asarray(codes[:, None] == np.arange(n, dtype=codes.dtype)[:, None])
