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
from latree.counts.distances import ROUNDING, gamma_tail, skewness
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

# Columns that have more states together are tested without looking for what they have in common: that would take long.
_MOST_STATES = 256

_TILE = 64  # columns whose covariances with all others are computed at once


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
    """What some columns on one side of an edge have in common.

    Attributes
    ----------
    states : array of int
        Where the states of these columns are among those of all columns.
    views : array
        Directions in which they are looked at, one per column of the array.
    mean, spread : float
        The trace of the covariance of these views, and its Frobenius norm.
    skewness : float
        The squared skewness of these views, as of :func:`latree.counts.distances.skewness`.
    """

    states: IntArray
    views: FloatArray
    mean: float
    spread: float
    skewness: float


class SideTest:
    """Tests independence of two sets of columns.

    The statistic is the squared norm of the covariances between the indicators of the states on both sides, where every
    column has total variance one: the Hilbert-Schmidt independence criterion with a kernel that adds up over columns
    (Gretton et al. 2008). For independent sides it is about a gamma variable, see
    :func:`latree.counts.distances.gamma_tail`.

    Dependence between the sides of an edge is dependence between what the columns of each side have in common. So
    indicators are first projected on the principal components of the covariances between different columns of their
    side, times the root of the eigenvalues. The other side has no part in that, so that the test stays honest. Where
    columns have very many states, or nothing in common, the statistic is the sum over pairs of columns.
    """

    def __init__(self, block: Block, n_states: IntArray) -> None:
        weights = np.ones(len(block.codes)) if block.weights is None else block.weights
        self._total = float(weights.sum())
        self._scale = np.sqrt(weights / self._total)
        indicators, skewnesses = [], []
        for column, n in enumerate(n_states.tolist()):
            present = block.codes[:, column] < n
            states = np.zeros((n, len(present)))
            states[block.codes[present, column], np.flatnonzero(present)] = 1
            mean = (states @ weights) / max(float(weights @ present), 1.0)
            centred = (states - mean[:, None] * present) * self._scale
            indicators.append(centred / max(float(np.sqrt((centred**2).sum())), 1e-9))
            skewnesses.append(float(skewness(mean)))
        self._indicators = np.concatenate(indicators)
        self._column, self._skewness = np.repeat(np.arange(len(n_states)), n_states), np.array(skewnesses)
        self._trace = np.array([(states**2).sum() for states in indicators])
        self._parts: dict[int, _Part | None] = {}

    @cached_property
    def _squared(self) -> FloatArray:
        """The squared norm of the covariance of every two columns."""
        starts = np.flatnonzero(np.diff(self._column, prepend=-1))
        found = np.empty((len(starts), len(starts)))
        for first in range(0, len(starts), _TILE):
            states = self._indicators[starts[first] : [*starts, len(self._column)][min(first + _TILE, len(starts))]]
            squared = np.add.reduceat((self._indicators @ states.T) ** 2, starts, axis=0)
            found[:, first : first + _TILE] = np.add.reduceat(
                squared, starts[first : first + _TILE] - starts[first], axis=1
            )
        return found

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
        parts, others = ([self._part(columns) for columns, _ in side] for side in (one, other))
        p_values = self._of_columns(*([columns for columns, _ in side] for side in (one, other)))
        common, common_other = ([part is not None for part in side] for side in (parts, others))
        if any(common) and any(common_other):
            p_values[np.ix_(common, common_other)] = self._in_common(
                [part for part in parts if part is not None], [part for part in others if part is not None]
            )
        weights, other_weights = (np.array([0.5**distance for _, distance in side]) for side in (one, other))
        return combined(p_values, np.outer(weights, other_weights))

    def _of_columns(self, one: Sequence[int], other: Sequence[int]) -> FloatArray:
        """Return the p-values of sets of columns, given as bit sets, of which nothing in common is asked."""
        members, others = (np.array([self._is_in(columns) for columns in side], dtype=float) for side in (one, other))
        # Sums over independent columns: of the variances, the squared norms of covariances, and the third moments.
        third = self._skewness * np.diag(self._squared) ** 1.5
        moments = []
        for side in (members, others):
            spread = np.sqrt(np.maximum(((side @ self._squared) * side).sum(axis=1), 0))
            moments.append((side @ self._trace, spread, (side @ third) / np.maximum(spread, ROUNDING) ** 3))
        return self._tail(members @ self._squared @ others.T, *moments)

    def _in_common(self, parts: Sequence[_Part], others: Sequence[_Part]) -> FloatArray:
        """Return the p-values of what columns have in common."""
        (states, views, starts), (other_states, other_views, other_starts) = _stacked(parts), _stacked(others)
        covariance = self._indicators[states] @ self._indicators[other_states].T
        squared = (views.T @ covariance @ other_views) ** 2
        squared = np.add.reduceat(np.add.reduceat(squared, starts, axis=0), other_starts, axis=1)
        moments = [
            tuple(np.array([getattr(part, name) for part in side]) for name in ("mean", "spread", "skewness"))
            for side in (parts, others)
        ]
        return self._tail(squared, *moments)

    def _tail(self, squared: FloatArray, one: Sequence[FloatArray], other: Sequence[FloatArray]) -> FloatArray:
        """Return p-values of squared norms, given means, spreads and squared skewnesses of both sides."""
        return gamma_tail(squared, *(np.outer(*pair) / self._total for pair in zip(one, other, strict=True)))

    def _is_in(self, columns: int) -> IntArray:
        """Return 1 for each column that is in a bit set, and 0 for the others."""
        as_bytes = np.frombuffer(columns.to_bytes(len(self._trace) // 8 + 1, "little"), dtype=np.uint8)
        return np.unpackbits(as_bytes, count=len(self._trace), bitorder="little").astype(np.intp)

    def _part(self, columns: int) -> _Part | None:
        """Return what some columns have in common: their states, if it is one column, and None if it is nothing."""
        if columns not in self._parts:
            states = np.flatnonzero(self._is_in(columns)[self._column])
            self._parts[columns] = self._found_part(states) if len(states) <= _MOST_STATES else None
        return self._parts[columns]

    def _found_part(self, states: IntArray) -> _Part | None:
        indicators, column = self._indicators[states], self._column[states]
        own = indicators @ indicators.T
        if column[0] == column[-1]:
            spread = float(np.sqrt((own**2).sum()))
            return _Part(states, np.eye(len(states)), float(np.trace(own)), spread, float(self._skewness[column[0]]))
        values, vectors = np.linalg.eigh(np.where(column[:, None] == column, 0, own))
        if values[-1] <= ROUNDING:
            return None
        views = vectors[:, values > ROUNDING] * np.sqrt(values[values > ROUNDING])
        own = views.T @ own @ views
        spread = float(np.sqrt((own**2).sum()))
        # The third moments of every view alone, and of every two of them.
        seen = views.T @ indicators
        per_row = np.divide(1, self._scale, out=np.zeros_like(self._scale), where=self._scale > 0)
        third = (seen**2 * per_row) @ seen.T
        third_norm = 3 * float((third**2).sum()) - 2 * float((np.diag(third) ** 2).sum())
        return _Part(states, views, float(np.trace(own)), spread, third_norm / spread**3)

    def closest_pair(self, one: int, other: int) -> float:
        """Return the probability that the closest pair of columns of independent sides shows as much covariance.

        It is that of this pair by itself times the number of pairs (Bonferroni), and at most 1.

        Parameters
        ----------
        one, other : int
            The columns of both sides, as bit sets.
        """
        columns = [np.flatnonzero(self._is_in(side)) for side in (one, other)]
        moments = [(self._trace[part], np.sqrt(np.diag(self._squared)[part]), self._skewness[part]) for part in columns]
        found = self._tail(self._squared[np.ix_(*columns)], *moments)
        return min(float(found.min()) * found.size, 1.0)


def _stacked(parts: Sequence[_Part]) -> tuple[IntArray, FloatArray, IntArray]:
    """Return the states of all parts of a side, the views of all parts in these, and where those of each part begin."""
    states = np.unique(np.concatenate([part.states for part in parts]))
    found = []
    for part in parts:
        placed = np.zeros((len(states), part.views.shape[1]))
        placed[np.searchsorted(states, part.states)] = part.views
        found.append(placed)
    return states, np.concatenate(found, axis=1), np.cumsum([0, *(views.shape[1] for views in found[:-1])])


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
