"""Bootstrap support and transfer support of inner edges, and the majority-rule consensus of trees."""

from collections.abc import Callable, Iterable, Sequence
from typing import TypeAlias

import numpy as np
from joblib import Parallel, delayed
from scipy.sparse.csgraph import connected_components

from latree._util.arrays import FloatArray
from latree._util.checkpoint import NOTHING_KEPT, Keeper
from latree._util.progress import claim_progress
from latree._util.workers import n_threads, one_blas_thread
from latree.errors import InputError
from latree.learners.structure import Replicate
from latree.table import Table
from latree.tree import Split, Tree

# From a table of resampled rows and a random generator to a tree.
TreeLearner: TypeAlias = Callable[[Table, np.random.Generator], Tree]


def bootstrap_trees(
    table: Table,
    learn: TreeLearner,
    replicates: int,
    seed: int,
    keep: Keeper = NOTHING_KEPT,
    kind: str = "replicates",
) -> list[Tree]:
    """Learn one tree from each of several resampled tables, on all cores.

    Use the trees with :func:`with_support` or :func:`consensus`, to see which edges would also be found in other rows.
    A replicate has as many rows as the table. Each is drawn with a probability proportional to its weight, and a row
    drawn several times has that number as its weight.

    Parameters
    ----------
    table : Table
    learn : callable
        From a resampled table and a random generator to a tree.
    replicates : int
        Number of resampled tables.
    seed : int
        The random numbers of a replicate depend on the seed and the replicate's own number alone.
    keep : Keeper
        Saves the trees, so that trees saved by an interrupted run are not learned again.
    kind : str
        Name under which ``keep`` saves the trees.

    Returns
    -------
    list of Tree
        In the order of the replicates.

    References
    ----------
    Felsenstein (1985), Confidence Limits on Phylogenies: An Approach Using the Bootstrap.

    Examples
    --------
    >>> import latree
    >>> from latree.research import covariance, pairwise
    >>> from latree.learners.support import bootstrap_trees
    >>> from latree.research import neighbor_joining
    >>> tree = latree.random_tree(5, random_state=0)
    >>> table = latree.random_model(tree, n_states=3, hidden_states=2, start="identity", random_state=0).sample(500, 0)
    >>> def learn(table, rng):
    ...     return neighbor_joining(table.names, pairwise(table, covariance)).tree
    >>> len(bootstrap_trees(table, learn, replicates=10, seed=0))
    10
    """
    progress = claim_progress()

    def replicate(number: int) -> Tree:
        rng = np.random.default_rng([seed, number, 0, 2])
        return learn(Table(table.columns, table.rows.resampled(seed, number)), rng)

    keep.expect(kind, replicates)
    known = {
        number: keep.load(kind, number, lambda arrays: Tree(table.names, **arrays)) for number in range(replicates)
    }
    trees = {number: tree for number, tree in known.items() if tree is not None}
    if trees:
        progress(len(trees), replicates)
    waiting = [number for number in known if number not in trees]
    with one_blas_thread():  # BLAS's own threads wait for each other in busy loops, which slows down the other threads
        learned = Parallel(n_jobs=n_threads(), prefer="threads", return_as="generator")(
            delayed(replicate)(number) for number in waiting
        )
        for number, tree in zip(waiting, learned, strict=True):
            trees[number] = tree
            keep.save(kind, number, {"edges": tree.edges, "lengths": tree.lengths, "support": tree.support})
            progress(len(trees), replicates)
    return [trees[number] for number in range(replicates)]


def with_support(tree: Tree, trees: Sequence[Tree]) -> Tree:
    """Return the tree with support: for each inner edge, the share of the other trees that imply the same split.

    Parameters
    ----------
    tree : Tree
    trees : sequence of Tree
        Over the same observed variables, in any order; from :func:`bootstrap_trees`, for instance.

    Examples
    --------
    Three of four trees have the split {a, b | c, d}:

    >>> import latree
    >>> from latree.learners.support import with_support
    >>> texts = 3 * ["((a,b),c,d);"] + ["((a,c),b,d);"]
    >>> trees = [latree.Tree.from_newick(text) for text in texts]
    >>> print(with_support(trees[0], trees).to_newick().strip())
    (a,b,(c,d)0.75);
    """
    ordered = [other.reordered(tree.names) for other in trees]
    support = np.full(len(tree.edges), np.nan)
    for edge, split in enumerate(tree.edge_splits):
        if split in tree.splits:
            support[edge] = np.mean([other.implies(split) for other in ordered])
    return Tree(tree.names, tree.edges, tree.lengths, support)


