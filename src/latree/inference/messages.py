"""Exact inference in a tree of discrete variables: one pass up, one pass down, for a block of rows at once.

Every array of messages has one column per state and one row per pattern of the cells below a node
(:mod:`latree.inference.patterns`).
Messages are plain probabilities. One whose states add up to very little is scaled up, and the logarithm of the scale is
kept. Where a product of children is too small for a floating-point number, and where they are very many, logarithms are
added instead, so that thousands of columns neither underflow nor lose a state that a later child favours. The message
of a missing cell is all ones. A root is treated as the child of a variable with a single state, so that prior and
conditional probabilities are handled alike.

A probability can be very much smaller than that of another state and still decide, if the other state is impossible for
other reasons: a zero in a table between two hidden variables, or the cell of an observed inner node. A block of rows
where such a probability is too small for a floating-point number is computed again with logarithms throughout
(:class:`LogUpward`), which takes longer.
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

# A number of a message that is smaller than this, and not zero for good reason, may have lost its precision.
_LOST_BELOW = 1e-200

# No message to a parent is lost if all numbers of the table are at least this, because its states add up to at least
# _SCALE_BELOW.
_SAFE_TABLE = 1e-150


# A factor of a product of messages: its values, and which of them each row of the product has. Where ``which`` has
# several rows, the factor is the product over them. None stands for the values themselves.
MessageFactor: TypeAlias = tuple[FloatArray, PatternNumbers | None]


@dataclass(frozen=True)
class Upward:
    """The upward messages: the likelihood of each node's states, given the cells below the node.

    Attributes
    ----------
    plan : MessagePlan
        Which rows share a message: the arrays have one row per pattern of the node.
    tables : tuple of array
        The network's.
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
    tables: tuple[FloatArray, ...]
    likelihood: dict[int, FloatArray]
    to_parent: dict[int, FloatArray]
    log_likelihood: FloatArray

    def times_likelihood(self, node: int, values: FloatArray) -> FloatArray:
        """Return the likelihood of a node's states times other values, up to a factor per row."""
        return values * self.likelihood[node]

    def average(self, node: int, values: FloatArray) -> FloatArray:
        """Return the mean of a function of a node's states, given its parent's state and the cells below the node."""
        return (self.likelihood[node] * values) @ self.tables[node] / np.maximum(self.to_parent[node], TINY)

    def average_above(self, node: int, outside: FloatArray, values: FloatArray) -> FloatArray:
        """Return the mean of a function of the parent's state, given the node's state and the cells not below it."""
        table = self.tables[node].T
        return (outside * values) @ table / np.maximum(outside @ table, TINY)

    def outside(self, node: int, parent_posterior: FloatArray) -> FloatArray:
        """Divide the node's own message out of its parent's posterior (0 / 0 is 0)."""
        # outside(h) = posterior_parent(h) / Σ_x λ(x) P(x | h)
        return parent_posterior / np.maximum(self.to_parent[node], TINY)

    def posterior(self, node: int, outside: FloatArray) -> FloatArray:
        """Return the posterior probabilities of a node."""
        # posterior(x) = λ(x) Σ_h P(x | h) outside(h)
        posterior = outside @ self.tables[node].T
        posterior *= self.likelihood[node]
        return posterior

    def expected_counts(self, node: int, outside: FloatArray) -> FloatArray:
        """Return the expected counts behind a node's table."""
        # Σ_rows P(x, h | row) = P(x | h) Σ_rows λ(x) outside(h)
        return self.tables[node] * (self.likelihood[node].T @ outside)

    def as_message(self, values: FloatArray, divisor: FloatArray | None = None) -> FloatArray:
        """Return values in the form of this pass, divided by others, with one row per state; the largest is one."""
        return by_states(values if divisor is None else values / np.maximum(divisor, TINY))


