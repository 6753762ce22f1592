"""Where the nodes and names of a tree are in a picture: what all layouts share, and the horizontal one."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from latree.figure.picture import INK, MUTED, Line, Point, Text, named_text
from latree.tree import Tree
from latree.tree.drawing import branches_of

_ROW = 1.4  # height of a row, in units of the letters' size
_EDGE = 34  # width of an edge in the horizontal layout, where there are few on the way to a leaf
_NARROWEST, _WIDEST = 240, 720  # of the horizontal layout without its names


class Placed(NamedTuple):
    """A part of a tree in its place, in pixels."""

    position: dict[int, Point]
    routes: dict[int, tuple[Point, ...]]  # of every edge, from the node above to the one below
    names: dict[int, Text]
    leaders: list[Line]  # from nodes to names that are farther away


@dataclass(frozen=True)
class Plan:
    """What is to be placed: a tree hung from its middle, lengths of at most one, and the nodes that have names."""

    tree: Tree
    branches: list[list[int]]
    parent: list[int]
    up: list[int]
    parts: list[list[int]]  # nodes of each component, every node after its parent
    lengths: list[float]
    measured: bool  # whether the lengths mean anything
    names: dict[int, str]
    size: float  # of the letters
    gap: float  # from a node to its name

    @classmethod
    def of(cls, tree: Tree, hidden: bool, gap: float) -> "Plan":
        """Make a plan for a tree: the more names, the smaller letters. The gap is in units of their size."""
        rooted = tree.rooted()
        parts: list[list[int]] = []
        for node in rooted.order.tolist():
            if rooted.parent[node] < 0:
                parts.append([])
            parts[-1].append(node)
        names = dict(enumerate(tree.node_names if hidden else tree.names))
        most = max(sum(node in names for node in part) for part in parts)
        size = round(min(12.0, max(7.0, 12 - 2 * np.log2(most / 30))) * 2) / 2
        branches = branches_of(rooted, tree.n_observed)
        lengths, measured = _lengths(tree)
        return cls(
            tree,
            branches,
            rooted.parent.tolist(),
            rooted.up.tolist(),
            parts,
            lengths,
            measured,
            names,
            size,
            gap * size,
        )

    def arranged(self, node: int) -> list[int]:
        """Give the branches of a node in their order, and among them the node itself if it has a name."""
        around = list(self.branches[node])
        if node in self.names:
            around.insert(len(around) // 2, node)
        return around

    def length(self, node: int) -> float:
        """Give the length of the edge above a node."""
        return self.lengths[self.up[node]] if self.parent[node] >= 0 else 0.0

    def name(self, node: int, x: float, y: float, **options: Any) -> Text:
        """Give the text of a node's name; hidden variables stand back."""
        colour = INK if node < self.tree.n_observed else MUTED
        return named_text(x, y, self.names[node], self.size, colour=colour, **options)


def _lengths(tree: Tree) -> tuple[list[float], bool]:
    """Give lengths of which the largest is one, and whether they are the tree's own.

    Negative ones, which some methods give, are drawn as zero, unknown ones as the mean of the others.
    """
    known = ~np.isnan(tree.lengths)
    largest = float(tree.lengths[known].max(initial=0))
    if largest <= 0:
        return [1.0] * len(tree.edges), False
    scaled = np.maximum(tree.lengths, 0) / largest
    return np.where(known, scaled, scaled[known].mean()).tolist(), True


def horizontal(plan: Plan) -> list[Placed]:
    """Place every part of a tree from left to right, one row a name."""
    depths = [from_root(plan, part, lambda node: 1.0) for part in plan.parts]
    across = [outwards(plan, part) for part in plan.parts]
    deepest, farthest = (max(max(x.values()) for x in values) for values in (depths, across))
    scale = min(max(_NARROWEST, _EDGE * deepest), _WIDEST) / farthest if farthest else 0.0
    return [_in_rows(plan, part, x, scale) for part, x in zip(plan.parts, across, strict=True)]


def _in_rows(plan: Plan, part: Sequence[int], across: dict[int, float], scale: float) -> Placed:
    height = _ROW * plan.size
    position = {node: (scale * across[node], height * row) for node, row in rows_of(plan, part).items()}
    routes: dict[int, tuple[Point, ...]] = {}
    for node in part[1:]:
        (x, y), end = position[plan.parent[node]], position[node]
        routes[plan.up[node]] = ((x, y), (x, end[1]), end)
    names = {
        node: plan.name(node, position[node][0] + plan.gap, position[node][1]) for node in part if node in plan.names
    }
    return Placed(position, routes, names, [])


def outwards(plan: Plan, part: Sequence[int]) -> dict[int, float]:
    """Give every node's distance from the root: by length, or one that is the same for all leaves if there is none."""
    if plan.measured:
        return from_root(plan, part, plan.length)
    height = dict.fromkeys(part, 0.0)
    for node in reversed(part[1:]):
        height[plan.parent[node]] = max(height[plan.parent[node]], height[node] + 1)
    return {node: height[part[0]] - height[node] for node in part}


def from_root(plan: Plan, part: Sequence[int], length: Callable[[int], float]) -> dict[int, float]:
    """Add up lengths on the way from the root to every node."""
    found = {part[0]: 0.0}
    for node in part[1:]:
        found[node] = found[plan.parent[node]] + length(node)
    return found


def rows_of(plan: Plan, part: Sequence[int]) -> dict[int, float]:
    """Give every name a row of its own; a node stands in its name's row, or in the middle of its branches."""
    rows: dict[int, float] = {}
    stack = [(part[0], False)]
    while stack:
        node, is_name = stack.pop()
        if is_name:
            rows[node] = float(len(rows))
        else:
            stack.extend((other, other == node) for other in reversed(plan.arranged(node)))
    for node in reversed(part):
        if node not in plan.names:
            around = [rows[other] for other in plan.branches[node]]
            rows[node] = (min(around) + max(around)) / 2
    return {node: rows[node] for node in part}
