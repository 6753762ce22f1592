"""The search, from trees that are given."""

import numpy as np
import pytest

from helpers.models import copying_model, grouped_model, star
from helpers.search import (
    around_fitted,
    groups_of,
    hidden_states,
    random_binary,
    resolved,
    rows_of_two,
)
from latree._util.workers import one_thread
from latree.paper.simulate import random_tree
from latree.search import explain, local
from latree.search.explain import Search, least_gain
from latree.search.local import gain_of_two
from latree.table import Table
from latree.tree import Tree

BINARY = random_tree(8, 0.5, 3)


def binary_rows(n_rows, seed=0):
    """Rows of a binary tree."""
    return copying_model(BINARY, lambda u, v: 0.85, [3] * BINARY.n_nodes).sample(n_rows, seed)


def star_of(table):
    return Tree(table.names, star(table.n_columns).edges)


# What two hidden variables gain, and what they must gain


def drawn_gains(share, n, seed=0, apart=2.0):
    """Logarithms of Bayes factors of two normal distributions, where the first is right with some probability."""
    rng = np.random.default_rng(seed)
    found = rng.normal(np.where(rng.random(n) < share, apart, 0))
    return apart * found - apart**2 / 2


@pytest.mark.parametrize("share", [0.1, 0.3, 0.5, 0.8, 0.95])
@pytest.mark.parametrize("apart", [1.0, 3.0])
def test_the_share_of_edges_that_are_there_is_estimated(share, apart):
    """An edge as probable as not is one whose Bayes factor makes up for the share."""
    odds = [np.exp(-least_gain(drawn_gains(share, 2000, seed, apart))) for seed in range(3)]
    np.testing.assert_allclose([one / (1 + one) for one in odds], share, atol=0.06)


def test_where_half_of_the_edges_are_there_they_need_not_gain_anything():
    for gains in ([], [0.0] * 7, [-3.0, 3.0], [-1000.0, 1000.0], [-2.0, -5.0, 2.0, 5.0]):
        assert least_gain(gains) == pytest.approx(0, abs=1e-9)


def test_the_more_edges_gain_the_less_another_must_gain():
    gains = drawn_gains(0.4, 20)
    found = []
    for more in (-3.0, -1.0, 0.0, 0.5, 4.0):
        found.append(least_gain(gains + more))
        for place_of in range(20):
            one = gains + more
            one[place_of] += 2
            assert least_gain(one) < found[-1]
    assert found == sorted(found, reverse=True)


@pytest.mark.parametrize("size", [1e3, 1e9, np.inf])
@pytest.mark.parametrize("n", [1, 10, 1000])
def test_no_share_is_zero_or_one(n, size):
    """One edge of either kind is added to those that are known."""
    assert least_gain([size] * n) == pytest.approx(-np.log(n + 1), rel=1e-3)
    assert least_gain([-size] * n) == pytest.approx(np.log(n + 1), rel=1e-3)


def test_edges_that_are_clearly_there_are_not_tested_to_the_end(monkeypatch):
    """The quick answer says the same as all folds do, about edges that are there and that are not."""
    clear, signs = 0, set()
    for n_rows in (150, 400):
        for between in (0.3, 0.7, 0.9, 1.0):
            for seed in range(2):
                tree, table = rows_of_two(between=between, n_rows=n_rows, seed=seed)
                around = around_fitted(tree, table)
                pair = around.pair(8, 9)
                quick = gain_of_two(pair, around.weights, seed)
                with monkeypatch.context() as patch:
                    patch.setattr(local, "CLEAR", np.inf)
                    full = gain_of_two(pair, around.weights, seed)
                assert (quick > 0) == (full > 0)
                clear += quick != full
                signs.add(full > 0)
                if between in (0.3, 1.0):
                    assert (full > 20) == (between == 0.3)
    assert clear >= 4
    assert signs == {True, False}


# Steps


def test_edges_that_are_not_there_are_contracted():
    model = grouped_model((4, 4, 4))
    table = model.sample(800, 0)
    found = Search(table, 0).explained([resolved(model.tree)])
    assert found.tree.splits == model.tree.splits
    assert hidden_states(found) == (3, 3, 3, 3)


