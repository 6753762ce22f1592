"""Rough looks that come first: some of the rows, tables that are not fitted, and places that are likely."""

import numpy as np
import pytest

from helpers.models import grouped_model
from helpers.search import KINDS, around_fitted, random_pair, surroundings
from latree.model import fit_model
from latree.search import explain, relocate, sample
from latree.search.draft import Draft
from latree.search.explain import Search, _gain
from latree.search.local import SMOOTHING, fit, gain_of_two
from latree.search.relocate import best_relocations, movable
from latree.tree import Tree

GROUPS = 12


@pytest.fixture(scope="module")
def hub():
    """Twelve groups of four columns under one hidden variable, fitted to rows."""
    model = grouped_model((4,) * GROUPS)
    table = model.sample(900, 0)
    return around_fitted(model.tree, table), table


def hub_edges(around):
    return [around.tree.edges[edge].tolist() for edge in around.inner_edges]


def test_what_is_not_fitted_has_the_same_likelihood(hub):
    """Up to a number per row that is the same for all models of the same messages."""
    around, _ = hub
    for ends in hub_edges(around):
        exact, rough = around.pair(*ends), around.rough_pair(*ends)
        assert exact.is_fitted
        assert not rough.is_fitted
        gains = [pair.rows() - sum(one.rows() for one in pair.apart()) for pair in (exact, rough)]
        np.testing.assert_allclose(gains[1], gains[0], atol=1e-4)
        flipped = rough.flipped()
        np.testing.assert_allclose(flipped.rows(), rough.rows(), atol=1e-9)


@pytest.mark.parametrize("kinds", [(kind, other) for kind in KINDS for other in KINDS])
def test_em_of_a_pair_leaves_tables_alone_that_are_known(kinds):
    """As if the known neighbours were one more factor of each state."""
    rng = np.random.default_rng(0)
    pair = random_pair((kinds, kinds[::-1]), ((2, 3), (3, 2)), (3, 2), rng)
    known, other = rng.random((3, 40)), rng.random((2, 40))
    with_known = type(pair)(
        pair.messages, pair.other_messages, pair.prior, pair.between, pair.tables, pair.other_tables, known, other
    )
    # The same as neighbours whose tables are the identity and which are never fitted: one step of Bayes by hand.
    own = np.prod([t.T @ m for t, m in zip(pair.tables, pair.messages, strict=True)], axis=0) * known
    others = np.prod([t.T @ m for t, m in zip(pair.other_tables, pair.other_messages, strict=True)], axis=0) * other
    joint = (pair.between * pair.prior).T[:, :, None] * own[:, None] * others[None]
    np.testing.assert_allclose(with_known.rows(), np.log(joint.sum(axis=(0, 1))))
    posterior = joint / joint.sum(axis=(0, 1))
    fitted = fit(with_known, np.ones(40), max_iter=1, smoothing=0.5).model
    expected = posterior.sum(axis=(1, 2)) + 0.5
    np.testing.assert_allclose(fitted.prior, expected / expected.sum())
    assert fitted.known is known


def test_states_that_many_neighbours_tell_apart_stay_apart(hub):
    around, _ = hub
    for h, g in hub_edges(around):
        pair = around.rough_pair(h, g)
        known = pair.known if pair.known is not None else pair.other_known
        merged = pair.merged(3)
        # Each state of the one hidden variable is a state of the hub.
        for row in merged.known:
            assert min(np.abs(row - other).max() for other in known) < 1e-6


def test_an_edge_that_is_clear_is_clear_at_a_rough_look(hub, monkeypatch):
    around, _ = hub
    calls = []
    monkeypatch.setattr(explain, "gain_of_two", lambda *args: calls.append(args) or gain_of_two(*args))
    for ends in hub_edges(around):
        assert _gain(around, around.rough, 0, ends) > 50
        assert gain_of_two(around.pair(*ends), around.weights, 0) > 50
    assert calls == []


