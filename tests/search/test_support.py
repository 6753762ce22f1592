"""How sure an edge is: whether it is there, and whether it is the right one."""

import numpy as np
import pytest
from scipy import stats

from helpers.models import copying_model
from helpers.search import surroundings
from latree.model import fit_model
from latree.search import support as module
from latree.search.edges import GainDistribution
from latree.search.support import edge_support, share_of_best
from latree.tree import Tree

TREE = Tree("abcdef", [(0, 6), (1, 6), (2, 6), (3, 7), (4, 7), (5, 7), (6, 7)])
SURE = GainDistribution(0.9, 20.0)


def around(tree, n_rows, seed=0, between=0.6):
    model = copying_model(TREE, lambda u, v: 0.7 if min(u, v) < 6 else between, [3] * 8)
    table = model.sample(n_rows, seed)
    return surroundings(fit_model(table, tree, 3, smoothing=1, random_state=0).model, table)


def support(surrounding, gain=50.0):
    (found,) = edge_support(
        surrounding, surrounding.inner_edges, np.array([gain]), SURE, np.log(len(surrounding.weights))
    )
    return found


def test_a_right_edge_with_many_rows_is_sure():
    assert support(around(TREE, 1500)) > 0.98


def test_a_wrong_edge_has_no_support():
    wrong = Tree("abcdef", [(0, 7), (1, 6), (2, 6), (3, 7), (4, 7), (5, 6), (6, 7)])
    assert support(around(wrong, 1500)) < 0.02


def test_few_rows_say_less():
    found = [support(around(TREE, 60, seed)) for seed in range(8)]
    assert 0.05 < np.mean(found) < 0.95


def test_an_edge_that_may_not_be_there_has_less_support():
    surrounding = around(TREE, 1500)
    found = [support(surrounding, gain) for gain in (-8.0, -2.0, 0.0, 5.0, 50.0)]
    assert found == sorted(found)
    assert found[0] < 0.01
    for gain in (-2.0, 5.0):
        right = support(surrounding) / SURE.probability(np.array([50.0]))[0]
        assert support(surrounding, gain) == pytest.approx(right * SURE.probability(np.array([gain]))[0])


def test_the_share_is_that_of_a_normal_sum():
    rng = np.random.default_rng(0)
    one = rng.normal(-0.05, 1, size=(1, 400))
    expected = stats.norm.cdf(-one.sum() / (one.std() * 20))
    assert share_of_best(one, np.ones(400), np.zeros(1)) == pytest.approx(expected, abs=0.04)
    twice = np.concatenate([one, one])  # the same alternative twice says nothing new
    assert share_of_best(twice, np.ones(400), np.zeros(2)) == pytest.approx(expected, abs=0.04)
    other = np.concatenate([one, rng.normal(-0.05, 1, size=(1, 400))])
    assert share_of_best(other, np.ones(400), np.zeros(2)) < expected - 0.02


def test_the_share_without_alternatives_and_without_doubt():
    assert share_of_best(np.empty((0, 10)), np.ones(10), np.empty(0)) == 1
    assert share_of_best(np.full((2, 10), -1.0), np.ones(10), np.zeros(2)) == 1
    assert share_of_best(np.full((2, 10), 1.0), np.ones(10), np.zeros(2)) == 0


def test_weights_count_like_repeated_rows():
    rng = np.random.default_rng(0)
    rows, times = rng.normal(-0.1, 1, size=(3, 100)), rng.integers(0, 4, size=100)
    repeated = share_of_best(np.repeat(rows, times, axis=1), np.ones(times.sum()), np.zeros(3))
    assert share_of_best(rows, times.astype(float), np.zeros(3)) == pytest.approx(repeated)


def test_an_alternative_with_more_parameters_must_be_better_by_its_penalty():
    rows = np.random.default_rng(0).normal(0.1, 1, size=(1, 400))
    free, penalised, clear = (share_of_best(rows, np.ones(400), np.array([nats])) for nats in (0.0, rows.sum(), 100.0))
    assert free < 0.3
    assert penalised == pytest.approx(0.5, abs=0.04)
    assert clear > 0.99


def test_parameters_count_in_the_support_of_an_edge(monkeypatch):
    rows = np.stack([np.zeros(100), np.full(100, 0.1)])  # the other way is more likely by 10 nats
    surrounding = around(TREE, 100)
    for more, expected in ((0, 0), (3, 0), (6, 1)):  # a parameter costs log(100) / 2 = 2.3 nats
        monkeypatch.setattr(module, "arranged_rows", lambda *_, more=more: (rows, np.array([50, 50 + more])))
        assert support(surrounding) == pytest.approx(expected, abs=0.01)
