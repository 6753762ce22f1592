"""Pictures as SVG: the same picture gives the same bytes, without scripts and links."""

from collections.abc import Sequence
from math import cos, radians, sin
from xml.sax.saxutils import escape

from latree._util.words import printable
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
