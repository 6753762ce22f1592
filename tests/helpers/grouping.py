"""What every learner that groups nodes by distances must do."""

from inspect import signature

import numpy as np
import pytest

from helpers.models import exact_pairs
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
from latree._util.progress import reported_to
from latree.counts.distances import log_det
from latree.learners.grouping import contracted
from latree.paper.simulate import random_model, random_tree
from latree.tree import Tree


def noisy(d, seed, share=0.1):
    return noisy_distances(with_lengths(random_tree(d, 0.3, seed), seed), share, seed)


def assert_comes_back(build, tree):
    """The very same graph, with the same lengths."""
    learned = build(tree.names, path_distances(tree)).tree
    assert same_graph(bare(learned), bare(tree))
    np.testing.assert_allclose(path_distances(learned), path_distances(tree), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(np.sort(learned.lengths), np.sort(tree.lengths), rtol=1e-7)


def assert_permuting_permutes(build, distance, order):
    names = names_of(len(distance))
    tree = build(names, distance).tree
    other = build([names[i] for i in order], distance[np.ix_(order, order)]).tree.reordered(names)
    assert same_graph(bare(other), bare(tree))
    np.testing.assert_allclose(path_distances(other), path_distances(tree), rtol=1e-8, atol=1e-8)


SHAPES = {
    "chain": (7, [(i, i + 1) for i in range(6)]),
    "observed star": (6, [(2, i) for i in (0, 1, 3, 4, 5)]),
    "star": (6, [(i, 6) for i in range(6)]),
    "three leaves": (3, [(i, 3) for i in range(3)]),
    "three in a chain": (3, [(0, 1), (1, 2)]),
    "two stars": (8, [*((i, 8) for i in range(4)), *((i, 9) for i in range(4, 8)), (8, 9)]),
    "two stars and a column between": (
        9,
        [*((i, 9) for i in range(4)), *((i, 10) for i in range(4, 8)), (9, 8), (8, 10)],
    ),
    "star of chains": (9, [(0, 9), (0, 1), (1, 2), (3, 9), (3, 4), (4, 5), (6, 9), (6, 7), (7, 8)]),
    "leaves on a chain": (8, [(0, 1), (1, 2), (2, 3), (0, 4), (1, 5), (2, 6), (3, 7)]),
}


class GroupingTests:
    """Tests of ``build``, a fixture: from names and distances to a structure."""

    counts_columns = False  # whether progress counts columns

    @pytest.mark.parametrize("n", [2, 4])
    @pytest.mark.parametrize("balance", [0.5, 0.2])
    @pytest.mark.parametrize("n_leaves", [8, 16, 32])
    def test_exact_tables_give_the_tree_back(self, n_leaves, balance, n, build):
        tree = random_tree(n_leaves, balance, 1)
        model = random_model(tree, n_states=n, hidden_states=n, start="identity", perturbation=0.2, random_state=1)
        learned = build(tree.names, log_det(exact_pairs(model))).tree
        assert same_graph(bare(learned), bare(tree))

    @pytest.mark.parametrize("seed", range(5))
    def test_large_trees_come_back(self, seed, build):
        tree = mixed_tree(40, seed)
        assert max(map(len, tree.neighbors[tree.n_observed :])) > 3
        assert_comes_back(build, tree)

    @pytest.mark.parametrize("share", [0.0, 0.5, 1.0])
    def test_ties_do_no_harm(self, share, build):
        """All edges of the same length: every minimum spanning tree will do."""
        for seed in range(4):
            tree = with_fewer_edges(random_tree(16, 0.4, seed), share, seed)
            assert_comes_back(build, Tree(tree.names, tree.edges, np.ones(len(tree.edges))))

    @pytest.mark.parametrize("shape", SHAPES)
    def test_chains_and_stars_come_back(self, shape, build):
        d, edges = SHAPES[shape]
        for seed in range(5):
            order = np.random.default_rng(seed).permutation(d)
            number = np.concatenate([order, [d, d + 1]])
            assert_comes_back(build, with_lengths(Tree(names_of(d), number[np.array(edges)]), seed))

    def test_lengths_may_differ_much(self, build):
        for seed in range(10):
            tree = mixed_tree(8, seed)
            lengths = np.exp(np.random.default_rng(seed).uniform(-5, 2, len(tree.edges)))
            assert_comes_back(build, Tree(tree.names, tree.edges, lengths))

    def test_scaling_everything_scales_the_tree(self, build):
        for seed in range(5):
            distance = noisy(12, seed)
            tree = build(names_of(12), distance, shortest=0.02).tree
            scaled = build(names_of(12), 8 * distance, shortest=8 * 0.02).tree
            np.testing.assert_array_equal(scaled.edges, tree.edges)
            np.testing.assert_allclose(scaled.lengths, 8 * tree.lengths, rtol=1e-12)

    @pytest.mark.parametrize("shortest", [1e-6, 0.2])
    def test_whatever_the_distances_a_valid_tree_comes_out(self, shortest, build):
        for d in (3, 4, 6, 13):
            for seed in range(12):
                rng = np.random.default_rng([d, seed])
                random = rng.random((d, d)) if seed % 2 else rng.integers(0, 3, (d, d)) / 2
                random[rng.random((d, d)) < (0, 0.1, 0.5, 1)[seed % 4]] = np.inf
                distance = np.triu(random, 1)
                check_valid(build(names_of(d), distance + distance.T, shortest=shortest).tree, names_of(d))

    @pytest.mark.parametrize(("d", "seed"), [(6, 21), (8, 43), (8, 113), (20, 157)])
    def test_edges_between_columns_are_not_negative_either(self, d, seed, build):
        """Distances that make several lengths in a row negative, of which all but the last are contracted."""
        upper = np.triu(np.random.default_rng([d, seed]).random((d, d)) ** 4, 1)
        check_valid(build(names_of(d), upper + upper.T).tree, names_of(d))

    @pytest.mark.parametrize("d", [2, 3])
    def test_few_columns(self, d, build):
        tree = build(names_of(d), 1 - np.eye(d)).tree
        assert sorted(tree.edges.tolist()) == [[i, d] for i in range(d)]

    def test_short_edges_are_contracted(self, build):
        """Half of the edges between hidden nodes, and that of a leaf, which becomes an inner node."""
        for seed in range(8):
            tree = with_lengths(random_tree(16, 0.4, seed), seed)
            rng = np.random.default_rng(seed)
            short = (rng.random(len(tree.edges)) < 0.5) & (tree.edges.min(axis=1) >= 16) | (tree.edges.min(axis=1) == 3)
            lengths = np.where(short, rng.uniform(1e-5, 1e-4, len(short)), tree.lengths)
            learned = build(tree.names, path_distances(Tree(tree.names, tree.edges, lengths)), shortest=0.001).tree
            expected = Tree(tree.names, *contracted(tree.edges, lengths, 16, 0.001))
            assert expected.n_hidden == tree.n_hidden - short.sum() < tree.n_hidden - 1
            assert same_graph(bare(learned), bare(expected))

    def test_progress_is_told_up_to_the_end(self, build):
        seen = []
        with reported_to(lambda *numbers: seen.append(numbers)):
            build(names_of(14), noisy(14, 0))
        done = [number for number, _ in seen]
        assert done == sorted(done)
        assert done[-1] == seen[-1][1]
        assert len(seen) > 2
        if self.counts_columns:
            assert seen[-1] == (14, 14)

    def test_a_reach_however_small_gives_a_valid_tree(self, build):
        for reach in (0.0, 0.3, 0.8):
            for seed in range(5):
                options = {"reach": reach} if "reach" in signature(build).parameters else {}
                check_valid(build(names_of(14), noisy(14, seed, 0.3), **options).tree, names_of(14))
