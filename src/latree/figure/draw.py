"""A tree as a picture: nodes and names in their places, support, colours of groups, a legend."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from math import hypot, isnan
from pathlib import Path
from typing import Literal, TypeAlias

import numpy as np

from latree._util.text import plural
from latree.errors import InputError
from latree.figure.boxes import Crowd
from latree.figure.layout import Placed, Plan, horizontal
from latree.figure.marks import colour_of, mark
from latree.figure.picture import (
    LINE_HEIGHT,
    MUTED,
    Circle,
    Line,
    Picture,
    Primitive,
    Text,
    boxes_of,
    extent_of,
    named_text,
)
from latree.figure.radial import radial, unrooted
from latree.figure.text import width
from latree.model import LatentTreeModel
from latree.tree import Tree

Layout: TypeAlias = Literal["radial", "unrooted", "horizontal"]
_LAYOUTS: dict[Layout, Callable[[Plan], list[Placed]]] = {
    "radial": radial,
    "unrooted": unrooted,
    "horizontal": horizontal,
}

_MARGIN = 12
_APART = 28  # between parts of a forest
_SUPPORT_SIZE = 0.75  # of the names' letters
_MARK = 0.34  # radius of a group's mark, in units of the names' letters
_DOT = 0.17  # of a node without one
_WIDE = 1.4  # how much wider than high a forest is


def plot(
    drawn: Tree | LatentTreeModel,
    path: str | Path | None = None,
    *,
    layout: Layout = "radial",
    labels: Mapping[str, str] | None = None,
    hidden: bool = False,
) -> Picture:
    """Draw a tree as a picture, for a paper or a page.

    Longer edges of a model mean weaker dependence (:meth:`latree.LatentTreeModel.edge_lengths`). A tree's edges have
    their own ``lengths``, or are all equally long if there are none. The numbers beside edges are their support in per
    cent, where there is room. A forest is drawn part by part, on the same scale.

    Parameters
    ----------
    drawn : Tree or LatentTreeModel
    path : str or Path, optional
        File to write. Its name ends in ``.svg`` or ``.png``; a PNG needs matplotlib.
    layout : {"radial", "unrooted", "horizontal"}
        Around the middle of the tree; without a root, which suits up to about thirty columns; or from left to right.
    labels : mapping, optional
        From names of columns to the groups they belong to. Each group has a colour, a mark and a line in the legend. A
        branch whose columns all belong to one group has its colour.
    hidden : bool
        Whether hidden variables are named, too.

    Returns
    -------
    Picture
        It shows itself in a notebook; ``to_svg`` returns the text of the SVG file.

    Examples
    --------
    >>> import latree
    >>> tree = latree.Tree.from_newick("((a,b),c,d);")
    >>> latree.plot(tree, labels={"a": "letters", "b": "letters"}).to_svg()[:4]
    '<svg'
    """
    picture = _picture(drawn, layout, labels, hidden)
    if path is not None:
        picture.save(path)
    return picture


def _picture(drawn: Tree | LatentTreeModel, layout: Layout, labels: Mapping[str, str] | None, hidden: bool) -> Picture:
    tree = drawn if isinstance(drawn, Tree) else drawn.tree.with_numbers(lengths=drawn.edge_lengths())
    if layout not in _LAYOUTS:
        raise InputError(f"layout must be one of {', '.join(map(repr, _LAYOUTS))}, not {layout!r:.60}")
    groups = _groups(tree, labels or {})
    plan = Plan.of(tree, hidden, gap=2 * _MARK if groups else 3 * _DOT)
    parts = [_drawn(plan, part, groups) for part in _LAYOUTS[layout](plan)]
    shapes = _below_each_other(parts) if layout == "horizontal" else _side_by_side(parts)
    if groups:
        shapes += _legend(list(_numbers(labels or {})), plan.size, shapes)
    left, top, right, bottom = extent_of(shapes)
    moved = tuple(primitive.moved(_MARGIN - left, _MARGIN - top) for primitive in shapes)
    return Picture(right - left + 2 * _MARGIN, bottom - top + 2 * _MARGIN, _title(tree), moved)


def _title(tree: Tree) -> str:
    return f"Tree of {plural(tree.n_observed, 'column')} with {plural(tree.n_hidden, 'hidden variable')}"


def _numbers(labels: Mapping[str, str]) -> dict[str, int]:
    """Give groups numbers, the largest first."""
    sizes = Counter(label for label in labels.values() if label)
    return {label: number for number, label in enumerate(sorted(sizes, key=lambda label: (-sizes[label], label)))}


def _groups(tree: Tree, labels: Mapping[str, str]) -> dict[int, int]:
    """Give the number of each labelled node's group."""
    place = {name: node for node, name in enumerate(tree.names)}
    for name in labels:
        if name not in place:
            raise InputError(f"there is a label for {name!r:.60}, which is none of the tree's columns")
    number = _numbers(labels)
    return {place[name]: number[label] for name, label in labels.items() if label}


