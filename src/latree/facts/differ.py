"""A comparison of groups of people as plain data, as frames, as lines of a table and as text."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from textwrap import wrap
from typing import Any

import numpy as np

from latree._util.arrays import IntArray, make_frame
from latree._util.words import clipped, listed, percent, plural, quoted, shortened
from latree.errors import InputError
from latree.interpret.differ import MIN_COLUMNS, MIN_GROUP, Groups, compare_groups
from latree.model import LatentTreeModel
from latree.table import Table
from latree.table.formats.text import guarded
from latree.table.people import Divided, with_enough
from latree.table.table import row_weights

_WIDTH = 80
# The decimals of numbers in files and frames.
_DECIMALS = 6
# The width of the longest size in words; texts of questions have at least so much room.
_SIZE, _MIN_TEXT = len("negligible"), 20
_YES_OR_NO = {True: "yes", False: "no", None: ""}


@dataclass(frozen=True)
class RowComparison:
    """Groups of rows side by side; :meth:`latree.LatentTree.compare_rows` makes it, and ``print`` shows it as text.

    Attributes
    ----------
    facts : dict
        Everything as plain data: ``groups`` of people, ``means``, ``items``, ``not_compared``, ``notes`` and, if they
        were asked for, ``trees``.
    means : data frame
        One row per group of columns and difference.
    items : data frame
        One row per column and difference, those that differ most surely first.
    """

    facts: dict[str, Any]
    means: Any
    items: Any

    def __str__(self) -> str:
        return "\n".join(comparison_lines(self.facts))


def comparison_of(facts: dict[str, Any], backend: str | None) -> RowComparison:
    """Return facts with frames of a library beside them."""
    return RowComparison(
        facts, make_frame(_columns_of(mean_rows(facts)), backend), make_frame(_columns_of(item_rows(facts)), backend)
    )


def compared_rows(
    model: LatentTreeModel, table: Table, divided: Divided, clusters: IntArray | None
) -> tuple[dict[str, Any], Table, Groups]:
    """Return a comparison as plain data, with the rows that it is of, and their groups.

    Parameters
    ----------
    model : LatentTreeModel
    table : Table
    divided : Divided
        The rows in groups; small groups and rows without a group are left out.
    clusters : array of int, optional
        What rows of one person, school, ... have in common.
    """
    for what, rows in (("groups", divided.of_row), ("clusters", clusters)):
        if rows is not None and len(rows) != table.n_rows:
            raise InputError(f"{len(rows)} {what} for {plural(table.n_rows, 'row')}: give one for each row")
    questions = {column.name: column for column in model.columns}
    others = (model.record.answers if model.record else None) or ()
    names = {code: answer for column, code, answer in others if column == divided.column}
    if (by := questions.get(divided.column)) is not None and by.answers:
        names = dict(zip(by.categories, by.answers, strict=True))
    divided = divided._replace(names=tuple(names.get(name, name) for name in divided.names))
    divided, notes = with_enough(divided, MIN_GROUP)
    kept = np.flatnonzero(divided.of_row >= 0)
    of_row = divided.of_row[kept]
    own = np.arange(len(kept)) if clusters is None else clusters[kept]
    taken = table.take(kept)
    if taken.has_counts:  # a row of weight 3 is three rows, and three clusters unless these are given
        times = taken.map(row_weights).astype(np.intp)
        repeated = np.repeat(np.arange(len(kept)), times)
        taken = Table.from_codes(taken.columns, taken.codes()[repeated])
        of_row, own = of_row[repeated], np.arange(len(repeated)) if clusters is None else own[repeated]
    groups = Groups(divided.names, of_row, own)
    if len(np.unique(own)) < MIN_GROUP:
        raise InputError(f"{plural(len(np.unique(own)), 'cluster')}: at least {MIN_GROUP} are needed for an interval")
    facts = {"by": divided.column or None} | compare_groups(model, taken, groups, [divided.column]) | {"notes": notes}
    facts["items"] = [one | {"description": questions[one["column"]].description} for one in facts["items"]]
    return facts, taken, groups


def mean_rows(facts: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return one dict per group of columns and difference."""
    return [
        {
            "scale": one["name"],
            "columns": one["columns"],
            "group": pair["group"],
            "from": pair["from"],
            "difference": _rounded(pair["difference"]),
            "low": _rounded(pair["low"]),
            "high": _rounded(pair["high"]),
            "all tied": _rounded(pair["all_tied"]),
            "p": _rounded(one["p"]),
            "adjusted p": _rounded(one["adjusted_p"]),
            "differs": one["differs"],
        }
        for one in facts["means"]
        for pair in one["differences"]
    ]


