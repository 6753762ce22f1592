import warnings
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.joining import JoiningTests, noise, symmetric
from helpers.strategies import check_valid, names_of, noisy_distances, path_distances, with_lengths
from latree import learn_tree
from latree.learners.joining import join, neighbor_joining
from latree.paper.simulate import random_tree
from latree.tree import Tree

with warnings.catch_warnings():  # their compiled parts warn when imported, and crash if that is an error
    warnings.simplefilter("ignore")
    from skbio import DistanceMatrix
    from skbio.tree import nj


checked = settings(deadline=None, derandomize=True, max_examples=40)


class TestJoining(JoiningTests):
    @pytest.fixture
    def builder(self):
        return neighbor_joining


def naive_join(distance):
    """Neighbour joining as the formulas have it: all pairs are looked at every time."""
    d = len(distance)
    apart = {(i, j): distance[i, j] for i in range(d) for j in range(d)}
    left = list(range(d))
    edges, lengths = [], []
    for new in range(d, 2 * d - 3):
        u = {i: sum(apart[i, k] for k in left if k != i) / (len(left) - 2) for i in left}
        i, j = min(combinations(left, 2), key=lambda pair: apart[pair] - u[pair[0]] - u[pair[1]])
        edges += [(i, new), (j, new)]
        lengths += [(apart[i, j] + u[i] - u[j]) / 2, (apart[i, j] + u[j] - u[i]) / 2]
        left = [k for k in left if k not in (i, j)]
        for k in left:
            apart[k, new] = apart[new, k] = (apart[i, k] + apart[j, k] - apart[i, j]) / 2
        left.append(new)
    i, j, k = left
    edges += [(i, 2 * d - 3), (j, 2 * d - 3), (k, 2 * d - 3)]
    lengths += [
        (apart[i, j] + apart[i, k] - apart[j, k]) / 2,
        (apart[i, j] + apart[j, k] - apart[i, k]) / 2,
        (apart[i, k] + apart[j, k] - apart[i, j]) / 2,
    ]
    return edges, lengths


def distances_of_every_kind(d, seed):
    rng = np.random.default_rng([d, seed])
    random = noise(d, seed)
    tree = with_lengths(random_tree(d, 0.3, seed), seed)
    return {
        "noise": random,
        "negative": random - 0.5,
        "wide": symmetric(np.exp(3 * rng.normal(size=(d, d)))),
        "tree": path_distances(tree),
        "noisy tree": noisy_distances(tree, 0.1, seed),
        "hubs": symmetric(random * 10.0 ** rng.integers(-2, 3, d)),
    }


def assert_same_joining(one, two, d):
    first, second = Tree(names_of(d), *one), Tree(names_of(d), *two)
    assert first.robinson_foulds(second) == 0
    scale = np.abs(second.lengths).max()
    np.testing.assert_allclose(path_distances(first), path_distances(second), rtol=0, atol=1e-9 * scale * d)


@pytest.mark.parametrize("d", [3, 4, 5, 6, 9, 17, 40])
def test_joining_equals_a_naive_twin(d):
    for seed in range(3):
        for distance in distances_of_every_kind(d, seed).values():
            before = distance.copy()
            assert_same_joining(join(distance), naive_join(distance), d)
            np.testing.assert_array_equal(distance, before)


@pytest.mark.parametrize("seed", range(10))
def test_every_pair_joined_is_a_best_one_also_among_ties(seed):
    """Edges come in the order of joining, so that every choice can be looked at again."""
    d = 12
    distance = np.ones((d, d)) if seed == 0 else symmetric(np.random.default_rng(seed).integers(0, 3, (d, d)) / 2.0)
    edges, _ = join(distance)
    apart = np.zeros((2 * d, 2 * d))
    apart[:d, :d] = distance * (1 - np.eye(d))
    left = list(range(d))
    for new in range(d, 2 * d - 3):
        u = apart[:, left].sum(axis=1) / (len(left) - 2)
        (i, above), (j, other) = edges[2 * (new - d) : 2 * (new - d) + 2].tolist()
        assert above == other == new
        best = min(apart[a, b] - u[a] - u[b] for a, b in combinations(left, 2))
        assert apart[i, j] - u[i] - u[j] == pytest.approx(best, abs=1e-9)
        left = [k for k in left if k not in (i, j)]
        apart[new, left] = apart[left, new] = (apart[i, left] + apart[j, left] - apart[i, j]) / 2
        left.append(new)


