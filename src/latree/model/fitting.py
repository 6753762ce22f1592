"""Fitting a model to a table: EM, held-out rows, and the numbers of states.

One number of states for all hidden variables is doubled while held-out rows are predicted better. Each model grows out
of the one before: every state is divided into two that differ a little, and EM goes on. A new start is tried as well:
each of the two is far better than the other on some tables (docs/lab/predict.md). Smoothing is chosen on held-out rows,
too: with few states first, again after each doubling, and at last for fits that are as long as the final one.

No hidden variable has fewer states than the others, not even where fewer say the same (:func:`cap_states`): EM finds
better optima with states to spare.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from math import inf, isfinite, log2, sqrt

import numpy as np

from latree._util.arrays import FloatArray, IntArray, RandomState
from latree._util.progress import Attempts, reported_to
from latree._util.workers import one_blas_thread
from latree.errors import InputError
from latree.inference.em import DEFAULT_SMOOTHING, ConvergenceMonitor, Expectation, iterate
from latree.inference.messages import log_likelihoods
from latree.inference.network import Network
from latree.inference.starts import frequencies, grown_start, random_start
from latree.model.lone import ConnectedPart
from latree.model.model import LatentTreeModel
from latree.model.record import Attempt
from latree.table import Block, Table
from latree.table.table import row_weights
from latree.tree import Tree


@dataclass(frozen=True)
class Fit:
    """A fitted model, and how EM got there.

    Attributes
    ----------
    model : LatentTreeModel
    objective : float
        Log-likelihood plus the log prior of the smoothing, ``smoothing * Σ log θ`` over all probabilities θ.
    monitor : ConvergenceMonitor
        With the objective's history, and whether EM converged.

    Examples
    --------
    >>> import latree
    >>> from latree.research import fit_model
    >>> table = latree.random_model(latree.random_tree(4, random_state=0), random_state=0).sample(100, 0)
    >>> fit = fit_model(table, latree.Tree.from_newick("(x0,x1,x2,x3);"), 2, random_state=0)
    >>> fit.iterations == len(fit.monitor.history) - 1
    True
    """

    model: LatentTreeModel
    objective: float
    monitor: ConvergenceMonitor

    @property
    def iterations(self) -> int:
        """Number of iterations."""
        return len(self.monitor.history) - 1


def fit_model(
    table: Table,
    tree: Tree,
    n_states: int | Sequence[int],
    *,
    smoothing: float = DEFAULT_SMOOTHING,
    monitor: ConvergenceMonitor | None = None,
    start: LatentTreeModel | None = None,
    random_state: RandomState = None,
) -> Fit:
    """Fit the conditional probability tables of a model on a known tree, by expectation-maximisation (EM).

    Use it when tree and numbers of states are given. :class:`latree.LatentTree` finds them as well. EM climbs to a
    local optimum: for a better one, fit from several seeds and keep the fit with the largest ``objective``.

    Parameters
    ----------
    table : Table
    tree : Tree
        Over the table's columns.
    n_states : int or sequence of int
        Number of states of every hidden variable, or of each.
    smoothing : float
        Rows added to every cell of every conditional probability table; 0 is maximum likelihood.
    monitor : ConvergenceMonitor, optional
        Decides when to stop.
    start : LatentTreeModel, optional
        Where to start instead of at random: a model with the same tree, columns and numbers of states.
    random_state : int, Generator or None
        Seed of the random start.

    Returns
    -------
    Fit

    Examples
    --------
    >>> import latree
    >>> from latree.research import fit_model
    >>> tree = latree.random_tree(5, random_state=0)
    >>> table = latree.random_model(tree, n_states=2, random_state=0).sample(300, random_state=0)
    >>> fit = fit_model(table, tree, n_states=2, random_state=0)
    >>> fit.model
    <LatentTreeModel: 5 observed, 3 hidden, 15 parameters>
    >>> fit.monitor.converged
    True
    """
    if start is not None and not (
        start.columns == table.columns
        and np.array_equal(start.tree.edges, tree.edges)
        and np.all(start.n_states[tree.n_observed :] == np.asarray(n_states))
    ):
        raise InputError("the model to start from has another tree, other columns or other numbers of states")
    monitor = (monitor or ConvergenceMonitor()).restarted()
    part = ConnectedPart(table, tree)
    if part.lone:
        if len(part.columns):
            if start is not None:
                start = LatentTreeModel(part.tree, part.table.columns, part.part_of(start.tables))
            fit = fit_model(
                part.table,
                part.tree,
                n_states,
                smoothing=smoothing,
                monitor=monitor,
                start=start,
                random_state=random_state,
            )
            tables, constant = part.whole(fit.model.tables, smoothing)
            monitor = replace(fit.monitor, history=[one + constant for one in fit.monitor.history])
        else:
            tables, constant = part.whole((), smoothing)
            monitor.history.append(constant)
            monitor.converged = True
        return Fit(LatentTreeModel(tree, table.columns, tables), monitor.history[-1], monitor)
    tables = start.tables if start is not None else random_start(table, tree, n_states, random_state)
    expectation = Expectation(table, Network.on_tree(tree, tables))
    with one_blas_thread():  # around all iterations: setting and lifting the limit in each of them takes longer
        state = iterate(expectation, tables, smoothing, monitor)
    return Fit(LatentTreeModel(tree, table.columns, state.tables), state.objective, monitor)


# With fewer rows than this, or if their order matters, rows are held out part by part (cross-validation); with more, a
# fifth of the rows is.
FEW_ROWS = 2000

# Of few rows, so many parts are held out that they have this entropy together, in nats, or all: rows of a thousand
# columns tell models apart sooner than rows of ten (docs/lab/predict.md).
_JUDGED_NATS = 40_000.0

# Number of parts of neighbouring rows, and of parts of rows drawn at random, if the order of rows matters.
_PARTS = 3

# At most this many rows are used, those that are fitted and those that are held out together.
_MANY_ROWS = 50_000

# The order of rows is tested on a sample of at most this many: a drift that they do not show changes no choice.
_ORDER_ROWS = 5000

# The order matters if holding out stretches costs this many times as much as holding out random rows. Where all columns
# say the same, chance alone does that with a probability of 0.0001 (chi-squared, 5 degrees of freedom), and less often
# elsewhere. Of nineteen real tables, none lies between 3 and 7 (docs/lab/predict.md).
_TIMES = 5.0

# So many random orders say what holding out random rows costs.
_SHUFFLES = 10


@dataclass(frozen=True)
class Part:
    """Rows to fit a model to, and held-out rows to score it on."""

    fitted: Table
    judged: Table


def held_out(table: Table, rng: np.random.Generator) -> tuple[Part, ...]:
    """Split a table's rows into fitted and held-out ones: one part for many rows or columns, cross-validation for few.

    Rows are held out at random, and their order changes nothing. The exception is an order that matters
    (:func:`cost_of_order`), as that of days, or of a sorted file: new rows may be unlike all of these. Then half of the
    rows are held out as stretches of neighbours, a sixth of the table each, to show how well a model predicts such
    rows. Rows with weight zero are left out. A row with the count 2 is two rows, which may fall on both sides.
    """
    units = table.units(_MANY_ROWS, rng)
    rows = np.arange(units.n_rows)
    if cost_of_order(table) > 0:
        stretches = np.array_split(rows, 2 * _PARTS)
        others = rng.permutation(np.concatenate(stretches[1::2]))
        judged = [*stretches[::2], *np.array_split(others, _PARTS)]
    else:
        units = units.sorted_rows()
        n_parts, n_judged = (2 * _PARTS, _n_judged(units)) if len(rows) < FEW_ROWS else (5, 1)
        judged = np.array_split(rng.permutation(rows), n_parts)[:n_judged]
    return tuple(Part(units.take(np.setdiff1d(rows, part)), units.take(np.sort(part))) for part in judged if len(part))


def _n_judged(table: Table) -> int:
    """Return how many sixths of the rows have to be held out."""
    nats = table.n_rows * table.n_columns * mean_entropy(table) if table.n_columns else 0.0
    return int(np.clip(np.ceil(2 * _PARTS * _JUDGED_NATS / max(nats, 1.0)), 1, 2 * _PARTS))


def cost_of_order(table: Table) -> float:
    """Return by how many nats a row is less probable if its neighbours are held out with it, not random rows.

    A sixth of the rows is held out at a time, and the others tell the frequencies of each column's values. The same is
    done after the rows are shuffled. If the difference is small, the order of the rows does not matter: 0 is returned.
    Rows that are counted have no order.
    """
    if table.has_counts:
        return 0.0
    units = table.units(_ORDER_ROWS, 0)
    block = units.rows.fetch(np.arange(units.n_rows))
    weights, rng = row_weights(block), np.random.default_rng(0)
    stretch = np.arange(units.n_rows) * 2 * _PARTS // max(units.n_rows, 1)
    orders = [stretch, *(rng.permutation(stretch) for _ in range(_SHUFFLES))]
    losses = np.zeros(len(orders))
    for codes, k in zip(block.codes.T, units.n_states.tolist(), strict=True):
        cells = np.minimum(codes, k).astype(np.intp)  # k where a cell is missing
        losses += [_held_out_loss(cells + (k + 1) * order, k, weights) for order in orders]
    own, shuffled = losses[0], losses[1:].mean()
    return float((own - shuffled) / units.total_weight) if own > _TIMES * shuffled else 0.0


def _held_out_loss(cells: IntArray, k: int, weights: FloatArray) -> float:
    """Return how much less probable a column's cells are given the frequencies outside their stretch, not given all.

    A cell is its stretch times k + 1 plus its code, from 0 to k - 1; a code of k is missing.
    """
    counts = np.bincount(cells, weights, 2 * _PARTS * (k + 1)).reshape(-1, k + 1)[:, :k]
    together = counts.sum(axis=0) + 0.5
    elsewhere = together - counts
    ratio = together / together.sum() * elsewhere.sum(axis=1, keepdims=True) / elsewhere
    return float((counts * np.log(ratio)).sum())


SMOOTHINGS = (3000.0, 1000.0, 300.0, 100.0, 30.0, 10.0, 3.0, 1.0, 0.3, 0.1, 0.03, 0.01)
MAX_STATES = 64
MAX_CLASSES = 512  # most states of a hidden variable that is the only one: no table has two hidden variables then
MAX_ITERATIONS = 60  # of EM, in fits that are only compared

_FIRST_SMOOTHING = 1.0
_FIRST_STATES = 4  # the search begins with this number of states
_GROWN_ITERATIONS = 40  # of EM, after each doubling of the number of states
_ROWS_PER_STATE = 20  # numbers of states that leave fewer rows per state are not tried
_WORTH_MORE = 0.5  # standard errors by which more states must predict better
_GIVE_UP_BEHIND = 2.0  # standard errors behind a rival after which no more parts are fitted


@dataclass(frozen=True)
class Choice:
    """The numbers of states and the smoothing that were chosen.

    Attributes
    ----------
    n_states : tuple of int
        Of each hidden variable.
    smoothing : float
    scores : array
        Held-out log-likelihood of each row, times its weight. Only the first rows if it was clear after them that the
        choice is not the best.
    start : LatentTreeModel
        Fitted to most of the rows; EM may start there on all of them.
    tried : tuple of Attempt
        All attempts.
    """

    n_states: tuple[int, ...]
    smoothing: float
    scores: FloatArray
    start: LatentTreeModel
    tried: tuple[Attempt, ...]


def cap_states(tree: Tree, columns: Sequence[int], most: int) -> tuple[int, ...]:
    """Return the number of states of each hidden variable: at most a given number, and no more than can matter.

    A hidden variable whose neighbours have k_1 .. k_r states needs at most ``Π k_i / max k_i`` states of its own
    (Zhang 2004, regular models): four above a pair of binary columns, and those of the smaller neighbour at a node
    with two neighbours.
    """
    sizes = [*columns, *[most] * tree.n_hidden]
    changed = True
    while changed:
        changed = False
        for node in range(tree.n_observed, tree.n_nodes):
            around = [sizes[other] for other, _ in tree.neighbors[node]]
            product = 1.0
            for size in sorted(around)[:-1]:
                product *= size
            if sizes[node] > max(product, 1):
                sizes[node], changed = int(max(product, 1)), True
    return tuple(sizes[tree.n_observed :])


def choose(
    table: Table,
    tree: Tree,
    parts: Sequence[Part],
    *,
    n_states: int | Sequence[int] | None = None,
    smoothing: float | None = None,
    random_state: int = 0,
) -> Choice:
    """Choose the numbers of states and the smoothing with which a tree predicts best.

    Parameters
    ----------
    table : Table
    tree : Tree
    parts : sequence of Part
        See :func:`held_out`.
    n_states : int or sequence of int, optional
        Of every hidden variable, or of each, where it is given.
    smoothing : float, optional
        Where it is given.
    random_state : int
        Seed of every fit.
    """
    search = StateSearch(table, tree, parts, n_states, smoothing, random_state, Attempts())
    search.climb()
    search.polish()
    return search.choice


@dataclass(frozen=True)
class Fits:
    """Models with the same numbers of states, one per part of the rows; fewer if they were clearly behind."""

    n_states: tuple[int, ...]
    smoothing: float
    models: tuple[LatentTreeModel, ...]
    scores: FloatArray  # of the held-out rows

    @property
    def total(self) -> float:
        """Held-out log-likelihood of all rows."""
        return float(self.scores.sum())


@dataclass
class StateSearch:
    """A search for the numbers of states and the smoothing of one tree. It begins with few states.

    Attributes
    ----------
    first : Fits
        With few states.
    best : Fits
        The best so far.
    """

    table: Table
    tree: Tree
    parts: Sequence[Part]
    n_states: int | Sequence[int] | None
    smoothing: float | None
    seed: int
    attempts: Attempts
    first: Fits = field(init=False)
    best: Fits = field(init=False)
    tried: list[Attempt] = field(default_factory=list)
    _at_top: bool = field(default=False, init=False)  # whether no other number of states is left to try

    def __post_init__(self) -> None:
        if self._states_are_known:
            known = np.broadcast_to(np.asarray(self.n_states or 1, dtype=int), self.tree.n_hidden)
            self.first = self.best = self._smoothed(tuple(known.tolist()))
        else:
            self.first = self.best = self._smoothed(self._all(_FIRST_STATES))

    @property
    def choice(self) -> Choice:
        """The choice that the best fits stand for."""
        best = self.best
        # EM ends in different optima for different parts: the one that suits all rows best is the start.
        start = max(best.models, key=lambda model: model.log_likelihood(self.table))
        return Choice(best.n_states, best.smoothing, best.scores, start, tuple(self.tried))

    def climb(self, rival: FloatArray | None = None) -> None:
        """Double the number of states while that helps; halve it if doubling does not help.

        With the scores of a rival, stop when it stays ahead even if every further doubling gains as much as the last.
        The next call goes on from there.
        """
        if self._states_are_known or self._at_top:
            return
        while (most := 2 * max(self.best.n_states)) <= self._most:
            before = self.best
            doubled = self._doubled(before, most)
            if not is_better(doubled.scores, before.scores, _WORTH_MORE):
                break
            self.best = doubled
            gain = doubled.total - before.total
            if rival is not None and float(rival.sum()) - doubled.total > gain * log2(self._most / most):
                return
        self._at_top = True
        first = self.first
        if self.best is first:
            fewer = self._fresh(self._all(_FIRST_STATES // 2), first.smoothing, first.scores)
            if not is_better(first.scores, fewer.scores, _WORTH_MORE):
                self.best = fewer

    def polish(self) -> None:
        """Continue the best fits as far as the final fit will go, with less smoothing or more if that helps."""
        if not self.tree.n_hidden:  # such fits are exact after one iteration
            return
        short = self.best
        self.best = self._continued(short, short.smoothing)
        if self.smoothing is not None:
            return
        place = SMOOTHINGS.index(short.smoothing)
        others = SMOOTHINGS[place + 1 :] if self.best.total > short.total else SMOOTHINGS[:place][::-1]
        for smoothing in others:
            adjusted = self._continued(self.best, smoothing)
            if not is_better(adjusted.scores, self.best.scores, 0):
                break
            self.best = adjusted

    def scores_on(self, trees: Sequence[Tree]) -> FloatArray:
        """Return the scores of held-out rows if each part has a tree of its own, fitted as the first fits are.

        If a tree has more hidden variables than the search's own, or fewer, all have as many states as its first one.
        """
        monitor = ConvergenceMonitor(self._tolerance, MAX_ITERATIONS)
        starts = (
            random_start(part.fitted, tree, self._states_for(tree), self.seed)
            for part, tree in zip(self.parts, trees, strict=True)
        )
        return self._fit_parts(starts, self.first.n_states, self.first.smoothing, monitor, trees=trees).scores

    def _states_for(self, tree: Tree) -> tuple[int, ...]:
        own = self.first.n_states
        return own if tree.n_hidden == self.tree.n_hidden else own[:1] * tree.n_hidden

    def _smoothed(self, n_states: tuple[int, ...]) -> Fits:
        """Fit with less and less smoothing while that helps, or with more and more."""
        if self.smoothing is not None:
            return self._fresh(n_states, self.smoothing)
        first = best = self._fresh(n_states, _FIRST_SMOOTHING)
        place = SMOOTHINGS.index(_FIRST_SMOOTHING)
        for others in (SMOOTHINGS[place + 1 :], SMOOTHINGS[:place][::-1]):
            for smoothing in others:
                tried = self._fresh(n_states, smoothing, best.scores)
                if not is_better(tried.scores, best.scores, 0):
                    break
                best = tried
            if best is not first:
                break
        return best

    def _doubled(self, fits: Fits, most: int) -> Fits:
        """Return the best fits with more states: grown, with the same smoothing or a bit less, or from new starts."""
        best = self._grown(fits, most, fits.smoothing)
        if self.smoothing is None:
            for less in SMOOTHINGS[SMOOTHINGS.index(fits.smoothing) + 1 :][:1]:
                best = _better_of(best, self._grown(fits, most, less))
        return _better_of(best, self._fresh(best.n_states, best.smoothing, best.scores))

    def _fresh(self, n_states: tuple[int, ...], smoothing: float, rival: FloatArray | None = None) -> Fits:
        """Fit every part from a random start; only the first parts if a rival's scores are then clearly better."""
        starts = (random_start(part.fitted, self.tree, n_states, self.seed) for part in self.parts)
        monitor = ConvergenceMonitor(self._tolerance, MAX_ITERATIONS)
        return self._fit_parts(starts, n_states, smoothing, monitor, rival)

    def _grown(self, fits: Fits, most: int, smoothing: float) -> Fits:
        """Continue fits with up to twice as many states."""
        n_states = self._all(most)
        starts = (grown_start(self.tree, model.tables, n_states, self.seed) for model in fits.models)
        monitor = ConvergenceMonitor(self._tolerance, _GROWN_ITERATIONS)
        return self._fit_parts(starts, n_states, smoothing, monitor, fits.scores)

    def _continued(self, fits: Fits, smoothing: float) -> Fits:
        """Continue fits with another smoothing, by the rules of a final fit."""
        starts = (model.tables for model in fits.models)
        return self._fit_parts(starts, fits.n_states, smoothing, ConvergenceMonitor())

    def _fit_parts(
        self,
        starts: Iterable[tuple[FloatArray, ...]],
        n_states: tuple[int, ...],
        smoothing: float,
        monitor: ConvergenceMonitor,
        rival: FloatArray | None = None,
        trees: Sequence[Tree] | None = None,
    ) -> Fits:
        models: list[LatentTreeModel] = []
        scores = np.empty(0)
        own = trees or [self.tree] * len(self.parts)
        for number, (part, tree, start) in enumerate(zip(self.parts, own, starts, strict=True)):
            states = n_states if tree is self.tree else self._states_for(tree)
            model = LatentTreeModel(tree, self.table.columns, start)
            with reported_to(partial(self._report, number)):
                fit = fit_model(part.fitted, tree, states, smoothing=smoothing, monitor=monitor, start=model)
            models.append(fit.model)
            scores = np.concatenate([scores, part.judged.map(partial(_scores, fit.model))])
            if rival is not None and is_better(rival[: len(scores)], scores, _GIVE_UP_BEHIND):
                break
        fits = Fits(n_states, smoothing, tuple(models), scores)
        self.tried.append(self._attempt(fits))
        self.attempts.end()
        return fits

    def _report(self, part: int, done: int, total: int) -> None:
        """Report how far an attempt is: parts that are fitted, and iterations of the next."""
        self.attempts.within(part * total + done, len(self.parts) * total)

    def _attempt(self, fits: Fits) -> Attempt:
        whole = len(fits.models) == len(self.parts)
        mean = fits.total / sum(part.judged.total_weight for part in self.parts) if whole else -inf
        fewest, most = min(fits.n_states, default=1), max(fits.n_states, default=1)
        return Attempt(fewest, most, fits.smoothing, mean if isfinite(mean) else None)

    @property
    def _states_are_known(self) -> bool:
        return self.n_states is not None or not self.tree.n_hidden

    def _all(self, k: int) -> tuple[int, ...]:
        return (k,) * self.tree.n_hidden

    @cached_property
    def _tolerance(self) -> float:
        return rough_tolerance(self.table)

    @property
    def _most(self) -> float:
        most = MAX_STATES if self.tree.n_hidden > 1 else MAX_CLASSES
        return min(most, self.parts[0].fitted.n_rows / _ROWS_PER_STATE)


