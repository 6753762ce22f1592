"""Files, patterns of names, and other data that are read."""

import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

from helpers.tables import assert_error, mixed_frame, write_frame
from latree.__main__ import commands
from latree.errors import InputError
from latree.model import LatentTreeModel
from latree.table import as_table


def test_patterns_stand_for_files_in_the_order_of_their_names(all_on_disk, tmp_path):
    frame = mixed_frame(500)
    for number, part in enumerate(np.array_split(np.arange(500), 3)):
        write_frame(frame.iloc[part], tmp_path / f"part-{number}.parquet")
        write_frame(frame.iloc[part], tmp_path / f"part-{number}.csv")
    for suffix in ("parquet", "csv"):
        table = as_table(str(tmp_path / f"*.{suffix}"))
        np.testing.assert_array_equal(table.codes(), as_table(frame).codes())
    whole = write_frame(frame, tmp_path / "odd[1].csv")  # a file of that very name goes first
    assert as_table(whole).n_rows == 500


def test_a_pattern_is_remembered_with_its_folder(tmp_path):
    (tmp_path / "parts").mkdir()
    pattern = tmp_path / "parts" / "*.csv"
    codes = np.random.default_rng(0).integers(0, 2, (200, 4))
    np.savetxt(tmp_path / "parts" / "a.csv", codes, fmt="%d", delimiter=",", header="a,b,c,d", comments="")
    options = ["--method", "independent", "--smoothing", "0.1", "--quiet"]
    result = CliRunner().invoke(commands, ["fit", str(pattern), "--out", str(tmp_path / "run"), *options])
    assert result.exit_code == 0, result.output
    record = LatentTreeModel.load(tmp_path / "run" / "model.json").record
    assert record.source == "parts/*.csv"
    assert record.command.startswith("latree fit 'parts/*.csv' --method independent")
    assert "parts/*.csv" in (tmp_path / "run" / "report.html").read_text(encoding="utf-8")


def test_bad_patterns_and_files(tmp_path, monkeypatch):
    frame = mixed_frame(50)
    write_frame(frame, tmp_path / "a.parquet")
    write_frame(frame[["word", "grade"]], tmp_path / "b.parquet")
    (tmp_path / "broken.parquet").write_bytes(b"PAR1 and no more")
    pq.write_table(pa.table({"a": [1, 2], "b": [[1], [2, 3]]}), tmp_path / "nested.parquet")
    pq.write_table(pa.table({"a": [1.0, float("inf")]}), tmp_path / "infinite.parquet")
    write_frame(frame, tmp_path / "mix.csv")
    (tmp_path / "other.csv").write_text("b,word\n1,2\n")
    pq.write_table(pa.table({}), tmp_path / "bare.parquet")
    content = (tmp_path / "a.parquet").read_bytes()
    (tmp_path / "damaged.parquet").write_bytes(content[:4] + bytes(200) + content[204:])
    for name, message in {
        "none*.parquet": "no file matches this pattern",
        "[ab].parquet": r"b.parquet: its columns are not those of .*a.parquet: '\w+' is in .*a.parquet and not in .*b",
        "[mo]*.csv": r"other.csv: its columns are not those of .*mix.csv: 'b' is in .*other.csv and not in .*mix.csv",
        "bare.parquet": "bare.parquet: the file has no columns",
        "damaged.parquet": r"damaged.parquet: (a damaged|not a readable) Parquet file \(.*\): write or download",
        "broken.parquet": "not a Parquet file",
        "absent.parquet": "no such file",
        "nested.parquet": "column 'b' holds list<",
        "infinite.parquet": "column 'a' has an infinite value",
        "*": "broken.parquet: |matches both",
        ".": "is a folder, not a file; '.*/\\*.parquet' means all",
    }.items():
        with pytest.raises(InputError, match=message) as caught:
            as_table(tmp_path / name)
        assert "\n" not in str(caught.value)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    with pytest.raises(InputError, match=r"a\.parquet: Parquet files are read with pyarrow: pip install pyarrow"):
        as_table(tmp_path / "a.parquet")


@pytest.mark.parametrize("name", ["a.sav", "a.dta", "a.xlsx", "a.parquet"])
def test_a_file_that_is_not_there_needs_no_library(tmp_path, monkeypatch, name):
    for library in ("pyreadstat", "openpyxl", "pyarrow", "pyarrow.parquet"):
        monkeypatch.setitem(sys.modules, library, None)
    assert_error(tmp_path / name, "no such file")
