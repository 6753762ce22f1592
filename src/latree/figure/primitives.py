"""Pictures made of lines, circles, polygons and texts, in pixels; y grows downwards."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from math import cos, radians, sin
from typing import Any, Literal, Self, TypeAlias

import numpy as np

from latree._util.arrays import FloatArray
from latree.figure.boxes import extents, line_box
from latree.figure.text import shortened, text_width

Position: TypeAlias = tuple[float, float]
Extent: TypeAlias = tuple[float, float, float, float]  # left, top, right, bottom

INK = "#000000"  # the colour of text; inside an HTML page, the colour of the text around the picture
PAPER = "#ffffff"  # the background, which also fills hollow markers; transparent inside an HTML page
MUTED = "#808080"  # lines and what is less important; visible on light and on dark pages

LINE_HEIGHT = 1.15  # the height of a text, in units of its size
BASELINE = 0.32  # the distance of the baseline below the middle of a text, in units of its size


@dataclass(frozen=True)
class Line:
    """A line through points."""

    points: tuple[Position, ...]
    colour: str = MUTED
    width: float = 1.2
    dotted: bool = False

    def moved(self, x: float, y: float) -> Self:
        """Return the same shape, moved by x and y."""
        return replace(self, points=tuple((a + x, b + y) for a, b in self.points))

    def boxes(self) -> list[tuple[float, ...]]:
        """Return one box per straight piece."""
        return [line_box(start, end) for start, end in zip(self.points, self.points[1:], strict=False)]


@dataclass(frozen=True)
class Circle:
    """A circle."""

    x: float
    y: float
    radius: float
    fill: str
    stroke: str

    def moved(self, x: float, y: float) -> Self:
        """Return the same shape, moved by x and y."""
        return replace(self, x=self.x + x, y=self.y + y)

    def boxes(self) -> list[tuple[float, ...]]:
        """Return the box around it."""
        return [(self.x, self.y, 1.0, 0.0, self.radius, self.radius)]


@dataclass(frozen=True)
class Polygon:
    """A polygon."""

    points: tuple[Position, ...]
    fill: str
    stroke: str

    def moved(self, x: float, y: float) -> Self:
        """Return the same shape, moved by x and y."""
        return replace(self, points=tuple((a + x, b + y) for a, b in self.points))

    def boxes(self) -> list[tuple[float, ...]]:
        """Return the box around it."""
        (left, top), (right, bottom) = np.min(self.points, axis=0).tolist(), np.max(self.points, axis=0).tolist()
        return [((left + right) / 2, (top + bottom) / 2, 1.0, 0.0, (right - left) / 2, (bottom - top) / 2)]


@dataclass(frozen=True)
class Text:
    """A text that starts, has its middle, or ends at a point, and is centred on it vertically.

    ``angle`` is in degrees, clockwise. ``full_text`` is the tooltip of a text that was shortened.
    """

    x: float
    y: float
    text: str
    size: float
    angle: float = 0.0
    anchor: Literal["start", "middle", "end"] = "start"
    colour: str = INK
    full_text: str | None = None

    def moved(self, x: float, y: float) -> Self:
        """Return the same shape, moved by x and y."""
        return replace(self, x=self.x + x, y=self.y + y)

    def boxes(self) -> list[tuple[float, ...]]:
        """Return the box around it."""
        half = self.size * text_width(self.text) / 2
        shift = {"start": half, "middle": 0.0, "end": -half}[self.anchor]
        u, v = cos(radians(self.angle)), sin(radians(self.angle))
        return [(self.x + shift * u, self.y + shift * v, u, v, half, self.size * LINE_HEIGHT / 2)]


def name_text(x: float, y: float, name: str, size: float, **options: Any) -> Text:
    """Return the text of a name from the user's data; its tooltip is the full name if it was shortened."""
    text = shortened(name)
    return Text(x, y, text, size, full_text=name if text != name else None, **options)


Primitive: TypeAlias = Line | Circle | Polygon | Text


def boxes_of(primitives: Iterable[Primitive]) -> FloatArray:
    """Return the boxes of all primitives, one row per box."""
    return np.array([box for primitive in primitives for box in primitive.boxes()]).reshape(-1, 6)


def extent_of(primitives: Iterable[Primitive]) -> Extent:
    """Return the upright box around all primitives."""
    low, high = extents(boxes_of(primitives))
    (left, top), (right, bottom) = low.min(axis=0).tolist(), high.max(axis=0).tolist()
    return left, top, right, bottom
