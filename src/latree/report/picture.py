"""The whole tree as a picture without a script, for paper and for readers without JavaScript.

It is cut into strips of some rows, one SVG element each, which stand below each other without a gap. So a printer can
begin a new page between two of them, and no row is cut through.
"""

from collections.abc import Iterator
from typing import Any

from markupsafe import Markup

from latree._util.text import one_line
from latree.figure.text import shortened, text_width

_WIDTH = 760  # of the picture; the page scales it
_ROW = 16  # height of a row
_ROWS_PER_STRIP = 8
_FONT = 11  # size of names
_MAX_NAMES, _MAX_GROUPS = 200, 190  # widths of the names of columns and of groups
_LEFT = 8
_STRIP = 12  # width of the colours of labels
_BADGE = 7  # radius of the circle with a group's number
_SUPPORT_ROOM = 20  # the support of an edge is written if the edge is longer
_SURE, _LIKELY = 90, 50  # support in per cent; the same limits as in the script


def tree_picture(facts: dict[str, Any]) -> Markup:
    """Return the strips of the picture, one after the other."""
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
        self.names_at = _WIDTH - groups_width - max(map(_width, names)) - 4
        self.groups_at = _WIDTH - groups_width + 4
        end = self.names_at - (_STRIP if facts["labels"] else 0) - 14
        self.x = [round(_LEFT + _BADGE + along * (end - _LEFT - _BADGE), 1) for along in facts["places"]["along"]]
        self.y = [round((row + 0.5) * _ROW, 1) for row in facts["places"]["row"]]

    def strip(self, first: int, end: int) -> Markup:
        """Return the SVG element of the rows from ``first`` to ``end``."""
        top, bottom = first * _ROW, end * _ROW
        inside = [node for node, y in enumerate(self.y) if top - _ROW < y < bottom + _ROW]
        content = [*self._edges(top, bottom), *self._nodes(inside), *self._names(inside), *self._brackets(first, end)]
        return Markup('<svg viewBox="0 {} {} {}" aria-hidden="true">{}</svg>').format(
            top, _WIDTH, bottom - top, Markup("").join(content)
        )

    def _edges(self, top: float, bottom: float) -> Iterator[Markup]:
        """Draw the edges that cross a strip, those that look the same as one path."""
        paths: dict[str, list[str]] = {}
        for node, above in enumerate(self.tree["parent"]):
            if above < 0 or max(self.y[node], self.y[above]) < top or min(self.y[node], self.y[above]) > bottom:
                continue
            group = self.group_of.get(node)
            colour = f"c{group['colour']}" if group is not None and self.group_of.get(above) is group else "trunk"
            width = round(3 * self.tree["strength"][node])
            path = f"M{self.x[above]:g},{self.y[above]:g}V{self.y[node]:g}H{self.x[node]:g}"
            paths.setdefault(f"{colour} w{width}{_certainty(self.tree['support'][node])}", []).append(path)
        for looks, drawn in sorted(paths.items()):
            yield Markup('<path class="link {}" d="{}"/>').format(looks, "".join(drawn))

    def _nodes(self, nodes: list[int]) -> Iterator[Markup]:
        """Draw hidden variables: those in the middle of a group with its number; and the support of edges."""
        for node in nodes:
            if node < self.n_columns:
                continue
            x, y, group = self.x[node], self.y[node], self.centres.get(node)
            if group is None:
                inside = self.group_of.get(node)
                colour = "" if inside is None else f" c{inside['colour']}"
                yield Markup('<circle class="dot{}" cx="{:g}" cy="{:g}" r="2.5"/>').format(colour, x, y)
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

    def _names(self, nodes: list[int]) -> Iterator[Markup]:
        """Draw the names of columns in one line below each other, thin lines to them, and the colours of labels."""
        labels = self.facts["labels"]
        columns = [node for node in nodes if node < self.n_columns]
        end = self.names_at - (_STRIP if labels else 0) - 4
        leaders = "".join(f"M{self.x[node] + 3:g},{self.y[node]:g}H{end:g}" for node in columns)
        yield Markup('<path class="leader" d="{}"/>').format(leaders)
        for node in columns:
            if labels and labels["of"][node] >= 0:
                yield Markup('<rect class="strip c{}" x="{:g}" y="{:g}" width="7" height="{}"/>').format(
                    labels["colours"][labels["of"][node]], self.names_at - _STRIP, self.y[node] - _ROW / 2 + 1, _ROW - 2
                )
            name = _fitted(self.facts["names"][node], _MAX_NAMES)
            yield Markup('<text x="{:g}" y="{:g}">{}</text>').format(self.names_at, self.y[node] + 4, name)

    def _brackets(self, first: int, end: int) -> Iterator[Markup]:
        """Draw a line beside the names of each group, with its number and name beside its first row."""
        order = self.facts["matrix"]["order"]
        for row in range(first, end):
            group = self.group_of.get(order[row])
            if group is None:
                continue
            starts = row == 0 or self.group_of.get(order[row - 1]) is not group
            ends = row + 1 == len(order) or self.group_of.get(order[row + 1]) is not group
            top, bottom = row * _ROW + (2 if starts else 0), (row + 1) * _ROW - (2 if ends else 0)
            yield Markup('<path class="bracket c{}" d="M{:g},{:g}V{:g}"/>').format(
                group["colour"], self.groups_at, top, bottom
            )
            if starts:
                name = _fitted(f"{group['number']}  {one_line(group['name'])}", _MAX_GROUPS)
                yield Markup('<text class="group-name" x="{:g}" y="{:g}">{}</text>').format(
                    self.groups_at + 6, row * _ROW + _ROW / 2 + 4, name
                )


def _certainty(support: int | None) -> str:
    if support is None:
        return ""
    return " sure" if support >= _SURE else " likely" if support >= _LIKELY else " unsure"


def _width(text: str) -> float:
    return _FONT * text_width(text)


def _fitted(name: str, width: float) -> str:
    """Return a name on one line that is no wider than a width."""
    text = shortened(one_line(name))
    while _width(text) > width and len(text) > 2:
        text = text[:-2].rstrip() + "…"
    return text