def transfer_support(tree: Tree, trees: Sequence[Tree]) -> FloatArray:
    """Return the transfer support of each edge: how much of its split is found in other trees, on average.

    Use it where :func:`with_support` is too strict. A group of many variables of which one wanders is found again in
    every other tree, but never as exactly the same split. The transfer distance δ of a split to another tree is the
    least number of variables that must change sides so that the split is one of the other tree's. Trivial splits count,
    so δ is at most p - 1, where p is the size of the smaller side. The transfer support is 1 - δ / (p - 1): 1 if the
    other tree has the split, and 0 if it has nothing like it.

    Where the other tree is a forest, each side of an edge, and each component, is split from all other variables: what
    is independent of the rest is apart from it. Variables outside the edge's own component do not count.

    Parameters
    ----------
    tree : Tree
    trees : sequence of Tree
        Over the same observed variables, in any order.

    Returns
    -------
    array, shape (number of edges,)
        From 0 to 1; NaN for edges whose split is trivial.

    References
    ----------
    Lemoine et al. (2018), Renewing Felsenstein's phylogenetic bootstrap in the era of big data.

    Examples
    --------
    One variable, d, is on the other side in the second of two trees, so δ is 0 and 1, and p is 4:

    >>> import latree
    >>> from latree.learners.support import transfer_support
    >>> texts = ["(a,b,c,d,(e,f,g,h));", "(a,b,c,(d,e,f,g,h));"]
    >>> tree, other = map(latree.Tree.from_newick, texts)
    >>> support = transfer_support(tree, [tree, other])
    >>> support[~np.isnan(support)].round(3)
    array([0.833])
    """
    if not trees:
        raise InputError("transfer support needs at least one other tree")
    edges = [edge for edge, split in enumerate(tree.edge_splits) if split.smaller_side > 1]
    splits = [tree.edge_splits[edge] for edge in edges]
    smaller = np.array([split.smaller_side for split in splits])
    sides = _indicators([split.side for split in splits], tree.n_observed)
    # Components are few: those of the edges are looked up.
    number = {component: place for place, component in enumerate(tree.components)}
    components, home = _indicators(number, tree.n_observed), [number[split.component] for split in splits]
    size, whole = sides.sum(axis=1)[:, None], components.sum(axis=1)[home, None]
    everything = (1 << tree.n_observed) - 1
    total = np.zeros(len(edges))
    for other in (one.reordered(tree.names) for one in trees):
        parts = {*other.components, *(part for split in other.edge_splits for part in (split.side, split.other_side))}
        # A part and the rest make the same split. Single variables are left out: their distance of p - 1 is known.
        parts = {min(part, part ^ everything) for part in parts if 1 < part.bit_count() < tree.n_observed - 1}
        theirs = _indicators(parts, tree.n_observed).T
        # Within the edge's component C, |side Δ part| = |side| + |part ∩ C| - 2 |side ∩ part|.
        distances = size + (components @ theirs)[home] - 2 * sides @ theirs
        nearest = np.minimum(distances, whole - distances).min(axis=1, initial=tree.n_observed)
        total += 1 - np.minimum(nearest, smaller - 1) / (smaller - 1)
    support = np.full(len(tree.edges), np.nan)
    support[edges] = total / len(trees)
    return support


