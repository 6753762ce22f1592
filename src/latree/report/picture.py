"""Pictures without a script: the whole tree, for paper and for readers without JavaScript; and the small charts.

The tree is cut into strips of some rows, one SVG element each, which stand below each other without a gap. So a printer
can begin a new page between two of them, and no row is cut through. A tree of very many columns is folded, as the
drawing is at first; see :mod:`latree.report.overview`.
"""

from collections.abc import Iterator, Sequence
from itertools import groupby
from math import floor, log10
from typing import Any

from markupsafe import Markup

from latree._util.words import one_line
from latree.facts.words import LIKELY, SURE
from latree.figure.picture import shortened, text_width
from latree.report.overview import DrawnNode, Folds, Overview

_WIDTH = 760  # of the picture; the page scales it
_ROW = 16  # height of a row
_ROWS_PER_STRIP = 10
_FONT = 11  # size of names
_MAX_NAMES, _MAX_GROUPS = 200, 190  # widths of the names of columns and of groups
_MAX_FOLDED = 300  # width of the name of something folded
_LEFT = 8
_STRIP = 12  # width of the colours of labels
_BADGE = 7  # radius of the circle with a group's number
_SUPPORT_ROOM = 20  # the support of an edge is written if the edge is longer
_MAX_ROWS = 200  # a tree of more columns, about three pages, is folded
_MAX_RADIUS = 7.5  # of a folded group or branch


def is_folded(facts: dict[str, Any]) -> bool:
    """Return whether the picture shows an overview of the tree."""
    return bool(facts["n_columns"] > _MAX_ROWS)


def tree_picture(facts: dict[str, Any]) -> Markup:
    """Return the strips of the picture, one after the other."""
    if is_folded(facts):
        return Markup("\n").join(_FoldedPicture(facts).strips())
    picture = _Picture(facts)
    n_rows = facts["n_columns"]
    return Markup("\n").join(
        picture.strip(first, min(first + _ROWS_PER_STRIP, n_rows)) for first in range(0, n_rows, _ROWS_PER_STRIP)
    )


