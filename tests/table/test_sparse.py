"""Sparse matrices: the same table, counts and models as those of the dense array."""

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse

from helpers.tables import assert_error
from latree import LatentTree, LatentTreeModel
from latree.counts.contingency import column_counts, pair_tables
from latree.table import as_table
from latree.table.sparse import SparseRows

FORMATS = ("csr", "csc", "coo", "lil", "dok", "bsr", "dia")


def words(n_rows=400, n_columns=12, seed=0):
    """Counts of words in documents about one of three topics; most are zero."""
    rng = np.random.default_rng(seed)
    topic = rng.integers(0, 3, n_rows)
    rates = rng.gamma(0.4, 1.0, (3, n_columns))
    return sparse.csr_array(rng.poisson(rates[topic]) * (rng.random((n_rows, n_columns)) < 0.7))


def assert_same_table(table, expected):
    assert isinstance(table.rows, SparseRows)
    assert table.columns == expected.columns
    assert (table.n_rows, table.total_weight) == (expected.n_rows, expected.total_weight)
    np.testing.assert_array_equal(table.n_missing, expected.n_missing)
    np.testing.assert_array_equal(table.codes(), expected.codes())
    assert table.fingerprint() == expected.fingerprint()
    for one, other in zip(column_counts(table), column_counts(expected), strict=True):
        np.testing.assert_array_equal(one, other)
    if table.n_states.any():  # not all cells are missing
        one, other = pair_tables(table), pair_tables(expected)
        np.testing.assert_array_equal(one, other)
        assert one.dtype == other.dtype
    rows = np.array([table.n_rows - 1, 0, 0])
    np.testing.assert_array_equal(table.numbers(rows), expected.numbers(rows))
    for one, other in zip(table.rows.fetch(rows), expected.rows.fetch(rows), strict=True):
        np.testing.assert_array_equal(one, other)


cells = st.sampled_from([0.0, 0.0, 0.0, 0.0, 1.0, 2.0, -1.0, 0.5, 7.0])
weights = {
    "none": lambda n: None,
    "whole": lambda n: np.arange(n) % 3 + 1.0,
    "fractions": lambda n: np.arange(n) / 7 + 0.1,
}


@given(
    hnp.arrays(np.float64, st.tuples(st.integers(1, 30), st.integers(1, 6)), elements=cells | st.just(np.nan)),
    st.sampled_from(sorted(weights)),
    st.sampled_from([0, 2, 10]),
    st.sampled_from(FORMATS),
)
def test_numbers_are_those_of_the_dense_array(dense, kind, bins, form):
    options = {"weights": weights[kind](len(dense)), "bins": bins}
    matrix = sparse.csr_array(dense).asformat(form)
    assert_same_table(as_table(matrix, counts=True, **options), as_table(dense, **options))


@given(
    hnp.arrays(np.float64, st.tuples(st.integers(1, 30), st.integers(1, 6)), elements=cells),
    st.sampled_from(sorted(weights)),
    st.sampled_from(FORMATS),
)
def test_presence_is_that_of_the_dense_array(dense, kind, form):
    weight = weights[kind](len(dense))
    matrix = sparse.csr_array(dense).asformat(form)
    assert_same_table(as_table(matrix, weights=weight), as_table(dense != 0, weights=weight))


@pytest.mark.parametrize("counts", [False, True])
def test_small_chunks_resampled_and_distinct_rows_are_the_same(monkeypatch, counts):
    monkeypatch.setattr("latree.table.rows.BLOCK_ROWS", 16)
    monkeypatch.setattr("latree.table.rows.CHUNK_CELLS", 16 * 2 * 12)
    matrix = words()
    dense = matrix.toarray()
    table, expected = as_table(matrix, counts=counts), as_table(dense if counts else dense != 0)
    assert_same_table(table, expected)
    for weighted in (None, np.random.default_rng(1).random(400)):
        one = as_table(matrix, counts=counts, weights=weighted).rows.resampled(5, 2)
        other = as_table(dense if counts else dense != 0, weights=weighted).rows.resampled(5, 2)
        assert isinstance(one, SparseRows)
        for a, b in zip(one.fetch(np.arange(one.n_rows)), other.fetch(np.arange(other.n_rows)), strict=True):
            np.testing.assert_array_equal(a, b)
    order = np.random.default_rng(2).permutation(table.n_columns)
    moved = table.rows.reordered(order)
    assert isinstance(moved, SparseRows)
    np.testing.assert_array_equal(moved.fetch(np.arange(400)).codes, expected.rows.reordered(order).codes)
    narrow, narrow_expected = as_table(matrix[:, :3]), as_table(dense[:, :3] != 0)
    np.testing.assert_array_equal(narrow.distinct.codes(), narrow_expected.distinct.codes())


def test_a_matrix_is_not_changed_and_duplicates_are_added():
    matrix = sparse.coo_array(([1, -1, 2, 0, 5], ([0, 0, 1, 2, 2], [0, 0, 1, 1, 0])), shape=(3, 2))
    before = matrix.copy()
    # The two entries of the first cell cancel each other, and a stored zero is a zero.
    assert as_table(matrix).codes().tolist() == [[0, 0], [0, 1], [1, 0]]
    np.testing.assert_array_equal(matrix.data, before.data)
    by_rows = sparse.csr_array(([3, 1], [1, 0], [0, 2, 2]), shape=(2, 2))
    as_table(by_rows)
    assert by_rows.indices.tolist() == [1, 0]


