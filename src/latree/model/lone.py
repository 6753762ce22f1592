"""Columns that are connected to no other column: their probabilities are frequencies, and need no EM."""

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np

from latree._util.arrays import FloatArray, IntArray
from latree.counts.contingency import column_counts
from latree.inference.network import Network
from latree.table import Table
from latree.tree import Tree


class ConnectedPart:
    """The columns of a tree that are connected to others.

    Attributes
    ----------
    columns : array of int
        Their numbers.
    lone : list of int
        The numbers of all other columns.
    """

    def __init__(self, table: Table, tree: Tree) -> None:
        self._whole_table, self._whole_tree = table, tree
        has_edges = np.array([bool(tree.neighbors[column]) for column in range(tree.n_observed)])
        self.columns: IntArray = np.flatnonzero(has_edges)
        self.lone: list[int] = np.flatnonzero(~has_edges).tolist()

    @cached_property
    def table(self) -> Table:
        """The rows of these columns."""
        table = self._whole_table
        columns = tuple(table.columns[column] for column in self.columns)
        return replace(table, columns=columns, rows=table.rows.selected(self.columns), raw=None)

    @cached_property
    def tree(self) -> Tree:
        """The tree of these columns, with the same hidden variables."""
        tree = self._whole_tree
        number = np.cumsum([*(bool(near) for near in tree.neighbors[: tree.n_observed]), *[True] * tree.n_hidden]) - 1
        return Tree([tree.names[column] for column in self.columns], number[tree.edges])

    def part_of(self, tables: Sequence[FloatArray]) -> tuple[FloatArray, ...]:
        """Return the conditional probability tables of this part, given those of the whole tree."""
        whole = Network.on_tree(self._whole_tree, tuple(tables))
        return _tables(whole, self.tree, [*self.columns.tolist(), *range(self._whole_tree.n_observed, len(tables))])

    def whole(self, tables: Sequence[FloatArray], smoothing: float) -> tuple[tuple[FloatArray, ...], float]:
        """Return the tables of the whole tree, and what lone columns add to EM's objective.

        Parameters
        ----------
        tables : sequence of array
            Of this part.
        smoothing : float
            Rows added to every probability.
        """
        counts, objective = column_counts(self._whole_table), 0.0
        frequencies: dict[int, FloatArray] = {}
        for column in self.lone:
            smoothed = counts[column] + smoothing
            total = smoothed.sum()
            frequency = smoothed / total if total > 0 else np.full(len(smoothed), 1 / len(smoothed))
            frequencies[column] = frequency[:, None]
            seen = smoothed > 0
            objective += float(smoothed[seen] @ np.log(frequency[seen]))
        whole = self._whole_tree
        if not len(self.columns):
            return tuple(frequencies.values()), objective
        nodes = np.full(whole.n_nodes, -1)
        nodes[[*self.columns, *range(whole.n_observed, whole.n_nodes)]] = np.arange(self.tree.n_nodes)
        return _tables(Network.on_tree(self.tree, tuple(tables)), whole, nodes.tolist(), frequencies), objective


def _tables(
    network: Network, tree: Tree, nodes: Sequence[int], known: dict[int, FloatArray] | None = None
) -> tuple[FloatArray, ...]:
    """Return the tables of a tree whose nodes have other numbers in a network; some of them are known."""
    found = []
    for node, parent in enumerate(tree.rooted().parent.tolist()):
        if known and node in known:
            found.append(known[node])
        elif parent >= 0:
            found.append(network.conditional(nodes[node], nodes[parent]))
        else:
            found.append(network.marginals()[nodes[node]][:, None])
    return tuple(found)