@dataclass(frozen=True)
class LogUpward(Upward):
    """The upward messages, and all that follows from them, as logarithms."""

    def times_likelihood(self, node: int, values: FloatArray) -> FloatArray:
        """Return the likelihood of a node's states times other values, up to a factor per row."""
        return _exponential(_log(values) + self.likelihood[node])

    def average(self, node: int, values: FloatArray) -> FloatArray:
        """Return the mean of a function of a node's states, given its parent's state and the cells below the node."""
        impossible = np.isneginf(self.to_parent[node])
        share = self._terms(node, np.where(impossible, -np.inf, -self.to_parent[node]))
        return np.stack([(term * values).sum(axis=1) for term in share], axis=1)

    def average_above(self, node: int, outside: FloatArray, values: FloatArray) -> FloatArray:
        """Return the mean of a function of the parent's state, given the node's state and the cells not below it."""
        found = []
        for log_table in _log(self.tables[node]):
            share = _exponential(outside + log_table)
            found.append((share * values).sum(axis=1) / np.maximum(share.sum(axis=1), TINY))
        return np.stack(found, axis=1)

    def outside(self, node: int, parent_posterior: FloatArray) -> FloatArray:
        """Return the logarithms of the parent's posterior divided by the node's own message."""
        found = np.full(parent_posterior.shape, -np.inf)
        possible = parent_posterior > 0
        found[possible] = np.log(parent_posterior[possible]) - self.to_parent[node][possible]
        return found

    def posterior(self, node: int, outside: FloatArray) -> FloatArray:
        """Return the posterior probabilities of a node."""
        return np.asarray(sum(self._terms(node, outside)))

    def expected_counts(self, node: int, outside: FloatArray) -> FloatArray:
        """Return the expected counts behind a node's table."""
        return np.stack([term.sum(axis=0) for term in self._terms(node, outside)], axis=1)

    def as_message(self, values: FloatArray, divisor: FloatArray | None = None) -> FloatArray:
        """Return values in the form of this pass, divided by others, with one row per state; the largest is one."""
        return by_states(_exponential(values if divisor is None else values - _log(np.maximum(divisor, TINY))))

    def _terms(self, node: int, outside: FloatArray) -> Iterator[FloatArray]:
        """Yield λ(x) P(x | h) outside(h) for each state h of the parent, one row per pattern and one column per x."""
        for table, of_parent in zip(_log(self.tables[node]).T, outside.T, strict=True):
            yield np.exp(self.likelihood[node] + table + of_parent[:, None])


def upward(network: Network, plan: MessagePlan) -> Upward:
    """Send messages from the leaves to the roots."""
    return _upward_by_products(network, plan) or _upward_by_logarithms(network, plan)


def _upward_by_products(network: Network, plan: MessagePlan) -> Upward | None:
    """Send messages as plain probabilities; None if one that may decide is too small for that."""
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
            # The cell of an observed inner node leaves only its own state possible, which may be a very improbable one.
            if step.cells is not None:
                own = with_missing([np.eye(n)])
                is_small = _least(message) < _SCALE_BELOW
                message = message * step.cells.spread(own)
                if is_small:
                    factors.append((own, step.cells.which))
                    message[message < TINY] = 0.0  # not precise, so that it counts as lost below
                    message, scale, _ = _scaled(message, scale)
            else:
                is_small = False
            if scale is not None:
                scales[step.number] = scale
            # The message to the parent, Σ_x λ(x) P(x | h).
            likelihood[step.number] = to_parent[step.number] = message
            table = network.tables[step.number] if step.is_node else None
            if table is not None:
                to_parent[step.number] = message @ table
            may_be_lost = is_small or table is None or _least(table) < _SAFE_TABLE
            if may_be_lost and _is_lost(to_parent[step.number], factors, table):
                return None
        # The log-likelihood of a row is the sum over the roots.
        for root in plan.roots:
            found = np.log(to_parent[root.number][:, 0]) + scales.get(root.number, 0.0)
            log_likelihood += found if root.index is None else root.index.spread(found)
    return Upward(plan, network.tables, likelihood, to_parent, log_likelihood)


def _is_lost(to_parent: FloatArray, factors: Sequence[MessageFactor], table: FloatArray | None) -> bool:
    """Return whether a message to a parent is very small in a state that none of the cells below rules out."""
    if _least(to_parent) >= _LOST_BELOW:
        return False
    possible = _is_possible(factors, (len(to_parent), to_parent.shape[1] if table is None else len(table)))
    if table is not None:
        possible = possible.astype(float) @ (table > 0) > 0
    return bool((possible & (to_parent < _LOST_BELOW)).any())


def _is_possible(factors: Sequence[MessageFactor], shape: tuple[int, int]) -> NDArray[np.bool_]:
    """Return where none of the factors of a product is zero."""
    found = np.ones(shape, dtype=bool)
    for values, which in factors:
        if _least(values) == 0:
            found &= _spread((values > 0).astype(float), which) > 0
    return found


