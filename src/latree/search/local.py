"""Small models of one or two hidden variables, fitted to the messages of the subtrees around them.

In a fitted model, the cells of a subtree act on the rest only through the node where it is attached. With these
messages held fixed (:func:`latree.inference.evidence.messages`), the tables around one hidden variable, or around two
neighbours, can be fitted again, and the likelihood of this small model is that of the whole one. So every question
about the structure is a small fit: whether two hidden variables predict better than one, whether a subtree belongs to
the next one, whether a hidden variable needs another state.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

import numpy as np

from latree._util.arrays import FloatArray
from latree.inference.messages import TINY

# After this many factors a product of messages is scaled, before it can become too small for a floating-point number.
_FACTORS_AT_ONCE = 64


class Local(Protocol):
    """What fits of one and of two hidden variables have in common."""

    @property
    def n_parameters(self) -> int:
        """Number of free parameters."""

    def expectation(self, weights: FloatArray | None, smoothing: float) -> "tuple[FloatArray, Local | None]":
        """Return the log-likelihood of each row, and the model after one step of EM; None without weights."""


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
    """

    messages: tuple[FloatArray, ...]
    prior: FloatArray
    tables: tuple[FloatArray, ...]

    @property
    def n_parameters(self) -> int:
        """Number of free parameters."""
        k = len(self.prior)
        return k - 1 + k * sum(len(table) - 1 for table in self.tables)

    def expectation(self, weights: FloatArray | None, smoothing: float) -> "tuple[FloatArray, Star | None]":
        """Return the log-likelihood of each row, and the model after one step of EM; None without weights."""
        # P(h, row) = P(h) Π_u Σ_x P(u = x | h) message_u(x)
        factors = _factors(self.tables, self.messages)
        joint, scale = _product(self.prior[:, None], factors)
        total = np.maximum(joint.sum(axis=0), TINY)
        log_likelihood = np.log(total) + scale
        if weights is None:
            return log_likelihood, None
        # Expected counts of H, and of each neighbour with H, with the pseudo-rows of the smoothing.
        posterior = joint * (weights / total)
        tables = _maximised(self.tables, self.messages, factors, posterior, smoothing)
        return log_likelihood, Star(self.messages, _normalised(posterior.sum(axis=1) + smoothing), tables)

    def posterior(self) -> FloatArray:
        """Return ``P(H | row)``, one row per state."""
        joint, _ = _product(self.prior[:, None], _factors(self.tables, self.messages))
        return np.asarray(joint / np.maximum(joint.sum(axis=0), TINY))


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
    """

    messages: tuple[FloatArray, ...]
    other_messages: tuple[FloatArray, ...]
    prior: FloatArray
    between: FloatArray
    tables: tuple[FloatArray, ...]
    other_tables: tuple[FloatArray, ...]

    @property
    def n_parameters(self) -> int:
        """Number of free parameters."""
        g, h = self.between.shape
        below = h * sum(len(table) - 1 for table in self.tables) + g * sum(len(table) - 1 for table in self.other_tables)
        return h - 1 + h * (g - 1) + below

    def expectation(self, weights: FloatArray | None, smoothing: float) -> "tuple[FloatArray, Pair | None]":
        """Return the log-likelihood of each row, and the model after one step of EM; None without weights."""
        factors, other_factors = _factors(self.tables, self.messages), _factors(self.other_tables, self.other_messages)
        # What the neighbours of H say with its prior, P(h, their cells); what those of G say, P(their cells | g).
        own, scale = _product(self.prior[:, None], factors)
        other, other_scale = _product(np.ones((len(self.between), 1)), other_factors)
        joint = own * (self.between.T @ other)
        total = np.maximum(joint.sum(axis=0), TINY)
        log_likelihood = np.log(total) + scale + other_scale
        if weights is None:
            return log_likelihood, None
        share = weights / total
        posterior, other_posterior = joint * share, other * (self.between @ own) * share
        return log_likelihood, Pair(
            self.messages,
            self.other_messages,
            _normalised(posterior.sum(axis=1) + smoothing),
            _normalised(self.between * ((other * share) @ own.T) + smoothing),
            _maximised(self.tables, self.messages, factors, posterior, smoothing),
            _maximised(self.other_tables, self.other_messages, other_factors, other_posterior, smoothing),
        )

    def apart(self) -> tuple[Star, Star]:
        """Return both hidden variables, each by itself."""
        return (
            Star(self.messages, self.prior, self.tables),
            Star(self.other_messages, self.between @ self.prior, self.other_tables),
        )

    def merged(self, k: int) -> Star:
        """Return a model with one hidden variable of k states in the place of both, for EM to start from.

        The combined states (h, g) are merged step by step. The two that are merged next are those whose neighbours'
        distributions differ least, weighted as in Ward's clustering.
        """
        g, h = self.between.shape
        weight = (self.between * self.prior).T.reshape(-1)
        first = np.concatenate(self.tables) if self.tables else np.empty((0, h))
        second = np.concatenate(self.other_tables) if self.other_tables else np.empty((0, g))
        profile = np.concatenate([np.repeat(first, g, axis=1), np.tile(second, h)]).T
        while len(weight) > k:
            cost = ((profile[:, None] - profile) ** 2).sum(axis=-1)
            cost *= weight[:, None] * weight / np.maximum(weight[:, None] + weight, TINY)
            np.fill_diagonal(cost, np.inf)
            one, two = np.unravel_index(int(cost.argmin()), cost.shape)
            together = max(weight[one] + weight[two], TINY)
            profile[one] = (weight[one] * profile[one] + weight[two] * profile[two]) / together
            weight[one] = together
            profile, weight = np.delete(profile, two, axis=0), np.delete(weight, two)
        tables = np.split(profile.T, np.cumsum([len(table) for table in (*self.tables, *self.other_tables)])[:-1])
        return Star(
            (*self.messages, *self.other_messages),
            _normalised(weight + _FLOOR),
            tuple(_normalised(table + _FLOOR) for table in tables),
        )


# Added to the probabilities of a model that EM starts from, because EM never leaves a probability of zero.
_FLOOR = 1e-3

AnyLocal = TypeVar("AnyLocal", Star, Pair)


@dataclass(frozen=True)
class Fitted(Generic[AnyLocal]):
    """A small model after some steps of EM, and the log-likelihood of its rows."""

    model: AnyLocal
    rows: FloatArray

    @property
    def log_likelihood(self) -> float:
        """The sum over rows that count once each."""
        return float(self.rows.sum())


def fit(
    model: AnyLocal,
    weights: FloatArray,
    *,
    smoothing: float,
    max_iterations: int,
    tolerance: float = 0.0,
) -> Fitted[AnyLocal]:
    """Fit a small model by EM, with plain steps.

    Parameters
    ----------
    model : Star or Pair
        Where EM starts.
    weights : array
        Of the rows; rows with weight zero are left out of the fit, and are scored all the same.
    smoothing : float
        Pseudo-rows added to every cell of every table.
    max_iterations : int
    tolerance : float
        EM stops when an iteration gains less, in nats.
    """
    last = -np.inf
    for _ in range(max_iterations):
        rows, improved = model.expectation(weights, smoothing)
        gained, last = float(weights @ rows) - last, float(weights @ rows)
        if gained < tolerance:
            return Fitted(model, rows)
        assert improved is not None
        model = improved  # type: ignore[assignment]
    return Fitted(model, model.expectation(None, smoothing)[0])


def _factors(tables: Sequence[FloatArray], messages: Sequence[FloatArray]) -> list[FloatArray]:
    """Return ``Σ_x P(u = x | h) message_u(x)`` for each neighbour u, one row per state h."""
    return [table.T @ message for table, message in zip(tables, messages, strict=True)]


def _product(prior: FloatArray, factors: Sequence[FloatArray]) -> tuple[FloatArray, FloatArray | float]:
    """Multiply factors; return also the logarithm of what each row was divided by."""
    product, scale = prior, 0.0
    for number, factor in enumerate(factors, start=1):
        product = product * factor
        if number % _FACTORS_AT_ONCE == 0:
            largest = np.maximum(product.max(axis=0), TINY)
            product /= largest
            scale = scale + np.log(largest)
    return product, scale


def _maximised(
    tables: Sequence[FloatArray],
    messages: Sequence[FloatArray],
    factors: Sequence[FloatArray],
    posterior: FloatArray,
    smoothing: float,
) -> tuple[FloatArray, ...]:
    """Return the neighbours' tables after the M-step.

    The expected counts are ``P(u = x | h) Σ_rows message_u(x) P(h | row) / factor_u(h)``.
    """
    return tuple(
        _normalised(table * (message @ (posterior / np.maximum(factor, TINY)).T) + smoothing)
        for table, message, factor in zip(tables, messages, factors, strict=True)
    )


def _normalised(counts: FloatArray) -> FloatArray:
    return np.asarray(counts / np.maximum(counts.sum(axis=0), TINY))
