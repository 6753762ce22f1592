"""Soft evidence: what the cells of a subtree say about the node where it is attached.

In a fitted model, the cells of a subtree act on the rest of the tree only through this node.
"""

import numpy as np

from latree._util.arrays import CodeArray, FloatArray
from latree.inference.messages import downward, upward, with_missing
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
    for step, outside, _ in downward(up):
        node, parent = step.number, int(network.parent[step.number])
        # A node's own side, for its parent: P(cells below | node).
        if parent in hidden:
            found[node, parent] = up.as_message(up.likelihood[node])
        # The parent's side, for the node: P(parent, all cells that are not below the node) / P(parent).
        if parent >= 0 and node in hidden:
            found[parent, node] = up.as_message(outside, marginals[parent])
        # A plain leaf: one for the state of its cell, and ones if that is missing.
        if step.leaves and node in hidden:
            for leaf, which, start in zip(step.leaves.columns, step.leaves.which, step.leaves.starts, strict=True):
                found[leaf, node] = with_missing([np.eye(len(network.tables[leaf]))]).T.take(which - start, axis=1)
    return found
