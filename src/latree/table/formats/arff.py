"""Reading ARFF files, the format of Weka."""

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from latree.errors import InputError
from latree.table.formats import FileFormat, Files
from latree.table.formats.text import bad_line, text_lines
from latree.table.raw import check_names, from_texts, parse_number
from latree.table.sources import LocalSource, memory_source

_ATTRIBUTE = re.compile(r"@attribute\s+('[^']*'|\"[^\"]*\"|[^\s{]+)\s*(.+)", re.IGNORECASE)
# A cell, with the comma behind it or the end of the line: in single or double quotes, or without.
_CELL = re.compile(r"""\s*+(?:'((?:[^'\\]|\\.|'')*)'\s*|"((?:[^"\\]|\\.)*)"\s*|([^,'"]*))(?:,|$)""")
# A letter behind a backslash, or a quote that is written twice.
_ESCAPED = re.compile(r"\\(.)|''")
_NUMBERS = ("numeric", "real", "integer")
_TEXTS = ("string", "date")


class _Attribute(NamedTuple):
    """A column: its name, and its values if it is nominal, or whether it holds numbers."""

    name: str
    values: tuple[str, ...] | None
    is_number: bool


def arff_source(files: Files) -> LocalSource:
    """Return a source of the rows of an ARFF file; nominal values are ordered as the file lists them."""
    path = files.path
    lines = ((number, line.strip()) for number, line in enumerate(text_lines(path), start=1))
    filled = ((number, text) for number, text in lines if text and not text.startswith("%"))
    attributes = _attributes(path, filled)
    check_names([attribute.name for attribute in attributes], str(path))
    rows = list(_rows(path, filled, attributes))
    columns = zip(*rows, strict=True) if rows else ((),) * len(attributes)
    both = zip(attributes, columns, strict=True)
    return memory_source(str(path), [from_texts(one.name, cells, one.values) for one, cells in both])


def _attributes(path: Path, lines: Iterator[tuple[int, str]]) -> list[_Attribute]:
    """Read the header, up to the line @data."""
    attributes: list[_Attribute] = []
    for number, text in lines:
        word = text.split(maxsplit=1)[0].lower()
        if word == "@data":
            if not attributes:
                raise bad_line(path, number, "no attributes before @data: add lines like @attribute name numeric")
            return attributes
        if word == "@attribute":
            attributes.append(_attribute(path, number, text))
        elif word != "@relation":
            raise bad_line(path, number, f"{text!r:.40} in the header: begin the rows with a line @data")
    raise InputError(f"{path}: no line @data: add one before the rows, or name another format")


def _attribute(path: Path, number: int, text: str) -> _Attribute:
    found = _ATTRIBUTE.fullmatch(text)
    if found is None:
        raise bad_line(path, number, f"{text!r:.40} is not an attribute: write @attribute name type")
    name, kind = found[1].strip("'\""), found[2].strip()
    if kind.startswith("{") and kind.endswith("}"):
        return _Attribute(name, tuple(dict.fromkeys(_cells(path, number, kind[1:-1]))), False)
    word = kind.split(maxsplit=1)[0].lower()
    if word not in (*_NUMBERS, *_TEXTS):
        remedy = f"use {', '.join((*_NUMBERS, *_TEXTS))} or a list in braces"
        raise bad_line(path, number, f"{name!r:.60} is of type {word!r:.40}: {remedy}")
    return _Attribute(name, None, word in _NUMBERS)


def _rows(path: Path, lines: Iterable[tuple[int, str]], attributes: Sequence[_Attribute]) -> Iterator[list[str]]:
    """Yield the cells of each row; a missing one is empty."""
    for number, text in lines:
        if text.startswith("{"):
            raise bad_line(path, number, "a sparse row in braces: save the file with all cells of every row")
        cells = ["" if cell == "?" else cell for cell in _cells(path, number, text)]
        if len(cells) != len(attributes):
            problem = f"{len(cells)} cells for {len(attributes)} attributes: check its quotes and commas"
            raise bad_line(path, number, problem)
        for attribute, cell in zip(attributes, cells, strict=True):
            if not cell:
                continue
            if attribute.values is not None and cell not in attribute.values:
                problem = f"{cell!r:.40} is not a value of {attribute.name!r:.60}"
                raise bad_line(path, number, f"{problem}: correct it, or add it to the attribute")
            if attribute.is_number and parse_number(cell) is None:
                raise bad_line(path, number, f"{cell!r:.40} of {attribute.name!r:.60} is not a number: correct it")
        yield cells


def _cells(path: Path, number: int, text: str) -> list[str]:
    """Divide a line at commas; single or double quotes hold texts together."""
    cells = []
    place = 0
    while place <= len(text):
        found = _CELL.match(text, place)
        if found is None:
            raise bad_line(path, number, f"{text[place:]!r:.40} is not a cell: check its quotes and commas")
        single, double, plain = found.groups()
        quoted = double if single is None else single
        cells.append(plain.strip() if quoted is None else _ESCAPED.sub(lambda sign: sign[1] or "'", quoted))
        place = found.end() if found[0].endswith(",") else len(text) + 1
    return cells


_WHAT = "nominal values are ordered as the file lists them"
FORMATS = (FileFormat("arff", "ARFF", (".arff",), arff_source, _WHAT, gzipped=True),)
