"""Raw columns of arrays and data frames."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from helpers.tables import MIXED, codes_of, csv_text, one_column, write_file
from latree.table import as_table


@pytest.mark.parametrize(
    ("values", "kind", "categories", "expected"),
    [
        ([3, 1, 3, 10], "integer", ("1", "3", "10"), [1, 0, 1, 2]),
        ([3.0, 1.0, np.nan, 10.0], "integer", ("1", "3", "10"), [1, 0, -1, 2]),
        ([0.5, -0.25, np.nan, 0.5], "number", ("-0.25", "0.5"), [1, 0, -1, 1]),
        (["b", "a", "", "b"], "text", ("a", "b"), [1, 0, -1, 1]),
        (["10", "9", "nan", "1e1"], "integer", ("9", "10"), [1, 0, -1, 1]),
        ([True, False, True], "boolean", ("False", "True"), [1, 0, 1]),
        (np.array(["b", None, 1.0, np.nan], dtype=object), "text", ("1", "b"), [1, -1, 0, -1]),
    ],
)
def test_numpy_arrays(values, kind, categories, expected):
    column, coded = one_column(values)
    assert (column.name, column.kind, column.categories) == ("x0", kind, categories)
    assert coded == expected


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame, pa.table], ids=["pandas", "polars", "pyarrow"])
def test_frames_are_coded_like_a_file(tmp_path, frame):
    from_file = as_table(write_file(tmp_path / "mixed.csv", csv_text(MIXED)))
    from_frame = as_table(frame(MIXED))
    assert from_frame.names == from_file.names == tuple(MIXED)
    assert [c.categories for c in from_frame.columns] == [c.categories for c in from_file.columns]
    np.testing.assert_array_equal(from_frame.codes(), from_file.codes())
    np.testing.assert_array_equal(from_frame.n_missing, [10, 10, 9, 0, 0, 10])


@pytest.mark.parametrize("dtype", ["Int64", "Float64", "string", "category", "boolean", "object"])
def test_missing_cells_of_pandas_types(dtype):
    assert codes_of(pd.DataFrame({"a": pd.Series([1, pd.NA, 0], dtype=dtype)})) == [[1], [-1], [0]]


def test_leading_zeros_make_a_name(tmp_path):
    column = as_table(write_file(tmp_path / "zip.csv", "zip,n\n01033,1\n20500,2\n")).columns[0]
    assert (column.kind, column.categories) == ("text", ("01033", "20500"))
    assert as_table(write_file(tmp_path / "n.csv", "n,m\n0.5,0\n-0,1\n")).columns[0].kind == "number"
