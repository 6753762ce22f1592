"""What a table is taken for before anything is learned from it, and whether it can be learned from."""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from textwrap import wrap
from typing import Any

from latree._util.arrays import make_frame
from latree._util.words import in_shell, one_line, plural, setting, shortened
from latree.errors import FitWarning, InputError
from latree.table.columns import FEW_STATES as FEW_STATES
from latree.table.columns import Column
from latree.table.findings import Finding, advice, doubts_about_weights, findings_of, findings_of_file, sentences
from latree.table.reading import Reading, as_reading, errors_naming, open_data
from latree.table.sources import Encoder, if_survey
from latree.table.table import Table

# Most columns of the table of columns in words, and the widest names in it.
_MAX_LINES = 60
_MAX_NAME = 24
# Labels of states that are listed for a column.
_MAX_LABELS = 12
_WIDTH = 80
_INDENTED: Mapping[str, Any] = {"initial_indent": "  ", "subsequent_indent": "      ", "break_long_words": False}


@dataclass(frozen=True)
class ColumnFacts:
    """What a column is taken for.

    Attributes
    ----------
    column : str
        Its name.
    taken_for : str
        In words: "whole numbers", "number, 10 bins", "texts", "texts in order", "left out: constant" and so on.
    states : int or None
        The number of states; None for a column that is not learned from.
    ordered : bool or None
        Whether the states are in an order from low to high.
    missing : int
        The number of missing cells.
    labels : tuple of str
        The labels of the states in their order; of many states the first ones.
    """

    column: str
    taken_for: str
    states: int | None
    ordered: bool | None
    missing: int
    labels: tuple[str, ...] = ()


def column_facts(table: Table) -> list[ColumnFacts]:
    """Return what each column of a table is taken for; columns that were left out come last."""
    facts = [facts_of_column(column, n) for column, n in zip(table.columns, table.n_missing.tolist(), strict=True)]
    left_out = [one for one in table.findings if one.action == "left out"]
    return [*facts, *(_not_learned(one, table.n_rows if one.kind == "empty" else 0) for one in left_out)]


def facts_of_column(column: Column, n_missing: int) -> ColumnFacts:
    """Return what a column that is learned from is taken for."""
    if column.cuts is not None:
        times = {"datetime": "date and time", "instant": "date and time"}
        what = "date" if column.unit == "day" and column.kind in times else times.get(column.kind, column.kind)
        what = "number" if what == "integer" else what
        taken_for = f"{what}, {column.n_states} bins"
    elif column.kind == "text":
        taken_for = "texts in order" if column.ordered else "texts"
    else:
        taken_for = {"boolean": "true or false", "integer": "whole numbers", "number": "numbers"}[column.kind]
    labels = column.categories[:_MAX_LABELS]
    return ColumnFacts(column.name, taken_for, column.n_states, column.ordered, n_missing, labels)


def _not_learned(finding: Finding, n_missing: int) -> ColumnFacts:
    return ColumnFacts(finding.column, f"{finding.action}: {finding.kind}", None, None, n_missing)


