"""What is odd about columns and rows, and what to do about it.

Most is found in the summary of a column (:mod:`latree.table.summary`), before its cells are encoded.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from hashlib import sha256
from itertools import islice
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from latree._util.words import listed, plural, quoted, setting, settings_in_a_row
from latree.table.binning import MIN_ROWS_PER_BIN
from latree.table.columns import FEW_STATES, Column
from latree.table.discretize import LearnedColumn
from latree.table.raw import label_of, parse_number
from latree.table.rows import Block, Rows, missing_code
from latree.table.sources import RowWeights
from latree.table.summary import ColumnSummary

Action: TypeAlias = Literal["left out", "refused", "kept"]

# Names that pandas gives to an index without a name: in a file, and in a frame that is read from such a file.
INDEX_NAMES = ("", "Unnamed: 0")
# Texts that all differ, and numbers without a gap, are identifiers in tables of at least this many rows.
_MIN_ROWS = 20
# Other whole numbers that all differ are identifiers in tables of at least this many rows: few measured ones may differ
# by chance.
_MIN_ROWS_WITH_GAPS = 100
# An index that starts again in every file has more values than this.
_MIN_INDEX = 20
# Texts of a column that are looked at.
_MAX_TEXTS = 1000
# A column of numbers has at most this many marks, such as "?", that are no numbers.
_MAX_MARKS = 3
# If marks are words, such as "none", it has at least this many numbers for each.
_MIN_NUMBERS_PER_WORD = 3
# Numbers like 20240131 are dates if there are at least this many.
_MIN_DATES = 5
# Codes for missing cells are above or below the other values by more than this many times the range of these.
_MIN_GAP = 1
# A negative number is odd beside at least so many others, none of them negative.
_MIN_POSITIVE = 10
# Rows whose mean weight is as large as this are doubtful as counts, unless somebody says that they are counts.
_LARGE_MEAN_WEIGHT = 10
# Most columns that one sentence names.
_MAX_NAMED = 20
# Most names of columns of which the same is said.
_MAX_ALIKE = 6
# Most facts of a kind that one sentence tells; of other columns it says that they are alike.
_MAX_FACTS = 3
# Kinds that are about the table as a whole; their words are whole sentences.
ABOUT_TABLE = ("file", "few rows", "mostly missing", "never together", "dependent rows")

_DATE = re.compile(
    r"(\d{4}[-/.]\d{1,2}([-/.]\d{1,2})?|\d{1,2}[-/.]\d{1,2}[-/.](\d{4}|\d{2}))([ T]\d{1,2}:\d{2}(:\d{2}(\.\d+)?)?)?"
    r" ?(Z|UTC|[+-]\d{2}:?\d{2})?"
)
_CODE = re.compile(r"-?(9+[789]?|8+|7+)|-[1-9]")
_WHOLE = re.compile(r"-?[1-9]\d*")
_NEGATIVE_CODE = re.compile(r"-(9+[789]|88+|77+)")
_DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d+")


@dataclass(frozen=True)
class Finding:
    """Something odd about a column.

    Attributes
    ----------
    column : str
        Name of the column.
    kind : str
        What it is: "empty", "constant", "index", "unreadable", "many values", "identifier", "running number", "date",
        "code" (a number that means missing), "mark" (a text among numbers), "decimal comma" or "duplicate". "file"
        says how a file was read; "weights" is about those of the rows; "few rows", "mostly missing" and "never
        together" say what rows are too few for; "dependent rows" are like their neighbours.
    what : str
        The same in words; the name of the column is the subject of the sentence, or there is a whole one.
    action : {"left out", "refused", "kept"}
        What happens to the column.
    option : str or None
        The argument of :func:`latree.as_table` that helps: "drop", "identifier" or "missing_also".
    values : tuple of str
        What to pass to it; the name of the column if empty.
    n_rows : int or None
        For a code: the number of rows that have it.

    Examples
    --------
    >>> import latree
    >>> found, = latree.as_table([[1, "x"], [2, "x"], [1, "x"]]).findings
    >>> found.column, found.kind, found.what, found.action
    ('x1', 'constant', "is constant (every cell is 'x')", 'left out')
    """

    column: str
    kind: str
    what: str
    action: Action = "kept"
    option: Literal["drop", "identifier", "missing_also"] | None = "drop"
    values: tuple[str, ...] = ()
    n_rows: int | None = None

    @property
    def subject(self) -> str:
        """The column in a message."""
        return f"column {self.column!r}" if self.column else "the first column"

    @property
    def remedy(self) -> str:
        """The setting that helps, as an argument or, on the command line, an option; empty if there is none."""
        return advice([self])

    def to_dict(self) -> dict[str, Any]:
        """Return the finding as plain data for JSON.

        Examples
        --------
        >>> import latree
        >>> found = latree.check([[1, "x"], [2, "x"], [1, "x"]]).findings[0].to_dict()
        >>> found["column"], found["kind"], found["action"]
        ('x1', 'constant', 'left out')
        """
        return {**asdict(self), "values": list(self.values), "remedy": self.remedy}


def findings_of(learned: Iterable[LearnedColumn], identifier: str | None) -> list[Finding]:
    """Return what is odd about the columns of data, in their order; duplicates are not searched.

    If no column names the rows (``identifier``), the first that looks like an identifier may.
    """
    found: list[Finding] = []
    for place, (summary, column, problem) in enumerate(learned):
        index = _index(summary) if place == 0 and summary.name in INDEX_NAMES else None
        if index is not None:
            found.append(index)
        elif not summary.name:
            found.append(Finding("", "unreadable", "has no name, and its values repeat: give it a name", "refused"))
        else:
            found += _column_findings(summary, column, problem)
    for kind in ("identifier", "running number"):
        first = next((place for place, one in enumerate(found) if one.kind == kind), None)
        if identifier is None and first is not None:
            found[first] = replace(found[first], option="identifier")
            break
    return found


def doubts_about_weights(weights: RowWeights | None) -> tuple[Finding, ...]:
    """Return that weights count as rows though they do not look like counts.

    Wrong counts are dangerous: if each of 200 rows counts as ten, noise looks like structure. Large ones are doubted
    only if nobody said that they are counts.
    """
    if weights is None or weights.are == "survey" or weights.sums is None or not weights.sums.n_rows:
        return ()
    n_rows, n_fractional, largest, total, _ = weights.sums
    if n_fractional:
        problem = "are not whole numbers"
    elif weights.are is None and largest * total >= _LARGE_MEAN_WEIGHT * n_rows:
        problem = "are large"
    else:
        return ()
    what = (
        f"{problem}, and count as rows: {plural(n_rows, 'row')} count as {largest * total:g}. Use "
        f"{setting('weights_are', 'survey')} if a weight says how many people a row stands for, or "
        f"{setting('weights_are', 'counts')} if it is a number of equal rows"
    )
    return (Finding(weights.column or "weights", "weights", what, option=None),)


def findings_of_file(remarks: Iterable[str]) -> list[Finding]:
    """Return how a file was read as findings."""
    return [Finding("", "file", remark, option=None) for remark in remarks]


def _column_findings(summary: ColumnSummary, column: Column | None, problem: str | None) -> list[Finding]:
    name = summary.name
    if column is None:
        what = (problem or "").removeprefix(f"column {name!r}").lstrip(": ")
        return [Finding(name, "unreadable", what, "refused")]
    if column.n_states == 0:
        return [Finding(name, "empty", "has no value at all (every cell is missing)", "left out", None)]
    if column.n_states == 1:
        what = f"is constant (every cell is {quoted(column.categories[0])})"
        return [Finding(name, "constant", what, "left out", None)]
    found = _mark(summary) or _identifier(summary) or _date(summary)
    # Codes are searched also among numbers with a mark, so that one look at the data finds both.
    with_codes = summary.is_numeric or (found is not None and found.kind == "mark")
    return [*([found] if found else []), *(_codes(summary) if with_codes else ())]


def _index(summary: ColumnSummary) -> Finding | None:
    """Return that a column numbers the rows, as a data frame's index does in a file; None if it does not."""
    is_index = summary.n_values in (None, summary.n_present)
    if summary.is_numeric and summary.is_whole and not summary.counts.bits:
        numbers = summary.counts.numbers
        without_gap = numbers[0] in (0, 1) and numbers[-1] - numbers[0] + 1 == len(numbers)
        is_index |= bool(without_gap and len(numbers) > _MIN_INDEX)
    if not is_index:
        return None
    return Finding(summary.name, "index", "has no name of its own and only numbers or names the rows", "left out", None)


