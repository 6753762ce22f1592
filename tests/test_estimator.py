import json
from xml.etree import ElementTree

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import sklearn
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from helpers.cli import succeed
from helpers.models import copying_model
from helpers.pictures import written
from latree import FitWarning, InputError, LatentTree, LatentTreeModel, Tree, learn_tree, plot
from latree.explain import find_groups, reliability, row_scores
from latree.explain.stability import RESAMPLES
from latree.inference.starts import start_from
from latree.learn import learn_model
from latree.model.states import SMOOTHINGS
from latree.paper.simulate import random_model, random_tree
from latree.settings import Settings
from latree.table import Table, as_table

PLAIN = LatentTree("nj", n_states=2, smoothing=0.1, random_state=0, max_iterations=50)


REPEATED = "repeated rows may fall into different folds of the edge tests, a weighted one cannot"

MANY_COLUMNS = "predict returns one column per group, as for dense data"


def expected_to_fail(estimator):
    """Return the checks that do not hold, and why."""
    return ({"check_sample_weight_equivalence_on_dense_data": REPEATED} if estimator.method == "auto" else {}) | {
        "check_sample_weight_equivalence_on_sparse_data": "its cells are all there, and presence is constant",
        "check_estimator_sparse_array": MANY_COLUMNS,
        "check_estimator_sparse_matrix": MANY_COLUMNS,
    }


