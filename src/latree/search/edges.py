"""Which edges are there: whether two neighbouring hidden variables predict better than one in their place.

At an edge H - G, the model of both is compared with the model of a single hidden variable, on the messages of the
subtrees around them. Every row is scored by models that were fitted to other rows, so that the comparison is honest: a
second hidden variable that is not there fits the rows a little better and predicts others a little worse.
"""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from math import pi, sqrt
from typing import TypeVar

import numpy as np

from latree._util.arrays import FloatArray, IntArray
from latree._util.workers import Item, Result, map_forked
from latree.inference.evidence import BoolArray, column_cells, messages
from latree.inference.messages import TINY
from latree.model import LatentTreeModel
from latree.search.local import AnyLocal, Pair, Star, fit
from latree.search.neighbors import Message, precision_for
from latree.search.states import best_size
from latree.table import Block

SMOOTHING = 1.0  # pseudo-rows in every cell, in fits of small models

_FOLDS = 3
_FOLD_ITERATIONS = 8  # of EM, on the rows of a fold, from the fit to all rows
# Iterations of EM for one hidden variable on all rows, and the gain on these rows after which an edge is clearly there:
# no folds are needed then.
_STAGES = ((6, 200.0), (14, 60.0))

# Two hidden variables that fit the rows this many nats worse than one are fitted again, with so many iterations.
_STUCK, _RESTART_ITERATIONS = 12.0, 20

# The assumed mean and standard deviation of the gain of an edge that is not there: docs/lab/explain.md says why.
_NULL_MEAN, _NULL_SPREAD = -4.0, 3.5
# Gains of edges that are there have a gamma distribution above this, with at least this scale.
_LEAST_GAIN, _MIN_SCALE = -7.0, 5.0
# Where cells are missing, the first three numbers are multiplied by this power of the share of cells that are present:
# a hidden variable too many can adapt to less, and costs less in other rows.
_PRESENT_POWER = 0.5
_THRESHOLDS = np.arange(-70, 80) / 10  # where the threshold may be
_STEPS = 50  # of EM for these distributions


class Surroundings:
    """The hidden variables of a fitted model, each with the messages around it in some rows.

    Parameters
    ----------
    model : LatentTreeModel
    block : Block
        The rows.
    cells : sequence of array, optional
        What :func:`latree.inference.network.column_cells` returns for these rows, if it is known.
    """

    def __init__(self, model: LatentTreeModel, block: Block, cells: Sequence[BoolArray] | None = None) -> None:
        self.model, self.tree = model, model.tree
        self.weights = np.ones(len(block.codes)) if block.weights is None else block.weights
        if cells is None:
            cells = column_cells(block.codes, model.n_states[: self.tree.n_observed].tolist())
        # The message of a column that is a leaf of the unrooted tree are its cells, also where the column is the root.
        precision = precision_for(self.weights)
        self.messages: dict[tuple[int, int], Message] = {
            (u, v): cells[u] if u < self.tree.n_observed and len(self.tree.neighbors[u]) == 1 else message
            for (u, v), message in messages(model.network, block.codes, cells, precision).items()
        }
        self.marginals = model.network.marginals()

    def map(self, function: Callable[[Item], Result], items: Sequence[Item]) -> list[Result]:
        """Apply a function that fits small models to these messages to some items, on all cores."""
        return map_forked(function, items, self.messages.values())

    def conditional(self, u: int, v: int) -> FloatArray:
        """Return ``P(u | v)`` for neighbours u and v, one column per state of v."""
        return self.model.network.conditional(u, v)

    def star(self, node: int, without: int | None = None) -> Star:
        """Return a hidden variable with its neighbours."""
        around = [other for other, _ in self.tree.neighbors[node] if other != without]
        return Star(
            tuple(self.messages[other, node] for other in around),
            self.marginals[node],
            tuple(self.conditional(other, node) for other in around),
        )

    def merged(self, nodes: Collection[int]) -> tuple[list[int], Star]:
        """Return one hidden variable in the place of several that are connected, and its neighbours.

        They are merged one by one, beginning with the one that has the most other neighbours.
        """
        hub = min(nodes, key=lambda node: (-sum(u not in nodes for u, _ in self.tree.neighbors[node]), node))
        star, near, inside = self.star(hub), [u for u, _ in self.tree.neighbors[hub]], {hub}
        while len(inside) < len(nodes):
            place = next(place for place, other in enumerate(near) if other in nodes)
            joined = near.pop(place)
            inside.add(joined)
            others = [u for u, _ in self.tree.neighbors[joined] if u not in inside]
            pair = Pair(
                _without(star.messages, place),
                tuple(self.messages[u, joined] for u in others),
                star.prior,
                star.tables[place],
                _without(star.tables, place),
                tuple(self.conditional(u, joined) for u in others),
            )
            start = pair.merged(max(pair.between.shape))
            star = fit(start, self.weights, smoothing=SMOOTHING, max_iter=_FOLD_ITERATIONS).model
            near += others
        return near, star

    def pair(self, h: int, g: int) -> Pair:
        """Return two neighbouring hidden variables with their other neighbours."""
        one, two = self.star(h, without=g), self.star(g, without=h)
        return Pair(one.messages, two.messages, one.prior, self.conditional(g, h), one.tables, two.tables)

    def branches(self, node: int) -> list[int]:
        """Return the columns behind each neighbour of a node, as bit sets."""
        return [self.tree.columns_behind(other, node) for other, _ in self.tree.neighbors[node]]

    @property
    def inner_edges(self) -> list[int]:
        """The edges between two hidden variables."""
        return [edge for edge, ends in enumerate(self.tree.edges.tolist()) if min(ends) >= self.tree.n_observed]