def _identifier(summary: ColumnSummary) -> Finding | None:
    """Return that all values of a column of texts or whole numbers differ."""
    name, n_rows = summary.name, summary.n_present
    if summary.order is not None or n_rows < _MIN_ROWS:
        return None
    if summary.is_time:
        return None
    if not summary.is_numeric:
        if summary.n_values != n_rows or summary.kinds == {"boolean"}:
            return None
        return Finding(name, "identifier", "has a different value in every row, as an identifier has")
    if not summary.is_whole:
        return None
    low, high = summary.counts.lowest, float(summary.counts.numbers[-1])
    if high - low + 1 == n_rows and summary.n_values in (None, n_rows):
        what = f"is a running number from {label_of(low)} to {label_of(high)}"
        return Finding(name, "running number", what)
    if summary.n_values == n_rows >= _MIN_ROWS_WITH_GAPS:
        return Finding(name, "identifier", "has a different whole number in every row, as an identifier has")
    return None


def _date(summary: ColumnSummary) -> Finding | None:
    """Return that the values of a column are dates."""
    if summary.order is not None or summary.is_time:
        return None
    if not summary.is_numeric:
        texts = sorted(islice(summary.texts or (), _MAX_TEXTS))
        if not texts or not all(map(_DATE.fullmatch, texts)):
            return None
        what = f"holds dates, such as {quoted(texts[0])}, which are taken for names without an order"
        return Finding(summary.name, "date", what)
    if not summary.is_whole or summary.counts.bits:
        return None
    numbers = summary.counts.numbers.astype(np.int64) if abs(summary.counts.numbers).max() < 1e9 else np.zeros(1)
    years, months, days = numbers // 10_000, numbers // 100 % 100, numbers % 100
    valid = (years >= 1900) & (years <= 2100) & (months >= 1) & (months <= 12) & (days >= 1) & (days <= 31)
    if len(numbers) < _MIN_DATES or not valid.all():
        return None
    what = f"holds dates, such as {int(numbers[0])}, which are taken for numbers"
    return Finding(summary.name, "date", what)


