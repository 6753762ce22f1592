"""Rows on disk are the same as in memory to the last bit."""

import numpy as np
import pytest

from helpers.tables import assert_same, mixed_frame, simulated_table, through_parquet, write_frame
from latree.errors import InputError
from latree.table import as_table
from latree.table.rows import DiskRows, MemoryRows


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
@pytest.mark.parametrize("weights", [None, "w"])
def test_a_file_on_disk_is_the_table_in_memory(all_on_disk, tmp_path, suffix, weights):
    frame = mixed_frame(1000)
    expected = as_table(frame, weights=weights)
    path = write_frame(frame, tmp_path / f"data{suffix}", **({} if suffix == ".csv" else {"row_group_size": 170}))
    table = as_table(path, weights=weights)
    assert isinstance(table.rows, DiskRows)
    assert isinstance(expected.rows, MemoryRows)
    kinds = {"boolean": "text"} if suffix == ".csv" else {}
    assert [(c.name, kinds.get(c.kind, c.kind), c.categories, c.cuts, c.density) for c in expected.columns] == [
        (c.name, c.kind, c.categories, c.cuts, c.density) for c in table.columns
    ]
    assert_same(table, expected)
    again = as_table(path, columns=table.columns, weights=weights)
    np.testing.assert_array_equal(again.codes(), expected.codes())


def test_rows_on_disk_stay_in_their_process(all_on_disk, tmp_path):
    import pickle

    with pytest.raises(InputError, match="cannot be sent to other processes"):
        pickle.dumps(through_parquet(simulated_table(300), tmp_path).rows)


def test_a_full_disk_is_said_in_one_line(all_on_disk, tmp_path, monkeypatch):
    class Full:
        def tell(self):
            return 0

        def close(self):
            pass

        def write(self, _):
            raise OSError(28, "No space left on device")

    monkeypatch.setattr("tempfile.TemporaryFile", Full)
    with pytest.raises(InputError, match=r"No space left on device; the table is larger than memory.*TMPDIR"):
        as_table(write_frame(mixed_frame(300), tmp_path / "a.parquet"))
