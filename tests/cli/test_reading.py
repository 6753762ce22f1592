"""Options of commands that read a table, and what they say about it."""

import json
from pathlib import Path

import pandas as pd
import pytest

from helpers.cli import run, succeed
from helpers.csv import ROWS, table
from latree import LatentTreeModel
from latree.cli.reading import split

QUICK = ("--method", "lcm", "--states", 2, "--quiet")


def columns_of(folder):
    return {column.name: column for column in LatentTreeModel.load(folder / "model.json").columns}


def test_names_in_one_option_or_several():
    assert split("a,b") == ["a", "b"]
    assert split('a, "b,c",d') == ["a", "b,c", "d"]
    assert split("a,b", known=["a,b"]) == ["a,b"]
    assert split("") == [""]


def test_drop_and_keep(folder):
    Path("data.csv").write_text(table(**{"x,y": ["1", "2", "2"] * 20, "d": ["1", "1", "2"] * 20}))
    succeed("fit", "data.csv", "--out", "one", "--drop", "a,b", "--drop", "x,y", *QUICK)
    assert set(columns_of(Path("one"))) == {"c", "colour", "size", "d"}
    succeed("fit", "data.csv", "--out", "two", "--keep", 'a,b,"x,y",colour', *QUICK)
    assert set(columns_of(Path("two"))) == {"a", "b", "x,y", "colour"}
    code, _, err = run("fit", "data.csv", "--out", "three", "--drop", "a,bb")
    assert code == 2
    assert "no column 'bb' to drop" in err


def test_orders_and_marks_are_remembered(folder):
    words = ["low", "high", "mid"] * 20
    Path("data.csv").write_text(table(level=words, code=["1", "-99", "2"] * 20))
    succeed("fit", "data.csv", "--out", "run", "--kind", "level=low,mid,high", "--missing-also", "-99,?", *QUICK)
    columns = columns_of(Path("run"))
    assert (columns["level"].categories, columns["level"].ordered) == (("low", "mid", "high"), True)
    assert columns["code"].categories == ("1", "2")
    assert columns["code"].missing[-2:] == ("-99", "?")
    summary = json.loads(Path("run/summary.json").read_text())
    assert summary["missing_cells"] == 20
    record = LatentTreeModel.load("run/model.json").record
    assert "--missing-also -99,? --kind level=low,mid,high" in record.command.replace("'", "")
    succeed("fit", "data.csv", "--out", "other", "--missing", "-99", *QUICK)
    assert columns_of(Path("other"))["code"].missing == ("-99",)
    code, _, err = run("fit", "data.csv", "--out", "bad", "--kind", "level")
    assert code == 2
    assert "give a column and its kind, as age=number, or its values" in err


def test_a_column_names_the_rows(folder):
    people = [f"p{i}" for i in range(60)]
    Path("data.csv").write_text(table(person=people))
    succeed("fit", "data.csv", "--out", "run", "--id", "person", *QUICK)
    assert "person" not in columns_of(Path("run"))
    assert LatentTreeModel.load("run/model.json").record.identifier == "person"
    succeed("transform", "run", "data.csv", "--out", "scores.csv")
    assert pd.read_csv("scores.csv")["person"].tolist() == people
    printed = succeed("score", "run", "data.csv", "--out", "rows.csv")
    assert printed.endswith("Written to rows.csv: 60 rows\n")
    rows = pd.read_csv("rows.csv")
    assert rows["person"].tolist() == people
    expected = LatentTreeModel.load("run/model.json").log_density_rows("data.csv")
    assert rows["log-density"].tolist() == pytest.approx(expected, abs=6e-5)
    Path("new.csv").write_text(table())
    succeed("score", "run", "new.csv", "--out", "numbers.csv")
    assert pd.read_csv("numbers.csv")["row"].tolist() == list(range(1, 61))
    succeed("transform", "run", "new.csv", "--out", "numbered.csv")
    assert pd.read_csv("numbered.csv")["row"].tolist() == list(range(1, 61))


def test_what_is_odd_is_said_before_the_fit(folder):
    days = [f"{1 + i % 28}.1.2024" for i in range(60)]
    Path("data.csv").write_text(table(planet="earth", nr=range(1, 61), day=days, again=[row[0] for row in ROWS]))
    code, _, err = run("fit", "data.csv", "--out", "run", "--method", "lcm", "--states", 2)
    assert code == 0
    notes = err.splitlines()
    assert [line.split()[1] for line in notes] == ["A", "'nr'", "'day'", "'again'"]
    assert all(part in err for part in ("--drop nr", "--drop day", "--drop again", "'planet'"))
    warnings = json.loads(Path("run/summary.json").read_text())["warnings"]
    assert [f"note: {warning}" for warning in warnings[:4]] == notes
    succeed("fit", "data.csv", "--out", "quiet", *QUICK)
    # Columns that are refused are not told twice.
    Path("data.csv").write_text(table(ROWS * 10, person=[f"p{i}" for i in range(600)], planet="earth"))
    code, _, err = run("fit", "data.csv", "--out", "other")
    assert code == 2
    assert [line.partition(":")[0] for line in err.splitlines()] == ["note", "latree"]
