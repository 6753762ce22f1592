"""compare_tables: tables of any form, errors, and what is printed and written."""

import json
import re

import numpy as np
import pandas as pd
import polars as pl
import pytest

import latree
from latree._util.files import to_json


def people(n, seed):
    rng = np.random.default_rng(seed)
    tall = rng.random(n) < 0.5
    frame = pd.DataFrame(
        {
            "height": np.round(rng.normal(165 + 12 * tall, 6), 1),
            "sex": np.where(tall, "male", "female"),
            "children": rng.poisson(1.5, n),
            "smokes": rng.random(n) < 0.3,
        }
    )
    return frame.mask(rng.random(frame.shape) < np.array([0.1, 0.1, 0, 0]))


@pytest.fixture(scope="module")
def real():
    return people(300, 0)


@pytest.fixture(scope="module")
def found(real):
    return latree.compare_tables(real, people(250, 1))


def test_rows_of_the_same_kind_differ_by_chance_only(found):
    assert (found.rows_real, found.rows_drawn) == (300, 250)
    assert abs(found.auc - 0.5) < 0.08
    assert abs(found.closer - 0.5) < 0.1
    assert [one.taken_for for one in found.columns] == ["numbers", "categories", "numbers", "categories"]
    distances, chance = ([getattr(one, key) for one in found.columns] for key in ("distance", "by_chance"))
    assert np.mean(distances) < 2 * np.mean(chance)
    assert found.columns[0].missing_real == pytest.approx(0.1, abs=0.05)
    assert found.columns[1].values_drawn == 2
    by_names = {(one.first, one.second): one for one in found.pairs}
    assert len(by_names) == 6
    assert by_names["height", "sex"].measure == "correlation ratio"
    assert by_names["height", "sex"].real > 0.6
    assert by_names["height", "children"].measure == "Spearman"
    assert by_names["sex", "smokes"].measure == "Cramér's V"
    differences = [one.difference for one in found.pairs]
    assert differences == sorted(differences, reverse=True)


def test_what_differs_is_found(real):
    drawn = people(300, 1)
    drawn["height"] = np.random.default_rng(0).permutation(drawn["height"])
    drawn.loc[:99, "children"] = 7
    found = latree.compare_tables(real, drawn)
    assert found.auc > 0.65
    columns = {one.column: one for one in found.columns}
    assert columns["children"].distance > 0.25 > 0.12 > columns["height"].distance
    assert (found.pairs[0].first, found.pairs[0].second) == ("height", "sex")
    assert found.pairs[0].difference > 0.5 > 10 * found.pairs[0].by_chance / 2


@pytest.mark.parametrize("form", ["polars", "categories", "file", "mixed dtypes", "order"])
def test_the_form_of_the_tables_does_not_matter(real, found, form, tmp_path):
    one, two = real, people(250, 1)
    if form == "polars":
        two = pl.from_pandas(two)
    elif form == "categories":
        one = one.astype({"sex": "category"})
    elif form == "file":
        one, two = tmp_path / "real.csv", two
        real.to_csv(one, index=False)
    elif form == "mixed dtypes":
        two = two.astype({"children": float, "height": "Float32"}).astype({"height": str}).replace("<NA>", "")
    else:
        two = two[two.columns[::-1]]
    again = latree.compare_tables(one, two)
    assert again.auc == pytest.approx(found.auc, abs=1e-12)
    assert again.columns == found.columns
    assert again.pairs == found.pairs
    assert again.closer == found.closer


def test_true_and_false_may_be_one_and_zero(real):
    drawn = people(300, 1).astype({"smokes": int})
    found = latree.compare_tables(real, drawn)
    assert found.columns[3].taken_for == "numbers"
    assert found.columns[3].distance < 0.15


