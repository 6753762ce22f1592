"""Posterior moments of sums over hidden variables, beside brute force."""

import numpy as np
import pytest

from helpers.models import all_rows, naive_joint, small_models
from latree.inference.evidence import moments_if_answered, posterior_moments
from latree.table import Table

EXACT = 1e-10


def naive_moments(model, row, values):
    """Return the mean and variance by visiting every combination of states of all nodes."""
    joint = naive_joint(model)
    chosen = joint[tuple(slice(None) if code < 0 else slice(code, code + 1) for code in row)]
    chosen = np.broadcast_to(chosen, chosen.shape) / chosen.sum()
    total = np.zeros(joint.shape)
    for node, numbers in values.items():
        shape = [1] * joint.ndim
        shape[node] = -1
        total = total + numbers.reshape(shape)
    total = total[tuple(slice(None) if code < 0 else slice(code, code + 1) for code in row)]
    mean = (chosen * total).sum()
    return mean, (chosen * (total - mean) ** 2).sum()


@pytest.mark.parametrize("number", range(5))
def test_moments_are_those_of_brute_force(number):
    model = small_models()[number]
    rng = np.random.default_rng(number)
    inner = [node for node in range(model.tree.n_nodes) if node not in model.network.plain_leaves]
    values = {node: rng.normal(3, 1, model.n_states[node]) for node in inner}
    rows = all_rows(model)
    rows = rows[rng.permutation(len(rows))[:60]]
    codes = Table.from_codes(model.columns, rows).rows.codes
    mean, variance = posterior_moments(model.network, codes, values)
    expected = np.array([naive_moments(model, row, values) for row in rows])
    np.testing.assert_allclose(mean, expected[:, 0], rtol=EXACT)
    np.testing.assert_allclose(variance, expected[:, 1], rtol=EXACT, atol=EXACT)
    assert variance.max() > 0.01


def test_nothing_is_known_about_impossible_rows():
    model = small_models()[1]
    tables = list(model.tables)
    tables[0] = np.array([[1.0, 1.0, 1.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
    network = type(model)(model.tree, model.columns, tuple(tables)).network
    codes = Table.from_codes(model.columns, np.array([[0, 0, 0, 0], [1, 0, 0, 0]])).rows.codes
    mean, variance = posterior_moments(network, codes, {4: np.arange(3.0)})
    assert np.isfinite(mean).tolist() == np.isfinite(variance).tolist() == [True, False]


@pytest.mark.parametrize("by_logarithms", [False, True])
@pytest.mark.parametrize("number", range(5))
def test_one_more_cell_says_what_it_says_by_brute_force(number, by_logarithms, monkeypatch):
    if by_logarithms:
        monkeypatch.setattr("latree.inference.messages._upward_by_products", lambda network, plan: None)
    model = small_models()[number]
    rng = np.random.default_rng(number)
    inner = [node for node in range(model.tree.n_nodes) if node not in model.network.plain_leaves]
    values = {node: rng.normal(3, 1, model.n_states[node]) for node in inner}
    rows = all_rows(model)
    rows = rows[rng.permutation(len(rows))[:20]]
    codes = Table.from_codes(model.columns, rows).rows.codes
    found = list(moments_if_answered(model.network, codes, values))
    assert sorted(one.column for one in found) == list(range(model.tree.n_observed))
    compared = 0
    for one in found:
        for number, row in enumerate(rows):
            # Of a leaf without neighbours but one, the results are those without its own cell, if it has one.
            if row[one.column] >= 0 and one.column not in model.network.plain_leaves:
                continue
            shares = []
            for state in range(model.n_states[one.column]):
                answered = np.where(np.arange(len(row)) == one.column, state, row)
                mean, variance = naive_moments(model, answered, values)
                np.testing.assert_allclose(one.mean[number, state], mean, rtol=EXACT)
                np.testing.assert_allclose(one.variance[number, state], variance, rtol=EXACT, atol=EXACT)
                shares.append(naive_probability(model, answered))
                compared += 1
            np.testing.assert_allclose(one.probability[number], np.array(shares) / sum(shares), rtol=EXACT)
    assert compared > 10


def naive_probability(model, row):
    return naive_joint(model)[tuple(slice(None) if code < 0 else code for code in row)].sum()
