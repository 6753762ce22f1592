"""The commands compare and methods."""

import json
import re
from pathlib import Path

import pytest

from helpers.cli import succeed
from latree.learners.methods import METHODS

pytestmark = pytest.mark.usefixtures("folder")


def test_compare_trees_and_models():
    Path("one.nwk").write_text("((a,b),c,(colour,size));\n")
    Path("two.nwk").write_text("((size,colour),b,(c,a));\n")
    assert json.loads(succeed("compare", "one.nwk", "two.nwk", "--json")) == {"robinson_foulds": 2, "max": 4}
    Path("parts.nwk").write_text("(a,b);\n(c,colour,size);\n")
    assert succeed("compare", "one.nwk", "two.nwk").splitlines() == [
        "Robinson-Foulds 2 of at most 4",
        "one.nwk: 2 splits, 1 shared, 1 only here",
        "two.nwk: 2 splits, 1 shared, 1 only here",
    ]
    assert succeed("compare", "one.nwk", "parts.nwk").splitlines()[1:] == [
        "one.nwk: 2 splits, 1 shared, 1 only here",  # {a, b} parts none of the parts
        "parts.nwk: 0 splits, 0 shared, 0 only here",
    ]
    assert json.loads(succeed("compare", "tree.nwk", "model.json", "--json"))["robinson_foulds"] == 0


def test_methods_are_listed_with_what_they_need():
    listed = {method.pop("name"): method for method in json.loads(succeed("methods", "--json"))}
    text = re.findall(r"^(\S+)\n((?:  .*\n)+)", succeed("methods"), re.MULTILINE)
    assert [name for name, _ in text] == list(listed) == list(METHODS)
    for name, lines in text:
        facts = {key: getattr(METHODS[name], key) for key in ("summary", "needs_states", "trees", "reference")}
        assert listed[name] == facts
        told = dict(line.split(maxsplit=1) for line in lines.splitlines())
        needs = "the number of hidden states" if name == "spectral" else "a table, nothing else"
        assert told == {"how": facts["summary"], "needs": needs, "returns": facts["trees"], "see": facts["reference"]}
