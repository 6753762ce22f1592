"""How many states the hidden variables have, and how much their tables are smoothed.

To explain (``bic``): few states, as many as Schwarz's criterion pays for, found for each hidden variable by itself with
what the rest of the tree says of it held fixed, so that nothing else is fitted again. To predict (``held-out``): as
many as rows that were not fitted pay for. One number is doubled while that helps, and a hidden variable has fewer where
no more can matter; with smoothing well chosen, finer choices gained nothing.

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
from latree.inference.em import ConvergenceMonitor, fit_model, frequencies, random_start
from latree.inference.evidence import Evidence, fit_local, messages, random_local
from latree.inference.messages import log_likelihoods
from latree.model import LatentTreeModel, bic
from latree.model.heldout import Part
from latree.model.record import Attempt
from latree.settings import Criterion
from latree.table import Block, Table
from latree.tree import Tree

SMOOTHINGS = (30.0, 10.0, 3.0, 1.0, 0.3, 0.1, 0.03)
_FIRST_SMOOTHING = 1.0
MAX_STATES = 64
MAX_CLASSES = 512  # of a hidden variable that is the only one: no two of them meet in a table
MAX_ITERATIONS = 60  # of fits that are only compared

_ROWS_A_STATE = 20  # more states than that makes of the rows are not tried
_FIRST = 4  # states that the search begins with
_LOCAL_ROWS = 5000  # a hidden variable by itself is looked at in no more rows
_ROUNDS = 3
_LOST = 2.0  # standard errors behind a rival after which no more parts are fitted
_SIZES = (2, 3, 4, 5, 6, 8, 10, 12, 16)


@dataclass(frozen=True)
class Choice:
    """What was chosen.

    Attributes
    ----------
    n_states : tuple of int
        Of each hidden variable.
    smoothing : float
    scores : array
        Log-likelihood of each held-out row, times its weight, under a model that was fitted without it. Only the first
        of them where it was clear after these that the choice is not the best.
    start : LatentTreeModel
        Fitted to most of the rows: where EM may start on all of them.
    tried : tuple of Attempt
        What it was chosen from.
    """

    n_states: tuple[int, ...]
    smoothing: float
    scores: FloatArray
    start: LatentTreeModel
    tried: tuple[Attempt, ...]


def regular(tree: Tree, columns: Sequence[int], most: int) -> tuple[int, ...]:
    """Give each hidden variable at most so many states, and no more than can matter.

    A hidden variable whose neighbours have k_1 .. k_r states says nothing more with more than ``Π k_i / max k_i`` of
    its own (Zhang 2004, regular models): above a pair of binary columns four are enough, at a node with two neighbours
    those of the smaller one.
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
    criterion: Criterion,
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
    criterion : {"held-out", "bic"}
    n_states : int or sequence of int, optional
        Of every hidden variable, or of each, where that is known.
    smoothing : float, optional
        Where that is known.
    rival : array, optional
        Scores that the tree is wanted for only if it has better ones: numbers of states that cannot be expected to
        reach them are not tried.
    random_state : int
        Every fit starts from this seed.
    progress : callable
        Told a share of what may be left to try.
    keep : Keeper
        Keeps every fit.
    """
    search = _Search(table, tree, tuple(parts), criterion, smoothing, random_state, Attempts(progress), keep, rival)
    if n_states is None and tree.n_hidden:
        fits = search.best()
    else:
        known = np.broadcast_to(np.asarray(n_states if tree.n_hidden else 1, dtype=int), tree.n_hidden)
        fits = search.smoothed(tuple(known.tolist()))
    return search.choice(fits)


def contend(
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
    """Fit a tree with the smoothing that another one has; not all parts, if it is clearly behind after some."""
    attempts = Attempts(progress)
    tried = [*rival.tried]
    search = _Search(table, tree, tuple(parts), "held-out", rival.smoothing, random_state, attempts, keep, tried=tried)
    return search.choice(search.fits(tuple(n_states), rival.smoothing, rival.scores))


@dataclass(frozen=True)
class _Fits:
    """Models of the same form, one a part of the rows; fewer, if it was clear after them that they lose."""

    n_states: tuple[int, ...]
    smoothing: float
    models: tuple[LatentTreeModel, ...]
    scores: FloatArray  # of the judged rows


@dataclass(frozen=True)
class _Search:
    table: Table
    tree: Tree
    parts: tuple[Part, ...]
    criterion: Criterion
    smoothing: float | None
    seed: int
    attempts: Attempts
    keep: Keeper
    rival: FloatArray | None = None
    tried: list[Attempt] = field(default_factory=list)

    def choice(self, fits: _Fits) -> Choice:
        """Give what others need to know of the fits that were best."""
        return Choice(fits.n_states, fits.smoothing, fits.scores, fits.models[0], tuple(self.tried))

    def best(self) -> _Fits:
        """Double the number of states while that pays; or look at every hidden variable by itself."""
        best = self.smoothed(self._regular(_FIRST))
        if self.criterion == "held-out":
            most = 2 * _FIRST
            while most <= self._most and self._regular(most) != best.n_states:
                for smoothing in self._no_more_than(best.smoothing):
                    tried = self.fits(self._regular(most), smoothing, best.scores)
                    if is_better(tried.scores, best.scores):
                        break
                else:
                    break
                hopeless = self._is_hopeless(tried, best, most)
                best, most = tried, 2 * most
                if hopeless:
                    break
            if most == 2 * _FIRST:
                fewer = self.fits(self._regular(_FIRST // 2), best.smoothing, best.scores)
                best = best if is_better(best.scores, fewer.scores) else fewer
            return self._adjusted(best)
        for _ in range(_ROUNDS):
            tried = self.fits(self._refined(best), best.smoothing)
            if self._bic(tried) >= self._bic(best):
                break
            best = tried
        return best

    def _is_hopeless(self, doubled: _Fits, before: _Fits, most: int) -> bool:
        """Tell whether a rival stays ahead even if every further doubling gains as much as the last one."""
        if self.rival is None or len(doubled.scores) != len(self.rival):
            return False
        gain = float(doubled.scores.sum() - before.scores.sum())
        return float(self.rival.sum() - doubled.scores.sum()) > gain * log2(self._most / most)

    def smoothed(self, n_states: tuple[int, ...]) -> _Fits:
        """Fit with less and less smoothing while that pays, or with more and more."""
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
        """Give a smoothing and the next smaller one: more states may need less of it."""
        place = SMOOTHINGS.index(smoothing) if self.smoothing is None else len(SMOOTHINGS)
        return (smoothing, *SMOOTHINGS[place + 1 : place + 2])

    def _adjusted(self, fits: _Fits) -> _Fits:
        """Move on from a fit to a little more or less smoothing, if that pays."""
        if self.smoothing is not None:
            return fits
        place = SMOOTHINGS.index(fits.smoothing)
        for other in SMOOTHINGS[max(place - 1, 0) : place + 2]:
            if other != fits.smoothing:
                tried = self._climbed(fits.models, fits.n_states, other, fits.scores)
                if is_better(tried.scores, fits.scores):
                    return tried
        return fits

    def fits(self, n_states: tuple[int, ...], smoothing: float, rival: FloatArray | None = None) -> _Fits:
        """Fit every part from a random start, or the first ones if a rival's scores are then clearly better."""
        starts = (random_start(part.fitted, self.tree, n_states, self.seed) for part in self.parts)
        return self._climbed(starts, n_states, smoothing, rival)

    def _climbed(
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
                progress=partial(self._tell, number),
                keep=self.keep,
            )
            models.append(fit.model)
            scores = np.concatenate([scores, part.judged.map(partial(_scores, fit.model))])
            if rival is not None and is_better(rival[: len(scores)], scores, _LOST):
                break
        fits = _Fits(n_states, smoothing, tuple(models), scores)
        self.tried.append(self._attempt(fits))
        self.attempts.end()
        return fits

    def _tell(self, part: int, done: int, total: int) -> None:
        """Tell how far an attempt is: parts that are fitted, and iterations of the next."""
        self.attempts.within(part * total + done, len(self.parts) * total)

    def _attempt(self, fits: _Fits) -> Attempt:
        whole = len(fits.models) == len(self.parts)
        mean = float(fits.scores.sum() / sum(part.judged.total_weight for part in self.parts)) if whole else -inf
        explained = self._bic(fits) / len(self.parts) if self.criterion == "bic" and whole else None
        fewest, most = min(fits.n_states, default=1), max(fits.n_states, default=1)
        return Attempt(fewest, most, fits.smoothing, mean if isfinite(mean) else None, explained)

    @cached_property
    def _tolerance(self) -> float:
        return rough_tolerance(self.table)

    @property
    def _most(self) -> float:
        most = MAX_STATES if self.tree.n_hidden > 1 else MAX_CLASSES
        return min(most, self.parts[0].fitted.n_rows / _ROWS_A_STATE)

    def _regular(self, most: int) -> tuple[int, ...]:
        return regular(self.tree, self.table.n_states.tolist(), most)

    def _bic(self, fits: _Fits) -> float:
        return sum(model.bic(part.fitted) for part, model in zip(self.parts, fits.models, strict=True))

    def _refined(self, fits: _Fits) -> tuple[int, ...]:
        """Give every hidden variable the number of states that suits it best if all else stays."""
        codes, weights, _ = self.parts[0].fitted.some_rows(_LOCAL_ROWS, self.seed)
        incoming = messages(fits.models[0], codes)

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
    """Give the mean entropy of a table's columns, in nats."""
    return float(np.mean([-(share * np.log(share)).sum() for share in frequencies(table)]))


def rough_tolerance(table: Table) -> float:
    """Give the tolerance, in nats a cell, of fits that are only compared: a share of the columns' entropy."""
    return 5e-5 * mean_entropy(table)


def is_better(scores: FloatArray, others: FloatArray, errors: float = 1.0) -> bool:
    """Tell whether rows are predicted better, by more than so many standard errors of the sum of the differences.

    One that gave up after some of the rows is not better. Without smoothing rows may be held for impossible: fewer of
    them are better, and the others decide if they are as many.
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
