"""Drawing a tree as the report does: groups in their colours, between brackets, with their numbers and names.

Edges are as thick as they are strong, solid where they are sure, dashed where they are likely and dotted where they are
not. Nothing is told apart by its colour alone: groups have numbers, labels have markers of different shapes.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from math import isnan
from pathlib import Path
from typing import Any, Literal, TypeAlias

from latree._util.words import percent, plural
from latree.errors import InputError
from latree.facts.words import LIKELY, SURE
from latree.figure.colours import colour_of, group_colours
from latree.figure.details import arcs, brackets, end_of, scale_bar, support_texts
from latree.figure.layout import ROW_HEIGHT, LayoutPlan, PlacedComponent, horizontal, radial, unrooted
from latree.figure.marks import (
    BADGE_RADIUS,
    MarkColumn,
    Ring,
    group_entries,
    legend,
    mark_entries,
    mark_of,
    own_labels,
    ring_columns,
)
from latree.figure.picture import MUTED, PAPER, Circle, Line, Picture, Primitive, Text, extent_of, text_width
from latree.figure.sketch import Sketch, sketch, tree_facts
from latree.model import LatentTreeModel
from latree.tree import Tree

Layout: TypeAlias = Literal["horizontal", "radial", "unrooted"]
_LAYOUTS: dict[Layout, Callable[[LayoutPlan], list[PlacedComponent]]] = {
    "horizontal": horizontal,
    "radial": radial,
    "unrooted": unrooted,  # what phylogeneticists expect of a tree without a root
}

_PIXELS_PER_MM = 96 / 25.4
_PIXELS_PER_POINT = 96 / 72
_MARGIN = 12  # pixels around the picture
_COMPONENT_GAP = 28  # pixels between the components of a forest, and between the tree and the legend
_PAGE_RATIO = 1.4  # width of the picture of a forest, in units of its height
# The tree itself is at least so large, in units of its usual size.
_LEAST_STRETCH = 0.2
_MAX_TRIES = 8  # for the width that is wanted
_BLOB_SHARE = 0.44  # the radius of the largest folded group or branch, in units of the height of a row
# In units of the names' letters: the radius of a node; the letters of the
# number inside it; the width of edges of strength 0 and 1, and of those without strength; their strokes and gaps.
_DOT_RADIUS = 0.13
_NUMBER_SIZE = 0.78
_THINNEST, _THICKEST = 0.09, 0.3
_PLAIN_WIDTH = 0.11
_LIKELY_DASH, _UNSURE_DASH = (0.55, 0.3), (0.13, 0.32)


def plot(
    tree: Tree | LatentTreeModel,
    path: str | Path | None = None,
    *,
    layout: Layout = "horizontal",
    labels: Mapping[str, str] | None = None,
    hidden: bool = False,
    rings: Sequence[Ring] = (),
    width: float | None = None,
    font_size: float | None = None,
    scale_bar: bool = True,
) -> Picture:
    """Draw a tree as a picture, for a paper or a page. It looks as it does in the report.

    Groups have colours, numbers and names. Edges are as thick as they are strong. Longer edges of a model mean weaker
    dependence (:meth:`latree.LatentTreeModel.edge_lengths`). A tree's edges have their own ``lengths``, or are all
    equally long if there are none. The numbers beside edges are their support in per cent, where there is room; low
    ones come first. Solid edges are sure (support from 90 %), dashed ones likely (from 50 %), dotted ones unsure. The
    components of a forest are drawn one by one, on the same scale.

    Parameters
    ----------
    tree : Tree or LatentTreeModel
    path : str or Path, optional
        File to write. Its name ends in ``.svg``, ``.pdf`` or ``.png``; the latter two need matplotlib.
    layout : {"horizontal", "radial", "unrooted"}
        "horizontal" draws from left to right, with one row per column. "radial" draws the tree around its centre, and
        suits any number of columns. "unrooted" is the layout that phylogeneticists expect of a tree without a root; it
        suits up to about thirty columns.
    labels : mapping, optional
        From names of columns to your own labels. Each label has a marker before the names of its columns, and a line
        in the legend; a label that most columns of a group have has the colour of the group. In a tree without groups,
        a branch whose columns all have one label has its colour.
    hidden : bool
        Whether hidden variables are named, too.
    rings : sequence of {"loading", "stability"}
        Numbers of the model to show before the name of each column as a square, pale for 0 and strong for 1.
    width : float, optional
        Of the picture, in millimetres; by default as wide as the tree needs.
    font_size : float, optional
        Of the names, in points; by default smaller for more columns.
    scale_bar : bool
        Whether a line shows the scale of the lengths of edges, if there are any.

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
    if layout not in _LAYOUTS:
        raise InputError(f"layout must be one of {', '.join(map(repr, _LAYOUTS))}, not {layout!r:.60}")
    for name, value in (("width", width), ("font_size", font_size)):
        if value is not None and not 0 < value < 10_000:
            raise InputError(f"{name} must be a positive number, not {value!r:.60}")
    shown = _sketch_of(tree)
    own = tree if isinstance(tree, Tree) else tree.tree
    size = None if font_size is None else font_size * _PIXELS_PER_POINT
    options: dict[str, Any] = {
        "layout": layout,
        "hidden": tree.node_names[own.n_observed :] if hidden else (),
        "columns": [*own_labels(shown, own, labels or {}), *ring_columns(tree, rings)],
        "size": size,
        "with_scale": scale_bar,
    }
    if width is None:
        primitives = draw(shown, **options)
    else:
        room = width * _PIXELS_PER_MM - 2 * _MARGIN
        primitives = fitted(shown, room, options)
        if (least := _width_of(primitives)) > room + 1:
            raise InputError(
                f"a width of {width:g} mm leaves no room for the tree beside its names, which need "
                f"{(least + 2 * _MARGIN) / _PIXELS_PER_MM:.0f} mm: choose a larger width, or a smaller font_size"
            )
    picture = _on_page(primitives, own, width)
    if path is not None:
        picture.save(path)
    return picture


