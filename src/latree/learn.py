"""From a table to a tree, and on to a fitted model: the way that the estimator and the command line share."""

import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import isfinite
from typing import Any

import numpy as np

from latree import __version__
from latree._util.arrays import RandomState, generator
from latree._util.checkpoint import NOTHING_KEPT, Keeper
from latree._util.progress import Stages, no_progress, no_stages
from latree.errors import InputError
from latree.inference.em import (
    DEFAULT_MAX_ITERATIONS,
    DEFAULT_RESTARTS,
    DEFAULT_TOLERANCE,
    ConvergenceMonitor,
    Fit,
    fit_model,
    start_from,
)
from latree.learners.auto import Chosen
from latree.learners.methods import Options, Representatives, find_method
from latree.learners.structure import Structure
from latree.learners.support import bootstrap_trees, consensus, with_support
from latree.model import LatentTreeModel, aic, bic
from latree.model.diagnostics import doubts
from latree.model.heldout import held_out
from latree.model.record import Origin, Record
from latree.model.states import CRITERIA, Choice, Criterion, choose
from latree.table import Table, as_table
from latree.table.columns import DEFAULT_MISSING
from latree.table.table import DEFAULT_BINS, check_learnable
from latree.tree import Tree

DEFAULT_METHOD = "auto"
DEFAULT_CRITERION: Criterion = "held-out"

REPORTED_SETTINGS = ("criterion", "representatives", "bootstrap", "restarts", "max_iterations", "tolerance")


@dataclass(frozen=True)
class Settings:
    """How to learn; the fields mean what they mean in :class:`latree.LatentTree`."""

    method: str = DEFAULT_METHOD
    n_states: int | None = None
    criterion: Criterion = DEFAULT_CRITERION
    representatives: Representatives = "nearest"
    smoothing: float | None = None
    bootstrap: int = 0
    restarts: int = DEFAULT_RESTARTS
    max_iterations: int = DEFAULT_MAX_ITERATIONS
    tolerance: float = DEFAULT_TOLERANCE
    random_state: RandomState = None

    def check(self) -> None:
        """Raise if a setting makes no sense."""
        find_method(self.method)
        check_states(self.n_states)
        for name, least in (("restarts", 1), ("max_iterations", 1), ("bootstrap", 0)):
            _check_whole(name, getattr(self, name), least)
        check_criterion(self.criterion)
        for name in ("smoothing", "tolerance"):
            value = getattr(self, name)
            if name == "smoothing" and value is None:
                continue
            if not isinstance(value, int | float | np.number) or not 0 <= value < float("inf"):
                raise InputError(f"{name} must be a number and not negative, and is {value!r}")


def check_criterion(criterion: str) -> None:
    """Raise if there is no such criterion."""
    if criterion not in CRITERIA:
        raise InputError(f"criterion must be one of {', '.join(map(repr, CRITERIA))}, not {criterion!r:.60}")


def check_states(n_states: int | None) -> None:
    """Raise if a number of states makes no sense; None means that it is to be found."""
    if n_states is not None:
        _check_whole("n_states", n_states, 1)


def _check_whole(name: str, value: object, least: int) -> None:
    if not isinstance(value, int | np.integer) or isinstance(value, bool) or value < least:
        raise InputError(f"{name} must be a whole number of at least {least}, not {value!r}")


