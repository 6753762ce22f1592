"""Balanced regrafting: move a subtree to any other edge of a tree, however far away, if that shortens the tree.

Where a subtree X hangs between two others, it moves to another edge by steps across one node at a time. Let U be all
that it has left behind, Y the subtree beside its way at the next node and W the one ahead. A step is an exchange of
neighbouring subtrees, from {XU|YW} to {XW|UY}, so it changes the balanced length by
``((D_XW + D_UY) - (D_XU + D_YW)) / 4``. Averages between W, Y and X are those of the whole tree. U is different, as X
is no longer in it: after k steps away from its old neighbour A, ``U = S - 2^-(k+1) (X - A)``, where S is the subtree
that contains X in the whole tree. So the change for every subtree at every edge takes O(d²) operations altogether.

Hordijk and Gascuel (2005), Improving the Efficiency of SPR Moves in Phylogenetic Tree Search Methods Based on Maximum
Likelihood, choose by such lengths which subtrees to regraft.
"""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from latree._util.arrays import FloatArray, IntArray
from latree.learners.balanced_tree import BalancedTree


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