@parametrize_with_checks(
    [LatentTree(random_state=0, max_iterations=50), PLAIN], expected_failed_checks=expected_to_fail
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def quick(**options):
    """The estimator for tests that are about something else than how it learns."""
    return LatentTree("nj", n_states=3, smoothing=0.1, random_state=0, **options)


def frame(n_rows=300, seed=0):
    """Mixed kinds of columns that follow one hidden tree, as a pandas frame."""
    tree = random_tree(6, 0.5, 0)
    codes = (
        random_model(tree, n_states=4, hidden_states=3, start="identity", perturbation=0.1, random_state=0)
        .sample(n_rows, seed)
        .codes()
    )
    noise = np.random.default_rng(seed).random(n_rows)
    return pd.DataFrame(
        {
            "count": codes[:, 0],
            "colour": np.array(["red", "green", "blue", "white"])[codes[:, 1]],
            "size": codes[:, 2] + 0.9 * noise,
            "flag": codes[:, 3] > 1,
            "grade": pd.Categorical(np.array(["a", "b", "c", "d"])[codes[:, 4]]),
            "level": codes[:, 5].astype(float),
        }
    )


def with_holes(data, seed=1):
    data = data.astype({"flag": object})
    holes = np.random.default_rng(seed).random(data.shape) < 0.1
    return data.mask(holes), holes


CONVERT = {"pandas": lambda f: f, "polars": pl.from_pandas, "pyarrow": pa.Table.from_pandas}


@pytest.mark.parametrize("kind", CONVERT)
def test_every_kind_of_frame_gives_the_same_model(kind):
    data = CONVERT[kind](frame())
    fitted = LatentTree(n_states=3, random_state=0).fit(data)
    reference = LatentTree(n_states=3, random_state=0).fit(frame())
    assert fitted.summary_["log_likelihood"] == reference.summary_["log_likelihood"]
    assert fitted.tree_.to_newick() == reference.tree_.to_newick()
    drawn = fitted.sample(5)
    assert type(drawn) is type(data)
    assert drawn.shape == (5, 6)
    assert np.isfinite(fitted.score(drawn))


@pytest.mark.parametrize("kind", CONVERT)
def test_impute_fills_holes_and_touches_nothing_else(kind):
    holed, holes = with_holes(frame(2000))
    fitted = quick().fit(frame(2000))
    given = CONVERT[kind](holed)
    filled = fitted.impute(given)
    assert type(filled) is type(given)
    filled = filled.to_pandas() if kind != "pandas" else filled
    assert not filled.isna().to_numpy().any()
    for j, name in enumerate(filled.columns):
        kept = ~holes[:, j]
        assert (filled[name].to_numpy()[kept] == holed[name].to_numpy()[kept]).all()
    truth = frame(2000)["colour"].to_numpy()[holes[:, 1]]
    share_right = (filled["colour"].to_numpy()[holes[:, 1]] == truth).mean()
    assert share_right > pd.Series(truth).value_counts(normalize=True).max() + 0.2


PANDAS_TYPES = {
    "category": lambda v: pd.Series(v.astype(str)).astype("category"),
    "boolean": lambda v: pd.array(v > 1, dtype="boolean"),
    "Int64": lambda v: pd.array(v, dtype="Int64"),
    "datetime": lambda v: pd.Timestamp("2024-01-01") + pd.to_timedelta(v, unit="D"),
    "string": lambda v: pd.array(v.astype(str), dtype="string"),
}
POLARS_TYPES = {
    "categorical": lambda v: pl.Series(v.astype(str)).cast(pl.Categorical),
    "enum": lambda v: pl.Series(v.astype(str)).cast(pl.Enum(["0", "1", "2", "3"])),
    "boolean": lambda v: pl.Series(v > 1),
    "date": lambda v: pl.Series(v).cast(pl.Date),
    "small": lambda v: pl.Series(v).cast(pl.Int8),
}


@pytest.mark.parametrize("kind", PANDAS_TYPES)
def test_impute_keeps_pandas_types(kind):
    data = frame()[["count", "colour", "size", "level"]].assign(it=lambda f: PANDAS_TYPES[kind](f["count"].to_numpy()))
    fitted = quick().fit(data)
    holed = data.copy()
    holed.loc[5, "it"] = None
    filled = fitted.impute(holed)["it"]
    assert filled.drop(5).tolist() == data["it"].drop(5).tolist()
    assert filled[5] in set(data["it"])
    assert type(filled[5]) is type(data["it"][6])


@pytest.mark.parametrize("kind", POLARS_TYPES)
def test_impute_keeps_polars_types(kind):
    columns = frame()[["count", "colour", "size", "level"]]
    data = pl.from_pandas(columns).with_columns(POLARS_TYPES[kind](columns["count"].to_numpy()).alias("it"))
    fitted = quick().fit(data)
    filled = fitted.impute(data.with_columns(pl.when(pl.arange(300) != 5).then(pl.col("it")).alias("it")))
    assert filled.schema == data.schema
    assert filled["it"].null_count() == 0


def test_a_table_goes_in_and_comes_out():
    table = random_model(random_tree(6, 0.5, 0), n_states=3, random_state=0).sample(200, 0)
    fitted = quick().fit(table)
    assert fitted.n_features_in_ == 6
    assert fitted.score(table) == pytest.approx(fitted.summary_["log_likelihood"] / 200, rel=1e-12)
    np.testing.assert_array_equal(fitted.impute(table).codes(), table.codes())


def test_an_unseen_category_may_be_missing():
    fitted = quick(unseen="missing").fit(frame())
    odd = frame().assign(colour="purple")
    assert fitted.score(odd) == pytest.approx(fitted.score(frame().assign(colour=None)), rel=1e-12)


def test_no_rows_and_no_fit_are_said():
    with pytest.raises(NotFittedError):
        LatentTree().score(frame())
    with pytest.raises(InputError, match="no rows"):
        quick().fit(frame()).score(frame().head(0))
    with pytest.raises(InputError, match="at least 1"):
        quick().fit(frame()).sample(0)


def test_a_loaded_model_takes_data_as_they_are(tmp_path):
    fitted = quick().fit(frame())
    fitted.model_.save(tmp_path / "model.json")
    loaded = LatentTreeModel.load(tmp_path / "model.json")
    assert loaded.log_likelihood(frame()) == fitted.summary_["log_likelihood"]
    assert loaded.bic(frame()) == fitted.summary_["bic"]
    assert list(loaded.posteriors(frame())) == ["H1", "H2", "H3", "H4"]
    assert loaded.complete(with_holes(frame())[0]).n_missing.sum() == 0
    assert repr(loaded) == f"<LatentTreeModel: 6 observed, 4 hidden, {loaded.n_parameters} parameters>"
    assert repr(loaded.encode(frame())) == "<Table: 300 rows, 6 columns>"


def test_all_bad_columns_are_named_at_once():
    data = frame().assign(**{f"key{j}": [f"k{i}" for i in range(300)] for j in range(8)})
    with pytest.raises(InputError, match=r"'key0' has a .*identifier='key0' .*'key7' has a .*drop=.*'key7'") as caught:
        LatentTree().fit(data)
    assert "\n" not in str(caught.value)


def test_impute_of_an_array():
    data = frame()[["count", "size", "level"]].to_numpy()
    fitted = LatentTree(n_states=3, random_state=0).fit(data)
    holed = data.copy()
    holed[3, 1] = np.nan
    filled = fitted.impute(holed)
    assert np.isnan(holed[3, 1])
    assert filled[3, 1] in fitted.model_.columns[1].centers
    np.testing.assert_array_equal(np.delete(filled, 3, axis=0), np.delete(data, 3, axis=0))


def test_score_is_the_mean_of_score_samples():
    fitted = LatentTree(n_states=3, random_state=0).fit(frame())
    rows = fitted.score_samples(frame())
    assert fitted.score(frame()) == pytest.approx(rows.mean(), rel=1e-12)
    assert fitted.score(frame()) == pytest.approx(fitted.summary_["log_likelihood"] / 300, rel=1e-12)


@pytest.mark.parametrize("kind", CONVERT)
@pytest.mark.parametrize("of", ["groups", "hidden"])
def test_scores_states_and_probabilities_come_in_frames_like_the_data(kind, of):
    data = CONVERT[kind](frame())
    fitted = quick().fit(data)
    rows = row_scores(fitted.model_, data, of)
    assert len(rows.names) == (1 if of == "groups" else 4)
    for method, values in ((fitted.transform, rows.scores), (fitted.predict, rows.states)):
        found = method(data, of=of)
        assert type(found) is type(data)
        found = nw.from_native(found, eager_only=True)
        assert tuple(found.columns) == rows.names
        np.testing.assert_array_equal(found.to_numpy(), values)
    assert fitted.get_feature_names_out(of=of).tolist() == list(rows.names)
    probabilities = fitted.predict_proba(data, of=of)
    assert type(probabilities) is type(data)
    probabilities = nw.from_native(probabilities, eager_only=True)
    names = [f"{name} = {state}" for name, states in zip(rows.names, rows.state_names, strict=True) for state in states]
    assert probabilities.columns == names
    by_name = probabilities.to_numpy().reshape(300, len(rows.names), 3)
    np.testing.assert_allclose(by_name.sum(axis=2), 1, rtol=1e-9)
    np.testing.assert_array_equal(by_name.argmax(axis=2), rows.states)
    np.testing.assert_allclose(by_name.max(axis=2), rows.probabilities, rtol=1e-9)


def test_arrays_give_arrays_and_files_and_tables_give_frames(tmp_path):
    data = frame()[["count", "size", "level", "flag"]].astype(float)
    fitted = quick().fit(data.to_numpy())
    scores = fitted.transform(data.to_numpy())
    assert isinstance(scores, np.ndarray)
    assert isinstance(fitted.predict(data.to_numpy()), np.ndarray)
    assert isinstance(fitted.predict_proba(data.to_numpy()), np.ndarray)
    renamed = data.set_axis([f"x{j}" for j in range(4)], axis=1)
    renamed.to_csv(tmp_path / "data.csv", index=False)
    for given in (tmp_path / "data.csv", str(tmp_path / "data.csv"), fitted.model_.encode(data.to_numpy())):
        pd.testing.assert_frame_equal(
            fitted.transform(given), pd.DataFrame(scores, columns=fitted.get_feature_names_out())
        )


def test_frames_of_pandas_keep_their_index():
    data = frame().set_index(np.arange(300) * 2)
    fitted = quick().fit(data)
    for found in (fitted.transform(data), fitted.predict(data), fitted.predict_proba(data)):
        assert found.index.equals(data.index)
    alone = LatentTree("independent", random_state=0).fit(data)
    assert alone.predict(data).shape == (300, 0)
    assert alone.transform(data).index.equals(data.index)


@pytest.mark.parametrize("output", ["pandas", "polars"])
@pytest.mark.parametrize("method", ["nj", "independent"])
def test_set_output_and_names_agree(output, method):
    data = frame()
    fitted = LatentTree(method, random_state=0).set_output(transform=output).fit(data)
    found = fitted.transform(data)
    assert type(found) is {"pandas": pd.DataFrame, "polars": pl.DataFrame}[output]
    assert list(found.columns) == fitted.get_feature_names_out().tolist()
    with pytest.raises(InputError, match=r"set_output\(transform='default'\)"):
        fitted.transform(data, of="hidden")
    with sklearn.config_context(transform_output=output):
        assert type(quick().fit(data).transform(data)) is type(found)


def test_methods_without_hidden_variables_do_not_break_a_grid_search():
    data = frame()[["count", "size", "level", "flag"]].astype(float)
    pipeline = make_pipeline(LatentTree(n_states=2, random_state=0), LogisticRegression())
    grid = {"latenttree__method": ["nj", "chow-liu", "independent"]}
    search = GridSearchCV(pipeline, grid, cv=2, error_score="raise").fit(data, frame()["colour"] == "red")
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    alone = LatentTree("chow-liu", random_state=0).fit(data)
    assert alone.get_feature_names_out().tolist() == ["log-likelihood"]
    np.testing.assert_array_equal(alone.transform(data)["log-likelihood"], alone.score_samples(data))
    assert alone.predict(data).shape == alone.predict_proba(data).shape == (300, 0)


def test_the_reliability_of_scores_as_a_frame():
    data = frame()
    fitted = quick().fit(data)
    found = fitted.reliability(data)
    expected = reliability(fitted.model_, data)
    assert found["group"].tolist() == [one.name for one in expected]
    assert found["columns"].tolist() == [one.n_columns for one in expected]
    assert found["reliability"].tolist() == [one.reliability for one in expected]
    assert found["alpha"].isna().tolist() == [one.alpha is None for one in expected]
    weights = np.arange(300) % 3
    weighted = fitted.reliability(data, sample_weight=weights)
    repeated = fitted.reliability(data.loc[data.index.repeat(weights)])
    np.testing.assert_allclose(weighted["reliability"], repeated["reliability"], rtol=1e-9)


def test_the_seed_decides():
    drawn = [LatentTree(random_state=seed).fit(frame(100)).sample(20) for seed in (1, 1, 2)]
    pd.testing.assert_frame_equal(drawn[0], drawn[1])
    assert not drawn[0].equals(drawn[2])


def test_a_report_replaces_a_file_unless_told_not_to(tmp_path):
    fitted = quick().fit(frame(50))
    path = tmp_path / "report.html"
    path.write_text("old")
    with pytest.raises(InputError, match="already exists"):
        fitted.report(path, overwrite=False)
    assert path.read_text() == "old"
    fitted.report(path)
    assert path.read_text().startswith("<!doctype html>")


def test_learn_tree_and_the_estimator_agree():
    assert learn_tree(frame(), random_state=3).to_newick() == LatentTree(random_state=3).fit(frame()).tree_.to_newick()


def test_it_works_inside_scikit_learn():
    numbers = frame()[["count", "size", "level"]].assign(more=lambda f: f["size"] * 2 + f["level"])
    scores = cross_val_score(
        LatentTree(goal="predict", bins=3, random_state=0), numbers.drop(columns=["count", "level"]), cv=3
    )
    assert np.isfinite(scores).all()
    assert make_pipeline(StandardScaler(), clone(LatentTree(random_state=0))).fit_transform(numbers).shape[0] == 300


def test_weights():
    data = frame(100)
    weights = np.arange(100) % 3
    settings = {"n_states": 4, "smoothing": 0.1, "random_state": 0}
    weighted = LatentTree("tensor", **settings).fit(data, sample_weight=weights)
    repeated = LatentTree("tensor", **settings).fit(data.loc[data.index.repeat(weights)])
    assert weighted.summary_["log_likelihood"] == pytest.approx(repeated.summary_["log_likelihood"], rel=1e-9)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"method": "magic"}, "unknown method 'magic'; known: auto, tensor"),
        ({"n_states": 0}, "n_states"),
        ({"n_states": 2.5}, "n_states"),
        ({"bootstrap": -1}, "bootstrap must be a whole number of at least 0, not -1"),
        ({"bootstrap": 2.5}, "bootstrap"),
        ({"bootstrap": True}, "bootstrap"),
        ({"bootstrap": None}, "bootstrap"),
        ({"smoothing": -1}, "smoothing"),
        ({"smoothing": "auto"}, "smoothing"),
        ({"goal": "describe"}, "goal must be one of 'explain', 'predict', not 'describe'"),
        ({"resolve": "some"}, "resolve must be one of 'fewest', 'tested', 'all', not 'some'"),
        ({"tolerance": float("nan")}, "tolerance"),
        ({"method": "tensor", "representatives": "farthest"}, "must be one of 'nearest', 'random', not 'farthest'"),
        ({"representatives": "random"}, "'auto' has no representatives"),
        ({"bins": 1}, "bins"),
        ({"bins": 2.5}, "bins"),
        ({"n_states": True}, "n_states"),
        ({"tolerance": None}, "tolerance"),
        ({"random_state": -1}, "random_state"),
        ({"random_state": "x"}, "random_state"),
    ],
)
def test_a_senseless_parameter_is_named(parameters, message):
    with pytest.raises(InputError, match=message):
        LatentTree(**parameters).fit(frame())