class _Picture:
    """Places of all nodes in pixels, and what is drawn of them in a strip."""

    def __init__(self, facts: dict[str, Any]) -> None:
        self.facts: dict[str, Any] = facts
        self.tree: dict[str, Any] = facts["tree"]
        self.n_columns = facts["n_columns"]
        self.groups = facts["groups"] if len(facts["groups"]) > 1 else []
        self.group_of: dict[int, dict[str, Any]] = {node: group for group in self.groups for node in group["nodes"]}
        self.centres = {group["centre"]: group for group in self.groups}
        names = [_fitted(facts["names"][column], _MAX_NAMES) for column in range(self.n_columns)]
        groups = [_fitted(group["name"], _MAX_GROUPS - 30) for group in self.groups]
        groups_width = max((_width(name) for name in groups), default=-30) + 30
        self.names_at = round(_WIDTH - groups_width - max(map(_width, names)) - 4)
        self.groups_at = round(_WIDTH - groups_width + 4)
        end = self.names_at - (_STRIP if facts["labels"] else 0) - 14
        self.x = [round(_LEFT + _BADGE + along * (end - _LEFT - _BADGE)) for along in facts["places"]["along"]]
        self.y = [round((row + 0.5) * _ROW, 1) for row in facts["places"]["row"]]

    def strip(self, first: int, end: int) -> Markup:
        """Return the SVG element of the rows from ``first`` to ``end``."""
        top, bottom = first * _ROW, end * _ROW
        # The circle of a hidden variable may reach into the next strip.
        hidden = [
            node for node in range(self.n_columns, len(self.y)) if top - _BADGE <= self.y[node] <= bottom + _BADGE
        ]
        columns = self.facts["order"][first:end]
        content = [*self._edges(top, bottom), *self._nodes(hidden), *self._names(columns), *self._brackets(first, end)]
        return Markup('<svg viewBox="0 {} {} {}" aria-hidden="true">{}</svg>').format(
            top, _WIDTH, bottom - top, Markup("").join(content)
        )

    def _edges(self, top: float, bottom: float) -> Iterator[Markup]:
        """Draw the edges that cross a strip, those that look the same as one path."""
        paths: dict[str, list[str]] = {}
        for node, above in enumerate(self.tree["parent"]):
            if above < 0 or max(self.y[node], self.y[above]) < top or min(self.y[node], self.y[above]) > bottom:
                continue
            colour = self._colour(node) if self.group_of.get(node) is self.group_of.get(above) else "trunk"
            width = round(3 * self.tree["strength"][node])
            # Of an edge whose lower end is in another strip, only the part that runs down to it is drawn.
            across = f"H{self.x[node]:g}" if top <= self.y[node] <= bottom else ""
            path = f"M{self.x[above]:g},{self.y[above]:g}V{self.y[node]:g}{across}"
            paths.setdefault(f"{colour} w{width}{_certainty(self.tree['support'][node])}", []).append(path)
        for looks, drawn in sorted(paths.items()):
            yield Markup('<path class="link {}" d="{}"/>').format(looks, "".join(drawn))

    def _nodes(self, hidden: list[int]) -> Iterator[Markup]:
        """Draw hidden variables: those in the middle of a group with its number; and the support of edges."""
        dots: dict[str, list[str]] = {}
        for node in hidden:
            x, y, group = self.x[node], self.y[node], self.centres.get(node)
            if group is None:
                dots.setdefault(self._colour(node), []).append(f"M{x:g},{y:g}h0")
            else:
                ring = Markup('<circle class="ring c{}" cx="{:g}" cy="{:g}" r="{}"/>')
                yield ring.format(group["colour"], x, y, _BADGE)
                yield Markup('<text class="ring-text" x="{:g}" y="{:g}">{}</text>').format(x, y + 3, group["number"])
            support = self.tree["support"][node]
            radius = 0 if group is None else _BADGE
            start = self.x[self.tree["parent"][node]]
            if support is not None and x - radius - start > _SUPPORT_ROOM:
                middle = (start + x - radius) / 2
                yield Markup('<text class="support" x="{:.4g}" y="{:g}">{}</text>').format(middle, y + 8, support)
        for colour, drawn in sorted(dots.items()):
            yield Markup('<path class="dots {}" d="{}"/>').format(colour, "".join(drawn))

    def _colour(self, node: int) -> str:
        group = self.group_of.get(node)
        return "trunk" if group is None else f"c{group['colour']}"

    def _names(self, columns: list[int]) -> Iterator[Markup]:
        """Draw the names of columns in one line below each other, thin lines to them, and the colours of labels."""
        labels = self.facts["labels"]
        end = self.names_at - (_STRIP if labels else 0) - 4
        leaders = "".join(f"M{self.x[node] + 3:g},{self.y[node]:g}H{end:g}" for node in columns)
        yield Markup('<path class="leader" d="{}"/><g transform="translate({:g})">').format(leaders, self.names_at)
        for node in columns:
            if labels and labels["of"][node] >= 0:
                colour, top = labels["colours"][labels["of"][node]], self.y[node] - _ROW / 2 + 1
                strip = Markup('<rect class="strip c{}" x="{}" y="{:g}" width="7" height="{}"/>')
                yield strip.format(colour, -_STRIP, top, _ROW - 2)
            name = _fitted(self.facts["names"][node], _MAX_NAMES)
            yield Markup('<text y="{:g}">{}</text>').format(self.y[node] + 4, name)
        yield Markup("</g>")

    def _brackets(self, first: int, end: int) -> Iterator[Markup]:
        """Draw a line beside the names of each group, with its number and name beside its first row."""
        order = self.facts["order"]
        rows = groupby(range(first, end), lambda row: self.group_of.get(order[row], {}).get("number"))
        for number, run in rows:
            if number is None:
                continue
            places = list(run)
            start, last = places[0], places[-1]
            group = self.groups[number - 1]
            begins = start == 0 or self.group_of.get(order[start - 1]) is not group
            ends = last + 1 == len(order) or self.group_of.get(order[last + 1]) is not group
            top, bottom = start * _ROW + (2 if begins else 0), (last + 1) * _ROW - (2 if ends else 0)
            line = Markup('<path class="bracket c{}" d="M{},{}V{}"/>')
            yield line.format(group["colour"], self.groups_at, top, bottom)
            if begins:
                name = _fitted(f"{number} {one_line(group['name'])}", _MAX_GROUPS)
                text = Markup('<text class="group-name" x="{}" y="{:g}">{}</text>')
                yield text.format(self.groups_at + 6, start * _ROW + _ROW / 2 + 4, name)