def test_at_most_three_hidden_variables_become_one_at_first(monkeypatch):
    """A chain of six, none of whose edges is there: those that gain least go first."""
    monkeypatch.setattr(explain, "_ROUNDS", 1)
    table = grouped_model((8,), top=False).sample(300, 0)
    edges = [(0, 8), (1, 8), (2, 9), (3, 10), (4, 11), (5, 12), (6, 13), (7, 13)]
    chain = Tree(table.names, [*edges, *((node, node + 1) for node in range(8, 13))])
    known = {(8, 9): -9.0, (9, 10): -5.0, (10, 11): -8.0, (11, 12): -7.0, (12, 13): -6.0}
    search = Search(table, 0)
    monkeypatch.setattr(
        search,
        "_gains",
        lambda around: {edge: known[tuple(around.tree.edges[edge].tolist())] for edge in around.inner_edges},
    )
    found = search._contracted(search.sample.first([chain]))
    columns = [{u for u, _ in around if u < 8} for around in found.tree.neighbors[8:]]
    assert sorted(map(sorted, columns)) == [[0, 1, 2], [3, 4, 5], [6, 7]]


@pytest.mark.parametrize(("rounds", "n_hidden"), [(1, 4), (2, 1)])
def test_more_hidden_variables_become_one_after_the_first_time(monkeypatch, rounds, n_hidden):
    """A chain of twelve: four are left, which nine at a time join."""
    monkeypatch.setattr(explain, "_ROUNDS", rounds)
    table = grouped_model((14,), top=False).sample(200, 0)
    edges = [(0, 14), (13, 25), *((column, 13 + column) for column in range(1, 13))]
    search = Search(table, 0)
    monkeypatch.setattr(search, "_gains", lambda around: dict.fromkeys(around.inner_edges, -9.0))
    first = search.sample.first([Tree(table.names, [*edges, *((node, node + 1) for node in range(14, 25))])])
    assert search._contracted(first).tree.n_hidden == n_hidden


def test_an_edge_that_few_rows_leave_in_doubt_stays_where_most_edges_are_there():
    """What must be gained decides, and nothing else."""
    table = rows_of_two(between=0.9, n_rows=300)[1]
    tree = rows_of_two()[0]
    for least, n_hidden in ((-1000.0, 2), (1000.0, 1)):
        search = Search(table, 0)
        search.least = least
        assert search._contracted(search.sample.first([tree])).tree.n_hidden == n_hidden


def test_a_new_hidden_variable_is_put_where_two_predict_better():
    """The search starts from a single hidden variable for two groups."""
    model = grouped_model((4, 4), between=0.5)
    table = model.sample(600, 0)
    found = Search(table, 0).explained([star_of(table)])
    assert groups_of(found.tree) == groups_of(model.tree)


def test_dividing_and_contracting_do_not_undo_each_other():
    """Both are the same comparison. Now and then a new edge gains too little in the whole model: that is the end."""
    divided = undone = 0
    for between in (0.7, 0.85):
        for seed in range(8):
            table = rows_of_two(between=between, n_rows=200, seed=seed)[1]
            search = Search(table, 0)
            one = search.sample.first([star_of(table)])
            more = search._divided(one)
            divided += more is not one
            fewer = search._contracted(more)
            undone += fewer is not more
            assert search._divided(fewer) is fewer
    assert divided >= 8
    assert undone <= 2


def test_a_place_is_looked_at_once_by_every_step(monkeypatch):
    """A step that was there before has nothing to ask; what has changed is asked again."""
    model = grouped_model((4, 4, 4))
    search, asked = Search(model.sample(500, 0), 0), []
    new = search._new
    monkeypatch.setattr(search, "_new", lambda step, places: asked.append((step, found := new(step, places))) or found)
    found = search.explained([resolved(model.tree)])
    assert {step for step, items in asked if items} == {"cut", "contract", "relocate", "divide", "size"}
    asked.clear()
    for step in (search._cut, search._contracted, search._relocated, search._divided):
        assert step(found) is found
    assert [items for _, items in asked] == [[]] * 4
    moved = Tree(model.tree.names, [(0, 13), *model.tree.edges[1:].tolist()])
    search._relocated(search.sample.first([moved]))
    assert {0, 1, 4} <= {node for node, _ in asked[4][1]}  # columns at both places are asked


