"""From a table to a tree, and on to a fitted model: the way that the estimator and the command line share."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import inf, isfinite
from textwrap import wrap
from typing import Any

import numpy as np

from latree import __version__
from latree._util.arrays import RandomState, generator
from latree._util.checkpoint import NOTHING_KEPT, Keeper
from latree._util.progress import stage
from latree._util.words import plural, setting
from latree.errors import InputError
from latree.inference.em import DEFAULT_SMOOTHING
from latree.interpret.columns import RedundantPair, redundancy_lines, redundant_columns
from latree.interpret.dependence import Dependence
from latree.interpret.groups import RESAMPLES, labels_of_fit, with_groups
from latree.interpret.order import order_states
from latree.interpret.overview import group_facts, group_lines
from latree.interpret.scores import reliability, scored_groups
from latree.interpret.worth import measure_worth
from latree.learners.divide_conquer import without_unseen
from latree.learners.methods import find_method
from latree.learners.structure import Structure
from latree.learners.support import bootstrap_trees, consensus, with_support
from latree.model import ConvergenceMonitor, Fit, LatentTreeModel, fit_model
from latree.model.diagnostics import ordered_rows, warnings_about, worse_than_independent
from latree.model.fitting import Choice, choose, held_out
from latree.model.model import aic, bic
from latree.model.record import Candidate, Origin, Record, Worth, figure, worth_lines
from latree.search.explain import Search
from latree.settings import Goal, Representatives, Resolve, Settings
from latree.table import Column, Table, as_table
from latree.table.checking import check_learnable
from latree.table.findings import sentences
from latree.table.labels import warnings_about_labels
from latree.table.reading import Reading
from latree.tree import Tree

_LISTED_KINDS = 2  # candidates for prediction, beside the chosen one
# The correlations of more columns than this are not kept: a model file would consist of little else.
_MAX_CORRELATED = 500
# Lines of the summary in words fit a terminal; names and options are not divided.
_WIDTH = 80
_WHOLE_WORDS: Mapping[str, Any] = {"subsequent_indent": "  ", "break_on_hyphens": False, "break_long_words": False}


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
    worth: Worth | None  # None if there are too few rows to measure it
    consensus: Tree | None  # of the bootstrap's trees
    choice: Choice | None  # of states and smoothing; None if both were known before
    origin: Origin

    @cached_property
    def model(self) -> LatentTreeModel:
        """The fitted model, which remembers how it came about."""
        return replace(self.fit.model, record=self._record)

    @cached_property
    def log_likelihood(self) -> float:
        """Log-likelihood of the rows."""
        return self.fit.model.log_likelihood(self.table)

    @cached_property
    def redundant(self) -> list[RedundantPair]:
        """Pairs of columns that say the same thing beyond their group."""
        return redundant_columns(self.fit.model, self.table)

    @property
    def _record(self) -> Record:
        return Record(
            latree=__version__,
            **self.origin._asdict(),
            settings=self.settings,
            n_rows=self.table.n_rows,
            total_weight=self.table.total_weight,
            n_missing=tuple(self.table.n_missing.tolist()),
            log_likelihood=self.log_likelihood if isfinite(self.log_likelihood) else None,
            smoothing=float(self.smoothing),
            history=tuple(self.fit.monitor.history),
            converged=self.fit.monitor.converged,
            tried=self.choice.tried if self.choice else (),
            counts=tuple(self.structure.facts.items()),
            warnings=self.warnings,
            reliability=tuple((one.reliability, one.alpha) for one in reliability(self.fit.model, self.table)),
            redundant=tuple((*pair.columns, pair.strength) for pair in self.redundant),
            left_out=tuple((one.column, one.what) for one in self.table.findings if one.action == "left out"),
            worth=self.worth,
            candidates=self.structure.candidates,
            correlations=self._correlations,
            weights_are=self.table.weights_are,
        )

    @property
    def _correlations(self) -> tuple[int | None, ...] | None:
        """What the record keeps of the correlations of columns in the rows."""
        if self.table.n_columns > _MAX_CORRELATED:
            return None
        found = Dependence(self.fit.model).correlation_in_rows(self.table)
        if found is None:
            return None
        above = 100 + 100 * found[np.triu_indices(len(found), 1)]
        return tuple(None if np.isnan(number) else round(number) for number in above.tolist())

    @cached_property
    def summary(self) -> dict[str, Any]:
        """The facts as plain data, for people and for JSON."""
        facts = summary_of(self.model)
        warnings = facts.pop("warnings")
        # The record of the model has no seconds: the same fit gives the same file.
        return facts | {"seconds": round(self.seconds, 3), "warnings": warnings}

    def report(self) -> str:
        """Return the finding as text: the groups, the tree, and the facts."""
        tree = self.model.draw().splitlines()
        if self.summary["support"]:
            tree += ["", "Numbers on edges are their support in per cent: build on 90 and more."]
        facts = [part for line in summary_lines(self.summary) for part in wrap(line, _WIDTH, **_WHOLE_WORDS)]
        parts = [group_lines(self.model), tree, facts]
        return "\n\n".join("\n".join(part) for part in parts) + "\n"


def summary_of(model: LatentTreeModel) -> dict[str, Any]:
    """Return the facts of a fit that a model remembers, as plain data; none if it has no record."""
    record = model.record
    if record is None:
        return {}
    scored = scored_groups(model)
    if len(record.reliability) != len(scored):
        raise InputError(f"the fit's reliability has {len(record.reliability)} pairs for {len(scored)} scores")
    log_likelihood = -inf if record.log_likelihood is None else record.log_likelihood
    group_of = {column: group.name for group in model.groups if group.level == "main" for column in group.columns}
    return {
        "latree": record.latree,
        "method": record.settings.method,
        "goal": record.settings.goal,
        "n_rows": record.n_rows,
        "weights": record.weights_facts,
        "n_columns": len(model.columns),
        "n_hidden": model.tree.n_hidden,
        "n_groups": sum(group.level == "main" for group in model.groups),
        "groups": group_facts(model),
        "labels": labels_of_fit(model),
        "n_states": _one_or_all(model.n_states[model.tree.n_observed :].tolist()),
        "smoothing": record.smoothing,
        "n_parameters": model.n_parameters,
        "worth": record.worth.to_dict(record.settings.goal) if record.worth else None,
        "candidates": [candidate._asdict() for candidate in record.candidates or ()],
        "log_likelihood": log_likelihood,
        "aic": aic(log_likelihood, model.n_parameters),
        "bic": bic(log_likelihood, model.n_parameters, record.total_weight),
        "support": _support(model.tree),
        "reliability": {
            group.name: {"reliability": share, "alpha": alpha}
            for group, (share, alpha) in zip(scored, record.reliability, strict=True)
        },
        "redundant_columns": [
            {"columns": (one, other), "group": group_of.get(one, ""), "strength": strength}
            for one, other, strength in record.redundant
        ],
        "iterations": max(len(record.history) - 1, 0),
        "converged": record.converged,
        **dict(record.counts),
        "missing_cells": sum(record.n_missing),
        "left_out": dict(record.left_out),
        "binned_columns": sum(column.cuts is not None for column in model.columns),
        "settings": record.settings.to_dict(),
        "warnings": list(record.warnings),
    }


def summary_lines(facts: Mapping[str, Any]) -> list[str]:
    """Return the main facts of a summary in plain words, warnings last."""
    cells = facts["n_rows"] * facts["n_columns"]
    return [
        f"{facts['n_columns']} columns, {facts['n_rows']} rows, {facts['missing_cells']} of {cells} cells missing",
        *([facts["weights"]["meaning"]] if facts["weights"] else []),
        plural(facts["n_hidden"], "hidden variable")
        + (f" of {_states(facts['n_states'])}" if facts["n_hidden"] else "")
        + f" (method: {facts['method']}"
        + (f", {plural(facts['quartet_tests'], 'quartet test')})" if "quartet_tests" in facts else ")"),
        f"{facts['n_parameters']} parameters, fitted in {plural(facts['iterations'], 'iteration')} of EM, "
        f"{facts['seconds']:.1f} seconds",
        *_candidate_lines([Candidate(**one) for one in facts["candidates"]]),
        *worth_lines(facts["worth"]),
        *redundancy_lines([(pair["columns"], pair["strength"]) for pair in facts["redundant_columns"]]),
        *(f"warning: {warning}" for warning in facts["warnings"]),
    ]


def _candidate_lines(candidates: Sequence[Candidate]) -> list[str]:
    """Return a line about the kind of tree that held-out rows chose, and those next to it."""
    if not candidates:
        return []
    chosen, *others = candidates
    # The simplest of several that are about as good is chosen, so that others may be slightly ahead.
    listed = [
        f"{other.words} {'−' if other.behind > 0 else '+'}{figure(abs(other.behind), other.error)}"
        for other in others[:_LISTED_KINDS]
    ]
    beside = f" Beside it, in nats per row: {', '.join(listed)}." if listed else ""
    goal = setting("goal", "explain")
    return [f"Held-out rows chose {chosen.words}.{beside} For groups of columns to read, use {goal}."]


def _support(tree: Tree) -> dict[str, float]:
    """Return the support of every inner edge that has one, by the names of its two ends."""
    names = tree.node_names
    return {
        f"{names[u]}-{names[v]}": float(support)
        for (u, v), support in zip(tree.edges.tolist(), tree.support, strict=True)
        if not np.isnan(support)
    }


def _one_or_all(numbers: list[int]) -> int | list[int]:
    """Return a single number if all are equal, and all of them otherwise."""
    return numbers[0] if len(set(numbers)) == 1 else numbers


def _states(numbers: int | list[int]) -> str:
    return f"{min(numbers)} to {max(numbers)} states" if isinstance(numbers, list) else plural(numbers, "state")


def learn_tree(
    data: Any,
    *,
    method: str = Settings.method,
    goal: Goal = Settings.goal,
    resolve: Resolve = Settings.resolve,
    n_states: int | None = Settings.n_states,
    representatives: Representatives = Settings.representatives,
    reading: Reading | Mapping[str, Any] | None = None,
    weights: Any = None,
    random_state: RandomState = None,
) -> Tree:
    """Learn the tree behind a table, without fitting a model.

    Use it when only the structure matters, or to compare learners: it saves the time of the fit. Use
    :class:`latree.LatentTree` for a model that scores, samples and fills in rows.

    Parameters
    ----------
    data : Table, data frame, 2-D array, or path of a CSV or TSV file
        See :func:`latree.as_table`, which also explains ``weights``.
    method : str
        Name of the learner; ``latree methods`` lists them.
    goal : {"explain", "predict"}
        For ``auto``: whether the tree has the hidden variables that are there and no more, or is the kind of tree that
        predicts held-out rows best.
    resolve : {"fewest", "tested", "all"}
        For ``auto``: which edges between hidden variables are kept: those that the rows show (``"tested"``), so that
        the tree may be non-binary or a forest; of these, only the edges that lower BIC (``"fewest"``); or those of the
        fully resolved binary tree, as in the paper (``"all"``).
    n_states : int, optional
        The number of states of the hidden variables. ``spectral`` needs it, ``auto`` uses it.
    representatives : {"nearest", "random"}
        For ``tensor``: which leaf of a branch represents it in a quartet test: the one nearest to the new leaf or, as
        in the paper, a random one.
    reading : Reading or dict, optional
        How columns are chosen and cells are read; see :class:`latree.Reading`.
    random_state : int, Generator, RandomState or None
        Seed of the order of insertion and of random choices.

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
    settings = Settings(method, goal, resolve, n_states, representatives, random_state=random_state)
    table = as_table(data, reading, weights=weights)
    learner = find_method(method)
    check_learnable(table, most_states=learner.most_states)
    return learner.learn(table.by_name(), settings, generator(random_state)).tree.reordered(table.names)


