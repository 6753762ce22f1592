"""Excel files: the first sheet, with the types of its cells."""

import sys
from datetime import date

import openpyxl
import pandas as pd

from helpers.damage import count_refused
from helpers.tables import MIXED, assert_error, write_file
from latree.table import as_table

ROWS = [
    ["word", "grade", "size", "yes", "day"],
    ["red", 1, 1.5, True, date(2020, 1, 2)],
    ["blue", 2, None, False, None],
]


def write(path, rows=ROWS, more=()):
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    for title in more:
        book.create_sheet(title).append(["other", "sheet"])
    book.save(path)
    return path


def test_cells_keep_their_types(tmp_path):
    table = as_table(
        write(tmp_path / "book.xlsx", [*ROWS, [], [None] * 7, ["red", 2, 2.5, True, date(2021, 1, 2)]], ["next"]),
        bins=0,
    )
    assert table.decode() == {
        "word": ["red", "blue", "red"],
        "grade": [1, 2, 2],
        "size": [1.5, None, 2.5],
        "yes": [True, False, True],
        "day": ["2020-01-02 00:00:00", None, "2021-01-02 00:00:00"],
    }
    assert [column.kind for column in table.columns] == ["text", "integer", "number", "boolean", "text"]


def test_a_sheet_that_pandas_writes_is_the_same_table(tmp_path):
    frame = pd.DataFrame(MIXED).round({"height": 3})  # a sheet keeps 16 digits
    frame.to_excel(tmp_path / "mixed.xlsx", index=False)
    table, expected = as_table(tmp_path / "mixed.xlsx"), as_table(frame)
    assert table.fingerprint() == expected.fingerprint()


def test_what_is_wrong_is_said_in_one_line(tmp_path, monkeypatch):
    assert_error(tmp_path / "absent.xlsx", "no such file")
    assert_error(write(tmp_path / "empty.xlsx", []), "the first sheet is empty")
    assert_error(write(tmp_path / "unnamed.xlsx", [["a", None, "c"], [1, 2, 3]]), "column 2 has an empty name")
    assert_error(write(tmp_path / "twice.xlsx", [["a", "a"], [1, 2]]), "'a' appears twice")
    assert_error(write_file(tmp_path / "text.xlsx", "a,b\n1,2\n"), "not an Excel file that can be read")
    path = write(tmp_path / "book.xlsx")
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    assert_error(path, "Excel files need openpyxl: pip install openpyxl")


def test_damaged_files_are_read_or_refused_in_one_line(tmp_path):
    content = write(tmp_path / "book.xlsx").read_bytes()
    assert count_refused(tmp_path / "damaged.xlsx", content, 60) > 30
