"""Labels of columns that are read from a file."""

import pytest

from helpers.tables import write_file
from latree.errors import InputError
from latree.table import read_labels
from latree.table.labels import check_labels

LABELS = "column,group,more\nx0,<b>one</b>,1\n\n x1 , two,2\nx2,,3\n"


def test_labels_are_read(tmp_path):
    path = write_file(tmp_path / "labels.csv", LABELS)
    assert read_labels(path, ["x0", "x1", "x2", "x3"]) == {"x0": "<b>one</b>", "x1": "two"}
    assert read_labels(path, ["x1", "yy"]) == {"x1": "two"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("column,group\nyy,b\n", "none of its names, such as 'yy', is one of the columns"),
        ("x0,a\nx1,b\n", "its first line labels 'x0'; add a header line before it"),
        ("column,group\n\nx0,a\nx0,b\n", "line 4 labels 'x0' a second time"),
        ("column\nx0\n", "needs two columns, the names of columns and their labels, and has one"),
        ("", "the file is empty"),
        ("column,group\nx0\n", r"data row 1 \(line 2\) has 1 cells where the header has 2"),
    ],
)
def test_bad_labels_are_refused_in_one_line(tmp_path, text, message):
    path = write_file(tmp_path / "labels.csv", text)
    with pytest.raises(InputError, match=f"labels.csv: {message}") as caught:
        read_labels(path, ["x0", "x1"])
    assert "\n" not in str(caught.value)


def test_labels_from_python_are_checked():
    check_labels({}, ["x"])
    check_labels({"x": "one", "other": "two"}, ["x"])
    for labels in (["x"], {"x": 1}, "x"):
        with pytest.raises(InputError, match="labels must be a mapping"):
            check_labels(labels, ["x"])
    with pytest.raises(InputError, match="such as 'y', is one of the columns"):
        check_labels({"y": "one"}, ["x"])
