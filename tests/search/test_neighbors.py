"""Neighbours of hidden variables: messages arranged for fits, in double and in single precision."""

import numpy as np
import pytest

from helpers.search import KINDS, random_pair, random_star
from latree.search import neighbors
from latree.search.local import fit
from latree.search.neighbors import precision_for, small_fits

N_ROWS = 300


def models(n_rows=N_ROWS):
    """A star and a pair with neighbours of every kind, several of them of the same size, and one with very many."""
    rng = np.random.default_rng(0)
    yield random_star((*KINDS, "soft", "soft", "hard"), (2, 3, 3, 3, 2, 4), 3, rng, n_rows)
    yield random_pair((KINDS, ("soft", "soft", "missing")), ((2, 3, 4), (3, 3, 2)), (3, 2), rng, n_rows)
    yield random_star(("soft", "hard") * 30, (3, 2) * 30, 3, rng, n_rows)


@pytest.mark.parametrize("model", list(models()))
def test_single_precision_hardly_changes_a_fit(model, monkeypatch):
    weights = np.random.default_rng(1).exponential(size=N_ROWS)
    double = fit(model, weights, smoothing=1.0, max_iter=8)
    monkeypatch.setattr(neighbors, "_MANY_ROWS", N_ROWS)
    single = fit(model, weights, smoothing=1.0, max_iter=8)
    assert single.rows.dtype == float
    assert 0 < abs(single.rows - double.rows).max() < 1e-3
    assert abs(weights @ (single.rows - double.rows)) < 0.01
    for one, other in zip(single.model.tables, double.model.tables, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-4)


def test_only_many_rows_have_single_precision():
    assert precision_for(np.ones(999)) == np.float64
    assert precision_for(np.ones(1000)) == np.float32


def test_states_that_are_nearly_impossible_stay_finite_in_single_precision(monkeypatch):
    """Neighbours contradict each other so much that products of plain numbers would be zero."""
    monkeypatch.setattr(neighbors, "_MANY_ROWS", 1)
    rng = np.random.default_rng(2)
    star = random_star(("hard", "soft") * 20, (2,) * 40, 2, rng)
    certain = tuple(np.array([[1 - 1e-6, 1e-6], [1e-6, 1 - 1e-6]]) for _ in star.tables)
    found = fit(type(star)(star.messages, star.prior, certain), np.ones(40), smoothing=0.01, max_iter=4)
    assert np.isfinite(found.rows).all()
    assert all(np.isfinite(table).all() for table in found.model.tables)


@pytest.mark.parametrize("least", [-1.0, -5.0, -100.0, -np.inf])
def test_parts_have_no_sum_below_the_least(least):
    numbers = (-10 * np.random.default_rng(3).random(20)).tolist()
    parts = neighbors._parts(numbers, least)
    assert [number for part in parts for number in numbers[part]] == numbers
    sums = [sum(numbers[part]) for part in parts]
    assert all(total >= least or part.stop - part.start == 1 for total, part in zip(sums, parts, strict=True))
    if least == -np.inf:
        assert len(parts) == 1
    # No part could be longer.
    assert all(sums[i] + numbers[parts[i + 1].start] < least for i in range(len(parts) - 1))


def test_messages_are_arranged_once_and_forgotten_after_a_search():
    star = next(models())
    neighbors._arranged.cache_clear()
    with small_fits():
        for smoothing in (0.5, 1.0):
            fit(star, np.ones(N_ROWS), smoothing=smoothing, max_iter=1)
        assert neighbors._arranged.cache_info().misses == 1
        assert neighbors._arranged.cache_info().hits == 1
        # Equal messages that are not the same objects are arranged again.
        fit(next(models()), np.ones(N_ROWS), smoothing=1.0, max_iter=1)
        assert neighbors._arranged.cache_info().misses == 2
    assert neighbors._arranged.cache_info().currsize == 0
