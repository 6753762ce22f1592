"""Regrafts of subtrees against every tree that one of them makes."""

import pytest

from helpers.balanced import all_regrafts, balanced, naive_length, noise
from latree.learners.minimum_evolution import best_regrafts, regrafted, regrafts_apart
from latree.paper.simulate import random_tree
from latree.tree import Tree


def changed(tree, regrafts):
    """Return the tree after some regrafts."""
    neighbors = regrafted([[other for other, _ in pairs] for pairs in tree.neighbors], regrafts)
    return Tree(tree.names, [(u, v) for u, around in enumerate(neighbors) for v in around if u < v])


@pytest.mark.parametrize("d", [4, 5, 8, 11])
@pytest.mark.parametrize("seed", range(3))
def test_regrafts_are_the_best_of_each_subtree(d, seed):
    distance, tree = noise(d, seed), random_tree(d, 0.3, seed)
    length = naive_length(tree, distance)
    found = {(one.top, one.old): one for one in best_regrafts(balanced(tree, distance), distance, 1e-9)}
    for place, others in all_regrafts(tree).items():
        best = min((naive_length(other, distance) for other in others), default=length)
        assert (place in found) == (best < length - 1e-9)
        if place in found:
            assert length + found[place].change == pytest.approx(best)
            assert naive_length(changed(tree, [found[place]]), distance) == pytest.approx(best)
    changes = [one.change for one in found.values()]
    assert changes == sorted(changes)


def test_regrafts_must_shorten_the_tree_by_enough():
    distance, tree = noise(9, 5), random_tree(9, 0.3, 5)
    every = best_regrafts(balanced(tree, distance), distance, 1e-9)
    least = -every[len(every) // 2].change
    fewer = best_regrafts(balanced(tree, distance), distance, least)
    assert 0 < len(fewer) < len(every)
    assert fewer == [one for one in every if one.change < -least]


def test_regrafts_that_do_not_touch_can_be_made_together():
    several = 0
    for seed in range(30):
        distance, tree = noise(40, seed), random_tree(40, 0.3, seed)
        whole = balanced(tree, distance)
        chosen = regrafts_apart(whole, best_regrafts(whole, distance, 1e-9))
        several += len(chosen) > 1
        after = changed(tree, chosen)
        assert len(after.components) == 1
        assert {len(around) for around in after.neighbors[40:]} == {3}
        for place, one in enumerate(chosen):
            others = chosen[:place] + chosen[place + 1 :]
            assert after.robinson_foulds(changed(changed(tree, [one]), others)) == 0
    assert several > 20
