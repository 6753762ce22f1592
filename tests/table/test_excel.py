"""Excel files: the first visible sheet, with the types of its cells."""

import re
import sys
import zipfile
from datetime import date

import openpyxl
import pandas as pd
import pytest

from helpers.damage import count_refused
from helpers.tables import MIXED, assert_error, write_file
from latree.table import as_table, check
from latree.table.findings import sentences

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
        "day": ["2020-01-02 00:00", None, "2021-01-02 00:00"],
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
    assert count_refused(tmp_path / "damaged.xlsx", content, 30) > 15


def answers(path, change, n_rows=60):
    """Write a book whose first sheet has some rows of answers, and other cells that are wrong somehow."""
    book = openpyxl.Workbook()
    sheet = book.active
    for row in (list("abcd"), *([i % 2, i // 2 % 2, i // 3 % 2, i // 5 % 2] for i in range(n_rows))):
        sheet.append(row)
    change(book, sheet)
    book.save(path)
    return path


def said(path):
    """What is said about how a file was read, before a fit and by it."""
    table = as_table(path)
    told = [one for one in table.findings if one.kind == "file"]
    assert [one for one in check(path).findings if one.kind == "file"] == told
    return table, sentences(told)


def rewritten(path, pattern, replacement):
    """A book whose parts are changed by a regular expression."""
    other = path.with_name("rewritten.xlsx")
    with zipfile.ZipFile(path) as given, zipfile.ZipFile(other, "w", zipfile.ZIP_DEFLATED) as changed:
        for name in given.namelist():
            changed.writestr(name, re.sub(pattern, replacement, given.read(name)))
    return other


@pytest.mark.parametrize("size", ["A1", "A1:D11", "A1:B61", "A1:XFD1048576", "A1:ZZZ99999999"])
def test_all_cells_are_read_whatever_the_file_says_about_its_size(tmp_path, size):
    path = answers(tmp_path / "right.xlsx", lambda *_: None)
    wrong = rewritten(path, rb'<dimension ref="[^"]*"', b'<dimension ref="%s"' % size.encode())
    assert as_table(wrong).fingerprint() == as_table(path).fingerprint()


def test_cells_that_no_sheet_has_are_refused(tmp_path):
    path = answers(tmp_path / "right.xlsx", lambda *_: None)
    assert_error(rewritten(path, rb'r="D7"', b'r="XFE7"'), "a cell is in column 16385, and Excel has 16384")
    long = b'<c r="A7" t="inlineStr"><is><t>' + b"x" * 32768
    path = rewritten(path, rb'<c r="A7" t="n"><v>\d</v></c>', long + b"</t></is></c>")
    assert_error(path, "a cell has 32768 letters, more than 32767: shorten it")


@pytest.mark.parametrize("cell", ["Z1000", "XFD1", "D1048576", "XFD1048576"])
def test_cells_that_are_only_formatted_are_nothing(tmp_path, cell):
    def format_cell(book, sheet):
        sheet[cell].number_format = "0.00"

    path = answers(tmp_path / "far.xlsx", format_cell)
    assert as_table(path).fingerprint() == as_table(answers(tmp_path / "near.xlsx", lambda *_: None)).fingerprint()


def test_errors_of_formulas_are_missing_and_counted(tmp_path):
    def damage(book, sheet):
        sheet["A5"], sheet["B5"], sheet["B9"] = "#N/A", "#DIV/0!", "#DIV/0!"

    table, told = said(answers(tmp_path / "errors.xlsx", damage))
    assert [column.categories for column in table.columns] == [("0", "1")] * 4
    assert table.n_missing.tolist() == [1, 2, 0, 0]
    assert told == ["3 cells with an error of Excel (#DIV/0!, #N/A) are missing."]


def test_formulas_without_results_are_counted(tmp_path):
    def compute(book, sheet):
        sheet["E1"] = "sum"
        for row in range(2, 12):
            sheet[f"E{row}"] = f"=A{row}+B{row}"

    table, told = said(answers(tmp_path / "formulas.xlsx", compute))
    assert [(one.column, one.kind) for one in table.findings if one.action == "left out"] == [("sum", "empty")]
    assert told == [
        "10 cells with a formula have no result in the file, and are missing. To store the results, open the file in "
        "Excel and save it."
    ]


def test_hidden_sheets_are_not_read(tmp_path):
    def hide(book, sheet):
        secret = book.create_sheet("secret", 0)
        secret.append(["x", "y"])
        secret.sheet_state = "hidden"
        book.active = 1

    table, told = said(answers(tmp_path / "hidden.xlsx", hide))
    assert table.names == tuple("abcd")
    assert told == ["The sheet 'Sheet' is read, the first visible one ('secret' is)."]