def _indicators(bit_sets: Iterable[int], size: int) -> FloatArray:
    """Return a matrix with a row of zeros and ones for each bit set."""
    width = -(-size // 8)
    packed = np.frombuffer(b"".join(bits.to_bytes(width, "little") for bits in bit_sets), dtype=np.uint8)
    return np.unpackbits(packed.reshape(-1, width), axis=1, count=size, bitorder="little").astype(np.float32)


def found_again(tree: Tree, replicates: Sequence[Replicate]) -> FloatArray:
    """Return how much of each edge is found again in parts of the rows: its support.

    An edge counts as found in a tree that has exactly its split. Otherwise half of its transfer support counts: a scale
    of 14 items of which one wanders is never the same split again, and yet is mostly there. Only half, because large
    splits are a little like others by chance.

    Support is the mean of two means. A search in a part of the rows says whether the edge is there at all, but searches
    are few, because they take long. The trees that each could start from are binary, and say which columns go together
    in these rows: if three kinds of trees agree, it is hardly an accident.

    Parameters
    ----------
    tree : Tree
    replicates : sequence of Replicate

    Returns
    -------
    array, shape (number of edges,)
        From 0 to 1; NaN for edges whose split is trivial.
    """

    def mean_share(trees: Iterable[Tree]) -> FloatArray:
        shares = np.array([transfer_support(tree, [other]) for other in trees])
        return np.asarray(np.where(shares < 1, shares / 2, shares).mean(axis=0))

    searched = mean_share(one.model.tree for one in replicates)
    return (searched + mean_share(start for one in replicates for start in one.starts or (one.model.tree,))) / 2


def consensus(trees: Sequence[Tree]) -> Tree:
    """Return the majority-rule consensus: the tree of all splits that more than half of the trees imply.

    Use it to summarise several trees, such as those of :func:`bootstrap_trees`. Two variables are in one component of
    the consensus if more than half of the trees connect them, directly or through others. A forest leaves open how its
    components are connected (see :meth:`Tree.implies`). So two splits that exclude each other may both have a majority
    of forests; then the one with the larger share is taken.

    Parameters
    ----------
    trees : sequence of Tree
        Over the same observed variables, in any order.

    Returns
    -------
    Tree
        Not binary where no majority agrees. The support of an edge is the share of trees that imply its split.

    References
    ----------
    Margush and McMorris (1981), Consensus n-trees.

    Examples
    --------
    >>> import latree
    >>> from latree.learners.support import consensus
    >>> texts = 3 * ["((a,b),c,d);"] + ["((a,c),b,d);"]
    >>> trees = [latree.Tree.from_newick(text) for text in texts]
    >>> print(consensus(trees).to_newick().strip())
    (c,d,(a,b)0.75);
    """
    if not trees:
        raise InputError("a consensus needs at least one tree")
    names = trees[0].names
    ordered = [tree.reordered(names) for tree in trees]
    edges: list[tuple[int, int]] = []
    support: list[float] = []
    top = len(names)
    # A set of columns is an integer with one bit per column.
    for columns in _components(ordered):
        within = sum(1 << column for column in columns)
        shares = _majority_sides(ordered, within)
        unattached = {1 << column: column for column in columns}  # nodes without a parent, by the columns below
        # The sides are nested, so that smaller ones come first. A last node joins what is unattached in the end.
        for side in [*sorted(shares, key=int.bit_count), *([within] if len(columns) > 1 else [])]:
            below = [other for other in unattached if other & side]
            edges += [(unattached.pop(other), top) for other in below]
            support += [shares.get(other, np.nan) for other in below]
            unattached[side] = top
            top += 1
    return Tree(names, edges, support=support)


def _components(trees: Sequence[Tree]) -> list[list[int]]:
    """Return the groups of columns that more than half of the trees connect, directly or through others."""
    d = trees[0].n_observed
    together = np.zeros((d, d))
    for tree in trees:
        part = np.array([next(p for p, bits in enumerate(tree.components) if bits >> i & 1) for i in range(d)])
        together += part[:, None] == part
    number, group = connected_components(together > len(trees) / 2, directed=False)
    return [np.flatnonzero(group == one).tolist() for one in range(number)]


def _majority_sides(trees: Sequence[Tree], within: int) -> dict[int, float]:
    """Return compatible splits of a component that more than half of the trees imply, with the share of these trees.

    A split is given by its side without the first column of the component.
    """
    # All splits that any tree has within the component, except those of single columns.
    candidates = set()
    for split in {split for tree in trees for split in tree.splits if split.component & within == within}:
        side = split.side & within
        side = side ^ within if side & within & -within else side
        if side.bit_count() > 1 and (side ^ within).bit_count() > 1:
            candidates.add(side)
    shares = {side: float(np.mean([tree.implies(Split(side, within)) for tree in trees])) for side in candidates}
    # Take splits by falling share, if they are compatible with all that were taken: nested or disjoint.
    agreed: dict[int, float] = {}
    for side in sorted(candidates, key=lambda side: (-shares[side], side)):
        if shares[side] > 0.5 and all(side & other in (0, side, other) for other in agreed):
            agreed[side] = shares[side]
    return agreed
