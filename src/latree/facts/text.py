"""The facts as text: the report in a terminal and in report.txt, and the lines of groups.csv."""

from collections.abc import Mapping, Sequence
from textwrap import wrap
from typing import Any

from latree._util.words import beginning, clipped, percent, plural, shortened
from latree.facts.words import (
    candidate_lines,
    independence,
    key_lines,
    kinds_lines,
    redundancy_lines,
    worth_lines,
)
from latree.model.record import Candidate
from latree.table.formats.text import guarded

# Lines fit a terminal; names and options are not divided.
_WIDTH = 80
_WHOLE_WORDS: Mapping[str, Any] = {"subsequent_indent": "  ", "break_on_hyphens": False, "break_long_words": False}
# The columns of groups.csv, and one more if columns have descriptions.
HEADER = ("column", "group", "loading", "stability", "elsewhere", "elsewhere_share", "parent", "hidden")
# If no name of a group, with its stability, is longer than this, names stand left of the columns, otherwise above them.
_MAX_NAME = 28
_INDENT = 4
# Spaces between a name above its columns and its stability.
_GAP = 3
# Names of columns are cut to this length.
_MAX_COLUMN = 40
# The number of a group's columns that are shown if they have descriptions, the number of lines of its columns if not,
# and the number of groups.
_MAX_DESCRIBED = 20
_MAX_LINES = 3
_MAX_GROUPS = 40
# The decimals of loadings and stability.
_DECIMALS = 4
# What stands before columns that are in no group, behind columns that fall when their group rises, and behind columns
# that may not belong to their group.
_ALONE = "in no group"
_REVERSED = " (−)"
_UNSURE = " (?)"
_MEANINGS = {
    _REVERSED: "falls when its group rises",
    _UNSURE: "in this group in fewer than half of the searches on parts of the rows",
}
# The heads of the columns of text.
_HEADS = ("group", "stability", "columns")


def group_table(facts: Mapping[str, Any]) -> list[tuple[str, ...]]:
    """Return the lines of groups.csv: the header, and one line of text cells per column of the data.

    Columns are listed group by group, those with the strongest loadings first. Columns in no group come last, with
    empty cells. A loading is empty if the group has no hidden variable, a stability if it was not computed, and the
    group elsewhere if the column never goes to another one. Names that a spreadsheet would take for formulas are
    guarded.
    """
    rows: list[tuple[str, ...]] = [HEADER]
    for group in facts["groups"]:
        for one in group["columns"]:
            other = one["elsewhere"] or {"group": "", "share": None}
            numbers = _cell(one["loading"]), _cell(one["stability"]), other["group"], _cell(other["share"])
            rows.append((one["name"], group["name"], *numbers, group["parent"] or "", group["hidden"] or ""))
    rows += [(facts["names"][node], *[""] * (len(HEADER) - 1)) for node in facts["alone"]]
    descriptions = dict(zip(facts["names"], facts["descriptions"], strict=False))
    if any(descriptions.values()):
        rows = [(*HEADER, "description"), *((*row, descriptions[row[0]]) for row in rows[1:])]
    return [tuple(map(guarded, row)) for row in rows]


def groups_as_markdown(groups: Sequence[Mapping[str, Any]]) -> str:
    """Return the main groups as a table in Markdown: their names, figures and columns."""
    heads = ("No.", "Group", "Columns", "Loading", "Stability", "Reliability")
    lines: list[tuple[str, ...]] = [heads, ("---:", "---", "---", "---:", "---:", "---:")]
    for group in groups:
        figures = [
            "" if value is None else text(value)
            for value, text in (
                (group["mean_loading"], "{:.2f}".format),
                (group["stability"], lambda share: f"{percent(share)} %"),
                (group["reliability"], "{:.2f}".format),
            )
        ]
        columns = ", ".join(shortened(column["name"], _MAX_COLUMN) for column in group["columns"])
        cells = (str(group["number"]), shortened(group["name"], _MAX_COLUMN), columns, *figures)
        lines.append(tuple(cell.replace("|", "\\|") for cell in cells))
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def report_text(facts: Mapping[str, Any]) -> str:
    """Return the finding as text: the groups, the tree, and the facts of the fit."""
    tree = facts["drawing"].splitlines()
    if facts["summary"]["support"]:
        tree += ["", "Numbers on edges are their support in per cent: build on 90 and more."]
    lines = [part for line in summary_lines(facts["summary"]) for part in wrap(line, _WIDTH, **_WHOLE_WORDS)]
    return "\n\n".join("\n".join(part) for part in (group_lines(facts), tree, lines)) + "\n"


