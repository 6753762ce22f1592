"""Relocation: a column or a subtree comes to another hidden variable nearby.

Take a node u away from its hidden variable H. The rest of the tree says how probable each state of any other hidden
variable G is in a row; so ``P(u | row without u)`` is known for every place at which u could be attached, up to the
table ``P(u | G)``, which is fitted to the rows. The rest of the model does not change, so the difference of these
predictions is the difference of what the whole models predict.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby, pairwise
from math import log

import numpy as np

from latree._util.arrays import FloatArray, IntArray
from latree.inference.messages import TINY
from latree.search.local import SMOOTHING, SURELY
from latree.search.neighbors import converted, precision_for
from latree.search.sample import Surroundings
from latree.tree import Tree

# How many edges away the new place may be.
_RADIUS = 4

# At most so many places are tried for a node: those that it depends on most. In 12 tables of all kinds the best place
# was always among eight, and not always among four.
_PLACES = 8

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
    views, rough = _Views(around), _Views(around.rough)
    hanging: dict[int, list[int]] = {}
    for u, h in nodes:
        hanging.setdefault(h, []).append(u)
    found = around.map(lambda one: _best_of(views, rough, *one), list(hanging.items()))
    return sorted((move for moves in found for move in moves), key=lambda move: (-move.gain, move.node, move.old))


class _Views:
    """What the rows say about hidden variables, with and without single neighbours."""

    def __init__(self, around: Surroundings) -> None:
        self.around, self.tree = around, around.tree
        self.precision = precision_for(around.weights)
        self.tiny = np.finfo(self.precision).tiny
        self.weights = converted(around.weights, self.precision)
        self._factors: dict[tuple[int, int], FloatArray] = {}  # of hidden variables
        self._beliefs: dict[int, FloatArray] = {}
        self._steps: dict[tuple[int, int], tuple[FloatArray, FloatArray, FloatArray]] = {}

    def factor(self, u: int, v: int) -> FloatArray:
        """Return the likelihood of each state of v, given the cells on the side of its neighbour u."""
        found = self._factors.get((u, v))
        if found is None:
            found = self.around.factor(u, v)
            if u >= self.tree.n_observed:
                self._factors[u, v] = found
        return found

    def belief(self, v: int) -> FloatArray:
        """Return ``P(v | row)`` for a hidden variable v."""
        if v not in self._beliefs:
            logarithm = converted(np.log(np.maximum(self.around.marginals[v], TINY)), self.precision)[:, None]
            for u, _ in self.tree.neighbors[v]:
                logarithm = logarithm + np.log(self.factor(u, v))
            self._beliefs[v] = self.normalised(np.exp(logarithm - logarithm.max(axis=0)))
        return self._beliefs[v]

    def stacked(self, hidden: Sequence[int]) -> tuple[FloatArray, IntArray]:
        """Return ``P(v | row)`` for some hidden variables below each other, and where each begins."""
        found = [self.belief(v) for v in hidden]
        return np.concatenate(found), np.cumsum([0, *map(len, found[:-1])])

    @cached_property
    def all_beliefs(self) -> tuple[FloatArray, IntArray]:
        """``P(v | row)`` for all hidden variables."""
        return self.stacked(range(self.tree.n_observed, self.tree.n_nodes))

    def normalised(self, belief: FloatArray) -> FloatArray:
        """Return probabilities from likelihoods times priors."""
        return np.asarray(belief / np.maximum(belief.sum(axis=0), self.tiny))

    def _step(self, v: int, g: int) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return what turns ``P(v | row without u)`` into ``P(g | row without u)`` for neighbours, u behind v.

        The first array makes a message to g of it, together with the table; the second is what the rest says about g.
        """
        if (v, g) not in self._steps:
            marginal = converted(np.maximum(self.around.marginals[v], self.tiny), self.precision)
            table = converted(self.around.conditional(v, g), self.precision).T
            self._steps[v, g] = 1 / (marginal[:, None] * self.factor(g, v)), self.belief(g) / self.factor(v, g), table
        return self._steps[v, g]

    def without(self, u: int, h: int, paths: Iterable[Sequence[int]]) -> Iterator[tuple[int, FloatArray]]:
        """Yield H and other hidden variables, given by the paths from H to them, each with ``P(G | row without u)``."""
        belief = {h: self.normalised(self.belief(h) / self.factor(u, h))}
        yield h, belief[h]
        for path in paths:
            for v, g in pairwise(path):
                if g not in belief:
                    into, rest, table = self._step(v, g)
                    belief[g] = self.normalised(rest * (table @ (belief[v] * into)))
            yield path[-1], belief[path[-1]]


