"""The paper's divide and conquer by quartet tests.

Take an edge between two nodes. Cut it, and several branches hang from either end. The rows show the edge by the
dependence between branches: those at one end depend on each other more than on those at the other end. They cannot

- if the branches at one end form two sets, and no row has columns of both: each set could have a node of its own;
- if fewer than two branches at one end are ever seen with branches at the other: the length of the edge could be zero.

An inner node R splits the tree into three branches. One leaf of each branch and the new leaf make a quartet. The test
says with which of the three the new leaf belongs, and that is the branch it must be inserted in. R is chosen to split
the *remaining* part of the tree most evenly, so that a tree of i leaves takes at most ``ceil(log2(i - 1))`` tests per
leaf. The appendix's Insert tests three branches as well. But it continues in the lower two only, and inserts nothing if
the third, the rest of the tree above R, is chosen. Here the search continues in that branch like in the others.

Leaves are inserted in batches that grow with the tree. All leaves of a batch descend the tree together, with one round
of tests per step. Of the leaves that arrive at the same edge the first is inserted. The others continue among the three
edges that meet at the node this makes, again with one round per step. As the order is random, few leaves meet on one
edge. So the number of rounds grows as a power of log d, while one leaf after another would take d log d rounds.

A leaf and its near relatives must not be in one batch: none of them could then represent a branch for the others, and
far representatives make poor tests. If distances are known, a leaf waits for the next batch if another leaf of the
batch is nearer to it than the third nearest leaf in the tree.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components

from latree._util.arrays import FloatArray, IntArray, RandomState, generator
from latree._util.progress import claim_progress
from latree.counts.quartets import QuartetTest
from latree.learners.structure import Structure, latent_class
from latree.table import Table
from latree.table.findings import present_together
from latree.tree import Tree

# Two columns are seen together if both are present in this many rows, or in half of the rows of a small table. In
# fewer, even two columns that always agree would do so by chance with a probability of more than 0.01.
_LEAST_ROWS = 10


def without_unseen(tree: Tree, table: Table) -> Tree:
    """Return the tree with a support of 0 at those edges with support that no rows can show.

    Parameters
    ----------
    tree : Tree
    table : Table
        With the columns of the tree, in the same order.
    """
    if not table.n_missing.any():
        return tree
    together = present_together(table.rows) >= min(_LEAST_ROWS, table.n_rows / 2)
    np.fill_diagonal(together, True)
    if together.all():
        return tree
    support, seen = tree.support.copy(), together.astype(np.float32)
    for edge in np.flatnonzero(support > 0).tolist():
        support[edge] *= _is_shown(tree, edge, seen)
    return tree.with_numbers(support=support)


def _is_shown(tree: Tree, edge: int, together: NDArray[np.float32]) -> bool:
    """Return whether rows can show an edge, given which pairs of columns are seen together."""
    left, right = (_branches(tree, end, edge) for end in tree.edges[edge].tolist())
    if any(connected_components(side @ together @ side.T, directed=False)[0] > 1 for side in (left, right)):
        return False
    across = left @ together @ right.T > 0
    return bool(min(across.any(axis=0).sum(), across.any(axis=1).sum()) >= 2)


def _branches(tree: Tree, end: int, edge: int) -> NDArray[np.float32]:
    """Return the branches at an end of an edge, shape (branches, columns): 1 where a branch has a column.

    A column at the end itself counts as two branches, as it is at once where all paths through it meet.
    """
    others = [(node, other) for node, other in tree.neighbors[end] if other != edge]
    is_column = end < tree.n_observed
    if len(others) == 1 and not is_column:  # the next edge induces the same split
        return _branches(tree, *others[0])
    branches = [_columns_beyond(tree, *other) for other in others] + 2 * is_column * [[end]]
    found = np.zeros((len(branches), tree.n_observed), dtype=np.float32)
    for row, columns in zip(found, branches, strict=True):
        row[columns] = 1
    return found


def _columns_beyond(tree: Tree, node: int, edge: int) -> list[int]:
    """Return the columns of the part of the tree that has a node, if an edge of the node is cut."""
    columns, waiting = [], [(node, edge)]
    while waiting:
        node, edge = waiting.pop()
        if node < tree.n_observed:
            columns.append(node)
        waiting += [(u, other) for u, other in tree.neighbors[node] if other != edge]
    return columns


# Leaves are inserted one by one until the tree has this many. Batches cost some accuracy, as the leaves of a batch do
# not see each other.
_MIN_LEAVES_FOR_BATCHES = 128
# A batch has at most this many leaves per leaf of the tree.
_BATCH_SHARE = 0.25
# A new leaf may be in a batch if this many leaves of the tree are at least as near as all others of the batch.
_N_NEAREST = 3


def divide_and_conquer(
    names: Sequence[str],
    test: QuartetTest,
    *,
    distance: FloatArray | None = None,
    random_state: RandomState = None,
) -> Structure:
    """Build a binary tree with O(d log d) quartet tests, in few rounds.

    Use it with any quartet test, such as :func:`latree.research.nuclear_test` (method ``tensor``), if all
    quartets would be too many to test.

    A new leaf is inserted by binary search. At an inner node, a quartet of the new leaf and one leaf of each of the
    three branches tells which branch it belongs to. The search continues there, at the node that splits this branch
    most evenly, until a single edge is left: ``ceil(log2(i - 1))`` tests for a tree of i leaves.

    Parameters
    ----------
    names : sequence of str
        Names of the leaves.
    test : callable
        From quadruples of leaves, shape (q, 4), to :class:`latree.counts.quartets.Pairings`.
    distance : array, shape (d, d), optional
        If given, a branch is represented by its leaf nearest to the new one; otherwise, as in the paper, by a random
        leaf. Far leaves share little with the new one, so near ones make better tests.
    random_state : int, Generator or None
        Decides the order of insertion, and random representatives.

    Returns
    -------
    Structure
        With the facts ``quartet_tests``, the number of tests, and ``quartet_rounds``, the number of calls of ``test``.
        Up to three leaves have only one tree, and take no test.

    References
    ----------
    Ishteva, Park and Song (2013), Unfolding Latent Tree Structures using 4th Order Tensors.

    Examples
    --------
    With the path lengths of a known tree the four-point test is always right, and the tree comes back:

    >>> import latree
    >>> from latree.research import divide_and_conquer, four_point_test
    >>> tree = latree.random_tree(20, random_state=0)
    >>> learned = divide_and_conquer(tree.names, four_point_test(tree.path_lengths()), random_state=0)
    >>> learned.tree.robinson_foulds(tree)
    0
    """
    progress = claim_progress()
    d = len(names)
    if d < 4:
        return Structure(latent_class(names).tree, {"quartet_tests": 0, "quartet_rounds": 0})
    rng = generator(random_state)
    leaves = rng.permutation(d)
    tree = _GrowingTree(d, leaves[:3])
    n_tests = n_rounds = 0
    waiting = leaves[3:]
    while len(waiting):
        # Choose the next batch of leaves.
        batch_size = int(_BATCH_SHARE * tree.n_leaves) if tree.n_leaves >= _MIN_LEAVES_FOR_BATCHES else 1
        batch = waiting[:batch_size]
        if distance is not None:
            batch = _unrelated(batch, tree.order, distance)
        waiting = waiting[~np.isin(waiting, batch)]

        # Each leaf of the batch is at a hidden node, or at ~edge once its edge is found.
        first, following = tree.search_plan()
        position = np.full(len(batch), first)
        while len(batch):
            # One round: all leaves that are at a node test its branches, and move on into the one they belong to.
            while len(searching := np.flatnonzero(position >= 0)):
                branches = _representatives(tree, batch[searching], position[searching], distance, rng)
                pairing = test(np.column_stack([batch[searching], branches])).pairing
                position[searching] = following[position[searching], pairing]
                n_tests += len(searching)
                n_rounds += 1
            # Insert the first leaf of each edge. The others continue at the new node, whose branches are single edges.
            edges, inserted, edge_of_leaf = np.unique(~position, return_index=True, return_inverse=True)
            hidden = tree.insert(batch[inserted], edges)
            following[hidden] = np.column_stack([~edges, ~batch[inserted], ~hidden])
            position, batch = np.delete(hidden[edge_of_leaf], inserted), np.delete(batch, inserted)
            progress(tree.n_leaves, d)
    return Structure(Tree(names, tree.edges()), {"quartet_tests": n_tests, "quartet_rounds": n_rounds})


def _unrelated(batch: IntArray, placed: IntArray, distance: FloatArray) -> IntArray:
    """Return the leaves of a batch whose nearest relatives are in the tree, not among the leaves returned before."""
    chosen: list[int] = []
    for leaf in batch.tolist():
        reach = np.partition(distance[leaf, placed], _N_NEAREST - 1)[_N_NEAREST - 1]
        if not chosen or distance[leaf, chosen].min() >= reach:
            chosen.append(leaf)
    return np.array(chosen)


def _representatives(
    tree: "_GrowingTree", new: IntArray, nodes: IntArray, distance: FloatArray | None, rng: np.random.Generator
) -> IntArray:
    """Return a leaf of each of the three branches at a node, for every new leaf and the node it is at; shape (q, 3)."""
    if distance is None:
        return tree.leaves_of_branches(nodes, rng.integers(tree.branch_sizes(nodes)))
    nearest = np.empty((len(new), 3), dtype=np.intp)
    for row, leaf, node in zip(nearest, new, nodes, strict=True):
        row[:] = [branch[np.argmin(distance[leaf, branch])] for branch in tree.branches(node)]
    return nearest


class _GrowingTree:
    """A binary tree, rooted at one of its leaves, that leaves are inserted into.

    An edge has the number of the node below it. The leaves below a node are adjacent in ``order``.
    """

    def __init__(self, d: int, first: IntArray) -> None:
        self.root, left, right = first.tolist()
        self.d = d
        self.n_leaves = 3
        self.parent = np.full(2 * d - 2, -1, dtype=np.intp)
        self.children = np.full((2 * d - 2, 2), -1, dtype=np.intp)  # the root has only one child
        self.parent[[left, right, d]] = d, d, self.root
        self.children[d] = left, right
        self.children[self.root, 0] = d
        self._arrange()

    def insert(self, leaves: IntArray, edges: IntArray) -> IntArray:
        """Insert leaves on edges, at most one on each, and return the hidden nodes this makes."""
        first = self.d + self.n_leaves - 2
        hidden = np.arange(first, first + len(leaves))
        parents = self.parent[edges]
        # Each hidden node takes the place of the lower end of its edge, and has that end and the leaf as its children.
        self.children[parents, (self.children[parents, 1] == edges).astype(np.intp)] = hidden
        self.children[hidden] = np.column_stack([edges, leaves])
        self.parent[hidden] = parents
        self.parent[edges] = self.parent[leaves] = hidden
        self.n_leaves += len(leaves)
        self._arrange()
        return hidden

    def _arrange(self) -> None:
        """Put the leaves in order, the root last, and find which of them are below each node."""
        # Visit the nodes from the root down, left before right.
        children, parent = self.children.tolist(), self.parent.tolist()
        nodes, stack = [], [children[self.root][0]]
        while stack:
            node = stack.pop()
            nodes.append(node)
            if node >= self.d:
                left, right = children[node]
                stack += [right, left]
        # Count the leaves below each node, from the leaves up.
        size = [1] * self.d + [0] * (len(parent) - self.d)
        for node in reversed(nodes[1:]):
            size[parent[node]] += size[node]
        visited = np.array([*nodes, self.root])
        is_leaf = visited < self.d
        self.order = visited[is_leaf]
        self.size = np.array(size)  # the number of leaves below each node
        self.start = np.zeros_like(self.size)  # the position of the first of them in order
        self.start[visited] = np.cumsum(is_leaf) - is_leaf

    def branches(self, node: int) -> tuple[IntArray, IntArray, IntArray]:
        """Return the leaves of the three branches at a hidden node: below its two children, and all others."""
        start, stop = self.start[node], self.start[node] + self.size[node]
        middle = self.start[self.children[node, 1]]
        above = np.concatenate([self.order[:start], self.order[stop:]])
        return self.order[start:middle], self.order[middle:stop], above

    def branch_sizes(self, nodes: IntArray) -> IntArray:
        """Return the number of leaves of the three branches at hidden nodes, shape (q, 3)."""
        return np.column_stack([self.size[self.children[nodes]], self.n_leaves - self.size[nodes]])

    def leaves_of_branches(self, nodes: IntArray, numbers: IntArray) -> IntArray:
        """Return a leaf of each of the three branches at hidden nodes, given its number in the branch; shape (q, 3)."""
        places = numbers.copy()
        places[:, :2] += self.start[self.children[nodes]]
        places[:, 2] += np.where(places[:, 2] >= self.start[nodes], self.size[nodes], 0)
        return self.order[places]

    def search_plan(self) -> tuple[int, IntArray]:
        """Plan the binary search for the edge of a new leaf.

        Returns
        -------
        first : int
            The hidden node that splits the tree most evenly, where the search starts.
        following : array, shape (2d - 2, 3)
            For every hidden node and each of its branches, the hidden node where the search continues in this branch:
            it splits the rest most evenly. If only one edge is left, ``~edge``.

        Notes
        -----
        The part of the tree that is left in a search hangs below the edge above some node, its top, and is cut off
        where the search turned away from a subtree. Its ends are the leaves in it, the roots of subtrees that were cut
        off, and the edge above its top. Every node splits off its two children and the rest, so that a part of two ends
        is a single edge. A part of t ends always has a node none of whose three branches has more than t / 2 of them.
        """
        children, parent = self.children.tolist(), self.parent.tolist()
        ends_below = self.size.tolist()  # the number of ends below each node, or at it

        def middle(top: int) -> int:
            """Return the node that splits the part below an edge most evenly, or ``~edge`` if only the edge is left."""
            total = ends_below[top] + 1  # the edge above the top is an end, too
            if total == 2:
                return ~top
            # Descend to the child with more ends, until neither child has more than half of them.
            node = top
            while True:
                left, right = children[node]
                heavier = left if ends_below[left] >= ends_below[right] else right
                if 2 * ends_below[heavier] <= total:
                    return node
                node = heavier

        following = np.zeros((len(parent), 3), dtype=np.intp)
        top = children[self.root][0]
        first = middle(top)
        waiting = [(first, top)]  # nodes whose branches are not planned yet, and the top of the part that each splits
        while waiting:
            node, top = waiting.pop()
            # For the branch above the node, cut off the subtree below it: the node itself becomes an end.
            lost, ancestor = ends_below[node] - 1, node
            ends_below[node] = 1
            while ancestor != top:
                ancestor = parent[ancestor]
                ends_below[ancestor] -= lost
            # The branches are the parts below the two children, and the rest of the part below its top.
            for branch, branch_top in enumerate((*children[node], top)):
                following[node, branch] = next_node = middle(branch_top)
                if next_node >= 0:
                    waiting.append((next_node, branch_top))
        return first, following

    def edges(self) -> IntArray:
        """Return all edges, as pairs of nodes."""
        nodes = np.flatnonzero(self.parent >= 0)
        return np.stack([nodes, self.parent[nodes]], axis=1)
