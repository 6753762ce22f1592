"""Whether the two sides of an edge are independent.

Two questions are asked. By how much does the dependence between the sides predict rows better, in a fitted model? And
does chance make as much covariance between them as there is, in the rows alone? No fitted model can make independent
sides look dependent in the second question.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from latree._util.arrays import FloatArray, IntArray
from latree.counts.distances import gamma_tail
from latree.search.edges import EdgeTest
from latree.table import Block
from latree.tree import Split, Tree

# An edge of the first tree is clearly there if the dependence of its sides predicts rows better by this, in nats.
# Messages are tuned to all rows, so that independent sides reach values up to here in a tree with many states.
_CLEAR_DEPENDENCE = 18.0

# Two sides are independent if their dependence predicts rows better by less than the first number, in nats, and chance
# makes as much covariance between them with at least the second, a probability. Either pair decides.
_INDEPENDENT = ((7.0, 0.02), (4.0, 0.001), (2.0, 0.0001))

# But not if chance would show a pair of columns as dependent as the closest one across the edge, among all pairs across
# it, with a smaller probability. Many other columns hide such a pair from a test of all of them.
_CHANCE = 1e-4

# Subtrees of the two sides are tested, too, down to so many edges from the one between them. Each such edge halves
# their weight.
_DEPTH = 3

# Sets of more columns are tested without looking for what they have in common.
_MOST_COLUMNS = 64


class Independence:
    """Finds edges whose two sides are independent.

    Parameters
    ----------
    block : Block
        The rows.
    n_states : array of int
        Of the columns.
    """

    def __init__(self, block: Block, n_states: IntArray) -> None:
        self._block, self._n_states = block, n_states
        self._weak: list[Split] | None = None

    def doubtful(self, tree: Tree, edges: Sequence[int]) -> list[int]:
        """Return the edges to test: all of the first tree, and later those that were not clear in it.

        With few states, a hidden variable may have lost what it says about the other side. So an edge that was clear
        in the tree that a search starts from stays.
        """
        if self._weak is None:
            return list(edges)
        return [edge for edge in edges if self._is_weak(tree.edge_splits[edge])]

    def edges(self, tree: Tree, edges: Sequence[int], tests: Sequence[EdgeTest]) -> list[int]:
        """Return the edges whose two sides are independent.

        Parameters
        ----------
        tree : Tree
        edges : sequence of int
            From :meth:`doubtful`.
        tests : sequence of EdgeTest
            One for each edge.
        """
        tested = [(tree.edge_splits[edge], edge, test.dependence) for edge, test in zip(edges, tests, strict=True)]
        if self._weak is None:
            self._weak = [split for split, _, dependence in tested if dependence < _CLEAR_DEPENDENCE]
        return [edge for split, edge, dependence in tested if self._independent(tree, edge, split, dependence)]

    def _is_weak(self, split: Split) -> bool:
        """Return whether a split is one of those that were not clear, which may have divided a larger component."""
        sides = (split.side, split.other_side)
        return any(weak.side & split.component in sides for weak in self._weak or ())

    def _independent(self, tree: Tree, edge: int, split: Split, dependence: float) -> bool:
        if dependence >= _INDEPENDENT[0][0]:
            return False
        one, other = tree.edges[edge].tolist()
        p_value = self._sides.p_value(_subtrees(tree, one, other), _subtrees(tree, other, one))
        if not any(dependence < least and p_value > chance for least, chance in _INDEPENDENT):
            return False
        return self._sides.closest_pair(split.side, split.other_side) > _CHANCE

    @cached_property
    def _sides(self) -> "SideTest":
        return SideTest(self._block, self._n_states)


def _subtrees(tree: Tree, top: int, other: int) -> list[tuple[int, int]]:
    """Return the columns of a node's subtrees, as bit sets, each with its distance from the node.

    Parameters
    ----------
    tree : Tree
    top, other : int
        Neighbours: subtrees are on the side of the first one.
    """
    found: list[tuple[int, int]] = []
    level = [(top, other)]
    for distance in range(_DEPTH + 1):
        found += [(tree.columns_behind(node, above), distance) for node, above in level]
        level = [(below, node) for node, above in level for below, _ in tree.neighbors[node] if below != above]
    return found


@dataclass(frozen=True)
class _Part:
    """Some columns on one side of an edge.

    Attributes
    ----------
    rows : array of int
        Where their states are among those of all columns.
    views : array
        Directions in which they are looked at, one per column of the array.
    mean, spread : float
        The trace of the covariance of these views, and its Frobenius norm.
    """

    rows: IntArray
    views: FloatArray
    mean: float
    spread: float


class SideTest:
    """Tests independence of two sets of columns.

    The statistic is the squared norm of the covariances between the indicators of the states on both sides, where every
    column has total variance one: the Hilbert-Schmidt independence criterion with a kernel that adds up over columns
    (Gretton et al. 2008). For independent sides it is about a gamma variable, see
    :func:`latree.counts.distances.gamma_tail`.

    Dependence between the sides of an edge is dependence between what the columns of each side have in common. So
    indicators are first projected on the principal components of the covariances between different columns of their
    side, times the root of the eigenvalues. The other side has no part in that, so that the test stays honest.
    """

    def __init__(self, block: Block, n_states: IntArray) -> None:
        weights = np.ones(len(block.codes)) if block.weights is None else block.weights
        self._total = float(weights.sum())
        indicators, self._column = [], np.repeat(np.arange(len(n_states)), n_states)
        for column, n in enumerate(n_states.tolist()):
            present = block.codes[:, column] < n
            states = np.zeros((n, len(present)))
            states[block.codes[present, column], np.flatnonzero(present)] = 1
            mean = (states @ weights) / max(float(weights @ present), 1.0)
            centred = (states - mean[:, None] * present) * np.sqrt(weights / self._total)
            indicators.append(centred / max(float(np.sqrt((centred**2).sum())), 1e-9))
        self._indicators = np.concatenate(indicators)
        # The squared norm of each column's own covariance.
        self._own = np.array([((column @ column.T) ** 2).sum() for column in indicators])
        self._parts: dict[int, _Part] = {}

    def p_value(self, one: Sequence[tuple[int, int]], other: Sequence[tuple[int, int]]) -> float:
        """Return the probability that independent sides show as much covariance.

        Every subtree of one side is compared with every subtree of the other, and their p-values are combined (see
        :func:`combined`). The subtrees are those of a tree that was learned from both sides. So small p-values are a
        little too frequent for independent sides: about two in a hundred are below 0.01.

        Parameters
        ----------
        one, other : sequence of (int, int)
            For each side its subtrees, the whole side first: their columns as bit sets, and distances from the edge.
        """
        (parts, weights), (others, other_weights) = self._parts_of(one), self._parts_of(other)
        covariance = self._indicators[parts[0].rows] @ self._indicators[others[0].rows].T
        (views, starts), (other_views, other_starts) = _stacked(parts), _stacked(others)
        squared = (views.T @ covariance @ other_views) ** 2
        squared = np.add.reduceat(np.add.reduceat(squared, starts, axis=0), other_starts, axis=1)
        mean = np.outer([part.mean for part in parts], [part.mean for part in others]) / self._total
        spread = np.outer([part.spread for part in parts], [part.spread for part in others]) / self._total
        return combined(gamma_tail(squared, mean, spread), np.outer(weights, other_weights))

    def _parts_of(self, subtrees: Sequence[tuple[int, int]]) -> tuple[list[_Part], list[float]]:
        """Return the parts of a side, the whole first, and their weights."""
        used = [subtrees[0], *(pair for pair in subtrees[1:] if pair[0].bit_count() <= _MOST_COLUMNS)]
        return [self._part(columns) for columns, _ in used], [0.5**distance for _, distance in used]

    def _part(self, columns: int) -> _Part:
        """Return what some columns have in common; themselves, if these are one or very many."""
        if columns not in self._parts:
            rows = np.flatnonzero([columns >> column & 1 for column in self._column.tolist()])
            own = self._indicators[rows] @ self._indicators[rows].T
            views = np.eye(len(rows))
            if 1 < columns.bit_count() <= _MOST_COLUMNS:
                between = np.where(self._column[rows][:, None] == self._column[rows], 0, own)
                values, vectors = np.linalg.eigh(between)
                views = vectors[:, values > 0] * np.sqrt(values[values > 0])
                own = views.T @ own @ views
            self._parts[columns] = _Part(rows, views, float(np.trace(own)), float(np.sqrt((own**2).sum())))
        return self._parts[columns]

    def closest_pair(self, one: int, other: int) -> float:
        """Return the probability that the closest pair of columns of independent sides shows as much covariance.

        It is that of this pair by itself times the number of pairs (Bonferroni), and at most 1.

        Parameters
        ----------
        one, other : int
            The columns of both sides, as bit sets.
        """
        rows = [np.flatnonzero([side >> column & 1 for column in self._column.tolist()]) for side in (one, other)]
        starts = [np.flatnonzero(np.diff(self._column[part], prepend=-1)) for part in rows]
        squared = (self._indicators[rows[0]] @ self._indicators[rows[1]].T) ** 2
        squared = np.add.reduceat(np.add.reduceat(squared, starts[0], axis=0), starts[1], axis=1)
        # Every column has total variance one, so that the mean of each pair is one over the number of rows.
        own = [self._own[self._column[part[start]]] for part, start in zip(rows, starts, strict=True)]
        found = gamma_tail(squared, np.full_like(squared, 1 / self._total), np.sqrt(np.outer(*own)) / self._total)
        return min(float(found.min()) * found.size, 1.0)


def _stacked(parts: Sequence[_Part]) -> tuple[FloatArray, IntArray]:
    """Return the views of all parts of a side, the first of which is the whole, and where those of each begin."""
    found = []
    for part in parts:
        placed = np.zeros((len(parts[0].rows), part.views.shape[1]))
        placed[np.searchsorted(parts[0].rows, part.rows)] = part.views
        found.append(placed)
    return np.concatenate(found, axis=1), np.cumsum([0, *(views.shape[1] for views in found[:-1])])


def combined(p_values: FloatArray, weights: FloatArray) -> float:
    """Combine p-values that may depend on each other into one.

    Each is turned into a Cauchy variable. The weighted mean of these is about a Cauchy variable, too; its p-value is
    returned.

    References
    ----------
    Liu and Xie (2020), Cauchy Combination Test: A Powerful Test With Analytic p-Value Calculation Under Arbitrary
    Dependency Structures.
    """
    p_values = np.clip(p_values, 1e-15, 1 - 1e-3)  # a p-value of 1 would hide all others
    mean = float(np.average(np.tan((0.5 - p_values) * np.pi), weights=weights))
    return 0.5 - float(np.arctan(mean)) / np.pi
