"""Raw columns of arrays and data frames."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from helpers.tables import MIXED, assert_error, codes_of, csv_text, one_column, write_file
from latree.errors import InputError
from latree.table import as_table
from latree.table.raw import check_names


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


GRADES = ("none", "low", "mid", "high", "never")  # no row has the last one


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame({"grade": pd.Categorical.from_codes([3, 0, -1, 1, 2], GRADES, ordered=True)}),
        pl.DataFrame({"grade": pl.Series(["high", "none", None, "low", "mid"], dtype=pl.Enum(GRADES))}),
        pa.Table.from_pandas(
            pd.DataFrame({"grade": pd.Categorical.from_codes([3, 0, -1, 1, 2], GRADES, ordered=True)})
        ),
        pl.DataFrame({"grade": pl.Series(["high", "none", None, "low", "mid"], dtype=pl.Enum(GRADES))}).to_arrow(),
    ],
    ids=["pandas", "polars", "pyarrow", "polars to pyarrow"],
)
def test_ordered_categories_keep_their_order(frame):
    table = as_table(frame)
    assert table.columns[0].categories == GRADES[:4]  # categories that no row has are left out
    assert table.columns[0].ordered
    assert table.codes()[:, 0].tolist() == [3, 0, -1, 1, 2]
    assert table.decode()["grade"] == ["high", "none", None, "low", "mid"]
    # New data are coded in the same order, whatever form they have.
    assert codes_of(np.array([["mid"], ["none"]]), columns=table.columns) == [[2], [0]]
    other_order = pd.DataFrame({"grade": pd.Categorical(["mid", "none"], GRADES[::-1], ordered=True)})
    assert codes_of(other_order, columns=table.columns) == [[2], [0]]


@pytest.mark.parametrize("categories", [[3, 1, 2], [3.5, 1.0, 2.0], list(range(30, 0, -1)), ["3", "1", "2"]])
def test_ordered_categories_that_are_numbers_are_neither_sorted_nor_binned(categories):
    frame = pd.DataFrame({"x": pd.Categorical(categories * 2, categories, ordered=True)})
    table = as_table(frame)
    column = table.columns[0]
    assert column.categories == tuple(f"{x:g}" if isinstance(x, float) else str(x) for x in categories)
    assert (column.ordered, column.cuts) == (True, None)
    assert table.codes()[:, 0].tolist() == list(range(len(categories))) * 2
    assert table.decode()["x"] == [float(x) if 3.5 in categories else int(x) for x in categories * 2]


@pytest.mark.parametrize("n", [3, 30])
def test_plain_categories_have_no_order_and_no_bins(n):
    for frame in (
        pd.DataFrame({"x": pd.Categorical(range(n))}),
        pl.DataFrame({"x": pl.Series(list(map(str, range(n))), dtype=pl.Categorical)}),
    ):
        column = as_table(frame).columns[0]
        assert (column.kind, column.ordered, column.cuts) == ("integer", False, None)
        assert column.categories == tuple(map(str, range(n)))
    arrow = pa.table({"x": pa.array(range(n)).dictionary_encode()})
    assert as_table(arrow).columns == as_table(pd.DataFrame({"x": pd.Categorical(range(n))})).columns


def test_numbers_booleans_and_bins_are_ordered_and_texts_are_not():
    frame = pd.DataFrame({"n": [1, 2, 1], "f": [0.5, 0.1, 2.5], "b": [True, False, True], "t": ["x", "y", "x"]})
    frame["digits"] = ["1", "2", "3"]
    for bins in (2, 0):
        assert [column.ordered for column in as_table(frame, bins=bins).columns] == [True, True, True, False, True]


def test_an_ordered_category_that_means_missing_is_missing():
    frame = pd.DataFrame({"x": pd.Categorical(["b", "?", "a"], ["b", "?", "a"], ordered=True)})
    table = as_table(frame, missing=["?"])
    assert (table.columns[0].categories, table.codes()[:, 0].tolist()) == (("b", "a"), [0, -1, 1])


LARGE = [2**53 + i % 3 for i in range(12)]


@pytest.mark.parametrize(
    "column",
    [
        np.array(LARGE),
        np.array(list(map(str, LARGE))),
        pd.array([*LARGE, None], dtype="Int64"),
        pl.Series([*LARGE, None]),
        pl.Series(LARGE, dtype=pl.Int128),
        np.array(LARGE, dtype=np.uint64),
        pa.array([*LARGE, None]),
    ],
    ids=["array", "texts", "pandas", "polars", "Int128", "uint64", "pyarrow"],
)
def test_large_whole_numbers_are_not_merged(column, tmp_path):
    other = [i % 2 for i in range(len(column))]
    library = (
        pa.table if isinstance(column, pa.Array) else pl.DataFrame if isinstance(column, pl.Series) else pd.DataFrame
    )
    table = as_table(library({"x": column, "other": other}))
    large = table.columns[0]
    assert (large.kind, large.categories, large.cuts) == ("integer", tuple(str(2**53 + i) for i in range(3)), None)
    assert table.codes()[:12, 0].tolist() == [i % 3 for i in range(12)]
    assert large.decode(1) == 2**53 + 1


def test_large_identifiers_are_not_binned():
    numbers = 10**18 + np.arange(100)
    table = as_table(np.column_stack([numbers, np.arange(100) % 2]))
    assert table.columns[0].n_states == 100
    far = np.column_stack([10**18 + 10**6 * np.arange(100), np.arange(100) % 2])
    assert as_table(far, bins=10).columns[0].n_states == 10  # different as floats: a quantity
    assert as_table(far.astype(float), bins=10).columns[0].n_states == 10


def test_whole_numbers_that_no_float_holds():
    frame = pl.DataFrame({"x": pl.Series([1, 2**100, None], dtype=pl.Int128), "y": [1, 2, 1]})
    assert as_table(frame).decode()["x"] == [1, 2**100, None]


@pytest.mark.parametrize("dtype", [float, int, object])
def test_masked_cells_are_missing(dtype):
    values = np.ma.masked_array(np.array([[1, 2], [2, 99], [1, 3]], dtype=dtype), [[0, 0], [0, 1], [0, 0]])
    assert as_table(values).decode() == {"x0": [1, 2, 1], "x1": [2, None, 3]}
    halves = np.ma.masked_array([[0.5], [1.5], [99.5]], [[0], [0], [1]])
    assert as_table(halves).columns[0].cuts == (1.0,)


def test_names_that_repeat_and_lazy_frames():
    for frame in (
        pd.DataFrame([[1, 2], [3, 4]], columns=["a", "a"]),
        pa.Table.from_arrays([pa.array([1, 2]), pa.array([3, 4])], ["a", "a"]),
        pd.DataFrame([[1, 2], [3, 4]], columns=["1", 1]),
    ):
        assert_error(frame, "appears twice (columns 1 and 2): rename one")
    assert as_table(pl.LazyFrame({"a": [1, 2], "b": [1, 2]})).decode() == {"a": [1, 2], "b": [1, 2]}


def test_nul_characters_are_refused():
    assert_error(pd.DataFrame({"a\0": [1, 2], "b": [1, 2]}), "the name of column 1 has a NUL character")
    assert_error(pd.DataFrame({"a": ["x\0", "y"], "b": [1, 2]}), "column 'a': a cell has a NUL character")


def test_names_without_an_end_are_refused():
    check_names(["x" * 10_000, "y"], "table.csv")
    with pytest.raises(InputError, match=r"table\.csv: the name of column 2 has 100000 letters, 'x+…x+': ") as error:
        check_names(["y", "x" * 100_000], "table.csv")
    assert len(str(error.value)) < 200
