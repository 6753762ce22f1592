"""Reading files of SPSS and Stata with pyreadstat, and writing scores for SPSS."""

import math
import re
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import date, datetime, time
from pathlib import Path
from types import ModuleType
from typing import Any, Literal, NamedTuple

import numpy as np

from latree._util.arrays import make_frame
from latree.errors import InputError
from latree.table.columns import number_label
from latree.table.formats import FileFormat, Files
from latree.table.formats.foreign import Parcel, packed_columns, read_apart, unpacked_columns
from latree.table.raw import RawColumn, check_names, from_objects, from_texts, from_values, label_of, text_array
from latree.table.sources import LocalSource, memory_source

# Words that SPSS does not take as names of variables.
_RESERVED = {"ALL", "AND", "BY", "EQ", "GE", "GT", "LE", "LT", "NE", "NOT", "OR", "TO", "WITH"}
# The longest name of a variable in SPSS.
_MAX_NAME = 64
# Programs: the kind of file, and how it is called in messages.
_TITLES = {"sav": "an SPSS file", "dta": "a Stata file"}


def stat_source(files: Files) -> LocalSource:
    """Return a source of the rows of a file of SPSS or Stata; the file is read as a whole.

    Values that have labels become these labels, ordered by value. Values that the file declares missing are missing.
    The labels of variables become the descriptions of columns.
    """
    path = files.path
    pyreadstat_module(path)  # raise here if it is not installed
    parcel = read_apart(_parse, path, files.format, what=_TITLES[files.format], remedy="save it again, or as CSV")
    source = memory_source(str(path), unpacked_columns(path, parcel))
    return replace(source, descriptions=parcel.facts["descriptions"])


def _parse(path: Path, kind: Literal["sav", "dta"]) -> Parcel:
    """Read a file, in a child process."""
    cells, facts = _read(path, kind)
    if not all(isinstance(name, str) for name in cells):
        raise InputError(f"{path}: a variable has no name: save the file again, or as CSV")
    check_names(list(cells), str(path))
    columns = [_raw_column(name, values, _value_labels(name, facts)) for name, values in cells.items()]
    described = {name: " ".join(text.split()) for name, text in facts.column_names_to_labels.items() if text}
    return packed_columns(columns, descriptions=described)


def _read(path: Path, kind: Literal["sav", "dta"]) -> tuple[dict[str, Sequence[Any]], Any]:
    """Return the cells of a file by the names of variables, and what it says about these."""
    library = pyreadstat_module(path)
    read = {"sav": library.read_sav, "dta": library.read_dta}[kind]
    # Only with user_missing does the file say which of its labelled values are missing.
    _, facts = read(path, output_format="dict", metadataonly=True, user_missing=True)
    if not facts.column_names:  # with millions of rows, in some damaged files
        raise InputError(f"{path}: has no variables: save it again, or as CSV")
    cells, own = read(path, output_format="dict")
    own.missing_ranges = facts.missing_ranges
    # A date that has a label is read as the number that it is in the file, like the key of the label.
    labels = own.variable_value_labels
    dated = [name for name in cells if name in labels and any(isinstance(cell, date | time) for cell in cells[name])]
    if dated:
        numbers, _ = read(path, output_format="dict", usecols=dated, disable_datetime_conversion=True)
        for name in dated:
            both = zip(cells[name], numbers[name], strict=True)
            cells[name] = [number if number in labels[name] else cell for cell, number in both]
    return dict(cells), own


def pyreadstat_module(path: Path) -> ModuleType:
    """Import and return pyreadstat; raise if it is not installed."""
    try:
        import pyreadstat
    except ModuleNotFoundError:
        raise InputError(f"{path}: SPSS and Stata files need pyreadstat: pip install pyreadstat") from None
    module: ModuleType = pyreadstat
    return module


