"""Dependence under a model, compared with sums over all states, and in rows."""

import tracemalloc
from dataclasses import replace

import numpy as np
import pytest
from scipy.special import xlogy

import latree
from helpers.models import copying_model, model_on, naive_joint, small_models, star, table_of
from helpers.strategies import mixed_tree
from latree.interpret.view import View
from latree.model import LatentTreeModel
from latree.table import Column
from latree.tree import Tree

MODELS = small_models()


def naive_pair(model, u, v):
    """The joint distribution of two nodes by adding up that of all."""
    joint = naive_joint(model)
    others = tuple(node for node in range(joint.ndim) if node not in (u, v))
    return joint.sum(axis=others) if u < v else joint.sum(axis=others).T


def naive_information(model, u, v):
    pair = naive_pair(model, u, v)
    product = pair.sum(axis=1, keepdims=True) * pair.sum(axis=0, keepdims=True)
    return float((pair[pair > 0] * np.log(pair[pair > 0] / product[pair > 0])).sum())


@pytest.mark.parametrize("model", MODELS)
def test_information_of_columns_equals_sums_over_all_states(model):
    found = View(model).column_information
    for i, j in np.ndindex(found.shape):
        expected = naive_information(model, i, j) if i != j else 0
        assert found[i, j] == pytest.approx(expected, rel=1e-9, abs=1e-12)


def test_information_does_not_depend_on_the_size_of_a_batch(monkeypatch):
    model = model_on(mixed_tree(12, 3), [3] * 40, 3)
    together = View(model).column_information
    monkeypatch.setattr("latree.interpret.dependence._BATCH_STATES", 4)
    np.testing.assert_allclose(View(model).column_information, together, rtol=0, atol=1e-12)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("most", [1, 2])
def test_information_of_columns_with_many_states_is_the_same(model, most, monkeypatch):
    """Columns with more states than a batch are never sources; two of them are compared a few states at a time."""
    correlation = View(model).column_correlation
    monkeypatch.setattr("latree.interpret.dependence._BATCH_STATES", most)
    monkeypatch.setattr("latree.interpret.dependence._WIDE_CELLS", 4)
    np.testing.assert_allclose(View(model).column_correlation, correlation, rtol=1e-9, atol=1e-12)
    found = View(model).column_information
    for i, j in np.ndindex(found.shape):
        expected = naive_information(model, i, j) if i != j else 0
        assert found[i, j] == pytest.approx(expected, rel=1e-9, abs=1e-12)


def test_a_column_of_thousands_of_states_needs_little_memory():
    tree = star(4)
    n = 20_000  # numbers for every two states would take 3.2 GB
    model = model_on(tree, [n, 3, 3, 3, 2], 0)
    dependence = View(model)
    tracemalloc.start()
    try:
        assert dependence.column_information.shape == dependence.column_correlation.shape == (4, 4)
        assert len(dependence.closest_columns(0, 3)) == 3
        assert model.joint([0, 1]).shape == (n, 3)
        assert tracemalloc.get_traced_memory()[1] < 2**28
    finally:
        tracemalloc.stop()


def test_information_is_counted_in_rows_less_its_bias():
    model = model_on(star(3), [3, 3, 2, 2], 0)
    table = table_of(model, [[0, 0, 0], [0, 0, 1], [1, 1, 0], [1, 1, 1], [1, 0, -1], [2, 2, -1]])
    found = View(model).counted_information(table)
    np.testing.assert_array_equal(found, found.T)
    np.testing.assert_array_equal(np.diag(found), 0)
    # H(a) + H(b) - H(a, b), less (3 - 1) (3 - 1) / (2 * 6)
    entropy = -np.array([1 / 2, 1 / 3, 1 / 6]) @ np.log([1 / 2, 1 / 3, 1 / 6])
    joint = -np.array([1 / 3, 1 / 3, 1 / 6, 1 / 6]) @ np.log([1 / 3, 1 / 3, 1 / 6, 1 / 6])
    assert found[0, 1] == pytest.approx(2 * entropy - joint - 1 / 3)
    # Independent columns have no information, and never less.
    assert found[0, 2] == found[1, 2] == 0


