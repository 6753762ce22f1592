"""Balanced minimum evolution: move subtrees while the balanced length of the tree decreases.

Each time a subtree branches, both branches get half of its weight. The balanced length of a tree (Pauplin 2000) is
``L = Σ_{i<j} 2^(1 - p_ij) D_ij``, where ``p_ij`` counts the edges between leaves i and j.

At an inner edge with subtrees {ab|cd}, exchanging b and c changes the balanced length by
``((D_ac + D_bd) - (D_ab + D_cd)) / 4``, where ``D_xy`` is the balanced average distance between two subtrees. All
averages are sums over leaves, so that one sweep over all edges takes O(d²) operations. Where no exchange helps,
subtrees may still move to edges far away.

Where a subtree X hangs between two others, it moves to another edge by steps across one node at a time. Let U be all
that it has left behind, Y the subtree beside its way at the next node and W the one ahead. A step is an exchange of
neighbouring subtrees, from {XU|YW} to {XW|UY}, so it changes the balanced length by
``((D_XW + D_UY) - (D_XU + D_YW)) / 4``. Averages between W, Y and X are those of the whole tree. U is different, as X
is no longer in it: after k steps away from its old neighbour A, ``U = S - 2^-(k+1) (X - A)``, where S is the subtree
that contains X in the whole tree. So the change for every subtree at every edge takes O(d²) operations altogether.

Hordijk and Gascuel (2005), Improving the Efficiency of SPR Moves in Phylogenetic Tree Search Methods Based on Maximum
Likelihood, choose by such lengths which subtrees to regraft.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple, TypeVar

import numpy as np

from latree._util.arrays import FloatArray, IntArray
from latree._util.progress import claim_progress
from latree.counts.distances import finite
from latree.learners.structure import Structure
from latree.tree import Tree


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


class Regraft(NamedTuple):
    """A subtree that moves to another edge.

    Attributes
    ----------
    top, old : int
        The top of the subtree, and the node that it hangs on, which moves with it.
    edge : (int, int)
        The nodes between which it hangs then.
    change : float
        Of the length of the tree.
    """

    top: int
    old: int
    edge: tuple[int, int]
    change: float


class _Walks(NamedTuple):
    """The subtrees that can walk along an edge in one direction.

    Attributes
    ----------
    subtrees : array of int
    change : array
        Of the length of the tree, if each of them hung on this edge.
    behind : array
        The average distance of each from all that it has left behind.
    first : array of int
        The neighbour A that each has left first.
    share : array
        ``2^-(k+1)`` after k steps.
    """

    subtrees: IntArray
    change: FloatArray
    behind: FloatArray
    first: IntArray
    share: FloatArray


_NO_WALKS = _Walks(np.empty(0, dtype=np.intp), np.empty(0), np.empty(0), np.empty(0, dtype=np.intp), np.empty(0))


def best_regrafts(tree: BalancedTree, distance: FloatArray, least: float) -> list[Regraft]:
    """Return the best new edge of every subtree that has a better one, the best first.

    Parameters
    ----------
    tree : BalancedTree
    distance : array, shape (d, d)
    least : float
        By how much a move must shorten the tree.
    """
    nodes, parent = len(tree.neighbors), tree.parent.tolist()
    weights = np.concatenate([tree.below, tree.above])
    average = weights @ distance @ weights.T

    def beyond(u: int, v: int) -> int:
        """Return the number of the subtree that begins at v, as its neighbour u sees it."""
        return v if parent[v] == u else nodes + u

    walks: dict[tuple[int, int], _Walks] = {}
    best: dict[int, tuple[float, tuple[int, int]]] = {}
    downwards = [(parent[node], node) for node in tree.order[1:]]
    upwards = [(node, above) for above, node in reversed(downwards)]
    for u, v in upwards + downwards:
        # Subtrees come to this edge from both other neighbours of u, and pass by the other one; none come from a leaf.
        around, parts = [other for other in tree.neighbors[u] if other != v], [_NO_WALKS]
        for came, passed in zip(around, reversed(around), strict=True):
            behind, aside = beyond(u, came), beyond(u, passed)
            parts += [_first_walk(average, behind, aside), _step(average, walks[came, u], behind, aside, beyond(u, v))]
        here = _Walks(*(np.concatenate(arrays) for arrays in zip(*parts, strict=True)))
        walks[u, v] = here
        for place in np.flatnonzero(here.change < -least).tolist():
            subtree = int(here.subtrees[place])
            best[subtree] = min(best.get(subtree, (0.0, (u, v))), (float(here.change[place]), (u, v)))
    found = []
    for subtree, (change, edge) in best.items():
        node = subtree % nodes
        top, old = (node, parent[node]) if subtree < nodes else (parent[node], node)
        found.append(Regraft(top, old, edge, change))
    return sorted(found, key=lambda regraft: (regraft.change, regraft))


def _first_walk(average: FloatArray, subtree: int, aside: int) -> _Walks:
    """Return the walk of a subtree from where it hangs: it leaves the one beside it."""
    own = np.array([subtree])
    return _Walks(own, np.zeros(1), average[own, aside], np.array([aside]), np.array([0.5]))


def _step(average: FloatArray, before: _Walks, behind: int, aside: int, ahead: int) -> _Walks:
    """Return the walks of subtrees across a node: from the subtree S that contains them, past Y, towards W."""
    left = average[behind, aside] - before.share * (average[before.subtrees, aside] - average[before.first, aside])
    change = average[before.subtrees, ahead] + left - before.behind - average[aside, ahead]
    return _Walks(
        before.subtrees,
        before.change + change / 4,
        (before.behind + average[before.subtrees, aside]) / 2,
        before.first,
        before.share / 2,
    )


def regrafts_apart(tree: BalancedTree, regrafts: Iterable[Regraft]) -> list[Regraft]:
    """Return regrafts whose ways share no node, the first ones first: they can all be made, in any order."""
    chosen: list[Regraft] = []
    touched: set[int] = set()
    for regraft in regrafts:
        way = {*tree.neighbors[regraft.old], *_path(tree, regraft.old, regraft.edge[0]), regraft.edge[1]}
        if not way & touched:
            chosen.append(regraft)
            touched |= way
    return chosen


def _path(tree: BalancedTree, one: int, other: int) -> list[int]:
    """Return the nodes between two nodes, with both."""
    ways = []
    for node in (one, other):
        way = [node]
        while tree.parent[way[-1]] >= 0:
            way.append(int(tree.parent[way[-1]]))
        ways.append(way)
    shared = set(ways[0]) & set(ways[1])
    top = next(node for node in ways[0] if node in shared)
    return [*(node for way in ways for node in way if node not in shared), top]


def regrafted(neighbors: list[list[int]], regrafts: Iterable[Regraft]) -> list[list[int]]:
    """Return the neighbours of every node after some regrafts that do not touch each other."""
    changed = [list(around) for around in neighbors]
    for top, old, (u, v), _ in regrafts:
        a, b = (other for other in changed[old] if other != top)
        changed[a][changed[a].index(old)] = b
        changed[b][changed[b].index(old)] = a
        changed[u][changed[u].index(v)] = old
        changed[v][changed[v].index(u)] = old
        changed[old] = [top, u, v]
    return changed


_MIN_GAIN = 1e-9  # a move must shorten the tree by more than this share of its length

# In trees of more columns, no subtrees are regrafted: that would take more than 16 d² numbers in memory.
_MOST_COLUMNS = 1000

AnyMove = TypeVar("AnyMove")


class _Exchange(NamedTuple):
    """At an edge: swap a subtree of its lower end with one of its upper end."""

    lower: int
    upper: int
    below: int
    above: int


def minimum_evolution(tree: Tree, distance: FloatArray) -> Structure:
    """Improve a binary tree by balanced nearest-neighbour interchanges (BNNI), and by regrafting subtrees.

    Neighbour joining decides pair by pair and cannot take a decision back. These moves can, and they look at all pairs
    of columns at once. They gain most on long trees of many columns.

    Parameters
    ----------
    tree : Tree
        A binary tree, with every column at a leaf.
    distance : array, shape (d, d)
        Distances between columns, for example :func:`latree.research.covariance` by :func:`latree.research.pairwise`.

    Returns
    -------
    Structure
        With the facts ``interchanges`` and ``regrafts``.

    References
    ----------
    R. Desper, O. Gascuel: *Fast and Accurate Phylogeny Reconstruction Algorithms Based on the Minimum-Evolution
    Principle*, 2002. Y. Pauplin: *Direct Calculation of a Tree Length Using a Distance Matrix*, 2000.

    Examples
    --------
    >>> import numpy as np
    >>> from latree import Tree
    >>> from latree.research import minimum_evolution
    >>> true = Tree.from_newick("((a,b),(c,d),(e,f));")
    >>> wrong = Tree.from_newick("((a,c),(b,d),(e,f));").reordered(true.names)
    >>> minimum_evolution(wrong, true.path_lengths().astype(float)).tree.robinson_foulds(true)
    0
    """
    progress = claim_progress()
    d = tree.n_observed
    facts = {"interchanges": 0, "regrafts": 0}
    if d < 4:
        return Structure(tree, facts)
    distance = finite(distance)
    current = BalancedTree([[other for other, _ in pairs] for pairs in tree.neighbors], distance)
    while True:
        progress(min(sum(facts.values()), d), d)
        kind, changed, n_moves = "interchanges", *_shorter(current, _improvements(current), _exchanged, distance)
        if not n_moves and d <= _MOST_COLUMNS:
            found = regrafts_apart(current, best_regrafts(current, distance, _MIN_GAIN * abs(current.length)))
            kind, changed, n_moves = "regrafts", *_shorter(current, found, regrafted, distance)
        if not n_moves:
            break
        current = changed
        facts[kind] += n_moves
    progress(d, d)
    edges = [(u, v) for u, around in enumerate(current.neighbors) for v in around if u < v]
    return Structure(Tree(tree.names, edges), facts)


def _shorter(
    tree: BalancedTree,
    moves: Sequence[AnyMove],
    after: Callable[[list[list[int]], Sequence[AnyMove]], list[list[int]]],
    distance: FloatArray,
) -> tuple[BalancedTree, int]:
    """Return the tree after moves that do not touch each other, and how many of them were made.

    Each would shorten the tree by itself. If all of them together do not, only the better half is made; a single one
    always shortens it.
    """
    while moves:
        changed = BalancedTree(after(tree.neighbors, moves), distance)
        if changed.length < tree.length:
            return changed, len(moves)
        moves = moves[: len(moves) // 2]
    return tree, 0


def _exchanged(neighbors: list[list[int]], exchanges: Sequence[_Exchange]) -> list[list[int]]:
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


def _improvements(tree: BalancedTree) -> list[_Exchange]:
    """Return exchanges that shorten the tree, the best first, at edges that share no node."""
    lower = np.array([node for node in tree.order[1:] if node >= tree.d], dtype=np.intp)
    upper = tree.parent[lower]
    a, b = np.array([tree.children(node) for node in lower]).T
    siblings = [
        [child for child in tree.children(top) if child != node]
        for node, top in zip(lower.tolist(), upper.tolist(), strict=True)
    ]
    c = np.array([around[0] for around in siblings], dtype=np.intp)
    # The fourth subtree: the root's third child, or everything above the upper end.
    rest = np.stack(
        [
            tree.below[around[1]] if len(around) > 1 else tree.above[top]
            for around, top in zip(siblings, upper.tolist(), strict=True)
        ]
    )

    def between(one: IntArray, weights: FloatArray) -> FloatArray:
        return np.asarray((tree.averages[one] * weights).sum(axis=1))

    own = between(a, tree.below[b]) + between(c, rest)
    # {ac|bd} comes about by exchanging b and c, {ad|bc} by exchanging a and c.
    gains = np.stack(
        [
            own - between(a, tree.below[c]) - between(b, rest),
            own - between(b, tree.below[c]) - between(a, rest),
        ]
    )
    which, gain = gains.argmax(axis=0), gains.max(axis=0) / 4
    found: list[_Exchange] = []
    touched: set[int] = set()
    for place in np.argsort(-gain, kind="stable").tolist():
        ends = {int(lower[place]), int(upper[place])}
        if gain[place] <= _MIN_GAIN * abs(tree.length):
            break
        if not touched & ends:
            touched |= ends
            below = b[place] if which[place] == 0 else a[place]
            found.append(_Exchange(int(lower[place]), int(upper[place]), int(below), int(c[place])))
    return found
