"""Average linkage against joining clusters one by one."""

import numpy as np
import pytest

from latree.learners.joining import average_linkage
from latree.learners.structure import latent_class
from latree.tree import Tree


def naive_clusters(similarity):
    """Join the two clusters of largest mean similarity until two are left; return all clusters."""
    clusters, found = [frozenset([i]) for i in range(len(similarity))], []
    while len(clusters) > 2:
        pairs = [(a, b) for i, a in enumerate(clusters) for b in clusters[:i]]
        one, other = max(pairs, key=lambda pair: np.mean([similarity[i, j] for i in pair[0] for j in pair[1]]))
        clusters = [cluster for cluster in clusters if cluster not in (one, other)] + [one | other]
        found.append(one | other)
    return found


@pytest.mark.parametrize("d", [4, 5, 8, 13])
@pytest.mark.parametrize("seed", range(3))
def test_splits_are_the_clusters(d, seed):
    values = np.random.default_rng(seed).random((d, d))
    similarity = np.triu(values, 1) + np.triu(values, 1).T
    tree = average_linkage([f"x{i}" for i in range(d)], similarity).tree
    assert not tree.non_binary_features()
    expected = {frozenset(map(frozenset, (cluster, set(range(d)) - cluster))) for cluster in naive_clusters(similarity)}
    found = {
        frozenset(frozenset(i for i in range(d) if side >> i & 1) for side in (split.side, split.other_side))
        for split in tree.splits
    }
    assert found == {split for split in expected if min(map(len, split)) > 1}


def test_the_diagonal_and_the_input_are_left_alone():
    similarity = np.array([[9.0, 5, 1, 1], [5, 9, 1, 1], [1, 1, 9, 4], [1, 1, 4, 9]])
    before = similarity.copy()
    tree = average_linkage("abcd", similarity).tree
    assert tree.robinson_foulds(Tree.from_newick("((a,b),(c,d));")) == 0
    np.testing.assert_array_equal(similarity, before)


@pytest.mark.parametrize("d", [1, 2, 3])
def test_few_columns_have_one_tree(d):
    names = "abc"[:d]
    found, only = average_linkage(names, np.zeros((d, d))).tree, latent_class(names).tree
    assert found.edges.tolist() == only.edges.tolist()
