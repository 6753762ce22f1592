"""CSV and TSV files of every form."""

import csv
import gzip
import io
import os
import re
import tracemalloc

import numpy as np
import pytest

from helpers.tables import MIXED, MIXED_FRAME, assert_error, codes_of, csv_text, write_file
from latree.errors import FitWarning
from latree.table import as_table, check
from latree.table.formats.text import guarded, unguarded, write_columns


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".txt", ".csv.gz", ".TSV.GZ"])
@pytest.mark.parametrize("bom", [b"", b"\xef\xbb\xbf"], ids=["plain", "bom"])
def test_files_of_every_form_are_read_and_left_alone(tmp_path, delimiter, suffix, bom):
    content = bom + csv_text(MIXED, delimiter).encode()
    path = write_file(tmp_path / f"mixed{suffix}", gzip.compress(content) if suffix.lower().endswith("gz") else content)
    before = path.read_bytes(), path.stat().st_mtime_ns
    assert as_table(path).names == tuple(MIXED)
    assert codes_of(str(path)) == codes_of(MIXED_FRAME)
    assert (path.read_bytes(), path.stat().st_mtime_ns) == before
    assert list(tmp_path.iterdir()) == [path]


def test_long_files_quotes_blank_lines_and_spaces(tmp_path):
    table = as_table(write_file(tmp_path / "a.csv", "a, b \r\n" + '" x, y",1\r\n\r\n" x, y ",+1.0\r\nz ,2\r\n' * 3000))
    assert [(c.name, c.categories) for c in table.columns] == [("a", ("x, y", "z")), ("b", ("1", "2"))]
    assert table.codes().tolist() == [[0, 0], [0, 0], [1, 1]] * 3000


def test_delimiters_inside_quoted_names_do_not_count(tmp_path):
    path = write_file(tmp_path / "quoted.csv", '"q1, a, b";"q2, c"\n1;2\n')
    assert as_table(path).names == ("q1, a, b", "q2, c")


LATIN = b"a,b\n" + b"1,2\n" * 5000 + b"caf\xe9,3\n"
DAMAGED = LATIN + "café,3\n".encode()
GARBAGE = gzip.compress(b"a,b\n1,2\n", mtime=0)[:12] + b"\xff" * 20


@pytest.mark.parametrize(
    ("name", "content", "culprit"),
    [
        ("short.csv", b"a,b\n1,2\n\n3\n", "data row 2 (line 4) has 1 cell where the header has 2"),
        ("twice.csv", b"a,b,a \n1,2,3\n", "'a' appears twice (columns 1 and 3)"),
        ("unnamed.csv", b"a, ,b\n1,2,3\n", "column 2 has an empty name"),
        ("empty.csv", b"", "the file is empty"),
        ("damaged.csv", DAMAGED, "line 5002 is not UTF-8 text (byte 0xe9)"),
        ("damaged.csv.gz", gzip.compress(DAMAGED), "line 5002 is not UTF-8 text (byte 0xe9)"),
        ("other.csv", LATIN + b"\x81,3\n", "line 5002 is not UTF-8 text (byte 0xe9)"),  # 0x81 is no letter of Windows
        ("binary.csv", LATIN + b"\x01,3\n", "line 5002 is not UTF-8 text (byte 0xe9)"),
        ("cut.csv.gz", gzip.compress(LATIN[:5000])[:-12], "not a whole gzip file"),
        ("garbage.csv.gz", GARBAGE, "not a whole gzip file"),
        ("quote.csv", b'a,b\n"1,2\n', "not a well-formed table"),
        ("digits.csv", b"a,b\n1,2\n1" + b"0" * 400 + b",3\n", "column 'a'"),
        ("pipes.csv", b"a|b\n1|2\n", "only one column was found: cells must be separated by commas"),
        ("data.csv", b"4,1,4\n1,2,3\n", "the first line seems to hold data, not names: add a line with names"),
        ("sheet.xyz", b"", "unknown kind of file"),
    ],
    ids=lambda parameter: parameter if isinstance(parameter, str) and "." in parameter else "",
)
def test_bad_files(tmp_path, name, content, culprit):
    assert_error(write_file(tmp_path / name, content), culprit)


ROWS = [f"{i % 2},{i % 3},{i % 5}" for i in range(30)]
TEXT = "a,b,c\n" + "\n".join(ROWS) + "\n"


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32"])
def test_byte_order_marks_tell_the_encoding(tmp_path, encoding):
    path = write_file(tmp_path / "a.csv", TEXT.replace("a,b", "größe,b").encode(encoding))
    assert as_table(path).names == ("größe", "b", "c")
    np.testing.assert_array_equal(as_table(path).codes(), codes_of(write_file(tmp_path / "plain.csv", TEXT)))
    (tmp_path / "a.csv.gz").write_bytes(gzip.compress(path.read_bytes()))
    assert as_table(tmp_path / "a.csv.gz").names == ("größe", "b", "c")


