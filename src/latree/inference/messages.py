"""Exact inference in a tree of discrete variables: one pass up, one pass down, for a block of rows at once.

Every array of messages has one column per state and one row per pattern of the cells below a node
(:mod:`latree.inference.patterns`).
Messages are plain probabilities. One whose states add up to very little is scaled up, and the logarithm of the scale is
kept. Where a product of children is too small for a floating-point number, and where they are very many, logarithms are
added instead, so that thousands of columns neither underflow nor lose a state that a later child favours. The message
of a missing cell is all ones. A root is treated as the child of a variable with a single state, so that prior and
conditional probabilities are handled alike.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from latree._util.arrays import CodeArray, FloatArray, IntArray
from latree.inference.network import Network
from latree.inference.patterns import MessagePlan, MessageStep, PatternIndex, PatternNumbers, plan_messages

# Replaces zero as a divisor; a weight divided by it is still finite.
TINY = 1e-290

# Messages whose states add up to less than this are scaled up.
_SCALE_BELOW = 1e-30

# A product with a number below this is scaled at once, before the next factor can make it underflow.
_SCALE_AT_ONCE_BELOW = 1e-150

# At most this many factors are multiplied; of more, logarithms are added.
_MAX_FACTORS = 32


@dataclass(frozen=True)
class Upward:
    """The upward messages: the likelihood of each node's states, given the cells below the node.

    Attributes
    ----------
    plan : MessagePlan
        Which rows share a message: the arrays have one row per pattern of the node.
    likelihood : dict
        For every node but plain leaves, and for every group of children, an array with one column per state:
        ``P(cells below | state)`` up to a factor per row.
    to_parent : dict
        For every node an array with one column per state of its parent, ``likelihood @ table``; for a group its
        likelihood.
    log_likelihood : array
        Of each row.
    """

    plan: MessagePlan
    likelihood: dict[int, FloatArray]
    to_parent: dict[int, FloatArray]
    log_likelihood: FloatArray


def upward(network: Network, plan: MessagePlan) -> Upward:
    """Send messages from the leaves to the roots."""
    likelihood: dict[int, FloatArray] = {}
    to_parent: dict[int, FloatArray] = {}
    scales: dict[int, FloatArray] = {}  # log of the scale of each message that was scaled, here or further below
    log_likelihood = np.zeros(plan.n_rows)
    with np.errstate(divide="ignore"):  # log 0 = -inf is right
        for step in plan.steps:
            # λ(h) = Π_children Σ_x P(x | h) λ_child(x): the product of the children's messages to this node.
            factors = [(to_parent[source.number], source.which) for source in step.sources]
            if step.leaves:
                stacked = with_missing([network.tables[leaf] for leaf in step.leaves.columns])
                factors += [(stacked, which) for which in step.leaves.chunks]
            n = len(network.tables[step.number]) if step.is_node else factors[0][0].shape[1]
            message, scale = _product(factors, (step.n_patterns, n))
            # Scales of the children's messages carry over.
            for source in step.sources:
                if source.number in scales:
                    below = _spread(scales[source.number], source.which)
                    scale = below if scale is None else scale + below
            if scale is not None:
                scales[step.number] = scale
            # The cell of an observed inner node leaves only its own state possible.
            if step.cells is not None:
                message = message * step.cells.spread(with_missing([np.eye(n)]))
            # The message to the parent, Σ_x λ(x) P(x | h).
            likelihood[step.number] = message
            to_parent[step.number] = message @ network.tables[step.number] if step.is_node else message
        # The log-likelihood of a row is the sum over the roots.
        for root in plan.roots:
            found = np.log(to_parent[root.number][:, 0]) + scales.get(root.number, 0.0)
            log_likelihood += found if root.index is None else root.index.spread(found)
    return Upward(plan, likelihood, to_parent, log_likelihood)


def with_missing(tables: Sequence[FloatArray]) -> FloatArray:
    """Stack the probabilities of columns given the same parent, each column's followed by ones for a missing cell."""
    ones = np.ones((1, tables[0].shape[1]))
    return np.concatenate([part for table in tables for part in (table, ones)])


def by_states(message: FloatArray) -> FloatArray:
    """Return a message with one row per state, scaled so that the largest value of each column is one."""
    transposed = np.ascontiguousarray(message.T)
    return np.asarray(transposed / np.maximum(transposed.max(axis=0), TINY))


# A factor of a product of messages: its values, and which of them each row of the product has. Where ``which`` has
# several rows, the factor is the product over them. None stands for the values themselves.
MessageFactor: TypeAlias = tuple[FloatArray, PatternNumbers | None]


def _spread(values: FloatArray, which: PatternNumbers | None) -> FloatArray:
    """Return a factor with one row per row of the product."""
    if which is None:
        return values
    taken = values.take(which, axis=0)
    return taken if which.ndim == 1 else np.multiply.reduce(taken, axis=0)


def _product(factors: Sequence[MessageFactor], shape: tuple[int, int]) -> tuple[FloatArray, FloatArray | None]:
    """Multiply messages; return also the logarithms of what rows were divided by, or None."""
    # Very many factors: add logarithms.
    if len(factors) > _MAX_FACTORS:
        return _product_by_logarithms(factors, np.arange(shape[0]))
    # Few factors: multiply. ``least`` bounds the numbers of the product from below, and tells cheaply when to scale.
    scale: FloatArray | None = None
    message, least = (_spread(*factors[0]), _least(*factors[0])) if factors else (np.ones(shape), 1.0)
    for factor in factors[1:]:
        message = message * _spread(*factor)
        least *= _least(*factor)
        if least < _SCALE_AT_ONCE_BELOW:
            message, scale, least = _scaled(message, scale)
    if least < _SCALE_BELOW:
        message, scale, least = _scaled(message, scale)
    # Rows that underflowed all the same are done again by logarithms.
    if least < np.finfo(float).tiny and len(factors) > 1:
        underflowed = np.flatnonzero(_underflowed(message, factors))
        if len(underflowed):
            scale = np.zeros(shape[0]) if scale is None else scale
            message[underflowed], scale[underflowed] = _product_by_logarithms(factors, underflowed)
    return message, scale


