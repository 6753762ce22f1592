"""Hidden Chow-Liu trees (Liu & Van den Broeck 2021): the Chow-Liu tree, every column of which has a hidden twin."""

from collections.abc import Sequence

from latree._util.arrays import FloatArray
from latree.learners.chow_liu import chow_liu
from latree.learners.structure import Structure
from latree.tree import Tree


def hidden_chow_liu(names: Sequence[str], information: FloatArray) -> Structure:
    """Tie the hidden twins like the columns of the Chow-Liu tree, and every column to its twin.

    Parameters
    ----------
    names : sequence of str
    information : array, shape (d, d)
        Mutual information of every two columns.
    """
    d = len(names)
    own = [(column, d + column) for column in range(d)]
    between = [(d + u, d + v) for u, v in chow_liu(names, information).tree.edges.tolist()]
    return Structure(Tree(names, own + between))
