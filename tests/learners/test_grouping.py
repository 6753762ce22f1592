from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import squareform

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
from latree import learn_tree
from latree.counts.distances import log_det
from latree.learners.chow_liu_grouping import chow_liu_grouping
from latree.learners.neighbor_joining import join
from latree.learners.recursive_grouping import (
    _differences,
    _families,
    _parent,
    contracted,
    group,
    recursive_grouping,
)
from latree.paper.simulate import random_model, random_tree
from latree.tree import Tree

checked = settings(deadline=None, derandomize=True, max_examples=40)


def clrg(names, distance, *, reach=np.inf, shortest=1e-6, **options):
    learn = partial(group, reach=reach, shortest=shortest)
    return chow_liu_grouping(names, distance, learn, shortest=shortest, **options)


def clnj(names, distance, **options):
    return chow_liu_grouping(names, distance, join, **options)


BUILDERS = [recursive_grouping, clrg, clnj]
on_distances = pytest.mark.parametrize("build", BUILDERS, ids=["rg", "clrg", "clnj"])


def assert_comes_back(build, tree):
    """The very same graph, with the same lengths."""
    learned = build(tree.names, path_distances(tree)).tree
    assert same_graph(bare(learned), bare(tree))
    np.testing.assert_allclose(path_distances(learned), path_distances(tree), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(np.sort(learned.lengths), np.sort(tree.lengths), rtol=1e-7)


# Recursive grouping, and Chow-Liu grouping, of distances


@on_distances
@pytest.mark.parametrize("n", [2, 4])
@pytest.mark.parametrize("balance", [0.5, 0.2])
@pytest.mark.parametrize("n_leaves", [8, 16, 32])
def test_exact_tables_give_the_tree_back(n_leaves, balance, n, build):
    tree = random_tree(n_leaves, balance, 1)
    model = random_model(tree, n_states=n, hidden_states=n, start="identity", perturbation=0.2, random_state=1)
    learned = build(tree.names, log_det(exact_pairs(model))).tree
    assert same_graph(bare(learned), bare(tree))


@on_distances
@checked
@given(n_leaves=st.integers(3, 14), seed=st.integers(0, 10**6))
def test_any_tree_without_idle_hidden_nodes_comes_back(build, n_leaves, seed):
    assert_comes_back(build, mixed_tree(n_leaves, seed))


@on_distances
@pytest.mark.parametrize("seed", range(5))
def test_large_trees_come_back(seed, build):
    tree = mixed_tree(40, seed)
    assert max(map(len, tree.neighbors[tree.n_observed :])) > 3
    assert_comes_back(build, tree)


@on_distances
@pytest.mark.parametrize("share", [0.0, 0.5, 1.0])
def test_ties_do_no_harm(share, build):
    """All edges of the same length: every minimum spanning tree will do."""
    for seed in range(4):
        tree = with_fewer_edges(random_tree(16, 0.4, seed), share, seed)
        assert_comes_back(build, Tree(tree.names, tree.edges, np.ones(len(tree.edges))))


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


@on_distances
@pytest.mark.parametrize("shape", SHAPES)
def test_chains_and_stars_come_back(shape, build):
    d, edges = SHAPES[shape]
    for seed in range(5):
        order = np.random.default_rng(seed).permutation(d)
        number = np.concatenate([order, [d, d + 1]])
        assert_comes_back(build, with_lengths(Tree(names_of(d), number[np.array(edges)]), seed))


@on_distances
def test_lengths_may_differ_much(build):
    for seed in range(10):
        tree = mixed_tree(8, seed)
        lengths = np.exp(np.random.default_rng(seed).uniform(-5, 2, len(tree.edges)))
        assert_comes_back(build, Tree(tree.names, tree.edges, lengths))


def noisy(d, seed, share=0.1):
    return noisy_distances(with_lengths(random_tree(d, 0.3, seed), seed), share, seed)


def assert_permuting_permutes(build, distance, order):
    names = names_of(len(distance))
    tree = build(names, distance).tree
    other = build([names[i] for i in order], distance[np.ix_(order, order)]).tree.reordered(names)
    assert same_graph(bare(other), bare(tree))
    np.testing.assert_allclose(path_distances(other), path_distances(tree), rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("d", [4, 5, 9, 16])
def test_permuting_the_columns_permutes_the_result(d):
    for seed in range(8):
        order = np.random.default_rng(seed).permutation(d)
        assert_permuting_permutes(recursive_grouping, noisy(d, seed), order)


def test_permuting_the_columns_permutes_the_result_within_reach():
    for seed in range(40):
        order = np.random.default_rng(seed).permutation(5)
        build = partial(recursive_grouping, reach=0.9, shortest=0.05)
        assert_permuting_permutes(build, noisy(5, seed, 0.15), order)


@pytest.mark.parametrize("build", [clrg, clnj])
def test_permuting_the_columns_permutes_the_result_of_chow_liu_grouping(build):
    for seed in range(8):
        order = np.random.default_rng(seed).permutation(16)
        assert_permuting_permutes(build, noisy(16, seed), order)


@on_distances
def test_scaling_everything_scales_the_tree(build):
    for seed in range(5):
        distance = noisy(12, seed)
        tree = build(names_of(12), distance, shortest=0.02).tree
        scaled = build(names_of(12), 8 * distance, shortest=8 * 0.02).tree
        np.testing.assert_array_equal(scaled.edges, tree.edges)
        np.testing.assert_allclose(scaled.lengths, 8 * tree.lengths, rtol=1e-12)


@on_distances
@pytest.mark.parametrize("shortest", [1e-6, 0.2])
def test_whatever_the_distances_a_valid_tree_comes_out(shortest, build):
    for d in (3, 4, 6, 13):
        for seed in range(12):
            rng = np.random.default_rng([d, seed])
            random = rng.random((d, d)) if seed % 2 else rng.integers(0, 3, (d, d)) / 2
            random[rng.random((d, d)) < (0, 0.1, 0.5, 1)[seed % 4]] = np.inf
            distance = np.triu(random, 1)
            check_valid(build(names_of(d), distance + distance.T, shortest=shortest).tree, names_of(d))


def test_no_length_is_negative_though_the_formulas_make_them_so():
    zeros = 0
    for d in (3, 4, 6, 13):
        for seed in range(20):
            upper = np.triu(np.random.default_rng([d, seed]).random((d, d)) ** 4, 1)
            edges, lengths = group(upper + upper.T, np.inf, 1e-6)
            assert lengths.min() >= 0
            assert len(edges) == len(lengths)
            zeros += (lengths == 0).sum()
    assert zeros


@on_distances
@pytest.mark.parametrize(("d", "seed"), [(6, 21), (8, 43), (8, 113), (20, 157)])
def test_edges_between_columns_are_not_negative_either(d, seed, build):
    """Distances that make several lengths in a row negative, of which all but the last are contracted."""
    upper = np.triu(np.random.default_rng([d, seed]).random((d, d)) ** 4, 1)
    check_valid(build(names_of(d), upper + upper.T).tree, names_of(d))


@on_distances
def test_a_reach_however_small_gives_a_valid_tree(build):
    for reach in (0.0, 0.3, 0.8):
        for seed in range(5):
            options = {} if build is clnj else {"reach": reach}
            check_valid(build(names_of(14), noisy(14, seed, 0.3), **options).tree, names_of(14))


@on_distances
@pytest.mark.parametrize("d", [2, 3])
def test_few_columns(d, build):
    tree = build(names_of(d), 1 - np.eye(d)).tree
    assert sorted(tree.edges.tolist()) == [[i, d] for i in range(d)]


@on_distances
def test_progress_is_told_up_to_the_end(build):
    seen = []
    build(names_of(14), noisy(14, 0), progress=lambda *told: seen.append(told))
    done = [number for number, _ in seen]
    assert done == sorted(done)
    assert done[-1] == seen[-1][1]
    assert len(seen) > 2
    if build is recursive_grouping:
        assert seen[-1] == (14, 14)


def test_columns_with_many_neighbours_are_visited_first():
    sizes = []

    def watched(distance):
        sizes.append(len(distance))
        return join(distance)

    tree = mixed_tree(20, 0)
    chow_liu_grouping(tree.names, path_distances(tree), watched)
    assert sizes == sorted(sizes, reverse=True)
    assert len(set(sizes)) > 1


@on_distances
def test_short_edges_are_contracted(build):
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


@pytest.mark.parametrize(
    ("edges", "lengths", "kept"),
    [
        ([(0, 1), (1, 2)], [0.0, 0.0], {(0, 1): 0.0, (1, 2): 0.0}),  # between observed nodes
        ([(0, 3), (1, 3), (2, 3)], [0.1, 2.0, 3.0], {(0, 1): 2.0, (0, 2): 3.0}),  # into an observed node
        ([(0, 3), (1, 3), (2, 3)], [0.2, 0.1, 3.0], {(0, 1): 0.2, (1, 2): 3.0}),  # into the nearest one
        ([(0, 4), (1, 4), (4, 5), (2, 5), (3, 5)], [1, 2, 0.1, 3, 4], {(0, 4): 1, (1, 4): 2, (2, 4): 3, (3, 4): 4}),
        ([(0, 4), (1, 4), (4, 5), (2, 5), (3, 5)], [1, 2, 0.5, 3, 4], None),  # not shorter than 0.5
        ([(0, 4), (1, 4), (4, 5), (2, 5), (3, 5)], [0.1, 2, 1, 3, 4], {(0, 1): 2, (0, 4): 1, (2, 4): 3, (3, 4): 4}),
    ],
)
def test_contraction(edges, lengths, kept):
    n_observed = 4 if len(edges) == 5 else 3
    got, numbers = contracted(np.array(edges), np.array(lengths, dtype=float), n_observed, 0.5)
    if kept is None:
        kept = dict(zip(edges, lengths, strict=True))
    found = {tuple(sorted(edge)): number for edge, number in zip(got.tolist(), numbers.tolist(), strict=True)}
    assert found == kept


def naive_differences(distance, reach, witnesses=5):
    r = len(distance)
    spread, mean = np.zeros((r, r)), np.zeros((r, r))
    for i, j in np.ndindex(r, r):
        if i != j:
            others = sorted((k for k in range(r) if k not in (i, j)), key=lambda k: max(distance[i, k], distance[j, k]))
            asked = [k for k in others if max(distance[i, k], distance[j, k]) <= reach]
            asked = max(asked, others[:witnesses], key=len)
            phi = [distance[i, k] - distance[j, k] for k in asked]
            spread[i, j], mean[i, j] = max(phi) - min(phi), np.mean(phi)
    widest = spread.max()
    for i, j in np.ndindex(r, r):
        if i != j and distance[i, j] > reach:
            spread[i, j] = widest * (1 + distance[i, j] / distance.max())
    return spread, mean


@pytest.mark.parametrize("reach", [0.0, 0.9, 1.5, np.inf])
@pytest.mark.parametrize("d", [3, 4, 7, 8, 15])
def test_differences_equal_a_naive_twin(d, reach):
    for seed in range(3):
        distance = noisy(d, seed)
        for measured, naive in zip(_differences(distance, reach), naive_differences(distance, reach), strict=True):
            np.testing.assert_allclose(measured, naive, rtol=1e-9, atol=1e-12)


def naive_families(spread):
    """Of all clusterings by complete linkage, the one with the best mean silhouette."""
    r = len(spread)
    tree = linkage(squareform(spread), "complete")
    best = None
    for count in range(r - 1, 1, -1):
        label = fcluster(tree, count, "maxclust")
        clusters = [np.flatnonzero(label == number) for number in np.unique(label)]
        widest = max(spread[i, j] for cluster in clusters for i in cluster for j in cluster)
        silhouettes = []
        for i in range(r):
            own = next(cluster for cluster in clusters if i in cluster)
            within = sum(spread[i, j] for j in own) / (len(own) - 1) if len(own) > 1 else widest
            nearest = min(spread[i, other].mean() for other in clusters if other is not own)
            silhouettes.append((nearest - within) / max(nearest, within))
        if best is None or np.mean(silhouettes) > best[0] + 1e-12:
            best = np.mean(silhouettes), {frozenset(cluster.tolist()) for cluster in clusters}
    return best[1]


@pytest.mark.parametrize("d", [4, 5, 8, 13, 20])
def test_families_equal_a_naive_twin(d):
    sizes = set()
    for seed in range(8):
        upper = np.triu(np.random.default_rng([d, seed]).random((d, d)), 1)
        spread = upper + upper.T
        if seed % 2:
            spread, _ = _differences(noisy(d, seed, 0.03), np.inf)
        families = {frozenset(family.tolist()) for family in _families(spread, 1e-6)}
        assert families == naive_families((spread + spread.T) / 2)
        sizes |= set(map(len, families))
    assert len(sizes) > 1


def test_nodes_that_cannot_be_told_apart_are_one_family():
    spread = np.full((5, 5), 0.2) - 0.2 * np.eye(5)
    spread[0, 1] = spread[1, 0] = 0.01
    assert [family.tolist() for family in _families(spread, 0.1)] == [[0, 1, 2, 3, 4]]
    assert len(_families(spread, 0.09)) > 1


def test_the_parent_of_a_family_is_the_member_that_lies_between_the_others():
    """Node 1 is the parent of 0 and 2, but for 0.1 at each: less than twice 0.06 at each, and more than twice 0.04."""
    distance = np.array([[0, 2, 5, 9], [2, 0, 3, 9], [5, 3, 0, 9], [9, 9, 9, 0]], dtype=float)
    mean = np.array([[0, 2, -1, 0], [-2, 0, -3, 0], [1, 3, 0, 0], [0, 0, 0, 0]], dtype=float)
    family = np.array([0, 1, 2])
    assert _parent(family, distance, mean, 1e-6) == 1
    off = distance + 0.1 * (1 - np.eye(4))
    assert _parent(family, off, mean, 0.06) == 1
    assert _parent(family, off, mean, 0.04) is None
    assert _parent(np.array([2]), off, mean, 0.04) == 2
    assert _parent(np.array([0, 2]), distance, mean, 0.06) is None


def test_far_distances_do_less_harm_if_they_are_not_looked_at():
    errors = {}
    for seed in range(8):
        tree = with_lengths(random_tree(24, 0.3, seed), seed, high=0.3)
        distance = path_distances(tree)
        reach = np.quantile(distance, 0.8)
        upper = np.triu(np.random.default_rng(seed).uniform(1, 1.5, distance.shape), 1)
        off = np.where(distance > reach, distance * (upper + upper.T), distance)
        for look in (reach, np.inf):
            learned = recursive_grouping(tree.names, off, reach=look).tree
            errors[look < np.inf] = errors.get(look < np.inf, 0) + learned.robinson_foulds(tree)
    assert errors[True] < 0.6 * errors[False]


def with_columns_inside():
    """Two hidden variables with a column between them, and a chain of columns."""
    return Tree(names_of(9), [(0, 9), (1, 9), (2, 9), (9, 3), (3, 10), (4, 10), (5, 10), (5, 6), (6, 7), (3, 8)])


@pytest.mark.parametrize("seed", [2, 4, 5])
@pytest.mark.parametrize("method", ["rg", "clrg"])
def test_samples_of_a_tree_with_observed_inner_nodes_give_it_back(method, seed):
    tree = with_columns_inside()
    model = random_model(tree, n_states=3, hidden_states=3, start="identity", perturbation=0.15, random_state=seed)
    assert same_graph(bare(learn_tree(model.sample(50_000, 1), method=method)), tree)


def test_many_rows_make_no_short_edges():
    tree = with_columns_inside()
    for seed in range(4):
        model = random_model(tree, n_states=3, hidden_states=3, start="identity", perturbation=0.15, random_state=seed)
        assert same_graph(bare(learn_tree(model.sample(200_000, 1), method="rg")), tree)
