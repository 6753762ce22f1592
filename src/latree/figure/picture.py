"""A picture as a list of lines, circles, polygons and texts, and its writers for SVG, PDF and PNG."""

import io
import unicodedata
import warnings
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from math import cos, radians, sin
from pathlib import Path
from typing import Any, Literal, Self, TypeAlias
from xml.sax.saxutils import escape

import numpy as np
from numpy.typing import NDArray

from latree._util.arrays import FloatArray
from latree._util.files import write_bytes
from latree._util.words import printable
from latree.errors import InputError

_TOLERANCE = 1e-6  # boxes that share less than this many pixels do not overlap


def line_box(start: tuple[float, float], end: tuple[float, float]) -> tuple[float, ...]:
    """Return the box of a straight line between two points."""
    (x0, y0), (x1, y1) = start, end
    length = float(np.hypot(x1 - x0, y1 - y0))
    direction = ((x1 - x0) / length, (y1 - y0) / length) if length else (1.0, 0.0)
    return ((x0 + x1) / 2, (y0 + y1) / 2, *direction, length / 2, 0.0)


def overlap(one: FloatArray, other: FloatArray) -> NDArray[np.bool_]:
    """Return which boxes overlap; rows of boxes are broadcast against each other.

    Two convex shapes are disjoint if and only if their projections onto some normal of one of their sides are (the
    separating axis theorem). Two boxes have four such normals: the directions of their lengths and of their heights.
    """
    between = other[..., :2] - one[..., :2]  # from centre to centre
    u, v = one[..., 2:4], other[..., 2:4]
    # The cosine and the sine of the angle between the boxes project one box onto an axis of the other.
    cosine = np.abs((u * v).sum(-1))
    sine = np.abs(u[..., 0] * v[..., 1] - u[..., 1] * v[..., 0])
    a, b, c, d = one[..., 4], one[..., 5], other[..., 4], other[..., 5]
    return np.asarray(
        (np.abs((between * u).sum(-1)) + _TOLERANCE < a + c * cosine + d * sine)
        & (np.abs(between[..., 0] * u[..., 1] - between[..., 1] * u[..., 0]) + _TOLERANCE < b + c * sine + d * cosine)
        & (np.abs((between * v).sum(-1)) + _TOLERANCE < c + a * cosine + b * sine)
        & (np.abs(between[..., 0] * v[..., 1] - between[..., 1] * v[..., 0]) + _TOLERANCE < d + a * sine + b * cosine)
    )


