"""Trees without some of their edges."""

import networkx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.strategies import any_tree, graph_of, hidden_edges, naive_edge_splits, numbered, same_graph
from latree.tree import Tree

checked = settings(deadline=None, derandomize=True, max_examples=100)


def naive_cut(tree, gone):
    """The graph without the edges, hidden nodes taken out one at a time until none is idle."""
    graph = networkx.Graph()
    graph.add_nodes_from(range(tree.n_nodes))
    for edge, (u, v) in enumerate(tree.edges.tolist()):
        if edge not in gone:
            graph.add_edge(u, v, numbers=(float(tree.lengths[edge]), float(tree.support[edge])))
    while True:
        for node in [node for node in graph if node >= tree.n_observed]:
            near = list(graph[node])
            if len(near) < 2:
                break
            if len(near) == 2 and max(near) >= tree.n_observed:
                (one, two), (three, four) = (graph.edges[node, other]["numbers"] for other in near)
                graph.add_edge(*near, numbers=(one + three, float(np.minimum(two, four))))
                break
        else:
            return graph
        graph.remove_node(node)


def length_between(graph, d):
    """The sum of the lengths between every two columns; infinite between components."""
    for u, v in graph.edges:
        graph.edges[u, v]["length"] = graph.edges[u, v]["numbers"][0]
    paths = dict(networkx.all_pairs_dijkstra_path_length(graph, weight="length"))
    return np.array([[paths[i].get(j, np.inf) for j in range(d)] for i in range(d)])


@checked
@given(any_tree, st.data(), st.integers(0, 9))
def test_a_cut_removes_edges_and_what_is_idle_then(tree, data, seed):
    tree = numbered(tree, seed)
    gone = data.draw(st.lists(st.sampled_from(range(len(tree.edges))), unique=True)) if len(tree.edges) else []
    found = tree.cut(gone)
    graph = graph_of(found)
    for (u, v), *numbers in zip(found.edges.tolist(), found.lengths.tolist(), found.support.tolist(), strict=True):
        graph.edges[u, v]["numbers"] = numbers

    def coloured(graph):
        graph = graph.copy()
        for node in graph:
            graph.nodes[node]["column"] = min(node, tree.n_observed)
            if node >= tree.n_observed and len(graph[node]) == 2:  # where it sits between two columns is left open
                numbers = np.array([graph.edges[node, other]["numbers"] for other in graph[node]])
                for other in graph[node]:
                    graph.edges[node, other]["numbers"] = (numbers[:, 0].sum(), numbers[:, 1].min())
        return graph

    def same(one, other):
        return np.allclose(one["numbers"], other["numbers"], rtol=1e-9, atol=0, equal_nan=True)

    expected = naive_cut(tree, gone)
    assert networkx.is_isomorphic(coloured(graph), coloured(expected), lambda a, b: a == b, same)
    only_cut = graph_of(tree)
    only_cut.remove_edges_from(tree.edges[gone].tolist())
    for edge, (u, v) in enumerate(tree.edges.tolist()):
        if edge not in gone:
            only_cut.edges[u, v]["numbers"] = (float(tree.lengths[edge]),)
    d = tree.n_observed
    np.testing.assert_allclose(length_between(graph, d), length_between(only_cut, d), rtol=1e-9)
    for node, near in enumerate(found.neighbors[d:], start=d):
        assert len(near) > 2 or all(other < d for other, _ in near), node


@pytest.mark.parametrize(
    ("text", "cut", "expected"),
    [
        # Between ab and the rest: ab keep their hidden variable, as nothing else ties them.
        ("((a:1,b:2)0.5:3,(c:4,d:5)0.6:6,(e:7,f:8)0.7:9);", "ab", "(a:1,b:2); ((c:4,d:5)0.6:15,e:7,f:8);"),
        ("((a:1,b:2)0.5:3,(c:4,d:5)0.6:6,e:7);", "c", "((a:1,b:2)0.5:3,d:11,e:7); c;"),
        ("((a:1,b:2)0.5:3,(c:4,d:5)0.6:6,e:7);", "ab", "(a:1,b:2); (c:4,d:5,e:13);"),
        ("(a,b,c);", "a", "(b,c); a;"),
        ("(a,b);", "a", "a; b;"),
        ("(((a)h)g,b);", "b", "((a)h)g; b;"),
    ],
)
def test_cuts(text, cut, expected):
    tree, expected = Tree.from_newick(text), Tree.from_newick(expected)
    wanted = frozenset([frozenset(cut), frozenset(tree.names) - frozenset(cut)])
    gone = [edge for edge, sides in enumerate(naive_edge_splits(tree)) if sides == wanted]
    assert same_graph(tree.cut(gone), expected)


def test_a_hidden_node_that_becomes_idle_by_another_ones_end_goes_too():
    for low, middle in ((5, 7), (7, 5)):
        tree = Tree("abcde", [(0, low), (1, low), (low, middle), (2, middle), (middle, 6), (3, 6), (4, 6)])
        assert same_graph(tree.cut([0, 1]), Tree("abcde", [(2, 5), (3, 5), (4, 5)]))


def test_a_cut_gives_no_leaf_a_support():
    """The edge that takes the place of a leaf's and an inner one parts off one variable."""
    tree = Tree.from_newick("((a,b)0.5,c,((d,e)0.1,f)0.2);")
    inner = hidden_edges(tree)
    for edge in inner:
        found = tree.cut([edge])
        assert [not np.isnan(share) for share in found.support] == [s in found.splits for s in found.edge_splits]


def test_of_two_edges_in_a_row_a_cut_keeps_the_smaller_support():
    tree = Tree.from_newick("((a,b)0.3,(c,d)0.6,((e,f)0.9,g)0.4);")
    gone = tree.edge_splits.index(next(s for s in tree.edge_splits if s.side == 0b1100 or s.side == 0b1110011))
    found = tree.cut([gone])
    assert np.nanmin(found.support) == 0.3
    assert sorted(found.support[~np.isnan(found.support)].tolist()) == [0.3, 0.9]
