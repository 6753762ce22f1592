"""What a drawing of a tree shows: nodes with names, groups and numbers; groups and branches may be folded.

The picture of ``latree plot``, the one in a notebook, and those of the report are drawn from a sketch, so that they
look alike.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isnan
from typing import Any

import numpy as np

from latree._util.words import beginning, one_line, percent, shortened
from latree.figure.overview import DrawnNode, Folds, Overview
from latree.figure.picture import MAX_LETTERS
from latree.model import LatentTreeModel
from latree.tree import Rooted, Tree
from latree.tree.leaves import Leaves, leaves_of

_LEAST_LETTERS = 12  # of the name of what is folded, whatever follows it


def tree_facts(tree_or_model: Tree | LatentTreeModel) -> dict[str, Any]:
    """Return the rooted tree as plain data, in the order of its leaves.

    The values of an edge are listed at its lower node; a root has None, as has an edge whose value is unknown. Support
    is in per cent, rounded once for all that shows it. ``own`` is the number of branches before the name of an inner
    column.
    """
    if isinstance(tree_or_model, Tree):
        tree, strengths, lengths = tree_or_model, np.full(len(tree_or_model.edges), np.nan), tree_or_model.lengths
        leaves = leaves_of(tree.rooted(), tree.n_observed)
    else:
        tree, leaves = tree_or_model.tree, tree_or_model.leaves
        strengths, lengths = tree_or_model.edge_strengths(), tree_or_model.edge_lengths()
    rooted = tree.rooted()

    def at_nodes(values: Any) -> list[float | None]:
        return [None if edge < 0 or isnan(values[edge]) else float(values[edge]) for edge in rooted.up.tolist()]

    return {
        "roots": list(rooted.roots),
        "order": leaves.order,
        "own": {node: around.index(node) for node, around in enumerate(leaves.around) if node in around},
        "parent": rooted.parent.tolist(),
        "strength": at_nodes(strengths),
        "length": at_nodes(lengths),
        "support": [None if share is None else percent(share) for share in at_nodes(tree.support)],
    }


@dataclass(frozen=True)
class Group:
    """A group of columns as it is drawn: its number, its name and the number of its colour."""

    number: int
    name: str
    colour: int


@dataclass(frozen=True)
class Sketch:
    """A tree that is drawn. Its first nodes have names; the names in ``tree`` only number them.

    Attributes
    ----------
    tree : Tree
        With lengths, and with support in per cent.
    rooted : Rooted
    leaves : Leaves
    nodes : list of DrawnNode
        What each node stands for.
    names : list of str
        Of the first nodes; those of what is folded have the number of columns behind them.
    strengths : list of (float or None)
        Of the edge above each node, from 0 to 1.
    groups : list of Group
    group_of : list of int
        The place of each node's group in the list; -1 for none, and for a branch of several groups.
    badges : dict of int to int
        From nodes in the middle of groups that are not folded to the places of these.
    """

    tree: Tree
    rooted: Rooted
    leaves: Leaves
    nodes: list[DrawnNode]
    names: list[str]
    strengths: list[float | None]
    groups: list[Group]
    group_of: list[int]
    badges: dict[int, int]


def sketch(
    facts: Mapping[str, Any],
    names: Sequence[str],
    n_columns: int,
    groups: Sequence[Mapping[str, Any]] = (),
    folds: Folds | None = None,
    branch_names: Mapping[str, str] | None = None,
    most: int | None = None,
    letters: int = MAX_LETTERS,
) -> Sketch:
    """Return what is drawn of a tree.

    Parameters
    ----------
    facts : mapping
        From :func:`tree_facts`.
    names : sequence of str
        Of all nodes, columns first.
    n_columns : int
    groups : sequence of mapping
        Main groups, with ``nodes``, ``centre``, ``number``, ``name`` and ``colour``. A single one is not drawn.
    folds : Folds, optional
        What is folded; by default nothing.
    branch_names : mapping of str to str, optional
        Names of folded branches, by their upper nodes.
    most : int, optional
        Instead of ``folds``: large groups are folded, and so are branches, so that there are at most so many lines.
    letters : int
        The most letters of the name of what is folded.
    """
    overview = Overview(facts, n_columns, groups, most=most)
    nodes = overview.drawn(overview.folds if most is not None else folds or Folds())
    shown = [*(node for node in nodes if node.is_line), *(node for node in nodes if not node.is_line)]
    number = {id(node): place for place, node in enumerate(shown)}
    groups = groups if len(groups) > 1 else []
    n_named = sum(node.is_line for node in nodes)
    edges = [(number[id(node.parent)], number[id(node)]) for node in nodes if node.parent]
    lower = [node.node for node in nodes if node.parent]

    def of_edges(key: str) -> list[float]:
        return [np.nan if facts[key][node] is None else float(facts[key][node]) for node in lower]

    tree = Tree(list(map(str, range(n_named))), edges, of_edges("length"), np.array(of_edges("support")) / 100)
    parent, up = np.full(len(shown), -1), np.full(len(shown), -1)
    for edge, (above, node) in enumerate(edges):
        parent[node], up[node] = above, edge
    rooted = Rooted(parent, np.array([number[id(node)] for node in nodes]), up)
    around: list[list[int]] = []
    for place, drawn in enumerate(shown):
        below = [number[id(child)] for child in drawn.children]
        own = [place] if drawn.is_line and below else []
        around.append([*below[: drawn.own_place], *own, *below[drawn.own_place :]])
    centres = {group["centre"]: place for place, group in enumerate(groups)}
    return Sketch(
        tree=tree,
        rooted=rooted,
        leaves=Leaves(around, rooted.order.tolist(), list(range(n_named))),
        nodes=shown,
        names=[_name(node, names, groups, branch_names or {}, letters) for node in shown[:n_named]],
        strengths=[None if node.parent is None else facts["strength"][node.node] for node in shown],
        groups=[Group(group["number"], one_line(group["name"]), group["colour"]) for group in groups],
        group_of=[-1 if node.kind in ("branch", "rest") and len(node.groups) > 1 else node.group for node in shown],
        badges={
            place: centres[node.node]
            for place, node in enumerate(shown)
            if node.kind == "hidden" and node.node in centres
        },
    )


def _name(
    node: DrawnNode,
    names: Sequence[str],
    groups: Sequence[Mapping[str, Any]],
    branch_names: Mapping[str, str],
    letters: int,
) -> str:
    """Return the name of what is drawn; of what is folded, with the number of its columns."""
    if node.kind == "column":
        return names[node.node]
    if node.kind == "rest":
        name = f"{node.n_branches:,} more"
    elif node.kind == "group":
        name = f"{groups[node.group]['number']} {one_line(groups[node.group]['name'])}"
    else:
        name = branch_names.get(str(node.node), names[node.node])
    has_groups = node.kind != "group" and len(node.groups) > 1 and -1 not in node.groups
    in_groups = f" in {len(node.groups):,} groups" if has_groups else ""
    counts = f" ({node.n_columns:,}{in_groups})"
    # The name of a branch is a list of groups, the largest first.
    cut = beginning if node.kind == "branch" else shortened
    return cut(name, max(letters - len(counts), _LEAST_LETTERS)) + counts