def _upward_by_logarithms(network: Network, plan: MessagePlan) -> LogUpward:
    """Send the logarithms of messages: nothing is lost, however small."""
    likelihood: dict[int, FloatArray] = {}
    to_parent: dict[int, FloatArray] = {}
    for step in plan.steps:
        # log λ(h) = Σ_children log Σ_x P(x | h) λ_child(x)
        logs = [(to_parent[source.number], source.which) for source in step.sources]
        if step.leaves:
            stacked = _log(with_missing([network.tables[leaf] for leaf in step.leaves.columns]))
            logs += [(stacked, which) for which in step.leaves.chunks]
        n = len(network.tables[step.number]) if step.is_node else logs[0][0].shape[1]
        if step.cells is not None:
            logs.append((_log(with_missing([np.eye(n)])), step.cells.which))
        message = np.zeros((step.n_patterns, n))
        for values, which in logs:
            taken = values if which is None else values.take(which, axis=0)
            message += taken if taken.ndim == 2 else taken.sum(axis=0)
        likelihood[step.number] = message
        # log Σ_x λ(x) P(x | h), one state of the parent after the other.
        if step.is_node:
            table = _log(network.tables[step.number])
            message = np.stack([_log_of_sum(message + of_parent) for of_parent in table.T], axis=1)
        to_parent[step.number] = message
    log_likelihood = np.zeros(plan.n_rows)
    for root in plan.roots:
        found = to_parent[root.number][:, 0]
        log_likelihood += found if root.index is None else root.index.spread(found)
    return LogUpward(plan, network.tables, likelihood, to_parent, log_likelihood)


def _log(values: FloatArray) -> FloatArray:
    with np.errstate(divide="ignore"):  # log 0 = -inf is right
        return np.asarray(np.log(values))


def _largest(logs: FloatArray) -> FloatArray:
    """Return the largest number of each row; zero if all are the logarithm of zero."""
    found = logs.max(axis=1, keepdims=True)
    found[np.isneginf(found)] = 0.0
    return np.asarray(found)


def _exponential(logs: FloatArray) -> FloatArray:
    """Return the exponential up to a factor per row, so that the largest number of each row is one."""
    return np.asarray(np.exp(logs - _largest(logs)))


def _log_of_sum(logs: FloatArray) -> FloatArray:
    """Return the logarithm of each row's sum of exponentials."""
    largest = _largest(logs)
    return np.asarray(_log(np.exp(logs - largest).sum(axis=1)) + largest[:, 0])


def with_missing(tables: Sequence[FloatArray]) -> FloatArray:
    """Stack the probabilities of columns given the same parent, each column's followed by ones for a missing cell."""
    ones = np.ones((1, tables[0].shape[1]))
    return np.concatenate([part for table in tables for part in (table, ones)])


def by_states(message: FloatArray) -> FloatArray:
    """Return a message with one row per state, scaled so that the largest value of each column is one."""
    transposed = np.ascontiguousarray(message.T)
    return np.asarray(transposed / np.maximum(transposed.max(axis=0), TINY))


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
        too_small = (message < np.finfo(float).tiny) & _is_possible(factors, shape)
        underflowed = np.flatnonzero(too_small.any(axis=1))
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


def _product_by_logarithms(factors: Sequence[MessageFactor], rows: IntArray) -> tuple[FloatArray, FloatArray]:
    """Multiply some rows of messages so that the largest state of each row is one; return also the log scale."""
    # log Π_j f_j = Σ_j log f_j, and the largest is subtracted before taking the exponential.
    total = np.zeros((len(rows), factors[0][0].shape[1]))
    for values, which in factors:
        taken = np.log(values).take(rows if which is None else which[..., rows], axis=0)
        total += taken if taken.ndim == 2 else taken.sum(axis=0)
    largest = _largest(total)
    return np.exp(total - largest), largest[:, 0]


def downward(up: Upward, weights: FloatArray | None = None) -> Iterator[tuple[MessageStep, FloatArray, FloatArray]]:
    """Send messages from the roots to the leaves.

    Yields
    ------
    step : MessageStep
        That of every node but plain leaves, and of every group of children, parents first.
    outside : array, shape (patterns, states of the parent)
        The likelihood of the parent's states given all cells that are not below the node, times the row's weight,
        added up over the rows with the same pattern, in the form of the upward pass: for its methods
        ``expected_counts`` and ``as_message``.
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
            outside = up.outside(step.number, posterior)
            posterior = up.posterior(step.number, outside)
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
    for step, outside, posterior in downward(up, weights):
        if step.is_node:
            totals[step.number] += up.expected_counts(step.number, outside)
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
