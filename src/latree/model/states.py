"""Choosing the number of states of the hidden variables, and the smoothing of their probabilities.

To explain: few states, the number that minimises BIC, found for each hidden variable by itself with the
messages of the rest of the tree held fixed, so that nothing else is fitted again. To predict: the number
that maximises held-out likelihood. One number for all hidden variables is doubled while that helps, and a hidden
variable has fewer states where more cannot matter. With well-chosen smoothing, finer choices gained nothing.

Smoothing is chosen on held-out rows in either case, with few states first.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from math import inf, isfinite, log2, sqrt

import numpy as np

from latree._util.arrays import FloatArray
from latree._util.checkpoint import NOTHING_KEPT, Keeper
from latree._util.progress import Attempts, Progress, no_progress
from latree.inference.em import ConvergenceMonitor
from latree.inference.evidence import Evidence, fit_local, messages, random_local
from latree.inference.messages import log_likelihoods
from latree.inference.starts import frequencies, random_start
from latree.model.fitting import fit_model
from latree.model.heldout import Part
from latree.model.model import LatentTreeModel, bic
from latree.model.record import Attempt
from latree.settings import Goal
from latree.table import Block, Table
from latree.tree import Tree

SMOOTHINGS = (30.0, 10.0, 3.0, 1.0, 0.3, 0.1, 0.03)
_FIRST_SMOOTHING = 1.0
MAX_STATES = 64
MAX_CLASSES = 512  # most states of a hidden variable that is the only one: no table has two hidden variables then
MAX_ITERATIONS = 60  # of EM, in fits that are only compared

_ROWS_PER_STATE = 20  # numbers of states that leave fewer rows per state are not tried
_FIRST_STATES = 4  # the search begins with this number of states
_LOCAL_ROWS = 5000  # most rows used to choose the states of one hidden variable by itself
_MAX_ROUNDS = 3  # of choosing the states of every hidden variable by itself
_GIVE_UP_BEHIND = 2.0  # standard errors behind a rival after which no more parts are fitted
_SIZES = (2, 3, 4, 5, 6, 8, 10, 12, 16)  # numbers of states that are tried for one hidden variable by itself


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
    goal: Goal,
    n_states: int | Sequence[int] | None = None,
    smoothing: float | None = None,
    rival: FloatArray | None = None,
    random_state: int = 0,
    progress: Progress = no_progress,
    keep: Keeper = NOTHING_KEPT,
) -> Choice:
    """Choose numbers of states and smoothing for a tree.

    Parameters
    ----------
    table : Table
    tree : Tree
    parts : sequence of Part
        See :func:`held_out`.
    goal : {"explain", "predict"}
    n_states : int or sequence of int, optional
        Of every hidden variable, or of each, where it is given.
    smoothing : float, optional
        Where it is given.
    rival : array, optional
        Scores of another tree. Numbers of states that cannot be expected to reach them are not tried.
    random_state : int
        Seed of every fit.
    progress : callable
        Called with an estimate of how much is done.
    keep : Keeper
        Keeps every fit.
    """
    search = _Search(table, tree, tuple(parts), goal, smoothing, random_state, Attempts(progress), keep, rival)
    if n_states is None and tree.n_hidden:
        fits = search.best()
    else:
        known = np.broadcast_to(np.asarray(n_states if tree.n_hidden else 1, dtype=int), tree.n_hidden)
        fits = search.smoothed(tuple(known.tolist()))
    return search.choice(fits)


def evaluate_candidate(
    table: Table,
    tree: Tree,
    parts: Sequence[Part],
    rival: Choice,
    *,
    n_states: Sequence[int],
    random_state: int = 0,
    progress: Progress = no_progress,
    keep: Keeper = NOTHING_KEPT,
) -> Choice:
    """Score a candidate tree with the smoothing of a rival; give up if it is clearly behind after some parts."""
    attempts = Attempts(progress)
    tried = [*rival.tried]
    search = _Search(table, tree, tuple(parts), "predict", rival.smoothing, random_state, attempts, keep, tried=tried)
    return search.choice(search.fits(tuple(n_states), rival.smoothing, rival.scores))


@dataclass(frozen=True)
class _Fits:
    """Models with the same numbers of states, one per part of the rows; fewer if they were clearly behind."""

    n_states: tuple[int, ...]
    smoothing: float
    models: tuple[LatentTreeModel, ...]
    scores: FloatArray  # of the held-out rows


@dataclass(frozen=True)
class _Search:
    table: Table
    tree: Tree
    parts: tuple[Part, ...]
    goal: Goal
    smoothing: float | None
    seed: int
    attempts: Attempts
    keep: Keeper
    rival: FloatArray | None = None
    tried: list[Attempt] = field(default_factory=list)

    def choice(self, fits: _Fits) -> Choice:
        """Return the choice that these fits stand for."""
        return Choice(fits.n_states, fits.smoothing, fits.scores, fits.models[0], tuple(self.tried))

    def best(self) -> _Fits:
        """Double the number of states while that helps, to predict; or choose for each hidden variable, to explain."""
        best = self.smoothed(self._cap_states(_FIRST_STATES))
        if self.goal == "predict":
            most = 2 * _FIRST_STATES
            while most <= self._most and self._cap_states(most) != best.n_states:
                for smoothing in self._no_more_than(best.smoothing):
                    tried = self.fits(self._cap_states(most), smoothing, best.scores)
                    if is_better(tried.scores, best.scores):
                        break
                else:
                    break
                hopeless = self._is_hopeless(tried, best, most)
                best, most = tried, 2 * most
                if hopeless:
                    break
            if most == 2 * _FIRST_STATES:
                fewer = self.fits(self._cap_states(_FIRST_STATES // 2), best.smoothing, best.scores)
                best = best if is_better(best.scores, fewer.scores) else fewer
            return self._adjusted(best)
        for _ in range(_MAX_ROUNDS):
            tried = self.fits(self._refined(best), best.smoothing)
            if self._bic(tried) >= self._bic(best):
                break
            best = tried
        return best

    def _is_hopeless(self, doubled: _Fits, before: _Fits, most: int) -> bool:
        """Return whether a rival stays ahead even if every further doubling gains as much as the last one."""
        if self.rival is None or len(doubled.scores) != len(self.rival):
            return False
        gain = float(doubled.scores.sum() - before.scores.sum())
        return float(self.rival.sum() - doubled.scores.sum()) > gain * log2(self._most / most)

    def smoothed(self, n_states: tuple[int, ...]) -> _Fits:
        """Fit with less and less smoothing while that helps, or with more and more."""
        if self.smoothing is not None:
            return self.fits(n_states, self.smoothing)
        first = best = self.fits(n_states, _FIRST_SMOOTHING)
        place = SMOOTHINGS.index(_FIRST_SMOOTHING)
        for others in (SMOOTHINGS[place + 1 :], SMOOTHINGS[:place][::-1]):
            for smoothing in others:
                tried = self.fits(n_states, smoothing, best.scores)
                if not is_better(tried.scores, best.scores):
                    break
                best = tried
            if best is not first:
                break
        return best

    def _no_more_than(self, smoothing: float) -> tuple[float, ...]:
        """Return a smoothing and the next smaller one: more states may need less of it."""
        place = SMOOTHINGS.index(smoothing) if self.smoothing is None else len(SMOOTHINGS)
        return (smoothing, *SMOOTHINGS[place + 1 : place + 2])

    def _adjusted(self, fits: _Fits) -> _Fits:
        """Continue fits with a little more or less smoothing, if that helps."""
        if self.smoothing is not None:
            return fits
        place = SMOOTHINGS.index(fits.smoothing)
        for other in SMOOTHINGS[max(place - 1, 0) : place + 2]:
            if other != fits.smoothing:
                tried = self._fit_parts(fits.models, fits.n_states, other, fits.scores)
                if is_better(tried.scores, fits.scores):
                    return tried
        return fits

    def fits(self, n_states: tuple[int, ...], smoothing: float, rival: FloatArray | None = None) -> _Fits:
        """Fit every part from a random start; only the first parts if a rival's scores are then clearly better."""
        starts = (
            LatentTreeModel(self.tree, self.table.columns, random_start(part.fitted, self.tree, n_states, self.seed))
            for part in self.parts
        )
        return self._fit_parts(starts, n_states, smoothing, rival)

    def _fit_parts(
        self, starts: Iterable[LatentTreeModel], n_states: tuple[int, ...], smoothing: float, rival: FloatArray | None
    ) -> _Fits:
        models: list[LatentTreeModel] = []
        scores = np.empty(0)
        for number, (part, start) in enumerate(zip(self.parts, starts, strict=True)):
            fit = fit_model(
                part.fitted,
                self.tree,
                n_states,
                smoothing=smoothing,
                monitor=ConvergenceMonitor(self._tolerance, MAX_ITERATIONS),
                start=start,
                progress=partial(self._report, number),
                keep=self.keep,
            )
            models.append(fit.model)
            scores = np.concatenate([scores, part.judged.map(partial(_scores, fit.model))])
            if rival is not None and is_better(rival[: len(scores)], scores, _GIVE_UP_BEHIND):
                break
        fits = _Fits(n_states, smoothing, tuple(models), scores)
        self.tried.append(self._attempt(fits))
        self.attempts.end()
        return fits

    def _report(self, part: int, done: int, total: int) -> None:
        """Report how far an attempt is: parts that are fitted, and iterations of the next."""
        self.attempts.within(part * total + done, len(self.parts) * total)

    def _attempt(self, fits: _Fits) -> Attempt:
        whole = len(fits.models) == len(self.parts)
        mean = float(fits.scores.sum() / sum(part.judged.total_weight for part in self.parts)) if whole else -inf
        explained = self._bic(fits) / len(self.parts) if self.goal == "explain" and whole else None
        fewest, most = min(fits.n_states, default=1), max(fits.n_states, default=1)
        return Attempt(fewest, most, fits.smoothing, mean if isfinite(mean) else None, explained)

    @cached_property
    def _tolerance(self) -> float:
        return rough_tolerance(self.table)

    @property
    def _most(self) -> float:
        most = MAX_STATES if self.tree.n_hidden > 1 else MAX_CLASSES
        return min(most, self.parts[0].fitted.n_rows / _ROWS_PER_STATE)

    def _cap_states(self, most: int) -> tuple[int, ...]:
        return cap_states(self.tree, self.table.n_states.tolist(), most)

    def _bic(self, fits: _Fits) -> float:
        return sum(model.bic(part.fitted) for part, model in zip(self.parts, fits.models, strict=True))

    def _refined(self, fits: _Fits) -> tuple[int, ...]:
        """Return for each hidden variable the number of states with the lowest BIC if all else stays."""
        codes, weights, _ = self.parts[0].fitted.subsample_block(_LOCAL_ROWS, self.seed)
        incoming = messages(fits.models[0].network, codes)

        def chosen(node: int, size: int) -> int:
            evidence = Evidence(tuple(incoming[u, node] for u, _ in self.tree.neighbors[node]), weights)
            scores = {}
            for k in (k for k in _SIZES if k <= 2 * size):
                start = random_local(evidence, k, np.random.default_rng([self.seed, node, k]))
                local, log_likelihood = fit_local(
                    start,
                    evidence,
                    smoothing=fits.smoothing,
                    tolerance=self._tolerance,
                    max_iterations=MAX_ITERATIONS,
                )
                scores[k] = bic(log_likelihood, local.n_parameters, evidence.total_weight)
            return min(scores, key=lambda k: scores[k])

        return tuple(chosen(node, size) for node, size in enumerate(fits.n_states, start=self.tree.n_observed))


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
