"""The facts of a report."""

import json
from dataclasses import replace

import numpy as np
import pytest

import latree
from helpers.report import learned_run
from latree._util.rounding import percent
from latree.explain import measure_worth
from latree.explain.overview import columns_of_groups
from latree.model import LatentTreeModel
from latree.report import report_html
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
        learned.model.groups,
        learned.model.hidden_names,
    )
    assert report_facts(shaken, learned.table, rows=3) == facts


def test_a_report_without_data_has_what_the_model_file_contains(learned):
    with_data, without = report_facts(learned.model, learned.table), report_facts(learned.model)
    assert [column["data"] for column in without["columns"]] == [None] * 7
    for key in ("n_rows", "tree", "groups", "hidden", "data", "names", "drawing"):
        assert with_data[key] == without[key]
    assert without["fit"]["own"] == with_data["fit"]["own"]
    # The cross-validated gains are in the file, too.
    assert without["fit"]["compared"] == with_data["fit"]["compared"]
    assert without["fit"]["worth"] == with_data["fit"]["worth"]
    counts = np.bincount(learned.table.codes()[:, 0], minlength=3)
    assert with_data["columns"][0]["data"] == [round(1000 * count / 300) for count in counts.tolist()]


def test_names_and_groups_are_those_of_the_model(learned):
    centres = [group.centre for group in learned.model.groups if group.level == "main" and group.hidden]
    model = learned.model.rename({learned.model.node_names[centres[0]]: "mood"})
    for table in (None, learned.table):
        facts = report_facts(model, table)
        assert facts["names"] == list(model.node_names)
        assert facts["aliases"] == list(model.tree.node_names[7:])
        assert facts["groups"][0]["name"] == facts["names"][facts["groups"][0]["centre"]] == "mood"
        assert "[mood]" in facts["drawing"]
        assert facts["groups"][0]["stability"] == percent(model.groups[0].stability)
    # Groups of the model are shown even if the rows say otherwise, and groups that it lacks are computed.
    fewer = replace(model, groups=model.groups[:1])
    assert [group["name"] for group in report_facts(fewer, learned.table)["groups"]] == ["mood"]
    bare = replace(model, groups=(), hidden_names=())
    assert report_facts(bare, learned.table)["groups"] == report_facts(learned.model)["groups"]
    assert report_facts(bare)["groups"][0]["stability"] is None  # there are no rows to resample
    # A name that was given before there were groups is kept.
    assert "mood" in report_facts(bare.rename({"H1": "mood"}))["names"]


def test_columns_of_groups_come_by_loading_and_are_marked(learned):
    model = learned.model
    n_columns = len(model.groups[0].columns)
    shares = (0.4,) + (0.5,) * (n_columns - 1)
    groups = (replace(model.groups[0], column_stability=shares, stability=0.5), *model.groups[1:])
    # The first column is reversed: its probabilities are those of the other end.
    model = replace(model, groups=groups, tables=(model.tables[0][::-1], *model.tables[1:]))
    facts = report_facts(model)
    names, listed = model.tree.names, columns_of_groups(model)
    for fact, columns in zip(facts["groups"], listed, strict=False):
        assert [names[node] for node in fact["columns"]] == [column.name for column in columns]
        assert [names[node] for node in fact["reversed"]] == [column.name for column in columns if column.loading < 0]
    assert [names[node] for node in facts["groups"][0]["unsure"]] == [model.groups[0].columns[0]]
    assert any(0 in fact["reversed"] for fact in facts["groups"])
    page = report_html(model)
    assert page.count("&nbsp;(?)") == 1
    assert page.count("&nbsp;(−)") == sum(len(fact["reversed"]) for fact in facts["groups"])
    assert "(?) in this group in fewer than half" in page
    assert "(−) falls when" in page


def test_rows_that_were_not_fitted_give_a_warning(learned):
    assert report_facts(learned.model, learned.table)["fit"]["warnings"] == list(learned.warnings)
    other = learned.model.sample(300, random_state=9)
    assert "not the rows that the model was fitted to" in report_facts(learned.model, other)["fit"]["warnings"][-1]
    facts = report_facts(learned.model, learned.table, test=other)["fit"]
    assert facts["own"]["held_out"] == pytest.approx(learned.model.log_likelihood(other) / 300, abs=1e-4)


def test_one_attempt_is_the_chosen_one(learned):
    tried = report_facts(learned.model)["fit"]["record"]["tried"]
    (chosen,) = [attempt for attempt in tried if attempt["chosen"]]
    assert chosen["smoothing"] == learned.smoothing
    alike = [attempt["held_out"] for attempt in tried if attempt["held_out"] and attempt["most"] == chosen["most"]]
    assert chosen["held_out"] == max(alike)


def test_gains_are_cross_validated_and_those_of_test_rows_are_beside_them(learned):
    worth = learned.worth
    facts = report_facts(learned.model)["fit"]
    assert [compared["gain"] for compared in facts["compared"]] == pytest.approx(
        [*(simpler.gain for simpler in worth.simpler), worth.gain], abs=1e-4
    )
    assert [compared["name"] for compared in facts["compared"]] == ["Chow-Liu tree", "One hidden variable", "This tree"]
    assert facts["worth"]["headline"] == learned.summary["worth"]["headline"]
    assert facts["worth"]["verdict"] == learned.summary["worth"]["verdict"]
    assert [compared["test_gain"] for compared in facts["compared"]] == [None, None, None]
    new = learned.model.sample(400, random_state=9)
    facts = report_facts(learned.model, learned.table, test=new)["fit"]
    counts = [np.bincount(column, minlength=3) + 0.1 for column in learned.table.codes().T]
    independent = sum(
        np.log(count / count.sum())[codes].mean() for count, codes in zip(counts, new.codes().T, strict=True)
    )
    expected = learned.model.log_likelihood(new) / 400 - independent
    assert facts["test_gain"] == pytest.approx(expected, abs=1e-3)
    assert facts["compared"][-1]["test_gain"] == facts["test_gain"]
    assert all(compared["test_gain"] < facts["test_gain"] for compared in facts["compared"][:-1])


def test_a_model_without_a_record_is_measured_with_its_rows():
    tree = latree.random_tree(6, random_state=0)
    model = latree.random_model(tree, n_states=3, start="identity", perturbation=0.2, random_state=0)
    table = model.sample(300, random_state=0)
    worth = measure_worth(model, table)
    assert report_facts(model, table)["fit"]["worth"]["headline"] == worth.headline()
    assert report_facts(model)["fit"]["worth"] is None
    assert report_facts(model, table.take(np.arange(20)))["fit"]["worth"] is None
