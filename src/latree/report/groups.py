"""The main groups of a tree's columns. Nobody has to choose the number of groups.

Cutting edges of the tree divides its columns into groups. The cut is the one with the highest modularity (Newman &
Girvan 2004) that a local search finds. The similarity of two columns is their mutual information under the model:

``Q = Σ over groups (w / W - (s / W)²)``

Here w is the sum of similarities within the group, s the sum of similarities of its columns with all columns, and W the
sum of all similarities. Modularity is high if columns of a group are more similar than expected by chance. It is known
to miss groups that are small compared with the whole. So each group is cut once more if its own best cut has a high
modularity, too.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from latree._util.arrays import FloatArray, IntArray
from latree._util.progress import Progress, no_progress
from latree.tree import Tree

# A cut must raise modularity by more than this, so that rounding errors never decide.
_MIN_GAIN = 1e-9
# A group is cut once more if its own best cut has at least this share of the modularity of the whole cut.
_MIN_MODULARITY_SHARE = 0.25
# A group that is made by the second cut has at least this many columns.
_MIN_COLUMNS = 3
# No group is cut once more if that gives more groups than this: a reader cannot tell more apart at a glance.
_MAX_GROUPS = 12


@dataclass(frozen=True)
class Group:
    """Columns that depend on each other strongly.

    Attributes
    ----------
    nodes : tuple of int
        A connected part of the tree, hidden nodes included.
    columns : tuple of int
        The columns among the nodes.
    centre : int
        The node whose largest branch within the group has the fewest columns; a hidden node if there is one.
    edges : tuple of int
        The cut edges between the group and the rest of the tree.
    """

    nodes: tuple[int, ...]
    columns: tuple[int, ...]
    centre: int
    edges: tuple[int, ...]


def find_groups(tree: Tree, similarity: FloatArray, progress: Progress = no_progress) -> list[Group]:
    """Cut a tree into its main groups, those with the most columns first.

    Parameters
    ----------
    tree : Tree
    similarity : array, shape (d, d)
        Similarity of every two columns: not negative, symmetric, with zeros on the diagonal.
    progress : callable
        Called with the number of finished steps, out of three.
    """
    # Step 1: the best cut of the whole tree.
    whole = _ModularityCut(tree, similarity, range(tree.n_nodes))
    cut = whole.best()
    progress(1, 3)
    # Step 2: the best cut of each group alone; a group is known by its top node.
    parts = {nodes[0]: _ModularityCut(tree, similarity, nodes, _MIN_COLUMNS) for nodes in whole.pieces(cut)}
    further_cuts = {top: part.best() for top, part in parts.items()}
    modularity = {top: round(parts[top].modularity(edges), 9) for top, edges in further_cuts.items()}
    progress(2, 3)
    # Step 3: apply those second cuts that are good enough, the best first.
    n_groups = len(parts)
    for top in sorted(modularity, key=lambda top: (-modularity[top], top)):
        n_more = len(further_cuts[top])
        is_clear = modularity[top] >= _MIN_MODULARITY_SHARE * whole.modularity(cut)
        if n_more and is_clear and n_groups + n_more <= _MAX_GROUPS:
            cut, n_groups = cut | further_cuts[top], n_groups + n_more
    return sorted(
        (_group(tree, nodes, cut) for nodes in whole.pieces(cut)),
        key=lambda group: (-len(group.columns), group.columns),
    )


def _group(tree: Tree, nodes: list[int], cut: frozenset[int]) -> Group:
    inside = set(nodes)
    columns = tuple(sorted(node for node in nodes if node < tree.n_observed))
    edges = tuple(edge for edge in sorted(cut) if inside & set(tree.edges[edge].tolist()))
    return Group(tuple(sorted(nodes)), columns, _centre(tree, nodes), edges)


def _centre(tree: Tree, nodes: list[int]) -> int:
    """Return the node of a connected piece whose largest branch has the fewest columns; hidden nodes come first.

    The top of the piece is its first node, and every other node comes after its parent.
    """
    parent = tree.rooted().parent
    below = {node: int(node < tree.n_observed) for node in nodes}
    largest_branch = dict.fromkeys(nodes, 0)
    for node in reversed(nodes[1:]):
        above = int(parent[node])
        below[above] += below[node]
        largest_branch[above] = max(largest_branch[above], below[node])
    total = below[nodes[0]]
    return min(nodes, key=lambda node: (node < tree.n_observed, max(largest_branch[node], total - below[node]), node))


class _ModularityCut:
    """Cuts of a connected piece of a tree, or of a whole forest, and their modularity.

    Parameters
    ----------
    tree : Tree
    similarity : array, shape (d, d)
    nodes : iterable of int
        The nodes of the piece.
    min_columns : int
        The smallest number of columns on each side of a cut edge.
    """

    def __init__(self, tree: Tree, similarity: FloatArray, nodes: Iterable[int], min_columns: int = 2) -> None:
        self.tree, self.similarity, self.rooted, self.min_columns = tree, similarity, tree.rooted(), min_columns
        # In the order of the rooted tree, the subtree of v is position[v], ..., position[v] + subtree_size[v] - 1.
        self.position = self.rooted.position
        self.subtree_size = np.array(self.rooted.subtree_sums([1] * tree.n_nodes), dtype=np.intp)
        found = np.array(list(nodes), dtype=np.intp)
        self.nodes = found[np.argsort(self.position[found])]
        columns = self._columns(self.nodes)
        self.degree = np.zeros(tree.n_observed)
        self.degree[columns] = similarity[np.ix_(columns, columns)].sum(axis=1)
        self.total = float(self.degree.sum())

    def best(self) -> frozenset[int]:
        """Return the best cut found: cut greedily, then revise single edges until nothing improves."""
        if self.total <= 0:
            return frozenset()
        cut: set[int] = set()
        waiting = [np.array(piece) for piece in self.pieces(frozenset())]
        while waiting:
            piece = waiting.pop()
            gain, node = self._best_edge(piece)
            if gain > _MIN_GAIN:
                cut.add(int(self.rooted.up[node]))
                below = self._is_below(piece, node)
                waiting += [piece[below], piece[~below]]
        for _ in range(len(cut)):  # each round raises modularity; few rounds are needed
            if not self._revise(cut):
                break
        return frozenset(cut)

    def _revise(self, cut: set[int]) -> bool:
        """Replace or remove each cut edge where that raises modularity; return whether the cut changed."""
        changed = False
        for edge in sorted(cut):
            others = frozenset(cut - {edge})
            # The piece that appears when the edge is not cut, and the best edge to cut it at instead.
            merged = next(np.array(piece) for piece in self.pieces(others) if self.tree.edges[edge, 0] in piece)
            gain, node = self._best_edge(merged)
            replacement = {int(self.rooted.up[node])} if gain > _MIN_GAIN else set()
            if replacement == {edge}:
                continue
            if self.modularity(others | replacement) > self.modularity(frozenset(cut)) + _MIN_GAIN:
                cut.remove(edge)
                cut |= replacement
                changed = True
        return changed

    def modularity(self, cut: frozenset[int]) -> float:
        """Return the modularity Q of the pieces that a cut makes."""
        if self.total <= 0:
            return 0.0
        result = 0.0
        for piece in self.pieces(cut):
            columns = self._columns(np.array(piece))
            within = float(self.similarity[np.ix_(columns, columns)].sum())
            result += within / self.total - (float(self.degree[columns].sum()) / self.total) ** 2
        return result

    def pieces(self, cut: frozenset[int]) -> list[list[int]]:
        """Return the connected pieces that a cut makes, each with its top first and every node after its parent."""
        pieces: dict[int, list[int]] = {}
        top: dict[int, int] = {}
        for node in self.nodes.tolist():
            parent = int(self.rooted.parent[node])
            top[node] = top[parent] if parent in top and int(self.rooted.up[node]) not in cut else node
            pieces.setdefault(top[node], []).append(node)
        return [nodes for nodes in pieces.values() if any(node < self.tree.n_observed for node in nodes)]

    def _best_edge(self, nodes: IntArray) -> tuple[float, int]:
        """Return the gain of the best single cut of a piece, and the node below the cut edge.

        A cut into sides A and B raises modularity by ``2 s_A s_B / W² - 2 w_AB / W``. Here s_A is the sum of degrees on
        side A, and w_AB the sum of similarities between the sides. A cut that leaves too few columns on a side gains 0.
        """
        columns = self._columns(nodes)
        # The columns below each node of the piece are columns[first:last].
        n_before = np.concatenate([[0], np.cumsum(nodes < self.tree.n_observed)])
        positions = self.position[nodes]
        first, last = n_before[:-1], n_before[np.searchsorted(positions, positions + self.subtree_size[nodes])]
        # Sums over blocks of the similarity matrix, from its cumulative sums over rows and columns.
        cumulative = np.zeros((len(columns) + 1, len(columns) + 1))
        cumulative[1:, 1:] = self.similarity[np.ix_(columns, columns)].cumsum(axis=0).cumsum(axis=1)
        inner = cumulative[last, last] - cumulative[first, last] - cumulative[last, first] + cumulative[first, first]
        across = cumulative[last, -1] - cumulative[first, -1] - inner
        degree = np.concatenate([[0.0], self.degree[columns].cumsum()])
        side = degree[last] - degree[first]
        gains = 2 * side * (degree[-1] - side) / self.total**2 - 2 * across / self.total
        n_below = last - first
        gains[(n_below < self.min_columns) | (len(columns) - n_below < self.min_columns)] = 0
        gains[0] = 0  # there is no edge above the top of the piece
        best = int(np.argmax(np.round(gains, 12)))
        return float(gains[best]), int(nodes[best])

    def _columns(self, nodes: IntArray) -> IntArray:
        return nodes[nodes < self.tree.n_observed]

    def _is_below(self, nodes: IntArray, top: int) -> NDArray[np.bool_]:
        """Return for each node whether it is in the subtree of another one."""
        offsets = self.position[nodes] - self.position[top]
        return np.asarray((offsets >= 0) & (offsets < self.subtree_size[top]))
