"""Moves in whole models."""

from helpers.models import copying_model, grouped_model
from helpers.search import groups_of
from latree.model import fit_model
from latree.search.edges import SMOOTHING
from latree.search.explain import Search
from latree.search.sample import Sample
from latree.search.steps import move
from latree.search.steps.move import Moving
from latree.tree import Tree


def test_a_column_at_the_wrong_place_is_moved(monkeypatch):
    model = grouped_model((5, 5, 5), between=0.5)
    table = model.sample(1000, 0)
    wrong = Tree(table.names, [(0, 16), *model.tree.edges[1:].tolist()])
    found = Search(table, 0).explained([wrong])
    assert found.steps["moves"] >= 1
    assert groups_of(found.model.tree) == groups_of(model.tree)
    # To the next hidden variable, by BIC, or to any that is near.
    for one, other in (("_MIN_MOVE", "_MIN_RELOCATION"), ("_MIN_RELOCATION", "_MIN_MOVE")):
        with monkeypatch.context() as patch:
            patch.setattr(move, one, 1e6)
            assert Search(table, 0).explained([wrong]).steps["moves"] >= 1
            patch.setattr(move, other, 1e6)
            assert Search(table, 0).explained([wrong]).steps["moves"] == 0


def test_a_column_far_from_its_place_is_moved_at_once():
    """Five groups in a chain of hidden variables; a column of the first hangs on the fourth."""
    d, groups = 20, 5
    edges = [(column, d + column // 4) for column in range(d)] + [(d + g, d + g + 1) for g in range(groups - 1)]
    truth = Tree([f"x{column:02}" for column in range(d)], edges)
    table = copying_model(truth, lambda u, v: 0.7, [4] * d + [3] * groups).sample(800, 0)
    wrong = Tree(truth.names, [(0, d + 3), *edges[1:]])
    sample = Sample(table, 0, 3)
    step, model = Moving(sample), sample.first([wrong])
    found = step.relocated(model)
    assert found.tree.splits == truth.splits
    assert sample.steps["moves"] == 1
    assert step.score(found) > step.score(model) + 50


def test_nodes_in_their_places_are_not_looked_at_again(monkeypatch):
    model = grouped_model((4, 4, 4))
    sample = Sample(model.sample(800, 0), 0)
    step, looked = Moving(sample), []
    best = move.best_relocations
    monkeypatch.setattr(move, "best_relocations", lambda *arguments: looked.append(arguments[1]) or best(*arguments))
    first = step.relocated(sample.first([model.tree]))
    assert len(looked[0]) == 12 + 2 * 3
    step.relocated(first)
    assert looked[1] == []


def test_columns_do_not_move_to_hidden_variables_with_few_states(monkeypatch):
    """The penalty of BIC prefers a wrong hidden variable of two states to the right one of five; that of 1 does not."""
    d = 10
    edges = [*((column, d + column // 5) for column in range(d)), (d, d + 1)]
    truth = Tree([f"x{column}" for column in range(d)], edges)
    model = copying_model(truth, lambda u, v: 0.45 if u == 0 or v == 0 else 0.75, [6] * d + [5, 2])
    sample = Sample(model.sample(160, 2), 0)
    wrong = Tree(truth.names, [(0, d + 1), *edges[1:]])
    start = fit_model(sample.table, wrong, [5, 2], smoothing=SMOOTHING, random_state=0).model
    assert Moving(sample).relocated(start).tree.splits == truth.splits
    monkeypatch.setattr(move, "_PENALTY", sample.log_rows / 2)
    assert Moving(sample).relocated(start).tree.splits == wrong.splits
