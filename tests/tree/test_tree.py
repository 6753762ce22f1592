from collections import Counter
from itertools import pairwise

import dendropy
import networkx
import numpy as np
import pytest
from dendropy.calculate.treecompare import symmetric_difference
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.strategies import any_tree, contracted, graph_of, named_trees, same_graph, several_trees
from latree.errors import InputError
from latree.paper.simulate import random_tree
from latree.tree import Tree

checked = settings(deadline=None, derandomize=True, max_examples=100)

FOREST = Tree("abcdef", [(6, 0), (6, 1), (6, 2), (3, 4)])


def observed(tree, nodes):
    return frozenset(tree.names[node] for node in nodes if node < tree.n_observed)


def naive_edge_splits(tree):
    """The pair of sides that each edge's removal leaves."""
    graph = graph_of(tree)
    for u, v in tree.edges.tolist():
        graph.remove_edge(u, v)
        yield frozenset(observed(tree, networkx.node_connected_component(graph, end)) for end in (u, v))
        graph.add_edge(u, v)


def naive_splits(tree):
    return {sides for sides in naive_edge_splits(tree) if len(sides) == 2 and all(len(side) > 1 for side in sides)}


def decoded(tree, split):
    def names(bits):
        return frozenset(name for i, name in enumerate(tree.names) if bits >> i & 1)

    return frozenset([names(split.side), names(split.other_side)])


def caterpillar(n):
    return "(" * (n - 1) + "x0,x1" + "".join(f"),x{i}" for i in range(2, n)) + ");"


def in_dendropy(text, taxa=None):
    return dendropy.Tree.get(
        data=text,
        schema="newick",
        rooting="force-unrooted",
        taxon_namespace=taxa or dendropy.TaxonNamespace(is_case_sensitive=True),
        case_sensitive_taxon_labels=True,
    )


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
def test_numbers_must_be_one_an_edge(what, numbers):
    with pytest.raises(InputError, match=f"2 edges needs as many {what}"):
        Tree("abc", [(0, 1), (1, 2)], **{what: numbers})


def test_trees_do_not_change():
    edges, lengths, support = np.array([(0, 1)]), np.array([1.0]), np.array([0.5])
    tree = Tree(["a", "b"], edges, lengths, support)
    for given_array, own in [(edges, tree.edges), (lengths, tree.lengths), (support, tree.support)]:
        before = own.copy()
        given_array += 1
        np.testing.assert_array_equal(own, before)
        with pytest.raises(ValueError, match="read-only"):
            own[0] = 0


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
def test_splits_are_what_removing_each_edge_leaves(tree):
    assert {decoded(tree, split) for split in tree.splits} == naive_splits(tree)


@checked
@given(several_trees(3, forest=False))
def test_robinson_foulds_is_a_metric_on_trees(trees):
    one, two, three = trees
    distance = one.robinson_foulds(two)
    assert distance == len(naive_splits(one) ^ naive_splits(two))
    assert distance <= one.robinson_foulds(three) + three.robinson_foulds(two)
    assert distance <= one.max_robinson_foulds


def naive_robinson_foulds(one, two):
    """Partitions of either that no edge of the other shows, each component of the other looked at by itself."""

    def shown(sides, tree):
        parts = [observed(tree, nodes) for nodes in networkx.connected_components(graph_of(tree))]
        parted = [part for part in parts if all(side & part for side in sides)]
        edges = naive_edge_splits(tree)

        def shows(part):
            wanted = {side & part for side in sides}
            within = frozenset.union(*sides) & part
            return any(len(side) == 1 for side in wanted) or any({side & within for side in e} == wanted for e in edges)

        return bool(parted) and all(map(shows, parted))

    return sum(not shown(sides, two) for sides in naive_splits(one)) + sum(
        not shown(sides, one) for sides in naive_splits(two)
    )


@checked
@given(several_trees(2), st.randoms(use_true_random=False))
def test_robinson_foulds_of_forests_equals_a_naive_loop_and_ignores_order(trees, random):
    one, two = trees
    distance = one.robinson_foulds(two)
    assert one.robinson_foulds(one) == 0
    assert distance == two.robinson_foulds(one) == naive_robinson_foulds(one, two)
    assert distance <= one.max_robinson_foulds
    names, hidden = list(one.names), list(range(one.n_observed, one.n_nodes))
    random.shuffle(names)
    random.shuffle(hidden)
    number = np.array([*map(names.index, one.names), *hidden])
    assert Tree(names, number[one.edges]).robinson_foulds(two) == distance


