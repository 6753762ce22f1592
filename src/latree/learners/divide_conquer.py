"""Algorithm 2 of the paper: insert leaf after leaf, each by quartet tests that halve what is left of the tree.

At an inner node R the tree falls into three branches. One leaf of each and the new leaf make a quartet, and the test
says with which of the three the new leaf belongs: that is the branch it must be inserted in. R is chosen to split the
*remaining* part of the tree most evenly, so that a tree of i leaves takes at most ``ceil(log2(i - 1))`` tests a leaf.
The appendix's Insert tests three branches as well, but goes on in the lower two only and inserts nothing if the third,
the rest of the tree above R, is chosen; here that branch is gone on in like the others.

Leaves are inserted in batches that grow with the tree. All leaves of a batch go down the tree together, a round of
tests a step. Of those that come to the same edge the first is inserted, and the others go on among the three edges that
meet at the node this makes, again a round a step. As the order is random, few meet on one edge, so that the number of
rounds grows as a power of log d, while one leaf after another takes d log d.

A leaf and its near relatives must not be in one batch: none of them could then represent a branch for the others, and
far representatives make poor tests. Where distances are known, a leaf waits for the next batch if another one of the
batch is nearer to it than the third nearest leaf in the tree.
"""

from collections.abc import Sequence

import numpy as np

from latree._util.arrays import FloatArray, IntArray, RandomState, generator
from latree._util.progress import Progress, no_progress
from latree.counts.quartets.pairings import QuartetTest
from latree.learners.latent_class import latent_class
from latree.learners.structure import Structure
from latree.tree import Tree

_ONE_BY_ONE = 128  # leaves that a tree has before batches begin: what they miss of each other costs some accuracy
_BATCH_SHARE = 0.25  # leaves that may be in a batch, for each leaf in the tree
_NEAREST = 3  # leaves of the tree that must be nearer to a new one than the others of its batch


def divide_and_conquer(
    names: Sequence[str],
    test: QuartetTest,
    *,
    distance: FloatArray | None = None,
    random_state: RandomState = None,
    progress: Progress = no_progress,
) -> Structure:
    """Build a binary tree with O(d log d) quartet tests, in few rounds.

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
        With the facts ``quartet_tests`` and ``quartet_rounds``, how many tests there were and in how many batches they
        were asked. Up to three leaves have only one tree, and take no test.
    """
    d = len(names)
    if d < 4:
        return Structure(latent_class(names).tree, {"quartet_tests": 0, "quartet_rounds": 0})
    rng = generator(random_state)
    leaves = rng.permutation(d)
    tree = _GrowingTree(d, leaves[:3])
    n_tests = n_rounds = 0
    waiting = leaves[3:]
    while len(waiting):
        new = waiting[: int(_BATCH_SHARE * tree.n_leaves) if tree.n_leaves >= _ONE_BY_ONE else 1]
        if distance is not None:
            new = _independent(new, tree.order, distance)
        waiting = waiting[~np.isin(waiting, new)]
        first, onward = tree.halves()
        at = np.full(len(new), first)
        while len(new):
            while len(asking := np.flatnonzero(at >= 0)):
                branches = _representatives(tree, new[asking], at[asking], distance, rng)
                pairing = test(np.column_stack([new[asking], branches])).pairing
                at[asking] = onward[at[asking], pairing]
                n_tests += len(asking)
                n_rounds += 1
            edges, chosen, meeting = np.unique(~at, return_index=True, return_inverse=True)
            hidden = tree.insert(new[chosen], edges)
            onward[hidden] = np.column_stack([~edges, ~new[chosen], ~hidden])
            at, new = np.delete(hidden[meeting], chosen), np.delete(new, chosen)
            progress(tree.n_leaves, d)
    return Structure(Tree(names, tree.edges()), {"quartet_tests": n_tests, "quartet_rounds": n_rounds})


def _independent(new: IntArray, placed: IntArray, distance: FloatArray) -> IntArray:
    """Choose leaves in their order, each of which has its nearest relatives in the tree, not among the chosen ones."""
    chosen: list[int] = []
    for leaf in new.tolist():
        reach = np.partition(distance[leaf, placed], _NEAREST - 1)[_NEAREST - 1]
        if not chosen or distance[leaf, chosen].min() >= reach:
            chosen.append(leaf)
    return np.array(chosen)


def _representatives(
    tree: "_GrowingTree", new: IntArray, nodes: IntArray, distance: FloatArray | None, rng: np.random.Generator
) -> IntArray:
    """Choose a leaf of each of the three branches at a node, for every new leaf that asks at one; shape (q, 3)."""
    if distance is None:
        return tree.leaves_of_branches(nodes, rng.integers(tree.branch_sizes(nodes)))
    nearest = np.empty((len(new), 3), dtype=np.intp)
    for row, leaf, node in zip(nearest, new, nodes, strict=True):
        row[:] = [branch[np.argmin(distance[leaf, branch])] for branch in tree.branches(node)]
    return nearest


