"""The facts of a report."""

import json

import numpy as np
import pytest

from helpers.report import learned_run
from latree.model import LatentTreeModel
from latree.report.facts import report_facts


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
    )
    assert report_facts(shaken, learned.table, rows=3) == facts


def test_a_report_without_data_has_what_the_model_file_contains(learned):
    with_data, without = report_facts(learned.model, learned.table), report_facts(learned.model)
    assert [column["data"] for column in without["columns"]] == [None] * 7
    for key in ("n_rows", "tree", "groups", "hidden", "data", "names"):
        assert with_data[key] == without[key]
    assert without["fit"]["own"] == with_data["fit"]["own"]
    assert without["fit"]["compared"] == []
    counts = np.bincount(learned.table.codes()[:, 0], minlength=3)
    assert with_data["columns"][0]["data"] == [round(1000 * count / 300) for count in counts.tolist()]


def test_rows_that_were_not_fitted_give_a_warning(learned):
    assert report_facts(learned.model, learned.table)["fit"]["warnings"] == list(learned.warnings)
    other = learned.model.sample(300, random_state=9)
    assert "are not the rows that the model was fitted to" in report_facts(learned.model, other)["fit"]["warnings"][-1]
    facts = report_facts(learned.model, learned.table, test=other)["fit"]
    assert facts["own"]["held_out"] == pytest.approx(learned.model.log_likelihood(other) / 300, abs=1e-4)
    assert all(compared["held_out"] is not None for compared in facts["compared"])


def test_one_attempt_is_the_chosen_one(learned):
    tried = report_facts(learned.model)["fit"]["record"]["tried"]
    (chosen,) = [attempt for attempt in tried if attempt["chosen"]]
    assert chosen["smoothing"] == learned.smoothing
    alike = [attempt["held_out"] for attempt in tried if attempt["held_out"] and attempt["most"] == chosen["most"]]
    assert chosen["held_out"] == max(alike)
