"""The estimator: what it learns and says, and how it works inside scikit-learn."""

import warnings
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from helpers.estimator import easy_codes, fitted_quickly, frame, quick, with_holes
from helpers.models import copying_model
from helpers.pictures import written
from latree import FitWarning, InputError, LatentTree, Reading, Tree, plot
from latree.interpret.groups import find_groups
from latree.interpret.reliability import reliability
from latree.learn import learn_model
from latree.model.fitting import SMOOTHINGS
from latree.paper.simulate import random_model, random_tree
from latree.settings import Settings
from latree.table import as_table

MANY_COLUMNS = "predict returns one column per group, as for dense data"


def expected_to_fail(estimator):
    """Return the checks that do not hold, and why."""
    return {
        "check_sample_weight_equivalence_on_sparse_data": "its cells are all there, and presence is constant",
        "check_estimator_sparse_array": MANY_COLUMNS,
        "check_estimator_sparse_matrix": MANY_COLUMNS,
    }


@parametrize_with_checks([LatentTree(random_state=0, max_iter=50)], expected_failed_checks=expected_to_fail)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def test_no_rows_and_no_fit_are_said():
    with pytest.raises(NotFittedError):
        LatentTree().score(frame())
    with pytest.raises(InputError, match="no rows"):
        fitted_quickly().score(frame().head(0))
    with pytest.raises(InputError, match="at least 1"):
        fitted_quickly().sample(0)


def test_all_bad_columns_are_named_at_once():
    data = frame().assign(**{f"key{j}": [f"k{i}" for i in range(300)] for j in range(8)})
    with pytest.raises(InputError, match=r"'key0' has a .*identifier='key0' .*'key7' has a .*drop=.*'key7'") as caught:
        LatentTree().fit(data)
    assert "\n" not in str(caught.value)


def test_score_is_the_mean_of_score_samples():
    fitted = LatentTree(n_states=3, random_state=0).fit(frame())
    rows = fitted.score_samples(frame())
    assert fitted.score(frame()) == pytest.approx(rows.mean(), rel=1e-12)
    categories = frame()[["count", "colour", "level"]]
    fitted = LatentTree(n_states=3, random_state=0).fit(categories)
    assert fitted.score(categories) == pytest.approx(fitted.summary_["log_likelihood"] / 300, rel=1e-12)


def test_methods_without_hidden_variables_do_not_break_a_grid_search():
    data = frame()[["count", "size", "level", "flag"]].astype(float)
    pipeline = make_pipeline(LatentTree(n_states=2, random_state=0), LogisticRegression())
    grid = {"latenttree__method": ["nj", "chow-liu", "independent"]}
    search = GridSearchCV(pipeline, grid, cv=2, refit=False, error_score="raise").fit(data, frame()["colour"] == "red")
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    alone = LatentTree("chow-liu", random_state=0).fit(data)
    assert alone.get_feature_names_out().tolist() == ["log-density"]
    np.testing.assert_array_equal(alone.transform(data)["log-density"], alone.score_samples(data))
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
    fitted = [LatentTree(random_state=seed).fit(frame(100)) for seed in (1, 1, 2)]
    assert fitted[0].tree_.to_newick() == fitted[1].tree_.to_newick()
    drawn = [fitted[0].sample(20, seed) for seed in (1, 1, 2, None, None)]
    pd.testing.assert_frame_equal(drawn[0], drawn[1])
    assert not drawn[0].equals(drawn[2])
    assert not drawn[3].equals(drawn[4])
    holed = frame(100).assign(size=np.nan)
    filled = [fitted[0].impute(holed, "draw", random_state=seed) for seed in (1, 1, None, None)]
    pd.testing.assert_frame_equal(filled[0], filled[1])
    assert not filled[2].equals(filled[3])


def test_a_report_replaces_a_file_unless_told_not_to(tmp_path):
    fitted = quick().fit(frame(50))
    path = tmp_path / "report.html"
    path.write_text("old")
    with pytest.raises(InputError, match="already exists"):
        fitted.report(path, overwrite=False)
    assert path.read_text() == "old"
    fitted.report(path)
    assert path.read_text().startswith("<!doctype html>")


def test_it_works_inside_scikit_learn():
    numbers = frame()[["count", "size", "level"]].assign(more=lambda f: f["size"] * 2 + f["level"])
    scores = cross_val_score(
        LatentTree(goal="predict", reading={"bins": 3}, smoothing=0.1, random_state=0),
        numbers.drop(columns=["count", "level"]),
        cv=2,
    )
    assert np.isfinite(scores).all()
    assert make_pipeline(StandardScaler(), clone(LatentTree(random_state=0))).fit_transform(numbers).shape[0] == 300


