"""Groups of columns: planted groups are found, and no small change of a cut is better."""

import itertools

import numpy as np
import pytest
from latree.report.groups import _ModularityCut, find_groups

import latree
from helpers.models import model_on, small_models
from helpers.strategies import mixed_tree
from latree.explain.dependence import Dependence
from latree.tree import Tree

MODELS = small_models()


def planted(sizes, within=0.5, between=0.05):
    """A tree of stars around a middle, and the similarity of their columns."""
    d, h = sum(sizes), len(sizes)
    group = np.repeat(np.arange(h), sizes)
    edges = [(column, d + int(group[column])) for column in range(d)] + [(d + i, d + h) for i in range(h)]
    similarity = np.where(group[:, None] == group, within, between)
    np.fill_diagonal(similarity, 0)
    return Tree([f"x{i}" for i in range(d)], edges), similarity, group


@pytest.mark.parametrize("sizes", [(4, 4, 4), (2, 3, 4, 5), (3, 30, 3), (6,) * 8])
def test_planted_groups_are_found(sizes):
    tree, similarity, group = planted(sizes)
    found = find_groups(tree, similarity)
    assert sorted(found_group.columns for found_group in found) == sorted(
        tuple(np.flatnonzero(group == number).tolist()) for number in range(len(sizes))
    )
    assert all(found_group.centre == tree.n_observed + group[found_group.columns[0]] for found_group in found)
    assert sum(len(found_group.edges) for found_group in found) == 2 * (len(sizes) - 1)


@pytest.mark.parametrize("model", [*MODELS, model_on(mixed_tree(14, 5), [2] * 60, 5)])
def test_groups_are_connected_pieces_that_share_no_column(model):
    tree = model.tree
    groups = find_groups(tree, Dependence(model).column_information)
    assert sorted(column for group in groups for column in group.columns) == list(range(tree.n_observed))
    component = {node: part for part in tree.components for node in range(tree.n_observed) if part >> node & 1}
    for group in groups:
        reached, waiting = {group.nodes[0]}, [group.nodes[0]]
        while waiting:
            node = waiting.pop()
            near = {other for other, _ in tree.neighbors[node]} & set(group.nodes) - reached
            reached |= near
            waiting.extend(near)
        assert reached == set(group.nodes)
        assert group.centre in group.nodes
        assert len({component[column] for column in group.columns}) == 1
        for edge in group.edges:
            assert len(set(tree.edges[edge].tolist()) & set(group.nodes)) == 1


def test_a_group_with_clear_groups_inside_is_cut_once_more():
    tree, similarity, group = planted((5, 5, 5, 5), within=0.5, between=0.01)
    near = (group[:, None] < 2) & (group < 2) & (group[:, None] != group)
    close = np.where(near, 0.2, similarity)
    edges = [edge for edge in tree.edges.tolist() if edge[0] < 20] + [[20, 24], [21, 24], [24, 25], [22, 25], [23, 25]]
    joined = Tree(tree.names, edges)
    cutter = _ModularityCut(joined, close, range(joined.n_nodes))
    assert len(cutter.pieces(cutter.best())) == 3  # what modularity alone makes of it
    assert [found.columns for found in find_groups(joined, close)] == [
        tuple(range(start, start + 5)) for start in (0, 5, 10, 15)
    ]


def naive_modularity(similarity, pieces):
    total = similarity.sum()
    parts = [np.ix_(piece, piece) for piece in pieces]
    shares = [similarity[piece].sum() / total for piece in pieces]
    return sum(similarity[part].sum() / total - share**2 for part, share in zip(parts, shares, strict=True))


@pytest.mark.parametrize("seed", range(6))
def test_no_other_cut_of_up_to_three_edges_is_better(seed):
    model = latree.random_model(
        latree.random_tree(9, random_state=seed), n_states=3, start="identity", perturbation=0.2, random_state=seed
    )
    tree, similarity = model.tree, Dependence(model).column_information
    cutter = _ModularityCut(tree, similarity, range(tree.n_nodes))
    best = cutter.best()

    def pieces(cut):
        return [[node for node in piece if node < 9] for piece in cutter.pieces(frozenset(cut))]

    assert cutter.modularity(best) == pytest.approx(naive_modularity(similarity, pieces(best)), rel=1e-9)
    inner = [edge for edge, ends in enumerate(tree.edges.tolist()) if min(ends) >= 9]
    others = (cut for size in range(4) for cut in itertools.combinations(inner, size))
    assert max(naive_modularity(similarity, pieces(cut)) for cut in others) <= cutter.modularity(best) + 1e-9


def test_independent_columns_are_groups_of_their_own_and_a_star_is_one():
    lonely = Tree("abc", [])
    assert [group.columns for group in find_groups(lonely, np.zeros((3, 3)))] == [(0,), (1,), (2,)]
    star = Tree("abcdef", [(column, 6) for column in range(6)])
    assert [group.columns for group in find_groups(star, 1 - np.eye(6))] == [tuple(range(6))]
