"""Small pieces of the exam; the exam itself takes minutes."""

import json
import sys
from types import SimpleNamespace

import numpy as np
import pytest

import exam
from latree.errors import InputError
from lines import Shown, mean
from simulated_tables import separate_groups_model


def groups_of(words, level="main"):
    return [SimpleNamespace(level=level, columns=tuple(word)) for word in words.split()]


def test_a_part_prints_its_lines_and_keeps_its_figures_for_another_run(tmp_path, monkeypatch, capsys):
    values = iter([1.0, 2.0, 3.0, 4.0])

    def part(asked):
        settings = {name: [lambda: {"x": next(values)}] for name in ("one", "two")}
        asked.run("some part", settings, [Shown("x", mean("x"))])

    monkeypatch.setattr(exam, "PARTS", {"part": part})
    path = tmp_path / "old.json"
    for options in (["--json", str(path)], ["--against", str(path)]):
        monkeypatch.setattr(sys, "argv", ["exam.py", "part", *options])
        exam.main()
    lines = [line.split() for line in capsys.readouterr().out.splitlines() if line]
    assert lines[:5] == [["some", "part"], ["x"], ["one", "1.00"], ["two", "2.00"], ["all", "1.50"]]
    assert lines[7:] == [["one", "3.00/1.00"], ["two", "4.00/2.00"], ["all", "3.50/1.50"]]
    assert json.loads(path.read_text()) == {"some part": {"one": {"x": 1}, "two": {"x": 2}, "all": {"x": 1.5}}}


def test_parts_that_need_real_tables_are_left_out_without_them(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["exam.py", "groups"])
    exam.main()
    assert "groups is left out: it needs --data" in capsys.readouterr().out


def test_a_table_that_cannot_be_read_is_left_out(tmp_path, monkeypatch, capsys):
    def missing():
        raise InputError("there is no such file")

    monkeypatch.setattr(exam, "real_tables", lambda folder: {"gone": missing, "there": lambda: 1})
    assert exam.Exam(tmp_path, None, 1, {}, {}).tables(["gone", "there"]) == {"there": 1}
    assert "gone is left out: there is no such file" in capsys.readouterr().out


def test_a_table_with_a_clear_truth_is_right_in_everything():
    row = exam.simulated_row(separate_groups_model(2, 4), 600, exam.FIRST_SEED)
    assert row["whole"]
    assert row["edges"] == row["sure"] == 0


def test_groups_at_the_true_number_count_if_the_estimator_has_them():
    labels, learned = list("112"), SimpleNamespace(groups_=groups_of("abc"))
    scores = exam.group_scores(learned, "abc", labels)
    assert (scores["main"], scores["best"]) == (0, 0)
    assert np.isnan(scores["at_n"])
    learned.groups = lambda n: groups_of({2: "ab"}[n])  # c is in no group
    assert exam.group_scores(learned, "abc", labels)["at_n"] == 1


def test_runs_are_compared_on_the_same_columns_alone():
    rows = [{"found": [0, 0, 1, 1]}, {"found": [1, 1, 0, 0]}, {"found": [0, 0]}]
    assert exam.between_runs(rows) == 1
    assert np.isnan(exam.between_runs(rows[1:]))


@pytest.mark.parametrize(
    ("share", "name"),
    [(0.0, "0-.5"), (0.5, ".5-.7"), (0.89, ".7-.9"), (0.9, ".9-1"), (1.0, ".9-1"), (np.nan, "unknown")],
)
def test_shares_are_sorted_into_bins(share, name):
    assert [key for key, rows in exam.binned([{"support": share}], "support") if rows] == [name]
