"""Rows that are held out."""

import numpy as np
import pytest

from latree.model.fitting import FEW_ROWS, cost_of_order, held_out
from latree.table import Column, Table


def numbered(n_rows, weights=None):
    """A table that shows of every row which one it is, in digits."""
    columns = [Column(name, "integer", tuple(map(str, range(50)))) for name in "abc"]
    codes = np.array(np.unravel_index(np.arange(n_rows), (50, 50, 50))).T
    return Table.from_codes(columns, codes, weights)


def numbers(table):
    return np.ravel_multi_index(table.codes().T, (50, 50, 50)).tolist()


def shuffled(table, seed=0):
    return table.take(np.random.default_rng(seed).permutation(table.n_rows))


@pytest.mark.parametrize("order", [lambda table: table, shuffled])
@pytest.mark.parametrize("n_rows", [2, 3, 7, 200, FEW_ROWS - 1])
def test_every_one_of_few_rows_is_judged_once(n_rows, order):
    parts = held_out(order(numbered(n_rows)), np.random.default_rng(0))
    assert len(parts) == min(6, n_rows)
    for part in parts:
        assert sorted(numbers(part.fitted) + numbers(part.judged)) == list(range(n_rows))
        assert abs(len(numbers(part.judged)) - n_rows / len(parts)) < 2
    assert sorted(row for part in parts for row in numbers(part.judged)) == list(range(n_rows))


def neighbours(part):
    """How many judged rows follow right after another."""
    return int(np.sum(np.diff(numbers(part.judged)) == 1))


