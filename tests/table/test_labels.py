"""Labels of columns that are read from a file."""

import pytest

from helpers.tables import write_file
from latree.errors import InputError
from latree.table import read_labels
from latree.table.labels import as_labels, warnings_about_labels

LABELS = "column,group,more\nx0,<b>one</b>,1\n\n x1 , two,2\nx2,,3\n"


def test_labels_are_read(tmp_path):
    path = write_file(tmp_path / "labels.csv", LABELS)
    assert read_labels(path, ["x0", "x1", "x2", "x3"]) == {"x0": "<b>one</b>", "x1": "two"}
    assert read_labels(path, ["x1", "yy"]) == {"x1": "two"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("column,group\nyy,b\n", "none of its names, such as 'yy', is one of the columns"),
        ("x0,a\nx1,b\n", "its first line labels 'x0'; add a header like"),
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
    for labels in ({}, {"x": "one", "other": "two"}):
        assert as_labels(labels, ["x"]) == labels
    for labels in (["x"], {"x": 1}):
        with pytest.raises(InputError, match="labels must be the name of a CSV file, or a mapping"):
            as_labels(labels, ["x"])
    with pytest.raises(InputError, match="such as 'y', is one of the columns"):
        as_labels({"y": "one"}, ["x"])


def test_labels_from_python_may_be_a_file(tmp_path):
    path = write_file(tmp_path / "labels.csv", LABELS)
    for name in (path, str(path)):
        assert as_labels(name, ["x1"]) == {"x0": "<b>one</b>", "x1": "two"}  # unknown names are for the warning


def test_labels_of_unknown_columns_are_warned_about():
    columns = ["size", "colour"]
    assert warnings_about_labels({"size": "a"}, columns) == []
    assert warnings_about_labels({"size": "a", "color": "b"}, columns) == [
        "there is a label for 'color', which is not a column; did you mean 'colour'?"
    ]
    assert warnings_about_labels(dict.fromkeys("uvw", "a"), columns) == [
        "there are labels for 3 names that are not columns, 'u', 'v' and 'w'"
    ]
    assert warnings_about_labels(dict.fromkeys("uvwxy", "a"), columns) == [
        "there are labels for 5 names that are not columns, such as 'u', 'v' and 'w'"
    ]


def test_a_guarded_name_is_that_of_its_column(tmp_path):
    (tmp_path / "groups.csv").write_text("column,group\n'=a,'-2+3\n'@b,x\n'c,y\n'+d,z\n")
    assert read_labels(tmp_path / "groups.csv", ["=a", "@b", "'c", "'+d"]) == {
        "=a": "-2+3",
        "@b": "x",
        "'c": "y",
        "'+d": "z",
    }
