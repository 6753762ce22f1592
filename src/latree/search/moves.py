"""Moves of a neighbour to the next hidden variable, and exchanges of two neighbours across an edge."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from latree._util.arrays import FloatArray
from latree._util.parallel import map_ordered
from latree.inference.messages import TINY
from latree.search.edges import SMOOTHING, Surroundings
from latree.search.local import Pair, fit

_ITERATIONS = 6
_FINAL_ITERATIONS = 10


@dataclass(frozen=True)
class Move:
    """Two neighbouring hidden variables with other neighbours than before.

    Attributes
    ----------
    ends : (int, int)
        H and G.
    neighbors, other_neighbors : tuple of int
        Of H and of G after the move, without each other.
    pair : Pair
        The small model after the move.
    gain : float
        How much lower half of the BIC is.
    """

    ends: tuple[int, int]
    neighbors: tuple[int, ...]
    other_neighbors: tuple[int, ...]
    pair: Pair
    gain: float


def best_moves(around: Surroundings, edges: Sequence[int], log_rows: float) -> list[Move]:
    """Return the best move at each edge, if any gains; the best first."""

    def best(edge: int) -> Move | None:
        h, g = around.tree.edges[edge].tolist()
        pair = around.pair(h, g)
        own = [u for u, _ in around.tree.neighbors[h] if u != g]
        other = [u for u, _ in around.tree.neighbors[g] if u != h]
        now = _score(pair, around.weights, log_rows, _ITERATIONS)[0]
        found = None
        for left, right in _arrangements(own, other):
            moved = _rearranged(pair, (own, other), (left, right))
            score, fitted = _score(moved, around.weights, log_rows, _ITERATIONS)
            if found is None or score - now > found.gain:
                found = Move((h, g), tuple(left), tuple(right), fitted, score - now)
        return found

    moves = [move for move in map_ordered(best, edges) if move is not None and move.gain > 0]
    return sorted(moves, key=lambda move: -move.gain)


def _score(pair: Pair, weights: FloatArray, log_rows: float, iterations: int) -> tuple[float, Pair]:
    found = fit(pair, weights, smoothing=SMOOTHING, max_iterations=iterations)
    return float(weights @ found.rows) - found.model.n_parameters * log_rows / 2, found.model


def _arrangements(own: list[int], other: list[int]) -> Iterator[tuple[list[int], list[int]]]:
    """Yield other ways to divide the neighbours of two hidden variables, each of which keeps two or more."""
    for one, two, swapped in ((own, other, False), (other, own, True)):
        if len(one) > 2:
            for node in one:
                rest, more = [u for u in one if u != node], [*two, node]
                yield (more, rest) if swapped else (rest, more)
    if min(len(own), len(other)) == 2:
        for node in own:
            for counterpart in other:
                yield (
                    [counterpart if u == node else u for u in own],
                    [node if u == counterpart else u for u in other],
                )


def _rearranged(pair: Pair, before: tuple[list[int], list[int]], after: tuple[list[int], list[int]]) -> Pair:
    """Return the pair with its neighbours divided differently, for EM to start from."""
    back = (pair.between * pair.prior).T  # P(h, g)
    back = back / np.maximum(back.sum(axis=0), TINY)
    own = dict(zip(before[0], zip(pair.messages, pair.tables, strict=True), strict=True))
    other = dict(zip(before[1], zip(pair.other_messages, pair.other_tables, strict=True), strict=True))
    # P(u | G) = Σ_h P(u | h) P(h | G), and the other way round.
    left = [own[u] if u in own else (other[u][0], other[u][1] @ pair.between) for u in after[0]]
    right = [other[u] if u in other else (own[u][0], own[u][1] @ back) for u in after[1]]
    return Pair(
        tuple(message for message, _ in left),
        tuple(message for message, _ in right),
        pair.prior,
        pair.between,
        tuple(table for _, table in left),
        tuple(table for _, table in right),
    )
