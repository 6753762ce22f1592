"""Soft evidence: what the cells of a subtree say about the node where it is attached.

In a fitted model, the cells of a subtree act on the rest of the tree only through this node.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from latree._util.arrays import CodeArray, FloatArray
from latree.inference.messages import TINY, Upward, downward, upward
from latree.inference.network import Network
from latree.inference.patterns import plan_messages, rows_at_once

BoolArray: TypeAlias = NDArray[np.bool_]

# Messages are computed for so many times fewer rows at once than in EM: those of all other rows are kept meanwhile.
_FEWER_ROWS = 4


def column_cells(codes: CodeArray, n_states: Iterable[int]) -> list[BoolArray]:
    """Return for each column an array with one row per state: true for the state of a cell, all true if it is missing.

    These are the messages of columns that are leaves. They do not depend on a model.
    """
    found = []
    for column, n in enumerate(n_states):
        states = np.zeros((n + 1, len(codes)), dtype=bool)
        states[np.minimum(codes[:, column], n), np.arange(len(codes))] = True
        found.append(states[:n] | states[n])
    return found


def messages(
    network: Network,
    codes: CodeArray,
    cells: Sequence[BoolArray] | None = None,
    precision: type[np.float32] | type[np.float64] = np.float64,
) -> dict[tuple[int, int], FloatArray | BoolArray]:
    """Return the likelihood of each subtree's top node, given the subtree's cells.

    Parameters
    ----------
    network : Network
    codes : array
        The rows.
    cells : sequence of array, optional
        What :func:`column_cells` returns for the same rows, if it is known.
    precision : type
        Of the messages. They are computed in double precision, for some rows at a time.

    Returns
    -------
    dict
        For neighbours (u, v) of which v is hidden, an array of shape (states of u, rows): the probability of the cells
        on u's side of the edge given the state of u, up to a factor per row; the largest is one. That of a column that
        is a leaf is a bool array.
    """
    found: dict[tuple[int, int], FloatArray | BoolArray] = {}
    step = max(1, rows_at_once(network) // _FEWER_ROWS)
    for start in range(0, max(len(codes), 1), step):
        rows = slice(start, start + step)
        for ends, message in _messages(network, codes[rows]):
            if ends not in found:
                empty: NDArray[Any] = np.empty((len(message), len(codes)), dtype=precision)
                found[ends] = empty
            found[ends][:, rows] = message
    # A plain leaf: one for the state of its cell, and ones if that is missing.
    if cells is None:
        cells = column_cells(codes, [len(table) for table in network.tables[: network.n_observed]])
    above = {leaf: int(network.parent[leaf]) for leaf in network.plain_leaves}
    return found | {(leaf, node): cells[leaf] for leaf, node in above.items() if node >= network.n_observed}


def _messages(network: Network, codes: CodeArray) -> Iterator[tuple[tuple[int, int], FloatArray]]:
    """Yield the messages of some rows, but those of plain leaves."""
    up = upward(network, plan_messages(network, codes, repeats=False))
    marginals = network.marginals()
    for step, outside, _ in downward(up):
        node, parent = step.number, int(network.parent[step.number])
        # A node's own side, for its parent: P(cells below | node).
        if parent >= network.n_observed:
            yield (node, parent), up.as_message(up.likelihood[node])
        # The parent's side, for the node: P(parent, all cells that are not below the node) / P(parent).
        if parent >= 0 and node >= network.n_observed:
            yield (parent, node), up.as_message(outside, marginals[parent])


def posterior_moments(
    network: Network, codes: CodeArray, values: Mapping[int, FloatArray]
) -> tuple[FloatArray, FloatArray]:
    """Return the posterior mean and variance of ``T = Σ_v values[v][state of v]`` in each row, exactly.

    Parameters
    ----------
    network : Network
    codes : array
        Cells of rows; missing ones are summed out.
    values : mapping
        From nodes, hidden ones or columns with children, to a number for each of their states.

    Returns
    -------
    mean, variance : array
        One number per row; NaN in rows that are impossible.
    """
    up = upward(network, plan_messages(network, codes, repeats=False))
    mean, variance = _total(network, _moments_below(network, up, values)[1], len(codes))
    impossible = np.isneginf(up.log_likelihood)
    mean[impossible], variance[impossible] = np.nan, np.nan
    return mean, variance


class IfAnswered(NamedTuple):
    """What one more cell of each row would say about a sum over hidden variables.

    Attributes
    ----------
    column : int
    probability : array, shape (rows, states)
        The distribution of the column, given the cells that are present.
    mean, variance : array, shape (rows, states)
        The posterior mean and variance of the sum, if the cell had this state.
    """

    column: int
    probability: FloatArray
    mean: FloatArray
    variance: FloatArray

    @property
    def mean_before(self) -> FloatArray:
        """The posterior mean without the cell, in each row: E[T] = E[E[T | x]]."""
        return np.asarray((self.probability * self.mean).sum(axis=1))

    @property
    def gain(self) -> FloatArray:
        """By how much the cell is expected to lower the variance of the sum, in each row."""
        # The law of total variance: Var[T] - E[Var[T | x]] = Var[E[T | x]].
        return np.asarray((self.probability * (self.mean - self.mean_before[:, None]) ** 2).sum(axis=1))


def moments_if_answered(
    network: Network, codes: CodeArray, values: Mapping[int, FloatArray], columns: Collection[int] | None = None
) -> Iterator[IfAnswered]:
    """Yield for each column what one more cell would say about ``T = Σ_v values[v][state of v]``, exactly.

    The parameters are those of :func:`posterior_moments`, and the columns to yield, by default all. The results of all
    columns take one pass up and one down.
    They hold for rows that are possible and where the column's cell is missing. A plain leaf whose table has no zero
    may be present: its results are those of rows without it.
    """
    up = upward(network, plan_messages(network, codes, repeats=False))
    at, to_parent = _moments_below(network, up, values)
    total = _total(network, to_parent, len(codes))
    # Of each node, mean and variance of all of T, given its state and all cells.
    whole: dict[int, _MeanAndVariance] = {}
    for step, outside, posterior in downward(up):
        if not step.is_node:
            continue
        node, parent = step.number, int(network.parent[step.number])
        # Given the state of the parent, what is not below the node is independent of what is: subtract the latter.
        if parent >= 0:
            rest = whole[parent][0] - to_parent[node][0], np.maximum(whole[parent][1] - to_parent[node][1], 0)
            above = _mixed(partial(up.average_above, node, outside), *rest)
        else:  # the other components
            others = total[0] - to_parent[node][0][:, 0], total[1] - to_parent[node][1][:, 0]
            above = others[0][:, None], np.maximum(others[1], 0)[:, None]
        whole[node] = at[node][0] + above[0], at[node][1] + above[1]
        if node < network.n_observed and (columns is None or node in columns):
            yield IfAnswered(node, posterior, *whole[node])
        for leaf in network.children[node]:
            if leaf in network.plain_leaves and (columns is None or leaf in columns):
                # P(x, h | cells) = P(x | h) P(h | cells), as the cell of the leaf is missing.
                without = _without_leaf(network.tables[leaf], posterior, codes[:, leaf])
                average = partial(_average_of_leaf, network.tables[leaf].T, without)
                yield IfAnswered(leaf, without @ network.tables[leaf].T, *_mixed(average, *whole[node]))


_MeanAndVariance: TypeAlias = tuple[FloatArray, FloatArray]


def _moments_below(
    network: Network, up: Upward, values: Mapping[int, FloatArray]
) -> tuple[dict[int, _MeanAndVariance], dict[int, _MeanAndVariance]]:
    """Return mean and variance of the terms at and below each node, given the cells below.

    First, given the node's own state; second, given the state of its parent. Arrays have one row per row.
    """
    at: dict[int, _MeanAndVariance] = {}
    to_parent: dict[int, _MeanAndVariance] = {}
    for node in network.order[::-1].tolist():
        if node in network.plain_leaves:
            continue
        mean = np.broadcast_to(values.get(node, np.zeros(len(network.tables[node]))), up.likelihood[node].shape)
        variance = np.zeros_like(mean)
        # Given the node's state, what is below different children is independent, so both add up.
        for child in network.children[node]:
            if child in to_parent:
                mean, variance = mean + to_parent[child][0], variance + to_parent[child][1]
        at[node] = mean, variance
        # From the node's states x to the states h of its parent, with the weights P(x | h, cells below).
        to_parent[node] = _mixed(partial(up.average, node), mean, variance)
    return at, to_parent


def _total(network: Network, to_parent: Mapping[int, _MeanAndVariance], n_rows: int) -> _MeanAndVariance:
    """Return mean and variance of the sum over all components of the network."""
    mean, variance = np.zeros(n_rows), np.zeros(n_rows)
    for node in to_parent:
        if network.parent[node] < 0:
            mean, variance = mean + to_parent[node][0][:, 0], variance + to_parent[node][1][:, 0]
    return mean, variance


def _mixed(average: Callable[[FloatArray], FloatArray], mean: FloatArray, variance: FloatArray) -> _MeanAndVariance:
    """Return mean and variance given one variable, from those given another, by an average over the latter."""
    first = average(mean)
    # Var[T | h] = E[Var[T | x] | h] + E[(E[T | x] - c)² | h] - (E[T | h] - c)², for any c near them.
    centre = mean.mean(axis=1, keepdims=True)
    second = average(variance + (mean - centre) ** 2)
    return first, np.maximum(second - (first - centre) ** 2, 0)


def _without_leaf(table: FloatArray, posterior: FloatArray, cells: CodeArray) -> FloatArray:
    """Return P(h | all cells but that of a leaf), given P(h | all cells) and P(leaf | h)."""
    present = np.flatnonzero(cells < len(table))
    if not len(present):
        return posterior
    # P(h | others) is proportional to P(h | others, x) / P(x | h).
    found = posterior.copy()
    found[present] /= np.maximum(table[cells[present]], TINY)
    return np.asarray(found / np.maximum(found.sum(axis=1, keepdims=True), TINY))


def _average_of_leaf(table: FloatArray, posterior: FloatArray, values: FloatArray) -> FloatArray:
    """Return the mean of a function of the parent's state, given the state of a leaf whose cell is missing."""
    return np.asarray((posterior * values) @ table / np.maximum(posterior @ table, TINY))
