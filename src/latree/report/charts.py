"""The geometry of the report's small charts. The templates turn it into SVG."""

from collections.abc import Sequence
from math import floor, log10
from typing import Any

# All lengths are in the units of the SVG's viewBox.
WIDTH = 420  # width of a chart
_NAME_WIDTH = 168  # space for the names left of the bars
_VALUE_WIDTH = 56  # space for the numbers right of the bars
_ROW_HEIGHT = 34  # height of the bars of one model
_PLOT = (66.0, 10.0, 404.0, 140.0)  # left, top, right and bottom of the line plot


def comparison_chart(compared: Sequence[dict[str, Any]]) -> dict[str, Any] | None:
    """Return bars of the mean gain per row of each model over independent columns; None if nothing can be compared.

    The last model is the one that the report is about.
    """
    kinds = [kind for kind in ("gain", "test_gain") if compared and all(model[kind] is not None for model in compared)]
    if not kinds:
        return None
    gains = {kind: [model[kind] for model in compared] for kind in kinds}
    all_gains = [gain for kind in kinds for gain in gains[kind]]
    low, high = min(0.0, *all_gains), max(0.0, *all_gains)
    if high == low:
        return None
    scale = (WIDTH - _NAME_WIDTH - _VALUE_WIDTH) / (high - low)
    single = len(kinds) == 1
    height = 18 if single else 11
    bars = []
    for row in range(len(compared)):
        for part, kind in enumerate(kinds):
            gain = gains[kind][row]
            start, end = sorted((_NAME_WIDTH + (0 - low) * scale, _NAME_WIDTH + (gain - low) * scale))
            top = row * _ROW_HEIGHT + (8 if single else 4 + part * 13)
            bars.append(
                {
                    "kind": kind,
                    "own": row == len(compared) - 1,
                    "x": round(start, 1),
                    "y": top,
                    "width": round(max(end - start, 0.5), 1),
                    "height": height,
                    "value": round(gain, 3),
                    "value_x": round(end + 6, 1),
                    "value_y": top + height - (4 if single else 1.5),
                }
            )
    names = [
        {"name": model["name"], "y": row * _ROW_HEIGHT + 21, "own": row == len(compared) - 1}
        for row, model in enumerate(compared)
    ]
    return {
        "width": WIDTH,
        "height": _ROW_HEIGHT * len(names) + 2,
        "bars": bars,
        "names": names,
        "zero": round(_NAME_WIDTH - low * scale, 1),
        "kinds": kinds,
    }


def convergence_chart(history: list[float]) -> dict[str, Any] | None:
    """Return EM's objective per iteration as a line. The first iterations may lie below the plot: they gain most."""
    if len(history) < 2:
        return None
    left, top, right, bottom = _PLOT
    # A long history is shown from about its tenth part on, so that the later gains can be seen.
    high = history[-1]
    low = history[min(len(history) // 10 + 1, len(history) - 2)] if len(history) > 12 else history[0]
    low = min(low, high - 1e-9 * max(abs(high), 1))
    last = len(history) - 1
    points = [
        (left + (right - left) * iteration / last, bottom - (bottom - top) * (value - low) / (high - low))
        for iteration, value in enumerate(history)
    ]
    first = next(iteration for iteration, (_, y) in enumerate(points) if y <= bottom + 1e-6)
    visible = [(x, min(y, bottom)) for x, y in points[first:]]
    if first:
        # Begin where the line crosses the bottom of the plot.
        (x0, y0), (x1, y1) = points[first - 1], points[first]
        visible.insert(0, (x0 + (x1 - x0) * (y0 - bottom) / (y0 - y1), bottom))
    line = " ".join(f"{x:.1f},{y:.1f}" for x, y in visible)
    return {
        "width": WIDTH,
        "height": 164,
        "plot": _PLOT,
        "line": line,
        "area": f"{visible[0][0]:.1f},{bottom:.1f} {line} {visible[-1][0]:.1f},{bottom:.1f}",
        "x_ticks": [{"x": round(left + (right - left) * step / last, 1), "text": str(step)} for step in _ticks(last)],
        "gain": round(high - low, 2),
        "clipped": first > 0,
    }


def _ticks(last: int) -> list[int]:
    """Return four or five round numbers from 0 to at most the last."""
    rough = max(last / 4, 1)
    size = 10 ** floor(log10(rough))
    step = next(size * factor for factor in (1, 2, 5, 10) if size * factor >= rough)
    return list(range(0, last + 1, step))
