"""Relocation: a column or a subtree comes to another hidden variable nearby.

Take a node u away from its hidden variable H. The rest of the tree says how probable each state of any other hidden
variable G is in a row; so ``P(u | row without u)`` is known for every place at which u could be attached, up to the
table ``P(u | G)``, which is fitted to the rows. The rest of the model does not change, so the difference of these
predictions is the difference of what the whole models predict.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import log

import numpy as np

from latree._util.arrays import FloatArray
from latree.inference.messages import TINY
from latree.search.local import SMOOTHING
from latree.search.neighbors import converted, normalised, precision_for
from latree.search.sample import Surroundings
from latree.tree import Tree

# How many edges away the new place may be.
_RADIUS = 4

# Iterations of EM for the table of the node that moves.
_ITERATIONS = 5


@dataclass(frozen=True)
class Relocation:
    """A node that is attached to another hidden variable.

    Attributes
    ----------
    node, old, new : int
        The node, and the hidden variables that it leaves and joins.
    joint : array
        ``P(node, new)``.
    gain : float
        By how many nats the rows are predicted better, each by the model without this row.
    """

    node: int
    old: int
    new: int
    joint: FloatArray
    gain: float


def movable(tree: Tree) -> Iterator[tuple[int, int, int]]:
    """Yield the nodes that may move, each with the hidden variable it hangs on and the edge between them.

    A column with several neighbours stays; a hidden variable may move away from each of its hidden neighbours.
    """
    for v in range(tree.n_observed, tree.n_nodes):
        for u, edge in tree.neighbors[v]:
            if u >= tree.n_observed or len(tree.neighbors[u]) == 1:
                yield u, v, edge


def best_relocations(around: Surroundings, nodes: Sequence[tuple[int, int]]) -> list[Relocation]:
    """Return the best new place of every node that has a better one, the best first.

    Parameters
    ----------
    around : Surroundings
    nodes : sequence of (int, int)
        Nodes that may move, each with the hidden variable it hangs on; see :func:`movable`.
    """
    views = _Views(around)
    found = around.map(lambda ends: _best(views, *ends), nodes)
    return sorted((move for move in found if move is not None), key=lambda move: -move.gain)


class _Views:
    """What the rows say about hidden variables, with and without single neighbours."""

    def __init__(self, around: Surroundings) -> None:
        self.around, self.tree = around, around.tree
        self.precision = precision_for(around.weights)
        self.tiny = np.finfo(self.precision).tiny
        self.weights = converted(around.weights, self.precision)
        hidden = range(self.tree.n_observed, self.tree.n_nodes)
        self.factor: dict[tuple[int, int], FloatArray] = {}
        self.belief: dict[int, FloatArray] = {}
        for v in hidden:
            logarithm = converted(np.log(np.maximum(around.marginals[v], TINY)), self.precision)[:, None]
            for u, _ in self.tree.neighbors[v]:
                factor = self._factor(u, v)
                logarithm = logarithm + np.log(factor)
                if u >= self.tree.n_observed:
                    self.factor[u, v] = factor
            self.belief[v] = self._normalised(np.exp(logarithm - logarithm.max(axis=0)))

    def _factor(self, u: int, v: int) -> FloatArray:
        """Return the likelihood of each state of v, given the cells on the side of its neighbour u."""
        message = converted(self.around.messages[u, v], self.precision)
        table = converted(self.around.conditional(u, v), self.precision)
        return np.maximum(table.T @ message, self.tiny)

    def _normalised(self, belief: FloatArray) -> FloatArray:
        return np.asarray(belief / np.maximum(belief.sum(axis=0), self.tiny))

    def without(self, u: int, h: int) -> Iterator[tuple[int, FloatArray]]:
        """Yield hidden variables near H on its side, each with ``P(G | row without u)``, H first."""
        around = self.around
        factor = self.factor.get((u, h))
        if factor is None:
            factor = self._factor(u, h)
        waiting = [(h, u, 0, self._normalised(self.belief[h] / factor))]
        while waiting:
            v, before, distance, belief = waiting.pop(0)
            yield v, belief
            for g, _ in self.tree.neighbors[v]:
                if g >= self.tree.n_observed and g != before and distance < _RADIUS:
                    # What the cells on the side of v say about v, without u; and then about g.
                    marginal = converted(np.maximum(around.marginals[v], self.tiny), self.precision)
                    message = belief / marginal[:, None] / self.factor[g, v]
                    changed = converted(around.conditional(v, g), self.precision).T @ message
                    waiting.append((g, v, distance + 1, self._normalised(self.belief[g] / self.factor[v, g] * changed)))


def _best(views: _Views, u: int, h: int) -> Relocation | None:
    around = views.around
    message, weights = converted(around.messages[u, h], views.precision), views.weights
    own = best = -np.inf
    n_places, found = 0, None
    for g, belief in views.without(u, h):
        start = around.conditional(u, h) if g == h else None
        table, score = attached(message, belief, weights, start, best)
        if g == h:
            own = best = score
        elif score > best:
            best, found = score, (g, table * np.asarray(belief @ weights / weights.sum(), dtype=float))
        n_places += g != h
    # Any of the other places could have been the best by chance.
    return None if found is None else Relocation(u, h, *found, best - own - log(n_places))


def attached(
    message: FloatArray,
    belief: FloatArray,
    weights: FloatArray,
    table: FloatArray | None = None,
    target: float = -np.inf,
) -> tuple[FloatArray, float]:
    """Fit ``P(u | G)`` for a neighbour u of G and nothing else; return it with how well u's cells are predicted.

    That is their log-likelihood less one nat for each parameter, which is about what rows score that are left out
    (Stone 1977, An Asymptotic Equivalence of Choice of Model by Cross-Validation and Akaike's Criterion).

    Parameters
    ----------
    message : array
        What u's cells say about its state.
    belief : array
        ``P(G | the other cells of the row)``, of the same precision.
    weights : array
        Of the rows, of the same precision.
    table : array, optional
        Where EM starts; by default what u's cells would be if G were known.
    target : float
        EM ends when this would not be reached even if all iterations that are left gained as much as the last one.
    """
    if table is None:
        table = normalised(np.asarray(message @ (belief * weights).T, dtype=float) + SMOOTHING)
    tiny, score = np.finfo(belief.dtype).tiny, -np.inf
    price = (len(table) - 1) * table.shape[1]
    for left in range(_ITERATIONS, -1, -1):
        # P(u's cells | rest of the row)
        total = np.maximum((belief * (converted(table, belief.dtype).T @ message)).sum(axis=0), tiny)
        before, score = score, float(np.sum(weights * np.log(total), dtype=float)) - price
        if not left or (before > -np.inf and score + left * max(score - before, 0.0) < target):
            break
        table = normalised(table * (message @ (belief * (weights / total)).T) + SMOOTHING)
    return table, score
