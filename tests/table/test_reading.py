"""From data of any form to a table."""

import json
from dataclasses import asdict, fields
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from helpers.tables import MIXED, MIXED_FRAME, assert_error, codes_of, csv_text, write_file
from latree.cli.fit import fit
from latree.cli.reading import check
from latree.errors import InputError
from latree.table import Column, as_table
from latree.table.raw import check_same_columns, from_values
from latree.table.reading import Reading, as_reading, names_in
from latree.table.sources import memory_source


def test_names_numbers_of_states_and_drop():
    table = as_table(np.column_stack([np.arange(300) % n for n in (2, 5, 300)]), bins=0, names=["a", "b", "c"])
    assert (table.names, table.n_states.tolist()) == (("a", "b", "c"), [2, 5, 300])
    assert table.codes()[299].tolist() == [1, 4, 299]
    assert as_table(MIXED_FRAME, drop=["height", "colour"]).names == ("answer", "year", "member", "grade")
    assert_error(MIXED_FRAME, "no column 'weight'", drop=["weight"])


def test_new_rows_keep_columns_and_cuts(tmp_path):
    old = as_table(MIXED_FRAME)
    new = {name: [None, *MIXED[name][40:3:-3]] for name in reversed(MIXED)} | {"other": ["z"] * 14}
    table = as_table(write_file(tmp_path / "new.csv", csv_text(new)), columns=old.columns)
    assert table.columns == old.columns
    np.testing.assert_array_equal(table.codes()[1:], old.codes()[40:3:-3])
    assert table.codes()[0].tolist() == [-1] * len(MIXED)
    assert_error(pl.DataFrame({"colour": ["red"]}), "'answer'", columns=old.columns)
    assert_error(np.zeros((3, 2)), "2 columns", columns=old.columns)


@pytest.mark.parametrize("rows", ["", "NA,\n"], ids=["no rows", "one empty row"])
def test_new_rows_without_any_value(tmp_path, rows):
    old = as_table(np.random.default_rng(0).random((40, 2)), names=["a", "b"])
    path = write_file(tmp_path / "new.csv", f"a,b\n{rows}")
    assert codes_of(path, columns=old.columns) == [[-1, -1]] * rows.count("\n")


def test_other_bad_data(tmp_path):
    (tmp_path / "folder.csv").mkdir()
    assert_error(tmp_path / "folder.csv", "is a folder")
    assert_error(tmp_path / "absent.csv", "no such file")
    assert_error(np.zeros(3), "1 dimension")
    assert_error(np.array([[1.0, 2.0], [1.0, np.inf]]), "'x1' has an infinite value in row 2")
    assert_error(np.array([[1j]]), "'x0' holds complex")
    assert_error(object(), "from object")
    assert_error([[1, 2], [3]], "rows of different lengths")
    assert_error(MIXED_FRAME, "names can be given for an array or a sparse matrix only", names=list(MIXED))


def test_one_text_is_one_token_and_one_column():
    data = np.array([["N", "1"], ["NA", "2"], ["A", "1"]])
    assert codes_of(data, missing="NA") == [[1, 0], [-1, 1], [0, 0]]
    assert as_table(data, names=["ab", "a"], drop="ab").names == ("a",)


def test_lists_are_arrays():
    old = as_table([[1, 2], [3, 4]])
    assert old.names == ("x0", "x1")
    assert codes_of([[3, 2]], columns=old.columns) == [[1, 0]]


def test_columns_that_say_nothing_are_left_out(tmp_path):
    path = write_file(tmp_path / "a.csv", "a,one,b,none\n1,x,2,\n2,x,1,NA\n1,x,2,\n")
    table = as_table(path)
    assert table.names == ("a", "b")
    assert [(one.column, one.kind, one.action) for one in table.findings[:2]] == [
        ("one", "constant", "left out"),
        ("none", "empty", "left out"),
    ]
    assert_error(path, "'one' is constant (every cell is 'x'); column 'none' has no value at all", strict=True)
    assert as_table(path, strict=True, drop=["one", "none"]).names == ("a", "b")
    # A row of weight zero says nothing.
    assert as_table(path, drop=["none"], weights=np.array([1, 0, 1])).names == ("a", "one", "b")
    # A table of one row has only such columns, and keeps them.
    assert as_table([[1, "x"]]).names == ("x0", "x1")
    assert as_table([[1, "x"]]).findings == ()


