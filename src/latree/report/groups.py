"""The main groups of a tree's columns: a cut into subtrees whose number nobody has to give.

Cutting edges parts the columns. The cut is the one of greatest modularity (Newman & Girvan 2004) that small steps
reach, with the columns' mutual information under the model as their similarity:

``Q = Σ over groups (w / W - (s / W)²)``

with w the similarities within a group, s those of its columns with all columns, and W those of all columns with all. So
groups hang together more than columns of their weight would by chance. Modularity is known to overlook groups that are
small beside the whole; hence a group that falls apart clearly when it is looked at by itself is parted once more.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from latree._util.arrays import FloatArray, IntArray
from latree._util.progress import Progress, no_progress
from latree.tree import Tree

_LEAST_GAIN = 1e-9  # of modularity, that a cut is worth
_CLEARLY = 0.25  # share of the whole's modularity that a group by itself must have to be parted once more
_FEWEST = 3  # columns of a group that comes about like that
_ENOUGH = 12  # groups, beyond which none is parted once more: no more can be told apart at a glance


@dataclass(frozen=True)
class Group:
    """Some columns that hang together.

    Attributes
    ----------
    nodes : tuple of int
        A connected piece of the tree, hidden nodes among them.
    columns : tuple of int
        The columns among the nodes.
    hub : int
        The node, a hidden one if there is one, in the group's middle: its largest branch has fewest of the columns.
    edges : tuple of int
        The edges that tie the group to the rest of the tree.
    """

    nodes: tuple[int, ...]
    columns: tuple[int, ...]
    hub: int
    edges: tuple[int, ...]


def find_groups(tree: Tree, similarity: FloatArray, progress: Progress = no_progress) -> list[Group]:
    """Cut a tree into its main groups, those with most columns first.

    Parameters
    ----------
    tree : Tree
    similarity : array, shape (d, d)
        Of every two columns, not negative; symmetric, with zeros on the diagonal.
    progress : callable
        Told how many of three steps are done.
    """
    whole = _Cutter(tree, similarity, range(tree.n_nodes))
    cut = whole.best()
    progress(1, 3)
    again = {piece[0]: _Cutter(tree, similarity, piece, _FEWEST) for piece in whole.pieces(cut)}
    further = {top: cutter.best() for top, cutter in again.items()}
    own = {top: round(again[top].modularity(edges), 9) for top, edges in further.items()}
    progress(2, 3)
    n_groups = len(again)
    for top in sorted(own, key=lambda top: (-own[top], top)):
        more = n_groups + len(further[top])
        if further[top] and own[top] >= _CLEARLY * whole.modularity(cut) and more <= _ENOUGH:
            cut, n_groups = cut | further[top], more
    return sorted(
        (_group(tree, piece, cut) for piece in whole.pieces(cut)),
        key=lambda group: (-len(group.columns), group.columns),
    )


def _group(tree: Tree, nodes: list[int], cut: frozenset[int]) -> Group:
    inside = set(nodes)
    columns = tuple(sorted(node for node in nodes if node < tree.n_observed))
    edges = tuple(edge for edge in sorted(cut) if inside & set(tree.edges[edge].tolist()))
    return Group(tuple(sorted(nodes)), columns, _middle(tree, nodes), edges)


def _middle(tree: Tree, nodes: list[int]) -> int:
    """Find the node, a hidden one if there is one, of a connected piece whose largest branch has fewest columns."""
    rooted = tree.rooted()
    inside = set(nodes)
    below = {node: int(node < tree.n_observed) for node in nodes}
    largest = dict.fromkeys(nodes, 0)
    for node in reversed(nodes[1:]):  # the piece's top comes first, every node after its parent
        parent = int(rooted.parent[node])
        if parent in inside:
            below[parent] += below[node]
            largest[parent] = max(largest[parent], below[node])
    total = below[nodes[0]]
    return min(nodes, key=lambda node: (node < tree.n_observed, max(largest[node], total - below[node]), node))


class _Cutter:
    """Ways to cut a connected piece of a tree (or a whole forest), judged by modularity."""

    def __init__(self, tree: Tree, similarity: FloatArray, nodes: Iterable[int], fewest: int = 2) -> None:
        self.tree, self.similarity, self.rooted, self.fewest = tree, similarity, tree.rooted(), fewest
        self.place = self.rooted.position
        self.size = np.array(self.rooted.subtree_sums([1] * tree.n_nodes), dtype=np.intp)
        self.nodes = self._sorted(nodes)
        columns = self._columns(self.nodes)
        self.degree = np.zeros(tree.n_observed)
        self.degree[columns] = similarity[np.ix_(columns, columns)].sum(axis=1)
        self.total = float(self.degree.sum())

    def best(self) -> frozenset[int]:
        """Cut while that helps; then look at every cut again, until all stay as they are."""
        if self.total <= 0:
            return frozenset()
        cut: set[int] = set()
        waiting = [np.array(piece) for piece in self.pieces(frozenset())]
        while waiting:
            piece = waiting.pop()
            gain, node = self._best_edge(piece)
            if gain > _LEAST_GAIN:
                cut.add(int(self.rooted.up[node]))
                below = self._is_below(piece, node)
                waiting += [piece[below], piece[~below]]
        for _ in range(len(cut)):  # each round raises modularity; few are needed
            if not self._mended(cut):
                break
        return frozenset(cut)

    def _mended(self, cut: set[int]) -> bool:
        """Join the two pieces at each cut, and part them anew, or not at all; tell whether anything changed."""
        changed = False
        for edge in sorted(cut):
            left = frozenset(cut - {edge})
            joined = next(np.array(piece) for piece in self.pieces(left) if self.tree.edges[edge, 0] in piece)
            gain, node = self._best_edge(joined)
            anew = {int(self.rooted.up[node])} if gain > _LEAST_GAIN else set()
            if anew != {edge} and self.modularity(left | anew) > self.modularity(frozenset(cut)) + _LEAST_GAIN:
                cut.remove(edge)
                cut |= anew
                changed = True
        return changed

    def modularity(self, cut: frozenset[int]) -> float:
        """Give Q of the pieces that a cut makes."""
        if self.total <= 0:
            return 0.0
        result = 0.0
        for piece in self.pieces(cut):
            columns = self._columns(np.array(piece))
            within = float(self.similarity[np.ix_(columns, columns)].sum())
            result += within / self.total - (float(self.degree[columns].sum()) / self.total) ** 2
        return result

    def pieces(self, cut: frozenset[int]) -> list[list[int]]:
        """Give the connected pieces that a cut makes, each with its top first and every node after its parent."""
        piece: dict[int, list[int]] = {}
        top: dict[int, int] = {}
        for node in self.nodes.tolist():
            parent = int(self.rooted.parent[node])
            top[node] = top[parent] if parent in top and int(self.rooted.up[node]) not in cut else node
            piece.setdefault(top[node], []).append(node)
        return [nodes for nodes in piece.values() if any(node < self.tree.n_observed for node in nodes)]

    def _best_edge(self, nodes: IntArray) -> tuple[float, int]:
        """Find the node above which a cut of a piece raises modularity most and leaves no side too few columns."""
        columns = self._columns(nodes)
        within = self.similarity[np.ix_(columns, columns)]
        summed = np.zeros((len(columns) + 1, len(columns) + 1))
        summed[1:, 1:] = within.cumsum(axis=0).cumsum(axis=1)
        degree = np.concatenate([[0.0], self.degree[columns].cumsum()])
        before = np.concatenate([[0], np.cumsum(nodes < self.tree.n_observed)])
        places = self.place[nodes]
        first, last = before[:-1], before[np.searchsorted(places, places + self.size[nodes])]
        inner = summed[last, last] - summed[first, last] - summed[last, first] + summed[first, first]
        across = summed[last, -1] - summed[first, -1] - inner
        side = degree[last] - degree[first]
        gains = 2 * side * (degree[-1] - side) / self.total**2 - 2 * across / self.total
        many = last - first
        gains[(many < self.fewest) | (len(columns) - many < self.fewest)] = 0
        gains[0] = 0  # above the piece's top there is nothing to cut
        best = int(np.argmax(np.round(gains, 12)))
        return float(gains[best]), int(nodes[best])

    def _sorted(self, nodes: Iterable[int]) -> IntArray:
        found = np.array(list(nodes), dtype=np.intp)
        return found[np.argsort(self.place[found])]

    def _columns(self, nodes: IntArray) -> IntArray:
        return nodes[nodes < self.tree.n_observed]

    def _is_below(self, nodes: IntArray, top: int) -> "np.ndarray[tuple[int, ...], np.dtype[np.bool_]]":
        places = self.place[nodes] - self.place[top]
        return np.asarray((places >= 0) & (places < self.size[top]))
