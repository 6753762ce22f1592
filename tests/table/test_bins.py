"""Cuts of numbers into bins of equal size."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.bins import bins_at
from helpers.tables import codes_of, one_column
from latree.table import Column
from latree.table.cuts import equal_cuts


def naive_least_sum_of_squares(counts, bins):
    cuts = combinations(range(1, len(counts)), min(bins, len(counts)) - 1)
    return min(sum(part.sum() ** 2 for part in np.split(counts, cut)) for cut in cuts)


def bin_sizes(values, counts, bins):
    return np.bincount(np.searchsorted(equal_cuts(values, counts, bins), values, side="left"), weights=counts)


GAP_AND_COUNT = st.tuples(st.floats(1e-3, 1e3), st.sampled_from([1, 1, 2, 3, 50, 51, 400]))


@settings(deadline=None)
@given(st.lists(GAP_AND_COUNT, min_size=1, max_size=11), st.integers(2, 6), st.sampled_from([1, 0.1]))
def test_equal_cuts_are_the_best_of_all_cuts(pairs, bins, scale):
    gaps, counts = np.array(pairs).T * [[1], [scale]]
    sizes = bin_sizes(np.cumsum(gaps) - 100, counts, bins)
    assert np.count_nonzero(sizes) == len(sizes) == min(bins, len(counts))
    np.testing.assert_allclose(np.square(sizes).sum(), naive_least_sum_of_squares(counts, bins), rtol=1e-12)


@pytest.mark.parametrize("n_rows", [11, 100, 1999, 2001, 10_007])
@pytest.mark.parametrize("bins", [2, 3, 10])
def test_untied_values_fall_into_bins_of_equal_size(n_rows, bins):
    sizes = np.bincount(one_column(np.random.default_rng(n_rows).normal(size=n_rows), bins=bins)[1])
    assert len(sizes) == bins
    assert sizes.max() - sizes.min() <= 1


@pytest.mark.parametrize("seed", range(5))
def test_cuts_of_many_values_with_ties_are_nearly_the_best(monkeypatch, seed):
    values, counts = np.arange(5000.0), np.random.default_rng(seed).pareto(0.8, size=5000) + 1
    sizes = bin_sizes(values, counts, 5)
    monkeypatch.setattr("latree.table.cuts.RANKS_PER_BIN", 5000)
    best = bin_sizes(values, counts, 5)
    np.testing.assert_allclose(np.square(sizes).sum(), np.square(best).sum(), rtol=1e-4)


def test_values_at_a_cut_are_below_it():
    column = Column("x", "number", ("low", "middle", "high"), **bins_at((1.0, 2.0), (0.0, 1.5, 3.0)), ordered=True)
    values = np.array([-1e9, 1.0, np.nextafter(1.0, 2.0), 2.0, 1e9, np.nan])
    assert codes_of(values[:, None], columns=[column]) == [[0], [0], [1], [1], [2], [-1]]
    assert bin_sizes(values[1:3], np.ones(2), 2).tolist() == [1, 1]
