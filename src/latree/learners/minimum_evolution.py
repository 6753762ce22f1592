"""Balanced minimum evolution: move subtrees while the balanced length of the tree decreases.

At an inner edge with subtrees {ab|cd}, exchanging b and c changes the balanced length by
``((D_ac + D_bd) - (D_ab + D_cd)) / 4``, where ``D_xy`` is the balanced average distance between two subtrees, see
:mod:`latree.learners.balanced_tree`. All averages are sums over leaves, so that one sweep over all edges takes O(d²)
operations. Where no exchange helps, subtrees may still move to edges far away (:mod:`latree.learners.regrafting`).
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeVar

import numpy as np

from latree._util.arrays import FloatArray, IntArray
from latree._util.progress import Progress, no_progress
from latree.counts.distances import finite
from latree.learners.balanced_tree import BalancedTree
from latree.learners.regrafting import best_regrafts, regrafted, regrafts_apart
from latree.learners.structure import Structure
from latree.tree import Tree

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


def minimum_evolution(tree: Tree, distance: FloatArray, progress: Progress = no_progress) -> Structure:
    """Improve a binary tree by balanced nearest-neighbour interchanges (BNNI), and by regrafting subtrees.

    Neighbour joining decides pair by pair and cannot take a decision back. These moves can, and they look at all pairs
    of columns at once. They gain most on long trees of many columns.

    Parameters
    ----------
    tree : Tree
        A binary tree, with every column at a leaf.
    distance : array, shape (d, d)
        Distances between columns, for example :func:`latree.counts.covariance` by :func:`latree.counts.pairwise`.
    progress : callable
        Called with the number of moves, and the number that there may be.

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
    >>> from latree.learners import minimum_evolution
    >>> true = Tree.from_newick("((a,b),(c,d),(e,f));")
    >>> wrong = Tree.from_newick("((a,c),(b,d),(e,f));").reordered(true.names)
    >>> minimum_evolution(wrong, true.path_lengths().astype(float)).tree.robinson_foulds(true)
    0
    """
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
