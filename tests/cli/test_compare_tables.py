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


def test_a_column_that_one_table_has_not():
    pd.read_csv("drawn.csv").drop(columns="sex").to_csv("less.csv", index=False)
    code, output, errors = run("compare-tables", "real.csv", "less.csv")
    assert (code, output) == (2, "")
    assert errors == (
        "latree: 'sex': the column is in real.csv and not in less.csv: both tables need the same columns; leave others "
        "out with --drop sex\n"
    )
