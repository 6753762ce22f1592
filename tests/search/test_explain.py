"""The search, from trees that are given."""

import numpy as np
import pytest

from helpers.models import copying_model, grouped_model, star
from helpers.search import groups_of, hidden_states, random_binary, resolved
from latree.paper.simulate import random_tree
from latree.search import explain, gains
from latree.search.explain import Search
from latree.tree import Tree


def test_edges_that_are_not_there_are_contracted():
    model = grouped_model((4, 4, 4))
    table = model.sample(800, 0)
    found = Search(table, 0).explained([resolved(model.tree)])
    assert found.model.tree.splits == model.tree.splits
    assert hidden_states(found.model) == (3, 3, 3, 3)
    assert found.steps == {"exchanges": 0, "cuts": 0, "contractions": 6, "moves": 0, "divisions": 0}


def test_wrong_trees_are_improved_by_moves():
    """Columns that were joined at random come to their groups."""
    model = grouped_model((4, 4, 4), strength=0.8, between=0.4)
    table = model.sample(800, 0)
    for seed in range(2):
        found = Search(table, 0).explained([random_binary(table, seed)])
        assert groups_of(found.model.tree) >= groups_of(model.tree)
        assert sum(found.steps.values()) > 6


def test_the_best_of_some_trees_is_taken():
    model = grouped_model((3, 3, 3))
    table = model.sample(400, 0)
    right = resolved(model.tree)
    found = Search(table, 0).resolved([random_binary(table, 1), right, random_binary(table, 2)])
    assert found.steps["exchanges"] <= 1
    assert found.model.tree.splits >= model.tree.splits
    only = Search(table, 0).resolved([right])
    assert only.model.bic(table) == pytest.approx(found.model.bic(table), rel=0.01)


def test_resolved_trees_are_rearranged_and_stay_binary():
    truth = random_tree(8, 0.5, 3)
    model = copying_model(truth, lambda u, v: 0.85, [3] * truth.n_nodes)
    table = model.sample(2000, 0)
    found = Search(table, 0).resolved([random_binary(table, 0)])
    assert found.steps["exchanges"] > 0
    assert found.model.tree.non_binary_features() == {}
    assert found.model.tree.splits == truth.splits


def test_a_binary_tree_that_is_there_stays():
    truth = random_tree(8, 0.5, 3)
    table = copying_model(truth, lambda u, v: 0.85, [3] * truth.n_nodes).sample(2000, 0)
    found = Search(table, 0).explained([random_binary(table, 0), truth])
    assert found.model.tree.splits == truth.splits
    assert set(hidden_states(found.model)) == {3}
    assert np.nanmin(found.model.tree.support) > 0.8


def test_support_does_not_depend_on_bic(monkeypatch):
    """In a binary tree of a single group no edge is there, however much BIC would ask for it."""
    table = copying_model(star(6), lambda u, v: 0.7, [3] * 7).sample(300, 0)
    trees = [random_binary(table, 0)]
    expected = Search(table, 0).resolved(trees).model.tree.support
    monkeypatch.setattr(gains, "bic_gain", lambda *_: 1000.0)
    np.testing.assert_array_equal(Search(table, 0).resolved(trees).model.tree.support, expected)
    assert np.nanmax(expected) < 0.6


def test_the_number_of_cores_changes_nothing(monkeypatch):
    model = grouped_model((4, 4, 4))
    table = model.sample(300, 0)

    def found(cores):
        monkeypatch.setattr("os.sched_getaffinity", lambda process: set(range(cores)))
        return Search(table, 0).explained([resolved(model.tree)]).model

    alone = found(1)
    monkeypatch.setattr("latree._util.workers._WORTH_A_COPY", 0.0)
    together = found(3)
    assert together.tree.edges.tolist() == alone.tree.edges.tolist()
    np.testing.assert_array_equal(together.tree.support, alone.tree.support)
    for one, other in zip(together.tables, alone.tables, strict=True):
        np.testing.assert_array_equal(one, other)


def test_the_same_seed_gives_the_same_numbers():
    model = grouped_model((3, 3, 3))
    table = model.sample(300, 0)
    one, same = (Search(table, 5).explained([random_binary(table)]).model for _ in range(2))
    for table_of_one, table_of_same in zip(one.tables, same.tables, strict=True):
        np.testing.assert_array_equal(table_of_one, table_of_same)


def test_very_few_hidden_variables_give_way_to_one_with_a_lower_bic(monkeypatch):
    table = grouped_model((5,), top=False).sample(150, 2)
    search = Search(table, 0)
    pair = Tree(table.names, [(0, 5), (1, 5), (2, 6), (3, 6), (4, 6), (5, 6)])
    two = search.sized(pair).model
    one = search._simplest(two)
    assert one.tree.n_hidden == 1
    assert one.bic(table) < two.bic(table)
    monkeypatch.setattr("latree.search.explain._VERY_FEW", 1)
    assert search._simplest(two) is two


def test_a_single_hidden_variable_starts_from_two_states_too(monkeypatch):
    """States are merged one pair at a time, which may end in a bad optimum."""
    table = grouped_model((5,), hidden_states=3, column_states=4, strength=0.4, top=False).sample(60, 5)
    search = Search(table, 0)
    four = search.sizing.sized(search.sample.first([Tree(table.names, star(5).edges)]))
    assert search._simplest(four).bic(table) < four.bic(table) - 5
    monkeypatch.setattr(explain, "_STAR_STATES", (4,))
    assert search._simplest(four).bic(table) == pytest.approx(four.bic(table))
