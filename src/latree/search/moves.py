"""Moves of a neighbour to the next hidden variable, and exchanges of two neighbours across an edge."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from latree._util.arrays import FloatArray, IntArray
from latree.inference.messages import TINY
from latree.search.edges import SMOOTHING, Surroundings
from latree.search.local import Fitted, Pair, attached, fit
from latree.search.neighbors import converted, precision_for

_ITERATIONS = 6  # of EM, for each way to divide the neighbours

# After neighbours moved and their own tables were fitted, the other tables gain less than this, in nats. In moves that
# were worth it, they gained up to 34.
_SLACK = 50.0

# Ways that are worse than the tree's own by this, in nats of half of the BIC, hardly ever are the best one if rows are
# drawn again: they do not count against an edge.
_MARGIN = 20.0


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
    """Return the best move at each edge, if any gains; the best first.

    Parameters
    ----------
    around : Surroundings
    edges : sequence of int
        Between hidden variables.
    log_rows : float
        The logarithm of the number of rows: what BIC charges for two parameters.
    """

    def best(edge: int) -> Move | None:
        h, g = around.tree.edges[edge].tolist()
        (_, _, now), *others = _arranged(around, edge, log_rows, margin=0.0)
        scored = [
            (_half_bic(now, around.weights, log_rows) - _half_bic(found, around.weights, log_rows), place)
            for place, (_, _, found) in enumerate(others)
        ]
        if not scored:
            return None
        gain, place = max(scored)
        left, right, found = others[place]
        return Move((h, g), left, right, found.model, gain)

    moves = [move for move in around.map(best, edges) if move is not None and move.gain > 0]
    return sorted(moves, key=lambda move: -move.gain)


def arranged_rows(around: Surroundings, edge: int, log_rows: float) -> tuple[FloatArray, IntArray]:
    """Return the log-likelihood of each row for each way to divide the neighbours of an edge's ends, its own first.

    The second array has the number of parameters of each way.
    """
    found = [one for _, _, one in _arranged(around, edge, log_rows, margin=_MARGIN)]
    return np.stack([one.rows for one in found]), np.array([one.model.n_parameters for one in found])


def _arranged(
    around: Surroundings, edge: int, log_rows: float, margin: float
) -> list[tuple[tuple[int, ...], tuple[int, ...], Fitted[Pair]]]:
    """Fit ways to divide the neighbours of two hidden variables, the present one first.

    Ways whose half BIC is higher than that of the present one by more than the margin are left out.
    """
    h, g = around.tree.edges[edge].tolist()
    pair, weights = around.pair(h, g), around.weights
    own = [u for u, _ in around.tree.neighbors[h] if u != g]
    other = [u for u, _ in around.tree.neighbors[g] if u != h]
    now = fit(pair, weights, smoothing=SMOOTHING, max_iter=_ITERATIONS)
    found = [(tuple(own), tuple(other), now)]
    quick = _QuickMoves(pair, weights)
    for left, right in _arrangements(own, other):
        start = _rearranged(pair, (own, other), (left, right))
        least_gain = (start.n_parameters - pair.n_parameters) * log_rows / 2 - margin
        leaving, coming = _places(own, left), _places(other, right)
        if not quick.gains(leaving, coming, least_gain - _SLACK):
            continue
        target = float(weights @ now.rows) + least_gain
        tried = fit(start, weights, smoothing=SMOOTHING, max_iter=_ITERATIONS, target=target)
        if float(weights @ tried.rows) > target:
            found.append((tuple(left), tuple(right), tried))
    return found


def _places(before: Sequence[int], after: Collection[int]) -> list[int]:
    """Return the places of neighbours that are no longer there."""
    return [place for place, u in enumerate(before) if u not in after]


class _QuickMoves:
    """How much neighbours of two hidden variables gain on the other side, if only their own tables are fitted again."""

    def __init__(self, pair: Pair, weights: FloatArray) -> None:
        precision = precision_for(weights)
        self.tiny, self.weights = np.finfo(precision).tiny, converted(weights, precision)
        self.messages, self.factors, products = [], [], []
        for messages, tables in ((pair.messages, pair.tables), (pair.other_messages, pair.other_tables)):
            own = [converted(message, precision) for message in messages]
            factors = [
                np.maximum(converted(table, precision).T @ message, self.tiny)
                for table, message in zip(tables, own, strict=True)
            ]
            logarithm = np.log(factors[0])
            for factor in factors[1:]:
                logarithm += np.log(factor)
            products.append(np.exp(logarithm - logarithm.max(axis=0)))
            self.messages.append(own)
            self.factors.append(factors)
        # P(h) P(cells of its neighbours | h), and P(cells of its neighbours | g), up to a factor per row.
        self.products = [products[0] * converted(pair.prior, precision)[:, None], products[1]]
        self.across = [converted(pair.between, precision), converted(pair.between, precision).T]
        self.now = self._sum_of_logarithms((self.products[1] * (self.across[0] @ self.products[0])).sum(axis=0))

    def gains(self, leaving: Sequence[int], coming: Sequence[int], least: float) -> bool:
        """Return whether the log-likelihood gains this if neighbours change sides.

        Parameters
        ----------
        leaving, coming : sequence of int
            Places of neighbours that go from H to G, and from G to H: one that moves, or two that are exchanged.
        least : float
        """
        moving = [*((0, place) for place in leaving), *((1, place) for place in coming)]
        products = list(self.products)
        for side, place in moving:
            products[side] = products[side] / self.factors[side][place]
        for number, (side, place) in enumerate(moving, start=1):
            joint = products[1 - side] * (self.across[side] @ products[side])
            total = np.maximum(joint.sum(axis=0), self.tiny)
            # The log-likelihood of all cells but those of neighbours that are not attached yet.
            target = least + self.now - self._sum_of_logarithms(total) if number == len(moving) else -np.inf
            message = self.messages[side][place]
            table, found = attached(message, joint / total, self.weights, smoothing=SMOOTHING, target=target)
            factor = np.maximum(converted(table, message.dtype).T @ message, self.tiny)
            products[1 - side] = products[1 - side] * factor
        return found >= target

    def _sum_of_logarithms(self, rows: FloatArray) -> float:
        return float(np.sum(self.weights * np.log(np.maximum(rows, self.tiny)), dtype=float))


def _half_bic(found: Fitted[Pair], weights: FloatArray, log_rows: float) -> float:
    return found.model.n_parameters * log_rows / 2 - float(weights @ found.rows)


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
