"""Contingency tables: how often the states of two or four columns occur together.

A table counts the rows in which all of its columns are present. Columns with fewer states than the widest one are
padded with zeros, so that many tables make one array; zero rows and columns change no singular value.
"""

from functools import partial

import numpy as np
from numpy.typing import NDArray

from latree.arrays import FloatArray, IntArray
from latree.errors import InputError
from latree.table import Block, Table, missing_code

# One quartet of 200-state columns would take 1.6e9 cells: refuse before the memory goes.
MAX_CELLS = 2**27


def column_counts(table: Table) -> list[FloatArray]:
    """Count each column's states: rows, or their weight."""

    def count(block: Block) -> tuple[FloatArray, ...]:
        states = [np.minimum(block.codes[:, j], n) for j, n in enumerate(table.n_states)]
        return tuple(
            np.bincount(x, block.weights, n + 1).astype(float) for x, n in zip(states, table.n_states, strict=True)
        )

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
    return column_tables(table, 0, table.n_columns)


def column_tables(table: Table, start: int, stop: int) -> NDArray[np.int64] | FloatArray:
    """Count the states of pairs whose first column is one of ``start .. stop-1``, the second any.

    Returns
    -------
    array, shape (stop - start, d, n, n)
    """
    d, n = table.n_columns, int(table.n_states.max())
    _check_size(table, np.arange(d), (stop - start) * d * n * n)
    counts = table.sum(partial(_pairs_from, n=n, start=start, stop=stop))
    assert not isinstance(counts, tuple)
    return counts.reshape(stop - start, n, d, n).transpose(0, 2, 1, 3)


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
    counts = table.sum(partial(_count_groups, groups=groups, n=n))
    assert not isinstance(counts, tuple)
    return counts.reshape(len(groups), *[n] * width)


def _check_size(table: Table, columns: IntArray, cells: int) -> None:
    if cells > MAX_CELLS and len(columns):
        widest = max(columns, key=lambda j: table.n_states[j])
        raise InputError(
            f"column {table.names[widest]!r} has {table.n_states[widest]} states: tables of {cells:.1e} cells would "
            "not fit in memory; ask for fewer at once"
        )


def _count_groups(block: Block, groups: IntArray, n: int) -> NDArray[np.int64] | FloatArray:
    """Count each group's states in one block, all groups in one pass."""
    cells = n ** groups.shape[1]
    columns = block.codes.T
    index = np.zeros((len(groups), len(block.codes)), dtype=np.intp)
    complete = np.ones(index.shape, dtype=bool)
    for position in groups.T:
        codes = columns[position]
        complete &= codes != missing_code(codes)
        index = index * n + codes
    index += np.arange(len(groups))[:, None] * cells
    weights = None if block.weights is None else np.broadcast_to(block.weights, index.shape)[complete]
    return np.bincount(index[complete], weights=weights, minlength=len(groups) * cells)


def _pairs_from(block: Block, n: int, start: int, stop: int) -> NDArray[np.int64] | FloatArray:
    """Count pairs in one block as a product of its indicators; a missing cell has none.

    Single precision counts exactly: a block has far fewer than 2^24 rows.
    """
    dtype = np.float32 if block.weights is None else np.float64
    rows, d = block.codes.shape
    indicators = np.zeros((rows, d, n), dtype=dtype)
    row, column = np.nonzero(block.codes != missing_code(block.codes))
    indicators[row, column, block.codes[row, column]] = 1
    second = indicators.reshape(rows, d * n)
    first = second[:, start * n : stop * n]
    if block.weights is not None:
        return np.asarray((first * block.weights[:, None]).T @ second)
    return (first.T @ second).astype(np.int64)
