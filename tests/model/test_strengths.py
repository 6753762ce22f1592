"""The strengths of a model's edges."""

import numpy as np
import pytest

from helpers.models import chain_model, naive_joint, small_models


@pytest.mark.parametrize("model", small_models())
def test_strengths_are_information_over_entropy(model):
    joint = naive_joint(model)
    strengths = model.edge_strengths()
    for (u, v), strength in zip(model.tree.edges.tolist(), strengths, strict=True):
        pair = joint.sum(axis=tuple(set(range(joint.ndim)) - {u, v}))
        p, q = pair.sum(axis=1, keepdims=True), pair.sum(axis=0, keepdims=True)
        information = (pair * np.log(pair / (p * q))).sum()
        entropies = [-(share * np.log(share)).sum() for share in (p, q)]
        assert strength == pytest.approx(np.sqrt(information / min(entropies)), rel=1e-9)


def test_strengths_reach_from_nought_to_one():
    same, nothing = [[1.0, 0.0], [0.0, 1.0]], [[0.3, 0.3], [0.7, 0.7]]
    model = chain_model(same, [[0.4], [0.6]], nothing)
    np.testing.assert_allclose(model.edge_strengths(), [1, 0], rtol=0, atol=1e-7)
    constant = chain_model(same, [[1.0], [0.0]], nothing)
    assert constant.edge_strengths().tolist() == [0, 0]