def _value_labels(name: str, facts: Any) -> dict[Any, str]:
    """Return the label of each value of a variable by value, from low to high; none if its values are numbers.

    A scale is numbers, also if some of its values have labels. So is a variable with fewer than two labels that are not
    those of missing values.
    """
    labels = facts.variable_value_labels.get(name, {})
    is_text = facts.readstat_variable_types.get(name) == "string"
    # Stata's tagged missing values have labels, too; their keys are letters.
    labels = {value: text for value, text in labels.items() if isinstance(value, str) == is_text}
    missing = facts.missing_ranges.get(name, [])
    present = [value for value in labels if not any(span["lo"] <= value <= span["hi"] for span in missing)]
    if facts.variable_measure.get(name) == "scale" or len(present) < 2:
        return {}
    texts = {value: " ".join(str(labels[value]).split()) or label_of(value) for value in sorted(labels)}
    times = Counter(map(number_label, texts.values()))
    return {
        value: f"{text} ({label_of(value)})" if times[number_label(text)] > 1 else text for value, text in texts.items()
    }


def _cell_texts(cells: Sequence[Any], labels: Mapping[Any, str]) -> dict[Any, str]:
    """Return the text of every distinct cell that is not missing: its label if it has one. All texts differ."""
    taken = set(map(number_label, labels.values()))
    texts = {cell: labels.get(cell, label_of(cell)) for cell in set(cells) - {None, ""}}
    for cell in texts.keys() - labels.keys():
        while number_label(texts[cell]) in taken:  # a 0 without a label, and the label "0" of another value
            texts[cell] += f" ({label_of(cell)})"
    return texts


def _raw_column(name: str, cells: Sequence[Any], labels: Mapping[Any, str]) -> RawColumn:
    """Make a raw column of the cells of a variable, which are numbers, texts, dates or None."""
    if not labels and all(cell is None or isinstance(cell, float | int) for cell in cells):
        return from_values(name, np.array([math.nan if cell is None else cell for cell in cells], dtype=np.float64))
    if not labels and not any(isinstance(cell, str) for cell in cells):
        return from_objects(name, cells)
    texts = _cell_texts(cells, labels)
    order = None
    if labels:
        named = {**texts, **labels}
        # Numbers without a label stand between those that have one.
        in_order = all(isinstance(value, float | int) for value in named)
        order = tuple(named[value] for value in sorted(named)) if in_order else ()
    raw = from_texts(name, [texts.get(cell, "") for cell in cells], order)
    if not labels:
        return raw
    value_of = {text: label_of(value) for value, text in texts.items()}
    return replace(raw, behind=text_array([value_of.get(text, "") for text in raw.values]))


class Variable(NamedTuple):
    """A variable of a file to write: a name, which is made fit for SPSS, its label, and one value per row.

    ``value_labels`` are those of its values, and ``decimals`` are shown of numbers. An empty cell is NaN or an empty
    text. ``is_ordered`` says whether values with labels go from low to high.
    """

    name: str
    label: str
    values: Any
    value_labels: Mapping[int, str] | None = None
    decimals: int | None = None
    is_ordered: bool = True

    @property
    def measure(self) -> str:
        """What SPSS calls the level of measurement."""
        if self.value_labels:
            return "ordinal" if self.is_ordered else "nominal"
        return "nominal" if self.decimals is None else "scale"


def sav_content(path: Path, variables: Sequence[Variable]) -> bytes:
    """Return the content of an SPSS file."""
    names = sav_names([variable.name for variable in variables])
    frame = make_frame({name: variable.values for name, variable in zip(names, variables, strict=True)})
    labels = {name: v.value_labels for name, v in zip(names, variables, strict=True) if v.value_labels}
    described = [variable.label for variable in variables]
    formats = {n: f"F10.{v.decimals}" for n, v in zip(names, variables, strict=True) if v.decimals is not None}
    measures = {name: variable.measure for name, variable in zip(names, variables, strict=True)}
    details = {"variable_value_labels": labels, "variable_format": formats, "variable_measure": measures}
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "rows.sav"
        _write(path, file, frame, column_labels=described, **details)
        return file.read_bytes()


