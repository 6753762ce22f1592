"""Labels that a user gives to columns, compared with the groups."""

from dataclasses import replace

import pytest

from helpers.report import Page, grouped_model, learned_run
from latree.facts.found import facts_of, summary_of
from latree.facts.groups import compare_labels
from latree.facts.text import group_lines
from latree.facts.words import label_match
from latree.report.render import report_html
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
        {"label": "red", "count": 1, "labelled": 2, "others": [2]},
        {"label": "red", "count": 1, "labelled": 1, "others": []},
    ]
    assert compare_labels(["", ""], [[0], [1]])["purity"] is None


def labelled_model(label_of):
    """Return a model with groups of three columns and its labels, from the numbers of a group and a column in it."""
    model = grouped_model([3, 3], seed=1)
    record = learned_run().model.record
    groups = [group for group in model.groups if group.level == "main"]
    labels = {name: label_of(i, j) for i, group in enumerate(groups) for j, name in enumerate(group.columns)}
    of_groups = {"reliability": ((None, None),) * len(groups), "n_missing": (0,) * 6, "redundant": (), "norms": ()}
    return replace(model, record=replace(record, labels=tuple(labels.items()), **of_groups)), groups, labels


def test_the_match_of_labels_is_in_all_places():
    labelled, groups, labels = labelled_model(lambda group, column: f"scale {group}")
    assert label_match(compare_labels(["a", "a", "b", "b"], [[0, 1], [2, 3]])) == "exactly your 2 labels"
    assert group_lines(facts_of(labelled))[0] == "2 groups in 6 columns: exactly your 2 labels"
    assert facts_of(labelled, labels)["headline"] == "6 columns fall into 2 groups: exactly your 2 labels"
    found = summary_of(labelled)["labels"]
    assert found["match"] == "exactly your 2 labels"
    assert found["purity"] == 1
    assert found["labels"] == {"scale 0": "exact", "scale 1": "exact"}
    assert found["groups"] == {
        group.name: {"label": f"scale {number}", "count": 3, "labelled": 3, "others": {}}
        for number, group in enumerate(groups)
    }
    # Without labels there is nothing to say.
    without = replace(labelled, record=replace(labelled.record, labels=()))
    assert summary_of(without)["labels"] is None
    assert group_lines(facts_of(without))[0] == "2 groups in 6 columns"


def test_a_label_is_whole_in_one_group_and_exact_if_that_has_no_others():
    labels = ["a", "a", "b", "b", "c", "", "c", "d", "e"]
    facts = compare_labels(labels, [[0, 1, 5], [2, 3, 4], [6], [7]])
    assert [name for name, whole in zip(facts["names"], facts["whole"], strict=True) if whole] == ["a", "b", "d"]
    assert [name for name, exact in zip(facts["names"], facts["exact"], strict=True) if exact] == ["d"]
    assert label_match(facts) == "3 of your 5 labels are whole, 1 exact"
    assert label_match(compare_labels(labels[:4], [[0, 1, 2], [3]])) == "1 of your 2 labels is whole, none exact"


def test_whole_and_exact_are_said_in_the_same_words_in_all_places():
    # The second label has one column in the group of the first, which is whole all the same.
    labelled, groups, labels = labelled_model(lambda group, column: f"scale {max(group, int(column == 2))}")
    match = "1 of your 2 labels is whole, none exact"
    meaning = "A label is whole if all its columns are in one group, and exact if that group has no others."
    found = summary_of(labelled)["labels"]
    assert found["match"] == match
    assert found["labels"] == {"scale 0": "whole", "scale 1": "divided"}
    stray = groups[0].columns[2]
    assert found["groups"][groups[0].name]["others"] == {stray: "scale 1"}
    lines = group_lines(facts_of(labelled))
    assert lines[0] == f"2 groups in 6 columns: {match}"
    assert meaning in " ".join(lines)
    text = " ".join(Page(report_html(labelled, labels=labels)).text.split())
    assert f"6 columns fall into 2 groups: {match}" in text
    assert text.count(meaning) == 1
    assert f"{stray} (scale 1) has another label." in text
