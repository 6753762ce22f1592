"""From a table to a tree, and on to a fitted model: the way that the estimator and the command line share."""

import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from math import isfinite
from statistics import fmean
from typing import Any

import numpy as np

from latree import __version__
from latree._util.arrays import IntArray, RandomState, generator
from latree._util.checkpoint import NOTHING_KEPT, Keeper
from latree._util.progress import claim_progress, part_of_stage, stage
from latree._util.words import setting
from latree.errors import InputError
from latree.facts.found import facts_of
from latree.facts.text import report_text
from latree.inference.em import DEFAULT_SMOOTHING
from latree.interpret.columns import redundant_columns
from latree.interpret.compare import compare_trees
from latree.interpret.differ import Groups
from latree.interpret.groups import with_groups
from latree.interpret.key import measure_key
from latree.interpret.order import order_states
from latree.interpret.reliability import reliability
from latree.interpret.scores import norms_of
from latree.interpret.view import view_of
from latree.interpret.worth import measure_worth
from latree.learners.divide_conquer import without_unseen
from latree.learners.explain import started
from latree.learners.methods import find_method
from latree.learners.structure import Structure
from latree.learners.support import bootstrap_trees, consensus, found_again, with_support
from latree.model import ConvergenceMonitor, Fit, LatentTreeModel, fit_model
from latree.model.fitting import Choice, choose, cost_of_order, held_out
from latree.model.linear import learn_linear
from latree.model.record import Key, Origin, Record, Worth
from latree.search.explain import Search
from latree.settings import Goal, Representatives, Resolve, Settings
from latree.table import Column, Table, as_table
from latree.table.checking import check_learnable
from latree.table.findings import sentences
from latree.table.reading import Reading
from latree.table.table import row_weights
from latree.tree import Tree

# Edges of which less is found again in parts of the rows are contracted.
LEAST_SUPPORT = 0.5

# The correlations of more columns than this are not kept: a model file would consist of little else.
_MAX_CORRELATED = 500

# Learning takes about this share of the time for the tree. The rest is for what comes again in parts of the rows.
_LEARNING = 0.95


@dataclass(frozen=True)
class Learned:
    """A fitted model and how it came about."""

    table: Table
    settings: Settings
    structure: Structure
    smoothing: float
    fit: Fit
    seconds: float
    worth: Worth | None  # None if there are too few rows to measure it
    consensus: Tree | None  # of the bootstrap's trees
    choice: Choice | None  # of states and smoothing; None if both were known before
    origin: Origin
    key: Key | None = None  # what held-out rows say of groups that were given

    @cached_property
    def model(self) -> LatentTreeModel:
        """The fitted model, which remembers how it came about."""
        model = self.fit.model
        draft = replace(model, record=self._record, linear=learn_linear(model.network, model.columns, self.table))
        assert draft.record is not None
        record = replace(
            draft.record,
            reliability=tuple((one.reliability, one.alpha) for one in reliability(draft, self.table)),
            norms=norms_of(draft, self.table),
            redundant=tuple((*pair.columns, pair.strength) for pair in redundant_columns(draft, self.table)),
            correlations=self._correlations(draft),
        )
        return view_of(draft).kept_for(replace(draft, record=record))

    @property
    def _record(self) -> Record:
        """What is known without a look at the model."""
        log_likelihood = self.fit.model.log_likelihood(self.table)
        return Record(
            latree=__version__,
            **self.origin._asdict(),
            settings=self.settings,
            n_rows=self.table.n_rows,
            total_weight=self.table.total_weight,
            n_missing=tuple(self.table.n_missing.tolist()),
            log_likelihood=log_likelihood if isfinite(log_likelihood) else None,
            smoothing=float(self.smoothing),
            history=tuple(self.fit.monitor.history),
            converged=self.fit.monitor.converged,
            tried=self.choice.tried if self.choice else (),
            counts=tuple(self.structure.facts.items()),
            odd=tuple(sentences(self.table.oddities)),
            reliability=(),
            redundant=(),
            left_out=tuple((one.column, one.what) for one in self.table.findings if one.action == "left out"),
            worth=self.worth,
            candidates=self.structure.candidates,
            weights_are=self.table.weights_are,
            key=self.key,
            order_cost=(cost_of_order(self.table) or None) if self.choice else None,
        )

    def _correlations(self, model: LatentTreeModel) -> tuple[int | None, ...] | None:
        """Return what the record keeps of the correlations of columns in the rows."""
        if self.table.n_columns > _MAX_CORRELATED:
            return None
        found = view_of(model).correlation_in_rows(self.table)
        if found is None:
            return None
        above = 100 + 100 * found[np.triu_indices(len(found), 1)]
        return tuple(None if np.isnan(number) else round(number) for number in above.tolist())

    @cached_property
    def facts(self) -> dict[str, Any]:
        """Everything that was found, as plain data; see :func:`latree.facts.facts_of`."""
        found = facts_of(self.model)
        # The record of the model has no seconds: the same fit gives the same file.
        summary = found["summary"] | {"seconds": round(self.seconds, 3)}
        return found | {"summary": summary | {"warnings": summary.pop("warnings")}}

    @property
    def summary(self) -> dict[str, Any]:
        """The main facts, for people and for JSON."""
        summary: dict[str, Any] = self.facts["summary"]
        return summary

    @property
    def warnings(self) -> list[str]:
        """What makes the fit less trustworthy."""
        warnings: list[str] = self.facts["warnings"]
        return warnings

    def report(self) -> str:
        """Return the finding as text: the groups, the tree, and the facts."""
        return report_text(self.facts)


