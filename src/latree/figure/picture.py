"""Pictures made of lines, circles, polygons and texts, in pixels; y runs down."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from math import cos, radians, sin
from pathlib import Path
from typing import Any, Literal, Self, TypeAlias

import numpy as np

from latree._util.arrays import FloatArray
from latree._util.files import write_bytes
from latree.errors import InputError
from latree.figure.boxes import extents, line_box
from latree.figure.text import shown, width

Point: TypeAlias = tuple[float, float]
Extent: TypeAlias = tuple[float, float, float, float]  # left, top, right, bottom

INK = "#000000"  # text and what must be seen; on a page of another colour, the page's own ink
PAPER = "#ffffff"  # what hides the lines under a hollow mark; nothing on a page of another colour
MUTED = "#808080"  # on light and on dark pages

LINE_HEIGHT = 1.15  # of a text, in units of its size
BASELINE = 0.32  # how far it is below the text's middle


@dataclass(frozen=True)
class Line:
    """A line through some points."""

    points: tuple[Point, ...]
    colour: str = MUTED
    width: float = 1.2
    dotted: bool = False

    def moved(self, x: float, y: float) -> Self:
        """Give the same elsewhere."""
        return replace(self, points=tuple((a + x, b + y) for a, b in self.points))

    def boxes(self) -> list[tuple[float, ...]]:
        """Give the boxes that it fills."""
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
        """Give the same elsewhere."""
        return replace(self, x=self.x + x, y=self.y + y)

    def boxes(self) -> list[tuple[float, ...]]:
        """Give the box around it."""
        return [(self.x, self.y, 1.0, 0.0, self.radius, self.radius)]


@dataclass(frozen=True)
class Polygon:
    """A polygon."""

    points: tuple[Point, ...]
    fill: str
    stroke: str

    def moved(self, x: float, y: float) -> Self:
        """Give the same elsewhere."""
        return replace(self, points=tuple((a + x, b + y) for a, b in self.points))

    def boxes(self) -> list[tuple[float, ...]]:
        """Give the box around it."""
        (left, top), (right, bottom) = np.min(self.points, axis=0).tolist(), np.max(self.points, axis=0).tolist()
        return [((left + right) / 2, (top + bottom) / 2, 1.0, 0.0, (right - left) / 2, (bottom - top) / 2)]


@dataclass(frozen=True)
class Text:
    """A text that starts, has its middle, or ends at a point; its middle line runs through the point.

    ``angle`` is in degrees, clockwise. ``whole`` is what is told of a text that is cut short.
    """

    x: float
    y: float
    text: str
    size: float
    angle: float = 0.0
    anchor: Literal["start", "middle", "end"] = "start"
    colour: str = INK
    whole: str | None = None

    def moved(self, x: float, y: float) -> Self:
        """Give the same elsewhere."""
        return replace(self, x=self.x + x, y=self.y + y)

    def boxes(self) -> list[tuple[float, ...]]:
        """Give the box around it."""
        half = self.size * width(self.text) / 2
        shift = {"start": half, "middle": 0.0, "end": -half}[self.anchor]
        u, v = cos(radians(self.angle)), sin(radians(self.angle))
        return [(self.x + shift * u, self.y + shift * v, u, v, half, self.size * LINE_HEIGHT / 2)]


def named_text(x: float, y: float, name: str, size: float, **options: Any) -> Text:
    """Give a text of somebody's name for something; the whole name is told of if it is cut short."""
    text = shown(name)
    return Text(x, y, text, size, whole=name if text != name else None, **options)


Primitive: TypeAlias = Line | Circle | Polygon | Text


def boxes_of(drawn: Iterable[Primitive]) -> FloatArray:
    """Give the boxes of all of them, one row each."""
    return np.array([box for primitive in drawn for box in primitive.boxes()]).reshape(-1, 6)


def extent_of(drawn: Iterable[Primitive]) -> Extent:
    """Give the upright box around all of them."""
    low, high = extents(boxes_of(drawn))
    (left, top), (right, bottom) = low.min(axis=0).tolist(), high.max(axis=0).tolist()
    return left, top, right, bottom


@dataclass(frozen=True, repr=False)
class Picture:
    """A picture that can be written as SVG and PNG, and that shows itself in a notebook.

    Attributes
    ----------
    width, height : float
        In pixels, 96 to the inch.
    title : str
        What it shows, in words.
    drawn : tuple
        What it is made of, what is in front last.
    """

    width: float
    height: float
    title: str
    drawn: Sequence[Primitive]

    def __repr__(self) -> str:
        return f"<Picture: {self.title}, {self.width:.0f} x {self.height:.0f} pixels>"

    def to_svg(self, *, page: bool = True) -> str:
        """Give the text of an SVG file.

        Parameters
        ----------
        page : bool
            Whether it has a white page of its own. Without one it stands on whatever is behind it, and is drawn in the
            colour of the text around it: for use inside an HTML page.
        """
        from latree.figure.svg import svg

        return svg(self, page)

    def to_png(self) -> bytes:
        """Give the content of a PNG file, for print: 300 dots an inch unless that is too large; needs matplotlib.

        Letters that DejaVu Sans lacks, such as Chinese ones, are shown as boxes, and text that runs from right to left
        is not turned; an SVG has neither limit.
        """
        from latree.figure.png import png

        return png(self)

    def save(self, path: str | Path) -> None:
        """Write an SVG or a PNG file, whichever its name ends in."""
        path = Path(path)
        check_ending(path)
        write_bytes(path, self.to_svg().encode() if path.suffix.lower() == ".svg" else self.to_png())

    def _repr_html_(self) -> str:
        return self.to_svg(page=False)


def check_ending(path: Path) -> None:
    """Raise if a picture cannot be written to a file of this name."""
    if path.suffix.lower() not in (".svg", ".png"):
        raise InputError(f"{path}: a figure is written as .svg or .png; choose a name that ends in one of them")
