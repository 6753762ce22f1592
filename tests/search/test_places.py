"""Places in a tree, and moves that do not touch each other."""

from dataclasses import replace

import numpy as np

from helpers.models import small_models
from latree.search.places import apart, clusters, edge_place, outline, place
from latree.tree import Tree


def test_moves_that_touch_the_same_node_wait():
    moves = [{1, 2}, {2, 3}, {4}, {3}, {4, 5}]
    assert apart(moves, lambda move: (move, set())) == [{1, 2}, {4}, {3}]


def test_a_node_may_be_next_to_many_moves_but_not_change_meanwhile():
    hub, one, two, three = {9}, {1}, {2}, {3}
    moves = [(one, hub), (two, hub), (hub, one | two | three), (three, hub)]
    assert apart(moves, lambda move: move) == [(one, hub), (two, hub), (three, hub)]
    assert apart(moves[::-1][1:], lambda move: move) == [(hub, one | two | three)]


def test_clusters_are_what_edges_connect():
    found = clusters([(5, 6), (8, 9), (6, 7), (10, 9), (12, 11)], 5)
    assert sorted(found) == [[5, 6, 7], [8, 9, 10], [11, 12]]
    assert clusters([], 5) == []


def test_clusters_have_no_more_nodes_than_asked_for():
    chain = [(5, 6), (6, 7), (7, 8), (8, 9)]
    assert sorted(clusters(chain, 3)) == [[5, 6, 7], [8, 9]]
    assert sorted(clusters(chain[::-1], 3)) == [[5, 6], [7, 8, 9]]
    assert sorted(clusters(chain, 2)) == [[5, 6], [7, 8]]
    # Two groups become one only if there is room for both.
    assert sorted(clusters([(5, 6), (7, 8), (6, 7)], 3)) == [[5, 6], [7, 8]]
    assert clusters([(5, 6), (7, 8), (6, 7)], 4) == [[5, 6, 7, 8]]


def test_a_place_does_not_depend_on_the_numbers_of_hidden_nodes():
    one = Tree("abcde", [(0, 5), (1, 5), (5, 6), (2, 6), (3, 6), (4, 6)])
    same = Tree("abcde", [(0, 6), (1, 6), (5, 6), (2, 5), (3, 5), (4, 5)])
    assert place(one, 5) == place(same, 6) != place(one, 6) == place(same, 5)
    assert edge_place(one, 2) == edge_place(same, 2) != edge_place(one, 0)
    other = Tree("abcde", [(0, 5), (1, 5), (2, 5), (5, 6), (3, 6), (4, 6)])
    assert place(other, 5) != place(one, 5)


def test_the_outline_changes_with_splits_and_numbers_of_states():
    binary, star, *_ = small_models()
    same = replace(binary, tree=binary.tree.with_numbers(support=np.ones(len(binary.tree.edges))))
    assert outline(binary) == outline(same) != outline(star)
    assert outline(binary)[1] == tuple(np.sort(binary.n_states))
