"""A comparison of groups of people as plain data, as frames, as lines of a table and as text."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from textwrap import wrap
from typing import Any

import numpy as np

from latree._util.arrays import IntArray, make_frame
from latree._util.words import clipped, listed, percent, plural, quoted
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
            "standardised": None if effect["standardised"] is None else _rounded(effect["standardised"]),
            "size": one["size"] or "",
            "p": _rounded(one["p"]),
            "adjusted p": _rounded(one["adjusted_p"]),
            "differs": one["differs"],
        }
        for one in sorted(facts["items"], key=lambda one: one["p"])
        for effect in one["effects"]
    ]


def comparison_table(facts: Mapping[str, Any]) -> Iterator[list[str]]:
    """Yield the lines of a CSV file, the header first: differences of means, then those of columns."""
    yield ["what", "name", "scale", "group", "from", "difference", "low", "high", "size", "p", "adjusted p", "differs"]
    for kind, name, rows in (("mean", "scale", mean_rows(facts)), ("column", "column", item_rows(facts))):
        for row in rows:
            cells = [row[name], row["scale"], row["group"], row["from"], row["difference"]]
            cells += [row.get(key, "") for key in ("low", "high", "size", "p", "adjusted p")]
            yield [kind, *map(guarded, map(str, cells[:4])), *map(str, cells[4:]), "yes" if row["differs"] else "no"]


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
    lines += ["", "Where they stand: differences in standard deviations, with 95 % intervals"]
    lines += list(_mean_lines(facts))
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


def _mean_lines(facts: Mapping[str, Any]) -> Iterator[str]:
    width = max(len(clipped(one["name"])) for one in facts["means"])
    for one in facts["means"]:
        for number, pair in enumerate(one["differences"]):
            name = clipped(one["name"]) if number == 0 else ""
            is_shown = one["differs"] and not pair["low"] <= 0 <= pair["high"]
            mark = "" if is_shown else "  (may be chance)"
            what = f"{clipped(pair['group'])} - {clipped(pair['from'])}"
            interval = f"{pair['difference']:+.2f}  [{pair['low']:+.2f}, {pair['high']:+.2f}]"
            yield f"  {name:{width}}  {what}  {interval}{mark}"


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
    answer = f"Do the columns work alike? {len(items)} of {tested} {'differs' if len(items) == 1 else 'differ'}"
    lines = [f"{answer} at the same standing:"]
    width = max(len(clipped(one["column"])) for one in items)
    for one in items:
        for number, effect in enumerate(one["effects"]):
            name = clipped(one["column"]) if number == 0 else ""
            what = f"{clipped(effect['group'])} - {clipped(effect['from'])}"
            size = one["size"] if number == 0 else ""
            lines.append(f"  {name:{width}}  {what}  {effect['difference']:+.2f} answers  {size}".rstrip())
    text = (
        "Tests are at the 5 % level for all columns together. Columns that differ do not count for the differences "
        "above."
    )
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
