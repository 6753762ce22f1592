"""The command compare-tables."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import latree
from helpers.cli import run, succeed


@pytest.fixture(autouse=True)
def tables(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for seed, name in enumerate(("real.csv", "drawn.csv")):
        rng = np.random.default_rng(seed)
        rows = pd.DataFrame({"id": range(60), "age": rng.integers(18, 90, 60), "sex": rng.choice(["f", "m"], 60)})
        rows.to_csv(name, index=False)


def test_it_prints_what_python_finds():
    found = latree.compare_tables("real.csv", "drawn.csv", drop="id", random_state=3)
    assert succeed("compare-tables", "real.csv", "drawn.csv", "--drop", "id", "--seed", "3") == f"{found}\n"
    plain = json.loads(succeed("compare-tables", "real.csv", "drawn.csv", "--drop", "id", "--seed", "3", "--json"))
    assert plain == found.to_dict()


def test_it_writes_a_page():
    arguments = ("compare-tables", "real.csv", "drawn.csv", "--drop", "id", "--out", "page.html")
    assert succeed(*arguments).endswith("\nWritten to page.html\n")
    assert "Drawn rows beside real ones" in Path("page.html").read_text(encoding="utf-8")
    code, _, errors = run(*arguments)
    assert (code, "page.html" in errors) == (2, True)
    assert succeed(*arguments, "--force", "--quiet") == ""


def test_columns_that_one_table_has_not_are_left_out_if_two_are_common():
    rows = pd.read_csv("drawn.csv")
    rows.drop(columns="sex").assign(fresh=1).to_csv("less.csv", index=False)
    arguments = ("compare-tables", "real.csv", "less.csv", "--out", "page.html")
    text = succeed(*arguments)
    left_out = [
        f"Left out, as only the {which} rows have it: '{name}'."
        for which, name in (("real", "sex"), ("drawn", "fresh"))
    ]
    assert text.startswith("60 real rows, 60 drawn rows, 2 columns\n" + "\n".join(left_out) + "\n\n")
    assert "as only the real rows have it: &#39;sex&#39;." in Path("page.html").read_text(encoding="utf-8")
    for columns, shared in ((["sex"], "only the column 'sex'"), ([], "no column")):
        rows[columns].assign(fresh=1).to_csv("other.csv", index=False)
        code, output, errors = run("compare-tables", "real.csv", "other.csv")
        assert (code, output) == (2, "")
        assert errors == f"latree: real.csv and other.csv have {shared} in common to compare: two are needed\n"