class _GrowingTree:
    """A binary tree hung from one of its leaves, in which leaves below a node are neighbours in ``order``.

    An edge is named by the node below it.
    """

    def __init__(self, d: int, first: IntArray) -> None:
        self.top, left, right = first.tolist()
        self.d = d
        self.n_leaves = 3
        self.parent = np.full(2 * d - 2, -1, dtype=np.intp)
        self.children = np.full((2 * d - 2, 2), -1, dtype=np.intp)  # the leaf on top has only one
        self.parent[[left, right, d]] = d, d, self.top
        self.children[d] = left, right
        self.children[self.top, 0] = d
        self._arrange()

    def insert(self, leaves: IntArray, edges: IntArray) -> IntArray:
        """Put leaves on edges, at most one on each, and give the hidden nodes this makes."""
        first = self.d + self.n_leaves - 2
        hidden = np.arange(first, first + len(leaves))
        parents = self.parent[edges]
        self.children[parents, (self.children[parents, 1] == edges).astype(np.intp)] = hidden
        self.children[hidden] = np.column_stack([edges, leaves])
        self.parent[hidden] = parents
        self.parent[edges] = self.parent[leaves] = hidden
        self.n_leaves += len(leaves)
        self._arrange()
        return hidden

    def _arrange(self) -> None:
        """Put the leaves in order, the one on top last, and find which of them are below each node."""
        children, parent = self.children.tolist(), self.parent.tolist()
        nodes, stack = [], [children[self.top][0]]
        while stack:
            node = stack.pop()
            nodes.append(node)
            if node >= self.d:
                left, right = children[node]
                stack += [right, left]
        size = [1] * self.d + [0] * (len(parent) - self.d)
        for node in reversed(nodes[1:]):
            size[parent[node]] += size[node]
        visited = np.array([*nodes, self.top])
        is_leaf = visited < self.d
        self.order = visited[is_leaf]
        self.size = np.array(size)  # leaves below a node
        self.start = np.zeros_like(self.size)  # where they begin in order
        self.start[visited] = np.cumsum(is_leaf) - is_leaf

    def branches(self, node: int) -> tuple[IntArray, IntArray, IntArray]:
        """Give the leaves of the three branches at a hidden node: below its two children, and all others."""
        start, stop = self.start[node], self.start[node] + self.size[node]
        middle = self.start[self.children[node, 1]]
        above = np.concatenate([self.order[:start], self.order[stop:]])
        return self.order[start:middle], self.order[middle:stop], above

    def branch_sizes(self, nodes: IntArray) -> IntArray:
        """Count the leaves of the three branches at hidden nodes; shape (q, 3)."""
        return np.column_stack([self.size[self.children[nodes]], self.n_leaves - self.size[nodes]])

    def leaves_of_branches(self, nodes: IntArray, numbers: IntArray) -> IntArray:
        """Give a leaf of each of the three branches at hidden nodes, by its number in the branch; shape (q, 3)."""
        places = numbers.copy()
        places[:, :2] += self.start[self.children[nodes]]
        places[:, 2] += np.where(places[:, 2] >= self.start[nodes], self.size[nodes], 0)
        return self.order[places]

    def halves(self) -> tuple[int, IntArray]:
        """Plan where a new leaf asks first, and where next after each answer.

        Returns
        -------
        first : int
            The hidden node that splits the tree most evenly.
        onward : array, shape (2d - 2, 3)
            For every hidden node and each of its branches the hidden node that splits what is then left most evenly,
            or ``~edge`` if only that edge is left.
        """
        children, parent = self.children.tolist(), self.parent.tolist()
        # What is left hangs below the edge above a top node, less what was ruled out. Where a subtree was ruled out,
        # its root stays as an end; weight counts ends below a node.
        weight = self.size.tolist()

        def middle(top: int) -> int:
            total = weight[top] + 1  # the edge above the top is an end, too
            if total == 2:
                return ~top
            node = top
            while True:
                left, right = children[node]
                heavier = left if weight[left] >= weight[right] else right
                if 2 * weight[heavier] <= total:
                    return node
                node = heavier

        onward = np.zeros((len(parent), 3), dtype=np.intp)
        root = children[self.top][0]
        first = middle(root)
        waiting = [(first, root)]
        while waiting:
            node, top = waiting.pop()
            lost, up = weight[node] - 1, node
            weight[node] = 1
            while up != top:
                up = parent[up]
                weight[up] -= lost
            for branch, beginning in enumerate((*children[node], top)):
                following = middle(beginning)
                onward[node, branch] = following
                if following >= 0:
                    waiting.append((following, beginning))
        return first, onward

    def edges(self) -> IntArray:
        """Give all edges, as pairs of nodes."""
        nodes = np.flatnonzero(self.parent >= 0)
        return np.stack([nodes, self.parent[nodes]], axis=1)
