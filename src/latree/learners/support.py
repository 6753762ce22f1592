"""How sure every inner edge is: trees of resampled rows, and what most of them agree on."""

from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np
from joblib import Parallel, delayed
from scipy.sparse.csgraph import connected_components

from latree._util.checkpoint import NOTHING_KEPT, Keeper
from latree._util.parallel import n_threads, one_blas_thread
from latree._util.progress import Progress, no_progress
from latree.errors import InputError
from latree.table import Table
from latree.tree import Split, Tree

# From a table of resampled rows and a random generator to the tree behind it.
Learner: TypeAlias = Callable[[Table, np.random.Generator], Tree]


def bootstrap_trees(
    table: Table,
    learn: Learner,
    replicates: int,
    seed: int,
    progress: Progress = no_progress,
    keep: Keeper = NOTHING_KEPT,
    kind: str = "replicates",
) -> list[Tree]:
    """Learn trees of tables whose rows are drawn anew from the table's, on all cores.

    A replicate has as many rows as the table, each drawn with a probability in proportion to its weight; rows that were
    drawn several times have that weight. Its random numbers depend on the seed and its own number alone. Trees are kept
    as pieces of a kind, and those that were kept before are not learned again.
    """

    def replicate(number: int) -> Tree:
        rng = np.random.default_rng([seed, number, 0, 2])
        return learn(Table(table.columns, table.rows.resampled(seed, number)), rng)

    keep.expect(kind, replicates)
    known = {number: keep.load(kind, number) for number in range(replicates)}
    trees = {number: Tree(table.names, **arrays) for number, arrays in known.items() if arrays is not None}
    if trees:
        progress(len(trees), replicates)
    waiting = [number for number in known if number not in trees]
    with one_blas_thread():  # its threads wait for each other by doing nothing busily, which is worst on busy cores
        learned = Parallel(n_jobs=n_threads(), prefer="threads", return_as="generator")(
            delayed(replicate)(number) for number in waiting
        )
        for number, tree in zip(waiting, learned, strict=True):
            trees[number] = tree
            keep.save(kind, number, {"edges": tree.edges, "lengths": tree.lengths, "support": tree.support})
            progress(len(trees), replicates)
    return [trees[number] for number in range(replicates)]


def with_support(tree: Tree, trees: Sequence[Tree]) -> Tree:
    """Give a tree whose inner edges have as support the share of the trees that imply the same partition."""
    ordered = [other.reordered(tree.names) for other in trees]
    support = np.full(len(tree.edges), np.nan)
    for edge, split in enumerate(tree.edge_splits):
        if split in tree.splits:
            support[edge] = np.mean([other.implies(split) for other in ordered])
    return Tree(tree.names, tree.edges, tree.lengths, support)


def consensus(trees: Sequence[Tree]) -> Tree:
    """Give the majority-rule consensus: the partitions that more than half of the trees imply.

    Variables that more than half of the trees tie together, directly or through others, are in one component of the
    consensus. As a forest leaves open how its components hang together (see :meth:`Tree.implies`), two partitions that
    exclude each other may both have a majority of forests; then the larger one counts.

    Parameters
    ----------
    trees : sequence of Tree
        Over the same observed variables, in any order.

    Returns
    -------
    Tree
        Non-binary where no majority agrees; the support of an edge is the share of trees that imply its partition.
    """
    if not trees:
        raise InputError("a consensus needs at least one tree")
    names = trees[0].names
    ordered = [tree.reordered(names) for tree in trees]
    edges: list[tuple[int, int]] = []
    support: list[float] = []
    top = len(names)
    for columns in _tied(ordered):
        within = sum(1 << column for column in columns)
        shares = _agreed(ordered, within)
        loose = {1 << column: column for column in columns}  # sides that are not tied to anything above them yet
        # The sides nest, so that smaller ones come first; what is loose in the end is tied together.
        for side in [*sorted(shares, key=int.bit_count), *([within] if len(columns) > 1 else [])]:
            below = [other for other in loose if other & side]
            edges += [(loose.pop(other), top) for other in below]
            support += [shares.get(other, np.nan) for other in below]
            loose[side] = top
            top += 1
    return Tree(names, edges, support=support)


def _tied(trees: Sequence[Tree]) -> list[list[int]]:
    """Give the groups of columns that more than half of the trees tie together, directly or through others."""
    d = trees[0].n_observed
    together = np.zeros((d, d))
    for tree in trees:
        part = np.array([next(p for p, bits in enumerate(tree.components) if bits >> i & 1) for i in range(d)])
        together += part[:, None] == part
    number, group = connected_components(together > len(trees) / 2, directed=False)
    return [np.flatnonzero(group == one).tolist() for one in range(number)]


def _agreed(trees: Sequence[Tree], within: int) -> dict[int, float]:
    """Give the sides, without the first column, of compatible partitions that more than half of the trees imply."""
    candidates = set()
    for split in {split for tree in trees for split in tree.splits if split.component & within == within}:
        side = split.side & within
        side = side ^ within if side & within & -within else side
        if side.bit_count() > 1 and (side ^ within).bit_count() > 1:
            candidates.add(side)
    shares = {side: float(np.mean([tree.implies(Split(side, within)) for tree in trees])) for side in candidates}
    agreed: dict[int, float] = {}
    for side in sorted(candidates, key=lambda side: (-shares[side], side)):
        if shares[side] > 0.5 and all(side & other in (0, side, other) for other in agreed):
            agreed[side] = shares[side]
    return agreed