AnyArray = TypeVar("AnyArray")


def _without(arrays: tuple[AnyArray, ...], place: int) -> tuple[AnyArray, ...]:
    return arrays[:place] + arrays[place + 1 :]


@dataclass(frozen=True)
class EdgeTest:
    """What the rows say about an edge between two hidden variables.

    Attributes
    ----------
    gain : float
        By how many nats two hidden variables predict rows better than one in their place; negative where they do not.
    dependence : float
        By how many nats they predict rows better than two that are independent of each other.
    """

    gain: float
    dependence: float


def examine_edges(around: Surroundings, edges: Sequence[int], seed: int) -> list[EdgeTest]:
    """Test edges between hidden variables, each by itself."""
    fold = folds(len(around.weights), seed)

    def examined(edge: int) -> EdgeTest:
        h, g = around.tree.edges[edge].tolist()
        return examine_pair(around.pair(h, g), around.weights, fold)

    return around.map(examined, edges)


def folds(n_rows: int, seed: int) -> IntArray:
    """Return the fold of each row, drawn at random: it is scored by models fitted to the rows of the other folds."""
    return np.random.default_rng(seed).permutation(n_rows) % _FOLDS


def examine_pair(pair: Pair, weights: FloatArray, fold: IntArray) -> EdgeTest:
    """Test the edge between two hidden variables.

    Parameters
    ----------
    pair : Pair
        As fitted in the whole model.
    weights : array
        Of the rows.
    fold : array of int
        See :func:`folds`.
    """
    # One hidden variable in the place of both; and both, independent of each other.
    h, g = pair.apart()
    together = pair.rows()
    dependence = float(weights @ (together - h.rows() - g.rows()))
    one, gain = pair.merged(max(pair.between.shape)), 0.0
    for iterations, clear in _STAGES:
        found = fit(one, weights, smoothing=SMOOTHING, max_iter=iterations)
        one, gain = found.model, float(weights @ (together - found.rows))
        if min(gain, dependence) > clear:
            return EdgeTest(gain, dependence)
    if gain < -_STUCK:  # two hidden variables can do all that one can: these are in a bad optimum of EM
        restart = one.divided(range(len(pair.tables), len(one.tables)))
        found_pair = fit(restart, weights, smoothing=SMOOTHING, max_iter=_RESTART_ITERATIONS)
        if float(weights @ (found_pair.rows - together)) > 0:
            pair = found_pair.model
            h, g = pair.apart()
    gain, is_clear = 0.0, dependence > _STAGES[-1][1]
    held_out_dependence = 0.0
    for number in range(_FOLDS):
        scored = partial(_held_out_score, weights * (fold != number), weights * (fold == number))
        both = scored(pair)
        gain += both - scored(one)
        if not is_clear:
            held_out_dependence += both - scored(h) - scored(g)
    return EdgeTest(gain, dependence if is_clear else held_out_dependence)


def held_out_gain(pair: Pair, star: Star, weights: FloatArray, fold: IntArray) -> float:
    """Return by how many nats two hidden variables predict rows better than one, each row by fits to other rows.

    Parameters
    ----------
    pair : Pair
    star : Star
        With the neighbours of both.
    weights : array
        Of the rows.
    fold : array of int
        See :func:`folds`.
    """
    gain = 0.0
    for number in range(_FOLDS):
        scored = partial(_held_out_score, weights * (fold != number), weights * (fold == number))
        gain += scored(pair) - scored(star)
    return gain


