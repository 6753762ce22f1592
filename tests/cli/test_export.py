"""The command export."""

from pathlib import Path

import pytest

from helpers.cli import run, succeed
from latree.export.write import export_model
from latree.model import LatentTreeModel

pytestmark = pytest.mark.usefixtures("folder")


@pytest.mark.parametrize("ending", ["nwk", "nex", "graphml", "dot", "bif", "xmlbif", "bifxml", "json"])
def test_export_writes_what_python_writes(ending):
    assert succeed("export", "model.json", "--out", f"one.{ending}") == f"Written to one.{ending}\n"
    export_model(LatentTreeModel.load("model.json"), f"two.{ending}")
    assert Path(f"one.{ending}").read_bytes() == Path(f"two.{ending}").read_bytes()


def test_hidden_variables_are_named_if_asked():
    succeed("export", "model.json", "--out", "one.nwk", "--hidden")
    export_model(LatentTreeModel.load("model.json"), "two.nwk", hidden=True)
    assert Path("one.nwk").read_bytes() == Path("two.nwk").read_bytes()


def test_wrong_files_are_refused():
    code, _, message = run("export", "absent.json", "--out", "model.xyz")
    assert code == 2
    assert message == (
        "latree: model.xyz: choose a name that ends in .nwk, .nex, .graphml, .dot, .bif, .xmlbif, .bifxml or .json\n"
    )
    assert run("export", "absent.json", "--out", "a.nwk")[::2] == (2, "latree: absent.json: no such file\n")
    assert run("export", "model.json", "--out", "data.csv")[0] == 2
    assert not Path("a.nwk").exists()
