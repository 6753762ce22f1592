"""Labels that a user brings for columns, such as sectors of stocks or scales of a questionnaire."""

from collections.abc import Collection
from pathlib import Path

from latree.errors import InputError
from latree.table.textfile import read_lines


def read_labels(path: Path, columns: Collection[str]) -> dict[str, str]:
    """Read a table file whose first two columns are the names of columns and their labels.

    The first line has headings, none of which is a column; further columns are passed over. A column that the file does
    not name, or whose label is empty, has no label. Names of no column are passed over, so that one file serves several
    tables.

    Parameters
    ----------
    path : Path
        A file that :func:`latree.as_table` could read.
    columns : collection of str
        The columns there are; a file that names none of them is refused.

    Returns
    -------
    dict
        From a column's name to its label, in the order of the file.
    """
    header, rows = read_lines(path)
    if len(header) < 2:
        raise InputError(f"{path}: needs two columns, the names of columns and their labels, and has one")
    if header[0].strip() in columns:
        raise InputError(
            f"{path}: its first line labels {header[0].strip()!r:.60}; it needs a line with headings before"
        )
    found: dict[str, str] = {}
    for line, (name, label) in ((line, (cell.strip() for cell in row[:2])) for line, row in rows):
        if name in found:
            raise InputError(f"{path}: line {line} labels {name!r:.60} a second time")
        found[name] = label
    known = set(columns)
    if not found.keys() & known:
        raise InputError(f"{path}: none of its names, such as {next(iter(found), '')!r:.60}, is one of the columns")
    return {name: label for name, label in found.items() if label and name in known}
