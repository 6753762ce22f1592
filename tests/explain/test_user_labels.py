"""Labels that a user gives to columns, compared with the groups."""

import pytest

from latree.explain.user_labels import compare_labels
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


def test_a_label_is_whole_if_a_group_has_its_columns_and_no_others_with_labels():
    labels = ["a", "a", "b", "b", "c", "", "c"]
    facts = compare_labels(labels, [[0, 1, 5], [2, 3, 4], [6]])
    assert dict(zip(facts["names"], facts["whole"], strict=True)) == {"a": True, "b": False, "c": False}