def extents(boxes: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the lower and upper corners of the upright boxes around boxes."""
    turned = np.abs(boxes[..., 2:4])
    half = boxes[..., 4:5] * turned + boxes[..., 5:6] * turned[..., ::-1]
    return boxes[..., :2] - half, boxes[..., :2] + half


class OccupiedBoxes:
    """Boxes that new ones must not overlap, each with the number of its owner, or -1 if it has none."""

    def __init__(self, boxes: FloatArray, owners: NDArray[np.intp] | None = None) -> None:
        self.boxes = boxes
        self.owners = np.full(len(boxes), -1) if owners is None else owners
        self.low, self.high = extents(boxes)

    def replace(self, place: int, box: FloatArray) -> None:
        """Replace one of the boxes. A box of NaN occupies nothing."""
        self.boxes[place] = box
        self.low[place], self.high[place] = extents(box)

    def are_free(self, wanted: FloatArray, owner: int = -1) -> NDArray[np.bool_]:
        """Return which of the wanted boxes overlap no occupied one.

        Boxes of the same owner are allowed to overlap.
        """
        low, high = extents(wanted)
        near = ((self.low <= high.max(axis=0)) & (self.high >= low.min(axis=0))).all(axis=1)
        if owner >= 0:
            near &= self.owners != owner
        return np.asarray(~overlap(wanted[:, None], self.boxes[near][None]).any(axis=1))


MAX_LETTERS = 40  # longer names are shortened to this many letters

# Widths of letters in units of the font's size, rounded up: those of DejaVu Sans, the widest of the common fonts.
_LETTERS = {
    0.30: "'IJijl",
    0.35: " ,./:;\\|",
    0.40: "()-[]ft",
    0.45: "!r",
    0.50: '"*_`',
    0.55: "?csz",
    0.60: "FLkvxy",
    0.65: "$0123456789EPSTYabdeghnopqu{}",
    0.70: "ABCKRVXZ",
    0.75: "NU",
    0.80: "&DGHOQ",
    0.85: "#+<=>^w~",
    0.90: "M",
    1.00: "%@Wm",
}
_BOLD = 1.12  # how much wider bold letters are
_WIDTHS = {letter: width for width, letters in _LETTERS.items() for letter in letters}


def shortened(name: str) -> str:
    """Return a name as it is shown: :func:`printable`, and without its middle if it is long."""
    clean = printable(name)
    if len(clean) <= MAX_LETTERS:
        return clean
    end = MAX_LETTERS // 3
    return f"{clean[: MAX_LETTERS - end - 1]}…{clean[-end:]}"


def text_width(text: str, bold: bool = False) -> float:
    """Return the width of a text in units of the font's size; an upper bound for common fonts."""
    width = sum(_WIDTHS.get(letter) or _other_width(letter) for letter in text)
    return _BOLD * width if bold else width


def _other_width(letter: str) -> float:
    kind = unicodedata.category(letter)
    if kind in ("Mn", "Me", "Cf"):  # marks on other letters, and invisible letters
        return 0.0
    if kind == "So":  # emoji
        return 1.3
    return 1.0 if unicodedata.east_asian_width(letter) in "WF" else 0.8


Position: TypeAlias = tuple[float, float]
Extent: TypeAlias = tuple[float, float, float, float]  # left, top, right, bottom

INK = "#000000"  # the colour of text; inside an HTML page, the colour of the text around the picture
PAPER = "#ffffff"  # the background, which also fills hollow markers; transparent inside an HTML page
MUTED = "#808080"  # lines and what is less important; visible on light and on dark pages

LINE_HEIGHT = 1.15  # the height of a text, in units of its size
BASELINE = 0.32  # the distance of the baseline below the middle of a text, in units of its size


DOTS = (1.0, 3.0)  # the strokes and gaps of a leader


@dataclass(frozen=True)
class Line:
    """A line through points."""

    points: tuple[Position, ...]
    colour: str = MUTED
    width: float = 1.2
    dash: tuple[float, ...] = ()  # lengths of strokes and gaps, in pixels

    @property
    def dotted(self) -> bool:
        """Whether it is a leader, which only leads the eye."""
        return self.dash == DOTS

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

    ``angle`` is in degrees, clockwise. ``full_text`` is the tooltip of a text that was shortened. ``before`` is room
    that is kept free at its start, for marks.
    """

    x: float
    y: float
    text: str
    size: float
    angle: float = 0.0
    anchor: Literal["start", "middle", "end"] = "start"
    colour: str = INK
    full_text: str | None = None
    bold: bool = False
    before: float = 0.0

    def moved(self, x: float, y: float) -> Self:
        """Return the same shape, moved by x and y."""
        return replace(self, x=self.x + x, y=self.y + y)

    def boxes(self) -> list[tuple[float, ...]]:
        """Return the box around it."""
        half = (self.size * text_width(self.text, self.bold) + self.before) / 2
        shift = {"start": half - self.before, "middle": 0.0, "end": self.before - half}[self.anchor]
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


_FONT = "Helvetica, Arial, 'DejaVu Sans', sans-serif"


def svg(width: float, height: float, title: str, primitives: Sequence[Primitive], page: bool) -> str:
    """Return a picture as SVG, with a white background or in the colours of the page that it is put into."""
    colours = {} if page else {INK: "currentColor", PAPER: "none"}
    size = f'width="{_number(width)}" height="{_number(height)}"'
    elements = [_element(primitive, colours) for primitive in primitives]
    if not page:
        elements = _masked(elements, primitives, size)
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} viewBox="0 0 {_number(width)} {_number(height)}" '
        f'role="img" font-family="{_FONT}"' + ("" if page else ' style="max-width:100%;height:auto"') + ">",
        f"<title>{escape(printable(title))}</title>",
        *([f'<rect {size} fill="{PAPER}"/>'] if page else []),
        *elements,
        "</svg>",
    ]
    return "\n".join(lines) + "\n"


def _masked(elements: Sequence[str], primitives: Sequence[Primitive], size: str) -> list[str]:
    """Return elements with lines that end at hollow circles: on a page of unknown colour, nothing else hides them."""
    hollow = [one for one in primitives if isinstance(one, Circle) and one.fill == PAPER]
    if not hollow:
        return list(elements)
    holes = "".join(_element(replace(one, stroke="none"), {PAPER: "#000000"}) for one in hollow)
    area = f'<rect {size} fill="{PAPER}"/>{holes}'
    # Pages may have several pictures.
    name = f"holes-{zlib.crc32(area.encode()):08x}"
    found = [f'<mask id="{name}" maskUnits="userSpaceOnUse" x="0" y="0" {size}>{area}</mask>']
    for is_line, run in groupby(zip(primitives, elements, strict=True), lambda both: isinstance(both[0], Line)):
        texts = [text for _, text in run]
        found += [f'<g mask="url(#{name})">', *texts, "</g>"] if is_line else texts
    return found


def svg_strip(width: float, top: float, bottom: float, primitives: Sequence[Primitive], colours: dict[str, str]) -> str:
    """Return what is between two heights of a picture as an SVG element of a page, in the colours of the page."""
    boxes = [extents(boxes_of([primitive])) for primitive in primitives]
    shown = [
        primitive
        for primitive, (low, high) in zip(primitives, boxes, strict=True)
        if low[:, 1].min() <= bottom and high[:, 1].max() >= top
    ]
    elements = "".join(_element(primitive, colours) for primitive in shown)
    view = f"0 {_number(top)} {_number(width)} {_number(bottom - top)}"
    return f'<svg viewBox="{view}" width="{_number(width)}" aria-hidden="true">{elements}</svg>'


def _element(primitive: Primitive, colours: dict[str, str]) -> str:
    def colour(name: str) -> str:
        return colours.get(name, name)

    if isinstance(primitive, Line):
        dots = f' stroke-dasharray="{" ".join(map(_number, primitive.dash))}"' if primitive.dash else ""
        cap = "butt" if primitive.dash and not primitive.dotted else "round"
        return (
            f'<polyline points="{_points(primitive.points)}" fill="none" stroke="{colour(primitive.colour)}" '
            f'stroke-width="{_number(primitive.width)}" stroke-linecap="{cap}" stroke-linejoin="round"{dots}/>'
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
    weight = ' font-weight="bold"' if text.bold else ""
    looks = f'font-size="{_number(text.size)}" fill="{colour}"{weight}{anchor}'
    return f"<text {place} {looks}>{tooltip}{escape(text.text)}</text>"


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


def drawn_file(width: float, height: float, primitives: Sequence[Primitive], kind: Literal["png", "pdf"]) -> bytes:
    """Return a picture as PNG or PDF; the same picture gives the same bytes."""
    try:
        import matplotlib as mpl
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError:
        name = kind.upper()
        raise ImportError(f"a {name} needs matplotlib: pip install matplotlib (an SVG does not)") from None

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
    with warnings.catch_warnings(), mpl.rc_context({"pdf.fonttype": 42}):  # letters that other programs can change
        warnings.filterwarnings("ignore", r"Glyph .* missing from", UserWarning)
        metadata = {"Software": None} if kind == "png" else {"CreationDate": None}
        figure.savefig(content, format=kind, dpi=dots, metadata=metadata)
    return content.getvalue()


def _artist(primitive: Primitive) -> Any:
    from matplotlib import patches
    from matplotlib.lines import Line2D
    from matplotlib.text import Text as Letters

    if isinstance(primitive, Line):
        look: dict[str, Any] = {"color": primitive.colour, "linewidth": primitive.width * _POINTS}
        if primitive.dash:
            strokes = tuple(length * _POINTS / look["linewidth"] for length in primitive.dash)
            look |= {"linestyle": (0, strokes), "dash_capstyle": "round" if primitive.dotted else "butt"}
        else:
            look |= {"solid_capstyle": "round"}
        return Line2D(*zip(*primitive.points, strict=True), **look)
    if isinstance(primitive, Text):
        angle, below = radians(primitive.angle), BASELINE * primitive.size
        return Letters(
            primitive.x - below * sin(angle),
            primitive.y + below * cos(angle),
            primitive.text,
            fontsize=primitive.size * _POINTS,
            fontfamily="DejaVu Sans",
            fontweight="bold" if primitive.bold else "normal",
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
    """A picture that can be written as SVG, PDF and PNG, and that shows itself in a notebook.

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
    <Picture: Tree of 4 columns with 2 hidden variables, 279 x 88 pixels>
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
        return drawn_file(self.width, self.height, self.primitives, "png")

    def to_pdf(self) -> bytes:
        """Return the content of a PDF file, whose size is that of the picture. It has the limits of :meth:`to_png`."""
        return drawn_file(self.width, self.height, self.primitives, "pdf")

    def save(self, path: str | Path) -> None:
        """Write an SVG, PDF or PNG file, depending on the ending of its name."""
        path = Path(path)
        check_ending(path)
        writers = {".svg": lambda: self.to_svg().encode(), ".pdf": self.to_pdf, ".png": self.to_png}
        write_bytes(path, writers[path.suffix.lower()]())

    def _repr_html_(self) -> str:
        return self.to_svg(page=False)


def check_ending(path: Path) -> None:
    """Raise an error if a picture cannot be written to a file of this name."""
    if path.suffix.lower() not in (".svg", ".pdf", ".png"):
        raise InputError(f"{path}: a figure is written as .svg, .pdf or .png; choose a name that ends in one of them")
