"""Pictures without a script: the groups on the first screen, the tree for paper, and the small charts.

The tree is also for readers without JavaScript. Both are drawn as ``latree plot`` draws them, in the colours of the
page. A tree of many rows is cut into strips, one SVG element each, which stand below each other without a gap. So a
printer can begin a new page between two of them, and no row is cut through. A tree of very many columns is folded, as
the drawing is at first; see :mod:`latree.figure.overview`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import floor, log10
from typing import Any

import numpy as np
from markupsafe import Markup

from latree.figure.colours import COLOURS, GREY, NEUTRAL
from latree.figure.draw import fitted
from latree.figure.layout import ROW_HEIGHT
from latree.figure.marks import label_column
from latree.figure.overview import Folds
from latree.figure.picture import (
    INK,
    MUTED,
    PAPER,
    Circle,
    Primitive,
    Text,
    boxes_of,
    extent_of,
    extents,
    svg_strip,
)
from latree.figure.sketch import Sketch, sketch

_MARGIN = 3  # around a picture
_WIDTH, _FONT = 760, 11  # of the picture of the whole tree, and the size of its names; the page scales it
_MAX_ROWS = 200  # a tree of more columns, about three pages, is folded
# A tree of so many rows is one strip, which fits a page of paper; others are cut into strips of fewer rows.
_ROWS_PER_PAGE, _ROWS_PER_STRIP = 60, 10
# The first screen: the width and about the height of the picture, the size of its names, and the most lines.
_FIRST_WIDTH, _FIRST_HEIGHT, _FIRST_FONT, _FIRST_LINES = 520, 300, 13, 26
_FIRST_LETTERS = 38  # the most of the name of a folded group
_MAX_ROW = 2.6  # the most height of a row, in units of the letters

# The colours of the page, by those of a picture.
_COLOURS = {
    INK: "var(--ink)",
    MUTED: "var(--faint)",
    PAPER: "var(--page)",
    GREY: f"var(--c{NEUTRAL})",
    **{colour: f"var(--c{number})" for number, colour in enumerate(COLOURS)},
}


def is_folded(facts: Mapping[str, Any]) -> bool:
    """Return whether the picture of the tree shows an overview of it."""
    return bool(facts["n_columns"] > _MAX_ROWS)


def tree_picture(facts: Mapping[str, Any]) -> Markup:
    """Return the strips of the picture of the tree, one after the other."""
    folds = Folds(**facts["folds"]) if is_folded(facts) else Folds()
    shown = _sketch(facts, folds=folds)
    labels = facts["labels"]
    columns = label_column(shown, labels["names"], labels["of"], labels["colours"]) if labels else []
    n_rows = len(shown.names)
    n_strips = 1 if n_rows <= _ROWS_PER_PAGE else -(-n_rows // _ROWS_PER_STRIP)
    options = {"columns": columns, "size": _FONT, "with_scale": True}
    return _strips(fitted(shown, _WIDTH - 2 * _MARGIN, options), n_strips)


def first_picture(facts: Mapping[str, Any]) -> Markup:
    """Return the picture of the groups on the first screen; of one group, that of its columns."""
    shown = _sketch(facts, most=_FIRST_LINES, letters=_FIRST_LETTERS)
    row = min(max(_FIRST_HEIGHT / (len(shown.names) * _FIRST_FONT), ROW_HEIGHT), _MAX_ROW)
    options = {"size": _FIRST_FONT, "row": row, "with_support": False}
    # Long names may take more room than there is: then all of it is smaller.
    return _strips(fitted(shown, _FIRST_WIDTH, options), 1)


def _sketch(facts: Mapping[str, Any], **more: Any) -> Sketch:
    return sketch(
        facts["tree"],
        facts["names"],
        facts["n_columns"],
        facts["groups"],
        branch_names=facts["branch_names"],
        **more,
    )


def _strips(drawn: Sequence[Primitive], n_strips: int) -> Markup:
    """Return a picture as strips of about the same height, in the colours of the page."""
    left, top, right, bottom = extent_of(drawn)
    moved = [primitive.moved(_MARGIN - left, _MARGIN - top) for primitive in drawn]
    # Grey letters have to be darker than grey lines.
    primitives = [
        replace(one, colour="var(--soft)") if isinstance(one, Text) and one.colour == MUTED else one for one in moved
    ]
    height = bottom - top + 2 * _MARGIN
    cuts = _cuts(moved, height, n_strips)
    width = right - left + 2 * _MARGIN
    return Markup("\n").join(
        Markup(svg_strip(width, start, end, primitives, _COLOURS))
        for start, end in zip([0.0, *cuts], [*cuts, height], strict=True)
    )


def _cuts(drawn: Sequence[Primitive], height: float, n_strips: int) -> list[float]:
    """Return heights near equal parts at which a picture can be cut without cutting letters or circles."""
    solid = boxes_of(one for one in drawn if isinstance(one, Text | Circle))
    low, high = (corner[:, 1] for corner in extents(solid))
    found: list[float] = []
    edges = np.unique(np.round(high, 3))
    free = [edge for edge in edges.tolist() if not ((low < edge - 1e-6) & (high > edge + 1e-6)).any()]
    for part in range(1, n_strips):
        nearest = min(free, key=lambda edge: abs(edge - height * part / n_strips))
        if nearest > (found[-1] if found else 0.0):
            found.append(nearest)
    return found


# All lengths are in the units of the SVG's viewBox.
_CHART_WIDTH = 420  # width of a chart
_PLOT = (66.0, 10.0, 404.0, 140.0)  # left, top, right and bottom of the line plot


def convergence_chart(history: list[float]) -> dict[str, Any] | None:
    """Return EM's objective per iteration as a line. The first iterations may lie below the plot: they gain most."""
    if len(history) < 2:
        return None
    left, top, right, bottom = _PLOT
    # A long history is shown from about its tenth part on, so that the later gains can be seen.
    high = history[-1]
    low = history[min(len(history) // 10 + 1, len(history) - 2)] if len(history) > 12 else history[0]
    low = min(low, high - 1e-9 * max(abs(high), 1))
    last = len(history) - 1
    points = [
        (left + (right - left) * iteration / last, bottom - (bottom - top) * (value - low) / (high - low))
        for iteration, value in enumerate(history)
    ]
    first = next(iteration for iteration, (_, y) in enumerate(points) if y <= bottom + 1e-6)
    visible = [(x, min(y, bottom)) for x, y in points[first:]]
    if first:
        # Begin where the line crosses the bottom of the plot.
        (x0, y0), (x1, y1) = points[first - 1], points[first]
        visible.insert(0, (x0 + (x1 - x0) * (y0 - bottom) / (y0 - y1), bottom))
    line = " ".join(f"{x:.1f},{y:.1f}" for x, y in visible)
    return {
        "width": _CHART_WIDTH,
        "height": 164,
        "plot": _PLOT,
        "line": line,
        "area": f"{visible[0][0]:.1f},{bottom:.1f} {line} {visible[-1][0]:.1f},{bottom:.1f}",
        "x_ticks": [{"x": round(left + (right - left) * step / last, 1), "text": str(step)} for step in _ticks(last)],
        "gain": round(high - low, 2),
        "clipped": first > 0,
    }


def _ticks(last: int) -> list[int]:
    """Return four or five round numbers from 0 to at most the last."""
    rough = max(last / 4, 1)
    size = 10 ** floor(log10(rough))
    step = next(size * factor for factor in (1, 2, 5, 10) if size * factor >= rough)
    return list(range(0, last + 1, step))
