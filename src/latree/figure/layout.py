"""Where the nodes and names of a tree are in a picture: what all layouts share, and the horizontal layout."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from latree.figure.primitives import INK, MUTED, Line, Position, Text, name_text
from latree.tree import Rooted, Tree
from latree.tree.drawing import branches_of

_ROW_HEIGHT = 1.4  # the height of a row of the horizontal layout, in units of the letters' size
_EDGE_WIDTH = 34  # the mean width in pixels of an edge on the deepest path, within the limits that follow
MIN_LEADER = 4  # a name that is this many pixels further from its node than the gap gets a line to it
_MIN_WIDTH, _MAX_WIDTH = 240, 720  # limits in pixels of the width of the horizontal layout, without its names


class PlacedComponent(NamedTuple):
    """A component of a tree with the places of its nodes, edges and names, in pixels."""

    position: dict[int, Position]  # of each node, parents first
    routes: dict[int, tuple[Position, ...]]  # the corners of each edge, from the upper node to the lower one
    names: dict[int, Text]
    leaders: list[Line]  # lines from nodes to names that are not close to them


@dataclass(frozen=True)
class LayoutPlan:
    """What a layout places: a tree hung from its centre, lengths of at most one, and the nodes that have names."""

    tree: Tree
    rooted: Rooted
    branches: list[list[int]]  # the children of each node, small branches first
    lengths: list[float]  # of edges
    has_lengths: bool  # whether the tree has lengths; if not, all are 1
    names: dict[int, str]
    size: float  # of the letters, in pixels
    gap: float  # between a node and its name, in pixels

    @classmethod
    def of(cls, tree: Tree, gap: float, hidden_names: Sequence[str] = ()) -> "LayoutPlan":
        """Return the plan for a tree; the more names, the smaller the letters.

        Parameters
        ----------
        tree : Tree
        gap : float
            Between a node and its name, in units of the letters' size.
        hidden_names : sequence of str, optional
            Names of the hidden variables, if they are shown, too.
        """
        rooted = tree.rooted()
        named = dict(enumerate((*tree.names, *hidden_names)))
        most = max(sum(node in named for node in component) for component in rooted.components)
        # 12 pixels for up to 30 names, 2 less for every doubling, at least 7, in steps of one half.
        size = round(min(12.0, max(7.0, 12 - 2 * np.log2(most / 30))) * 2) / 2
        lengths, has_lengths = _lengths(tree)
        branches = branches_of(rooted, tree.n_observed)
        return cls(tree, rooted, branches, lengths, has_lengths, named, size, gap * size)

    @cached_property
    def heights(self) -> list[float]:
        """The number of edges between each node and the farthest leaf below it."""
        return self.rooted.combined([0.0] * self.tree.n_nodes, lambda above, below: max(above, below + 1))

    @cached_property
    def n_names_below(self) -> list[int]:
        """The number of names in the subtree of each node."""
        return self.rooted.subtree_sums(int(node in self.names) for node in range(self.tree.n_nodes))

    def parent(self, node: int) -> int:
        """Return the parent of a node, -1 for a root."""
        return int(self.rooted.parent[node])

    def edge_above(self, node: int) -> int:
        """Return the edge between a node and its parent, -1 for a root."""
        return int(self.rooted.up[node])

    def arranged(self, node: int) -> list[int]:
        """Return the branches of a node in their order, with the node itself in the middle if it has a name."""
        around = list(self.branches[node])
        if node in self.names:
            around.insert(len(around) // 2, node)
        return around

    def length(self, node: int) -> float:
        """Return the length of the edge above a node, 0 for a root."""
        edge = self.edge_above(node)
        return self.lengths[edge] if edge >= 0 else 0.0

    def name(self, node: int, x: float, y: float, **options: Any) -> Text:
        """Return the text of a node's name; names of hidden variables are grey."""
        colour = INK if node < self.tree.n_observed else MUTED
        return name_text(x, y, self.names[node], self.size, colour=colour, **options)


def _lengths(tree: Tree) -> tuple[list[float], bool]:
    """Return the lengths divided by the largest, and whether the tree has any; if not, all are 1.

    Negative lengths, which some methods return, are drawn as zero, and unknown ones as the mean of the others.
    """
    known = ~np.isnan(tree.lengths)
    largest = float(tree.lengths[known].max(initial=0))
    if largest <= 0:
        return [1.0] * len(tree.edges), False
    scaled = np.maximum(tree.lengths, 0) / largest
    return np.where(known, scaled, scaled[known].mean()).tolist(), True


def horizontal(plan: LayoutPlan) -> list[PlacedComponent]:
    """Place every component of a tree from left to right, one row per name, the names of columns below each other."""
    deepest = max(plan.rooted.depth)
    across = [distances_from_root(plan, component) for component in plan.rooted.components]
    farthest = max(max(x.values()) for x in across)
    scale = min(max(_MIN_WIDTH, _EDGE_WIDTH * float(deepest)), _MAX_WIDTH) / farthest if farthest else 0.0
    names_at = scale * farthest + plan.gap
    components = zip(plan.rooted.components, across, strict=True)
    return [_in_rows(plan, component, x, scale, names_at) for component, x in components]


def _in_rows(
    plan: LayoutPlan, component: Sequence[int], across: dict[int, float], scale: float, names_at: float
) -> PlacedComponent:
    height = _ROW_HEIGHT * plan.size
    position = {node: (scale * across[node], height * row) for node, row in rows_of(plan, component).items()}
    routes: dict[int, tuple[Position, ...]] = {}
    for node in component[1:]:
        # First down or up from the parent, then to the right.
        (x, y), end = position[plan.parent(node)], position[node]
        routes[plan.edge_above(node)] = ((x, y), (x, end[1]), end)
    names: dict[int, Text] = {}
    leaders: list[Line] = []
    for node in component:
        if node not in plan.names:
            continue
        x, y = position[node]
        start = names_at if node < plan.tree.n_observed else x + plan.gap
        names[node] = plan.name(node, start, y)
        if start > x + plan.gap + MIN_LEADER:
            leaders.append(Line(((x + plan.gap, y), (start - 2, y)), width=0.8, dotted=True))
    return PlacedComponent(position, routes, names, leaders)


def distances_from_root(plan: LayoutPlan, component: Sequence[int]) -> dict[int, float]:
    """Return the distance of each node from the root: by length, or the same for all leaves if there are no lengths."""
    root, *others = component
    if not plan.has_lengths:
        return {node: plan.heights[root] - plan.heights[node] for node in component}
    found = {root: 0.0}
    for node in others:
        found[node] = found[plan.parent(node)] + plan.length(node)
    return found


def rows_of(plan: LayoutPlan, component: Sequence[int]) -> dict[int, float]:
    """Return the row of each node: names have one row each, and a node without a name is in the middle of its branches.

    Rows are numbered from 0 on, in the order in which the names are drawn.
    """
    rows: dict[int, float] = {}
    # Names get their rows depth first; a node comes back from the stack for its own name.
    stack = [(component[0], False)]
    while stack:
        node, is_name = stack.pop()
        if is_name:
            rows[node] = float(len(rows))
        else:
            stack.extend((other, other == node) for other in reversed(plan.arranged(node)))
    # Then nodes without names, children first.
    for node in reversed(component):
        if node not in plan.names:
            around = [rows[other] for other in plan.branches[node]]
            rows[node] = (min(around) + max(around)) / 2
    return {node: rows[node] for node in component}
