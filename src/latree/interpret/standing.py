"""One continuous standing behind the columns of a group, for rows that fall into several groups of people.

The hidden variables of a model have few states. People in the same state do not stand at the same place: where one
group of people stands higher, it also stands higher within each state, and every column then seems to work differently.
So a comparison of groups of people is made with a standing θ on a fine grid:

1. ``P(x | θ) ∝ exp(c_x + a_x θ)`` for each column: the nominal response model (Bock 1972), whose special cases are the
   partial credit model, with equally spaced ``a_x``, and the two-parameter logistic one. It needs no order of answers.
2. ``P(θ | group of people) ∝ exp(b_1 θ - b_2 θ²/2 + b_3 θ³ + b_4 θ⁴)`` on the grid: a normal distribution, or a skewed,
   flat or two-peaked one. Each group of people has its own, so that a difference of standing is no difference of a
   column.
3. All parameters together maximise the likelihood of the rows, in which θ is summed out. A missing cell is left out.

The scale of θ is free, so results are given in units that do not depend on it: standard deviations, and answers. All
uncertainty is computed from the rows' own contributions to the gradient of the log-likelihood, added up within
clusters: it holds for weights and clusters, and does not need the model to be exactly right.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.optimize import minimize
from scipy.special import log_softmax

from latree._util.arrays import FloatArray, IntArray

# Half as fine a grid changes nothing that is printed: a row's cells leave θ uncertain by more than a step of 0.5.
GRID = np.linspace(-4.0, 4.0, 17)
# The terms of a distribution's logarithm; the factors make all of them about equally large on the grid.
_TERMS = np.stack([GRID, -(GRID**2) / 2, GRID**3 / 10, -(GRID**4) / 50])
_NORMAL = np.array([0.0, 1.0, 0.0, 0.0])
# Weak normal priors, as weights of squares. That of a column, of standard deviation 3, keeps an answer that nobody in a
# group gives finite. Those of b_3 and b_4 keep a small group near a normal distribution.
_PRIOR_OF_COLUMN = 0.1
_PRIOR_OF_GROUP = np.array([0.1, 0.1, 1.0, 1.0])
# The scale of θ is free: over all rows, its mean is held at 0 and its mean square at 1, with this weight per row. That
# says nothing about differences of groups, and keeps the distributions inside the grid.
_SCALE_PER_ROW = 1.0
_MAX_ITERATIONS = 500
# The fit stops when an iteration gains less than this share of the log-likelihood. What is left changes no test: the
# efficient score takes out what moves of the parameters explain.
_TOLERANCE = 1e-9
# The step of numerical derivatives, for parameters of about size one.
STEP = 1e-4


@dataclass(frozen=True)
class Answers:
    """The cells of some columns, for rows of several groups of people.

    Attributes
    ----------
    codes : array of int, shape (rows, columns)
        -1 where a cell is missing.
    n_states : sequence of int
    group : array of int
        The group of each row, from 0.
    n_groups : int
    weights : array of float
    """

    codes: IntArray
    n_states: Sequence[int]
    group: IntArray
    n_groups: int
    weights: FloatArray

    def divided(self, column: int) -> "Answers":
        """Return the same with a column divided into one column for each group, missing in all others."""
        parts = np.where(self.group[:, None] == np.arange(self.n_groups), self.codes[:, [column]], -1)
        codes = np.concatenate([np.delete(self.codes, column, axis=1), parts], axis=1)
        n_states = [n for number, n in enumerate(self.n_states) if number != column]
        return Answers(
            codes, n_states + [self.n_states[column]] * self.n_groups, self.group, self.n_groups, self.weights
        )

    @cached_property
    def first(self) -> IntArray:
        """The place of each column's first answer among all answers, and the number of all answers."""
        return np.concatenate([[0], np.cumsum(self.n_states)]).astype(np.intp)

    @cached_property
    def column(self) -> IntArray:
        """The column of each answer."""
        return np.repeat(np.arange(len(self.n_states)), self.n_states)

    @cached_property
    def given(self) -> FloatArray:
        """One row per row and one column per answer: 1 where it was given."""
        found = np.zeros((len(self.codes), int(self.first[-1])))
        rows, columns = np.nonzero(self.codes >= 0)
        found[rows, self.first[columns] + self.codes[rows, columns]] = 1.0
        return found

    @cached_property
    def present(self) -> FloatArray:
        """Where cells are not missing, one column per column."""
        return (self.codes >= 0).astype(np.float64)

    def deviation(self, column: int) -> float:
        """Return the standard deviation of a column's answers, as numbers from 0."""
        present = self.codes[:, column] >= 0
        codes, weights = self.codes[present, column], self.weights[present]
        if not weights.sum():
            return 0.0
        mean = np.average(codes, weights=weights)
        return float(np.sqrt(np.average((codes - mean) ** 2, weights=weights)))

    @cached_property
    def rows_of(self) -> list[IntArray]:
        """The rows of each group of people."""
        return [np.flatnonzero(self.group == group) for group in range(self.n_groups)]

    @cached_property
    def weight_of_groups(self) -> FloatArray:
        """The weight of the rows of each group."""
        return np.asarray(self.weights @ self.members)

    @cached_property
    def members(self) -> FloatArray:
        """One row per row and one column per group of people: 1 in its own."""
        return np.eye(self.n_groups)[self.group]