@pytest.mark.parametrize("ending", [".csv", ".csv.gz"])
def test_files_of_windows_are_read_and_said_to_be(tmp_path, ending):
    text = "größe,ort,b\n" + "1,Genève,2\n2,Köln,1\n" * 30
    pack = gzip.compress if ending == ".csv.gz" else bytes
    path = write_file(tmp_path / f"windows{ending}", pack(text.encode("cp1252")))
    line = (
        f"{path} is not UTF-8. It is read as Windows-1252, with 'größe' on line 1: if that is wrong, save it as UTF-8"
    )
    expected = as_table(write_file(tmp_path / f"utf8{ending}", pack(text.encode())))
    with pytest.warns(FitWarning, match=re.escape(line)):
        table = as_table(path)
    assert table.columns == expected.columns
    assert table.codes().tolist() == expected.codes().tolist()
    assert [(one.kind, one.what) for one in table.findings] == [("file", line)]
    assert [one.what for one in check(path).findings if one.kind == "file"] == [line]
    with pytest.warns(FitWarning, match="Windows-1252"):
        as_table(path, columns=table.columns)
    assert expected.findings == ()


def test_a_word_of_windows_may_be_far_into_the_file(tmp_path, monkeypatch):
    monkeypatch.setattr("latree.table.formats.text._TEXT_AT_ONCE", 64)
    path = write_file(tmp_path / "a.csv", b"a,b\n" + b"1,2\n2,1\n" * 500 + b"3,na\xefve\n" * 20)
    with pytest.warns(FitWarning, match="'naïve' on line 1002"):
        assert as_table(path).columns[1].categories == ("1", "2", "naïve")
    plain = write_file(tmp_path / "b.csv", ("a,b\n" + "1,2\n2,1\n" * 500 + "3,naïve\n" * 20).encode())
    assert as_table(plain).findings == ()  # a letter may lie across two parts


def test_text_that_is_no_text(tmp_path):
    assert_error(write_file(tmp_path / "a.csv", TEXT.encode("utf-16-le")), "line 1 has a NUL byte", "UTF-16 without")
    assert_error(write_file(tmp_path / "b.csv", TEXT.replace("1,2", "1\0,2", 1)), "line 7 has a NUL byte")
    assert_error(write_file(tmp_path / "c.csv", TEXT.encode("utf-16")[:-1]), "not whole UTF-16 text")


def test_blank_lines_are_skipped_but_not_for_ever(tmp_path, monkeypatch):
    path = write_file(tmp_path / "a.csv", "\n\r\n" + TEXT.replace("\n", "\n\n"))
    np.testing.assert_array_equal(as_table(path).codes(), codes_of(write_file(tmp_path / "plain.csv", TEXT)))
    assert_error(write_file(tmp_path / "b.csv", "\n\n" + TEXT + "1,2\n"), "line 34")
    monkeypatch.setattr("latree.table.formats.text._MAX_BLANK", 100)
    assert_error(write_file(tmp_path / "c.csv", "a,b\n" + "\n" * 101), "line 102 ends more than 100 blank lines")
    assert_error(write_file(tmp_path / "d.csv", "\n" * 101 + TEXT), "line 101 ends more than 100 blank lines")
    assert as_table(write_file(tmp_path / "e.csv", TEXT + "\n" * 100)).n_rows == 30
    blanks = (" " * 50 + "\n") * 101
    assert_error(write_file(tmp_path / "f.csv", blanks + TEXT), "line 101 ends more than 100 blank lines")
    short = write_file(tmp_path / "g.csv", "a,b\n1,2\n2,1\n" + ",\n" * 101)  # missing cells are no blank lines
    assert as_table(short).n_rows == 103
    assert_error(write_file(tmp_path / "h.csv", "  \n" * 40 + TEXT + "1,2\n"), "(line 72)")


