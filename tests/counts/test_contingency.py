import threading
import time
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.counts import naive_tables, random_table, table_of, weights_of
from latree.counts.contingency import pair_tables, quartet_tables
from latree.errors import InputError
from latree.table import Table


def all_tables(table):
    return pair_tables(table), quartet_tables(table, QUARTETS)


def assert_same(actual, expected, weighted):
    if weighted:
        np.testing.assert_allclose(actual, expected, rtol=1e-12, atol=1e-12)
    else:
        assert actual.dtype == np.int64
        np.testing.assert_array_equal(actual, expected)


QUARTETS = np.array([[0, 1, 2, 3], [3, 0, 4, 1], [4, 3, 2, 0], [1, 1, 2, 1]])


SEEDS = st.integers(0, 10**6)


TABLES = st.builds(random_table, seed=SEEDS, n_rows=st.integers(0, 60), weighted=st.booleans())


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("block_rows", [1, 7, 59, 60, 2048])
def test_counts_equal_naive_loops(monkeypatch, block_rows, weighted):
    monkeypatch.setattr("latree.table.rows.BLOCK_ROWS", block_rows)
    table = random_table(block_rows, weighted=weighted)
    pairs = list(product(range(5), repeat=2))
    naive_pairs = naive_tables(table, pairs, 5)
    assert_same(pair_tables(table), naive_pairs.reshape(5, 5, 5, 5), weighted)
    assert_same(pair_tables(table, np.array(pairs)), naive_pairs, weighted)
    assert_same(quartet_tables(table, QUARTETS), naive_tables(table, QUARTETS, 5), weighted)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("block_rows", [1, 63, 64, 65, 2048])
def test_binary_quartets_equal_naive_loops_however_they_are_shared_out(monkeypatch, block_rows, weighted):
    """Few cells are counted by bits, where rows have no weights."""
    table = random_table(block_rows, n_rows=130, n_states=(2, 2, 2, 2, 2), weighted=weighted)
    expected = naive_tables(table, QUARTETS, 2)
    monkeypatch.setattr("latree.table.rows.BLOCK_ROWS", block_rows)
    assert_same(quartet_tables(table, QUARTETS), expected, weighted)
    for name in ("_NUMBERS_AT_ONCE", "_WORDS_AT_ONCE", "_GROUPS_AT_ONCE"):
        monkeypatch.setattr(f"latree.counts.contingency.{name}", 1)
        assert_same(quartet_tables(table, QUARTETS), expected, weighted)
    monkeypatch.setattr("latree.counts.contingency._FEW_CELLS", 0)
    assert_same(quartet_tables(table, QUARTETS), expected, weighted)


@pytest.mark.parametrize("weight", [3.0, 0.5, 2.0**20 + 1])
def test_weights_of_any_kind_are_counted_exactly(weight):
    """Whole numbers are counted in single precision, where that has them all."""
    table = random_table(0, n_rows=300)
    codes = table.codes()
    weights = weight * (np.arange(300) % 4)
    weighted = Table.from_codes(table.columns, codes, weights)
    for i, j in ((0, 1), (2, 4), (3, 3)):
        counts = pair_tables(weighted)[i, j]
        for x, y in np.ndindex(counts.shape):
            assert counts[x, y] == weights[(codes[:, i] == x) & (codes[:, j] == y)].sum()


def test_tables_are_as_wide_as_the_columns_asked_for():
    table = random_table(0)
    assert_same(pair_tables(table, [[0, 3], [2, 0]]), naive_tables(table, [[0, 3], [2, 0]], 3), weighted=False)
    assert_same(quartet_tables(table, [[0, 3, 0, 2]]), naive_tables(table, [[0, 3, 0, 2]], 3), weighted=False)
    assert len(pair_tables(table, np.empty((0, 2)))) == len(quartet_tables(table, np.empty((0, 4)))) == 0


def test_columns_with_fewer_states_are_padded_with_zeros():
    counts = pair_tables(random_table(1))
    assert counts[0, 4, :2].sum() == counts[0, 4].sum() > 0
    assert counts[1, 3, :4, :2].sum() == counts[1, 3].sum() > 0


def test_many_states():
    table = random_table(2, n_rows=500, n_states=(300, 2, 256))
    pairs = [[0, 2], [1, 0]]
    assert_same(pair_tables(table, pairs), naive_tables(table, pairs, 300), weighted=False)
    assert_same(pair_tables(table)[0, 2], pair_tables(table, pairs)[0], weighted=False)


@pytest.mark.parametrize("weighted", [False, True])
def test_counts_over_many_blocks(weighted):
    table = random_table(3, n_rows=5000, n_states=(2, 3, 2, 3, 2), weighted=weighted)
    for group in QUARTETS:
        present = (table.codes()[:, group] >= 0).all(axis=1)
        total = quartet_tables(table, [group]).sum()
        np.testing.assert_allclose(total, weights_of(table)[present].sum(), rtol=1e-12)
    assert_same(pair_tables(table)[1, 2], pair_tables(table, [[1, 2]])[0], weighted)


