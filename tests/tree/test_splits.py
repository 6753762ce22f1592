"""Splits, and the Robinson-Foulds distance that counts them."""

import dendropy
import networkx
import numpy as np
import pytest
from dendropy.calculate.treecompare import symmetric_difference
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.strategies import (
    any_tree,
    contracted,
    graph_of,
    in_dendropy,
    naive_edge_splits,
    naive_splits,
    observed,
    several_trees,
)
from latree.errors import InputError
from latree.paper.simulate import random_tree
from latree.tree import Split, Tree

checked = settings(deadline=None, derandomize=True, max_examples=100)


def decoded(tree, split):
    def names(bits):
        return frozenset(name for i, name in enumerate(tree.names) if bits >> i & 1)

    return frozenset([names(split.side), names(split.other_side)])


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


def test_a_split_knows_both_sides():
    split = Split(side=0b1100, component=0b11101)
    assert split.other_side == 0b10001
    assert split.smaller_side == 2
    assert Split(side=0b100, component=0b11101).smaller_side == 1