def test_an_unseen_category_is_named():
    fitted = quick().fit(frame())
    with pytest.raises(InputError, match=r"'colour'.*'purple'"):
        fitted.score(frame().assign(colour="purple"))


def test_columns_that_say_nothing_are_left_out_and_named():
    data = frame()
    data.insert(1, "one", 1)
    data["none"] = None
    fitted, without = quick().fit(data), quick().fit(frame())
    warning = "2 columns that say nothing are left out: 'one' (every cell is '1'), 'none' (no value)."
    assert fitted.summary_["warnings"][0] == warning
    assert list(fitted.summary_["left_out"]) == ["one", "none"]
    assert fitted.tree_.to_newick() == without.tree_.to_newick()
    assert fitted.labels_.tolist() == [without.labels_[0], -1, *without.labels_[1:], -1]
    # New data have these columns, too, with any values.
    new = data.assign(one=range(300), none="x")
    np.testing.assert_array_equal(fitted.score_samples(new), without.score_samples(frame()))
    holed = new.copy()
    holed.loc[3, "size"] = np.nan
    filled = fitted.impute(holed)
    assert filled["size"].notna().all()
    assert filled.drop(columns="size").equals(new.drop(columns="size"))


def test_an_array_may_have_columns_that_say_nothing():
    data = frame()[["count", "size", "level"]].to_numpy(dtype=float)
    wide = np.column_stack([data[:, :1], np.zeros(len(data)), data[:, 1:]])
    fitted, without = (
        LatentTree("lcm", n_states=2, random_state=0).fit(wide),
        LatentTree("lcm", n_states=2, random_state=0).fit(data),
    )
    assert fitted.tree_.names == ("x0", "x2", "x3")
    np.testing.assert_array_equal(fitted.score_samples(wide), without.score_samples(data))
    holed = wide.copy()
    holed[5, 3] = np.nan
    filled = fitted.impute(holed)
    assert not np.isnan(filled).any()
    np.testing.assert_array_equal(filled[:, :3], wide[:, :3])
    named = LatentTree("lcm", n_states=2, random_state=0).fit(pd.DataFrame(wide, columns=list("abcd")))
    with pytest.warns(UserWarning, match="valid feature names"):
        np.testing.assert_array_equal(named.score_samples(wide), without.score_samples(data))


