"""Messages against enumeration, and products of very many or very small factors."""

import numpy as np
import pytest

from helpers.models import all_rows, given_row, holes, model_on, naive_joint, small_models, star, table_of
from latree.inference.evidence import messages, posterior_moments
from latree.inference.messages import (
    LogUpward,
    _product,
    _upward_by_logarithms,
    _upward_by_products,
    downward,
    expected_counts,
    upward,
)
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


@pytest.mark.parametrize("repeats", [True, False])
@pytest.mark.parametrize("index", range(5))
def test_messages_by_logarithms_say_what_messages_by_products_say(index, repeats):
    model = small_models()[index]
    network = model.network
    codes = table_of(model, holes(model.sample(25, 1).codes(), 2)).subsample_block(10**9, 0).codes
    plan = plan_messages(network, codes, repeats=repeats)
    products, logarithms = _upward_by_products(network, plan), _upward_by_logarithms(network, plan)
    np.testing.assert_allclose(logarithms.log_likelihood, products.log_likelihood, rtol=1e-12, atol=1e-14)
    weights = np.random.default_rng(3).random(25) * [0, *[1] * 24]
    for one, other in zip(downward(products, weights), downward(logarithms, weights), strict=True):
        step, outside, posterior = one
        np.testing.assert_allclose(other[2], posterior, rtol=1e-9, atol=1e-12)
        if not step.is_node:
            continue
        node, rng = step.number, np.random.default_rng(4)
        for ours, theirs in (
            (logarithms.expected_counts(node, other[1]), products.expected_counts(node, outside)),
            (logarithms.as_message(other[1]), products.as_message(outside)),
            (logarithms.as_message(logarithms.likelihood[node]), products.as_message(products.likelihood[node])),
        ):
            np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-12)
        values = rng.random(posterior.shape)
        np.testing.assert_allclose(logarithms.average(node, values), products.average(node, values), rtol=1e-9)
        weighted = [up.times_likelihood(node, values) for up in (logarithms, products)]
        shares = [part / part.sum(axis=1, keepdims=True) for part in weighted]
        np.testing.assert_allclose(*shares, rtol=1e-9)


NEAR = np.array([[0.97, 0.03], [0.03, 0.97]])


