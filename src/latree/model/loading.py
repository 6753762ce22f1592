"""How strongly the columns of a group depend on its hidden variable, and the order of the tree's leaves by it.

The states of a hidden variable have scores. They are the first principal component of what the ordered columns of its
group are expected to be in each state. The loading of an ordered column is its correlation with the score; that of any
other column is the informational correlation with the hidden variable.
"""

from collections.abc import Sequence

import numpy as np
from scipy.special import rel_entr

from latree._util.arrays import FloatArray
from latree.counts.distances import informational_correlation
from latree.inference.network import Network
from latree.model.group import Group
from latree.table import Column
from latree.tree import Tree
from latree.tree.leaves import Leaves, leaves_of

# Of a column's variance, a hidden variable must explain more than this share; less is rounding.
MIN_EXPLAINED = 1e-12
# Singular values that differ relatively by less than this are equal.
_EQUAL_WITHIN = 1e-6
# Numbers that agree in so many decimals are a tie.
_DECIMALS = 9
# The decimals of loadings that are compared.
LOADING_DECIMALS = 4


def standardised_codes(shares: FloatArray, least: float = 0.0) -> FloatArray:
    """Return codes 0, 1, ... with mean 0 and variance 1; zeros for a column whose variance is not above the least."""
    codes = np.arange(len(shares), dtype=np.float64)
    codes -= codes @ shares
    variance = float(codes**2 @ shares)
    return codes / np.sqrt(variance) if variance > least else np.zeros(len(shares))


def leading_score(means: FloatArray, shares: FloatArray) -> FloatArray | None:
    """Return the first principal component of expected values, one number per state, of mean 0 and variance 1.

    None if the variables say nothing.

    Parameters
    ----------
    means : array, shape (variables, states)
        What each variable, of mean 0 and variance 1, is expected to be in each state.
    shares : array
        The probability of each state.
    """
    weighted = means * np.sqrt(shares)
    if not len(means) or (weighted**2).sum(axis=1).max() <= MIN_EXPLAINED:
        return None
    left, singular, _ = np.linalg.svd(weighted, full_matrices=False)
    # If several components are equally strong, take their mixture that is nearest to one of the variables: the one that
    # they explain best or, of those that they explain equally well, the first.
    leading = left[:, singular > singular[0] * (1 - _EQUAL_WITHIN)]
    explained = np.round((leading**2).sum(axis=1), _DECIMALS)
    weights = leading @ leading[int(np.argmax(explained))]
    score = weights @ means
    score = score - score @ shares
    return np.asarray(score / np.sqrt(score**2 @ shares))


def ordered_leaves(network: Network, tree: Tree, columns: Sequence[Column], groups: Sequence[Group]) -> Leaves:
    """Return the order of a tree's columns that keeps main groups together, strong loadings first."""
    group_of, strengths = [-1] * tree.n_nodes, [0.0] * tree.n_nodes
    for number, group in enumerate(group for group in groups if group.level == "main"):
        for node in group.nodes:
            group_of[node] = number
        for column, loading in _loadings(network, tree, columns, group).items():
            strengths[column] = round(loading, LOADING_DECIMALS)
    return leaves_of(tree.rooted(), tree.n_observed, group_of, strengths)


def _loadings(network: Network, tree: Tree, columns: Sequence[Column], group: Group) -> dict[int, float]:
    """Return the loadings of a group's columns on the node in its middle, whatever their signs."""
    marginals, inside = network.marginals(), set(group.nodes)
    shares = marginals[group.centre]
    given = {group.centre: np.eye(len(shares))}  # P(node | centre), one column per state of the centre
    order = [group.centre]
    for node in order:  # which grows
        for other, _ in tree.neighbors[node]:
            if other in inside and other not in given:
                given[other] = network.conditional(other, node) @ given[node]
                order.append(other)
    own = sorted((node for node in order if node < tree.n_observed), key=lambda column: tree.names[column])
    expected = {
        column: standardised_codes(marginals[column], MIN_EXPLAINED) @ given[column]
        for column in own
        if columns[column].ordered
    }
    means = [expected[column] for column in own if column in expected and expected[column].any()]
    score = leading_score(np.array(means).reshape(len(means), len(shares)), shares)
    found = {}
    for column in own:
        if column in expected and score is not None:
            found[column] = abs(float((shares * score) @ expected[column]))
        else:
            independent = np.outer(marginals[column], shares)
            information = max(float(rel_entr(given[column] * shares, independent).sum()), 0.0)
            found[column] = float(informational_correlation(np.array(information)))
    return found
