import itertools
import sys
import threading
import time
import warnings
from functools import partial
from importlib import import_module
from itertools import combinations, permutations, product
from itertools import pairwise as successive
from math import comb

import array_api_strict
import dendropy
import networkx as nx
import numpy as np
import pandas as pd
import pytest
from dendropy.calculate.treecompare import symmetric_difference
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import squareform
from scipy.stats import chi2_contingency, gamma

from helpers.counts import counted, naive_tables, random_table, table_of, weights_of
from helpers.grouping import GroupingTests, assert_comes_back, assert_permuting_permutes, noisy
from helpers.joining import JoiningTests, noise, symmetric
from helpers.models import exact_pairs, model_on, small_models
from helpers.quartets import all_quartets, exact_quartet, sampled_pairs
from helpers.strategies import (
    bare,
    check_valid,
    mixed_tree,
    names_of,
    noisy_distances,
    path_distances,
    same_graph,
    with_lengths,
)
from helpers.strategies import contracted as with_fewer_edges
from latree import LatentTree, as_table, learn_tree
from latree.counts.contingency import pair_tables, quartet_tables
from latree.counts.distances import (
    PairDistributions,
    as_pairs,
    chance,
    covariance,
    finite,
    gamma_tail,
    information,
    log_det,
    nuclear,
    pairwise,
    pairwise_all,
)
from latree.counts.quartets.covariance import covariance_pairings, covariance_test
from latree.counts.quartets.four_point import four_point_test
from latree.counts.quartets.nuclear import nuclear_pairings, nuclear_test
from latree.counts.quartets.pairings import PAIRINGS, Pairings, pair_sums, smallest
from latree.counts.quartets.spectral import spectral_products, spectral_test
from latree.counts.tensor import factorised_unfoldings, khatri_rao, nuclear_norms, singular_values, unfoldings
from latree.errors import InputError
from latree.learn import Settings, learn_model
from latree.learners.chow_liu import chow_liu
from latree.learners.chow_liu_grouping import chow_liu_grouping
from latree.learners.divide_conquer import divide_and_conquer
from latree.learners.methods import METHODS
from latree.learners.neighbor_joining import join, neighbor_joining
from latree.learners.recursive_grouping import _differences, _families, _parent, contracted, group, recursive_grouping
from latree.learners.spectral_grouping import spectral_grouping
from latree.learners.spectral_joining import spectral_joining
from latree.paper.experiments.quartets import sampled, sampled_unequal
from latree.paper.simulate import perturbed, random_model, random_tree
from latree.table import Column, Table
from latree.tree import Tree


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
