"""Files of other kinds under the name of a text file."""

import gzip
import io
import pickle
import re
import zipfile

import numpy as np
import openpyxl
import pandas as pd
import pyreadstat
import pytest

from helpers.tables import assert_error, write_file
from latree.table import as_table
from latree.table.formats.text import is_binary, other_kind
from latree.table.opening import FORMATS, find_files

FRAME = pd.DataFrame({"a": [1, 2, 1], "b": [1, 1, 2]})


def write_excel(path):
    book = openpyxl.Workbook()
    for row in [["a", "b"], [1, 1], [2, 1], [1, 2]]:
        book.active.append(row)
    book.save(path)


@pytest.mark.parametrize(
    ("write", "format"),
    [
        (write_excel, "xlsx"),
        (lambda path: pyreadstat.write_sav(FRAME, path), "sav"),
        (lambda path: pyreadstat.write_sav(FRAME, path, compress=True), "sav"),
        (lambda path: pyreadstat.write_dta(FRAME, path), "dta"),
        (FRAME.to_parquet, "parquet"),
    ],
    ids=["xlsx", "sav", "zsav", "dta", "parquet"],
)
def test_the_advice_for_formats_that_are_read_helps(tmp_path, write, format):
    path = tmp_path / "table.csv"
    write(path)
    message = assert_error(path, "this is a", f"or use format='{format}'")
    assert as_table(path, format=format).n_rows == 3
    ending = re.search(r"name it (\.\w+),", message)[1]
    assert find_files(path.with_suffix(ending))[0].name == format


def test_names_of_formats_are_those_of_files(tmp_path):
    buffer = io.BytesIO()
    np.savez(buffer, data=np.ones(3))
    message = assert_error(write_file(tmp_path / "a.csv", buffer.getvalue()), "this is a file of numpy: name it .npz")
    assert message.endswith("format='npz'")
    assert "npz" in {format.name for format in FORMATS}


def zipped(name):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr(name, "a,b\n1,2\n")
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("content", "culprit"),
    [
        (gzip.compress(b"a,b\n1,2\n"), "this is a gzipped file: give it a name that ends in .gz"),
        (zipped("a.csv"), "this is a zip archive: unpack it"),
        (zipped("a.csv")[:40], "this is a zip archive: unpack it"),
        (zipped("content.xml"), "this is an OpenDocument file"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600), "this is an old Excel file (.xls)"),
        (b'[\n {"a": 1, "b": 2}]', "this is a JSON file: save the table as CSV"),
        (b'{"a": [1, 2]}', "this is a JSON file"),
        (b"<!DOCTYPE html>\n<html><body>Log in</body></html>", "this is a web page"),
        (b"\n<html><body>Log in, please</body></html>", "this is a web page"),
        (b"%PDF-1.7\n", "this is a PDF"),
        (pickle.dumps(FRAME), "is not a text file: save the table as CSV"),
    ],
    ids=lambda parameter: parameter if isinstance(parameter, str) else "",
)
def test_other_files(tmp_path, content, culprit):
    assert_error(write_file(tmp_path / "a.csv", content), culprit)


@pytest.mark.parametrize("text", ["a,b\n", "[a],{b}\n", "{x},y\n", "<5,>5\n", "PAR,x\n", "%,x\n", '"a";"b"\r\n', ""])
def test_texts(text):
    assert other_kind(text.encode(), io.BytesIO(text.encode())) is None
    assert not is_binary(text.encode("latin-1"))