def summary_lines(facts: Mapping[str, Any]) -> list[str]:
    """Return the main facts of a summary in plain words, warnings last."""
    cells = facts["n_rows"] * facts["n_columns"]
    return [
        f"{facts['n_columns']} columns, {facts['n_rows']} rows, {facts['missing_cells']} of {cells} cells missing",
        *([facts["weights"]["meaning"]] if facts["weights"] else []),
        plural(facts["n_hidden"], "hidden variable")
        + (f" of {_states(facts['n_states'])}" if facts["n_hidden"] else "")
        + f" (method: {facts['method']}"
        + (f", {plural(facts['quartet_tests'], 'quartet test')})" if "quartet_tests" in facts else ")"),
        f"{facts['n_parameters']} parameters, fitted in {plural(facts['iterations'], 'iteration')} of EM, "
        f"{facts['seconds']:.1f} seconds",
        *key_lines(facts["key"]),
        *candidate_lines([Candidate(**one) for one in facts["candidates"]]),
        *worth_lines(facts["worth"]),
        *redundancy_lines([(pair["columns"], pair["strength"]) for pair in facts["redundant_columns"]]),
        *(f"warning: {warning}" for warning in facts["warnings"]),
    ]


def _states(numbers: int | list[int]) -> str:
    return f"{min(numbers)} to {max(numbers)} states" if isinstance(numbers, list) else plural(numbers, "state")


def group_lines(facts: Mapping[str, Any], width: int = _WIDTH) -> list[str]:
    """Return the main groups as lines of text: their number, then the name, the stability and the columns of each.

    The first line says how many of the user's labels come out as groups, too.

    Columns with strong loadings come first. Columns that fall when their group rises, and those that are often found in
    other groups, are marked. If columns have descriptions, each has a line of its own.
    """
    groups, n_columns = facts["groups"], plural(facts["n_columns"], "column")
    if not groups:
        is_independent = facts["finding"] == "independent" and facts["n_columns"] > 1
        return [f"no groups in {n_columns}", *[independence(facts["n_columns"], facts["n_rows"])] * is_independent]
    found = [(clipped(group["name"]), group["stability"], group["columns"]) for group in groups[:_MAX_GROUPS]]
    if facts["alone"]:
        alone = [{"node": node, "name": facts["names"][node]} for node in facts["alone"]]
        found.append((_ALONE, None, alone))
    parts = [(name, stability, list(map(marked, columns))) for name, stability, columns in found]
    labels = facts["labels"] or {"match": "", "meaning": ""}
    match = f": {labels['match']}" if labels["match"] else ""
    lines = [f"{plural(len(groups), 'group')} in {n_columns}{match}", ""]
    texts = facts["descriptions"]
    if any(texts):
        for (_, _, columns), (name, stability, shown) in zip(found, parts, strict=True):
            lines += _heading(name, stability, width)
            lines += described(shown, [texts[column["node"]] for column in columns], width)
    else:
        lines += _lines_of(parts, width)
    if len(groups) > _MAX_GROUPS:
        lines.append(f"and {len(groups) - _MAX_GROUPS} more groups")
    marks = [mark for mark in _MEANINGS if any(mark in column for _, _, columns in parts for column in columns)]
    notes = [f"{mark.strip()} {_MEANINGS[mark]}" for mark in marks]
    kinds = kinds_lines([group["name"] for group in groups if group["states_are"] == "kinds"])
    for line in (*facts["discoveries"], labels["meaning"], *facts["comes_again"], *kinds):
        notes += wrap(line, width, break_long_words=False, break_on_hyphens=False)
    return lines + [""] * bool(notes) + notes


