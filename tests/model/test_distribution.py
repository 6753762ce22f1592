"""What follows from the tree and its tables alone, against enumeration."""

import numpy as np
import pytest

from helpers.models import chain_model, naive_joint, small_models
from latree.errors import InputError
from latree.model import LatentTreeModel
from latree.table import Column

MODELS = small_models()
every_model = pytest.mark.parametrize("model", MODELS, ids=["binary", "star", "forest", "observed-inner", "chain"])


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


def test_free_parameters_are_counted_by_hand_and_do_not_depend_on_the_root():
    star = MODELS[1]  # one hidden variable of 3 states, columns of 3, 2, 3 and 2
    assert star.n_parameters == 2 + 3 * (2 + 1 + 2 + 1)
    model = MODELS[0]
    edges = model.tree.edges
    sizes = model.n_states
    # For every edge a joint table has n_u n_v - 1 free entries; a node is counted once too often for each further edge.
    degree = np.bincount(edges.ravel(), minlength=len(sizes))
    assert model.n_parameters == (sizes[edges].prod(axis=1) - 1).sum() - ((degree - 1) * (sizes - 1)).sum()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda tables: tables[:-1], r"needs \d+ tables, not"),
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


def test_exact_quartet_tables_are_padded_with_zeros():
    model = MODELS[0]
    quartets = np.array([[0, 3, 1, 2], [4, 2, 0, 1]])
    for tensor, quartet in zip(model.quartet_tables(quartets), quartets.tolist(), strict=True):
        exact = model.joint(quartet)
        expected = np.zeros((4, 4, 4, 4))
        expected[tuple(map(slice, exact.shape))] = exact
        np.testing.assert_array_equal(tensor, expected)


@pytest.mark.parametrize("model", small_models())
def test_strengths_are_information_over_entropy(model):
    joint = naive_joint(model)
    strengths = model.edge_strengths()
    for (u, v), strength in zip(model.tree.edges.tolist(), strengths, strict=True):
        pair = joint.sum(axis=tuple(set(range(joint.ndim)) - {u, v}))
        p, q = pair.sum(axis=1, keepdims=True), pair.sum(axis=0, keepdims=True)
        information = (pair * np.log(pair / (p * q))).sum()
        entropies = [-(share * np.log(share)).sum() for share in (p, q)]
        assert strength == pytest.approx(np.sqrt(information / min(entropies)), rel=1e-9)


def test_strengths_reach_from_nought_to_one():
    same, nothing = [[1.0, 0.0], [0.0, 1.0]], [[0.3, 0.3], [0.7, 0.7]]
    model = chain_model(same, [[0.4], [0.6]], nothing)
    np.testing.assert_allclose(model.edge_strengths(), [1, 0], rtol=0, atol=1e-7)
    constant = chain_model(same, [[1.0], [0.0]], nothing)
    assert constant.edge_strengths().tolist() == [0, 0]
