"""Whether the two sides of an edge are independent, in the rows alone."""

import tracemalloc

import numpy as np
import pytest
from scipy import stats

from helpers.models import grouped_model, holes, table_of
from helpers.search import all_of
from latree.counts.distances import gamma_tail
from latree.search import independence
from latree.search.independence import SideTest, combined, sides
from latree.table import Block
from latree.tree import Tree

SIDE = np.arange(8) < 4


def two_sides(seed, n_rows=120, dependent=False):
    """Rows of two groups of columns, each of which is strongly dependent; the groups may be, too."""
    return grouped_model((4, 4), strength=0.9, between=0.6, top=dependent).sample(n_rows, seed)


def bits(side):
    return sum(1 << column for column in np.flatnonzero(side).tolist())


def whole(side):
    """Both sides as the test wants them, without subtrees."""
    return [(bits(side), 0)], [(bits(~side), 0)]


def p_value(table, side=SIDE, weights=None):
    block = all_of(table)
    return SideTest(Block(block.codes, weights), table.n_states).p_value(*whole(side))


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
    for seed in range(100):
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
    assert SideTest(Block(codes, None), np.full(8, 4)).p_value(*whole(SIDE)) < 1e-6


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


def test_the_sides_can_be_named_either_way():
    table = two_sides(1)
    tested = SideTest(all_of(table), table.n_states)
    mixed = np.arange(8) % 2 == 0
    assert tested.p_value(*whole(SIDE)) == pytest.approx(tested.p_value(*whole(~SIDE)))
    assert tested.p_value(*whole(mixed)) < 1e-6  # half of each group
    assert tested.p_value(*whole(SIDE)) > 1e-3


def test_weights_count_like_repeated_rows():
    table = two_sides(2, dependent=True)
    codes = all_of(table).codes
    times = np.random.default_rng(0).integers(0, 4, size=len(codes))
    weighted = SideTest(Block(codes, times.astype(float)), table.n_states).p_value(*whole(SIDE))
    repeated = SideTest(Block(np.repeat(codes, times, axis=0), None), table.n_states).p_value(*whole(SIDE))
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
        found.append(tested.p_value(*whole(np.array([True, True, True, False, False]))))
    check_uniform(found)


CHAIN = Tree("abcdef", [(0, 6), (1, 6), (6, 7), (2, 7), (3, 7), (7, 8), (4, 8), (5, 8)])


def test_subtrees_of_both_sides_are_tested_down_to_three_edges():
    assert [sorted(side) for side in sides(CHAIN, 2)] == [
        [(1, 1), (2, 1), (3, 0)],
        [(4, 1), (8, 1), (16, 2), (32, 2), (48, 1), (60, 0)],
    ]
    assert [side[0] for side in sides(CHAIN, 2)] == [(3, 0), (60, 0)]  # whole sides come first
    caterpillar = Tree("abcdef", [(0, 6), (1, 6), (6, 7), (2, 7), (7, 8), (3, 8), (8, 9), (4, 9), (9, 10), (5, 10)])
    assert max(distance for side in sides(caterpillar, 2) for _, distance in side) == 3


def test_what_columns_have_in_common_is_seen_better():
    """Columns of ten states that say little about a hidden variable of two, in twenty tables."""
    model = grouped_model((4, 4), strength=0.3, between=0.5, hidden_states=2, column_states=10)
    seen = np.zeros(2)
    for seed in range(20):
        table = model.sample(500, seed)
        tested = SideTest(all_of(table), table.n_states)
        one, other = tested._indicators[table_rows(table, SIDE)], tested._indicators[table_rows(table, ~SIDE)]
        found = tested.p_value(*whole(SIDE)), hilbert_schmidt(one, other, table.n_rows)
        seen += np.array(found) < 0.01
    assert seen[0] > seen[1] + 5


def table_rows(table, side):
    return np.repeat(side, table.n_states)


def hilbert_schmidt(one, other, n_rows):
    """The test without principal components, by its definition."""
    own = [part @ part.T for part in (one, other)]
    mean = np.trace(own[0]) * np.trace(own[1]) / n_rows
    variance = 2 * (own[0] ** 2).sum() * (own[1] ** 2).sum() / n_rows**2
    statistic = ((one @ other.T) ** 2).sum()
    return stats.gamma.sf(statistic, mean**2 / variance, scale=variance / mean)


@pytest.mark.parametrize("most", [0, 13])
def test_columns_of_very_many_states_are_tested_as_they_are(monkeypatch, most):
    """As by the definition, for lack of time for principal components; one side alone may have so many."""
    monkeypatch.setattr(independence, "_MOST_STATES", most)
    table, side = two_sides(5), np.arange(8) < 3
    tested = SideTest(all_of(table), table.n_states)
    one, other = tested._indicators[table_rows(table, side)], tested._indicators[table_rows(table, ~side)]
    expected = hilbert_schmidt(one, other, table.n_rows)
    assert tested.p_value(*whole(side)) == pytest.approx(expected, rel=0.25)
    monkeypatch.setattr(independence, "gamma_tail", lambda *found: gamma_tail(*found[:3], np.zeros_like(found[0])))
    assert tested.p_value(*whole(side)) == pytest.approx(expected, rel=1e-6)


