"""The rows that a search looks at, and the messages of models that are fitted to them."""

from weakref import WeakSet

import numpy as np
import pytest

from helpers.models import grouped_model
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
