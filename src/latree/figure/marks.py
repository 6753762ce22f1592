"""Marks before the names of columns: markers of labels, shades of numbers; and the legend that explains them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from math import cos, pi, radians, sin
from typing import Literal, TypeAlias

from latree.errors import InputError
from latree.facts.groups import compare_labels
from latree.figure.colours import GREY, NEUTRAL, colour_of, label_colours, marker
from latree.figure.layout import MARK, LayoutPlan
from latree.figure.picture import PAPER, Circle, Polygon, Position, Primitive, Text, extent_of, name_text, text_width
from latree.figure.sketch import Sketch
from latree.interpret.view import view_of
from latree.model import LatentTreeModel
from latree.tree import Tree

Ring: TypeAlias = Literal["loading", "stability"]
_RINGS: tuple[Ring, ...] = ("loading", "stability")
# In units of the letters' size: the radius of a marker, and of the circle with the number of a group.
_MARKER_RADIUS, BADGE_RADIUS = 0.34, 0.62


@dataclass(frozen=True)
class MarkColumn:
    """Marks before the names: a marker or a shade for each node that has one, and what they mean.

    Attributes
    ----------
    marks : dict of int to int or float
        The number of a marker, or a share from 0 to 1.
    legend : dict of str to int or None
        From texts to the numbers of their markers; from the name of what shades show to None.
    """

    marks: dict[int, int | float]
    legend: dict[str, int | None]


def label_column(shown: Sketch, labels: Sequence[str], of: Sequence[int], colours: Sequence[int]) -> list[MarkColumn]:
    """Return the markers of labels, if there are any.

    Parameters
    ----------
    shown : Sketch
    labels : sequence of str
        The most common first.
    of : sequence of int
        The number of the label of each column; -1 for none.
    colours : sequence of int
        Of the labels. Those in grey have different shapes.
    """
    shapes = count(NEUTRAL)
    numbers = [colour if colour < NEUTRAL else next(shapes) for colour in colours]
    marks: dict[int, int | float] = {
        place: numbers[of[node.node]]
        for place, node in enumerate(shown.nodes)
        if node.kind == "column" and of[node.node] >= 0
    }
    return [MarkColumn(marks, dict(zip(labels, numbers, strict=True)))] if labels else []


def own_labels(shown: Sketch, tree: Tree, labels: Mapping[str, str]) -> list[MarkColumn]:
    """Return the markers of labels that are given by the names of columns, in the colours of the report."""
    node_of = {name: node for node, name in enumerate(tree.names)}
    for name in labels:
        if name not in node_of:
            raise InputError(f"there is a label for {name!r:.60}, which is none of the tree's columns")
    columns: list[list[int]] = [[] for _ in shown.groups]
    for node, group in zip(shown.nodes, shown.group_of, strict=True):
        if node.kind == "column" and group >= 0 and columns:
            columns[group].append(node.node)
    facts = compare_labels([labels.get(name, "") for name in tree.names], columns)
    colours = label_colours(facts["names"], [match["label"] for match in facts["groups"]])
    return label_column(shown, facts["names"], facts["of"], colours)


def ring_columns(tree: Tree | LatentTreeModel, rings: Sequence[Ring]) -> list[MarkColumn]:
    """Return a column of shades for each of some numbers of a model's columns."""
    for ring in rings:
        if ring not in _RINGS:
            raise InputError(f"rings must be some of {', '.join(map(repr, _RINGS))}, not {ring!r:.60}")
    if rings and isinstance(tree, Tree):
        raise InputError("rings show numbers of a model, and this is a tree: pass the model")
    if isinstance(tree, Tree):
        return []
    node_of = {name: node for node, name in enumerate(tree.tree.names)}
    found = []
    for ring in rings:
        marks: dict[int, int | float] = {}
        for group, columns in zip(tree.groups, view_of(tree).group_columns, strict=True):
            for column in columns if group.level == "main" else ():
                value = column.stability if ring == "stability" else column.loading
                if value is not None:
                    marks[node_of[column.name]] = abs(float(value))
        found.append(MarkColumn(marks, {ring: None}))
    return found