@dataclass(frozen=True)
class _Parts:
    """What parameters say about all rows."""

    given_standing: FloatArray  # P(answer | θ), one row per answer
    distributions: FloatArray  # P(θ | group), one row per group
    posterior: FloatArray  # P(θ | row)
    log_likelihood: FloatArray


@dataclass(frozen=True)
class Standing:
    """The fitted model of the standing: parameters c, a and b, one after the other in one array."""

    answers: Answers
    parameters: FloatArray

    @property
    def _n(self) -> int:
        return int(self.answers.first[-1])

    def moved(self, step: FloatArray) -> "Standing":
        """Return the model with other parameters."""
        return Standing(self.answers, self.parameters + step)

    def _unpacked(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        n = self._n
        return self.parameters[:n], self.parameters[n : 2 * n], self.parameters[2 * n :].reshape(-1, len(_TERMS))

    def divided(self, column: int) -> "Standing":
        """Return the model with a column divided into one column for each group, fitted again."""
        answers = self.answers
        places = np.arange(*answers.first[column : column + 2])
        kept = np.delete(np.arange(self._n), places)
        order = np.concatenate([kept, np.tile(places, answers.n_groups)])
        c, a, b = self._unpacked()
        return _maximised(answers.divided(column), np.concatenate([c[order], a[order], b.ravel()]))

    @property
    def n_free(self) -> int:
        """The number of parameters of the groups' distributions, which come last."""
        return self.answers.n_groups * len(_TERMS)

    @cached_property
    def parts(self) -> _Parts:
        """What the parameters say about the rows."""
        answers = self.answers
        c, a, b = self._unpacked()
        logits = c[:, None] + a[:, None] * GRID
        # log P(x | θ) = c_x + a_x θ - log Σ_y exp(c_y + a_y θ)
        log_given = np.concatenate([log_softmax(part, axis=0) for part in np.split(logits, answers.first[1:-1])])
        log_groups = log_softmax(b @ _TERMS, axis=1)
        joint = answers.given @ log_given + log_groups[answers.group]
        largest = joint.max(axis=1, keepdims=True)
        posterior = np.exp(joint - largest)
        total = posterior.sum(axis=1, keepdims=True)
        posterior /= total
        return _Parts(np.exp(log_given), np.exp(log_groups), posterior, (largest + np.log(total))[:, 0])

    def objective(self) -> tuple[float, FloatArray]:
        """Return the negative log-likelihood with the priors, and its gradient."""
        c, a, b = self._unpacked()
        gradient = self.gradient() - self._prior_gradient()
        away = b - _NORMAL
        prior = _PRIOR_OF_COLUMN * float(c @ c + a @ a) / 2 + float((_PRIOR_OF_GROUP * away**2).sum()) / 2
        gap, _ = self._scale
        prior += _SCALE_PER_ROW * self.answers.weight_of_groups.sum() * float(gap @ gap) / 2
        return prior - float(self.answers.weights @ self.parts.log_likelihood), -gradient

    @cached_property
    def _scale(self) -> tuple[FloatArray, FloatArray]:
        """How far the mean and the mean square of the standing are from 0 and 1, and the derivatives of both by b."""
        distributions, weights = self.parts.distributions, self.answers.weight_of_groups
        shares = weights / weights.sum()
        moments = np.stack([GRID, GRID**2])
        gap = moments @ (shares @ distributions) - np.array([0.0, 1.0])
        # Of an exponential family: d E[m] / d b_k = Cov(m, term_k).
        covariances = np.einsum("mq,gq,kq->mgk", moments, distributions, _TERMS)
        covariances -= np.einsum("gm,gk->mgk", distributions @ moments.T, distributions @ _TERMS.T)
        return gap, (covariances * shares[:, None]).reshape(2, -1)

    def _prior_gradient(self) -> FloatArray:
        c, a, b = self._unpacked()
        gap, slopes = self._scale
        of_groups = (_PRIOR_OF_GROUP * (b - _NORMAL)).ravel()
        of_groups += _SCALE_PER_ROW * self.answers.weight_of_groups.sum() * (gap @ slopes)
        return np.concatenate([_PRIOR_OF_COLUMN * c, _PRIOR_OF_COLUMN * a, of_groups])

    @property
    def _prior_precision(self) -> FloatArray:
        """The second derivatives of the prior by the parameters of the groups' distributions."""
        _, slopes = self._scale
        held = _SCALE_PER_ROW * self.answers.weight_of_groups.sum() * slopes.T @ slopes
        return np.asarray(held + np.diag(np.tile(_PRIOR_OF_GROUP, self.answers.n_groups)))

    def gradient(self) -> FloatArray:
        """Return the gradient of the log-likelihood of all rows."""
        answers, parts = self.answers, self.parts
        posterior = parts.posterior * answers.weights[:, None]
        n_at = (answers.present.T @ posterior)[answers.column]
        difference = answers.given.T @ posterior - parts.given_standing * n_at
        at = answers.members.T @ posterior
        of_groups = (at - at.sum(axis=1, keepdims=True) * parts.distributions) @ _TERMS.T
        return np.concatenate([difference.sum(axis=1), difference @ GRID, of_groups.ravel()])

    @cached_property
    def row_gradients(self) -> FloatArray:
        """Return the gradient of each row's log-likelihood, without its weight."""
        answers, parts = self.answers, self.parts
        present = answers.present[:, answers.column]
        of_c = answers.given - present * (parts.posterior @ parts.given_standing.T)
        mean = (parts.posterior @ GRID)[:, None]
        of_a = answers.given * mean - present * (parts.posterior @ (parts.given_standing * GRID).T)
        own = parts.posterior @ _TERMS.T - (parts.distributions @ _TERMS.T)[answers.group]
        of_b = (answers.members[:, :, None] * own[:, None, :]).reshape(len(own), -1)
        return np.concatenate([of_c, of_a, of_b], axis=1)

    @cached_property
    def influence(self) -> FloatArray:
        """By how much each row moves the parameters, to first order: one row per row, without its weight.

        The information is the sum of the gradients' outer products. The second derivatives may be almost singular where
        few rows gave an answer; this sum is not.
        """
        information = (self.row_gradients * self.answers.weights[:, None]).T @ self.row_gradients
        information[: 2 * self._n, : 2 * self._n] += _PRIOR_OF_COLUMN * np.eye(2 * self._n)
        information[2 * self._n :, 2 * self._n :] += self._prior_precision
        return np.asarray(np.linalg.solve(information, self.row_gradients.T).T, dtype=np.float64)

    def moments(self) -> tuple[FloatArray, FloatArray]:
        """Return the mean and the variance of the standing in each group."""
        distributions = self.parts.distributions
        means = distributions @ GRID
        return means, distributions @ GRID**2 - means**2

    def shared_distribution(self, groups: Sequence[int]) -> FloatArray:
        """Return the distribution of the standing in some groups together, each by the weight of its rows."""
        weights = self.answers.weight_of_groups[list(groups)]
        return np.asarray(weights @ self.parts.distributions[list(groups)] / weights.sum())

    def profile(self, column: int) -> FloatArray:
        """Return P(answer | θ) of a column, one row per answer."""
        return self.parts.given_standing[self.answers.first[column] : self.answers.first[column + 1]]


def fit_standing(answers: Answers, start: FloatArray) -> Standing:
    """Fit the model of the standing.

    Parameters
    ----------
    answers : Answers
    start : array of float
        A number for each row that rises with its standing, such as a score: where the fit starts, and what the standing
        rises with.
    """
    standard = (start - start.mean()) / (start.std() or 1.0)
    counts = answers.weights @ answers.given + 0.5
    c = np.concatenate([np.log(part) - np.log(part).mean() for part in np.split(counts, answers.first[1:-1])])
    # Where answers are normal around a loading times the standing, the slope of an answer is its mean standing or more.
    a = (answers.weights[:, None] * answers.given).T @ standard / counts
    b = np.tile(_NORMAL, (answers.n_groups, 1))
    b[:, 0] = [standard[rows].mean() for rows in answers.rows_of]
    return _maximised(answers, np.concatenate([c, a, b.ravel()]))


def _maximised(answers: Answers, start: FloatArray) -> Standing:
    found = minimize(
        lambda parameters: Standing(answers, parameters).objective(),
        start,
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": _MAX_ITERATIONS, "maxcor": 20, "ftol": _TOLERANCE},
    )
    return Standing(answers, found.x)