def _scaled(message: FloatArray, scale: FloatArray | None) -> tuple[FloatArray, FloatArray | None, float]:
    """Divide the rows of a message by their sums, if some are small; return also the log scale and the least number."""
    total = message @ np.ones(message.shape[1])
    if _least(total) < _SCALE_BELOW:
        total[total == 0] = 1.0
        message = message / total[:, None]
        scale = np.log(total) if scale is None else scale + np.log(total)
    return message, scale, _least(message)


def _least(values: FloatArray, which: PatternNumbers | None = None) -> float:
    """Return a lower bound of the numbers in a factor."""
    least = float(values.min(initial=1.0))
    return least if which is None or which.ndim == 1 else least ** len(which)


def _underflowed(message: FloatArray, factors: Sequence[MessageFactor]) -> NDArray[np.bool_]:
    """Return in which rows a product is too small for a floating-point number although none of its factors is zero."""
    found = message < np.finfo(float).tiny
    for values, which in factors:
        if _least(values) == 0:
            found &= _spread((values > 0).astype(float), which) > 0
    return np.asarray(found.any(axis=1))


def _product_by_logarithms(factors: Sequence[MessageFactor], rows: IntArray) -> tuple[FloatArray, FloatArray]:
    """Multiply some rows of messages so that the largest state of each row is one; return also the log scale."""
    # log Π_j f_j = Σ_j log f_j, and the largest is subtracted before taking the exponential.
    total = np.zeros((len(rows), factors[0][0].shape[1]))
    for values, which in factors:
        taken = np.log(values).take(rows if which is None else which[..., rows], axis=0)
        total += taken if taken.ndim == 2 else taken.sum(axis=0)
    largest = total.max(axis=1)
    largest[np.isneginf(largest)] = 0.0
    return np.exp(total - largest[:, None]), largest


def downward(
    network: Network, up: Upward, weights: FloatArray | None = None
) -> Iterator[tuple[MessageStep, FloatArray, FloatArray]]:
    """Send messages from the roots to the leaves.

    Yields
    ------
    step : MessageStep
        That of every node but plain leaves, and of every group of children, parents first.
    outside : array, shape (patterns, states of the parent)
        The likelihood of the parent's states given all cells that are not below the node, times the row's weight,
        added up over the rows with the same pattern. It is scaled so that the expected counts of the node's table are
        ``table * (likelihood.T @ outside)``.
    posterior : array, shape (patterns, states)
        The posterior probabilities of the node given all cells of the row, weighted and added up likewise; zeros in
        rows that are impossible. Those of a plain leaf, where its cell is missing, are its parent's times the leaf's
        table.
    """
    weight = np.ones((up.plan.n_rows, 1)) if weights is None else weights[:, None]
    above = {root.number: _add_up(weight, root.index) for root in up.plan.roots}
    for step in reversed(up.plan.steps):
        outside = posterior = above.pop(step.number)
        if step.is_node:
            # Divide the node's own message out of its parent's posterior (0 / 0 is 0):
            # outside(h) = posterior_parent(h) / Σ_x λ(x) P(x | h)
            outside = outside / np.maximum(up.to_parent[step.number], TINY)
            # posterior(x) = λ(x) Σ_h P(x | h) outside(h)
            posterior = outside @ network.tables[step.number].T
            posterior *= up.likelihood[step.number]
        yield step, outside, posterior
        for source in step.sources:
            above[source.number] = _add_up(posterior, source.index)


def _add_up(values: FloatArray, index: PatternIndex | None) -> FloatArray:
    return values if index is None else index.add_up(values)


def log_likelihoods(network: Network, codes: CodeArray) -> FloatArray:
    """Return the log-likelihood of each row."""
    return upward(network, plan_messages(network, codes, repeats=False)).log_likelihood


def expected_counts(network: Network, plan: MessagePlan, weights: FloatArray | None) -> tuple[FloatArray, ...]:
    """Return the expected counts behind every table, given the plan's rows, and last the rows' total log-likelihood."""
    totals: list[FloatArray] = [np.zeros(table.shape) for table in network.tables]
    up = upward(network, plan)
    for step, outside, posterior in downward(network, up, weights):
        if step.is_node:
            # Σ_rows P(x, h | row) = P(x | h) Σ_rows λ(x) outside(h)
            totals[step.number] += network.tables[step.number] * (up.likelihood[step.number].T @ outside)
        if step.leaves:
            # A plain leaf's cell is known: add up its parent's posterior over the rows with the same cell.
            by_state = step.leaves.add_up(posterior)
            for leaf, start in zip(step.leaves.columns, step.leaves.starts.tolist(), strict=True):
                stop = start + len(network.tables[leaf])
                totals[leaf] += by_state[start:stop]
                if step.leaves.has_missing:
                    # A missing cell counts as P(x | h) times the parent's posterior.
                    totals[leaf] += network.tables[leaf] * by_state[stop]
    return (*totals, total_log_likelihood(up.log_likelihood, weights))


def total_log_likelihood(rows: FloatArray, weights: FloatArray | None) -> FloatArray:
    """Add up the rows' log-likelihoods; a row with weight zero adds nothing, even if it is impossible."""
    if weights is not None:
        rows = np.multiply(rows, weights, out=np.zeros_like(weights), where=weights > 0)
    return np.asarray(rows.sum(keepdims=True))
