"""The covariance test, and the distance that it rests on."""

from functools import partial
from itertools import combinations, permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chi2_contingency, gamma

from latree.counts.contingency import quartet_tables
from latree.counts.distances import (
    Pairs,
    as_pairs,
    chance,
    covariance,
    gamma_tail,
    information,
    log_det,
    nuclear,
    pairwise,
    pairwise_all,
)
from latree.counts.quartets.covariance import covariance_pairings, covariance_test
from latree.counts.quartets.four_point import four_point_test
from latree.counts.quartets.nuclear import nuclear_pairings
from latree.learners.divide_conquer import divide_and_conquer
from latree.paper.experiments.quartets import sampled, sampled_unequal
from latree.paper.simulate import random_model, random_tree
from latree.table import Column, Table

checked = settings(deadline=None, derandomize=True, max_examples=40)

AXES = ((1, 2, 3, 4), (1, 3, 2, 4), (1, 3, 4, 2))  # of a stack, so that {12|34} becomes each of the pairings
PAIRINGS = (((0, 1), (2, 3)), ((0, 2), (1, 3)), ((0, 3), (1, 2)))


def counted(first, second, n):
    counts = np.zeros((n, n), dtype=int)
    np.add.at(counts, (first, second), 1)
    return counts


def squared_norm(first, second, n):
    """‖C‖² of two columns' rows, cell by cell."""
    first, second = np.asarray(first), np.asarray(second)
    return sum(
        (np.mean((first == x) & (second == y)) - np.mean(first == x) * np.mean(second == y)) ** 2
        for x in range(n)
        for y in range(n)
    )


def naive_distance(first, second, n):
    """The distance of a few rows by its definition: chance is tried in all orders, the root searched for."""
    shuffled = [squared_norm(first, np.array(order), n) for order in permutations(second)]
    left = squared_norm(first, second, n) - np.mean(shuffled)
    s = np.prod([np.linalg.norm(np.cov(np.eye(n)[column].T, bias=True)) for column in (first, second)])
    s /= len(first) - 1
    roots = np.roots([1, -left, -(s**2)])
    return -0.5 * np.log(roots.max())


def naive_pairing(tensor):
    """One tensor of counts, pair by pair."""
    distance = {}
    for pair in (pair for both in PAIRINGS for pair in both):
        others = tuple(axis for axis in range(4) if axis not in pair)
        distance[pair] = float(covariance(as_pairs(tensor.sum(axis=others)[None]))[0])
    scores = [distance[one] + distance[other] for one, other in PAIRINGS]
    return int(np.argmin(scores)), np.sort(scores)[1] - np.min(scores)


def exact_quartet(rng, n, k_h, k_g):
    leaves = [rng.dirichlet(np.ones(n), size=k).T for k in (k_h, k_h, k_g, k_g)]
    p_hg = rng.dirichlet(np.ones(k_h * k_g)).reshape(k_h, k_g)
    return np.einsum("ah,bh,hg,cg,dg->abcd", *leaves[:2], p_hg, *leaves[2:])


def random_counts(seed, q=1, n=3):
    """Counts with much dependence, so that no two pairings are tied."""
    rng = np.random.default_rng(seed)
    return np.stack([rng.multinomial(300, exact_quartet(rng, n, 2, 2).ravel()).reshape([n] * 4) for _ in range(q)])


# The distance


@pytest.mark.parametrize("seed", range(6))
def test_distance_equals_its_definition(seed):
    rng = np.random.default_rng(seed)
    first = np.array([0, 1, 2, 0, 1, 1])
    second = np.where(rng.random(6) < 0.2 * seed, first, rng.integers(3, size=6))
    assert len(set(second.tolist())) > 1
    distance = covariance(as_pairs(counted(first, second, 3)))
    np.testing.assert_allclose(distance, naive_distance(first, second, 3), rtol=1e-10)


