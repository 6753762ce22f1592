"""Nodes and edges: what is refused, roots, paths, names; networkx judges."""

import networkx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.strategies import (
    any_tree,
    graph_of,
)
from latree.errors import InputError
from latree.tree import Tree

checked = settings(deadline=None, derandomize=True, max_examples=100)


@pytest.mark.parametrize(
    ("names", "edges", "complaint"),
    [
        ("abc", [(0, 1), (1, 2), (2, 0)], "form a cycle"),
        ("ab", [(0, 1), (1, 0)], "form a cycle"),
        ("ab", [(0, 0)], "form a cycle"),
        ("ab", [(0, 3), (3, 1)], "fewer than two neighbours"),
        ("ab", [(0, 10**15)], "more hidden nodes"),
        ("ab", [(0, -1)], "negative"),
        (["a", "b", "a"], [(0, 1)], "same name"),
        ("abc", [0, 1, 2], "edge"),
    ],
)
def test_what_is_no_tree_is_refused(names, edges, complaint):
    with pytest.raises(InputError, match=complaint):
        Tree(names, edges)


@pytest.mark.parametrize("what", ["lengths", "support"])
@pytest.mark.parametrize("numbers", [[], [1.0], [1.0, 2.0, 3.0], [[1.0, 2.0]]])
def test_there_is_one_number_per_edge(what, numbers):
    with pytest.raises(InputError, match=f"2 edges needs 2 {what}"):
        Tree("abc", [(0, 1), (1, 2)], **{what: numbers})


@checked
@given(any_tree, st.data())
def test_rooting_visits_parents_first_and_every_node_once(tree, data):
    root = data.draw(st.none() | st.integers(0, tree.n_nodes - 1))
    rooted = tree.rooted(root)
    assert sorted(rooted.order.tolist()) == list(range(tree.n_nodes))
    place = np.argsort(rooted.order)
    roots = np.flatnonzero(rooted.parent < 0)
    assert {frozenset(networkx.node_connected_component(graph_of(tree), node)) for node in roots.tolist()} == {
        frozenset(group) for group in networkx.connected_components(graph_of(tree))
    }
    assert len(roots) == tree.n_nodes - len(tree.edges)
    assert root is None or root in roots
    for node in np.flatnonzero(rooted.parent >= 0).tolist():
        assert place[rooted.parent[node]] < place[node]
        assert set(tree.edges[rooted.up[node]].tolist()) == {node, rooted.parent[node]}
    np.testing.assert_array_equal(rooted.up[roots], -1)


@checked
@given(any_tree)
def test_the_default_root_is_the_hidden_node_with_the_smallest_largest_branch(tree):
    graph = graph_of(tree)

    def largest_branch(node, group):
        return max(map(len, networkx.connected_components(graph.subgraph(group - {node}))), default=0)

    for root in np.flatnonzero(tree.rooted().parent < 0).tolist():
        group = networkx.node_connected_component(graph, root)
        candidates = [node for node in group if node >= tree.n_observed] or group
        assert root in candidates
        assert largest_branch(root, group) == min(largest_branch(node, group) for node in candidates)


@checked
@given(any_tree)
def test_path_lengths_are_shortest_paths(tree):
    found = dict(networkx.all_pairs_shortest_path_length(graph_of(tree)))
    expected = [[found[u].get(v, -1) for v in range(tree.n_observed)] for u in range(tree.n_observed)]
    np.testing.assert_array_equal(tree.path_lengths(), expected)


@pytest.mark.parametrize(
    ("names", "hidden"),
    [("abc", "H1"), (["H1", "b", "c"], "HH1"), (["H7", "HH1", "c"], "HHH1"), (["H", "Hx", "c"], "H1")],
)
def test_hidden_names_do_not_clash(names, hidden):
    assert Tree(names, [(3, 0), (3, 1), (3, 2)]).node_names == (*names, hidden)


@pytest.mark.parametrize("number", [np.inf, -np.inf])
@pytest.mark.parametrize("what", ["lengths", "support"])
def test_numbers_of_edges_are_finite(what, number):
    with pytest.raises(InputError, match=f"{what} must be finite"):
        Tree("ab", [(0, 1)], **{what: [number]})


def test_a_hidden_leaf_and_a_tree_of_nothing_are_refused():
    with pytest.raises(InputError, match="fewer than two neighbours"):
        Tree("ab", [(0, 1), (1, 2)])
    with pytest.raises(InputError, match="observed variable"):
        Tree([], [])


@pytest.mark.parametrize("root", [-1, 2])
def test_a_root_must_be_a_node(root):
    with pytest.raises(InputError, match=f"no node {root}"):
        Tree("ab", [(0, 1)]).rooted(root)


@pytest.mark.parametrize(
    ("text", "features"),
    [
        ("((a,b),c,d);", {}),
        ("((a,b),c,d);e;", {"parts": "the tree falls into 2 parts"}),
        ("(a,(c,d)b);", {"inner columns": "column 'b' is an inner node", "two neighbours": "H1 has 2 neighbours"}),
        ("(a,b,c,d,(e,f));", {"many neighbours": "has 5 neighbours"}),
    ],
)
def test_what_sets_a_tree_apart_from_a_binary_one(text, features):
    found = Tree.from_newick(text).non_binary_features()
    assert found.keys() == features.keys()
    assert all(words in found[kind] for kind, words in features.items())