def test_independent_parts_are_cut():
    model = grouped_model((4, 4), top=False)
    joined = Tree(model.tree.names, [*model.tree.edges.tolist(), (8, 9)])
    for seed in range(6):
        found = Search(model.sample(300, seed), seed).explained([resolved(joined)])
        assert found.tree.components == model.tree.components
    # With little dependence they stay together.
    weak = copying_model(joined, lambda u, v: 0.25 if min(u, v) == 8 else 0.7, [4] * 8 + [3, 3]).sample(1500, 0)
    kept = Search(weak, 0).explained([resolved(joined)])
    assert len(kept.tree.components) == 1
    assert kept.tree.splits == joined.splits


def test_a_column_at_the_wrong_place_is_moved():
    """Five groups in a chain of hidden variables; a column of the first hangs on the fourth."""
    d, groups = 20, 5
    edges = [(column, d + column // 4) for column in range(d)] + [(d + g, d + g + 1) for g in range(groups - 1)]
    truth = Tree([f"x{column:02}" for column in range(d)], edges)
    table = copying_model(truth, lambda u, v: 0.7, [4] * d + [3] * groups).sample(600, 0)
    search = Search(table, 0, 3)
    wrong = search.sample.first([Tree(truth.names, [(0, d + 3), *edges[1:]])])
    found = search._relocated(wrong)
    assert found.tree.splits == truth.splits
    assert found.log_likelihood(table) > wrong.log_likelihood(table) + 50


def test_columns_do_not_move_to_hidden_variables_with_few_states():
    """BIC would prefer a wrong hidden variable of two states to the right one of five."""
    d = 10
    edges = [*((column, d + column // 5) for column in range(d)), (d, d + 1)]
    truth = Tree([f"x{column}" for column in range(d)], edges)
    model = copying_model(truth, lambda u, v: 0.45 if u == 0 or v == 0 else 0.75, [6] * d + [5, 2])
    table = model.sample(160, 2)
    around = around_fitted(Tree(truth.names, [(0, d + 1), *edges[1:]]), table, [5, 2])
    assert Search(table, 0)._relocated(around.model).tree.splits == truth.splits


def test_wrong_trees_are_improved():
    """Columns that were joined at random come to their groups."""
    model = grouped_model((4, 4, 4), strength=0.8, between=0.4)
    table = model.sample(800, 0)
    for seed in range(2):
        found = Search(table, 0).explained([random_binary(table, seed)])
        assert groups_of(found.tree) >= groups_of(model.tree)


# Numbers of states


@pytest.mark.parametrize("k", [2, 4])
def test_a_tree_of_any_kind_gets_its_numbers_of_states(k):
    table = grouped_model((6,), hidden_states=k, column_states=5, strength=0.7, top=False).sample(1000, 0)
    found = Search(table, 0).sized(star_of(table))
    assert hidden_states(found) == (k,)
    assert found.tree.edges.tolist() == star(6).edges.tolist()


def test_many_hidden_variables_beside_one_get_their_numbers_of_states_at_once():
    model = grouped_model((3,) * 10, hidden_states=2, column_states=3, strength=0.8)
    found = Search(model.sample(1000, 0), 0).sized(model.tree)  # from four states, where ten at a time are too many
    assert set(hidden_states(found)) == {2}


def test_given_numbers_of_states_are_kept():
    model = grouped_model((4, 4, 4))
    table, tree = model.sample(400, 0), resolved(model.tree)
    for found in (
        Search(table, 0, 2).explained([tree]),
        Search(table, 0, 2).resolved([tree]),
        Search(table, 0, 2).sized(model.tree),
    ):
        assert set(hidden_states(found)) == {2}


# Whole searches


def test_the_best_of_some_trees_is_taken():
    model = grouped_model((3, 3, 3))
    table = model.sample(400, 0)
    right = resolved(model.tree)
    found = Search(table, 0).resolved([random_binary(table, 1), right, random_binary(table, 2)])
    only = Search(table, 0).resolved([right])
    assert found.tree.splits == only.tree.splits >= model.tree.splits


def one_exchange_away(tree):
    """For each inner edge, the tree with a neighbour of one end exchanged for one of the other."""
    for h, g in (ends for ends in tree.edges.tolist() if min(ends) >= tree.n_observed):
        one, other = (next(u for u, _ in tree.neighbors[v] if u not in (h, g)) for v in (h, g))
        new = {frozenset((one, h)): (one, g), frozenset((other, g)): (other, h)}
        yield Tree(tree.names, [new.get(frozenset(edge), tuple(edge)) for edge in tree.edges.tolist()])


def test_resolved_trees_are_rearranged_and_stay_binary():
    table = binary_rows(1000)
    for wrong in one_exchange_away(BINARY):
        assert wrong.splits != BINARY.splits
        found = Search(table, 0).resolved([wrong])
        assert found.tree.non_binary_features() == {}
        assert found.tree.splits == BINARY.splits


def test_a_binary_tree_that_is_there_stays():
    for seed in range(3):
        table = binary_rows(500, seed)
        found = Search(table, 0).explained([random_binary(table, 0), BINARY])
        assert found.tree.splits == BINARY.splits
        assert set(hidden_states(found)) == {3}


def test_without_trees_all_columns_are_independent():
    table = grouped_model((4, 4)).sample(100, 0)
    found = Search(table, 0).explained([])
    assert found.tree.edges.tolist() == []
    assert found.tree.n_hidden == 0


def test_one_round_finds_nearly_the_same_tree():
    model = grouped_model((4, 4, 4))
    for seed in range(2):
        table = model.sample(400, seed)
        quick, whole = (Search(table, 0).explained([resolved(model.tree)], whole=one) for one in (False, True))
        assert len(quick.tree.splits ^ whole.tree.splits) <= 1
        assert set(hidden_states(whole)) == {3} != set(hidden_states(quick))  # which it does not choose


def test_some_edges_are_left_out():
    """Both ends become one hidden variable, and all other edges stay."""
    model = grouped_model((4, 4, 4), hidden_states=2)
    search = Search(model.sample(400, 0), 0)
    binary = search.resolved([resolved(model.tree)])
    extra = [e for e, split in enumerate(binary.tree.edge_splits) if split in binary.tree.splits - model.tree.splits]
    found = search.without(binary, extra)
    assert found.tree.splits == model.tree.splits
    assert set(hidden_states(found)) == {2}
    assert search.without(binary, []) is binary


def test_the_order_of_columns_changes_nothing():
    model = grouped_model((3, 3, 3), strength=0.8)
    table, tree = model.sample(300, 0), resolved(model.tree)
    expected = groups_of(Search(table, 0).explained([tree]).tree)
    assert expected >= groups_of(model.tree)
    for order in ([8, 7, 6, 5, 4, 3, 2, 1, 0], [4, 0, 8, 2, 6, 1, 7, 3, 5]):
        other = Table.from_codes(tuple(table.columns[column] for column in order), table.codes()[:, order])
        assert groups_of(Search(other, 0).explained([tree.reordered(other.names)]).tree) == expected


def same_numbers(one, other):
    assert one.tree.edges.tolist() == other.tree.edges.tolist()
    for table, same in zip(one.tables, other.tables, strict=True):
        np.testing.assert_array_equal(table, same)


def test_the_number_of_cores_changes_nothing(monkeypatch):
    model = grouped_model((4, 4, 4))
    table = model.sample(300, 0)

    def found(cores):
        monkeypatch.setattr("os.sched_getaffinity", lambda process: set(range(cores)))
        return Search(table, 0).explained([resolved(model.tree)])

    alone = found(1)
    monkeypatch.setattr("latree._util.workers._WORTH_A_COPY", 0.0)
    same_numbers(found(2), alone)
    with one_thread():
        same_numbers(found(2), alone)


def test_the_same_seed_gives_the_same_numbers():
    table = grouped_model((3, 3, 3)).sample(300, 0)
    same_numbers(*(Search(table, 5).explained([random_binary(table)]) for _ in range(2)))