def learn_model(
    table: Table,
    settings: Settings,
    origin: Origin | None = None,
    keep: Keeper = NOTHING_KEPT,
    labels: Mapping[str, str] | None = None,
) -> Learned:
    """Learn a tree and fit a model on it.

    Parameters
    ----------
    table : Table
        The order of its columns changes nothing: they are sorted by name before anything is learned.
    settings : Settings
    origin : Origin, optional
        Where the rows come from: the model remembers it.
    keep : Keeper
        Keeps the trees of the bootstrap, so that a stopped run can go on.
    labels : mapping of str to str, optional
        The user's label of each column, by the name of the column: groups are named by them.
    """
    started = time.perf_counter()
    learner = find_method(settings.method)
    rng = generator(settings.random_state)
    by_name = table.by_name()
    with stage("Building the tree"):
        structure = learner.learn(by_name, settings, rng)
    agreed = None
    if settings.bootstrap:
        with stage("Resampling the rows"):
            trees = bootstrap_trees(
                by_name,
                lambda resampled, own_rng: learner.replicate(resampled, settings, own_rng).tree,
                settings.bootstrap,
                int(rng.integers(2**31)),
                keep,
            )
        tree = without_unseen(with_support(structure.tree, trees), by_name)
        structure = replace(structure, tree=tree)
        agreed = without_unseen(consensus(trees), by_name).reordered(table.names)
    n_states, smoothing, start, choice = _capacity(by_name, structure, settings, rng)
    monitor = ConvergenceMonitor(settings.tol, settings.max_iter)
    with stage("Fitting the model", at_most=True):
        fit = fit_model(
            by_name, structure.tree, n_states, start=start, smoothing=smoothing, monitor=monitor, random_state=rng
        )
    with stage("Predicting held-out rows"):
        worth = measure_worth(fit.model, by_name, smoothing=smoothing)
    model = with_groups(_reordered(fit.model, table.columns), table, labels, resamples=RESAMPLES)
    model = order_states(model).model
    structure, fit = replace(structure, tree=model.tree), replace(fit, model=model)
    seconds = time.perf_counter() - started
    warnings = (
        *sentences(table.oddities),
        *warnings_about_labels(labels or {}, table.names),
        *warnings_about(table, fit, settings.goal),
        *worse_than_independent(worth),
        *(ordered_rows(table) if choice else ()),
    )
    return Learned(
        table, settings, structure, smoothing, fit, seconds, warnings, worth, agreed, choice, origin or Origin()
    )


