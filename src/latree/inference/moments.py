"""Mean and variance of a sum of functions of hidden variables, given each row: one more pass up the tree."""

from collections.abc import Mapping

import numpy as np

from latree._util.arrays import CodeArray, FloatArray
from latree.inference.messages import upward
from latree.inference.network import Network
from latree.inference.patterns import plan_messages


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
