"""Soft evidence: one hidden variable by itself, with the messages of the rest of the tree held fixed.

In a fitted model, the cells of a subtree act on the rest only through the node where it is attached. With these
messages fixed, the conditional probability tables around one hidden variable can be fitted again with another number of
states, and the likelihood of this small model is that of the whole one.
"""

from dataclasses import dataclass

import numpy as np

from latree._util.arrays import CodeArray, FloatArray
from latree.inference.messages import TINY, by_states, downward, upward, with_missing
from latree.inference.network import Network
from latree.inference.patterns import plan_messages


def messages(network: Network, codes: CodeArray) -> dict[tuple[int, int], FloatArray]:
    """Return the likelihood of each subtree's top node, given the subtree's cells.

    Returns
    -------
    dict
        For neighbours (u, v) of which v is hidden, an array of shape (states of u, rows): the probability of the cells
        on u's side of the edge given the state of u, up to a factor per row; the largest is one.
    """
    up = upward(network, plan_messages(network, codes, repeats=False))
    hidden = range(network.n_observed, len(network.parent))
    found: dict[tuple[int, int], FloatArray] = {}
    marginals = network.marginals()
    for step, outside, _ in downward(network, up):
        node, parent = step.number, int(network.parent[step.number])
        # A node's own side, for its parent: P(cells below | node).
        if parent in hidden:
            found[node, parent] = by_states(up.likelihood[node])
        # The parent's side, for the node: P(parent, all cells that are not below the node) / P(parent).
        if parent >= 0 and node in hidden:
            found[parent, node] = by_states(outside / np.maximum(marginals[parent], TINY))
        # A plain leaf: one for the state of its cell, and ones if that is missing.
        if step.leaves and node in hidden:
            for leaf, which, start in zip(step.leaves.columns, step.leaves.which, step.leaves.starts, strict=True):
                found[leaf, node] = with_missing([np.eye(len(network.tables[leaf]))]).T.take(which - start, axis=1)
    return found


@dataclass(frozen=True)
class Evidence:
    """The messages of the subtrees around a hidden variable; see :func:`messages`."""

    messages: tuple[FloatArray, ...]
    weights: FloatArray | None  # of the rows; None where each row counts once

    @property
    def total_weight(self) -> float:
        """Sum of the rows' weights."""
        return float(self.messages[0].shape[1] if self.weights is None else self.weights.sum())


@dataclass(frozen=True)
class Local:
    """The probabilities of a hidden variable H and its neighbours.

    Attributes
    ----------
    prior : array
        ``P(H)``.
    tables : tuple of array
        ``P(u | H)`` for each neighbour u.
    """

    prior: FloatArray
    tables: tuple[FloatArray, ...]

    @property
    def n_parameters(self) -> int:
        """Number of free parameters."""
        return len(self.prior) - 1 + sum(int(table.size) - int(table.shape[1]) for table in self.tables)


def random_local(evidence: Evidence, k: int, rng: np.random.Generator) -> Local:
    """Draw a local model that EM can start from, with weak dependence between H and its neighbours."""
    tables = []
    for message in evidence.messages:
        frequency = (message / message.sum(axis=0)).mean(axis=1)
        raw = frequency[:, None] * rng.uniform(0.3, 1.7, size=(len(message), k))
        tables.append(raw / raw.sum(axis=0))
    return Local(np.full(k, 1 / k), tuple(tables))


def fit_local(
    start: Local, evidence: Evidence, *, smoothing: float, tolerance: float, max_iterations: int
) -> tuple[Local, float]:
    """Fit a local model by EM, with plain steps and the objective of :mod:`latree.inference.em`.

    Returns
    -------
    local : Local
    log_likelihood : float
        Up to a term that is the same for all local models of the same evidence.
    """
    n_rows = evidence.messages[0].shape[1]
    weights = np.ones(n_rows) if evidence.weights is None else evidence.weights
    least_gain = tolerance * evidence.total_weight * len(evidence.messages)
    local, last = start, -np.inf
    for iteration in range(max_iterations + 1):
        # E-step: P(h, row) = P(h) Π_u Σ_x P(u = x | h) message_u(x), scaled after each factor.
        factors = [table.T @ message for table, message in zip(local.tables, evidence.messages, strict=True)]
        product, scale = np.broadcast_to(local.prior[:, None], (len(local.prior), n_rows)), np.zeros(n_rows)
        for factor in factors:
            product = product * factor
            largest = np.maximum(product.max(axis=0), TINY)
            product /= largest
            scale += np.log(largest)
        total = product.sum(axis=0)
        log_likelihood = float(weights @ (np.log(np.maximum(total, TINY)) + scale))
        tables = (local.prior, *local.tables)
        objective = log_likelihood + smoothing * sum(float(np.log(np.maximum(table, TINY)).sum()) for table in tables)
        if objective - last < least_gain or iteration == max_iterations:
            break
        last = objective
        # Expected counts: Σ_rows P(h | row), and Σ_rows P(u = x, h | row), each with the smoothing's rows added.
        posterior = product * (weights / np.maximum(total, TINY))
        counts = [
            table * (message @ (posterior / np.maximum(factor, TINY)).T) + smoothing
            for table, message, factor in zip(local.tables, evidence.messages, factors, strict=True)
        ]
        prior = posterior.sum(axis=1) + smoothing
        # M-step: the counts, divided by their sums.
        local = Local(prior / prior.sum(), tuple(count / count.sum(axis=0) for count in counts))
    return local, log_likelihood
