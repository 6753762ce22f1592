"""Pictures as PNG, drawn by matplotlib."""

import io
import warnings
from collections.abc import Sequence
from math import cos, radians, sin
from typing import Any, Literal

from latree.figure.primitives import BASELINE, PAPER, Circle, Line, Polygon, Primitive, Text

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
