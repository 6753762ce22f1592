import numpy as np
import pytest

from helpers.models import exact_pairs
from helpers.quartets import all_quartets, sampled_pairs
from helpers.strategies import names_of
from latree.counts.contingency import pair_tables
from latree.counts.distances import as_pairs
from latree.counts.quartets import four_point_test, spectral_products, spectral_test
from latree.errors import InputError
from latree.learners.divide_conquer import divide_and_conquer
from latree.learners.spectral_grouping import spectral_grouping
from latree.paper.simulate import random_model, random_tree
from latree.tree import Tree


def naive_off(joint, n_rows, confidence):
    """How far singular values may be off, by the matrix Bernstein inequality."""
    p, q = joint.sum(axis=1), joint.sum(axis=0)
    t = np.log(((p > 0).sum() + (q > 0).sum()) / (1 - confidence))
    return np.sqrt(2 * max(p.max(), q.max()) * t / n_rows) + 2 * t / (3 * n_rows)


def naive_products(pairs, k, confidence):
    """The products of k singular values of each pair of columns: as they are, lowered and raised."""
    d = len(pairs.joint)
    found = np.zeros((3, d, d))
    for i, j in np.ndindex(d, d):
        values = np.linalg.svd(pairs.joint[i, j], compute_uv=False)[:k]
        off = naive_off(pairs.joint[i, j], pairs.total[i, j], confidence) if confidence else 0
        found[:, i, j] = [np.prod(values), np.prod(np.maximum(values - off, 0)), np.prod(values + off)]
    return found


@pytest.mark.parametrize("confidence", [0.0, 0.1, 0.9])
@pytest.mark.parametrize("k", [1, 2, 3])
def test_products_equal_naive_ones(k, confidence):
    pairs = sampled_pairs(300, k)
    products = spectral_products(pairs, k, confidence)
    naive = naive_products(pairs, k, confidence)
    for logs, plain in zip(products[:3], naive, strict=True):
        np.testing.assert_allclose(np.exp(logs), plain, rtol=1e-9, atol=0)
    last = [[np.linalg.svd(joint, compute_uv=False)[k - 1] for joint in row] for row in pairs.joint]
    np.testing.assert_allclose(products.last, last, rtol=1e-9)


@pytest.mark.parametrize("confidence", [0.0, 0.1, 0.5])
@pytest.mark.parametrize("n_rows", [100, 3000, 100_000])
def test_a_quartet_is_decided_if_and_only_if_the_bounds_say_so(n_rows, confidence):
    n_decided = 0
    for seed in range(3):
        pairs = sampled_pairs(n_rows, seed)
        estimate, lower, upper = naive_products(pairs, 2, confidence)
        quartets = all_quartets(7)
        answers = spectral_test(spectral_products(pairs, 2, confidence))(quartets)
        for (a, b, c, d), pairing, decided in zip(quartets.tolist(), *answers[::2], strict=True):
            pairings = [((a, b), (c, d)), ((a, c), (b, d)), ((a, d), (b, c))]
            best = max(range(3), key=lambda i: estimate[pairings[i][0]] * estimate[pairings[i][1]])
            assert pairing == best
            one, other = pairings[best]
            rivals = [upper[one] * upper[other] for i, (one, other) in enumerate(pairings) if i != best]
            assert decided == (lower[one] * lower[other] > max(rivals))
            n_decided += decided
    assert n_decided > 0 or n_rows < 100_000
    assert (n_decided == 105) == (confidence == 0)


def test_more_confidence_decides_no_more_quartets():
    decided = []
    for confidence in (0.0, 1e-9, 0.1, 0.5, 0.9, 0.999999):
        test = spectral_test(spectral_products(sampled_pairs(20_000, 0), 2, confidence))
        decided.append(test(all_quartets(7)).decided)
        assert not (decided[-1] & ~decided[0]).any()
        assert len(decided) == 1 or not (decided[-1] & ~decided[-2]).any()
    counts = [int(some.sum()) for some in decided]
    assert counts[0] == 35 > counts[2] > counts[-1]


@pytest.mark.parametrize("confidence", [-0.1, 1.0, 1.5, np.nan])
def test_a_confidence_is_a_probability(confidence):
    with pytest.raises(InputError, match="confidence must be at least 0 and less than 1"):
        spectral_products(sampled_pairs(10, 0), 2, confidence)


def test_singular_values_lie_in_their_intervals():
    model = random_model(random_tree(4, 0.5, 0), n_states=3, hidden_states=2, start="identity", random_state=0)
    truth = spectral_products(exact_pairs(model), 2).estimate
    inside = []
    for seed in range(40):
        products = spectral_products(as_pairs(pair_tables(model.sample(60, seed))), 2, 0.5)
        inside.append((products.lower <= truth) & (truth <= products.upper))
    assert np.mean(inside) > 0.5


def test_exact_tables_of_a_star_are_declined():
    star = Tree(names_of(5), [(i, 5) for i in range(5)])
    pairs = exact_pairs(random_model(star, n_states=3, hidden_states=3, start="identity", random_state=0))
    answers = spectral_test(spectral_products(pairs, 3))(all_quartets(5))
    assert not answers.decided.any()
    np.testing.assert_allclose(answers.margin, 0, rtol=0, atol=1e-9)


def test_columns_that_say_nothing_are_declined():
    pairs = as_pairs(np.zeros((4, 4, 2, 2)))
    for confidence in (0.0, 0.5):
        answers = spectral_test(spectral_products(pairs, 2, confidence))(all_quartets(4))
        assert answers.decided.tolist() == [False]
        assert answers.margin.tolist() == [0.0]


@pytest.mark.parametrize(("n", "k"), [(2, 2), (6, 3)])
@pytest.mark.parametrize("balance", [0.5, 0.2])
@pytest.mark.parametrize("n_leaves", [8, 16, 32])
def test_exact_tables_give_the_tree_back_by_the_spectral_test(n_leaves, balance, n, k):
    tree = random_tree(n_leaves, balance, 2)
    model = random_model(tree, n_states=n, hidden_states=k, start="identity", perturbation=0.2, random_state=2)
    products = spectral_products(exact_pairs(model), k)
    test = spectral_test(products)
    quartets = all_quartets(n_leaves)
    answers, truth = test(quartets), four_point_test(tree.path_lengths())(quartets)
    assert answers.decided.all()
    np.testing.assert_array_equal(answers.pairing, truth.pairing)
    grouped = spectral_grouping(tree.names, test, products.last)
    assert grouped.tree.robinson_foulds(tree) == 0
    assert grouped.facts == {"quartet_tests": len(quartets), "quartets_decided": len(quartets)}
    for distance in (None, -products.estimate):
        built = divide_and_conquer(tree.names, test, distance=distance, random_state=0)
        assert built.tree.robinson_foulds(tree) == 0


def test_there_are_no_more_singular_values_than_hidden_states():
    tree = random_tree(8, 0.5, 2)
    model = random_model(tree, n_states=6, hidden_states=3, start="identity", perturbation=0.2, random_state=2)
    pairs, apart = exact_pairs(model), ~np.eye(8, dtype=bool)
    assert spectral_products(pairs, 3).last[apart].min() > 1e-4
    assert spectral_products(pairs, 4).last[apart].max() < 1e-14
