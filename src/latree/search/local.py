"""Small models of one or two hidden variables, fitted to the messages of the subtrees around them.

In a fitted model, the cells of a subtree act on the rest only through the node where it is attached. With these
messages held fixed (:func:`latree.inference.network.messages`), the tables around one hidden variable, or around two
neighbours, can be fitted again, and the likelihood of this small model is that of the whole one. So every question
about the structure is a small fit: whether two hidden variables predict better than one, whether a subtree belongs to
the next one, whether a hidden variable needs another state.
"""

from collections.abc import Collection
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any, Generic, TypeVar

import numpy as np

from latree._util.arrays import FloatArray
from latree.inference.messages import TINY
from latree.search.neighbors import Messages, Neighbors, Precision, Tables, converted, normalised, precision_for

# Pseudo-rows in every cell of every table: the prior of all fits and comparisons in a search (Laplace's rule).
SMOOTHING = 1.0

# Rows are predicted by a fit to the other folds: iterations of EM, from the fit to all rows.
_FOLDS, _FOLD_ITERATIONS = 3, 4

# Two hidden variables that fit the rows better than one by more than this, in nats, are taken to predict better, too.
CLEAR = 50.0

# What a difference shows in some of the rows is taken for all of them only if so many standard errors change nothing.
SURELY = 3.0

# Iterations of EM for one hidden variable in the place of two; as many again if it is not clearly worse then.
_MERGED_ITERATIONS = 6

# Added to the probabilities of a model that EM starts from, because EM never leaves a probability of zero.
_FLOOR = 1e-3

# States of a hidden variable some of whose neighbours are not fitted differ by this much more than by what is fitted.
_APART = 1e3

# Two hidden variables in the place of one start as copies of it with this probability.
_AGREEMENT = 0.8

# EM ends when an iteration raises its objective by less than this, in nats per row.
_TOLERANCE = 1e-7

# All iterations of a fit together are taken to gain less than this, in nats, before the first one. In small models that
# were worth it in the end, they gained up to 200.
_LARGEST_GAIN = 300.0


@dataclass(frozen=True)
class Star:
    """One hidden variable H and its neighbours.

    Attributes
    ----------
    messages : tuple of array, shape (states of u, rows)
        What the cells on the side of each neighbour u say about its state.
    prior : array
        ``P(H)``.
    tables : tuple of array
        ``P(u | H)`` for each neighbour.
    known : array, optional
        What the cells of further neighbours say about H, whose tables are not fitted: one row per state of H.
    """

    messages: Messages
    prior: FloatArray
    tables: Tables
    known: FloatArray | None = None

    @property
    def n_parameters(self) -> int:
        """Number of free parameters."""
        k = len(self.prior)
        return k - 1 + k * sum(len(table) - 1 for table in self.tables)

    def rows(self) -> FloatArray:
        """Return the log-likelihood of each row, up to a term that is the same for all models of the same messages."""
        return _StarStep(self).log_likelihood()

    def posterior(self) -> FloatArray:
        """Return ``P(H | row)``, one row per state."""
        product, _ = Neighbors(self.messages, self.tables, known=self.known).product()
        joint = self.prior[:, None] * product
        return np.asarray(joint / np.maximum(joint.sum(axis=0), TINY))

    def divided(self, group: Collection[int]) -> "Pair":
        """Return two hidden variables that mostly agree, the second with a group of the neighbours, as a start for EM.

        Parameters
        ----------
        group : collection of int
            Places of neighbours.
        """
        rest = [place for place in range(len(self.tables)) if place not in group]
        return Pair(
            tuple(self.messages[place] for place in rest),
            tuple(self.messages[place] for place in group),
            self.prior,
            _AGREEMENT * np.eye(len(self.prior)) + (1 - _AGREEMENT) * self.prior[:, None],
            tuple(self.tables[place] for place in rest),
            tuple(self.tables[place] for place in group),
        )


