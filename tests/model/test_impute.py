"""Filled cells against enumeration, and the laws of draws."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.bins import bins_at
from helpers.models import all_rows, given_row, holes, model_on, naive_joint, small_models, star, table_of
from latree import LatentTree
from latree.errors import InputError
from latree.model import LatentTreeModel
from latree.model.impute import cell_posteriors, draw_block
from latree.table import Column, as_table
from latree.tree import Tree

MODELS = small_models()
every_model = pytest.mark.parametrize("model", MODELS, ids=["binary", "star", "forest", "observed-inner", "chain"])


def naive_posterior(model, joint, row, column):
    kept = given_row(joint, row)
    probability = kept.sum(axis=tuple(axis for axis in range(kept.ndim) if axis != column))
    return probability / probability.sum()


@every_model
def test_each_cell_is_filled_by_its_own_posterior(model):
    joint, rows = naive_joint(model), all_rows(model)
    table = table_of(model, rows)
    median, mean = model.complete(table, "median").codes(), model.impute(rows_as_floats(rows), "mean")
    np.testing.assert_array_equal(model.complete(table, "auto").codes(), median)
    names = [f"{c.name}={x}" for c in model.columns for x in range(c.n_states)]
    probabilities = dict(zip(names, model.impute_proba(table)[names].to_numpy().T, strict=True))
    for i, row in enumerate(rows):
        for j, state in enumerate(row):
            found = [probabilities[f"{model.columns[j].name}={x}"][i] for x in range(model.columns[j].n_states)]
            if state >= 0:
                assert median[i, j] == mean[i, j] == state
                np.testing.assert_array_equal(found, np.arange(len(found)) == state)
                continue
            expected = naive_posterior(model, joint, row, j)
            np.testing.assert_allclose(found, expected, rtol=1e-9)
            assert mean[i, j] == pytest.approx(expected @ np.arange(len(expected)))
            below, up_to = expected[: median[i, j]].sum(), expected[: median[i, j] + 1].sum()
            assert below < 0.5 + 1e-9
            assert up_to > 0.5 - 1e-9


def rows_as_floats(rows):
    return np.where(rows < 0, np.nan, rows)


@every_model
def test_draws_follow_the_joint_posterior_of_a_row(model):
    """Cells that are missing together are drawn together."""
    joint, n = naive_joint(model), 20_000
    row = [-1] * len(model.columns)
    row[0] = 1
    drawn = model.complete(table_of(model, [row] * n), "draw", random_state=0).codes()
    assert (drawn[:, 0] == 1).all()
    shape = [column.n_states for column in model.columns]
    frequencies = np.bincount(np.ravel_multi_index(drawn.T, shape), minlength=np.prod(shape)).reshape(shape) / n
    expected = joint.sum(axis=tuple(range(len(shape), joint.ndim)))
    expected[[x for x in range(shape[0]) if x != 1]] = 0
    # Four standard errors of a share are at most 4 * 0.5 / sqrt(20,000) = 0.014.
    np.testing.assert_allclose(frequencies, expected / expected.sum(), rtol=0, atol=0.014)


@given(st.integers(0, 2**31), st.integers(0, 99), st.integers(0, 40))
@settings(deadline=None, max_examples=25)
def test_draws_depend_on_seed_and_row_alone(seed, cut, model_seed):
    model = model_on(MODELS[0].tree, [2, 3, 2, 4, 3, 2, 3, 2], model_seed)
    codes = table_of(model, holes(model.sample(100, 0).codes(), 1)).rows.codes
    # Two of the columns have numbers inside their bins.
    columns = (*renamed("ab"), *model.columns[2:])
    whole = draw_block(model.network, columns, codes, seed, 0)
    parts = [draw_block(model.network, columns, codes[a:b], seed, a) for a, b in ((0, cut), (cut, 100))]
    np.testing.assert_array_equal(np.concatenate(parts), whole)


def test_draws_do_not_depend_on_the_blocks_of_a_table(monkeypatch):
    model = MODELS[0]
    table = table_of(model, holes(model.sample(5000, 0).codes(), 1))
    drawn = model.complete(table, "draw", random_state=7).codes()
    monkeypatch.setattr("latree.model.impute.BLOCK_ROWS", 333)
    np.testing.assert_array_equal(model.complete(table, "draw", random_state=7).codes(), drawn)
    assert (model.complete(table, "draw", random_state=8).codes() != drawn).any()
    present = table.codes() >= 0
    np.testing.assert_array_equal(drawn[present], table.codes()[present])


def test_several_draws_begin_with_the_same_ones():
    model = MODELS[0]
    table = table_of(model, holes(model.sample(300, 0).codes(), 1))
    three = model.impute(table, "draw", draws=3, random_state=0)
    two = model.impute(table, "draw", draws=2, random_state=0)
    assert len(three) == 3
    for one, other in zip(three, two, strict=False):
        pd.testing.assert_frame_equal(one, other)
    assert not three[0].equals(three[1])
    pd.testing.assert_frame_equal(pd.DataFrame(model.complete(table, "draw", 0).decode()), three[0])


def test_impossible_rows_are_filled_without_evidence():
    sure = np.array([[1.0, 0.0], [0.0, 1.0]])
    model = model_on(star(4), [2, 2, 2, 3, 2], 0)
    leaf = np.array([[0.1, 0.2], [0.3, 0.7], [0.6, 0.1]])
    model = LatentTreeModel(model.tree, model.columns, (sure, sure, sure, leaf, np.array([[0.5], [0.5]])))
    table = table_of(model, [[0, 1, -1, -1]])
    found = {j: posterior for j, _, posterior in cell_posteriors(model.network, table.rows.codes)}
    np.testing.assert_allclose(found[2], [[0.5, 0.5]])
    np.testing.assert_allclose(found[3], [leaf.mean(axis=1)])
    drawn = model.complete(table_of(model, [[0, 1, -1, -1]] * 2000), "draw", random_state=0).codes()
    np.testing.assert_allclose(np.bincount(drawn[:, 3]) / 2000, leaf.mean(axis=1), atol=0.05)


COLUMNS = (
    Column("colour", "text", ("blue", "green", "red")),
    Column("level", "text", ("low", "middle", "high"), ordered=True),
    Column("answer", "integer", ("1", "2", "4"), ordered=True),
    Column("size", "number", ("<= 2", "2 to 5", "> 5"), **bins_at((2.0, 5.0), (1.0, 3.0, 8.0)), ordered=True),
    Column("count", "integer", ("<= 2", "2 to 5", "> 5"), **bins_at((2.0, 5.0), (1.0, 3.0, 8.0)), ordered=True),
    Column("member", "boolean", ("False", "True"), ordered=True),
)


def mixed_model():
    """Independent columns of every kind: the most probable state is the last one, and the median the one before."""
    tree = Tree([column.name for column in COLUMNS], [])
    three, two = np.array([[0.3], [0.3], [0.4]]), np.array([[0.6], [0.4]])
    return LatentTreeModel(tree, COLUMNS, (three, three, three, three, three, two))


@pytest.mark.parametrize(
    ("how", "expected"),
    [
        ("auto", ["red", "middle", 2, 4.4, 4.4, False]),
        ("mode", ["red", "high", 4, 8.0, 8, False]),
        ("median", ["red", "middle", 2, 3.0, 3, False]),
        # 0.3 * 1 + 0.3 * 2 + 0.4 * 4 and 0.3 * 1 + 0.3 * 3 + 0.4 * 8
        ("mean", ["red", "middle", 2.5, 4.4, 4.4, False]),
    ],
)
@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table])
def test_every_kind_of_column_is_filled_as_it_can_be(how, expected, make):
    first = dict(zip([c.name for c in COLUMNS], ["blue", "low", 1, 0.5, 1, True], strict=True))
    frame = make({name: [value, None] for name, value in first.items()})
    filled = mixed_model().impute(frame, how)
    assert type(filled) is type(frame)
    cells = {
        name: list(filled[name].to_numpy() if make is not pa.table else filled[name].to_pylist()) for name in first
    }
    assert {name: values[0] for name, values in cells.items()} == first
    for value, name in zip(expected, first, strict=True):
        assert cells[name][1] == pytest.approx(value) if isinstance(value, float) else cells[name][1] == value


def test_arrays_files_and_tables_are_filled_in_their_own_form(tmp_path):
    model = mixed_model()
    path = tmp_path / "holes.csv"
    path.write_text("colour,level,answer,size,count,member\nblue,low,1,0.5,1,True\n,,,,,\n")
    assert model.impute(path, "mode")["answer"].tolist() == [1, 4]
    assert model.impute(path)["size"].tolist() == [0.5, pytest.approx(4.4)]
    means = model.impute(path, "mean")
    assert list(means["answer"]) == [1, pytest.approx(2.5)]
    assert list(means["colour"]) == ["blue", "red"]
    numbers = LatentTreeModel(Tree("ab", []), renamed("ab"), (np.full((3, 1), 1 / 3),) * 2)
    filled = numbers.impute(np.array([[1, np.nan], [np.nan, 9.0]]), "median")
    np.testing.assert_array_equal(filled, [[1, 3], [2, 9]])


def renamed(names):
    return tuple(
        Column(name, c.kind, c.categories, cuts=c.cuts, density=c.density, ordered=True)
        for name, c in zip(names, COLUMNS[2:4], strict=True)
    )


def test_texts_that_spell_numbers_stay_texts():
    column = Column("a", "integer", ("1", "2", "4"), ordered=True)
    model = LatentTreeModel(Tree("a", []), (column,), (np.array([[0.3], [0.3], [0.4]]),))
    frame = pl.DataFrame({"a": ["1", None]})
    assert model.impute(frame)["a"].to_list() == ["1", "2"]
    assert model.impute(frame, "mean")["a"].to_list() == ["1", "2.5"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"how": "average"}, "how must be one of auto, mode, median, mean, draw"),
        ({"how": "mode", "draws": 2}, "draws must be at least 1, and needs how='draw'"),
        ({"how": "draw", "draws": 0}, "draws must be at least 1"),
        ({"return_interval": 90}, "an interval must be a share between 0 and 1, such as 0.9, not 90"),
        ({"how": "draw", "draws": 2, "return_interval": 0.9}, "choose one of the two"),
    ],
)
def test_wrong_options_are_named(options, message):
    with pytest.raises(InputError, match=message):
        MODELS[0].impute(table_of(MODELS[0], [[0] * 5]), **options)


def test_a_table_without_holes_stays_as_it_is():
    model = MODELS[0]
    table = model.sample(10, 0)
    for how in ("mode", "median", "draw"):
        np.testing.assert_array_equal(model.complete(table, how).codes(), table.codes())
    assert len(model.impute_proba(table).columns) == 0


@pytest.mark.parametrize("how", ["mode", "median", "mean", "draw"])
@pytest.mark.parametrize("kind", ["ordered", "plain", "enum"])
def test_categories_of_numbers_are_filled_with_categories(kind, how):
    """A mean is no category: pandas made a hole of it, or a new category, and polars failed."""
    rng = np.random.default_rng(0)
    group = rng.integers(0, 2, 80)[:, None]
    numbers = pd.DataFrame(np.where(rng.random((80, 4)) < 0.8, 2 * group + 1, rng.integers(1, 6, (80, 4))))
    numbers.columns = list("abcd")
    if kind == "enum":
        data = pl.from_pandas(numbers.astype(str)).cast(pl.Enum(list("12345")))
        gaps = data.with_columns(a=pl.when(pl.int_range(80) % 4 == 0).then(None).otherwise(pl.col("a")))
    else:
        data = numbers.astype(pd.CategoricalDtype([1, 2, 3, 4, 5], ordered=kind == "ordered"))
        gaps = data.assign(a=data["a"].mask(np.arange(80) % 4 == 0))
    model = LatentTree("nj", n_states=2, random_state=0).fit(data)
    filled = model.impute(gaps, how, random_state=0)
    assert set(filled["a"].to_list()) <= set(data["a"].to_list())
    assert as_table(filled, columns=model.model_.columns).n_missing.sum() == 0
    if how == "mean":
        middle = model.impute(gaps, "mode" if kind == "plain" else "median")
        assert filled["a"].to_list() == middle["a"].to_list()
    # A category that no other cell has is not lost.
    alone = gaps[:1]
    assert model.impute(alone, how, random_state=0)["a"].to_list()[0] in set(data["a"].to_list())
