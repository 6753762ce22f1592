"""The model's methods on data against enumeration; pyAgrum as a judge."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.models import all_rows, given_row, model_on, naive_joint, small_models, table_of
from latree.errors import InputError
from latree.model import LatentTreeModel
from latree.paper.simulate import random_model, random_tree
from latree.tree import Tree

with warnings.catch_warnings():  # its compiled parts warn when imported, and crash if that is an error
    warnings.simplefilter("ignore")
    import pyagrum as gum

MODELS = small_models()
every_model = pytest.mark.parametrize("model", MODELS, ids=["binary", "star", "forest", "observed-inner", "chain"])


@every_model
def test_log_likelihood_equals_enumeration(model):
    joint, rows = naive_joint(model), all_rows(model)
    expected = [np.log(given_row(joint, row).sum()) for row in rows]
    np.testing.assert_allclose(model.log_likelihood_rows(table_of(model, rows)), expected, rtol=0, atol=1e-10)


@every_model
def test_posteriors_equal_enumeration(model):
    joint, rows = naive_joint(model), all_rows(model)
    posteriors = model.posteriors(table_of(model, rows))
    for node in range(model.tree.n_observed, model.tree.n_nodes):
        others = tuple(axis for axis in range(model.tree.n_nodes) if axis != node)
        expected = np.array([given_row(joint, row).sum(axis=others) for row in rows])
        expected /= expected.sum(axis=1, keepdims=True)
        np.testing.assert_allclose(posteriors[model.tree.node_names[node]], expected, rtol=0, atol=1e-10)


@every_model
def test_completion_is_the_most_probable_state_of_each_cell(model):
    joint, rows = naive_joint(model), all_rows(model)
    completed = model.complete(table_of(model, rows)).codes()
    for row, full in zip(rows, completed, strict=True):
        for column, state in enumerate(row):
            if state >= 0:
                assert full[column] == state
                continue
            others = tuple(axis for axis in range(model.tree.n_nodes) if axis != column)
            probability = given_row(joint, row).sum(axis=others)
            assert probability[full[column]] >= probability.max() * (1 - 1e-9)


@settings(deadline=None)
@given(seed=st.integers(0, 10**6), data=st.data())
def test_posteriors_sum_to_one_and_missing_rows_say_nothing(seed, data):
    tree = random_tree(data.draw(st.integers(4, 9)), 0.4, seed)
    model = random_model(tree, n_states=3, hidden_states=(2, 4), random_state=seed)
    rows = np.random.default_rng(seed).integers(-1, 3, size=(5, tree.n_observed))
    rows[0] = -1
    table = table_of(model, rows)
    assert model.log_likelihood_rows(table)[0] == pytest.approx(0, abs=1e-12)
    for name, posterior in model.posteriors(table).items():
        np.testing.assert_allclose(posterior.sum(axis=1), 1, rtol=1e-9)
        np.testing.assert_allclose(posterior[0], model.marginals()[name], rtol=1e-9)


def test_an_impossible_row_has_no_likelihood_and_no_posterior():
    model = model_on(Tree("ab", [(0, 2), (1, 2)]), [2, 2, 2], 0)
    certain = LatentTreeModel(model.tree, model.columns, (np.eye(2), np.eye(2), np.full((2, 1), 0.5)))
    table = table_of(certain, [[0, 0], [0, 1]])
    np.testing.assert_array_equal(certain.log_likelihood_rows(table), [np.log(0.5), -np.inf])
    posterior = certain.posteriors(table)["H1"]
    np.testing.assert_allclose(posterior[0], [1, 0], rtol=1e-12)
    assert np.isnan(posterior[1]).all()


def test_row_weights_count_as_repeated_rows():
    model = MODELS[0]
    rows = model.sample(30, 0).codes()
    weights = np.arange(30) % 4
    repeated = table_of(model, np.repeat(rows, weights, axis=0))
    weighted = table_of(model, rows, weights.astype(float))
    assert model.log_likelihood(weighted) == pytest.approx(model.log_likelihood(repeated), rel=1e-12)
    assert model.bic(weighted) == pytest.approx(model.bic(repeated), rel=1e-12)


def test_criteria():
    model = MODELS[0]
    table = model.sample(40, 0)
    log_likelihood = model.log_likelihood_rows(table).sum()
    assert model.log_likelihood(table) == pytest.approx(log_likelihood, rel=1e-12)
    assert model.aic(table) == pytest.approx(2 * model.n_parameters - 2 * log_likelihood, rel=1e-12)
    assert model.bic(table) == pytest.approx(np.log(40) * model.n_parameters - 2 * log_likelihood, rel=1e-12)


@given(seed=st.integers(0, 10**6))
def test_permuting_columns_changes_no_likelihood(seed):
    rng = np.random.default_rng(seed)
    tree = random_tree(6, 0.4, seed)
    model = random_model(tree, n_states=3, hidden_states=2, random_state=seed)
    order = rng.permutation(6)
    moved = tree.reordered([tree.names[i] for i in order])
    tables = (*(model.tables[i] for i in order), *model.tables[6:])
    if moved.rooted().parent[6:].tolist() != tree.rooted().parent[6:].tolist():
        return  # hung from another hidden node: the tables would have to be turned round
    other = LatentTreeModel(moved, tuple(model.columns[i] for i in order), tables)
    rows = rng.integers(-1, 3, size=(20, 6))
    np.testing.assert_allclose(
        other.log_likelihood_rows(table_of(other, rows[:, order])),
        model.log_likelihood_rows(table_of(model, rows)),
        rtol=1e-10,
    )


def test_blocks_and_threads_change_nothing(monkeypatch):
    model = MODELS[0]
    rows = model.sample(500, 0).codes()
    whole = model.log_likelihood_rows(table_of(model, rows))
    monkeypatch.setattr("latree.table.rows.BLOCK_ROWS", 7)
    np.testing.assert_array_equal(model.log_likelihood_rows(table_of(model, rows)), whole)


def test_a_model_refuses_a_table_coded_otherwise():
    star = Tree("abc", [(0, 3), (1, 3), (2, 3)])
    model, other = model_on(star, [2, 2, 2, 2], 0), model_on(star, [2, 3, 2, 2], 0)
    for refusing in (model.encode, model.log_likelihood, model.posteriors, model.complete):
        with pytest.raises(InputError, match="coded"):
            refusing(other.sample(3, 0))
    assert model.encode(np.array([[0, 5, 1]]), unseen="missing").codes().tolist() == [[0, -1, 1]]


def test_models_and_tables_compare_by_identity():
    assert MODELS[0] == MODELS[0] != MODELS[1]
    assert len({MODELS[0], MODELS[0].sample(3, 0)}) == 2


def agrum_network(model):
    """The same model as a Bayesian network of pyAgrum."""
    network = gum.BayesNet()
    names = model.tree.node_names
    parent = model.tree.rooted().parent.tolist()
    for name, size in zip(names, model.n_states.tolist(), strict=True):
        network.add(gum.LabelizedVariable(name, name, size))
    for node, up in enumerate(parent):
        if up >= 0:
            network.addArc(names[up], names[node])
    for node, up in enumerate(parent):
        table = model.tables[node]
        if up < 0:
            network.cpt(names[node])[:] = table[:, 0]
            continue
        for state in range(table.shape[1]):
            network.cpt(names[node])[{names[up]: state}] = table[:, state]
    return network


def test_pyagrum_agrees_on_likelihoods_and_posteriors():
    tree = random_tree(14, 0.3, 1)
    model = random_model(tree, n_states=4, hidden_states=(2, 5), start="identity", perturbation=0.4, random_state=1)
    rows = model.sample(25, 2).codes()
    rows[np.random.default_rng(3).random(rows.shape) < 0.2] = -1
    table = table_of(model, rows)
    ours, posteriors = model.log_likelihood_rows(table), model.posteriors(table)
    inference = gum.LazyPropagation(agrum_network(model))
    for i, row in enumerate(rows.tolist()):
        inference.setEvidence({name: x for name, x in zip(tree.names, row, strict=True) if x >= 0})
        inference.makeInference()
        assert ours[i] == pytest.approx(np.log(inference.evidenceProbability()), abs=1e-9)
        for name, posterior in posteriors.items():
            np.testing.assert_allclose(posterior[i], inference.posterior(name).toarray(), rtol=0, atol=1e-9)


def test_pyagrum_agrees_on_a_joint_of_four_columns():
    tree = random_tree(12, 0.2, 4)
    model = random_model(tree, n_states=3, hidden_states=(2, 4), start="identity", random_state=4)
    inference = gum.LazyPropagation(agrum_network(model))
    nodes = [7, 2, 11, 4]
    names = [tree.names[node] for node in nodes]
    inference.addJointTarget(set(names))
    inference.makeInference()
    theirs = inference.jointPosterior(set(names))
    ours = model.joint(nodes)
    for states in np.ndindex(*ours.shape):
        assert ours[states] == pytest.approx(theirs[dict(zip(names, states, strict=True))], rel=1e-9)
