"""Hidden Chow-Liu trees (Liu and Van den Broeck 2021): the Chow-Liu tree with a hidden twin for every column."""

from collections.abc import Sequence

from latree._util.arrays import FloatArray
from latree.learners.chow_liu import chow_liu
from latree.learners.structure import Structure
from latree.tree import Tree


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
