"""The hierarchy of groups: no small change of the best cut is better, levels are nested, and what they explain."""

import itertools

import numpy as np
import pytest

import latree
from helpers.models import small_models
from latree.counts.distances import informational_correlation
from latree.interpret.cutting import TreeCutter, broad_level, explained, find_hierarchy, pieces
from latree.interpret.view import View
from latree.tree import Tree


def similarity_of(model):
    return informational_correlation(View(model).column_information)


def random_model(n_columns, seed):
    tree = latree.random_tree(n_columns, random_state=seed)
    return latree.random_model(tree, n_states=3, start="identity", perturbation=0.2, random_state=seed)


def groups_of(labels):
    return [np.flatnonzero(labels == number) for number in np.unique(labels)]


def partitions(tree, edges):
    """The piece of each column after each number of cuts, from none to all."""
    return np.array([pieces(tree, edges[:number])[: tree.n_observed] for number in range(len(edges) + 1)])


def naive_gain(similarity, one, other, cost=1.0):
    """How much more two groups explain than their union: each the mean correlation times its columns less the cost."""

    def mean(columns):
        return np.mean([similarity[i, j] for i, j in itertools.combinations(columns, 2)])

    within = [mean(one), mean(other)]
    counted = [min(within) if len(side) == 2 else w for side, w in zip((one, other), within, strict=True)]
    together = (len(one) + len(other) - cost) * mean([*one, *other])
    return (len(one) - cost) * counted[0] + (len(other) - cost) * counted[1] - together


def blocks(within, between, sizes):
    """A tree with a hidden variable for each group, all of them at one in the middle, and the similarity of columns."""
    group = np.repeat(np.arange(len(sizes)), sizes)
    d, n = len(group), len(sizes)
    edges = [*((column, d + number) for column, number in enumerate(group)), *((d + g, d + n) for g in range(n))]
    similarity = np.where(group[:, None] == group, within, np.asarray(between)[np.ix_(group, group)])
    np.fill_diagonal(similarity, 0)
    return Tree([f"x{i}" for i in range(d)], edges), similarity, group


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("cost", [1.0, 0.5])
def test_no_cut_is_better_undone_or_elsewhere_between_the_same_groups(seed, cost):
    model = random_model(14, seed)
    tree, similarity = model.tree, similarity_of(model)
    cutter = TreeCutter(tree, similarity)
    best = cutter.best(cutter.whole, cost)
    cut = set(cutter.edge_above[np.setdiff1d(best, cutter.whole)].tolist())
    assert cut
    for edge in cut:
        others = tuple(cut - {edge})
        joined = pieces(tree, others)
        union = joined[tree.edges[edge, 0]]
        gains = {}
        for other, (one, two) in enumerate(tree.edges):
            if joined[one] == joined[two] == union:
                labels = pieces(tree, (*others, other))
                sides = [np.flatnonzero(labels[:14] == labels[end]) for end in (one, two)]
                if min(map(len, sides)) >= 2:
                    gains[other] = naive_gain(similarity, *sides, cost)
        assert gains[edge] == pytest.approx(max(gains.values()))
        assert gains[edge] > 0


@pytest.mark.parametrize("model", [*small_models(), *(random_model(14, seed) for seed in range(3))])
def test_each_cut_makes_one_group_more_of_two_columns_or_more(model):
    tree = model.tree
    hierarchy = find_hierarchy(tree, similarity_of(model))
    assert 0 <= hierarchy.best <= hierarchy.fine <= len(hierarchy.edges)
    levels = partitions(tree, hierarchy.edges)
    n_single = sum(component.bit_count() == 1 for component in tree.components)
    for n_cuts, labels in enumerate(levels):
        own = pieces(tree, hierarchy.edges[:n_cuts])[: tree.n_observed]
        assert {frozenset(group) for group in groups_of(labels)} == {frozenset(group) for group in groups_of(own)}
        assert len(groups_of(labels)) == len(tree.components) + n_cuts
        assert sum(len(group) == 1 for group in groups_of(labels)) == n_single
    # Nothing is left to divide.
    for edge in set(range(len(tree.edges))) - set(hierarchy.edges):
        sizes = np.bincount(pieces(tree, (*hierarchy.edges, edge))[: tree.n_observed], minlength=tree.n_nodes)
        assert min(sizes[pieces(tree, (*hierarchy.edges, edge))[tree.edges[edge]]]) < 2


@pytest.mark.parametrize("seed", range(3))
def test_what_each_level_explains(seed):
    model = random_model(12, seed)
    similarity = similarity_of(model)
    edges = find_hierarchy(model.tree, similarity).edges
    naive = [11 * similarity[np.triu_indices(12, 1)].mean()]
    for n_cuts, edge in enumerate(edges):
        labels = pieces(model.tree, edges[: n_cuts + 1])
        sides = [np.flatnonzero(labels[:12] == labels[end]) for end in model.tree.edges[edge]]
        naive.append(naive[-1] + naive_gain(similarity, *sides))
    np.testing.assert_allclose(explained(model.tree, edges, similarity), naive, rtol=1e-12, atol=1e-12)


