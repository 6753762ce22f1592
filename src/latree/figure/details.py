"""What stands beside the edges and names of a drawn tree: support, the names of groups, the scale of lengths."""

from collections.abc import Sequence
from math import cos, floor, hypot, isnan, log10, pi, sin

import numpy as np

from latree._util.words import percent
from latree.figure.colours import colour_of
from latree.figure.layout import LayoutPlan, PlacedComponent
from latree.figure.marks import direction_of
from latree.figure.picture import (
    LINE_HEIGHT,
    MUTED,
    Line,
    OccupiedBoxes,
    Position,
    Primitive,
    Text,
    boxes_of,
    extent_of,
    text_width,
)
from latree.figure.sketch import Sketch

# In units of the letters' size: numbers beside edges, brackets of groups, the most width of a line of a group's name.
_SUPPORT_SIZE = 0.75
_BRACKET_WIDTH = 0.28
_GROUP_NAME = 18
_LINES = 3  # the most lines of a group's name
# Where the number of an edge may stand: shares of the edge, from its upper to its lower end.
_PLACES = (0.5, 0.35, 0.65)
# The most pixels of the line that shows the scale, and the most share of the width.
_MAX_BAR, _BAR_SHARE = 90, 0.25


def support_texts(plan: LayoutPlan, placed: PlacedComponent, drawn: Sequence[Primitive]) -> list[Text]:
    """Write the support of inner edges beside them, in per cent, where nothing is in the way; low support first."""
    support = plan.tree.support
    size = _SUPPORT_SIZE * plan.size
    boxes_drawn = boxes_of(drawn)
    free_rows = np.full((len(placed.position), 6), np.nan)  # for the numbers that are written here
    occupied = OccupiedBoxes(np.concatenate([boxes_drawn, free_rows]))
    edges = [
        (percent(support[plan.edge_above(node)]), node)
        for node in placed.position
        if plan.edge_above(node) >= 0 and not isnan(support[plan.edge_above(node)]) and plan.branches[node]
    ]
    texts: list[Text] = []
    for share, node in sorted(edges, key=lambda one: one[0]):
        text = str(share)
        (x0, y0), (x1, y1) = placed.routes[plan.edge_above(node)][-2:]
        length = hypot(x1 - x0, y1 - y0)
        if length < size:
            continue
        # Try three places along the edge, on both sides, far enough from the edge that the text does not touch it.
        u, v = (x1 - x0) / length, (y1 - y0) / length
        away = 1.5 + size * (text_width(text) * abs(v) + LINE_HEIGHT * abs(u)) / 2
        tried = [
            Text(
                x0 + part * (x1 - x0) + side * away * v,
                y0 + part * (y1 - y0) - side * away * u,
                text,
                size,
                anchor="middle",
                colour=MUTED,
            )
            for part in _PLACES
            for side in (1, -1)
        ]
        boxes = boxes_of(tried)
        free = occupied.are_free(boxes)
        if free.any():
            occupied.replace(len(boxes_drawn) + len(texts), boxes[free.argmax()])
            texts.append(tried[int(free.argmax())])
    return texts


def _runs(shown: Sketch, order: Sequence[int]) -> list[tuple[int, list[int]]]:
    """Return neighbouring columns of the same group, with the group; what is folded is left out."""
    runs: list[tuple[int, list[int]]] = []
    last = -1
    for node in order:
        group = shown.group_of[node] if shown.groups and shown.nodes[node].kind == "column" else -1
        if group >= 0 and group == last:
            runs[-1][1].append(node)
        elif group >= 0:
            runs.append((group, [node]))
        last = group
    return runs


def _is_largest(runs: Sequence[tuple[int, list[int]]], place: int) -> bool:
    """Return whether a run is the largest of its group, which has the name."""
    group = runs[place][0]
    own = [other for other, (another, _) in enumerate(runs) if another == group]
    return place == max(own, key=lambda other: (len(runs[other][1]), -other))


def brackets(shown: Sketch, plan: LayoutPlan, placed: PlacedComponent, x: float) -> list[Primitive]:
    """Return brackets at the right of the names of each group, with its number and name."""
    rows = sorted((text.y, node) for node, text in placed.names.items() if node < len(shown.names))
    y_of = {node: y for y, node in rows}
    size, runs = plan.size, _runs(shown, [node for _, node in rows])
    found: list[Primitive] = []
    for place, (group, nodes) in enumerate(runs):
        one = shown.groups[group]
        top, bottom = y_of[nodes[0]] - 0.5 * size, y_of[nodes[-1]] + 0.5 * size
        found.append(Line(((x, top), (x, bottom)), colour_of(one.colour), _BRACKET_WIDTH * size))
        number = Text(x + 0.6 * size, (top + bottom) / 2, str(one.number), size, colour=MUTED, bold=True)
        found.append(number)
        if _is_largest(runs, place):
            start = number.x + size * (text_width(number.text, bold=True) + 0.4)
            lines = _wrapped(one.name, min(_LINES, len(nodes)))
            for i, line in enumerate(lines):
                y = number.y + (i - (len(lines) - 1) / 2) * LINE_HEIGHT * size
                whole = one.name if i == 0 and " ".join(lines) != one.name else None
                found.append(Text(start, y, line, size, bold=True, full_text=whole))
    return found


