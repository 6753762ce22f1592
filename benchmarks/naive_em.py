"""One EM step in plain NumPy, with which the tests and benchmarks/em.py compare latree's.

It is vectorised over all rows and treats every node alike: no blocks, no threads, no merged patterns, no logarithms.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from latree._util.arrays import FloatArray
from latree.inference.network import Network


def naive_expected_counts(
    network: Network, codes: NDArray[Any], weights: FloatArray | None = None
) -> tuple[list[FloatArray], float]:
    """Return the expected counts of every conditional probability table, and the log-likelihood; -1 means missing."""
    n_rows = len(codes)
    weight = np.ones(n_rows) if weights is None else weights
    likelihood: dict[int, FloatArray] = {}
    to_parent: dict[int, FloatArray] = {}
    log_likelihood = 0.0
    for node in network.order[::-1].tolist():
        n = len(network.tables[node])
        message = np.ones((n_rows, n))
        if node < network.n_observed:
            message = np.concatenate([np.eye(n), np.ones((1, n))])[codes[:, node]]
        for child in network.children[node]:
            message = message * to_parent[child]
        largest = message.max(axis=1, keepdims=True)
        likelihood[node] = message / largest
        to_parent[node] = likelihood[node] @ network.tables[node]
        log_likelihood += float(weight @ np.log(largest[:, 0]))
        if network.parent[node] < 0:
            log_likelihood += float(weight @ np.log(to_parent[node][:, 0]))
    posterior: dict[int, FloatArray] = {}
    counts: list[FloatArray] = [np.empty(0)] * len(network.parent)
    for node in network.order.tolist():
        parent = int(network.parent[node])
        above = posterior[parent] if parent >= 0 else weight[:, None]
        outside = above / to_parent[node]
        posterior[node] = likelihood[node] * (outside @ network.tables[node].T)
        counts[node] = network.tables[node] * (likelihood[node].T @ outside)
    return counts, log_likelihood
