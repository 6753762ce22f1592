"""Average linkage: repeatedly join the two clusters of columns that are most alike on average (UPGMA)."""

from collections.abc import Sequence

import numpy as np
from scipy.cluster.hierarchy import linkage
from scipy.spatial.distance import squareform

from latree._util.arrays import FloatArray
from latree.learners.simplest import latent_class
from latree.learners.structure import Structure
from latree.tree import Tree


def average_linkage(names: Sequence[str], similarity: FloatArray) -> Structure:
    """Build a binary tree by joining the two clusters with the largest mean similarity of their columns.

    It needs no additive distance, and is often the best start on questionnaires, where columns of one scale are alike
    and scales are not. Neighbour joining is better where some columns are much noisier than others.

    Parameters
    ----------
    names : sequence of str
    similarity : array, shape (d, d)
        Symmetric; larger means more alike. For example the mutual information, :func:`latree.counts.information` by
        :func:`latree.counts.pairwise`. The diagonal is not used.

    Returns
    -------
    Structure

    References
    ----------
    R. R. Sokal, C. D. Michener: *A Statistical Method for Evaluating Systematic Relationships*, 1958.

    Examples
    --------
    >>> import numpy as np
    >>> from latree.learners import average_linkage
    >>> alike = np.array([[0, 5, 1, 1], [5, 0, 1, 1], [1, 1, 0, 4], [1, 1, 4, 0]])
    >>> average_linkage("abcd", alike).tree.to_newick().strip()
    '(a,b,(c,d));'
    """
    d = len(names)
    if d < 4:
        return latent_class(names)
    distance = float(similarity.max()) - similarity
    np.fill_diagonal(distance, 0)
    edges: list[tuple[int, int]] = []
    # Row i of the linkage joins two clusters into cluster d + i.
    for cluster, (one, other, _, _) in enumerate(linkage(squareform(distance, checks=False), "average"), start=d):
        if cluster == 2 * d - 2:  # the tree has no root: the last two clusters are neighbours
            edges.append((int(one), int(other)))
        else:
            edges += [(int(one), cluster), (int(other), cluster)]
    return Structure(Tree(names, edges))
