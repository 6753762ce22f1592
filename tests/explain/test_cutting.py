"""Cutting a tree at a latent correlation: no small change of a cut is better, and cuts are nested where asked."""

import itertools

import numpy as np
import pytest

import latree
from latree.explain.cutting import TreeCutter
from latree.explain.dependence import Dependence
from latree.explain.groups import _loadings, correlation
from latree.tree import Tree


def cutter_of(model):
    dependence = Dependence(model)
    similarity, loadings = correlation(dependence.column_information), _loadings(dependence)
    return TreeCutter(model.tree, similarity, loadings), similarity, loadings


def partition(cutter, cut):
    """The columns of each piece."""
    pieces = cut[cutter.home]
    return {frozenset(np.flatnonzero(pieces == top).tolist()) for top in np.unique(pieces)}


def naive_objective(similarity, loadings, pieces, threshold):
    return sum(
        similarity[i, j] - threshold * loadings[i] * loadings[j]
        for piece in pieces
        for i, j in itertools.combinations(sorted(piece), 2)
    )


def naive_pieces(tree, cut):
    """The columns of each piece when some edges are cut, or None if a piece has fewer than two columns."""
    kept = [edge for number, edge in enumerate(tree.edges.tolist()) if number not in cut]
    label = list(range(tree.n_nodes))
    for _ in label:
        for u, v in kept:
            label[u] = label[v] = min(label[u], label[v])
    pieces = {frozenset(c for c in range(tree.n_observed) if label[c] == top) for top in set(label)}
    return pieces if min(map(len, pieces)) >= 2 else None


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("threshold", [0.3, 0.6, 0.9])
def test_no_other_cut_of_up_to_three_edges_is_better(seed, threshold):
    tree = latree.random_tree(9, random_state=seed)
    model = latree.random_model(tree, n_states=3, start="identity", perturbation=0.2, random_state=seed)
    cutter, similarity, loadings = cutter_of(model)
    found = naive_objective(similarity, loadings, partition(cutter, cutter.best(threshold, 2)), threshold)
    inner = [edge for edge, ends in enumerate(tree.edges.tolist()) if min(ends) >= 9]
    others = [naive_pieces(tree, cut) for size in range(4) for cut in itertools.combinations(inner, size)]
    best = max(naive_objective(similarity, loadings, pieces, threshold) for pieces in others if pieces)
    assert found >= best - 1e-9


def nested(within=0.6, near=0.4, far=0.1):
    """Two pairs of groups of three columns, and the similarity of their columns; all loadings are 1."""
    edges = [(column, 12 + column // 3) for column in range(12)]
    tree = Tree([f"x{i}" for i in range(12)], [*edges, (12, 16), (13, 16), (14, 17), (15, 17), (16, 17)])
    group = np.arange(12) // 3
    similarity = np.where(group[:, None] == group, within, np.where(group[:, None] // 2 == group // 2, near, far))
    np.fill_diagonal(similarity, 0)
    return TreeCutter(tree, similarity, np.ones(12))


@pytest.mark.parametrize(
    ("threshold", "sizes"),
    [(0.09, [12]), (0.11, [6, 6]), (0.39, [6, 6]), (0.41, [3, 3, 3, 3]), (0.9, [3, 3, 3, 3])],
)
def test_groups_are_apart_below_the_threshold(threshold, sizes):
    cutter = nested()
    assert sorted(map(len, partition(cutter, cutter.best(threshold, 2)))) == sizes


def test_a_cut_is_refined_or_coarsened():
    cutter = nested()
    coarse, fine = cutter.best(0.2, 2), cutter.best(0.5, 2)
    # A lower threshold would cut nothing, but what is cut stays cut.
    assert partition(cutter, cutter.best(0.05, 2, start=coarse)) == partition(cutter, coarse)
    assert partition(cutter, cutter.best(0.5, 2, start=coarse)) == partition(cutter, fine)
    # A higher threshold would cut more, but nothing else is cut.
    assert partition(cutter, cutter.best(0.5, 2, among=coarse)) == partition(cutter, coarse)
    assert partition(cutter, cutter.best(0.2, 2, among=fine)) == partition(cutter, coarse)


@pytest.mark.parametrize(("min_columns", "n_pieces"), [(2, 4), (3, 4), (4, 2), (6, 2), (7, 1)])
def test_pieces_have_enough_columns(min_columns, n_pieces):
    cutter = nested()
    assert len(partition(cutter, cutter.best(0.5, min_columns))) == n_pieces


def test_a_greedy_cut_is_taken_back():
    """The best first cut is in the middle of a group of a chain; the final cut is not."""
    sizes = (3, 6, 3)
    group = np.repeat(np.arange(4), [3, 3, 3, 3])
    edges = [(column, 12 + group[column]) for column in range(12)]
    tree = Tree([f"x{i}" for i in range(12)], [*edges, (12, 13), (13, 14), (14, 15)])
    between = np.array([[0.9, 0.5, 0.35, 0.0], [0.5, 0.9, 0.55, 0.35], [0.35, 0.55, 0.9, 0.5], [0.0, 0.35, 0.5, 0.9]])
    similarity = between[np.ix_(group, group)] * (1 - np.eye(12))
    cutter = TreeCutter(tree, similarity, np.ones(12))
    assert sorted(map(len, partition(cutter, cutter.best(0.52, 2)))) == sorted(sizes)


def test_columns_without_hidden_variables_have_a_home():
    tree = Tree("abcdefg", [(0, 1), (2, 3), (3, 4), (4, 5)])  # a pair, a chain, and a lonely column
    cutter = TreeCutter(tree, np.zeros((7, 7)), np.ones(7))
    assert partition(cutter, cutter.whole) == {frozenset({0, 1}), frozenset({2, 3, 4, 5}), frozenset({6})}
    similarity = np.zeros((7, 7))
    similarity[2, 3] = similarity[3, 2] = similarity[4, 5] = similarity[5, 4] = 0.9
    cutter = TreeCutter(tree, similarity, np.ones(7))
    assert frozenset({2, 3}) in partition(cutter, cutter.best(0.5, 2))
