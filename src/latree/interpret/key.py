"""What rows say of groups of columns that somebody has in mind: how well they predict, and which columns fit them.

Groups as a whole are compared with what latree finds. Each column is compared between groups: how probable is it in a
row if it depends on the hidden variable of this group, or of that one? Both variables are shown by the same cells, all
others of the row, through the tree. If the columns of the group alone showed it, a large group would predict better
than a small one, whatever the column belongs to. Probabilities are estimated in some rows, and looked at in others.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import reduce
from statistics import fmean
from typing import NamedTuple

import numpy as np
from sklearn.metrics import adjusted_rand_score

from latree._util.arrays import FloatArray, IntArray
from latree._util.workers import map_forked
from latree.inference.em import DEFAULT_SMOOTHING
from latree.inference.messages import TINY
from latree.interpret.groups import group_labels, with_groups
from latree.interpret.worth import MAX_USED, MIN_ROWS, folds, mean_of
from latree.learners.given import columns_of_groups
from latree.model import LatentTreeModel
from latree.model.fitting import Part
from latree.model.record import Key, Place
from latree.table import Table
from latree.table.table import row_weights

# Iterations of EM for what a column depends on in a group. There are no other unknowns, so a few are enough.
_ITERATIONS = 5

_SEED = 0


def measure_key(
    table: Table,
    key: Mapping[str, str],
    given: Callable[[Table], LatentTreeModel],
    free: Callable[[Table], LatentTreeModel],
) -> Key | None:
    """Return what held-out rows say of groups that were given; None if there are too few rows.

    Everything is learned anew for each fold, so that the rows that judge were never seen.

    Parameters
    ----------
    table : Table
    key : mapping of str to str
        The group of each column, by the name of the column.
    given, free : callable
        Learn a model of some rows in which each group has one hidden variable, in the order of the names of the groups;
        and the model that latree finds.
    """
    rng = np.random.default_rng(_SEED)
    rows = table.units(MAX_USED, rng)
    if rows.n_rows < MIN_ROWS:
        return None
    parts, columns = folds(rows, rng), columns_of_groups(key, table.names)

    def judged(task: tuple[bool, Part]) -> _OfFold:
        is_given, part = task
        model = (given if is_given else free)(part.fitted)
        scores = model.log_likelihood_rows(part.judged)
        if not is_given:
            return _OfFold(scores, with_groups(model, part.fitted), None)
        groups = [Given(own, model.tree.n_observed + number) for number, own in enumerate(columns.values())]
        return _OfFold(scores, model, evidence_of(model, groups, part))

    found = map_forked(judged, [(is_given, part) for is_given in (True, False) for part in parts])
    own, others = found[: len(parts)], found[len(parts) :]
    weights = np.concatenate([part.judged.map(row_weights) for part in parts])
    differences = [other.log_likelihoods - one.log_likelihoods for one, other in zip(own, others, strict=True)]
    evidence = reduce(Evidence.plus, (one.evidence for one in own if one.evidence is not None))
    asked = np.array([name in key for name in table.names])
    labels = [key[name] for name in table.names if name in key]
    groups_found = [group_labels(other.model.groups, table.names) for other in others]
    return Key(
        len(weights),
        fmean(int(of.max()) + 1 for of in groups_found),
        fmean(other.model.tree.n_hidden for other in others),
        fmean(adjusted_rand_score(labels, of[asked]) for of in groups_found),
        *mean_of(np.concatenate(differences), weights),
        places(evidence, table.names, list(columns), [set(own) for own in columns.values()]),
    )


class _OfFold(NamedTuple):
    log_likelihoods: FloatArray
    model: LatentTreeModel
    evidence: "Evidence | None"


class Given(NamedTuple):
    """A group that was given: its columns and its hidden variable, by their numbers."""

    columns: list[int]
    hidden: int


class Evidence(NamedTuple):
    """What each group says about each column, beside the column's own group.

    Attributes
    ----------
    sums : array, shape (3, columns, groups + 1)
        Sums over rows of ``w d``, ``w² d`` and ``w² d²``, where ``w`` is the weight of a row and ``d`` how much more
        probable the column is in this row given a group than given its own group, in nats. The last "group" is none:
        the column by itself, which is also the own group of a column without one.
    weights : array, shape (2, columns)
        The sums of ``w`` and of ``w²`` over the rows where the column is present.
    """

    sums: FloatArray
    weights: FloatArray

    def plus(self, other: "Evidence") -> "Evidence":
        """Return the evidence of both."""
        return Evidence(self.sums + other.sums, self.weights + other.weights)


def evidence_of(model: LatentTreeModel, groups: Sequence[Given], part: Part) -> Evidence:
    """Return what groups say about columns in held-out rows, under a model that was fitted to other rows."""
    d, codes = model.tree.n_observed, (part.fitted.codes().astype(np.intp), part.judged.codes().astype(np.intp))
    weights, judged = part.fitted.map(row_weights), part.judged.map(row_weights)
    own = np.full(d, len(groups))
    for number, group in enumerate(groups):
        own[group.columns] = number
    sums, totals = np.zeros((3, d, len(groups) + 1)), np.zeros((2, d))
    shown = [_Shown(model, groups, some) for some in codes]
    for column in range(d):
        fitted, new = codes[0][:, column], codes[1][:, column]
        n = int(model.n_states[column])
        counts = np.bincount(fitted[fitted >= 0], weights[fitted >= 0], n) + DEFAULT_SMOOTHING
        logs = np.empty((len(groups) + 1, len(judged)))
        logs[-1] = np.where(new < 0, 0, np.log(counts / counts.sum())[new])
        before, after = (one.without(column, int(own[column])) for one in shown)
        for number in range(len(groups)):
            table = _table(before[number], fitted, weights, n)
            logs[number] = np.where(new < 0, 0, np.log((after[number] * table[new]).sum(axis=1)))
        ahead, present = logs - logs[own[column]], (new >= 0) * judged
        sums[:, column] = ahead @ present, ahead @ present**2, ahead**2 @ present**2
        totals[:, column] = present.sum(), (present**2).sum()
    return Evidence(sums, totals)


class _Shown:
    """The hidden variables of groups, as all columns show them in some rows.

    Messages run between hidden variables only: what the columns of a group say is one factor of its hidden variable.
    """

    def __init__(self, model: LatentTreeModel, groups: Sequence[Given], codes: IntArray) -> None:
        network, tree = model.network, model.tree
        number = {group.hidden: place for place, group in enumerate(groups)}
        self.near = [[number[near] for near, _ in tree.neighbors[group.hidden] if near in number] for group in groups]
        # P(one | other) for neighbours, one row per state of one.
        self.given = {
            (one, other): network.conditional(groups[one].hidden, groups[other].hidden)
            for one, around in enumerate(self.near)
            for other in around
        }
        self.prior = [network.marginals()[group.hidden] for group in groups]
        self.logs = {}
        for group in groups:
            for column in group.columns:
                table = np.log(np.maximum(network.conditional(column, group.hidden), TINY))
                self.logs[column] = np.where(codes[:, column, None] < 0, 0, table[codes[:, column]])
        self.own = [np.sum([self.logs[column] for column in group.columns], axis=0) for group in groups]
        self.messages: dict[tuple[int, int], FloatArray] = {}
        self.moves: dict[tuple[int, int], FloatArray] = {}
        self.all = [self._posterior(group) for group in range(len(groups))]

    def without(self, column: int, own: int) -> list[FloatArray]:
        """Return the probabilities of the states of every group in each row, given all columns but one.

        ``own`` is the group of the column; the number of groups for a column without one, which shows nothing.
        """
        if own == len(self.own):
            return self.all
        found = list(self.all)
        found[own] = self._posterior(own, self.logs[column])
        waiting = [(own, -1)]
        while waiting:
            one, before = waiting.pop()
            for other in self.near[one]:
                if other != before:
                    found[other] = np.einsum("rij,rj->ri", self._move(other, one), found[one])
                    waiting.append((other, one))
        return found

    def _posterior(self, group: int, less: FloatArray | float = 0.0) -> FloatArray:
        """Return the probabilities of the states of a group, without what one of its columns says."""
        logs = np.log(np.maximum(self.prior[group], TINY)) + self.own[group] - less
        return _normalised(logs + sum(self._message(near, group) for near in self.near[group]))

    def _message(self, one: int, to: int) -> FloatArray:
        """Return the logarithm of what a group and those beyond it say about another group, up to a constant."""
        if (one, to) not in self.messages:
            said = _normalised(self._beyond(one, to))
            self.messages[one, to] = np.log(np.maximum(said @ self.given[one, to], TINY))
        return self.messages[one, to]

    def _beyond(self, one: int, to: int) -> FloatArray:
        """Return the logarithm of what columns on the far side of an edge say about its end there."""
        return np.asarray(self.own[one] + sum(self._message(near, one) for near in self.near[one] if near != to))

    def _move(self, one: int, given: int) -> FloatArray:
        """Return P(one | given, all columns) in each row, one row per state of one."""
        if (one, given) not in self.moves:
            joint = self.given[one, given] * _normalised(self._beyond(one, given))[:, :, None]
            self.moves[one, given] = joint / joint.sum(axis=1, keepdims=True)
        return self.moves[one, given]


def _normalised(logs: FloatArray) -> FloatArray:
    found = np.exp(logs - logs.max(axis=1, keepdims=True))
    return np.asarray(found / found.sum(axis=1, keepdims=True))


def _table(states: FloatArray, codes: IntArray, weights: FloatArray, n: int) -> FloatArray:
    """Return the probabilities of a column's values in each state, one row per value, by EM."""
    present = codes >= 0
    states, codes = states[present], codes[present]
    values = np.zeros((len(codes), n))
    values[np.arange(len(codes)), codes] = weights[present]
    posterior = states
    for _ in range(_ITERATIONS):
        counts = values.T @ posterior + DEFAULT_SMOOTHING
        table = counts / counts.sum(axis=0)
        posterior = states * table[codes]
        posterior /= posterior.sum(axis=1, keepdims=True)
    return np.asarray(table)


def places(
    evidence: Evidence, names: Sequence[str], groups: Sequence[str], members: Sequence[Collection[int]]
) -> tuple[Place, ...]:
    """Return where each column belongs, in the order of the columns."""
    total, squares = evidence.weights
    mean = evidence.sums[0] / np.maximum(total, TINY)[:, None]
    # Σ w² (d - m)² = Σ w² d² - 2 m Σ w² d + m² Σ w²
    spread = evidence.sums[2] - 2 * mean * evidence.sums[1] + mean**2 * squares[:, None]
    error = np.sqrt(np.maximum(spread, 0)) / np.maximum(total, TINY)[:, None]
    found = []
    for column, name in enumerate(names):
        own = next((number for number, own in enumerate(members) if column in own), None)
        others = [number for number in range(len(groups)) if number != own]
        best = max(others, key=lambda number: mean[column, number], default=None)
        found.append(
            Place(
                name,
                None if own is None else groups[own],
                -float(mean[column, -1]),
                float(error[column, -1]),
                None if best is None else groups[best],
                None if best is None else float(mean[column, best]),
                None if best is None else float(error[column, best]),
            )
        )
    return tuple(found)