def direction_of(text: Text) -> Position:
    """Return the direction in which a name goes on from its node."""
    turn = radians(text.angle) + (pi if text.anchor == "end" else 0.0)
    return cos(turn), sin(turn)


def mark_of(column: MarkColumn, place: int, node: int, text: Text, plan: LayoutPlan, shown: Sketch) -> Primitive:
    """Return the mark of a node in one of the columns before its name."""
    at, mark = _mark_place(plan, text, place), column.marks[node]
    if None not in column.legend.values():
        return marker(int(mark), *at, _MARKER_RADIUS * plan.size)
    group = shown.groups[shown.group_of[node]] if shown.groups and shown.group_of[node] >= 0 else None
    return _shade(float(mark), GREY if group is None else colour_of(group.colour), at, direction_of(text), plan.size)


def _mark_place(plan: LayoutPlan, text: Text, place: int) -> Position:
    """Return the middle of a mark before a name."""
    u, v = direction_of(text)
    back = plan.margin - (place + 0.5) * MARK * plan.size
    return text.x - back * u, text.y - back * v


def _shade(share: float, colour: str, at: Position, direction: Position, size: float) -> Polygon:
    """Return a square in a colour that is pale for 0 and strong for 1."""
    (x, y), (u, v), half = at, direction, 0.42 * size
    corners = tuple(
        (x + half * (a * u - b * v), y + half * (a * v + b * u)) for a, b in ((-1, -1), (1, -1), (1, 1), (-1, 1))
    )
    channels = [int(colour[i : i + 2], 16) for i in (1, 3, 5)]
    mixed = [round(255 + (channel - 255) * min(max(share, 0.0), 1.0)) for channel in channels]
    return Polygon(corners, "#" + "".join(f"{channel:02x}" for channel in mixed), colour)


Entry: TypeAlias = tuple[list[Primitive], str]


def group_entries(shown: Sketch, size: float) -> list[Entry]:
    """Return the entries of the legend for groups: their numbers and names."""
    found: list[Entry] = []
    for group in shown.groups:
        colour = colour_of(group.colour)
        circle = Circle(0.0, 0.0, BADGE_RADIUS * size, PAPER, colour)
        number = Text(0.0, 0.0, str(group.number), 0.7 * size, anchor="middle", bold=True)
        found.append(([circle, number], group.name))
    return found


def mark_entries(column: MarkColumn, size: float) -> list[Entry]:
    """Return the entries of the legend for a column of marks."""
    found: list[Entry] = []
    for text, number in column.legend.items():
        if number is not None:
            found.append(([marker(number, 0.0, 0.0, _MARKER_RADIUS * size)], text))
        else:
            steps = [
                _shade(share, GREY, ((i - 1) * size, 0.0), (1.0, 0.0), size) for i, share in enumerate((0.0, 0.5, 1.0))
            ]
            found.append(([*steps], f"{text}: 0 to 1"))
    return found


def legend(entries: Sequence[Entry], size: float, drawn: Sequence[Primitive]) -> list[Primitive]:
    """Return the legend below what is drawn, in rows as wide as that, but not too narrow."""
    if not entries:
        return []
    left, _, right, bottom = extent_of(drawn)
    width = max(right - left, 30 * size)
    texts = [name_text(0, 0, text, size) for _, text in entries]
    room = [2 * size if len(marks) > 2 else 0.0 for marks, _ in entries]
    wide = max(size * (text_width(text.text) + 3) + more for text, more in zip(texts, room, strict=True))
    n_across = max(1, min(len(entries), int(width // wide)))
    found: list[Primitive] = []
    for place, ((marks, _), text, more) in enumerate(zip(entries, texts, room, strict=True)):
        x = left + (place % n_across) * wide + 0.7 * size + more / 2
        y = bottom + (1.8 + 1.5 * (place // n_across)) * size
        found += [mark.moved(x, y) for mark in marks]
        found.append(text.moved(x + size + more / 2, y))
    return found
