"""The rows that a search looks at, and the messages of models that are fitted to them."""

from weakref import WeakSet

import numpy as np
import pytest

from helpers.models import grouped_model
from latree.search import sample
from latree.search.explain import Search
from latree.tree import Tree


def test_large_tables_are_searched_in_a_sample(monkeypatch):
    monkeypatch.setattr(sample, "MAX_ROWS", 400)
    model = grouped_model((4, 4, 4))
    rows = sample.Sample(model.sample(3000, 0), 0)
    assert rows.table.n_rows == 400
    assert rows.log_rows == pytest.approx(np.log(rows.table.total_weight))


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
