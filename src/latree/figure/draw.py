"""Drawing a tree: colours of groups, markers, lines and labels.

There are twelve colours. The twelve largest groups have one each; all other groups are grey, and told apart by their
numbers. A label that most columns of a group have has the colour of that group, wherever the label is shown.
"""

from collections.abc import Callable, Mapping, Sequence
from itertools import count
from math import cos, hypot, isnan, pi, sin
from pathlib import Path
from typing import Literal, TypeAlias

import numpy as np

from latree._util.words import percent, plural
from latree.errors import InputError
from latree.facts.groups import compare_labels
from latree.figure.layout import LayoutPlan, PlacedComponent, horizontal, radial, unrooted
from latree.figure.picture import (
    LINE_HEIGHT,
    MUTED,
    PAPER,
    Circle,
    Line,
    OccupiedBoxes,
    Picture,
    Polygon,
    Primitive,
    Text,
    boxes_of,
    extent_of,
    name_text,
    text_width,
)
from latree.model import Group, LatentTreeModel
from latree.tree import Tree

# Okabe and Ito's colours in shades that can be read on white, then darker ones of the same hues, and an olive green.
# The style sheet of the report has the same colours, and lighter ones for its dark theme.
COLOURS = (
    "#0072b2",
    "#d55e00",
    "#009e73",
    "#b8558f",
    "#c98a00",
    "#3aa3e0",
    "#004a75",
    "#8f3f00",
    "#00664a",
    "#7a2f5d",
    "#806000",
    "#6b9a00",
)
GREY = "#8b8f96"
# The number of the grey of all groups that have no colour of their own.
NEUTRAL = len(COLOURS)


def colour_of(number: int) -> str:
    """Return a colour by its number; all numbers from ``NEUTRAL`` on are grey."""
    return COLOURS[number] if number < NEUTRAL else GREY


def group_colours(n_groups: int) -> list[int]:
    """Return the number of each group's colour. The largest groups come first in the list of a model's groups."""
    return [min(number, NEUTRAL) for number in range(n_groups)]


def label_colours(labels: Sequence[str], of_groups: Sequence[str | None]) -> list[int]:
    """Return the number of each label's colour.

    Parameters
    ----------
    labels : sequence of str
        The labels, the most common first.
    of_groups : sequence of str or None
        The label that each group stands for, such as the most common one of its columns. If several groups have the
        same, the first of them gives the colour. Other labels have colours that no group has, or else grey.
    """
    colours = group_colours(len(of_groups))
    chosen = {label: colour for label, colour in reversed([*zip(of_groups, colours, strict=True)]) if label is not None}
    spare = iter(range(len(of_groups), NEUTRAL))
    for label in labels:
        if label not in chosen:
            chosen[label] = next(spare, NEUTRAL)
    return [chosen[label] for label in labels]


def _star(corners: int, inner: float, turn: float = 0.0) -> tuple[tuple[float, float], ...]:
    """Return the corners of a regular polygon (``inner`` is 1), or of a star with its inner corners at that radius."""
    steps = corners if inner == 1 else 2 * corners
    radius = [1 if inner == 1 or i % 2 == 0 else inner for i in range(steps)]
    angle = [2 * pi * (i / steps + turn / 360) - pi / 2 for i in range(steps)]
    return tuple((r * cos(a), r * sin(a)) for r, a in zip(radius, angle, strict=True))


# Shapes of about the same area; None is a circle.
_SHAPES = (
    None,
    tuple((1.15 * x, 1.15 * y) for x, y in _star(4, 1, 45)),
    tuple((1.25 * x, 1.25 * y) for x, y in _star(4, 1)),
    tuple((1.35 * x, 1.35 * y + 0.2) for x, y in _star(3, 1)),
    tuple((1.35 * x, 1.35 * y - 0.2) for x, y in _star(3, 1, 180)),
    tuple((1.45 * x, 1.45 * y) for x, y in _star(5, 0.45)),
    tuple((1.35 * x, 1.35 * y) for x, y in _star(4, 0.4)),
    tuple((1.35 * x, 1.35 * y) for x, y in _star(4, 0.4, 45)),
    tuple((1.1 * x, 1.1 * y) for x, y in _star(6, 1)),
)


