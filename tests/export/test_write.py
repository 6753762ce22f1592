"""Files: the ending chooses the format, and unknown endings are refused."""

import pytest

from helpers.models import small_models
from latree.errors import InputError
from latree.export.graphs import to_dot, to_graphml, to_json
from latree.export.networks import to_bif, to_xmlbif
from latree.export.trees import to_newick, to_nexus
from latree.export.write import export_model

FORMATS = {
    "nwk": to_newick, "nex": to_nexus, "graphml": to_graphml, "dot": to_dot, "bif": to_bif,
    "xmlbif": to_xmlbif, "bifxml": to_xmlbif, "json": to_json,
}  # fmt: skip


@pytest.mark.parametrize("ending", FORMATS)
def test_the_ending_chooses_the_format(ending, tmp_path):
    model = small_models()[3]
    for name in (f"a.{ending}", f"B.{ending.upper()}"):
        export_model(model, tmp_path / name)
        assert (tmp_path / name).read_text(encoding="utf-8") == FORMATS[ending](model)


@pytest.mark.parametrize("ending", ["nwk", "nex"])
def test_hidden_variables_are_named_if_asked(ending, tmp_path):
    model = small_models()[3]
    export_model(model, tmp_path / f"a.{ending}", hidden=True)
    assert (tmp_path / f"a.{ending}").read_text(encoding="utf-8") == FORMATS[ending](model, hidden=True)
    assert "H1" in FORMATS[ending](model, hidden=True)


@pytest.mark.parametrize("name", ["a.xml", "a", "a.bif.gz"])
def test_other_endings_are_refused_in_one_line(name, tmp_path):
    with pytest.raises(InputError) as caught:
        export_model(small_models()[3], tmp_path / name)
    assert str(caught.value) == (
        f"{tmp_path / name}: choose a name that ends in .nwk, .nex, .graphml, .dot, .bif, .xmlbif, .bifxml or .json"
    )
    assert not list(tmp_path.iterdir())
