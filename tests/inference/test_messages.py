"""Messages against enumeration, and products of very many or very small factors."""

import numpy as np
import pytest

from helpers.models import all_rows, given_row, holes, model_on, naive_joint, small_models, star, table_of
from latree.inference.messages import _product, expected_counts
from latree.inference.patterns import PlanCache, plan_messages
from latree.model import LatentTreeModel
from latree.paper.simulate import random_model, random_tree
from latree.table import Column
from latree.tree import Tree


def naive_counts(model, rows, weights):
    """Expected counts of every table by enumerating all states of all nodes."""
    joint = naive_joint(model)
    parent = model.tree.rooted().parent.tolist()
    counts = [np.zeros(table.shape) for table in model.tables]
    for row, weight in zip(rows, weights, strict=True):
        kept = joint.copy()
        for axis, state in enumerate(row):
            if state >= 0:
                absent = [slice(None)] * joint.ndim
                absent[axis] = [x for x in range(joint.shape[axis]) if x != state]
                kept[tuple(absent)] = 0
        kept *= weight / kept.sum()
        for node, up in enumerate(parent):
            axes = {node, up} - {-1}
            pair = kept.sum(axis=tuple(set(range(joint.ndim)) - axes))
            counts[node] += pair[:, None] if up < 0 else (pair if node < up else pair.T)
    return counts


@pytest.mark.parametrize("repeats", [True, False])
@pytest.mark.parametrize("index", range(5))
def test_expected_counts_equal_enumeration(index, repeats):
    model = small_models()[index]
    rows = holes(model.sample(25, 1).codes(), 2)
    weights = np.random.default_rng(3).random(25) + 0.1
    table = table_of(model, rows, weights)
    network = model.network
    *counts, total = table.sum(
        lambda block: expected_counts(network, plan_messages(network, block.codes, repeats=repeats), block.weights)
    )
    for ours, naive in zip(counts, naive_counts(model, rows, weights), strict=True):
        np.testing.assert_allclose(ours, naive, rtol=1e-9, atol=1e-12)
    assert total[0] == pytest.approx(model.log_likelihood(table), rel=1e-12)


def test_thousands_of_columns_neither_underflow_nor_lose_a_state():
    """3000 cells speak for state 0, the next 3001 for state 1: the posterior must end near state 1."""
    d = 6001
    tree = star(d)
    columns = tuple(Column(name, "integer", ("0", "1")) for name in tree.names)
    leaf = np.array([[0.9, 0.1], [0.1, 0.9]])
    model = LatentTreeModel(tree, columns, (*[leaf] * d, np.full((2, 1), 0.5)))
    row = np.array([[0] * 3000 + [1] * 3001])
    table = table_of(model, row)
    agree, differ = np.log(0.9), np.log(0.1)
    expected = np.log(0.5) + np.logaddexp(3000 * agree + 3001 * differ, 3000 * differ + 3001 * agree)
    assert model.log_likelihood(table) == pytest.approx(expected, rel=1e-12)
    np.testing.assert_allclose(model.posteriors(table)["H1"], [[0.1, 0.9]], rtol=1e-9)


def test_a_deep_tree_of_thousands_of_columns_has_a_finite_likelihood():
    tree = random_tree(3000, 0.05, 0)
    model = random_model(tree, n_states=4, hidden_states=2, random_state=0)
    table = model.sample(4, 0)
    rows = model.log_likelihood_rows(table)
    assert np.isfinite(rows).all()
    assert (rows < -2000).all()
    assert (rows > -3000 * np.log(10)).all()


def test_tiny_probabilities_are_not_lost():
    """Leaves that nearly rule out one state of H, on both sides of a nearly certain edge."""
    tree = Tree("abcd", [(0, 4), (1, 4), (2, 5), (3, 5), (4, 5)])
    tiny = np.array([[1 - 1e-15, 1e-15], [1e-15, 1 - 1e-15]])
    columns = model_on(tree, [2] * 6, 0).columns
    model = LatentTreeModel(tree, columns, (*[tiny] * 4, np.full((2, 1), 0.5), tiny))
    joint, rows = naive_joint(model), all_rows(model)
    table = table_of(model, rows)
    expected = np.log([given_row(joint, row).sum() for row in rows])
    np.testing.assert_allclose(model.log_likelihood_rows(table), expected, rtol=1e-9)
    for posterior in model.posteriors(table).values():
        np.testing.assert_allclose(posterior.sum(axis=1), 1, rtol=1e-9)


def test_an_impossible_row_without_weight_costs_nothing():
    tree = Tree("ab", [(0, 2), (1, 2)])
    model = LatentTreeModel(tree, model_on(tree, [2] * 3, 0).columns, (np.eye(2), np.eye(2), np.full((2, 1), 0.5)))
    table = table_of(model, [[0, 0], [0, 1]], np.array([1.0, 0.0]))
    assert model.log_likelihood(table) == np.log(0.5)
    *_, total = table.sum(
        lambda block: expected_counts(model.network, PlanCache(model.network).plan_for(block), block.weights)
    )
    assert total[0] == np.log(0.5)


@pytest.mark.parametrize("n_factors", [0, 1, 2, 7, 8, 16, 31, 32, 33, 80])
def test_messages_are_multiplied_exactly_however_many_they_are(n_factors):
    """Some products are too small for a number although no factor is zero; and real zeros."""
    rng = np.random.default_rng(n_factors)
    factors = [rng.uniform(0.1, 1, (7, 3)) for _ in range(n_factors)]
    for number, factor in enumerate(factors[:8]):
        factor[1] *= 1e-30
        factor[2, 1] *= 1e-30
        factor[3] *= 1e-100  # all states underflow
        factor[4, 1] *= 1e-100  # one does
        factor[5, number % 3] *= 1e-250  # all do in turn, and none is less probable in the end
    if n_factors:
        factors[-1][0, 2] = 0
        factors[0][6] = 0
    own = [factor.copy() for factor in factors]
    indices = [rng.permutation(7).astype(np.int32) if place % 2 else None for place in range(n_factors)]
    moved = [f if i is None else f[np.argsort(i)] for f, i in zip(factors, indices, strict=True)]
    with np.errstate(divide="ignore"):
        exact = sum((np.log(factor) for factor in factors), np.zeros((7, 3)))
        message, scale = _product(list(zip(moved, indices, strict=True)), (7, 3))
        found = np.log(message) + (0 if scale is None else scale[:, None])
    seen = exact > np.maximum(exact.max(axis=1, keepdims=True), -1e300) + np.log(1e-290)
    np.testing.assert_allclose(found[seen], exact[seen], rtol=1e-12, atol=1e-12)
    assert (message[exact == -np.inf] == 0).all()
    assert np.isfinite(message).all()
    assert all((a == b).all() for a, b in zip(own, factors, strict=True))


@pytest.mark.parametrize("n_columns", [9, 16, 30])
def test_columns_too_improbable_for_a_number_are_scored(n_columns):
    tree = star(n_columns)
    plain = model_on(tree, [2] * (n_columns + 1), 0)
    rare = np.array([[1 - 1e-60, 1 - 1e-55], [1e-60, 1e-55]])
    root = int(np.flatnonzero(tree.rooted().parent < 0)[0])
    assert root == n_columns
    model = LatentTreeModel(tree, plain.columns, (*[rare] * n_columns, np.array([[0.25], [0.75]])))
    ones = table_of(model, np.ones((1, n_columns), dtype=int))
    expected = np.log(0.75) + n_columns * np.log(1e-55)  # the other state is too improbable to count
    assert model.log_likelihood(ones) == pytest.approx(expected, rel=1e-9)
