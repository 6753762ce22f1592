"""Tables of random codes, and the obvious way to count them."""

import numpy as np

from latree.table import Column, Table


def table_of(codes, n_states, weights=None):
    columns = [Column(f"c{j}", "text", tuple(map(str, range(n)))) for j, n in enumerate(n_states)]
    return Table.from_codes(columns, np.asarray(codes), weights)


def random_table(seed, n_rows=60, n_states=(2, 4, 3, 2, 5), weighted=False):
    """Uniform codes, a fifth of the cells missing."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, n_states, (n_rows, len(n_states)))
    codes[rng.random(codes.shape) < 0.2] = -1
    return table_of(codes, n_states, rng.random(n_rows) if weighted else None)


def weights_of(table):
    return np.ones(table.n_rows) if table.rows.weights is None else table.rows.weights


def naive_tables(table, groups, n):
    width = np.shape(groups)[1]
    counts = np.zeros((len(groups), *[n] * width))
    for row, weight in zip(table.codes(), weights_of(table), strict=True):
        for position, group in enumerate(groups):
            if all(row[j] >= 0 for j in group):
                counts[(position, *(row[j] for j in group))] += weight
    return counts


def counted(first, second, n):
    counts = np.zeros((n, n), dtype=int)
    np.add.at(counts, (first, second), 1)
    return counts