@dataclass(frozen=True)
class Learned:
    """A fitted model and how it came about."""

    table: Table
    settings: Settings
    structure: Structure
    smoothing: float
    fit: Fit
    seconds: float
    warnings: tuple[str, ...]
    consensus: Tree | None  # of the bootstrap's trees
    choice: Choice | None  # of states and smoothing, where they were not told
    origin: Origin

    @cached_property
    def model(self) -> LatentTreeModel:
        """The fitted model, which remembers how it came about."""
        return replace(self.fit.model, record=self._record)

    @cached_property
    def log_likelihood(self) -> float:
        """Log-likelihood of the rows."""
        return self.fit.model.log_likelihood(self.table)

    @property
    def seed(self) -> int | None:
        """The seed of everything random, if it was a number."""
        seed = self.settings.random_state
        return int(seed) if isinstance(seed, int | np.integer) else None

    @property
    def _record(self) -> Record:
        settings = self.settings
        return Record(
            latree=__version__,
            **self.origin._asdict(),
            method=settings.method,
            criterion=settings.criterion,
            representatives=settings.representatives,
            seed=self.seed,
            n_rows=self.table.n_rows,
            total_weight=self.table.total_weight,
            n_missing=tuple(self.table.n_missing.tolist()),
            log_likelihood=self.log_likelihood if isfinite(self.log_likelihood) else None,
            n_states_given=settings.n_states is not None,
            smoothing_given=settings.smoothing is not None,
            smoothing=float(self.smoothing),
            bootstrap=int(settings.bootstrap),
            restarts=int(settings.restarts),
            max_iterations=int(settings.max_iterations),
            tolerance=float(settings.tolerance),
            history=tuple(self.fit.monitor.history),
            converged=self.fit.monitor.converged,
            tried=self.choice.tried if self.choice else (),
            counts=tuple(self.structure.facts.items()),
            warnings=self.warnings,
        )

    @cached_property
    def summary(self) -> dict[str, Any]:
        """Give the facts as plain data, for people and for JSON."""
        table, model, log_likelihood = self.table, self.fit.model, self.log_likelihood
        return {
            "latree": __version__,
            "method": self.settings.method,
            "n_rows": table.n_rows,
            "n_columns": table.n_columns,
            "n_hidden": model.tree.n_hidden,
            "n_states": _one_or_all(model.n_states[model.tree.n_observed :].tolist()),
            "n_states_given": self.settings.n_states is not None,
            "smoothing": self.smoothing,
            "n_parameters": model.n_parameters,
            "log_likelihood": log_likelihood,
            "aic": aic(log_likelihood, model.n_parameters),
            "bic": bic(log_likelihood, model.n_parameters, table.total_weight),
            "support": _support(model.tree),
            "iterations": self.fit.iterations,
            "converged": self.fit.monitor.converged,
            **self.structure.facts,
            "missing_cells": int(table.n_missing.sum()),
            "binned_columns": sum(column.cuts is not None for column in table.columns),
            "seed": self.seed,
            "settings": {name: getattr(self.settings, name) for name in REPORTED_SETTINGS},
            "seconds": round(self.seconds, 3),
            "warnings": list(self.warnings),
        }

    def report(self) -> str:
        """Give the facts and the tree as text for a person."""
        return "\n".join(summary_lines(self.summary)) + "\n\n" + self.model.tree.draw()


def summary_lines(facts: Mapping[str, Any]) -> list[str]:
    """Give the main facts of a summary in plain words, warnings last."""
    cells = facts["n_rows"] * facts["n_columns"]
    return [
        f"{facts['n_columns']} columns, {facts['n_rows']} rows, {facts['missing_cells']} of {cells} cells missing",
        _count(facts["n_hidden"], "hidden variable")
        + (f" of {_states(facts['n_states'])}" if facts["n_hidden"] else "")
        + f", found by {facts['method']}"
        + (f" with {_count(facts['quartet_tests'], 'quartet test')}" if "quartet_tests" in facts else ""),
        f"{facts['n_parameters']} parameters, fitted in {_count(facts['iterations'], 'iteration')} of EM",
        f"log-likelihood {facts['log_likelihood']:.2f}, BIC {facts['bic']:.2f}, {facts['seconds']:.1f} seconds",
        *(f"warning: {warning}" for warning in facts["warnings"]),
    ]


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def _support(tree: Tree) -> dict[str, float]:
    """Give the support of every inner edge that has any, by the names of its ends."""
    names = tree.node_names
    return {
        f"{names[u]}-{names[v]}": float(support)
        for (u, v), support in zip(tree.edges.tolist(), tree.support, strict=True)
        if not np.isnan(support)
    }


def _one_or_all(numbers: list[int]) -> int | list[int]:
    """Give the one number that all are, if they are; otherwise all of them."""
    return numbers[0] if len(set(numbers)) == 1 else numbers


def _states(numbers: int | list[int]) -> str:
    return f"{min(numbers)} to {max(numbers)} states" if isinstance(numbers, list) else _count(numbers, "state")


