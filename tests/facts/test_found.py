"""The facts of a report."""

import json
from dataclasses import replace

import numpy as np
import pytest

from helpers.report import learned_run
from latree._util.words import whole_shares
from latree.interpret.reliability import reliability
from latree.model import LatentTreeModel
from latree.report.render import page_facts as report_facts


@pytest.fixture(scope="module")
def learned():
    return learned_run()


def test_facts_are_plain_data_that_do_not_depend_on_the_last_bits(learned):
    facts = report_facts(learned.model, learned.table, rows=3)
    assert json.loads(json.dumps(facts, allow_nan=False)) == facts
    shaken = LatentTreeModel(
        learned.model.tree,
        learned.model.columns,
        tuple(table * (1 + 1e-15) for table in learned.model.tables),
        learned.model.record,
        learned.model.groups,
        learned.model.hidden_names,
        learned.model.levels,
    )
    assert report_facts(shaken, learned.table, rows=3) == facts


def test_a_report_without_data_has_what_the_model_file_contains(learned):
    with_data, without = report_facts(learned.model, learned.table), report_facts(learned.model)
    for key in ("headline", "certainty", "n_rows", "tree", "order", "hidden", "data", "names", "files"):
        assert with_data[key] == without[key]
    assert with_data["groups"] == without["groups"]
    assert [card["reliability"] for card in without["groups"]] == [
        one.reliability for one in reliability(learned.model, learned.table)
    ]
    assert without["fit"]["own"] == with_data["fit"]["own"]
    # The cross-validated gains are in the file, too.
    assert without["fit"]["compared"] == with_data["fit"]["compared"]
    assert without["fit"]["worth"] == with_data["fit"]["worth"]
    counts = np.bincount(learned.table.codes()[:, 0], minlength=3)
    assert with_data["columns"][0]["percent"] == whole_shares(counts.tolist())
    assert without["columns"][0]["percent"] == whole_shares(learned.model.marginals()["x0"].tolist())


def test_names_and_groups_are_those_of_the_model(learned):
    centres = [group.centre for group in learned.model.groups if group.level == "main" and group.hidden]
    model = learned.model.rename({learned.model.node_names[centres[0]]: "mood"})
    for table in (None, learned.table):
        facts = report_facts(model, table)
        assert facts["names"] == list(model.node_names)
        assert facts["aliases"] == list(model.tree.node_names[7:])
        assert facts["groups"][0]["name"] == facts["names"][facts["groups"][0]["centre"]] == "mood"
        assert facts["groups"][0]["stability"] == model.groups[0].stability
    # Groups of the model are shown even if the rows say otherwise, and groups that it lacks are computed.
    fewer = replace(model, groups=model.groups[:1])
    assert [group["name"] for group in report_facts(fewer, learned.table)["groups"]] == ["mood"]
    bare = replace(model, groups=(), hidden_names=())
    found = report_facts(bare, learned.table)["groups"]
    assert found == report_facts(learned.model)["groups"]
    assert report_facts(bare)["groups"][0]["stability"] is None  # there are no rows to resample
    # A name that was given before there were groups is kept.
    assert "mood" in report_facts(bare.rename({"H1": "mood"}))["names"]
