"""What every learner that joins neighbours by distances must do."""

import numpy as np
import pytest

from helpers.models import exact_pairs
from helpers.strategies import check_valid, names_of, noisy_distances, path_distances, with_lengths
from latree._util.progress import reported_to
from latree.counts.distances import log_det
from latree.learners.joining import neighbor_joining
from latree.paper.simulate import random_model, random_tree


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
        with reported_to(lambda *numbers: seen.append(numbers)):
            builder(names_of(9), noise(9, 0))
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
