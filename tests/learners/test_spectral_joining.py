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
from helpers.grouping import GroupingTests, assert_permuting_permutes, noisy
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


class TestJoining(JoiningTests):
    @pytest.fixture
    def builder(self):
        return spectral_joining


def naive_spectral_joining(names, distance):
    """Join the groups whose union has the block with the smallest second singular value, looking at all every time."""
    d = len(names)
    affinity = np.exp(-distance)

    def second(union):
        others = [leaf for leaf in range(d) if leaf not in union]
        return np.linalg.svd(affinity[np.ix_(union, others)], compute_uv=False)[1]

    groups = {leaf: [leaf] for leaf in range(d)}
    edges = []
    for new in range(d, 2 * d - 3):
        i, j = min(combinations(groups, 2), key=lambda pair: second(groups[pair[0]] + groups[pair[1]]))
        edges += [(i, new), (j, new)]
        groups[new] = groups.pop(i) + groups.pop(j)
    return Tree(names, [*edges, *((node, 2 * d - 3) for node in groups)])


@pytest.mark.parametrize("cells_at_once", [1, 60, 2**22])
@pytest.mark.parametrize("d", [4, 5, 6, 9, 14])
def test_spectral_joining_equals_a_naive_twin(d, cells_at_once, monkeypatch):
    module = import_module("latree.learners.spectral_joining")
    monkeypatch.setattr(module, "_SUBMATRIX_CELLS_AT_ONCE", cells_at_once)
    for seed in range(3):
        noisy = noisy_distances(with_lengths(random_tree(d, 0.3, seed), seed), 0.2, seed)
        for distance in (noise(d, seed), noisy):
            learned = spectral_joining(names_of(d), distance).tree
            check_valid(learned, names_of(d))
            assert learned.n_hidden == d - 2
            assert learned.robinson_foulds(naive_spectral_joining(names_of(d), distance)) == 0


@checked
@given(d=st.integers(4, 24), balance=st.floats(0.1, 0.5), seed=st.integers(0, 10**6))
def test_spectral_joining_gives_any_binary_tree_back(d, balance, seed):
    tree = with_lengths(random_tree(d, balance, seed), seed, high=0.5)
    assert spectral_joining(tree.names, path_distances(tree)).tree.robinson_foulds(tree) == 0


def test_spectral_joining_does_not_mind_what_is_added_to_all_distances():
    """It multiplies all affinities; multiplying the distances themselves makes other affinities."""
    changed = 0
    for seed in range(5):
        distance = noise(12, seed)
        tree = spectral_joining(names_of(12), distance).tree
        assert spectral_joining(names_of(12), distance + 1.5).tree.robinson_foulds(tree) == 0
        changed += spectral_joining(names_of(12), 5 * distance).tree.robinson_foulds(tree) > 0
    assert changed
