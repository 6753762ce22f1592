"""The states of a single hidden variable as profiles."""

import numpy as np

from latree.interpret.view import View
from latree.model import LatentTreeModel
from latree.report.profiles import state_profiles
from latree.table import Column
from latree.tree import Tree


def topics():
    """Return a model of documents in two topics: three words, an ordered answer, and a column without an order."""
    columns = (
        Column("space", "integer", ("0", "1"), ordered=True),
        Column("car", "integer", ("0", "1"), ordered=True),
        Column("the", "integer", ("0", "1"), ordered=True),
        Column("length", "integer", ("1", "2", "3"), ordered=True),
        Column("colour", "text", ("blue", "red", "white")),
    )
    tables = (
        np.array([[0.4, 0.98], [0.6, 0.02]]),
        np.array([[0.95, 0.5], [0.05, 0.5]]),
        np.array([[0.1, 0.1], [0.9, 0.9]]),
        np.array([[0.7, 0.1], [0.2, 0.2], [0.1, 0.7]]),
        np.array([[0.2, 0.2], [0.7, 0.1], [0.1, 0.7]]),
        np.array([[0.255], [0.745]]),
    )
    return LatentTreeModel(Tree([c.name for c in columns], [(i, 5) for i in range(5)]), columns, tables)


def test_profiles_name_what_is_typical_of_each_state():
    model = topics()
    found = state_profiles(View(model), 5)
    assert sorted(state["size"] for state in found) == [26, 74]  # 25.5 and 74.5 would both be rounded up
    (space,) = [state for state in found if state["size"] == 26]
    shown = {model.tree.names[one["node"]]: (one["value"], one["text"], one["overall"]) for one in space["typical"]}
    assert shown["space"] == ("", "60\u00a0%", "17\u00a0%")
    assert shown["car"] == ("", "5\u00a0%", "39\u00a0%")
    assert shown["length"] == ("low", "1.4", "2.3")
    assert shown["colour"] == ("red", "70\u00a0%", "25\u00a0%")
    assert "the" not in shown  # it is as frequent as everywhere
    # What is rarer than elsewhere comes last.
    assert model.tree.names[space["typical"][-1]["node"]] == "car"
