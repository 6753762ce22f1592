"""The markers of groups: colours that colour-blind people can distinguish, each with its own shape."""

from math import cos, pi, sin

from latree.figure.picture import INK, PAPER, Circle, Polygon

# The palette of Okabe and Ito, without the yellow that is too pale on paper, and grey.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", INK, "#999999")


def _star(corners: int, inner: float, turn: float = 0.0) -> tuple[tuple[float, float], ...]:
    """Return the corners of a regular polygon (``inner`` is 1), or of a star with its inner corners at that radius."""
    steps = corners if inner == 1 else 2 * corners
    radius = [1 if inner == 1 or i % 2 == 0 else inner for i in range(steps)]
    angle = [2 * pi * (i / steps + turn / 360) - pi / 2 for i in range(steps)]
    return tuple((r * cos(a), r * sin(a)) for r, a in zip(radius, angle, strict=True))


# Shapes of about the same area; None is a circle.
_SHAPES = (
    None,
    tuple((1.15 * x, 1.15 * y) for x, y in _star(4, 1, 45)),
    tuple((1.25 * x, 1.25 * y) for x, y in _star(4, 1)),
    tuple((1.35 * x, 1.35 * y + 0.2) for x, y in _star(3, 1)),
    tuple((1.35 * x, 1.35 * y - 0.2) for x, y in _star(3, 1, 180)),
    tuple((1.45 * x, 1.45 * y) for x, y in _star(5, 0.45)),
    tuple((1.35 * x, 1.35 * y) for x, y in _star(4, 0.4)),
    tuple((1.35 * x, 1.35 * y) for x, y in _star(4, 0.4, 45)),
    tuple((1.1 * x, 1.1 * y) for x, y in _star(6, 1)),
)


def colour_of(group: int) -> str:
    """Return the colour of a group, given by its number."""
    return COLOURS[group % len(COLOURS)]


def marker(group: int, x: float, y: float, radius: float) -> Circle | Polygon:
    """Return the marker of a group: the first eight differ in colour and shape, the next eight are hollow.

    There are 144 different markers; then they repeat.
    """
    colour, shape = colour_of(group), _SHAPES[group % len(_SHAPES)]
    fill = PAPER if group // len(COLOURS) % 2 else colour
    if shape is None:
        return Circle(x, y, radius, fill, colour)
    return Polygon(tuple((x + radius * a, y + radius * b) for a, b in shape), fill, colour)
