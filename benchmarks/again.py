"""How much of one fit is found again in another one, of other rows of the same table."""

from collections.abc import Sequence

import numpy as np

from latree import Tree
from latree.learners.support import transfer_support
from latree.model.group import Group
from latree.tree import Split
from truth import Row


def edges_again(tree: Tree, other: Tree) -> list[Row]:
    """Return for each inner edge of a tree what another tree says about it.

    Columns that only one of the trees has are left out. `transfer` is the transfer support of the edge in the other
    tree. The edge is found again, `exact`, if that is 1, and `contradicted` if a split of the other tree excludes it.
    """
    shared = [name for name in tree.names if name in set(other.names)]
    tree, other = tree.restricted(shared), other.restricted(shared)
    return [
        {"support": support, "transfer": share, "exact": share == 1, "contradicted": contradicts(other, split)}
        for split, support, share in zip(tree.edge_splits, tree.support, transfer_support(tree, [other]), strict=True)
        if split.smaller_side > 1
    ]


def contradicts(tree: Tree, split: Split) -> bool:
    """Return whether a tree has a split that no tree can have together with the given one.

    Examples
    --------
    >>> given = Tree.from_newick("((a,b),c,d);")
    >>> others = map(Tree.from_newick, ["((a,c),b,d);", "(a,b,c,d);"])
    >>> [contradicts(other.reordered(given.names), split) for other in others for split in given.splits]
    [True, False]
    """
    return any(
        all(one & two for one in (split.side, split.other_side) for two in (own.side, own.other_side))
        for own in tree.splits
    )


def columns_again(groups: Sequence[Group], others: Sequence[Group]) -> list[Row]:
    """Return for each column of a main group whether more than half of the group's other columns are with it again."""
    main = [set(group.columns) for group in others if group.level == "main"]
    rows = []
    for group in groups:
        if group.level != "main" or len(group.columns) < 2:
            continue
        shares = group.column_stability or [np.nan] * len(group.columns)
        for column, share in zip(group.columns, shares, strict=True):
            there = next((other for other in main if column in other), {column})
            mates = len(there.intersection(group.columns)) - 1
            rows.append({"stability": share, "again": 2 * mates > len(group.columns) - 1})
    return rows