def marker(group: int, x: float, y: float, radius: float) -> Circle | Polygon:
    """Return the marker of a group: the first twelve differ in colour; the others are grey, and hollow at first.

    There are 12 markers in colours and 18 in grey; then those in grey repeat.
    """
    colour = colour_of(group)
    place = group if group < NEUTRAL else group - NEUTRAL
    shape = _SHAPES[place % len(_SHAPES)]
    is_hollow = group >= NEUTRAL and place // len(_SHAPES) % 2 == 0
    fill = PAPER if is_hollow else colour
    if shape is None:
        return Circle(x, y, radius, fill, colour)
    return Polygon(tuple((x + radius * a, y + radius * b) for a, b in shape), fill, colour)


Layout: TypeAlias = Literal["radial", "unrooted", "horizontal"]
_LAYOUTS: dict[Layout, Callable[[LayoutPlan], list[PlacedComponent]]] = {
    "radial": radial,
    "unrooted": unrooted,  # what phylogeneticists expect of a tree without a root
    "horizontal": horizontal,
}

_MARGIN = 12  # pixels around the picture
_COMPONENT_GAP = 28  # pixels between the components of a forest, and between the tree and the legend
_SUPPORT_SIZE = 0.75  # size of the numbers beside edges, in units of the names' letters
_MARKER_RADIUS = 0.34  # radius of a group's marker, in units of the names' letters
_NODE_RADIUS = 0.17  # radius of an observed node without a group, in units of the names' letters
_PAGE_RATIO = 1.4  # width of the picture of a forest, in units of its height


def plot(
    tree: Tree | LatentTreeModel,
    path: str | Path | None = None,
    *,
    layout: Layout = "radial",
    labels: Mapping[str, str] | None = None,
    hidden: bool = False,
) -> Picture:
    """Draw a tree as a picture, for a paper or a page.

    Longer edges of a model mean weaker dependence (:meth:`latree.LatentTreeModel.edge_lengths`). A tree's edges have
    their own ``lengths``, or are all equally long if there are none. The numbers beside edges are their support in per
    cent, where there is room. The components of a forest are drawn one by one, on the same scale.

    Parameters
    ----------
    tree : Tree or LatentTreeModel
    path : str or Path, optional
        File to write. Its name ends in ``.svg`` or ``.png``; a PNG needs matplotlib.
    layout : {"radial", "unrooted", "horizontal"}
        "radial" draws the tree around its centre, and suits any number of columns. "unrooted" is the layout that
        phylogeneticists expect of a tree without a root; it suits up to about thirty columns. "horizontal" draws from
        left to right, with one row per column.
    labels : mapping, optional
        From names of columns to your own labels. Each label has a colour, a marker and a line in the legend; a label
        that most columns of a group have has the colour of the group in the report. By default a model with several
        groups has their colours and names. A branch whose columns all belong together has their colour. With ``{}``
        there are no colours.
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
    >>> picture = latree.plot(tree, labels={"a": "letters", "b": "letters"})
    >>> picture.title
    'Tree of 4 columns with 2 hidden variables'
    >>> picture.to_svg()[:4]
    '<svg'
    """
    picture = _picture(tree, layout, labels, hidden)
    if path is not None:
        picture.save(path)
    return picture