def _drawn(plan: Plan, placed: Placed, groups: Mapping[int, int]) -> list[Primitive]:
    """Draw one part: edges, then marks and names, and the edges' support where there is room."""
    alone = _edges_of_one_group(plan, placed, groups)
    drawn: list[Primitive] = [
        Line(route, colour_of(alone[edge]), 1.8) if edge in alone else Line(route)
        for edge, route in placed.routes.items()
    ]
    drawn += placed.leaders
    for node, (x, y) in placed.position.items():
        if node in groups:
            drawn.append(mark(groups[node], x, y, _MARK * plan.size))
        else:
            radius = plan.size * (_DOT if node < plan.tree.n_observed else 0.75 * _DOT)
            drawn.append(Circle(x, y, radius, MUTED, MUTED))
    drawn += placed.names.values()
    return [*drawn, *_support(plan, placed, drawn)]


def _edges_of_one_group(plan: Plan, placed: Placed, groups: Mapping[int, int]) -> dict[int, int]:
    """Give the edges below which all columns are of one group, and the group."""
    below: dict[int, set[int]] = {node: set() for node in placed.position}
    found = {}
    for node in reversed(placed.position):
        if node < plan.tree.n_observed:
            below[node].add(groups.get(node, -1))
        if plan.parent[node] >= 0:
            below[plan.parent[node]] |= below[node]
            if len(below[node]) == 1 and -1 not in below[node]:
                found[plan.up[node]] = next(iter(below[node]))
    return found


def _support(plan: Plan, placed: Placed, drawn: Sequence[Primitive]) -> list[Text]:
    """Write the support of inner edges beside them, in per cent, where nothing is in the way."""
    support = plan.tree.support
    size = _SUPPORT_SIZE * plan.size
    is_share = not ((support < 0) | (support > 1)).any()  # trees from elsewhere may have other numbers
    taken = boxes_of(drawn)
    free_rows = np.full((len(placed.position), 6), np.nan)  # for what is written on the way
    crowd = Crowd(np.concatenate([taken, free_rows]))
    texts: list[Text] = []
    for node in placed.position:
        edge = plan.up[node]
        if edge < 0 or isnan(support[edge]) or not plan.branches[node]:
            continue
        text = f"{100 * support[edge]:.0f}" if is_share else f"{support[edge]:.3g}"
        (x0, y0), (x1, y1) = placed.routes[edge][-2:]
        length = hypot(x1 - x0, y1 - y0)
        if length < size:
            continue
        u, v = (x1 - x0) / length, (y1 - y0) / length
        aside = 1.5 + size * (width(text) * abs(v) + LINE_HEIGHT * abs(u)) / 2
        tried = [
            Text(
                x0 + share * (x1 - x0) + side * aside * v,
                y0 + share * (y1 - y0) - side * aside * u,
                text,
                size,
                anchor="middle",
                colour=MUTED,
            )
            for share in (0.5, 0.35, 0.65)
            for side in (1, -1)
        ]
        boxes = boxes_of(tried)
        free = crowd.free(boxes)
        if free.any():
            crowd.put(len(taken) + len(texts), boxes[free.argmax()])
            texts.append(tried[int(free.argmax())])
    return texts


def _side_by_side(parts: Sequence[list[Primitive]]) -> list[Primitive]:
    """Put parts into rows, the highest first, as wide together as suits a page."""
    extents = [extent_of(part) for part in parts]
    sizes = [(right - left + _APART, bottom - top + _APART) for left, top, right, bottom in extents]
    page = max(max(w for w, _ in sizes), (_WIDE * sum(w * h for w, h in sizes)) ** 0.5)
    drawn: list[Primitive] = []
    x = y = row = 0.0
    for part in sorted(range(len(parts)), key=lambda part: (-round(sizes[part][1]), part)):
        (left, top, _, _), (w, h) = extents[part], sizes[part]
        if x and x + w > page:
            x, y, row = 0.0, y + row, 0.0
        row = max(row, h)
        drawn += [primitive.moved(x - left, y - top) for primitive in parts[part]]
        x += w
    return drawn


def _below_each_other(parts: Sequence[list[Primitive]]) -> list[Primitive]:
    drawn: list[Primitive] = []
    y = 0.0
    for part in parts:
        _, top, _, bottom = extent_of(part)
        drawn += [primitive.moved(0, y - top) for primitive in part]
        y += bottom - top + _APART / 2
    return drawn


def _legend(labels: Sequence[str], size: float, drawn: Sequence[Primitive]) -> list[Primitive]:
    """List the groups at the right of what is drawn, in as many columns as its height asks for."""
    _, top, right, bottom = extent_of(drawn)
    row = 1.6 * size
    rows = max(1, int((bottom - top) // row), -(-len(labels) // 4))
    made: list[Primitive] = []
    x = right + _APART
    for first in range(0, len(labels), rows):
        column = labels[first : first + rows]
        start = (top + bottom) / 2 - row * (min(rows, len(labels)) - 1) / 2
        for place, label in enumerate(column):
            y = start + place * row
            made.append(mark(first + place, x, y, _MARK * size))
            made.append(named_text(x + size, y, label, size))
        x = extent_of(made)[2] + _APART
    return made