@checked
@given(d=st.integers(3, 30), balance=st.floats(0.05, 0.5), seed=st.integers(0, 10**6))
def test_neighbor_joining_gives_any_binary_tree_back_with_its_lengths(d, balance, seed):
    tree = with_lengths(random_tree(d, balance, seed), seed)
    learned = neighbor_joining(tree.names, path_distances(tree)).tree
    assert learned.robinson_foulds(tree) == 0
    np.testing.assert_allclose(path_distances(learned), path_distances(tree), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(np.sort(learned.lengths), np.sort(tree.lengths), rtol=1e-9)


def test_lengths_are_not_negative_though_the_formulas_make_them_so():
    for d in (3, 4, 8, 20):
        negative = 0
        for seed in range(10):
            distance = noise(d, seed)
            edges, raw = join(distance)
            tree = neighbor_joining(names_of(d), distance).tree
            check_valid(tree, names_of(d))
            assert tree.n_hidden == d - 2
            np.testing.assert_array_equal(tree.edges, edges)
            np.testing.assert_array_equal(tree.lengths, np.where(raw > 0, raw, 0))
            negative += (raw < 0).sum()
        assert negative


def test_scaling_distances_scales_the_tree():
    for seed in range(5):
        distance = noise(15, seed)
        (edges, lengths), (same_edges, scaled) = join(distance), join(8 * distance)
        np.testing.assert_array_equal(same_edges, edges)
        np.testing.assert_array_equal(scaled, 8 * lengths)


def test_longer_leaves_change_nothing_else_in_neighbor_joining():
    """What is added to all distances of a column is the length of its leaf."""
    for seed in range(5):
        distance = noise(12, seed)
        longer = np.random.default_rng(seed).random(12)
        one = Tree(names_of(12), *join(distance))
        two = Tree(names_of(12), *join(distance + np.add.outer(longer, longer)))
        assert one.robinson_foulds(two) == 0
        expected = path_distances(one) + symmetric(np.add.outer(longer, longer))
        np.testing.assert_allclose(path_distances(two), expected, rtol=1e-9, atol=1e-9)


def test_three_distances_determine_three_lengths():
    tree = neighbor_joining("abc", np.array([[0, 5, 6], [5, 0, 7], [6, 7, 0]])).tree
    assert dict(zip(tree.edges[:, 0].tolist(), tree.lengths.tolist(), strict=True)) == {0: 2, 1: 3, 2: 4}


def test_two_columns_and_their_copies():
    cells = np.full((200, 4), np.nan)
    rng = np.random.default_rng(0)
    cells[:100, [0, 2]] = rng.integers(0, 2, 100)[:, None]
    cells[100:, [1, 3]] = rng.integers(0, 2, 100)[:, None]
    assert learn_tree(cells, method="nj").robinson_foulds(Tree.from_newick("((x0,x2),(x1,x3));")) == 0


# scikit-bio as a judge


def scikit_bio_tree(names, distance, **options):
    """Neighbour joining by scikit-bio, and the distances in its tree."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = nj(DistanceMatrix(distance, names), **options)
        return Tree.from_newick(str(found)), found.cophenet().filter(names).data


@pytest.mark.parametrize("kind", ["tree", "noisy tree", "noise"])
@pytest.mark.parametrize("d", [4, 5, 8, 20, 60, 150])
def test_scikit_bio_joins_the_same_neighbours(d, kind):
    for seed in range(3 if d < 100 else 1):
        tree = with_lengths(random_tree(d, 0.3, seed), seed)
        upper = np.triu(np.random.default_rng(seed).random((d, d)), 1)
        distance = upper + upper.T if kind == "noise" else noisy_distances(tree, 0.1 * (kind == "noisy tree"), seed)
        raw = Tree(tree.names, *join(distance))
        theirs, between = scikit_bio_tree(tree.names, distance, neg_as_zero=False)
        assert raw.robinson_foulds(theirs) == 0
        np.testing.assert_allclose(path_distances(raw), between, rtol=1e-9, atol=1e-9)
        ours = neighbor_joining(tree.names, distance).tree
        theirs, between = scikit_bio_tree(tree.names, distance)
        assert ours.robinson_foulds(theirs) == 0
        np.testing.assert_allclose(path_distances(ours), between, rtol=1e-9, atol=1e-9)
        assert (raw.lengths < 0).any() or kind != "noise"
