"""The command that says what is in a table."""

import json
from pathlib import Path

from helpers.cli import run, succeed
from helpers.csv import ROWS, table


def test_what_is_printed_fits_a_terminal_and_says_what_to_type(folder):
    Path("my data.csv").write_text(table(planet="earth", nr=range(1, 61), code=["1", "2", "-99"] * 20))
    printed = succeed("check", "my data.csv", "--drop", "size", "--bins", 5)
    assert max(map(len, printed.splitlines()[:-1])) <= 80
    assert printed.startswith("my data.csv: 60 rows, 8 columns, 6 of them to learn from\n")
    assert "A fit leaves out:\n- A column that says nothing is left out: 'planet'" in printed
    command = "latree fit 'my data.csv' --bins 5 --drop size --drop nr --missing-also -99 --out run"
    assert printed.endswith(f"To fit a model, with what helps:\n  {command}\n")


def test_nothing_odd(folder):
    printed = succeed("check", "data.csv")
    assert printed.endswith("Nothing looks odd.\n\nTo fit a model:\n  latree fit data.csv --out run\n")


def test_json(folder):
    Path("data.csv").write_text(table(ROWS * 10, person=[f"p{i}" for i in range(600)]))
    found = json.loads(succeed("check", "data.csv", "--json"))
    assert found["n_rows"] == 600
    assert [one["column"] for one in found["columns"]] == ["a", "b", "c", "colour", "size", "person"]
    assert [(one["column"], one["action"], one["remedy"]) for one in found["findings"]] == [
        ("person", "refused", "--drop person")
    ]
    assert found["command"] == "latree fit data.csv --drop person --out run"


def test_bad_input(folder):
    assert run("check", "absent.csv") == (2, "", "latree: absent.csv: no such file\n")
