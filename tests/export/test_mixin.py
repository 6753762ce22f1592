"""The methods of the estimator do what the functions do with its model."""

import inspect

import networkx
import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from helpers.models import small_models
from helpers.networks import check_pgmpy
from latree import LatentTree, export

TEXTS = ["to_newick", "to_nexus", "to_graphml", "to_dot", "to_json", "to_bif", "to_xmlbif"]


@pytest.fixture(scope="module")
def fitted():
    estimator = LatentTree()
    estimator.model_ = small_models()[3]
    return estimator


def test_there_is_a_method_for_every_function():
    functions = [name for name in export.__all__ if name.startswith("to_")]
    assert sorted([*TEXTS, "to_networkx", "to_pgmpy", "to_linkage"]) == functions
    for name in functions:
        method, function = (inspect.signature(getattr(place, name)).parameters for place in (LatentTree, export))
        assert list(method)[1:] == list(function)[1:]


@pytest.mark.parametrize("name", TEXTS)
def test_texts_are_the_same(fitted, name):
    assert getattr(fitted, name)() == getattr(export, name)(fitted.model_)


@pytest.mark.parametrize("name", ["to_newick", "to_nexus"])
def test_hidden_variables_are_named_if_asked(fitted, name):
    assert getattr(fitted, name)(hidden=True) == getattr(export, name)(fitted.model_, hidden=True)


def test_objects_are_the_same(fitted):
    np.testing.assert_array_equal(fitted.to_linkage(), export.to_linkage(fitted.model_))
    assert networkx.utils.graphs_equal(fitted.to_networkx(), export.to_networkx(fitted.model_))
    check_pgmpy(fitted.model_, fitted.to_pgmpy(), list(fitted.model_.node_names))


def test_the_file_is_the_same(fitted, tmp_path):
    for hidden in (False, True):
        fitted.export(tmp_path / "tree.nwk", hidden=hidden)
        assert (tmp_path / "tree.nwk").read_text() == export.to_newick(fitted.model_, hidden=hidden)


def test_an_estimator_must_be_fitted():
    with pytest.raises(NotFittedError):
        LatentTree().to_newick()