def test_models_are_those_of_the_dense_array():
    matrix = words()
    dense = matrix.toarray()
    for data, same, table in [
        (matrix, dense != 0, as_table(matrix)),
        (matrix, dense, as_table(matrix, counts=True)),
    ]:
        model = LatentTree("clrg", random_state=0).fit(table)
        expected = LatentTree("clrg", random_state=0).fit(same)
        assert model.tree_.to_newick() == expected.tree_.to_newick()
        assert [t.tobytes() for t in model.model_.tables] == [t.tobytes() for t in expected.model_.tables]
        np.testing.assert_array_equal(model.score_samples(data), expected.score_samples(same))
        np.testing.assert_array_equal(model.transform(data), expected.transform(same))
        np.testing.assert_array_equal(model.predict(data), expected.predict(same))
        np.testing.assert_array_equal(model.predict_proba(data), expected.predict_proba(same))
    fitted = LatentTree("clrg", random_state=0).fit(matrix)
    assert fitted.n_features_in_ == 12
    np.testing.assert_array_equal(fitted.transform(matrix[:5]), fitted.transform(matrix)[:5])


def test_missing_cells_of_a_sparse_matrix_are_filled():
    dense = words().toarray().astype(float)
    dense[::7, 3] = np.nan
    table = as_table(sparse.csr_array(dense), counts=True)
    model = LatentTree("clrg", random_state=0).fit(table)
    filled = model.impute(sparse.csr_array(dense))
    assert filled.format == "csr"
    np.testing.assert_array_equal(filled.toarray(), model.impute(dense))
    assert np.isnan(dense[0, 3])


def test_names_and_annotated_matrices():
    matrix = words()
    names = [f"word{j}" for j in range(12)]
    table = as_table(matrix, names=np.array(names), drop=["word3"])
    assert table.names == (*names[:3], *names[4:])
    annotated = SimpleNamespace(X=matrix, var_names=np.array(names))
    model = LatentTree("clrg", random_state=0).fit(annotated)
    assert model.feature_names_in_.tolist() == names
    other = SimpleNamespace(X=matrix[:, ::-1], var_names=np.array(names[::-1]))  # columns are found by their names
    np.testing.assert_array_equal(model.transform(other), model.transform(annotated))
    assert as_table(SimpleNamespace(X=matrix.toarray(), var_names=names)).names == tuple(names)
    assert_error(
        SimpleNamespace(X=matrix[:, :5], var_names=names[:5]),
        "7 columns that the model",
        columns=model.model_.columns,
    )


def test_weights_may_be_a_column():
    dense = words().toarray()
    table = as_table(sparse.csr_array(dense), weights="x0")
    expected = as_table(dense[:, 1:] != 0, names=[f"x{j}" for j in range(1, 12)], weights=dense[:, 0].astype(float))
    assert_same_table(table, expected)


def test_new_rows_need_not_have_what_the_model_knows():
    table = as_table(words())
    assert as_table(sparse.csr_array((0, 12)), columns=table.columns).n_rows == 0
    ones = sparse.csr_array(np.ones((2, 12)))
    assert as_table(ones, columns=table.columns).codes().tolist() == [[1] * 12] * 2
    always = as_table(sparse.csr_array(np.ones((3, 2))))  # constant columns, without the category False
    assert always.columns[0].categories == ("True",)
    assert_error(sparse.csr_array((1, 2)), "column 'x0'", "'False' was never seen", columns=always.columns)
    assert as_table(sparse.csr_array((1, 2)), columns=always.columns, unseen="missing").codes().tolist() == [[-1, -1]]


def damaged(**changes):
    matrix = sparse.csr_array(np.eye(3))
    for name, value in changes.items():
        setattr(matrix, name, np.array(value))
    return matrix


@pytest.mark.parametrize(
    ("matrix", "options", "fragments"),
    [
        (sparse.csr_array(np.array([[0, np.inf]])), {}, ["column 'x1' has an infinite value in row 1"]),
        (sparse.csr_array(np.array([[0, np.nan]])), {}, ["column 'x1' has NaN in row 1", "counts=True"]),
        (sparse.csr_array(np.array([[0, 1j]])), {}, ["type complex128", "convert"]),
        (sparse.coo_array(np.array([0, 1, 1])), {}, ["1 dimension"]),
        (sparse.csr_array((2, 3)), {"names": ["a"]}, ["1 names for 3 columns"]),
        (sparse.csr_array((2, 2)), {"names": ["a", "a"]}, ["'a' appears twice"]),
        (sparse.csr_array((2, 2)), {"format": "npz"}, ["format='npz' is for files"]),
        (damaged(indices=[0, 1, 99]), {}, ["its indices are damaged"]),
        (damaged(indptr=[0, 5, 1, 3]), {}, ["its indices are damaged"]),
    ],
)
def test_what_cannot_be_read_is_said_in_one_line(matrix, options, fragments):
    assert_error(matrix, *fragments, **options)


def test_another_number_of_columns_is_refused():
    model = LatentTree("clrg", random_state=0).fit(words()).model_
    assert isinstance(model, LatentTreeModel)
    assert_error(words(n_columns=11), "11 columns where the model has 12", columns=model.columns)
