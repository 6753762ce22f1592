"""Where the parts of a drawn tree are: boxes of labels, and the radial layout.

A box is a row of six numbers: its centre (two), the direction of its length (two), half its length and half its height.
A line is a box without height.

Every name gets an equal share of the full circle: a cone that contains nothing else. A name overlaps no other name once
it is so far from the tip of its cone that it fits into it.

Radial: the horizontal layout bent into a circle. The tips of all cones are in the centre.

Unrooted: Felsenstein's equal-angle layout, as phylogeneticists expect it. Every branch has the cone of its names. The
tip of this cone is where the branch starts, and the branch is drawn along the middle of the cone.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import atan2, ceil, cos, degrees, hypot, pi, sin, tan
from typing import Any, NamedTuple

import numpy as np

from latree._util.arrays import FloatArray
from latree.figure.picture import (
    DOTS,
    INK,
    LINE_HEIGHT,
    MUTED,
    Line,
    OccupiedBoxes,
    Position,
    Text,
    boxes_of,
    name_text,
)
from latree.figure.sketch import Sketch
from latree.tree import Rooted, Tree
from latree.tree.leaves import Leaves, leaves_of

MARK = 1.1  # the width of a mark before a name, in units of the letters' size
ROW_HEIGHT = 1.4  # the height of a row of the horizontal layout, in units of the letters' size
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
    leaves: Leaves  # the order of the names
    branches: list[list[int]]  # the children of each node in their order
    lengths: list[float]  # of edges
    has_lengths: bool  # whether the tree has lengths; if not, all are 1
    names: dict[int, str]
    size: float  # of the letters, in pixels
    gap: float  # between a node and its name, in pixels
    margin: float = 0.0  # room for marks before a column's name, in pixels
    stretch: float = 1.0  # how much larger than usual all but the letters is
    row: float = ROW_HEIGHT  # the height of a row of the horizontal layout, in units of the letters' size

    @classmethod
    def of(
        cls,
        tree: Tree,
        gap: float,
        hidden_names: Sequence[str] = (),
        *,
        sketch: Sketch | None = None,
        size: float | None = None,
        n_marks: int = 0,
    ) -> "LayoutPlan":
        """Return the plan for a tree; the more names, the smaller the letters.

        Parameters
        ----------
        tree : Tree
        gap : float
            Between a node and its name, in units of the letters' size.
        hidden_names : sequence of str, optional
            Names of the hidden variables, if they are shown, too.
        sketch : Sketch, optional
            What is drawn of the tree, in its order; by default small branches come first.
        size : float, optional
            Of the letters.
        n_marks : int
            The number of marks before the name of each column.
        """
        if sketch is not None:
            tree, rooted, leaves, own_names = sketch.tree, sketch.rooted, sketch.leaves, sketch.names
        else:
            rooted, own_names = tree.rooted(), list(tree.names)
            leaves = leaves_of(rooted, tree.n_observed)
        named = dict(enumerate((*own_names, *hidden_names)))
        most = max(sum(node in named for node in component) for component in rooted.components)
        # 12 pixels for up to 30 names, 2 less for every doubling, at least 7, in steps of one half.
        size = size or round(min(12.0, max(7.0, 12 - 2 * np.log2(most / 30))) * 2) / 2
        lengths, has_lengths = _lengths(tree)
        margin = size * (MARK * n_marks + 0.3) if n_marks else 0.0
        return cls(tree, rooted, leaves, leaves.branches, lengths, has_lengths, named, size, gap * size, margin)

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
        """Return the branches of a node in their order, with the node itself among them if it has a name."""
        around = self.leaves.around[node]
        if node not in self.names or node in around:
            return around
        middle = len(around) // 2
        return [*around[:middle], node, *around[middle:]]

    def length(self, node: int) -> float:
        """Return the length of the edge above a node, 0 for a root."""
        edge = self.edge_above(node)
        return self.lengths[edge] if edge >= 0 else 0.0

    def name(self, node: int, x: float, y: float, **options: Any) -> Text:
        """Return the text of a node's name; names of hidden variables are grey."""
        colour = INK if node < self.tree.n_observed else MUTED
        before = self.margin if node < self.tree.n_observed else 0.0
        return name_text(x, y, self.names[node], self.size, colour=colour, before=before, **options)


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
    width = plan.stretch * min(max(_MIN_WIDTH, _EDGE_WIDTH * float(deepest)), _MAX_WIDTH)
    scale = width / farthest if farthest else 0.0
    names_at = scale * farthest + plan.gap + plan.margin
    components = zip(plan.rooted.components, across, strict=True)
    return [_in_rows(plan, component, x, scale, names_at) for component, x in components]


def _in_rows(
    plan: LayoutPlan, component: Sequence[int], across: dict[int, float], scale: float, names_at: float
) -> PlacedComponent:
    height = plan.row * plan.size
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
        is_column = node < plan.tree.n_observed
        start = names_at if is_column else x + plan.gap
        before = start - plan.margin if is_column else start
        names[node] = plan.name(node, start, y)
        if before > x + plan.gap + MIN_LEADER:
            leaders.append(Line(((x + plan.gap, y), (before - 2, y)), width=0.8, dash=DOTS))
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


