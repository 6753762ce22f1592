"""Linkages: scipy accepts them, and heights are mean distances in the tree."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.cluster.hierarchy import cophenet, dendrogram, fcluster, is_monotonic, is_valid_linkage

from helpers.exports import hostile_models
from helpers.models import grouped_model, model_on, star
from helpers.strategies import contracted, path_distances, several_trees, with_lengths
from latree.errors import InputError
from latree.export.trees import to_linkage
from latree.interpret.groups import find_groups, group_labels
from latree.paper.simulate import random_tree
from latree.tree import Tree

TOLERANCE = 1e-9


def on_tree(tree):
    return model_on(tree, [2] * tree.n_nodes, 0)


def clusters(linkage):
    """The columns of each cluster: single ones first, then those of each merge."""
    found = [frozenset([i]) for i in range(len(linkage) + 1)]
    for one, two in linkage[:, :2].astype(int):
        found.append(found[one] | found[two])
    return found


@given(hostile_models(max_columns=9).filter(lambda model: model.tree.n_observed > 1))
def test_scipy_accepts_every_linkage(model):
    linkage = to_linkage(model)
    assert linkage.shape == (model.tree.n_observed - 1, 4)
    assert is_valid_linkage(linkage, throw=True)
    assert is_monotonic(linkage)
    assert sorted(dendrogram(linkage, no_plot=True)["leaves"]) == list(range(model.tree.n_observed))
    assert [len(cluster) for cluster in clusters(linkage)[model.tree.n_observed :]] == linkage[:, 3].tolist()


@given(
    several_trees(1, forest=False).map(lambda found: found[0]).filter(lambda tree: tree.n_observed > 1), st.integers()
)
def test_heights_are_mean_distances(tree, seed):
    tree = with_lengths(tree, abs(seed))
    linkage, distance = to_linkage(on_tree(tree)), path_distances(tree)
    members, heights = clusters(linkage), [0.0] * tree.n_observed
    for one, two, height, _ in linkage.tolist():
        one, two = int(one), int(two)
        mean = distance[np.ix_(sorted(members[one]), sorted(members[two]))].mean()
        heights.append(height)
        assert height == pytest.approx(max(mean, heights[one], heights[two]), abs=TOLERANCE)


@pytest.mark.parametrize("seed", range(6))
def test_branches_of_the_tree_are_clusters(seed):
    tree = contracted(random_tree(12, 0.4, seed), 0.3, seed)
    rooted, found = tree.rooted(), set(clusters(to_linkage(on_tree(with_lengths(tree, seed)))))
    for branch in rooted.combined(({node} & set(range(12)) for node in range(tree.n_nodes)), set.union):
        assert frozenset(branch) in found


def test_the_nearest_branches_are_merged_first():
    tree = star(4).with_numbers(lengths=[3, 1, 4, 2])
    expected = [[1, 3, 3, 2], [0, 4, 4.5, 3], [2, 5, 6, 4]]
    assert to_linkage(on_tree(tree)).tolist() == expected


def test_components_are_joined_at_the_top():
    forest = Tree("abcde", [(0, 1), (2, 3)], lengths=[1, 2])
    assert to_linkage(on_tree(forest)).tolist() == [
        [0, 1, 1, 2], [2, 3, 2, 2], [5, 6, 2.2, 4], [4, 7, 2.2, 5],
    ]  # fmt: skip
    assert to_linkage(on_tree(Tree("ab", []))).tolist() == [[0, 1, 1, 2]]


def test_groups_can_be_cut_from_the_linkage():
    model = grouped_model()
    numbers = fcluster(to_linkage(model), 3, "maxclust")
    labels = group_labels(find_groups(model), model.tree.names)
    assert len(set(zip(numbers.tolist(), labels.tolist(), strict=True))) == 3


def test_cophenetic_distances_of_an_even_tree_are_its_path_lengths():
    tree = Tree.from_newick("((a:1,b:1):1,(c:1,d:1):1,(e:1,f:1):1);")
    distance = path_distances(tree)
    np.testing.assert_allclose(cophenet(to_linkage(on_tree(tree))), distance[np.triu_indices(6, 1)], atol=TOLERANCE)


def test_one_column_has_no_linkage():
    with pytest.raises(InputError, match="at least two columns"):
        to_linkage(on_tree(Tree("a", [])))
