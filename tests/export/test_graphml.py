"""GraphML: networkx reads the graph with all its facts."""

import networkx
import pytest
from hypothesis import given

from helpers.exports import hostile_models
from helpers.models import grouped_model, model_on
from helpers.strategies import numbered
from latree._util.words import printable
from latree.export.graphs import graph_facts, to_graphml
from latree.paper.simulate import random_tree


def check(model):
    graph, facts = networkx.parse_graphml(to_graphml(model)), graph_facts(model)
    assert not graph.is_directed()
    assert list(graph.nodes) == [f"n{node}" for node in range(model.tree.n_nodes)]
    for node, expected in enumerate(facts.nodes):
        texts = {key: printable(value) if isinstance(value, str) else value for key, value in expected.items()}
        assert {key: value or "" for key, value in graph.nodes[f"n{node}"].items()} == {
            key: value or "" for key, value in ({"label": texts["name"]} | texts).items()
        }
    assert graph.number_of_edges() == len(facts.edges)
    for number, edge in enumerate(facts.edges):
        ends = f"n{edge.pop('source')}", f"n{edge.pop('target')}"
        assert graph.edges[ends] == edge | {"id": f"e{number}"}


@given(hostile_models())
def test_networkx_reads_every_name(model):
    check(model)


def test_networkx_reads_all_facts():
    tree = numbered(random_tree(9, 0.4, 0), 0)
    check(model_on(tree, [2, 3] * 8, 0))
    check(grouped_model())


@pytest.mark.parametrize("key", ["label", "weight"])
def test_gephi_finds_the_names_it_looks_for(key):
    assert f'attr.name="{key}"' in to_graphml(grouped_model())