_DISTANCES_TRIED = 12  # for a name, between its present distance and the one at which it surely overlaps nothing
_ARC_STEP = pi / 60  # the angle of a circle that is drawn as one straight line
_CONE_SLACK = 1.02  # the factor by which a name's cone is too wide, because the angles of names are rounded


class _RadialComponent(NamedTuple):
    """A component of a tree around its centre, in units of length."""

    position: dict[int, Position]
    routes: dict[int, tuple[Position, ...]]
    direction: dict[int, float]  # of each name, in radians
    tip_distance: dict[int, float]  # from the tip of each name's cone to its node


def radial(plan: LayoutPlan) -> list[PlacedComponent]:
    """Place every component around its centre, with the names in a circle around it."""
    components = [_circular(plan, nodes) for nodes in plan.rooted.components]
    scale = _scale(plan, components)
    return [_names_in_a_circle(plan, component, scale) for component in components]


def unrooted(plan: LayoutPlan) -> list[PlacedComponent]:
    """Place every component so that no node looks like a root."""
    components = [_equal_angles(plan, nodes) for nodes in plan.rooted.components]
    scale = _scale(plan, components)
    return [_names_near_nodes(plan, component, scale) for component in components]


def _scale(plan: LayoutPlan, components: Sequence[_RadialComponent]) -> float:
    """Return the pixels per unit of length, the same for all components; more names make the picture larger."""
    radius = max(hypot(*position) for component in components for position in component.position.values())
    most = max(len(component.direction) for component in components)
    return plan.stretch * max(70 + 22 * most**0.5, _clear_distance(plan, most)) / radius if radius else 0.0


def _clear_distance(plan: LayoutPlan, n_names: int) -> float:
    """Return the distance from the tip of a cone at which a name fits into it, if a component has ``n_names``."""
    return _CONE_SLACK * plan.size * LINE_HEIGHT / (2 * tan(pi / n_names)) if n_names > 2 else 0.0


def _circular(plan: LayoutPlan, nodes: Sequence[int]) -> _RadialComponent:
    named = [node for node in nodes if node in plan.names]
    # Rows of the horizontal layout become angles, distances from the root become radii.
    angle = {node: 2 * pi * row / len(named) for node, row in rows_of(plan, nodes).items()}
    radius = distances_from_root(plan, nodes)

    def polar(radius: float, angle: float) -> Position:
        return radius * cos(angle), radius * sin(angle)

    routes: dict[int, tuple[Position, ...]] = {}
    for node in nodes[1:]:
        # First along the parent's circle, then straight outwards.
        above = plan.parent(node)
        steps = ceil(abs(angle[node] - angle[above]) / _ARC_STEP) if radius[above] else 0
        arc = np.linspace(angle[above], angle[node], steps + 1).tolist()
        routes[plan.edge_above(node)] = (*(polar(radius[above], a) for a in arc), polar(radius[node], angle[node]))
    position = {node: polar(radius[node], angle[node]) for node in nodes}
    direction, tip_distance = ({node: values[node] for node in named} for values in (angle, radius))
    return _RadialComponent(position, routes, direction, tip_distance)


def _names_in_a_circle(plan: LayoutPlan, component: _RadialComponent, scale: float) -> PlacedComponent:
    farthest = scale * max(component.tip_distance.values()) + plan.gap
    circle = max(farthest, _clear_distance(plan, len(component.direction))) + plan.margin
    distance = {node: circle - scale * radius for node, radius in component.tip_distance.items()}
    return _to_scale(plan, component, scale, distance)


def _equal_angles(plan: LayoutPlan, nodes: Sequence[int]) -> _RadialComponent:
    root = nodes[0]
    n_names = plan.n_names_below
    unit = 2 * pi / n_names[root]  # the angle of one name's cone
    start, depth = {root: -unit / 2}, plan.rooted.depth
    position = {root: (0.0, 0.0)}
    direction = {}
    for node in nodes:
        # Divide the cone of the node among its branches and its own name.
        (x, y), angle, around = position[node], start[node], plan.arranged(node)
        # At every other level in reverse order: otherwise a long row of small branches would curl up.
        for other in around if depth[node] % 2 else reversed(around):
            share = unit if other == node else unit * n_names[other]
            middle, length = angle + share / 2, plan.length(other)
            if other == node:
                direction[node] = middle
            else:
                position[other] = (x + length * cos(middle), y + length * sin(middle))
                start[other] = angle
            angle += share
    turn = _turn_to_horizontal(np.array(list(position.values())))
    c, s = cos(turn), sin(turn)
    position = {node: (c * x - s * y, s * x + c * y) for node, (x, y) in position.items()}
    return _RadialComponent(
        position,
        {plan.edge_above(node): (position[plan.parent(node)], position[node]) for node in nodes[1:]},
        {node: angle + turn for node, angle in direction.items()},
        {node: 0.0 if plan.branches[node] else plan.length(node) for node in direction},
    )


