"""A hidden variable by itself, with what the rest of the tree says of it: soft evidence.

For a fitted model, all that a subtree's cells have to say passes through the node where it is tied on. With these
messages fixed, the tables around one hidden variable can be fitted anew with another number of states, and the
likelihood of this small model is that of the whole one.
"""

from dataclasses import dataclass

import numpy as np

from latree._util.arrays import CodeArray, FloatArray
from latree.inference.messages import TINY, by_states, downward, padded, upward
from latree.inference.patterns import plan_of
from latree.model import LatentTreeModel


def messages(model: LatentTreeModel, codes: CodeArray) -> dict[tuple[int, int], FloatArray]:
    """Give what every subtree says of its top.

    Returns
    -------
    dict
        From (u, v), neighbours of which v is hidden, to an array of shape (states of u, rows): the probability of the
        cells on u's side of the edge given the state of u, up to a factor for each row; the largest is one.
    """
    network = model.network
    up = upward(network, plan_of(network, codes, repeats=False))
    hidden = range(model.tree.n_observed, model.tree.n_nodes)
    found: dict[tuple[int, int], FloatArray] = {}
    marginals = list(model.marginals().values())
    for step, outside, _ in downward(network, up):
        node, parent = step.name, int(network.parent[step.name])
        if parent in hidden:
            found[node, parent] = by_states(up.likelihood[node])
        if parent >= 0 and node in hidden:
            found[parent, node] = by_states(outside / np.maximum(marginals[parent], TINY))
        if step.leaves and node in hidden:
            for leaf, which, start in zip(step.leaves.names, step.leaves.which, step.leaves.starts, strict=True):
                found[leaf, node] = padded([np.eye(len(network.tables[leaf]))]).T.take(which - start, axis=1)
    return found


@dataclass(frozen=True)
class Evidence:
    """What the subtrees around a hidden variable say of their tops; see :func:`messages`."""

    messages: tuple[FloatArray, ...]
    weights: FloatArray | None  # of the rows; None where every row counts once

    @property
    def total_weight(self) -> float:
        """Sum of the rows' weights."""
        return float(self.messages[0].shape[1] if self.weights is None else self.weights.sum())


@dataclass(frozen=True)
class Local:
    """A hidden variable and its neighbours.

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
    """Draw a local model to start from, whose neighbours lean on the hidden variable a little."""
    tables = []
    for message in evidence.messages:
        frequency = (message / message.sum(axis=0)).mean(axis=1)
        raw = frequency[:, None] * rng.uniform(0.3, 1.7, size=(len(message), k))
        tables.append(raw / raw.sum(axis=0))
    return Local(np.full(k, 1 / k), tuple(tables))


def fit_local(
    start: Local, evidence: Evidence, *, smoothing: float, tolerance: float, max_iterations: int
) -> tuple[Local, float]:
    """Fit a local model by EM, as in :mod:`latree.inference.em`.

    Returns
    -------
    local : Local
    log_likelihood : float
        Up to a term that is the same for all local models of the same evidence.
    """
    n_rows = evidence.messages[0].shape[1]
    weights = np.ones(n_rows) if evidence.weights is None else evidence.weights
    enough = tolerance * evidence.total_weight * len(evidence.messages)
    local, last = start, -np.inf
    for iteration in range(max_iterations + 1):
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
        if objective - last < enough or iteration == max_iterations:
            break
        last = objective
        posterior = product * (weights / np.maximum(total, TINY))
        counts = [
            table * (message @ (posterior / np.maximum(factor, TINY)).T) + smoothing
            for table, message, factor in zip(local.tables, evidence.messages, factors, strict=True)
        ]
        prior = posterior.sum(axis=1) + smoothing
        local = Local(prior / prior.sum(), tuple(count / count.sum(axis=0) for count in counts))
    return local, log_likelihood
