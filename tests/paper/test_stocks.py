"""The experiment on stocks: prices, halves, purity."""

import re
import sys
from types import SimpleNamespace
from unittest import mock

import numpy as np
import pandas as pd
import pytest

from helpers.cli import invoke
from helpers.paper import write_prices
from latree.errors import InputError
from latree.paper import stocks
from latree.paper.simulate import random_tree
from latree.tree import Tree


def test_purity_of_a_perfect_tree_is_one_and_hard_to_get_by_chance():
    tree = Tree.from_newick("(((a,b),c),((d,e),f),((g,h),i));")
    groups = dict(zip("abcdefghi", ["x"] * 3 + ["y"] * 3 + ["z"] * 3, strict=True))
    found = stocks.purity(tree, [groups[name] for name in tree.names], permutations=200)
    assert found.score == 1
    assert found.groups == {"x": 1, "y": 1, "z": 1}
    assert found.p_value < 0.05
    mixed = stocks.purity(tree, [str(i % 3) for i in range(9)], permutations=200)
    assert mixed.score < 0.8
    assert mixed.p_value > 0.05
    partly = stocks.purity(tree, ["x" if name in "abc" else "" for name in tree.names], permutations=50)
    assert partly.groups == {"x": 1}


def test_purity_equals_a_naive_search():
    tree = random_tree(9, 0.4, 2)
    groups = ["x", "y", "x", "z", "y", "x", "z", "z", "y"]
    found = stocks.purity(tree, groups, permutations=1)
    for name, score in found.groups.items():
        members = {leaf for leaf, group in enumerate(groups) if group == name}
        best = 0.0
        for split in tree.splits:
            inside = {leaf for leaf in range(9) if split.side >> leaf & 1}
            for side in (inside, set(range(9)) - inside):
                best = max(best, 2 * len(side & members) / (len(side) + len(members)))
        assert score == pytest.approx(best)


@pytest.mark.parametrize(
    ("line", "message"),
    [("day1,1,2,x,4\n", "'x' is not a price"), ("day1,1,2,-3,4\n", "above 0")],
)
def test_bad_prices_are_named(tmp_path, line, message):
    path = tmp_path / "p.csv"
    path.write_text("date,A,B,C,D\nday0,1,2,3,4\n" + line + "day2,1,2,3,4\nday3,2,2,3,4\n")
    result = invoke("reproduce", "stocks", "--prices", path, "--out", tmp_path / "run")
    assert isinstance(result.exception, InputError)
    assert message in str(result.exception)
    assert not (tmp_path / "run").exists()


def test_all_learners_of_the_stocks_see_the_same_halves(tmp_path):
    path = write_prices(tmp_path)
    cells = {cell.name: cell for cell in stocks.cells(path, quick=True, seed=3)}
    arguments = cells["chow-liu-kown-half1"].arguments
    one, other = (stocks.run_cell(np.random.default_rng(seed), **arguments) for seed in (0, 1))
    assert one == other  # chow-liu has nothing random but its half
    full = stocks.cells(path, quick=False, seed=0)
    names = [cell.name for cell in full]
    assert len(set(names)) == len(names)
    assert {cell.arguments["half"] for cell in full} == set(range(10))


def fake_yfinance(monkeypatch, download):
    monkeypatch.setitem(sys.modules, "skfolio.datasets", None)
    monkeypatch.setitem(sys.modules, "yfinance", SimpleNamespace(download=download))


def test_prices_are_downloaded_once_where_none_are_at_hand(tmp_path, monkeypatch):
    asked = []

    def download(tickers, start, end, **options):
        asked.append((tickers.split(), start, end))
        days = pd.date_range("2000-01-03", periods=90, name="Date")
        values = 100 * np.cumprod(1 + np.random.default_rng(0).normal(0, 0.02, (90, 60)), axis=0)
        values[:, 2], values[:40, 3] = np.nan, np.nan  # one that is no longer known, one that came later
        return pd.concat({"Close": pd.DataFrame(values, days, tickers.split())}, axis="columns")

    fake_yfinance(monkeypatch, download)
    command = ("reproduce", "stocks", "--quick", "--workers", 1, "--out", tmp_path / "run")
    result = invoke(*command)
    assert result.exit_code == 0, result.exception
    ((tickers, *period),) = asked
    assert len(set(tickers)) == 60
    assert {"CVX", "MRK", "IBM", "WMT", "DUK", "JPM"} < set(tickers)
    assert period == ["1984-01-01", "2011-01-01"]
    header = (tmp_path / "run" / "stocks-prices.csv").read_text().splitlines()[0].split(",")
    assert header == ["date", *tickers[:2], *tickers[3:]]
    again = invoke(*command)
    assert again.exit_code == 0
    assert len(asked) == 1


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (OSError("no route to host"), "could not download prices .*no route to host.*--prices"),
        (pd.DataFrame({("Close", "AA"): []}), "found no prices.*--prices"),
        (pd.DataFrame(), "could not download prices.*--prices"),
    ],
)
def test_a_failed_download_is_told_in_one_line(tmp_path, monkeypatch, answer, message):
    fake_yfinance(monkeypatch, mock.Mock(side_effect=[answer]))
    result = invoke("reproduce", "stocks", "--quick", "--out", tmp_path / "run")
    assert isinstance(result.exception, InputError)
    assert re.fullmatch(f"[^\n]*{message}[^\n]*", str(result.exception))
    assert not (tmp_path / "run").exists()


def test_without_prices_both_ways_to_get_some_are_named(tmp_path, monkeypatch):
    for module in ("skfolio.datasets", "yfinance"):
        monkeypatch.setitem(sys.modules, module, None)
    result = invoke("reproduce", "stocks", "--quick", "--out", tmp_path / "run")
    assert isinstance(result.exception, InputError)
    assert all(way in str(result.exception) for way in ("--prices", "skfolio", "yfinance"))
