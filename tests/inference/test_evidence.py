"""The messages around a hidden variable against the whole model, by enumeration."""

import numpy as np
import pytest

from helpers.models import all_rows, naive_joint, small_models, table_of
from latree.inference import evidence
from latree.inference.evidence import column_cells, messages
from latree.inference.messages import upward

HIDDEN = [
    pytest.param(model, node, id=f"{number}-{model.tree.node_names[node]}")
    for number, model in enumerate(small_models())
    for node in range(model.tree.n_observed, model.tree.n_nodes)
]
every_hidden_variable = pytest.mark.parametrize(("model", "node"), HIDDEN)


def test_cells_of_columns():
    codes = table_of(small_models()[0], all_rows(small_models()[0])).subsample_block(10**9, 0).codes
    n_states = small_models()[0].n_states[: codes.shape[1]].tolist()
    for column, (n, cells) in enumerate(zip(n_states, column_cells(codes, n_states), strict=True)):
        expected = [[code == state or code >= n for code in codes[:, column]] for state in range(n)]
        np.testing.assert_array_equal(cells, expected)


def messages_to(model, node, codes):
    """Messages of the neighbours of a hidden variable, by neighbour."""
    incoming = messages(model.network, table_of(model, codes).subsample_block(10**9, 0).codes)
    return {u: incoming[u, node] for u, _ in model.tree.neighbors[node]}


def naive_posterior(model, node, codes):
    """The joint distribution of a hidden variable and one row's cells, divided by its sum, for each row."""
    joint = naive_joint(model)
    hidden = tuple(axis for axis in range(model.tree.n_observed, joint.ndim) if axis != node)
    columns = joint.sum(axis=hidden)  # the hidden variable is the last axis
    rows = []
    for row in codes:
        cells = columns[tuple(slice(None) if x < 0 else x for x in row)]
        rows.append(cells.reshape(-1, cells.shape[-1]).sum(axis=0))
    return np.array(rows).T / np.sum(rows, axis=1)


@every_hidden_variable
def test_messages_say_what_the_cells_say_about_a_hidden_variable(model, node):
    """The posterior of H is P(H) times the product over neighbours u of Σ_x P(u = x | H) message_u(x)."""
    codes = all_rows(model)
    joint = naive_joint(model)

    def marginal(*kept):
        summed = joint.sum(axis=tuple(set(range(joint.ndim)) - set(kept)))
        return summed if list(kept) == sorted(kept) else summed.T

    prior = marginal(node)
    posterior = np.repeat(prior[:, None], len(codes), axis=1)
    for u, message in messages_to(model, node, codes).items():
        posterior = posterior * ((marginal(u, node) / prior).T @ message)
    np.testing.assert_allclose(posterior / posterior.sum(axis=0), naive_posterior(model, node, codes), atol=1e-12)


@every_hidden_variable
def test_the_largest_of_a_message_is_one_and_an_empty_side_says_nothing(model, node):
    codes = all_rows(model)
    for message in messages_to(model, node, codes).values():
        np.testing.assert_allclose(message.max(axis=0), 1, rtol=1e-12)
        np.testing.assert_allclose(message[:, 0], 1, rtol=1e-12)  # the first row has no cell at all
    assert (codes[0] == -1).all()


@pytest.mark.parametrize("model", small_models(), ids=str)
def test_messages_are_computed_for_some_rows_at_a_time(monkeypatch, model):
    codes = table_of(model, all_rows(model)).subsample_block(10**9, 0).codes
    expected = messages(model.network, codes)
    sizes = []
    monkeypatch.setattr(evidence, "rows_at_once", lambda network: 28)
    monkeypatch.setattr(evidence, "upward", lambda network, plan: sizes.append(plan.n_rows) or upward(network, plan))
    found = messages(model.network, codes, precision=np.float32)
    assert max(sizes) == 7
    assert sum(sizes) == len(codes)
    assert set(found) == set(expected)
    for ends, message in expected.items():
        assert found[ends].dtype == (np.bool_ if message.dtype == np.bool_ else np.float32)
        np.testing.assert_allclose(found[ends], message, rtol=1e-6, atol=1e-12)
