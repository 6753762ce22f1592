from importlib import import_module
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.joining import JoiningTests, noise
from helpers.strategies import check_valid, names_of, noisy_distances, path_distances, with_lengths
from latree.learners.joining import spectral_joining
from latree.paper.simulate import random_tree
from latree.tree import Tree

checked = settings(deadline=None, derandomize=True, max_examples=40)


class TestJoining(JoiningTests):
    @pytest.fixture
    def builder(self):
        return spectral_joining


def naive_spectral_joining(names, distance):
    """Join the groups whose union has the block with the smallest second singular value, looking at all every time."""
    d = len(names)
    affinity = np.exp(-distance)

    def second(union):
        others = [leaf for leaf in range(d) if leaf not in union]
        return np.linalg.svd(affinity[np.ix_(union, others)], compute_uv=False)[1]

    groups = {leaf: [leaf] for leaf in range(d)}
    edges = []
    for new in range(d, 2 * d - 3):
        i, j = min(combinations(groups, 2), key=lambda pair: second(groups[pair[0]] + groups[pair[1]]))
        edges += [(i, new), (j, new)]
        groups[new] = groups.pop(i) + groups.pop(j)
    return Tree(names, [*edges, *((node, 2 * d - 3) for node in groups)])


@pytest.mark.parametrize("cells_at_once", [1, 60, 2**22])
@pytest.mark.parametrize("d", [4, 5, 6, 9, 14])
def test_spectral_joining_equals_a_naive_twin(d, cells_at_once, monkeypatch):
    module = import_module("latree.learners.joining")
    monkeypatch.setattr(module, "_SUBMATRIX_CELLS_AT_ONCE", cells_at_once)
    for seed in range(3):
        noisy = noisy_distances(with_lengths(random_tree(d, 0.3, seed), seed), 0.2, seed)
        for distance in (noise(d, seed), noisy):
            learned = spectral_joining(names_of(d), distance).tree
            check_valid(learned, names_of(d))
            assert learned.n_hidden == d - 2
            assert learned.robinson_foulds(naive_spectral_joining(names_of(d), distance)) == 0


@checked
@given(d=st.integers(4, 24), balance=st.floats(0.1, 0.5), seed=st.integers(0, 10**6))
def test_spectral_joining_gives_any_binary_tree_back(d, balance, seed):
    tree = with_lengths(random_tree(d, balance, seed), seed, high=0.5)
    assert spectral_joining(tree.names, path_distances(tree)).tree.robinson_foulds(tree) == 0


def test_spectral_joining_does_not_mind_what_is_added_to_all_distances():
    """It multiplies all affinities; multiplying the distances themselves makes other affinities."""
    changed = 0
    for seed in range(5):
        distance = noise(12, seed)
        tree = spectral_joining(names_of(12), distance).tree
        assert spectral_joining(names_of(12), distance + 1.5).tree.robinson_foulds(tree) == 0
        changed += spectral_joining(names_of(12), 5 * distance).tree.robinson_foulds(tree) > 0
    assert changed
