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


def test_sums_are_those_of_the_pairs_of_each_pairing():
    matrix = np.random.default_rng(0).random((7, 7))
    quartets = np.array([[3, 1, 6, 0], [5, 2, 4, 1]])
    expected = [
        [sum(matrix[quartet[i], quartet[j]] for i, j in both) for both in PAIRINGS] for quartet in quartets.tolist()
    ]
    np.testing.assert_allclose(pair_sums(matrix, quartets), expected, rtol=1e-12)


def test_the_smallest_score_is_chosen_and_ties_have_no_margin():
    inf = np.inf
    answers = smallest(np.array([[3.0, 1.0, 2.5], [2.0, 4.0, 2.0], [inf, inf, 1.0], [inf, inf, inf]]))
    assert answers.pairing.tolist() == [1, 0, 2, 0]
    assert answers.margin.tolist() == [1.5, 0, inf, 0]
    assert answers.decided.all()