def test_masked_cells_are_missing():
    data = frame()[["count", "size", "level"]].to_numpy(dtype=float)
    mask = np.random.default_rng(0).random(data.shape) < 0.2
    fitted = LatentTree("lcm", n_states=2, random_state=0).fit(np.ma.masked_array(data, mask))
    expected = LatentTree("lcm", n_states=2, random_state=0).fit(np.where(mask, np.nan, data))
    assert fitted.summary_["missing_cells"] == mask.sum()
    assert fitted.summary_["log_likelihood"] == expected.summary_["log_likelihood"]


def test_lazy_frames_and_names_that_repeat():
    lazy = pl.LazyFrame(frame().to_dict("list"))
    fitted = quick().fit(lazy)
    assert isinstance(fitted.transform(lazy), pl.DataFrame)
    assert isinstance(fitted.impute(lazy), pl.DataFrame)
    with pytest.raises(InputError, match="column name 'a' appears twice"):
        quick().fit(pd.DataFrame([[1, 2], [3, 4]], columns=["a", "a"]))


def test_warnings_are_in_the_summary():
    data, _ = with_holes(frame(60))
    data.loc[:40, "colour"] = None
    data.loc[20:, "size"] = np.nan
    warnings = " | ".join(quick(max_iterations=1).fit(data).summary_["warnings"])
    for part in (
        "EM was stopped after 1 iteration before",
        "60 rows are few",
        "'colour' and 'size' are missing in more than half",
        "'colour' and 'size' are never",
    ):
        assert part in warnings


def easy_codes(n_rows=200):
    tree = random_tree(6, 0.5, 0)
    model = random_model(tree, n_states=3, hidden_states=2, start="identity", perturbation=0.1, random_state=0)
    return model.sample(n_rows, 0).codes()


def test_the_estimator_passes_every_setting_on():
    codes = easy_codes()
    chosen = {
        "method": "tensor",
        "representatives": "random",
        "n_states": 3,
        "smoothing": 2.0,
        "tolerance": 1e-3,
        "random_state": 5,
    }
    fitted = LatentTree(**chosen).fit(codes)
    learned = learn_model(as_table(codes), Settings(**chosen))
    assert all((a == b).all() for a, b in zip(fitted.model_.tables, learned.model.tables, strict=True))
    assert fitted.n_iter_ == fitted.summary_["iterations"] == learned.fit.iterations > 1
    np.testing.assert_array_equal(fitted.sample(30), fitted.model_.sample(30, 5).codes())
    posteriors = fitted.model_.posteriors(codes)
    np.testing.assert_array_equal(fitted.predict_proba(codes, of="hidden"), np.hstack(list(posteriors.values())))


