"""XMLBIF: pgmpy and pyAgrum read it and compute the same posteriors, by the names of columns and states."""

import pytest
from hypothesis import given, settings

from helpers.exports import JUDGED_IDS, hostile_models, judged_models, labelled
from helpers.networks import check_agrum, check_pgmpy, readwrite
from latree.export.names import one_line
from latree.export.networks import to_xmlbif
from latree.tree import Tree


@settings(max_examples=60)
@given(hostile_models())
def test_pgmpy_reads_the_same_tables(model):
    reader = readwrite.XMLBIFReader(string=to_xmlbif(model))
    check_pgmpy(model, reader.get_model(), reader.variables)
    for column, name in zip(model.columns, reader.variables, strict=False):
        assert name.startswith(one_line(column.name))
        assert len(set(reader.variable_states[name])) == column.n_states


@pytest.mark.parametrize("model", judged_models(), ids=JUDGED_IDS)
def test_pyagrum_computes_the_same_posteriors(model, tmp_path):
    path = tmp_path / "model.bifxml"
    path.write_text(to_xmlbif(model), encoding="utf-8")
    check_agrum(model, path, 1e-9)


def test_names_stay_as_they_are():
    names = ["<b>&amp;</b>", 'quote"s', "A", "a", "日本 x"]
    model = labelled(Tree(names, [(i, 5) for i in range(5)]), [["<= 2", "> 2"]] * 5, 0)
    reader = readwrite.XMLBIFReader(string=to_xmlbif(model))
    assert reader.variables == [*names, "H1"]
    assert reader.variable_states["A"] == ["<= 2", "> 2"]
