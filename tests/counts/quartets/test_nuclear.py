import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from latree.counts.quartets import nuclear_pairings, nuclear_test
from latree.counts.tensor import unfoldings
from latree.paper.simulate import perturbed


@pytest.mark.parametrize(("axes", "expected"), [((0, 1, 2, 3), 0), ((0, 2, 1, 3), 1), ((0, 2, 3, 1), 2)])
def test_algorithm_1_finds_the_pairing(axes, expected):
    rng = np.random.default_rng(6)
    leaves = [perturbed(np.eye(5, 2), 0.3, rng) for _ in range(4)]
    p_hg = np.full((2, 2), 0.25) + 0.02 * np.array([[1, -1], [-1, 1]])
    tensor = np.einsum("ah,bh,hg,cg,dg->abcd", *leaves[:2], p_hg, *leaves[2:]).transpose(axes)
    answer = nuclear_pairings(tensor[None])
    norms = np.sort([np.linalg.norm(m, "nuc") for m in unfoldings(tensor)])
    assert answer.pairing[0] == expected
    np.testing.assert_allclose(answer.margin, norms[1] - norms[0], rtol=1e-10)


def test_counts_and_distributions_give_the_same_answer():
    counts = np.random.default_rng(8).integers(0, 50, size=(6, 3, 3, 3, 3))
    by_counts = nuclear_pairings(counts)
    by_shares = nuclear_pairings(counts / counts.sum(axis=(1, 2, 3, 4), keepdims=True))
    np.testing.assert_array_equal(by_counts.pairing, by_shares.pairing)
    np.testing.assert_allclose(by_counts.margin, by_shares.margin, rtol=1e-10)


def test_an_empty_table_is_a_toss_up():
    assert nuclear_pairings(np.zeros((1, 2, 2, 2, 2))).margin[0] == 0


def test_batches_larger_than_one_piece(monkeypatch):
    monkeypatch.setattr("latree.counts.quartets.TENSOR_CELLS_AT_ONCE", 200)
    tensors = np.random.default_rng(9).random((23, 3, 3, 3, 3))
    sizes = []

    def tables(quartets):
        sizes.append(len(quartets))
        return tensors[quartets[:, 0]]

    answer = nuclear_test(tables, 3)(np.repeat(np.arange(23)[:, None], 4, axis=1))
    assert max(sizes) == 2
    np.testing.assert_array_equal(answer.pairing, nuclear_pairings(tensors).pairing)


def test_an_empty_batch_has_no_answers():
    answer = nuclear_test(lambda quartets: np.zeros((len(quartets), 2, 2, 2, 2)), 2)(np.empty((0, 4), dtype=int))
    assert len(answer.pairing) == len(answer.margin) == 0


@given(seed=st.integers(0, 10**6))
def test_relabelling_states_changes_nothing(seed):
    rng = np.random.default_rng(seed)
    tensor = rng.random((3, 3, 3, 3))
    relabelled = tensor[np.ix_(*(rng.permutation(3) for _ in range(4)))]
    first, second = nuclear_pairings(tensor[None]), nuclear_pairings(relabelled[None])
    np.testing.assert_allclose(first.margin, second.margin, rtol=1e-9, atol=1e-12)
    assert first.margin[0] < 1e-9 or first.pairing[0] == second.pairing[0]
