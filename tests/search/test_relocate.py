"""Moves of columns and subtrees to another hidden variable nearby, against whole models."""

import numpy as np
import pytest

from helpers.models import copying_model, holes, table_of
from helpers.search import surroundings
from latree.model import fit_model
from latree.search import relocate
from latree.search.draft import Draft
from latree.search.local import SMOOTHING
from latree.search.neighbors import normalised
from latree.search.relocate import attached, movable, price
from latree.tree import Tree

D, GROUPS = 16, 4


def chain(moved=None, seed=0, n_rows=500, missing=False):
    """Four groups of four columns whose hidden variables form a chain, and rows; one column may hang elsewhere."""
    edges = [(j, D + j // 4) for j in range(D)] + [(D + g, D + g + 1) for g in range(GROUPS - 1)]
    tree = Tree([f"x{j:02}" for j in range(D)], edges)
    model = copying_model(tree, lambda u, v: 0.7, [4] * D + [3] * GROUPS)
    table = model.sample(n_rows, seed)
    if missing:
        table = table_of(model, holes(table.codes(), seed))
    if moved is not None:
        column, group = moved
        edges[column] = (column, D + group)
        tree = Tree(tree.names, edges)
    return surroundings(fit_model(table, tree, 3, smoothing=SMOOTHING, random_state=0).model, table), table


def relocations(around):
    return relocate.best_relocations(around, [(u, v) for u, v, _ in movable(around.tree)])


def after(around, table, move):
    draft = Draft(around.model)
    draft.disconnect(move.node, move.old)
    draft.connect(move.node, move.new, move.joint)
    return draft.start(table)


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("group", [1, 2, 3])
def test_a_column_goes_where_it_belongs(group, missing):
    around, _ = chain((0, group), missing=missing)
    move, *others = relocations(around)
    assert (move.node, move.old, move.new) == (0, D + group, D)
    assert move.gain > 20
    assert all(other.gain < 10 for other in others)


def test_the_gain_is_the_difference_of_the_whole_models():
    """Only the table of the node changes: what the rest says does not depend on where the node is."""
    around, table = chain((0, 2), missing=True)
    move = relocations(around)[0]
    changed = after(around, table, move)
    difference = changed.log_likelihood(table) - around.model.log_likelihood(table)
    # One of three other places could be the best by chance. Before the move, EM of the node's own table still gains a
    # little; and the new table has a floor.
    assert move.gain == pytest.approx(difference - np.log(3), abs=3)
    assert difference > 20


def test_subtrees_move_like_columns():
    """Two columns with a hidden variable of their own hang on the wrong end of the chain."""
    edges = [(j, D + j // 4) for j in range(D)] + [(D + g, D + g + 1) for g in range(GROUPS - 1)]
    right = [(j, D + 4) if j < 2 else (j, D + j // 4) for j in range(D)] + edges[D:] + [(D, D + 4)]
    wrong = [*right[:-1], (D + 3, D + 4)]
    names = [f"x{j:02}" for j in range(D)]
    model = copying_model(Tree(names, right), lambda u, v: 0.7, [4] * D + [3] * (GROUPS + 1))
    table = model.sample(600, 0)
    around = surroundings(fit_model(table, Tree(names, wrong), 3, smoothing=SMOOTHING, random_state=0).model, table)
    move = relocations(around)[0]
    assert (move.node, move.old, move.new) == (D + 4, D + 3, D)
    assert after(around, table, move).tree.splits == model.tree.splits


def test_a_right_tree_has_next_to_nothing_to_move():
    for seed in range(3):
        around, _ = chain(seed=seed)
        assert all(move.gain < 3 for move in relocations(around))


def test_how_far_a_node_moves(monkeypatch):
    around, _ = chain((0, 3))
    monkeypatch.setattr(relocate, "_RADIUS", 2)
    assert relocations(around)[0].new == D + 1
    monkeypatch.setattr(relocate, "_RADIUS", 3)
    assert relocations(around)[0].new == D


def test_weights_count_as_repeated_rows():
    around, table = chain((0, 2), n_rows=200)
    model, codes = around.model, table.codes()
    times = np.random.default_rng(0).integers(1, 4, size=200)
    weighted = surroundings(model, table_of(model, codes, times.astype(float)))
    repeated = surroundings(model, table_of(model, np.repeat(codes, times, axis=0)))
    one, other = relocations(weighted)[0], relocations(repeated)[0]
    assert (one.node, one.new) == (other.node, other.new)
    assert one.gain == pytest.approx(other.gain)
    np.testing.assert_allclose(one.joint, other.joint)


def test_columns_in_the_middle_and_single_hidden_variables_stay():
    tree = Tree("abcde", [(0, 1), (1, 5), (2, 5), (3, 5), (4, 5)])
    model = copying_model(tree, lambda u, v: 0.7, [3] * 6)
    assert relocations(surroundings(model, model.sample(100, 0))) == []
    assert sorted(u for u, _, _ in movable(tree)) == [2, 3, 4]


def test_one_table_alone_is_fitted_by_em():
    """With a belief that does not change, EM of one neighbour's table, by its formula for every row."""
    rng = np.random.default_rng(11)
    message, weights = rng.random((3, 40)), rng.exponential(size=40)
    belief, table = normalised(rng.random((2, 40))), normalised(rng.random((3, 2)))
    expected = table
    for _ in range(5):
        counts = np.full((3, 2), SMOOTHING)
        for row in range(40):
            joint = expected * np.outer(message[:, row], belief[:, row])
            counts += weights[row] * joint / joint.sum()
        expected = normalised(counts)
    found, rows = attached(message, belief[None], weights, table[None])
    np.testing.assert_allclose(found[0], expected)
    np.testing.assert_allclose(rows[0], np.log((belief * (expected.T @ message)).sum(axis=0)))
    # Without a table, EM starts where G is taken to be known. Other places change nothing.
    _, several = attached(message, np.stack([belief[::-1], belief]), weights)
    assert weights @ several[1] == pytest.approx(weights @ rows[0], abs=0.5)
    np.testing.assert_allclose(several[1], attached(message, belief[None], weights)[1][0])


def test_a_node_does_not_move_for_states_that_say_nothing():
    """A hidden variable of many states fits a column of noise better; for rows that are left out it is not better."""
    rng = np.random.default_rng(0)
    few, many = [], []
    for _ in range(30):
        message = np.arange(4)[:, None] == rng.integers(4, size=200)
        for scores, k in ((few, 2), (many, 6)):
            belief = (np.arange(k)[:, None] == rng.integers(k, size=200)).astype(float)
            tables, rows = attached(message.astype(float), belief[None], np.ones(200))
            scores.append(rows.sum() - price(tables[0]))
    assert np.mean(many) < np.mean(few)
