"""Cross-validation, grid searches and pipelines on frames of numbers, dates and categories, sorted or not."""

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer, make_column_selector
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import latree

pytestmark = pytest.mark.filterwarnings("ignore::latree.FitWarning", "ignore::sklearn.exceptions.ConvergenceWarning")
COLUMNS = ["income", "age", "children", "half", "holes", "day", "place", "member", "grade"]


def mixed_frame(n_rows=90, seed=0):
    """Return columns of every kind that depend on one hidden number, and whether that is above zero."""
    rng = np.random.default_rng(seed)
    hidden = rng.normal(size=n_rows)
    grades = pd.Categorical.from_codes(np.clip(hidden + 2, 0, 3).astype(int), ["d", "c", "b", "a"], ordered=True)
    frame = pd.DataFrame(
        {
            "income": np.where(hidden < -0.5, 0, np.exp(hidden + rng.normal(size=n_rows) / 3) * 1000).round(2),
            "age": (40 + 12 * hidden + rng.normal(size=n_rows) * 5).astype(int),
            "children": rng.poisson(np.exp(hidden / 2)),
            "half": np.round(hidden * 2) / 2,
            "holes": np.where(rng.random(n_rows) < 0.2, np.nan, np.round(hidden * 2)),
            "day": pd.Timestamp("2024-03-01") + pd.to_timedelta((hidden * 90).round(), unit="D"),
            "place": np.array(["north", "east", "south", "west", "abroad"])[np.clip(hidden + 2, 0, 4).astype(int)],
            "member": hidden + rng.normal(size=n_rows) > 0,
            "grade": grades,
        }
    )
    return frame, hidden > 0


def quick(**options):
    return latree.LatentTree("lcm", n_states=2, n_resamples=0, random_state=0, **options)


@pytest.mark.parametrize("by", [None, *COLUMNS])
def test_folds_of_a_sorted_frame_are_scored(by):
    frame, _ = mixed_frame()
    if by is not None:
        frame = frame.sort_values(by, ignore_index=True)
    scores = cross_val_score(quick(), frame, cv=5, error_score="raise")
    assert np.isfinite(scores).all()


@pytest.mark.parametrize("by", ["income", "place"])
def test_small_folds_are_scored(by):
    frame, _ = mixed_frame(24)
    scores = cross_val_score(quick(), frame.sort_values(by), cv=8, error_score="raise")
    assert np.isfinite(scores).all()


@pytest.mark.parametrize("by", ["age", "place"])
def test_a_grid_is_searched_over_settings(by):
    frame, _ = mixed_frame()
    grid = {"n_states": [2, 3], "reading": [None, {"bins": 4}, {"kinds": {"children": "number"}}]}
    search = GridSearchCV(quick(), grid, cv=3, error_score="raise").fit(frame.sort_values(by))
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()


@pytest.mark.parametrize("by", [None, "income"])
@pytest.mark.parametrize("output", ["default", "pandas"])
def test_pipelines_with_transformed_columns(by, output):
    frame, target = mixed_frame()
    if by is not None:
        order = np.argsort(frame[by].to_numpy(), kind="stable")
        frame, target = frame.iloc[order], target[order]
    numbers = make_column_selector(dtype_include="number")
    columns = ColumnTransformer([("scale", StandardScaler(), numbers)], remainder="passthrough")
    columns.set_output(transform=output)
    pipeline = make_pipeline(columns, quick().set_params(n_states=4), LogisticRegression())
    scores = cross_val_score(pipeline, frame, target, cv=4, error_score="raise")
    assert scores.mean() > 0.7


def test_what_a_column_is_does_not_depend_on_a_fold():
    frame, _ = mixed_frame(400)
    whole = {column.name: column.kind for column in latree.as_table(frame).columns}
    for by in COLUMNS:
        ordered = frame.sort_values(by, ignore_index=True)
        for start in range(0, 400, 40):
            fold = latree.as_table(ordered.drop(index=range(start, start + 40)))
            assert {column.name: column.kind for column in fold.columns} == whole


def test_numbers_with_fractions_are_numbers_however_few_they_are():
    cells = pd.DataFrame({"x": [0.5, 1.5] * 10, "whole": [1.0, np.nan, 2.0, 1.0] * 5})
    x, whole = latree.as_table(cells).columns
    assert (x.kind, x.categories, x.density is None) == ("number", ("0.5", "1.5"), False)
    assert (whole.kind, whole.categories, whole.ordered, whole.density) == ("integer", ("1", "2"), True, None)
    far = pd.DataFrame({"x": [-9.0, 0.7, 99.0], "whole": [-5, 1.4, 1000.0]})
    assert latree.as_table(far, columns=(x, whole)).codes().tolist() == [[0, 0], [0, 0], [1, 1]]


def test_a_category_that_no_fold_had_is_missing_with_a_warning():
    frame, _ = mixed_frame()
    model = quick().fit(frame[frame["place"] != "north"])
    with pytest.warns(latree.FitWarning, match="column 'place': the value 'north' was never seen in the fit"):
        found = model.score_samples(frame)
    without = frame.assign(place=frame["place"].where(frame["place"] != "north"))
    np.testing.assert_array_equal(found, model.score_samples(without))
    with pytest.raises(latree.InputError, match="the value 'north' was never seen"):
        quick(unseen="error").fit(frame[frame["place"] != "north"]).score_samples(frame)