def opposed(n, between, prior=(0.25, 0.75)):
    """Two hidden variables with n columns each, and the probabilities of one given the other."""
    tree = Tree([f"x{i}" for i in range(2 * n)], [*((i, 2 * n + i // n) for i in range(2 * n)), (2 * n, 2 * n + 1)])
    columns = tuple(Column(name, "integer", ("0", "1")) for name in tree.names)
    hidden = [np.array(prior)[:, None] if up < 0 else np.array(between) for up in tree.rooted().parent[2 * n :]]
    return LatentTreeModel(tree, columns, (*[NEAR] * (2 * n), *hidden))


@pytest.mark.parametrize("repeats", [True, False])
@pytest.mark.parametrize("n", [100, 150, 250, 340, 400, 1000])
def test_columns_that_disagree_about_hidden_variables_that_must_agree(n, repeats):
    """n columns say that the state is 0, as many that it is 1, and one more that it is 1: -inf and NaN once."""
    model = opposed(n, np.eye(2))
    rows = [[0] * n + [1] * n, [1, *[0] * (n - 1)] + [1] * n, [0] * (2 * n), [0] * n + [-1] * n] * 3
    table = table_of(model, rows)
    ones = np.array([n, n + 1, 0, 0] * 3)
    known = np.array([2 * n, 2 * n, 2 * n, n] * 3)
    of_state = np.log([[0.25], [0.75]]) + np.log(NEAR) @ [known - ones, ones]
    expected = np.logaddexp(*of_state)
    posterior = np.exp(of_state - expected)
    np.testing.assert_allclose(model.log_likelihood_rows(table), expected, rtol=1e-12)
    for found in model.posteriors(table).values():
        np.testing.assert_allclose(found, posterior.T, rtol=1e-9, atol=1e-12)
    codes = table.subsample_block(10**9, 0).codes
    *counts, total = expected_counts(model.network, plan_messages(model.network, codes, repeats=repeats), None)
    assert total[0] == pytest.approx(expected.sum(), rel=1e-12)
    for hidden in counts[2 * n :]:
        np.testing.assert_allclose(hidden.sum(axis=1), posterior.sum(axis=1), rtol=1e-9)
    # The score of a row, the messages in the tree, and cells that are drawn.
    mean, variance = posterior_moments(model.network, codes, {2 * n: np.arange(2.0), 2 * n + 1: np.zeros(2)})
    np.testing.assert_allclose(mean, posterior[1], rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(variance, posterior.prod(axis=0), rtol=1e-9, atol=1e-12)
    assert all(np.isfinite(message).all() for message in messages(model.network, codes).values())
    assert (model.complete(table, "draw", 0).codes()[3, n:] == 0).mean() > 0.8


def test_one_hidden_variable_whose_columns_repeat_and_disagree():
    """Columns with few patterns are multiplied in groups; each group rules out the state that the other needs."""
    n = 400
    tree = star(2 * n)
    columns = tuple(Column(name, "integer", ("0", "1")) for name in tree.names)
    model = LatentTreeModel(tree, columns, (*[NEAR] * (2 * n), np.array([[0.25], [0.75]])))
    rng = np.random.default_rng(0)
    rows = np.repeat(rng.integers(2, size=(64, 2)), n, axis=1)
    rows[:, [0, n]] ^= rng.integers(2, size=(64, 2))
    codes = table_of(model, rows).subsample_block(10**9, 0).codes
    plans = [plan_messages(model.network, codes, repeats=repeats) for repeats in (True, False)]
    ours, plain = (expected_counts(model.network, plan, None) for plan in plans)
    assert ours[-1][0] == pytest.approx(plain[-1][0], rel=1e-12)
    np.testing.assert_allclose(ours[-2], plain[-2], rtol=1e-9)


def test_the_cell_of_an_inner_node_that_hundreds_of_columns_speak_against():
    n = 400
    tree = Tree([f"x{i}" for i in range(n + 1)], [(i, n) for i in range(n)])
    columns = tuple(Column(name, "integer", ("0", "1")) for name in tree.names)
    model = LatentTreeModel(tree, columns, (*[NEAR] * n, np.array([[0.25], [0.75]])))
    table = table_of(model, [[0] * n + [1], [0] * n + [0]])
    expected = [np.log(0.75) + n * np.log(0.03), np.log(0.25) + n * np.log(0.97)]
    np.testing.assert_allclose(model.log_likelihood_rows(table), expected, rtol=1e-12)


@pytest.mark.parametrize(
    ("between", "prior"),
    [
        ([[1 - 1e-180, 1e-180], [1e-180, 1 - 1e-180]], (0.25, 0.75)),  # nearly zero is as bad
        (NEAR, (0.0, 1.0)),  # a state that cannot be, and that all columns speak for
    ],
)
def test_very_small_probabilities_between_hidden_variables(between, prior):
    n = 300
    model = opposed(n, between, prior)
    table = table_of(model, [[0] * n + [1] * n, [0] * (2 * n)])
    with np.errstate(divide="ignore"):
        leaves = np.log(NEAR)
        parent = model.tree.rooted().parent
        root = next(node for node in (2 * n, 2 * n + 1) if parent[node] < 0)
        of_row = []
        for first, second in ((0, 1), (0, 0)):
            cells = {2 * n: n * leaves[first], 2 * n + 1: n * leaves[second]}
            joint = np.log(between) + np.log(prior) + cells[root] + cells[4 * n + 1 - root][:, None]
            of_row.append(np.logaddexp.reduce(joint.ravel()))
    np.testing.assert_allclose(model.log_likelihood_rows(table), of_row, rtol=1e-12)


def test_impossible_rows_and_ordinary_models_need_no_logarithms():
    """Logarithms take longer: true zeros, and states that are lost without consequence, do not ask for them."""
    tree = Tree("abcd", [(0, 4), (1, 4), (2, 5), (3, 5), (4, 5)])
    columns = model_on(tree, [2] * 6, 0).columns
    certain = LatentTreeModel(tree, columns, (*[np.eye(2)] * 4, np.full((2, 1), 0.5), np.eye(2)))
    possible_and_not = table_of(certain, all_rows(certain)).subsample_block(10**9, 0).codes
    wide = opposed(1000, NEAR)
    of_wide = table_of(wide, [[0] * 1000 + [1] * 1000, [0] * 2000]).subsample_block(10**9, 0).codes
    for model, codes in ((certain, possible_and_not), (wide, of_wide)):
        for repeats in (True, False):
            plan = plan_messages(model.network, codes, repeats=repeats)
            assert not isinstance(upward(model.network, plan), LogUpward)
