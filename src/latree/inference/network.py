"""The rooted form of a model, on which messages run: parents, an order of visit, conditional probability tables."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from latree._util.arrays import FloatArray, IntArray
from latree.tree import Tree
from latree.tree.graph import children_of


@dataclass(frozen=True)
class Network:
    """A rooted tree (or forest) with its conditional probability tables.

    Attributes
    ----------
    n_observed : int
        Nodes below this number are the data's columns.
    parent : array of int
        The parent of each node; -1 for roots.
    order : array of int
        All nodes, each after its parent.
    tables : tuple of array
        Conditional probability tables, ``tables[v][x, h] = P(v = x | parent = h)``. A root's has one column.
    """

    n_observed: int
    parent: IntArray
    order: IntArray
    tables: tuple[FloatArray, ...]

    @classmethod
    def on_tree(cls, tree: Tree, tables: tuple[FloatArray, ...]) -> "Network":
        """Return the network of a tree that is rooted as :meth:`latree.Tree.rooted` does."""
        rooted = tree.rooted()
        return cls(tree.n_observed, rooted.parent, rooted.order, tables)

    @cached_property
    def children(self) -> tuple[tuple[int, ...], ...]:
        """The children of each node."""
        return children_of(self.parent, self.order)

    @cached_property
    def plain_leaves(self) -> frozenset[int]:
        """Nodes that are observed and have a parent and no children: the common and fast case."""
        nodes = self.order[(self.order < self.n_observed) & (self.parent[self.order] >= 0)].tolist()
        return frozenset(node for node in nodes if not self.children[node])

    def marginals(self) -> list[FloatArray]:
        """Return the distribution of every node, ``P(v) = Σ_h P(v | parent = h) P(parent = h)``."""
        return list(self._marginals)

    @cached_property
    def _marginals(self) -> list[FloatArray]:
        found: list[FloatArray] = [np.ones(1)] * len(self.parent)
        for node in self.order.tolist():
            parent = self.parent[node]
            found[node] = self.tables[node] @ (found[parent] if parent >= 0 else np.ones(1))
        return found

    def conditional(self, node: int, given: int) -> FloatArray:
        """Return ``P(node = x | given = h)`` of two neighbours, with one column per state h."""
        if self.parent[node] == given:
            return self.tables[node]
        if given not in self._parent_given_child:
            # Bayes' rule: P(parent | child) = P(child | parent) P(parent) / P(child), one row per state of the child.
            joint = self.tables[given] * self._marginals[node]
            total = joint.sum(axis=1, keepdims=True)
            # A state of the child that never occurs says nothing about the parent: use the marginal of the parent.
            known = np.where(total > 0, joint / np.where(total > 0, total, 1), self._marginals[node])
            self._parent_given_child[given] = known.T
        return self._parent_given_child[given]

    @cached_property
    def _parent_given_child(self) -> dict[int, FloatArray]:
        """What :meth:`conditional` computed by Bayes' rule, by the child."""
        return {}
