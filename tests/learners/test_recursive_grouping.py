from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import squareform

from helpers.grouping import GroupingTests, assert_comes_back, assert_permuting_permutes, noisy
from helpers.strategies import bare, mixed_tree, names_of, path_distances, same_graph, with_lengths
from latree import learn_tree
from latree.learners.grouping import _differences, _families, _parent, contracted, group, recursive_grouping
from latree.paper.simulate import random_model, random_tree
from latree.tree import Tree

checked = settings(deadline=None, derandomize=True, max_examples=40)


class TestGrouping(GroupingTests):
    counts_columns = True

    @pytest.fixture
    def build(self):
        return recursive_grouping


@checked
@given(n_leaves=st.integers(3, 14), seed=st.integers(0, 10**6))
def test_any_tree_without_idle_hidden_nodes_comes_back(n_leaves, seed):
    assert_comes_back(recursive_grouping, mixed_tree(n_leaves, seed))


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