def test_columns_that_have_nothing_in_common_are_tested_as_they_are():
    """All four pairs of states of two columns, equally often: principal components of nothing."""
    codes = np.array([[0, 0, 0], [0, 1, 0], [1, 0, 0], [1, 1, 0]] * 10, dtype=np.uint8)
    codes[::2, 2] = 1
    tested = SideTest(Block(codes, None), np.full(3, 2))
    assert tested._part(0b011) is None
    assert 0 <= tested.p_value([(0b011, 0), (0b01, 1)], [(0b100, 0)]) <= 1


def test_the_memory_for_many_columns_is_bounded():
    """Ten states each, so that a matrix of all pairs of states would have 200 MB."""
    rng = np.random.default_rng(0)
    codes = rng.integers(10, size=(60, 500)).astype(np.uint8)
    tracemalloc.start()
    tested = SideTest(Block(codes, None), np.full(500, 10))
    assert tested.p_value(*whole(np.arange(500) < 250)) > 1e-3
    assert tracemalloc.get_traced_memory()[1] < 60e6
    tracemalloc.stop()


@pytest.mark.parametrize("share", [0.02, 0.05])
def test_p_values_of_sides_of_rare_columns_are_honest(share):
    """Rare states that depend on each other within each side; a count of few rows has a long tail."""
    found = []
    for seed in range(400):
        rng = np.random.default_rng(seed)
        both = [rng.random((200, 1)) < share for _ in range(2)]
        columns = [shared & (rng.random((200, 3)) < 0.7) | (rng.random((200, 3)) < 0.01) for shared in both]
        codes = np.hstack(columns).astype(np.uint8)
        found.append(SideTest(Block(codes, None), np.full(6, 2)).p_value(*whole(np.arange(6) < 3)))
    assert np.mean(np.array(found) < 0.01) < 0.025
    assert np.mean(np.array(found) < 0.001) < 0.01


def test_what_columns_have_in_common_is_the_covariance_between_different_ones():
    table = two_sides(7)
    tested = SideTest(all_of(table), table.n_states)
    part = tested._part(bits(SIDE))
    own = tested._indicators[part.states] @ tested._indicators[part.states].T
    between = own * (1 - np.kron(np.eye(4), np.ones((4, 4))))
    values, vectors = np.linalg.eigh(between)
    assert part.views @ part.views.T == pytest.approx(vectors @ np.diag(np.maximum(values, 0)) @ vectors.T)


def test_a_dependent_subtree_is_seen_among_others():
    """One column of a side follows one of the other: with subtrees, its p-value is combined with those of the rest."""
    table = two_sides(0, n_rows=500)
    codes = table.codes()
    follows = np.random.default_rng(1).random(500) < 0.25
    codes[follows, 3] = codes[follows, 4]
    tested = SideTest(all_of(table_of(grouped_model((4, 4)), codes)), table.n_states)
    sides = [
        [(bits(side), 0), *((1 << column, 1) for column in np.flatnonzero(side).tolist())] for side in (SIDE, ~SIDE)
    ]
    assert tested.p_value(*sides) < tested.p_value(*whole(SIDE)) / 3


@pytest.mark.parametrize("correlation", [0.0, 0.7])
def test_combined_p_values_are_honest_however_they_depend_on_each_other(correlation):
    rng = np.random.default_rng(0)
    shared = rng.standard_normal((4000, 1)) * np.sqrt(correlation)
    p_values = stats.norm.sf(shared + rng.standard_normal((4000, 6)) * np.sqrt(1 - correlation))
    found = np.array([combined(row, np.arange(1.0, 7.0)) for row in p_values])
    assert 0.005 < np.mean(found < 0.01) < 0.016
    assert 0.035 < np.mean(found < 0.05) < 0.07


def test_combined_p_values():
    assert combined(np.array([0.03]), np.ones(1)) == pytest.approx(0.03)
    assert combined(np.array([0.2, 0.2]), np.array([1.0, 5.0])) == pytest.approx(0.2)
    assert combined(np.array([1e-9, 1.0]), np.ones(2)) == pytest.approx(2e-9, rel=1e-3)
    assert combined(np.array([1e-4, 0.5]), np.array([3.0, 1.0])) == pytest.approx(1e-4 * 4 / 3, rel=1e-3)


def test_subtrees_count_less_the_farther_they_are_from_the_edge():
    """A subtree at a distance of one edge weighs half as much as the side."""
    table = two_sides(6)
    tested = SideTest(all_of(table), table.n_states)
    (one,), (other,) = whole(SIDE)
    both = tested.p_value([one, (0b0011, 1)], [other])
    apart = [tested.p_value([(side, 0)], [other]) for side in (one[0], 0b0011)]
    assert both == pytest.approx(combined(np.array(apart), np.array([2.0, 1.0])))
