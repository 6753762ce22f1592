"""Parquet files."""

import datetime
import decimal

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from helpers.tables import mixed_frame
from latree.table import as_table
from latree.table.formats import parquet


def test_every_plain_type_of_parquet_is_coded_like_the_frame(tmp_path):
    day = datetime.date(2020, 1, 1)
    table = pa.table(
        {
            "tiny": pa.array([1, None, 3, 1], pa.int8()),
            "category": pa.array(["x", "y", None, "x"]).dictionary_encode(),
            "grade": pa.DictionaryArray.from_arrays(pa.array([1, 0, None, 2], pa.int8()), ["low", "mid", "high"]).cast(
                pa.dictionary(pa.int8(), pa.string(), ordered=True)
            ),
            "money": pa.array([decimal.Decimal("1.50"), None, decimal.Decimal("2.25"), decimal.Decimal("1.50")]),
            "day": pa.array([day, None, day, datetime.date(2021, 1, 1)]),
            "flag": pa.array([True, False, True, True]),
            "hole": pa.array([True, None, False, True]),
            "large": pa.array(["a", "b", "a", "b"], pa.large_string()),
            "huge": pa.array([2**60, 2**60 + 1, 1, 2], pa.int64()),
            "nothing": pa.array([None, None, None, None], pa.string()),
        }
    )
    pq.write_table(table, tmp_path / "a.parquet")
    for bins in (10, 0):
        found, expected = as_table(tmp_path / "a.parquet", bins=bins), as_table(table, bins=bins)
        assert found.columns == expected.columns
        np.testing.assert_array_equal(found.codes(), expected.codes())
    frame = mixed_frame(20).iloc[::2]  # with an index that is no range, which pandas writes as one more column
    frame.to_parquet(tmp_path / "index.parquet")
    assert as_table(tmp_path / "index.parquet").names == tuple(frame.columns)
    pq.write_table(table.slice(0, 0), tmp_path / "empty.parquet")
    assert as_table(tmp_path / "empty.parquet").n_rows == 0
    assert as_table(tmp_path / "empty.parquet", columns=found.columns).names == found.names


def test_large_whole_numbers_beside_nulls_are_not_merged(tmp_path):
    numbers = [1, 2, 3, None, 2**60, 2**60 + 1, None, 7]
    pq.write_table(pa.table({"a": numbers, "b": [1, 2] * 4}), tmp_path / "a.parquet", row_group_size=4)
    assert as_table(tmp_path / "a.parquet").decode()["a"] == numbers


def test_cells_that_point_nowhere_are_damage():
    cells = pa.DictionaryArray.from_arrays(pa.array([0, 1, 3], pa.int32()), pa.array(["a", "b"]), safe=False)
    with pytest.raises(pa.ArrowInvalid):
        parquet._raw_columns(pa.RecordBatch.from_arrays([cells], ["x"]), ["x"])
