"""What every learner that joins neighbours by distances must do."""

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


def symmetric(matrix):
    upper = np.triu(matrix, 1)
    return upper + upper.T


def noise(d, seed):
    """Distances that have nothing to do with a tree."""
    return symmetric(np.random.default_rng([d, seed]).random((d, d)))


def permuted(distance, order):
    return distance[np.ix_(order, order)]


class JoiningTests:
    """Tests of a ``builder``, a fixture: from names and distances to a structure."""

    @pytest.mark.parametrize("d", [4, 5, 11, 24])
    def test_permuting_the_columns_permutes_the_result(self, d, builder):
        for seed in range(4):
            for distance in (noise(d, seed), noisy_distances(with_lengths(random_tree(d, 0.3, seed), seed), 0.1, seed)):
                order = np.random.default_rng(seed).permutation(d)
                names = names_of(d)
                tree = builder(names, distance).tree
                other = builder([names[i] for i in order], permuted(distance, order)).tree
                assert other.robinson_foulds(tree) == 0
                if builder is neighbor_joining:
                    back = path_distances(other.reordered(names))
                    np.testing.assert_allclose(back, path_distances(tree), rtol=1e-8, atol=1e-10)

    def test_two_names_make_one_hidden_variable(self, builder):
        assert builder(names_of(2), np.zeros((2, 2))).tree.edges.tolist() == [[0, 2], [1, 2]]
        assert builder(names_of(3), noise(3, 0)).tree.n_hidden == 1

    def test_progress_is_told_up_to_the_end(self, builder):
        seen = []
        builder(names_of(9), noise(9, 0), lambda *told: seen.append(told))
        assert seen == [*((done, 9) for done in range(1, 7)), (9, 9)]

    @pytest.mark.parametrize("share", [0.1, 0.5, 0.9, 1.0])
    def test_infinite_distances_give_a_valid_tree(self, share, builder):
        for d in (3, 4, 7, 16):
            for seed in range(5):
                rng = np.random.default_rng([d, seed])
                distance = np.where(symmetric(rng.random((d, d))) < 1 - share, noise(d, seed), np.inf)
                np.fill_diagonal(distance, 0)
                check_valid(builder(names_of(d), distance).tree, names_of(d))

    def test_groups_infinitely_far_from_each_other_are_parted(self, builder):
        tree = with_lengths(random_tree(6, 0.5, 0), 0)
        distance = np.full((12, 12), np.inf)
        distance[:6, :6] = distance[6:, 6:] = path_distances(tree)
        learned = builder(names_of(12), distance).tree
        assert {0b111111 << 6} <= {split.side for split in learned.splits}

    @pytest.mark.parametrize("n", [2, 4])
    @pytest.mark.parametrize("balance", [0.5, 0.2])
    @pytest.mark.parametrize("n_leaves", [8, 16, 32])
    def test_exact_tables_give_the_tree_back(self, n_leaves, balance, n, builder):
        for seed in range(2):
            tree = random_tree(n_leaves, balance, seed)
            model = random_model(
                tree, n_states=n, hidden_states=n, start="identity", perturbation=0.2, random_state=seed
            )
            assert builder(tree.names, log_det(exact_pairs(model))).tree.robinson_foulds(tree) == 0
