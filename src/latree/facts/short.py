"""A short form as plain data, as frames, as lines of a table and as text."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from textwrap import wrap
from typing import Any

from latree._util.arrays import make_frame
from latree._util.words import clipped, listed, percent, plural, setting
from latree.errors import InputError
from latree.facts.text import described
from latree.interpret.asking import check_names, scales_of
from latree.interpret.groups import with_groups
from latree.interpret.short import Kept, ShortForm, short_forms
from latree.model import LatentTreeModel
from latree.table import Table
from latree.table.formats.text import guarded

_WIDTH = 80
# The decimals of numbers in files and frames.
_DECIMALS = 6
# A form is long enough if every score has this share of its variance in common with the full score: a tenth is lost.
ENOUGH = 0.9
# About so many lengths are printed.
_MAX_LINES = 12
_MEANING = (
    "Forms were chosen without the rows that judge them. Correlation: with the score from all columns, of the same "
    "answers. Apart: what to expect if both forms were answered separately. Reliability: that of the full score is in "
    "brackets. Same state: the share of rows whose most probable state is that of the full form."
)


@dataclass(frozen=True)
class ShortFormFound:
    """A short form; :meth:`latree.LatentTree.short_form` makes it, and ``print`` shows it as text.

    Attributes
    ----------
    columns : list of str
        The columns of the form, in the order of the table.
    groups : data frame
        One row per group: what the form keeps of its score.
    curve : data frame
        The same for every length, one row per length and group.
    facts : dict
        Everything as plain data.
    """

    columns: list[str]
    groups: Any
    curve: Any
    facts: dict[str, Any]

    def __str__(self) -> str:
        return "\n".join(short_lines(self.facts))


def short_form_of(facts: dict[str, Any], backend: str | None) -> ShortFormFound:
    """Return facts with frames of a library beside them."""
    rows = list(_rows(facts))
    chosen = [row for row in rows if row["length"] == facts["n_items"]]
    curve = {name: [row[name] for row in rows] for name in rows[0] if name != "chosen"}
    groups = {name: [row[name] for row in chosen] for name in curve if name != "length"}
    return ShortFormFound(facts["columns"], make_frame(groups, backend), make_frame(curve, backend), facts)


def short_facts(
    model: LatentTreeModel,
    table: Table,
    n_items: int | None = None,
    *,
    keep: Sequence[str] = (),
    drop: Sequence[str] = (),
    groups: Sequence[str] | None = None,
) -> dict[str, Any]:
    """Return the best short form of a length, and what forms of other lengths keep, as plain data.

    See :meth:`latree.LatentTree.short_form` for the parameters.
    """
    model = model if model.groups else with_groups(model)
    scales, names = scales_of(model, groups), model.tree.names
    number = {name: place for place, name in enumerate(names)}
    for some in (keep, drop):
        check_names(some, number, "column")
    if both := [name for name in keep if name in set(drop)]:
        raise InputError(f"{listed(both)}: in both {setting('keep')} and {setting('drop')}; take it out of one")
    kept, dropped = ({number[name] for name in some} for some in (keep, drop))
    most = len(kept.union(*(scale.columns.tolist() for scale in scales)) - dropped)
    if not most:
        raise InputError(f"{setting('drop')}: no column of a group with a score is left")
    if n_items is not None and (type(n_items) is not int or not max(len(kept), 1) <= n_items <= most):
        raise InputError(
            f"{setting('n_items')} must be a whole number from {max(len(kept), 1)}"
            f"{', the columns to keep,' if kept else ''} to {most}, not {n_items!r:.60}"
        )
    found = short_forms(model, table, scales, n_items, kept, dropped)
    sizes = [len(scale.columns) for scale in scales]
    lengths: list[dict[str, Any]] = []
    for n, form in found.forms.items():
        of_groups = [
            {
                "name": scale.name,
                "columns": [names[column] for column in form.columns if column in set(scale.columns.tolist())],
                "n_columns": size,
                **_figures(own, full),
            }
            for scale, size, own, full in zip(scales, sizes, form.kept, found.full, strict=True)
        ]
        lengths.append({"n_items": n, "columns": [names[column] for column in form.columns], "groups": of_groups})
    enough = next((n for n, form in found.forms.items() if _is_enough(form)), None)
    n_items = n_items or enough or lengths[-1]["n_items"]
    chosen = next(one for one in lengths if one["n_items"] == n_items)
    in_groups = {name for one in lengths[-1]["groups"] for name in one["columns"]}
    return {
        **chosen,
        "n_columns": len(in_groups | {names[column] for column in dropped}),
        "n_rows": found.n_rows,
        "keep": list(keep),
        "drop": list(drop),
        "texts": {column.name: column.description for column in model.columns if column.description},
        "without_score": [name for name in keep if name not in in_groups],
        "enough": enough,
        "lengths": lengths,
    }


def _is_enough(form: ShortForm) -> bool:
    return all(one.correlation**2 >= ENOUGH for one in form.kept)


def _figures(own: Kept, full: Kept) -> dict[str, float]:
    return {
        "correlation": own.correlation,
        "apart": sqrt(own.reliability * full.reliability),
        "reliability": own.reliability,
        "full_reliability": full.reliability,
        "same_state": own.same_state,
    }


def _rows(facts: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield one dict per length and group."""
    for one in facts["lengths"]:
        for group in one["groups"]:
            yield {
                "length": one["n_items"],
                "chosen": one["n_items"] == facts["n_items"],
                "group": group["name"],
                "columns": len(group["columns"]),
                "of": group["n_columns"],
                "correlation": round(group["correlation"], _DECIMALS),
                "apart": round(group["apart"], _DECIMALS),
                "reliability": round(group["reliability"], _DECIMALS),
                "same_state": round(group["same_state"], _DECIMALS),
                "names": ", ".join(group["columns"]),
            }


