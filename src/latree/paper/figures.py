"""Figures in one style: a light grid, colours that colour-blind people can tell apart, a marker for each line."""

import io
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from latree._util.files import write_bytes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# The palette of Okabe and Ito, without the yellow that is too pale on paper, then black and grey.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#999999")
MARKERS = "osD^vPX*<>hd"
STYLES = ("-", "--")  # when all colours are used, they repeat with the next line style
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


def line_style(number: int) -> dict[str, Any]:
    """Return the style of the n-th line of a figure."""
    return {
        "color": COLOURS[number % len(COLOURS)],
        "marker": MARKERS[number % len(MARKERS)],
        "linestyle": STYLES[number // len(COLOURS) % len(STYLES)],
        "linewidth": 1.4,
        "markersize": 4,
        "capsize": 2,
        "elinewidth": 0.8,
    }


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
        rows=height, columns=width, size=(3.1 * width, 2.4 * height + 0.8), sharex=True, sharey=True
    )
    methods = list(dict.fromkeys(row["method"] for row in rows))
    for i, j, title in sorted(places):
        panel = axes[i, j]
        start_panel(panel, (50, 100, 200, 500, 1000, 2000), limits)
        panel.set_title(f"({chr(ord(letter) + i * width + j)}) {title}", fontsize=10)
        for number, method in enumerate(methods):
            mine = [row for row in rows if split(row)[:2] == (i, j) and row["method"] == method]
            panel.errorbar(
                [row["rows"] for row in mine],
                [row[value] for row in mine],
                [row["standard_error"] for row in mine],
                label=method,
                zorder=2 + len(methods) - number,  # the first method is the paper's own and lies on top
                **line_style(number),
            )
        if i == height - 1:
            panel.set_xlabel("number of rows")
        if j == 0:
            panel.set_ylabel(label)
    handles, names = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside lower center", ncols=min(7, len(methods)), frameon=False)
    return figure


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
