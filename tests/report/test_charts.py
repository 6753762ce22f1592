"""The geometry of the charts."""

import pytest

from latree.report.charts import comparison_chart, convergence_chart


def test_charts_begin_at_independence_and_end_at_the_best():
    compared = [{"name": "a", "gain": 1.0, "test_gain": None}, {"name": "b", "gain": 3.0, "test_gain": None}]
    assert comparison_chart([]) is None
    assert comparison_chart([{**compared[0], "gain": None}, compared[1]]) is None
    chart = comparison_chart(compared)
    assert [(bar["value"], bar["own"]) for bar in chart["bars"]] == [(1.0, False), (3.0, True)]
    assert chart["bars"][1]["width"] == pytest.approx(3 * chart["bars"][0]["width"], rel=0.01)
    worse = comparison_chart([compared[0], {**compared[1], "gain": -1.0}])
    assert worse["bars"][1]["x"] < worse["zero"]
    assert chart["kinds"] == ["gain"]
    assert comparison_chart([{**model, "test_gain": 2.0} for model in compared])["kinds"] == ["gain", "test_gain"]
    assert convergence_chart([1.0]) is None
    line = convergence_chart([-100.0 / (i + 1) for i in range(40)])
    assert line["clipped"]
    assert line["x_ticks"][0]["text"] == "0"
    assert all(0 <= float(number) <= 420 for point in line["line"].split() for number in point.split(","))