@pytest.mark.parametrize("n_rows", [600, 6000])
def test_half_of_the_rows_of_a_sorted_table_are_judged_in_stretches_of_a_sixth(n_rows):
    """However many they are: a short stretch lies inside a block of rows that the fit still sees."""
    parts = held_out(numbered(n_rows), np.random.default_rng(0))
    assert [neighbours(part) == n_rows // 6 - 1 for part in parts] == [True] * 3 + [False] * 3
    assert sorted(row for part in parts for row in numbers(part.judged)) == list(range(n_rows))


@pytest.mark.parametrize("n_rows", [600, 6000])
def test_rows_in_an_order_that_does_not_matter_are_judged_at_random(n_rows):
    parts = held_out(shuffled(numbered(n_rows)), np.random.default_rng(0))
    assert len(parts) == (6 if n_rows < FEW_ROWS else 1)
    for part in parts:
        assert neighbours(part) < 0.3 * part.judged.n_rows
    for other in (shuffled(numbered(n_rows), 1), shuffled(numbered(n_rows, np.ones(n_rows)), 2)):
        again = held_out(other, np.random.default_rng(0))
        assert [numbers(part.judged) for part in again] == [numbers(part.judged) for part in parts]


def test_counts_are_repeated_rows_without_an_order():
    """A table of frequencies is sorted, and its copies of a row stand together: that is no order of rows."""
    counts = 1 + np.arange(300) % 4 * 3
    counted = held_out(numbered(300, counts.astype(float)), np.random.default_rng(0))
    table = numbered(300)
    repeated = held_out(shuffled(table.take(np.repeat(np.arange(300), counts))), np.random.default_rng(0))
    for one, other in zip(counted, repeated, strict=True):
        assert numbers(one.judged) == numbers(other.judged)
        assert numbers(one.fitted) == numbers(other.fitted)
        assert one.fitted.total_weight == one.fitted.n_rows


def test_of_many_rows_a_fifth_is_judged_and_of_very_many_no_more_than_are_needed():
    (part,) = held_out(shuffled(numbered(FEW_ROWS)), np.random.default_rng(0))
    assert (part.fitted.n_rows, part.judged.n_rows) == (FEW_ROWS * 4 // 5, FEW_ROWS // 5)
    assert sorted(numbers(part.fitted) + numbers(part.judged)) == list(range(FEW_ROWS))
    assert numbers(part.judged) == sorted(numbers(part.judged)) != list(range(FEW_ROWS // 5))
    (part,) = held_out(shuffled(numbered(60_000)), np.random.default_rng(0))
    assert (part.fitted.n_rows, part.judged.n_rows) == (40_000, 10_000)
    assert not set(numbers(part.fitted)) & set(numbers(part.judged))


@pytest.mark.parametrize(("n_columns", "n_judged"), [(100, 6), (400, 3), (1000, 2), (1250, 1)])
def test_the_more_columns_few_rows_have_the_fewer_parts_are_judged(n_columns, n_judged):
    """So many that they have 40,000 nats together; a sixth of 300 rows of 1000 fair coins has 34,657."""
    table = drawn(np.random.default_rng(0).integers(0, 2, (300, n_columns)))
    parts = held_out(table, np.random.default_rng(0))
    assert len(parts) == n_judged
    for part in parts:
        assert (part.fitted.n_rows, part.judged.n_rows) == (250, 50)


def drawn(codes, weights=None):
    columns = [Column(f"x{j}", "integer", ("0", "1", "2")) for j in range(codes.shape[1])]
    return Table.from_codes(columns, codes, weights)


@pytest.mark.parametrize("n_rows", [60, 1000, 20_000])
@pytest.mark.parametrize("alike", [0.0, 1.0])
def test_chance_makes_no_order(n_rows, alike):
    """Not even where all columns say the same, so that chance in one of them is chance in all."""
    for seed in range(10):
        rng = np.random.default_rng(seed)
        same = rng.random((n_rows, 5)) < alike
        codes = np.where(same, rng.integers(0, 3, (n_rows, 1)), rng.integers(0, 3, (n_rows, 5)))
        codes[rng.random(codes.shape) < 0.1] = -1
        assert cost_of_order(drawn(codes)) == 0
        assert cost_of_order(drawn(np.repeat(codes, 2, axis=0))) == 0


def test_what_an_order_costs():
    """Half of a state's rows are held out with each sixth of a column of three sorted states: P is 1/5, not 1/3."""
    codes = np.random.default_rng(0).integers(0, 3, (3000, 2))
    codes[:, 0] = np.sort(codes[:, 0])
    assert cost_of_order(drawn(codes)) == pytest.approx(np.log(5 / 3), abs=0.02)
    assert cost_of_order(drawn(codes, np.full(3000, 0.5))) == pytest.approx(np.log(5 / 3), abs=0.02)
    assert cost_of_order(drawn(codes, np.full(3000, 2.0))) == 0
    assert cost_of_order(drawn(codes[np.random.default_rng(1).permutation(3000)])) == 0


def test_days_that_are_like_the_days_before_are_in_an_order():
    rng = np.random.default_rng(0)
    level = np.cumsum(rng.normal(0, 0.05, 3000))
    assert cost_of_order(drawn(np.digitize(level[:, None] + rng.normal(0, 1, (3000, 6)), [-1, 1]))) > 0.05


def test_rows_without_weight_are_held_out_from_everything():
    weights = np.arange(300) % 3 * 1.5
    parts = held_out(numbered(300, weights), np.random.default_rng(0))
    assert sorted(row for part in parts for row in numbers(part.judged)) == np.flatnonzero(weights).tolist()
    for part in parts:
        assert not set(numbers(part.fitted)) & set(numbers(part.judged))
        for table in (part.fitted, part.judged):
            kept = table.map(lambda block: block.weights)
            np.testing.assert_array_equal(kept, weights[numbers(table)])
            assert kept.min() > 0
    some = held_out(numbered(3000, (np.arange(3000) < 500).astype(float)), np.random.default_rng(0))
    assert len(some) == 6  # few rows are few however many more have no weight


def test_the_seed_decides_which_rows_are_held_out():
    judged = [[numbers(p.judged) for p in held_out(numbered(100), np.random.default_rng(s))] for s in (1, 1, 2)]
    assert judged[0] == judged[1] != judged[2]