@pytest.mark.parametrize("goal", ["explain", "predict"])
def test_what_is_not_told_is_chosen_for_the_goal(goal):
    options = {"n_states": 3, "hidden_states": 3, "start": "identity", "perturbation": 0.1, "random_state": 0}
    codes = random_model(random_tree(6, 0.5, 0), **options).sample(1500, 0).codes()
    fitted = LatentTree("nj", goal=goal, random_state=5).fit(codes)
    learned = learn_model(as_table(codes), Settings("nj", goal=goal, random_state=5))
    summary = fitted.summary_
    assert all((a == b).all() for a, b in zip(fitted.model_.tables, learned.model.tables, strict=True))
    assert list(summary)[1:3] == ["method", "goal"]
    assert summary["goal"] == summary["settings"]["goal"] == goal
    assert summary["settings"]["n_states"] is None
    assert summary["smoothing"] == learned.smoothing in SMOOTHINGS
    told = LatentTree("nj", n_states=3, smoothing=0.7, random_state=5).fit(codes).summary_
    assert (told["settings"]["n_states"], told["n_states"], told["smoothing"]) == (3, 3, 0.7)


def uneven_codes(n_rows=1000):
    """Three columns that follow a hidden variable of four states, and three that follow its parity."""
    rng = np.random.default_rng(0)
    hidden = np.repeat(rng.integers(0, 4, (n_rows, 1)), 6, axis=1)
    codes = np.where(rng.random(hidden.shape) < 0.85, hidden, rng.integers(0, 4, hidden.shape))
    codes[:, 3:] %= 2
    return codes


def test_hidden_variables_have_what_the_learner_finds_or_what_it_is_told():
    found = LatentTree("hw", random_state=0).fit(uneven_codes())
    structure = learn_model(as_table(uneven_codes()), Settings("hw", random_state=0)).structure
    assert found.summary_["n_states"] == list(structure.n_states) == found.model_.n_states[6:].tolist()
    assert set(structure.n_states) == {2, 4}
    for method, told, n_hidden in (("hw", 3, 4), ("tensor", 2, 4), ("auto", 3, 1)):
        fitted = LatentTree(method, n_states=told, random_state=0).fit(uneven_codes())
        assert fitted.summary_["n_states"] == told
        assert fitted.model_.n_states[6:].tolist() == [told] * n_hidden
    alike = LatentTree("hw", random_state=0).fit(uneven_codes()[:, 3:])
    assert alike.summary_["n_states"] == 2


def test_a_bootstrap_gives_support_and_changes_nothing_else():
    codes = easy_codes(100)
    plain, found = (quick(bootstrap=number).fit(codes) for number in (0, 5))
    tree = found.tree_
    assert plain.summary_["support"] == {}
    assert np.isnan(plain.tree_.support).all()
    np.testing.assert_array_equal(tree.edges, plain.tree_.edges)
    inner = [min(edge) >= 6 for edge in tree.edges.tolist()]
    np.testing.assert_array_equal(~np.isnan(tree.support), inner)
    assert np.nanmax(tree.support) > 0.5
    ends = [f"{tree.node_names[u]}-{tree.node_names[v]}" for u, v in tree.edges[inner].tolist()]
    assert found.summary_["support"] == dict(zip(ends, tree.support[inner].tolist(), strict=True))


def test_replicates_do_not_meddle_with_the_progress_of_the_tree():
    told = {}
    learn_model(
        as_table(easy_codes(100)),
        Settings("tensor", n_states=2, smoothing=0.1, bootstrap=3, random_state=0),
        lambda stage, at_most=False: lambda *numbers: told.setdefault(stage, []).append(numbers),
    )
    assert told["Resampling the rows"] == [(1, 3), (2, 3), (3, 3)]
    building = [done for done, _ in told["Building the tree"]]
    assert building == sorted(set(building))


@pytest.mark.parametrize("told", [None, 3])
def test_em_starts_from_what_the_learner_found_unless_the_number_of_states_is_told(told):
    table = as_table(uneven_codes()[:, 3:])
    learned = learn_model(table, Settings("hw", n_states=told, smoothing=0, random_state=0))
    tree = learned.model.tree
    start = LatentTreeModel(tree, table.columns, start_from(table, tree, learned.structure.edge_tables))
    first = learned.fit.monitor.history[0]
    assert learned.structure.n_states == (2,)
    assert (first == pytest.approx(start.log_likelihood(table), rel=1e-12)) == (told is None)


def test_the_report_tells_the_numbers_of_states():
    for columns, told, words in (
        (slice(6), None, "4 hidden variables of 2 to 4 states (method: hw)"),
        (slice(3, 6), None, "1 hidden variable of 2 states (method: hw)"),
        (slice(6), 1, "4 hidden variables of 1 state (method: hw)"),
    ):
        learned = learn_model(as_table(uneven_codes()[:, columns]), Settings("hw", n_states=told, random_state=0))
        facts = learned.report().rpartition("\n\n")[2].splitlines()
        assert facts[1] == words


def test_missing_words_reach_the_table():
    cells = easy_codes().astype(object)
    cells[::7, 0] = "?"
    assert quick(missing=["?"]).fit(cells).summary_["missing_cells"] == len(cells[::7])


def test_impute_of_an_array_fills_each_row_with_its_own():
    codes = easy_codes(2000).astype(float)
    fitted = LatentTree(n_states=3, random_state=0).fit(codes)
    codes[::3, 1] = np.nan
    np.testing.assert_array_equal(fitted.impute(codes), fitted.model_.complete(codes).codes())


