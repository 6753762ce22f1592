"""Names of rows, wherever they are read from."""

import numpy as np
import polars as pl

from helpers.tables import write_file
from latree.table import as_table
from latree.table.raw import from_values
from latree.table.sources import RowNames


def test_names_are_read_again_from_a_file_in_batches(tmp_path, monkeypatch):
    monkeypatch.setattr("latree.table.sources.BATCH_CELLS", 30)
    lines = "\n".join(f"p{i},{i % 2},{i % 3}" for i in range(100))
    path = write_file(tmp_path / "a.csv", f"who,a,b\n{lines}\n")
    table = as_table(path, identifier="who")
    rows = np.array([99, 0, 10, 11, 10])
    assert table.names_of_rows(rows) == ["p99", "p0", "p10", "p11", "p10"]
    assert table.names_of_rows(np.array([], dtype=int)) == []


def test_names_of_numbers():
    assert RowNames("x", from_values("x", np.array([5.0, 7.0, 6.5]))).of(np.array([2, 0])) == ["6.5", "5"]
    frame = pl.DataFrame({"id": [30, 10, 20], "a": [1, 2, 1], "b": [1, 1, 2]})
    assert as_table(frame, identifier="id").names_of_rows(np.array([1])) == ["10"]
