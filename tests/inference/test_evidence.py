"""A hidden variable by itself against the whole model, by enumeration."""

import numpy as np
import pytest

from helpers.models import all_rows, naive_joint, small_models, table_of
from latree.inference.evidence import Evidence, Local, fit_local, messages, random_local

MODELS = small_models()
HIDDEN = [
    pytest.param(model, node, id=f"{number}-{model.tree.node_names[node]}")
    for number, model in enumerate(MODELS)
    for node in range(model.tree.n_observed, model.tree.n_nodes)
]
every_hidden_variable = pytest.mark.parametrize(("model", "node"), HIDDEN)


def around(model, node):
    return [u for u, _ in model.tree.neighbors[node]]


def evidence_of(model, node, codes, weights=None):
    block = table_of(model, codes).subsample_block(10**9, 0)
    incoming = messages(model.network, block.codes)
    return Evidence(tuple(incoming[u, node] for u in around(model, node)), weights)


def own_local(model, node):
    """The tables around a hidden variable as the model has them."""
    joint = naive_joint(model)

    def marginal(*kept):
        summed = joint.sum(axis=tuple(set(range(joint.ndim)) - set(kept)))
        return summed if list(kept) == sorted(kept) else summed.T

    prior = marginal(node)
    return Local(prior, tuple(marginal(u, node) / prior for u in around(model, node)))


def random_tables(model, node, k, rng):
    sizes = model.n_states
    return Local(rng.dirichlet(np.ones(k)), tuple(rng.dirichlet(np.ones(sizes[u]), k).T for u in around(model, node)))


def whole_rows(model, node, local, codes):
    """The rows' log-likelihood if a hidden variable and its neighbours are as told, and all else is as the model's."""
    joint = naive_joint(model).sum(axis=node, keepdims=True)
    near = around(model, node)
    beside = tuple(axis for axis in range(joint.ndim) if axis not in near)
    rest = joint / joint.sum(axis=beside, keepdims=True)  # given the neighbours, the hidden variable does not matter
    told = np.zeros([len(table) for table in local.tables])
    for h, share in enumerate(local.prior):
        product = np.array(share)
        for table in local.tables:
            product = np.multiply.outer(product, table[:, h])
        told += product
    order = np.argsort(near)
    shape = [len(model.tables[axis]) if axis in near else 1 for axis in range(joint.ndim)]
    changed = rest * told.transpose(order).reshape(shape)
    columns = changed.sum(axis=tuple(range(model.tree.n_observed, joint.ndim)))
    return np.log([columns[tuple(slice(None) if x < 0 else x for x in row)].sum() for row in codes])


def local_log_likelihood(local, evidence):
    return fit_local(local, evidence, smoothing=0, tolerance=0, max_iterations=0)[1]


@every_hidden_variable
def test_a_hidden_variable_by_itself_has_the_likelihood_of_the_whole_model(model, node):
    """But for a term of each row's own: differences of two local models are those of the whole ones."""
    rng = np.random.default_rng(0)
    codes = all_rows(model)
    own = own_local(model, node)
    rows = whole_rows(model, node, own, codes)
    np.testing.assert_allclose(rows, model.log_likelihood_rows(table_of(model, codes)), rtol=1e-9, atol=1e-12)
    for k in (1, 2, 5):
        other = random_tables(model, node, k, rng)
        gain = whole_rows(model, node, other, codes) - rows
        for weights in (None, *rng.exponential(size=(3, len(codes)))):
            evidence = evidence_of(model, node, codes, weights)
            found = local_log_likelihood(other, evidence) - local_log_likelihood(own, evidence)
            assert found == pytest.approx(gain.sum() if weights is None else weights @ gain, rel=1e-9, abs=1e-9)


@every_hidden_variable
def test_the_largest_of_a_message_is_one_and_an_empty_side_says_nothing(model, node):
    codes = all_rows(model)
    for message in evidence_of(model, node, codes).messages:
        np.testing.assert_allclose(message.max(axis=0), 1, rtol=1e-12)
        np.testing.assert_allclose(message[:, 0], 1, rtol=1e-12)  # the first row has no cell at all
    assert (codes[0] == -1).all()


