"""The groups of a model at a glance: as text, as a table with one line per column, and as plain data."""

from collections.abc import Sequence
from textwrap import wrap
from typing import Any

from latree._util.words import clipped, listed, one_line, percent, plural, shortened
from latree.interpret.groups import label_meaning, labels_of_fit
from latree.interpret.view import GroupColumn, view_of
from latree.model import Group, LatentTreeModel
from latree.table.formats.text import guarded

# The columns of groups.csv, and one more if columns have descriptions.
HEADER = ("column", "group", "loading", "stability", "parent", "hidden")
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
    _UNSURE: "in this group in fewer than half of the resampled tables",
}
# The heads of the columns of text.
_HEADS = ("group", "stability", "columns")


def group_table(model: LatentTreeModel) -> list[tuple[str, ...]]:
    """Return the lines of groups.csv: the header, and one line of text cells per column of the data.

    Columns are listed group by group, those with the strongest loadings first. Columns in no group come last, with
    empty cells. A loading is empty if the group has no hidden variable, a stability if it was not computed. Names that
    a spreadsheet would take for formulas are guarded.
    """
    rows: list[tuple[str, ...]] = [HEADER]
    for group, columns in _main_groups(model):
        above = "" if group.parent is None else model.groups[group.parent].name
        for name, loading, stability, _ in columns:
            rows.append((name, group.name, _cell(loading), _cell(stability), above, group.hidden or ""))
    rows += [(column, "", "", "", "", "") for column in _columns_in_no_group(model)]
    descriptions = {column.name: column.description for column in model.columns}
    if any(descriptions.values()):
        rows = [(*HEADER, "description"), *((*row, descriptions[row[0]]) for row in rows[1:])]
    return [tuple(map(guarded, row)) for row in rows]


def group_facts(model: LatentTreeModel) -> list[dict[str, Any]]:
    """Return the groups as plain data, with the names of the groups above; strong loadings come first."""
    scores = view_of(model).scores
    return [
        {
            "name": group.name,
            "level": group.level,
            "columns": [column.name for column in columns],
            "hidden": group.hidden,
            "parent": None if group.parent is None else model.groups[group.parent].name,
            "stability": group.stability,
            # None: no column has an order, or no hidden variable stands for the group
            "states": None if (score := scores.get(group.centre)) is None else "steps" if score.has_steps else "kinds",
        }
        for group, columns in zip(model.groups, view_of(model).group_columns, strict=True)
    ]


def group_lines(model: LatentTreeModel, width: int = 80) -> list[str]:
    """Return the main groups as lines of text: their number, then the name, the stability and the columns of each.

    The first line says how many of the user's labels come out as groups, too.

    Columns with strong loadings come first. Columns that fall when their group rises, and those that are often found in
    other groups, are marked. If columns have descriptions, each has a line of its own.
    """
    groups = _main_groups(model)
    n_columns = plural(model.tree.n_observed, "column")
    if not groups:
        return [f"no groups in {n_columns}", *_independence_lines(model)]
    found = [(clipped(group.name), group.stability, columns) for group, columns in groups[:_MAX_GROUPS]]
    if alone := _columns_in_no_group(model):
        found.append((_ALONE, None, [GroupColumn(name, None, None) for name in alone]))
    parts = [(name, stability, list(map(_shown, columns))) for name, stability, columns in found]
    labels = labels_of_fit(model)
    match = labels["match"] or "" if labels else ""
    lines = [f"{plural(len(groups), 'group')} in {n_columns}" + (f": {match}" if match else ""), ""]
    texts = {column.name: column.description for column in model.columns}
    if any(texts.values()):
        for (_, _, columns), (name, stability, shown) in zip(found, parts, strict=True):
            lines += _heading(name, stability, width)
            lines += _described(shown, [texts[column.name] for column in columns], width)
    else:
        lines += _lines_of(parts, width)
    if len(groups) > _MAX_GROUPS:
        lines.append(f"and {len(groups) - _MAX_GROUPS} more groups")
    marks = [mark for mark in _MEANINGS if any(mark in column for _, _, columns in parts for column in columns)]
    notes = [f"{mark.strip()} {_MEANINGS[mark]}" for mark in marks]
    kinds = kinds_lines([group.name for group, _ in groups if group.centre in view_of(model).kinds])
    for line in (label_meaning(match), *kinds):
        notes += wrap(line, width, break_long_words=False, break_on_hyphens=False)
    return lines + [""] * bool(notes) + notes


def kinds_lines(names: Sequence[str]) -> list[str]:
    """Return a line about groups whose states are kinds, by their names, if there are any."""
    if not names:
        return []
    owner = listed(names) if len(names) <= _MAX_LINES else f"{len(names)} groups, such as {listed(names[:_MAX_LINES])},"
    return [f"The states of {owner} are kinds of rows, not steps from low to high: read the state, not the score."]


def _independence_lines(model: LatentTreeModel) -> list[str]:
    """Return a line about columns of which no two are connected; the report has the same words."""
    n_columns = model.tree.n_observed
    if len(model.tree.edges) or n_columns == 1:
        return []
    rows = plural(model.record.n_rows, "row") if model.record else "the rows"
    return [f"The {n_columns} columns are independent of each other, as far as {rows} show."]


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


def _main_groups(model: LatentTreeModel) -> list[tuple[Group, list[GroupColumn]]]:
    columns_of = zip(model.groups, view_of(model).group_columns, strict=True)
    return [(group, columns) for group, columns in columns_of if group.level == "main"]


def _columns_in_no_group(model: LatentTreeModel) -> list[str]:
    grouped = {column for group in model.groups if group.level == "main" for column in group.columns}
    return [column for column in model.tree.names if column not in grouped]


def _cell(number: float | None) -> str:
    # Adding zero turns -0.0 into 0.0.
    return "" if number is None else f"{round(number, _DECIMALS) + 0.0:.{_DECIMALS}f}"


def _shown(column: GroupColumn) -> str:
    """Return the name of a column with its marks."""
    marks = _REVERSED * (column.direction < 0) + _UNSURE * column.is_unsure
    return shortened(one_line(column.name), _MAX_COLUMN) + marks


def _more(hidden: list[str]) -> str:
    """Return how many columns are not shown, and how many of them are marked as unsure."""
    n_unsure = sum(text.endswith(_UNSURE) for text in hidden)
    marked = f" ({n_unsure} with{_UNSURE})" if n_unsure else ""
    return f"and {len(hidden)} more{marked}"


def _described(columns: list[str], descriptions: list[str], width: int) -> list[str]:
    """Return a line for each of a group's columns, with its description."""
    shown = columns[:_MAX_DESCRIBED]
    longest = max(map(len, shown))
    lines = []
    for column, text in zip(shown, descriptions, strict=False):
        room = max(width - _INDENT - longest - 2, _MAX_COLUMN)
        lines.append(" " * _INDENT + (f"{column:{longest}}  {shortened(text, room)}" if text else column))
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
