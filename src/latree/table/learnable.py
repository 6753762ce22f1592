"""Whether a table can be learned from: enough rows and columns, and columns with neither one state nor too many."""

from dataclasses import replace

from latree._util.spelling import setting
from latree.errors import InputError
from latree.table.findings import Finding, advice
from latree.table.sources import if_survey
from latree.table.table import Table

# Most states of a column for learners that look at four columns at a time: the counts of a quartet of columns with n
# states have n^4 cells and unfold to an n^2 x n^2 matrix, so with more states a single test takes minutes.
FEW_STATES = 64
# Most states of a column for learners that look at two columns at a time.
MANY_STATES = 1000
# A column with more than FEW_STATES states needs this many rows per state. With fewer it is most likely an identifier.
_MIN_ROWS_PER_STATE = 20
# Kinds of findings that say why a column has many values.
_REASONS = ("identifier", "running number", "date", "mark")


def check_learnable(table: Table, source: str = "the data", most_states: int = MANY_STATES) -> None:
    """Raise if a table has fewer than two rows or columns, or columns with one state or with too many."""
    if table.n_columns < 2:
        raise InputError(
            f"{source}: {table.n_columns} feature(s) (column(s)): {', '.join(map(repr, table.names)) or 'none'}; "
            "a tree needs at least two"
        )
    if table.n_rows == 0:
        raise InputError(f"{source}: no rows, only column names: add rows")
    if table.n_rows == 1:
        raise InputError(f"{source}: only one row (1 sample): add rows, nothing can be learned from one")
    if table.total_weight < 1:
        raise InputError(
            f"{source}: the sum of the weights of all rows is {table.total_weight:g}, less than one row, and weights "
            f"count as rows: {if_survey()}"
        )
    problems = find_problems(table, most_states)
    if problems:
        told = "; ".join(f"{one.subject} {one.what}{_own_remedy(one)}" for one in problems)
        many = [one for one in problems if one.kind == "many values"]
        remedy = "; drop identifiers and dates, merge rare values, or bin numbers" if many else ""
        dropped = advice(one for one in problems if one.option == "drop")
        remedy += f"; to leave such columns out, use {dropped}" if dropped else ""
        raise InputError(f"{source}: {told}{remedy}")


def _own_remedy(problem: Finding) -> str:
    """Return what helps against a problem, if that is not to drop the column."""
    if problem.option == "identifier":
        return f": use {problem.remedy} to name rows by it, or {setting('drop', [problem.column])}"
    if problem.option == "missing_also":
        return f": use {problem.remedy} to make such cells missing"
    return ""


def find_problems(table: Table, most_states: int = MANY_STATES) -> list[Finding]:
    """Return the columns that cannot be learned from, and why; why they have too many values, if that is known."""
    reasons = {one.column: one for one in table.findings if one.kind in _REASONS}
    found = []
    for column, n_missing in zip(table.columns, table.n_missing.tolist(), strict=True):
        if n_missing == table.n_rows:
            found.append(Finding(column.name, "empty", "has no value at all (every cell is missing)", "refused"))
        elif column.n_states == 1:
            what = f"is constant (every cell is {column.categories[0]!r:.60})"
            found.append(Finding(column.name, "constant", what, "refused"))
        elif why := _too_many(column.n_states, table.total_weight, most_states):
            if reason := reasons.get(column.name):
                found.append(replace(reason, action="refused"))
                continue
            what = f"has {column.n_states} different values, such as {column.categories[0]!r:.40}, {why}"
            found.append(Finding(column.name, "many values", what, "refused"))
    return found


def _too_many(n_states: int, n_rows: float, most_states: int) -> str | None:
    """Return why a column has too many states, or None if it has not."""
    if n_states > most_states:
        return f"more than {most_states}" + (" (other methods take more)" if most_states < MANY_STATES else "")
    if n_states > FEW_STATES and n_rows < _MIN_ROWS_PER_STATE * n_states:
        return f"which have fewer than {_MIN_ROWS_PER_STATE} rows each"
    return None
