"""The tree of a model as a linkage of scipy, for dendrograms and seaborn's clustermap."""

from typing import NamedTuple

import numpy as np

from latree._util.arrays import FloatArray
from latree.errors import InputError
from latree.export.graph import edge_lengths
from latree.model import LatentTreeModel

# Components of a forest are joined this much higher than the highest of them.
_TOP = 1.1


class _Cluster(NamedTuple):
    """Columns that are merged, as seen from the node that they hang on."""

    distance: float  # mean distance of its columns from the node
    first: int  # its first column, which breaks ties
    number: int  # of its column, or of the merge that made it
    size: int
    height: float


def to_linkage(model: LatentTreeModel) -> FloatArray:
    """Return the tree of a model as a linkage matrix of :mod:`scipy.cluster.hierarchy`, one row per merge.

    ``scipy.cluster.hierarchy.dendrogram`` draws it, and ``seaborn.clustermap`` takes it as ``col_linkage``; the leaves
    are the columns of the table in their order.

    The tree is hung from its middle. Two branches of a node are merged at the mean distance between their columns, but
    not below any merge inside them. Distances are sums of the edges' lengths (:func:`to_newick` says which). If a node
    has more than two branches, those nearest to it are merged first. A column that is an inner node is a branch of its
    own. The components of a forest are joined at the top, a tenth above the highest of them.

    Returns
    -------
    array of float, shape (columns - 1, 4)
        The two clusters of each merge, its height and its number of columns, sorted by height.

    Examples
    --------
    >>> import latree
    >>> from latree.export import to_linkage
    >>> tree = latree.Tree.from_newick("((a:1,b:1):1,c:1,d:2);")
    >>> to_linkage(latree.random_model(tree, random_state=0))
    array([[0. , 1. , 2. , 2. ],
           [2. , 3. , 3. , 2. ],
           [4. , 5. , 3.5, 4. ]])
    """
    tree, rooted = model.tree, model.tree.rooted()
    if tree.n_observed < 2:
        raise InputError("a linkage needs at least two columns, and the model has one")
    lengths = np.maximum(np.nan_to_num(edge_lengths(model)), 0).tolist()
    merges = _Merges(tree.n_observed)
    below: dict[int, _Cluster] = {}
    for node in rooted.postorder:
        branches = [_Cluster(0.0, node, node, 1, 0.0)] if node < tree.n_observed else []
        for child in rooted.children[node]:
            cluster = below.pop(child)
            branches.append(cluster._replace(distance=cluster.distance + lengths[rooted.up[child]]))
        below[node] = merges.merge(branches)
    # Components have no distance: all merges between them are at the same height.
    top = _TOP * max(component.height for component in below.values()) or 1.0
    merges.merge([component._replace(distance=0.0) for component in below.values()], at_least=top)
    return merges.linkage()


class _Merges:
    """Merges clusters and writes down how."""

    def __init__(self, n_columns: int) -> None:
        self.n_columns = n_columns
        self.found: list[tuple[float, int, int, int]] = []  # height, the two clusters, number of columns

    def merge(self, branches: list[_Cluster], at_least: float = 0.0) -> _Cluster:
        """Merge the branches of a node one after the other, the nearest first; return the cluster of all."""
        merged, *others = sorted(branches)
        for other in others:
            # The mean distance of two columns, one of each branch; they are connected through the node.
            height = max(merged.distance + other.distance, merged.height, other.height, at_least)
            size = merged.size + other.size
            self.found.append((height, merged.number, other.number, size))
            distance = (merged.distance * merged.size + other.distance * other.size) / size
            number = self.n_columns + len(self.found) - 1
            merged = _Cluster(distance, min(merged.first, other.first), number, size, height)
        return merged

    def linkage(self) -> FloatArray:
        """Return the merges in the order of their heights, as scipy wants them."""
        # Sorting is stable, and no merge is lower than those inside it: it stays behind them.
        order = sorted(range(len(self.found)), key=lambda merge: self.found[merge][0])
        place = [*range(self.n_columns), *(self.n_columns + np.argsort(order)).tolist()]
        rows = [
            (*sorted((place[one], place[two])), height, size)
            for height, one, two, size in (self.found[merge] for merge in order)
        ]
        return np.array(rows, dtype=np.float64)
