"""How sure every inner edge is: trees of resampled rows, and what most of them agree on."""

from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np
from joblib import Parallel, delayed

from latree.builders import Progress, no_progress
from latree.errors import InputError
from latree.parallel import n_threads
from latree.table import MemoryRows, Table
from latree.tree import Split, Tree

# From a table of resampled rows and a random generator to the tree behind it.
Learner: TypeAlias = Callable[[Table, np.random.Generator], Tree]


def bootstrap_trees(
    table: Table, learn: Learner, replicates: int, seed: int, progress: Progress = no_progress
) -> list[Tree]:
    """Learn trees of tables whose rows are drawn anew from the table's, on all cores.

    A replicate has as many rows as the table, each drawn with a probability in proportion to its weight; rows that were
    drawn several times have that weight. Its random numbers depend on the seed and its own number alone.
    """
    codes, weights = table.rows.fetch(np.arange(table.n_rows))
    shares = np.full(len(codes), 1 / len(codes)) if weights is None else weights / weights.sum()
    size = max(1, round(table.total_weight))

    def replicate(number: int) -> Tree:
        rng = np.random.default_rng([seed, number])
        drawn = rng.multinomial(size, shares)
        rows = np.flatnonzero(drawn)
        return learn(Table(table.columns, MemoryRows(codes[rows], drawn[rows].astype(float))), rng)

    trees = []
    work = (delayed(replicate)(number) for number in range(replicates))
    for tree in Parallel(n_jobs=n_threads(), prefer="threads", return_as="generator")(work):
        trees.append(tree)
        progress(len(trees), replicates)
    return trees


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
    everything = (1 << len(names)) - 1
    candidates = {split for tree in ordered for split in tree.splits if split.within == everything}
    shares = {split: float(np.mean([tree.implies(split) for tree in ordered])) for split in candidates}
    # Partitions that more than half of the trees imply are compatible: the sides without the first variable nest.
    kept = sorted((split for split in candidates if shares[split] > 0.5), key=lambda split: split.side.bit_count())
    return _nested(names, kept, [shares[split] for split in kept])


def _nested(names: Sequence[str], splits: Sequence[Split], support: Sequence[float]) -> Tree:
    """Build the tree whose inner edges part off the given sides, smaller ones first."""
    d = len(names)
    loose = {1 << column: column for column in range(d)}  # sides that are not tied to anything above them yet
    edges = []
    for node, split in enumerate(splits, start=d):
        edges += [(loose.pop(side), node) for side in [side for side in loose if side & split.side]]
        loose[split.side] = node
    if len(loose) > 1:
        edges += [(node, d + len(splits)) for node in loose.values()]
    return Tree(names, edges, support=[np.nan if below < d else support[below - d] for below, _ in edges])
