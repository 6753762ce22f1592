"""Balanced interchanges against the length of every tree one interchange away, computed pair by pair."""

import numpy as np
import pytest

from helpers.strategies import path_distances, with_lengths
from latree.counts.distances import covariance, pairwise
from latree.learners import balanced_interchanges, neighbor_joining
from latree.paper.simulate import random_model, random_tree
from latree.tree import Tree


def naive_length(tree, distance):
    """Pauplin's formula, a pair after another."""
    edges = tree.path_lengths()
    d = tree.n_observed
    return sum(2.0 ** (1 - edges[i, j]) * distance[i, j] for i in range(d) for j in range(i))


def one_interchange_away(tree):
    """Return all trees that one interchange makes of a binary tree."""
    made = []
    for edge, (u, v) in enumerate(tree.edges.tolist()):
        if min(u, v) < tree.n_observed:
            continue
        moved = next(other for other, number in tree.neighbors[u] if number != edge)
        for coming, _ in (pair for pair in tree.neighbors[v] if pair[1] != edge):
            rows = []
            for a, b in tree.edges.tolist():
                if {a, b} == {u, moved}:
                    rows.append((v, moved))
                elif {a, b} == {v, coming}:
                    rows.append((u, coming))
                else:
                    rows.append((a, b))
            made.append(Tree(tree.names, rows))
    return made


def noise(d, seed):
    values = np.random.default_rng(seed).uniform(1, 2, (d, d))
    return np.triu(values, 1) + np.triu(values, 1).T


@pytest.mark.parametrize("d", [4, 5, 6, 9, 12])
@pytest.mark.parametrize("seed", range(4))
def test_no_interchange_shortens_the_result(d, seed):
    distance, start = noise(d, seed), random_tree(d, 0.3, seed)
    found = balanced_interchanges(start, distance)
    length = naive_length(found.tree, distance)
    assert length <= naive_length(start, distance)
    assert (found.facts["interchanges"] == 0) == (found.tree.robinson_foulds(start) == 0)
    neighbours = one_interchange_away(found.tree)
    assert len(neighbours) == 2 * (d - 3)
    assert min(naive_length(other, distance) for other in neighbours) >= length * (1 - 1e-8)


@pytest.mark.parametrize("seed", range(6))
def test_path_lengths_give_the_tree_from_any_start(seed):
    tree = with_lengths(random_tree(14, 0.4, seed), np.random.default_rng(seed))
    start = random_tree(14, 0.2, seed + 100)
    assert balanced_interchanges(start, path_distances(tree)).tree.robinson_foulds(tree) == 0


def test_the_order_of_columns_does_not_matter():
    distance, start = noise(10, 7), random_tree(10, 0.5, 7)
    order = np.random.default_rng(0).permutation(10)
    names = [start.names[i] for i in order]
    found = balanced_interchanges(start, distance).tree
    permuted = balanced_interchanges(start.reordered(names), distance[np.ix_(order, order)]).tree
    assert permuted.robinson_foulds(found) == 0


def test_long_trees_are_found_that_joining_misses():
    joined = improved = 0
    for seed in range(3):
        tree = random_tree(64, 0.2, seed)
        model = random_model(tree, n_states=4, hidden_states=4, start="identity", perturbation=0.2, random_state=seed)
        distance = pairwise(model.sample(1000, seed), covariance)
        start = neighbor_joining(tree.names, distance).tree
        joined += start.robinson_foulds(tree)
        improved += balanced_interchanges(start, distance).tree.robinson_foulds(tree)
    assert joined > 30
    assert improved < 10


@pytest.mark.parametrize("d", [3, 4])
def test_small_trees(d):
    start = random_tree(d, 0.5, 0)
    assert balanced_interchanges(start, noise(d, 0)).tree.n_observed == d


def test_progress_ends_with_everything():
    told = []
    balanced_interchanges(random_tree(12, 0.5, 1), noise(12, 1), lambda *numbers: told.append(numbers))
    assert told[-1] == (12, 12)
    assert all(done <= total for done, total in told)
