"""Loadings and profiles against enumeration of all states."""

from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.bins import bins_at
from helpers.models import grouped_model, model_on, naive_joint, small_models
from latree import LatentTree
from latree.errors import InputError
from latree.interpret.columns import loading_matrix, loadings, profiles
from latree.interpret.groups import find_groups
from latree.interpret.order import order_states
from latree.interpret.view import view_of
from latree.model import LatentTreeModel
from latree.table import Column
from latree.tree import Tree

MODELS = small_models()
every_model = pytest.mark.parametrize("model", MODELS, ids=["binary", "star", "forest", "observed-inner", "chain"])


def values_of_states(model):
    return {node: score.values for node, score in view_of(model).scores.items()}


def pair(joint, one, other):
    """The joint distribution of two nodes, from that of all."""
    table = joint.sum(axis=tuple(set(range(joint.ndim)) - {one, other}))
    return table if one < other else table.T


def naive_correlation(table, first, second):
    """The correlation of two discrete variables with numbers for their states."""
    first, second = first - table.sum(axis=1) @ first, second - table.sum(axis=0) @ second
    variances = (table.sum(axis=1) @ first**2) * (table.sum(axis=0) @ second**2)
    return first @ table @ second / np.sqrt(variances)


def naive_information(table):
    independent = np.outer(table.sum(axis=1), table.sum(axis=0))
    return (table * np.log(table / independent)).sum()


def without_order(model, columns):
    changed = [replace(c, kind="text", ordered=j not in columns) for j, c in enumerate(model.columns)]
    return replace(model, columns=tuple(changed))


@every_model
def test_loadings_of_ordered_columns_are_correlations(model):
    joint, scores = naive_joint(model), values_of_states(model)
    found = loading_matrix(model)
    for hidden, score in scores.items():
        for column in range(model.tree.n_observed):
            table = pair(joint, column, hidden)
            expected = naive_correlation(table, np.arange(len(table)), score)
            assert found[column, hidden - model.tree.n_observed] == pytest.approx(expected, abs=1e-9)


@every_model
def test_loadings_without_an_order_are_informational_correlations(model):
    joint, n_observed = naive_joint(model), model.tree.n_observed
    found = loading_matrix(without_order(model, range(n_observed)))
    for column, hidden in np.ndindex(*found.shape):
        information = max(naive_information(pair(joint, column, n_observed + hidden)), 0)
        assert found[column, hidden] == pytest.approx(np.sqrt(1 - np.exp(-2 * information)), abs=1e-6)


def test_only_columns_without_an_order_lose_their_direction():
    model = MODELS[0]
    mixed, ordered = loading_matrix(without_order(model, [1])), loading_matrix(without_order(model, []))
    assert (mixed[1] >= 0).all()
    np.testing.assert_allclose(abs(mixed[[0, 2, 3, 4], 2]), abs(ordered[[0, 2, 3, 4], 2]), atol=1e-9)


def test_a_reversed_item_has_a_negative_loading():
    high, low = [0.1, 0.2, 0.7], [0.6, 0.3, 0.1]
    usual, reversed_item = np.transpose([low, high]), np.transpose([high, low])
    tree = Tree.from_newick("(calm,relaxed,nervous);")
    columns = tuple(Column(name, "integer", ("1", "2", "3"), ordered=True) for name in tree.names)
    model = LatentTreeModel(tree, columns, (usual, usual, reversed_item, np.array([[0.4], [0.6]])))
    calm, relaxed, nervous = loading_matrix(model)[:, 0]
    assert calm == relaxed
    assert calm > 0.6
    assert nervous < -0.6


@given(st.integers(0, 2**31), st.permutations(range(3)))
@settings(deadline=None, max_examples=25)
def test_loadings_do_not_depend_on_the_numbers_of_states(seed, order):
    model = model_on(Tree("abcd", [(i, 4) for i in range(4)]), [3, 2, 3, 2, 3], seed)
    tables = [table[:, order] for table in model.tables[:4]] + [model.tables[4][order]]
    shuffled = replace(model, tables=tuple(map(np.ascontiguousarray, tables)))
    np.testing.assert_allclose(loading_matrix(shuffled), loading_matrix(model), atol=1e-6)
    np.testing.assert_allclose(loading_matrix(order_states(model).model), loading_matrix(model), atol=1e-6)


def test_columns_load_most_on_their_own_hidden_variable():
    model = grouped_model(sizes=(3, 4))
    values = abs(loading_matrix(model))
    assert values[:3].argmax(axis=1).tolist() == [0, 0, 0]
    assert values[3:].argmax(axis=1).tolist() == [1, 1, 1, 1]


@pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow"])
def test_loadings_are_a_frame(backend):
    model = MODELS[0]
    frame = loadings(model, backend=backend)
    assert type(frame).__module__.startswith(backend)
    names = list(frame.column_names if backend == "pyarrow" else frame.columns)
    assert (names[0], set(names[1:])) == ("column", {"H1", "H2", "H3"})
    values = [frame[name].to_numpy() for name in ("H1", "H2", "H3")]
    np.testing.assert_array_equal(np.transpose(values), loading_matrix(model))


