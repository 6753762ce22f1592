"""Whether the two sides of an edge are independent, in the rows alone.

The messages of a fitted model cannot say so: hidden variables were chosen and fitted in these rows, so that independent
sides look dependent by up to 18 nats. No fitted model takes part in this test.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from latree._util.arrays import FloatArray, IntArray
from latree.counts.distances import ROUNDING, gamma_tail, skewness
from latree.table import Block
from latree.tree import Tree

# Subtrees of the two sides are tested, too, down to so many edges from the one between them. Each such edge halves
# their weight.
_DEPTH = 3

# Columns that have more states together are tested without looking for what they have in common: that would take long.
_MOST_STATES = 256

_TILE = 64  # columns whose covariances with all others are computed at once


def sides(tree: Tree, edge: int) -> list[list[tuple[int, int]]]:
    """Return the subtrees on each side of an edge, for :meth:`SideTest.p_value`: the whole side first."""
    one, other = tree.edges[edge].tolist()
    return [_subtrees(tree, one, other), _subtrees(tree, other, one)]


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