@dataclass(frozen=True)
class Pair:
    """Two neighbouring hidden variables H and G, and the other neighbours of each.

    Attributes
    ----------
    messages, other_messages : tuple of array
        Of the neighbours of H, and of those of G.
    prior : array
        ``P(H)``.
    between : array, shape (states of G, states of H)
        ``P(G | H)``.
    tables, other_tables : tuple of array
        ``P(u | H)`` for each neighbour of H, and ``P(u | G)`` for each of G.
    known, other_known : array, optional
        What the cells of further neighbours say about H, and about G; see :class:`Star`.
    """

    messages: Messages
    other_messages: Messages
    prior: FloatArray
    between: FloatArray
    tables: Tables
    other_tables: Tables
    known: FloatArray | None = None
    other_known: FloatArray | None = None

    @property
    def n_parameters(self) -> int:
        """Number of free parameters."""
        g, h = len(self.between), len(self.prior)
        below = h * sum(len(table) - 1 for table in self.tables) + g * sum(
            len(table) - 1 for table in self.other_tables
        )
        return h - 1 + h * (g - 1) + below

    def rows(self) -> FloatArray:
        """Return the log-likelihood of each row, up to a term that is the same for all models of the same messages."""
        return _PairStep(self).log_likelihood()

    @property
    def is_fitted(self) -> bool:
        """Whether the tables of all neighbours are fitted."""
        return self.known is None and self.other_known is None

    def apart(self) -> tuple[Star, Star]:
        """Return both hidden variables, each by itself."""
        return (
            Star(self.messages, self.prior, self.tables, self.known),
            Star(self.other_messages, self.between @ self.prior, self.other_tables, self.other_known),
        )

    def flipped(self) -> "Pair":
        """Return the same model with H and G exchanged."""
        other_prior = self.between @ self.prior
        back = (self.between * self.prior).T / np.maximum(other_prior, TINY)
        return Pair(
            self.other_messages,
            self.messages,
            other_prior,
            back,
            self.other_tables,
            self.tables,
            self.other_known,
            self.known,
        )

    def exchanged(self, place: int, other_place: int) -> "Pair":
        """Return a start for EM in which a neighbour of H and one of G change places, and come last.

        ``P(u | G) = Σ_h P(u | h) P(h | G)``, and the other way round.
        """
        back = self.flipped().between
        message, table = self.messages[place], self.tables[place] @ back
        other_message, other_table = self.other_messages[other_place], self.other_tables[other_place] @ self.between

        def put(arrays: tuple[Any, ...], out: int, new: Any) -> tuple[Any, ...]:
            return (*arrays[:out], *arrays[out + 1 :], new)

        return replace(
            self,
            messages=put(self.messages, place, other_message),
            other_messages=put(self.other_messages, other_place, message),
            tables=put(self.tables, place, other_table),
            other_tables=put(self.other_tables, other_place, table),
        )

    def as_star(self) -> Star:
        """Return H alone, with G as the last of its neighbours."""
        product, _ = Neighbors(self.other_messages, self.other_tables, known=self.other_known).product()
        message = product / np.maximum(product.max(axis=0), TINY)
        return Star((*self.messages, message), self.prior, (*self.tables, self.between), self.known)

    def with_star(self, star: Star) -> "Pair":
        """Return the model with H as in a star that :meth:`as_star` returned, after a fit of it."""
        return replace(self, prior=star.prior, between=star.tables[-1], tables=star.tables[:-1])

    def merged(self, k: int) -> Star:
        """Return a model with one hidden variable of k states in the place of both, for EM to start from.

        The combined states (h, g) are merged step by step. The two that are merged next are those whose neighbours'
        distributions differ least, weighted as in Ward's clustering. Where neighbours of H are not fitted, states with
        the same h are merged before others, and so for G.
        """
        g, h = self.between.shape
        weight = (self.between * self.prior).T.reshape(-1)
        first = np.concatenate([np.empty((0, h)), *self.tables])
        second = np.concatenate([np.empty((0, g)), *self.other_tables])
        # Of which states h and g each combined state consists, if that matters.
        own = np.eye(h) if self.known is not None else np.empty((0, h))
        other = np.eye(g) if self.other_known is not None else np.empty((0, g))
        n_fitted = len(first) + len(second)
        parts = (np.repeat(first, g, axis=1), np.tile(second, h), np.repeat(own, g, axis=1), np.tile(other, h))
        profile = np.concatenate(parts).T
        importance = np.ones(profile.shape[1])
        importance[n_fitted:] = _APART

        def cost(one: slice | int) -> FloatArray:
            """Return what it costs to merge some states with each of the others."""
            apart = ((profile[one, None] - profile) ** 2) @ importance
            return np.asarray(apart * weight[one, None] * weight / np.maximum(weight[one, None] + weight, TINY))

        costs = cost(slice(None))
        np.fill_diagonal(costs, np.inf)
        while len(weight) > k:
            one, two = divmod(int(costs.argmin()), len(costs))
            together = max(weight[one] + weight[two], TINY)
            profile[one] = (weight[one] * profile[one] + weight[two] * profile[two]) / together
            weight[one] = together
            profile, weight = np.delete(profile, two, axis=0), np.delete(weight, two)
            costs = np.delete(np.delete(costs, two, axis=0), two, axis=1)
            one -= two < one
            costs[one] = costs[:, one] = cost(one)
            costs[one, one] = np.inf
        fitted, consists = profile[:, :n_fitted].T, profile[:, n_fitted:]
        tables = np.split(fitted, np.cumsum([len(table) for table in (*self.tables, *self.other_tables)])[:-1])
        known = [one for one in (self.known, self.other_known) if one is not None]
        shares = np.split(consists, [len(own)], axis=1) if len(known) == 2 else [consists]
        return Star(
            (*self.messages, *self.other_messages),
            normalised(weight + _FLOOR),
            tuple(normalised(table + _FLOOR) for table in tables),
            reduce(np.multiply, (share @ one for share, one in zip(shares, known, strict=False))) if known else None,
        )


