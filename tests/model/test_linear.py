"""The linear correction of expected numbers."""

import copy
import json

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import RidgeCV

import latree
from latree.errors import InputError
from latree.model.linear import _PENALTIES, Linear, ridge_weights


def rows(n, seed=0, tie=0.9):
    """Four numbers of which the first two depend on each other, one with few values, and a name."""
    rng = np.random.default_rng(seed)
    size = rng.normal(10, 2, n)
    return pd.DataFrame(
        {
            "a": size,
            "b": 3 * (tie * size + 2 * np.sqrt(1 - tie**2) * rng.normal(size=n)),
            "c": rng.lognormal(size=n),
            "few": rng.integers(0, 5, n),
            "name": rng.choice(["x", "y"], n),
        }
    )


@pytest.fixture(scope="module")
def unconnected():
    """A model whose tree has no edges, so that only the correction knows of dependence."""
    return latree.LatentTree("independent").fit(rows(500))


def test_numbers_are_filled_by_what_the_tree_leaves_out(unconnected):
    new = rows(300, 1)
    holes = new.assign(a=np.where(np.arange(300) % 2, new["a"], np.nan))
    filled, low, high = unconnected.impute(holes, return_interval=0.9)
    error = (filled["a"] - new["a"])[holes["a"].isna()]
    assert np.sqrt(np.square(error).mean()) < 0.6 * new["a"].std()  # the best is sqrt(1 - 0.9²) = 0.44
    assert not (filled["b"] - new["b"]).any()
    # The distribution is that of the tree: it is the same for all rows.
    assert low["a"][holes["a"].isna()].nunique() == high["a"][holes["a"].isna()].nunique() == 1
    assert filled["a"][holes["a"].isna()].between(rows(500)["a"].min(), rows(500)["a"].max()).all()
    explained = unconnected.explain_row(holes.assign(a=new["a"]).loc[0])
    assert explained.set_index("column")["expected"]["a"] == pytest.approx(filled["a"][0])


def test_all_forms_of_data_are_filled_alike(unconnected, tmp_path):
    holes = rows(40, 2).mask(np.random.default_rng(0).random((40, 5)) < 0.3)
    filled = unconnected.impute(holes)["a"].tolist()
    holes.to_csv(tmp_path / "holes.csv", index=False)
    unconnected.save(tmp_path / "model.json")
    loaded = latree.LatentTree.load(tmp_path / "model.json")
    assert loaded.model_.linear == unconnected.model_.linear
    for model in (unconnected, loaded):
        assert model.impute(tmp_path / "holes.csv")["a"].tolist() == pytest.approx(filled)
        assert model.model_.impute(holes)["a"].tolist() == pytest.approx(filled)


def test_columns_that_are_hardly_ever_there_do_no_harm():
    number = np.arange(5000)
    sampled = np.random.default_rng(0).choice(5000, 4000, replace=False)
    outside = np.setdiff1d(number, sampled)[:3]  # the rows that are looked at have none of them
    frame = rows(5000).assign(d=np.where(np.isin(number, outside), number * 1.5, np.nan))
    filled = latree.LatentTree("independent").fit(frame).impute(frame.head(20).assign(a=np.nan))
    assert filled.notna().all().all()


def test_columns_that_depend_on_nothing_are_hardly_corrected():
    rng = np.random.default_rng(0)
    ratios = []
    for _ in range(5):
        model = latree.LatentTree("independent").fit(rng.normal(size=(200, 6)))
        new = rng.normal(size=(500, 6))
        holes = np.where(rng.random(new.shape) < 0.2, np.nan, new)
        error = np.square(model.impute(holes) - new)[np.isnan(holes)].mean()
        ratios.append(error / np.square(new[np.isnan(holes)]).mean())
    assert np.mean(ratios) < 1.03


def test_weights_are_those_of_a_ridge_regression():
    rng = np.random.default_rng(0)
    values = rng.normal(size=(80, 4)) * [1, 5, 0.2, 1]
    truth = values[:, 0] + values @ [0.3, 0.1, 0, 0] + rng.normal(size=80)
    scale = np.sqrt(np.square(values).mean(axis=0))
    judge = RidgeCV(_PENALTIES, fit_intercept=False).fit(values / scale, truth - values[:, 0])
    places, weights = zip(*ridge_weights(values, truth, np.ones(80), 0), strict=True)
    assert places == (0, 1, 2, 3)
    np.testing.assert_allclose(weights, judge.coef_ / scale, rtol=1e-5)
    large = ridge_weights(values * 1e200, truth * 1e200, np.ones(80), 0)
    np.testing.assert_allclose([weight for _, weight in large], weights, rtol=1e-5)
    assert ridge_weights(values, values[:, 0] + rng.normal(size=80), np.ones(80), 0) == ()


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("columns", [0, 0, 2, 3], "not one of columns of numbers"),
        ("columns", [0, 1, 2, 4], "not one of columns of numbers"),  # a name
        ("columns", [0], "not equally long"),
        ("center", ["1", 2.0, 3.0, 4.0], "not one of columns of numbers"),
        ("low", [1e9, 0.0, 0.0, 0.0], "smallest number above a largest"),
        ("weights", [[[9, 1.0]], [], [], []], "not pairs of a place and a number"),
        ("weights", [[[0, None]], [], [], []], "not pairs of a place and a number"),
        ("weights", None, "not equally long"),
    ],
)
def test_a_bad_file_is_refused(unconnected, field, value, message):
    plain = json.loads(json.dumps(unconnected.model_.linear.to_dict()))
    columns = unconnected.model_.columns
    assert Linear.from_dict(plain, columns) == unconnected.model_.linear
    changed = copy.deepcopy(plain) | {field: value}
    with pytest.raises(InputError, match=message):
        Linear.from_dict(changed, columns)
    with pytest.raises(InputError, match="not an object"):
        Linear.from_dict([], columns)