def _lines_of(parts: list[tuple[str, float | None, list[str]]], width: int) -> list[str]:
    """Return names, stabilities and columns in lines of a width: as a table, or with long names above the columns."""
    has_stability = any(stability is not None for _, stability, _ in parts)
    name_head, stability_head, columns_head = _HEADS
    longest = max(len(name) for name, *_ in parts)
    if has_stability:
        longest = max(longest, len(name_head)) + 2 + len(stability_head)
    is_table = longest <= _MAX_NAME
    indent = longest + 2 if is_table else _INDENT
    lines = []
    if has_stability and is_table:
        lines.append(name_head.ljust(longest - len(stability_head)) + f"{stability_head}  {columns_head}")
    for name, stability, columns in parts:
        block = [] if ", ".join(columns) == name else _wrapped(columns, indent, width)
        share = "" if stability is None else f"{percent(stability)} %"
        if is_table:
            head = name.ljust(longest - len(share)) + share
            lines.append((head.ljust(indent) + (block.pop(0)[indent:] if block else "")).rstrip())
        else:
            lines += _heading(name, stability, width)
        lines += block
    return lines


def _heading(name: str, stability: float | None, width: int) -> list[str]:
    """Return the name of a group and its stability, on one line if there is room."""
    if stability is None:
        return [name]
    share = f"{_HEADS[1]} {percent(stability)} %"
    fits = len(name) + _GAP + len(share) <= width
    return [name + " " * _GAP + share] if fits else [name, " " * _INDENT + share]


def _cell(number: float | None) -> str:
    # Adding zero turns -0.0 into 0.0.
    return "" if number is None else f"{round(number, _DECIMALS) + 0.0:.{_DECIMALS}f}"


def marked(column: Mapping[str, Any]) -> str:
    """Return the name of a column with its marks."""
    marks: str = _REVERSED * (column.get("direction", 0) < 0) + _UNSURE * column.get("unsure", False)
    return shortened(column["name"], _MAX_COLUMN) + marks


def _more(hidden: list[str]) -> str:
    """Return how many columns are not shown, and how many of them are marked as unsure."""
    n_unsure = sum(text.endswith(_UNSURE) for text in hidden)
    marked = f" ({n_unsure} with{_UNSURE})" if n_unsure else ""
    return f"and {len(hidden)} more{marked}"


def described(columns: list[str], descriptions: list[str], width: int) -> list[str]:
    """Return a line for each of a group's columns, with its description."""
    shown = columns[:_MAX_DESCRIBED]
    longest = max(map(len, shown))
    lines = []
    for column, text in zip(shown, descriptions, strict=False):
        room = max(width - _INDENT - longest - 2, _MAX_COLUMN)
        lines.append(" " * _INDENT + (f"{column:{longest}}  {beginning(text, room)}" if text else column))
    return lines + [" " * _INDENT + _more(columns[_MAX_DESCRIBED:])] * (len(columns) > _MAX_DESCRIBED)


def _wrapped(texts: list[str], indent: int, width: int) -> list[str]:
    """Return texts with commas between them, in lines of a width; if there are too many, the number of the others."""
    room = max(width - indent, _MAX_COLUMN)
    lines: list[list[str]] = [[]]
    for text in texts:
        if lines[-1] and len(", ".join([*lines[-1], text])) >= room:  # with a comma at the end
            lines.append([])
        lines[-1].append(text)
    shown = lines[:_MAX_LINES]
    if hidden := [text for line in lines[_MAX_LINES:] for text in line]:
        shown[-1].append(_more(hidden))
        while len(", ".join(shown[-1])) > room and len(shown[-1]) > 1:
            hidden.append(shown[-1][-2])
            shown[-1][-2:] = [_more(hidden)]
    written = [", ".join(line) for line in shown]
    return [
        " " * indent + line + ("," if number < len(written) else "") for number, line in enumerate(written, start=1)
    ]
