import numpy as np
import pytest

from latree import Tree
from latree.counts.distances import as_pairs, information
from simulated_tables import (
    copy_table,
    independent_model,
    make_regular,
    most_states,
    non_binary_model,
    non_binary_tree,
    recipe_model,
    separate_groups_model,
    with_missing,
)


def neighbours_of(tree, node):
    return [other for other, _ in tree.neighbors[node]]


def hidden_of(tree):
    return range(tree.n_observed, tree.n_nodes)


def test_a_copy_is_right_with_the_given_share_and_by_chance():
    assert copy_table(4, np.array([2, 0]), 0.6).T.round(9).tolist() == [[0.1, 0.1, 0.7, 0.1], [0.7, 0.1, 0.1, 0.1]]


def test_the_recipe_is_eight_scales_of_five_items():
    model = recipe_model()
    tree = model.tree
    assert model.n_states.tolist() == [4] * 40 + [3] * 9
    groups = [[node for node in neighbours_of(tree, hidden) if node < 40] for hidden in hidden_of(tree)]
    assert groups == [*(list(range(i, i + 5)) for i in range(0, 40, 5)), []]
    # Two items of a scale have the same state with probability .36 + .64 / 4; the scale itself is uniform on three.
    assert np.trace(model.joint([0, 1])) == pytest.approx(0.36 + 0.64 / 4)
    assert np.trace(model.joint([40, 48])) == pytest.approx(0.7 + 0.3 / 3)
    assert model.joint([48]) == pytest.approx(np.full(3, 1 / 3))


def test_separate_groups_are_parts_of_a_forest():
    tree = separate_groups_model().tree
    assert tree.components == {0b111111 << 6 * group for group in range(3)}
    assert tree.n_hidden == 3


def test_independent_columns_have_two_to_five_states():
    models = [independent_model(seed) for seed in range(5)]
    assert {model.tree.n_hidden for model in models} == {0}
    assert {int(n) for model in models for n in model.n_states} == {2, 3, 4, 5}


def test_non_binary_trees_have_the_numbers_asked_for():
    trees = [non_binary_tree(seed) for seed in range(200)]
    assert {tree.n_hidden for tree in trees} == set(range(6, 31))
    assert {len(tree.neighbors[node]) for tree in trees for node in hidden_of(tree)} == {3, 4, 5, 6, 7}
    assert all(len(tree.components) == 1 for tree in trees)
    assert all(len(tree.splits) == tree.n_hidden - 1 for tree in trees)


@pytest.mark.parametrize("draw", ["copy", "dirichlet"])
@pytest.mark.parametrize("seed", range(6))
def test_all_of_a_non_binary_model_can_be_seen(draw, seed):
    model = non_binary_model(seed, draw, (6, 12))
    tree, sizes = model.tree, model.n_states
    assert sizes.min() >= 2
    assert sizes[: tree.n_observed].max() <= 6
    assert sizes[tree.n_observed :].max() <= 5
    for node in hidden_of(tree):
        neighbours = neighbours_of(tree, node)
        assert sizes[node] <= most_states(sizes[neighbours])
        assert model.joint([node]).min() >= 0.05
        joints = [model.joint([other, node]) for other in neighbours]
        assert all(information(as_pairs(joint)) >= 0.1 for joint in joints)
        for a, b in zip(*np.triu_indices(sizes[node], 1), strict=True):
            given = [joint / joint.sum(axis=0) for joint in joints]
            distances = [np.abs(table[:, a] - table[:, b]).sum() / 2 for table in given]
            assert sum(distance >= 0.2 for distance in distances) >= 2


def test_the_same_seed_makes_the_same_model():
    one, two = (non_binary_model(3, "dirichlet", (6, 8)) for _ in range(2))
    assert all(np.array_equal(a, b) for a, b in zip(one.tables, two.tables, strict=True))


def test_a_copy_has_distinct_states_where_there_are_enough():
    model = non_binary_model(0, "copy", (6, 8))
    parents = model.tree.rooted().parent
    for table in (table for table, parent in zip(model.tables, parents, strict=True) if parent >= 0):
        copies = np.bincount(table.argmax(axis=0), minlength=len(table))
        assert copies.max() <= -(-table.shape[1] // len(table))
        assert 0.6 <= table[:, 0].max() - table[:, 0].min() <= 0.9


def test_most_states_leaves_out_the_largest_neighbour():
    assert most_states(np.array([2, 6, 3])) == 6
    assert most_states(np.array([2, 2, 2])) == 4


def test_numbers_of_states_are_lowered_until_no_hidden_variable_has_too_many():
    tree = Tree("abcde", [(0, 5), (1, 5), (5, 6), (6, 2), (6, 3), (6, 4)])
    sizes = np.array([2, 2, 3, 3, 2, 5, 5])
    make_regular(tree, sizes)
    assert sizes.tolist() == [2, 2, 3, 3, 2, 4, 5]


def test_missing_cells_are_the_share_asked_for_and_the_rest_stays():
    table = recipe_model().sample(500, 0)
    holed = with_missing(table, 0.3, 0)
    missing = holed.codes() < 0
    assert missing.mean() == pytest.approx(0.3, abs=0.02)
    assert np.array_equal(holed.codes()[~missing], table.codes()[~missing])