@pytest.mark.parametrize("form", ["integers", "frame", "floats with holes"])
def test_numbers_can_be_cross_validated_whatever_numbers_a_fold_has(form):
    """In a fold, a column of counts may have few numbers, others than the rest, and no fractions."""
    rng = np.random.default_rng(0)
    counts = rng.poisson(4 + 5 * rng.integers(0, 2, 60)[:, None], (60, 5)).astype(float)
    counts[0] = 300.5
    if form == "floats with holes":
        counts[rng.random(counts.shape) < 0.1] = np.nan
    data = counts if "floats" in form else pd.DataFrame(np.floor(counts).astype(int), columns=list("abcde"))
    data = data.to_numpy() if form == "integers" else data
    assert np.isfinite(cross_val_score(quick(), data, cv=3, error_score="raise")).all()
    settings = {"reading": [{"bins": 0}, {"bins": 2}]}
    search = GridSearchCV(quick(), settings, cv=2, refit=False, error_score="raise").fit(data)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    one_way = quick().fit(data[:20])
    for ask in (one_way.transform, one_way.predict, one_way.predict_proba, one_way.impute, one_way.score_samples):
        assert len(ask(data)) == 60


def test_weights():
    data = frame(100)
    weights = np.arange(100) % 3
    settings = {"n_states": 4, "smoothing": 0.1, "random_state": 0}
    weighted = LatentTree("tensor", **settings).fit(data, sample_weight=weights)
    repeated = LatentTree("tensor", **settings).fit(data.loc[data.index.repeat(weights)])
    assert weighted.summary_["log_likelihood"] == pytest.approx(repeated.summary_["log_likelihood"], rel=1e-9)


def test_noise_has_no_groups_however_much_rows_of_a_survey_weigh():
    noise = np.random.default_rng(0).integers(0, 2, (200, 8))
    plain = LatentTree(random_state=0).fit(noise)
    assert plain.groups_ == []
    for weight in (1e-300, 10.0, 1000.0):
        found = LatentTree(reading={"weights_are": "survey"}, random_state=0).fit(
            noise, sample_weight=np.full(200, weight)
        )
        assert found.groups_ == []
        assert found.summary_["bic"] == plain.summary_["bic"]
        assert found.tree_.to_newick() == plain.tree_.to_newick()
    # scikit-learn's meaning is kept: it finds what is not there, and a warning says why.
    with pytest.warns(FitWarning, match=r"200 rows count as 200000. Use weights_are='survey'"):
        counted = quick().fit(noise, sample_weight=np.full(200, 1000))
    assert counted.summary_["weights"]["effective_rows"] == 200_000
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        quick(reading={"weights_are": "counts"}).fit(noise, sample_weight=np.full(200, 1000))


def test_rows_are_scored_by_their_weights():
    data, weights = frame(), np.linspace(0, 3, 300)
    fitted = quick(reading={"weights_are": "survey"}).fit(data.assign(w=weights), sample_weight="w")
    expected = np.average(fitted.score_samples(data), weights=weights)
    assert fitted.score(data, sample_weight=weights) == pytest.approx(expected, rel=1e-6)
    assert fitted.score(data.assign(w=weights), sample_weight="w") == pytest.approx(expected, rel=1e-6)


def test_what_weights_are_is_checked():
    with pytest.raises(InputError, match="weights_are must be 'counts' or 'survey', not 'w': the weights"):
        quick(reading={"weights_are": "w"}).fit(frame())
    table = as_table(frame(), weights=np.arange(300) % 3)
    with pytest.raises(InputError, match="the weights of the Table are 'counts', not 'survey': pass weights_are"):
        quick(reading={"weights_are": "survey"}).fit(table)
    quick(reading={"weights_are": "counts"}).fit(table)
    with pytest.warns(FitWarning, match="weights_are='survey', but there is no sample_weight"):
        quick(reading={"weights_are": "survey"}).fit(frame())


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
        ({"resolve": "some"}, "resolve must be one of 'tested', 'all', not 'some'"),
        ({"tol": float("nan")}, "tol"),
        ({"method": "tensor", "representatives": "farthest"}, "must be one of 'nearest', 'random', not 'farthest'"),
        ({"representatives": "random"}, "'auto' has no representatives"),
        ({"reading": {"bins": 1}}, "bins"),
        ({"reading": {"bins": 2.5}}, "bins"),
        ({"n_states": True}, "n_states"),
        ({"tol": None}, "tol"),
        ({"random_state": -1}, "random_state"),
        ({"random_state": "x"}, "random_state"),
    ],
)
def test_a_senseless_parameter_is_named(parameters, message):
    with pytest.raises(InputError, match=message):
        LatentTree(**parameters).fit(frame())


