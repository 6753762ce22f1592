"""What is known about nodes and edges, and networkx."""

import sys

import networkx
import numpy as np
import pytest
from hypothesis import given

from helpers.exports import hostile_models
from helpers.models import grouped_model, model_on, small_models
from helpers.strategies import graph_of, numbered
from latree.explain import find_groups
from latree.export import to_networkx
from latree.export.graph import graph_facts, state_labels
from latree.paper.simulate import random_tree


@given(hostile_models())
def test_the_graph_is_the_tree(model):
    graph, tree = to_networkx(model), model.tree
    assert list(graph.nodes) == list(model.node_names)
    expected = networkx.relabel_nodes(graph_of(tree), dict(enumerate(model.node_names)))
    assert networkx.utils.graphs_equal(networkx.Graph(graph.edges), networkx.Graph(expected.edges))
    for (name, facts), technical in zip(graph.nodes(data=True), tree.node_names, strict=True):
        assert facts["hidden"] == (name not in tree.names)
        assert facts.get("alias", name) == technical


def test_edges_have_their_numbers():
    tree = numbered(random_tree(9, 0.4, 0), 0)
    model = model_on(tree, [2, 3] * 8, 0)
    strengths = model.edge_strengths()
    for edge, facts in enumerate(graph_facts(model).edges):
        assert [facts["source"], facts["target"]] == tree.edges[edge].tolist()
        assert facts["strength"] == facts["weight"] == strengths[edge]
        assert facts["length"] == tree.lengths[edge]
        assert ("support" not in facts) == bool(np.isnan(tree.support[edge]))
        assert facts.get("support", tree.support[edge]) == pytest.approx(tree.support[edge], nan_ok=True)


def test_nodes_have_their_states_and_groups():
    model = grouped_model(sizes=(4, 4, 4))
    groups = find_groups(model)
    facts = graph_facts(model).nodes
    assert [node["states"] for node in facts] == model.n_states.tolist()
    for node, known in enumerate(facts):
        inside = {group.name for group in groups if group.level == "main" and node in group.nodes}
        assert {known.get("group")} - {None} == inside
    assert "group" not in facts[-1]  # the hidden variable in the middle of all groups is in none


def test_a_model_without_lengths_has_those_of_figures():
    model = small_models()[0]
    assert [edge["length"] for edge in graph_facts(model).edges] == model.edge_lengths().tolist()


def test_states_have_the_labels_of_their_column():
    labels = state_labels(small_models()[3])
    assert labels == [("0", "1"), ("0", "1", "2"), ("0", "1"), ("0", "1", "2"), ("0", "1"), ("0", "1")]


def test_without_networkx_the_message_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "networkx", None)
    with pytest.raises(ImportError, match="pip install networkx"):
        to_networkx(small_models()[0])