@pytest.mark.parametrize("share", [0.0, 0.3, 0.8])
@pytest.mark.parametrize("d", [4, 5, 8, 17, 40])
def test_robinson_foulds_agrees_with_dendropy(d, share):
    for seed in range(5):
        one, two = (contracted(random_tree(d, 0.3, seed + i), share, seed + i) for i in (0, 100))
        taxa = dendropy.TaxonNamespace(one.names, is_case_sensitive=True)
        assert one.robinson_foulds(two) == symmetric_difference(
            in_dendropy(one.to_newick(), taxa), in_dendropy(two.to_newick(), taxa)
        )


@pytest.mark.parametrize(
    ("one", "two", "distance"),
    [
        ("((a,b),(c,d));", "((a,c),(b,d));", 2),
        ("((a,b),c,d);", "(((a,b)),((c,d)));", 0),
        ("((a,b),c,(d,e));", "((a,c),b,(d,e));", 2),
        ("((a,b),c,(d,e));", "((a,d),b,(c,e));", 4),
        ("((a,b),c,(d,e));", "(a,b,c,d,e);", 2),
        ("((a,b),(c,d));", "(((d)c)b)a;", 0),
        ("((a,b),(c,d));", "(((d)b)c)a;", 2),
        ("((a,b),(c,d));(e,f);", "((a,b),(c,d));e;f;", 0),
        ("((a,b),(c,d));(e,f);", "((a,b),(c,d),(e,f));", 1),
        ("((a,b),(c,d));((e,f),(g,h));", "(((a,b),(c,d)),((e,f),(g,h)));", 1),
        ("((a,b),(c,d));((e,f),(g,h));", "(((a,c),(b,d)),((e,f),(g,h)));", 4),
        ("a;b;c;d;e;", "((a,b),c,(d,e));", 2),
        ("((a,b),(c,d));((e,f),(g,h));", "((a,b),(c,d));((e,g),(f,h));", 2),
    ],
)
def test_robinson_foulds_of_small_trees(one, two, distance):
    assert Tree.from_newick(one).robinson_foulds(Tree.from_newick(two)) == distance


@pytest.mark.parametrize(("d", "most"), [(1, 0), (3, 0), (4, 2), (5, 4), (40, 74)])
def test_largest_robinson_foulds(d, most):
    assert Tree([f"x{i}" for i in range(d)], []).max_robinson_foulds == most


def test_robinson_foulds_names_a_variable_that_only_one_tree_has():
    with pytest.raises(InputError, match="'d' is in only one"):
        Tree.from_newick("(a,b,c);").robinson_foulds(Tree.from_newick("(a,b,c,d);"))


def test_reordering_keeps_numbers():
    tree = Tree("abc", [(3, 0), (3, 1), (3, 2)], [1.0, 2.0, 3.0], [0.1, 0.2, 0.3])
    moved = tree.reordered("cab")
    assert moved.names == ("c", "a", "b")
    assert same_graph(moved, tree)


def test_reordering_refuses_a_name_given_twice():
    with pytest.raises(InputError, match="'b'"):
        Tree("ab", [(0, 1)]).reordered(["a", "b", "b"])


def hidden_edges(tree):
    return [edge for edge, ends in enumerate(tree.edges.tolist()) if min(ends) >= tree.n_observed]


def numbered(tree, seed):
    """The same tree with random lengths and, on some edges, random support."""
    lengths, support = np.random.default_rng(seed).random((2, len(tree.edges)))
    return Tree(tree.names, tree.edges, lengths, np.where(support < 0.3, np.nan, support))


def numbers_by_split(tree):
    """What removing each edge leaves, with the edge's numbers, counted."""
    numbers = zip(tree.lengths.tolist(), tree.support.tolist(), strict=True)
    return Counter((sides, *map(str, found)) for sides, found in zip(naive_edge_splits(tree), numbers, strict=True))


@checked
@given(any_tree, st.data(), st.integers(0, 9))
def test_contraction_takes_the_splits_of_its_edges_and_leaves_all_others_with_their_numbers(tree, data, seed):
    tree = numbered(tree, seed)
    inner = hidden_edges(tree)
    gone = data.draw(st.lists(st.sampled_from(inner), unique=True)) if inner else []
    found = tree.contracted(gone)
    assert found.n_hidden == tree.n_hidden - len(gone)
    every, numbers = list(naive_edge_splits(tree)), np.column_stack([tree.lengths, tree.support])
    kept = Counter((every[e], *map(str, numbers[e].tolist())) for e in range(len(every)) if e not in gone)
    assert numbers_by_split(found) == kept


@pytest.mark.parametrize("seed", range(3))
def test_contraction_of_binary_trees_leaves_the_other_splits(seed):
    tree = random_tree(12, 0.4, seed)
    inner = hidden_edges(tree)
    gone = np.random.default_rng(seed).choice(inner, 4, replace=False).tolist()
    splits = {tree.edge_splits[edge] for edge in gone}
    assert tree.contracted(gone).splits == tree.splits - splits
    assert len(tree.contracted(gone).splits) == 5
    assert same_graph(tree.contracted([]), tree)
    assert same_graph(tree.contracted(inner), Tree(tree.names, [(i, 12) for i in range(12)]))


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


