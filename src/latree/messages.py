"""Exact inference in a tree of discrete variables: one pass up, one pass down, for a block of rows at once.

Every array of messages has one row a state and one column a row of data. Up the tree, what the cells below a node say
of its state is kept as ``likelihood * exp(scale)`` with the largest likelihood of each row equal to one. A few children
are multiplied as they are; many are added as logarithms, so that thousands of columns neither underflow nor lose a
state that a later child favours. A missing cell is a message of ones. A root is treated as the child of a variable with
a single state, so that priors and conditional tables need no telling apart.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from latree.arrays import CodeArray, FloatArray, IntArray

TINY = 1e-290  # stands for zero as a divisor; a weight over it is still finite
_FEW = 8  # so many children are multiplied without logarithms, which cost most of the time


@dataclass(frozen=True)
class Network:
    """A rooted tree with its parameters.

    Attributes
    ----------
    n_observed : int
        Nodes below this number are the table's columns.
    parent : array of int
        -1 for roots.
    order : array of int
        Every node after its parent.
    tables : tuple of array
        ``tables[v][x, h] = P(v = x | parent = h)``; a root's table has one column.
    """

    n_observed: int
    parent: IntArray
    order: IntArray
    tables: tuple[FloatArray, ...]

    @cached_property
    def children(self) -> tuple[tuple[int, ...], ...]:
        """Children of each node."""
        found: list[list[int]] = [[] for _ in self.parent]
        for node in self.order.tolist():
            if self.parent[node] >= 0:
                found[self.parent[node]].append(node)
        return tuple(map(tuple, found))

    def is_plain_leaf(self, node: int) -> bool:
        """Tell whether a node is observed and has a parent and no children: the common and fast case."""
        return node < self.n_observed and not self.children[node] and self.parent[node] >= 0


@dataclass(frozen=True)
class Upward:
    """What the cells below each node say of it; plain leaves, whose cells say it all, have None."""

    likelihood: list[FloatArray | None]
    to_parent: list[FloatArray | None]  # tables[v].T @ likelihood[v]
    log_likelihood: FloatArray  # of each row


def upward(network: Network, codes: CodeArray) -> Upward:
    """Send messages from the leaves to the roots."""
    rows = len(codes)
    likelihood: list[FloatArray | None] = [None] * len(network.parent)
    to_parent: list[FloatArray | None] = [None] * len(network.parent)
    scale = np.zeros(rows)
    with np.errstate(divide="ignore"):  # the logarithm of a probability of zero is what it should be
        for node in network.order[::-1].tolist():
            if network.is_plain_leaf(node):
                continue
            table = network.tables[node]
            factors = []
            for child in network.children[node]:
                below = to_parent[child]
                factors.append(gathered(network.tables[child].T, codes[:, child]) if below is None else below)
            if node < network.n_observed:
                factors.append(gathered(np.eye(len(table)), codes[:, node]))
            message = _product(factors, (len(table), rows), scale)
            likelihood[node] = message
            to_parent[node] = table.T @ message
            if network.parent[node] < 0:
                scale += np.log(to_parent[node][0])
    return Upward(likelihood, to_parent, scale)


def _product(factors: list[FloatArray], shape: tuple[int, int], scale: FloatArray) -> FloatArray:
    """Multiply messages; divide each row's by its largest, whose logarithm goes to the scale."""
    if len(factors) <= _FEW:
        message = _multiplied(factors, shape)
        largest = message.max(axis=0)
        scale += np.log(largest)
        largest[largest == 0] = 1.0
        message /= largest
        return message
    logarithms = np.zeros(shape)
    for start in range(0, len(factors), _FEW):
        some = factors[start : start + _FEW]
        product = _multiplied(some, shape)
        if product.min() > 0:
            logarithms += np.log(product, out=product)
        else:  # too small for a number, or really zero
            logarithms += sum(np.log(factor) for factor in some)
    largest = logarithms.max(axis=0)
    scale += largest
    largest[np.isneginf(largest)] = 0.0
    return np.asarray(np.exp(logarithms - largest, out=logarithms))


def _multiplied(factors: list[FloatArray], shape: tuple[int, int]) -> FloatArray:
    message = np.ones(shape) if len(factors) < 2 else factors[0] * factors[1]
    for factor in factors[2:] if len(factors) > 1 else factors:
        message *= factor
    return message


def gathered(table: FloatArray, codes: CodeArray) -> FloatArray:
    """Give each row the column of its code; ones where the cell is missing."""
    padded = np.concatenate([table, np.ones((len(table), 1))], axis=1)
    return padded.take(np.minimum(codes, table.shape[1]), axis=1)


def downward(
    network: Network, up: Upward, weights: FloatArray | None = None
) -> Iterator[tuple[int, FloatArray, FloatArray | None]]:
    """Send messages from the roots to the leaves.

    Yields
    ------
    node : int
        Every node, parents first.
    outside : array, shape (states of the parent, rows)
        What all cells that are not below the node say of its parent, times the row's weight, in the scale in which the
        expected counts of the node's table are ``table * (likelihood @ outside.T)``.
    posterior : array, shape (states, rows), or None
        Of the node given all cells of the row, times the row's weight; zeros in rows that the model holds for
        impossible. None for a plain leaf: where its cell is missing, its posterior is ``table @ outside``.
    """
    posteriors: list[FloatArray | None] = [None] * len(network.parent)
    rows = len(up.log_likelihood)
    for node in network.order.tolist():
        parent = int(network.parent[node])
        above = posteriors[parent] if parent >= 0 else (np.ones((1, rows)) if weights is None else weights[None, :])
        assert above is not None
        likelihood, to_parent, table = up.likelihood[node], up.to_parent[node], network.tables[node]
        if likelihood is None or to_parent is None:
            yield node, above, None
            continue
        outside = above / np.maximum(to_parent, TINY)  # where a message is zero, so is what is above it
        posteriors[node] = posterior = likelihood * (table @ outside)
        yield node, outside, posterior


def log_likelihoods(network: Network, codes: CodeArray) -> FloatArray:
    """Give the log-likelihood of each row."""
    return upward(network, codes).log_likelihood


def expected_counts(network: Network, codes: CodeArray, weights: FloatArray | None) -> tuple[FloatArray, ...]:
    """Give the expected counts behind every table, given the rows, and last the rows' total log-likelihood."""
    up = upward(network, codes)
    counts: list[FloatArray] = [np.empty(0)] * len(network.parent)
    for node, outside, _ in downward(network, up, weights):
        table, likelihood = network.tables[node], up.likelihood[node]
        if likelihood is not None:
            counts[node] = table * (likelihood @ outside.T)
        else:
            counts[node] = _leaf_counts(table, codes[:, node], outside)
    return (*counts, total_log_likelihood(up.log_likelihood, weights))


def total_log_likelihood(rows: FloatArray, weights: FloatArray | None) -> FloatArray:
    """Add up the rows' log-likelihoods; a row without weight adds nothing, however improbable it is."""
    if weights is not None:
        rows = np.multiply(rows, weights, out=np.zeros_like(weights), where=weights > 0)
    return np.asarray(rows.sum(keepdims=True))


def _leaf_counts(table: FloatArray, codes: CodeArray, parent_posterior: FloatArray) -> FloatArray:
    """Add up the parent's posterior by the leaf's state; missing cells are spread as the table expects them."""
    n = len(table)
    states = np.minimum(codes, n).astype(np.intp)
    counts = np.stack([np.bincount(states, weights=row, minlength=n + 1) for row in parent_posterior], axis=1)
    return np.asarray(counts[:n] + table * counts[n])
