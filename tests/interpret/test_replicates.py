"""What replicates say: how well levels come again, how stable columns are, where else they go, and the main level."""

from dataclasses import replace
from itertools import pairwise, permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import adjusted_rand_score

import latree
from helpers.models import copying_model, on_tree, star
from latree.counts.distances import informational_correlation
from latree.interpret.cutting import find_hierarchy, pieces
from latree.interpret.groups import (
    _best_level,
    adjusted_rand,
    find_groups,
    matched_groups,
    same_group,
    with_groups,
    with_n_groups,
)
from latree.interpret.view import View
from latree.learners.structure import Replicate
from latree.table import Table
from latree.tree import Tree

LOADING = 0.7


def two_factors(first=4, second=4, wandering=()):
    """Two groups of columns whose factors have the correlation 0.2; some columns of the first hang at the second."""
    d = first + second
    edges = [(column, d + (column >= first or column in wandering)) for column in range(d)]
    tree = Tree([f"x{i}" for i in range(d)], [*edges, (d, d + 1)])
    return copying_model(tree, lambda node, parent: 0.2 if min(node, parent) >= d else LOADING)


def replicates_of(*models):
    return [Replicate(model, model.sample(1000, random_state=seed)) for seed, model in enumerate(models)]


def test_clear_groups_are_always_found_again():
    model = two_factors()
    table = model.sample(1000, random_state=0)
    learned = with_groups(model, table, replicates=replicates_of(model, model, model))
    assert [group.stability for group in learned.groups] == [1.0, 1.0]
    assert [group.column_stability for group in learned.groups] == [(1.0,) * 4] * 2
    assert [group.column_elsewhere for group in learned.groups] == [(None,) * 4] * 2
    assert len(learned.levels.replication) == len(learned.levels.edges) + 1
    assert learned.levels.replication[:2] == (1.0, 1.0)  # one group, and two


def test_a_column_that_wanders_is_less_stable_and_says_where_it_goes():
    """In one of four replicates it is in the other group."""
    model, other = two_factors(5, 4), two_factors(5, 4, wandering=(4,))
    groups = find_groups(
        model, model.sample(1000, random_state=0), replicates=replicates_of(model, model, other, model)
    )
    first, second = groups[:2]
    assert dict(zip(first.columns, first.column_stability, strict=True)) == {
        f"x{i}": 1.0 - 0.25 * (i == 4) for i in range(5)
    }
    assert dict(zip(first.columns, first.column_elsewhere, strict=True))["x4"] == (1, 0.25)
    assert first.stability == pytest.approx(0.95)
    assert (second.stability, set(second.column_elsewhere)) == (1.0, {None})


def test_columns_are_known_by_their_names():
    model = two_factors(5, 4, wandering=(4,))
    names = sorted(model.tree.names, reverse=True)
    again = on_tree(model, model.tree.reordered(names))
    groups = find_groups(model, model.sample(1000, random_state=0), replicates=replicates_of(again, again))
    assert {group.stability for group in groups if group.level == "main"} == {1.0}


def test_a_replicate_that_cannot_be_cut_as_often_is_cut_as_often_as_it_can_be():
    model, one = two_factors(), copying_model(star(8), lambda *_: LOADING)
    one = replace(one, tree=Tree(model.tree.names, one.tree.edges), columns=model.columns)
    learned = with_groups(model, model.sample(1000, random_state=0), replicates=replicates_of(model, model, model, one))
    assert learned.levels.replication[:2] == (1.0, 0.75)
    # The one group of the replicate is matched with one of the two.
    assert sorted(group.stability for group in learned.groups) == [0.75, 1.0]


def test_forests_and_columns_in_no_group():
    tree = Tree("abcdef", [(column, 6) for column in range(5)])
    model = copying_model(tree, lambda *_: LOADING)
    (group,) = find_groups(model, model.sample(500, random_state=0), replicates=replicates_of(model, model))
    assert (group.columns, group.column_stability) == (tuple("abcde"), (1.0,) * 5)
    lonely = copying_model(Tree("abcdef", []), None)
    lonely = replace(lonely, columns=model.columns)
    (group,) = find_groups(model, model.sample(500, random_state=0), replicates=replicates_of(lonely, model))
    assert group.column_stability == (0.5,) * 5
    assert find_groups(lonely, lonely.sample(50, random_state=0), replicates=replicates_of(lonely)) == []


