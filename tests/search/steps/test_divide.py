"""Division of hidden variables in whole models."""

from dataclasses import replace

import pytest

from helpers.models import grouped_model, star
from helpers.search import groups_of
from latree.search import gains
from latree.search.edges import SMOOTHING, Surroundings
from latree.search.explain import Search
from latree.search.local import fit
from latree.search.moves import Move
from latree.search.steps import divide
from latree.search.steps.divide import Dividing
from latree.search.steps.move import Moving
from latree.tree import Tree


def begun(table):
    """A search, its step that divides, and a model with one hidden variable."""
    search = Search(table, 0)
    one = search.sized(Tree(table.names, star(table.n_columns).edges)).model
    return search, Dividing(search.sample, search.gains), one


def completed(search):
    """The steps that follow a division at the end."""
    moving = Moving(search.sample)
    return lambda tried: search.sizing.sized(search.contracting.contracted(moving.moved(tried)))


def incomplete_division(search, model, group):
    """A division with a gain that is too small, of a hidden variable that has all columns."""
    around, node = search.sample.around(model), model.tree.n_observed
    rest = tuple(column for column in range(node) if column not in group)
    pair = fit(around.star(node).divided(group), around.weights, smoothing=SMOOTHING, max_iter=15).model
    return Move((node, node + 1), rest, tuple(group), pair, 4.0)


def test_a_new_hidden_variable_is_put_where_two_predict_better(monkeypatch):
    """The search starts from a single hidden variable for two groups."""
    model = grouped_model((4, 4), between=0.5)
    table = model.sample(1000, 0)
    together = Tree(table.names, star(8).edges)
    found = Search(table, 0).explained([together])
    assert found.steps["divisions"] == 1
    assert groups_of(found.model.tree) == groups_of(model.tree)
    monkeypatch.setattr(gains, "_MIN_DIVISION", 1e6)
    assert Search(table, 0).explained([together]).model.tree.n_hidden == 1


@pytest.mark.parametrize("needed", [5.0, 1000.0])
def test_a_division_that_is_nearly_worth_it_stays_if_moves_complete_it(monkeypatch, needed):
    """Three columns of a group get a hidden variable of their own, and the fourth follows."""
    truth = grouped_model((4, 4), between=0.5)
    search, step, one = begun(truth.sample(1000, 0))
    division = incomplete_division(search, one, (0, 1, 2))
    monkeypatch.setattr(step, "_divisions", lambda *_: [division])
    monkeypatch.setattr(gains, "_MIN_DIVISION", needed)
    found, steps = step.divided_further(one, completed(search)), search.sample.steps
    if needed == 5:
        assert groups_of(found.tree) == groups_of(truth.tree)
        assert (steps["divisions"], steps["moves"]) == (1, 1)
        assert 5 < (one.bic(search.sample.table) - found.bic(search.sample.table)) / 2 < 1000
    else:
        assert found is one
        assert set(steps.values()) == {0}


def test_a_division_that_is_not_worth_it_is_undone(monkeypatch):
    search, step, one = begun(grouped_model((8,), top=False).sample(500, 0))
    before = dict(search.sample.steps)
    division = incomplete_division(search, one, (0, 1, 2))
    monkeypatch.setattr(step, "_divisions", lambda *_: [division])
    assert step.divided_further(one, completed(search)) is one
    assert search.sample.steps == before


@pytest.mark.parametrize(
    ("gain", "is_made", "is_remembered"),
    [(4.1, True, False), (3.9, False, True), (1.1, False, True), (0.9, False, False)],
)
def test_divisions_that_are_nearly_worth_it_are_remembered(monkeypatch, gain, is_made, is_remembered):
    search, step, one = begun(grouped_model((4, 4), between=0.5).sample(500, 0))
    division = replace(incomplete_division(search, one, (0, 1, 2, 3)), gain=gain)

    def best_division(around, fold, splits, log_rows, least_gain, node):
        return division if around.model is one and division.gain >= least_gain else None

    monkeypatch.setattr(divide, "best_division", best_division)
    step.divided(one)
    assert (search.sample.steps["divisions"] == 1) is is_made
    # Only these are looked at again.
    looked = []
    monkeypatch.setattr(step, "_divisions", lambda model, nodes, number: looked.extend(nodes) or [])
    step.divided_further(one, completed(search))
    assert looked == ([8] if is_remembered else [])


def test_every_division_is_judged_by_folds_of_its_own(monkeypatch):
    seen = []
    monkeypatch.setattr(divide, "best_division", lambda around, fold, *_: seen.append(fold))
    monkeypatch.setattr(Surroundings, "map", lambda self, function, items: [function(item) for item in items])
    _, step, one = begun(grouped_model((5,), top=False).sample(50, 0))
    for number in range(divide._ROUNDS + 1):
        step._divisions(one, [5], number)
    drawn = [fold.tobytes() for both in seen for fold in both]
    assert len(set(drawn)) == len(drawn) == 2 * (divide._ROUNDS + 1)
