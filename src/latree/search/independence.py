"""Whether the two sides of an edge are independent.

Two questions are asked. By how much does the dependence between the sides predict rows better, in a fitted model? And
does chance make as much covariance between them as there is, in the rows alone? No fitted model can make independent
sides look dependent in the second question, but it has little power where columns have many states.
"""

from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

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
_INDEPENDENT = ((7.0, 0.1), (2.0, 0.01))

# But not if chance would show a pair of columns as dependent as the closest one across the edge, among all pairs across
# it, with a smaller probability. Many other columns hide such a pair from a test of all of them.
_CHANCE = 1e-4


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
        return [edge for split, edge, dependence in tested if self._independent(split, dependence)]

    def _is_weak(self, split: Split) -> bool:
        """Return whether a split is one of those that were not clear, which may have divided a larger component."""
        sides = (split.side, split.other_side)
        return any(weak.side & split.component in sides for weak in self._weak or ())

    def _independent(self, split: Split, dependence: float) -> bool:
        if dependence >= _INDEPENDENT[0][0]:
            return False
        side = np.array([bool(split.side >> j & 1) for j in range(len(self._n_states))])
        p_value = self._sides.p_value(side)
        if not any(dependence < least and p_value > chance for least, chance in _INDEPENDENT):
            return False
        return self._sides.closest_pair(side) > _CHANCE

    @cached_property
    def _sides(self) -> "SideTest":
        return SideTest(self._block, self._n_states)


class SideTest:
    """Tests independence of a set of columns and all others.

    The statistic is the squared norm of the covariances between the indicators of the states on both sides, where every
    column has total variance one: the Hilbert-Schmidt independence criterion with a kernel that adds up over columns
    (Gretton et al. 2008). For independent sides it is about a gamma variable, see
    :func:`latree.counts.distances.gamma_tail`.
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

    def p_value(self, side: NDArray[np.bool_]) -> float:
        """Return the probability that independent sides show as much covariance.

        Parameters
        ----------
        side : array of bool
            For each column whether it is on the one side.
        """
        one, other = self._both(side)
        squared = ((one @ other.T) ** 2).sum()
        own = [part @ part.T for part in (one, other)]
        mean = np.trace(own[0]) * np.trace(own[1]) / self._total
        spread = np.sqrt((own[0] ** 2).sum() * (own[1] ** 2).sum()) / self._total
        return float(gamma_tail(*np.array([squared, mean, spread])))

    def closest_pair(self, side: NDArray[np.bool_]) -> float:
        """Return the probability that the closest pair of columns of independent sides shows as much covariance.

        It is that of this pair by itself times the number of pairs (Bonferroni), and at most 1.
        """
        one, other = self._both(side)
        starts = [np.flatnonzero(np.diff(self._column[part[self._column]], prepend=-1)) for part in (side, ~side)]
        squared = np.add.reduceat(np.add.reduceat((one @ other.T) ** 2, starts[0], axis=0), starts[1], axis=1)
        # Every column has total variance one, so that the mean of each pair is one over the number of rows.
        spread = np.sqrt(np.outer(self._own[side], self._own[~side])) / self._total
        found = gamma_tail(squared, np.full_like(squared, 1 / self._total), spread)
        return min(float(found.min()) * found.size, 1.0)

    def _both(self, side: NDArray[np.bool_]) -> tuple[FloatArray, FloatArray]:
        rows = side[self._column]
        return self._indicators[rows], self._indicators[~rows]
