"""Random starts of EM, and starts from the joint distributions on the edges."""

import numpy as np
import pytest

from helpers.models import holes, model_on, small_models, table_of
from latree.inference.starts import grown_start, identity_table, random_start, start_from
from latree.learners.structure import latent_class
from latree.model import LatentTreeModel
from latree.paper.simulate import random_model, random_tree
from latree.table import as_table
from latree.tree import Tree


def test_a_start_holds_nothing_for_impossible():
    model = small_models()[0]
    rows = np.zeros((10, 5), dtype=int)
    start = random_start(table_of(model, rows), model.tree, 3, 0)
    assert all((probabilities > 0).all() for probabilities in start)


def test_a_start_agrees_along_the_tree_and_follows_the_columns():
    tree = random_tree(8, 0.5, 0)
    model = random_model(tree, n_states=3, random_state=0)
    rows = model.sample(500, 0).codes()
    rows[:, 0] = np.arange(500) % 20 == 0
    start = random_start(table_of(model, rows), tree, 3, 0)
    parent = tree.rooted().parent
    for node in range(8, tree.n_nodes):
        if parent[node] >= 0:
            assert (np.diag(start[node]) >= 0.9).all()
    shares = (start[0] - 0.7 * np.array([[0.95], [0.05], [0]])) / 0.3  # of the row that a state begins at
    np.testing.assert_allclose(shares.max(axis=0), 1, atol=0.02)


def test_states_start_at_rows_that_are_unlike_each_other():
    codes = np.repeat(np.arange(4), [970, 10, 10, 10])[:, None] * np.ones(6, dtype=int)
    tree = latent_class([f"x{i}" for i in range(6)]).tree
    for seed in range(5):
        start = random_start(as_table(codes, names=tree.names), tree, 4, seed)
        towards = (start[0] / start[0].mean(axis=1, keepdims=True)).argmax(axis=0)
        assert sorted(towards.tolist()) == [0, 1, 2, 3]


@pytest.mark.parametrize("states", [[4] * 8, [6] * 8, [8] * 8])
def test_divided_states_share_the_probability_of_the_state_they_come_from(states):
    tree = random_tree(10, 0.5, 0)
    tables = random_model(tree, n_states=3, hidden_states=4, random_state=0).tables
    grown = grown_start(tree, tables, states, 0)
    parent = tree.rooted().parent
    for node, (old, new) in enumerate(zip(tables, grown, strict=True)):
        np.testing.assert_allclose(new.sum(axis=0), 1, rtol=1e-12)
        rows = np.arange(len(new)) % len(old)
        merged = np.array([new[rows == h].sum(axis=0) for h in range(len(old))])
        spread = merged / old[:, np.arange(new.shape[1]) % old.shape[1]]
        assert (abs(np.log(spread)) < np.log(1.4 / 0.6) + np.log(9)).all()
        if states[0] == 8 and node >= 10 and parent[node] >= 10:
            agree = (new[:4, :4].sum() + new[4:, 4:].sum()) / 8
            assert 0.85 < agree < 0.95  # nine parts of ten: 1.8 against 0.2
    again, other = grown_start(tree, tables, states, 0), grown_start(tree, tables, states, 1)
    assert all((a == b).all() for a, b in zip(grown, again, strict=True))
    assert not np.array_equal(grown[0], other[0])


def test_divided_states_differ_in_what_columns_have():
    tree = latent_class(["a", "b", "c"]).tree
    tables = random_model(tree, n_states=3, hidden_states=2, random_state=0).tables
    for table in grown_start(tree, tables, [4], 0)[:3]:
        assert 0.02 < abs(table[:, :2] - table[:, 2:]).max() < 0.4


def edge_tables_of(model):
    """The exact joint distributions of the two ends of every edge."""
    return tuple(model.joint(edge) for edge in model.tree.edges.tolist())


