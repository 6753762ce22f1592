"""Networks of pgmpy: the same tables, names and posteriors."""

import sys

import pytest

from helpers.exports import JUDGED_IDS, judged_models
from helpers.models import small_models
from helpers.networks import check_pgmpy, check_pgmpy_posteriors
from latree.export.networks import to_pgmpy


@pytest.mark.parametrize("model", judged_models(), ids=JUDGED_IDS)
def test_the_network_is_the_model(model):
    network, names = to_pgmpy(model), list(model.node_names)
    assert network.check_model()
    check_pgmpy(model, network, names)
    for column in model.columns:
        assert network.get_cpds(column.name).state_names[column.name] == list(column.categories)


def test_pgmpy_computes_the_same_posteriors():
    model = small_models()[3]
    check_pgmpy_posteriors(model, to_pgmpy(model), list(model.node_names))


def test_without_pgmpy_the_message_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "pgmpy.models", None)
    with pytest.raises(ImportError, match="pip install pgmpy"):
        to_pgmpy(small_models()[0])
