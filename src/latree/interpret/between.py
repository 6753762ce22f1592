"""How any nodes of the tree, such as the hidden variables of groups, depend on each other under the model."""

from collections.abc import Sequence

import numpy as np
from scipy.special import rel_entr

from latree._util.arrays import FloatArray
from latree.counts.distances import informational_correlation
from latree.interpret.view import View


def node_correlation(view: View, nodes: Sequence[int]) -> tuple[FloatArray, list[bool]]:
    """Return the correlation of every two of some nodes under the model, and which of them have an order.

    Hidden variables whose states are steps, and ordered columns, have an order: the correlation of two of them is
    Pearson's, of their scores. That of all others is the informational correlation.
    """
    scores = [_score(view, node) for node in nodes]
    sizes = [len(view.marginals[node]) for node in nodes]
    starts = np.cumsum([0, *sizes]).tolist()
    given = _states_given(view, nodes, starts)
    correlation = np.eye(len(nodes))
    for j, node in enumerate(nodes):
        # P(i = a, j = b) = P(i = a | j = b) P(j = b), one column per state of every i
        joint = given[node] * view.marginals[node][:, None]
        for i in range(j):
            both = joint[:, starts[i] : starts[i + 1]]
            if (of_i := scores[i]) is not None and (of_j := scores[j]) is not None:
                found = float(of_j @ both @ of_i)
            else:
                independent = np.outer(view.marginals[node], view.marginals[nodes[i]])
                found = float(informational_correlation(np.array(max(float(rel_entr(both, independent).sum()), 0.0))))
            correlation[i, j] = correlation[j, i] = np.clip(found, -1, 1)
    return correlation, [score is not None for score in scores]


def _score(view: View, node: int) -> FloatArray | None:
    """Return the score of each state, of mean 0 and variance 1; None if they have no order."""
    if node < view.tree.n_observed:
        return view.standardised.get(node)
    score = view.scores.get(node)
    return score.values if score is not None and score.has_steps else None


def _states_given(view: View, nodes: Sequence[int], starts: Sequence[int]) -> dict[int, FloatArray]:
    """Return for some nodes the probabilities of the states of all of them, given each of its own states.

    Probabilities are carried along the edges: ``P(i | v) = Σ_u P(u | v) P(i | u)`` for the neighbour u of v that is on
    the path to i. A first pass goes from the leaves to the roots, a second one back.
    """
    rooted, conditional = view.tree.rooted(), view.model.network.conditional
    order, parent = rooted.order.tolist(), rooted.parent.tolist()
    wanted = {node: slice(*starts[i : i + 2]) for i, node in enumerate(nodes)}
    # Only the paths between the nodes matter: leaves that are not wanted carry nothing.
    has_wanted = [node in wanted for node in range(view.tree.n_nodes)]
    for node in reversed(order):
        if parent[node] >= 0 and has_wanted[node]:
            has_wanted[parent[node]] = True
    kept = [node for node in order if has_wanted[node]]
    # At first, every node is independent of all others.
    independent = np.concatenate([view.marginals[node] for node in nodes])
    given = {node: np.tile(independent, (len(view.marginals[node]), 1)) for node in kept}
    below = {node: np.zeros(starts[-1], dtype=bool) for node in kept}
    for node in reversed(kept):
        if node in wanted:
            given[node][:, wanted[node]] = np.eye(len(view.marginals[node]))
            below[node][wanted[node]] = True
        above = parent[node]
        if above >= 0:
            known = below[node]
            given[above][:, known] = conditional(node, above).T @ given[node][:, known]
            below[above] |= known
    for node in kept:
        above = parent[node]
        if above >= 0:
            others = ~below[node]
            given[node][:, others] = conditional(above, node).T @ given[above][:, others]
    return {node: given[node] for node in nodes}
