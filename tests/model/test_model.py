import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.models import all_rows, model_on, naive_joint, small_models, table_of
from latree.errors import InputError
from latree.inference.messages import expected_counts
from latree.inference.patterns import Plans
from latree.model import LatentTreeModel
from latree.paper.simulate import random_model, random_tree
from latree.table import Column
from latree.tree import Tree

MODELS = small_models()
every_model = pytest.mark.parametrize("model", MODELS, ids=["binary", "star", "forest", "observed-inner", "chain"])


def given_row(joint, row):
    """Keep the entries of the joint distribution that agree with a row; missing cells agree with all."""
    kept = joint
    for axis, state in enumerate(row):
        if state >= 0:
            kept = np.take(kept, [state], axis=axis)
    return kept


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


@every_model
def test_marginals_and_joints_equal_enumeration(model):
    joint = naive_joint(model)
    everything = range(model.tree.n_nodes)
    for node, marginal in enumerate(model.marginals().values()):
        np.testing.assert_allclose(marginal, joint.sum(axis=tuple(set(everything) - {node})), rtol=1e-12)
    for nodes in ([0, 1], [2, 0], [1, 0, 2], [model.tree.n_nodes - 1, 0], [2]):
        axes = [axis for axis in everything if axis in nodes]
        expected = joint.sum(axis=tuple(set(everything) - set(nodes)))
        np.testing.assert_allclose(
            model.joint(nodes), expected.transpose([axes.index(node) for node in nodes]), rtol=1e-12
        )
    with pytest.raises(ValueError, match="differ"):
        model.joint([0, 0])


@every_model
def test_samples_follow_the_model(model):
    states = model.sample_all(200_000, random_state=0)
    shape = model.n_states.tolist()
    frequencies = np.bincount(np.ravel_multi_index(states.T, shape), minlength=np.prod(shape)) / len(states)
    np.testing.assert_allclose(frequencies.reshape(shape), naive_joint(model), rtol=0, atol=0.006)


def test_sampling_is_seeded():
    model = MODELS[0]
    codes = [model.sample(50, seed).codes() for seed in (1, 1, 2)]
    np.testing.assert_array_equal(codes[0], codes[1])
    assert (codes[0] != codes[2]).any()


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


def test_thousands_of_columns_neither_underflow_nor_lose_a_state():
    """3000 cells speak for state 0, the next 3001 for state 1: the posterior must end near state 1."""
    d = 6001
    tree = Tree([f"x{i}" for i in range(d)], [(i, d) for i in range(d)])
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


def test_free_parameters_are_counted_by_hand_and_do_not_depend_on_the_root():
    star = MODELS[1]  # one hidden variable of 3 states, columns of 3, 2, 3 and 2
    assert star.n_parameters == 2 + 3 * (2 + 1 + 2 + 1)
    model = MODELS[0]
    edges = model.tree.edges
    sizes = model.n_states
    # For every edge a joint table has n_u n_v - 1 free entries; a node is counted once too often for each further edge.
    degree = np.bincount(edges.ravel(), minlength=len(sizes))
    assert model.n_parameters == (sizes[edges].prod(axis=1) - 1).sum() - ((degree - 1) * (sizes - 1)).sum()


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
    monkeypatch.setattr("latree.table.chunks.BLOCK_ROWS", 7)
    np.testing.assert_array_equal(model.log_likelihood_rows(table_of(model, rows)), whole)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda tables: tables[:-1], "needs as many tables"),
        (lambda tables: (tables[0][:, :1], *tables[1:]), "shape"),
        (lambda tables: (tables[0] * 1.0001, *tables[1:]), "distributions"),
        (lambda tables: (tables[0] + np.array([[-1], [1], [0]]), *tables[1:]), "distributions"),
    ],
)
def test_a_model_checks_its_tables(change, message):
    model = MODELS[1]
    with pytest.raises(InputError, match=message):
        LatentTreeModel(model.tree, model.columns, change(model.tables))


def test_a_model_checks_its_columns():
    model = MODELS[1]
    renamed = tuple(Column(f"z{column.name}", column.kind, column.categories) for column in model.columns)
    with pytest.raises(InputError, match="observed variables"):
        LatentTreeModel(model.tree, renamed, model.tables)


def test_a_model_refuses_a_table_coded_otherwise():
    star = Tree("abc", [(0, 3), (1, 3), (2, 3)])
    model, other = model_on(star, [2, 2, 2, 2], 0), model_on(star, [2, 3, 2, 2], 0)
    for refusing in (model.encode, model.log_likelihood, model.posteriors, model.complete):
        with pytest.raises(InputError, match="coded"):
            refusing(other.sample(3, 0))
    assert model.encode(np.array([[0, 5, 1]]), unseen="missing").codes().tolist() == [[0, -1, 1]]


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
    *_, total = table.sum(lambda block: expected_counts(model.network, Plans(model.network).of(block), block.weights))
    assert total[0] == np.log(0.5)


def test_exact_quartet_tables_are_padded_with_zeros():
    model = MODELS[0]
    quartets = np.array([[0, 3, 1, 2], [4, 2, 0, 1]])
    for tensor, quartet in zip(model.quartet_tables(quartets), quartets.tolist(), strict=True):
        exact = model.joint(quartet)
        expected = np.zeros((4, 4, 4, 4))
        expected[tuple(map(slice, exact.shape))] = exact
        np.testing.assert_array_equal(tensor, expected)


def test_models_and_tables_compare_by_identity():
    assert MODELS[0] == MODELS[0] != MODELS[1]
    assert len({MODELS[0], MODELS[0].sample(3, 0)}) == 2