def _picture(
    tree_or_model: Tree | LatentTreeModel, layout: Layout, labels: Mapping[str, str] | None, hidden: bool
) -> Picture:
    leaves = None
    if isinstance(tree_or_model, Tree):
        tree, node_names = tree_or_model, tree_or_model.node_names
    else:
        leaves = tree_or_model.leaves
        tree = tree_or_model.tree.with_numbers(lengths=tree_or_model.edge_lengths())
        node_names = tree_or_model.node_names
    if layout not in _LAYOUTS:
        raise InputError(f"layout must be one of {', '.join(map(repr, _LAYOUTS))}, not {layout!r:.60}")
    if labels is None and not isinstance(tree_or_model, Tree):
        markers = _markers_of_groups(tree_or_model.groups)
        labels = (
            {name: group.name for group in _main(tree_or_model.groups) for name in group.columns} if markers else {}
        )
    else:
        labels = labels or {}
        markers = _markers_of_labels(tree, labels, () if isinstance(tree_or_model, Tree) else tree_or_model.groups)
    groups = _groups(tree, labels, markers)
    gap = 2 * _MARKER_RADIUS if groups else 3 * _NODE_RADIUS
    plan = LayoutPlan.of(tree, gap, node_names[tree.n_observed :] if hidden else (), leaves)
    edge_groups = _edges_of_one_group(plan, groups)
    components = [_drawn(plan, placed, groups, edge_groups) for placed in _LAYOUTS[layout](plan)]
    primitives = _below_each_other(components) if layout == "horizontal" else _side_by_side(components)
    if groups:
        primitives += _legend(markers, plan.size, primitives)
    left, top, right, bottom = extent_of(primitives)
    moved = tuple(primitive.moved(_MARGIN - left, _MARGIN - top) for primitive in primitives)
    return Picture(right - left + 2 * _MARGIN, bottom - top + 2 * _MARGIN, _title(tree), moved)


def _title(tree: Tree) -> str:
    return f"Tree of {plural(tree.n_observed, 'column')} with {plural(tree.n_hidden, 'hidden variable')}"


def _main(groups: Sequence[Group]) -> list[Group]:
    return [group for group in groups if group.level == "main"]


def _markers_of_groups(groups: Sequence[Group]) -> dict[str, int]:
    """Return the number of each main group's marker by its name; nothing for a single group."""
    main = _main(groups)
    return {group.name: number for number, group in enumerate(main)} if len(main) > 1 else {}


def _markers_of_labels(tree: Tree, labels: Mapping[str, str], groups: Sequence[Group]) -> dict[str, int]:
    """Return the number of each label's marker, in the colour of the report; the most common label comes first."""
    for name in labels:
        if name not in tree.names:
            raise InputError(f"there is a label for {name!r:.60}, which is none of the tree's columns")
    node_of = {name: node for node, name in enumerate(tree.names)}
    columns = [[node_of[name] for name in group.columns] for group in _main(groups)]
    facts = compare_labels([labels.get(name, "") for name in tree.names], columns)
    colours = label_colours(facts["names"], [match["label"] for match in facts["groups"]])
    # Labels in grey have different shapes.
    shapes = count(NEUTRAL)
    return {
        label: colour if colour < NEUTRAL else next(shapes)
        for label, colour in zip(facts["names"], colours, strict=True)
    }


def _groups(tree: Tree, labels: Mapping[str, str], markers: Mapping[str, int]) -> dict[int, int]:
    """Return the number of the marker of each labelled node."""
    node_of = {name: node for node, name in enumerate(tree.names)}
    return {node_of[name]: markers[label] for name, label in labels.items() if label}


def _drawn(
    plan: LayoutPlan, placed: PlacedComponent, groups: Mapping[int, int], edge_groups: Mapping[int, int]
) -> list[Primitive]:
    """Draw one component: edges, then nodes and names, and the support of edges where there is room."""
    drawn: list[Primitive] = [
        Line(route, colour_of(edge_groups[edge]), 1.8) if edge in edge_groups else Line(route)
        for edge, route in placed.routes.items()
    ]
    drawn += placed.leaders
    for node, (x, y) in placed.position.items():
        if node in groups:
            drawn.append(marker(groups[node], x, y, _MARKER_RADIUS * plan.size))
        else:
            radius = plan.size * (_NODE_RADIUS if node < plan.tree.n_observed else 0.75 * _NODE_RADIUS)
            drawn.append(Circle(x, y, radius, MUTED, MUTED))
    drawn += placed.names.values()
    return [*drawn, *_support(plan, placed, drawn)]


def _edges_of_one_group(plan: LayoutPlan, groups: Mapping[int, int]) -> dict[int, int]:
    """Return the edges below which all columns belong to one group, with the number of the group."""
    # The groups in the subtree of each node; -1 is a column without a group.
    nodes = range(plan.tree.n_nodes)
    own = (frozenset([groups.get(node, -1)] if node < plan.tree.n_observed else []) for node in nodes)
    below = plan.rooted.combined(own, frozenset.union)
    return {
        plan.edge_above(node): next(iter(found))
        for node, found in enumerate(below)
        if plan.edge_above(node) >= 0 and len(found) == 1 and -1 not in found
    }