def filled_sav(path: Path, source: Path, rows: Sequence[Mapping[str, str]]) -> bytes:
    """Return the content of an SPSS file like another one, in which some missing cells are filled.

    Cells that did not change keep their values, also those that are declared missing. Labels, measures and formats are
    those of the other file.

    Parameters
    ----------
    path : Path
        The file to write, for messages.
    source : Path
        The other file.
    rows : sequence of mapping of str to str
        The cells of each row by the names of the columns, as texts, as :func:`stat_source` reads them.
    """
    pyreadstat_module(path)
    columns = {name: [row[name] for row in rows] for name in rows[0]} if rows else {}
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "rows.sav"
        read_apart(_write_filled, source, str(file), columns, what=_TITLES["sav"], remedy="let --out end in .csv")
        return file.read_bytes()


def _write_filled(source: Path, file: str, filled: Mapping[str, Sequence[str]]) -> Parcel:
    """Write a file with filled cells, in a child process."""
    cells, facts = _read(source, "sav")
    # Dates are numbers here, so that they are written as they are in the file.
    columns, _ = pyreadstat_module(source).read_sav(
        source, output_format="dict", user_missing=True, disable_datetime_conversion=True
    )
    for name, before in cells.items():
        labels = _value_labels(name, facts)
        texts = _cell_texts(before, labels)
        values = {text: value for value, text in labels.items()}
        values |= {texts[cell]: value for cell, value in zip(before, columns[name], strict=True) if cell in texts}
        is_text = facts.readstat_variable_types.get(name) == "string"
        for row, (cell, text) in enumerate(zip(before, filled[name], strict=True)):
            if text != texts.get(cell, ""):
                columns[name][row] = values[text] if text in values else text if is_text else _number(name, text)
    _write(
        source,
        Path(file),
        make_frame(dict(columns)),
        column_labels=facts.column_names_to_labels,
        variable_value_labels=facts.variable_value_labels,
        missing_ranges=facts.missing_ranges,
        variable_measure=facts.variable_measure,
        variable_format=facts.original_variable_types,
    )
    return Parcel(None)


def _number(name: str, text: str) -> float:
    """Return the number that a text spells, or SPSS's number of a date: seconds since 14 October 1582."""
    with suppress(ValueError):
        return float(text)
    with suppress(ValueError):
        return (datetime.fromisoformat(text) - datetime(1582, 10, 14)).total_seconds()
    with suppress(ValueError):
        return (datetime.combine(date.min, time.fromisoformat(text)) - datetime.min).total_seconds()
    raise InputError(f"column {name!r}: {text!r:.60} is neither a number nor a date: let --out end in .csv")


def _write(path: Path, file: Path, frame: Any, **details: Any) -> None:
    """Write a data frame to a file; ``path`` is the one of messages."""
    if isinstance(frame, dict):
        raise InputError(f"{path}: .sav files are written with pandas or polars: pip install pandas")
    pyreadstat_module(path).write_sav(frame, file, **details)


def sav_names(names: Sequence[str]) -> list[str]:
    """Return names that SPSS takes for variables: letters, digits and _, different also if case does not count."""
    taken: set[str] = set()
    result = []
    for name in names:
        base = re.sub(r"[^A-Za-z0-9]+", "_", name).strip("_")
        if not base[:1].isalpha() or base.upper() in _RESERVED:
            base = f"v_{base}"
        candidate, number = base[:_MAX_NAME], 1
        while candidate.upper() in taken:
            number += 1
            candidate = f"{base[: _MAX_NAME - len(str(number)) - 1]}_{number}"
        taken.add(candidate.upper())
        result.append(candidate)
    return result


_WHAT = "see [SPSS and Stata](#spss-and-stata)"
FORMATS = (
    FileFormat("sav", "SPSS", (".sav", ".zsav"), stat_source, _WHAT, "spss"),
    FileFormat("dta", "Stata", (".dta",), stat_source, _WHAT, "spss"),
)
