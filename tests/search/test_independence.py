"""Whether the two sides of an edge are independent: by a fitted model, and by the rows alone."""

import numpy as np
import pytest
from scipy import stats

from helpers.models import grouped_model, holes, table_of
from helpers.search import all_of
from latree import as_table
from latree.counts.distances import chance, pairwise_all
from latree.search import independence
from latree.search.edges import EdgeTest
from latree.search.independence import Independence, SideTest
from latree.table import Block
from latree.tree import Tree

SIDE = np.arange(8) < 4


def two_sides(seed, n_rows=120, dependent=False):
    """Rows of two groups of columns, each of which is strongly dependent; the groups may be, too."""
    return grouped_model((4, 4), strength=0.9, between=0.6, top=dependent).sample(n_rows, seed)


def p_value(table, side=SIDE, weights=None):
    block = all_of(table)
    return SideTest(Block(block.codes, weights), table.n_states).p_value(side)


def check_uniform(values):
    """Wide margins: each of these fails for one of a thousand seeds or so."""
    values = np.array(values)
    assert 0.42 < values.mean() < 0.58
    assert 0.03 < (values < 0.1).mean() < 0.18
    assert (values < 0.01).mean() < 0.05
    assert stats.kstest(values, "uniform").pvalue > 1e-3


def test_p_values_of_independent_sides_are_uniform():
    check_uniform([p_value(two_sides(seed)) for seed in range(200)])


def test_p_values_are_uniform_with_missing_cells():
    found = []
    for seed in range(200):
        table = two_sides(seed)
        found.append(p_value(table_of(grouped_model((4, 4)), holes(table.codes(), seed))))
    check_uniform(found)


def test_cells_that_are_missing_in_the_same_rows_show_little_dependence():
    """The test counts rows of missing cells like others, so that p-values are a little too small."""
    found = []
    for seed in range(200):
        codes = two_sides(seed).codes()
        codes[np.random.default_rng(seed).random(len(codes)) < 0.4, 1:7] = -1
        found.append(p_value(table_of(grouped_model((4, 4)), codes)))
    assert np.mean(found) > 0.3
    assert np.mean(np.array(found) < 0.01) < 0.1


def test_every_column_counts_the_same():
    """Two columns with a rare state that they share, among others with much more variance."""
    rng = np.random.default_rng(0)
    codes = rng.integers(4, size=(500, 8)).astype(np.uint8)
    codes[:, 0] = codes[:, 7] = np.arange(500) < 10
    assert SideTest(Block(codes, None), np.full(8, 4)).p_value(SIDE) < 1e-6


def test_p_values_are_uniform_for_sides_of_different_sizes():
    found = []
    for seed in range(200):
        table = grouped_model((2, 7), strength=0.8, top=False).sample(150, seed)
        found.append(p_value(table, np.arange(9) < 2))
    check_uniform(found)


@pytest.mark.parametrize("share", [0.0, 0.3])
def test_dependent_sides_have_small_p_values(share):
    for seed in range(20):
        table = two_sides(seed, n_rows=400, dependent=True)
        table = table_of(grouped_model((4, 4)), holes(table.codes(), seed, share))
        assert p_value(table) < 1e-4


def test_one_dependent_pair_is_enough_with_many_rows():
    """The fourth column follows the fifth a little; all others are independent across the sides."""
    table = two_sides(0, n_rows=3000)
    codes = table.codes()
    follows = np.random.default_rng(0).random(3000) < 0.3
    codes[follows, 3] = codes[follows, 4]
    assert p_value(table) > 0.01
    assert p_value(table_of(grouped_model((4, 4)), codes)) < 1e-4


def closest_pair(table, side=SIDE):
    return SideTest(all_of(table), table.n_states).closest_pair(side)


def test_the_closest_pair_is_that_of_all_pairs_of_columns():
    """As the learner's matrix of pairs has it (up to a row less), for columns with different numbers of states."""
    rng, side = np.random.default_rng(1), np.array([True, False, True, False, False])
    codes = np.stack([rng.integers(n, size=300) for n in (2, 3, 5, 2, 4)], axis=1)
    codes[:30, 1] = codes[:30, 2] % 3
    table = as_table(codes)
    (pairs,) = pairwise_all(table, [chance])
    assert closest_pair(table, side) == pytest.approx(pairs[side][:, ~side].min() * 6, rel=0.04)
    assert closest_pair(table, side) == pytest.approx(closest_pair(table, ~side))


def test_the_closest_pair_of_independent_sides_is_seldom_close():
    found = np.array([closest_pair(two_sides(seed)) for seed in range(200)])
    assert np.mean(found < 0.1) < 0.12
    assert np.mean(found < 0.01) < 0.03
    assert np.mean(found < 0.5) > 0.1


def test_a_dependent_pair_among_many_columns_keeps_an_edge(monkeypatch):
    """Two columns, one of which follows one of sixty others: a test of all of them hardly notices."""
    rng = np.random.default_rng(0)
    codes = rng.integers(3, size=(1000, 62)).astype(np.uint8)
    follows = rng.random(1000) < 0.2
    codes[follows, 1] = codes[follows, 2 + 5]
    block = Block(codes, None)
    edges = [(0, 62), (1, 62), (62, 63), *((column, 63) for column in range(2, 62))]
    tree, tests = Tree([f"x{column}" for column in range(62)], edges), [EdgeTest(0, 1.0)]
    assert SideTest(block, np.full(62, 3)).p_value(np.arange(62) < 2) > 0.01
    assert Independence(block, np.full(62, 3)).edges(tree, [2], tests) == []
    monkeypatch.setattr(independence, "_CHANCE", 0.0)
    assert Independence(block, np.full(62, 3)).edges(tree, [2], tests) == [2]