class _FoldedPicture:
    """The overview of a tree, where circles stand for groups and branches."""

    def __init__(self, facts: dict[str, Any]) -> None:
        self.facts = facts
        overview = Overview(facts["tree"], facts["n_columns"], facts["groups"])
        self.nodes = overview.drawn(Folds(**facts["folds"]))
        self.lines = _lines_of(self.nodes)
        self.y = {id(node): (row + 0.5) * _ROW for row, node in enumerate(self.lines)}
        along: dict[int, float] = {}
        for node in self.nodes:
            length = facts["tree"]["length"][node.node]
            along[id(node)] = along[id(node.parent)] + length if node.parent else 0.0
        for node in reversed(self.nodes):
            if not node.is_line:
                below = [self.y[id(child)] for child in node.children]
                self.y[id(node)] = (min(below) + max(below)) / 2
        texts = [self._text(node) for node in self.lines]
        self.names_at = round(_WIDTH - max(1.06 * _width(text) for text in texts) - 4)  # bold letters are wider
        start, end = _LEFT + _MAX_RADIUS, self.names_at - _MAX_RADIUS - 6
        farthest = max(along.values()) or 1.0
        self.x = {key: round(start + distance / farthest * (end - start), 1) for key, distance in along.items()}
        self.largest = max(node.n_columns for node in self.lines)

    def strips(self) -> Iterator[Markup]:
        """Yield the SVG elements of some rows each."""
        for first in range(0, len(self.lines), _ROWS_PER_STRIP):
            lines = self.lines[first : first + _ROWS_PER_STRIP]
            top, height = first * _ROW, len(lines) * _ROW
            content = [*self._edges(top, top + height), *self._marks(top, top + height), *self._names(lines)]
            yield Markup('<svg viewBox="0 {} {} {}" aria-hidden="true">{}</svg>').format(
                top, _WIDTH, height, Markup("").join(content)
            )

    def _text(self, node: DrawnNode) -> str:
        if node.kind == "column":
            return _fitted(self.facts["names"][node.node], _MAX_FOLDED)
        if node.kind == "rest":
            name = f"{node.n_branches:,} more"
        elif node.kind == "group":
            group = self.facts["groups"][node.group]
            name = _fitted(f"{group['number']} {one_line(group['name'])}", _MAX_FOLDED)
        else:
            name = _fitted(self.facts["branch_names"].get(str(node.node), self.facts["names"][node.node]), _MAX_FOLDED)
        has_groups = node.kind != "group" and len(node.groups) > 1 and -1 not in node.groups
        in_groups = f" in {len(node.groups):,} groups" if has_groups else ""
        return f"{name} ({node.n_columns:,}{in_groups})"

    def _edges(self, top: float, bottom: float) -> Iterator[Markup]:
        tree = self.facts["tree"]
        for node in self.nodes:
            if node.parent is None:
                continue
            (x0, y0), (x1, y1) = ((self.x[id(one)], self.y[id(one)]) for one in (node.parent, node))
            if max(y0, y1) < top or min(y0, y1) > bottom:
                continue
            looks = f"w{round(3 * tree['strength'][node.node])}{_certainty(tree['support'][node.node])}"
            across = f"H{x1:g}" if top <= y1 <= bottom else ""
            path = Markup('<path class="link trunk {}" d="M{:g},{:g}V{:g}{}"/>')
            yield path.format("w0" if node.kind == "rest" else looks, x0, y0, y1, across)

    def _marks(self, top: float, bottom: float) -> Iterator[Markup]:
        for node in self.nodes:
            x, y = self.x[id(node)], self.y[id(node)]
            if top - _BADGE <= y <= bottom + _BADGE:
                colour = f"c{self.facts['groups'][node.group]['colour']}" if node.kind == "group" else "trunk"
                is_blob = node.kind in ("group", "branch")
                radius = max(_MAX_RADIUS * (node.n_columns / self.largest) ** 0.5, 2.0) if is_blob else 2.5
                mark = Markup('<circle class="blob {}" cx="{:g}" cy="{:g}" r="{:.2g}"/>')
                yield mark.format(colour, x, y, radius)

    def _names(self, lines: list[DrawnNode]) -> Iterator[Markup]:
        leaders = "".join(f"M{self.x[id(node)] + 10:g},{self.y[id(node)]:g}H{self.names_at - 4:g}" for node in lines)
        yield Markup('<path class="leader" d="{}"/><g transform="translate({:g})">').format(leaders, self.names_at)
        for node in lines:
            looks = Markup(' class="group-name"') if node.kind in ("group", "branch") else ""
            yield Markup('<text{} y="{:g}">{}</text>').format(looks, self.y[id(node)] + 4, self._text(node))
        yield Markup("</g>")


def _lines_of(nodes: list[DrawnNode]) -> list[DrawnNode]:
    """Return the nodes with a line from top to bottom: each is in the middle of its branches."""
    lines, waiting = [], [(node, False) for node in reversed(nodes) if node.parent is None]
    while waiting:
        node, is_own = waiting.pop()
        if is_own:
            lines.append(node)
            continue
        around = [(child, False) for child in node.children]
        if node.is_line:
            around.insert(node.own_place, (node, True))
        waiting += reversed(around)
    return lines


def _certainty(support: int | None) -> str:
    if support is None:
        return ""
    return " sure" if support >= SURE else " likely" if support >= LIKELY else " unsure"


def _width(text: str) -> float:
    return _FONT * text_width(text)


def _fitted(name: str, width: float) -> str:
    """Return a name on one line that is no wider than a width."""
    text = shortened(one_line(name))
    while _width(text) > width and len(text) > 2:
        text = text[:-2].rstrip() + "…"
    return text


# All lengths are in the units of the SVG's viewBox.
_CHART_WIDTH = 420  # width of a chart
_PLOT = (66.0, 10.0, 404.0, 140.0)  # left, top, right and bottom of the line plot


def gain_bars(compared: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return a bar for the gain of each model, with its ends in per cent of the width; nothing if a gain is unknown."""
    gains = [model["gain"] for model in compared]
    if not gains or None in gains:
        return []
    low, high = min(0.0, *gains), max(0.0, *gains)
    span = (high - low) or 1.0
    return [
        {
            "name": model["name"],
            "gain": gain,
            "start": round(100 * (min(gain, 0.0) - low) / span, 1),
            "end": round(100 * (max(gain, 0.0) - low) / span, 1),
        }
        for model, gain in zip(compared, gains, strict=True)
    ]


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
