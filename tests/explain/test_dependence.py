"""Dependence under a model, compared with sums over all states."""

import numpy as np
import pytest

from helpers.models import model_on, naive_joint, small_models
from helpers.strategies import mixed_tree
from latree.explain.dependence import Dependence
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
    found = Dependence(model).column_information
    for i, j in np.ndindex(found.shape):
        expected = naive_information(model, i, j) if i != j else 0
        assert found[i, j] == pytest.approx(expected, rel=1e-9, abs=1e-12)


def test_information_does_not_depend_on_the_size_of_a_batch(monkeypatch):
    model = model_on(mixed_tree(12, 3), [3] * 40, 3)
    together = Dependence(model).column_information
    monkeypatch.setattr("latree.explain.dependence._BATCH_STATES", 4)
    np.testing.assert_allclose(Dependence(model).column_information, together, rtol=0, atol=1e-12)


@pytest.mark.parametrize("model", MODELS)
def test_the_closest_columns_are_those_with_most_information(model):
    dependence = Dependence(model)
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
    found = Dependence(model).closest_columns(5, 5, within=inside)
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
