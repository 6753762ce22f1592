"""Binary trees that a search starts from, joined from measures of all pairs of columns."""

import numpy as np

from latree._util.arrays import IntArray
from latree.counts.distances import chance, covariance, information, pairwise_all
from latree.learners.joining import average_linkage, neighbor_joining
from latree.learners.minimum_evolution import minimum_evolution
from latree.table import Table
from latree.tree import Tree

# A column is left alone if chance would show a pair as dependent as its closest one with at least this probability.
# Such pairs are about five times as frequent as that if many states are rare: their tail is approximate.
_CHANCE = 0.001


def starting_trees(table: Table) -> list[Tree]:
    """Return binary trees to start from; none if no two columns are dependent."""
    columns, trees = joined_trees(table)
    number = np.array([*columns, *range(table.n_columns, table.n_columns + len(columns))])
    return [Tree(table.names, number[tree.edges]) for tree in trees]


def joined_trees(table: Table, n_columns: int | None = None) -> tuple[IntArray, list[Tree]]:
    """Return the columns that depend on others, and binary trees of these; no trees if there are no such columns.

    Neighbour joining, balanced minimum evolution and average linkage are each best on some tables.

    Parameters
    ----------
    table : Table
    n_columns : int, optional
        Of the whole table, if this is a part of one: the closest of all its pairs may be close by chance.
    """
    d = table.n_columns
    p_values, distance, similarity = pairwise_all(table, [chance, covariance, information])
    np.fill_diagonal(p_values, 1)
    n_pairs = (n_columns or d) * ((n_columns or d) - 1) / 2
    columns = np.flatnonzero(p_values.min(axis=1) * n_pairs < _CHANCE)
    if not len(columns):
        return columns, []
    near, alike = distance[np.ix_(columns, columns)], similarity[np.ix_(columns, columns)]
    chosen = [table.names[column] for column in columns]
    joined = neighbor_joining(chosen, near).tree
    return columns, [joined, minimum_evolution(joined, near).tree, average_linkage(chosen, alike).tree]
