"""A picture that can be written as SVG, the same bytes for the same picture, and as PNG, drawn by matplotlib."""

import io
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from math import cos, radians, sin
from pathlib import Path
from typing import Any, Literal
from xml.sax.saxutils import escape

from latree._util.files import write_bytes
from latree._util.words import printable
from latree.errors import InputError
from latree.figure.primitives import BASELINE, INK, PAPER, Circle, Line, Polygon, Primitive, Text

_FONT = "Helvetica, Arial, 'DejaVu Sans', sans-serif"


def svg(width: float, height: float, title: str, primitives: Sequence[Primitive], page: bool) -> str:
    """Return a picture as SVG, with a white background or in the colours of the page that it is put into."""
    colours = {} if page else {INK: "currentColor", PAPER: "none"}
    size = f'width="{_number(width)}" height="{_number(height)}"'
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} viewBox="0 0 {_number(width)} {_number(height)}" '
        f'role="img" font-family="{_FONT}"' + ("" if page else ' style="max-width:100%;height:auto"') + ">",
        f"<title>{escape(printable(title))}</title>",
        *([f'<rect {size} fill="{PAPER}"/>'] if page else []),
        *(_element(primitive, colours) for primitive in primitives),
        "</svg>",
    ]
    return "\n".join(lines) + "\n"


def _element(primitive: Primitive, colours: dict[str, str]) -> str:
    def colour(name: str) -> str:
        return colours.get(name, name)

    if isinstance(primitive, Line):
        dots = ' stroke-dasharray="1 3"' if primitive.dotted else ""
        return (
            f'<polyline points="{_points(primitive.points)}" fill="none" stroke="{colour(primitive.colour)}" '
            f'stroke-width="{_number(primitive.width)}" stroke-linecap="round" stroke-linejoin="round"{dots}/>'
        )
    if isinstance(primitive, Text):
        return _text(primitive, colour(primitive.colour))
    paint = f'fill="{colour(primitive.fill)}" stroke="{colour(primitive.stroke)}"'
    if isinstance(primitive, Circle):
        x, y, radius = map(_number, (primitive.x, primitive.y, primitive.radius))
        return f'<circle cx="{x}" cy="{y}" r="{radius}" {paint}/>'
    assert isinstance(primitive, Polygon)
    return f'<polygon points="{_points(primitive.points)}" {paint}/>'


def _text(text: Text, colour: str) -> str:
    """Return a text, placed by its baseline: not every reader of SVG can centre text vertically."""
    angle, below = radians(text.angle), BASELINE * text.size
    x, y = _number(text.x - below * sin(angle)), _number(text.y + below * cos(angle))
    place = f'x="{x}" y="{y}"' + (f' transform="rotate({_number(text.angle)} {x} {y})"' if text.angle else "")
    anchor = f' text-anchor="{text.anchor}"' if text.anchor != "start" else ""
    tooltip = f"<title>{escape(printable(text.full_text))}</title>" if text.full_text is not None else ""
    return f'<text {place} font-size="{_number(text.size)}" fill="{colour}"{anchor}>{tooltip}{escape(text.text)}</text>'


def _points(points: tuple[tuple[float, float], ...]) -> str:
    return " ".join(f"{_number(x)},{_number(y)}" for x, y in points)


def _number(value: float) -> str:
    """Return a number with at most two decimals."""
    text = f"{value:.2f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


_PIXELS_PER_INCH = 96  # of a picture, as browsers have it
_DOTS_PER_INCH = 300  # the resolution that journals ask for
_MAX_DOTS = 12_000  # the longest side of a file; larger pictures get a lower resolution
_POINTS = 72 / _PIXELS_PER_INCH  # points per pixel; matplotlib measures lines and letters in points
_ALIGNED: dict[str, Literal["left", "center", "right"]] = {"start": "left", "middle": "center", "end": "right"}
_DOTTED = (0, (1, 3))


def png(width: float, height: float, primitives: Sequence[Primitive]) -> bytes:
    """Return a picture as PNG; the same picture gives the same bytes."""
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError:
        raise ImportError("a PNG needs matplotlib: pip install matplotlib (an SVG does not)") from None

    inches_wide, inches_high = width / _PIXELS_PER_INCH, height / _PIXELS_PER_INCH
    figure = Figure(figsize=(inches_wide, inches_high), facecolor=PAPER)
    FigureCanvasAgg(figure)
    axes = figure.add_axes((0, 0, 1, 1), xlim=(0, width), ylim=(height, 0))
    axes.axis("off")
    for order, primitive in enumerate(primitives):
        artist = _artist(primitive)
        artist.set_zorder(order)
        axes.add_artist(artist)
    content = io.BytesIO()
    dots = min(_DOTS_PER_INCH, _MAX_DOTS / max(inches_wide, inches_high))
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", r"Glyph .* missing from", UserWarning)
        figure.savefig(content, format="png", dpi=dots, metadata={"Software": None})
    return content.getvalue()


def _artist(primitive: Primitive) -> Any:
    from matplotlib import patches
    from matplotlib.lines import Line2D
    from matplotlib.text import Text as Letters

    if isinstance(primitive, Line):
        look: dict[str, Any] = {"color": primitive.colour, "linewidth": primitive.width * _POINTS}
        look |= {"linestyle": _DOTTED, "dash_capstyle": "round"} if primitive.dotted else {"solid_capstyle": "round"}
        return Line2D(*zip(*primitive.points, strict=True), **look)
    if isinstance(primitive, Text):
        angle, below = radians(primitive.angle), BASELINE * primitive.size
        return Letters(
            primitive.x - below * sin(angle),
            primitive.y + below * cos(angle),
            primitive.text,
            fontsize=primitive.size * _POINTS,
            fontfamily="DejaVu Sans",
            color=primitive.colour,
            rotation=-primitive.angle,
            rotation_mode="anchor",
            horizontalalignment=_ALIGNED[primitive.anchor],
            verticalalignment="baseline",
            parse_math=False,  # a dollar sign is a dollar sign
        )
    paint = {"facecolor": primitive.fill, "edgecolor": primitive.stroke, "linewidth": _POINTS}
    if isinstance(primitive, Circle):
        return patches.Circle((primitive.x, primitive.y), primitive.radius, **paint)
    assert isinstance(primitive, Polygon)
    return patches.Polygon(primitive.points, closed=True, **paint)


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
        return svg(self.width, self.height, self.title, self.primitives, page)

    def to_png(self) -> bytes:
        """Return the content of a PNG file for print, with 300 dots per inch unless that is too large.

        It needs matplotlib. Letters that DejaVu Sans lacks, such as Chinese ones, are shown as boxes, and text that
        runs from right to left is not reordered; an SVG has neither limit.
        """
        return png(self.width, self.height, self.primitives)

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
