"""Chow-Liu: the tree over the columns themselves that fits best, without hidden variables.

Among all trees whose nodes are the columns, the maximum-likelihood one is the spanning tree of largest total mutual
information.
"""

from collections.abc import Sequence

import numpy as np

from latree._util.arrays import FloatArray
from latree.learners.structure import Structure
from latree.tree import Tree


def chow_liu(names: Sequence[str], information: FloatArray) -> Structure:
    """Join columns by a maximum spanning tree.

    Parameters
    ----------
    names : sequence of str
        Names of the columns.
    information : array, shape (d, d)
        Mutual information of every two columns. Of edges with the same information, which the paper leaves open, the
        one of the earlier column is taken.
    """
    d = len(names)
    best, partner = information[0].copy(), np.zeros(d, dtype=np.intp)  # of each column's edges into the tree so far
    outside = np.ones(d, dtype=bool)
    outside[0] = False
    edges = []
    for _ in range(d - 1):
        column = int(np.argmax(np.where(outside, best, -np.inf)))
        edges.append((int(partner[column]), column))
        outside[column] = False
        better = information[column] > best
        best[better], partner[better] = information[column][better], column
    return Structure(Tree(names, edges))
