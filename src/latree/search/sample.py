"""The rows that a search looks at, and fits of whole models to them."""

from collections.abc import Iterable, Sequence
from math import log

import numpy as np

from latree._util.progress import WHOLE, claim_progress
from latree._util.workers import map_forked
from latree.inference.evidence import column_cells
from latree.model import ConvergenceMonitor, LatentTreeModel, fit_model
from latree.model.fitting import cap_states, rough_tolerance
from latree.search.draft import Draft
from latree.search.edges import SMOOTHING, Surroundings
from latree.search.moves import Move
from latree.table import Table
from latree.tree import Tree

# Structure is found in at most this many rows.
MAX_ROWS = 5000

# Hidden variables have this many states before their numbers are chosen.
_FIRST_STATES = 4

# Most iterations of EM for the whole model on a tree to start from.
START_ITERATIONS = 30

# Most iterations of EM for the whole model after moves.
_ITERATIONS = 12


class Sample:
    """At most 5000 rows of a table, drawn at random; and what all steps of a search share.

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
    block, table : Block, Table
        The rows.
    log_rows : float
        The logarithm of their number: what BIC charges for two parameters.
    steps : dict
        How many changes of each kind were made.
    """

    def __init__(self, table: Table, seed: int, n_states: int | None = None) -> None:
        self.table = table.units(MAX_ROWS, seed).sorted_rows()
        self.block = self.table.rows.fetch(np.arange(self.table.n_rows))
        self.seed, self.n_states = seed, n_states
        self.log_rows = log(max(self.table.total_weight, 2.0))
        self.steps = dict.fromkeys(("exchanges", "cuts", "contractions", "moves", "divisions"), 0)
        self._tolerance = rough_tolerance(self.table)
        self._cells = column_cells(self.block.codes, self.table.n_states.tolist())
        self._surroundings: Surroundings | None = None  # of the last model
        self._progress, self._done = claim_progress(), 0.0

    def first(self, trees: Sequence[Tree], n_states: int = _FIRST_STATES) -> LatentTreeModel:
        """Fit some trees quickly and return the one with the lowest BIC."""

        def quick(tree: Tree) -> LatentTreeModel:
            return fit_model(
                self.table,
                tree,
                self._first_states(tree, n_states),
                smoothing=SMOOTHING,
                monitor=ConvergenceMonitor(self._tolerance, START_ITERATIONS),
                random_state=self.seed,
            ).model

        self._report()
        distinct = {tree.splits: tree for tree in trees}.values()
        return min(map_forked(quick, list(distinct)), key=lambda model: model.bic(self.table))

    def _first_states(self, tree: Tree, n_states: int) -> Sequence[int]:
        if self.n_states is not None:
            return [self.n_states] * tree.n_hidden
        return cap_states(tree, self.table.n_states.tolist(), n_states)

    def fitted(
        self, start: LatentTreeModel, iterations: int = _ITERATIONS, smoothing: float = SMOOTHING
    ) -> LatentTreeModel:
        """Continue EM of the whole model and return where it ends."""
        self._report()
        return fit_model(
            self.table,
            start.tree,
            start.n_states[start.tree.n_observed :].tolist(),
            smoothing=smoothing,
            monitor=ConvergenceMonitor(self._tolerance, iterations),
            start=start,
        ).model

    def after(self, model: LatentTreeModel, moves: Iterable[Move]) -> LatentTreeModel:
        """Make some moves in a model and fit the whole of it again."""
        draft = Draft(model)
        for move in moves:
            draft.rearrange(move)
        return self.fitted(draft.start(self.table))

    def around(self, model: LatentTreeModel) -> Surroundings:
        """Return the messages around the hidden variables of a model; those of the last model are kept."""
        if self._surroundings is None or self._surroundings.model is not model:
            self._surroundings = None  # two of them would be much memory
            self._surroundings = Surroundings(model, self.block, self._cells)
        return self._surroundings

    def _report(self) -> None:
        """Report that another fit of the whole model begins; how many there will be is not known."""
        self._done += (1 - self._done) / 12
        self._progress(int(self._done * WHOLE), WHOLE)
