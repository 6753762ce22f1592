"""All experiments as a user runs them."""

import csv
import json
import subprocess
import sys
from pathlib import Path

import pytest

from helpers.cli import invoke
from helpers.paper import easy_model, write_prices
from latree.errors import InputError


def test_sectors_of_other_stocks_are_refused_before_the_work(tmp_path):
    path = write_prices(tmp_path)
    (tmp_path / "other.csv").write_text("ticker,sector\nZZZ,Energy\n")
    result = invoke(
        "reproduce", "stocks", "--prices", path, "--sectors", tmp_path / "other.csv", "--out", tmp_path / "run"
    )
    assert "'ZZZ'" in str(result.exception)
    assert not (tmp_path / "run").exists()


def test_a_quick_run_of_everything(tmp_path):
    """As a user would run it; a second run takes nothing from scratch and gives the same bytes."""
    path, out = write_prices(tmp_path), tmp_path / "run"
    command = [sys.executable, "-m", "latree", "reproduce", "all", "--quick", "--out", str(out)]
    command += ["--prices", str(path), "--sectors", str(tmp_path / "sectors.csv")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    names = ["quartets", "trees-independent", "trees-identity", "stocks"]
    made = [out / f"{name}.{kind}" for name in names for kind in ("csv", "svg", "png")]
    listed = [Path(line.strip()) for line in done.stdout.splitlines()[1:]]
    assert set(made) < set(listed)
    assert all(file.stat().st_size > 0 for file in listed)
    before = {file: file.read_bytes() for file in listed}
    assert json.loads((out / "stocks-purity.json").read_text())["score"] > 0.8
    with (out / "stocks.csv").open() as stream:
        rows = list(csv.DictReader(stream))
    assert {row["method"] for row in rows} == {"tensor", "nj", "chow-liu"}
    for row in rows:
        assert float(row["paper_unit"]) == pytest.approx(float(row["nats_per_cell"]) * 59 * 3400 / 1e5, rel=1e-4)
    again = subprocess.run(command, capture_output=True, text=True, check=False)
    assert again.returncode == 0, again.stderr
    assert {file: file.read_bytes() for file in listed} == before


def test_a_run_never_mixes_two_files_of_prices(tmp_path):
    out = tmp_path / "run"
    command = ("reproduce", "stocks", "--quick", "--workers", 1, "--out", out, "--prices")
    assert invoke(*command, write_prices(tmp_path)).exit_code == 0
    assert invoke(*command, write_prices(tmp_path)).exit_code == 0
    before = {path: path.read_bytes() for path in out.rglob("*") if path.is_file()}
    result = invoke(*command, write_prices(tmp_path, "other.csv", days=120))
    assert isinstance(result.exception, InputError)
    assert "whose prices is" in str(result.exception)
    assert {path: path.read_bytes() for path in out.rglob("*") if path.is_file()} == before


def test_without_matplotlib_the_numbers_are_written(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    path, out = write_prices(tmp_path), tmp_path / "run"
    command = ("reproduce", "stocks", "--quick", "--workers", 1, "--out", out, "--prices", path)
    result = invoke(*command, "--sectors", tmp_path / "sectors.csv")
    assert result.exit_code == 0, result.exception
    assert {path.name for path in out.glob("stocks*.*")} == {
        "stocks.csv",
        "stocks.nwk",
        "stocks.svg",
        "stocks-purity.json",
    }
    assert ".png" not in result.stdout
    assert result.stderr.count("\n") == 1
    assert "pip install matplotlib" in result.stderr
    easy_model().save(tmp_path / "model.json")
    arguments = ["power", tmp_path / "model.json", "--repeats", 1, "--target", 0.1]
    result = invoke(*arguments, "--out", tmp_path / "curve")
    assert [file.name for file in (tmp_path / "curve").iterdir()] == ["power.csv"]
    assert "curve: power.csv\n" in result.stdout
    assert "pip install matplotlib" in result.stderr
    assert invoke(*arguments).stderr == ""
