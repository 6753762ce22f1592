"""Drawing a tree as a picture: its layout, the support of edges, colours of groups, and a legend."""

from collections.abc import Callable, Mapping, Sequence
from itertools import count
from math import hypot, isnan
from pathlib import Path
from typing import Literal, TypeAlias

import numpy as np

from latree._util.words import percent, plural
from latree.errors import InputError
from latree.explain.user_labels import compare_labels
from latree.figure.boxes import OccupiedBoxes
from latree.figure.colours import NEUTRAL, colour_of, label_colours
from latree.figure.layout import LayoutPlan, PlacedComponent, horizontal
from latree.figure.markers import marker
from latree.figure.picture import Picture
from latree.figure.primitives import LINE_HEIGHT, MUTED, Circle, Line, Primitive, Text, boxes_of, extent_of, name_text
from latree.figure.radial import radial, unrooted
from latree.figure.text import text_width
from latree.model import Group, LatentTreeModel
from latree.tree import Tree

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
    if isinstance(tree_or_model, Tree):
        tree, node_names = tree_or_model, tree_or_model.node_names
    else:
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
    plan = LayoutPlan.of(tree, gap, node_names[tree.n_observed :] if hidden else ())
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
