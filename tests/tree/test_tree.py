"""Trees that are made from trees, and the graph for networkx."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.strategies import (
    any_tree,
    hidden_edges,
    mixed_tree,
    naive_edge_splits,
    naive_splits,
    numbered,
    path_distances,
    same_graph,
)
from latree.errors import InputError
from latree.paper.simulate import random_tree
from latree.tree import Tree

checked = settings(deadline=None, derandomize=True, max_examples=100)

FOREST = Tree("abcdef", [(6, 0), (6, 1), (6, 2), (3, 4)])


def test_trees_do_not_change():
    edges, lengths, support = np.array([(0, 1)]), np.array([1.0]), np.array([0.5])
    tree = Tree(["a", "b"], edges, lengths, support)
    for given_array, own in [(edges, tree.edges), (lengths, tree.lengths), (support, tree.support)]:
        before = own.copy()
        given_array += 1
        np.testing.assert_array_equal(own, before)
        with pytest.raises(ValueError, match="read-only"):
            own[0] = 0


def test_reordering_keeps_numbers():
    tree = Tree("abc", [(3, 0), (3, 1), (3, 2)], [1.0, 2.0, 3.0], [0.1, 0.2, 0.3])
    moved = tree.reordered("cab")
    assert moved.names == ("c", "a", "b")
    assert same_graph(moved, tree)


def test_reordering_refuses_a_name_given_twice():
    with pytest.raises(InputError, match="'b'"):
        Tree("ab", [(0, 1)]).reordered(["a", "b", "b"])


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


@checked
@given(any_tree, st.data())
def test_the_restricted_tree_has_the_splits_of_the_tree_on_fewer_variables(tree, data):
    kept = data.draw(st.lists(st.sampled_from(tree.names), min_size=1, unique=True))
    found = tree.restricted(kept)
    assert found.names == tuple(kept)
    sides = ({side & frozenset(kept) for side in split} for split in naive_edge_splits(tree))
    expected = {frozenset(split) for split in sides if len(split) == 2 and all(len(side) > 1 for side in split)}
    assert naive_splits(found) == expected
    hidden = [len(around) for around in found.neighbors[found.n_observed :]]
    assert min(hidden, default=2) > 1


@pytest.mark.parametrize("seed", range(4))
def test_the_restricted_tree_has_the_same_distances(seed):
    tree = mixed_tree(8, seed)
    kept = [2, 5, 1, 7, 4]
    found = tree.restricted([tree.names[i] for i in kept])
    np.testing.assert_allclose(path_distances(found), path_distances(tree)[np.ix_(kept, kept)], atol=1e-12)


def test_a_tree_is_restricted_to_its_own_variables():
    with pytest.raises(InputError, match="no variable 'z'"):
        FOREST.restricted("az")


def test_to_networkx_has_names_and_known_numbers():
    tree = Tree(["a", "H1", "c"], [(0, 3), (3, 1), (3, 2)], [1.5, np.nan, 2.0], [np.nan, np.nan, 0.5])
    graph = tree.to_networkx()
    assert dict(graph.nodes(data="hidden")) == {"a": False, "H1": False, "c": False, "HH1": True}
    assert graph.edges["a", "HH1"] == {"length": 1.5}
    assert graph.edges["H1", "HH1"] == {}
    assert graph.edges["c", "HH1"] == {"length": 2.0, "support": 0.5}
    assert set(FOREST.to_networkx()) == set(FOREST.node_names)


def test_two_observed_variables_are_never_contracted_into_one():
    with pytest.raises(InputError, match="two observed variables cannot become one node"):
        Tree("abc", [(0, 1), (1, 2)]).contracted([0])