def test_keep_and_drop():
    assert as_table(MIXED_FRAME, keep=["year", "colour"]).names == ("colour", "year")
    assert as_table(MIXED_FRAME, keep="year").names == ("year",)
    assert_error(MIXED_FRAME, "no column 'yer' to keep: did you mean 'year'", keep=["yer"])
    with pytest.raises(InputError, match="'year' is both to keep and to drop"):
        as_table(MIXED_FRAME, keep=["year"], drop=["year"])


def test_an_identifier_names_rows_and_is_not_learned_from(tmp_path, all_on_disk):
    names = [f"p{i}" for i in range(60)]
    frame = MIXED_FRAME.with_columns(person=pl.Series(names))
    rows = np.array([50, 3, 3, 0])
    path = write_file(tmp_path / "a.csv", frame.write_csv())
    for data in (frame, path, frame.to_pandas()):
        table = as_table(data, identifier="person")
        assert table.names == tuple(MIXED)
        assert table.names_of_rows(rows) == ["p50", "p3", "p3", "p0"]
        assert table.row_names.column == "person"
        assert table.take(rows).names_of_rows(np.array([0])) == ["1"]
    assert as_table(MIXED_FRAME).names_of_rows(rows) == ["51", "4", "4", "1"]
    assert_error(frame, "no column 'persona' that names rows", identifier="persona")


def test_texts_with_an_order(tmp_path):
    path = write_file(tmp_path / "a.csv", "size,n\nmid,3\nlow,1\nNA,2\nhigh,1\n")
    size, n = as_table(path, kinds={"size": ["none", "low", "mid", "high"], "n": [3, 1, 2]}).columns
    assert (size.categories, size.ordered) == (("low", "mid", "high"), True)
    assert (n.categories, n.ordered, n.kind) == (("3", "1", "2"), True, "integer")
    assert_error(
        path, "column 'size' has the value 'high', which its order does not list", kinds={"size": ["low", "mid"]}
    )
    assert_error(path, "no column 'sizes' named in kinds", kinds={"sizes": ["low", "mid"]})
    for values in (["low"], ["low", "low"]):
        with pytest.raises(InputError, match="order of column 'size': give two or more different values"):
            as_table(path, kinds={"size": values})


def test_marks_of_missing_cells_replace_or_add():
    data = np.array([["1", "NA"], ["-99", "x"], ["2", "y"], ["1", "?"]])
    assert codes_of(data, missing=[-99]) == [[0, 1], [-1, 2], [1, 3], [0, 0]]
    assert codes_of(data, missing_also=[-99, "?"]) == [[0, -1], [-1, 0], [1, 1], [0, -1]]
    assert codes_of(data, missing_also=-99.0) == [[0, -1], [-1, 1], [1, 2], [0, 0]]
    new = as_table(data, missing_also=[-99]).columns
    assert codes_of(np.array([["-99", "x"]]), columns=new) == [[-1, 1]]


@pytest.mark.parametrize("name", ["", "Unnamed: 0"])
def test_an_index_without_a_name_is_left_out(tmp_path, name):
    lines = [f"{i},{i % 2},{i % 3}" for i in range(30)]
    path = write_file(tmp_path / "a.csv", f"{name},a,b\n" + "\n".join(lines))
    table = as_table(path)
    assert table.names == ("a", "b")
    assert [(one.column, one.kind) for one in table.findings] == [(name, "index")]
    assert as_table(path, strict=True).names == ("a", "b")
    np.testing.assert_array_equal(as_table(path, columns=table.columns).codes(), table.codes())
    # The index of each of several files.
    write_file(tmp_path / "b.csv", f"{name},a,b\n" + "\n".join(lines))
    assert as_table(tmp_path / "?.csv").names == ("a", "b")
    # Names of rows.
    words = write_file(tmp_path / "words.csv", f"{name},a,b\nann,1,2\nbob,2,1\ncleo,1,1\n")
    assert as_table(words).names == ("a", "b")
    # One row: nothing says what the columns are.
    assert as_table(write_file(tmp_path / "one.csv", f"{name},a,b\n0,1,2\n")).names == ("a", "b")


