"""The rows that a search looks at, and the messages of models that are fitted to them."""

from weakref import WeakSet

import numpy as np
import pytest

from helpers.models import grouped_model, holes, model_on, small_models, table_of
from helpers.search import around_fitted, random_binary, surroundings
from latree.search import sample
from latree.search.explain import Search
from latree.table import Table
from latree.tree import Tree


def test_large_tables_are_searched_in_a_sample(monkeypatch):
    monkeypatch.setattr(sample, "MAX_ROWS", 400)
    model = grouped_model((4, 4, 4))
    rows = sample.Sample(model.sample(3000, 0), 0)
    assert rows.table.n_rows == 400
    assert rows.log_rows == pytest.approx(np.log(rows.table.total_weight))


def test_rows_are_sorted_and_repeated_as_often_as_they_count():
    """Folds are drawn by the number of a row: neither counts nor the order of rows may change them."""
    model = grouped_model((3, 3))
    codes, counts = model.sample(60, 0).codes(), np.arange(60) % 4
    order = np.random.default_rng(0).permutation(60)
    repeated = np.repeat(codes, counts, axis=0)
    tables = (
        Table.from_codes(model.columns, repeated),
        Table.from_codes(model.columns, codes[order], counts[order].astype(float)),
    )
    one, other = (sample.Sample(table, 0) for table in tables)
    np.testing.assert_array_equal(one.block.codes, other.block.codes)
    assert sorted(map(tuple, one.table.codes().tolist())) == sorted(map(tuple, repeated.tolist()))
    assert one.block.weights is None is other.block.weights
    weights = np.where(np.arange(60) < 30, 0.5, 1.5)
    halves = np.vstack([codes[:30], codes[:30]])
    one, other = (
        sample.Sample(Table.from_codes(model.columns, halves[some], weights[some]), 0) for some in (slice(None), order)
    )
    np.testing.assert_array_equal(one.block.codes, other.block.codes)
    np.testing.assert_array_equal(one.block.weights, other.block.weights)


def test_messages_of_only_one_model_are_in_memory(monkeypatch):
    alive, counts = WeakSet(), []

    class Counted(sample.Surroundings):
        def __init__(self, *arguments):
            counts.append(len(alive))
            alive.add(self)
            super().__init__(*arguments)

    monkeypatch.setattr(sample, "Surroundings", Counted)
    table = grouped_model((4, 4), top=True).sample(500, 0)
    Search(table, 0).sized(Tree(table.names, grouped_model((4, 4), top=True).tree.edges))
    assert len(counts) > 1
    assert max(counts) == 0


@pytest.mark.parametrize("model", small_models())
def test_surroundings_have_the_model_s_own_distributions(model):
    table = table_of(model, holes(model.sample(20, 0).codes(), 0))
    around = surroundings(model, table)
    tree = model.tree
    for u, v in [*tree.edges.tolist(), *tree.edges[:, ::-1].tolist()]:
        joint = model.joint([u, v])
        np.testing.assert_allclose(around.conditional(u, v), joint / joint.sum(axis=0))
    for node in range(tree.n_observed, tree.n_nodes):
        star = around.star(node)
        np.testing.assert_allclose(star.prior, model.joint([node]))
        for (u, _), message in zip(tree.neighbors[node], star.messages, strict=True):
            assert (message.dtype == bool) == (u < tree.n_observed and len(tree.neighbors[u]) == 1)
            assert message.shape == (model.n_states[u], 20)
    assert around.inner_edges == [edge for edge, ends in enumerate(tree.edges) if min(ends) >= tree.n_observed]
    for edge in around.inner_edges:
        h, g = tree.edges[edge].tolist()
        pair = around.pair(h, g)
        np.testing.assert_allclose(pair.between * pair.prior, model.joint([g, h]))
        assert len(pair.tables) + len(pair.other_tables) == len(tree.neighbors[h]) + len(tree.neighbors[g]) - 2


def test_several_hidden_variables_are_merged_into_one():
    """One after another, for the neighbours of all of them, with as many states as the largest."""
    tree = Tree("abcdefg", [(0, 7), (1, 7), (2, 7), (7, 8), (6, 8), (8, 9), (3, 9), (4, 9), (5, 9)])
    model = model_on(tree, [2, 3, 2, 3, 2, 3, 4, 2, 3, 2], 0)
    around = surroundings(model, model.sample(200, 0))
    near, star = around.merged([8, 9])
    assert sorted(near) == [3, 4, 5, 6, 7]
    assert [table.shape for table in star.tables] == [(model.n_states[u], 3) for u in near]
    for u, message in zip(near, star.messages, strict=True):
        expected = around.messages[u, 9 if u in (3, 4, 5) else 8]
        assert message is expected
    near, star = around.merged([7, 8, 9])
    assert sorted(near) == list(range(7))
    assert len(star.prior) == 3
    assert around.merged([7])[0] == [0, 1, 2, 8]


def test_a_merged_resolved_star_is_as_good_as_the_star():
    table = grouped_model((8,), top=False).sample(600, 1)
    around = around_fitted(random_binary(table, 1), table)
    near, star = around.merged(range(8, around.tree.n_nodes))
    assert sorted(near) == list(range(8))
    assert star.rows().sum() > around.model.log_likelihood(table) - 60
