from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.quartets import exact_quartet
from latree.counts.contingency import quartet_tables
from latree.counts.distances import PairDistributions, as_pairs, covariance, pairwise
from latree.counts.quartets import PAIRINGS, covariance_pairings, covariance_test, four_point_test, nuclear_pairings
from latree.learners.divide_conquer import divide_and_conquer
from latree.paper.quartets import draw_counts, draw_unequal_counts
from latree.paper.simulate import random_model, random_tree
from latree.table import Column, Table

checked = settings(deadline=None, derandomize=True, max_examples=40)


AXES = ((1, 2, 3, 4), (1, 3, 2, 4), (1, 3, 4, 2))  # of a stack, so that {12|34} becomes each of the pairings


def naive_pairing(tensor):
    """One tensor of counts, pair by pair."""
    distance = {}
    for pair in (pair for both in PAIRINGS for pair in both):
        others = tuple(axis for axis in range(4) if axis not in pair)
        distance[pair] = float(covariance(as_pairs(tensor.sum(axis=others)[None]))[0])
    scores = [distance[one] + distance[other] for one, other in PAIRINGS]
    return int(np.argmin(scores)), np.sort(scores)[1] - np.min(scores)


def random_counts(seed, q=1, n=3):
    """Counts with much dependence, so that no two pairings are tied."""
    rng = np.random.default_rng(seed)
    return np.stack([rng.multinomial(300, exact_quartet(rng, n, 2, 2).ravel()).reshape([n] * 4) for _ in range(q)])


@checked
@given(seed=st.integers(0, 10**6), n=st.integers(2, 5))
def test_two_hidden_states_are_always_told_apart(seed, n):
    """Path products: the two wrong pairings are tied, the right one is nearer by twice the inner edge."""
    tensor = exact_quartet(np.random.default_rng(seed), n, 2, 2)
    for expected, axes in enumerate(AXES):
        answer = covariance_pairings(tensor[None].transpose(0, *axes), exact=True)
        assert answer.decided[0]
        assert answer.pairing[0] == expected
    pairs = {pair: tensor.sum(axis=tuple(a for a in range(4) if a not in pair)) for both in PAIRINGS for pair in both}
    distance = {pair: float(covariance(PairDistributions(joint, np.array(np.inf)))) for pair, joint in pairs.items()}
    sums = [distance[one] + distance[other] for one, other in PAIRINGS]
    np.testing.assert_allclose(sums[1], sums[2], rtol=1e-6)
    np.testing.assert_allclose(answer.margin, sums[1] - sums[0], rtol=1e-6)


@pytest.mark.parametrize(("n", "k_h", "k_g"), [(4, 2, 3), (4, 3, 3), (5, 4, 4), (6, 2, 5)])
def test_more_hidden_states_are_told_apart(n, k_h, k_g):
    rng = np.random.default_rng([n, k_h, k_g])
    tensors = np.stack([exact_quartet(rng, n, k_h, k_g) for _ in range(50)])
    assert (covariance_pairings(tensors, exact=True).pairing == 0).mean() >= 0.96


@pytest.mark.parametrize(("k_h", "k_g", "size", "least"), [(4, 4, 5000, 0.95), (4, 4, 1000, 0.85), (2, 4, 1000, 0.9)])
def test_unequal_leaves_do_not_mislead(k_h, k_g, size, least):
    rng = np.random.default_rng([k_h, k_g, size])
    truth = rng.integers(3, size=60)
    counts = np.stack([draw_unequal_counts(k_h, k_g, 10, size, int(pairing), rng) for pairing in truth])
    assert (covariance_pairings(counts).pairing == truth).mean() >= least
    if k_h == k_g:
        assert (nuclear_pairings(counts).pairing == truth).mean() < 0.2


def test_paper_quartets_are_found():
    rng = np.random.default_rng(4)
    truth = rng.integers(3, size=100)
    counts = np.stack([draw_counts(2, 4, 0.5, 300, int(pairing), rng) for pairing in truth])
    assert (covariance_pairings(counts).pairing == truth).mean() >= 0.93


def test_independent_columns_favour_no_pairing():
    """Neither do they if two of them are even and two are not, which alone tells some tests how to pair."""
    rng = np.random.default_rng(5)
    even, uneven = np.full(5, 0.2), np.array([0.8, 0.05, 0.05, 0.05, 0.05])
    shares = np.einsum("a,b,c,d->abcd", even, even, uneven, uneven).ravel()
    counts = rng.multinomial(200, shares, size=1500).reshape(-1, 5, 5, 5, 5)
    found = np.bincount(covariance_pairings(counts).pairing, minlength=3) / 1500
    np.testing.assert_allclose(found, 1 / 3, atol=0.05)


