"""The heat map of groups, which takes the place of that of columns."""

import numpy as np
import pytest

from helpers.models import model_on, small_models, star
from helpers.report import SHAPES, wide_model
from latree.counts.distances import informational_correlation
from latree.interpret.between import node_correlation
from latree.interpret.view import View, view_of
from latree.report.heatmap import MAX_COLUMNS, MAX_GROUPS
from latree.report.render import page_facts


@pytest.mark.parametrize("model", small_models())
def test_columns_have_the_correlations_of_the_model(model):
    view = View(model)
    found, is_ordered = node_correlation(view, range(model.tree.n_observed))
    np.testing.assert_allclose(found, view.column_correlation, atol=1e-12)
    assert is_ordered == [True] * model.tree.n_observed


def test_hidden_variables_have_the_correlations_of_their_joint_distribution():
    model = wide_model(6, 2)
    view, hidden = view_of(model), list(range(model.tree.n_observed, model.tree.n_nodes))
    found, is_ordered = node_correlation(view, hidden)
    assert any(is_ordered)
    for i, one in enumerate(hidden):
        for j, other in enumerate(hidden[:i]):
            joint = model.joint([one, other])
            if is_ordered[i] and is_ordered[j]:
                expected = view.scores[one].values @ joint @ view.scores[other].values
            else:
                independent = np.outer(joint.sum(1), joint.sum(0))
                expected = informational_correlation(np.array((joint * np.log(joint / independent)).sum()))
            assert found[i, j] == found[j, i] == pytest.approx(float(expected), abs=1e-9)


def test_unconnected_nodes_are_uncorrelated():
    model = model_on(SHAPES["parts"], [2] * 7, 0)
    found, _ = node_correlation(View(model), [0, 3, 5])
    np.testing.assert_allclose(found, np.eye(3), atol=1e-12)


@pytest.mark.parametrize(("n_groups", "of", "n_items"), [(74, "columns", None), (90, "groups", MAX_GROUPS)])
def test_many_columns_have_a_map_of_their_largest_groups(n_groups, of, n_items):
    model = wide_model(n_groups, 8)
    n_columns = model.tree.n_observed
    assert (n_columns > MAX_COLUMNS) == (of == "groups")
    facts = page_facts(model)
    matrix = facts["matrix"]
    assert matrix["of"] == of
    assert sorted(matrix["order"]) == list(range(n_items or n_columns))
    # In the order of the tree.
    first = [facts["groups"][item]["columns"][0]["node"] if n_items else item for item in matrix["order"]]
    places = list(map(facts["order"].index, first))
    assert places == sorted(places)


def test_many_columns_of_one_group_have_no_map():
    n = MAX_COLUMNS + 1
    assert page_facts(model_on(star(n), [2] * (n + 1), 0))["matrix"] is None