def test_without_replicates_nothing_is_said_about_stability():
    model = two_factors()
    learned = with_groups(model, model.sample(1000, random_state=0))
    assert {(group.stability, group.column_stability, group.column_elsewhere) for group in learned.groups} == {
        (None, None, None)
    }
    assert learned.levels.replication == ()


@given(seed=st.integers(0, 10**6), data=st.data())
@settings(deadline=None, max_examples=10)
def test_the_order_of_columns_changes_nothing(seed, data):
    models = [
        latree.random_model(
            latree.random_tree(9, random_state=seed + i),
            n_states=3,
            start="identity",
            perturbation=0.2,
            random_state=seed,
        )
        for i in range(3)
    ]
    model, table = models[0], models[0].sample(300, random_state=seed)
    names = data.draw(st.permutations(model.tree.names))
    other = on_tree(model, model.tree.reordered(names))
    order = [model.tree.names.index(name) for name in names]
    reordered = Table.from_codes([table.columns[column] for column in order], table.codes()[:, order])

    def by_column(model, table):
        groups = find_groups(model, table, replicates=replicates_of(*models))
        main = [group for group in groups if group.level == "main"]
        return {pair for group in main for pair in zip(group.columns, group.column_stability, strict=True)}

    assert by_column(other, reordered) == by_column(model, table)


def test_the_fewest_groups_within_a_standard_error_of_the_best_are_taken():
    values = np.array([1.0, 2.9, 3.0, 1.0])
    parts = values + np.array([[-0.05], [0.05], [0.0]])
    assert _best_level(values, parts) == 2
    assert _best_level(values, values + 2.5 * (parts - values)) == 1  # the standard deviation is 0.125
    assert _best_level(values, parts[:1]) == 2
    assert _best_level(np.zeros(4), np.zeros((3, 4))) == 0


def test_groups_that_parts_of_the_rows_do_not_hold_apart_are_one():
    """With few rows, three columns at a latent correlation of .6 are no group of their own."""
    d = 9
    edges = [(column, d + column // 3) for column in range(d)]
    tree = Tree([f"x{i}" for i in range(d)], [*edges, (d, d + 1), (d + 1, d + 2)])
    strength = {frozenset((d, d + 1)): 0.6, frozenset((d + 1, d + 2)): 0.1}
    model = copying_model(tree, lambda node, parent: strength.get(frozenset((node, parent)), 0.5))
    for n_rows, n_main in ((50_000, 3), (400, 2)):
        rows = model.sample(n_rows, random_state=0)
        parts = [Replicate(model, Table.from_codes(model.columns, rows.codes()[first::2])) for first in (0, 1)]
        found = [find_groups(model, rows, replicates=some) for some in ((), parts)]
        assert [sum(group.level == "main" for group in groups) for groups in found] == [3, n_main]


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=2, max_size=12))
@settings(deadline=None)
def test_the_adjusted_rand_index_is_that_of_scikit_learn(pairs):
    one, other = zip(*pairs, strict=True)
    assert adjusted_rand(one, other) == pytest.approx(adjusted_rand_score(one, other))


@given(st.lists(st.tuples(st.integers(-1, 3), st.integers(-1, 3)), min_size=1, max_size=12))
@settings(deadline=None)
def test_groups_are_matched_one_to_one_so_that_most_columns_agree(pairs):
    groups, others = (np.array(labels) for labels in zip(*pairs, strict=True))
    found = same_group(groups, others)
    counts = [
        sum(one >= 0 and other >= 0 and match[one] == other for one, other in pairs) for match in permutations(range(4))
    ]
    assert found.sum() == max(counts)
    assert not found[(groups < 0) | (others < 0)].any()
    # One to one: columns that are found again share a group in one division exactly if they do in the other.
    same_one, same_other = (labels[found][:, None] == labels[found] for labels in (groups, others))
    assert (same_one == same_other).all()


