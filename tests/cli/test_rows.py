"""The commands score and sample."""

import io
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from helpers.cli import succeed
from helpers.csv import HEADER, parse, with_cell
from latree.model import LatentTreeModel

pytestmark = pytest.mark.usefixtures("folder")


@pytest.mark.parametrize("options", [[], ["--unseen", "missing"]])
def test_score_is_that_of_python(options):
    Path("new.csv").write_text(with_cell("colour", "pink" if options else "", range(5)))
    scored = json.loads(succeed("score", "model.json", "new.csv", "--json", *options))
    model = LatentTreeModel.load("model.json")
    table = model.encode("new.csv", unseen="missing")
    total, of_bins = model.log_density(table), model.log_likelihood(table)
    weighting = {"weights": None, "effective_rows": 60}
    density = {"log_density": total, "mean_log_density": total / 60}
    likelihood = {"log_likelihood": of_bins, "mean_log_likelihood": of_bins / 60}
    assert scored == {"rows": 60, **weighting, **density, **likelihood}
    printed = succeed("score", "model.json", "new.csv", *options)
    assert f"log density          {total:.4f} nats" in printed
    assert f"log-likelihood       {of_bins:.4f} nats (numbers count as their bins)" in printed
    assert f"mean per cell        {total / (60 * 5 - 5):.6f} nats" in printed  # five cells are missing


def test_rows_count_by_their_weights(weighted_run):
    weights = pd.read_csv("weighted.csv")["w"].to_numpy()
    rows = LatentTreeModel.load("weighted/model.json").log_density_rows("weighted.csv")
    scored = json.loads(succeed("score", "weighted", "weighted.csv", "--json"))
    assert scored["weights"] == "w"
    assert scored["mean_log_density"] == pytest.approx(np.average(rows, weights=weights), rel=1e-6)
    assert scored["log_likelihood"] == pytest.approx(weighted_run["log_likelihood"], rel=1e-12)
    printed = succeed("score", "weighted", "weighted.csv")
    assert f"60, which count as {weighted_run['weights']['effective_rows']:.1f} by the weights of 'w'\n" in printed
    assert f"mean per cell        {scored['mean_log_density'] / 5:.6f} nats" in printed  # no cell is missing
    # Other rows need no weights; and others may be given.
    pd.read_csv("weighted.csv").assign(v=np.arange(60) % 2).drop(columns="w").to_csv("new.csv", index=False)
    for options, mean in (((), rows.mean()), (("--weights", "v"), rows[1::2].mean())):
        scored = json.loads(succeed("score", "weighted", "new.csv", "--json", *options))
        assert scored["mean_log_density"] == pytest.approx(mean, rel=1e-12)


def test_columns_without_a_single_value_are_summed_out():
    Path("empty.csv").write_text(with_cell("size", "", range(60)))
    assert json.loads(succeed("score", "model.json", "empty.csv", "--json"))["rows"] == 60


def test_an_impossible_row_can_be_scored():
    plain = json.loads(Path("model.json").read_text())
    plain["tables"][0] = [[1.0] * len(row) if i == 0 else [0.0] * len(row) for i, row in enumerate(plain["tables"][0])]
    Path("sure.json").write_text(json.dumps(plain))
    assert "-inf" in succeed("score", "sure.json", "data.csv")
    assert json.loads(succeed("score", "sure.json", "data.csv", "--json"))["rows"] == 60


def test_samples_are_seeded_and_readable_again():
    printed = succeed("sample", "model.json", "--rows", 30, "--seed", 3)
    assert (
        succeed("sample", "model.json", "--rows", 30, "--seed", 3, "--out", "new.csv")
        == "Written to new.csv: 30 rows\n"
    )
    assert Path("new.csv").read_text() == printed
    assert parse(printed)[0] == HEADER
    assert succeed("sample", "model.json", "--rows", 30) != printed
    model = LatentTreeModel.load("model.json")
    np.testing.assert_array_equal(model.encode("new.csv").codes(), model.sample(30, 3).codes())
    succeed("sample", "model.json", "--rows", 30, "--seed", 3, "--out", "new.tsv")
    assert Path("new.tsv").read_text() == printed.replace(",", "\t")


def test_rows_are_drawn_with_numbers_inside_bins():
    Path("numbers.csv").write_text(with_cell("size", "", range(20)))
    succeed("fit", "numbers.csv", "--out", "run", "--states", 2)
    drawn = [pd.read_csv(io.StringIO(succeed("sample", "run", "--rows", 500, *more))) for more in ([], ["--seed", 1])]
    for rows in drawn:
        assert rows["size"].nunique() > 40
        np.testing.assert_allclose(rows["size"], rows["size"].round(2), atol=1e-12)  # the decimals of the data
        assert not rows["size"].isna().any()
    assert not drawn[0].equals(drawn[1])
    assert succeed("sample", "run", "--seed", 1) == succeed("sample", "run", "--seed", 1)
    holed = pd.read_csv(io.StringIO(succeed("sample", "run", "--rows", 500, "--missing", "--seed", 1)))
    assert 0.2 < holed["size"].isna().mean() < 0.5  # a third of the column is missing
    assert holed["colour"].notna().all()
