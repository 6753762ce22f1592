"""The command methods."""

import json
import re

import pytest

from helpers.cli import succeed
from latree.learners.methods import METHODS

pytestmark = pytest.mark.usefixtures("folder")


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