@pytest.mark.parametrize("seed", range(4))
def test_how_well_each_level_comes_again_is_the_mean_index_of_its_partitions(seed):
    trees = [latree.random_tree(24, random_state=seed + more) for more in range(3)]
    model, *others = (
        latree.random_model(tree, n_states=3, start="identity", perturbation=0.2, random_state=seed) for tree in trees
    )
    parts = [Replicate(other, model.sample(300, random_state=number)) for number, other in enumerate(others)]
    parts[0] = parts[0]._replace(model=cut_apart(parts[0].model))
    tree, found = model.tree, with_groups(model, model.sample(600, random_state=seed), replicates=parts)
    edges, replication = found.levels
    for level in range(len(edges) + 1):
        own = pieces(tree, edges[:level])[: tree.n_observed]
        indices = []
        for part in parts:
            other = part.model.tree.reordered(tree.names)
            cuts = find_hierarchy(
                part.model.tree, informational_correlation(View(part.model).counted_information(part.rows))
            ).edges
            n_components = [sum(size.bit_count() > 1 for size in one.components) for one in (tree, other)]
            number = min(max(level + n_components[0] - n_components[1], 0), len(cuts))
            there = pieces(part.model.tree, cuts[:number])
            order = [part.model.tree.names.index(name) for name in tree.names]
            indices.append(adjusted_rand_score(own, there[order]))
        assert replication[level] == pytest.approx(np.clip(np.mean(indices), 0, 1))


def cut_apart(model):
    """A model without one of its edges between hidden variables, whose tree is a forest."""
    tree = model.tree
    is_inner = [min(len(tree.neighbors[node]) for node in edge) > 1 for edge in tree.edges.tolist()]
    forest = tree.cut([int(np.flatnonzero(is_inner)[0])])
    return latree.random_model(forest, n_states=3, start="identity", perturbation=0.2, random_state=0)


def test_names_of_groups_do_not_matter():
    assert same_group(np.array([0, 0, 1, 1]), np.array([1, 1, 0, 0])).tolist() == [True] * 4
    # One group of all columns is matched with the larger group.
    assert same_group(np.array([0, 0, 0, 1, 1]), np.zeros(5, int)).tolist() == [True] * 3 + [False] * 2
    assert same_group(np.array([-1, -1]), np.array([0, -1])).tolist() == [False, False]
    assert matched_groups(np.array([0, 0, 1, 1, -1]), np.array([1, 1, 1, 0, 0])).tolist() == [0, 0, 0, 1, 1]


def test_any_number_of_groups_from_the_hierarchy_of_a_model(tmp_path):
    model = two_factors(6, 5)
    learned = with_groups(model, model.sample(1000, random_state=0), replicates=replicates_of(model, model))
    assert with_n_groups(learned, 2) is learned
    (one,) = with_n_groups(learned, 1).groups
    assert set(one.columns) == set(model.tree.names)
    with pytest.raises(latree.InputError, match="into 3 groups: choose n from what it allows, 1 to 2 groups"):
        with_n_groups(learned, 3)
    with pytest.raises(latree.InputError, match="choose n"):
        with_n_groups(learned, 0)
    # A group that stays keeps its name and its stability, and a file keeps what is needed.
    named = learned.rename({learned.groups[0].name: "mood"})
    named.save(tmp_path / "model.json")
    loaded = latree.LatentTreeModel.load(tmp_path / "model.json")
    assert loaded.levels == learned.levels
    assert with_n_groups(loaded, 1).groups == with_n_groups(learned, 1).groups


def test_levels_are_nested_and_groups_that_stay_keep_their_names():
    d = 16
    edges = [(column, d + column // 4) for column in range(d)]
    tree = Tree([f"x{i}" for i in range(d)], [*edges, (d, d + 1), (d + 1, d + 2), (d + 2, d + 3)])
    strength = {frozenset((d, d + 1)): 0.8, frozenset((d + 1, d + 2)): 0.1, frozenset((d + 2, d + 3)): 0.4}
    model = copying_model(tree, lambda node, parent: strength.get(frozenset((node, parent)), 0.3))
    learned = with_groups(model)
    assert [group.level for group in learned.groups] == ["main"] * 3 + ["broad"] + ["fine"] * 2
    learned = learned.rename({learned.groups[2].name: "last"})
    levels = [with_n_groups(learned, n).groups for n in range(1, 5)]
    for coarse, fine in pairwise(levels):
        assert all(any(set(part.columns) <= set(group.columns) for group in coarse) for part in fine)
    assert [group.name for group in levels[3] if set(group.columns) == set(learned.groups[2].columns)] == ["last"]
    assert {group.level for groups in (levels[0], levels[1], levels[3]) for group in groups} == {"main"}
