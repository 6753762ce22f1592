"""Whether a table can be learned from: enough rows and columns, and columns with neither one state nor too many."""

from latree.errors import InputError
from latree.table.columns import Column
from latree.table.table import Table

# Most states of a column for learners that look at four columns at a time: the counts of a quartet of columns with n
# states have n^4 cells and unfold to an n^2 x n^2 matrix, so with more states a single test takes minutes.
FEW_STATES = 64
# Most states of a column for learners that look at two columns at a time.
MANY_STATES = 1000
# A column with more than FEW_STATES states needs this many rows per state. With fewer it is most likely an identifier.
_MIN_ROWS_PER_STATE = 20
# Most problems of columns that one message lists.
_LISTED_PROBLEMS = 5


def check_learnable(table: Table, source: str = "the data", most_states: int = MANY_STATES) -> None:
    """Raise if a table has fewer than two rows or columns, or columns with one state or with too many."""
    if table.n_columns < 2:
        raise InputError(
            f"{source}: {table.n_columns} feature(s) (column(s)): {', '.join(map(repr, table.names)) or 'none'}; "
            "a tree needs at least two"
        )
    if table.n_rows == 0:
        raise InputError(f"{source}: no rows (0 sample(s)), only column names: add rows")
    if table.n_rows == 1:
        raise InputError(f"{source}: only one row (1 sample): add rows, nothing can be learned from one")
    problems = [
        f"column {column.name!r} {problem}"
        for column, n_missing in zip(table.columns, table.n_missing, strict=True)
        if (problem := _problem(column, n_missing == table.n_rows, table.total_weight, most_states))
    ]
    if problems:
        more = f"; and {len(problems) - _LISTED_PROBLEMS} more columns" if len(problems) > _LISTED_PROBLEMS else ""
        raise InputError(f"{source}: {'; '.join(problems[:_LISTED_PROBLEMS])}{more}")


def _problem(column: Column, all_missing: bool, n_rows: float, most_states: int) -> str | None:
    """Return why a column cannot be learned from, or None if it can."""
    if all_missing:
        return "has no value at all (every cell is missing): drop it"
    if column.n_states == 1:
        return f"is constant (every cell is {column.categories[0]!r:.60}): drop it"
    if column.n_states > most_states:
        why = f"more than {most_states}"
        why += " (other methods take more)" if most_states < MANY_STATES else ""
    elif column.n_states > FEW_STATES and n_rows < _MIN_ROWS_PER_STATE * column.n_states:
        why = f"which have fewer than {_MIN_ROWS_PER_STATE} rows each"
    else:
        return None
    return (
        f"has {column.n_states} different values, such as {column.categories[0]!r:.40}, {why}: drop it if it is an "
        "identifier or a date, merge rare values, or bin numbers"
    )
