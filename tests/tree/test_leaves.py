"""The order of leaves: groups stay whole wherever the tree allows it."""

from itertools import groupby, permutations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import latree
from latree.tree import Tree
from latree.tree.leaves import leaves_of


def n_runs(columns, group_of):
    return sum(group >= 0 for group, _ in groupby(columns, key=lambda column: group_of[column]))


def naive_orders(rooted, n_observed, node):
    """Yield every order of the columns at or below a node."""
    items = [*rooted.children[node], *([node] if node < n_observed else [])]
    for arranged in permutations(items):
        parts = [[[node]] if item == node else list(naive_orders(rooted, n_observed, item)) for item in arranged]
        for chosen in product(*parts):
            yield [column for part in chosen for column in part]


def naive_runs(rooted, n_observed, group_of):
    return sum(
        min(n_runs(order, group_of) for order in naive_orders(rooted, n_observed, root)) for root in rooted.roots
    )


def in_groups(tree, cut, ungrouped):
    """Groups are what is left between some edges; some of them are no group."""
    kept = [edge for number, edge in enumerate(tree.edges.tolist()) if number not in cut]
    group_of = list(range(tree.n_nodes))
    for _ in range(tree.n_nodes):
        for u, v in kept:
            group_of[u] = group_of[v] = min(group_of[u], group_of[v])
    return [-1 if group in ungrouped else group for group in group_of]


@st.composite
def grouped_trees(draw, most=7):
    n = draw(st.integers(2, most))
    # Any tree: hidden and observed nodes alike have any number of neighbours.
    n_hidden = draw(st.integers(0, 4))
    n_nodes = n + n_hidden
    places = draw(st.permutations(range(n_nodes)))
    edges = [(places[i], places[draw(st.integers(max(0, i - 4), i - 1))]) for i in range(1, n_nodes)]
    degree = np.bincount(np.array(edges).ravel(), minlength=n_nodes)
    if (degree[n:] < 2).any():
        # Hidden leaves become columns.
        order = sorted(range(n_nodes), key=lambda node: (node >= n and degree[node] >= 2, node))
        number = {node: place for place, node in enumerate(order)}
        edges = [(number[u], number[v]) for u, v in edges]
        n += int((degree[n:] < 2).sum())
    tree = Tree([f"x{i}" for i in range(n)], edges)
    cut = draw(st.sets(st.integers(0, len(edges) - 1), max_size=4))
    ungrouped = draw(st.sets(st.integers(0, n_nodes - 1), max_size=2))
    return tree, in_groups(tree, cut, ungrouped)


@settings(deadline=None, max_examples=150)
@given(grouped_trees())
def test_there_are_as_few_runs_of_groups_as_the_tree_allows(example):
    tree, group_of = example
    rooted = tree.rooted()
    if max(len(children) for children in rooted.children) > 5:
        return  # too many orders to try them all
    leaves = leaves_of(rooted, tree.n_observed, group_of)
    assert sorted(leaves.columns) == list(range(tree.n_observed))
    assert sorted(leaves.order) == list(range(tree.n_nodes))
    assert n_runs(leaves.columns, group_of) == naive_runs(rooted, tree.n_observed, group_of)


@settings(deadline=None, max_examples=50)
@given(grouped_trees(most=40))
def test_it_is_an_order_of_the_tree(example):
    tree, group_of = example
    rooted = tree.rooted()
    leaves = leaves_of(rooted, tree.n_observed, group_of)
    place = {column: i for i, column in enumerate(leaves.columns)}
    for node, children in enumerate(rooted.children):
        assert sorted(leaves.branches[node]) == sorted(children)
        # A branch is one stretch of the order.
        below = [child for child in leaves.order if child < tree.n_observed and _is_below(rooted, child, node)]
        assert not below or max(map(place.get, below)) - min(map(place.get, below)) == len(below) - 1


def _is_below(rooted, node, top):
    while node >= 0 and node != top:
        node = int(rooted.parent[node])
    return node == top


def test_strong_columns_come_first_and_other_groups_last():
    tree = Tree.from_newick("(a,b,c,d,(e,f),(g,h,i));")
    group_of = [0, 0, 0, 0, 1, 1, 2, 2, 2, 1, 2, 0]
    strengths = [0.2, 0.9, 0.5, 0.7, 0.1, 0.2, 0.3, 0.2, 0.1, 0, 0, 0]
    leaves = leaves_of(tree.rooted(), 9, group_of, strengths)
    assert "".join(tree.names[column] for column in leaves.columns) == "bdcafeghi"


def test_a_group_around_others_is_whole():
    # The group of a to d has another group on each of its two hidden variables.
    above = [8, 8, 9, 9, 10, 10, 11, 11, 9, -1, 8, 9]
    tree = Tree("abcdefgh", [(node, upper) for node, upper in enumerate(above) if upper >= 0])
    group_of = [0, 0, 0, 0, 1, 1, 2, 2, 0, 0, 1, 2]
    assert n_runs(leaves_of(tree.rooted(), 8, group_of).columns, group_of) == 3


@pytest.mark.parametrize("n", [3000])
def test_a_deep_and_a_wide_tree(n):
    deep = Tree([str(i) for i in range(n)], [(i, i + 1) for i in range(n - 1)])
    assert len(leaves_of(deep.rooted(), n, [0] * n).columns) == n
    wide = Tree([str(i) for i in range(n)], [(i, n) for i in range(n)])
    assert leaves_of(wide.rooted(), n, [0] * (n + 1), [*range(n), 0]).columns == list(range(n))[::-1]


def test_without_groups_small_branches_come_first():
    tree = latree.Tree.from_newick("((a,b,c),d,(e,f));")
    assert "".join(tree.names[column] for column in leaves_of(tree.rooted(), 6).columns) == "defabc"
