"""The geometry of the report's small charts; templates turn it into SVG."""

from math import floor, log10
from typing import Any

WIDTH = 420  # of a chart, in the units of its drawing

_LABELS = 168  # room for the names of bars
_VALUES = 56  # room for the numbers behind them
_ROW = 34
_PLOT = (66.0, 10.0, 404.0, 140.0)  # left, top, right and bottom of the line's plot


def comparison_chart(fit: dict[str, Any]) -> dict[str, Any] | None:
    """Draw what each model gains a row over independent columns, as bars; None where there is nothing to compare."""
    models = [*fit["compared"], {"name": "This tree", **fit["own"]}] if fit["compared"] and "own" in fit else []
    known = [key for key in ("per_row", "held_out") if models and all(model[key] is not None for model in models)]
    if not known:
        return None
    gains = {key: [model[key] - models[0][key] for model in models] for key in known}
    flat = [gain for key in known for gain in gains[key]]
    low, high = min(0.0, *flat), max(0.0, *flat)
    if high == low:
        return None
    scale = (WIDTH - _LABELS - _VALUES) / (high - low)
    bars = []
    for place, model in enumerate(models[1:]):
        for part, key in enumerate(known):
            gain = gains[key][place + 1]
            thick = 18 if len(known) == 1 else 11
            start, end = sorted((_LABELS + (0 - low) * scale, _LABELS + (gain - low) * scale))
            top = place * _ROW + (8 if len(known) == 1 else 4 + part * 13)
            bars.append(
                {
                    "kind": key,
                    "own": model["name"] == "This tree",
                    "x": round(start, 1),
                    "y": top,
                    "width": round(max(end - start, 0.5), 1),
                    "height": thick,
                    "value": round(gain, 3),
                    "value_x": round(end + 6, 1),
                    "value_y": top + thick - (4 if len(known) == 1 else 1.5),
                }
            )
    names = [
        {"name": model["name"], "y": place * _ROW + 21, "own": model["name"] == "This tree"}
        for place, model in enumerate(models[1:])
    ]
    zero = round(_LABELS - low * scale, 1)
    return {"width": WIDTH, "height": _ROW * len(names) + 2, "bars": bars, "names": names, "zero": zero, "kinds": known}


def convergence_chart(history: list[float]) -> dict[str, Any] | None:
    """Draw EM's objective by iteration as a line; the first steps, which gain most, may leave the plot below."""
    if len(history) < 2:
        return None
    left, top, right, bottom = _PLOT
    high = history[-1]
    low = history[min(len(history) // 10 + 1, len(history) - 2)] if len(history) > 12 else history[0]
    low = min(low, high - 1e-9 * max(abs(high), 1))
    points = []
    for iteration, value in enumerate(history):
        x = left + (right - left) * iteration / (len(history) - 1)
        y = bottom - (bottom - top) * (value - low) / (high - low)
        points.append((x, y))
    first = next(place for place, (_, y) in enumerate(points) if y <= bottom + 1e-6)
    visible = [(x, min(y, bottom)) for x, y in points[first:]]
    if first:
        (x0, y0), (x1, y1) = points[first - 1], points[first]
        visible.insert(0, (x0 + (x1 - x0) * (y0 - bottom) / (y0 - y1), bottom))
    line = " ".join(f"{x:.1f},{y:.1f}" for x, y in visible)
    last = len(history) - 1
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
    """Give round numbers from 0 to at most the last, four or five of them."""
    rough = max(last / 4, 1)
    size = 10 ** floor(log10(rough))
    step = next(size * factor for factor in (1, 2, 5, 10) if size * factor >= rough)
    return list(range(0, last + 1, step))
