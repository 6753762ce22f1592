"""Pair tables of sparse rows, against counting rows one by one."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse

from latree.counts.contingency import pair_tables, pair_tables_between, sparse_pair_counts
from latree.table import as_table
from latree.table.sparse import SparseRows

STATES = 3  # codes 0, 1 and 2; 255 is missing


def naive_counts(codes, weights, first, second):
    counts = np.zeros((len(codes[0, first]), STATES, len(codes[0, second]), STATES))
    for row, weight in zip(codes, weights, strict=True):
        for (i, x), (j, y) in product(enumerate(row[first]), enumerate(row[second])):
            if x < STATES and y < STATES:
                counts[i, x, j, y] += weight
    return counts


@given(
    hnp.arrays(np.uint8, st.tuples(st.integers(1, 12), st.integers(1, 5)), elements=st.sampled_from([0, 0, 1, 2, 255])),
    st.data(),
)
def test_counts_are_those_of_rows_one_by_one(codes, data):
    d = codes.shape[1]
    background = np.array(data.draw(st.lists(st.sampled_from([0, 1, 255]), min_size=d, max_size=d)), dtype=np.uint8)
    weights = data.draw(st.none() | st.just(np.arange(len(codes)) % 4.0))

    differs = sparse.coo_array(codes != background)
    stored = sparse.csr_array((codes[differs.row, differs.col], (differs.row, differs.col)), shape=codes.shape)
    rows = SparseRows(stored, background, weights)
    np.testing.assert_array_equal(rows.fetch(np.arange(len(codes))).codes, codes)
    first, second = slice(0, data.draw(st.integers(1, d))), slice(data.draw(st.integers(0, d - 1)), d)
    expected = naive_counts(codes, np.ones(len(codes)) if weights is None else weights, first, second)
    found = sparse_pair_counts(rows, STATES, first, second)
    np.testing.assert_array_equal(found, expected)
    assert found.dtype == (np.int64 if weights is None else np.float64)


@pytest.mark.parametrize("weights", [None, "whole", "fractions"])
def test_sparse_products_are_used_where_sums_are_exact(monkeypatch, weights):
    calls = []

    def counted(*arguments):
        calls.append(1)
        return sparse_pair_counts(*arguments)

    monkeypatch.setattr("latree.counts.contingency.sparse_pair_counts", counted)
    matrix = sparse.random_array((50, 4), density=0.2, rng=np.random.default_rng(0))
    given = {None: None, "whole": np.arange(50.0), "fractions": np.arange(50) / 3}[weights]
    table = as_table(matrix, weights=given)
    pair_tables_between(table, slice(0, 2), slice(2, 4))
    assert bool(calls) == (weights != "fractions")
    np.testing.assert_array_equal(pair_tables(table), pair_tables(as_table(matrix.toarray() != 0, weights=given)))
