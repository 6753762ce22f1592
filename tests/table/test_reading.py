"""From data of any form to a table."""

import numpy as np
import polars as pl
import pytest

from helpers.tables import MIXED, MIXED_FRAME, assert_error, codes_of, csv_text, write_file
from latree.table import as_table


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
    assert_error(MIXED_FRAME, "names can be given for an array only", names=list(MIXED))


def test_one_text_is_one_token_and_one_column():
    data = np.array([["N", "1"], ["NA", "2"], ["A", "1"]])
    assert codes_of(data, missing="NA") == [[1, 0], [-1, 1], [0, 0]]
    assert as_table(data, names=["ab", "a"], drop="ab").names == ("a",)


def test_lists_are_arrays():
    old = as_table([[1, 2], [3, 4]])
    assert old.names == ("x0", "x1")
    assert codes_of([[3, 2]], columns=old.columns) == [[1, 0]]
