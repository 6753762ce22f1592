"""The geometry of the charts."""

import pytest

from latree.report.charts import comparison_chart, convergence_chart


def test_charts_begin_at_independence_and_end_at_the_best():
    scores = {"per_row": -9.0, "held_out": None}
    fit = {"compared": [{"name": "a", **scores}, {"name": "b", **scores, "per_row": -8.0}]}
    assert comparison_chart(fit) is None
    chart = comparison_chart({**fit, "own": {**scores, "per_row": -6.0}})
    assert [(bar["value"], bar["own"]) for bar in chart["bars"]] == [(1.0, False), (3.0, True)]
    assert chart["bars"][1]["width"] == pytest.approx(3 * chart["bars"][0]["width"], rel=0.01)
    worse = comparison_chart({**fit, "own": {**scores, "per_row": -10.0}})
    assert worse["bars"][1]["x"] < worse["zero"]
    assert convergence_chart([1.0]) is None
    line = convergence_chart([-100.0 / (i + 1) for i in range(40)])
    assert line["clipped"]
    assert line["x_ticks"][0]["text"] == "0"
    assert all(0 <= float(number) <= 420 for point in line["line"].split() for number in point.split(","))