def test_the_sides_can_be_named_either_way():
    table = two_sides(1)
    tested = SideTest(all_of(table), table.n_states)
    assert tested.p_value(SIDE) == pytest.approx(tested.p_value(~SIDE))
    assert tested.p_value(SIDE) != pytest.approx(tested.p_value(np.arange(8) % 2 == 0))
    assert tested.p_value(np.arange(8) % 2 == 0) < 1e-6  # half of each group


def test_weights_count_like_repeated_rows():
    table = two_sides(2, dependent=True)
    codes = all_of(table).codes
    times = np.random.default_rng(0).integers(0, 4, size=len(codes))
    weighted = SideTest(Block(codes, times.astype(float)), table.n_states).p_value(SIDE)
    repeated = SideTest(Block(np.repeat(codes, times, axis=0), None), table.n_states).p_value(SIDE)
    assert weighted == pytest.approx(repeated)
    once = p_value(table)
    assert p_value(table, weights=np.ones(len(codes))) == pytest.approx(once)
    assert p_value(table, weights=np.full(len(codes), 3.0)) < once


def test_columns_that_say_nothing_change_nothing():
    """A constant column, and one all of whose cells are missing."""
    table = two_sides(3)
    codes, model = table.codes(), grouped_model((5, 5))
    more = np.hstack([codes, np.zeros((len(codes), 1), dtype=int), np.full((len(codes), 1), -1)])
    side = np.append(SIDE, [True, False])
    assert p_value(table_of(model, more), side) == pytest.approx(p_value(table))


def test_numbers_of_states_may_differ():
    rng = np.random.default_rng(4)
    found = []
    for _ in range(200):
        one, other = rng.integers(6, size=100), rng.integers(6, size=100)
        codes = np.stack([one, one // 2, one % 2, other, other // 3], axis=1).astype(np.uint8)
        tested = SideTest(Block(codes, None), np.array([6, 3, 2, 6, 2]))
        found.append(tested.p_value(np.array([True, True, True, False, False])))
    check_uniform(found)


CHAIN = Tree("abcdef", [(0, 6), (1, 6), (6, 7), (2, 7), (3, 7), (7, 8), (4, 8), (5, 8)])


def found_edges(monkeypatch, p_value, *dependences):
    """What is independent in a chain of three hidden variables, where rows alone have a p-value."""
    monkeypatch.setattr(SideTest, "p_value", lambda self, side: p_value)
    rows = Block(np.zeros((4, 6), dtype=np.uint8), None)
    return Independence(rows, np.full(6, 2)).edges(CHAIN, [2, 5], [EdgeTest(50, value) for value in dependences])


def test_edges_are_independent_by_both_questions(monkeypatch):
    """Little dependence and a large p-value, or next to none and a p-value that is not very small."""
    assert found_edges(monkeypatch, 0.5, 6, 8) == [2]
    assert found_edges(monkeypatch, 0.12, 8, 6) == [5]
    assert found_edges(monkeypatch, 0.08, 6, 1) == [5]
    assert found_edges(monkeypatch, 0.012, 3, 1.5) == [5]
    assert found_edges(monkeypatch, 0.008, -5, 1) == []


def test_edges_with_a_dependent_pair_across_them_stay(monkeypatch):
    for closest, gone in ((0.8e-4, []), (1.2e-4, [2])):
        monkeypatch.setattr(SideTest, "closest_pair", lambda self, side, closest=closest: closest)
        assert found_edges(monkeypatch, 0.5, 1, 8) == gone


def test_edges_that_were_clear_in_the_first_tree_are_never_cut(monkeypatch):
    monkeypatch.setattr(SideTest, "p_value", lambda self, side: 0.9)
    for first, later in ((17.0, [2]), (19.0, [])):
        sides = Independence(Block(np.zeros((4, 6), dtype=np.uint8), None), np.full(6, 2))
        assert sides.doubtful(CHAIN, [2, 5]) == [2, 5]
        assert sides.edges(CHAIN, [2, 5], [EdgeTest(0, first), EdgeTest(0, 100)]) == []
        assert sides.doubtful(CHAIN, [2, 5]) == later
        assert sides.edges(CHAIN, later, [EdgeTest(0, 1)] * len(later)) == later


def test_a_split_is_recognised_in_what_a_cut_leaves(monkeypatch):
    """After a cut, the same edge divides a smaller component."""
    monkeypatch.setattr(SideTest, "p_value", lambda self, side: 0.9)
    sides = Independence(Block(np.zeros((4, 6), dtype=np.uint8), None), np.full(6, 2))
    assert sides.edges(CHAIN, [2, 5], [EdgeTest(0, 10), EdgeTest(0, 1)]) == [5]
    left = CHAIN.cut([5])
    edge = left.edges.tolist().index([6, 7])
    assert sides.doubtful(left, [edge]) == [edge]
    assert sides.edges(left, [edge], [EdgeTest(0, 1)]) == [edge]


def test_the_side_of_an_edge_is_what_is_tested(monkeypatch):
    asked = []
    monkeypatch.setattr(SideTest, "p_value", lambda self, side: asked.append(side.tolist()) or 0.0)
    sides = Independence(Block(np.zeros((4, 6), dtype=np.uint8), None), np.full(6, 2))
    sides.edges(CHAIN, [2], [EdgeTest(0, 1)])
    assert asked[0] in ([True] * 2 + [False] * 4, [False] * 2 + [True] * 4)


def test_rows_are_not_asked_where_dependence_is_clear(monkeypatch):
    monkeypatch.setattr(independence, "SideTest", None)
    sides = Independence(Block(np.zeros((4, 6), dtype=np.uint8), None), np.full(6, 2))
    assert sides.edges(CHAIN, [2, 5], [EdgeTest(0, 8), EdgeTest(0, 40)]) == []
