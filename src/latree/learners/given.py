"""Groups of columns that somebody has in mind: a hidden variable for each, and a tree of these."""

from collections.abc import Mapping, Sequence

import numpy as np

from latree._util.words import setting
from latree.counts.distances import information, pairwise
from latree.errors import InputError
from latree.learners.grouping import chow_liu
from latree.learners.structure import Structure
from latree.search.explain import Search
from latree.search.sample import MAX_ROWS
from latree.table import Column, Table
from latree.table.table import row_weights
from latree.tree import Tree


def columns_of_groups(key: Mapping[str, str], names: Sequence[str]) -> dict[str, list[int]]:
    """Return the numbers of the columns of each group, the groups in the order of their names.

    Columns without a group, and groups of a single column, are left out: one column says nothing about another.
    """
    found: dict[str, list[int]] = {group: [] for group in sorted(set(key.values()))}
    for number, name in enumerate(names):
        if name in key:
            found[key[name]].append(number)
    found = {group: columns for group, columns in found.items() if len(columns) > 1}
    if not found:
        raise InputError(f"{setting('key')}: no group has two columns that are in the table and say something")
    return found


def given_groups(table: Table, key: Mapping[str, str], seed: int, n_states: int | None) -> Structure:
    """Build the tree in which each group of columns has a hidden variable of its own.

    The hidden variables are connected as the Chow-Liu tree of their most probable states, with the edges that lower
    BIC. Columns without a group stay alone.

    Parameters
    ----------
    table : Table
    key : mapping of str to str
        The group of each column, by the name of the column.
    seed : int
    n_states : int or None
        Of every hidden variable, if it is given.
    """
    d, groups = table.n_columns, columns_of_groups(key, table.names)
    rows = table.units(MAX_ROWS, seed)
    stars = [(column, d + number) for number, columns in enumerate(groups.values()) for column in columns]
    apart = Search(rows, seed, n_states).sized(Tree(table.names, stars))
    states = [posterior.argmax(axis=1) for posterior in apart.posteriors(rows).values()]
    sizes = apart.n_states[d:].tolist()
    names = [str(number) for number in range(len(groups))]
    hidden = [Column(name, "integer", tuple(map(str, range(n)))) for name, n in zip(names, sizes, strict=True)]
    tops = Table.from_codes(hidden, np.stack(states, axis=1).astype(np.int32), rows.map(row_weights))
    shared = pairwise(tops, information)
    penalty = np.log(tops.total_weight) / 2
    edges = [
        (d + one, d + other)
        for one, other in (chow_liu(names, shared).tree.edges.tolist() if len(groups) > 1 else [])
        if tops.total_weight * shared[one, other] > penalty * (sizes[one] - 1) * (sizes[other] - 1)
    ]
    return Structure(Tree(table.names, stars + edges))
