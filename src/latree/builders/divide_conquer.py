"""Algorithm 2 of the paper: insert one leaf after another, each by quartet tests that halve what is left of the tree.

At an inner node R the tree falls into three branches. One leaf of each and the new leaf make a quartet, and the test
says with which of the three the new leaf belongs: that is the branch it must be inserted in. R is chosen to split the
*remaining* part of the tree most evenly, so that an insertion takes at most ``ceil(log2(i - 1))`` tests among i leaves.
The appendix's Insert tests three branches as well, but goes on in the lower two only and inserts nothing if the third,
the rest of the tree above R, is chosen; here that branch is gone on in like the others.
"""

from collections.abc import Sequence

import numpy as np

from latree.arrays import FloatArray, IntArray, RandomState, generator
from latree.builders import Progress, Structure, no_progress
from latree.builders.latent_class import latent_class
from latree.quartets import QuartetTest
from latree.tree import Tree


def divide_and_conquer(
    names: Sequence[str],
    test: QuartetTest,
    *,
    distance: FloatArray | None = None,
    random_state: RandomState = None,
    progress: Progress = no_progress,
) -> Structure:
    """Build a binary tree with O(d log d) quartet tests.

    Parameters
    ----------
    names : sequence of str
        Names of the leaves.
    test : callable
        From quadruples of leaves, shape (q, 4), to pairings.
    distance : array, shape (d, d), optional
        If given, a branch is represented by its leaf nearest to the new one; otherwise, as in the paper, by a random
        leaf. Far leaves share little with the new one, so near ones make better tests.
    random_state : int, Generator or None
        Order of insertion, and random representatives.
    progress : callable
        Told the number of leaves in the tree, and of all leaves.

    Returns
    -------
    Structure
        With the fact ``quartet_tests``. Up to three leaves have only one tree, and take no test.
    """
    d = len(names)
    if d < 4:
        return Structure(latent_class(names).tree, {"quartet_tests": 0})
    rng = generator(random_state)
    leaves = rng.permutation(d)
    tree = _GrowingTree(d, leaves[:3])
    n_tests = 0
    for count, leaf in enumerate(leaves[3:].tolist(), start=4):
        region = _Region(tree)
        while (node := region.middle()) is not None:
            branches = [_representative(leaf, branch, distance, rng) for branch in tree.branches(node)]
            pairing = test(np.array([[leaf, *branches]])).pairing
            region.keep(node, int(pairing[0]))
            n_tests += 1
        tree.insert(leaf, above=region.top)
        progress(count, d)
    return Structure(Tree(names, tree.edges()), {"quartet_tests": n_tests})


def _representative(leaf: int, branch: IntArray, distance: FloatArray | None, rng: np.random.Generator) -> int:
    if distance is None:
        return int(branch[rng.integers(len(branch))])
    return int(branch[np.argmin(distance[leaf, branch])])


class _GrowingTree:
    """A binary tree hung from one of its leaves, in which leaves below a node are neighbours in ``order``."""

    def __init__(self, d: int, first: IntArray) -> None:
        top, left, right = first.tolist()
        self.d = d
        self.parent = np.full(2 * d - 2, -1, dtype=np.intp)
        self.children: list[tuple[int, int]] = [(-1, -1)] * (2 * d - 2)  # of hidden nodes
        self.size = np.ones(2 * d - 2, dtype=np.intp)  # leaves below a node
        self.start = np.zeros(2 * d - 2, dtype=np.intp)  # where they begin in order
        self.order = np.array([left, right, top], dtype=np.intp)  # the leaf on top comes last
        self.root = d
        self.n_nodes = d + 1
        self.parent[[left, right, d]] = d, d, top
        self.children[d] = (left, right)
        self.size[d] = 2
        self.start[[left, right, top]] = 0, 1, 2

    def branches(self, node: int) -> tuple[IntArray, IntArray, IntArray]:
        """Give the leaves of the three branches at a hidden node: below its two children, and all others."""
        left, right = self.children[node]
        start, stop = self.start[node], self.start[node] + self.size[node]
        above = np.concatenate([self.order[:start], self.order[stop:]])
        return self._below(left), self._below(right), above

    def _below(self, node: int) -> IntArray:
        return self.order[self.start[node] : self.start[node] + self.size[node]]

    def insert(self, leaf: int, above: int) -> None:
        """Put a leaf on the edge from a node to its parent."""
        hidden, parent = self.n_nodes, int(self.parent[above])
        self.n_nodes += 1
        place = self.start[above] + self.size[above]
        self.order = np.insert(self.order, place, leaf)
        self.start[self.start >= place] += 1
        self.start[leaf], self.start[hidden] = place, self.start[above]
        self.size[leaf], self.size[hidden] = 1, self.size[above] + 1
        self.parent[[above, leaf, hidden]] = hidden, hidden, parent
        self.children[hidden] = (above, leaf)
        if above == self.root:
            self.root = hidden
        else:
            left, right = self.children[parent]
            self.children[parent] = (hidden, right) if left == above else (left, hidden)
        while parent >= self.d:
            self.size[parent] += 1
            parent = int(self.parent[parent])

    def edges(self) -> IntArray:
        nodes = np.flatnonzero(self.parent >= 0)
        return np.stack([nodes, self.parent[nodes]], axis=1)


class _Region:
    """Where in a tree the new leaf must go: what hangs below the edge above ``top``, less what was ruled out.

    Where a subtree was ruled out, its root stays as an end of the region; ``weight`` counts ends below a node.
    """

    def __init__(self, tree: _GrowingTree) -> None:
        self.tree = tree
        self.top = tree.root
        self.changed: dict[int, int] = {}  # weights that differ from the tree's sizes

    def weight(self, node: int) -> int:
        return self.changed.get(node, int(self.tree.size[node]))

    def middle(self) -> int | None:
        """Find the node that splits the region most evenly; None if only one edge is left."""
        total = self.weight(self.top) + 1  # the edge above the top ends the region, too
        if total == 2:
            return None
        node = self.top
        while True:
            heavier = max(self.tree.children[node], key=self.weight)
            if 2 * self.weight(heavier) <= total:
                return node
            node = heavier

    def keep(self, node: int, branch: int) -> None:
        """Go on in one of a node's branches: below one of its two children, or above it."""
        if branch < 2:
            self.top = self.tree.children[node][branch]
            return
        lost = self.weight(node) - 1
        self.changed[node] = 1
        while node != self.top:
            node = int(self.tree.parent[node])
            self.changed[node] = self.weight(node) - lost
