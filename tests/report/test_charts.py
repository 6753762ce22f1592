"""The geometry of the charts."""

from latree.report.charts import convergence_chart, gain_bars


def test_bars_of_gains_start_at_independence():
    def ends(*gains):
        return [(bar["start"], bar["end"]) for bar in gain_bars([{"name": "a", "gain": gain} for gain in gains])]

    assert ends(1.0, 4.0) == [(0, 25), (0, 100)]
    assert ends(-1.0, 3.0) == [(0, 25), (25, 100)]
    assert ends(0.0) == [(0, 0)]
    assert gain_bars([]) == ends(None, 1.0) == []


def test_the_line_of_em_starts_where_it_can_be_seen():
    assert convergence_chart([1.0]) is None
    line = convergence_chart([-100.0 / (i + 1) for i in range(40)])
    assert line["clipped"]
    assert line["x_ticks"][0]["text"] == "0"
    assert all(0 <= float(number) <= 420 for point in line["line"].split() for number in point.split(","))
