"""Tables of random codes, and the obvious way to count them."""

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


def table_of(codes, n_states, weights=None):
    columns = [Column(f"c{j}", "text", tuple(map(str, range(n)))) for j, n in enumerate(n_states)]
    return Table.from_codes(columns, np.asarray(codes), weights)


def random_table(seed, n_rows=60, n_states=(2, 4, 3, 2, 5), weighted=False):
    """Uniform codes, a fifth of the cells missing."""
    rng = np.random.default_rng(seed)
    codes = rng.integers(0, n_states, (n_rows, len(n_states)))
    codes[rng.random(codes.shape) < 0.2] = -1
    return table_of(codes, n_states, rng.random(n_rows) if weighted else None)


def weights_of(table):
    return np.ones(table.n_rows) if table.rows.weights is None else table.rows.weights


def naive_tables(table, groups, n):
    width = np.shape(groups)[1]
    counts = np.zeros((len(groups), *[n] * width))
    for row, weight in zip(table.codes(), weights_of(table), strict=True):
        for position, group in enumerate(groups):
            if all(row[j] >= 0 for j in group):
                counts[(position, *(row[j] for j in group))] += weight
    return counts


def counted(first, second, n):
    counts = np.zeros((n, n), dtype=int)
    np.add.at(counts, (first, second), 1)
    return counts