def _support(plan: LayoutPlan, placed: PlacedComponent, drawn: Sequence[Primitive]) -> list[Text]:
    """Write the support of inner edges beside them, in per cent, where nothing is in the way."""
    support = plan.tree.support
    size = _SUPPORT_SIZE * plan.size
    boxes_drawn = boxes_of(drawn)
    free_rows = np.full((len(placed.position), 6), np.nan)  # for the numbers that are written here
    occupied = OccupiedBoxes(np.concatenate([boxes_drawn, free_rows]))
    texts: list[Text] = []
    for node in placed.position:
        edge = plan.edge_above(node)
        if edge < 0 or isnan(support[edge]) or not plan.branches[node]:
            continue
        text = str(percent(support[edge]))
        (x0, y0), (x1, y1) = placed.routes[edge][-2:]
        length = hypot(x1 - x0, y1 - y0)
        if length < size:
            continue
        # Try three places along the edge, on both sides, far enough from the edge that the text does not touch it.
        u, v = (x1 - x0) / length, (y1 - y0) / length
        away = 1.5 + size * (text_width(text) * abs(v) + LINE_HEIGHT * abs(u)) / 2
        tried = [
            Text(
                x0 + share * (x1 - x0) + side * away * v,
                y0 + share * (y1 - y0) - side * away * u,
                text,
                size,
                anchor="middle",
                colour=MUTED,
            )
            for share in (0.5, 0.35, 0.65)
            for side in (1, -1)
        ]
        boxes = boxes_of(tried)
        free = occupied.are_free(boxes)
        if free.any():
            occupied.replace(len(boxes_drawn) + len(texts), boxes[free.argmax()])
            texts.append(tried[int(free.argmax())])
    return texts


def _side_by_side(components: Sequence[list[Primitive]]) -> list[Primitive]:
    """Put components into rows, the highest first; the rows are as wide as suits a page."""
    extents = [extent_of(component) for component in components]
    sizes = [(right - left + _COMPONENT_GAP, bottom - top + _COMPONENT_GAP) for left, top, right, bottom in extents]
    page_width = max(max(w for w, _ in sizes), (_PAGE_RATIO * sum(w * h for w, h in sizes)) ** 0.5)
    drawn: list[Primitive] = []
    x = y = row_height = 0.0
    for number in sorted(range(len(components)), key=lambda number: (-round(sizes[number][1]), number)):
        (left, top, _, _), (w, h) = extents[number], sizes[number]
        if x and x + w > page_width:
            x, y, row_height = 0.0, y + row_height, 0.0
        row_height = max(row_height, h)
        drawn += [primitive.moved(x - left, y - top) for primitive in components[number]]
        x += w
    return drawn


def _below_each_other(components: Sequence[list[Primitive]]) -> list[Primitive]:
    drawn: list[Primitive] = []
    y = 0.0
    for component in components:
        _, top, _, bottom = extent_of(component)
        drawn += [primitive.moved(0, y - top) for primitive in component]
        y += bottom - top + _COMPONENT_GAP / 2
    return drawn


def _legend(markers: Mapping[str, int], size: float, drawn: Sequence[Primitive]) -> list[Primitive]:
    """Return the legend at the right of what is drawn, in as many columns as fit its height, but at most four."""
    labels = list(markers)
    _, top, right, bottom = extent_of(drawn)
    row_height = 1.6 * size
    n_rows = max(1, int((bottom - top) // row_height), -(-len(labels) // 4))
    legend: list[Primitive] = []
    x = right + _COMPONENT_GAP
    for first in range(0, len(labels), n_rows):
        column = labels[first : first + n_rows]
        start = (top + bottom) / 2 - row_height * (min(n_rows, len(labels)) - 1) / 2
        for place, label in enumerate(column):
            y = start + place * row_height
            legend.append(marker(markers[label], x, y, _MARKER_RADIUS * size))
            legend.append(name_text(x + size, y, label, size))
        x = extent_of(legend)[2] + _COMPONENT_GAP
    return legend