AnyLocal = TypeVar("AnyLocal", Star, Pair)


@dataclass(frozen=True)
class Fitted(Generic[AnyLocal]):
    """A small model after some steps of EM, and the log-likelihood of each row."""

    model: AnyLocal
    rows: FloatArray

    def half_bic(self, weights: FloatArray, log_rows: float) -> float:
        """Return half of the BIC, where ``log_rows`` is the logarithm of the number of rows."""
        return self.model.n_parameters * log_rows / 2 - float(weights @ self.rows)


def fit(
    model: AnyLocal,
    weights: FloatArray,
    *,
    max_iter: int,
    smoothing: float = SMOOTHING,
    target: float = -np.inf,
) -> Fitted[AnyLocal]:
    """Fit a small model by EM, with plain steps.

    It raises ``log L + smoothing Σ log p``, where the sum is over all probabilities of the model.

    Parameters
    ----------
    model : Star or Pair
        Where EM starts.
    weights : array
        Of the rows; rows with weight zero are left out of the fit, and are scored all the same.
    max_iter : int
        The number of iterations, unless one gains next to nothing.
    smoothing : float
        Pseudo-rows added to every cell of every table.
    target : float
        EM ends when the log-likelihood would not reach this even if all iterations that are left gained as much as the
        last one, or if it is very far below at the start: the model will not become good enough.
    """
    # No probability of a table will be below this, divided by the number of a neighbour's states.
    least = smoothing / (float(weights.sum()) + smoothing)
    step = _step(model, weights, least)
    own_weights = converted(weights, precision_for(weights))
    last = log_likelihood = -np.inf
    for number in range(max_iter):
        rows, before = step.log_likelihood(), log_likelihood
        log_likelihood = float(weights @ rows)
        found = log_likelihood + smoothing * step.log_probabilities()
        likely_gain = (max_iter - number) * (log_likelihood - before) if number else _LARGEST_GAIN
        if found - last < _TOLERANCE * len(weights) or log_likelihood + max(likely_gain, 0.0) < target:
            break
        last = found
        step.maximise(own_weights, smoothing)
    else:
        rows = step.log_likelihood()
    return Fitted(step.model(), rows.astype(float))  # type: ignore[arg-type]


def held_out(model: AnyLocal, weights: FloatArray, seed: int) -> float:
    """Return the log-likelihood of the rows, each third of them under a fit to the other two.

    It is the currency of the search: a hidden variable too many fits the rows a little better, and predicts others a
    little worse.

    Parameters
    ----------
    model : Star or Pair
        As fitted to all rows.
    weights : array
        Of the rows.
    seed : int
        Of the folds.
    """
    fold = np.random.default_rng(seed).permutation(len(weights)) % _FOLDS
    found = np.empty(len(weights))
    for number in range(_FOLDS):
        own = fold == number
        found[own] = fit(model, weights * ~own, max_iter=_FOLD_ITERATIONS).rows[own]
    return float(weights @ found)


def gain_of_two(pair: Pair, weights: FloatArray, seed: int) -> float:
    """Return by how many nats two hidden variables predict rows better than one in their place.

    One has as many states as the larger of both. Where two are clearly better, it is not tested to the end: how much
    better two fit the rows is returned.
    """
    one, difference = one_for_two(pair, weights)
    gain = float(difference.sum())
    if gain > CLEAR:
        return gain
    one = fit(one, weights, max_iter=_MERGED_ITERATIONS).model
    return held_out(pair, weights, seed) - held_out(one, weights, seed)