def learn_tree(
    data: Any,
    *,
    method: str = Settings.method,
    goal: Goal = Settings.goal,
    resolve: Resolve = Settings.resolve,
    n_states: int | None = Settings.n_states,
    representatives: Representatives = Settings.representatives,
    n_resamples: int = Settings.n_resamples,
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
    resolve : {"tested", "all"}
        For ``auto``: which edges between hidden variables are kept: those that the rows show and that come again in
        parts of the rows (``"tested"``), so that the tree may be non-binary or a forest; or those of the fully resolved
        binary tree, as in the paper (``"all"``).
    n_resamples : int
        For ``auto``: in how many random halves of the rows the tree is learned again, for the support of its edges.
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
    settings = Settings(
        method, goal, resolve, n_states, representatives, n_resamples=n_resamples, random_state=random_state
    )
    table = as_table(data, reading, weights=weights)
    learner = find_method(method)
    check_learnable(table, most_states=learner.most_states)
    by_name = table.by_name()
    structure = _drawn(learner.learn(by_name, settings, generator(random_state)), by_name, settings)
    return structure.tree.reordered(table.names)


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
        with part_of_stage(0, _LEARNING):
            structure = learner.learn(by_name, settings, rng)
        with part_of_stage(_LEARNING, 1):
            structure = _drawn(structure, by_name, settings)
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
    key = None
    if settings.key is not None:
        with stage("Finding groups beside those that were given", at_most=True):
            key = _measure_key(by_name, settings)
    model = with_groups(
        _reordered(fit.model, table.columns),
        table,
        labels or dict(settings.key or ()),
        replicates=structure.replicates,
        by_hidden=settings.key is not None,
    )
    model = order_states(model).model
    structure, fit = replace(structure, tree=model.tree), replace(fit, model=model)
    seconds = time.perf_counter() - started
    return Learned(table, settings, structure, smoothing, fit, seconds, worth, agreed, choice, origin or Origin(), key)


def trees_of_groups(
    table: Table, groups: Groups, settings: Settings, n_random: int, leave_out: Collection[str] = ()
) -> dict[str, Any]:
    """Return how different the trees of groups of rows are, beside those of random groups of the same sizes.

    Parameters
    ----------
    table : Table
    groups : Groups
        Rows of a cluster must be independent here: a random division would part them.
    settings : Settings
        How each tree is learned.
    n_random : int
        The number of random divisions.
    leave_out : collection of str
        Columns that are in no tree.

    Returns
    -------
    dict
        ``distance``: the mean Robinson-Foulds distance of two groups' trees, ``most``: the largest possible one,
        ``random``: that of each random division, with their mean ``random_mean``; ``n_random``, ``n_as_different``: how
        many of these are at least as different, and ``p``.
    """
    if len(np.unique(groups.cluster)) < table.n_rows:
        raise InputError(
            f"{setting('trees')} and {setting('cluster')}: trees are compared with those of random divisions, which "
            "would part the clusters; leave out one of the two"
        )
    keep = [number for number, name in enumerate(table.names) if name not in leave_out]
    columns = tuple(table.columns[number] for number in keep)
    codes = table.codes()[:, keep]
    weights = table.map(row_weights)
    learner, rng = find_method(settings.method), generator(settings.random_state)
    settings = replace(settings, n_resamples=0, bootstrap=0, random_state=0)

    def distance(of_row: IntArray) -> tuple[float, float]:
        trees = []
        for group in range(len(groups.names)):
            rows = of_row == group
            by_name = Table.from_codes(columns, codes[rows], weights[rows]).by_name()
            trees.append(_drawn(learner.learn(by_name, settings, generator(0)), by_name, settings).tree)
        pairs = [compare_trees(one, other) for one, other in combinations(trees, 2)]
        return fmean(pair["robinson_foulds"] for pair in pairs), fmean(pair["max"] for pair in pairs)

    with stage("Comparing trees", at_most=True):
        progress = claim_progress()
        found, most = distance(groups.of_row)
        by_chance = []
        for number in range(n_random):
            progress(number, n_random)
            by_chance.append(distance(rng.permutation(groups.of_row))[0])
    n_as_different = sum(other >= found for other in by_chance)
    return {
        "distance": found,
        "most": most,
        "random": by_chance,
        "random_mean": fmean(by_chance),
        "n_random": n_random,
        "n_as_different": n_as_different,
        "p": (1 + n_as_different) / (1 + n_random),
    }


def _measure_key(table: Table, settings: Settings) -> Key | None:
    """Return how well groups that were given predict held-out rows, beside what latree finds in the other rows."""
    given = replace(settings, random_state=0)
    free = replace(given, key=None, n_resamples=0)
    return measure_key(
        table, dict(settings.key or ()), lambda rows: _learned(rows, given), lambda rows: _learned(rows, free)
    )


def _learned(table: Table, settings: Settings) -> LatentTreeModel:
    """Return the model of a table, and nothing else."""
    rng = generator(settings.random_state)
    structure = find_method(settings.method).learn(table, settings, rng)
    n_states, smoothing, start, _ = _capacity(table, structure, settings, rng)
    monitor = ConvergenceMonitor(settings.tol, settings.max_iter)
    return fit_model(
        table, structure.tree, n_states, start=start, smoothing=smoothing, monitor=monitor, random_state=rng
    ).model


def _drawn(structure: Structure, table: Table, settings: Settings) -> Structure:
    """Contract the edges that mostly do not come again in parts of the rows, but none between groups."""
    model, support = structure.start, structure.tree.support
    if not structure.replicates or model is None or support is None or settings.resolve == "all":
        return structure
    held = _held(with_groups(model, table, replicates=structure.replicates))
    weak = [edge for edge in np.flatnonzero(support < LEAST_SUPPORT).tolist() if edge not in held]
    found = Search(table, 0, settings.n_states).without(model, weak)
    again = found_again(found.tree, structure.replicates)
    tree = without_unseen(found.tree.with_numbers(support=again), table)
    return replace(structure, tree=tree, start=started(found, tree, table))


def _held(model: LatentTreeModel) -> set[int]:
    """Return the edges that part main or fine groups from each other: their stability says how sure they are."""
    assert model.levels is not None
    held: set[int] = set()
    for level in ("main", "fine"):
        groups = [group for group in model.groups if group.level in ("main", level)]
        # The groups of each node: a fine group is a part of a main group.
        groups_of: list[set[int]] = [set() for _ in range(model.tree.n_nodes)]
        for number, group in enumerate(groups):
            for node in group.nodes:
                groups_of[node].add(number)
        ends = model.tree.edges[list(model.levels.edges)].tolist()
        places = [place for place, (one, other) in enumerate(ends) if groups_of[one] != groups_of[other]]
        held |= set(model.levels.edges[: max(places, default=-1) + 1])
    return held


def _reordered(model: LatentTreeModel, columns: Sequence[Column]) -> LatentTreeModel:
    """Return the same distribution with the columns in another order."""
    tree = model.tree.reordered([column.name for column in columns])
    if tree is model.tree:
        return model
    # The number of each node in the model. Hidden variables keep theirs.
    numbers = {name: node for node, name in enumerate(model.tree.names)}
    old = [*map(numbers.__getitem__, tree.names), *range(tree.n_observed, tree.n_nodes)]
    network = model.network
    tables = [
        network.conditional(old[node], old[parent]) if parent >= 0 else network.marginals()[old[node]][:, None]
        for node, parent in enumerate(tree.rooted().parent.tolist())
    ]
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
            start = started(Search(table, int(rng.integers(2**31))).sized(structure.tree), structure.tree, table)
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
