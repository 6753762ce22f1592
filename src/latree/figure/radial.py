"""Trees drawn around their middle.

Every name gets an equal share of the full circle: a cone in which nothing else is, so that a name is clear of all the
others once it is so far out that it fits into its cone.

Radial: Felsenstein's equal-angle layout, which shows no root. Every branch has the cone of its names, whose tip is
where the branch starts, and is drawn along the cone's middle. Names are near their nodes where there is room.

Circular: the horizontal layout bent round. All cones have their tip in the middle, and all names the same distance from
there.
"""

from collections.abc import Callable, Sequence
from math import atan2, ceil, cos, degrees, hypot, pi, sin, tan
from typing import NamedTuple

import numpy as np

from latree.arrays import FloatArray
from latree.figure.boxes import Crowd
from latree.figure.layout import Placed, Plan, outwards, rows_of
from latree.figure.picture import LINE_HEIGHT, Line, Point, Text, boxes_of

_STEPS = 12  # places that are tried for a name between the nearest and the one that is surely clear
_ARC = pi / 60  # of a circle is drawn as a straight line
_WORTH_A_LINE = 4  # pixels between a node and its name


class _Fan(NamedTuple):
    """A part of a tree around its middle, in units of length."""

    position: dict[int, Point]
    routes: dict[int, tuple[Point, ...]]
    direction: dict[int, float]  # of the names, in radians
    before: dict[int, float]  # from the tip of a name's cone to its node
    aligned: bool  # whether names are in a circle


def radial(plan: Plan) -> list[Placed]:
    """Place every part of a tree around its middle, as one without a root."""
    return _to_scale(plan, [_equal_angles(plan, part) for part in plan.parts], 0.9)


def circular(plan: Plan) -> list[Placed]:
    """Place every part of a tree in a circle around its middle, names on rays from there."""
    return _to_scale(plan, [_circle(plan, part) for part in plan.parts], 1.0)


def _to_scale(plan: Plan, fans: Sequence[_Fan], roominess: float) -> list[Placed]:
    """Choose one scale for all parts, by the number of names, and put the names into their places."""
    reach = max(hypot(*point) for fan in fans for point in fan.position.values())
    most = max(len(fan.direction) for fan in fans)
    scale = max(70 + 22 * most**0.5, roominess * _clear(plan, most)) / reach if reach else 0.0
    return [_named(plan, fan, scale) for fan in fans]


def _clear(plan: Plan, names: int) -> float:
    """Give the distance from the tip of a cone at which a name fits into it, if there are so many."""
    return plan.size * LINE_HEIGHT / (2 * tan(pi / names)) if names > 2 else 0.0


def _equal_angles(plan: Plan, part: Sequence[int]) -> _Fan:
    shares = {node: int(node in plan.names) for node in part}
    for node in reversed(part[1:]):
        shares[plan.parent[node]] += shares[node]
    root = part[0]
    unit = 2 * pi / shares[root]
    start, depth = {root: -unit / 2}, {root: 0}
    way, direction = {}, {}
    for node in part:
        angle, around = start[node], plan.arranged(node)
        # Every other time the other way round: a long row of small branches does not curl up.
        for other in around if depth[node] % 2 else reversed(around):
            share = unit if other == node else unit * shares[other]
            if other == node:
                direction[node] = angle + share / 2
            else:
                way[other], start[other], depth[other] = angle + share / 2, angle, depth[node] + 1
            angle += share
    turn = _lie_down(np.array(list(_walk(plan, part, way, 0.0).values())))
    position = _walk(plan, part, way, turn)
    return _Fan(
        position,
        {plan.up[node]: (position[plan.parent[node]], position[node]) for node in part[1:]},
        {node: angle + turn for node, angle in direction.items()},
        {node: 0.0 if plan.branches[node] or node == root else plan.lengths[plan.up[node]] for node in direction},
        aligned=False,
    )


def _walk(plan: Plan, part: Sequence[int], way: dict[int, float], turn: float) -> dict[int, Point]:
    """Go from the middle along every edge, in its direction turned by an angle."""
    position = {part[0]: (0.0, 0.0)}
    for node in part[1:]:
        (x, y), length, angle = position[plan.parent[node]], plan.lengths[plan.up[node]], way[node] + turn
        position[node] = (x + length * cos(angle), y + length * sin(angle))
    return position


