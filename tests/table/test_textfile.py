"""CSV and TSV files of every form."""

import gzip

import pytest

from helpers.tables import MIXED, MIXED_FRAME, assert_error, codes_of, csv_text, write_file
from latree.table import as_table


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
GARBAGE = gzip.compress(b"a,b\n1,2\n", mtime=0)[:12] + b"\xff" * 20


@pytest.mark.parametrize(
    ("name", "content", "culprit"),
    [
        ("short.csv", b"a,b\n1,2\n\n3\n", "data row 2 (line 4) has 1 cells where the header has 2"),
        ("twice.csv", b"a,b,a \n1,2,3\n", "'a' appears twice (columns 1 and 3)"),
        ("unnamed.csv", b"a, ,b\n1,2,3\n", "column 2 has an empty name"),
        ("empty.csv", b"", "the file is empty"),
        ("latin.csv", LATIN, "line 5002 is not UTF-8 text (byte 0xe9)"),
        ("latin.csv.gz", gzip.compress(LATIN), "line 5002 is not UTF-8 text (byte 0xe9)"),
        ("cut.csv.gz", gzip.compress(LATIN[:5000])[:-12], "not a whole gzip file"),
        ("garbage.csv.gz", GARBAGE, "not a whole gzip file"),
        ("quote.csv", b'a,b\n"1,2\n', "not a well-formed table"),
        ("digits.csv", b"a,b\n1,2\n1" + b"0" * 400 + b",3\n", "column 'a'"),
        ("sheet.xyz", b"", "unknown kind of file"),
    ],
    ids=lambda parameter: parameter if isinstance(parameter, str) and "." in parameter else "",
)
def test_bad_files(tmp_path, name, content, culprit):
    assert_error(write_file(tmp_path / name, content), culprit)
