"""The commands score, sample and impute."""

import json
from pathlib import Path

import numpy as np
import pytest

from helpers.cli import succeed
from helpers.csv import HEADER, ROWS, contents, parse, table, with_cell
from latree.model import LatentTreeModel

pytestmark = pytest.mark.usefixtures("folder")


@pytest.mark.parametrize("options", [[], ["--unseen", "missing"]])
def test_score_is_that_of_python(options):
    Path("new.csv").write_text(with_cell("colour", "pink" if options else "", range(5)))
    scored = json.loads(succeed("score", "model.json", "new.csv", "--json", *options))
    model = LatentTreeModel.load("model.json")
    total = model.log_likelihood(model.encode("new.csv", unseen="missing"))
    assert scored == {"rows": 60, "log_likelihood": total, "mean_log_likelihood": total / 60}
    printed = succeed("score", "model.json", "new.csv", *options)
    assert f"{total:.4f}" in printed
    assert f"mean per cell        {total / (60 * 5 - 5):.6f} nats" in printed  # five cells are missing


def test_columns_without_a_single_value_are_summed_out():
    Path("empty.csv").write_text(with_cell("size", "", range(60)))
    assert json.loads(succeed("score", "model.json", "empty.csv", "--json"))["rows"] == 60
    assert all(size for *_, size in parse(succeed("impute", "model.json", "empty.csv")))


def test_an_impossible_row_can_be_scored():
    plain = json.loads(Path("model.json").read_text())
    plain["tables"][0] = [[1.0] * len(row) if i == 0 else [0.0] * len(row) for i, row in enumerate(plain["tables"][0])]
    Path("sure.json").write_text(json.dumps(plain))
    assert "-inf" in succeed("score", "sure.json", "data.csv")
    assert json.loads(succeed("score", "sure.json", "data.csv", "--json"))["rows"] == 60


def test_samples_are_seeded_and_readable_again():
    printed = succeed("sample", "model.json", "--rows", 30, "--seed", 3)
    assert succeed("sample", "model.json", "--rows", 30, "--seed", 3, "--out", "new.csv") == ""
    assert Path("new.csv").read_text() == printed
    assert parse(printed)[0] == HEADER
    assert succeed("sample", "model.json", "--rows", 30) != printed
    model = LatentTreeModel.load("model.json")
    np.testing.assert_array_equal(model.encode("new.csv").codes(), model.sample(30, 3).codes())
    succeed("sample", "model.json", "--rows", 30, "--seed", 3, "--out", "new.tsv")
    assert Path("new.tsv").read_text() == printed.replace(",", "\t")


def test_impute_fills_missing_cells_and_touches_nothing_else():
    notes = [' spaced ,"quoted"', "", "NA", "1.50", "line\nbreak", "é"] * 10
    rows, header = [row[::-1] for row in ROWS], HEADER[::-1]
    rows[0][0], rows[1][1], rows[2][4], rows[3][3], rows[4][2] = "", " NA ", "null", " 1 ", "2.0"
    given = table(rows, header, note=notes)
    Path("holes.csv").write_text(given, newline="")
    before = contents()
    printed = succeed("impute", "model.json", "holes.csv")
    assert contents() == before
    changed = {
        (i, j): cell
        for i, (old, new) in enumerate(zip(parse(given)[1:], parse(printed)[1:], strict=True))
        for j, cell in enumerate(new)
        if cell != old[j]
    }
    assert changed.keys() == {(0, 0), (1, 1), (2, 4)}
    model = LatentTreeModel.load("model.json")
    filled = model.complete(model.encode("holes.csv")).decode()
    assert {(i, j): str(filled[header[j]][i]) for i, j in changed} == changed
    assert printed.splitlines()[7:] == given.splitlines()[7:]
    assert succeed("impute", "model.json", "holes.csv", "--out", "filled.csv") == ""
    assert Path("filled.csv").read_bytes() == printed.encode()
    assert succeed("impute", "model.json", "filled.csv") == printed