def test_edges_that_are_not_clear_are_tested_in_full(monkeypatch):
    """One hidden variable of 16 columns is divided in two: rough or not, the answer is that of all rows."""
    model = grouped_model((16,), top=False)
    d, rows = 16, model.sample(700, 1)
    edges = [(column, d + (column < 3)) for column in range(d)] + [(d, d + 1)]
    around = around_fitted(Tree(model.tree.names, edges), rows)
    assert _gain(around, around.rough, 0, (d, d + 1)) == gain_of_two(around.pair(d, d + 1), around.weights, 0)
    monkeypatch.setattr(sample, "_ROUGH_ROWS", 100)
    again = surroundings(around.model, rows)
    assert len(again.rough.weights) == 100
    assert _gain(again, again.rough, 0, (d, d + 1)) == pytest.approx(
        gain_of_two(again.pair(d, d + 1), again.weights, 0)
    )


def test_some_of_the_rows_have_the_same_messages(monkeypatch, hub):
    around, _ = hub
    assert around.rough is around  # too few rows
    monkeypatch.setattr(sample, "_ROUGH_ROWS", 300)
    del around.__dict__["rough"]
    rough = around.rough
    del around.__dict__["rough"]
    assert len(rough.weights) == 300
    h, g = hub_edges(around)[0]
    for one, other in zip(rough.pair(h, g).messages, around.pair(h, g).messages, strict=True):
        np.testing.assert_array_equal(one, other[:, ::3])


@pytest.mark.parametrize("rough_rows", [100, 10**6])
def test_of_many_places_the_right_one_is_tried(monkeypatch, rough_rows):
    """A column of one of twelve groups hangs on another one."""
    monkeypatch.setattr(sample, "_ROUGH_ROWS", rough_rows)
    model = grouped_model((4,) * GROUPS)
    table = model.sample(900, 3)
    edges = [(0, v) if u == 0 else (u, v) for u, v in model.tree.edges.tolist()]
    right = next(v for u, v in edges if u == 0)
    wrong = next(v for u, v in edges if u == 20)
    tree = Tree(model.tree.names, [(0, wrong) if u == 0 else (u, v) for u, v in edges])
    around = surroundings(fit_model(table, tree, 3, smoothing=SMOOTHING, random_state=0).model, table)
    nodes = [(u, v) for u, v, _ in movable(tree)]
    move, *_ = best_relocations(around, nodes)
    assert (move.node, move.old, move.new) == (0, wrong, right)
    # All other places count, those that are not tried included: the hub, and eleven groups.
    monkeypatch.setattr(relocate, "_PLACES", 10**6)
    every, *_ = best_relocations(around, nodes)
    assert every.gain == pytest.approx(move.gain)
    assert len(relocate._paths(tree, wrong)) == GROUPS


def test_subtrees_that_were_settled_are_not_divided_sized_or_contracted_again(monkeypatch):
    """In a tree of parts, only what lies between the parts is looked at."""
    model = grouped_model((4,) * 4)
    table = model.sample(500, 0)
    fitted = fit_model(table, model.tree, 3, smoothing=SMOOTHING, random_state=0).model
    tree = fitted.tree
    groups = [node for node in range(tree.n_observed, tree.n_nodes) if any(u < 16 for u, _ in tree.neighbors[node])]
    subtrees = [[node, *(u for u, _ in tree.neighbors[node] if u < 16)] for node in groups]
    divided = []
    divide = explain.best_division
    monkeypatch.setattr(explain, "best_division", lambda *args: divided.append(args[-1]) or divide(*args))
    for settled, expected in ((subtrees, {*range(16, tree.n_nodes)} - {*groups}), ([], {*range(16, tree.n_nodes)})):
        divided.clear()
        found = Search(table, 0).revised(Draft(fitted), 0.0, settled)
        assert {*divided} == expected
        assert found.tree.splits == tree.splits
