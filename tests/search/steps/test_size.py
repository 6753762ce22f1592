"""Numbers of states in whole models."""

from dataclasses import replace

from helpers.models import grouped_model, star
from helpers.search import hidden_states, resolved
from latree.search.explain import Search
from latree.search.sample import Sample
from latree.search.steps.size import Sizing
from latree.tree import Tree


def test_a_tree_of_any_kind_gets_its_numbers_of_states():
    for k in (2, 4):
        model = grouped_model((6,), hidden_states=k, column_states=5, strength=0.7, top=False)
        table = model.sample(1000, 0)
        found = Search(table, 0).sized(Tree(table.names, star(6).edges))
        assert hidden_states(found.model) == (k,)
        assert found.model.tree.edges.tolist() == star(6).edges.tolist()


def test_many_hidden_variables_beside_one_get_their_numbers_of_states_at_once():
    model = grouped_model((3,) * 10, hidden_states=2, column_states=3, strength=0.8)
    found = Search(model.sample(1000, 0), 0).sized(model.tree)  # from four states, where ten at a time are too many
    assert set(hidden_states(found.model)) == {2}


def test_numbers_of_states_that_are_settled_are_not_looked_at_again(monkeypatch):
    model = grouped_model((4, 4, 4))
    sample = Sample(model.sample(800, 0), 0)
    step, looked = Sizing(sample), []
    first = step.sized(sample.first([model.tree]))
    monkeypatch.setattr("latree._util.workers.n_threads", lambda: 1)  # a copy of the process would look without telling
    resized = Sizing._resized
    monkeypatch.setattr(Sizing, "_resized", lambda *arguments: looked.append(arguments[2]) or resized(*arguments))
    step.sized(first)
    assert looked == []
    other = Tree(model.tree.names, [(0, 13), *model.tree.edges[1:].tolist()])  # two hidden variables have changed
    step.sized(sample.fitted(replace(first, tree=other)))
    assert set(looked) >= {12, 13}


def test_given_numbers_of_states_are_kept():
    model = grouped_model((4, 4, 4))
    table = model.sample(500, 0)
    for found in (
        Search(table, 0, 2).explained([resolved(model.tree)]),
        Search(table, 0, 2).resolved([resolved(model.tree)]),
        Search(table, 0, 2).sized(model.tree),
    ):
        assert set(hidden_states(found.model)) == {2}
