"""The command impute."""

import io
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from helpers.cli import run, succeed
from helpers.csv import HEADER, ROWS, contents, parse, table, with_cell
from latree.model import LatentTreeModel

pytestmark = pytest.mark.usefixtures("folder")


def printed_rows(*arguments):
    """Return the rows that the command prints; what it says about them goes to standard error."""
    code, printed, said = run("impute", *arguments)
    assert code == 0
    assert re.match(r"\d+ cells? filled( \d+ times)?\n", said)
    return printed


def test_impute_fills_missing_cells_and_touches_nothing_else():
    notes = [' spaced ,"quoted"', "", "NA", "1.50", "line\nbreak", "é"] * 10
    rows, header = [row[::-1] for row in ROWS], HEADER[::-1]
    rows[0][0], rows[1][1], rows[2][4], rows[3][3], rows[4][2] = "", " NA ", "null", " 1 ", "2.0"
    given = table(rows, header, note=notes)
    Path("holes.csv").write_text(given, newline="")
    before = contents()
    printed = printed_rows("model.json", "holes.csv")
    assert contents() == before
    changed = {
        (i, j): cell
        for i, (old, new) in enumerate(zip(parse(given)[1:], parse(printed)[1:], strict=True))
        for j, cell in enumerate(new)
        if cell != old[j]
    }
    assert changed.keys() == {(0, 0), (1, 1), (2, 4)}
    model = LatentTreeModel.load("model.json")
    filled = model.impute("holes.csv")
    assert {(i, j): str(filled[header[j]][i])[:10] for i, j in changed} == {
        at: cell[:10] for at, cell in changed.items()
    }
    assert printed.splitlines()[7:] == given.splitlines()[7:]
    code, *said = run("impute", "model.json", "holes.csv", "--out", "filled.csv")
    assert code == 0
    assert said == [
        "3 cells filled. Written to filled.csv\n",
        "20 missing cells stay in columns that are not in the model: 'note'\n",
    ]
    assert Path("filled.csv").read_bytes() == printed.encode()
    assert printed_rows("model.json", "filled.csv") == printed


def test_a_column_without_a_single_value_is_filled():
    Path("empty.csv").write_text(with_cell("size", "", range(60)))
    assert all(size for *_, size in parse(printed_rows("model.json", "empty.csv")))


def frame_of(printed):
    return pd.read_csv(io.StringIO(printed))


def holed():
    """The table with a hole in every row."""
    rows = [[*row] for row in ROWS]
    for i, row in enumerate(rows):
        row[i % len(HEADER)] = ""
    Path("holes.csv").write_text(table(rows))
    return LatentTreeModel.load("model.json")


@pytest.mark.parametrize("how", ["mode", "median", "mean", "draw"])
def test_cells_are_those_of_python(how):
    model = holed()
    filled = frame_of(printed_rows("model.json", "holes.csv", "--how", how, "--seed", 5))
    expected = model.impute(pd.read_csv("holes.csv"), how, random_state=5)
    pd.testing.assert_frame_equal(filled, expected, check_dtype=False)


def test_probabilities_have_a_column_for_each_value():
    model = holed()
    plain = frame_of(printed_rows("model.json", "holes.csv"))
    filled = frame_of(printed_rows("model.json", "holes.csv", "--probabilities"))
    pd.testing.assert_frame_equal(filled[HEADER], plain)
    expected = model.impute_proba(pd.read_csv("holes.csv"))
    assert list(filled.columns[len(HEADER) :]) == list(expected.columns)
    np.testing.assert_allclose(filled[list(expected.columns)], expected, atol=1e-9)
    colours = [name for name in expected.columns if name.startswith("colour=")]
    assert colours == ["colour=blue", "colour=green", "colour=red"]
    np.testing.assert_allclose(filled[colours].sum(axis=1), 1, atol=1e-8)