def naive_covariance(pair):
    """The covariance matrix of codes with a joint distribution."""
    rows, columns = np.indices(pair.shape)
    return np.cov(rows.ravel(), columns.ravel(), aweights=pair.ravel(), ddof=0)


def with_ordered_columns(model, ordered):
    columns = tuple(replace(column, ordered=one) for column, one in zip(model.columns, ordered, strict=True))
    return LatentTreeModel(model.tree, columns, model.tables)


@pytest.mark.parametrize("model", MODELS)
def test_correlation_of_columns_equals_sums_over_all_states(model):
    model = with_ordered_columns(model, [column != 1 for column in range(model.tree.n_observed)])
    found = View(model).column_correlation
    for i, j in np.ndindex(found.shape):
        covariance = naive_covariance(naive_pair(model, i, j)) if i != j else np.ones((2, 2))
        if model.columns[i].ordered and model.columns[j].ordered:
            expected = covariance[0, 1] / np.sqrt(covariance[0, 0] * covariance[1, 1])
        else:
            expected = 1 if i == j else np.sqrt(-np.expm1(-2 * max(naive_information(model, i, j), 0)))
        assert found[i, j] == pytest.approx(expected, rel=1e-6, abs=1e-6)


def test_correlation_in_rows_has_a_sign_only_between_ordered_columns():
    model = with_ordered_columns(model_on(star(3), [3, 3, 2, 2], 0), [True, True, False])
    rows = np.array([[0, 2, 0], [0, 2, 0], [1, 1, 1], [2, 0, 1], [2, 0, 1], [1, 2, 0]] * 5)
    dependence = View(model)
    found = dependence.counted_correlation(table_of(model, rows))
    assert found[0, 1] == pytest.approx(np.corrcoef(rows[:, 0], rows[:, 1])[0, 1])
    assert found[0, 1] < 0
    information = dependence.counted_information(table_of(model, rows))[0, 2]
    assert found[0, 2] == pytest.approx(np.sqrt(1 - np.exp(-2 * information)))
    np.testing.assert_array_equal(found, found.T)
    np.testing.assert_array_equal(np.diag(found), 1)


def test_correlation_that_rows_do_not_show_is_that_of_the_model():
    model = with_ordered_columns(copying_model(star(3), lambda *_: 0.8), [True] * 3)
    dependence = View(model)
    found = dependence.counted_correlation(table_of(model, [[0, -1, 0], [1, -1, 0], [-1, 0, 0], [-1, 1, 0]] * 10))
    assert found[0, 1] == dependence.column_correlation[0, 1] != 0
    assert found[0, 2] == 0  # a column that is constant in the rows
    wide = View(model_on(star(3), [65, 2, 2, 2], 0))
    assert wide.counted_correlation(wide.model.sample(300, random_state=0)) is wide.column_correlation


def test_counted_information_of_independent_columns_is_chance_as_often_as_not():
    model = model_on(star(30), [4] * 31, 0)
    rng = np.random.default_rng(0)
    found = View(model).counted_information(table_of(model, rng.integers(0, 4, (400, 30))))
    positive = (found[np.triu_indices(30, 1)] > 0).mean()
    assert 0.35 < positive < 0.55  # a chi-squared variable of 9 degrees is above its mean in 44 % of all cases


def test_columns_that_are_never_present_together_have_the_information_of_the_model():
    model = copying_model(star(3), lambda *_: 0.8)
    dependence = View(model)
    found = dependence.counted_information(table_of(model, [[0, -1, 0], [1, -1, 1], [-1, 0, 1], [-1, 1, 0]] * 10))
    assert found[0, 1] == dependence.column_information[0, 1]
    assert found[0, 2] == pytest.approx(np.log(2) - 1 / 40)


@pytest.mark.parametrize(("n_states", "is_counted"), [(64, True), (65, False)])
def test_columns_with_many_states_are_not_counted(n_states, is_counted):
    model = model_on(star(3), [n_states, 2, 2, 2], 0)
    dependence = View(model)
    found = dependence.counted_information(model.sample(300, random_state=0))
    assert (found is not dependence.column_information) == is_counted