def _reordered(model: LatentTreeModel, columns: Sequence[Column]) -> LatentTreeModel:
    """Return the same distribution with the columns in another order."""
    tree = model.tree.reordered([column.name for column in columns])
    if tree is model.tree:
        return model
    # The number of each node in the model. Hidden variables keep theirs.
    numbers = {name: node for node, name in enumerate(model.tree.names)}
    old = np.array([*map(numbers.__getitem__, tree.names), *range(tree.n_observed, tree.n_nodes)])
    old_parent, marginals = model.network.parent[old], model.network.marginals()
    tables = []
    for node, parent in enumerate(tree.rooted().parent.tolist()):
        own, above = marginals[old[node]], marginals[old[parent]]
        if parent < 0:
            tables.append(own[:, None])
        elif old_parent[node] == old[parent]:
            tables.append(model.tables[old[node]])
        else:  # the root is another column: P(v | parent) = P(parent | v) P(v) / P(parent)
            joint = (model.tables[old[parent]] * own).T
            tables.append(np.where(above > 0, joint / np.where(above > 0, above, 1), 1 / len(own)))
    return LatentTreeModel(tree, tuple(columns), tuple(tables))


def _capacity(
    table: Table, structure: Structure, settings: Settings, rng: np.random.Generator
) -> tuple[Sequence[int] | int, float, LatentTreeModel | None, Choice | None]:
    """Return numbers of states, smoothing and a model to start from: as given, as the learner found them, or chosen."""
    start, found = structure.start, structure.n_states
    known = settings.n_states or found
    if settings.goal == "explain" and known is None and not structure.tree.n_hidden:
        known = ()  # there is nothing to choose
    if settings.goal == "explain" and known is None:
        with stage("Choosing the states", at_most=True):
            start = Search(table, int(rng.integers(2**31))).sized(structure.tree).start(structure.tree, table)
        known = tuple(start.n_states[structure.tree.n_observed :].tolist())
    elif settings.n_states is not None and {settings.n_states} != set(found or ()):
        start = None
    if settings.goal == "explain" and known is not None:
        return known, DEFAULT_SMOOTHING if settings.smoothing is None else settings.smoothing, start, None
    if known is not None and settings.smoothing is not None:
        return known, settings.smoothing, start, None
    choice = structure.choice
    if choice is None:
        with stage("Choosing the states", at_most=True):
            parts, seed = held_out(table, rng), int(rng.integers(2**31))
            choice = choose(
                table, structure.tree, parts, n_states=known, smoothing=settings.smoothing, random_state=seed
            )
    if start is None and choice.smoothing > 0:  # without smoothing, what the fitted rows lack has probability zero
        start = choice.start
    return choice.n_states, choice.smoothing, start, choice
