"""Summaries of columns that are gathered batch by batch."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from latree.errors import InputError
from latree.table import as_table
from latree.table.discretize import learn_columns
from latree.table.raw import RawColumn
from latree.table.sources import file_source


def test_a_column_that_changes_its_type_is_refused(tmp_path):
    pq.write_table(pa.table({"a": [1, 2], "b": [1, 2]}), tmp_path / "1.parquet")
    pq.write_table(pa.table({"a": ["x", "y"], "b": [1, 2]}), tmp_path / "2.parquet")
    with pytest.raises(InputError, match="column 'a' has texts in some places, numbers in others"):
        as_table(tmp_path / "?.parquet")


def test_identifiers_do_not_fill_the_memory(all_on_disk, monkeypatch):
    monkeypatch.setattr("latree.table.summary.MAX_STATES", 300)

    def pieces(names):
        for start in range(0, 10_000, 100):
            texts = np.array([f"no {i}" for i in range(start, start + 100)], dtype=object)
            yield [RawColumn("id", texts, np.arange(100))]

    (learned,) = learn_columns(file_source("x", ["id"], pieces), ["id"], 10, (), {})
    assert "column 'id' has more than 300 different values" in learned.problem
    assert (learned.column, learned.summary.texts, learned.summary.n_present) == (None, None, 10_000)


def write_grades(path, order, cells):
    codes = pa.array([None if cell is None else order.index(cell) for cell in cells], pa.int8())
    grades = pa.DictionaryArray.from_arrays(codes, pa.array(order, pa.string()), ordered=True)
    pq.write_table(pa.table({"a": grades, "b": range(len(cells))}), path, row_group_size=2)


def test_ordered_categories_of_files_keep_their_order(tmp_path, all_on_disk):
    write_grades(tmp_path / "1.parquet", ["low", "mid", "high"], ["high", "high", "mid", "high"])
    write_grades(tmp_path / "2.parquet", ["low", "mid", "high"], ["low", "high", None])
    column, _ = as_table(tmp_path / "?.parquet").columns
    assert (column.categories, column.ordered) == (("low", "mid", "high"), True)


def test_ordered_categories_that_change_their_order_are_refused(tmp_path):
    write_grades(tmp_path / "1.parquet", ["low", "mid", "high"], ["high", "low"])
    write_grades(tmp_path / "2.parquet", ["high", "mid", "low"], ["high", "low"])
    with pytest.raises(InputError, match="column 'a' has other categories, or another order of them, in some places"):
        as_table(tmp_path / "?.parquet")
    write_grades(tmp_path / "2.parquet", ["high", "mid", "low"], [None, None])  # no cells, no conflict
    assert as_table(tmp_path / "?.parquet").columns[0].categories == ("low", "high")