def short_table(facts: Mapping[str, Any]) -> Iterator[list[str]]:
    """Yield the lines of a CSV file, the header first: one per length and group."""
    for number, row in enumerate(_rows(facts)):
        if not number:
            yield list(row)
        cells = row | {"chosen": "yes" if row["chosen"] else "no"}
        yield [guarded(str(cell)) if name in ("group", "names") else str(cell) for name, cell in cells.items()]


def short_lines(facts: Mapping[str, Any]) -> list[str]:
    """Return a short form as text."""
    groups = facts["groups"]
    lines = [
        f"{facts['n_items']} of {plural(facts['n_columns'], 'column')}: correlation with the full scores "
        f"{_mean(groups, 'correlation'):.2f} on average ({plural(facts['n_rows'], 'row')})",
        "",
    ]
    width = max(len("group"), *(len(clipped(one["name"])) for one in groups))
    lines.append(f"{'group':{width}}  columns   correlation  apart  reliability  same state")
    for one in groups:
        of = f"{len(one['columns'])} of {one['n_columns']}"
        lines.append(
            f"{clipped(one['name']):{width}}  {of:8}  {one['correlation']:11.2f}  {one['apart']:5.2f}  "
            f"{one['reliability']:4.2f} ({one['full_reliability']:4.2f})  {percent(one['same_state']):8} %"
        )
        lines += _names(one["columns"], facts["texts"])
    notes = []
    if facts["keep"]:
        notes.append(f"In the form because they were to be kept: {listed(facts['keep'])}.")
    if facts["without_score"]:
        notes.append(f"In no group with a score: {listed(facts['without_score'])}.")
    if empty := [one["name"] for one in groups if not one["columns"]]:
        scores = "the same score for everybody" if len(empty) == 1 else "the same scores for everybody"
        notes.append(f"Without any column in the form, and so {scores}: {listed(empty)}.")
    if notes:
        lines += ["", *(line for note in notes for line in wrap(note, _WIDTH))]
    lines += ["", *wrap(_MEANING, _WIDTH), "", "columns  correlation  lowest  reliability  same state"]
    for one in _some(facts):
        mark = "  <" if one["n_items"] == facts["n_items"] else ""
        lowest = min(group["correlation"] for group in one["groups"])
        lines.append(
            f"{one['n_items']:7}  {_mean(one['groups'], 'correlation'):11.2f}  {lowest:6.2f}  "
            f"{_mean(one['groups'], 'reliability'):11.2f}  {percent(_mean(one['groups'], 'same_state')):8} %{mark}"
        )
    share = f"{percent(ENOUGH)} % of its variance with the full score"
    if facts["enough"] is None:
        text = f"With no number of these columns does every score share {share}."
    else:
        text = f"From {plural(facts['enough'], 'column')} on, every score shares {share}; more columns add little."
    return [*lines, "", *wrap(text, _WIDTH)]


def _names(columns: Sequence[str], texts: Mapping[str, str]) -> list[str]:
    """Return lines with the names of columns; each has a line of its own if questions are known in words."""
    if texts and columns:
        return described(list(map(clipped, columns)), [texts.get(name, "") for name in columns], _WIDTH)
    return wrap(", ".join(map(clipped, columns)), _WIDTH, initial_indent="  ", subsequent_indent="  ")


def _some(facts: Mapping[str, Any]) -> list[Any]:
    """Return some of the lengths, about equally far apart, and those that the text speaks of."""
    lengths = facts["lengths"]
    shown = {facts["n_items"], facts["enough"], lengths[-1]["n_items"]}
    step = -(-len(lengths) // _MAX_LINES)
    return [one for place, one in enumerate(lengths, 1) if place % step == 0 or one["n_items"] in shown]


def _mean(groups: Sequence[Mapping[str, Any]], what: str) -> float:
    return float(sum(one[what] for one in groups)) / len(groups)
