"""Balanced minimum evolution against the length of every tree one move away, computed pair by pair."""

import sys

import numpy as np
import pytest

from helpers.balanced import all_regrafts, naive_length, noise
from helpers.strategies import path_distances, with_lengths
from latree._util.progress import reported_to
from latree.counts.distances import covariance, pairwise
from latree.learners.joining import neighbor_joining
from latree.learners.minimum_evolution import minimum_evolution
from latree.paper.simulate import random_model, random_tree
from latree.tree import Tree


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


@pytest.mark.parametrize("d", [4, 5, 6, 9, 12])
@pytest.mark.parametrize("seed", range(4))
def test_no_move_shortens_the_result(d, seed):
    distance, start = noise(d, seed), random_tree(d, 0.3, seed)
    found = minimum_evolution(start, distance)
    length = naive_length(found.tree, distance)
    assert length <= naive_length(start, distance)
    assert (sum(found.facts.values()) == 0) == (found.tree.robinson_foulds(start) == 0)
    neighbours = one_interchange_away(found.tree)
    assert len(neighbours) == 2 * (d - 3)
    moved = [other for others in all_regrafts(found.tree).values() for other in others]
    assert min(naive_length(other, distance) for other in neighbours + moved) >= length * (1 - 1e-8)


def test_a_subtree_far_from_its_place_is_regrafted(monkeypatch):
    """A tree of 200 columns, in which neighbour joining and interchanges leave a subtree at the other end."""
    tree = random_tree(200, 0.2, 2)
    model = random_model(tree, n_states=4, hidden_states=3, start="identity", perturbation=0.2, random_state=2)
    distance = pairwise(model.sample(2000, 2), covariance)
    start = neighbor_joining(tree.names, distance).tree
    found = minimum_evolution(start, distance)
    assert found.facts["regrafts"] == 1
    assert found.tree.robinson_foulds(tree) == 0
    monkeypatch.setattr(sys.modules["latree.learners.minimum_evolution"], "_MOST_COLUMNS", 199)
    without = minimum_evolution(start, distance)
    assert without.facts["regrafts"] == 0
    assert without.tree.robinson_foulds(tree) > 40


@pytest.mark.parametrize("seed", range(6))
def test_path_lengths_give_the_tree_from_any_start(seed):
    tree = with_lengths(random_tree(14, 0.4, seed), np.random.default_rng(seed))
    start = random_tree(14, 0.2, seed + 100)
    assert minimum_evolution(start, path_distances(tree)).tree.robinson_foulds(tree) == 0


def test_the_order_of_columns_does_not_matter():
    distance, start = noise(10, 7), random_tree(10, 0.5, 7)
    order = np.random.default_rng(0).permutation(10)
    names = [start.names[i] for i in order]
    found = minimum_evolution(start, distance).tree
    permuted = minimum_evolution(start.reordered(names), distance[np.ix_(order, order)]).tree
    assert permuted.robinson_foulds(found) == 0


def test_long_trees_are_found_that_joining_misses():
    joined = improved = 0
    for seed in range(3):
        tree = random_tree(64, 0.2, seed)
        model = random_model(tree, n_states=4, hidden_states=4, start="identity", perturbation=0.2, random_state=seed)
        distance = pairwise(model.sample(1000, seed), covariance)
        start = neighbor_joining(tree.names, distance).tree
        joined += start.robinson_foulds(tree)
        improved += minimum_evolution(start, distance).tree.robinson_foulds(tree)
    assert joined > 30
    assert improved < 10


@pytest.mark.parametrize("d", [3, 4])
def test_small_trees(d):
    start = random_tree(d, 0.5, 0)
    assert minimum_evolution(start, noise(d, 0)).tree.n_observed == d


def test_progress_ends_with_everything():
    told = []
    with reported_to(lambda *numbers: told.append(numbers)):
        minimum_evolution(random_tree(12, 0.5, 1), noise(12, 1))
    assert told[-1] == (12, 12)
    assert all(done <= total for done, total in told)
