"""Moves of neighbours to the next hidden variable, and exchanges across an edge."""

from dataclasses import replace

import numpy as np
import pytest

from helpers.models import copying_model, grouped_model
from helpers.search import groups_of, naive_rows, random_pair, surroundings
from latree.model import fit_model
from latree.search import moves
from latree.search.draft import Draft
from latree.search.edges import SMOOTHING
from latree.search.local import fit
from latree.search.moves import best_moves
from latree.tree import Tree

LIMIT = 1.0  # nats: less is no reason to move anything


def fitted(tree, table, n_states=3):
    return fit_model(table, tree, n_states, smoothing=SMOOTHING, random_state=0).model


def two_groups(first, second):
    """Two hidden variables next to each other, with these columns."""
    d = len(first) + len(second)
    edges = [(column, d) for column in first] + [(column, d + 1) for column in second]
    return Tree([f"x{column}" for column in range(d)], [*edges, (d, d + 1)])


def simulated(tree, n_rows=1500, strength=0.7, between=0.5, seed=0):
    d = tree.n_observed
    sizes = [4] * d + [3] * tree.n_hidden
    return copying_model(tree, lambda u, v: strength if min(u, v) < d else between, sizes).sample(n_rows, seed)


def moves_of(model, table):
    around = surroundings(model, table)
    return best_moves(around, around.inner_edges, np.log(table.total_weight))


@pytest.mark.parametrize("sizes", [(4, 4), (3, 5), (5, 2)])
def test_a_column_at_the_wrong_hidden_variable_moves_back(sizes):
    first = list(range(sizes[0]))
    second = list(range(sizes[0], sum(sizes)))
    table = simulated(two_groups(first, second))
    model = fitted(two_groups(first[:-1], [*second, first[-1]]), table)
    (move,) = moves_of(model, table)
    assert sorted(map(sorted, (move.neighbors, move.other_neighbors))) == [first, second]
    assert move.gain > 50
    draft = Draft(model)
    draft.rearrange(move)
    after = fitted_from(draft, table)
    assert groups_of(after.tree) == groups_of(two_groups(first, second))
    # The gain is half of the fall of BIC of the whole model, which EM may raise a little more.
    assert (model.bic(table) - after.bic(table)) / 2 == pytest.approx(move.gain, rel=0.2)


def fitted_from(draft, table):
    start = draft.start(table)
    sizes = start.n_states[start.tree.n_observed :].tolist()
    return fit_model(table, start.tree, sizes, smoothing=SMOOTHING, start=start).model


@pytest.mark.parametrize("seed", range(5))
def test_a_right_tree_has_nothing_to_move(seed):
    model = grouped_model((3, 4, 3))
    table = model.sample(800, seed)
    assert [move for move in moves_of(fitted(model.tree, table), table) if move.gain > LIMIT] == []