def test_levels_of_domains_of_scales():
    """Twelve scales in four domains: the best cut has the scales, and the level above it the domains."""
    domain = np.repeat(np.arange(4), 3)
    between = np.where(domain[:, None] == domain, 0.24, 0.08)
    tree, similarity, group = blocks(0.4, between, [5] * 12)
    hierarchy = find_hierarchy(tree, similarity)
    labels = partitions(tree, hierarchy.edges)
    assert len(np.unique(list(zip(labels[hierarchy.best], group, strict=True)), axis=0)) == 12
    # Scales hang at one hidden variable, so that only one domain can be joined without the others.
    assert broad_level(tree, hierarchy.edges[: hierarchy.best], similarity) < hierarchy.best


def test_scales_without_domains_have_no_level_above():
    tree, similarity, _ = blocks(0.4, np.full((6, 6), 0.1), [5] * 6)
    hierarchy = find_hierarchy(tree, similarity)
    assert hierarchy.best == 5
    assert broad_level(tree, hierarchy.edges[:5], similarity) == 0  # all of them, or none
    tree, similarity, _ = blocks(0.4, np.zeros((6, 6)), [5] * 6)
    assert broad_level(tree, find_hierarchy(tree, similarity).edges[:5], similarity) == 5


def test_near_synonyms_are_no_group_of_the_best_cut():
    """Two columns of a scale that correlate more with each other than with the rest."""
    tree, similarity, _ = blocks(0.4, np.full((3, 3), 0.1), [6, 6, 6])
    d = 18
    # The first two columns of the first scale have a hidden variable of their own.
    edges = [(a, d + 4 if a < 2 else b) for a, b in tree.edges.tolist()]
    tree = Tree(tree.names, [*edges, (d, d + 4)])
    similarity[0, 1] = similarity[1, 0] = 0.8
    hierarchy = find_hierarchy(tree, similarity)
    assert (hierarchy.best, hierarchy.fine) == (2, 2)
    # With one more cut, they are.
    assert sorted(np.bincount(partitions(tree, hierarchy.edges)[3]))[-4:] == [2, 4, 6, 6]


def test_nothing_changes_if_all_correlations_are_half_as_high():
    model = random_model(16, 3)
    similarity = similarity_of(model)
    assert find_hierarchy(model.tree, similarity) == find_hierarchy(model.tree, similarity / 2)


def test_a_greedy_cut_is_taken_back():
    """The best first cut is in the middle of a group of a chain; the final cut is not."""
    group = np.repeat(np.arange(4), 3)
    edges = [(column, 12 + group[column]) for column in range(12)]
    tree = Tree([f"x{i}" for i in range(12)], [*edges, (12, 13), (13, 14), (14, 15)])
    between = np.array([[0.9, 0.2, 0.2, 0.0], [0.2, 0.9, 0.75, 0.2], [0.2, 0.75, 0.9, 0.2], [0.0, 0.2, 0.2, 0.9]])
    similarity = between[np.ix_(group, group)] * (1 - np.eye(12))
    cutter = TreeCutter(tree, similarity)
    found = groups_of(cutter.best(cutter.whole, 1.0)[cutter.home])
    assert sorted(map(len, found)) == [3, 3, 6]


def test_cuts_that_would_be_revised_for_ever():
    """What a pair counts depends on the other side of its cut: here, revised cuts come again after some time."""
    tree = Tree.from_newick("(x5,(x2,x4,x7),(x1,x6),(x0,x3,x8));")
    rows = ["174 307 491 199 181 091 256 545", "173 151 127 118 352 192 175", "299 301 202 093 422 287"]
    rows += ["175 196 090 237 460", "136 059 253 214", "074 200 214", "086 084", "272"]
    upper = [int(value) for value in " ".join(rows).split()]
    similarity = np.zeros((9, 9))
    similarity[np.triu_indices(9, 1)] = np.array(upper) / 1000
    order = [int(name[1:]) for name in tree.names]
    similarity = (similarity + similarity.T)[np.ix_(order, order)]
    assert len(find_hierarchy(tree, similarity).edges) == 2


def test_columns_without_hidden_variables():
    tree = Tree("abcdefg", [(0, 1), (2, 3), (3, 4), (4, 5)])  # a pair, a chain, and a lonely column
    similarity = np.zeros((7, 7))
    similarity[2, 3] = similarity[3, 2] = similarity[4, 5] = similarity[5, 4] = 0.9
    hierarchy = find_hierarchy(tree, similarity)
    assert hierarchy.edges == (2,)  # between c, d and e, f
    assert [len(np.unique(labels)) for labels in partitions(tree, hierarchy.edges)] == [3, 4]
    assert find_hierarchy(Tree("abc", []), np.zeros((3, 3))) == ((), 0, 0)
