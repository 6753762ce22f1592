"""Chow-Liu trees, over the columns themselves, and with a hidden twin for every column."""

from collections.abc import Sequence

import numpy as np

from latree._util.arrays import FloatArray
from latree.learners.structure import Structure
from latree.tree import Tree


def chow_liu(names: Sequence[str], information: FloatArray) -> Structure:
    """Build the maximum spanning tree of mutual information over the columns.

    Use it as a fast baseline without hidden variables. Among all trees whose nodes are the columns, the one of maximum
    likelihood is the spanning tree with the largest sum of mutual information over its edges,

        ``Σ_(i,j) I(x_i; x_j)``

    It is built by Prim's algorithm. Of edges with the same information, which the paper leaves open, the edge of the
    earlier column is taken.

    Parameters
    ----------
    names : sequence of str
        Names of the columns.
    information : array, shape (d, d)
        Mutual information of every two columns, from :func:`latree.counts.information`.

    References
    ----------
    Chow and Liu (1968), Approximating Discrete Probability Distributions with Dependence Trees.

    Examples
    --------
    >>> import numpy as np
    >>> from latree.learners import chow_liu
    >>> information = np.array([[0.7, 0.3, 0.1], [0.3, 0.7, 0.4], [0.1, 0.4, 0.7]])
    >>> chow_liu("abc", information).tree.edges.tolist()
    [[0, 1], [1, 2]]
    """
    d = len(names)
    # For each column, its best edge into the tree so far: the information, and the column at the other end.
    best, partner = information[0].copy(), np.zeros(d, dtype=np.intp)
    outside = np.ones(d, dtype=bool)
    outside[0] = False
    edges = []
    for _ in range(d - 1):
        # Add the column with the best edge into the tree.
        column = int(np.argmax(np.where(outside, best, -np.inf)))
        edges.append((int(partner[column]), column))
        outside[column] = False
        # Some columns now have a better edge, to the column just added.
        better = information[column] > best
        best[better], partner[better] = information[column][better], column
    return Structure(Tree(names, edges))


def hidden_chow_liu(names: Sequence[str], information: FloatArray) -> Structure:
    """Build the Chow-Liu tree over hidden twins of the columns, with every column attached to its twin.

    Use it for a good density, not to explain the columns: it has one hidden variable per column.

    Parameters
    ----------
    names : sequence of str
        Names of the columns.
    information : array, shape (d, d)
        Mutual information of every two columns, from :func:`latree.counts.information`.

    References
    ----------
    Liu and Van den Broeck (2021), Tractable Regularization of Probabilistic Circuits.

    Examples
    --------
    Nodes 3, 4 and 5 are the twins of columns a, b and c:

    >>> import numpy as np
    >>> from latree.learners import hidden_chow_liu
    >>> information = np.array([[0.7, 0.3, 0.1], [0.3, 0.7, 0.4], [0.1, 0.4, 0.7]])
    >>> hidden_chow_liu("abc", information).tree.edges.tolist()
    [[0, 3], [1, 4], [2, 5], [3, 4], [4, 5]]
    """
    d = len(names)
    own = [(column, d + column) for column in range(d)]
    between = [(d + u, d + v) for u, v in chow_liu(names, information).tree.edges.tolist()]
    return Structure(Tree(names, own + between))
