"""Learning the states of columns: categories and bins."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.tables import assert_error, one_column
from latree.table import as_table
from latree.table.discretize import _interval_labels, _number_texts, learn_columns
from latree.table.raw import RawColumn
from latree.table.sources import RowWeights, file_source


def test_only_many_whole_numbers_and_fractions_are_cut():
    assert [one_column(np.arange(n))[0].n_states for n in (20, 21)] == [20, 3]
    assert [one_column(np.arange(21.0), bins=bins)[0].n_states for bins in (3, 10, 11, 0)] == [3, 10, 21, 21]
    assert [one_column([0.5, 1.5, 1.5], bins=bins)[0].cuts for bins in (10, 0)] == [(1.0,), None]
    for bins in (-1, 1):
        assert_error(np.zeros((2, 2)), str(bins), bins=bins)


@settings(deadline=None)
@given(rows=st.lists(st.tuples(st.integers(-20, 20), st.integers(0, 4)), min_size=1, max_size=40))
def test_weighted_bins_are_the_bins_of_repeated_rows(rows):
    values, weights = np.array([*rows, (0, 1)]).T
    repeated = np.repeat(values / 4, weights)
    assert one_column(values / 4, weights=weights, bins=3)[0] == one_column(repeated, bins=3)[0]


@settings(deadline=None, max_examples=80)
@given(
    seed=st.integers(0, 10**6),
    n_rows=st.integers(1, 400),
    digits=st.sampled_from([0, 1, 6]),  # few digits make ties, and whole numbers
    size=st.integers(1, 90),
    bins=st.integers(2, 4),
    weighted=st.booleans(),
    as_text=st.booleans(),
    most=st.sampled_from([12, 10**6]),  # distinct numbers that are counted one by one
)
def test_cuts_of_a_stream_are_those_of_all_values(seed, n_rows, digits, size, bins, weighted, as_text, most):
    rng = np.random.default_rng(seed)
    cells = np.round(rng.standard_t(2, n_rows) * 10, digits) + 0.0
    weights = rng.integers(0, 3, n_rows).astype(float) if weighted else None
    if weighted:
        weights[-1] = 1
    passes = []

    def pieces(names):
        passes.append(names)
        for start in range(0, n_rows, size):
            some = cells[start : start + size]
            texts = np.array([repr(float(x)) for x in some], dtype=object)
            yield [RawColumn("x", texts if as_text else some, np.arange(len(some)))]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("latree.table.summary.MAX_NUMBERS", most)
        expected = as_table(cells[:, None], names=["x"], bins=bins, weights=weights, missing=()).columns
        patch.setattr("latree.table.sources._CACHE_BYTES", 0)
        source = file_source("x", ["x"], pieces)
        if weighted:
            source = source.with_weights(RowWeights(None, weights, ()))
        assert tuple(one.column for one in learn_columns(source, ["x"], bins, (), {})) == expected
    assert len(passes) == 1


def test_bins_of_very_many_numbers_are_nearly_as_equal(monkeypatch):
    rng = np.random.default_rng(0)
    for numbers in (rng.normal(size=20_000), 1e9 + rng.random(20_000), 10.0 ** rng.normal(0, 20, 20_000)):
        monkeypatch.setattr("latree.table.summary.MAX_NUMBERS", 2000)
        column, codes = one_column(numbers, bins=10)
        sizes = np.bincount(codes)
        assert len(sizes) == 10
        assert abs(sizes - 2000).max() < 60
        assert set(column.cuts) <= set(numbers)  # so that codes and counts agree
        np.testing.assert_allclose(
            np.searchsorted(np.sort(numbers), column.density.medians), 1000 + 2000 * np.arange(10), atol=80
        )


@pytest.mark.parametrize(
    ("cuts", "expected"),
    [
        ([19_550, 67_340.5], ["<= 19550", "(19550, 67340]", "> 67340"]),
        ([-19_550, 1e11], ["<= -19550", "(-19550, 100000000000]", "> 100000000000"]),
        ([1e12, 2e12], ["<= 1e+12", "(1e+12, 2e+12]", "> 2e+12"]),
        ([0.00001, 0.5, 1.5], ["<= 1e-05", "(1e-05, 0.5]", "(0.5, 1.5]", "> 1.5"]),
    ],
)
def test_bounds_of_bins_are_easy_to_read(cuts, expected):
    assert _interval_labels(_number_texts(np.array(cuts))) == expected