def test_stack_equals_one_by_one():
    tensors = np.concatenate([random_counts(6 + i, q=8).transpose(0, *axes) for i, axes in enumerate(AXES)])
    answers = covariance_pairings(tensors)
    assert set(answers.pairing.tolist()) == {0, 1, 2}
    alone = [naive_pairing(tensor) for tensor in tensors]
    np.testing.assert_array_equal(answers.pairing, [pairing for pairing, _ in alone])
    np.testing.assert_allclose(answers.margin, [margin for _, margin in alone], rtol=1e-9)
    assert answers.decided.all()


@checked
@given(seed=st.integers(0, 10**6), order=st.permutations(range(4)))
def test_permuting_columns_permutes_the_answer(seed, order):
    tensors = random_counts(seed)
    before, after = covariance_pairings(tensors), covariance_pairings(tensors.transpose(0, *(1 + a for a in order)))
    together = [{order[place] for place in pair} for pair in PAIRINGS[int(after.pairing[0])]]
    assert set(PAIRINGS[int(before.pairing[0])][0]) in together
    np.testing.assert_allclose(before.margin, after.margin, rtol=1e-7, atol=1e-10)


@checked
@given(seed=st.integers(0, 10**6))
def test_relabelling_and_padding_states_changes_nothing(seed):
    tensors = random_counts(seed)
    rng = np.random.default_rng(seed)
    padded = np.pad(tensors, [(0, 0), *[(0, 2)] * 4])
    relabelled = padded[np.ix_([0], *(rng.permutation(5) for _ in range(4)))]
    before, after = covariance_pairings(tensors), covariance_pairings(relabelled)
    assert before.pairing[0] == after.pairing[0]
    np.testing.assert_allclose(before.margin, after.margin, rtol=1e-7, atol=1e-10)


def constant_column():
    counts = np.zeros((3, 3, 3, 3))
    counts[1] = np.random.default_rng(7).integers(0, 9, size=(3, 3, 3))
    return counts


def one_row():
    counts = np.zeros((2, 2, 2, 2))
    counts[0, 1, 0, 1] = 1
    return counts


def all_alike():
    counts = np.zeros((2, 2, 2, 2))
    counts[0, 0, 0, 0] = counts[1, 1, 1, 1] = 10
    return counts


@pytest.mark.parametrize("counts", [np.zeros((2, 2, 2, 2)), one_row(), constant_column(), all_alike()])
def test_what_cannot_be_known_is_left_undecided(counts):
    answer = covariance_pairings(counts[None])
    assert answer.pairing[0] in (0, 1, 2)
    np.testing.assert_allclose(answer.margin, 0, atol=1e-9)
    assert not answer.decided[0]


def test_exactly_independent_columns_are_left_undecided():
    rng = np.random.default_rng(8)
    tensor = np.einsum("a,b,c,d->abcd", *(rng.dirichlet(np.ones(4)) for _ in range(4)))
    answer = covariance_pairings(tensor[None], exact=True)
    assert answer.margin[0] == 0
    assert not answer.decided[0]


def test_batches_larger_than_one_piece(monkeypatch):
    monkeypatch.setattr("latree.counts.quartets.TENSOR_CELLS_AT_ONCE", 200)
    tensors = random_counts(9, q=23)
    sizes = []

    def tables(quartets):
        sizes.append(len(quartets))
        return tensors[quartets[:, 0]]

    answer = covariance_test(tables, 3)(np.repeat(np.arange(23)[:, None], 4, axis=1))
    assert max(sizes) == 2
    np.testing.assert_array_equal(answer.pairing, covariance_pairings(tensors).pairing)
    np.testing.assert_array_equal(answer.decided, covariance_pairings(tensors).decided)


def test_an_empty_batch_has_no_answers():
    answer = covariance_test(lambda quartets: np.zeros((len(quartets), 2, 2, 2, 2)), 2)(np.empty((0, 4), dtype=int))
    assert len(answer.pairing) == len(answer.margin) == len(answer.decided) == 0


def test_pair_tables_give_the_same_answers_as_tensors():
    rng = np.random.default_rng(10)
    codes = rng.integers(3, size=(150, 1)) * rng.integers(2, size=(150, 6))
    columns = tuple(Column(f"x{i}", "integer", ("0", "1", "2")) for i in range(6))
    table = Table.from_codes(columns, codes)
    quartets = np.array([rng.permutation(6)[:4] for _ in range(30)])
    by_tensors = covariance_test(partial(quartet_tables, table), 3)(quartets)
    by_pairs = four_point_test(pairwise(table, covariance))(quartets)
    np.testing.assert_array_equal(by_tensors.pairing, by_pairs.pairing)
    np.testing.assert_allclose(by_tensors.margin, by_pairs.margin, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_divide_and_conquer_with_exact_distributions(seed):
    tree = random_tree(12, 0.4, seed)
    model = random_model(tree, n_states=3, hidden_states=2, start="identity", perturbation=0.4, random_state=seed)
    test = covariance_test(model.quartet_tables, 3, exact=True)
    assert divide_and_conquer(tree.names, test, random_state=seed).tree.robinson_foulds(tree) == 0
