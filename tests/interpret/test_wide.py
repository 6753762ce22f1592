"""Groups of wide tables: what is exact, what samples of pairs say about the rest, and that the groups are the same."""

import numpy as np
import pytest

import latree
from helpers.models import copying_model
from latree.counts.distances import informational_correlation
from latree.interpret import groups, wide
from latree.interpret.cutting import broad_level, explained, find_hierarchy, pieces
from latree.interpret.groups import adjusted_rand, find_groups, group_labels, with_groups
from latree.interpret.view import view_of
from latree.interpret.wide import SampledCorrelations
from latree.learners.explain import halves
from latree.learners.structure import Replicate
from latree.tree import Tree


def scales(n_scales, items=5, per_branch=5, name="s{}_{}"):
    """Scales of several items, some of them on a hidden variable of their own, and these on one in the middle."""
    d, n_branches = n_scales * items, -(-n_scales // per_branch)
    edges = [(column, d + column // items) for column in range(d)]
    edges += [(d + scale, d + n_scales + scale // per_branch) for scale in range(n_scales)]
    edges += [(d + n_scales + branch, d + n_scales + n_branches) for branch in range(n_branches)]
    tree = Tree([name.format(column // items, column % items) for column in range(d)], edges)
    return copying_model(tree, lambda node, _: 0.7 if node < d else 0.6)


@pytest.fixture(scope="module")
def model():
    return scales(20)


@pytest.fixture(scope="module")
def table(model):
    return model.sample(1500, random_state=0)


@pytest.fixture
def treated_as_wide(monkeypatch):
    monkeypatch.setattr(groups, "WIDE", 10)
    monkeypatch.setattr(wide, "_MAX_PART", 30)


def similarity_of(model, table):
    return informational_correlation(view_of(model).counted_information(table))


def labels_of(found, names, level):
    return group_labels([group for group in found if group.level == level], names)


def test_groups_are_those_of_all_correlations(model, table, monkeypatch):
    replicates = [Replicate(model, part) for part in halves(table, 4, 0)]
    exact = with_groups(model, table, replicates=replicates)
    monkeypatch.setattr(groups, "WIDE", 10)
    for most in (12, 30, 100):
        monkeypatch.setattr(wide, "_MAX_PART", most)
        found = with_groups(model, table, replicates=replicates)
        assert [group.columns for group in found.groups if group.level == "main"] == [
            group.columns for group in exact.groups if group.level == "main"
        ]
        assert found.hidden_names == exact.hidden_names
        assert len(found.levels.edges) == len(exact.levels.edges)
        assert {group.stability for group in found.groups if group.level == "main"} == {1.0}
    assert adjusted_rand(group_labels(exact.groups, model.tree.names), np.arange(100) // 5) == 1


def test_a_model_without_rows_is_sampled(model, treated_as_wide):
    assert adjusted_rand(group_labels(find_groups(model), model.tree.names), np.arange(100) // 5) == 1


def test_nothing_depends_on_the_order_of_columns(model, table, treated_as_wide, monkeypatch):
    order = np.random.default_rng(0).permutation(100)
    names = [model.tree.names[column] for column in order]
    tree = model.tree.reordered(names)
    old = [*order.tolist(), *range(100, tree.n_nodes)]
    parents = tree.rooted().parent.tolist()
    tables = tuple(
        model.network.conditional(old[node], old[above])
        if above >= 0
        else model.network.marginals()[old[node]][:, None]
        for node, above in enumerate(parents)
    )
    other = latree.LatentTreeModel(tree, tuple(model.columns[column] for column in order), tables)
    moved = latree.Table(other.columns, table.rows.reordered(order))
    # With few pairs, another sample would say something else.
    monkeypatch.setattr(wide, "_N_PAIRS", 10)
    edges = find_hierarchy(model.tree, similarity_of(model, table)).edges
    values = [
        SampledCorrelations(rows, np.empty(0)).explained(some.tree, edges)
        for some, rows in ((model, table), (other, moved))
    ]
    np.testing.assert_allclose(*values, rtol=1e-10)
    one, two = find_groups(model, table), find_groups(other, moved)
    assert {(group.level, frozenset(group.columns)) for group in one} == {
        (group.level, frozenset(group.columns)) for group in two
    }


def test_with_all_pairs_in_the_sample_everything_is_exact(model, table, monkeypatch):
    monkeypatch.setattr(wide, "_N_PAIRS", 10**5)
    similarity = similarity_of(model, table)
    edges = find_hierarchy(model.tree, similarity).edges
    sampled = SampledCorrelations(table, view_of(model).edge_information)
    np.testing.assert_allclose(
        sampled.explained(model.tree, edges), explained(model.tree, edges, similarity), rtol=1e-10
    )
    monkeypatch.setattr(wide, "_MAX_PART", 1000)  # one part
    # Joins are measured again only when it is their turn, so that single ones may change places.
    found, exact = sampled.hierarchy(model.tree), find_hierarchy(model.tree, similarity)
    assert (set(found.edges), found.best, found.fine) == (set(exact.edges), exact.best, exact.fine)
    values = [explained(model.tree, some, similarity) for some in (found.edges, exact.edges)]
    np.testing.assert_allclose(*values, rtol=0.01)
    for number in (4, 10, 19):
        assert sampled.broad_level(model.tree, edges[:number]) == broad_level(model.tree, edges[:number], similarity)


def test_a_join_lowers_what_is_explained_by_its_loss(model, table, treated_as_wide, monkeypatch):
    monkeypatch.setattr(wide, "_N_PAIRS", 10**5)
    sampled = SampledCorrelations(table, view_of(model).edge_information)
    cutter = wide._WideCutter(model.tree, sampled, sampled.strength)
    tops, losses = cutter.joins(cutter.best(cutter.parts, 1.0), cutter.whole)
    values = explained(model.tree, tuple(cutter.edge_above[tops].tolist()), similarity_of(model, table))
    np.testing.assert_allclose(losses[::-1], np.diff(values), atol=1e-8)


def test_a_sample_of_pairs_says_about_the_same(model, table, monkeypatch):
    monkeypatch.setattr(wide, "_N_PAIRS", 64)
    similarity = similarity_of(model, table)
    edges = find_hierarchy(model.tree, similarity).edges
    found = SampledCorrelations(table, view_of(model).edge_information).explained(model.tree, edges)
    exact = explained(model.tree, edges, similarity)
    assert not np.array_equal(found, exact)
    np.testing.assert_allclose(found, exact, rtol=0.05)


@pytest.mark.parametrize("weighted", [False, True])
def test_correlations_of_pairs_are_those_of_the_rows(weighted):
    rng = np.random.default_rng(0)
    codes = np.column_stack([rng.integers(0, n, 500) for n in (2, 3, 4, 12, 40)])
    codes[:, 1] = np.where(rng.random(500) < 0.5, codes[:, 0], codes[:, 1])
    codes[rng.random(codes.shape) < 0.1] = -1
    codes[:250, 0], codes[250:, 2] = -1, -1  # never present together
    sizes = dict(zip("abcde", (2, 3, 4, 12, 40), strict=True))
    columns = [latree.Column(name, "integer", tuple(map(str, range(n)))) for name, n in sizes.items()]
    table = latree.Table.from_codes(columns, codes, rng.integers(1, 4, 500).astype(float) if weighted else None)
    pairs = np.array([(i, j) for i in range(5) for j in range(5) if i != j])
    found = SampledCorrelations(table, np.empty(0)).of_pairs(pairs)
    exact = informational_correlation(wide.pairwise(table, wide.information_above_chance))
    np.testing.assert_allclose(found, exact[tuple(pairs.T)], rtol=1e-9)
    assert np.isnan(found).sum() == 2


def test_parts_are_connected_and_have_no_more_columns_than_allowed(model, table, treated_as_wide):
    cutter = wide._WideCutter(model.tree, SampledCorrelations(table, np.empty(0)), view_of(model).edge_information)
    tops = np.setdiff1d(cutter.parts, cutter.whole)
    piece_of = pieces(model.tree, tuple(cutter.edge_above[tops].tolist()))
    sizes = np.bincount(piece_of[:100])
    assert len(tops) > 2
    assert sizes.max() <= 30
    assert sizes.min() >= 2


def test_a_forest_and_columns_without_neighbours_are_cut_like_others(treated_as_wide):
    tree = Tree([f"x{i}" for i in range(15)], [*((i, 15) for i in range(6)), *((i, 16) for i in range(6, 13))])
    model = copying_model(tree, lambda *_: 0.7)
    found = find_groups(model, model.sample(500, random_state=0))
    assert sorted(len(group.columns) for group in found) == [6, 7]
