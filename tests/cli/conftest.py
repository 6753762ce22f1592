"""A folder with data and a model, for tests of commands."""

import io
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from helpers.cli import succeed
from helpers.csv import table


@pytest.fixture(scope="session")
def fitted(tmp_path_factory):
    """Return the bytes of a fitted model and its tree."""
    folder = tmp_path_factory.mktemp("fitted")
    (folder / "data.csv").write_text(table())
    succeed("fit", folder / "data.csv", "--out", folder / "run", "--states", 2)
    return {name: (folder / "run" / name).read_bytes() for name in ("model.json", "tree.nwk")}


@pytest.fixture
def folder(tmp_path, monkeypatch, fitted):
    """Work in a folder with data.csv, and the model.json and tree.nwk that were learned from it."""
    monkeypatch.chdir(tmp_path)
    Path("data.csv").write_text(table())
    for name, content in fitted.items():
        Path(name).write_bytes(content)


@pytest.fixture
def weighted_run(folder):
    """Fit weighted.csv, which has weights of a survey in its column w, to the folder weighted; return the summary."""
    weights = np.random.default_rng(0).uniform(20, 900, 60).round(2)
    pd.read_csv(io.StringIO(table())).assign(w=weights).to_csv("weighted.csv", index=False)
    succeed("fit", "weighted.csv", "--out", "weighted", "--states", 2, "--weights", "w")
    return json.loads(Path("weighted/summary.json").read_text())
