"""Soft evidence: what the cells of a subtree say about the node where it is attached.

In a fitted model, the cells of a subtree act on the rest of the tree only through this node.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from latree._util.arrays import CodeArray, FloatArray
from latree.inference.messages import downward, upward
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
    # Of each node, one row per row and one column per state x: mean and variance of the terms at and below the node,
    # given x and the cells below. Given x, what is below different children is independent, so both add up.
    moments: dict[int, tuple[FloatArray, FloatArray]] = {}
    total_mean, total_variance = np.zeros(len(codes)), np.zeros(len(codes))
    for node in network.order[::-1].tolist():
        if node in network.plain_leaves:
            continue
        mean = np.broadcast_to(values.get(node, np.zeros(len(network.tables[node]))), up.likelihood[node].shape)
        variance = np.zeros_like(mean)
        for child in network.children[node]:
            if child in moments:
                below = moments.pop(child)
                mean, variance = mean + below[0], variance + below[1]
        # From the node's states x to the states h of its parent, with the weights P(x | h, cells below).
        first = up.average(node, mean)
        # Var[T | h] = E[Var[T | x] | h] + E[(E[T | x] - c)² | h] - (E[T | h] - c)², for any c near them.
        centre = mean.mean(axis=1, keepdims=True)
        second = up.average(node, variance + (mean - centre) ** 2)
        to_parent = first, np.maximum(second - (first - centre) ** 2, 0)
        if network.parent[node] < 0:
            total_mean, total_variance = total_mean + to_parent[0][:, 0], total_variance + to_parent[1][:, 0]
        else:
            moments[node] = to_parent
    impossible = np.isneginf(up.log_likelihood)
    total_mean[impossible], total_variance[impossible] = np.nan, np.nan
    return total_mean, total_variance
