"""Balanced averages against sums over all pairs of leaves."""

import numpy as np
import pytest

from helpers.balanced import balanced, naive_length, noise
from latree.paper.simulate import random_tree


@pytest.mark.parametrize("d", [3, 4, 7, 15])
def test_the_length_is_the_sum_over_all_pairs(d):
    for seed in range(3):
        distance, tree = noise(d, seed), random_tree(d, 0.4, seed)
        assert balanced(tree, distance).length == pytest.approx(naive_length(tree, distance))


def test_each_branch_of_a_subtree_has_half_of_its_weight():
    """The weight of a leaf is 2 to the power of minus the edges between it and the top of the subtree."""
    distance, tree = noise(9, 0), random_tree(9, 0.4, 0)
    found = balanced(tree, distance)
    for node in found.order[1:]:
        parent = int(found.parent[node])
        for weights, top, other in ((found.below[node], node, parent), (found.above[node], parent, node)):
            inside = tree.columns_behind(top, other)
            expected = [0.5 ** edges_between(tree, top, leaf) if inside >> leaf & 1 else 0 for leaf in range(9)]
            assert weights == pytest.approx(expected)
        assert found.averages[node] == pytest.approx(found.below[node] @ distance)
    assert sorted(found.order) == list(range(tree.n_nodes))
    assert np.all(found.parent[found.order[1:]] >= 9)


def edges_between(tree, one, other):
    distances, waiting = {one: 0}, [one]
    for node in waiting:
        for near, _ in tree.neighbors[node]:
            if near not in distances:
                distances[near] = distances[node] + 1
                waiting.append(near)
    return distances[other]
