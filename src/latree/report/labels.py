"""Labels that a user brings for the columns: sectors, scales, chapters."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from latree.errors import InputError
from latree.table.textfile import read_cells


def read_labels(path: Path, names: Sequence[str]) -> list[str]:
    """Read each column's label from a file whose first two columns are a name and its label; "" where there is none."""
    header, rows = read_cells(path)
    if len(header) < 2:
        raise InputError(f"{path}: needs two columns, the name of a column and its label")
    twice = [name for name, count in Counter(row[0] for row in rows).items() if count > 1]
    if twice:
        raise InputError(f"{path}: {twice[0]!r:.60} has more than one line")
    known = {row[0]: row[1] for row in rows}
    if not known.keys() & set(names):
        raise InputError(f"{path}: none of its names, such as {next(iter(known), '')!r:.60}, is a column of the data")
    return [known.get(name, "") for name in names]


def compare_labels(labels: Sequence[str], groups: Sequence[Sequence[int]]) -> dict[str, Any]:
    """Tell how well groups of columns match the columns' labels.

    Parameters
    ----------
    labels : sequence of str
        Of each column; "" for none.
    groups : sequence of sequences of int
        Columns.

    Returns
    -------
    dict
        ``names`` of the labels, the commonest first; ``of`` each column, the number of its label or -1; ``groups``, for
        each the label that most of its columns have, how many these are, and how many have any; ``purity``, the share
        of labelled columns that have their group's commonest label.
    """
    counts = Counter(label for label in labels if label)
    names = sorted(counts, key=lambda label: (-counts[label], label))
    number = {label: place for place, label in enumerate(names)}
    found, matching = [], 0
    for columns in groups:
        inside = Counter(labels[column] for column in columns if labels[column])
        common = min(inside, key=lambda label: (-inside[label], number[label]), default=None)
        found.append({"label": common, "count": inside[common] if common else 0, "labelled": inside.total()})
        matching += inside[common] if common else 0
    return {
        "names": names,
        "of": [number.get(label, -1) for label in labels],
        "groups": found,
        "purity": round(matching / counts.total(), 6) if counts else None,
    }