def overview(model: LatentTreeModel, labels: Mapping[str, str], most: int) -> Picture:
    """Return the picture of a model as ``plot`` draws it; of more columns than ``most``, large groups are folded."""
    shown = _sketch_of(model, most)
    columns = own_labels(shown, model.tree, labels)
    return _on_page(draw(shown, columns=columns, with_scale=True), model.tree, None)


def _sketch_of(tree: Tree | LatentTreeModel, most: int | None = None) -> Sketch:
    if isinstance(tree, Tree):
        return sketch(tree_facts(tree), tree.node_names, tree.n_observed)
    main = [group for group in tree.groups if group.level == "main"]
    groups = [
        {"number": number, "name": group.name, "nodes": group.nodes, "centre": group.centre, "colour": colour}
        for number, (group, colour) in enumerate(zip(main, group_colours(len(main)), strict=True), 1)
    ]
    return sketch(tree_facts(tree), tree.node_names, tree.tree.n_observed, groups, most=most)


def fitted(shown: Sketch, width: float, options: Mapping[str, Any]) -> list[Primitive]:
    """Return what is drawn, with the tree as wide as makes all so many pixels wide, or wider if it must be."""
    tried: list[tuple[float, float]] = []  # factors for the size of the tree, and the widths that they made, last first
    stretch = 1.0
    for _ in range(_MAX_TRIES):
        drawn = draw(shown, stretch=stretch, **options)
        tried.insert(0, (stretch, _width_of(drawn)))
        (_, across), *before = tried
        if abs(across - width) < 1 or (stretch == _LEAST_STRETCH and across > width):
            break
        # Names and legends do not grow with the tree, so that the law is a straight line, or nearly so.
        slope = across / stretch
        if before and stretch != before[0][0]:
            slope = (across - before[0][1]) / (stretch - before[0][0])
        if slope <= 0:
            break
        stretch = max(stretch + (width - across) / slope, _LEAST_STRETCH)
    return drawn


def _width_of(primitives: Sequence[Primitive]) -> float:
    left, _, right, _ = extent_of(primitives)
    return right - left


def _on_page(primitives: Sequence[Primitive], tree: Tree, width: float | None) -> Picture:
    title = f"Tree of {plural(tree.n_observed, 'column')} with {plural(tree.n_hidden, 'hidden variable')}"
    left, top, right, bottom = extent_of(primitives)
    moved = tuple(primitive.moved(_MARGIN - left, _MARGIN - top) for primitive in primitives)
    across = right - left + 2 * _MARGIN if width is None else width * _PIXELS_PER_MM
    return Picture(across, bottom - top + 2 * _MARGIN, title, moved)