def test_blanks_before_a_table_take_no_memory(tmp_path):
    path = write_file(tmp_path / "a.csv.gz", gzip.compress((" " * 1000 + "\n").encode() * 20_000 + TEXT.encode()))
    tracemalloc.start()
    try:
        assert as_table(path).n_rows == 30
        assert tracemalloc.get_traced_memory()[1] < 5e6  # 20 MB if all lines were kept
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    ("content", "message"),
    [("a" * 2001, "more than 2000 letters"), ("\n" * 101, "more than 100 blanks"), ("a\0" + "a" * 9999, "NUL byte")],
)
def test_files_that_are_read_as_a_whole_have_a_limit(tmp_path, monkeypatch, content, message):
    monkeypatch.setattr("latree.table.formats.text._MAX_TEXT", 2000)
    monkeypatch.setattr("latree.table.formats.text._MAX_LINE", 100)
    monkeypatch.setattr("latree.table.formats.text._TEXT_AT_ONCE", 10)
    assert_error(write_file(tmp_path / "a.fasta", content), message)
    assert_error(write_file(tmp_path / "a.basket", content), message)
    assert as_table(write_file(tmp_path / "b.basket", "\n" * 100 + "a b\n" * 20 + "a c\n" * 20)).n_rows == 40


def test_lines_without_end_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("latree.table.formats.text._MAX_LINE", 1000)
    assert_error(write_file(tmp_path / "a.csv", "a" * 1000), "line 1 has more than 1000 letters")
    assert_error(write_file(tmp_path / "b.csv", TEXT + "1" * 1001), "line 32 has more than 1000 letters")
    assert as_table(write_file(tmp_path / "c.csv", "a" * 996 + ",b\n" + "1,2\n2,1\n")).n_columns == 2


def test_a_pipe_or_a_device_is_refused(tmp_path):
    os.mkfifo(tmp_path / "pipe.csv")
    assert_error(tmp_path / "pipe.csv", "not a file but a pipe or a device")
    (tmp_path / "zero.csv").symlink_to("/dev/zero")
    assert_error(tmp_path / "zero.csv", "not a file but a pipe or a device")


@pytest.mark.parametrize("delimiter", [";", "\t"])
def test_decimal_commas(tmp_path, delimiter):
    cells = [(f"{i},25", str(i % 2), "?" if i == 7 else f"-{i % 4},5", "1,2" if i % 2 else "x") for i in range(30)]
    with_commas = "\n".join(delimiter.join(row) for row in [("a", "b", "c", "d"), *cells])
    with_points = "\n".join(
        delimiter.join([row[0].replace(",", "."), row[1], row[2].replace(",", "."), row[3].replace(",", ".")])
        for row in [("a", "b", "c", "d"), *cells]
    )
    expected = as_table(write_file(tmp_path / "points.csv", with_points), missing_also="?")
    found = as_table(write_file(tmp_path / "commas.csv", with_commas), missing_also="?")
    assert found.columns == expected.columns
    np.testing.assert_array_equal(found.codes(), expected.codes())
    assert [column.kind for column in found.columns] == ["number", "integer", "number", "text"]
    # New rows may be written in either way.
    np.testing.assert_array_equal(codes_of(tmp_path / "points.csv", columns=found.columns), found.codes())


def test_lists_of_answers_are_no_decimal_commas(tmp_path):
    answers = ["1,2", "1,2,3", "2,3,4", "1,3,4", "1,2,4"]
    path = write_file(tmp_path / "a.csv", "a;b\n" + "\n".join(f"{answers[i % 5]};{i % 2}" for i in range(20)))
    assert as_table(path).columns[0].categories == tuple(sorted(answers))
    quoted = write_file(tmp_path / "b.csv", "a,b\n" + "\n".join(f'"{i % 4},5",{i % 2}' for i in range(20)))
    table = as_table(quoted)
    assert table.columns[0].categories == ("0,5", "1,5", "2,5", "3,5")
    assert [one.kind for one in table.findings] == ["decimal comma"]


def test_a_header_that_lacks_the_name_of_row_names(tmp_path):
    assert_error(
        write_file(tmp_path / "a.csv", "a,b\nx,1,2\ny,2,1\n"), "has 3 cells where the header has 2", "row.names"
    )


@pytest.mark.parametrize("text", ["=cmd|'/C calc'!A0", "+1+1", "-2+3", "@SUM(1)", "\tx", "\rx", "-", "=1"])
def test_what_a_spreadsheet_would_compute_is_guarded(text):
    assert guarded(text) == "'" + text
    assert unguarded(guarded(text)) == text
    written = io.StringIO(write_columns({"a": [text], "b": [-1.5], text: [1]}), newline="")
    assert list(csv.reader(written)) == [["a", "b", "'" + text], ["'" + text, "-1.5000", "1"]]


@pytest.mark.parametrize("text", ["", "a", "-99", "+1", "-1.5e3", "'x", "1-2", "a=b", "<= -1.282", "(-1.282, -0.8946]"])
def test_numbers_and_other_texts_are_not_guarded(text):
    assert guarded(text) == unguarded(text) == text
