"""Trees drawn around their middle.

Every name gets an equal share of the full circle: a cone in which nothing else is, so that a name is clear of all the
others once it is so far out that it fits into its cone.

Radial: the horizontal layout bent round. All cones have their tip in the middle.

Unrooted: Felsenstein's equal-angle layout. Every branch has the cone of its names, whose tip is where the branch
starts, and is drawn along the cone's middle.
"""

from collections.abc import Callable, Sequence
from math import atan2, ceil, cos, degrees, hypot, pi, sin, tan
from typing import NamedTuple

import numpy as np

from latree._util.arrays import FloatArray
from latree.figure.boxes import Crowd
from latree.figure.layout import Placed, Plan, outwards, rows_of
from latree.figure.picture import LINE_HEIGHT, Line, Point, Text, boxes_of

_MANY = 100  # names
_STEPS = 12  # places that are tried for a name between the nearest and the one that is surely clear
_ARC = pi / 60  # of a circle is drawn as a straight line
_SLACK = 1.02  # of the space for a name: its angle is rounded
_WORTH_A_LINE = 4  # pixels between a node and its name


class _Fan(NamedTuple):
    """A part of a tree around its middle, in units of length."""

    position: dict[int, Point]
    routes: dict[int, tuple[Point, ...]]
    direction: dict[int, float]  # of the names, in radians
    before: dict[int, float]  # from the tip of a name's cone to its node


def radial(plan: Plan) -> list[Placed]:
    """Place every part of a tree around its middle: names near their nodes, or many names in a circle around all."""
    fans = [_circle(plan, part) for part in plan.parts]
    scale = _scale(plan, fans)
    return [(_names_in_a_circle if len(fan.direction) > _MANY else _names_near)(plan, fan, scale) for fan in fans]


def unrooted(plan: Plan) -> list[Placed]:
    """Place every part of a tree so that no node looks like a root."""
    fans = [_equal_angles(plan, part) for part in plan.parts]
    scale = _scale(plan, fans)
    return [_names_near(plan, fan, scale) for fan in fans]


def _scale(plan: Plan, fans: Sequence[_Fan]) -> float:
    """Give the pixels of a unit of length, the same for all parts: the more names, the larger the picture."""
    reach = max(hypot(*point) for fan in fans for point in fan.position.values())
    most = max(len(fan.direction) for fan in fans)
    return max(70 + 22 * most**0.5, _clear(plan, most)) / reach if reach else 0.0


def _clear(plan: Plan, names: int) -> float:
    """Give the distance from the tip of a cone at which a name fits into it, if there are so many."""
    return _SLACK * plan.size * LINE_HEIGHT / (2 * tan(pi / names)) if names > 2 else 0.0


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
    return _Fan(position, routes, direction, before)


def _names_in_a_circle(plan: Plan, fan: _Fan, scale: float) -> Placed:
    circle = max(scale * max(fan.before.values()) + plan.gap, _clear(plan, len(fan.direction)))
    return _placed(plan, fan, scale, {node: circle - scale * distance for node, distance in fan.before.items()})


def _equal_angles(plan: Plan, part: Sequence[int]) -> _Fan:
    shares = {node: int(node in plan.names) for node in part}
    for node in reversed(part[1:]):
        shares[plan.parent[node]] += shares[node]
    root = part[0]
    unit = 2 * pi / shares[root]
    start, depth, position = {root: -unit / 2}, {root: 0}, {root: (0.0, 0.0)}
    direction = {}
    for node in part:
        (x, y), angle, around = position[node], start[node], plan.arranged(node)
        # Every other time the other way round: a long row of small branches does not curl up.
        for other in around if depth[node] % 2 else reversed(around):
            share = unit if other == node else unit * shares[other]
            middle, length = angle + share / 2, plan.length(other)
            if other == node:
                direction[node] = middle
            else:
                position[other] = (x + length * cos(middle), y + length * sin(middle))
                start[other], depth[other] = angle, depth[node] + 1
            angle += share
    turn = _lie_down(np.array(list(position.values())))
    c, s = cos(turn), sin(turn)
    position = {node: (c * x - s * y, s * x + c * y) for node, (x, y) in position.items()}
    return _Fan(
        position,
        {plan.up[node]: (position[plan.parent[node]], position[node]) for node in part[1:]},
        {node: angle + turn for node, angle in direction.items()},
        {node: 0.0 if plan.branches[node] else plan.length(node) for node in direction},
    )


def _lie_down(points: FloatArray) -> float:
    """Give the angle to turn points by so that they spread from left to right."""
    (xx, xy), (_, yy) = np.cov(points.T, bias=True).tolist()
    if hypot(xx - yy, 2 * xy) <= 1e-6 * (xx + yy):
        return 0.0
    return -atan2(2 * xy, xx - yy) / 2


def _names_near(plan: Plan, fan: _Fan, scale: float) -> Placed:
    """Put names as near to their nodes as nothing is in the way."""
    nodes = list(fan.direction)
    clear = _clear(plan, len(nodes))
    lines = boxes_of(Line(_scaled(route, scale)) for route in fan.routes.values())
    away = _apart(
        lambda number, distance: _name(plan, fan, scale, nodes[number], distance),
        [max(plan.gap, clear - scale * fan.before[node]) for node in nodes],
        plan.gap,
        lines,
    )
    return _placed(plan, fan, scale, dict(zip(nodes, away, strict=True)))


def _placed(plan: Plan, fan: _Fan, scale: float, away: dict[int, float]) -> Placed:
    """Bring a part to scale, with every name at its distance from its node."""
    names = {node: _name(plan, fan, scale, node, distance) for node, distance in away.items()}
    return Placed(
        {node: (scale * x, scale * y) for node, (x, y) in fan.position.items()},
        {edge: _scaled(route, scale) for edge, route in fan.routes.items()},
        {node: text for node, (text, _) in names.items()},
        [line for node, (_, line) in names.items() if away[node] > plan.gap + _WORTH_A_LINE],
    )


def _scaled(route: Sequence[Point], scale: float) -> tuple[Point, ...]:
    return tuple((scale * x, scale * y) for x, y in route)


def _name(plan: Plan, fan: _Fan, scale: float, node: int, away: float) -> tuple[Text, Line]:
    """Give a name at a distance from its node, the right way up, and the line from the node to the name."""
    (x, y), angle = fan.position[node], fan.direction[node]
    u, v = cos(angle), sin(angle)
    near, end = min(plan.gap, away - 2), away - 2
    backwards = u < -1e-9
    text = plan.name(
        node,
        scale * x + away * u,
        scale * y + away * v,
        angle=round(degrees(atan2(-v, -u) if backwards else atan2(v, u)), 2),
        anchor="end" if backwards else "start",
    )
    line = ((scale * x + near * u, scale * y + near * v), (scale * x + end * u, scale * y + end * v))
    return text, Line(line, width=0.8, dotted=True)


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
