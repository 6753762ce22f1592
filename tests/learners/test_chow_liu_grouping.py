from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.grouping import GroupingTests, assert_comes_back, assert_permuting_permutes, noisy
from helpers.strategies import mixed_tree, path_distances
from latree.learners.grouping import chow_liu_grouping, group
from latree.learners.joining import join

checked = settings(deadline=None, derandomize=True, max_examples=40)


def clrg(names, distance, *, reach=np.inf, shortest=1e-6, **options):
    learn = partial(group, reach=reach, shortest=shortest)
    return chow_liu_grouping(names, distance, learn, shortest=shortest, **options)


def clnj(names, distance, **options):
    return chow_liu_grouping(names, distance, join, **options)


class TestGrouping(GroupingTests):
    @pytest.fixture(params=[clrg, clnj], ids=["clrg", "clnj"])
    def build(self, request):
        return request.param


@pytest.mark.parametrize("build", [clrg, clnj])
@checked
@given(n_leaves=st.integers(3, 14), seed=st.integers(0, 10**6))
def test_any_tree_without_idle_hidden_nodes_comes_back(build, n_leaves, seed):
    assert_comes_back(build, mixed_tree(n_leaves, seed))


@pytest.mark.parametrize("build", [clrg, clnj])
def test_permuting_the_columns_permutes_the_result_of_chow_liu_grouping(build):
    for seed in range(8):
        order = np.random.default_rng(seed).permutation(16)
        assert_permuting_permutes(build, noisy(16, seed), order)


def test_columns_with_many_neighbours_are_visited_first():
    sizes = []

    def watched(distance):
        sizes.append(len(distance))
        return join(distance)

    tree = mixed_tree(20, 0)
    chow_liu_grouping(tree.names, path_distances(tree), watched)
    assert sizes == sorted(sizes, reverse=True)
    assert len(set(sizes)) > 1


def test_neighbour_joining_is_the_default():
    tree = mixed_tree(12, 0)
    default, joined = (chow_liu_grouping(tree.names, path_distances(tree), *learn).tree for learn in ((), (join,)))
    np.testing.assert_array_equal(default.edges, joined.edges)