def _mark(summary: ColumnSummary) -> Finding | None:
    """Return that a column of texts would be one of numbers without a few marks, or with decimal points."""
    if summary.is_numeric or summary.order is not None or summary.kinds != {"text"}:
        return None
    texts = summary.texts or ()
    others = sorted(islice((text for text in texts if parse_number(text) is None), _MAX_TEXTS))
    n_numbers = len(texts) - len(others)
    if others and all(map(_DECIMAL_COMMA.fullmatch, others)):
        what = f"holds numbers with decimal commas, such as {quoted(others[0])}, which are taken for names"
        return Finding(summary.name, "decimal comma", f"{what}; write them with decimal points", option=None)
    n_words = sum(any(letter.isalnum() for letter in text) for text in others)  # others are marks such as "?" or "-"
    if not others or len(others) > _MAX_MARKS or n_numbers < max(2, _MIN_NUMBERS_PER_WORD * n_words):
        return None
    what = f"holds numbers, but for {' and '.join(map(quoted, others))}, so that all are taken for names"
    return Finding(summary.name, "mark", what, option="missing_also", values=tuple(others))


def _codes(summary: ColumnSummary) -> list[Finding]:
    """Return numbers like -99 or 999 that are far from all others, as codes for missing cells are."""
    if summary.order is not None:
        return []
    numbers, weights, _, _ = summary.counts

    def finding(far: NDArray[np.bool_], why: str) -> Finding:
        labels, n_rows = list(map(label_of, numbers[far].tolist())), round(float(weights[far].sum()))
        what = f"has {' and '.join(labels)} in {plural(n_rows, 'row')}{why}, as codes for missing cells are"
        return Finding(summary.name, "code", what, option="missing_also", values=tuple(labels), n_rows=n_rows)

    codes = np.array([bool(_CODE.fullmatch(label_of(number))) for number in numbers.tolist()])
    # Values that look like a code and are not far are ordinary ones, by which others are measured: repeat.
    while codes.any() and np.count_nonzero(~codes) >= 2:
        low, high = numbers[~codes].min(), numbers[~codes].max()
        far = codes & (np.maximum(numbers - high, low - numbers) > _MIN_GAP * (high - low))
        if (far == codes).all():
            span = f"{label_of(float(low))} to {label_of(float(high))}"
            return [finding(far, f", far from its other values ({span})")]
        codes = far
    # In a column of many numbers that are not negative, a single negative one like -99 is odd, however near it is.
    negative = numbers < 0
    are_codes = all(_NEGATIVE_CODE.fullmatch(label_of(number)) for number in numbers[negative].tolist())
    if negative.any() and are_codes and np.count_nonzero(~negative) >= _MIN_POSITIVE:
        return [finding(negative, " and no other number below 0")]
    return []