@dataclass(frozen=True)
class Check:
    """What :func:`check` finds: print it, or use its parts.

    Attributes
    ----------
    source : str
        Name of the data.
    n_rows : int
        Number of rows.
    columns : tuple of ColumnFacts
        What each column is taken for, in the order of the data.
    findings : tuple of Finding
        What is odd: columns that are left out or would be refused, identifiers, dates, codes for missing cells,
        duplicates, rows like their neighbours; each with the option that helps.
    weights : mapping or None
        What the weights of the rows are: ``column``, ``are``, ``effective_rows``, and the ``meaning`` in words.

    Examples
    --------
    >>> import latree
    >>> found = latree.check([[1, "x"], [2, "x"], [1, "x"]])
    >>> [(one.column, one.taken_for) for one in found.columns]
    [('x0', 'whole numbers'), ('x1', 'left out: constant')]
    """

    source: str
    n_rows: int
    columns: tuple[ColumnFacts, ...]
    findings: tuple[Finding, ...]
    weights: Mapping[str, Any] | None = None

    @property
    def advice(self) -> str:
        """The settings that follow from what is odd, such as ``drop=['id'], missing_also=[-99]``.

        :class:`latree.LatentTree` and :func:`latree.as_table` take them. On the command line, they are options.
        """
        return advice(self.findings)

    @property
    def n_remaining(self) -> int:
        """The number of columns to learn from if the advice is followed.

        Examples
        --------
        >>> import latree
        >>> latree.check([[1, "x"], [2, "x"], [1, "x"]]).n_remaining
        1
        """
        gone = {one.column for one in self.findings if one.option in ("drop", "identifier")}
        return sum(one.states is not None and one.column not in gone for one in self.columns)

    def to_frame(self, backend: str | None = None) -> Any:
        """Return the facts as a data frame with one row per column of the data.

        Parameters
        ----------
        backend : str, optional
            The library of the frame: "pandas", "polars" or "pyarrow"; by default the first that is installed.

        Examples
        --------
        >>> import latree
        >>> latree.check([[1, "a"], [2, "b"], [1, None]]).to_frame("pandas")[["column", "states", "missing"]]
          column  states  missing
        0     x0       2        0
        1     x1       2        1
        """
        rows = [{**asdict(one), "labels": ", ".join(one.labels), "odd": self._odd(one.column)} for one in self.columns]
        names = ("column", "taken_for", "states", "ordered", "missing", "labels", "odd")
        return make_frame({name: [row[name] for row in rows] for name in names}, backend)

    def _odd(self, column: str) -> str:
        return "; ".join(
            one.what for one in self.findings if one.column == column and one.kind not in ("file", "dependent rows")
        )

    def to_dict(self) -> dict[str, Any]:
        """Return all facts as plain data for JSON.

        Examples
        --------
        >>> import latree
        >>> sorted(latree.check([[1, "a"], [2, "b"]]).to_dict())
        ['advice', 'columns', 'findings', 'n_rows', 'source', 'weights']
        """
        columns = [{**asdict(one), "labels": list(one.labels)} for one in self.columns]
        findings = [one.to_dict() for one in self.findings]
        facts = {"source": self.source, "n_rows": self.n_rows, "columns": columns, "findings": findings}
        return facts | {"advice": self.advice, "weights": None if self.weights is None else dict(self.weights)}

    def __str__(self) -> str:
        """Return the facts in words, for a terminal of 80 columns."""
        refused = {one.column for one in self.findings if one.action == "refused"}
        n_learned = sum(one.states is not None and one.column not in refused for one in self.columns)
        lines = [
            f"{self.source}: {plural(self.n_rows, 'row')}, {plural(len(self.columns), 'column')}, "
            f"{'all' if n_learned == len(self.columns) else n_learned} of them to learn from",
            "",
            *self._table(),
        ]
        if self.weights is not None:
            lines += ["", *wrap(self.weights["meaning"], _WIDTH, break_on_hyphens=False)]
        titles = (("A fit leaves out", "left out"), ("A fit would refuse", "refused"), ("Looks odd", "kept"))
        for title, action in titles:
            if found := [one for one in self.findings if one.action == action]:
                lines += ["", f"{title}:"]
                for sentence in sentences(found):
                    lines += wrap(sentence, _WIDTH, initial_indent="- ", subsequent_indent="  ", break_on_hyphens=False)
        if not self.findings:
            lines += ["", "Nothing looks odd."]
        elif self.advice and not in_shell():  # commands say it for themselves, with the name of the file
            rows, settings = "...", self.advice
            if self.weights is not None:
                settings += f", weights_are={self.weights['are']!r}"
                rows += f", sample_weight={self.weights['column'] or '...'!r}"
            command = f"latree.LatentTree(reading=dict({settings})).fit({rows})"
            lines += ["", "To fit a model, with what helps:", *wrap(command, _WIDTH, **_INDENTED)]
        return "\n".join(lines)

    def _table(self) -> list[str]:
        shown = self.columns[:_MAX_LINES]
        names = [shortened(one.column, _MAX_NAME) if one.column else "(no name)" for one in shown]
        width = max([len("column"), *map(len, names)])
        kinds = max([len("taken for"), *(len(one.taken_for) for one in shown)])
        lines = [f"{'column':{width}}  {'taken for':{kinds}}  states  missing  values".rstrip()]
        for name, one in zip(names, shown, strict=True):
            n_states = "-" if one.states is None else str(one.states)
            start = f"{name:{width}}  {one.taken_for:{kinds}}  {n_states:>6}  {one.missing:>7}"
            lines.append(f"{start}  {labels_in_words(one, _WIDTH - len(start) - 2)}".rstrip())
        if len(self.columns) > len(shown):
            lists_all = "--json" if in_shell() else "to_frame()"
            lines.append(f"and {plural(len(self.columns) - len(shown), 'more column')} ({lists_all} lists all)")
        return lines


