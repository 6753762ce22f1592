"""The groups of a model at a glance: as text, as a table with one line per column, and as plain data."""

from typing import Any

from latree._util.text import one_line, plural, shortened
from latree.explain.loadings import column_loadings
from latree.model import Group, LatentTreeModel

# The columns of groups.csv.
HEADER = ("column", "group", "loading", "stability", "parent", "hidden")
# If no name of a group is longer than this, names stand left of the columns, otherwise above them.
_MAX_NAME = 28
_INDENT = 4
# Names of columns are cut to this length.
_MAX_COLUMN = 40
# The number of lines of a group's columns, and the number of groups, that are shown.
_MAX_LINES = 3
_MAX_GROUPS = 40
# The decimals of loadings and stability.
_DECIMALS = 4
# What stands before columns that are in no group, and behind columns that fall when their group rises.
_ALONE = "in no group"
_REVERSED = " (−)"


def group_rows(model: LatentTreeModel) -> list[tuple[str, str, str, str, str, str]]:
    """Return one line of text cells per column of the data: see ``HEADER``.

    Columns are listed group by group, those with the strongest loadings first. Columns in no group come last, with
    empty cells. A loading is empty if the group has no hidden variable, a stability if it was not computed.
    """
    rows = []
    groups = _main_groups(model)
    loadings = _loadings(model)
    for group in groups:
        stability = dict(zip(group.columns, group.column_stability or (), strict=False))
        above = "" if group.parent is None else model.groups[group.parent].name
        for column in _by_loading(group, loadings):
            cells = (_cell(loadings.get(column)), _cell(stability.get(column)))
            rows.append((column, group.name, *cells, above, group.hidden or ""))
    return rows + [(column, "", "", "", "", "") for column in _columns_in_no_group(model)]


def group_facts(model: LatentTreeModel) -> list[dict[str, Any]]:
    """Return the groups as plain data, with the names of the groups above."""
    return [
        {
            "name": group.name,
            "level": group.level,
            "columns": list(group.columns),
            "hidden": group.hidden,
            "parent": None if group.parent is None else model.groups[group.parent].name,
            "stability": group.stability,
        }
        for group in model.groups
    ]


def group_lines(model: LatentTreeModel, width: int = 80) -> list[str]:
    """Return the main groups as lines of text: their number, then the name and the columns of each.

    Columns with strong loadings come first. A column that falls when its group rises is marked with a minus.
    """
    groups = _main_groups(model)
    n_columns = plural(model.tree.n_observed, "column")
    if not groups:
        return [f"no groups in {n_columns}" + ("" if len(model.tree.edges) else ": no column depends on another one")]
    loadings = _loadings(model)
    parts = [
        (group.name, [_shown(column, loadings.get(column, 0)) for column in _by_loading(group, loadings)])
        for group in groups[:_MAX_GROUPS]
    ]
    if alone := _columns_in_no_group(model):
        parts.append((_ALONE, [_shown(column, 0) for column in alone]))
    longest = max(len(name) for name, _ in parts)
    indent = longest + 2 if longest <= _MAX_NAME else _INDENT
    lines = [f"{plural(len(groups), 'group')} in {n_columns}", ""]
    for name, columns in parts:
        block = [] if ", ".join(columns) == name else _wrapped(columns, indent, width)
        if block and longest <= _MAX_NAME:
            lines.append(name.ljust(indent) + block.pop(0)[indent:])
        else:
            lines.append(name)
        lines += block
    if len(groups) > _MAX_GROUPS:
        lines.append(f"and {len(groups) - _MAX_GROUPS} more groups")
    if any(column.endswith(_REVERSED) for _, columns in parts for column in columns):
        lines += ["", f"{_REVERSED.strip()} falls when its group rises"]
    return lines


def _main_groups(model: LatentTreeModel) -> list[Group]:
    return [group for group in model.groups if group.level == "main"]


def _loadings(model: LatentTreeModel) -> dict[str, float]:
    """Return the loading of each column on the hidden variable of its main group, if there is one."""
    hidden = {group.centre: group.columns for group in _main_groups(model) if group.hidden is not None}
    node = {name: number for number, name in enumerate(model.tree.names)}
    found = column_loadings(model, {centre: [node[name] for name in columns] for centre, columns in hidden.items()})
    return {
        name: loading
        for centre, columns in hidden.items()
        for name, loading in zip(columns, found[centre], strict=True)
    }


def _by_loading(group: Group, loadings: dict[str, float]) -> list[str]:
    """Return the columns of a group, the strongest loadings first; of equal ones, the first by name."""
    return sorted(group.columns, key=lambda column: (-round(abs(loadings.get(column, 0)), _DECIMALS), column))


def _columns_in_no_group(model: LatentTreeModel) -> list[str]:
    grouped = {column for group in _main_groups(model) for column in group.columns}
    return [column for column in model.tree.names if column not in grouped]


def _cell(number: float | None) -> str:
    # Adding zero turns -0.0 into 0.0.
    return "" if number is None else f"{round(number, _DECIMALS) + 0.0:.{_DECIMALS}f}"


def _shown(column: str, loading: float) -> str:
    """Return the name of a column, with a mark if it is reversed."""
    return shortened(one_line(column), _MAX_COLUMN) + (_REVERSED if loading < 0 else "")


def _wrapped(texts: list[str], indent: int, width: int) -> list[str]:
    """Return texts with commas between them, in lines of a width; if there are too many, the number of the others."""
    room = max(width - indent, _MAX_COLUMN)
    lines: list[list[str]] = [[]]
    for text in texts:
        if lines[-1] and len(", ".join([*lines[-1], text])) >= room:  # with a comma at the end
            lines.append([])
        lines[-1].append(text)
    shown = lines[:_MAX_LINES]
    if n_hidden := sum(map(len, lines[_MAX_LINES:])):
        shown[-1].append(f"and {n_hidden} more")
        while len(", ".join(shown[-1])) > room and len(shown[-1]) > 1:
            n_hidden += 1
            shown[-1][-2:] = [f"and {n_hidden} more"]
    written = [", ".join(line) for line in shown]
    return [
        " " * indent + line + ("," if number < len(written) else "") for number, line in enumerate(written, start=1)
    ]
