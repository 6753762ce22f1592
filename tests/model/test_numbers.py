"""What a model says of numbers: scores, draws, fills, answers and explained rows, in the units of the data."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import stats
from sklearn.datasets import load_wine

from latree import LatentTree, as_table
from latree.errors import InputError
from latree.facts.rows import row_facts
from latree.model.impute import fills
from latree.model.predictive import quantiles, shares_below
from latree.table import Table

N = 3000


def people(n, seed):
    """Heights depend on sex, weights on heights, and ages on nothing; numbers have one decimal, none, and many."""
    rng = np.random.default_rng(seed)
    is_man = rng.random(n) < 0.5
    height = rng.normal(np.where(is_man, 178, 165), 7)
    weight = rng.normal(0.9 * (height - 100), 8)
    return pd.DataFrame(
        {
            "sex": pd.Categorical(np.where(is_man, "man", "woman")),
            "height": np.round(height, 1),
            "weight": weight,
            "age": rng.integers(18, 90, n),
            "smokes": rng.random(n) < 0.3,
        }
    )


@pytest.fixture(scope="module")
def fitted():
    data = people(N, 0)
    data.loc[::4, "age"] = None
    return LatentTree("chow-liu", random_state=0).fit(data)


@pytest.fixture(scope="module")
def new():
    return people(N, 1)


def true_log_density(data):
    height, weight = data["height"].to_numpy(), data["weight"].to_numpy()
    sexes = np.where(data["sex"] == "man", 178, 165)
    return (
        np.log(0.5)
        + stats.norm(sexes, 7).logpdf(height)
        + stats.norm(0.9 * (height - 100), 8).logpdf(weight)
        - np.log(72)
        + np.log(np.where(data["smokes"], 0.3, 0.7))
    )


def test_scores_are_log_densities_in_the_units_of_the_data(fitted, new):
    found, truth = fitted.score_samples(new), true_log_density(new)
    # What is lost on new rows: little, and nothing can be gained.
    assert 0 < (truth - found).mean() < 0.25
    assert np.corrcoef(found, truth)[0, 1] > 0.8
    # Other units, other densities: in centimetres and in metres.
    metres = people(N, 0).assign(height=lambda frame: frame["height"] / 100)
    in_metres = LatentTree("chow-liu", random_state=0).fit(metres)
    gain = in_metres.score(new.assign(height=new["height"] / 100)) - fitted.score(new)
    assert gain == pytest.approx(np.log(100), abs=0.05)


def test_the_density_of_a_row_is_that_of_its_bins_times_that_inside_them(fitted, new):
    model = fitted.model_
    table = as_table(new, columns=model.columns)
    inside = np.zeros(N)
    for j, column in enumerate(model.columns):
        if column.density is not None:
            inside += column.density.log_density(new[column.name].to_numpy(dtype=float), table.codes()[:, j])
    np.testing.assert_allclose(model.log_density_rows(table), model.log_likelihood_rows(table) + inside, rtol=1e-12)
    # Rows that are taken, and columns in another order, keep it; codes alone have none.
    some = np.array([5, 3, 2000])
    np.testing.assert_array_equal(model.log_density_rows(table.take(some)), model.log_density_rows(table)[some])
    with pytest.raises(InputError, match="codes, and columns with bins need numbers"):
        model.log_density(Table.from_codes(model.columns, table.codes()))


def test_the_density_integrates_to_one():
    rng = np.random.default_rng(0)
    x = rng.normal(size=1000)
    model = LatentTree("chow-liu").fit(np.column_stack([x, x + rng.normal(size=1000)]))
    grid = np.arange(-12, 12, 0.05)
    cells = np.stack(np.meshgrid(grid, grid), axis=-1).reshape(-1, 2)
    # Far outside the density is small but heavy: a missing share of 1 %.
    assert np.exp(model.score_samples(cells)).sum() * 0.05**2 == pytest.approx(1, abs=0.02)


@pytest.mark.parametrize("convert", [lambda frame: frame, pl.from_pandas])
def test_draws_are_like_new_rows(fitted, new, convert):
    if convert is pl.from_pandas:
        fitted = LatentTree("chow-liu", random_state=0).fit(convert(people(N, 0)))
    drawn = fitted.sample(N, random_state=3)
    assert type(drawn) is type(convert(new))
    drawn = drawn if convert is not pl.from_pandas else drawn.to_pandas()
    for name in ("height", "weight", "age"):
        assert stats.ks_2samp(drawn[name], new[name]).statistic < 0.05
    residuals = [frame["weight"] - 0.9 * (frame["height"] - 100) for frame in (drawn, new)]
    # Inside their bins, numbers are independent of each other.
    assert 1 < np.std(residuals[0]) / np.std(residuals[1]) < 1.15
    assert (drawn["age"] % 1 == 0).all()
    assert drawn["age"].nunique() > 60
    assert drawn["smokes"].dtype == bool
    np.testing.assert_allclose(drawn["height"], drawn["height"].round(1), atol=1e-9)
    assert set(drawn["sex"]) == {"man", "woman"}


def test_draws_may_have_holes_as_often_as_the_data(fitted):
    drawn = fitted.sample(N, random_state=3, missing=True)
    assert drawn["age"].isna().mean() == pytest.approx(0.25, abs=0.03)
    assert not drawn.drop(columns="age").isna().any(axis=None)
    assert not fitted.sample(N, random_state=3).isna().any(axis=None)


def test_means_have_the_smallest_squared_error_and_intervals_cover(fitted, new):
    holed = new.assign(weight=np.nan)
    filled, low, high = fitted.impute(holed, return_interval=0.9)
    pd.testing.assert_frame_equal(filled.drop(columns="weight"), new.drop(columns="weight"))
    pd.testing.assert_series_equal(filled["weight"], fitted.impute(holed, "mean")["weight"])
    truth = new["weight"]
    assert 0.88 <= ((truth >= low["weight"]) & (truth <= high["weight"])).mean() <= 0.92
    errors = {how: truth - fitted.impute(holed, how)["weight"] for how in ("mean", "median", "mode")}
    errors["column"] = truth - people(N, 0)["weight"].mean()
    squared = {how: (error**2).mean() for how, error in errors.items()}
    assert min(squared, key=squared.get) == "mean"
    # The best that anything can do is the noise of 8.
    assert np.sqrt(squared["mean"]) < 8.6 < 11 < np.sqrt(squared["column"])
    draws = fitted.impute(holed, "draw", draws=2, random_state=0)
    for drawn in draws:
        assert stats.ks_2samp(drawn["weight"], truth).statistic < 0.05
        assert np.std(drawn["weight"] - truth) == pytest.approx(8 * np.sqrt(2), rel=0.1)
    assert (draws[0]["weight"] != draws[1]["weight"]).mean() > 0.99


def test_columns_without_an_order_have_no_interval(fitted, new):
    holed = new.astype({"smokes": object})
    holed.loc[3, ["sex", "smokes"]] = None
    filled, low, high = fitted.impute(holed, return_interval=0.5)
    assert filled.loc[3, "sex"] in ("man", "woman")
    assert pd.isna(low.loc[3, "sex"])
    assert (low.loc[3, "smokes"], high.loc[3, "smokes"]) in ((False, False), (False, True), (True, True))


def test_an_answer_about_a_number_is_a_distribution(fitted, new):
    answer = fitted.query("weight", given={"height": 181.3})
    assert sum(answer.values()) == pytest.approx(1)
    near = new[(new["height"] > 179) & (new["height"] < 183.6)]["weight"]
    assert answer.mean == pytest.approx(near.mean(), abs=1.5)
    assert answer.median == pytest.approx(near.median(), abs=1.5)
    low, high = answer.interval(0.8)
    assert ((near > low) & (near < high)).mean() == pytest.approx(0.8, abs=0.06)
    assert answer.quantile(0.1) == low
    # A number beyond all others is in the outermost bin.
    assert fitted.query("weight", given={"height": 500}) == fitted.query("weight", given={"height": 199})
    assert isinstance(fitted.query("age").median, int)
    assert fitted.query("smokes").median is False
    for wrong in (fitted.query("sex"), fitted.query(["sex", "age"])):
        with pytest.raises(InputError, match="only a single column with an order"):
            wrong.interval()
        with pytest.raises(InputError, match="only a single column of numbers"):
            wrong.mean  # noqa: B018


def test_quantiles_and_shares_of_a_mixture_undo_each_other(fitted):
    column = next(one for one in fitted.model_.columns if one.name == "weight")
    rng = np.random.default_rng(0)
    probabilities = rng.dirichlet(np.ones(column.n_states), 200)
    for share in (0.001, 0.05, 0.5, 0.9, 0.999):
        numbers = quantiles(column, probabilities, share)
        bins = np.searchsorted(column.cuts, numbers, side="left")
        np.testing.assert_allclose(shares_below(column, probabilities, numbers, bins), share, atol=1e-6)
    # The mean is that of many quantiles.
    every = np.mean([quantiles(column, probabilities, share) for share in (np.arange(2000) + 0.5) / 2000], axis=0)
    np.testing.assert_allclose(fills(column, probabilities, "mean"), every, rtol=1e-3)


def test_cells_are_unusual_as_often_as_their_probability_says(fitted, new):
    cells = pd.concat([fitted.explain_row(row) for _, row in new.head(300).iterrows()])
    for name in ("height", "weight", "age"):
        found = cells[cells["column"] == name]["probability"]
        assert stats.kstest(found, "uniform").pvalue > 1e-4
        assert (found < 0.1).mean() == pytest.approx(0.1, abs=0.06)


def test_an_explained_row_names_the_odd_cell_and_what_was_expected(fitted, new):
    row = new.iloc[3].to_dict() | {"height": 180.0, "weight": 140.0, "age": None}
    cells = fitted.explain_row(row)
    assert cells["column"].iloc[0] == "weight"
    assert len(cells) == 4  # a missing cell is not explained
    first = cells.iloc[0]
    assert first["value"] == 140
    assert first["probability"] < 1e-3
    assert first["expected"] == pytest.approx(fitted.impute(pd.DataFrame([row | {"weight": np.nan}]))["weight"][0])
    # log f(x | rest) = log f(row) - log f(rest)
    both = pd.DataFrame([row, row | {"weight": np.nan}])
    whole, rest = fitted.score_samples(both)
    assert first["log_density"] == pytest.approx(whole - rest, rel=1e-9)
    for form in (pd.Series(row), pd.DataFrame([row])):
        pd.testing.assert_frame_equal(fitted.explain_row(form), cells)
    numbers = new[["height", "weight", "age"]].assign(constant=1).to_numpy()
    of_array = LatentTree("chow-liu").fit(numbers).explain_row(numbers[0])  # a constant column is left out
    assert sorted(of_array["column"]) == ["x0", "x1", "x2"]
    short = {"height": 180.0, "weight": 140.0}  # as if all other cells were missing
    few = fitted.explain_row(short)
    assert few["column"].tolist() == ["weight", "height"]
    pd.testing.assert_frame_equal(fitted.model_.explain_row(pd.DataFrame([short])), few)
    with pytest.raises(InputError, match="columns that the model needs are not there"):
        fitted.explain_row({"hight": 180.0})
    with pytest.raises(InputError, match="takes one row, not 3"):
        fitted.explain_row(new.head(3))


def test_the_report_says_of_a_row_what_the_model_says(fitted, new):
    data = new.copy()
    data.loc[17, ["height", "weight"]] = [180.0, 180.5]
    table = as_table(data, columns=fitted.model_.columns)
    first = row_facts(fitted.model_, table, 2)["unusual"][0]
    assert first["row"] == "18"
    assert first["score"] == pytest.approx(fitted.score_samples(data)[17], abs=0.006)
    shown, cells = first["cells"][0], fitted.explain_row(data.loc[17]).iloc[0]
    assert fitted.model_.columns[shown["column"]].name == cells["column"]
    assert shown["value"] in ("180.5", "180")
    assert shown["probability"] == pytest.approx(cells["probability"], rel=0.06)


def test_intervals_cover_new_cells_of_a_real_table():
    cells, covered, errors, naive = load_wine().data[:, :8], [], [], []
    missing = np.tile(np.eye(8, dtype=bool), (len(cells) - 120, 1))  # each cell is missing in one of eight copies
    for seed in range(3):
        order = np.random.default_rng(seed).permutation(len(cells))
        fitted = LatentTree(goal="predict", n_states=4, random_state=0).fit(cells[order[:120]])
        new = np.repeat(cells[order[120:]], 8, axis=0)
        filled, low, high = fitted.impute(np.where(missing, np.nan, new), return_interval=0.9)
        covered.append(((low <= new) & (new <= high))[missing])
        errors.append(((filled - new) / cells.std(axis=0))[missing])
        naive.append(((cells[order[:120]].mean(axis=0) - new) / cells.std(axis=0))[missing])
    assert 0.87 <= np.mean(covered) <= 0.93
    assert np.mean(np.square(errors)) < 0.9 * np.mean(np.square(naive))