def _lie_down(points: FloatArray) -> float:
    """Give the angle to turn points by so that they spread from left to right."""
    (xx, xy), (_, yy) = np.cov(points.T, bias=True).tolist()
    if hypot(xx - yy, 2 * xy) <= 1e-6 * (xx + yy):
        return 0.0
    return -atan2(2 * xy, xx - yy) / 2


def _circle(plan: Plan, part: Sequence[int]) -> _Fan:
    names = [node for node in part if node in plan.names]
    angle = {node: 2 * pi * row / len(names) for node, row in rows_of(plan, part).items()}
    radius = outwards(plan, part)

    def place(distance: float, towards: float) -> Point:
        return distance * cos(towards), distance * sin(towards)

    routes: dict[int, tuple[Point, ...]] = {}
    for node in part[1:]:
        above = plan.parent[node]
        steps = ceil(abs(angle[node] - angle[above]) / _ARC) if radius[above] else 0
        arc = np.linspace(angle[above], angle[node], steps + 1).tolist()
        routes[plan.up[node]] = (*(place(radius[above], towards) for towards in arc), place(radius[node], angle[node]))
    position = {node: place(radius[node], angle[node]) for node in part}
    direction, before = ({node: values[node] for node in names} for values in (angle, radius))
    return _Fan(position, routes, direction, before, aligned=True)


def _named(plan: Plan, fan: _Fan, scale: float) -> Placed:
    """Put the names of one part into their places: as near to their nodes as nothing is in the way."""
    position = {node: (scale * x, scale * y) for node, (x, y) in fan.position.items()}
    routes = {edge: tuple((scale * x, scale * y) for x, y in route) for edge, route in fan.routes.items()}
    nodes = list(fan.direction)
    clear = _clear(plan, len(nodes))

    def name(number: int, away: float) -> tuple[Text, Line]:
        node = nodes[number]
        angle, (x, y) = fan.direction[node], position[node]
        u, v = cos(angle), sin(angle)
        end = (x + away * u, y + away * v)
        backwards = u < -1e-9
        text = plan.name(
            node,
            *end,
            angle=round(degrees(atan2(-v, -u) if backwards else atan2(v, u)), 2),
            anchor="end" if backwards else "start",
        )
        near = min(plan.gap, away - 2)
        return text, Line(((x + near * u, y + near * v), (end[0] - 2 * u, end[1] - 2 * v)), width=0.8, dotted=True)

    before = [scale * fan.before[node] for node in nodes]
    if fan.aligned:
        circle = max(max(before) + plan.gap, clear)
        away = [circle - distance for distance in before]
    else:
        farthest = [max(plan.gap, clear - distance) for distance in before]
        away = _apart(name, farthest, plan.gap, boxes_of(Line(route) for route in routes.values()))
    placed = [name(number, distance) for number, distance in enumerate(away)]
    leaders = [line for (_, line), distance in zip(placed, away, strict=True) if distance > plan.gap + _WORTH_A_LINE]
    return Placed(position, routes, {node: text for node, (text, _) in zip(nodes, placed, strict=True)}, leaders)


def _apart(
    name: Callable[[int, float], tuple[Text, Line]],
    farthest: Sequence[float],
    nearest: float,
    lines: FloatArray,
) -> list[float]:
    """Move names outwards until they are clear of lines, of each other and of each other's leaders.

    No name is moved farther than its place in ``farthest``; when all are there, nothing overlaps.
    """
    n = len(farthest)
    away = [nearest] * n

    def boxes(number: int, distances: Sequence[float]) -> tuple[FloatArray, FloatArray]:
        pairs = [name(number, distance) for distance in distances]
        return boxes_of(text for text, _ in pairs), boxes_of(line for _, line in pairs)

    first = [boxes(number, [nearest]) for number in range(n)]
    crowd = Crowd(
        np.concatenate([lines, *(text for text, _ in first), *(line for _, line in first)]),
        np.array([-1] * len(lines) + 2 * list(range(n)), dtype=np.intp),
    )
    moving = True
    while moving:
        moving = False
        for number in range(n):
            if away[number] >= farthest[number] or crowd.free(boxes(number, [away[number]])[0], number)[0]:
                continue
            tried = np.linspace(away[number], farthest[number], _STEPS + 1)[1:]
            texts, leaders = boxes(number, tried.tolist())
            free = crowd.free(texts, number) & crowd.free(leaders, number)
            chosen = int(free.argmax()) if free.any() else _STEPS - 1
            away[number], moving = float(tried[chosen]), True
            crowd.put(len(lines) + number, texts[chosen])
            crowd.put(len(lines) + n + number, leaders[chosen])
    return away
