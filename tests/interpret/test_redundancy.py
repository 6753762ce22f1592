"""Redundant pairs of columns: simulated ones are found, chance and weak models make none."""

from dataclasses import replace

import numpy as np
import pytest

from helpers.models import copying_model, grouped_model, star, table_of
from helpers.report import Page
from latree.facts.text import summary_lines
from latree.interpret.columns import redundant_columns
from latree.interpret.groups import with_groups
from latree.learn import learn_model
from latree.report.notebook import notebook_html
from latree.report.render import report_html
from latree.settings import Settings
from latree.table import Column

MODEL = with_groups(grouped_model(sizes=(5, 6), strength=0.6))


def rows_of(n_rows, seed, copied=0.0):
    """Rows in which the column x01 copies x00 with a probability, beside what the group has in common."""
    codes = MODEL.sample(n_rows, seed).codes()
    codes[:, 1] = np.where(np.random.default_rng(seed).random(n_rows) < copied, codes[:, 0], codes[:, 1])
    return table_of(MODEL, codes)


def naive_strength(model, table, first, second):
    """The residual correlation of two columns given the hidden variable of the first group, by plain loops."""
    codes, hidden = table.codes(), model.tree.n_observed
    counts = np.zeros((4, 4))
    for row in codes:
        counts[row[first], row[second]] += 1
    m = counts.sum()
    observed = counts / m
    given = [model.joint([column, hidden]) / model.joint([hidden]) for column in (first, second)]
    expected = np.zeros((4, 4))
    for x, y in np.ndindex(4, 4):
        expected[x, y] = (model.joint([hidden]) * given[0][x] * given[1][y]).sum()
    for _ in range(200):
        expected *= (observed.sum(axis=1) / expected.sum(axis=1))[:, None]
        expected *= observed.sum(axis=0) / expected.sum(axis=0)
    information = sum(o * np.log(o / e) for o, e in zip(observed.ravel(), expected.ravel(), strict=True) if o > 0)
    return np.sqrt(1 - np.exp(-2 * max(information - 9 / (2 * m), 0)))


def test_a_pair_that_copies_each_other_is_found_with_its_strength():
    table = rows_of(3000, 0, copied=0.5)
    (pair,) = redundant_columns(MODEL, table)
    assert pair.columns == ("x00", "x01")
    assert pair.group == MODEL.groups[1].name
    assert pair.strength == pytest.approx(naive_strength(MODEL, table, 0, 1), abs=1e-6)
    assert pair.strength > 0.4


@pytest.mark.parametrize("n_rows", [60, 300, 3000])
def test_columns_that_share_only_their_hidden_variable_are_not(n_rows):
    assert [pair for seed in range(20) for pair in redundant_columns(MODEL, rows_of(n_rows, seed))] == []


def test_weak_residual_dependence_is_not_redundancy():
    """The least strength is 0.3."""
    for copied, low, high in ((0.22, 0.25, 0.3), (0.28, 0.3, 0.35)):
        table = rows_of(5000, 1, copied)
        assert low < naive_strength(MODEL, table, 0, 1) < high
        assert len(redundant_columns(MODEL, table)) == (low >= 0.3)


def test_strength_that_may_be_chance_is_not_redundancy(monkeypatch):
    model = with_groups(grouped_model(sizes=(5, 6), column_states=2, hidden_states=2))
    tables = [model.sample(25, seed) for seed in range(40)]
    assert [pair for table in tables for pair in redundant_columns(model, table)] == []
    monkeypatch.setattr("latree.interpret.columns._SIGNIFICANCE", np.inf)
    assert [pair for table in tables for pair in redundant_columns(model, table)] != []


def test_a_hidden_variable_with_too_few_states_makes_no_redundancy(monkeypatch):
    """All pairs of a group are then more dependent than it explains: only those that stand out are redundant."""
    true = copying_model(star(6), lambda u, v: 0.5 + 0.08 * min(u, v), [3] * 7)
    codes = true.sample(3000, 0).codes()
    table = table_of(true, codes)
    weak = learn_model(table, Settings("lcm", n_states=2, random_state=0)).model
    assert redundant_columns(weak, table) == []
    monkeypatch.setattr("latree.interpret.columns._MIN_ABOVE_TYPICAL", 0.15)
    assert len(redundant_columns(weak, table)) == 1
    monkeypatch.setattr("latree.interpret.columns._MIN_ABOVE_TYPICAL", 0)
    assert len(redundant_columns(weak, table)) > 5


