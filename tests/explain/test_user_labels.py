"""Labels that a user gives to columns, compared with the groups."""

from dataclasses import replace

import pytest

from helpers.report import grouped_model, learned_run
from latree.explain import with_groups
from latree.explain.dependence import Dependence
from latree.explain.overview import group_lines
from latree.explain.user_labels import compare_labels, label_match
from latree.learn import summary_of
from latree.report.facts import story_facts
from latree.table.labels import read_labels


def test_labels_and_their_purity(tmp_path):
    path = tmp_path / "labels.csv"
    path.write_text("column,label,more\nb,red,1\na,red,2\nc,<b>blue</b>,3\nother,green,4\n")
    known = read_labels(path, ["a", "b", "c", "d"])
    assert known == {"b": "red", "a": "red", "c": "<b>blue</b>"}
    labels = [known.get(name, "") for name in ("a", "b", "c", "d")]
    facts = compare_labels(labels, [[0, 2], [1, 3]])
    assert facts["names"] == ["red", "<b>blue</b>"]
    assert facts["of"] == [0, 0, 1, -1]
    assert facts["purity"] == pytest.approx(2 / 3, abs=1e-6)
    assert facts["groups"] == [
        {"label": "red", "count": 1, "labelled": 2},
        {"label": "red", "count": 1, "labelled": 1},
    ]
    assert compare_labels(["", ""], [[0], [1]])["purity"] is None


def test_the_match_of_labels_is_in_all_places():
    model = with_groups(grouped_model([3, 3], seed=1))
    record = learned_run().model.record
    groups = [group for group in model.groups if group.level == "main"]
    labels = {name: f"scale {number}" for number, group in enumerate(groups) for name in group.columns}
    of_groups = {"reliability": ((None, None),) * len(groups), "n_missing": (0,) * 6, "redundant": ()}
    labelled = replace(model, record=replace(record, labels=tuple(labels.items()), **of_groups))
    assert label_match(compare_labels(["a", "a", "b", "b"], [[0, 1], [2, 3]])) == "exactly your 2 labels"
    assert group_lines(labelled)[0] == "2 groups in 6 columns: exactly your 2 labels"
    assert (
        story_facts(Dependence(labelled), labels)["headline"] == "6 columns fall into 2 groups: exactly your 2 labels"
    )
    found = summary_of(labelled)["labels"]
    assert found["match"] == "exactly your 2 labels"
    assert found["purity"] == 1
    assert found["labels"] == {"scale 0": "whole", "scale 1": "whole"}
    assert found["groups"] == {
        group.name: {"label": f"scale {number}", "count": 3, "labelled": 3} for number, group in enumerate(groups)
    }
    # Without labels there is nothing to say.
    without = replace(labelled, record=replace(labelled.record, labels=()))
    assert summary_of(without)["labels"] is None
    assert group_lines(without)[0] == "2 groups in 6 columns"


def test_a_label_is_whole_if_a_group_has_its_columns_and_no_others_with_labels():
    labels = ["a", "a", "b", "b", "c", "", "c"]
    facts = compare_labels(labels, [[0, 1, 5], [2, 3, 4], [6]])
    assert dict(zip(facts["names"], facts["whole"], strict=True)) == {"a": True, "b": False, "c": False}
