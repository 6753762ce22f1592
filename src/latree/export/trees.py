"""A model as a tree: Newick and NEXUS for phylogenetics, a linkage of scipy for dendrograms."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from latree._util.arrays import FloatArray
from latree.errors import InputError
from latree.export.graphs import edge_lengths
from latree.export.names import one_line, unique_names
from latree.model import LatentTreeModel
from latree.tree.newick import quoted_name, write_newick


def to_newick(model: LatentTreeModel, *, hidden: bool = False) -> str:
    """Return the tree of a model in Newick format; a forest as one statement per component.

    Edges have the lengths of the tree, or those of :meth:`latree.LatentTreeModel.edge_lengths` if it has none: longer
    edges mean weaker dependence. A number after an inner node is the support of the edge above it.
    :meth:`latree.Tree.from_newick` reads the same tree again.

    Parameters
    ----------
    model : LatentTreeModel
    hidden : bool
        Whether inner nodes have the names of hidden variables. Their support is then in a comment, as in
        ``H1[&hidden=true,support=0.9]``, which FigTree and DendroPy read.

    Examples
    --------
    >>> import latree
    >>> from latree.export.trees import to_newick
    >>> tree = latree.Tree.from_newick("((a:1,b:2)0.9:3,c:4,d:5);")
    >>> model = latree.random_model(tree, random_state=0)
    >>> print(to_newick(model), end="")
    (a:1.0,b:2.0,(c:4.0,d:5.0)0.9:3.0);
    >>> print(to_newick(model, hidden=True), end="")
    (a:1.0,b:2.0,(c:4.0,d:5.0)H2[&hidden=true,support=0.9]:3.0)H1[&hidden=true];
    """
    return newick_text(model, model.node_names, hidden)


def plain_newick(model: LatentTreeModel) -> str:
    """Return the tree of a model in Newick format, in the order of its leaves, as a fit writes it."""
    tree = model.tree
    return write_newick(tree.names, tree.rooted(), tree.lengths, tree.support, (), model.leaves.branches)


def newick_text(model: LatentTreeModel, names: Sequence[str], hidden: bool) -> str:
    """Return the tree of a model in Newick format, with the given names of all nodes."""
    tree = model.tree
    columns, others = names[: tree.n_observed], names[tree.n_observed :]
    return write_newick(
        columns, tree.rooted(), edge_lengths(model), tree.support, others if hidden else (), model.leaves.branches
    )


def to_nexus(model: LatentTreeModel, *, hidden: bool = False) -> str:
    """Return the tree of a model in NEXUS format: the columns are the taxa, each component of a forest is a tree.

    NEXUS does not tell upper and lower case apart. Of two names that differ only in case, the second gets a number.

    Parameters
    ----------
    model : LatentTreeModel
    hidden : bool
        Whether inner nodes have the names of hidden variables; see :func:`to_newick`.

    Examples
    --------
    >>> import latree
    >>> from latree.export.trees import to_nexus
    >>> tree = latree.Tree.from_newick("((a:1,'b c':2):3,d:4,e:5);")
    >>> print(to_nexus(latree.random_model(tree, random_state=0)), end="")
    #NEXUS
    BEGIN TAXA;
      DIMENSIONS NTAX=4;
      TAXLABELS a 'b c' d e;
    END;
    BEGIN TREES;
      TREE part1 = [&U] (a:1.0,'b c':2.0,(d:4.0,e:5.0):3.0);
    END;
    """
    names = unique_names(model.node_names, one_line)
    columns = names[: model.tree.n_observed]
    lines = [
        "#NEXUS",
        "BEGIN TAXA;",
        f"  DIMENSIONS NTAX={len(columns)};",
        f"  TAXLABELS {' '.join(map(quoted_name, columns))};",
        "END;",
        "BEGIN TREES;",
    ]
    for number, statement in enumerate(newick_text(model, names, hidden).splitlines(), start=1):
        lines.append(f"  TREE part{number} = [&U] {statement}")
    return "\n".join([*lines, "END;"]) + "\n"


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
    >>> from latree import to_linkage
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
