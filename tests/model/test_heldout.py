"""Rows that are held out."""

import numpy as np
import pytest

from latree.model.heldout import FEW_ROWS, held_out
from latree.table import Column, Table


def numbered(n_rows, weights=None):
    """A table that shows of every row which one it is, in digits."""
    columns = [Column(name, "integer", tuple(map(str, range(50)))) for name in "abc"]
    codes = np.array(np.unravel_index(np.arange(n_rows), (50, 50, 50))).T
    return Table.from_codes(columns, codes, weights)


def numbers(table):
    return np.ravel_multi_index(table.codes().T, (50, 50, 50)).tolist()


@pytest.mark.parametrize("n_rows", [2, 3, 7, 200, FEW_ROWS - 1])
def test_every_one_of_few_rows_is_judged_once(n_rows):
    parts = held_out(numbered(n_rows), np.random.default_rng(0))
    assert len(parts) == min(6, n_rows)
    for part in parts:
        assert sorted(numbers(part.fitted) + numbers(part.judged)) == list(range(n_rows))
        assert abs(len(numbers(part.judged)) - n_rows / len(parts)) < 2
    assert sorted(row for part in parts for row in numbers(part.judged)) == list(range(n_rows))


def neighbours(part):
    """How many judged rows follow right after another."""
    return int(np.sum(np.diff(numbers(part.judged)) == 1))


def test_half_of_the_judged_rows_are_stretches_of_neighbours():
    parts = held_out(numbered(600), np.random.default_rng(0))
    assert [neighbours(part) == 99 for part in parts] == [True] * 3 + [False] * 3
    (part,) = held_out(numbered(5000), np.random.default_rng(0))
    assert part.judged.n_rows == 1000
    assert 497 <= neighbours(part) < 650


def test_of_many_rows_a_fifth_is_judged_and_of_very_many_no_more_than_are_needed():
    (part,) = held_out(numbered(FEW_ROWS), np.random.default_rng(0))
    assert (part.fitted.n_rows, part.judged.n_rows) == (FEW_ROWS * 4 // 5, FEW_ROWS // 5)
    assert sorted(numbers(part.fitted) + numbers(part.judged)) == list(range(FEW_ROWS))
    assert numbers(part.judged) == sorted(numbers(part.judged)) != list(range(FEW_ROWS // 5))
    (part,) = held_out(numbered(60_000), np.random.default_rng(0))
    assert (part.fitted.n_rows, part.judged.n_rows) == (40_000, 10_000)
    assert not set(numbers(part.fitted)) & set(numbers(part.judged))


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
