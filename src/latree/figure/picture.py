"""Pictures made of lines, circles, polygons and texts, in pixels; y grows downwards."""

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


@dataclass(frozen=True, repr=False)
class Picture:
    """A picture that can be written as SVG and PNG, and that shows itself in a notebook.

    Attributes
    ----------
    width, height : float
        In pixels, 96 to the inch.
    title : str
        What it shows, in words.
    primitives : sequence
        The lines, circles, polygons and texts that it is made of; later ones are in front.

    Examples
    --------
    >>> import latree
    >>> latree.plot(latree.Tree.from_newick("((a,b),c,d);"))
    <Picture: Tree of 4 columns with 2 hidden variables, 279 x 280 pixels>
    """

    width: float
    height: float
    title: str
    primitives: Sequence[Primitive]

    def __repr__(self) -> str:
        return f"<Picture: {self.title}, {self.width:.0f} x {self.height:.0f} pixels>"

    def to_svg(self, *, page: bool = True) -> str:
        """Return the text of an SVG file. The same picture gives the same bytes.

        Parameters
        ----------
        page : bool
            Whether it has a white background. Without one it is transparent and has the colour of the text around it,
            for use inside an HTML page.

        Examples
        --------
        >>> import latree
        >>> picture = latree.plot(latree.Tree.from_newick("(a,b,c);"))
        >>> "currentColor" in picture.to_svg(), "currentColor" in picture.to_svg(page=False)
        (False, True)
        """
        from latree.figure.svg import svg

        return svg(self, page)

    def to_png(self) -> bytes:
        """Return the content of a PNG file for print, with 300 dots per inch unless that is too large.

        It needs matplotlib. Letters that DejaVu Sans lacks, such as Chinese ones, are shown as boxes, and text that
        runs from right to left is not reordered; an SVG has neither limit.
        """
        from latree.figure.png import png

        return png(self)

    def save(self, path: str | Path) -> None:
        """Write an SVG or a PNG file, depending on the ending of its name."""
        path = Path(path)
        check_ending(path)
        write_bytes(path, self.to_svg().encode() if path.suffix.lower() == ".svg" else self.to_png())

    def _repr_html_(self) -> str:
        return self.to_svg(page=False)


def check_ending(path: Path) -> None:
    """Raise an error if a picture cannot be written to a file of this name."""
    if path.suffix.lower() not in (".svg", ".png"):
        raise InputError(f"{path}: a figure is written as .svg or .png; choose a name that ends in one of them")