def test_a_sample_of_many_rows_is_counted(monkeypatch):
    model = copying_model(star(4), lambda *_: 0.8)
    table, dependence = model.sample(500, random_state=0), View(model)
    all_rows = dependence.counted_information(table)
    monkeypatch.setattr("latree.interpret.dependence.MAX_ROWS", 400)
    some = dependence.counted_information(table)
    np.testing.assert_array_equal(some, dependence.counted_information(table.subsample(400, 0)))
    assert not np.array_equal(some, all_rows)


@pytest.mark.parametrize("model", MODELS)
def test_the_closest_columns_are_those_with_most_information(model):
    dependence = View(model)
    for source in range(model.tree.n_nodes):
        others = [column for column in range(model.tree.n_observed) if column != source]
        found = dependence.closest_columns(source, len(others))
        information = {relative.column: relative.information for relative in found}
        for column in others:
            assert information.get(column, 0.0) == pytest.approx(
                naive_information(model, source, column), rel=0, abs=1e-9
            )
        assert [relative.information for relative in found] == sorted(information.values(), reverse=True)
        for relative in found:
            pair = naive_pair(model, relative.column, source)
            np.testing.assert_allclose(relative.conditional, pair / pair.sum(axis=0), rtol=0, atol=1e-12)
        assert [relative.column for relative in dependence.closest_columns(source, 2)] == [*information][:2]


def test_a_search_can_be_kept_within_a_group():
    model = MODELS[0]
    inside = {0, 1, 5}
    found = View(model).closest_columns(5, 5, within=inside)
    assert {relative.column for relative in found} == {0, 1}


def test_strength_is_0_for_independence_and_1_where_one_end_determines_the_other():
    tree = Tree("abc", [(0, 3), (1, 3), (2, 3)])
    columns = tuple(Column(name, "integer", ("0", "1")) for name in "abc")
    same, none = np.eye(2), np.full((2, 2), 0.5)
    noisy = np.array([[0.8, 0.2], [0.2, 0.8]])
    model = LatentTreeModel(tree, columns, (same, none, noisy, np.full((2, 1), 0.5)))
    strengths = model.edge_strengths()
    assert strengths[:2] == pytest.approx([1, 0], abs=1e-7)
    entropy = -(0.8 * np.log(0.8) + 0.2 * np.log(0.2))
    assert strengths[2] == pytest.approx(np.sqrt(1 - entropy / np.log(2)), rel=1e-9)


def test_some_states_stand_for_all_of_two_columns_with_very_many(monkeypatch):
    tree = latree.Tree.from_newick("((a,b),c,d);")
    model = latree.random_model(tree, n_states=600, hidden_states=2, random_state=0)
    exact = View(model)._wide_information(0, 1)
    monkeypatch.setattr("latree.interpret.dependence._MOST_WIDE_CELLS", 600 * 40)
    sizes = []
    monkeypatch.setattr("latree.interpret.dependence.xlogy", lambda x, y: sizes.append(x.shape) or xlogy(x, y))
    assert View(model)._wide_information(0, 1) == pytest.approx(exact, rel=0.02)
    assert sizes[-1] == (600, 40)


@pytest.mark.parametrize("model", MODELS)
def test_columns_along_paths_are_those_of_all_at_once(model, monkeypatch):
    wanted = dict.fromkeys(range(model.tree.n_nodes), range(model.tree.n_observed))
    together = dict(View(model).columns_given(wanted))
    monkeypatch.setattr("latree.interpret.dependence._FEW", 0)  # then even all columns are few
    apart = dict(View(model).columns_given(wanted))
    assert together.keys() == apart.keys() == wanted.keys()
    for node in wanted:
        for column in range(model.tree.n_observed):
            np.testing.assert_allclose(apart[node][column], together[node][column], rtol=1e-12, atol=1e-15)


def test_a_search_for_close_columns_that_takes_too_long_goes_straight_to_one(monkeypatch):
    model = model_on(latree.random_tree(40, random_state=0), [3] * 80, 0)
    source = model.tree.n_nodes - 1
    exact = View(model).closest_columns(source, 5)
    monkeypatch.setattr("latree.interpret.dependence._MAX_VISITED", 0)
    (found,) = View(model).closest_columns(source, 5)
    assert found.information == pytest.approx(View(model).information(source, found.column, found.conditional))
    assert found.information <= exact[0].information + 1e-9
    assert len(exact) == 5