def test_a_first_column_without_a_name_that_is_no_index(tmp_path):
    lines = [f"{1 + i % 20},{i % 2},{i % 3}" for i in range(60)]
    path = write_file(tmp_path / "a.csv", ",a,b\n" + "\n".join(lines))
    assert_error(path, "the first column has no name, and its values repeat: give it a name")
    named = write_file(tmp_path / "b.csv", "Unnamed: 0,a,b\n" + "\n".join(lines))
    assert as_table(named).names == ("Unnamed: 0", "a", "b")
    assert_error(write_file(tmp_path / "c.csv", "a,,b\n1,2,3\n"), "column 2 has an empty name")


def test_lookups_of_names_do_not_compare_all_names():
    """Tables have up to 100,000 columns."""
    compared = []

    class Name(str):
        __slots__ = ()
        __hash__ = str.__hash__

        def __eq__(self, other):
            compared.append(self)
            return str.__eq__(self, other)

    names = [Name(f"c{i}") for i in range(500)]
    columns = [Column(name, "integer", ("0", "1")) for name in names]
    names_in(memory_source("x", []), columns, [Name(name) for name in names])
    check_same_columns(Path("a"), names, Path("b"), [Name(name) for name in names])
    source = memory_source("x", [from_values(name, np.arange(2)) for name in names])
    Reading(drop=names[:250]).wanted(source)
    assert len(compared) < 20 * len(names)


def test_a_file_is_named_once(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_file(Path("bad.csv"), "a,b\n1\n")
    for data in ("bad.csv", "./bad.csv", "b*.csv"):
        with pytest.raises(InputError, match=r"^bad\.csv: data row 1 "):
            as_table(data)


@pytest.mark.parametrize(
    "given",
    [
        {},
        {
            "drop": ["a", "b"],
            "identifier": "c",
            "kinds": {"d": ["low", "high"], "e": "category"},
            "bins": 3,
            "keep": ["d"],
        },
        {"missing_also": [-99, "?", 0.5]},
        {"missing": ["?"]},
        {"missing": []},
        {"weights_are": "survey", "format": "csv", "counts": True, "strict": True},
    ],
)
def test_options_give_the_arguments_that_made_them(given):
    reading = Reading(**given)
    assert Reading(**reading.arguments()) == reading == as_reading(given) == as_reading(reading, **given)
    assert reading.arguments().keys() == given.keys()
    assert Reading.from_dict(json.loads(json.dumps(asdict(reading)))) == reading
    assert reading.arguments().get("missing_also") in (None, [-99, "?", "0.5"])
    assert eval(repr(reading)) == reading


@pytest.mark.parametrize(
    ("reading", "culprit"),
    [
        ({"bin": 3}, "reading has no option 'bin': did you mean 'bins'?"),
        (["bins"], r"reading must be a latree.Reading or a dict of its options, not \['bins'\]"),
        ({"drop": "a", "keep": "a"}, "column 'a' is both to keep and to drop"),
        ({"weights_are": "w"}, "weights_are must be 'counts' or 'survey', not 'w'"),
    ],
)
def test_mistakes_in_options_are_told(reading, culprit):
    for read in (as_reading, lambda reading: as_table([[1, 2]], reading)):
        with pytest.raises(InputError, match=culprit):
            read(reading)


def test_the_command_line_has_the_options_of_a_reading():
    for command in (fit, check):
        options = {option.name: option for option in command.params}
        assert {field.name for field in fields(Reading)} <= options.keys()
        assert options["bins"].default == Reading().bins


@pytest.mark.parametrize(
    "change",
    [
        {"bins": 2.0},
        {"bins": 1},
        {"drop": "abc"},
        {"keep": [1]},
        {"missing": None},
        {"kinds": [["a", "b"]]},
        {"kinds": {"a": ["x"]}},
        {"identifier": 1},
        {"counts": 1},
        {"weights_are": "people"},
        {"unknown": 1},
    ],
)
def test_options_are_read_as_hostile_input(change):
    plain = json.loads(json.dumps(asdict(Reading())))
    with pytest.raises(InputError):
        Reading.from_dict(plain | change)