def test_draws_make_the_long_table_of_mice():
    model = holed()
    said = succeed("impute", "model.json", "holes.csv", "--draws", 3, "--seed", 5, "--out", "long.csv")
    assert said.endswith("cells filled 3 times. Written to long.csv\n")
    long = pd.read_csv("long.csv")
    assert list(long.columns) == [".imp", ".id", *HEADER]
    assert long[".imp"].tolist() == np.repeat(range(4), 60).tolist()
    assert long[".id"].tolist() == [*range(1, 61)] * 4
    given = pd.read_csv("holes.csv")
    pd.testing.assert_frame_equal(long[long[".imp"] == 0][HEADER], given)
    for number, drawn in enumerate(model.impute(given, "draw", draws=3, random_state=5), start=1):
        one = long[long[".imp"] == number][HEADER].reset_index(drop=True)
        pd.testing.assert_frame_equal(one, drawn, check_dtype=False)


@pytest.mark.parametrize("options", [[], ["--how", "draw"], ["--probabilities"], ["--draws", "2"]])
def test_batches_change_nothing(monkeypatch, options):
    holed()
    printed = printed_rows("model.json", "holes.csv", *options)
    monkeypatch.setattr("latree.table.sources.BATCH_CELLS", 35)  # seven rows of five columns
    assert printed_rows("model.json", "holes.csv", *options) == printed


def test_parquet_files_and_patterns_are_read_like_text():
    holed()
    given = pd.read_csv("holes.csv")
    given.to_parquet("holes.parquet")
    expected = frame_of(printed_rows("model.json", "holes.csv"))
    pd.testing.assert_frame_equal(frame_of(printed_rows("model.json", "holes.parquet")), expected)
    given[:20].to_parquet("part-1.parquet")
    given[HEADER[::-1]][20:].to_parquet("part-2.parquet")  # its columns are in another order
    pd.testing.assert_frame_equal(frame_of(printed_rows("model.json", "part-*.parquet")), expected)


def test_options_that_contradict_each_other_are_refused():
    for options, message in {
        ("--how", "mean", "--draws", "2"): "--draws is for --how draw, not for --how mean",
        ("--draws", "2", "--probabilities"): "choose one of the two",
        ("--out", "filled.csv.gz"): "without .gz",
    }.items():
        code, out, err = run("impute", "model.json", "data.csv", *options)
        assert (code, out) == (2, "")
        assert message in err
    assert not Path("filled.csv.gz").exists()


def test_holes_in_columns_that_are_not_in_the_model_are_said_once():
    rows = [*ROWS, *ROWS]
    others = {f"other{i}": ["NA", *["1"] * (len(rows) - 1)] for i in range(7)}
    Path("holes.csv").write_text(table(rows, HEADER, **others))
    _, _, said = run("impute", "model.json", "holes.csv", "--draws", 3)
    assert said.splitlines()[1:] == [
        "7 missing cells stay in columns that are not in the model: 'other0', 'other1', 'other2', 'other3', 'other4' "
        "and 2 more columns"
    ]
    Path("holes.csv").write_text(table(rows, HEADER, other=others["other0"]))
    _, _, said = run("impute", "model.json", "holes.csv")
    assert said == "0 cells filled\n1 missing cell stays in columns that are not in the model: 'other'\n"


def test_intervals_are_columns_beside_the_filled_ones():
    Path("holes.csv").write_text(with_cell("size", "", range(20)))
    printed = frame_of(printed_rows("model.json", "holes.csv", "--interval", "0.8"))
    bounds = printed[["size low", "size high"]]
    assert bounds.notna().all(axis=1).tolist() == [True] * 20 + [False] * 40
    filled = printed[:20]
    assert ((filled["size low"] < filled["size"]) & (filled["size"] < filled["size high"])).all()
    assert not {"a low", "colour low"} & {*printed.columns}
    wider = frame_of(printed_rows("model.json", "holes.csv", "--interval", "0.99"))
    assert (wider["size low"][:20] < filled["size low"]).all()
    for options, message in (
        (["--draws", "2"], "--draws and --interval: choose one"),
        (["--interval", "1"], "interval"),
    ):
        code, _, error = run("impute", "model.json", "holes.csv", "--interval", "0.8", *options)
        assert code == 2
        assert message in error