def test_what_chance_makes_has_the_variance_of_the_floor():
    rng = np.random.default_rng(0)
    m, n = 400, 4
    first, second = rng.choice(n, m, p=[0.4, 0.3, 0.2, 0.1]), rng.choice(n, m, p=[0.7, 0.1, 0.1, 0.1])
    norms = []
    for _ in range(3000):
        joint = counted(first, rng.permutation(second), n) / m
        norms.append(((joint - np.outer(joint.sum(axis=1), joint.sum(axis=0))) ** 2).sum())
    s = np.prod([np.linalg.norm(np.cov(np.eye(n)[column].T, bias=True)) for column in (first, second)]) / (m - 1)
    np.testing.assert_allclose(np.std(norms), np.sqrt(2) * s, rtol=0.15)


def test_distance_of_exact_distributions_is_the_norm_alone():
    joint = np.random.default_rng(1).dirichlet(np.ones(12), size=5).reshape(5, 3, 4)
    joint = np.pad(joint, ((0, 0), (0, 1), (0, 0)))  # a state that does not occur
    expected = [-np.log(np.linalg.norm(p - np.outer(p.sum(axis=1), p.sum(axis=0)))) for p in joint]
    np.testing.assert_allclose(covariance(Pairs(joint, np.full(5, np.inf))), expected, rtol=1e-10)


def test_distance_of_many_rows_is_nearly_that_of_the_distribution():
    joint = np.random.default_rng(2).dirichlet(np.ones(9)).reshape(3, 3)
    exact = covariance(Pairs(joint, np.array(np.inf)))
    gaps = [abs(covariance(Pairs(joint, np.array(float(m)))) - exact) for m in (1e2, 1e4, 1e6)]
    assert gaps[0] > 10 * gaps[1] > 100 * gaps[2] > 0


def test_counts_below_chance_are_far_but_not_infinitely():
    """Exactly independent counts are less dependent than chance would make them."""
    even = np.full((4, 4), 10)
    lucky = even + 3 * np.eye(4, dtype=int)
    distances = covariance(as_pairs(np.stack([even, lucky, 10 * lucky])))
    assert np.isfinite(distances).all()
    assert distances[0] > distances[1] > distances[2]


NOTHING = [
    np.zeros((3, 3)),
    np.diag([1, 0, 0]),
    np.diag([9, 0, 0]),
    [[3, 4, 5], [0, 0, 0], [0, 0, 0]],
    np.diag([0.3, 0.4, 0]),
]
NOTHING_IDS = ["no rows", "one row", "constant", "one constant", "less than a row"]


@pytest.mark.parametrize("counts", NOTHING, ids=NOTHING_IDS)
def test_distance_is_infinite_where_nothing_can_be_known(counts):
    assert covariance(as_pairs(np.asarray(counts))) == np.inf


# How probable a dependence is by chance


@pytest.mark.parametrize(
    ("m", "shares"),
    [
        (50, ([0.5, 0.5], [0.6, 0.4])),
        (200, ([0.5, 0.3, 0.2], [0.6, 0.4])),
        (200, ([0.4, 0.3, 0.2, 0.1], [0.7, 0.1, 0.1, 0.1])),
        (2000, ([0.2] * 5, [0.9, 0.05, 0.02, 0.02, 0.01])),
    ],
)
def test_independent_columns_have_any_p_value_as_often(m, shares):
    rng = np.random.default_rng(0)
    counts = [counted(*(rng.choice(len(p), m, p=p) for p in shares), 5) for _ in range(400)]
    p_values = chance(as_pairs(np.stack(counts)))
    for level, low, high in ((0.05, 0.02, 0.09), (0.2, 0.13, 0.27), (0.5, 0.42, 0.58), (0.8, 0.73, 0.87)):
        assert low < np.mean(p_values < level) < high


