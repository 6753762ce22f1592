"""How many bins the rows call for, and what settings say about a column."""

import numpy as np
import pandas as pd
import pytest

import latree
from helpers.tables import assert_error, keep_all_on_disk, write_frame
from latree.table import as_table
from latree.table.binning import _PRIOR, _gains
from latree.table.cuts import cut_points


def n_bins(columns, **options):
    return [column.n_states for column in as_table(pd.DataFrame(columns), **options).columns]


def naive_gain(codes, other, n_states):
    """What one column says about another: each row is predicted from the other rows, with and without it."""
    total = 0.0
    for row in range(len(codes)):
        rest = np.delete(np.arange(len(codes)), row)
        for sign, same in ((1, rest[other[rest] == other[row]]), (-1, rest)):
            share = (np.count_nonzero(codes[same] == codes[row]) + _PRIOR) / (len(same) + _PRIOR * n_states)
            total += sign * np.log(share)
    return total


@pytest.mark.parametrize("seed", range(3))
def test_a_gain_is_what_leaving_rows_out_says(seed):
    rng = np.random.default_rng(seed)
    other = rng.integers(0, 6, 60)
    codes = (other + rng.integers(0, 3, 60)) % 6
    ways, other_ways = [codes, codes // 2], [other, other // 3]
    tables = [[np.zeros((way.max() + 1, one.max() + 1)) for one in other_ways] for way in ways]
    for way, row in zip(ways, tables, strict=True):
        for one, table in zip(other_ways, row, strict=True):
            np.add.at(table, (way, one), 1)
    first, first_other = np.array([0, 6]), np.array([0, 6])
    expected = [[naive_gain(way, one, way.max() + 1) for one in other_ways] for way in ways]
    np.testing.assert_allclose(_gains(np.block(tables), first, first_other), expected, atol=1e-9)


def correlated(n_rows, r, n_columns=4, seed=0):
    rng = np.random.default_rng(seed)
    common = rng.normal(size=(n_rows, 1))
    x = np.sqrt(r) * common + np.sqrt(1 - r) * rng.normal(size=(n_rows, n_columns))
    return {f"x{j}": x[:, j] for j in range(n_columns)}


def test_more_rows_and_more_dependence_call_for_more_bins():
    few, many, strong = (np.mean(n_bins(correlated(*how))) for how in ((100, 0.5), (3000, 0.5), (3000, 0.95)))
    assert 3 <= few < many < strong
    assert n_bins(correlated(500, 0.0)) == [3] * 4


@pytest.mark.parametrize("seed", range(3))
def test_any_increasing_function_has_the_same_bins(seed):
    rows = correlated(400, 0.7, seed=seed)
    changed = {name: np.exp(3 * cells) if j % 2 else cells**3 for j, (name, cells) in enumerate(rows.items())}
    assert as_table(pd.DataFrame(rows)).codes().tolist() == as_table(pd.DataFrame(changed)).codes().tolist()


def test_columns_share_a_number_of_bins_unless_one_clearly_needs_another():
    alike = n_bins(correlated(800, 0.8, n_columns=6))
    assert len(set(alike)) == 1
    rng = np.random.default_rng(0)
    curve = rng.random(3000)
    waves = {"curve": curve, "square": np.floor(curve * 12) % 2 + rng.normal(size=3000) / 9}
    *common, curve_bins, _ = n_bins({**correlated(3000, 0.5, n_columns=16), **waves})
    assert len(set(common)) == 1
    assert curve_bins > 1.5 * common[0]


def test_a_number_that_many_rows_share_is_a_bin_of_its_own():
    rng = np.random.default_rng(0)
    cells = np.where(rng.random(900) < 0.15, 0.0, rng.normal(size=900))
    for bins in (3, 7):
        (column,) = as_table(cells[:, None], bins=bins).columns
        codes = as_table(cells[:, None], bins=bins).codes()[:, 0]
        zero = codes[cells == 0][0]
        assert set(cells[codes == zero]) == {0.0}
        assert column.n_states == bins
    two = cut_points(np.array([0.0, 1.0, 2.0, 3.0]), np.array([50.0, 1.0, 1.0, 50.0]), 3)
    assert two.tolist() == [0.5, 2.5]


def test_bins_are_chosen_alike_on_disk(tmp_path, monkeypatch):
    frame = pd.DataFrame(correlated(600, 0.8))
    expected = as_table(frame.round(3))
    path = write_frame(frame.round(3), tmp_path / "a.parquet")
    keep_all_on_disk(monkeypatch)
    assert as_table(path).columns == expected.columns


def test_rows_of_a_weight_count_so_often():
    frame = pd.DataFrame(correlated(300, 0.8))
    weights = np.arange(300) % 3
    repeated = frame.loc[np.repeat(np.arange(300), weights)]
    assert as_table(frame, weights=weights).columns == as_table(repeated).columns


def test_of_wide_tables_some_columns_are_searched(monkeypatch):
    rng = np.random.default_rng(0)
    wide = np.repeat(rng.normal(size=(300, 12)), 8, axis=1) + rng.normal(size=(300, 96)) / 4
    monkeypatch.setattr("latree.table.binning._SEARCHED", 48)
    monkeypatch.setattr("latree.table.binning._AT_ONCE", 10)
    found = [column.n_states for column in as_table(wide).columns]
    assert min(found) > 3  # every column finds others of its group among those that are searched


CELLS = {"age": [20, 30, 40] * 10, "zip": [1, 2, 3.5] * 10, "word": ["lo", "hi", "lo"] * 10, "q": ["1", "2", "?"] * 10}


def test_settings_say_what_a_column_is():
    kinds = {"age": "number", "zip": "category", "word": ["lo", "hi"]}
    age, zip_code, word, _ = as_table(pd.DataFrame(CELLS), kinds=kinds).columns
    assert (age.kind, age.n_states, age.density is not None) == ("integer", 3, True)
    assert (zip_code.categories, zip_code.ordered, zip_code.density) == (("1", "2", "3.5"), False, None)
    assert (word.categories, word.ordered) == (("lo", "hi"), True)
    years = pd.DataFrame({"year": range(1990, 2020), "a": [1, 2, 3] * 10})
    assert as_table(years).columns[0].density is not None
    ordered, _ = as_table(years, kinds={"year": "ordered"}).columns
    assert (ordered.n_states, ordered.ordered, ordered.density) == (30, True, None)
    grades = pd.DataFrame({"grade": pd.Categorical([10, 20, 30] * 10), "a": [1, 2, 3] * 10})
    assert not as_table(grades).columns[0].ordered
    assert as_table(grades, kinds={"grade": "number"}).columns[0].density is not None
    assert as_table(grades, kinds={"grade": "ordered"}).columns[0].categories == ("10", "20", "30")


def test_bad_kinds_are_refused_in_one_line():
    frame = pd.DataFrame(CELLS)
    assert_error(frame, "column 'q' is to be a number, but has '?'", "missing_also=['?']", kinds={"q": "number"})
    assert_error(frame, "column 'word' holds texts, such as 'hi'", "kinds={'word': [", kinds={"word": "ordered"})
    assert_error(frame, "no column 'ages' named in kinds: did you mean 'age'?", kinds={"ages": "number"})
    with pytest.raises(latree.InputError, match="the kind of column 'age' is 'numbr': did you mean 'number'"):
        latree.Reading(kinds={"age": "numbr"})
    with pytest.raises(latree.InputError, match="two or more different values"):
        latree.Reading(kinds={"word": ["lo", "lo"]})
