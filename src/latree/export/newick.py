"""Newick, which nearly all programs for phylogenetic trees read."""

from collections.abc import Sequence

from latree.export.graph import edge_lengths
from latree.model import LatentTreeModel
from latree.tree.newick import write_newick


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
    >>> from latree.export import to_newick
    >>> tree = latree.Tree.from_newick("((a:1,b:2)0.9:3,c:4,d:5);")
    >>> model = latree.random_model(tree, random_state=0)
    >>> print(to_newick(model), end="")
    (a:1.0,b:2.0,(c:4.0,d:5.0)0.9:3.0);
    >>> print(to_newick(model, hidden=True), end="")
    (a:1.0,b:2.0,(c:4.0,d:5.0)H2[&hidden=true,support=0.9]:3.0)H1[&hidden=true];
    """
    return newick_text(model, model.node_names, hidden)


def newick_text(model: LatentTreeModel, names: Sequence[str], hidden: bool) -> str:
    """Return the tree of a model in Newick format, with the given names of all nodes."""
    tree = model.tree
    columns, others = names[: tree.n_observed], names[tree.n_observed :]
    return write_newick(columns, tree.rooted(), edge_lengths(model), tree.support, others if hidden else ())