def test_less_dependence_than_expected_is_not_redundancy():
    codes = rows_of(3000, 0).codes()
    codes[:, 1] = np.random.default_rng(0).permutation(codes[:, 1])
    table = table_of(MODEL, codes)
    strong = with_groups(grouped_model(sizes=(5, 6), strength=0.8))
    assert naive_strength(strong, table, 0, 1) > 0.3
    assert not any("x01" in pair.columns for pair in redundant_columns(strong, table))


def test_weights_count_as_rows():
    codes = rows_of(1500, 0, copied=0.5).codes()
    weights = np.random.default_rng(1).integers(1, 3, len(codes)).astype(float)
    once = redundant_columns(MODEL, table_of(MODEL, codes, weights))
    repeated = redundant_columns(MODEL, table_of(MODEL, np.repeat(codes, weights.astype(int), axis=0)))
    assert [pair.columns for pair in once] == [pair.columns for pair in repeated] == [("x00", "x01")]
    assert once[0].strength == pytest.approx(repeated[0].strength)


def test_missing_cells_are_left_out():
    codes = rows_of(4000, 0, copied=0.5).codes()
    codes[::3, 0] = -1
    codes[1::4, 1] = -1
    kept = codes[(codes[:, :2] >= 0).all(axis=1)]
    (pair,) = redundant_columns(MODEL, table_of(MODEL, codes))
    assert pair.strength == pytest.approx(naive_strength(MODEL, table_of(MODEL, kept), 0, 1), abs=1e-6)


def test_large_tables_are_sampled(monkeypatch):
    table = rows_of(3000, 0, copied=0.5)
    monkeypatch.setattr("latree.interpret.columns.MAX_ROWS", 1000)
    (pair,) = redundant_columns(MODEL, table)
    assert pair.strength == pytest.approx(naive_strength(MODEL, table.subsample(1000, 0), 0, 1), abs=1e-6)


def test_pairs_and_columns_with_very_many_states_are_left_out():
    two = with_groups(grouped_model(sizes=(2, 2), strength=0.9, between=0.2))
    assert redundant_columns(two, two.sample(2000, 0)) == []
    wide = tuple(replace(c, categories=tuple(map(str, range(65)))) for c in MODEL.columns)
    tables = tuple(np.vstack([t, np.zeros((61, t.shape[1]))]) if j < 11 else t for j, t in enumerate(MODEL.tables))
    assert all(isinstance(column, Column) for column in wide)
    model = replace(MODEL, columns=wide, tables=tables)
    assert redundant_columns(model, table_of(model, rows_of(500, 0, copied=0.9).codes())) == []


def test_the_summary_and_reports_name_redundant_columns():
    table = rows_of(1500, 0, copied=0.7)
    learned = learn_model(table, Settings(random_state=0))
    (pair,) = learned.summary["redundant_columns"]
    assert pair["columns"] == ["x00", "x01"]
    (line,) = [line for line in summary_lines(learned.summary) if line.startswith("Possibly redundant")]
    assert line == (
        f"Possibly redundant: x00 and x01 still correlate {pair['strength']:.2f} after their group is taken into "
        "account."
    )
    assert line in notebook_html(learned.model, None)
    assert " ".join(line.split()) in " ".join(learned.report().split())
    page = " ".join(Page(report_html(learned.model)).text.split())
    strength = f"{pair['strength']:.2f}"
    assert "Possibly redundant: this pair of columns still correlates after the group is taken into account" in page
    assert f"account: x00 and x01 ({strength})." in page
    many = [{"columns": ("a", "b"), "strength": 0.5}] * 8
    lines = summary_lines({**learned.summary, "redundant_columns": many})
    start = "Possibly redundant, as they still correlate after their group is taken into account: a and b (0.50), "
    assert sum(line.startswith(start) and line.endswith(", and 3 more pairs.") for line in lines) == 1
    assert not any("redundant" in line for line in summary_lines({**learned.summary, "redundant_columns": []}))
