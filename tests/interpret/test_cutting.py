"""Cutting a tree at a latent correlation: no small change of a cut is better, and cuts are nested where asked."""

import itertools
import tracemalloc

import numpy as np
import pytest

import latree
from latree.counts.distances import informational_correlation
from latree.interpret import cutting
from latree.interpret.cutting import TreeCutter
from latree.interpret.groups import _loadings
from latree.interpret.view import View
from latree.tree import Tree


def cutter_of(model):
    dependence = View(model)
    similarity, loadings = informational_correlation(dependence.column_information), _loadings(dependence)
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


def nested_similarity(within=0.6, near=0.4, far=0.1):
    """The similarity of the columns of two pairs of groups of three columns."""
    group = np.arange(12) // 3
    similarity = np.where(group[:, None] == group, within, np.where(group[:, None] // 2 == group // 2, near, far))
    np.fill_diagonal(similarity, 0)
    return similarity


def nested(**similarities):
    """Two pairs of groups of three columns; all loadings are 1."""
    edges = [(column, 12 + column // 3) for column in range(12)]
    tree = Tree([f"x{i}" for i in range(12)], [*edges, (12, 16), (13, 16), (14, 17), (15, 17), (16, 17)])
    return TreeCutter(tree, nested_similarity(**similarities), np.ones(12))


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


def naive_nearby(cutter, cut, threshold, min_columns, start):
    """Change one edge at a time, always the one that raises Q most, until no change does."""
    size = len(cutter.parent)
    is_cut = [bool(cut[node] == node or start[node] == node) and cutter.parent[node] >= 0 for node in range(size)]

    def pieces(state):
        top = []
        for node in range(size):
            top.append(node if cutter.parent[node] < 0 or state[node] else top[cutter.parent[node]])
        return np.array(top)

    def objective(state):
        top = pieces(state)
        excess = cutter.similarity - threshold * np.outer(cutter.loadings, cutter.loadings)
        return np.where(top[:, None] == top, excess, 0).sum()

    def allowed(state, node):
        if cutter.parent[node] < 0 or (state[node] and start[node] == node):
            return False
        changed = [*state[:node], not state[node], *state[node + 1 :]]
        sides = (
            cutter.n_columns[pieces(changed) == pieces(changed)[side]].sum() for side in (node, cutter.parent[node])
        )
        return state[node] or min(sides) >= min_columns

    while True:
        options = [
            [*is_cut[:node], not is_cut[node], *is_cut[node + 1 :]] for node in range(size) if allowed(is_cut, node)
        ]
        best = max(options, key=objective, default=is_cut)
        if objective(best) <= objective(is_cut) + 1e-9:
            return pieces(is_cut)
        is_cut = best


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("min_columns", [2, 3])
def test_nearby_cuts_change_one_edge_at_a_time(seed, min_columns):
    """From any cuts, for several thresholds at once; no further change of one edge is better."""
    rng = np.random.default_rng(seed)
    tree = latree.random_tree(14, random_state=seed)
    model = latree.random_model(tree, n_states=3, start="identity", perturbation=0.2, random_state=seed)
    cutter, similarity, _ = cutter_of(model)
    noisy = np.clip(similarity + 0.1 * rng.standard_normal(similarity.shape), 0, 1)
    cutter = cutter.with_similarity((noisy + noisy.T) / 2)
    thresholds = np.array([0.4, 0.6, 0.8])
    starts = np.array([cutter_of(model)[0].best(threshold, min_columns) for threshold in thresholds])
    start = starts[0] if seed % 2 else cutter.whole
    found = cutter.nearby(starts, thresholds, min_columns, start if seed % 2 else None)
    for cut, begun, threshold in zip(found, starts, thresholds, strict=True):
        # Nothing is left to change, and Q is not lower than it was.
        assert naive_nearby(cutter, cut, threshold, min_columns, start).tolist() == cut.tolist()
        excess = cutter.similarity - threshold * np.outer(cutter.loadings, cutter.loadings)
        q = [np.where(top[:, None] == top, excess, 0).sum() for top in (begun, cut)]
        assert q[1] >= q[0] - 1e-9
        assert {node for node, top in enumerate(start) if node == top} <= {n for n, top in enumerate(cut) if n == top}


def test_nearby_cuts_make_and_undo_cuts():
    """Four groups of similarity far, near and within: from each cut to any other."""
    cutter, thresholds = nested(), np.array([0.09, 0.2, 0.5])
    best = np.array([cutter.best(threshold, 2) for threshold in thresholds])
    assert [len(np.unique(cut)) for cut in best] == [1, 2, 4]
    for begun in itertools.permutations(best):
        assert cutter.nearby(np.array(begun), thresholds, 2).tolist() == best.tolist()
    # Pieces have enough columns, and what the start cuts stays cut.
    assert len(np.unique(cutter.nearby(best[:1], np.array([0.5]), 4))) == 2
    kept = cutter.nearby(best[:1], np.array([0.09]), 2, start=best[1])
    assert kept.tolist() == best[1:2].tolist()


def test_nearby_cuts_do_not_depend_on_how_many_are_changed_at_once(monkeypatch):
    thresholds = np.linspace(0.05, 0.9, 9)
    starts = np.repeat(nested().whole[None], 9, axis=0)
    together = nested().nearby(starts, thresholds, 2)
    monkeypatch.setattr(cutting, "_CELLS_AT_ONCE", 100)
    assert nested().nearby(starts, thresholds, 2).tolist() == together.tolist()
    assert {len(np.unique(cut)) for cut in together} == {1, 2, 4}


@pytest.mark.parametrize(("n_groups", "n_found"), [(9, 9), (14, 11)])
def test_there_are_not_more_than_ten_rounds_of_changes(n_groups, n_found):
    """Groups around one hub: each round cuts off one, because all of them change the piece of the hub."""
    d = 2 * n_groups
    group = np.arange(d) // 2
    edges = [(column, d + group[column]) for column in range(d)] + [(d + g, d + n_groups) for g in range(n_groups)]
    similarity = (group[:, None] == group) * (1.0 - np.eye(d))
    cutter = TreeCutter(Tree([f"x{i}" for i in range(d)], edges), similarity, np.ones(d))
    (cut,) = cutter.nearby(cutter.whole[None], np.array([0.5]), 2)
    assert len(partition(cutter, cut)) == n_found


def test_a_cutter_for_another_similarity():
    one, other = nested(), nested(near=0.05)
    again = one.with_similarity(np.zeros((12, 12))).with_similarity(nested_similarity(near=0.05))
    assert again.similarity.tolist() == other.similarity.tolist()
    assert again.min_gain == other.min_gain
    assert one.similarity.tolist() == nested().similarity.tolist()


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


def test_sums_over_pairs_do_not_depend_on_how_many_are_added_at_once(monkeypatch):
    tree = latree.random_tree(12, random_state=3)
    model = latree.random_model(tree, n_states=3, start="identity", perturbation=0.2, random_state=3)
    cutter, _, _ = cutter_of(model)
    rng = np.random.default_rng(0)
    matrices = rng.random((2, len(cutter.inner), len(cutter.inner)))
    matrices += matrices.transpose(0, 2, 1)
    first = np.arange(len(cutter.inner))
    last = first + cutter.size
    naive = np.array(
        [[m[a:b, :a].sum() + m[a:b, b:].sum() for a, b in zip(first, last, strict=True)] for m in matrices]
    )
    expected = cutter.best(0.6, 2)
    for cells in (1, 25, 2**17):
        monkeypatch.setattr(cutting, "_CELLS_AT_ONCE", cells)
        found = cutting._sums_across(lambda rows: matrices[:, rows], first, last, 2)
        np.testing.assert_allclose(found, naive, rtol=1e-12, atol=1e-12)
        np.testing.assert_array_equal(cutter.best(0.6, 2), expected)


def test_cuts_of_wide_trees_need_few_copies_of_all_pairs():
    d = 600
    tree = Tree([f"x{i}" for i in range(d)], [(i, i + 1) for i in range(d - 1)])  # every column is an inner node
    similarity = np.exp(-np.abs(np.subtract.outer(np.arange(d), np.arange(d))) / 10.0)
    np.fill_diagonal(similarity, 0)
    tracemalloc.start()
    try:
        cutter = TreeCutter(tree, similarity, np.ones(d))
        best = cutter.best(0.5, 2)
        cutter.nearby(best[None], np.array([0.4]), 2)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    # One copy that the cutter keeps, up to two for sums over pieces, and some rows.
    assert peak < 3.7 * similarity.nbytes