def _turn_to_horizontal(points: FloatArray) -> float:
    """Return the angle by which to turn points so that they spread from left to right: their principal axis."""
    (xx, xy), (_, yy) = np.cov(points.T, bias=True).tolist()
    if hypot(xx - yy, 2 * xy) <= 1e-6 * (xx + yy):
        return 0.0
    return -atan2(2 * xy, xx - yy) / 2


def _names_near_nodes(plan: LayoutPlan, component: _RadialComponent, scale: float) -> PlacedComponent:
    """Put names as near to their nodes as possible without overlap."""
    nodes = list(component.direction)
    clear = _clear_distance(plan, len(nodes))
    distances = _distances_without_overlap(
        lambda number, distance: _name_at(plan, component, scale, nodes[number], distance),
        [max(plan.gap, clear - scale * component.tip_distance[node]) + plan.margin for node in nodes],
        plan.gap + plan.margin,
        boxes_of(Line(_scaled(route, scale)) for route in component.routes.values()),
    )
    return _to_scale(plan, component, scale, dict(zip(nodes, distances, strict=True)))


def _to_scale(
    plan: LayoutPlan, component: _RadialComponent, scale: float, distance: dict[int, float]
) -> PlacedComponent:
    """Return a component in pixels, with every name at its distance from its node."""
    names = {node: _name_at(plan, component, scale, node, away) for node, away in distance.items()}
    return PlacedComponent(
        {node: (scale * x, scale * y) for node, (x, y) in component.position.items()},
        {edge: _scaled(route, scale) for edge, route in component.routes.items()},
        {node: text for node, (text, _) in names.items()},
        [leader for node, (_, leader) in names.items() if distance[node] > plan.gap + plan.margin + MIN_LEADER],
    )


def _scaled(route: Sequence[Position], scale: float) -> tuple[Position, ...]:
    return tuple((scale * x, scale * y) for x, y in route)


def _name_at(
    plan: LayoutPlan, component: _RadialComponent, scale: float, node: int, distance: float
) -> tuple[Text, Line]:
    """Return a name at a distance from its node, never upside down, and the leader from the node to the name."""
    (x, y), angle = component.position[node], component.direction[node]
    u, v = cos(angle), sin(angle)
    end = distance - 2 - (plan.margin if node < plan.tree.n_observed else 0.0)
    near = min(plan.gap, end)
    backwards = u < -1e-9
    text = plan.name(
        node,
        scale * x + distance * u,
        scale * y + distance * v,
        angle=round(degrees(atan2(-v, -u) if backwards else atan2(v, u)), 2),
        anchor="end" if backwards else "start",
    )
    line = ((scale * x + near * u, scale * y + near * v), (scale * x + end * u, scale * y + end * v))
    return text, Line(line, width=0.8, dash=DOTS)


def _distances_without_overlap(
    name_at: Callable[[int, float], tuple[Text, Line]],
    farthest: Sequence[float],
    nearest: float,
    lines: FloatArray,
) -> list[float]:
    """Move names outwards until they overlap no lines, no other names and no leaders of other names.

    Parameters
    ----------
    name_at : callable
        From the number of a name and a distance to the name and its leader there.
    farthest : sequence of float
        The distance at which each name surely overlaps nothing; it is moved no further.
    nearest : float
        The distance at which all names start.
    lines : array, shape (n, 6)
        The boxes of lines that are already drawn.
    """
    n = len(farthest)
    distance = [nearest] * n

    def boxes(number: int, distances: Sequence[float]) -> tuple[FloatArray, FloatArray]:
        pairs = [name_at(number, tried) for tried in distances]
        return boxes_of(text for text, _ in pairs), boxes_of(line for _, line in pairs)

    # Rows are first the lines, then all names, then all leaders.
    first = [boxes(number, [nearest]) for number in range(n)]
    occupied = OccupiedBoxes(
        np.concatenate([lines, *(text for text, _ in first), *(line for _, line in first)]),
        np.array([-1] * len(lines) + 2 * list(range(n)), dtype=np.intp),
    )
    moving = True
    while moving:
        moving = False
        for number in range(n):
            now = distance[number]
            if now >= farthest[number] or occupied.are_free(boxes(number, [now])[0], number)[0]:
                continue
            # The nearest of the distances at which the name and its leader overlap nothing, or else the farthest.
            tried = np.linspace(now, farthest[number], _DISTANCES_TRIED + 1)[1:]
            texts, leaders = boxes(number, tried.tolist())
            free = occupied.are_free(texts, number) & occupied.are_free(leaders, number)
            chosen = int(free.argmax()) if free.any() else _DISTANCES_TRIED - 1
            distance[number], moving = float(tried[chosen]), True
            occupied.replace(len(lines) + number, texts[chosen])
            occupied.replace(len(lines) + n + number, leaders[chosen])
    return distance