def item_rows(facts: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return one dict per column and difference, those that differ most surely first."""
    return [
        {
            "column": one["column"],
            "scale": one["scale"],
            "group": effect["group"],
            "from": effect["from"],
            "difference": _rounded(effect["difference"]),
            "standardised": _rounded(effect["standardised"]),
            "size": effect["size"],
            "p": _rounded(one["p"]),
            "adjusted p": _rounded(one["adjusted_p"]),
            "differs": one["differs"],
            "tied": one["tied"],
        }
        for one in sorted(facts["items"], key=lambda one: one["p"])
        for effect in one["effects"]
    ]


def comparison_table(facts: Mapping[str, Any]) -> Iterator[list[str]]:
    """Yield the lines of a CSV file, the header first: differences of means, then those of columns."""
    numbers = ("low", "high", "all tied", "size", "p", "adjusted p")
    yield ["what", "name", "scale", "group", "from", "difference", *numbers, "differs", "tied"]
    for kind, name, rows in (("mean", "scale", mean_rows(facts)), ("column", "column", item_rows(facts))):
        for row in rows:
            cells = map(guarded, (row[name], row["scale"], row["group"], row["from"]))
            figures = [str(row.get(key, "")) for key in ("difference", *numbers)]
            yield [kind, *cells, *figures, *(_YES_OR_NO[row.get(key)] for key in ("differs", "tied"))]


def comparison_lines(facts: Mapping[str, Any]) -> list[str]:
    """Return the comparison as text."""
    people = [f"{clipped(group['name'])} ({plural(group['rows'], 'row')})" for group in facts["groups"]]
    by = f" by {quoted(facts['by'])}" if facts["by"] else ""
    lines = [f"Groups{by}: {', '.join(people)}"]
    if facts["n_clusters"] < sum(group["rows"] for group in facts["groups"]):
        lines.append(f"Intervals and tests are those of {plural(facts['n_clusters'], 'cluster')} of rows.")
    for note in facts["notes"]:
        lines += wrap(note, _WIDTH)
    if not facts["means"]:
        return [*lines, "", f"No group of columns has {MIN_COLUMNS} columns, so nothing was compared."]
    lines += ["", *_mean_lines(facts)]
    lines += ["", "Shares of states"]
    lines += list(_state_lines(facts))
    lines += ["", *_item_lines(facts)]
    if facts["not_compared"]:
        text = f"Not compared, as fewer than {MIN_COLUMNS} columns are in it: {listed(facts['not_compared'])}."
        lines += ["", *wrap(text, _WIDTH)]
    if facts["no_answers"]:
        text = f"Left out, as they have no order, or are numbers with bins: {listed(facts['no_answers'])}."
        lines += ["", *wrap(text, _WIDTH)]
    if "trees" in facts:
        lines += ["", *_tree_lines(facts["trees"])]
    return lines


def _mean_lines(facts: Mapping[str, Any]) -> list[str]:
    reference, width = _names(facts)
    first = max(len(clipped(one["name"])) for one in facts["means"])
    lines, few = [f"Where they stand: standard deviations above {reference}, with 95 % intervals"], []
    for one in facts["means"]:
        items = [item for item in facts["items"] if item["scale"] == one["name"]]
        tied = [item["column"] for item in items if item["tied"]]
        for number, pair in enumerate(one["differences"]):
            name = clipped(one["name"]) if number == 0 else ""
            interval = f"{pair['difference']:+.2f}  [{pair['low']:+.2f}, {pair['high']:+.2f}]"
            plain = f"  all tied {pair['all_tied']:+.2f}" if len(tied) < len(items) else ""
            is_shown = one["differs"] and not pair["low"] <= 0 <= pair["high"]
            mark = "" if is_shown else "  (may be chance)"
            lines.append(f"  {name:{first}}  {clipped(pair['group']):{width}}  {interval}{plain}{mark}")
        n_differ = sum(item["differs"] for item in items)
        if 2 * n_differ >= len(items):
            few.append(
                f"{quoted(one['name'])}: {n_differ} of {plural(len(items), 'column')} work differently (below), so "
                f"that its difference rests on {listed(tied)} alone."
            )
    if any(not item["tied"] for item in facts["items"]):
        lines += wrap("all tied: the difference if columns that work differently (below) count, too.", _WIDTH)
    return lines + [line for text in few for line in wrap(text, _WIDTH)]


def _names(facts: Mapping[str, Any]) -> tuple[str, int]:
    """Return the first group of people, and the width of the names of those that are compared with it."""
    first, *others = (group["name"] for group in facts["groups"])
    return quoted(first), max(len(clipped(name)) for name in others)


def _state_lines(facts: Mapping[str, Any]) -> Iterator[str]:
    width = max(len(clipped(group["name"])) for group in facts["groups"])
    for one in facts["means"]:
        yield f"  {clipped(one['name'])}"
        for group in one["groups"]:
            shares = ", ".join(f"{name} {percent(share)} %" for name, share in group["states"].items())
            yield f"    {clipped(group['name']):{width}}  {shares}"


def _item_lines(facts: Mapping[str, Any]) -> list[str]:
    items = [one for one in sorted(facts["items"], key=lambda one: one["p"]) if one["differs"]]
    tested = plural(len(facts["items"]), "column")
    if not items:
        return [f"Do the columns work alike? None of {tested} is shown to differ at the same standing."]
    reference, group_width = _names(facts)
    answer = f"Do the columns work alike? {len(items)} of {tested} {'differs' if len(items) == 1 else 'differ'}"
    lines = [f"{answer} at the same standing.", f"Differences from {reference}, in answers:"]
    width = max(len(clipped(one["column"])) for one in items)
    for one in items:
        for number, effect in enumerate(one["effects"]):
            name = clipped(one["column"]) if number == 0 else ""
            what = f"  {name:{width}}  {clipped(effect['group']):{group_width}}  {effect['difference']:+.2f}"
            line = f"{what}  {effect['size']:{_SIZE}}  "
            if number == 0 and one["description"]:
                line += shortened(one["description"], max(_WIDTH - len(line), _MIN_TEXT))
            lines.append(line.rstrip())
    left_out, counted = ([one["column"] for one in items if one["tied"] == tied] for tied in (False, True))
    text = "Tests are at the 5 % level for all columns together."
    if left_out:
        text += f" The differences of standing are without {listed(left_out)}."
    if counted:
        text += f" {listed(counted)} still {'counts' if len(counted) == 1 else 'count'} there."
    return [*lines, *wrap(text, _WIDTH)]


def _tree_lines(trees: Mapping[str, Any]) -> list[str]:
    text = (
        f"Is the tree the same? The trees of the groups differ in {trees['distance']:.0f} of {trees['most']:.0f} "
        f"splits on average; those of {plural(trees['n_random'], 'random division')} of the same rows in "
        f"{trees['random_mean']:.1f}. {trees['n_as_different']} of these differ as much (p = {trees['p']:.2f})."
    )
    return wrap(text, _WIDTH)


def _columns_of(rows: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
    return {name: [row[name] for row in rows] for name in (rows[0] if rows else {})}


def _rounded(number: float) -> float:
    return round(number, _DECIMALS)