def test_warnings_are_in_the_summary():
    data, _ = with_holes(frame(60))
    data.loc[:40, "colour"] = None
    data.loc[20:, "size"] = np.nan
    warnings = " | ".join(quick(max_iter=1, reading={"bins": 10}).fit(data).summary_["warnings"])
    for part in (
        "EM was stopped after 1 iteration before",
        "60 rows are few",
        "'colour' and 'size' are missing in more than half",
        "'colour' and 'size' are never",
    ):
        assert part in warnings


def test_the_estimator_passes_every_setting_on():
    codes = easy_codes()
    chosen = {
        "method": "tensor",
        "representatives": "random",
        "n_states": 3,
        "smoothing": 2.0,
        "tol": 1e-3,
        "random_state": 5,
    }
    fitted = LatentTree(**chosen).fit(codes)
    learned = learn_model(as_table(codes), Settings(**chosen))
    assert all((a == b).all() for a, b in zip(fitted.model_.tables, learned.model.tables, strict=True))
    assert fitted.n_iter_ == fitted.summary_["iterations"] == learned.fit.iterations > 1
    np.testing.assert_array_equal(fitted.sample(30, 5), fitted.model_.sample(30, 5).codes())
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


def test_the_summary_adds_up():
    data, holes = with_holes(frame())
    summary = LatentTree(n_states=3, max_iter=1, random_state=0).fit(data).summary_
    model = LatentTree(n_states=3, max_iter=1, random_state=0).fit(data).model_
    assert summary["missing_cells"] == holes.sum()
    assert summary["binned_columns"] == 1
    hidden = model.tree.n_hidden
    assert (summary["n_rows"], summary["n_columns"], summary["n_hidden"], summary["n_states"]) == (300, 6, hidden, 3)
    assert (summary["converged"], summary["iterations"], summary["settings"]["random_state"]) == (False, 1, 0)
    assert summary["n_parameters"] == model.n_parameters
    assert summary["aic"] == pytest.approx(model.aic(data), rel=1e-12)
    assert summary["bic"] == pytest.approx(model.bic(data), rel=1e-12)
    assert summary["settings"]["max_iter"] == 1
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


def test_no_warning_if_em_converges_at_the_last_allowed_iteration():
    settings = {"n_states": 4, "smoothing": 0.1, "random_state": 0}
    needed = LatentTree("nj", **settings).fit(easy_codes(1000)).n_iter_
    for allowed, warned in ((needed, False), (needed - 1, True)):
        summary = LatentTree("nj", max_iter=allowed, **settings).fit(easy_codes(1000)).summary_
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


def test_groups_and_labels_of_columns():
    tree = Tree.from_newick("((a,b,c,d),(e,f,g,h));")
    true = copying_model(tree, lambda node, parent: 0.3 if min(node, parent) >= 8 else 0.8)
    table = true.sample(2000, random_state=0)
    fitted = LatentTree("nj", n_states=2, random_state=0).fit(table)
    assert fitted.groups_ == find_groups(fitted.model_, table)
    assert [group.columns for group in fitted.groups(2)] == [group.columns for group in fitted.groups_[:2]]
    assert [len(group.columns) for group in fitted.groups(1)] == [8]
    assert fitted.summary_["levels"][1] == {"n_groups": 2, "comes_again": None}
    with pytest.raises(InputError, match="choose n"):
        fitted.groups(9)
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


def test_the_reading_is_a_parameter_like_all_others():
    for reading in (Reading(bins=3, drop=["colour"]), {"bins": 3, "drop": ["colour"]}):
        new = clone(quick(reading=reading))
        assert new.get_params()["reading"] == reading
        fitted = new.set_params(reading={"bins": 2}).fit(frame())
        assert "colour" in fitted.tree_.names
        assert next(column for column in fitted.model_.columns if column.name == "size").n_states == 2
    with pytest.raises(InputError, match="reading has no option 'weight'"):
        quick(reading={"weight": "w"}).fit(frame())