def one_for_two(pair: Pair, weights: FloatArray) -> tuple[Star, FloatArray]:
    """Return one hidden variable in the place of two, and by how many nats two fit each row better.

    Where two are clearly better whatever EM will gain, EM ends early.
    """
    rows = pair.rows()
    start, target = pair.merged(max(pair.between.shape)), float(weights @ rows) - CLEAR
    one = fit(start, weights, max_iter=_MERGED_ITERATIONS, target=target)
    return one.model, weights * (rows - one.rows)


def _step(model: Star | Pair, weights: FloatArray, least: float = 1.0) -> "_StarStep | _PairStep":
    precision = precision_for(weights)
    return _StarStep(model, least, precision) if isinstance(model, Star) else _PairStep(model, least, precision)


class _StarStep:
    """EM of one hidden variable."""

    def __init__(self, star: Star, least: float = 1.0, precision: Precision = np.float64) -> None:
        self.star, self.prior = star, star.prior
        self.neighbors = Neighbors(star.messages, star.tables, least, precision, star.known)

    def log_likelihood(self) -> FloatArray:
        """Return the log-likelihood of each row; the E-step."""
        self.joint, scale = self.neighbors.product()
        self.joint *= converted(self.prior, self.neighbors.precision)[:, None]  # P(h, row)
        self.total = np.maximum(self.joint.sum(axis=0), self.neighbors.tiny)
        return np.asarray(np.log(self.total) + scale)

    def log_probabilities(self) -> float:
        """Return the sum of the logarithms of all probabilities."""
        return _sum_of_logarithms(self.prior) + self.neighbors.log_probabilities()

    def maximise(self, weights: FloatArray, smoothing: float) -> None:
        """Do the M-step."""
        posterior = np.multiply(self.joint, weights / self.total, out=self.joint)
        self.neighbors.maximise(posterior, smoothing)
        self.prior = normalised(posterior.sum(axis=1) + smoothing)

    def model(self) -> Star:
        """Return the model as it is now."""
        return replace(self.star, prior=self.prior, tables=self.neighbors.tables())


class _PairStep:
    """EM of two hidden variables."""

    def __init__(self, pair: Pair, least: float = 1.0, precision: Precision = np.float64) -> None:
        self.pair, self.prior, self.between = pair, pair.prior, pair.between
        self.neighbors = Neighbors(pair.messages, pair.tables, least, precision, pair.known)
        self.others = Neighbors(pair.other_messages, pair.other_tables, least, precision, pair.other_known)

    def log_likelihood(self) -> FloatArray:
        """Return the log-likelihood of each row; the E-step."""
        self.own, scale = self.neighbors.product()
        self.own *= converted(self.prior, self.neighbors.precision)[:, None]  # P(h, cells of its neighbours)
        self.other, other_scale = self.others.product()  # P(cells of its neighbours | g)
        self.across = converted(self.between, self.neighbors.precision)
        self.joint = self.own * (self.across.T @ self.other)  # P(h, row)
        self.total = np.maximum(self.joint.sum(axis=0), self.neighbors.tiny)
        return np.asarray(np.log(self.total) + scale + other_scale)

    def log_probabilities(self) -> float:
        """Return the sum of the logarithms of all probabilities."""
        own = _sum_of_logarithms(self.prior) + _sum_of_logarithms(self.between)
        return own + self.neighbors.log_probabilities() + self.others.log_probabilities()

    def maximise(self, weights: FloatArray, smoothing: float) -> None:
        """Do the M-step."""
        share = weights / self.total
        posterior = np.multiply(self.joint, share, out=self.joint)
        self.neighbors.maximise(posterior, smoothing)
        self.prior = normalised(posterior.sum(axis=1) + smoothing)
        other = np.multiply(self.other, share, out=self.other)
        together = self.across @ self.own
        self.between = normalised(self.between * (other @ self.own.T) + smoothing)
        self.others.maximise(np.multiply(other, together, out=together), smoothing)

    def model(self) -> Pair:
        """Return the model as it is now."""
        return replace(
            self.pair,
            prior=self.prior,
            between=self.between,
            tables=self.neighbors.tables(),
            other_tables=self.others.tables(),
        )


def _sum_of_logarithms(table: FloatArray) -> float:
    return float(np.log(np.maximum(table, TINY)).sum())
