"""Groups of people side by side: where they stand, and whether columns work alike in them.

For each group of columns, a model of one continuous standing is fitted to the compared rows
(:mod:`latree.interpret.standing`). Everything is read from it:

- *Means.* The difference of two groups of people is that of their mean standings, divided by the standard deviation
  within groups: ``d = (μ_1 - μ_0) / sqrt(Σ_g w_g σ_g²)``. A mean of scores would not do: a score is pulled towards the
  mean of all rows, the more so the less reliable it is, and so is a difference of scores.
- *Columns.* A column works alike if people with the same standing answer alike, whatever their group. The gradient of
  the log-likelihood by a shift of the column's answers in one group (and by one that grows with the standing) is 0 on
  average then. What gradients by other parameters explain of it is taken out (the efficient score of Neyman's C(α)
  test, 1959), and its covariance is that of the clusters' sums. No column is refitted for its test.
- *Anchors.* A column that works differently disturbs the standing of all others. So the clearest one gets parameters of
  its own in each group, the model is fitted again, and the others are tested again, until none is left that differs, or
  half of the columns are divided. The differences of means with no column divided are kept beside the others.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import stats
from scipy.optimize import minimize
from scipy.special import log_softmax

from latree._util.arrays import FloatArray, IntArray
from latree._util.workers import one_thread
from latree.interpret.scores import Scale, Scorer
from latree.interpret.standing import GRID, STEP, Answers, Standing, fit_standing
from latree.model import LatentTreeModel
from latree.table.columns import Column
from latree.table.table import Table, row_weights

# The chance of a false alarm, over all columns together, and over all differences of means together.
ALPHA = 0.05
# Smaller groups of people are not compared: with fewer rows, false alarms are no longer rare enough.
MIN_GROUP = 50
# Two columns have one correlation, which does not determine what both have to do with a standing.
MIN_COLUMNS = 3
# Sizes of a difference in standard deviations of the answers: those of the Educational Testing Service for items with
# several answers (Zwick, Thayer & Mazzeo 1997).
_MODERATE, _LARGE = 0.17, 0.25
# Directions of vectors of length one that are shorter than this are rounding.
_RANK = 1e-7
# A column is tested in directions of which at least this share, as a length, is not determined by other parameters.
_LEFT = 1e-3
_STATE_STEPS = 1000
_STATE_TOLERANCE = 1e-8


@dataclass(frozen=True)
class Groups:
    """Which rows are compared.

    Attributes
    ----------
    names : tuple of str
        The groups of people; the first is the one that others are compared with.
    of_row : array of int
        The group of each row of the table.
    cluster : array of int
        What rows of one cluster have in common, such as a person's number.
    """

    names: tuple[str, ...]
    of_row: IntArray
    cluster: IntArray


def compare_groups(
    model: LatentTreeModel, table: Table, groups: Groups, leave_out: Sequence[str] = ()
) -> dict[str, Any]:
    """Return where groups of people stand on each group of columns, and which columns work differently in them.

    Parameters
    ----------
    model : LatentTreeModel
    table : Table
        The rows that are compared, encoded with the model's columns.
    groups : Groups
    leave_out : sequence of str
        Columns that are not compared, such as the one that tells the groups.
    """
    scorer = Scorer.of_model(model)
    lines = table.map(scorer.block)
    scores = scorer.rows_of(lines).scores
    codes, weights = table.codes().astype(np.intp), table.map(row_weights)
    possible = np.isfinite(lines[:, 0])
    scales, too_small, no_answers = [], [], list[str]()
    for number, scale in enumerate(scorer.scales):
        mine = [column for column in scale.columns.tolist() if model.columns[column].name not in leave_out]
        columns = [column for column in mine if _is_answer(model.columns[column])]
        no_answers += [model.columns[column].name for column in mine if column not in columns]
        if len(columns) < MIN_COLUMNS:
            too_small.append(scale.name)
        else:
            scales.append((number, scale, columns))
    n_columns = sum(len(columns) for _, _, columns in scales)
    posteriors = list(model.posteriors(table).values())
    means, items = [], []
    for number, scale, columns in scales:
        start = np.where(possible, scores[:, number], np.nanmean(scores[:, number]) if possible.any() else 0.0)
        n_states = [model.columns[column].n_states for column in columns]
        answers = Answers(codes[:, columns], n_states, groups.of_row, len(groups.names), weights)
        with one_thread():
            comparison = _Comparison.of(answers, start, groups.cluster, n_columns)
        shares = _shares(posteriors[scale.hidden - model.tree.n_observed], model, scale, groups, weights)
        raw = [
            float(np.average(scores[rows, number], weights=weights[rows]))
            for rows in (np.flatnonzero((groups.of_row == g) & possible) for g in range(len(groups.names)))
        ]
        means.append(comparison.means(scale, groups, shares, raw))
        items += comparison.items(scale, [model.columns[column].name for column in columns], groups)
    for found in (means, items):
        for one, adjusted in zip(found, _holm([one["p"] for one in found]), strict=True):
            one["adjusted_p"] = adjusted
            one["differs"] = adjusted <= ALPHA
    return {
        "groups": [
            {"name": name, "rows": int((groups.of_row == g).sum()), "weight": float(weights[groups.of_row == g].sum())}
            for g, name in enumerate(groups.names)
        ],
        "n_clusters": len(np.unique(groups.cluster)),
        "means": means,
        "items": items,
        "not_compared": too_small,
        "no_answers": no_answers,
    }


def _is_answer(column: Column) -> bool:
    """Return whether a column has answers from low to high.

    Others are not compared: in random groups of people, columns without an order and numbers with bins differed far
    more often than in 5 % of the tables.
    """
    return column.ordered and not column.cuts


def _size(standardised: float) -> str:
    """Return the size of a difference in words."""
    return "negligible" if abs(standardised) <= _MODERATE else "moderate" if abs(standardised) <= _LARGE else "large"


def _holm(p: Sequence[float]) -> list[float]:
    """Return the p values of Holm (1979), which hold over all tests together."""
    order = np.argsort(p, kind="stable")
    adjusted = np.empty(len(p))
    adjusted[order] = np.maximum.accumulate(np.array(p)[order] * np.arange(len(p), 0, -1)) if len(p) else []
    return [float(min(number, 1.0)) for number in adjusted]


def _basis(columns: FloatArray, least: float | None = None) -> FloatArray:
    """Return orthonormal columns that span the same space, without directions that are rounding.

    With ``least``, directions are kept whose singular value is at least that; otherwise columns are first divided by
    their lengths, because their units say nothing.
    """
    if least is None:
        lengths = np.linalg.norm(columns, axis=0)
        columns, least = columns[:, lengths > 0] / lengths[lengths > 0], _RANK
    if not columns.size:
        return np.zeros((len(columns), 0))
    directions, sizes, _ = np.linalg.svd(columns, full_matrices=False)
    return np.asarray(directions[:, sizes > least])


def _hotelling(total: FloatArray, sums: FloatArray, degrees: int) -> float:
    """Return the p value of a test that ``total`` is zero, but for an error whose covariance is that of some sums.

    Hotelling's T²: as the covariance is estimated, T² (ν - k + 1) / (ν k) has an F distribution.

    Parameters
    ----------
    total : array
    sums : array
        One row per cluster; the variance of ``total`` is that of their sum.
    degrees : int
        The degrees of freedom of the covariance.
    """
    covariance = sums.T @ sums
    rank = int(np.linalg.matrix_rank(covariance, hermitian=True)) if covariance.size else 0
    if rank == 0 or degrees < rank:
        return 1.0
    statistic = float(total @ np.linalg.pinv(covariance, hermitian=True) @ total)
    return float(stats.f.sf(statistic * (degrees - rank + 1) / (degrees * rank), rank, degrees - rank + 1))


@dataclass(frozen=True)
class _Comparison:
    """A group of columns: the fitted standing, in which columns that differ are divided.

    Attributes
    ----------
    standing : Standing
        Its columns are those that are not divided, and then the parts of those that are.
    whole, divided : list of int
        Which columns of the group these are.
    p : dict
        The p value of each column.
    cluster : array of int
    deviations : array of float
        The standard deviation of each column's answers.
    all_tied : array of float
        The differences of means while no column was divided.
    """

    standing: Standing
    whole: list[int]
    divided: list[int]
    p: dict[int, float]
    cluster: IntArray
    deviations: FloatArray
    all_tied: FloatArray

    @classmethod
    def of(cls, answers: Answers, start: FloatArray, cluster: IntArray, n_tests: int) -> "_Comparison":
        """Fit the standing, and divide the columns that work differently, the clearest first."""
        columns = range(len(answers.n_states))
        standing = fit_standing(answers, start)
        deviations = np.array(list(map(answers.deviation, columns)))
        found = cls(standing, list(columns), [], {}, cluster, deviations, cls._differences(standing))
        while True:
            p = found.p | {column: found._p_value(place) for place, column in enumerate(found.whole)}
            found = replace(found, p=p)
            clearest = min(found.whole, key=p.__getitem__)
            # At least half of the columns stay the same in all groups: they tie the standings together.
            is_last = 2 * (len(found.divided) + 1) > len(columns)
            if p[clearest] * n_tests > ALPHA or is_last:
                return found
            standing = found.standing.divided(found.whole.index(clearest))
            whole = [column for column in found.whole if column != clearest]
            found = replace(found, standing=standing, whole=whole, divided=[*found.divided, clearest])

    def _shifts(self, place: int) -> FloatArray:
        """Return how the parameters of a column may differ in a group: one column per way."""
        standing = self.standing
        n_answers = int(standing.answers.first[-1])
        n_states = standing.answers.n_states[place]
        own = np.arange(standing.answers.first[place], standing.answers.first[place + 1])
        # A shift of all answers, and one that grows with the standing from its mean on.
        found = np.zeros((len(standing.parameters), 2))
        middle = float(standing.shared_distribution(range(standing.answers.n_groups)) @ GRID)
        found[own, 0] = np.arange(n_states)
        found[own, 1] = -middle * np.arange(n_states)
        found[n_answers + own, 1] = np.arange(n_states)
        return found

    def _p_value(self, place: int) -> float:
        """Return the p value of the test whether a column works alike in all groups."""
        standing, answers = self.standing, self.standing.answers
        numbers, inverse = np.unique(self.cluster, return_inverse=True)

        def by_cluster(gradients: FloatArray) -> FloatArray:
            found = np.zeros((len(numbers), gradients.shape[1]))
            np.add.at(found, inverse, gradients * answers.weights[:, None])
            return found

        own = standing.row_gradients @ self._shifts(place)
        tested = np.concatenate([answers.members[:, [group]] * own for group in range(1, answers.n_groups)], axis=1)
        # What other parameters explain: those of the column and of the distributions, and the shifts of other columns,
        # whose other parameters say nothing about a difference of groups, and would cost degrees of freedom.
        nuisance = standing.row_gradients[:, self._own_parameters(place)]
        shifts = [self._shifts(other) for other in range(len(answers.n_states)) if other != place]
        sums = by_cluster(np.concatenate([nuisance, standing.row_gradients @ np.concatenate(shifts, axis=1)], axis=1))
        directions, tested = _basis(sums), _basis(by_cluster(tested))
        left = tested - directions @ (directions.T @ tested)
        # What is left of a direction that others nearly determine is rounding, as in groups of three yes-or-no columns.
        left = left @ _basis(left.T, _LEFT)
        # Residuals are smaller than errors, as the directions are fitted to them, above all where few rows have an
        # answer (HC3 of MacKinnon & White 1985).
        free = np.maximum(1 - (directions**2).sum(axis=1, keepdims=True), _RANK)
        return _hotelling(left.sum(axis=0), left / free, len(numbers) - directions.shape[1])

    def _own_parameters(self, place: int) -> IntArray:
        """Return the parameters of a column and of the distributions."""
        first, n_answers = self.standing.answers.first, int(self.standing.answers.first[-1])
        own = np.arange(first[place], first[place + 1])
        return np.concatenate([own, n_answers + own, np.arange(2 * n_answers, len(self.standing.parameters))])

    def means(self, scale: Scale, groups: Groups, shares: FloatArray, scores: Sequence[float]) -> dict[str, Any]:
        """Return the standings of the groups as plain data."""
        standing, weights = self.standing, self.standing.answers.weights
        found = self._differences(standing)
        # The derivative by the parameters of the distributions, which alone decide the means.
        first = len(standing.parameters) - standing.n_free
        slopes = np.empty((len(found), standing.n_free))
        for number in range(standing.n_free):
            step = np.zeros(len(standing.parameters))
            step[first + number] = STEP
            above, below = (self._differences(standing.moved(sign * step)) for sign in (1, -1))
            slopes[:, number] = (above - below) / (2 * STEP)
        numbers, inverse = np.unique(self.cluster, return_inverse=True)
        sums = np.zeros((len(numbers), len(found)))
        np.add.at(sums, inverse, standing.influence[:, first:] @ slopes.T * weights[:, None])
        degrees = len(numbers) - 1
        sums = (sums - sums.mean(axis=0)) * np.sqrt(len(numbers) / degrees)
        errors = np.sqrt((sums**2).sum(axis=0))
        margins = stats.t.ppf(1 - ALPHA / 2, degrees) * errors
        means, variances = standing.moments()
        total = standing.answers.weight_of_groups
        deviation = np.sqrt(total @ variances / total.sum())
        overall = total @ means / total.sum()
        return {
            "name": scale.name,
            "columns": len(self.whole) + len(self.divided),
            "groups": [
                {
                    "name": name,
                    "mean": float((means[g] - overall) / deviation),
                    "deviation": float(np.sqrt(variances[g]) / deviation),
                    "mean_score": scores[g],
                    "states": dict(zip(scale.state_names, map(float, shares[g]), strict=True)),
                }
                for g, name in enumerate(groups.names)
            ],
            "differences": [
                {
                    "group": name,
                    "from": groups.names[0],
                    "difference": float(found[g]),
                    "error": float(errors[g]),
                    "low": float(found[g] - margins[g]),
                    "high": float(found[g] + margins[g]),
                    "all_tied": float(self.all_tied[g]),
                }
                for g, name in enumerate(groups.names[1:])
            ],
            "p": _hotelling(found, sums, degrees),
        }

    @staticmethod
    def _differences(standing: Standing) -> FloatArray:
        """Return the differences of the groups from the first one, in standard deviations within groups."""
        means, variances = standing.moments()
        total = standing.answers.weight_of_groups
        return np.asarray((means[1:] - means[0]) / np.sqrt(total @ variances / total.sum()))

    def items(self, scale: Scale, names: Sequence[str], groups: Groups) -> list[dict[str, Any]]:
        """Return what was found of each column as plain data."""
        found = []
        for column, name in enumerate(names):
            profiles = self._profiles(column)
            effects = []
            for group in range(1, len(groups.names)):
                difference = self._difference(profiles[0], profiles[group], (0, group), column)
                standardised = float(difference / self.deviations[column]) if self.deviations[column] > 0 else 0.0
                effects.append(
                    {
                        "group": groups.names[group],
                        "from": groups.names[0],
                        "difference": difference,
                        "standardised": standardised,
                        "size": _size(standardised),
                    }
                )
            found.append(
                {
                    "column": name,
                    "scale": scale.name,
                    "tied": column in self.whole,
                    "effects": effects,
                    "p": self.p[column],
                }
            )
        return found

    def _profiles(self, column: int) -> list[FloatArray]:
        """Return P(answer | θ) of a column in each group of people."""
        standing = self.standing
        n_groups = standing.answers.n_groups
        if column in self.divided:
            first = len(self.whole) + self.divided.index(column) * n_groups
            return [standing.profile(first + group) for group in range(n_groups)]
        place = self.whole.index(column)
        return [_shifted(standing, place, group, self._shifts(place)) for group in range(n_groups)]

    def _difference(self, one: FloatArray, other: FloatArray, pair: tuple[int, int], column: int) -> float:
        """Return how the answers of two groups differ at the same standing, on average over both groups.

        It is counted in answers, from the lowest to the highest.
        """
        shared = self.standing.shared_distribution(pair)
        return float(np.arange(len(one)) @ (other - one) @ shared)


def _shifted(standing: Standing, place: int, group: int, shifts: FloatArray) -> FloatArray:
    """Return P(answer | θ) of a column in one group, fitted to its rows with all else as it is."""
    answers = standing.answers
    rows = answers.rows_of[group]
    first, last = answers.first[place : place + 2].tolist()
    n_answers = int(answers.first[-1])
    profile = standing.profile(place)
    given = answers.given[rows, first:last]
    # P(θ | other cells): the posterior without the column's own cell.
    present = given.sum(axis=1)
    cell = given @ profile + (1 - present)[:, None]
    others = standing.parts.posterior[rows] / cell
    weights = answers.weights[rows] * present

    def of(size: FloatArray) -> tuple[float, FloatArray, FloatArray]:
        moved = standing.parameters + shifts @ size
        log_given = log_softmax(
            moved[first:last, None] + moved[n_answers + first : n_answers + last, None] * GRID, axis=0
        )
        joint = others * (given @ np.exp(log_given))
        total = np.where(weights > 0, joint.sum(axis=1), 1.0)
        posterior = joint / total[:, None] * weights[:, None]
        gap = given.T @ posterior - np.exp(log_given) * posterior.sum(axis=0)
        gradient = shifts[first:last].T @ gap.sum(axis=1) + shifts[n_answers + first : n_answers + last].T @ (
            gap @ GRID
        )
        # The weak prior keeps an answer that nobody in the group gives finite.
        return float(size @ size) / 2 - float(weights @ np.log(total)), size - gradient, np.exp(log_given)

    best = minimize(lambda size: of(size)[:2], np.zeros(shifts.shape[1]), jac=True, method="L-BFGS-B").x
    return of(best)[2]


def _shares(
    posterior: FloatArray, model: LatentTreeModel, scale: Scale, groups: Groups, weights: FloatArray
) -> FloatArray:
    """Return the share of each state of a scale's hidden variable in each group, one row per group.

    They maximise the likelihood of the group's rows. The mean of the posterior probabilities would be pulled towards
    the shares in the rows of the fit, as scores are.
    """
    prior = model.network.marginals()[scale.hidden]
    found = []
    for group in range(len(groups.names)):
        rows = (groups.of_row == group) & np.isfinite(posterior[:, 0])
        likelihood = np.divide(posterior[rows], prior, out=np.zeros_like(posterior[rows]), where=prior > 0)
        own, shares = weights[rows], prior
        for _ in range(_STATE_STEPS):
            joint = likelihood * shares
            new = own @ (joint / joint.sum(axis=1, keepdims=True)) / own.sum()
            change, shares = float(np.abs(new - shares).max()), new
            if change < _STATE_TOLERANCE:
                break
        found.append(shares)
    return np.array(found)
