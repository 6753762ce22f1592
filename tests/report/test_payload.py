"""The facts that the script of a report needs."""

import json
import re

from helpers.report import HOSTILE, grouped_model, hostile_model
from latree._util.words import one_line
from latree.report.facts import report_facts
from latree.report.payload import payload


def unpacked(text):
    return [int(text[i : i + 2], 32) for i in range(0, len(text), 2)]


def test_it_is_json_without_markup_and_with_names_that_can_be_shown():
    model = hostile_model()
    facts = report_facts(model, labels=dict(zip(model.tree.names, HOSTILE, strict=True)))
    text = str(payload(facts))
    assert not re.search("[<>&\u2028\u2029]", text)
    embedded = json.loads(text)
    assert embedded["names"][: len(HOSTILE)] == [one_line(name) for name in HOSTILE]
    assert sorted(embedded["labels"]["names"]) == sorted(one_line(name) for name in HOSTILE)


def test_long_lists_of_numbers_are_packed_without_loss():
    facts = report_facts(grouped_model([4, 3]))
    embedded = json.loads(str(payload(facts)))
    assert [unpacked(row) for row in embedded["matrix"]["values"]] == facts["matrix"]["values"]
    for packed, plain in zip(embedded["hidden"], facts["hidden"], strict=True):
        assert embedded["state_lists"][packed["states"]] == plain["states"]
        for (column, loading, shares), expected in zip(packed["columns"], plain["columns"], strict=True):
            assert (column, loading) == (expected["column"], expected["loading"])
            assert unpacked(shares) == [share for of_state in expected["shares"] for share in of_state]
    for packed, plain in zip(embedded["columns"], facts["columns"], strict=True):
        assert (unpacked(packed["model"]), unpacked(packed["percent"])) == (plain["model"], plain["percent"])
        assert packed["related"] == [number for pair in plain["related"] for number in pair]
