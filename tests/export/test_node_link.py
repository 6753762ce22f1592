"""JSON: networkx reads the graph with all its facts."""

import json

import networkx
import numpy as np
from hypothesis import given

from helpers.exports import hostile_models
from helpers.models import grouped_model
from latree.export.graphs import to_json, to_networkx


@given(hostile_models())
def test_networkx_reads_the_same_graph(model):
    data = json.loads(to_json(model))
    for node, column in zip(data["nodes"], model.columns, strict=False):
        assert node.pop("categories") == list(column.categories)
    for node, marginal in zip(data["nodes"], model.marginals().values(), strict=True):
        np.testing.assert_array_equal(node.pop("probabilities"), marginal)
    data["graph"] = {}
    assert networkx.utils.graphs_equal(networkx.node_link_graph(data, edges="edges"), to_networkx(model))


def test_groups_are_there():
    groups = json.loads(to_json(grouped_model()))["graph"]["groups"]
    assert [len(group["columns"]) for group in groups] == [4, 4, 4]
    assert set(groups[0]) == {"name", "level", "columns", "parent"}
