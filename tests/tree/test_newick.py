"""Newick: what is written is read again, DendroPy agrees, and bad text is refused."""

import numpy as np
import pytest
from hypothesis import given, settings

from helpers.strategies import contracted, in_dendropy, naive_edge_splits, named_trees, same_graph
from latree.errors import InputError
from latree.paper.simulate import random_tree
from latree.tree import Tree
from latree.tree.newick import write_newick

checked = settings(deadline=None, derandomize=True, max_examples=100)


def caterpillar(n):
    return "(" * (n - 1) + "x0,x1" + "".join(f"),x{i}" for i in range(2, n)) + ");"


@settings(checked, max_examples=200)
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


def test_named_hidden_nodes_stay_hidden():
    tree = Tree("abcde", [(5, 0), (5, 1), (5, 6), (6, 2), (6, 3), (3, 4)], support=[np.nan, np.nan, 0.9] + [np.nan] * 3)
    text = write_newick(tree.names, tree.rooted(), tree.lengths, tree.support, ["it's", "H 2"])
    assert text == "((a,b)'it''s'[&hidden=true,support=0.9],c,(e)d)'H 2'[&hidden=true];\n"
    assert same_graph(Tree.from_newick(text), tree)
    # A leaf is never hidden, and other comments are passed over.
    again = Tree.from_newick("((a[&hidden=true],b)x[&hidden=false],c,(d,e)y[&rate=1,hidden=true,support=0.5]);")
    assert again.names == ("a", "b", "x", "c", "d", "e")
    assert np.nansum(again.support) == 0.5


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


def test_support_above_one_is_read_as_percentages():
    tree = Tree.from_newick("((a,b)95,(c,d)1,(e,f)100);")
    assert sorted(tree.support[~np.isnan(tree.support)]) == [0.01, 0.95, 1.0]
    tree = Tree.from_newick("((a,b)0.5,(c,d)1,e);")
    assert sorted(tree.support[~np.isnan(tree.support)]) == [0.5, 1.0]


@pytest.mark.parametrize("support", ["1e308", "100.001", "-0.1"])
def test_support_that_is_no_probability_is_refused(support):
    with pytest.raises(InputError, match=r"the support .* is neither from 0 to 1 nor a percentage"):
        Tree.from_newick(f"((a,b){support},c,d);")


def test_names_that_repeat_are_counted():
    with pytest.raises(InputError, match="the name 'a' appears 3 times"):
        Tree.from_newick("((a,b),(a,c),a);")
    with pytest.raises(InputError, match="has a NUL character"):
        Tree.from_newick("('a\0',b,c);")