def test_impute_widens_the_type_of_an_array_where_it_must():
    words = np.array(["a", "b", "c"])[easy_codes(500)].astype("<U5")
    words[:, 0] = np.array(["green", "x", "y"])[easy_codes(500)[:, 0]]
    fitted = quick().fit(words)
    short = words[:50].copy()
    short[:, 0] = ""
    assert "green" in fitted.impute(short.astype("<U1"))[:, 0]
    numbers = easy_codes(500) + 0.5
    whole = np.full((1, 6), -9)
    imputed = quick(missing=["-9"]).fit(numbers).impute(whole)
    assert set(imputed[0]) <= {0.5, 1.5, 2.5}


def test_frames_with_numbers_for_names():
    data = pd.DataFrame(easy_codes().astype(float))
    fitted = quick().fit(data)
    data.iloc[3, 2] = np.nan
    assert fitted.impute(data).iloc[3, 2] in (0, 1, 2)


def test_the_summary_adds_up():
    data, holes = with_holes(frame())
    summary = LatentTree(n_states=3, max_iterations=1, random_state=0).fit(data).summary_
    model = LatentTree(n_states=3, max_iterations=1, random_state=0).fit(data).model_
    assert summary["missing_cells"] == holes.sum()
    assert summary["binned_columns"] == 1
    hidden = model.tree.n_hidden
    assert (summary["n_rows"], summary["n_columns"], summary["n_hidden"], summary["n_states"]) == (300, 6, hidden, 3)
    assert (summary["converged"], summary["iterations"], summary["settings"]["random_state"]) == (False, 1, 0)
    assert summary["n_parameters"] == model.n_parameters
    assert summary["aic"] == pytest.approx(model.aic(data), rel=1e-12)
    assert summary["bic"] == pytest.approx(model.bic(data), rel=1e-12)
    assert summary["settings"]["max_iterations"] == 1
    assert len(summary["warnings"]) == 1


def test_a_clean_table_gives_no_warning():
    assert LatentTree(n_states=2, random_state=0).fit(easy_codes(1000)).summary_["warnings"] == []


def test_many_warnings_of_one_kind_are_one():
    codes = easy_codes().astype(float)
    for column in range(6):
        codes[np.arange(200) % 6 != column, column] = np.nan
    warnings = quick().fit(codes).summary_["warnings"]
    assert len(warnings) == 2
    assert warnings[0].startswith("6 columns, such as 'x0', 'x1' and 'x2', are missing in more than half of the rows")
    assert warnings[1].startswith("15 pairs of columns, such as 'x0' and 'x1', are never present in the same row")


def test_learn_tree_takes_weights_bins_and_missing():
    data = frame(200)
    weights = np.where(np.arange(200) < 60, 5, 0)
    weighted = learn_tree(data, method="tensor", weights=weights, random_state=0)
    assert weighted.to_newick() == learn_tree(data.head(60), method="tensor", random_state=0).to_newick()
    assert weighted.to_newick() != learn_tree(data, method="tensor", random_state=0).to_newick()
    with pytest.raises(InputError, match="bins"):
        learn_tree(data, bins=1)
    assert "colour" not in learn_tree(data, method="nj", missing=["red", "green", "blue", "white"]).names
    with pytest.raises(InputError, match="its own columns and weights"):
        learn_tree(as_table(data), weights=weights)


def test_no_warning_if_em_converges_at_the_last_allowed_iteration():
    settings = {"n_states": 4, "smoothing": 0.1, "random_state": 0}
    needed = LatentTree("nj", **settings).fit(easy_codes(1000)).n_iter_
    for allowed, warned in ((needed, False), (needed - 1, True)):
        summary = LatentTree("nj", max_iterations=allowed, **settings).fit(easy_codes(1000)).summary_
        assert summary["converged"] is not warned
        assert any("EM was stopped" in warning for warning in summary["warnings"]) is warned


def test_a_fitted_estimator_shows_its_tree():
    new = LatentTree(method="lcm", n_states=2, smoothing=0.1, random_state=0)
    with pytest.raises(NotFittedError):
        new.plot()
    assert "sk-" in new._repr_html_()
    assert "sk-" in new._repr_mimebundle_()["text/html"]
    rng = np.random.default_rng(0)
    codes = np.where(rng.random((80, 5)) < 0.8, rng.integers(0, 2, (80, 1)), rng.integers(0, 2, (80, 5)))
    table = as_table(codes, names=["<script>x</script>", "b", "c", "d", "e"])
    fitted = new.fit(table)
    bundle = fitted._repr_mimebundle_(include=None, exclude=None)
    assert bundle["text/plain"] == repr(fitted)
    html = bundle["text/html"]
    assert html == fitted._repr_html_()
    root = ElementTree.fromstring(html)
    assert "script" not in {element.tag for element in root.iter()}
    assert "sk-" not in html
    shown = [element.text for element in root.iter("div")]
    assert "One hidden variable with 2 states explains 5 columns" in shown
    assert fitted.summary_["worth"]["headline"] in shown
    assert fitted.plot().to_svg() == plot(fitted.model_).to_svg()
    assert "<script>x</script>" in written(root)
    with sklearn.config_context(display="text"):
        assert not hasattr(fitted, "_repr_html_")
        assert "text/html" not in fitted._repr_mimebundle_()


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_samples_of_ordered_categories_are_ordered_categories(library):
    grades = ["low", "mid", "high"]
    codes = np.random.default_rng(0).integers(0, 3, (60, 3))
    cells = {f"q{j}": [grades[code] for code in codes[:, j]] for j in range(3)}
    if library == "pandas":
        frame = pd.DataFrame({name: pd.Categorical(cells[name], grades, ordered=True) for name in cells})
    else:
        frame = pl.DataFrame(cells, schema=dict.fromkeys(cells, pl.Enum(grades)))
    model = LatentTree(method="lcm", n_states=2, random_state=0).fit(frame)
    assert list(model.sample(5).dtypes) == list(frame.dtypes)


