"""Reading files of SPSS and Stata with pyreadstat, and writing scores for SPSS."""

import math
import re
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any, Literal, NamedTuple

import numpy as np

from latree._util.files import readable
from latree._util.frames import make_frame
from latree.errors import InputError
from latree.table.raw import RawColumn, check_names, from_texts, from_values, label_of
from latree.table.sources import LocalSource, memory_source

# Words that SPSS does not take as names of variables.
_RESERVED = {"ALL", "AND", "BY", "EQ", "GE", "GT", "LE", "LT", "NE", "NOT", "OR", "TO", "WITH"}
# The longest name of a variable in SPSS.
_MAX_NAME = 64
# Programs: the kind of file, and how it is called in messages.
_TITLES = {"sav": "an SPSS file", "dta": "a Stata file"}


def stat_source(path: Path, kind: Literal["sav", "dta"]) -> LocalSource:
    """Return a source of the rows of a file of SPSS or Stata; the file is read as a whole.

    Values that have labels become these labels, ordered by value. Values that the file declares missing are missing.
    The labels of variables become the descriptions of columns.
    """
    cells, facts = _read(path, kind)
    check_names(list(cells), str(path))
    columns = [_raw_column(name, values, _value_labels(name, facts)) for name, values in cells.items()]
    described = {name: " ".join(text.split()) for name, text in facts.column_names_to_labels.items() if text}
    return replace(memory_source(str(path), columns), descriptions=described)


def _read(path: Path, kind: Literal["sav", "dta"]) -> tuple[dict[str, Sequence[Any]], Any]:
    """Read a file; whatever is wrong with it becomes an InputError of one line."""
    library = pyreadstat_module(path)
    read = {"sav": library.read_sav, "dta": library.read_dta}[kind]
    with readable(path):
        path.open("rb").close()
    try:
        # Only with user_missing does the file say which of its labelled values are missing.
        _, facts = read(path, metadataonly=True, user_missing=True)
        cells, own = read(path, output_format="dict")
        own.missing_ranges = facts.missing_ranges
    except Exception as error:  # damaged files make the library raise nearly anything
        reason = " ".join(str(error).split()) or type(error).__name__
        raise InputError(
            f"{path}: not {_TITLES[kind]} that can be read ({reason:.120}): save it again, or as CSV"
        ) from None
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
    times = Counter(texts.values())
    return {value: f"{text} ({label_of(value)})" if times[text] > 1 else text for value, text in texts.items()}


def _raw_column(name: str, cells: Sequence[Any], labels: Mapping[Any, str]) -> RawColumn:
    """Make a raw column of the cells of a variable, which are numbers, texts, dates or None."""
    if labels:
        values = set(cells) - {None, ""}
        is_number = not any(isinstance(value, str) for value in labels)
        # Values without a label stand between those that have one.
        order = [labels.get(value, label_of(value)) for value in sorted({*labels, *values})] if is_number else ()
        texts = ["" if cell is None else labels.get(cell, label_of(cell)) for cell in cells]
        return from_texts(name, texts, tuple(dict.fromkeys(order)))
    if all(cell is None or isinstance(cell, float | int) for cell in cells):
        return from_values(name, np.array([math.nan if cell is None else cell for cell in cells], dtype=np.float64))
    return from_texts(name, ["" if cell is None else label_of(cell) for cell in cells])


class Variable(NamedTuple):
    """A variable of a file to write: a name, which is made fit for SPSS, its label, and one value per row.

    ``value_labels`` are those of its values, and ``decimals`` are shown of numbers. An empty cell is NaN or an empty
    text.
    """

    name: str
    label: str
    values: Any
    value_labels: Mapping[int, str] | None = None
    decimals: int | None = None


def sav_content(path: Path, variables: Sequence[Variable]) -> bytes:
    """Return the content of an SPSS file."""
    names = sav_names([variable.name for variable in variables])
    frame = make_frame({name: variable.values for name, variable in zip(names, variables, strict=True)})
    labels = {name: v.value_labels for name, v in zip(names, variables, strict=True) if v.value_labels}
    described = [variable.label for variable in variables]
    formats = {n: f"F10.{v.decimals}" for n, v in zip(names, variables, strict=True) if v.decimals is not None}
    return _written(path, frame, column_labels=described, variable_value_labels=labels, variable_format=formats)


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
    cells, facts = _read(source, "sav")
    columns, _ = pyreadstat_module(path).read_sav(source, output_format="dict", user_missing=True)
    for name, before in cells.items():
        labels = _value_labels(name, facts)
        values = {text: value for value, text in labels.items()}
        is_text = facts.readstat_variable_types.get(name) == "string"
        raw = _raw_column(name, before, labels)
        texts = raw.values.tolist() if raw.is_text else raw.labels()
        for row, code in enumerate(raw.codes.tolist()):
            if (text := rows[row][name]) != texts[code]:
                columns[name][row] = values[text] if text in values else text if is_text else float(text)
    return _written(
        path,
        make_frame(dict(columns)),
        column_labels=facts.column_names_to_labels,
        variable_value_labels=facts.variable_value_labels,
        missing_ranges=facts.missing_ranges,
        variable_measure=facts.variable_measure,
        variable_format=facts.original_variable_types,
    )


def _written(path: Path, frame: Any, **details: Any) -> bytes:
    if isinstance(frame, dict):
        raise InputError(f"{path}: .sav files are written with pandas or polars: pip install pandas")
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "rows.sav"
        pyreadstat_module(path).write_sav(frame, file, **details)
        return file.read_bytes()


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
