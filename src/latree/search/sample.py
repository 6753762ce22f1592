"""The rows that a search looks at, fits of whole models to them, and the messages around hidden variables."""

from collections.abc import Callable, Collection, Iterable, Sequence
from copy import copy
from functools import cached_property
from math import log

import numpy as np

from latree._util.arrays import FloatArray
from latree._util.progress import WHOLE, claim_progress
from latree._util.workers import Item, Result, map_forked
from latree.inference.evidence import BoolArray, column_cells, messages
from latree.model import ConvergenceMonitor, LatentTreeModel, fit_model
from latree.model.fitting import cap_states, rough_tolerance
from latree.search.local import SMOOTHING, Pair, Star, fit
from latree.search.neighbors import Message, converted, precision_for
from latree.table import Table
from latree.tree import Tree

# Structure is found in at most this many rows.
MAX_ROWS = 5000

# Hidden variables have this many states before their numbers are chosen.
_FIRST_STATES = 4

# Most iterations of EM for the whole model: on a tree to start from, and after changes.
_START_ITERATIONS, _ITERATIONS = 30, 12

# With more neighbours than this, a hidden variable is first looked at as if its tables were known.
_FEW = 8

# With at least twice as many rows as this, some of them are looked at first: what is clear in these is clear in all.
_ROUGH_ROWS = 1000

# Iterations of EM for one hidden variable in the place of two.
_MERGED_ITERATIONS = 8


class Sample:
    """Rows of a table, at most so many, drawn at random; and what all steps of a search share.

    Folds are drawn by the number of a row. So rows are repeated as often as they count, and sorted: neither their order
    nor counts in the place of repeated rows change anything, unless the rows are a sample.

    Parameters
    ----------
    table : Table
    seed : int
        Of the sample and of random starts.
    n_states : int, optional
        Of every hidden variable, if it is given.

    Attributes
    ----------
    table : Table
        The rows.
    log_rows : float
        The logarithm of their number: what BIC charges for two parameters.
    """

    def __init__(self, table: Table, seed: int, n_states: int | None = None) -> None:
        self.table = table.units(MAX_ROWS, seed).sorted_rows()
        self.block = self.table.rows.fetch(np.arange(self.table.n_rows))
        self.seed, self.n_states = seed, n_states
        self.log_rows = log(max(self.table.total_weight, 2.0))
        self._tolerance = rough_tolerance(self.table)
        self._surroundings: Surroundings | None = None  # of the last model
        self._progress, self._done = claim_progress(), 0.0

    def first(self, trees: Iterable[Tree]) -> LatentTreeModel:
        """Fit some trees quickly and return the one with the lowest BIC."""
        columns = self.table.n_states.tolist()

        def quick(tree: Tree) -> LatentTreeModel:
            given = None if self.n_states is None else [self.n_states] * tree.n_hidden
            n_states = given or cap_states(tree, columns, _FIRST_STATES)
            monitor = ConvergenceMonitor(self._tolerance, _START_ITERATIONS)
            return fit_model(
                self.table, tree, n_states, smoothing=SMOOTHING, monitor=monitor, random_state=self.seed
            ).model

        self._report()
        distinct = {tree.splits: tree for tree in trees}.values()
        return min(map_forked(quick, list(distinct)), key=lambda model: model.bic(self.table))

    def fitted(self, start: LatentTreeModel) -> LatentTreeModel:
        """Continue EM of the whole model and return where it ends."""
        self._report()
        monitor = ConvergenceMonitor(self._tolerance, _ITERATIONS)
        n_states = start.n_states[start.tree.n_observed :].tolist()
        return fit_model(self.table, start.tree, n_states, smoothing=SMOOTHING, monitor=monitor, start=start).model

    def around(self, model: LatentTreeModel) -> "Surroundings":
        """Return the messages around the hidden variables of a model; those of the last model are kept."""
        if self._surroundings is None or self._surroundings.model is not model:
            self._surroundings = None  # two of them would be much memory
            self._surroundings = Surroundings(model, self)
        return self._surroundings

    @cached_property
    def cells(self) -> list[BoolArray]:
        """The messages of columns."""
        return column_cells(self.block.codes, self.table.n_states.tolist())

    def _report(self) -> None:
        """Report that another fit of the whole model begins; how many there will be is not known."""
        self._done += (1 - self._done) / 12
        self._progress(int(self._done * WHOLE), WHOLE)


def _pair(one: Star, between: FloatArray, two: Star) -> Pair:
    return Pair(one.messages, two.messages, one.prior, between, one.tables, two.tables, one.known, two.known)


