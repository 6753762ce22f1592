"""Encoding cells as codes: missing cells, and values that were never seen."""

from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

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


def test_zeros_and_ones_are_false_and_true_where_the_model_has_booleans(tmp_path):
    """A sparse matrix has booleans; the same table as text or numbers is the same table."""
    old = as_table(pd.DataFrame({"word": [True, False, True]}))
    assert codes_of(pd.DataFrame({"word": [0, 1, 1]}), columns=old.columns) == [[0], [1], [1]]
    assert codes_of(pd.DataFrame({"word": [0.0, 1.0]}), columns=old.columns) == [[0], [1]]
    path = write_file(tmp_path / "new.csv", 'word\n1\nFalse\n0\n""\n')
    assert codes_of(path, columns=old.columns) == [[1], [0], [0], [-1]]
    assert_error(pd.DataFrame({"word": [0, 2]}), "column 'word'", "'2'", columns=old.columns)


@pytest.mark.parametrize(("name", "value"), [("colour", "pink"), ("answer", "x"), ("height", "tall")])
def test_unseen_values_are_errors_or_missing(tmp_path, name, value):
    old = as_table(MIXED_FRAME)
    path = write_file(tmp_path / "new.csv", csv_text(MIXED | {name: [value] * 60}))
    assert_error(path, repr(name), repr(value), columns=old.columns)
    if name != "height":
        j = list(MIXED).index(name)
        assert set(as_table(path, columns=old.columns, unseen="missing").codes()[:, j]) == {-1}


@given(
    st.sets(st.integers(-20, 20), min_size=2, max_size=8),
    st.lists(st.integers(-40, 40) | st.floats(-1e6, 1e6, allow_nan=False), min_size=1, max_size=20),
)
def test_a_number_that_was_not_there_is_taken_for_the_nearest_that_was(seen, new):
    """So what a column is in a fold of a cross-validation does not decide whether other rows can be read."""
    (column,) = as_table(np.array(sorted(seen))[:, None]).columns
    for data in (np.array(new, dtype=float)[:, None], [[repr(number)] for number in new]):
        found = as_table(data, columns=[column])
        nearest = [min(sorted(seen), key=lambda state, x=x: abs(state - Fraction(x))) for x in new]
        assert found.decode() == {"x0": nearest}
    known = {number: int(number) if number in seen else None for number in new}
    as_missing = as_table(np.array(new, dtype=float)[:, None], columns=[column], unseen="missing")
    assert as_missing.decode() == {"x0": [known[number] for number in new]}


def test_numbers_that_are_names_have_no_nearest_one():
    for categories, ordered in (([1, 2, 4], False), ([4, 1, 2], True)):
        cells = pd.Categorical([1, 2, 4], categories, ordered=ordered)
        columns = as_table(pd.DataFrame({"kind": cells})).columns
        assert_error(pd.DataFrame({"kind": [3]}), "'kind'", "'3' was never seen", columns=columns)
    columns = as_table(pd.DataFrame({"kind": pd.Categorical([1, 2, 4], ordered=True)})).columns
    assert as_table(pd.DataFrame({"kind": [3, 9]}), columns=columns).decode() == {"kind": [2, 4]}
    assert_error([["1e999"]], "'1e999' was never seen", columns=as_table([[1], [2]]).columns)