def bic_gain(pair: Pair, weights: FloatArray, log_rows: float, least: float) -> float:
    """Return by how much half of the BIC is lower for two hidden variables than for one, where one has more parameters.

    One hidden variable of many states may predict as well as two of few states, with far more parameters. Where it has
    no more parameters than two, only prediction counts: -inf is returned.

    Parameters
    ----------
    pair : Pair
        As fitted in the whole model.
    weights : array
        Of the rows.
    log_rows : float
        The logarithm of the number of rows: what BIC charges for two parameters.
    least : float
        If it is lower by less than this with as many states as the larger of both has, other numbers are not tried.
    """
    one = pair.merged(max(pair.between.shape))
    if one.n_parameters <= pair.n_parameters:
        return -np.inf
    found = fit(one, weights, smoothing=SMOOTHING, max_iter=_FOLD_ITERATIONS)
    own = pair.n_parameters * log_rows / 2 - float(weights @ pair.rows())
    gain = one.n_parameters * log_rows / 2 - float(weights @ found.rows) - own
    if gain < least:
        return gain
    return best_size(found.model, weights, smoothing=SMOOTHING, log_rows=log_rows).bic / 2 - own


def _held_out_score(fitted: FloatArray, judged: FloatArray, model: AnyLocal) -> float:
    """Return the log-likelihood of rows under a model that is fitted to other rows."""
    return float(judged @ fit(model, fitted, smoothing=SMOOTHING, max_iter=_FOLD_ITERATIONS).rows)


@dataclass(frozen=True)
class GainDistribution:
    """How the gains of a binary tree's edges are distributed: of those that are there, and of those that are not.

    Gains of edges that are not there are about normal around a negative mean. Those of edges that are there are spread
    out, as a gamma distribution. Its scale is estimated, and so is their share (empirical Bayes; the probability of an
    edge is one minus its local false discovery rate). In a tree most of whose edges are clearly there, a doubtful one
    probably is, too; in a resolved star it probably is not.

    Attributes
    ----------
    share : float
        Of the edges that are there.
    scale : float
        Of their gains, in nats.
    present : float
        The share of cells that are present.

    References
    ----------
    Efron, Tibshirani, Storey and Tusher (2001), Empirical Bayes Analysis of a Microarray Experiment.
    """

    share: float
    scale: float
    present: float = 1.0

    @classmethod
    def of(cls, gains: FloatArray, present: float = 1.0) -> "GainDistribution":
        """Estimate the distribution from the gains of all inner edges of a binary tree."""
        above = gains - _LEAST_GAIN * present**_PRESENT_POWER
        # EM finds a local optimum: begin where few edges are there, and where nearly all are.
        highest = np.sort(above)[-max(1, len(above) // 5) :]
        starts = [
            cls(0.2, max(float(highest.mean()), _MIN_SCALE), present),
            cls(0.9, max(float(above.mean()), _MIN_SCALE), present),
        ]
        return max((start._improved(gains) for start in starts), key=lambda found: found._log_likelihood(gains))

    @cached_property
    def threshold(self) -> float:
        """The gain above which an edge is more probably there than not, within limits."""
        return self.least_gain(0.5)

    def least_gain(self, probability: float) -> float:
        """Return the gain above which an edge is there with more than this probability, within limits."""
        probable = _THRESHOLDS[self.probability(_THRESHOLDS) > probability]
        return float(probable[0] if len(probable) else _THRESHOLDS[-1])

    def probability(self, gains: FloatArray) -> FloatArray:
        """Return the probability that each edge is there."""
        there, not_there = self._densities(gains)
        return np.asarray(there / (there + not_there))

    def _densities(self, gains: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the densities of gains for edges that are there, and for those that are not, each times its share."""
        above = self._above(gains)
        there = above / self.scale**2 * np.exp(-above / self.scale)
        # A gain below the mean of edges that are not there counts as the mean: such an edge is certainly not there.
        mean, spread = (number * self.present**_PRESENT_POWER for number in (_NULL_MEAN, _NULL_SPREAD))
        distance = (np.maximum(gains, mean) - mean) / spread
        not_there = np.exp(-0.5 * distance**2) / (spread * sqrt(2 * pi))
        return self.share * there + TINY, (1 - self.share) * not_there + TINY

    def _above(self, gains: FloatArray) -> FloatArray:
        """Return by how much gains are above the least one of edges that are there."""
        return np.asarray(np.maximum(gains - _LEAST_GAIN * self.present**_PRESENT_POWER, 0))

    def _improved(self, gains: FloatArray) -> "GainDistribution":
        """Return the distribution after many steps of EM."""
        found, above = self, self._above(gains)
        for _ in range(_STEPS):
            probability = found.probability(gains)
            # One edge of either kind is added, so that no share is zero or one. The mean of the gamma is 2 scale.
            share = float((probability.sum() + 1) / (len(gains) + 2))
            scale = float((probability * above).sum() / max(2 * probability.sum(), TINY))
            found = GainDistribution(share, max(scale, _MIN_SCALE), self.present)
        return found

    def _log_likelihood(self, gains: FloatArray) -> float:
        there, not_there = self._densities(gains)
        return float(np.log(there + not_there).sum())
