"""Rooted trees against networkx and naive sums."""

import networkx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.strategies import any_tree, graph_of
from latree.tree import Rooted, Tree
from latree.tree.graph import children_of

checked = settings(deadline=None, derandomize=True, max_examples=100)


@st.composite
def rooted_trees(draw):
    """A tree hung from any of its nodes, with the same tree as a networkx graph of edges from parents to children."""
    tree = draw(any_tree)
    rooted = tree.rooted(draw(st.none() | st.integers(0, tree.n_nodes - 1)))
    directed = networkx.DiGraph()
    directed.add_nodes_from(range(tree.n_nodes))
    for root in rooted.roots:
        directed.add_edges_from(networkx.bfs_edges(graph_of(tree), root))
    return rooted, directed


def subtree(directed, node):
    return networkx.descendants(directed, node) | {node}


@checked
@given(rooted_trees())
def test_roots_parents_and_children_are_those_of_networkx(case):
    rooted, directed = case
    assert sorted(rooted.roots) == [node for node in directed if directed.in_degree(node) == 0]
    for node, children in enumerate(rooted.children):
        assert sorted(children) == sorted(directed.successors(node))
        assert list(directed.predecessors(node)) == ([] if node in rooted.roots else [rooted.parent[node]])
        assert list(children) == sorted(children, key=rooted.order.tolist().index)
    assert children_of(rooted.parent, rooted.order) == rooted.children


@checked
@given(rooted_trees())
def test_postorder_is_the_visit_backwards_and_children_come_first(case):
    rooted, _ = case
    assert list(rooted.postorder) == rooted.order.tolist()[::-1]
    for node, children in enumerate(rooted.children):
        assert all(rooted.postorder.index(child) < rooted.postorder.index(node) for child in children)


@checked
@given(rooted_trees())
def test_components_are_those_of_networkx_each_in_the_order_of_the_visit(case):
    rooted, directed = case
    assert [component[0] for component in rooted.components] == list(rooted.roots)
    assert [node for component in rooted.components for node in component] == rooted.order.tolist()
    assert sorted(map(sorted, rooted.components)) == sorted(map(sorted, networkx.weakly_connected_components(directed)))


@checked
@given(rooted_trees())
def test_depths_are_distances_from_the_root(case):
    rooted, directed = case
    expected = {}
    for root in rooted.roots:
        expected |= networkx.single_source_shortest_path_length(directed, root)
    assert rooted.depth == tuple(expected[node] for node in range(len(directed)))


@checked
@given(rooted_trees())
def test_a_subtree_is_a_slice_of_the_visit(case):
    rooted, directed = case
    np.testing.assert_array_equal(rooted.order[rooted.position], np.arange(len(directed)))
    size = rooted.subtree_sums([1] * len(directed))
    for node in directed:
        start = rooted.position[node]
        assert set(rooted.order[start : start + size[node]].tolist()) == subtree(directed, node)


@checked
@given(rooted_trees(), st.data())
def test_subtree_sums_equal_naive_sums(case, data):
    rooted, directed = case
    values = data.draw(st.lists(st.integers(-100, 100), min_size=len(directed), max_size=len(directed)))
    assert rooted.subtree_sums(iter(values)) == [
        sum(values[below] for below in subtree(directed, node)) for node in range(len(directed))
    ]


@checked
@given(rooted_trees())
def test_combined_sets_are_subtrees_and_the_last_child_comes_first(case):
    rooted, directed = case
    nodes = range(len(directed))
    assert rooted.combined(({node} for node in nodes), set.union) == [subtree(directed, node) for node in nodes]
    written = rooted.combined(map(str, nodes), lambda above, below: f"({above} {below})")

    def naive(node):
        text = str(node)
        for child in reversed(rooted.children[node]):
            text = f"({text} {naive(child)})"
        return text

    assert written == [naive(node) for node in nodes]


def test_values_that_were_given_are_not_changed():
    values = [1, 1, 1]
    assert Tree("abc", [(0, 1), (1, 2)]).rooted().subtree_sums(values) == [1, 3, 1]
    assert values == [1, 1, 1]


@pytest.mark.parametrize("n", [1, 5000])
def test_a_long_chain_needs_no_recursion(n):
    parent = np.arange(-1, n - 1)
    rooted = Rooted(parent, np.arange(n), parent)
    assert rooted.depth[-1] == n - 1
    assert rooted.subtree_sums([1] * n) == list(range(n, 0, -1))