def test_a_hidden_variable_moves_with_its_columns():
    """Six groups of columns, three of them at each of two general hidden variables; one group is at the wrong one."""

    def tree(third):
        edges = [(column, 18 + column // 3) for column in range(18)]
        edges += [(18, 24), (19, 24), (20, third), (21, 25), (22, 25), (23, 25), (24, 25)]
        return Tree([f"x{column}" for column in range(18)], edges)

    right = copying_model(tree(24), lambda u, v: 0.5 if min(u, v) == 24 else 0.8, [3] * 26)
    table = right.sample(1500, 0)
    move = moves_of(fitted(tree(25), table), table)[0]
    assert {frozenset(move.neighbors), frozenset(move.other_neighbors)} == {
        frozenset({18, 19, 20}),
        frozenset({21, 22, 23}),
    }


def test_nodes_of_three_neighbours_exchange_theirs():
    """In a binary tree no neighbour can move away; two of them change places."""
    right = two_groups([0, 1], [2, 3])
    model = copying_model(right, lambda u, v: 0.8, [3] * 4 + [2, 2])
    table = model.sample(3000, 0)
    for wrong in (two_groups([0, 2], [1, 3]), two_groups([0, 3], [1, 2])):
        (move,) = moves_of(fitted(wrong, table, 2), table)
        assert {frozenset(move.neighbors), frozenset(move.other_neighbors)} == {frozenset({0, 1}), frozenset({2, 3})}
        assert move.gain > 20
    assert [move for move in moves_of(fitted(right, table, 2), table) if move.gain > LIMIT] == []


def test_what_is_tried():
    """Every node of the larger side can move, no side keeps fewer than two, and exchanges are for sides of two."""
    found = list(moves._arrangements([0, 1], [2, 3]))
    assert found == [([2, 1], [0, 3]), ([3, 1], [2, 0]), ([0, 2], [1, 3]), ([0, 3], [2, 1])]
    found = {(frozenset(one), frozenset(two)) for one, two in moves._arrangements([0, 1], [2, 3, 4])}
    moved = {(frozenset({0, 1, u}), frozenset({2, 3, 4} - {u})) for u in (2, 3, 4)}
    exchanged = {(frozenset({0, 1} - {u} | {v}), frozenset({2, 3, 4} - {v} | {u})) for u in (0, 1) for v in (2, 3, 4)}
    assert found == moved | exchanged
    found = {(frozenset(one), frozenset(two)) for one, two in moves._arrangements([0, 1, 2], [3, 4, 5])}
    assert found == {(frozenset({0, 1, 2} - {u}), frozenset({3, 4, 5, u})) for u in (0, 1, 2)} | {
        (frozenset({0, 1, 2, u}), frozenset({3, 4, 5} - {u})) for u in (3, 4, 5)
    }


def test_a_moved_neighbour_depends_on_its_new_hidden_variable_as_before():
    rng = np.random.default_rng(0)
    pair = random_pair((("hard", "soft", "hard"), ("hard", "soft")), ((2, 3, 4), (3, 2)), (2, 3), rng)
    moved = moves._rearranged(pair, ([0, 1, 2], [3, 4]), ([0, 2], [3, 4, 1]))
    assert moved.messages == (pair.messages[0], pair.messages[2])
    assert moved.other_messages == (*pair.other_messages, pair.messages[1])
    joint = pair.between * pair.prior  # P(g, h)
    np.testing.assert_allclose(moved.other_tables[2] * joint.sum(axis=1), pair.tables[1] @ joint.T)
    back = moves._rearranged(pair, ([0, 1, 2], [3, 4]), ([0, 1, 2, 3], [4]))
    np.testing.assert_allclose(back.tables[3] * pair.prior, pair.other_tables[0] @ joint)
    np.testing.assert_allclose(back.rows(), naive_rows(back))


@pytest.mark.parametrize(("side", "place"), [(0, 0), (0, 2), (1, 1)])
def test_quick_moves_fit_the_table_of_the_moved_neighbour_alone(side, place):
    """The gain is that of the whole small model in which only this table is new."""
    rng = np.random.default_rng(1)
    kinds, sizes = (("hard", "soft", "missing"), ("soft", "hard")), ((2, 3, 4), (3, 2))
    pair, weights = random_pair(kinds, sizes, (2, 3), rng), rng.exponential(size=40)
    before = ([0, 1, 2], [3, 4])
    node = before[side][place]
    rest, more = [u for u in before[side] if u != node], [*before[1 - side], node]
    moved = moves._rearranged(pair, before, (more, rest) if side else (rest, more))
    tables = "tables" if side else "other_tables"
    best, current = -np.inf, moved
    for _ in range(200):  # EM of this table alone: the others are put back
        step = fit(current, weights, smoothing=SMOOTHING, max_iter=1).model
        current = replace(moved, **{tables: (*getattr(moved, tables)[:-1], getattr(step, tables)[-1])})
        best = max(best, weights @ (current.rows() - pair.rows()))
    quick, moving = moves._QuickMoves(pair, weights), ([], [place]) if side else ([place], [])
    assert quick.gains(*moving, best - 1)
    assert not quick.gains(*moving, best + 0.1)


@pytest.mark.parametrize(("leaving", "coming"), [(0, 0), (2, 1)])
def test_quick_exchanges_fit_the_tables_of_both_neighbours(leaving, coming):
    """The gain is nearly that of the whole small model in which only these two tables are new."""
    rng = np.random.default_rng(2)
    kinds, sizes = (("hard", "soft", "missing"), ("soft", "hard")), ((2, 3, 4), (3, 2))
    pair, weights = random_pair(kinds, sizes, (2, 3), rng), rng.exponential(size=40)
    own, other = [0, 1, 2], [3, 4]
    left = [other[coming] if place == leaving else u for place, u in enumerate(own)]
    right = [own[leaving] if place == coming else u for place, u in enumerate(other)]
    current = moved = moves._rearranged(pair, (own, other), (left, right))
    best = -np.inf
    for _ in range(200):  # EM of these tables alone: the others are put back
        step = fit(current, weights, smoothing=SMOOTHING, max_iter=1).model
        tables, other_tables = list(moved.tables), list(moved.other_tables)
        tables[leaving], other_tables[coming] = step.tables[leaving], step.other_tables[coming]
        current = replace(moved, tables=tuple(tables), other_tables=tuple(other_tables))
        best = max(best, weights @ (current.rows() - pair.rows()))
    quick = moves._QuickMoves(pair, weights)
    assert quick.gains([leaving], [coming], best - 1)
    assert not quick.gains([leaving], [coming], best + 0.1)


def test_moves_are_fitted_if_one_table_alone_comes_near_enough(monkeypatch):
    table = simulated(two_groups([0, 1, 2, 3], [4, 5, 6, 7]))
    model = fitted(two_groups([0, 1, 2], [3, 4, 5, 6, 7]), table)
    assert moves_of(model, table)
    monkeypatch.setattr(moves, "_SLACK", -1000.0)
    assert not moves_of(model, table)


def test_ways_that_are_clearly_worse_do_not_count_against_an_edge(monkeypatch):
    table = simulated(two_groups([0, 1, 2, 3], [4, 5, 6, 7]))
    around = surroundings(fitted(two_groups([0, 1, 2, 3], [4, 5, 6, 7]), table), table)
    (edge,) = around.inner_edges
    assert len(moves.arranged_rows(around, edge, np.log(1500))[0]) == 1
    monkeypatch.setattr(moves, "_MARGIN", 1e9)
    assert len(moves.arranged_rows(around, edge, np.log(1500))[0]) == 9


def test_the_gain_is_the_difference_of_half_bic():
    """Moves of columns change the number of parameters if the hidden variables have different numbers of states."""
    table = simulated(two_groups([0, 1, 2, 3], [4, 5, 6, 7]))
    model = fitted(two_groups([0, 1, 2], [3, 4, 5, 6, 7]), table, [4, 3])
    around = surroundings(model, table)
    for log_rows in (0.0, 50.0):
        move = best_moves(around, around.inner_edges, log_rows)[0]
        pair = around.pair(8, 9)
        now = fit(pair, around.weights, smoothing=SMOOTHING, max_iter=6)
        rows = move.pair.rows().sum() - now.rows.sum()
        price = (move.pair.n_parameters - pair.n_parameters) * log_rows / 2
        assert move.gain == pytest.approx(rows - price, abs=0.01)  # fits have single precision
    assert move.pair.n_parameters != pair.n_parameters


def test_the_best_move_comes_first():
    """The second group has a column of the first, and one of the third."""
    right = grouped_model((5, 5, 5))
    table = right.sample(1000, 0)
    group = np.repeat([0, 1, 2], 5)
    group[0], group[10] = 1, 1
    tree = Tree(table.names, [*((column, 15 + place) for column, place in enumerate(group)), (15, 16), (16, 17)])
    found = moves_of(fitted(tree, table), table)
    gains = [move.gain for move in found]
    assert gains == sorted(gains, reverse=True)
    assert min(gains) > 0
    together = {frozenset(side) for move in found for side in (move.neighbors, move.other_neighbors)}
    assert together >= {frozenset(range(5)), frozenset(range(10, 15))}


def test_without_edges_between_hidden_variables_nothing_moves():
    model = grouped_model((4, 4), top=False)
    assert moves_of(model, model.sample(100, 0)) == []
