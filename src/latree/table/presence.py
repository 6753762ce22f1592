"""What the rows of a table are too few for: columns of many states, and columns that are mostly missing."""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from latree._util.spelling import setting
from latree._util.words import listed, quoted
from latree.table.chunks import Block, missing_code
from latree.table.columns import FEW_STATES, Column
from latree.table.findings import Finding, Kind
from latree.table.memory import Rows

# There are few rows if they are fewer than this many per state of the column with the most states.
_MIN_ROWS_PER_STATE = 10

# A column is mostly missing if more than this share of its cells is.
_MAX_MISSING_SHARE = 0.5

# This many columns are named in one finding.
_MAX_NAMED = 3

# With fewer bins a column of numbers can show no dependence.
_MIN_BINS = 2


def find_scarce(columns: Sequence[Column], rows: Rows) -> Iterator[Finding]:
    """Yield what the rows say little about: columns of many states, and columns that are mostly missing."""
    if not columns or not rows.n_rows:
        return
    yield from _few_rows(columns, rows)
    if rows.n_missing.any():
        names = [column.name for column in columns]
        yield from _mostly_missing(names, rows)
        yield from _never_together(names, rows)


def present_together(rows: Rows) -> NDArray[np.int64]:
    """Return for every two columns the number of rows in which both are present, shape (d, d)."""
    return np.asarray(rows.sum(_count_together))


def _count_together(block: Block) -> NDArray[np.int64]:
    present = (block.codes != missing_code(block.codes)).astype(np.float32)
    return np.asarray(present.T @ present, dtype=np.int64)


def _few_rows(columns: Sequence[Column], rows: Rows) -> Iterator[Finding]:
    # A column of more states than these is refused unless it has more rows.
    taken = [column for column in columns if column.n_states <= FEW_STATES]
    column = max(taken, key=lambda one: one.n_states, default=None)
    n_rows = rows.total_weight
    if column is None or n_rows >= _MIN_ROWS_PER_STATE * column.n_states:
        return
    what = "rows" if n_rows == rows.n_rows else "rows (by their weights)"
    n_bins = max(_MIN_BINS, int(n_rows / _MIN_ROWS_PER_STATE))
    advice = f"fewer bins, such as {setting('bins', n_bins)}" if column.cuts is not None else "merge rare categories"
    yield _about(
        column.name,
        "few rows",
        f"{n_rows:g} {what} are few for columns of up to {column.n_states} categories, such as {quoted(column.name)}: "
        f"probabilities of single categories are uncertain. Use more rows, or {advice}",
    )


def _mostly_missing(names: Sequence[str], rows: Rows) -> Iterator[Finding]:
    missing = dict(zip(names, rows.n_missing.tolist(), strict=True))
    mostly = [name for name, n_missing in missing.items() if n_missing > rows.n_rows * _MAX_MISSING_SHARE]
    if not mostly:
        return
    meaning = "few rows say where in the tree"
    if len(mostly) == 1:
        which = f"{quoted(mostly[0])} is missing in {missing[mostly[0]]} of {rows.n_rows} rows: {meaning} it belongs"
    else:
        few = len(mostly) <= _MAX_NAMED
        owners = listed(mostly) if few else f"{len(mostly)} columns, such as {listed(mostly[:_MAX_NAMED])},"
        which = f"{owners} are missing in more than half of the rows: {meaning} they belong"
    yield _about(mostly[0], "mostly missing", f"{which}. {_drop(mostly[0])}")


def _never_together(names: Sequence[str], rows: Rows) -> Iterator[Finding]:
    pairs = np.argwhere(np.triu(present_together(rows) == 0, 1)).tolist()
    if not pairs:
        return
    first = [names[column] for column in pairs[0]]
    which = listed(first) if len(pairs) == 1 else f"{len(pairs)} pairs of columns, such as {listed(first)},"
    meaning = "only other columns say how they depend on each other, and edges that no row shows have a support of 0"
    yield _about(first[1], "never together", f"{which} are never present in the same row: {meaning}. {_drop(first[1])}")


def _about(column: str, kind: Kind, what: str) -> Finding:
    """Return a finding whose words are a whole sentence. No column is dropped for it without being asked for."""
    return Finding(column, kind, what, option=None)


def _drop(name: str) -> str:
    """Return how to leave out a column."""
    return f"To leave a column out, use {setting('drop', [name])}"
