"""A simulated alignment of sequences, whose tree is known."""

import numpy as np

from latree._util.arrays import RandomState, generator
from latree._util.frames import make_frame
from latree.datasets.dataset import Dataset
from latree.model import LatentTreeModel
from latree.table import Column
from latree.tree import Tree

# Twelve invented taxa in three clades. Lengths are expected changes per site.
_NEWICK = (
    "((((Abo:0.10,Abu:0.08):0.06,Aka:0.15):0.07,Ami:0.2):0.12,"
    "(((Bela:0.07,Bero:0.1):0.08,(Bita:0.12,Bora:0.09):0.05):0.1,Buna:0.22):0.1,"
    "((Cami:0.1,Ceno:0.12):0.09,Cilo:0.18):0.14);"
)
_CLADES = {"A": "northern", "B": "middle", "C": "southern"}
_BASES = ("A", "C", "G", "T")


def make_alignment(n_sites: int = 1000, *, random_state: RandomState = 0) -> Dataset:
    """Simulate aligned DNA of twelve invented taxa on a known tree.

    Sites change along the edges of the tree as in the model of Jukes and Cantor (1969): after a length t, a base is
    still the same with probability ``1/4 + 3/4 exp(-4 t / 3)``, and each other base is equally probable. Sites are
    independent of each other.

    Parameters
    ----------
    n_sites : int
        Number of rows.
    random_state : int, Generator or None
        Seed of the random numbers.

    Returns
    -------
    Dataset
        Rows are sites, columns are taxa. ``labels`` has the clade of each taxon, ``tree`` the true tree with lengths.

    Examples
    --------
    >>> import latree
    >>> from latree.datasets import make_alignment
    >>> taxa = make_alignment()
    >>> found = latree.learn_tree(taxa.data, method="nj")
    >>> found.robinson_foulds(taxa.tree)
    0
    """
    tree = Tree.from_newick(_NEWICK)
    assert tree.lengths is not None
    rooted = tree.rooted()
    length = {frozenset(edge): value for edge, value in zip(tree.edges.tolist(), tree.lengths.tolist(), strict=True)}
    tables = []
    for node, parent in enumerate(rooted.parent.tolist()):
        if parent < 0:
            tables.append(np.full((4, 1), 1 / 4))
        else:
            decay = np.exp(-4 / 3 * length[frozenset((node, parent))])
            tables.append(np.full((4, 4), (1 - decay) / 4) + decay * np.eye(4))
    columns = tuple(Column(name, "text", _BASES) for name in tree.names)
    rows = LatentTreeModel(tree, columns, tuple(tables)).sample(n_sites, generator(random_state))
    return Dataset(
        data=make_frame(rows.decode()),
        labels={name: _CLADES[name[0]] for name in tree.names},
        rows=make_frame({"site": np.arange(1, n_sites + 1)}),
        tree=tree,
        description=f"{n_sites} sites of {tree.n_observed} invented taxa; simulated by latree, free to use",
    )
