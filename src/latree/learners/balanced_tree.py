"""A binary tree with the balanced averages of distances between its subtrees.

Each time a subtree branches, both branches get half of its weight. The balanced length of a tree (Pauplin 2000) is
``L = Σ_{i<j} 2^(1 - p_ij) D_ij``, where ``p_ij`` counts the edges between leaves i and j.
"""

import numpy as np

from latree._util.arrays import FloatArray


class BalancedTree:
    """A binary tree hung from a hidden node, with the balanced weights of the leaves in every subtree.

    Parameters
    ----------
    neighbors : list of list of int
        Of each node; nodes below ``len(distance)`` are leaves.
    distance : array, shape (d, d)

    Attributes
    ----------
    order : list of int
        All nodes, each one after its parent.
    below, above : array, shape (nodes, d)
        For each node the weights of the leaves in its subtree, and those of all other leaves, as it sees them through
        its parent.
    averages : array, shape (nodes, d)
        The average distance of each node's subtree from every leaf.
    length : float
        The balanced length of the tree.
    """

    def __init__(self, neighbors: list[list[int]], distance: FloatArray) -> None:
        self.neighbors, self.d = neighbors, len(distance)
        d = self.d
        self.parent = np.full(len(neighbors), -1, dtype=np.intp)
        self.order = [d]
        for node in self.order:
            for other in neighbors[node]:
                if other != self.parent[node]:
                    self.parent[other] = node
                    self.order.append(other)
        self.below = np.zeros((len(neighbors), d))
        self.averages = np.zeros((len(neighbors), d))
        self.below[:d], self.averages[:d] = np.eye(d), distance
        for node in reversed(self.order[1:]):
            if node >= d:
                one, other = self.children(node)
                self.below[node] = (self.below[one] + self.below[other]) / 2
                self.averages[node] = (self.averages[one] + self.averages[other]) / 2
        self.above = np.zeros((len(neighbors), d))
        for node in self.order[1:]:
            parent = int(self.parent[node])
            sibling, *others = (child for child in self.children(parent) if child != node)
            further = self.below[others[0]] if others else self.above[parent]
            self.above[node] = (self.below[sibling] + further) / 2
        self.length = float((distance * self.above[:d]).sum()) / 2

    def children(self, node: int) -> list[int]:
        """Return the neighbours of a node without its parent."""
        return [other for other in self.neighbors[node] if other != self.parent[node]]
