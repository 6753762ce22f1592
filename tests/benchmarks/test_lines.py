import numpy as np
import pytest

from lines import Sheet, Shown, mean, ratio, run


def test_shares_are_of_all_tables_together():
    rows = [{"right": 1, "edges": 1}, {"right": 0, "edges": 3}]
    assert ratio("right", "edges")(rows) == 0.25
    assert mean("edges")(rows) == 2


@pytest.mark.parametrize(("value", "shown"), [(0.125, "0.12"), (np.nan, "-"), ("2-4", "2-4")])
def test_what_is_not_known_is_a_dash(value, shown):
    assert Shown("x", mean("x")).cell(value) == shown


def test_one_line_for_each_setting_and_one_csv_row_for_each_task(tmp_path, capsys):
    path = tmp_path / "rows.csv"
    settings = {"few": [lambda: {"x": 1.0}, lambda: {"x": 2.0}], "gone": [lambda: {"note": "skipped: no file"}]}
    run(settings, [Shown("x", mean("x"))], path=path)
    lines = capsys.readouterr().out.splitlines()
    assert [line.split() for line in lines] == [["x"], ["few", "1.50"], ["gone", "skipped:", "no", "file"]]
    assert path.read_text().splitlines() == ["line,x,note", "few,1.0,", "few,2.0,", "gone,,skipped: no file"]


def test_figures_of_another_run_are_beside_the_new_ones(capsys):
    sheet = Sheet([Shown("x", mean("x")), Shown("y", mean("y"))], ["old", "new"], {"old": {"x": 0.5}})
    for name in ("old", "new"):
        sheet.add(name, [{"x": 1.0, "y": 2.0}])
    lines = capsys.readouterr().out.splitlines()
    assert [line.split() for line in lines] == [["x", "y"], ["old", "1.00/0.50", "2.00"], ["new", "1.00", "2.00"]]
    assert sheet.figures == {"old": {"x": 1.0, "y": 2.0}, "new": {"x": 1.0, "y": 2.0}}
