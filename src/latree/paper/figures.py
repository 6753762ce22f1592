"""Figures in one style: a light grid, the paper's method in colour, all others grey, and names at the ends of lines."""

import io
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from latree._util.files import write_bytes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Blue and vermilion of Okabe and Ito's palette: colour-blind people can tell them apart.
COLOURS = ("#0072B2", "#D55E00")
_GREY = "#a6a6a6"
_GREY_TEXT = "#666666"
_NAME_SIZE = 6.5  # points
_MARGIN = 0.03  # share of the axis that stays free beyond the last marker

_FONT: Any = {"font.family": "sans-serif", "font.size": 9, "svg.hashsalt": "latree", "svg.fonttype": "none"}


def can_draw() -> bool:
    """Return whether matplotlib is installed; without it only numbers are written."""
    return find_spec("matplotlib") is not None


def new_figure(**options: Any) -> tuple["Figure", Any]:
    """Make a figure and its axes, as :func:`matplotlib.pyplot.subplots` does, but without a window system."""
    import matplotlib as mpl
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    rows, columns, size = options.pop("rows", 1), options.pop("columns", 1), options.pop("size")
    with mpl.rc_context(_FONT):
        figure = Figure(figsize=size, layout="constrained")
        FigureCanvasAgg(figure)
        axes = figure.subplots(rows, columns, squeeze=False, **options)
    return figure, axes


def save(draw: Callable[[], "Figure"], path: Path) -> list[Path]:
    """Draw a figure as SVG and PNG, if matplotlib is installed, and return the files.

    The same figure gives the same bytes.
    """
    if not can_draw():
        return []
    import matplotlib as mpl

    figure, files = draw(), []
    with mpl.rc_context(_FONT):
        for kind, metadata in (("svg", {"Date": None}), ("png", {"Software": None})):
            picture = io.BytesIO()
            figure.savefig(picture, format=kind, dpi=150, metadata=metadata)
            files.append(path.with_suffix(f".{kind}"))
            write_bytes(files[-1], picture.getvalue())
    return files


def panels(
    rows: Sequence[dict[str, Any]],
    *,
    split: Callable[[dict[str, Any]], tuple[int, int, str]],
    value: str,
    label: str,
    limits: tuple[float, float],
    letter: str = "a",
) -> "Figure":
    """Draw panels with one line per method over the number of rows.

    The first method and its variants, such as "tensor, nearest", have colours; all others are grey.

    Parameters
    ----------
    rows : sequence of dict
        Each with ``rows``, ``method``, the value and ``standard_error``.
    split : callable
        From a row to its panel's row, column and title.
    value, label : str
        The key of the value, and the label of its axis.
    limits : tuple
        Smallest range of the value axis; it becomes wider if a value or its error would be cut off.
    letter : str
        Letter of the first panel. The others follow, as in the paper's figure.
    """
    low = min(row[value] - row["standard_error"] for row in rows)
    high = max(row[value] + row["standard_error"] for row in rows)
    margin = _MARGIN * (max(high, limits[1]) - min(low, limits[0]))
    limits = min(low - margin, limits[0]), max(high + margin, limits[1])
    places = {split(row) for row in rows}
    height, width = 1 + max(i for i, _, _ in places), 1 + max(j for _, j, _ in places)
    figure, axes = new_figure(
        rows=height, columns=width, size=(3.4 * width, 2.6 * height + 0.4), sharex=True, sharey=True
    )
    methods = list(dict.fromkeys(row["method"] for row in rows))
    own = [method for method in methods if method.partition(",")[0] == methods[0]]
    colours = dict(zip(own, COLOURS, strict=False))
    for i, j, title in sorted(places):
        panel = axes[i, j]
        start_panel(panel, (50, 100, 200, 500, 1000, 2000), limits)
        panel.set_title(f"({chr(ord(letter) + i * width + j)}) {title}", fontsize=10)
        ends = []
        for number, method in enumerate(methods):
            mine = [row for row in rows if split(row)[:2] == (i, j) and row["method"] == method]
            panel.errorbar(
                [row["rows"] for row in mine],
                [row[value] for row in mine],
                [row["standard_error"] for row in mine],
                label=method,
                zorder=2 + len(methods) - number,  # the first method is the paper's own and lies on top
                color=colours.get(method, _GREY),
                marker="o" if method in colours else None,
                markersize=3.5,
                linewidth=2 if method in colours else 0.9,
                elinewidth=0.7,
            )
            ends.append((mine[-1][value], mine[-1]["rows"], method))
        _name_lines(panel, sorted(ends), colours, 72 * 2.1)
        if i == height - 1:
            panel.set_xlabel("number of rows")
        if j == 0:
            panel.set_ylabel(label)
    return figure


def _name_lines(panel: "Axes", ends: list[tuple[float, float, str]], colours: dict[str, str], height: float) -> None:
    """Write the names of lines beside their ends, from the lowest to the highest, a line of text apart.

    ``height`` is that of the panel in points.
    """
    low, high = panel.get_ylim()
    step = _NAME_SIZE * 1.1 * (high - low) / height
    heights = [value for value, _, _ in ends]
    for _ in range(100):  # names that are too close push each other apart, as far as the panel reaches
        for k in range(len(ends) - 1):
            overlap = (step - (heights[k + 1] - heights[k])) / 2
            if overlap > 0:
                heights[k], heights[k + 1] = heights[k] - overlap, heights[k + 1] + overlap
        heights = [min(max(one, low), high) for one in heights]
    right = panel.get_xlim()[1]
    for (value, size, method), place in zip(ends, heights, strict=True):
        colour = colours.get(method)
        panel.plot(
            [size, right, right * 1.06],
            [value, place, place],
            color=colour or _GREY,
            linewidth=0.5,
            linestyle=":",
            clip_on=False,
            zorder=1,
        )
        panel.text(
            right * 1.09,
            place,
            method,
            fontsize=_NAME_SIZE,
            color=colour or _GREY_TEXT,
            fontweight="bold" if colour else "normal",
            va="center",
        )


def start_panel(panel: "Axes", sizes: Sequence[int], limits: tuple[float, float]) -> None:
    """Set up a panel: a logarithmic axis from the first to the last size, a grid, no frame at the top and right."""
    panel.set_xscale("log")
    panel.set_xticks(sizes, [str(size) for size in sizes])
    panel.minorticks_off()
    panel.set_xlim(0.85 * sizes[0], sizes[-1] / 0.85)  # explicit, because a single size gives no range
    panel.set_ylim(*limits)
    panel.grid(color="#dddddd", linewidth=0.6)
    for side in ("top", "right"):
        panel.spines[side].set_visible(False)