def _likely_paths(views: _Views, h: int, nodes: Sequence[int]) -> Iterator[tuple[int, list[list[int]]]]:
    """Yield for each of some neighbours of H how many other places there are for it, and the paths to the best of them.

    These are the hidden variables that it depends on most. Dependence is Pearson's φ² of the neighbour, as its own
    cells say, and the hidden variable, as all cells say.
    """
    paths = _paths(views.tree, h)
    first = np.array([path[1] for path in paths])
    possible = [np.flatnonzero(first != u) for u in nodes]
    dependence: list[FloatArray] = []
    if max(map(len, possible)) > _PLACES:
        dependence = _dependence(views, h, nodes, [path[-1] for path in paths])
    for number, places in enumerate(possible):
        if len(places) > _PLACES:
            order = np.argsort(-dependence[number][places], kind="stable")
            yield len(places), [paths[place] for place in places[order[:_PLACES]].tolist()]
        else:
            yield len(places), [paths[place] for place in places.tolist()]


def _paths(tree: Tree, h: int) -> list[list[int]]:
    """Return the paths from a hidden variable to those that are near, the nearest first."""
    found = [[h]]
    for path in found:  # grows meanwhile
        if len(path) <= _RADIUS:
            near = (u for u, _ in tree.neighbors[path[-1]] if u >= tree.n_observed)
            found += [[*path, u] for u in near if len(path) == 1 or u != path[-2]]
    return found[1:]


def _dependence(views: _Views, h: int, nodes: Sequence[int], places: Sequence[int]) -> list[FloatArray]:
    """Return how much each of some neighbours of H depends on each of some hidden variables."""
    first = views.tree.n_observed
    # Where most hidden variables are near, as around a hub, those of all are taken: that saves copying them.
    if 2 * len(places) > views.tree.n_hidden:
        beliefs, starts = views.all_beliefs
        chosen = np.array(places) - first
    else:
        beliefs, starts = views.stacked(places)
        chosen = np.arange(len(places))
    own = []
    for u in nodes:
        message = views.around.messages[u, h]
        if message.dtype == np.bool_:  # zero where the cell is missing
            own.append(converted(message * ~message.all(axis=0), views.precision))
        else:
            own.append(views.normalised(converted(message * views.around.marginals[u][:, None], views.precision)))
    joint = (np.concatenate(own) * views.weights) @ beliefs.T
    joint_of = np.split(joint, np.cumsum([len(one) for one in own])[:-1])
    found = []
    for one, counts in zip(own, joint_of, strict=True):
        share, expected = one @ views.weights, counts.sum(axis=0)
        squared = (counts**2 / np.maximum(share, views.tiny)[:, None]).sum(axis=0) / np.maximum(expected, views.tiny)
        found.append(np.add.reduceat(squared, starts)[chosen])
    return found


def _best_of(views: _Views, rough: _Views, h: int, nodes: Sequence[int]) -> list[Relocation]:
    """Return the best new places of neighbours of H that have better ones."""
    found = []
    for u, (n_places, paths) in zip(nodes, _likely_paths(rough, h, nodes), strict=True):
        if rough.around is not views.around:
            paths = _possible(rough, (u, h), paths)
        own, *others = _scores(views, (u, h), paths) if paths else [None]
        best = max(others, key=lambda one: one.score, default=None)
        if own and best and best.score > own.score:
            # Any of the other places could have been the best by chance.
            gain = best.score - own.score - log(n_places)
            found.append(Relocation(u, h, best.place, best.table * best.prior, gain))
    return found


def _possible(rough: _Views, ends: tuple[int, int], paths: list[list[int]]) -> list[list[int]]:
    """Return the paths to places that are not clearly worse than the present one in some of the rows."""
    own, *others = _scores(rough, ends, paths)
    found = []
    for path, one in zip(paths, others, strict=True):
        difference = rough.weights * (one.rows - own.rows)
        if difference.sum() > -SURELY * np.sqrt((difference**2).sum()):
            found.append(path)
    return found


