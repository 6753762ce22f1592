"""BIF: pgmpy and pyAgrum read it and compute the same posteriors; hostile names do no harm."""

from urllib.parse import unquote

import pytest
from hypothesis import given, settings

from helpers.exports import JUDGED_IDS, hostile_models, judged_models
from helpers.models import small_models
from helpers.networks import BIFReader, check_agrum, check_pgmpy, check_pgmpy_posteriors
from latree.export.networks import to_bif

AGRUM_DIGITS = 1e-6  # pyAgrum reads numbers of BIF in single precision


@settings(max_examples=25)
@given(hostile_models())
def test_pgmpy_reads_the_same_tables_and_names(model):
    reader = BIFReader(string=to_bif(model), include_properties=True)
    network, names = reader.get_model(), reader.variable_names
    check_pgmpy(model, network, names)
    assert [unquote(network.nodes[name].get("name", name)) for name in names] == list(model.node_names)
    for column, name in zip(model.columns, names, strict=False):
        states = reader.variable_states[name]
        assert len(set(states)) == column.n_states
        kept = network.nodes[name].get("states", ",".join(states)).split(",")
        assert [unquote(state) for state in kept] == list(column.categories)


@pytest.mark.parametrize("model", judged_models(), ids=JUDGED_IDS)
def test_pyagrum_computes_the_same_posteriors(model, tmp_path):
    path = tmp_path / "model.bif"
    path.write_text(to_bif(model), encoding="utf-8")
    check_agrum(model, path, AGRUM_DIGITS)


@pytest.mark.parametrize("model", judged_models()[5:], ids=JUDGED_IDS[5:])
def test_pgmpy_computes_the_same_posteriors(model):
    reader = BIFReader(string=to_bif(model))
    check_pgmpy_posteriors(model, reader.get_model(), reader.variable_names)


def test_plain_names_stay():
    text = to_bif(small_models()[0])
    assert "property" not in text
    assert "variable H1 {\n  type discrete [ 2 ] { 0, 1 };\n}" in text
