"""Bootstrap support and transfer support of inner edges, and the majority-rule consensus of trees."""

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
from joblib import Parallel, delayed
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from latree._util.arrays import FloatArray, IntArray
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
    own = _Visit.of(tree)
    total = np.zeros(len(tree.edges))
    for other in (one.reordered(tree.names) for one in trees):
        total += _transfer_shares(own, _Visit.of(other), len(tree.edges))
    return total / len(trees)


# Sides of up to this many variables are compared with the few sets that are about as small, larger ones with all sets.
# Either way finds the same distances: this is only where the first way becomes the slower one.
_SMALL_SIDE = 64
# Numbers of common variables that are computed at a time (64 MB).
_COUNTS_AT_ONCE = 2**24


class _Visit(NamedTuple):
    """The observed variables of a tree in the order of a visit, in which those of a subtree are a slice.

    Attributes
    ----------
    columns : array of int
        The observed variables in their order.
    start, stop : array of int
        The slice of each node's subtree.
    top : array of int
        The root of each node's component.
    edge : array of int
        The edge above each node; -1 for roots.
    depth : array of int
        The number of edges between each observed variable and its root, in their order.
    meets : list of array of int
        For each k, the smallest depth at which two variables meet that are neighbours in the order, among 2**k of such
        pairs from each place on. Variables of two components meet nowhere, at depth -1.
    """

    columns: IntArray
    start: IntArray
    stop: IntArray
    top: IntArray
    edge: IntArray
    depth: IntArray
    meets: list[IntArray]

    @classmethod
    def of(cls, tree: Tree) -> "_Visit":
        """Visit a tree."""
        rooted = tree.rooted()
        is_observed = rooted.order < tree.n_observed
        columns = rooted.order[is_observed]
        start: IntArray = (np.cumsum(is_observed) - is_observed)[rooted.position]
        size = rooted.subtree_sums((np.arange(tree.n_nodes) < tree.n_observed).astype(int).tolist())
        top = rooted.order.copy()
        for place, (node, above) in enumerate(zip(rooted.order, rooted.parent[rooted.order], strict=True)):
            top[place] = node if above < 0 else top[rooted.position[above]]
        # The node that is visited after a variable is a child of the node where the variable and the next one meet.
        following = rooted.order[rooted.position[columns[:-1]] + 1]
        depth = np.array(rooted.depth, dtype=np.intp)
        meets = [depth[following] - 1]
        while len(meets[-1]) > 2 ** (len(meets) - 1):
            half = 2 ** (len(meets) - 1)
            meets.append(np.minimum(meets[-1][:-half], meets[-1][half:]))
        return cls(columns, start, start + np.array(size), top[rooted.position], rooted.up, depth[columns], meets)

    def least(self, start: IntArray, stop: IntArray) -> IntArray:
        """Return the depths at which pairs of variables meet, given their places in the order."""
        level = np.frexp(stop - start)[1] - 1  # the largest power of two that is not longer
        found = np.empty(len(start), dtype=np.intp)
        for k in np.unique(level).tolist():
            some = level == k
            found[some] = np.minimum(self.meets[k][start[some]], self.meets[k][stop[some] - 2**k])
        return found


def _transfer_shares(own: _Visit, other: _Visit, n_edges: int) -> FloatArray:
    """Return the transfer support of each edge of a tree in another one."""
    place = np.empty_like(other.columns)
    place[other.columns] = np.arange(len(place))
    found = np.full(n_edges, np.nan)
    below = np.flatnonzero(own.edge >= 0)
    below = below[np.argsort(own.top[below], kind="stable")]
    for nodes in np.split(below, np.flatnonzero(np.diff(own.top[below])) + 1):
        if not len(nodes):
            continue
        first, last = (int(some[own.top[nodes[0]]]) for some in (own.start, own.stop))
        size = last - first
        sides = np.stack([own.start[nodes], own.stop[nodes]], axis=1) - first
        length = sides[:, 1] - sides[:, 0]
        smaller = np.minimum(length, size - length)
        inner = smaller > 1
        if not inner.any():
            continue
        # The component's variables in the order of the other tree, and where each of them is there.
        places = np.sort(place[own.columns[first:last]])
        rank = np.searchsorted(places, place[own.columns[first:last]])
        sets = _sets(other.least(places[:-1], places[1:]), other.depth[places])
        nearest = _nearest(sides[inner], smaller[inner], rank, sets)
        found[own.edge[nodes[inner]]] = 1 - nearest / (smaller[inner] - 1)
    return found


def _sets(meets: IntArray, depth: IntArray) -> IntArray:
    """Return the sets of variables below the nodes of a tree, and its components, as slices of their order.

    Parameters
    ----------
    meets : array of int
        The depth at which each variable and the next one meet; -1 for the last variable of a component.
    depth : array of int
        The depth of each variable.

    Returns
    -------
    array, shape (s, 4)
        Start and stop of each set, and start and stop of its component. Single variables are there only in a forest:
        the rest of a component is a set, too.
    """
    # Variables are in one subtree if they all meet as deep as its top, or deeper: each such run of variables is a set.
    # A stack has the runs that are open: where they start, and the depth of their top.
    found: list[tuple[int, int]] = []
    open_runs: list[tuple[int, int]] = []
    for number, meeting in enumerate([*meets.tolist(), -2]):
        start = number
        while open_runs and open_runs[-1][1] > meeting:
            start, _ = open_runs.pop()
            found.append((start, number + 1))
        if not open_runs or open_runs[-1][1] < meeting:
            open_runs.append((start, meeting))
    slices = np.array(found, dtype=np.intp).reshape(-1, 2)
    bounds = np.concatenate([[0], np.flatnonzero(meets < 0) + 1, [len(depth)]])
    if len(bounds) > 2:
        # Nothing is below them: they do not meet the next variable where they are.
        single = np.flatnonzero(np.append(meets, -1) < depth)
        slices = np.concatenate([slices, np.column_stack([single, single + 1])])
    # Runs that meet nowhere go beyond a component.
    home = np.searchsorted(bounds, slices[:, 0], side="right") - 1
    inside = slices[:, 1] <= bounds[home + 1]
    return np.column_stack([slices, bounds[home], bounds[home + 1]])[inside]