def test_a_constant_column_and_a_tree_without_hidden_variables_have_no_loadings():
    model = model_on(Tree("abc", [(i, 3) for i in range(3)]), [1, 2, 2, 2], 0)
    assert loading_matrix(model)[0, 0] == 0
    assert loading_matrix(model_on(Tree("ab", [(0, 1)]), [2, 2], 0)).shape == (2, 0)


def test_loadings_on_groups_come_first_or_alone():
    model = grouped_model(sizes=(3, 4))
    first = [group.hidden for group in find_groups(model) if group.level == "main"]
    assert first == ["H2", "H1"]
    assert list(loadings(model).columns) == ["column", "H2", "H1", "H3"]
    assert list(loadings(model, "groups").columns) == ["column", "H2", "H1"]
    np.testing.assert_array_equal(loadings(model)["H1"], loading_matrix(model)[:, 0])
    with pytest.raises(InputError, match="of must be one of groups, hidden"):
        loadings(model, "columns")


def test_names_for_people_are_used():
    model = grouped_model(sizes=(3, 4)).rename({"H1": "mood"})
    assert "mood" in loadings(model).columns
    assert set(profiles(model)["hidden"]) == {"mood", "H2"}
    assert set(profiles(model, "H1")["hidden"]) == {"mood"}


@every_model
def test_profiles_equal_enumeration(model):
    joint, names = naive_joint(model), model.tree.node_names
    hidden = names[model.tree.n_observed :]
    frame = profiles(model, hidden, "pandas")
    assert list(frame.columns) == ["hidden", "state", "state_name", "share", "column", "value", "probability", "mean"]
    assert len(frame) == sum(len(model.tables[model.node(name)]) for name in hidden) * sum(
        column.n_states for column in model.columns
    )
    for row in frame.itertuples():
        node, column = model.node(row.hidden), model.node(row.column)
        table = pair(joint, column, node)[:, row.state]
        assert row.share == pytest.approx(table.sum())
        assert row.probability == pytest.approx(table[int(row.value)] / table.sum())
        assert row.mean == pytest.approx(np.arange(len(table)) @ table / table.sum())


def test_means_are_those_of_values_that_are_numbers():
    columns = (
        Column("colour", "text", ("blue", "red")),
        Column("level", "text", ("low", "high"), ordered=True),
        Column("answer", "integer", ("1", "5"), ordered=True),
        Column("size", "number", ("<= 2", "> 2"), **bins_at((2.0,), (1.5, 3.5)), ordered=True),
        Column("member", "boolean", ("False", "True"), ordered=True),
    )
    tree = Tree([column.name for column in columns], [(j, 5) for j in range(5)])
    copy = np.array([[0.75, 0.25], [0.25, 0.75]])
    model = LatentTreeModel(tree, columns, (copy,) * 5 + (np.array([[0.5], [0.5]]),))
    frame = profiles(model, backend="pandas")
    of_low = frame[frame["state"] == 0].drop_duplicates("column").set_index("column")["mean"]
    assert np.isnan(of_low["colour"])
    assert of_low[["level", "answer", "size", "member"]].tolist() == [1.25, 2, 2, 0.25]
    assert frame["value"].tolist()[:8] == ["blue", "red", "low", "high", 1, 5, "<= 2", "> 2"]


def test_columns_have_the_profile_of_their_own_hidden_variable():
    model = grouped_model(sizes=(3, 4))
    found = {name: set(rows["hidden"]) for name, rows in profiles(model, backend="pandas").groupby("column")}
    assert found == {f"x{j:02}": {"H1" if j < 3 else "H2"} for j in range(7)}


def test_a_column_without_a_group_has_that_of_the_closest_hidden_variable():
    model = MODELS[2]  # a, b and c hang on H1; d and e hang on each other
    found = {name: set(rows["hidden"]) for name, rows in profiles(model, backend="pandas").groupby("column")}
    assert found == {name: {"H1"} for name in "abcde"}
    no_hidden = model_on(Tree("ab", [(0, 1)]), [2, 2], 0)
    assert len(profiles(no_hidden)) == 0


def test_profiles_of_a_column_are_refused():
    with pytest.raises(InputError, match="'a' is a column"):
        profiles(MODELS[0], "a")


def test_values_of_profiles_are_those_of_the_data():
    data = pd.DataFrame({"a": [1, 2, 3] * 20, "b": [1, 2, 2] * 20, "c": [2, 1, 1] * 20})
    model = LatentTree("lcm", n_states=2, random_state=0)
    numbers = model.fit(data).profiles()
    assert numbers.value.dtype.kind == "i"
    assert set(numbers.query("column == 'a'").value) == {1, 2, 3}
    mixed = data.assign(d=["x", "y", "y"] * 20, e=np.linspace(0, 1, 60), f=[True, False, False] * 20)
    found = model.fit(mixed).profiles()
    assert set(found.query("column == 'a'").value) == {1, 2, 3}
    assert set(found.query("column == 'd'").value) == {"x", "y"}
    assert set(found.query("column == 'e'").value) == set(model.model_.columns[4].categories)
    assert set(found.query("column == 'f'").value) == {True, False}
    texts = model.fit(pl.from_pandas(mixed)).profiles()
    assert texts["value"].dtype == pl.String
    assert model.fit(pl.from_pandas(data)).profiles()["value"].dtype == pl.Int64