def labels_in_words(facts: ColumnFacts, width: int) -> str:
    """Return the labels of the states in their order, as far as there is room; < stands between ordered ones."""
    between = " < " if facts.ordered and not facts.taken_for.endswith(" bins") else ", "
    if not facts.labels:
        return ""
    text = ""
    for place, label in enumerate(map(one_line, facts.labels)):
        longer = text + (between if text else "") + label
        rest = "" if place + 1 == facts.states else f"{between.rstrip()} ..."
        if len(longer + rest) > width:
            return f"{text}{between.rstrip()} ..." if text else shortened(label, max(width, 1))
        text = longer
    return text if len(facts.labels) == facts.states else f"{text}{between.rstrip()} ..."


def check(
    data: Any,
    reading: Reading | Mapping[str, Any] | None = None,
    *,
    names: Sequence[str] | None = None,
    weights: Any = None,
    client: Any = None,
    **options: Any,
) -> Check:
    """Return what each column of a table would be taken for, what is odd about it, and what helps.

    Use it before a fit: it reads the data as a fit does, with the same arguments, and learns nothing. It refuses no
    column, but says which ones a fit would leave out or refuse.

    Parameters
    ----------
    data : data frame, 2-D array, or path of a file
        See :func:`latree.as_table`, which explains all arguments.

    Returns
    -------
    Check
        Print it, or use its ``columns``, ``findings``, ``to_frame()`` and ``to_dict()``.

    Examples
    --------
    >>> import latree
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"age": [31, 24, 999, 45, 24] * 9, "answer": list("ynyyn") * 9, "country": "LU"})
    >>> print(latree.check(frame))
    the data frame: 45 rows, 3 columns, 2 of them to learn from
    <BLANKLINE>
    column   taken for           states  missing  values
    age      whole numbers            4        0  24 < 31 < 45 < 999
    answer   texts                    2        0  n, y
    country  left out: constant       -        0
    <BLANKLINE>
    A fit leaves out:
    - A column that says nothing is left out: 'country' (every cell is 'LU').
    <BLANKLINE>
    Looks odd:
    - 'age' has 999 in 9 rows, far from its other values (24 to 45), as codes for
      missing cells are. To make such cells missing, use missing_also=[999].
    <BLANKLINE>
    To fit a model, with what helps:
      latree.LatentTree(reading=dict(missing_also=[999])).fit(...)
    """
    if isinstance(data, Table):
        raise InputError("a Table is encoded already: pass the original data to check them")
    reading = as_reading(reading, **options)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FitWarning)  # about how a file was read: it is among the findings
        source = open_data(data, names, weights, reading, client)
    wanted = reading.wanted(source)
    with errors_naming(source.where):
        learned = reading.learn_columns(source, wanted)
        about_file = [*findings_of_file(source.remarks), *doubts_about_weights(source.weights)]
        findings = [*about_file, *findings_of(learned, reading.identifier)]
        not_learned = {one.column: one for one in findings if one.action != "kept"}
        columns = [one.column for one in learned if one.column is not None and one.summary.name not in not_learned]
        kept = [column.name for column in columns]
        rows = source.store(Encoder(tuple(columns), tuple(kept), "missing"), kept)
        n_rows = source.n_rows()
    table = Table(tuple(columns), rows, tuple(findings), weights_are=reading.weights_are)
    facts = {one.column: one for one in column_facts(table) if one.states is not None}
    for one in learned:
        if found := not_learned.get(one.summary.name):
            facts[found.column] = _not_learned(found, n_rows - one.summary.n_present)
    for name in source.names:
        if name not in facts:
            is_identifier, is_dropped = name == reading.identifier, name in reading.drop
            role = "names of the rows" if is_identifier else "dropped" if is_dropped else "not kept"
            facts[name] = ColumnFacts(name, role, None, None, 0)
    everything = _with_problems(table) if columns else findings
    for found in everything:
        if found.action == "refused":
            facts[found.column] = replace(facts[found.column], taken_for=f"refused: {found.kind}", ordered=None)
    found_weights = None if source.weights is None else source.weights.facts
    return Check(source.where, n_rows, tuple(facts[name] for name in source.names), tuple(everything), found_weights)


def _with_problems(table: Table) -> list[Finding]:
    """Return all that is odd about a table; what is a reason to refuse a column says so."""
    problems = {one.column: one for one in find_problems(table)}
    found = []
    for one in table.oddities:
        if one.column in problems and problems[one.column].kind == one.kind:
            problem = problems.pop(one.column)
            # Without its marks, a column of numbers is not refused.
            is_mark = one.kind == "mark"
            found.append(replace(one, what=f"{one.what}, too many to learn from") if is_mark else problem)
        else:
            found.append(one)
    return [*found, *problems.values()]


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