def learn_tree(
    data: Any,
    *,
    method: str = DEFAULT_METHOD,
    n_states: int | None = None,
    criterion: Criterion = DEFAULT_CRITERION,
    representatives: Representatives = "nearest",
    weights: Any = None,
    bins: int = DEFAULT_BINS,
    missing: Collection[str] = DEFAULT_MISSING,
    random_state: RandomState = None,
) -> Tree:
    """Learn the tree behind a table, without fitting a model.

    Parameters
    ----------
    data : Table, data frame, 2-D array, or path of a CSV or TSV file
        See :func:`latree.as_table`, which also explains ``weights``, ``bins`` and ``missing``.
    method : str
        The learner's name; ``latree methods`` lists them.
    n_states : int, optional
        For ``spectral``, which needs it, and ``auto``: the number of states of the hidden variables.
    criterion : {"held-out", "bic"}
        For ``auto``: whether the tree is to predict or to explain.
    representatives : {"nearest", "random"}
        For ``tensor``: which leaf of a branch stands for it in a quartet test, the one nearest to the new leaf or, as
        the paper has it, any.
    random_state : int, Generator, RandomState or None
        Order of insertion and random choices.

    Returns
    -------
    Tree

    Examples
    --------
    >>> import latree
    >>> true = latree.random_tree(8, random_state=0)
    >>> model = latree.random_model(true, start="identity", perturbation=0.1, random_state=0)
    >>> latree.learn_tree(model.sample(5000, random_state=0), random_state=0).robinson_foulds(true)
    0
    """
    table = as_table(data, weights=weights, bins=bins, missing=missing)
    learner = find_method(method)
    check_learnable(table, most_states=learner.most_states)
    check_states(n_states)
    check_criterion(criterion)
    return learner.learn(table, Options(n_states, representatives, random_state, criterion)).tree


def learn_model(
    table: Table,
    settings: Settings,
    stages: Stages = no_stages,
    origin: Origin | None = None,
    keep: Keeper = NOTHING_KEPT,
) -> Learned:
    """Learn a tree and fit a model on it, which remembers where its rows come from; keep what is done on the way."""
    settings.check()
    started = time.perf_counter()
    rng = generator(settings.random_state)
    options = Options(
        settings.n_states,
        settings.representatives,
        rng,
        settings.criterion,
        settings.smoothing,
        stages("Building the tree"),
        keep,
    )
    learner = find_method(settings.method)
    structure = learner.learn(table, options)
    agreed = None
    if settings.bootstrap:
        told = replace(options, progress=no_progress, keep=NOTHING_KEPT)  # replicates are counted, not followed
        trees = bootstrap_trees(
            table,
            lambda resampled, chance: learner.replicate(resampled, replace(told, random_state=chance)).tree,
            settings.bootstrap,
            int(rng.integers(2**31)),
            stages("Resampling the rows"),
            keep,
        )
        structure, agreed = replace(structure, tree=with_support(structure.tree, trees)), consensus(trees)
    n_states, smoothing, start, choice = _capacity(table, structure, settings, rng, stages, keep)
    fit = fit_model(
        table,
        structure.tree,
        n_states,
        start=start,
        smoothing=smoothing,
        restarts=settings.restarts,
        monitor=ConvergenceMonitor(settings.tolerance, settings.max_iterations),
        random_state=rng,
        progress=stages("Fitting the model", at_most=True),
        keep=keep,
    )
    seconds = time.perf_counter() - started
    warnings = tuple(doubts(table, fit))
    return Learned(table, settings, structure, smoothing, fit, seconds, warnings, agreed, choice, origin or Origin())


def _capacity(
    table: Table, structure: Structure, settings: Settings, rng: np.random.Generator, stages: Stages, keep: Keeper
) -> tuple[Sequence[int] | int, float, LatentTreeModel | None, Choice | None]:
    """Give numbers of states, smoothing and a model to start from: as told, as the learner found them, or chosen."""
    start = None
    if structure.edge_tables is not None and settings.n_states is None:
        start = start_from(table, structure.tree, structure.edge_tables)
    told = settings.n_states or structure.n_states
    if told is not None and settings.smoothing is not None:
        return told, settings.smoothing, start, None
    if isinstance(structure, Chosen):
        choice = structure.choice
    else:
        choice = choose(
            table,
            structure.tree,
            held_out(table, rng),
            criterion=settings.criterion,
            n_states=told,
            smoothing=settings.smoothing,
            random_state=int(rng.integers(2**31)),
            progress=stages("Choosing the states", at_most=True),
            keep=keep,
        )
    if start is None and choice.smoothing > 0:  # without smoothing, what the fitted rows did not have is impossible
        start = choice.start
    return choice.n_states, choice.smoothing, start, choice