def test_groups_and_labels_of_columns():
    tree = Tree.from_newick("((a,b,c,d),(e,f,g,h));")
    true = copying_model(tree, lambda node, parent: 0.3 if min(node, parent) >= 8 else 0.8)
    table = true.sample(2000, random_state=0)
    fitted = LatentTree("nj", n_states=2, random_state=0).fit(table)
    assert fitted.groups_ == find_groups(fitted.model_, table, resamples=RESAMPLES)
    assert [group.stability for group in fitted.groups_ if group.level == "main"] == [1.0, 1.0]
    assert [set(group.columns) for group in fitted.groups_ if group.level == "main"] == [set("abcd"), set("efgh")]
    assert fitted.labels_.tolist() == [0, 0, 0, 0, 1, 1, 1, 1]
    assert fitted.summary_["n_groups"] == 2
    lonely = LatentTree("independent", random_state=0).fit(np.arange(40).reshape(10, 4) % 3)
    assert (lonely.groups_, lonely.labels_.tolist(), lonely.summary_["n_groups"]) == ([], [-1] * 4, 0)


def test_labels_name_groups_and_names_can_be_changed(tmp_path):
    tree = Tree.from_newick("((a,b,c,d),(e,f,g,h));")
    true = copying_model(tree, lambda node, parent: 0.3 if min(node, parent) >= 8 else 0.8)
    table = true.sample(2000, random_state=0)
    labels = dict.fromkeys("abcd", "mood") | {"unknown": "other"}
    fitted = clone(LatentTree("nj", n_states=2, labels=labels, random_state=0)).fit(table)
    assert fitted.groups_[0].name == fitted.summary_["groups"][0]["name"] == "mood"
    hidden = fitted.groups_[0].hidden
    assert fitted.rename({"mood": "temper"}) is fitted
    assert fitted.groups_[0].name == fitted.summary_["groups"][0]["name"] == "temper"
    assert next(iter(fitted.summary_["reliability"])) == "temper"
    assert fitted.model_.node("temper") == fitted.model_.node(hidden)
    fitted.report(tmp_path / "report.html")
    assert '"names":["mood"]}' in (tmp_path / "report.html").read_text()  # the labels that colour the drawing
    with pytest.raises(InputError, match="such as 'z', is one of the columns"):
        LatentTree("nj", labels={"z": "mood"}).fit(table)
    with pytest.raises(NotFittedError):
        LatentTree().rename({"H1": "mood"})


def test_labels_may_be_a_file_and_unknown_ones_are_warned_about(tmp_path):
    rows = random_model(Tree.from_newick("((a,b),c,d);"), n_states=2, random_state=1).sample(200, 1)
    frame = pd.DataFrame(rows.decode())
    path = tmp_path / "labels.csv"
    path.write_text("column,label\na,one\nb,one\ne,two\n")
    by_file, by_mapping = (
        LatentTree(method="nj", n_states=2, labels=labels, random_state=0).fit(frame)
        for labels in (str(path), {"a": "one", "b": "one", "e": "two"})
    )
    assert by_file.groups_ == by_mapping.groups_
    assert by_file.summary_["warnings"] == by_mapping.summary_["warnings"]
    assert "there is a label for 'e', which is not a column" in by_file.summary_["warnings"][0]
    by_file.report(tmp_path / "report.html")
    assert (tmp_path / "report.html").exists()


def odd_frame():
    """Return columns that `latree check` has something to say about, and an order that only people know."""
    data = frame(n_rows=200)
    often = pd.Series(["never", "sometimes", "often", "always"])[data["count"]].to_numpy()
    age = np.where(np.arange(len(data)) % 10 == 0, -99, data["count"] + 20)
    return data.assign(person=[f"p{row}" for row in range(len(data))], planet="earth", age=age, often=often)


def test_what_check_finds_is_a_warning_before_the_fit_that_names_arguments(monkeypatch):
    data = odd_frame().drop(columns="person").assign(copy=lambda f: f["count"])
    with pytest.warns(FitWarning) as caught:
        fitted = quick().fit(data)
    told = [str(one.message) for one in caught]
    assert told == fitted.summary_["warnings"]
    assert {one.filename for one in caught} == {__file__}
    assert "'planet' (every cell is 'earth')" in told[0]
    assert any("'age' has -99 in 20 rows" in text and text.endswith("use missing_also=[-99].") for text in told)
    assert any("use drop=['often', 'copy']." in text for text in told)
    monkeypatch.setattr("latree.estimator.learn_model", lambda *_, **__: 1 / 0)
    with pytest.warns(FitWarning, match="planet"), pytest.raises(ZeroDivisionError):
        quick().fit(data)


def test_how_to_read_the_data_is_said_to_the_estimator(tmp_path):
    data = odd_frame()
    order = ["never", "sometimes", "often", "always"]
    how = {"drop": ["planet"], "identifier": "person", "missing_also": [-99], "ordered": {"often": order}}
    fitted = quick(**how).fit(data)
    assert fitted.model_.columns == as_table(data, **how).columns
    assert fitted.model_.columns[-1].categories == tuple(order)
    assert not any("-99" in warning for warning in fitted.summary_["warnings"])
    assert fitted.model_.record.identifier == "person"
    scores = fitted.transform(data)
    assert scores.equals(fitted.transform(data.assign(age=data.age.replace(-99, np.nan))))
    fitted.report(tmp_path / "report.html", data)
    rare = data.person[fitted.score_samples(data).argmin()]
    assert f"{rare}<" in (tmp_path / "report.html").read_text()
    kept = quick(keep=["count", "size", "level", "grade"]).fit(data)
    assert kept.tree_.names == ("count", "size", "grade", "level")


