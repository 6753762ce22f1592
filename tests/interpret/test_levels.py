"""The levels of groups: the cut that each takes, and the main level again for another similarity."""

import numpy as np
import pytest

import latree
from helpers.models import small_models
from latree.counts.distances import informational_correlation
from latree.interpret.cutting import TreeCutter, find_levels, main_level_nearby, most_persistent
from latree.interpret.groups import _loadings
from latree.interpret.view import View
from latree.tree import Tree


@pytest.mark.parametrize(
    ("numbers", "chosen"), [([1, 2, 3, 4, 4], 4), ([1, 1, 2, 2, 3], 1), ([5, 6, 6, 5, 6], 6), ([1, 2, 3, 4, 5], 1)]
)
def test_the_number_that_most_thresholds_agree_on_is_chosen(numbers, chosen):
    assert len(np.unique(most_persistent([np.arange(10) % number for number in numbers]))) == chosen


def test_of_the_cuts_that_agree_the_one_in_the_middle_is_taken():
    cuts = [np.array([0, 0, 2]), np.array([0, 0, 0]), np.array([0, 1, 0]), np.array([0, 1, 1]), np.array([0, 1, 2])]
    assert most_persistent(cuts).tolist() == [0, 1, 0]


def cutter_of(model):
    dependence = View(model)
    return TreeCutter(model.tree, informational_correlation(dependence.column_information), _loadings(dependence))


def random_models():
    for seed in range(6):
        tree = latree.random_tree(12, random_state=seed)
        yield latree.random_model(tree, n_states=3, start="identity", perturbation=0.2, random_state=seed)


@pytest.mark.parametrize("model", [*small_models(), *random_models()])
def test_levels_are_nested_and_the_same_similarity_gives_the_same_main_level(model):
    cutter = cutter_of(model)
    levels = find_levels(cutter)
    nodes = np.arange(len(cutter.inner))
    broad, main, fine = (set(nodes[cut == nodes]) for cut in (levels.broad, levels.main, levels.fine))
    assert broad <= main <= fine
    assert main_level_nearby(cutter, levels).tolist() == levels.main.tolist()


def chain(between, group_size=4):
    """Three groups in a chain, with loadings 1 and similarity 1 within groups."""
    d = 3 * group_size
    group = np.arange(d) // group_size
    tree = Tree(
        [f"x{i}" for i in range(d)], [*((column, d + group[column]) for column in range(d)), (d, d + 1), (d + 1, d + 2)]
    )
    distance = np.abs(group[:, None] - group)
    similarity = between**distance
    np.fill_diagonal(similarity, 0)
    return TreeCutter(tree, similarity, np.ones(d)), similarity


@pytest.mark.parametrize(("between", "n_groups"), [(0.1, 3), (0.3, 3), (0.95, 1)])
@pytest.mark.parametrize("known", [0.3, 0.95])
def test_the_main_level_of_another_similarity(known, between, n_groups):
    """Groups that were apart come together, and one group falls apart."""
    levels = find_levels(chain(known)[0])
    cutter = chain(known)[0].with_similarity(chain(between)[1])
    assert len(np.unique(main_level_nearby(cutter, levels))) == n_groups


def test_parts_of_a_single_group_are_its_main_groups_again():
    """With a latent correlation of 0.8 everything is one group, which falls into three at the fine level."""
    cutter, similarity = chain(0.8)
    group = np.arange(12) // 4
    similarity = np.where(group[:, None] == group, similarity, 0.8)
    cutter = cutter.with_similarity(similarity)
    levels = find_levels(cutter)
    assert len(np.unique(levels.main)) == 3
    assert len(np.unique(main_level_nearby(cutter.with_similarity(similarity * 0.99), levels))) == 3


def test_a_pair_beside_a_single_group_stays_apart():
    """A pair that was a part of the group leaves it; the parts of the group are main groups beside it."""
    group = np.repeat(np.arange(3), [4, 4, 2])
    tree = Tree([f"x{i}" for i in range(10)], [*((c, 10 + group[c]) for c in range(10)), (10, 11), (11, 12)])

    def similarity(of_pair):
        between = np.array([[1, 0.8, of_pair], [0.8, 1, of_pair], [of_pair, of_pair, 1]])
        return between[np.ix_(group, group)] * (1 - np.eye(10))

    cutter = TreeCutter(tree, similarity(0.95), np.ones(10))
    levels = find_levels(cutter)
    cut = main_level_nearby(cutter.with_similarity(similarity(0.1)), levels)
    assert cut[cutter.home].tolist() == find_levels(cutter.with_similarity(similarity(0.1))).main[cutter.home].tolist()
    assert sorted(np.unique(cut[cutter.home], return_counts=True)[1]) == [2, 4, 4]