@settings(checked, max_examples=400)
@given(named_trees)
def test_newick_round_trip(tree):
    again = Tree.from_newick(tree.to_newick())
    assert same_graph(tree, again)
    assert again.robinson_foulds(tree) == 0


def test_newick_writes_what_the_rules_say():
    tree = Tree(["a", "b c", "1", "it's", "x.y", "u_v"], [(6, 0), (6, 1), (6, 7), (7, 2), (7, 3), (7, 4), (4, 5)])
    assert tree.to_newick() == "((a,'b c'),'1','it''s',('u_v')x.y);\n"
    numbers = [0.1, np.nan], [np.nan, 0.5]
    assert Tree("abc", [(0, 1), (1, 2)], *numbers).to_newick() == "(a:0.1,c[&support=0.5])b;\n"
    assert Tree("ab", []).to_newick() == "a;\nb;\n"


def test_newick_reads_what_the_rules_say():
    tree = Tree.from_newick("[&R] ( ( a:1e-3 [note] , b_c )0.9:2 , ('it''s',d)'7'[&support=0.25], e ):3 ;")
    assert tree.names == ("a", "b_c", "it's", "d", "7", "e")
    expected = Tree(
        tree.names, [(6, 0), (6, 1), (6, 7), (4, 2), (4, 3), (4, 7), (5, 7)],
        [1e-3, np.nan, 2, np.nan, np.nan, np.nan, np.nan], [np.nan, np.nan, 0.9, np.nan, np.nan, 0.25, np.nan],
    )  # fmt: skip
    assert same_graph(tree, expected)


@pytest.mark.parametrize("seed", range(4))
def test_dendropy_reads_what_we_write(seed):
    names = ["it's", "a b", "a_b", "(x)", "y,z", "[w]", "1", "1e5", "é日本", "p:q", "r;s", "A", "a", '"', "plain"]
    shape = contracted(random_tree(len(names), 0.4, seed), 0.2, seed)
    lengths = np.random.default_rng(seed).random(len(shape.edges))
    tree = Tree(names, shape.edges, lengths)
    read = in_dendropy(tree.to_newick())
    sides = {
        frozenset(leaf.taxon.label for leaf in edge.head_node.leaf_iter()): edge.length
        for edge in read.preorder_edge_iter()
        if edge.tail_node is not None
    }
    expected = [set(pair) for pair in naive_edge_splits(tree)]
    assert len(sides) == len(expected)
    for pair, length in zip(expected, lengths.tolist(), strict=True):
        assert [sides[side] for side in pair if side in sides] == [length]


@pytest.mark.parametrize("seed", range(4))
def test_we_read_what_dendropy_writes(seed):
    shape = random_tree(12, 0.4, seed)
    names = ["it's", "a b", "a_b", "(x)", "y,z", "[w]", "é日本", "p:q", "r;s", "A", "a", "plain"]
    rng = np.random.default_rng(seed)
    support = np.where(shape.edges.min(axis=1) < shape.n_observed, np.nan, rng.random(len(shape.edges)))
    tree = Tree(names, shape.edges, rng.random(len(shape.edges)), support)
    text = in_dendropy(tree.to_newick()).as_string(schema="newick", preserve_spaces=True, suppress_rooting=False)
    assert same_graph(tree, Tree.from_newick(text))


# fmt: off
BAD_NEWICK = [
    "", " \n", ";", "()", "();", "(a,b)", "a", "((a,b);", "(a,b));", ")a;", "a,b;", "(a,b);c", "(a,b)(c,d);", "(a,b);]",
    "(a,,b);", "(a,);", "(,a);", "(a,b)c d;", "(a b,c);", "((a,b)0.5 0.6,c);", "((a,b):1 x,c);", "(a,b)[x;",
    "(a,a);", "(a,(b,c)a);", "a;a;", "(a,'a');", "('a,b);", "('a''',b'c);", "(\n'a\n", "(a[&support=x],b);",
    "(a:x,b);", "(a:,b);", "(a:nan,b);", "(a:inf,b);", "(a:1e999,b);", "(a:1:2,b);", ":1;", "(a,(b,c)nan);",
]
# fmt: on


@pytest.mark.parametrize("text", BAD_NEWICK)
def test_bad_newick_is_refused_in_one_line(text):
    with pytest.raises(InputError, match="not a Newick tree") as caught:
        Tree.from_newick(text)
    assert "\n" not in str(caught.value)


