"""Rows that are like their neighbours: what is dependent, and what is only sorted."""

from itertools import groupby

import numpy as np
import pandas as pd
import pytest

import latree
from helpers.tables import write_frame
from latree.table import Table, as_table
from latree.table.findings import sentences
from latree.table.neighbours import _LAGS, _correlations, _strata, find_dependent_rows
from latree.table.rows import DiskRows


def items(traits, seed=0, n_columns=9):
    """Answers from 0 to 3 of columns that measure traits, which have mean 0 and variance 1."""
    noise = np.random.default_rng([seed, 1]).normal(size=(len(traits), n_columns))
    scores = 0.75 * traits[:, np.arange(n_columns) % traits.shape[1]] + 0.66 * noise
    return np.digitize(scores, [-0.7, 0, 0.7])


def traits(n_rows=1000, seed=0):
    return np.random.default_rng(seed).normal(size=(n_rows, 3))


def series(phi, n_rows=1000, seed=0):
    """Traits of which each row keeps a share of those of the row before."""
    found = traits(n_rows, seed)
    for row in range(1, n_rows):
        found[row] = phi * found[row - 1] + np.sqrt(1 - phi**2) * found[row]
    return found


def warned(data, **how):
    return [one for one in as_table(data, **how).oddities if one.kind == "dependent rows"]


@pytest.mark.parametrize(
    ("what", "made"),
    {
        "each person five times": lambda seed: np.repeat(traits(200, seed), 5, axis=0),
        "classes": lambda seed: 0.7 * np.repeat(traits(40, seed), 25, axis=0) + 0.7 * traits(1000, seed + 50),
        "days": lambda seed: series(0.8, seed=seed),
        "few days": lambda seed: series(0.95, 300, seed),
    }.items(),
)
def test_rows_like_their_neighbours_are_seen(what, made):
    for seed in range(3):
        assert warned(items(made(seed), seed)), (what, seed)


@pytest.mark.parametrize(
    ("what", "made"),
    {
        "independent": items,
        "hardly dependent": lambda rows: items(series(0.3, len(rows))),
        "two columns": lambda rows: items(rows)[:, :2],
        "few rows": lambda rows: items(rows[:50]),
        "equal rows that are no neighbours": lambda rows: np.tile(items(rows[:300]), (4, 1)),
        "sorted by a column": lambda rows: items(rows)[np.argsort(items(rows)[:, 4], kind="stable")],
        "sorted by three columns": lambda rows: items(rows)[np.lexsort(items(rows)[:, :3].T)],
        "sorted by all columns": lambda rows: items(rows)[np.lexsort(items(rows).T)],
        "sorted by a sum": lambda rows: items(rows)[np.argsort(items(rows).sum(axis=1), kind="stable")],
        "sorted by kinds that are not there": lambda rows: items(rows + np.repeat([[0], [4]], 500, axis=0)),
        "only missing cells are alike": lambda rows: np.where(
            np.repeat(np.random.default_rng(2).random((200, 9)) < 0.4, 5, axis=0), np.nan, items(rows)
        ),
        "rare": lambda rows: (np.abs(rows) > 2.8).astype(int),
    }.items(),
)
def test_independent_rows_are_not(what, made):
    for seed in range(3):
        assert not warned(made(traits(seed=seed))), (what, seed)


def test_what_is_said():
    data = pd.DataFrame(items(np.repeat(traits(200), 5, axis=0))).add_prefix("q")
    said = (
        "Rows are like their neighbours: the correlation of a row with the next is 0.54, and would be 0 if rows were "
        "independent. If the table is only sorted, nothing is wrong. Otherwise 1000 rows say no more than about 490 "
        "independent ones, and support, stability and the gain on new rows are too high: keep one row per person, "
        "household or class; of a time series, take changes instead of levels, or rows that are far apart."
    )
    assert sentences(warned(data)) == [said]
    assert sentences(latree.check(data).findings) == [said]


def test_some_columns_of_a_wide_table_are_looked_at(monkeypatch):
    monkeypatch.setattr("latree.table.neighbours._MAX_COLUMNS", 3)
    data = items(series(0.95), n_columns=40)
    data[:, 1:-1] = np.random.default_rng(1).integers(0, 4, (1000, 38))
    assert warned(data)
    data[:, [0, -1]] = 0
    data[:, 1] = items(series(0.95), n_columns=1)[:, 0]
    assert not warned(data)


