"""Scores on the command line."""

import csv
import io
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import latree
from helpers.cli import run, succeed
from helpers.csv import table
from latree import LatentTreeModel
from latree.interpret.reliability import CAVEAT, reliability
from latree.interpret.scores import row_scores
from latree.table import sources


def cells(text):
    return list(csv.reader(io.StringIO(text)))


@pytest.mark.parametrize("of", ["groups", "hidden"])
def test_the_file_has_what_python_returns(folder, of):
    printed = succeed("transform", "model.json", "data.csv", "--out", "scores.csv", "--of", of)
    model = LatentTreeModel.load("model.json")
    rows = row_scores(model, "data.csv", of)
    written = pd.read_csv("scores.csv")
    assert written["row"].tolist() == list(range(1, len(rows.scores) + 1))
    assert len(written.columns) == 2 + 4 * len(rows.names) > 2
    for j, name in enumerate(rows.names):
        np.testing.assert_allclose(written[name], rows.scores[:, j], atol=6e-5)
        np.testing.assert_allclose(written[f"{name}: standard error"], rows.errors[:, j], atol=6e-5)
        np.testing.assert_allclose(written[f"{name}: probability"], rows.probabilities[:, j], atol=6e-5)
        states = [rows.state_names[j][state] for state in rows.states[:, j]]
        assert written[f"{name}: state"].tolist() == states
    np.testing.assert_allclose(written["log-density"], rows.log_density, atol=6e-5)
    assert printed.startswith(f"{len(rows.scores)} rows, ")
    assert printed.endswith("Written to scores.csv\n")
    for one in reliability(model, "data.csv"):
        line = f"{one.name}  {one.n_columns:7}  {one.reliability:11.2f}"
        assert (line in printed) == (of == "groups")
    assert CAVEAT not in " ".join(printed.split())  # there is no alpha


def test_what_to_know_about_reliability_stands_below_it(folder):
    rng = np.random.default_rng(0)
    common = rng.integers(0, 3, (200, 1))
    rows = np.where(rng.random((200, 4)) < 0.7, common, rng.integers(0, 3, (200, 4)))
    pd.DataFrame(rows, columns=list("abcd")).to_csv("scale.csv", index=False)
    succeed("fit", "scale.csv", "--out", "scale", "--method", "lcm", "--states", "3")
    printed = succeed("transform", "scale", "scale.csv", "--out", "scale scores.csv")
    assert re.search(r"^\w, \w \+2 +4 +0\.\d\d +0\.\d\d$", printed, flags=re.MULTILINE)
    assert CAVEAT in " ".join(printed.split())
    # Of fewer rows than it needs, no reliability is printed.
    pd.DataFrame(rows[:29], columns=list("abcd")).to_csv("few.csv", index=False)
    assert succeed("transform", "scale", "few.csv", "--out", "few scores.csv") == (
        "29 rows, 1 score each\nWritten to few scores.csv\n"
    )


def test_scores_without_a_direction_give_a_warning(folder):
    assert "no direction" not in succeed("transform", "model.json", "data.csv", "--out", "scores.csv")
    rows = latree.as_table("data.csv")
    numbered = pd.DataFrame(rows.decode())
    numbered.map("answer {}".format).to_csv("texts.csv", index=False)
    fitted = succeed("fit", "texts.csv", "--out", "texts", "--method", "nj", "--states", "2")
    # A long warning is several lines, all but the first of which are indented.
    (warning,) = re.findall(r"^warning: The values of .*\n(?:  .*\n)*", fitted, flags=re.MULTILINE)
    assert "no direction" in warning
    printed = succeed("transform", "texts/model.json", "texts.csv", "--out", "other.csv")
    assert printed.endswith(f"\n{' '.join(warning.split())}\n\nWritten to other.csv\n")


