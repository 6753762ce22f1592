"""Trees drawn around their centre.

Every name gets an equal share of the full circle: a cone that contains nothing else. A name overlaps no other name once
it is so far from the tip of its cone that it fits into it.

Radial: the horizontal layout bent into a circle. The tips of all cones are in the centre.

Unrooted: Felsenstein's equal-angle layout, as phylogeneticists expect it. Every branch has the cone of its names. The
tip of this cone is where the branch starts, and the branch is drawn along the middle of the cone.
"""

from collections.abc import Callable, Sequence
from math import atan2, ceil, cos, degrees, hypot, pi, sin, tan
from typing import NamedTuple

import numpy as np

from latree._util.arrays import FloatArray
from latree.figure.boxes import OccupiedBoxes
from latree.figure.layout import MIN_LEADER, LayoutPlan, PlacedComponent, distances_from_root, rows_of
from latree.figure.primitives import LINE_HEIGHT, Line, Position, Text, boxes_of

_MAX_NAMES_NEAR_NODES = 100  # the radial layout puts more names than this into a circle around the tree
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
    """Place every component around its centre, with names near their nodes, or many names in a circle around all."""
    components = [_circular(plan, nodes) for nodes in plan.rooted.components]
    scale = _scale(plan, components)
    return [
        (_names_in_a_circle if len(component.direction) > _MAX_NAMES_NEAR_NODES else _names_near_nodes)(
            plan, component, scale
        )
        for component in components
    ]


def unrooted(plan: LayoutPlan) -> list[PlacedComponent]:
    """Place every component so that no node looks like a root."""
    components = [_equal_angles(plan, nodes) for nodes in plan.rooted.components]
    scale = _scale(plan, components)
    return [_names_near_nodes(plan, component, scale) for component in components]


def _scale(plan: LayoutPlan, components: Sequence[_RadialComponent]) -> float:
    """Return the pixels per unit of length, the same for all components; more names make the picture larger."""
    radius = max(hypot(*position) for component in components for position in component.position.values())
    most = max(len(component.direction) for component in components)
    return max(70 + 22 * most**0.5, _clear_distance(plan, most)) / radius if radius else 0.0


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
    circle = max(farthest, _clear_distance(plan, len(component.direction)))
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
        [max(plan.gap, clear - scale * component.tip_distance[node]) for node in nodes],
        plan.gap,
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
        [leader for node, (_, leader) in names.items() if distance[node] > plan.gap + MIN_LEADER],
    )


def _scaled(route: Sequence[Position], scale: float) -> tuple[Position, ...]:
    return tuple((scale * x, scale * y) for x, y in route)


def _name_at(
    plan: LayoutPlan, component: _RadialComponent, scale: float, node: int, distance: float
) -> tuple[Text, Line]:
    """Return a name at a distance from its node, never upside down, and the leader from the node to the name."""
    (x, y), angle = component.position[node], component.direction[node]
    u, v = cos(angle), sin(angle)
    near, end = min(plan.gap, distance - 2), distance - 2
    backwards = u < -1e-9
    text = plan.name(
        node,
        scale * x + distance * u,
        scale * y + distance * v,
        angle=round(degrees(atan2(-v, -u) if backwards else atan2(v, u)), 2),
        anchor="end" if backwards else "start",
    )
    line = ((scale * x + near * u, scale * y + near * v), (scale * x + end * u, scale * y + end * v))
    return text, Line(line, width=0.8, dotted=True)


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
