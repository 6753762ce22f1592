"""Encoding cells as codes: missing cells, and values that were never seen."""

import numpy as np
import polars as pl
import pytest

from helpers.tables import MIXED, MIXED_FRAME, assert_error, codes_of, csv_text, write_file
from latree.table import as_table


@pytest.mark.parametrize("cell", ["", "  ", "NA", "N/A", "NaN", "nan", "null", "NULL", " NA "])
def test_default_missing_cells(tmp_path, cell):
    path = write_file(tmp_path / "a.csv", f"text,number\na,1\n{cell},{cell}\nb,2\n")
    assert codes_of(path) == [[0, 0], [-1, -1], [1, 1]]
    assert (codes_of(path, missing=())[1] == [-1, -1]) == (not cell.strip())


@pytest.mark.parametrize("cell", ["-9", "-9.0"])
@pytest.mark.parametrize("token", ["-9", "-9.0"])
@pytest.mark.parametrize("others", [[1, 2], [1.5, 2.5], list(range(1, 30))], ids=["whole", "fraction", "cut"])
def test_configured_missing_number_is_the_same_in_files_and_arrays(tmp_path, others, token, cell):
    path = write_file(tmp_path / "a.csv", f"x0\n{cell}\n" + "".join(f"{x}\n" for x in others))
    expected = [[-1], *codes_of(np.array(others)[:, None])]
    assert codes_of(np.array([-9, *others])[:, None], missing=[token]) == expected
    assert codes_of(path, missing=[token]) == expected


def test_configured_missing_cells_replace_the_default_ones_and_are_remembered(tmp_path):
    old = as_table(write_file(tmp_path / "old.csv", "a,b\n?,1\nNA,-9\nx,2\n"), missing=["?", "-9"])
    assert old.codes().tolist() == [[-1, 0], [0, -1], [1, 1]]
    assert codes_of(pl.DataFrame({"b": [-9, 2], "a": ["x", "?"]}), columns=old.columns) == [[1, -1], [-1, 1]]


@pytest.mark.parametrize(("name", "value"), [("colour", "pink"), ("answer", "7"), ("answer", "x"), ("height", "tall")])
def test_unseen_values_are_errors_or_missing(tmp_path, name, value):
    old = as_table(MIXED_FRAME)
    path = write_file(tmp_path / "new.csv", csv_text(MIXED | {name: [value] * 60}))
    assert_error(path, repr(name), repr(value), columns=old.columns)
    if name != "height":
        j = list(MIXED).index(name)
        assert set(as_table(path, columns=old.columns, unseen="missing").codes()[:, j]) == {-1}