@every_hidden_variable
@pytest.mark.parametrize("smoothing", [0.0, 0.3])
def test_no_iteration_lowers_the_objective(model, node, smoothing):
    rng = np.random.default_rng(1)
    codes = all_rows(model)[rng.permutation(len(all_rows(model)))[:60]]
    evidence = evidence_of(model, node, codes, rng.exponential(size=len(codes)))
    start = random_local(evidence, 3, rng)
    objectives = []
    for iterations in range(12):
        local, log_likelihood = fit_local(start, evidence, smoothing=smoothing, tolerance=0, max_iterations=iterations)
        assert log_likelihood == local_log_likelihood(local, evidence)
        prior = sum(np.log(table).sum() for table in (local.prior, *local.tables)) if smoothing else 0
        objectives.append(log_likelihood + smoothing * prior)
        for table in (local.prior, *local.tables):
            np.testing.assert_allclose(table.sum(axis=0), 1, rtol=1e-9)
    assert np.diff(objectives).min() > -1e-9 * abs(objectives[0])
    assert objectives[-1] > objectives[0] + 0.5


@every_hidden_variable
def test_a_local_fit_from_the_models_own_tables_raises_the_whole_likelihood(model, node):
    rng = np.random.default_rng(2)
    codes = all_rows(model)[rng.permutation(len(all_rows(model)))[:60]]
    own, evidence = own_local(model, node), evidence_of(model, node, codes)
    fitted, _ = fit_local(own, evidence, smoothing=0, tolerance=1e-9, max_iterations=50)
    before, after = (whole_rows(model, node, local, codes).sum() for local in (own, fitted))
    assert after > before + 1e-3


def test_rows_weigh_what_they_weigh():
    model = MODELS[0]
    rng = np.random.default_rng(3)
    codes, weights = all_rows(model)[rng.permutation(720)[:50]], rng.integers(0, 4, 50)
    weighted = evidence_of(model, 6, codes, weights.astype(float))
    repeated = evidence_of(model, 6, np.repeat(codes, weights, axis=0))
    assert weighted.total_weight == repeated.total_weight == weights.sum()
    start = random_tables(model, 6, 3, rng)
    one, other = (
        fit_local(start, evidence, smoothing=0.1, tolerance=1e-6, max_iterations=30)
        for evidence in (weighted, repeated)
    )
    assert one[1] == pytest.approx(other[1], rel=1e-9)
    for a, b in zip(one[0].tables, other[0].tables, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-6)


def test_smoothing_adds_as_many_rows_to_every_cell():
    """Rows without cells are as the model expects them, so that one iteration moves by the smoothing alone."""
    model = MODELS[1]
    start = random_tables(model, 4, 3, np.random.default_rng(0))
    evidence = evidence_of(model, 4, np.full((5, 4), -1))
    moved, _ = fit_local(start, evidence, smoothing=0.5, tolerance=0, max_iterations=1)
    np.testing.assert_allclose(moved.prior, (5 * start.prior + 0.5) / (5 + 1.5), rtol=1e-9)
    for before, after in zip(start.tables, moved.tables, strict=True):
        expected = 5 * start.prior * before + 0.5
        np.testing.assert_allclose(after, expected / expected.sum(axis=0), rtol=1e-9)


def test_parameters_are_those_of_a_model_with_one_hidden_variable():
    star = MODELS[1]
    assert own_local(star, 4).n_parameters == star.n_parameters


def test_a_start_is_a_distribution_near_what_the_rows_say():
    model = MODELS[1]
    codes = all_rows(model)[(all_rows(model) >= 0).all(axis=1)]
    codes = codes[codes[:, 0] != 2]
    start = random_local(evidence_of(model, 4, codes), 4, np.random.default_rng(0))
    assert [table.shape for table in start.tables] == [(n, 4) for n in (3, 2, 3, 2)]
    assert (start.tables[0][2] == 0).all()  # no row has this state
    assert np.ptp(start.tables[1], axis=1).min() > 0.05
    for table in (start.prior, *start.tables):
        np.testing.assert_allclose(table.sum(axis=0), 1, rtol=1e-12)