def counted(table):
    """The frequencies of each column, half a row more of each state."""
    counts = [np.bincount(c[c >= 0], minlength=n) + 0.5 for c, n in zip(table.codes().T, table.n_states, strict=True)]
    return [(count / count.sum())[:, None] for count in counts]


def expected_start(model, table):
    """The model itself, but for columns that are roots: they get the frequencies of the table."""
    parent = model.tree.rooted().parent
    roots = [node for node in range(model.tree.n_observed) if parent[node] < 0]
    tables = [counted(table)[node] if node in roots else own for node, own in enumerate(model.tables)]
    return LatentTreeModel(model.tree, model.columns, tuple(tables))


@pytest.mark.parametrize("index", range(5))
def test_a_start_from_edge_tables_is_the_model_that_they_come_from(index, monkeypatch):
    monkeypatch.setattr("latree.inference.starts._FLOOR", 0)
    model = small_models()[index]
    table = table_of(model, holes(model.sample(100, 0).codes(), 1))
    start = LatentTreeModel(model.tree, model.columns, start_from(table, model.tree, edge_tables_of(model)))
    expected = expected_start(model, table)
    for ours, wanted in zip(start.tables, expected.tables, strict=True):
        np.testing.assert_allclose(ours, wanted, rtol=1e-9)
    assert start.log_likelihood(table) == pytest.approx(expected.log_likelihood(table), rel=1e-12)


@pytest.mark.parametrize("index", range(5))
def test_it_does_not_matter_which_end_of_an_edge_comes_first(index):
    model = small_models()[index]
    table = model.sample(100, 0)
    turned = Tree(model.tree.names, model.tree.edges[:, ::-1])
    one, other = (
        start_from(table, tree, edge_tables)
        for tree, edge_tables in (
            (model.tree, edge_tables_of(model)),
            (turned, [joint.T for joint in edge_tables_of(model)]),
        )
    )
    for ours, theirs in zip(one, other, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-12)


@pytest.mark.parametrize("index", range(5))
def test_a_start_from_edge_tables_is_near_them_and_nowhere_zero(index):
    model = small_models()[index]
    table = model.sample(100, 0)
    sure = LatentTreeModel(model.tree, model.columns, tuple((t == t.max(axis=0)).astype(float) for t in model.tables))
    near = start_from(table, model.tree, edge_tables_of(model))
    for ours, wanted in zip(near, expected_start(model, table).tables, strict=True):
        np.testing.assert_allclose(ours, wanted, rtol=0, atol=5e-3)
    start = start_from(table, model.tree, edge_tables_of(sure))
    parent = model.tree.rooted().parent
    marginals = list(sure.marginals().values())
    for node, (ours, wanted) in enumerate(zip(start, expected_start(sure, table).tables, strict=True)):
        assert ours.min() > 1e-4
        met = marginals[parent[node]] > 0 if parent[node] >= 0 else np.array([True])
        np.testing.assert_allclose(ours[:, met], wanted[:, met], rtol=0, atol=5e-3)
        np.testing.assert_allclose(ours[:, ~met], 1 / len(ours), rtol=1e-9)  # of a state that never occurs, nothing


def test_columns_without_neighbours_start_from_their_frequencies(monkeypatch):
    monkeypatch.setattr("latree.inference.starts._FLOOR", 0)
    model = model_on(Tree("abc", []), [2, 3, 4], 0)
    table = table_of(model, holes(model.sample(50, 0).codes(), 1))
    start = start_from(table, model.tree, ())
    for ours, wanted in zip(start, counted(table), strict=True):
        np.testing.assert_allclose(ours, wanted, rtol=1e-12)


@pytest.mark.parametrize(
    ("n", "k", "expected"),
    [(2, 2, [[1, 0], [0, 1]]), (2, 3, [[1, 0, 1], [0, 1, 0]]), (3, 2, [[1, 0], [0, 1], [0, 0]]), (2, 1, [[1], [0]])],
)
def test_a_copy_of_a_variable_with_more_states_goes_round(n, k, expected):
    assert identity_table(n, k).tolist() == expected
