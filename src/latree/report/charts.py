"""The geometry of the report's small charts. The templates turn it into SVG."""

from collections.abc import Sequence
from math import floor, log10
from typing import Any

# All lengths are in the units of the SVG's viewBox.
WIDTH = 420  # width of a chart
_PLOT = (66.0, 10.0, 404.0, 140.0)  # left, top, right and bottom of the line plot


def gain_bars(compared: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return a bar for the gain of each model, with its ends in per cent of the width; nothing if a gain is unknown."""
    gains = [model["gain"] for model in compared]
    if not gains or None in gains:
        return []
    low, high = min(0.0, *gains), max(0.0, *gains)
    span = (high - low) or 1.0
    return [
        {
            "name": model["name"],
            "gain": gain,
            "start": round(100 * (min(gain, 0.0) - low) / span, 1),
            "end": round(100 * (max(gain, 0.0) - low) / span, 1),
        }
        for model, gain in zip(compared, gains, strict=True)
    ]


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