def draw(
    shown: Sketch,
    *,
    layout: Layout = "horizontal",
    hidden: Sequence[str] = (),
    columns: Sequence[MarkColumn] = (),
    size: float | None = None,
    stretch: float = 1.0,
    row: float = ROW_HEIGHT,
    with_scale: bool = False,
    with_support: bool = True,
) -> list[Primitive]:
    """Return what a sketch looks like, as shapes in pixels."""
    has_blobs = any(node.kind in ("group", "branch") for node in shown.nodes)
    largest = _BLOB_SHARE * row
    gap = 0.3 + (largest if has_blobs else _DOT_RADIUS)
    plan = LayoutPlan.of(shown.tree, gap, hidden, sketch=shown, size=size, n_marks=len(columns))
    plan = replace(plan, stretch=stretch, row=row)
    colours = _edge_colours(shown, plan, columns)
    placed = _LAYOUTS[layout](plan)
    components = [_drawn(shown, plan, component, colours, columns, largest) for component in placed]
    if shown.groups and layout == "horizontal":
        names = [text for component in placed for node, text in component.names.items() if node < len(shown.names)]
        at = max(end_of(text)[0] for text in names) + 0.8 * plan.size
        for drawn, component in zip(components, placed, strict=True):
            drawn += brackets(shown, plan, component, at)
    elif shown.groups and layout == "radial":
        for drawn, component in zip(components, placed, strict=True):
            drawn += arcs(shown, plan, component)
    if with_support:
        for drawn, component in zip(components, placed, strict=True):
            drawn += support_texts(plan, component, drawn)
    primitives = _below_each_other(components) if layout == "horizontal" else _side_by_side(components)
    if with_scale and plan.has_lengths and len(shown.tree.edges):
        primitives += scale_bar(shown, plan, placed, primitives)
    entries = [] if layout == "horizontal" else group_entries(shown, plan.size)
    entries += [entry for column in columns for entry in mark_entries(column, plan.size)]
    return [*primitives, *legend(entries, plan.size, primitives)]


def _edge_colours(shown: Sketch, plan: LayoutPlan, columns: Sequence[MarkColumn]) -> dict[int, str]:
    """Return the colours of the edges inside a group or, without groups, above columns of one label."""
    found = {}
    if shown.groups:
        for edge, (above, node) in enumerate(shown.tree.edges.tolist()):
            group = shown.group_of[node]
            if group >= 0 and group == shown.group_of[above]:
                found[edge] = colour_of(shown.groups[group].colour)
        return found
    labels = next((column.marks for column in columns if None not in column.legend.values()), None)
    if labels is None:
        return {}
    # The labels in the subtree of each node; -1 is a column without a label.
    own = (
        frozenset([labels.get(node, -1)] if node < shown.tree.n_observed else []) for node in range(len(shown.nodes))
    )
    for node, inside in enumerate(plan.rooted.combined(own, frozenset.union)):
        if plan.edge_above(node) >= 0 and len(inside) == 1 and -1 not in inside:
            found[plan.edge_above(node)] = colour_of(int(next(iter(inside))))
    return found


def _drawn(
    shown: Sketch,
    plan: LayoutPlan,
    placed: PlacedComponent,
    colours: Mapping[int, str],
    columns: Sequence[MarkColumn],
    largest: float,
) -> list[Primitive]:
    """Draw one component: edges, then nodes, marks and names."""
    size = plan.size
    drawn: list[Primitive] = []
    for edge, route in placed.routes.items():
        strength = shown.strengths[int(shown.tree.edges[edge][1])]
        width = _PLAIN_WIDTH if strength is None else _THINNEST + (_THICKEST - _THINNEST) * strength
        dash = tuple(size * length for length in _dash(float(shown.tree.support[edge])))
        drawn.append(Line(route, colours.get(edge, MUTED), size * width, dash))
    drawn += placed.leaders
    for node, (x, y) in placed.position.items():
        radius = _radius(shown, node, largest) * size
        group = shown.groups[shown.group_of[node]] if shown.groups and shown.group_of[node] >= 0 else None
        colour = MUTED if group is None else colour_of(group.colour)
        is_open = node in shown.badges or shown.nodes[node].kind in ("group", "branch")
        drawn.append(Circle(x, y, radius, PAPER if is_open else colour, colour))
        number = str(group.number) if group is not None and is_open else ""
        if number and _NUMBER_SIZE * size * text_width(number, bold=True) < 2 * radius:
            drawn.append(Text(x, y, number, _NUMBER_SIZE * size, anchor="middle", bold=True))
    for node, text in placed.names.items():
        drawn += [mark_of(one, i, node, text, plan, shown) for i, one in enumerate(columns) if node in one.marks]
        drawn.append(replace(text, bold=True) if shown.nodes[node].kind in ("group", "branch") else text)
    return drawn


def _dash(support: float) -> tuple[float, ...]:
    if isnan(support) or percent(support) >= SURE:
        return ()
    return _LIKELY_DASH if percent(support) >= LIKELY else _UNSURE_DASH


def _radius(shown: Sketch, node: int, largest: float) -> float:
    """Return the radius of a node in units of the letters' size; the area of what is folded is that of its columns."""
    if node in shown.badges:
        return BADGE_RADIUS
    if shown.nodes[node].kind not in ("group", "branch"):
        return _DOT_RADIUS
    most = max(one.n_columns for one in shown.nodes if one.kind in ("group", "branch"))
    area = shown.nodes[node].n_columns / most
    return float(max(largest * area**0.5, 1.5 * _DOT_RADIUS))


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
