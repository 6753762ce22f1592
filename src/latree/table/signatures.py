"""Files of other kinds under the name of a text file: told by their first bytes."""

import re
import zipfile
from typing import IO, Any

from latree._util.spelling import setting

# How many first bytes are looked at.
N_FIRST = 256

_MARKUP = re.compile(rb"\s*<(!doctype\s+html|html|head|body|\?xml)", re.IGNORECASE)
_JSON = re.compile(rb'\s*(\{\s*["}]|\[\s*[\[{])')
# Bytes that texts do not have, in no encoding that is an extension of ASCII.
_CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")


def other_kind(start: bytes, stream: IO[Any]) -> str | None:
    """Return what a file is that begins with these bytes and what to do with it, or None if it may be a text file."""
    if start.startswith(b"PK\x03\x04"):
        return _kind_of_zip(stream)
    for signature, (title, ending, format) in _TABLES.items():
        if start.startswith(signature):
            return _use(title, ending, format)
    for signature, advice in _OTHERS.items():
        if start.startswith(signature):
            return advice
    if _MARKUP.match(start):
        return "this is a web page or XML, not a table: download the data themselves, or save them as CSV"
    if _JSON.match(start):
        return "this is a JSON file: save the table as CSV"
    return None


def is_binary(start: bytes) -> bool:
    """Return whether these are not the first bytes of a text."""
    return bool(_CONTROL.search(start))


def _use(title: str, ending: str, format: str) -> str:
    return f"this is {title}: name it {ending}, or use {setting('format', format)}"


# The first bytes of files that are read under another name: what they are, the ending of the name, and the format.
_TABLES = {
    b"$FL2@(#)": ("an SPSS file", ".sav", "sav"),
    b"$FL3@(#)": ("an SPSS file", ".zsav", "sav"),
    b"<stata_dta>": ("a Stata file", ".dta", "dta"),
    b"PAR1": ("a Parquet file", ".parquet", "parquet"),
}
# The first bytes of others, and what to do with them.
_OTHERS = {
    b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1": "this is an old Excel file (.xls): save it as .xlsx or as CSV",
    b"\x1f\x8b": "this is a gzipped file: give it a name that ends in .gz, such as data.csv.gz",
    b"%PDF-": "this is a PDF: save the table as CSV",
}


def _kind_of_zip(stream: IO[Any]) -> str:
    """Return what a file is that is a zip archive, as Excel files and matrices of numpy are."""
    try:
        with zipfile.ZipFile(stream) as archive:
            names = archive.namelist()
    except (zipfile.BadZipFile, OSError, EOFError, ValueError):
        names = []
    if any(name.startswith("xl/") for name in names):
        return _use("an Excel file", ".xlsx", "xlsx")
    if names and all(name.endswith(".npy") for name in names):
        return _use("a file of numpy", ".npz", "npz")
    if "content.xml" in names:
        return "this is an OpenDocument file: save it as .xlsx or as CSV"
    return "this is a zip archive: unpack it, and name a file in it"
