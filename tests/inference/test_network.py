"""The rooted form of a model."""

import numpy as np
import pytest

from helpers.models import naive_joint, small_models
from latree.inference.network import Network


@pytest.mark.parametrize("index", range(5))
def test_marginals_equal_enumeration(index):
    model = small_models()[index]
    joint = naive_joint(model)
    for node, marginal in enumerate(model.network.marginals()):
        others = tuple(axis for axis in range(joint.ndim) if axis != node)
        np.testing.assert_allclose(marginal, joint.sum(axis=others), rtol=1e-12)


@pytest.mark.parametrize("index", range(5))
def test_children_and_plain_leaves_are_those_of_the_rooted_tree(index):
    model = small_models()[index]
    rooted = model.tree.rooted()
    network = Network.on_tree(model.tree, model.tables)
    assert network.children == rooted.children
    for node in range(model.tree.n_nodes):
        plain = node < model.tree.n_observed and not rooted.children[node] and rooted.parent[node] >= 0
        assert (node in network.plain_leaves) == plain