@dataclass(frozen=True)
class _Score:
    """A node that hangs on a hidden variable: how well its cells are predicted.

    Attributes
    ----------
    place : int
        The hidden variable.
    prior : array
        Its distribution.
    table : array
        ``P(node | place)``.
    rows : array
        The log-likelihood of the node's cells in each row.
    score : float
        Their sum, less one nat for each parameter, which is about what rows score that are left out (Stone 1977, An
        Asymptotic Equivalence of Choice of Model by Cross-Validation and Akaike's Criterion).
    """

    place: int
    prior: FloatArray
    table: FloatArray
    rows: FloatArray
    score: float


def _scores(views: _Views, ends: tuple[int, int], paths: Iterable[Sequence[int]]) -> list[_Score]:
    """Return how well a node's cells are predicted from where it hangs, and from other places."""
    u, h = ends
    message, weights = converted(views.around.messages[ends], views.precision), views.weights
    places, beliefs = zip(*views.without(u, h, paths), strict=True)
    found: dict[int, _Score] = {}

    def fit(numbers: Sequence[int], start: FloatArray | None = None) -> None:
        stacked = np.stack([beliefs[number] for number in numbers])
        best = max((one.score for one in found.values()), default=-np.inf)
        tables, rows = attached(message, stacked, weights, start, best)
        scores = rows.astype(float) @ weights - [price(table) for table in tables]
        priors = np.asarray(stacked @ weights / weights.sum(), dtype=float)
        found.update(zip(numbers, map(_Score, [places[n] for n in numbers], priors, tables, rows, scores), strict=True))

    fit([0], views.around.conditional(u, h)[None])
    for _, group in groupby(
        sorted(range(1, len(places)), key=lambda n: len(beliefs[n])), key=lambda n: len(beliefs[n])
    ):
        fit(list(group))
    return [found[number] for number in range(len(places))]


def price(table: FloatArray) -> int:
    """Return the number of free parameters of a conditional probability table."""
    return int(table[1:].size)


def attached(
    message: FloatArray,
    beliefs: FloatArray,
    weights: FloatArray,
    tables: FloatArray | None = None,
    target: float = -np.inf,
) -> tuple[FloatArray, FloatArray]:
    """Fit ``P(u | G)`` for a neighbour u of G and nothing else, for each of several G.

    Parameters
    ----------
    message : array
        What u's cells say about its state.
    beliefs : array, shape (places, states of G, rows)
        ``P(G | the other cells of the row)`` for each G, of the same precision.
    weights : array
        Of the rows, of the same precision.
    tables : array, shape (places, states of u, states of G), optional
        Where EM starts; by default what u's cells would be if G were known.
    target : float
        EM ends when no score would reach this even if all iterations left gained as much as the last one.

    Returns
    -------
    tables : array, shape (places, states of u, states of G)
    rows : array, shape (places, rows)
        The log-likelihood of u's cells.
    """
    if tables is None:
        tables = _normalised_tables(np.asarray(message @ (beliefs * weights).transpose(0, 2, 1), dtype=float))
    tiny, scores = np.finfo(beliefs.dtype).tiny, np.full(len(beliefs), -np.inf)
    for left in range(_ITERATIONS, -1, -1):
        # P(u's cells | rest of the row)
        predicted = converted(tables, beliefs.dtype).transpose(0, 2, 1) @ message
        total = np.maximum((beliefs * predicted).sum(axis=1), tiny)
        rows = np.log(total)
        before, scores = scores, rows @ weights - price(tables[0])
        likely = scores + left * np.maximum(scores - before, 0.0)
        if not left or (left < _ITERATIONS and likely.max() < target):
            break
        shares = (beliefs * (weights / total)[:, None]).transpose(0, 2, 1)
        tables = _normalised_tables(tables * (message @ shares))
    return tables, rows


def _normalised_tables(counts: FloatArray) -> FloatArray:
    counts = counts + SMOOTHING
    return np.asarray(counts / counts.sum(axis=1, keepdims=True))
