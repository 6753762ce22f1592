"""Contraction of edges in whole models."""

import numpy as np
import pytest

from helpers.models import copying_model, grouped_model, star, topics_table, topics_tree
from helpers.search import groups_of, hidden_states, resolved
from latree.paper.simulate import random_tree
from latree.search import gains
from latree.search.edges import GainDistribution
from latree.search.explain import Search
from latree.search.places import edge_place
from latree.search.steps import contract
from latree.tree import Tree


def begun(table, share=0.5, scale=20.0):
    """A search that knows how gains are distributed."""
    search = Search(table, 0)
    search.gains.distribution = GainDistribution(share, scale)
    return search


def test_at_most_three_hidden_variables_become_one_at_first(monkeypatch):
    """A chain of six, none of whose edges is there: those that are there least go first."""
    monkeypatch.setattr(contract, "_ROUNDS", 1)
    table = grouped_model((8,), top=False).sample(300, 0)
    edges = [(0, 8), (1, 8), (2, 9), (3, 10), (4, 11), (5, 12), (6, 13), (7, 13)]
    chain = Tree(table.names, [*edges, *((node, node + 1) for node in range(8, 13))])
    search = begun(table)
    first = search.sample.first([chain])
    known = {(8, 9): -9.0, (9, 10): -5.0, (10, 11): -8.0, (11, 12): -7.0, (12, 13): -6.0}

    def of_edges(around, edges, number):
        return np.array([known[tuple(sorted(around.tree.edges[edge].tolist()))] for edge in edges])

    search.gains.worth = of_edges
    found = search.contracting.contracted(first)
    columns = [{u for u, _ in around if u < 8} for around in found.tree.neighbors[8:]]
    assert sorted(map(sorted, columns)) == [[0, 1, 2], [3, 4, 5], [6, 7]]
    assert search.sample.steps["contractions"] == 3


@pytest.mark.parametrize(("rounds", "n_hidden"), [(1, 4), (2, 1)])
def test_more_hidden_variables_become_one_after_the_first_time(monkeypatch, rounds, n_hidden):
    """A chain of twelve: four are left, which nine at a time join."""
    monkeypatch.setattr(contract, "_ROUNDS", rounds)
    table = grouped_model((14,), top=False).sample(300, 0)
    edges = [(0, 14), (13, 25), *((column, 13 + column) for column in range(1, 13))]
    search = begun(table)
    first = search.sample.first([Tree(table.names, [*edges, *((node, node + 1) for node in range(14, 25))])])
    search.gains.worth = lambda around, edges, number: np.full(len(edges), -9.0)
    assert search.contracting.contracted(first).tree.n_hidden == n_hidden


def test_hidden_variables_that_bic_asks_for_are_not_contracted(monkeypatch):
    """Texts are about one of four topics, so that one hidden variable of three states predicts as well as two."""
    table, topics = topics_table(4, 8, 300)
    tree = topics_tree(table, topics)
    found = Search(table, 0).explained([resolved(tree)]).model
    assert groups_of(found.tree) == groups_of(tree)
    monkeypatch.setattr(gains, "bic_gain", lambda *_: -np.inf)
    before = Search(table, 0).explained([resolved(tree)]).model
    assert groups_of(before.tree) != groups_of(tree)
    assert before.bic(table) > found.bic(table) + 50


def test_bic_must_fall_by_as_much_as_where_hidden_variables_are_divided(monkeypatch):
    """Edges of a resolved star do not predict better; they stay if BIC asks for them."""
    table = grouped_model((8,), top=False).sample(500, 0)
    for fall, stay in ((3.9, False), (4.1, True)):
        search = begun(table)
        first = search.sample.first([resolved(Tree(table.names, star(8).edges))])
        assert search.gains.threshold < 3.9
        monkeypatch.setattr(gains, "bic_gain", lambda *_, fall=fall: fall)
        assert (search.contracting.contracted(first) is first) is stay