def test_a_long_caterpillar_needs_no_recursion():
    tree = Tree.from_newick(caterpillar(3000))
    assert len(tree.splits) == 2997
    assert Tree.from_newick(tree.to_newick()).robinson_foulds(tree) == 0
    assert len(tree.draw().splitlines()) == 3000


@checked
@given(any_tree)
def test_path_lengths_are_shortest_paths(tree):
    found = dict(networkx.all_pairs_shortest_path_length(graph_of(tree)))
    expected = [[found[u].get(v, -1) for v in range(tree.n_observed)] for u in range(tree.n_observed)]
    np.testing.assert_array_equal(tree.path_lengths(), expected)


def test_to_networkx_has_names_and_known_numbers():
    tree = Tree(["a", "H1", "c"], [(0, 3), (3, 1), (3, 2)], [1.5, np.nan, 2.0], [np.nan, np.nan, 0.5])
    graph = tree.to_networkx()
    assert dict(graph.nodes(data="hidden")) == {"a": False, "H1": False, "c": False, "HH1": True}
    assert graph.edges["a", "HH1"] == {"length": 1.5}
    assert graph.edges["H1", "HH1"] == {}
    assert graph.edges["c", "HH1"] == {"length": 2.0, "support": 0.5}
    assert set(FOREST.to_networkx()) == set(FOREST.node_names)


@pytest.mark.parametrize(
    ("names", "hidden"),
    [("abc", "H1"), (["H1", "b", "c"], "HH1"), (["H7", "HH1", "c"], "HHH1"), (["H", "Hx", "c"], "H1")],
)
def test_hidden_names_do_not_clash(names, hidden):
    assert Tree(names, [(3, 0), (3, 1), (3, 2)]).node_names == (*names, hidden)


@pytest.mark.parametrize(
    ("text", "drawing"),
    [
        ("((a,b),(c,d),e);", "─┬─ e\n ├─┬─ a\n │ └─ b\n └─┬─ c\n   └─ d\n"),
        ("((a,b),(c,d));(e,f);g;", "─┬─┬─ a\n │ └─ b\n └─┬─ c\n   └─ d\n─┬─ e\n └─ f\n─ g\n"),
        ("((((e)d)c)b)a;", "─ c\n ├─ d\n │ └─ e\n └─ b\n   └─ a\n"),
        ("(a,(c,(d)e)b);", "─┬─ a\n └─ b\n   ├─ c\n   └─ e\n     └─ d\n"),
    ],
)
def test_drawings(text, drawing):
    assert Tree.from_newick(text).draw() == drawing


@pytest.mark.parametrize(
    ("text", "drawing"),
    [
        (
            "((a,b)0.5,(c,d)0.07,((e,f)1,g)0.2);",
            "─┬─50─┬─ a\n │    └─ b\n ├─7─┬─ c\n │   └─ d\n └─20─┬─ g\n      └─100─┬─ e\n            └─ f\n",
        ),
        ("((a,b)0.126,c,(d,e));", "─┬─ c\n ├─13─┬─ a\n │    └─ b\n └─┬─ d\n   └─ e\n"),
        ("(a,(((b,c)1))0,d);", "─┬─100─┬─ b\n │     └─ c\n └───0─┬─ a\n       └─ d\n"),
        ("(a,(b,d)c[&support=0.25],e);", "─┬─ a\n ├─ e\n └─25─ c\n      ├─ b\n      └─ d\n"),
    ],
)
def test_support_stands_on_edges_in_per_cent(text, drawing):
    assert Tree.from_newick(text).draw() == drawing


def test_support_stands_on_the_edges_of_hidden_names():
    tree = Tree("abcd", [(4, 0), (4, 1), (4, 5), (5, 2), (5, 3)], support=[np.nan, np.nan, 0.5, np.nan, np.nan])
    assert tree.draw(hidden=True) == "─ H1\n ├─ a\n ├─ b\n └─50─ H2\n      ├─ c\n      └─ d\n"


@checked
@given(any_tree)
def test_drawings_connect_and_show_every_name_once(tree):
    lines = tree.draw().splitlines()
    assert sorted(line.split()[-1] for line in lines) == sorted(tree.names)
    for above, line in pairwise(lines):
        for column, mark in enumerate(line):
            if mark == "│":
                assert above[column : column + 1] in {"│", "├", "┬"}


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


def test_names_cannot_steer_the_terminal():
    assert Tree(["a\nb", "\x1b[31mred"], [(0, 1)]).draw() == "─ a\ufffdb\n └─ \ufffd[31mred\n"


def test_hidden_variables_are_drawn_by_name_if_asked():
    tree = Tree.from_newick("((a,b),c,d);")
    assert tree.draw(hidden=True) == "─ H1\n ├─ a\n ├─ b\n └─ H2\n   ├─ c\n   └─ d\n"
