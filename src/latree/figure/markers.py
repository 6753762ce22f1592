"""The markers of groups: a colour of :mod:`latree.figure.colours`, and a shape."""

from math import cos, pi, sin

from latree.figure.colours import NEUTRAL, colour_of
from latree.figure.primitives import PAPER, Circle, Polygon


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


def marker(group: int, x: float, y: float, radius: float) -> Circle | Polygon:
    """Return the marker of a group: the first twelve differ in colour; the others are grey, and hollow at first.

    There are 12 markers in colours and 18 in grey; then those in grey repeat.
    """
    colour = colour_of(group)
    place = group if group < NEUTRAL else group - NEUTRAL
    shape = _SHAPES[place % len(_SHAPES)]
    is_hollow = group >= NEUTRAL and place // len(_SHAPES) % 2 == 0
    fill = PAPER if is_hollow else colour
    if shape is None:
        return Circle(x, y, radius, fill, colour)
    return Polygon(tuple((x + radius * a, y + radius * b) for a, b in shape), fill, colour)
