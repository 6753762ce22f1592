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
    command = "latree fit 'my data.csv' --bins 5 --drop size --id nr --missing-also -99 --out run"
    assert printed.endswith(f"To fit a model, with what helps:\n  {command}\n")


def test_nothing_odd(folder):
    printed = succeed("check", "data.csv", "--bins", 6)
    assert printed.endswith("Nothing looks odd.\n\nTo fit a model:\n  latree fit data.csv --bins 6 --out run\n")


def test_json(folder):
    Path("data.csv").write_text(table(ROWS * 10, person=[f"p{i}" for i in range(600)]))
    found = json.loads(succeed("check", "data.csv", "--json"))
    assert found["n_rows"] == 600
    assert [one["column"] for one in found["columns"]] == ["a", "b", "c", "colour", "size", "person"]
    assert [(one["column"], one["action"], one["remedy"]) for one in found["findings"]] == [
        ("person", "refused", "--id person")
    ]
    assert found["command"] == "latree fit data.csv --id person --out run"


def test_no_command_without_enough_columns_to_learn_from(folder):
    Path("one.csv").write_text("a b\n1 2\n2 1\n1 1\n")
    printed = succeed("check", "one.csv")
    assert "latree fit" not in printed
    assert printed.endswith(
        "Only one column was found: cells must be separated by commas, semicolons or tabs.\n"
        "A fit needs at least 4 columns to learn from, and 1 would remain.\n"
    )
    rows = [f"p{i},{i % 2},{i % 3},{i % 5},{i % 7}\n" for i in range(30)]
    Path("few.csv").write_text("person,a,b,c,d\n" + "".join(rows))
    assert "latree fit few.csv --id person --out" in succeed("check", "few.csv")
    printed = succeed("check", "few.csv", "--drop", "d")
    assert "latree fit" not in printed
    assert "Only one column" not in printed
    assert run("fit", "few.csv", "--drop", "d", "--id", "person", "--out", "run")[0] == 2
    assert json.loads(succeed("check", "few.csv", "--drop", "d", "--json"))["command"] is None


def test_identifiers_name_rows_unless_others_do(folder):
    Path("data.csv").write_text(
        table(ROWS * 10, person=[f"p{i}" for i in range(600)], key=[f"k{i}" for i in range(600)])
    )
    printed = succeed("check", "data.csv")
    told = " ".join(printed.split())
    assert "Use --id person to name rows by it, or --drop person,key to leave identifiers out." in told
    assert printed.endswith("latree fit data.csv --id person --drop key --out run\n")
    assert succeed("check", "data.csv", "--id", "key").endswith(
        "latree fit data.csv --id key --drop person --out run\n"
    )
    code, _, err = run("fit", "data.csv", "--drop", "key", "--out", "run")
    assert code == 2
    assert err.endswith(
        "latree: data.csv: column 'person' has a different value in every row, as an identifier has: use --id person "
        "to name rows by it, or --drop person\n"
    )


def test_a_mark_in_a_column_of_many_numbers_is_no_reason_to_drop_it(folder):
    numbers = [f"{i % 97}.5" for i in range(600)]
    Path("data.csv").write_text(table(ROWS * 10, q=["about 3", *numbers[1:]]))
    printed = succeed("check", "data.csv")
    assert "A fit would refuse" not in printed
    assert printed.endswith("latree fit data.csv --missing-also 'about 3' --out run\n")
    code, _, err = run("fit", "data.csv", "--out", "run")
    assert code == 2
    assert err.endswith(": use --missing-also 'about 3' to make such cells missing\n")


def test_bad_input(folder):
    assert run("check", "absent.csv") == (2, "", "latree: absent.csv: no such file\n")


def test_a_table_without_rows_is_refused(folder):
    Path("header.csv").write_text("a,b,c,d\n")
    for options in ([], ["--json"]):
        said = "latree: header.csv: no rows, only column names: add rows\n"
        assert run("check", "header.csv", *options) == (2, "", said)