def sentences(findings: Iterable[Finding]) -> list[str]:
    """Return findings in words, one text per kind, each with what is done or what helps."""
    by_kind: dict[str, list[Finding]] = {}
    for finding in findings:
        by_kind.setdefault("nothing" if finding.kind in ("empty", "constant") else finding.kind, []).append(finding)
    return [_sentence(kind, found) for kind, found in by_kind.items()]


def _sentence(kind: str, found: Sequence[Finding]) -> str:
    shown = found[:_MAX_NAMED]
    more = f" and {plural(len(found) - len(shown), 'more column')}" if len(found) > len(shown) else ""
    if kind in ABOUT_TABLE:
        return " ".join(f"{one.what}." for one in found)
    if kind == "index":
        return f"The first column {found[0].what}: it is left out."
    if kind == "weights":
        return f"The weights of rows {found[0].what}."
    if kind == "nothing":
        reasons: dict[str, list[str]] = {}
        for one in shown:
            reason = "no value" if one.kind == "empty" else one.what.removeprefix("is constant (").removesuffix(")")
            reasons.setdefault(reason, []).append(quoted(one.column))
        told = ", ".join(f"{', '.join(names)} ({reason})" for reason, names in reasons.items())
        which = "A column that says nothing is" if len(found) == 1 else f"{len(found)} columns that say nothing are"
        return f"{which} left out: {told}{more}."
    facts = _facts(found)
    facts = facts[0].upper() + facts[1:]
    options = advice(replace(one, option="drop") if one.option == "identifier" else one for one in found)
    if not options:
        return f"{facts}."
    if naming_rows := [one for one in found if one.option == "identifier"]:
        return f"{facts}. Use {naming_rows[0].remedy} to name rows by it, or {options} to {_PURPOSE[kind]}."
    by_it = setting("identifier", found[0].column)
    naming = f", or {by_it} to name rows by it" if kind == "running number" else ""
    return f"{facts}. To {_PURPOSE[kind]}, use {options}{naming}."


def _facts(found: Sequence[Finding]) -> str:
    """Return the facts of one kind about columns; what is the same for several of them is said once."""
    alike: dict[tuple[str, ...], list[Finding]] = {}
    for one in found:
        alike.setdefault(one.values if one.kind == "code" else (one.what,), []).append(one)
    groups = list(alike.values())
    told = [_fact(same) for same in groups[:_MAX_FACTS]]
    if others := [one for same in groups[_MAX_FACTS:] for one in same]:
        told.append(
            f"{plural(len(others), 'more column')} ({_names(others)}) {'is' if len(others) == 1 else 'are'} alike"
        )
    return "; ".join(told)


def _fact(same: Sequence[Finding]) -> str:
    """Return what is the case for several columns of which the same can be said, or for one."""
    first = same[0]
    if len(same) == 1:
        return f"{quoted(first.column)} {first.what}"
    if first.kind != "code":
        return f"each of {len(same)} columns ({_names(same)}) {first.what}"
    numbers = [one.n_rows or 0 for one in same]
    low, high = min(numbers), max(numbers)
    rows = plural(high, "row") if low == high else f"{low} to {high} rows"
    return (
        f"{len(same)} columns have {' and '.join(first.values)} in {rows} ({_names(same)}), unlike their other values, "
        "as codes for missing cells are"
    )


def _names(found: Sequence[Finding]) -> str:
    names = ", ".join(quoted(one.column) for one in found[:_MAX_ALIKE])
    return f"{names}, ..." if len(found) > _MAX_ALIKE else names


# What the option of a finding does.
_PURPOSE: Mapping[str, str] = {
    "unreadable": "leave such columns out",
    "many values": "leave such columns out",
    "identifier": "leave identifiers out",
    "running number": "leave running numbers out",
    "date": "leave dates out, unless they are written like 2024-01-31, which makes them numbers",
    "code": "make such cells missing",
    "mark": "make such cells missing",
    "duplicate": "leave duplicates out",
}


def advice(findings: Iterable[Finding]) -> str:
    """Return the settings that follow from findings, such as ``drop=['id', 'day']``; in a shell, ``--drop id,day``."""
    values: dict[str, Any] = {}
    for finding in findings:
        if finding.option == "identifier":
            values["identifier"] = finding.column
        elif finding.option is not None and finding.action != "left out":
            cells = map(as_typed, finding.values) if finding.values else (finding.column,)
            chosen = values.setdefault(finding.option, [])
            chosen += [cell for cell in cells if cell not in chosen]
    return settings_in_a_row([setting(option, value) for option, value in values.items()])


