import sys

import array_api_strict
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers.quartets import factorised_unfoldings
from latree.counts.quartets import nuclear_pairings
from latree.counts.tensor import nuclear_norms, singular_values, unfoldings
from latree.errors import InputError


def random_quartet(seed, n=4, k_h=2, k_g=3, zero=False):
    """Tables of a quartet {12|34} and its joint distribution, by equation (1)."""
    rng = np.random.default_rng(seed)
    leaves = [rng.dirichlet(np.ones(n), size=k).T for k in (k_h, k_h, k_g, k_g)]
    p_hg = rng.dirichlet(np.ones(k_h * k_g)).reshape(k_h, k_g)
    if zero:
        p_hg[0, 0] = 0
        p_hg /= p_hg.sum()
    return (*leaves, p_hg), np.einsum("ah,bh,hg,cg,dg->abcd", leaves[0], leaves[1], p_hg, leaves[2], leaves[3])


def test_unfoldings_follow_the_index_rule_of_the_appendix():
    n = 3
    tensor = np.random.default_rng(0).random((n, n, n, n))
    a, b, c = unfoldings(tensor)
    for x1, x2, x3, x4 in np.ndindex(n, n, n, n):
        cell = tensor[x1, x2, x3, x4]
        assert a[x1 + n * x2, x3 + n * x4] == cell
        assert b[x1 + n * x3, x2 + n * x4] == cell
        assert c[x1 + n * x4, x2 + n * x3] == cell


def test_unfoldings_are_matlab_reshapes():
    """Equations (2)-(4), with MATLAB's column-major reshape."""
    tensor = np.random.default_rng(1).random((3, 3, 3, 3))
    expected = [
        tensor.transpose(axes).reshape((9, 9), order="F") for axes in ((0, 1, 2, 3), (0, 2, 1, 3), (0, 3, 1, 2))
    ]
    np.testing.assert_array_equal(unfoldings(tensor), expected)


@given(seed=st.integers(0, 10**6), n=st.integers(2, 5), k_h=st.integers(1, 4), k_g=st.integers(1, 4))
def test_unfolding_lemma(seed, n, k_h, k_g):
    tables, tensor = random_quartet(seed, n, k_h, k_g)
    np.testing.assert_allclose(unfoldings(tensor), factorised_unfoldings(*tables), rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("zero", [False, True])
def test_ranks_of_the_unfoldings(k, zero):
    tables, tensor = random_quartet(7, n=4, k_h=k, k_g=k, zero=zero)
    ranks = [np.linalg.matrix_rank(matrix, tol=1e-9) for matrix in unfoldings(tensor)]
    nonzero = np.count_nonzero(tables[-1])
    assert nonzero == k * k - zero
    assert ranks == [np.linalg.matrix_rank(tables[-1], tol=1e-9), nonzero, nonzero]
    assert ranks[0] == k


@pytest.mark.parametrize("shape", [(0, 3, 3), (1, 3, 3), (500, 2, 2), (7, 3, 40, 40)])
def test_nuclear_norms_of_stacks(shape):
    matrices = np.random.default_rng(4).random(shape)
    naive = np.array([np.linalg.norm(m, "nuc") for m in matrices.reshape(-1, *shape[-2:])]).reshape(shape[:-2])
    np.testing.assert_allclose(nuclear_norms(matrices), naive, rtol=1e-12)


def test_padding_changes_no_norm():
    tensor = np.random.default_rng(5).random((3, 3, 3, 3))
    padded = np.zeros((5, 5, 5, 5))
    padded[:3, :3, :3, :3] = tensor
    np.testing.assert_allclose(nuclear_norms(unfoldings(padded)), nuclear_norms(unfoldings(tensor)), rtol=1e-12)


def test_rows_and_columns_of_zeros_are_left_out_of_large_matrices():
    rng = np.random.default_rng(10)
    matrix = np.zeros((2, 500, 500))
    matrix[:, rng.integers(0, 500, 300), rng.integers(0, 500, 300)] = rng.random(300)
    matrix[1] = 0
    naive = [np.linalg.norm(m, "nuc") for m in matrix]
    np.testing.assert_allclose(nuclear_norms(matrix), naive, rtol=1e-10, atol=1e-12)


def test_norms_of_many_pieces_keep_their_order(monkeypatch):
    monkeypatch.setattr("latree.counts.tensor._CELLS_PER_PIECE", 1)
    matrices = np.random.default_rng(0).random((13, 3, 3))
    np.testing.assert_allclose(nuclear_norms(matrices), [np.linalg.norm(m, "nuc") for m in matrices], rtol=1e-12)


def strict(array):
    return array_api_strict.asarray(array)


def torch(array):
    return pytest.importorskip("torch", reason="torch is not installed").asarray(array)


@pytest.mark.parametrize("other", [strict, torch])
@pytest.mark.parametrize("counts", [False, True])
def test_arrays_of_other_libraries_give_the_same_norms(other, counts):
    rng = np.random.default_rng(0)
    tensors = rng.integers(0, 5, (7, 3, 3, 3, 3)) if counts else rng.dirichlet(np.ones(81), 7).reshape(7, 3, 3, 3, 3)
    tensors[0] = 0  # no row has all four cells
    there = other(tensors)
    unfolded = unfoldings(there)
    assert type(unfolded) is type(there)
    np.testing.assert_array_equal(np.from_dlpack(unfolded), unfoldings(tensors))
    if not counts:
        norms = nuclear_norms(unfolded)
        assert type(norms) is type(there)
        np.testing.assert_allclose(np.from_dlpack(norms), nuclear_norms(unfoldings(tensors)), rtol=1e-10, atol=1e-14)
        values = singular_values(unfolded)
        np.testing.assert_allclose(np.from_dlpack(values), singular_values(unfoldings(tensors)), rtol=1e-9, atol=1e-14)
    found, expected = nuclear_pairings(there), nuclear_pairings(tensors)
    np.testing.assert_array_equal(found.pairing, expected.pairing)
    np.testing.assert_allclose(found.margin, expected.margin, rtol=1e-8, atol=1e-14)


def test_arrays_without_a_namespace_are_refused_in_one_line(monkeypatch):
    class Odd:
        pass

    monkeypatch.setitem(sys.modules, "array_api_compat", None)
    with pytest.raises(InputError, match=r"Odd arrays need array-api-compat: pip install array-api-compat"):
        nuclear_norms(Odd())
