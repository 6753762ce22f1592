"""How a learned model compares with the true one: edges, hidden variables, numbers of states, support.

All results are plain numbers under fixed names, so that they can be added up over tables and written to a CSV file.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np

from latree import LatentTreeModel, Tree
from latree.interpret.groups import group_labels, same_group
from latree.model.group import Group, Level
from latree.tree import Split

Row: TypeAlias = dict[str, Any]

# Edges are sorted by support into these bins, and columns by stability; the last one includes 1.
SUPPORT_LIMITS = (0.0, 0.5, 0.8, 0.9, 1.0)
SUPPORT_BINS = tuple(f"{low:g}-{high:g}" for low, high in pairwise(SUPPORT_LIMITS))
# The levels of groups of columns, the broadest first.
LEVELS: tuple[Level, ...] = ("broad", "main", "fine")


def hidden_splits(tree: Tree) -> dict[frozenset[Split], int]:
    """Return the hidden variables of a tree, each by the set of splits that its edges induce.

    Examples
    --------
    >>> tree = Tree.from_newick("((a,b),c,d);")
    >>> [sorted(split.side for split in splits) for splits in hidden_splits(tree)]
    [[2, 12, 14], [4, 8, 12]]
    """
    return {
        frozenset(tree.edge_splits[edge] for _, edge in tree.neighbors[node]): node
        for node in range(tree.n_observed, tree.n_nodes)
    }


def hidden_parts(tree: Tree) -> set[int]:
    """Return the columns of each part of a forest that has a hidden variable, as bit sets.

    Examples
    --------
    >>> hidden_parts(Tree.from_newick("(a,b,c); d;"))
    {7}
    """
    return {split.component for splits in hidden_splits(tree) for split in splits}


def matched_hidden(true: Tree, found: Tree) -> dict[int, int]:
    """Return the hidden variables of the true tree that the other one has, each with its node there.

    Two hidden variables are the same if their edges induce the same splits.
    """
    known = hidden_splits(found)
    return {node: known[splits] for splits, node in hidden_splits(true).items() if splits in known}


def compared(truth: LatentTreeModel, learned: LatentTreeModel) -> Row:
    """Return how a learned model compares with the true one.

    Edges count by their splits, without trivial ones. A drawn edge is right if the true tree implies its split, and a
    true edge is found if the learned tree implies its split.
    """
    true, found = truth.tree, learned.tree
    if found.names != true.names:
        raise ValueError("the learned tree has other columns than the true one")
    matched = matched_hidden(true, found)
    return {
        "true_hidden": true.n_hidden,
        "hidden": found.n_hidden,
        "matched": len(matched),
        "right_states": sum(int(truth.n_states[a] == learned.n_states[b]) for a, b in matched.items()),
        "edges": len(found.splits),
        "right_edges": sum(true.implies(split) for split in found.splits),
        "true_edges": len(true.splits),
        "found_edges": sum(found.implies(split) for split in true.splits),
        "robinson_foulds": found.robinson_foulds(true),
        **right_by_support(true, found),
    }


def right_by_support(true: Tree, found: Tree) -> Row:
    """Return for each bin of support the number of drawn edges and of right ones; edges without support are left out.

    Edges to columns, and others whose splits are trivial, do not count.
    """
    row: Row = {f"{kind} {name}": 0 for name in SUPPORT_BINS for kind in ("edges", "right")}
    for split, support in zip(found.edge_splits, found.support, strict=True):
        if split.smaller_side > 1 and not np.isnan(support):
            name = _bin(support)
            row[f"edges {name}"] += 1
            row[f"right {name}"] += true.implies(split)
    return row


def _bin(share: float) -> str:
    return SUPPORT_BINS[int(np.searchsorted(SUPPORT_LIMITS[1:-1], share, side="right"))]


def right_by_stability(true: Sequence[Group], found: Sequence[Group], names: Sequence[str]) -> Row:
    """Return for each bin of stability the number of columns in main groups, and of those in the right group.

    True and found main groups are matched one to one, so that as many columns as possible are in the right group.
    Columns without a stability are left out.
    """
    row: Row = {f"{kind} {name}": 0 for name in SUPPORT_BINS for kind in ("columns", "right")}
    is_right = dict(zip(names, same_group(group_labels(found, names), group_labels(true, names)), strict=True))
    for group in found:
        for column, share in zip(group.columns, group.column_stability or (), strict=False):
            name = _bin(share)
            row[f"columns {name}"] += 1
            row[f"right {name}"] += int(is_right[column])
    return row


def sure_edges(tree: Tree, true_group: Mapping[str, str], least: float = 0.9) -> Row:
    """Return how many supported edges divide true groups of columns.

    An edge is `inside` a group if it divides this group alone. It is `wrong` if it divides a group and the other
    columns, too: no tree in which the groups are subtrees has it. Edges whose splits are trivial do not count.

    Examples
    --------
    >>> tree = Tree.from_newick("((a,b)0.9,c,((d,x)1,y)1,z);")
    >>> sure_edges(tree, {"a": "1", "b": "1", "c": "1", "d": "1", "x": "2", "y": "2", "z": "2"})
    {'inside': 1, 'wrong': 2}
    """
    members: dict[str, int] = {}  # of each group, as bit sets
    for column, name in enumerate(tree.names):
        members[true_group[name]] = members.get(true_group[name], 0) | 1 << column
    row = {"inside": 0, "wrong": 0}
    for split, support in zip(tree.edge_splits, tree.support, strict=True):
        sides = split.side, split.other_side
        if split.smaller_side > 1 and support >= least:
            divided = [group for group in members.values() if all(group & side for side in sides)]
            crossed = any(all(side & ~group for side in sides) for group in divided)
            row["wrong"] += crossed
            row["inside"] += bool(divided) and not crossed
    return row


def label_columns(groups: Sequence[Group], names: Iterable[str], level: Level) -> list[int]:
    """Return the number of each column's group at a level.

    A column that is in no group of the level keeps its main group; one that is in no main group is a group of its own.

    Examples
    --------
    >>> import latree
    >>> from latree.interpret.groups import find_groups
    >>> tree = Tree.from_newick("((a,b,c),(d,e,f));")
    >>> model = latree.random_model(tree, n_states=2, hidden_states=2, start="identity", random_state=5)
    >>> label_columns(find_groups(model), "abcdefg", "fine")
    [0, 0, 0, 1, 1, 1, -7]
    """
    numbers: dict[str, int] = {}
    for shown in ("main", level):
        of_level = ((number, group) for number, group in enumerate(groups) if group.level == shown)
        numbers |= {column: number for number, group in of_level for column in group.columns}
    return [numbers.get(name, -1 - position) for position, name in enumerate(names)]
