"""Every form of data that the estimator takes, and the same form for what it returns."""

import warnings

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from scipy.sparse import csr_matrix

from helpers.estimator import CONVERT, easy_codes, fitted_quickly, frame, odd_frame, quick, with_holes
from latree import FitWarning, InputError, LatentTree, LatentTreeModel, Reading
from latree.interpret.scores import row_scores
from latree.paper.simulate import random_model, random_tree
from latree.table import Table, as_table


@pytest.fixture(scope="module")
def reference():
    return LatentTree(n_states=3, random_state=0).fit(frame())


@pytest.mark.parametrize("kind", CONVERT)
def test_every_kind_of_frame_gives_the_same_model(kind, reference):
    data = CONVERT[kind](frame())
    fitted = LatentTree(n_states=3, random_state=0).fit(data)
    assert fitted.summary_["log_likelihood"] == reference.summary_["log_likelihood"]
    assert fitted.tree_.to_newick() == reference.tree_.to_newick()
    drawn = fitted.sample(5)
    assert type(drawn) is type(data)
    assert drawn.shape == (5, 6)
    assert np.isfinite(fitted.score(drawn))


@pytest.mark.parametrize("kind", CONVERT)
def test_impute_fills_holes_and_touches_nothing_else(kind):
    holed, holes = with_holes(frame(2000))
    fitted = fitted_quickly(2000)
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


def test_columns_without_any_cell_are_filled_in_the_types_of_the_fit():
    rng = np.random.default_rng(0)
    data = pd.DataFrame({"name": rng.choice(["x", "y"], 60), "yes": rng.random(60) < 0.5, "n": rng.integers(0, 9, 60)})
    data = data.assign(n=data["n"].astype("Int64"), day=pd.to_datetime("2024-03-01") + pd.to_timedelta(data["n"], "D"))
    empty = pd.DataFrame({name: [None, None] for name in data}).astype({"n": "Int64"})
    assert quick().fit(data).impute(empty, how="mode").dtypes.to_list() == data.dtypes.to_list()
    polars = pl.from_pandas(data)
    nothing = polars.head(2).select(pl.lit(None).alias(name) for name in polars.columns)
    assert quick().fit(polars).impute(nothing, how="mode").schema == polars.schema


def test_a_table_goes_in_and_comes_out_as_a_frame():
    table = random_model(random_tree(6, 0.5, 0), n_states=3, random_state=0).sample(200, 0)
    fitted = quick().fit(table)
    assert fitted.n_features_in_ == 6
    assert fitted.score(table) == pytest.approx(fitted.summary_["log_likelihood"] / 200, rel=1e-12)
    assert fitted.impute(table).to_dict("list") == table.decode()


def test_an_unseen_category_may_be_missing():
    fitted = quick(unseen="missing").fit(frame())
    odd = frame().assign(colour="purple")
    assert fitted.score(odd) == pytest.approx(fitted.score(frame().assign(colour=None)), rel=1e-12)


def test_a_loaded_model_takes_data_as_they_are(tmp_path):
    fitted = fitted_quickly()
    fitted.model_.save(tmp_path / "model.json")
    loaded = LatentTreeModel.load(tmp_path / "model.json")
    assert loaded.log_likelihood(frame()) == fitted.summary_["log_likelihood"]
    assert loaded.bic(frame()) == fitted.summary_["bic"]
    assert list(loaded.posteriors(frame())) == ["H1", "H2", "H3", "H4"]
    assert loaded.complete(with_holes(frame())[0]).n_missing.sum() == 0
    assert repr(loaded) == f"<LatentTreeModel: 6 observed, 4 hidden, {loaded.n_parameters} parameters>"
    assert repr(loaded.encode(frame())) == "<Table: 300 rows, 6 columns>"


def test_impute_of_an_array():
    data = frame()[["count", "size", "level"]].to_numpy()
    fitted = LatentTree(n_states=3, random_state=0).fit(data)
    holed = data.copy()
    holed[3, 1] = np.nan
    filled = fitted.impute(holed)
    assert np.isnan(holed[3, 1])
    assert data[:, 1].min() < filled[3, 1] < data[:, 1].max()
    assert fitted.impute(holed, "mode")[3, 1] in fitted.model_.columns[1].density.medians
    np.testing.assert_array_equal(np.delete(filled, 3, axis=0), np.delete(data, 3, axis=0))


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


def test_an_unseen_category_is_named():
    with pytest.warns(FitWarning, match=r"'colour'.*'purple'"):
        fitted_quickly().score(frame().assign(colour="purple"))
    with pytest.raises(InputError, match=r"'colour'.*'purple'"):
        quick(unseen="error").fit(frame()).score(frame().assign(colour="purple"))


