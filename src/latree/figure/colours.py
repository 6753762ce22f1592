"""Colours and markers of groups and labels.

There are twelve colours. The twelve largest groups have one each; all other groups are grey, and told apart by their
numbers. A label that most columns of a group have has the colour of that group, wherever the label is shown. Labels
differ in the shapes of their markers, too, so that they can be told apart without colours.
"""

from collections.abc import Sequence
from math import cos, pi, sin

from latree.figure.picture import PAPER, Circle, Polygon

# Okabe and Ito's colours in shades that can be read on white, then darker ones of the same hues, and an olive green.
# The style sheet of the report has the same colours, and lighter ones for its dark theme.
COLOURS = (
    "#0072b2",
    "#d55e00",
    "#009e73",
    "#b8558f",
    "#c98a00",
    "#3aa3e0",
    "#004a75",
    "#8f3f00",
    "#00664a",
    "#7a2f5d",
    "#806000",
    "#6b9a00",
)
GREY = "#8b8f96"
# The number of the grey of all groups that have no colour of their own.
NEUTRAL = len(COLOURS)


def colour_of(number: int) -> str:
    """Return a colour by its number; all numbers from ``NEUTRAL`` on are grey."""
    return COLOURS[number] if number < NEUTRAL else GREY


def group_colours(n_groups: int) -> list[int]:
    """Return the number of each group's colour. The largest groups come first in the list of a model's groups."""
    return [min(number, NEUTRAL) for number in range(n_groups)]


def label_colours(labels: Sequence[str], of_groups: Sequence[str | None]) -> list[int]:
    """Return the number of each label's colour.

    Parameters
    ----------
    labels : sequence of str
        The labels, the most common first.
    of_groups : sequence of str or None
        The label that each group stands for, such as the most common one of its columns. If several groups have the
        same, the first of them gives the colour. Other labels have colours that no group has, or else grey.
    """
    colours = group_colours(len(of_groups))
    chosen = {label: colour for label, colour in reversed([*zip(of_groups, colours, strict=True)]) if label is not None}
    spare = iter(range(len(of_groups), NEUTRAL))
    for label in labels:
        if label not in chosen:
            chosen[label] = next(spare, NEUTRAL)
    return [chosen[label] for label in labels]


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
