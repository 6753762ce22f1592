"""What is known about nodes and edges, and networkx."""

import sys
from dataclasses import replace

import networkx
import numpy as np
import pytest
from hypothesis import given

from helpers.exports import hostile_models
from helpers.models import chain_model, grouped_model, model_on, small_models
from helpers.strategies import graph_of, numbered
from latree.export.graphs import graph_facts, state_labels, to_networkx
from latree.interpret.groups import find_groups
from latree.model.group import Group
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


def test_all_levels_of_groups_and_the_stability_of_columns_are_there():
    model = small_models()[1]  # a star of a, b, c, d
    groups = [
        Group("H1", "main", tuple("dcba"), "H1", None, 0.5, (0, 1, 2, 3, 4), 4, (0.1, 0.2, 0.3, 0.4)),
        Group("part", "fine", tuple("ab"), "H1", 0, None, (0, 1, 4), 4, (0.8, 0.9)),
    ]
    facts = graph_facts(replace(model, groups=tuple(groups))).nodes
    assert [node["group"] for node in facts] == ["H1"] * 5
    assert [node.get("fine_group") for node in facts] == ["part", "part", None, None, "part"]
    assert [node.get("stability") for node in facts] == [0.4, 0.3, 0.2, 0.1, None]
    assert not any("broad_group" in node for node in facts)
    chain = chain_model([[0.9, 0.2], [0.1, 0.8]], [[0.5], [0.5]], [[0.9, 0.2], [0.1, 0.8]])
    broad = Group("all", "broad", tuple("abc"), None, None, None, (0, 1, 2), 1)
    main = Group("two", "main", tuple("ab"), None, 1, None, (0, 1), 0)
    facts = graph_facts(replace(chain, groups=(main, broad))).nodes
    assert [(node.get("group"), node["broad_group"]) for node in facts] == [
        ("two", "all"),
        ("two", "all"),
        (None, "all"),
    ]


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