@settings(deadline=None)
@given(table=TABLES, seed=SEEDS)
def test_permuting_rows_changes_nothing(table, seed):
    order = np.random.default_rng(seed).permutation(table.n_rows)
    weighted = table.rows.weights is not None
    permuted = table_of(table.codes()[order], table.n_states, table.rows.weights[order] if weighted else None)
    for after, before in zip(all_tables(permuted), all_tables(table), strict=True):
        assert_same(after, before, weighted)


@settings(deadline=None)
@given(table=TABLES, order=st.permutations(range(5)))
def test_permuting_columns_permutes_tables(table, order):
    weighted = table.rows.weights is not None
    permuted = table_of(table.codes()[:, order], table.n_states[order], table.rows.weights)
    assert_same(pair_tables(permuted), pair_tables(table)[np.ix_(order, order)], weighted)
    assert_same(quartet_tables(permuted, QUARTETS), quartet_tables(table, np.array(order)[QUARTETS]), weighted)
    assert_same(
        quartet_tables(table, QUARTETS[:, [1, 0, 3, 2]]).transpose(0, 2, 1, 4, 3), all_tables(table)[1], weighted
    )


@settings(deadline=None)
@given(table=TABLES, block_rows=st.integers(1, 70))
def test_splitting_rows_into_other_blocks_changes_nothing(table, block_rows):
    before = all_tables(table)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("latree.table.rows.BLOCK_ROWS", block_rows)
        after = all_tables(table)
    for one, other in zip(after, before, strict=True):
        assert_same(one, other, table.rows.weights is not None)


@pytest.mark.parametrize(
    "count",
    [
        pair_tables,
        lambda table: pair_tables(table, [[0, 1], [1, 2]]),
        lambda table: quartet_tables(table, [[0, 1, 2, 3]]),
    ],
    ids=["all pairs", "some pairs", "quartets"],
)
def test_tables_that_are_too_large_are_refused(monkeypatch, count):
    table = random_table(4, n_states=(2, 3, 9, 2))
    monkeypatch.setattr("latree.counts.contingency.MAX_CELLS", 100)
    with pytest.raises(
        InputError,
        match=r"^column 'c2' has 9 states: contingency tables of .* cells would not fit in memory; merge .*$",
    ):
        count(table)


def test_a_quartet_of_200_states_is_refused_at_once():
    with pytest.raises(InputError, match=r"^column 'c0' has 200 states: contingency tables of 1.6e\+09 cells"):
        quartet_tables(random_table(5, n_rows=3, n_states=(200,) * 4), [[0, 1, 2, 3]])


@pytest.mark.parametrize("n_states", [2, 255, 256])
def test_negative_codes_are_missing_and_no_state_is(n_states):
    table = table_of([[0], [-1], [-9], [n_states - 1]], [n_states])
    assert table.codes().tolist() == [[0], [-1], [-1], [n_states - 1]]
    assert table.n_missing.tolist() == [2]


def test_map_keeps_the_order_of_rows(monkeypatch):
    def slow_for_early_rows(block):
        time.sleep(0.01 if block.codes[0, 0] < 20 else 0)
        return block.codes[:, 0].astype(int)

    monkeypatch.setattr("latree.table.rows.BLOCK_ROWS", 7)
    monkeypatch.setattr("latree._util.workers.n_threads", lambda: 4)
    assert table_of(np.arange(100)[:, None], [100]).map(slow_for_early_rows).tolist() == list(range(100))


def test_sums_do_not_depend_on_threads(monkeypatch):
    table = random_table(6, n_rows=20_000, weighted=True)
    workers, results = [], []

    def statistic(block):
        workers[-1].add(threading.current_thread())
        return block.weights @ np.sqrt(block.codes), np.array(len(block.codes))

    for threads in (1, 2, 7):
        workers.append(set())
        monkeypatch.setattr("latree._util.workers.n_threads", lambda threads=threads: threads)
        results.append(table.sum(statistic))
    for total, n_rows in results:
        np.testing.assert_array_equal(total, results[0][0])
        assert n_rows == 20_000
    assert [threading.main_thread() in used for used in workers] == [True, False, False]


@pytest.mark.parametrize("block_rows", [1, 7, 50, 99, 100, 5000])
def test_sums_of_integers_do_not_depend_on_blocks(monkeypatch, block_rows):
    def statistic(block):
        return np.bincount(block.codes[:, 1], minlength=100), block.codes.sum(axis=0, dtype=int)

    monkeypatch.setattr("latree.table.rows.BLOCK_ROWS", block_rows)
    table = table_of(np.column_stack([np.arange(100)] * 2), [100, 100])
    counts, total = table.sum(statistic)
    assert counts.tolist() == table.sum(lambda block: statistic(block)[0]).tolist() == [1] * 100
    assert total.tolist() == [4950, 4950]
    assert table_of(np.empty((0, 2), int), [2, 2]).sum(lambda block: block.codes.sum(axis=0)).tolist() == [0, 0]