def test_columns_that_are_not_learned_from_may_be_absent_in_new_data():
    data = odd_frame()
    fitted = quick(drop=["planet"], identifier="person").fit(data.assign(w=1), sample_weight="w")
    scores = fitted.transform(data)
    assert "w" not in fitted.feature_names_in_
    assert len(fitted.labels_) == fitted.n_features_in_ == len(data.columns) - 2
    assert fitted.transform(data.drop(columns=["planet", "person"])).equals(scores)
    assert fitted.impute(data).person.equals(data.person)
    with pytest.raises(ValueError, match="age"):
        fitted.transform(data.drop(columns="age"))
    kept = quick(keep=["count", "size", "level"]).fit(data)
    assert kept.transform(data).equals(kept.transform(data[["count", "size", "level"]]))


def test_a_model_of_a_table_or_file_takes_frames_with_more_columns(tmp_path):
    data = odd_frame()
    data.to_csv(tmp_path / "data.csv", index=False)
    for given in (as_table(data, drop=["person"]), tmp_path / "data.csv"):
        fitted = quick(drop=["person"] * (not isinstance(given, Table))).fit(given)
        assert fitted.transform(data).equals(fitted.transform(data.drop(columns=["person", "planet"])))


def as_texts(data):
    """Return the cells of a frame or an array as texts, in which NaN is equal to itself."""
    return np.asarray(data.to_pandas() if isinstance(data, pa.Table) else data, dtype=object).astype(str).tolist()


def same_answers(one, other, data):
    """Assert that two estimators say the same about data."""
    asked = ("transform", "predict", "predict_proba", "impute", "impute_proba", "reliability", "score_samples")
    pairs = [(getattr(one, ask)(data), getattr(other, ask)(data)) for ask in asked]
    pairs += [(getattr(one, ask)(), getattr(other, ask)()) for ask in ("loadings", "profiles", "sample")]
    for told, again in pairs:
        assert type(told) is type(again)
        assert as_texts(told) == as_texts(again)
    assert one.groups_ == other.groups_
    assert one.labels_.tolist() == other.labels_.tolist()
    assert one.tree_.to_newick() == other.tree_.to_newick()
    assert other.summary_ == {key: value for key, value in one.summary_.items() if key != "seconds"}


@pytest.mark.parametrize("kind", [*CONVERT, "array"])
def test_a_saved_estimator_says_the_same(kind, tmp_path):
    data = odd_frame().drop(columns="often")
    how = {"drop": ["planet"], "identifier": "person", "missing_also": [-99], "unseen": "missing", "goal": "predict"}
    how |= {"labels": {"count": "how much", "size": "how much", "level": "how much"}}
    given = CONVERT.get(kind, lambda f: f)(data)
    if kind == "array":
        how, given = {}, data[["count", "size", "level", "age", "age"]].assign(constant=1).to_numpy(dtype=float)
        given[::7, 1] = np.nan
    fitted = quick(**how).fit(given).rename({"H1": "first"})
    fitted.save(tmp_path / "model.json")
    loaded = LatentTree.load(tmp_path / "model.json")
    same_answers(fitted, loaded, given)
    for name in ("one", "other"):
        (fitted if name == "one" else loaded).report(tmp_path / name, given)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "other").read_bytes()
    told, again = fitted.get_params(), loaded.get_params()
    for name in ("missing", "missing_also"):  # these are put together
        told.pop(name), again.pop(name)
    assert again | {"drop": list(again["drop"])} == told | {"drop": list(told["drop"])}
    with pytest.raises(ValueError, match="feature"):
        loaded.transform(given[:, :3] if kind == "array" else CONVERT[kind](data[["size", "level"]]))


def test_what_the_command_line_fitted_can_be_loaded_and_what_was_saved_works_there(tmp_path):
    data = frame(100)
    data.assign(id=range(len(data)), w=1).to_csv(tmp_path / "data.csv", index=False)
    how = ["--method", "nj", "--states", 3, "--smoothing", 0.1]
    succeed("fit", tmp_path / "data.csv", "--out", tmp_path / "run", "--drop", "id,w", "--quiet", *how)
    loaded = LatentTree.load(tmp_path / "run")
    same_answers(quick(drop=["id", "w"]).fit(tmp_path / "data.csv"), loaded, data)
    assert json.loads((tmp_path / "run" / "summary.json").read_bytes()) | {"seconds": 0} == json.loads(
        json.dumps(loaded.summary_ | {"seconds": 0})
    )
    loaded.rename({loaded.groups_[0].name: "first"}).save(tmp_path / "again.json")
    assert "first" in succeed("groups", tmp_path / "again.json")


def test_files_that_are_no_estimators_are_refused(tmp_path):
    with pytest.raises(NotFittedError):
        quick().save(tmp_path / "model.json")
    random_model(random_tree(4, 0.5, 0), n_states=2, random_state=0).save(tmp_path / "model.json")
    with pytest.raises(InputError, match=r": this model was not fitted.*LatentTreeModel\.load"):
        LatentTree.load(tmp_path)
    quick().fit(frame(50)).save(tmp_path / "model.json")
    plain = json.loads((tmp_path / "model.json").read_text())
    plain["fit"]["reliability"] = []
    (tmp_path / "model.json").write_text(json.dumps(plain))
    with pytest.raises(InputError, match=r"model.json: the fit's reliability has 0 pairs for \d scores"):
        LatentTree.load(tmp_path / "model.json")