def test_a_fit_warns_and_its_model_remembers(tmp_path):
    data = pd.DataFrame(items(series(0.95, 600), n_columns=4)).add_prefix("q")
    with pytest.warns(latree.FitWarning, match="Rows are like their neighbours"):
        latree.LatentTree(method="chow-liu", random_state=0).fit(data).save(tmp_path / "model.json")
    (said,) = sentences(warned(data))
    assert said in latree.LatentTree.load(tmp_path / "model.json").summary_["warnings"]


def test_the_lag_with_the_largest_correlation_is_named():
    first, second = (items(series(0.95, 500, seed), seed) for seed in (1, 2))
    (found,) = warned(np.stack([first, second], axis=1).reshape(1000, -1))
    assert "the correlation of a row with the row 2 below it is" in found.what


def test_rows_with_counts_have_no_neighbours():
    data = pd.DataFrame(items(series(0.9))).add_prefix("q").assign(w=np.arange(1000) % 3 + 1)
    assert not warned(data, weights="w")
    assert warned(data, weights="w", weights_are="survey")
    assert [one.kind for one in latree.check(data, weights="w", weights_are="survey").findings] == ["dependent rows"]
    assert not latree.check(data, weights="w").findings


def test_stretches_of_a_large_table_are_looked_at(all_on_disk, tmp_path, monkeypatch):
    data = pd.DataFrame(items(series(0.9, 5000))).add_prefix("q")
    table = as_table(write_frame(data, tmp_path / "data.parquet"))
    assert isinstance(table.rows, DiskRows)
    whole = as_table(data)
    monkeypatch.setattr("latree.table.neighbours._MAX_CELLS", 0)
    (found,) = find_dependent_rows(table.columns, table.rows)
    assert [found] == list(find_dependent_rows(whole.columns, whole.rows))
    assert "5000 rows say no more than" in found.what
    monkeypatch.undo()
    assert [found] != list(find_dependent_rows(whole.columns, whole.rows))


def naive_strata(codes, strata):
    """Divide strata by each column of which every stratum has every value in one run, until there is none."""
    for j in range(codes.shape[1]):
        pairs = list(zip(strata, codes[:, j].tolist(), strict=True))
        runs = [pair for pair, _ in groupby(pairs)]
        if len(runs) == len(set(runs)) > len(set(strata)):
            numbers = {pair: number for number, pair in enumerate(runs)}
            return naive_strata(codes, [numbers[pair] for pair in pairs])
    return strata


def test_strata_are_parts_of_what_a_table_is_sorted_by():
    rng = np.random.default_rng(0)
    for order in ([], [2], [0, 3], [3, 1, 0, 2, 4]):
        codes = rng.integers(0, [2, 3, 2, 4, 2], (240, 5))
        codes = codes[np.lexsort(codes[:, order[::-1]].T)] if order else codes
        table = Table.from_codes(as_table(codes).columns, codes)
        start = np.arange(240) // 120
        found = _strata(table.rows.codes, table.columns, start).tolist()
        assert found == naive_strata(codes, start.tolist())
        assert len(set(found)) > 2 or not order


def test_the_bound_holds_for_all_signs():
    """Signs of differences are fair coins if rows are independent: the bound is above the share of coins."""
    rng = np.random.default_rng(0)
    differences = rng.standard_t(2, size=(1, 30, 2)).astype(np.float32)  # with large ones
    coins = rng.choice([-1, 1], size=(1500, 1, 30, 1)).astype(np.float32)
    p = np.array([_correlations(differences * signs)[1] for signs in coins])
    for level in (0.5, 0.1, 0.02):
        assert np.mean(p <= level) <= level


def test_correlations_are_those_of_the_differences_along_their_common_directions():
    differences = np.random.default_rng(0).normal(size=(3, 30, 4)).astype(np.float32).cumsum(axis=1)
    covariance = sum(np.outer(one, one) for stretch in differences for one in stretch)
    found, p = _correlations(differences)
    bounds = []
    for lag, correlation in zip(_LAGS, found, strict=True):
        pairs = [(s[t], s[t + lag]) for s in differences for t in range(30 - lag)]
        products = np.array([a @ covariance @ b for a, b in pairs])
        bounds.append(np.exp(-(products.sum() ** 2) / (2 * products @ products)) if products.sum() > 0 else 1)
        own = sum(a @ covariance @ a + b @ covariance @ b for a, b in pairs) / 2
        assert correlation == pytest.approx(max(products.sum() / own, 0), rel=1e-4)
    assert p == pytest.approx(len(_LAGS) * min(bounds), rel=1e-3)
