"""A small table as CSV text, and ways to change and read it."""

import csv
import io
from pathlib import Path

import numpy as np

HEADER = ["a", "b", "c", "colour", "size"]


def rows_of_codes(n_rows, n_columns, n_states):
    """Draw columns that follow one hidden variable."""
    rng = np.random.default_rng(0)
    hidden, noise = (rng.integers(0, n_states, (n_rows, n)) for n in (1, n_columns))
    return np.where(rng.random((n_rows, n_columns)) < 0.7, hidden, noise)


ROWS = [
    [*map(str, row[:3]), ("red", "green", "blue")[row[3]], str(row[4] + i / 100)]
    for i, row in enumerate(rows_of_codes(60, 5, 3))
]


def table(rows=ROWS, header=HEADER, **added):
    """Return a CSV text; an added column has one cell for all rows, or a list of cells."""
    cells = [[cell] * len(rows) if isinstance(cell, str) else cell for cell in added.values()]
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerows([[*header, *added], *([*row, *extra] for row, *extra in zip(rows, *cells, strict=True))])
    return stream.getvalue()


def with_cell(name, cell, rows=(1,)):
    j = HEADER.index(name)
    return table([[*row[:j], cell, *row[j + 1 :]] if i in rows else row for i, row in enumerate(ROWS)])


def columns(*names):
    return table([[row[HEADER.index(name)] for name in names] for row in ROWS], names)


def contents():
    return {str(path): path.read_bytes() if path.is_file() else None for path in sorted(Path().rglob("*"))}


def parse(text):
    return list(csv.reader(io.StringIO(text)))