def test_dates_are_numbers_also_as_texts_of_a_file(tmp_path):
    days = pd.Timestamp("2020-02-28") + pd.to_timedelta(np.random.default_rng(0).integers(0, 900, 120), "D")
    frame = pd.DataFrame({"day": days, "x": np.arange(120)})
    frame.to_csv(tmp_path / "days.csv", index=False)
    later = frame.assign(day=frame["day"] + pd.Timedelta(days=450))
    for real in (frame, tmp_path / "days.csv"):
        found = latree.compare_tables(real, later)
        assert found.columns[0].taken_for == "numbers"
        assert found.columns[0].distance == pytest.approx(0.5, abs=0.1)
    with pytest.raises(latree.InputError, match=r"'day' has dates or times in the real table and numbers in the drawn"):
        latree.compare_tables(frame, frame.assign(day=1))


def test_columns_without_a_value_or_with_one(real):
    one, two = real.assign(empty=np.nan, same=1), people(300, 1).assign(empty=np.nan, same=1)
    found = latree.compare_tables(one, two)
    assert np.isnan(found.columns[4].distance)
    assert found.columns[5].distance == 0
    assert len(found.pairs) == 6
    plain = json.loads(to_json(found.to_dict()))
    assert plain["columns"][4]["distance"] is None
    assert re.search(r"empty +categories +- +- +100 % +100 % +0 +0", str(found))


def test_a_reading_says_what_is_left_out_and_missing(real):
    one, two = real.assign(id=range(300)), people(300, 1)
    two["children"] = two["children"].replace(1, -99)
    found = latree.compare_tables(one, two, drop="id", missing_also=[-99])
    assert "id" not in [column.column for column in found.columns]
    assert found.columns[2].missing_drawn > 0.2
    with pytest.raises(latree.InputError, match=r"^there is no column 'idx' in the real table or the drawn table$"):
        latree.compare_tables(one, two, drop="idx")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda frame: frame.assign(height="tall"), "'height' has numbers in the real table and texts such as 'tall'"),
        (lambda frame: frame.head(9), "the drawn table: 9 rows: a comparison needs at least 10 rows"),
        (lambda frame: frame.head(0), "the drawn table: no rows"),
        (lambda frame: frame.assign(height=np.inf), "the drawn table: column 'height' has an infinite value"),
        (latree.as_table, "the drawn table is a latree.Table, .*: pass the data themselves"),
    ],
)
def test_tables_that_cannot_be_compared(real, change, message):
    with pytest.raises(latree.InputError, match=message):
        latree.compare_tables(real, change(people(300, 1)))


def test_the_same_seed_gives_the_same_figures(real, found):
    assert latree.compare_tables(real, people(250, 1)) == found
    assert latree.compare_tables(real, people(250, 1), random_state=1).auc != found.auc


def test_many_rows_are_a_sample(monkeypatch, real):
    monkeypatch.setattr("latree.quality.comparison._MAX_ROWS", 100)
    found = latree.compare_tables(real, real.head(200))
    assert (found.rows_real, found.rows_drawn) == (300, 200)
    assert found.copies == 1  # of all rows


def test_frames_and_words(found):
    frame = found.to_frame(backend="pandas")
    assert list(frame["column"]) == ["height", "sex", "children", "smokes"]
    assert found.to_frame("pairs", "polars").shape == (6, 7)
    text = str(found)
    assert text.startswith("300 real rows, 250 drawn rows, 4 columns\n\nA classifier that tells drawn rows")
    assert f"AUC {found.auc:.2f}" in text
    assert max(map(len, text.splitlines())) <= 90


def test_the_page_holds_the_figures_and_markup_is_text(real, tmp_path):
    renamed = {"height": "<b>height</b>"}
    found = latree.compare_tables(real.rename(columns=renamed), people(300, 1).rename(columns=renamed))
    found.report(tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "&lt;b&gt;height" in page
    assert "<b>" not in page
    assert f"AUC {found.auc:.2f}" in page
    assert "<script" not in page
    assert not re.search(r"(src|href)=\"https?:", page)
