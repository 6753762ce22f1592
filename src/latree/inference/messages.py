"""Exact inference in a tree of discrete variables: one pass up, one pass down, for a block of rows at once.

Every array of messages has one column a state and one row a pattern of the cells below a node
(:mod:`latree.inference.patterns`).
Messages are probabilities as they are; one whose states add up to very little is scaled up, and the logarithm of the
scale is kept. Where a product of children is too small for a number, and where they are very many, logarithms are added
instead, so that thousands of columns neither underflow nor lose a state that a later child favours. A missing cell is a
message of ones. A root is treated as the child of a variable with a single state, so that priors and conditional tables
need no telling apart.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from latree._util.arrays import CodeArray, FloatArray, IntArray
from latree.inference.patterns import Index, Numbers, Plan, Step, plan_of

TINY = 1e-290  # stands for zero as a divisor; a weight over it is still finite
_SMALL = 1e-30  # messages whose states add up to less are scaled up
_VERY_SMALL = 1e-150  # a factor more is not likely to make less than a number of such a product
_FEW = 32  # so many factors are multiplied; of more, logarithms are added


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

    @cached_property
    def plain_leaves(self) -> frozenset[int]:
        """Nodes that are observed and have a parent and no children: the common and fast case."""
        nodes = self.order[(self.order < self.n_observed) & (self.parent[self.order] >= 0)].tolist()
        return frozenset(node for node in nodes if not self.children[node])


@dataclass(frozen=True)
class Upward:
    """What the cells below each node say of it.

    Attributes
    ----------
    plan : Plan
        Which rows are alike below which node: the arrays below have one row a pattern of the node.
    likelihood : dict
        From every node but plain leaves, and from every group of children, to an array with one column a state; each
        row is up to a factor of its own.
    to_parent : dict
        From every node to an array with one column a state of its parent, ``likelihood @ table``; a group's is its
        likelihood.
    log_likelihood : array
        Of each row.
    """

    plan: Plan
    likelihood: dict[int, FloatArray]
    to_parent: dict[int, FloatArray]
    log_likelihood: FloatArray


def upward(network: Network, plan: Plan) -> Upward:
    """Send messages from the leaves to the roots."""
    likelihood: dict[int, FloatArray] = {}
    to_parent: dict[int, FloatArray] = {}
    scales: dict[int, FloatArray] = {}  # of messages that were scaled, or that one below them was
    log_likelihood = np.zeros(plan.n_rows)
    with np.errstate(divide="ignore"):  # the logarithm of a probability of zero is what it should be
        for step in plan.steps:
            factors = [(to_parent[source.name], source.which) for source in step.sources]
            if step.leaves:
                stacked = padded([network.tables[leaf] for leaf in step.leaves.names])
                factors += [(stacked, which) for which in step.leaves.chunks]
            n = len(network.tables[step.name]) if step.is_node else factors[0][0].shape[1]
            message, scale = _product(factors, (step.n_patterns, n))
            for source in step.sources:
                if source.name in scales:
                    below = scales[source.name] if source.index is None else source.index.spread(scales[source.name])
                    scale = below if scale is None else scale + below
            if scale is not None:
                scales[step.name] = scale
            if step.cells is not None:
                message = message * step.cells.spread(padded([np.eye(n)]))
            likelihood[step.name] = message
            to_parent[step.name] = message @ network.tables[step.name] if step.is_node else message
        for root in plan.roots:
            found = np.log(to_parent[root.name][:, 0]) + scales.get(root.name, 0.0)
            log_likelihood += found if root.index is None else root.index.spread(found)
    return Upward(plan, likelihood, to_parent, log_likelihood)


def padded(tables: Sequence[FloatArray]) -> FloatArray:
    """Give the messages of the states of some columns to the same parent, after each column that of a missing cell."""
    ones = np.ones((1, tables[0].shape[1]))
    return np.concatenate([part for table in tables for part in (table, ones)])


def by_states(message: FloatArray) -> FloatArray:
    """Give a message with one row a state, the largest of each column one."""
    turned = np.ascontiguousarray(message.T)
    return np.asarray(turned / np.maximum(turned.max(axis=0), TINY))


# Values, and which of them each row has; where that has several rows, a factor is the product of all of them.
Factor: TypeAlias = tuple[FloatArray, Numbers | None]


def _spread(values: FloatArray, which: Numbers | None) -> FloatArray:
    if which is None:
        return values
    taken = values.take(which, axis=0)
    return taken if which.ndim == 1 else np.multiply.reduce(taken, axis=0)


def _product(factors: Sequence[Factor], shape: tuple[int, int]) -> tuple[FloatArray, FloatArray | None]:
    """Multiply messages; give also the logarithms of what their rows were divided by, if they were."""
    if len(factors) > _FEW:
        return _product_by_logarithms(factors, np.arange(shape[0]))
    scale: FloatArray | None = None
    message, least = (_spread(*factors[0]), _least(*factors[0])) if factors else (np.ones(shape), 1.0)
    for factor in factors[1:]:
        message = message * _spread(*factor)
        least *= _least(*factor)  # no number in the product is less
        if least < _VERY_SMALL:
            message, scale, least = _scaled(message, scale)
    if least < _SMALL:
        message, scale, least = _scaled(message, scale)
    if least < np.finfo(float).tiny and len(factors) > 1:
        lost = np.flatnonzero(_is_lost(message, factors))
        if len(lost):
            scale = np.zeros(shape[0]) if scale is None else scale
            message[lost], scale[lost] = _product_by_logarithms(factors, lost)
    return message, scale


def _scaled(message: FloatArray, scale: FloatArray | None) -> tuple[FloatArray, FloatArray | None, float]:
    """Divide the rows of a message by their sums, if some are small; give also the logarithms and the least number."""
    total = message @ np.ones(message.shape[1])
    if _least(total) < _SMALL:
        total[total == 0] = 1.0
        message = message / total[:, None]
        scale = np.log(total) if scale is None else scale + np.log(total)
    return message, scale, _least(message)


def _least(values: FloatArray, which: Numbers | None = None) -> float:
    """Give a bound of the least number in a factor."""
    least = float(values.min(initial=1.0))
    return least if which is None or which.ndim == 1 else least ** len(which)


def _is_lost(message: FloatArray, factors: Sequence[Factor]) -> NDArray[np.bool_]:
    """Tell in which rows a product is too small for a number although none of its factors is zero."""
    lost = message < np.finfo(float).tiny
    for values, which in factors:
        if _least(values) == 0:
            lost &= _spread((values > 0).astype(float), which) > 0
    return np.asarray(lost.any(axis=1))


def _product_by_logarithms(factors: Sequence[Factor], rows: IntArray) -> tuple[FloatArray, FloatArray]:
    """Multiply some rows of messages; the largest state of each comes out as one."""
    total = np.zeros((len(rows), factors[0][0].shape[1]))
    for values, which in factors:
        taken = np.log(values).take(rows if which is None else which[..., rows], axis=0)
        total += taken if taken.ndim == 2 else taken.sum(axis=0)
    largest = total.max(axis=1)
    largest[np.isneginf(largest)] = 0.0
    return np.exp(total - largest[:, None]), largest


def downward(
    network: Network, up: Upward, weights: FloatArray | None = None
) -> Iterator[tuple[Step, FloatArray, FloatArray]]:
    """Send messages from the roots to the leaves.

    Yields
    ------
    step : Step
        Of every node but plain leaves, and of every group of children, parents first.
    outside : array, shape (patterns, states of the parent)
        What all cells that are not below the node say of its parent, added up over the rows with the same pattern,
        times their weights, in the scale in which the expected counts of the node's table are
        ``table * (likelihood.T @ outside)``.
    posterior : array, shape (patterns, states)
        Of the node given all cells of the row, likewise; zeros in rows that the model holds for impossible. A plain
        leaf's, where its cell is missing, is its parent's times the leaf's table.
    """
    weight = np.ones((up.plan.n_rows, 1)) if weights is None else weights[:, None]
    above = {root.name: _added(weight, root.index) for root in up.plan.roots}
    for step in reversed(up.plan.steps):
        outside = posterior = above.pop(step.name)
        if step.is_node:
            outside = outside / np.maximum(up.to_parent[step.name], TINY)  # where this is zero, so is what is above it
            posterior = outside @ network.tables[step.name].T
            posterior *= up.likelihood[step.name]
        yield step, outside, posterior
        for source in step.sources:
            above[source.name] = _added(posterior, source.index)


def _added(values: FloatArray, index: Index | None) -> FloatArray:
    return values if index is None else index.added(values)


def log_likelihoods(network: Network, codes: CodeArray) -> FloatArray:
    """Give the log-likelihood of each row."""
    return upward(network, plan_of(network, codes, repeats=False)).log_likelihood


def expected_counts(network: Network, plan: Plan, weights: FloatArray | None) -> tuple[FloatArray, ...]:
    """Give the expected counts behind every table, given the plan's rows, and last the rows' total log-likelihood."""
    totals: list[FloatArray] = [np.zeros(table.shape) for table in network.tables]
    up = upward(network, plan)
    for step, outside, posterior in downward(network, up, weights):
        if step.is_node:
            totals[step.name] += network.tables[step.name] * (up.likelihood[step.name].T @ outside)
        if step.leaves:
            by_state = step.leaves.added(posterior)
            for leaf, start in zip(step.leaves.names, step.leaves.starts.tolist(), strict=True):
                stop = start + len(network.tables[leaf])
                totals[leaf] += by_state[start:stop]
                if step.leaves.has_missing:
                    totals[leaf] += network.tables[leaf] * by_state[stop]  # missing cells are as the table expects
    return (*totals, total_log_likelihood(up.log_likelihood, weights))


def total_log_likelihood(rows: FloatArray, weights: FloatArray | None) -> FloatArray:
    """Add up the rows' log-likelihoods; a row without weight adds nothing, however improbable it is."""
    if weights is not None:
        rows = np.multiply(rows, weights, out=np.zeros_like(weights), where=weights > 0)
    return np.asarray(rows.sum(keepdims=True))