def test_edges_that_were_sure_are_tested_once_more(monkeypatch):
    model = grouped_model((4, 4, 4))
    search = begun(model.sample(800, 0))
    first = search.sample.first([resolved(model.tree)])
    search.contracting._sure = {edge_place(first.tree, edge) for edge in range(len(first.tree.edges))}
    assert search.contracting.contracted(first) is first
    found = search.contracting.without_improbable(first).tree
    assert model.tree.splits <= found.splits < first.tree.splits  # those that are doubtful stay
    monkeypatch.setattr(contract, "_IMPROBABLE", 0.5)
    assert search.contracting.without_improbable(first).tree.splits == model.tree.splits
    assert search.gains.distribution.least_gain(0.05) < search.gains.threshold


def two_for_one(search):
    """A model with two hidden variables where there is one, and by how much half of the BIC falls with one."""
    names = search.sample.table.names
    model = search.sizing.sized(search.sample.first([Tree(names, [*((i, 6 + i // 3) for i in range(6)), (6, 7)])]))
    around = search.sample.around(model)
    ((fall, _),) = search.contracting._contractions(around, around.inner_edges)
    return model, fall / 2


@pytest.mark.parametrize(("short", "is_contracted"), [(8.9, False), (9.1, True)])
def test_edges_go_where_bic_falls_by_clearly_more_than_they_gain(short, is_contracted):
    search = begun(grouped_model((6,), top=False).sample(600, 0), share=0.2)
    model, fall = two_for_one(search)
    assert 9.1 < fall < 39
    search.gains.worth = lambda around, edges: np.full(len(edges), fall - short)
    found = search.contracting.without_costly(model)
    assert (found.tree.n_hidden == 1) is is_contracted
    assert search.sample.steps["contractions"] == is_contracted
    assert is_contracted or found is model


def test_edges_that_are_sure_stay_whatever_they_cost():
    search = begun(grouped_model((6,), top=False).sample(600, 0), share=0.2)
    model, _ = two_for_one(search)
    search.gains.worth = lambda around, edges: np.zeros(len(edges))
    search.contracting._sure = {edge_place(model.tree, edge) for edge in range(len(model.tree.edges))}
    assert search.contracting.without_costly(model) is model
    search.contracting._sure.clear()
    assert search.contracting.without_costly(model).tree.n_hidden == 1


def test_costly_edges_stay_where_most_edges_of_the_first_tree_are_there():
    search = begun(grouped_model((6,), top=False).sample(600, 0), share=0.51)
    model, fall = two_for_one(search)
    search.gains.worth = lambda around, edges: np.full(len(edges), fall - 15)
    assert search.contracting.without_costly(model) is model
    search.gains.distribution = None  # of a tree without edges
    assert search.contracting.without_costly(model) is model
    search.gains.distribution = GainDistribution(0.49, 20.0)
    assert search.contracting.without_costly(model).tree.n_hidden == 1


def test_true_edges_that_few_rows_do_not_pay_for_are_contracted_if_fewest_are_asked_for():
    truth = random_tree(8, 0.5, 3)
    model = copying_model(truth, lambda u, v: 0.8, [6] * 8 + [4] * truth.n_hidden)
    few, many = model.sample(400, 0), model.sample(4000, 0)
    tested = Search(few, 0).explained([truth])
    fewest = Search(few, 0).explained([truth], fewest=True)
    assert tested.model.tree.splits == truth.splits
    assert fewest.model.tree.splits < truth.splits
    assert fewest.steps["contractions"] == truth.n_hidden - fewest.model.tree.n_hidden > 0
    assert fewest.model.bic(few) < tested.model.bic(few)
    # With more rows every edge lowers BIC.
    assert Search(many, 0).explained([truth], fewest=True).model.tree.splits == truth.splits


def test_contractions_of_the_fewest_hidden_variables_keep_given_numbers_of_states():
    truth = random_tree(8, 0.5, 3)
    table = copying_model(truth, lambda u, v: 0.8, [6] * 8 + [4] * truth.n_hidden).sample(300, 0)
    found = Search(table, 0, 3).explained([truth], fewest=True)
    assert found.model.tree.n_hidden < truth.n_hidden
    assert set(hidden_states(found.model)) == {3}