@pytest.mark.parametrize(
    "counts", [[[40, 30], [35, 20]], [[60, 40], [30, 70]], [[300, 280], [260, 310]], [[9, 3], [2, 8]]]
)
def test_of_two_states_each_the_p_value_is_nearly_that_of_chi_square(counts):
    expected = chi2_contingency(counts, correction=False).pvalue
    found = float(chance(as_pairs(np.array(counts))))
    assert found == pytest.approx(expected, rel=0.15, abs=0.002)
    assert float(chance(as_pairs(np.array(counts).T))) == pytest.approx(found, rel=1e-9)


def test_dependent_columns_have_a_tiny_p_value_that_more_rows_make_smaller():
    rng = np.random.default_rng(0)
    for n in (2, 3, 10):
        first = rng.integers(n, size=500)
        second = np.where(rng.random(500) < 0.5, first, rng.integers(n, size=500))
        few, many = (counted(first[:m], second[:m], n) for m in (100, 500))
        p_values = chance(as_pairs(np.stack([few, many, 10 * many])))
        assert 1e-2 > p_values[0] > p_values[1] >= p_values[2] >= 0
        assert p_values[1] < 1e-15


@pytest.mark.parametrize("counts", NOTHING, ids=NOTHING_IDS)
def test_the_p_value_is_one_where_nothing_can_be_known(counts):
    assert chance(as_pairs(np.asarray(counts))) == 1


def test_the_gamma_tail_is_that_of_a_gamma_variable_with_the_mean_and_spread():
    mean, spread = np.array([2.0, 0.3, 1.0]), np.array([1.0, 0.1, 0.0])
    squared = np.array([3.0, 0.5, 9.0])
    variance = 2 * spread[:2] ** 2
    expected = gamma(a=mean[:2] ** 2 / variance, scale=variance / mean[:2]).sf(squared[:2])
    np.testing.assert_allclose(gamma_tail(squared, mean, spread), [*expected, 1], rtol=1e-9)


def test_several_measures_are_each_what_it_is_alone(monkeypatch):
    codes = np.random.default_rng(0).integers(-1, 3, (200, 7))
    columns = [Column(f"x{i}", "integer", tuple("012")) for i in range(7)]
    table = Table.from_codes(columns, codes, np.random.default_rng(1).exponential(size=200))
    measures = [nuclear, covariance, chance, information, log_det]
    together = pairwise_all(table, measures)
    monkeypatch.setattr("latree.counts.contingency._CELLS_AT_ONCE", 2 * 7 * 9)  # two columns at a time
    for measure, found in zip(measures, together, strict=True):
        np.testing.assert_array_equal(found, found.T)
        np.testing.assert_allclose(found, pairwise(table, measure), rtol=1e-12)
    assert not any(np.allclose(one, other) for one, other in combinations(together, 2))


@pytest.mark.parametrize("shape", [(2, 2), (3, 3), (5, 5), (7, 7)])
def test_distance_of_exactly_independent_columns_is_infinite(shape):
    rng = np.random.default_rng(3)
    joint = np.outer(*(rng.dirichlet(np.ones(n)) for n in shape))
    assert covariance(Pairs(joint, np.array(np.inf))) == np.inf


# The test


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
    distance = {pair: float(covariance(Pairs(joint, np.array(np.inf)))) for pair, joint in pairs.items()}
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
    counts = np.stack([sampled_unequal(k_h, k_g, 10, size, int(pairing), rng) for pairing in truth])
    assert (covariance_pairings(counts).pairing == truth).mean() >= least
    if k_h == k_g:
        assert (nuclear_pairings(counts).pairing == truth).mean() < 0.2


def test_paper_quartets_are_found():
    rng = np.random.default_rng(4)
    truth = rng.integers(3, size=100)
    counts = np.stack([sampled(2, 4, 0.5, 300, int(pairing), rng) for pairing in truth])
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
    monkeypatch.setattr("latree.counts.quartets._CELLS_AT_ONCE", 200)
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