def test_columns_that_say_nothing_are_left_out_and_named():
    data = frame()
    data.insert(1, "one", 1)
    data["none"] = None
    fitted, without = quick().fit(data), fitted_quickly()
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


def test_missing_words_reach_the_table():
    cells = easy_codes().astype(object)
    cells[::7, 0] = "?"
    assert quick(reading={"missing": ["?"]}).fit(cells).summary_["missing_cells"] == len(cells[::7])


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
    imputed = quick(reading={"missing": ["-9"]}).fit(numbers).impute(whole, "mode")
    assert set(imputed[0]) <= {0.5, 1.5, 2.5}


def test_frames_with_numbers_for_names():
    data = pd.DataFrame(easy_codes().astype(float))
    fitted = quick().fit(data)
    data.iloc[3, 2] = np.nan
    assert fitted.impute(data).iloc[3, 2] in (0, 1, 2)


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
    monkeypatch.setattr("latree.estimator.estimator.learn_model", lambda *_, **__: 1 / 0)
    with pytest.warns(FitWarning, match="planet"), pytest.raises(ZeroDivisionError):
        quick().fit(data)


def test_how_to_read_the_data_is_said_to_the_estimator(tmp_path):
    data = odd_frame()
    order = ["never", "sometimes", "often", "always"]
    how = {"drop": ["planet"], "identifier": "person", "missing_also": [-99], "kinds": {"often": order}}
    fitted = quick(reading=how).fit(data)
    assert fitted.model_.columns == quick(reading=Reading(**how)).fit(data).model_.columns
    assert fitted.model_.columns == as_table(data, **how).columns
    assert fitted.model_.columns[-1].categories == tuple(order)
    assert not any("-99" in warning for warning in fitted.summary_["warnings"])
    assert fitted.model_.record.identifier == "person"
    scores = fitted.transform(data)
    assert scores.equals(fitted.transform(data.assign(age=data.age.replace(-99, np.nan))))
    fitted.report(tmp_path / "report.html", data)
    rare = data.person[fitted.score_samples(data).argmin()]
    assert f"{rare}<" in (tmp_path / "report.html").read_text()
    kept = quick(reading={"keep": ["count", "size", "level", "grade"]}).fit(data)
    assert kept.tree_.names == ("count", "size", "grade", "level")


def test_columns_that_are_not_learned_from_may_be_absent_in_new_data():
    data = odd_frame()
    fitted = quick(reading={"drop": ["planet"], "identifier": "person"}).fit(data.assign(w=1), sample_weight="w")
    scores = fitted.transform(data)
    assert "w" not in fitted.feature_names_in_
    assert len(fitted.labels_) == fitted.n_features_in_ == len(data.columns) - 2
    assert fitted.transform(data.drop(columns=["planet", "person"])).equals(scores)
    assert fitted.impute(data).person.equals(data.person)
    with pytest.raises(ValueError, match="age"):
        fitted.transform(data.drop(columns="age"))
    kept = quick(reading={"keep": ["count", "size", "level"]}).fit(data)
    assert kept.transform(data).equals(kept.transform(data[["count", "size", "level"]]))


def test_a_model_of_a_table_or_file_takes_frames_with_more_columns(tmp_path):
    data = odd_frame()
    data.to_csv(tmp_path / "data.csv", index=False)
    for given in (as_table(data, drop=["person"]), tmp_path / "data.csv"):
        fitted = quick(reading={"drop": ["person"] * (not isinstance(given, Table))}).fit(given)
        assert fitted.transform(data).equals(fitted.transform(data.drop(columns=["person", "planet"])))


def test_a_table_with_names_is_scored_by_the_matrix_that_it_was_made_from():
    codes = easy_codes() > 0
    table = as_table(csr_matrix(codes), names=[f"word {number}" for number in range(codes.shape[1])])
    fitted = quick().fit(table)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        scores = fitted.transform(csr_matrix(codes))
    assert np.array_equal(scores, fitted.transform(table).to_numpy())
    with pytest.raises(InputError, match="pass the same columns"):
        fitted.transform(csr_matrix(codes[:, 1:]))


def test_a_lazy_frame_names_its_rows_in_the_report(tmp_path):
    data = frame(100).assign(person=[f"p{row}" for row in range(100)])
    fitted = quick(reading={"identifier": "person"}).fit(pl.from_pandas(data).lazy())
    fitted.report(tmp_path / "lazy.html", pl.from_pandas(data).lazy())
    fitted.report(tmp_path / "eager.html", pl.from_pandas(data))
    assert (tmp_path / "lazy.html").read_bytes() == (tmp_path / "eager.html").read_bytes()