class Surroundings:
    """The hidden variables of a fitted model, each with the messages around it in the rows of a sample."""

    def __init__(self, model: LatentTreeModel, sample: Sample) -> None:
        self.model, self.tree, self._sample = model, model.tree, sample
        block, cells = sample.block, sample.cells
        self.weights: FloatArray = np.ones(len(block.codes)) if block.weights is None else block.weights
        # The message of a column that is a leaf of the unrooted tree are its cells, also where the column is the root.
        found = messages(model.network, block.codes, cells, precision_for(self.weights))
        self.messages: dict[tuple[int, int], Message] = {
            (u, v): cells[u] if u < self.tree.n_observed and len(self.tree.neighbors[u]) == 1 else message
            for (u, v), message in found.items()
        }
        self.marginals = model.network.marginals()
        self.gains: dict[int, float] | None = None  # of edges, if they are tested
        self._beliefs: dict[
            int, FloatArray
        ] = {}  # what all neighbours of a hidden variable say about it, as logarithms

    @cached_property
    def rough(self) -> "Surroundings":
        """The same in some of the rows, if there are many."""
        step = len(self.weights) // _ROUGH_ROWS
        if step < 2:
            return self
        found = copy(self)
        found.weights, found._beliefs = self.weights[::step], {}
        found.messages = {
            (u, v): message[:, ::step].copy() for (u, v), message in self.messages.items() if v >= self.tree.n_observed
        }
        return found

    def map(self, function: Callable[[Item], Result], items: Sequence[Item]) -> list[Result]:
        """Apply a function that fits small models to these messages to some items, on all cores."""
        return map_forked(function, items, self.messages.values())

    def conditional(self, u: int, v: int) -> FloatArray:
        """Return ``P(u | v)`` for neighbours u and v, one column per state of v."""
        return self.model.network.conditional(u, v)

    def near(self, node: int, without: int | None = None) -> list[int]:
        """Return the neighbours of a node, but one of them."""
        return [other for other, _ in self.tree.neighbors[node] if other != without]

    def star(self, node: int, without: int | None = None) -> Star:
        """Return a hidden variable with its neighbours."""
        around = self.near(node, without)
        return Star(
            tuple(self.messages[other, node] for other in around),
            self.marginals[node],
            tuple(self.conditional(other, node) for other in around),
        )

    def pair(self, h: int, g: int) -> Pair:
        """Return two neighbouring hidden variables with their other neighbours."""
        return _pair(self.star(h, without=g), self.conditional(g, h), self.star(g, without=h))

    def rough_pair(self, h: int, g: int) -> Pair:
        """Return two neighbouring hidden variables; the tables of other neighbours are not fitted where they are many.

        What is clear without that is clear with it.
        """
        one, two = (
            self._known(node, other) if len(self.tree.neighbors[node]) > _FEW else self.star(node, other)
            for node, other in ((h, g), (g, h))
        )
        return _pair(one, self.conditional(g, h), two)

    def _known(self, node: int, without: int) -> Star:
        """Return a hidden variable with what its other neighbours say about it, in place of these neighbours."""
        if node not in self._beliefs:
            logarithm = sum(np.log(self.factor(other, node)) for other in self.near(node))
            self._beliefs[node] = np.asarray(logarithm - np.max(logarithm, axis=0))
        logarithm = self._beliefs[node] - np.log(self.factor(without, node))
        known = np.exp(logarithm - logarithm.max(axis=0))
        return Star((), self.marginals[node], (), known)

    def factor(self, u: int, v: int) -> FloatArray:
        """Return the likelihood of each state of v, given the cells on the side of its neighbour u."""
        precision = precision_for(self.weights)
        table, message = converted(self.conditional(u, v), precision), converted(self.messages[u, v], precision)
        return np.maximum(table.T @ message, np.finfo(precision).tiny)

    def merged(self, nodes: Collection[int]) -> tuple[list[int], Star]:
        """Return one hidden variable in the place of several that are connected, and its neighbours.

        They are merged one by one, beginning with the one that has the most other neighbours. The one in their place
        has as many states as the largest of them, or more if BIC asks for that.
        """
        hub = min(nodes, key=lambda node: (-sum(u not in nodes for u in self.near(node)), node))
        star, near, inside = self.star(hub), self.near(hub), {hub}
        while len(inside) < len(nodes):
            place = next(place for place, other in enumerate(near) if other in nodes)
            joined = near.pop(place)
            inside.add(joined)
            others = [u for u in self.near(joined) if u not in inside]
            pair = Pair(
                star.messages[:place] + star.messages[place + 1 :],
                tuple(self.messages[u, joined] for u in others),
                star.prior,
                star.tables[place],
                star.tables[:place] + star.tables[place + 1 :],
                tuple(self.conditional(u, joined) for u in others),
            )
            star = self._one_for_two(pair)
            near += others
        return near, star

    def _one_for_two(self, pair: Pair) -> Star:
        """Return one hidden variable in the place of two: as many states as the larger has, or one more, by BIC."""
        k = max(pair.between.shape)
        sizes = [k] if self._sample.n_states or k == pair.between.size else [k, k + 1]
        found = [fit(pair.merged(n), self.weights, max_iter=_MERGED_ITERATIONS) for n in sizes]
        return min(found, key=lambda one: one.half_bic(self.weights, self._sample.log_rows)).model

    @property
    def inner_edges(self) -> list[int]:
        """The edges between two hidden variables."""
        return [edge for edge, ends in enumerate(self.tree.edges.tolist()) if min(ends) >= self.tree.n_observed]