def _wrapped(name: str, most: int) -> list[str]:
    """Return a name in at most so many lines, broken between words; what does not fit becomes an ellipsis."""
    lines, words = [""], name.split()
    while words:
        word = words.pop(0)
        wider = f"{lines[-1]} {word}".strip()
        if text_width(wider, bold=True) <= _GROUP_NAME or not lines[-1]:
            lines[-1] = wider
        elif len(lines) < most:
            lines.append(word)
        else:
            lines[-1] += " …"
            break
    return [_cut(line) for line in lines]


def _cut(line: str) -> str:
    while text_width(line, bold=True) > _GROUP_NAME:
        line = line.rstrip("…")[:-1].rstrip() + "…"
    return line


def arcs(shown: Sketch, plan: LayoutPlan, placed: PlacedComponent) -> list[Primitive]:
    """Return arcs around the names of each group, with its number."""
    nodes = [node for node in placed.names if node < len(shown.names)]
    if len(nodes) < 2:
        return []
    size = plan.size
    reach = max(hypot(*end_of(text)) for text in placed.names.values()) + 0.8 * size
    angle = {node: _angle(placed.names[node]) for node in nodes}
    ordered = sorted(nodes, key=lambda node: angle[node])
    half = pi / len(placed.names)
    runs = _runs(shown, ordered)
    # The circle has no beginning: a group may go on over the angle 0.
    if len(runs) > 1 and runs[0][0] == runs[-1][0] and runs[0][1][0] == ordered[0] and runs[-1][1][-1] == ordered[-1]:
        group, first = runs.pop(0)
        last = runs.pop()[1]
        angle |= {node: angle[node] + 2 * pi for node in first}
        runs.append((group, [*last, *first]))
    found: list[Primitive] = []
    for group, inside in runs:
        one = shown.groups[group]
        start, end = angle[inside[0]] - 0.7 * half, angle[inside[-1]] + 0.7 * half
        turns = np.linspace(start, end, max(int((end - start) * 30), 2)).tolist()
        points = tuple((reach * cos(turn), reach * sin(turn)) for turn in turns)
        found.append(Line(points, colour_of(one.colour), _BRACKET_WIDTH * size))
        middle, out = (start + end) / 2, reach + 1.1 * size
        number = Text(
            out * cos(middle), out * sin(middle), str(one.number), size, anchor="middle", colour=MUTED, bold=True
        )
        found.append(number)
    return found


def _angle(text: Text) -> float:
    """Return the angle of a name's row around the centre, from 0 to a full turn."""
    u, v = direction_of(text)
    return float(np.arctan2(v, u) % (2 * pi))


def end_of(text: Text) -> Position:
    """Return where a name ends."""
    u, v = direction_of(text)
    length = text.size * text_width(text.text, text.bold)
    return text.x + length * u, text.y + length * v


# ---- below the tree ----


def scale_bar(
    shown: Sketch, plan: LayoutPlan, placed: Sequence[PlacedComponent], drawn: Sequence[Primitive]
) -> list[Primitive]:
    """Return a line of a round length below what is drawn, with that length."""
    lengths = shown.tree.lengths
    # Edges are drawn to scale, but for their way around a circle or down a column: their last piece shows the scale.
    pieces = [(float(lengths[edge]), route[-2:]) for component in placed for edge, route in component.routes.items()]
    length, ((x0, y0), (x1, y1)) = max(pieces, key=lambda piece: -np.inf if isnan(piece[0]) else piece[0])
    across = hypot(x1 - x0, y1 - y0)
    if not 0 < across < np.inf or not 1e-9 < length < 1e9:
        return []
    left, _, right, bottom = extent_of(drawn)
    wanted = min(_BAR_SHARE * (right - left), _MAX_BAR) * length / across
    unit = 10.0 ** floor(log10(wanted))
    shown_length = next(unit * factor for factor in (5, 2, 1) if unit * factor <= wanted * (1 + 1e-9))
    y, tick, end = bottom + 1.4 * plan.size, 0.3 * plan.size, left + shown_length * across / length
    bar = [Line(((left, y), (end, y)))] + [Line(((x, y - tick), (x, y + tick))) for x in (left, end)]
    return [*bar, Text(end + 0.6 * plan.size, y, f"{shown_length:.3g}", 0.9 * plan.size, colour=MUTED)]
