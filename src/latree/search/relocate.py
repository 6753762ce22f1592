"""Moves of a column or a subtree to another hidden variable nearby.

Take a node u away from its hidden variable H. The rest of the tree says how probable each state of any other hidden
variable G is in a row; so ``P(u | row without u)`` is known for every place at which u could be attached, up to the
table ``P(u | G)``, which is fitted to the rows. The rest of the model does not change, so the difference of these
predictions is the difference of the log-likelihoods of the whole models.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from latree._util.arrays import FloatArray
from latree.inference.messages import TINY
from latree.search.edges import SMOOTHING, Surroundings
from latree.search.local import Message, normalised
from latree.tree import Tree

# How many edges away the new place may be.
_RADIUS = 4

# Iterations of EM for the table of the node at its new place.
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
        How much higher the log-likelihood is, less a penalty for each parameter more.
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


def best_relocations(around: Surroundings, nodes: Sequence[tuple[int, int]], penalty: float) -> list[Relocation]:
    """Return the best new place of every node that has a better one, the best first.

    Parameters
    ----------
    around : Surroundings
    nodes : sequence of (int, int)
        Nodes that may move, each with the hidden variable it hangs on; see :func:`movable`.
    penalty : float
        Per parameter, in nats.
    """
    views = _Views(around)
    found = (_best(views, u, h, penalty) for u, h in nodes)
    return sorted((move for move in found if move is not None), key=lambda move: -move.gain)


class _Views:
    """What the rows say about hidden variables, with and without single neighbours."""

    def __init__(self, around: Surroundings) -> None:
        self.around, self.tree = around, around.tree
        hidden = range(self.tree.n_observed, self.tree.n_nodes)
        self.factor: dict[tuple[int, int], FloatArray] = {}
        self.belief: dict[int, FloatArray] = {}
        for v in hidden:
            logarithm = np.log(np.maximum(around.marginals[v], TINY))[:, None]
            for u, _ in self.tree.neighbors[v]:
                factor = np.maximum(around.conditional(u, v).T @ around.messages[u, v], TINY)
                logarithm = logarithm + np.log(factor)
                if u >= self.tree.n_observed:
                    self.factor[u, v] = factor
            self.belief[v] = _normalised_rows(np.exp(logarithm - logarithm.max(axis=0)))

    def without(self, u: int, h: int) -> Iterator[tuple[int, FloatArray]]:
        """Yield hidden variables near H on its side, each with ``P(G | row without u)``, H first."""
        around = self.around
        factor = self.factor.get((u, h))
        if factor is None:
            factor = np.maximum(around.conditional(u, h).T @ around.messages[u, h], TINY)
        waiting = [(h, u, 0, _normalised_rows(self.belief[h] / factor))]
        while waiting:
            v, before, distance, belief = waiting.pop(0)
            yield v, belief
            for g, _ in self.tree.neighbors[v]:
                if g >= self.tree.n_observed and g != before and distance < _RADIUS:
                    # What the cells on the side of v say about v, without u; and then about g.
                    message = belief / np.maximum(around.marginals[v], TINY)[:, None] / self.factor[g, v]
                    changed = around.conditional(v, g).T @ message
                    waiting.append((g, v, distance + 1, _normalised_rows(self.belief[g] / self.factor[v, g] * changed)))


def _best(views: _Views, u: int, h: int, penalty: float) -> Relocation | None:
    around = views.around
    message, weights = around.messages[u, h], around.weights
    scored: list[tuple[float, int, FloatArray]] = []
    for g, belief in views.without(u, h):
        start = around.conditional(u, h) if g == h else None
        table, log_likelihood = _attached(message, belief, weights, start)
        score = log_likelihood - penalty * (len(table) - 1) * table.shape[1]
        scored.append((score, g, table * (belief @ weights / weights.sum())))
    (own, _, _), *others = scored
    if not others:
        return None
    score, g, joint = max(others, key=lambda one: one[0])
    return Relocation(u, h, g, joint, score - own) if score > own else None


def _attached(
    message: Message, belief: FloatArray, weights: FloatArray, table: FloatArray | None
) -> tuple[FloatArray, float]:
    """Fit ``P(u | G)``, given what the rest of the row says about G; return it with the log-likelihood of u."""
    if table is None:
        table = normalised(message @ (belief * weights).T + SMOOTHING)
    for _ in range(_ITERATIONS):
        joint = belief * (table.T @ message)  # P(g, u's cells | rest of the row)
        posterior = belief * (weights / np.maximum(joint.sum(axis=0), TINY))
        table = normalised(table * (message @ posterior.T) + SMOOTHING)
    total = (belief * (table.T @ message)).sum(axis=0)
    return table, float(weights @ np.log(np.maximum(total, TINY)))


def _normalised_rows(belief: FloatArray) -> FloatArray:
    return np.asarray(belief / np.maximum(belief.sum(axis=0), TINY))
