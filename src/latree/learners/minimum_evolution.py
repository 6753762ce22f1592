"""Balanced minimum evolution: exchange neighbouring subtrees while the balanced length of the tree decreases.

The balanced length of a tree (Pauplin 2000) is ``L = Σ_{i<j} 2^(1 - p_ij) D_ij``, where ``p_ij`` counts the edges
between leaves i and j. At an inner edge with subtrees {ab|cd}, exchanging b and c changes L by
``((D_ac + D_bd) - (D_ab + D_cd)) / 4``, where ``D_xy`` is the balanced average distance between two subtrees: each time
a subtree branches, both branches get half of its weight. All averages are sums over leaves, so that one sweep over all
edges takes O(d²) operations.
"""

from typing import NamedTuple

import numpy as np

from latree._util.arrays import FloatArray, IntArray
from latree._util.progress import Progress, no_progress
from latree.counts.distances import finite
from latree.learners.structure import Structure
from latree.tree import Tree

_MIN_GAIN = 1e-9  # an exchange must shorten the tree by more than this share of its length


class _Exchange(NamedTuple):
    """At an edge: swap a subtree of its lower end with one of its upper end."""

    lower: int
    upper: int
    below: int
    above: int


def balanced_interchanges(tree: Tree, distance: FloatArray, progress: Progress = no_progress) -> Structure:
    """Improve a binary tree by balanced nearest-neighbour interchanges (BNNI).

    Neighbour joining decides pair by pair and cannot take a decision back. These interchanges can, and they look at
    all pairs of columns at once. They gain most on long trees of many columns.

    Parameters
    ----------
    tree : Tree
        A binary tree, with every column at a leaf.
    distance : array, shape (d, d)
        Distances between columns, for example :func:`latree.counts.covariance` by :func:`latree.counts.pairwise`.
    progress : callable
        Called with the number of sweeps, and the number that there may be.

    Returns
    -------
    Structure
        With the fact ``interchanges``.

    References
    ----------
    R. Desper, O. Gascuel: *Fast and Accurate Phylogeny Reconstruction Algorithms Based on the Minimum-Evolution
    Principle*, 2002. Y. Pauplin: *Direct Calculation of a Tree Length Using a Distance Matrix*, 2000.

    Examples
    --------
    >>> import numpy as np
    >>> from latree import Tree
    >>> from latree.learners import balanced_interchanges
    >>> true = Tree.from_newick("((a,b),(c,d),(e,f));")
    >>> wrong = Tree.from_newick("((a,c),(b,d),(e,f));").reordered(true.names)
    >>> balanced_interchanges(wrong, true.path_lengths().astype(float)).tree.robinson_foulds(true)
    0
    """
    d = tree.n_observed
    if d < 4:
        return Structure(tree, {"interchanges": 0})
    distance = finite(distance)
    current = _Weights(_adjacency(tree), d, distance)
    total = 0
    while True:
        progress(min(total, d), d)
        exchanges = current.improvements()
        # Exchanges at edges that share no node are made together. Each would shorten the tree by itself; if all of
        # them together do not, only the better half is made. A single one always shortens it.
        while exchanges:
            changed = _Weights(_exchanged(current.neighbors, exchanges), d, distance)
            if changed.length < current.length:
                break
            exchanges = exchanges[: len(exchanges) // 2]
        if not exchanges:
            break
        current, total = changed, total + len(exchanges)
    progress(d, d)
    edges = [(u, v) for u, around in enumerate(current.neighbors) for v in around if u < v]
    return Structure(Tree(tree.names, edges), {"interchanges": total})


def _adjacency(tree: Tree) -> list[list[int]]:
    return [[other for other, _ in pairs] for pairs in tree.neighbors]


def _exchanged(neighbors: list[list[int]], exchanges: list[_Exchange]) -> list[list[int]]:
    """Return the neighbours of every node after some exchanges."""
    changed = [list(around) for around in neighbors]

    def move(subtree: int, old: int, new: int) -> None:
        changed[old].remove(subtree)
        changed[new].append(subtree)
        changed[subtree][changed[subtree].index(old)] = new

    for exchange in exchanges:
        move(exchange.below, exchange.lower, exchange.upper)
        move(exchange.above, exchange.upper, exchange.lower)
    return changed


class _Weights:
    """A binary tree hung from a hidden node, with the balanced weights of the leaves in every subtree.

    Attributes
    ----------
    neighbors : list of list of int
    length : float
        The balanced length of the tree.
    """

    def __init__(self, neighbors: list[list[int]], d: int, distance: FloatArray) -> None:
        self.neighbors, self.d = neighbors, d
        self.parent = np.full(len(neighbors), -1, dtype=np.intp)
        order = [d]
        for node in order:
            for other in neighbors[node]:
                if other != self.parent[node]:
                    self.parent[other] = node
                    order.append(other)
        self.order = order
        # below[v]: the weights of the leaves in the subtree of v. averages[v]: its average distance from every leaf.
        self.below = np.zeros((len(neighbors), d))
        self.averages = np.zeros((len(neighbors), d))
        self.below[:d], self.averages[:d] = np.eye(d), distance
        for node in reversed(order[1:]):
            if node >= d:
                one, other = self._children(node)
                self.below[node] = (self.below[one] + self.below[other]) / 2
                self.averages[node] = (self.averages[one] + self.averages[other]) / 2
        # above[v]: the weights of all other leaves, as v sees them through its parent.
        self.above = np.zeros((len(neighbors), d))
        for node in order[1:]:
            parent = int(self.parent[node])
            sibling, *others = (child for child in self._children(parent) if child != node)
            further = self.below[others[0]] if others else self.above[parent]
            self.above[node] = (self.below[sibling] + further) / 2
        self.length = float((distance * self.above[:d]).sum()) / 2

    def _children(self, node: int) -> list[int]:
        return [other for other in self.neighbors[node] if other != self.parent[node]]

    def improvements(self) -> list[_Exchange]:
        """Return exchanges that shorten the tree, the best first, at edges that share no node."""
        lower = np.array([node for node in self.order[1:] if node >= self.d], dtype=np.intp)
        upper = self.parent[lower]
        a, b = np.array([self._children(node) for node in lower]).T
        siblings = [
            [child for child in self._children(top) if child != node]
            for node, top in zip(lower.tolist(), upper.tolist(), strict=True)
        ]
        c = np.array([around[0] for around in siblings], dtype=np.intp)
        # The fourth subtree: the root's third child, or everything above the upper end.
        rest = np.stack(
            [
                self.below[around[1]] if len(around) > 1 else self.above[top]
                for around, top in zip(siblings, upper.tolist(), strict=True)
            ]
        )

        def between(one: IntArray, weights: FloatArray) -> FloatArray:
            return np.asarray((self.averages[one] * weights).sum(axis=1))

        own = between(a, self.below[b]) + between(c, rest)
        # {ac|bd} comes about by exchanging b and c, {ad|bc} by exchanging a and c.
        gains = np.stack(
            [
                own - between(a, self.below[c]) - between(b, rest),
                own - between(b, self.below[c]) - between(a, rest),
            ]
        )
        which, gain = gains.argmax(axis=0), gains.max(axis=0) / 4
        found: list[_Exchange] = []
        touched: set[int] = set()
        for place in np.argsort(-gain, kind="stable").tolist():
            ends = {int(lower[place]), int(upper[place])}
            if gain[place] <= _MIN_GAIN * abs(self.length):
                break
            if not touched & ends:
                touched |= ends
                below = b[place] if which[place] == 0 else a[place]
                found.append(_Exchange(int(lower[place]), int(upper[place]), int(below), int(c[place])))
        return found
