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


def test_a_text_among_numbers_is_missing_with_a_warning():
    frame, _ = mixed_frame()
    model = quick().fit(frame)
    texts = frame.assign(income=frame["income"].astype(str).where(np.arange(len(frame)) > 2, "unknown"))
    with pytest.warns(latree.FitWarning, match="column 'income' has bins, and 'unknown' is not a number"):
        found = model.score_samples(texts)
    without = frame.assign(income=frame["income"].where(np.arange(len(frame)) > 2))
    np.testing.assert_array_equal(found, model.score_samples(without))
    with pytest.raises(latree.InputError, match="'unknown' is not a number"):
        quick(unseen="error").fit(frame).score_samples(texts)


N = 60
RNG = np.random.default_rng(0)
ODD = {
    "sparse": pd.arrays.SparseArray(np.where(RNG.random(N) < 0.7, 0, 1.5)),
    "tiny": 5e-324 * RNG.integers(0, 100, N),
    "huge": 1e300 * RNG.normal(size=N),
    "of all sizes": 10.0 ** RNG.uniform(-200, 200, N),
    "uint64": RNG.integers(0, 2**63, N).astype(np.uint64) * 2,
    "int8": RNG.integers(100, 128, N).astype(np.int8),
    "float16": RNG.normal(size=N).astype(np.float16),
    "negative zero": np.where(RNG.random(N) < 0.5, -0.0, 0.0) + (RNG.random(N) < 0.3),
    "nullable": pd.array(np.where(RNG.random(N) < 0.2, None, RNG.integers(0, 50, N)), dtype="Int64"),
    "nullable bool": pd.array(np.where(RNG.random(N) < 0.2, None, RNG.random(N) < 0.5), dtype="boolean"),
    "unused levels": pd.Categorical(RNG.choice(list("ab"), N), categories=list("abcd")),
    "zone": pd.date_range("2024-01-01", periods=N, freq="7min", tz="Europe/Paris"),
    "lasts": pd.to_timedelta(RNG.integers(0, 10_000, N), unit="s"),
    "constant in a fold": [1.0] * (N - 15) + RNG.normal(size=15).tolist(),
    "missing in a fold": [np.nan] * (N - 15) + RNG.normal(size=15).tolist(),
    "no text in a fold": [None] * (N - 15) + RNG.choice(["a", "b"], 15).tolist(),
    "numbers as texts": RNG.integers(0, 100, N).astype(str),
    "few fractions": RNG.choice([0.1, 0.2, 0.7], N),
    "always missing": np.full(N, np.nan),
}


@pytest.mark.parametrize("kind", ODD)
def test_odd_columns_can_be_validated_drawn_and_filled(kind):
    hidden = RNG.normal(size=N)
    frame = pd.DataFrame({"a": hidden, "b": hidden + RNG.normal(size=N) / 3, "odd": ODD[kind]})
    for rows in (frame, frame.sort_values("odd")):
        assert np.isfinite(cross_val_score(latree.LatentTree("chow-liu"), rows, cv=3, error_score="raise")).all()
    model = latree.LatentTree("chow-liu").fit(frame)
    drawn = model.sample(200, random_state=0)
    assert [str(drawn[name].dtype) for name in drawn] == [str(frame[name].dtype) for name in drawn]
    assert np.isfinite(model.score_samples(drawn)).all()
    if "odd" in drawn:
        filled = model.impute(frame.assign(odd=pd.Series(ODD[kind]).mask(np.arange(N) % 3 == 0)))
        assert filled["odd"].notna().all()
        assert len(model.explain_row(frame.loc[N - 1])) == frame.loc[N - 1].notna().sum()
    if kind == "int8":
        array = frame[["odd", "odd"]].to_numpy()
        drawn = latree.LatentTree("independent").fit(array).sample(2000, random_state=0)
        assert (drawn.dtype, drawn.min() > 80) == (np.int8, True)


def test_numbers_that_cannot_be_computed_with_are_refused():
    frame = pd.DataFrame({"a": RNG.normal(size=N), "b": np.where(RNG.random(N) < 0.2, np.finfo(float).max, 1.5)})
    with pytest.raises(latree.InputError, match=r"'b' has the number '1\.797\d+e\+308', which is too large"):
        quick().fit(frame)