def as_typed(label: str) -> str | int:
    """Return a cell that means missing as Python writes it: a whole number as such."""
    return int(label) if _WHOLE.fullmatch(label) else label


# Duplicates are searched among columns with at most this many states.
_MAX_STATES = 256


def find_duplicates(columns: Sequence[Column], rows: Rows) -> list[Finding]:
    """Return the columns that say the same as an earlier one: rows with equal values in one have equal ones in both."""
    places = [j for j, column in enumerate(columns) if column.n_states <= _MAX_STATES]
    if not places or not rows.n_rows:
        return []
    n_states = max(columns[j].n_states for j in places)
    checksums = np.asarray(rows.sum(_StateChecksums(tuple(places), n_states)))
    first: dict[tuple[Any, ...], str] = {}
    found = []
    for j, sums in zip(places, checksums.transpose(1, 2, 0).tolist(), strict=True):
        *states, missing = map(tuple, sums)
        name = columns[j].name
        original = first.setdefault((missing, *sorted(state for state in states if any(state))), name)
        if original != name:
            found.append(Finding(name, "duplicate", f"says the same as {quoted(original)} in every row"))
    return found


@dataclass(frozen=True)
class _StateChecksums:
    """A statistic: a checksum of the rows in which each column has each state.

    The checksum of a set of rows is the sum of two random numbers per row. Two columns whose states have the same
    checksums divide the rows in the same way, whatever the states are called.
    """

    columns: tuple[int, ...]
    n_states: int

    def __call__(self, block: Block) -> NDArray[np.uint64]:
        """Return two numbers for each column and state of a block; those of missing cells are last."""
        # The random numbers depend on the block, so that the same place in another block has others.
        rng = np.random.default_rng(np.frombuffer(sha256(block.codes.tobytes(order="F")).digest(), np.uint32))
        random = rng.integers(1, 2**32, (2, len(block.codes))).astype(np.float64)
        result = np.zeros((2, len(self.columns), self.n_states + 1), dtype=np.uint64)
        for place, j in enumerate(self.columns):
            codes = block.codes[:, j]
            states = np.where(codes == missing_code(codes), self.n_states, codes)
            for part in range(2):  # sums over a block are exact as floats; those over blocks wrap around
                result[part, place] = np.bincount(states, random[part], self.n_states + 1).astype(np.uint64)
        return result


# There are few rows if they are fewer than this many per state of the column with the most states.
_MIN_ROWS_PER_STATE = MIN_ROWS_PER_BIN

# A column is mostly missing if more than this share of its cells is.
_MAX_MISSING_SHARE = 0.5

# This many columns are named in one finding.
_MAX_LISTED = 3

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
    which = f"columns of up to {column.n_states} categories, such as {quoted(column.name)}"
    meaning = f"probabilities of single categories are uncertain. Use more rows, or {advice}"
    yield Finding(column.name, "few rows", f"{n_rows:g} {what} are few for {which}: {meaning}", option=None)


def _mostly_missing(names: Sequence[str], rows: Rows) -> Iterator[Finding]:
    missing = dict(zip(names, rows.n_missing.tolist(), strict=True))
    mostly = [name for name, n_missing in missing.items() if n_missing > rows.n_rows * _MAX_MISSING_SHARE]
    if not mostly:
        return
    meaning = "few rows say where in the tree"
    if len(mostly) == 1:
        which = f"{quoted(mostly[0])} is missing in {missing[mostly[0]]} of {rows.n_rows} rows: {meaning} it belongs"
    else:
        few = len(mostly) <= _MAX_LISTED
        owners = listed(mostly) if few else f"{len(mostly)} columns, such as {listed(mostly[:_MAX_LISTED])},"
        which = f"{owners} are missing in more than half of the rows: {meaning} they belong"
    yield Finding(mostly[0], "mostly missing", f"{which}. {_drop(mostly[0])}", option=None)


def _never_together(names: Sequence[str], rows: Rows) -> Iterator[Finding]:
    pairs = np.argwhere(np.triu(present_together(rows) == 0, 1)).tolist()
    if not pairs:
        return
    first = [names[column] for column in pairs[0]]
    which = listed(first) if len(pairs) == 1 else f"{len(pairs)} pairs of columns, such as {listed(first)},"
    meaning = "only other columns say how they depend on each other, and edges that no row shows have a support of 0"
    what = f"{which} are never present in the same row: {meaning}. {_drop(first[1])}"
    yield Finding(first[1], "never together", what, option=None)


def _drop(name: str) -> str:
    """Return how to leave out a column."""
    return f"To leave a column out, use {setting('drop', [name])}"
