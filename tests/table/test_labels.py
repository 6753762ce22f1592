"""Labels of columns that are read from a file."""

import pandas as pd
import pytest

from helpers.tables import write_file
from latree import Column
from latree.errors import InputError
from latree.table import as_table, read_labels
from latree.table.labels import (
    Question,
    as_labels,
    read_codebook,
    read_groups,
    warnings_about_labels,
    with_questions,
)

LABELS = "column,group,more\nx0,<b>one</b>,1\n\n x1 , two,2\nx2,,3\n"


def test_labels_are_read(tmp_path):
    path = write_file(tmp_path / "labels.csv", LABELS)
    assert read_labels(path, ["x0", "x1", "x2", "x3"]) == {"x0": "<b>one</b>", "x1": "two"}
    assert read_labels(path, ["x1", "yy"]) == {"x1": "two"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("column,group\nyy,b\n", "none of its names, such as 'yy', is one of the columns"),
        ("x0,a\nx1,b\n", "its first line is that of the column 'x0'; add a header above it, like column,label"),
        ("column,group\n\nx0,a\nx0,b\n", "line 4 is the second one for 'x0'; remove one of the two"),
        ("column\nx0\n", "needs two columns, the names of columns and their labels, and has one"),
        ("", "the file is empty"),
        ("column,group\n", "has a header and no other lines; add one for each column"),
        ("group,column\na,x0\na,x1\n", "none of its names, such as 'a', is .*; swap its first two columns"),
        ("column,group\nx00,a\n", "none of its names, such as 'x00', is one of the columns; did you mean 'x0'"),
        ("column,group\nx0\n", r"data row 1 \(line 2\) has 1 cell where the header has 2"),
    ],
)
def test_bad_labels_are_refused_in_one_line(tmp_path, text, message):
    path = write_file(tmp_path / "labels.csv", text)
    with pytest.raises(InputError, match=f"labels.csv: {message}") as caught:
        read_labels(path, ["x0", "x1"])
    assert "\n" not in str(caught.value)


def test_a_file_of_groups_of_another_form_is_told_what_it_must_look_like(tmp_path):
    for text in ("agree\t-A1,A2,A3\nopen\tO1,O2\n", "agree\t-A1,A2\nopen\tO1,O2\n"):
        path = write_file(tmp_path / "psych.tsv", text)
        with pytest.raises(InputError, match=r"a header and a line for each column, such as column,group and A1,mood"):
            read_groups(path, ["A1", "A2", "A3", "O1", "O2"])


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


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("column,group\nx0,a\nx1,b\n", "no group has two columns of the table: give at least one group two columns"),
        ("column,group\nx0,\nx1,\n", "no group has two columns of the table"),
        ("column,group\nx0,a\nyy,a\n", "no group has two columns of the table"),
        ("column\nx0\n", "needs two columns, the names of columns and their groups, and has one"),
        ("column,group\nx0,a\nx1,a\nx0,a\n", "line 4 is the second one for 'x0'; remove one of the two"),
    ],
)
def test_bad_groups_are_refused_in_one_line(tmp_path, text, message):
    path = write_file(tmp_path / "key.csv", text)
    with pytest.raises(InputError, match=f"key.csv: {message}"):
        read_groups(path, ["x0", "x1"])


def test_groups_are_read_with_unknown_names(tmp_path):
    path = write_file(tmp_path / "key.csv", "column,group\nx0,a\nx1,a\nyy,a\nx2,\n")
    assert read_groups(path, ["x0", "x1", "x2"]) == {"x0": "a", "x1": "a", "yy": "a"}
    assert as_labels(path, ["x0", "x1"], "key") == {"x0": "a", "x1": "a", "yy": "a"}


def test_a_codebook_has_questions_and_answers(tmp_path):
    lines = "x0,How  are you?,1=bad; 2 = not so good;3=good,x", 'x1,"Why, then?",,', "yy,What?,0=no,"
    book = "\n".join(["column,text,Answers,more", *lines]) + "\n"
    found = read_codebook(write_file(tmp_path / "book.csv", book), ["x0", "x1"])
    assert found == {
        "x0": Question("How are you?", {"1": "bad", "2": "not so good", "3": "good"}),
        "x1": Question("Why, then?", {}),
    }
    columns = [
        Column("x0", "integer", ("1", "3", "4"), ordered=True),
        Column("x1", "integer", ("0", "1"), ordered=True),
    ]
    first, second = with_questions(columns, found)
    assert (first.description, first.answers) == ("How are you?", ("bad", "good", "4"))
    assert (second.description, second.answers) == ("Why, then?", ())
    assert Column.from_dict(first.to_dict()).answers == ("bad", "good", "4")
    # Data may have the names of answers in the place of their codes.
    names = pd.DataFrame({"x0": ["good", "3", "bad", "4", ""], "x1": [0, 1, 1, 0, 1]})
    assert as_table(names, columns=[first, second]).codes()[:, 0].tolist() == [1, 1, 0, 2, -1]
    # A third column of another name is left alone.
    other = read_codebook(write_file(tmp_path / "other.csv", book.replace("Answers", "notes")), ["x0"])
    assert other["x0"].answers == {}


@pytest.mark.parametrize(
    ("answers", "message"),
    [
        ("bad", "column 'x0': 'bad' is not an answer with its code, such as '1=never; 2=often'"),
        ("1=", "'1=' is not an answer with its code"),
        ("1=bad;1=good", "column 'x0': '1' is in its answers twice"),
        ("1=bad;2=bad", "'bad' is in its answers twice"),
    ],
)
def test_bad_answers_are_refused(tmp_path, answers, message):
    path = write_file(tmp_path / "book.csv", f"column,text,answers\nx0,How?,{answers}\n")
    with pytest.raises(InputError, match=message):
        read_codebook(path, ["x0"])


def test_two_values_are_not_called_the_same():
    column = Column("x0", "text", ("1", "bad"))
    with pytest.raises(InputError, match="two of its values would be called the same"):
        with_questions([column], {"x0": Question("", {"1": "bad"})})