def _better_of(fits: Fits, others: Fits) -> Fits:
    return others if is_better(others.scores, fits.scores, 0) else fits


def _scores(model: LatentTreeModel, block: Block) -> FloatArray:
    rows = log_likelihoods(model.network, block.codes)
    return rows if block.weights is None else rows * block.weights


def mean_entropy(table: Table) -> float:
    """Return the mean entropy of a table's columns, in nats."""
    return float(np.mean([-(share * np.log(share)).sum() for share in frequencies(table)]))


def rough_tolerance(table: Table) -> float:
    """Return the tolerance, in nats per cell, of fits that are only compared: a share of the columns' entropy."""
    return 5e-5 * mean_entropy(table)


def is_better(scores: FloatArray, others: FloatArray, errors: float = 1.0) -> bool:
    """Return whether the sum of scores is better by more than some standard errors of the sum of the differences.

    A candidate that gave up after some of the rows is not better. Without smoothing, rows may be impossible: fewer
    impossible rows are better, and the other rows decide if these are equally many.
    """
    if len(scores) != len(others):
        return len(scores) > len(others)
    possible, possible_others = np.isfinite(scores), np.isfinite(others)
    if possible.sum() != possible_others.sum():
        return bool(possible.sum() > possible_others.sum())
    both = possible & possible_others
    gain = scores[both] - others[both]
    if not gain.size:
        return False
    rounding = 1e-9 * float(np.abs(others[both]).sum())
    return float(gain.sum()) > max(errors * float(gain.std()) * sqrt(len(gain)), rounding)
