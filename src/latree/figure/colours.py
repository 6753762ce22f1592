"""The colours of groups and of labels: the same in the report, in pictures and in exported files.

There are twelve colours. The twelve largest groups have one each; all other groups are grey, and told apart by their
numbers. A label that most columns of a group have has the colour of that group, wherever the label is shown.
"""

from collections.abc import Sequence

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