def test_scores_on_kinds_give_a_warning(folder):
    rng = np.random.default_rng(0)
    kind = rng.integers(0, 3, 300)
    high = 0.05 + 0.9 * (kind[:, None] == np.arange(9) // 3)
    pd.DataFrame((rng.random((300, 9)) < high).astype(int)).add_prefix("v").to_csv("kinds.csv", index=False)
    fitted = succeed("fit", "kinds.csv", "--out", "kinds", "--method", "lcm", "--states", "3")
    assert "(−)" not in fitted
    assert "(−)" not in Path("kinds/report.txt").read_text()
    words = r"The states of '.*' are kinds of rows, not steps from low to high: read the state, not the score\."
    assert re.search(words, " ".join(fitted.split()))
    printed = succeed("transform", "kinds", "kinds.csv", "--out", "scores.csv")
    assert re.search(rf"^warning: {words}\n\nWritten to scores.csv$", printed, flags=re.MULTILINE)


def test_without_a_file_the_scores_are_printed(folder):
    printed = succeed("transform", "model.json", "data.csv")
    succeed("transform", "model.json", "data.csv", "--out", "scores.csv", "--quiet")
    assert printed == Path("scores.csv").read_text()
    assert succeed("transform", "model.json", "data.csv", "--out", "other.tsv", "--quiet") == ""
    assert Path("other.tsv").read_text().split("\n")[0].startswith("row\t")


def test_parts_of_a_large_file_give_the_same_lines(folder, monkeypatch):
    whole = succeed("transform", "model.json", "data.csv", "--id", "a")
    with monkeypatch.context() as small:
        small.setattr(sources, "BATCH_CELLS", 40)
        assert succeed("transform", "model.json", "data.csv", "--id", "a") == whole
        printed = succeed("transform", "model.json", "data.csv", "--out", "scores.csv")
    assert succeed("transform", "model.json", "data.csv", "--out", "scores.csv", "--force") == printed


def test_rows_keep_their_names_and_their_order(folder):
    data = pd.read_csv("data.csv").assign(person=lambda f: [f"p,{i}" for i in range(len(f))])
    data.to_csv("named.csv", index=False)
    data.to_parquet("named.parquet")
    printed = succeed("transform", "model.json", "named.csv", "--id", "person")
    assert [row[0] for row in cells(printed)] == ["person", *data["person"]]
    assert succeed("transform", "model.json", "named.parquet", "--id", "person") == printed


def test_missing_cells_and_new_rows(folder):
    Path("new.csv").write_text(table().split("\n")[0] + "\n" + ",,,,\n")
    _, row = cells(succeed("transform", "model.json", "new.csv"))
    assert row[-1] in ("0.0000", "-0.0000")
    assert all(row)


def test_a_model_without_groups_gives_the_log_density_alone(folder):
    succeed("fit", "data.csv", "--method", "independent", "--out", "run")
    printed = succeed("transform", "run/model.json", "data.csv")
    assert cells(printed)[0] == ["row", "log-density"]
    assert "0 scores" in succeed("transform", "run/model.json", "data.csv", "--out", "scores.csv")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["model.json", "data.csv", "--id", "person"], "there is no column 'person' that names rows"),
        (["model.json", "empty.csv"], "empty.csv: no rows, only column names"),
        (["model.json", "data.csv", "--out", "scores.csv.gz"], "uncompressed"),
        (["model.json", "data.csv", "--of", "columns"], "'--of'"),
        (["model.json", "absent.csv"], "absent.csv: no such file"),
        (["model.json", "pink.csv"], "'pink'"),
    ],
)
def test_bad_input_is_refused_in_one_line_and_nothing_is_written(folder, options, message):
    Path("empty.csv").write_text(table().split("\n")[0] + "\n")
    pd.read_csv("data.csv").assign(colour="pink").to_csv("pink.csv", index=False)
    before = sorted(path.name for path in Path().iterdir())
    out = [] if "--out" in options else ["--out", "scores.csv"]
    code, printed, error = run("transform", *options, *out)
    assert (code, printed, error.count("\n")) == (2, "", 1)
    assert message in error
    assert sorted(path.name for path in Path().iterdir()) == before
    if out:
        assert run("transform", *options)[1] == ""


def test_reliability_is_that_of_the_fit_by_the_weights_of_rows(weighted_run):
    printed = succeed("transform", "weighted", "weighted.csv", "--out", "scores.csv")
    assert printed.startswith("60 rows, weighted by 'w', ")
    model = LatentTreeModel.load("weighted/model.json")
    plain = {one.name: one.reliability for one in reliability(model, "weighted.csv")}
    assert weighted_run["reliability"]
    for name, figures in weighted_run["reliability"].items():
        assert f"{figures['reliability']:11.2f}" in printed
        assert abs(figures["reliability"] - plain[name]) > 0.005
    # The scores of rows do not depend on weights, and other rows need none.
    pd.read_csv("weighted.csv").drop(columns="w").to_csv("plain.csv", index=False)
    assert succeed("transform", "weighted", "plain.csv", "--out", "others.csv").startswith("60 rows, 1 score each")
    assert Path("others.csv").read_bytes() == Path("scores.csv").read_bytes()
