"""DOT: pydot reads the graph, and Graphviz draws it where it is installed."""

import shutil
import subprocess
import warnings

import pydot
import pytest
from hypothesis import given, settings

from helpers.exports import JUDGED_IDS, hostile_models, judged_models
from helpers.models import grouped_model, model_on
from helpers.strategies import numbered
from latree._util.words import printable
from latree.export.graphs import to_dot
from latree.figure.colours import colour_of
from latree.interpret.groups import find_groups
from latree.paper.simulate import random_tree
from latree.tree import Tree


def read(text):
    """The nodes by their names, and the edges, as pydot reads them."""
    with warnings.catch_warnings():  # it uses names of pyparsing that are deprecated
        warnings.simplefilter("ignore")
        (graph,) = pydot.graph_from_dot_data(text)
    assert graph.get_type() == "graph"
    nodes = {node.get_name(): node for node in graph.get_nodes()}
    return {name: nodes[name] for name in nodes if name not in ("graph", "node", "edge")}, graph.get_edges()


def unquoted(text):
    """What Graphviz shows for a quoted string: first the quotes of DOT, then its escapes and entities."""
    assert text[0] == text[-1] == '"'
    return text[1:-1].replace('\\"', '"').replace("\\\\", "\\").replace("&amp;", "&")


@settings(max_examples=15)
@given(hostile_models())
def test_pydot_reads_every_name(model):
    nodes, edges = read(to_dot(model))
    assert [unquoted(nodes[f"n{node}"].get("label")) for node in range(len(nodes))] == [
        printable(name) for name in model.node_names
    ]
    ends = [[int(edge.get_source()[1:]), int(edge.get_destination()[1:])] for edge in edges]
    assert ends == model.tree.edges.tolist()


def test_what_graphviz_would_replace_is_escaped():
    names = ["\\N", 'a"b', "&lt;"]
    text = to_dot(model_on(Tree(names, [(0, 1), (1, 2)]), [2] * 3, 0))
    for shown in (r"\\N", r"a\"b", "&amp;lt;"):
        assert f'label="{shown}"' in text


def test_edges_show_support_and_strength():
    tree = numbered(random_tree(9, 0.4, 0), 0)
    model = model_on(tree, [2] * tree.n_nodes, 0)
    _, edges = read(to_dot(model))
    for edge, strength, support in zip(edges, model.edge_strengths(), tree.support, strict=True):
        assert float(unquoted(edge.get("strength"))) == strength
        assert unquoted(edge.get("penwidth")) == f"{0.5 + 3 * strength:.2f}"
        shown = edge.get("label")
        assert shown is None if support != support else unquoted(shown) == f"{100 * support:.0f}"


def test_columns_have_the_colour_of_their_group():
    model = grouped_model()
    nodes, _ = read(to_dot(model))
    for number, group in enumerate(find_groups(model)):
        for node in group.nodes:
            assert unquoted(nodes[f"n{node}"].get("color")) == colour_of(number)
    assert nodes[f"n{model.tree.n_nodes - 1}"].get("color") is None


@pytest.mark.skipif(shutil.which("dot") is None, reason="Graphviz is not installed")
@pytest.mark.parametrize("model", judged_models(), ids=JUDGED_IDS)
def test_graphviz_draws_it(model):
    run = subprocess.run(["dot", "-Tsvg"], input=to_dot(model), capture_output=True, text=True, check=True)
    assert run.stderr == ""
    assert run.stdout.count('class="node"') == model.tree.n_nodes