def _nearest(sides: IntArray, smaller: IntArray, rank: IntArray, sets: IntArray) -> IntArray:
    """Return the transfer distance of each side to some sets, or p - 1 if that is smaller.

    Parameters
    ----------
    sides : array of int, shape (e, 2)
        Slices of the variables.
    smaller : array of int
        The number p of variables on the smaller side.
    rank : array of int
        The place of each variable in the order of the sets.
    sets : array, shape (s, 4)
        From :func:`_sets`.
    """
    found = smaller - 1
    is_small = smaller <= _SMALL_SIDE
    small, large = np.flatnonzero(is_small), np.flatnonzero(~is_small)
    if len(small):
        most = 2 * int(smaller[small].max()) - 2
        found[small] = np.minimum(found[small], _nearest_small(sides[small], rank, _slices_of(sets, len(rank), most)))
    step = max(1, _COUNTS_AT_ONCE // (len(rank) + len(sets)))
    for start in range(0, len(large), step):
        some = large[start : start + step]
        is_inside = (np.arange(len(rank)) >= sides[some, :1]) & (np.arange(len(rank)) < sides[some, 1:])
        counts = np.zeros((len(some), len(rank) + 1), dtype=np.int32)
        counts[:, rank + 1] = is_inside
        np.cumsum(counts, axis=1, out=counts)
        length = counts[:, -1:]
        # |side Δ set| = |side| + |set| - 2 |side ∩ set|, for each set and for the rest of its component.
        first, last, of_first, of_last = sets.T
        common = counts[:, last] - counts[:, first]
        rest = counts[:, of_last] - counts[:, of_first] - common
        for shared, n_members in ((common, last - first), (rest, of_last - of_first - last + first)):
            distances = length + n_members - 2 * shared
            distances = np.minimum(distances, len(rank) - distances).min(axis=1, initial=len(rank))
            found[some] = np.minimum(found[some], distances)
    return found


def _slices_of(sets: IntArray, size: int, most: int) -> list[IntArray]:
    """Return all small sets that some sets make, each as slices, which have the number of the set in front.

    A set, the rest of its component, and what is outside of either: a split is made by any of them.
    """
    first, last, of_first, of_last = sets.T
    start, stop = np.zeros_like(first), np.full_like(first, size)
    made = (
        [(first, last)],
        [(of_first, first), (last, of_last)],
        [(start, first), (last, stop)],
        [(start, of_first), (first, last), (of_last, stop)],
    )
    found: list[IntArray] = []
    n_sets = 0
    for slices in made:
        n_members = sum((stop - start for start, stop in slices), start=np.zeros_like(first))
        kept = np.flatnonzero((n_members > 1) & (n_members <= most))
        number = n_sets + np.arange(len(kept))
        found += [np.column_stack([number, start[kept], stop[kept]]) for start, stop in slices]
        n_sets += len(kept)
    return found


def _nearest_small(sides: IntArray, rank: IntArray, slices: list[IntArray]) -> IntArray:
    """Return the least number of variables that must change sides so that each side is one of some sets."""
    size = len(rank)
    length = sides[:, 1] - sides[:, 0]
    is_large = 2 * length > size  # the smaller side is what is outside
    inside = (np.arange(len(sides)), np.where(is_large, 0, sides[:, 0]), np.where(is_large, sides[:, 0], sides[:, 1]))
    outside = (np.arange(len(sides)), np.where(is_large, sides[:, 1], 0), np.where(is_large, size, 0))
    one = _indicators([np.column_stack(inside), np.column_stack(outside)], len(sides), size)
    one = csr_array((one.data, rank[one.indices], one.indptr), shape=one.shape)
    n_sets = max((int(some[:, 0].max(initial=-1)) + 1 for some in slices), default=0)
    other = _indicators(slices, n_sets, size)
    common = (one @ other.T).tocsr()
    # A set that has no variable in common with a side is further from it than any single variable.
    n_own, n_other = np.diff(one.indptr), np.diff(other.indptr)
    number = np.repeat(np.arange(len(sides)), np.diff(common.indptr))
    found = np.full(len(sides), size)
    np.minimum.at(found, number, n_own[number] + n_other[common.indices] - 2 * common.data)
    return found


def _indicators(slices: list[IntArray], n_sets: int, size: int) -> csr_array:
    """Return a sparse matrix of zeros and ones with a row for each set, which consists of slices."""
    number, start, stop = np.concatenate(slices).T
    length = np.maximum(stop - start, 0)
    members = np.arange(length.sum()) - np.repeat(np.cumsum(length) - length, length) + np.repeat(start, length)
    ones = np.ones(len(members), dtype=np.int32)
    return csr_array((ones, (np.repeat(number, length), members)), shape=(n_sets, size))


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
