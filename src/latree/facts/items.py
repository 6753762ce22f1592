"""What each column of a questionnaire adds, as plain data with a verdict, as lines of a table and as text."""

from collections.abc import Iterator, Mapping, Sequence
from textwrap import wrap
from typing import Any

from latree._util.words import clipped, percent, plural
from latree.facts.text import marked
from latree.facts.words import key_facts
from latree.interpret.groups import with_groups
from latree.interpret.items import Item, item_groups
from latree.model import LatentTreeModel
from latree.model.group import MIN_STABILITY
from latree.table import Table
from latree.table.formats.text import guarded

_WIDTH = 80
# The decimals of numbers in files and frames.
_DECIMALS = 6
# An item should have this correlation with the rest of its scale (Nunnally and Bernstein: Psychometric theory, 1994).
MIN_ITEM_REST = 0.3
# Of an item that more people than this answer alike, at the lowest or the highest value, that is said (Streiner, Norman
# and Cairney: Health measurement scales, 2015, who ask for endorsement between 20 and 80 per cent).
MAX_ALIKE = 0.8
_LEGEND = (
    "load: loading, (−) falls when its group rises; rest: correlation with the sum of the others; alpha-, rel.-: "
    "alpha and reliability without it; miss: missing; low, high: answers at the lowest and the highest value; again: "
    "in this group in parts of the rows."
)
_JUDGED = ("verdict", "because", "remark")
_NAMES = (*_JUDGED, *Item._fields)


def item_facts(model: LatentTreeModel, table: Table) -> dict[str, Any]:
    """Return what each column adds to the score of its group, as plain data.

    See :meth:`latree.LatentTree.items`.
    """
    model = model if model.groups else with_groups(model)
    groups = item_groups(model, table)
    key = model.record.key if model.record else None
    places = {} if key is None else {one["column"]: one for one in key_facts(key)["columns"]}
    loadings = {one.column: abs(one.loading or 0) for group in groups for one in group.items}
    return {
        "n_rows": table.n_rows,
        "groups": [
            {"name": group.name, "columns": len(group.items), "alpha": group.alpha, "reliability": group.reliability}
            for group in groups
        ],
        "items": [
            one._asdict()
            | dict(zip(_JUDGED, (*_verdict(one, loadings, places), _remark(one, group.alpha)), strict=True))
            for group in groups
            for one in group.items
        ],
    }


def _verdict(item: Item, loadings: Mapping[str, float], places: Mapping[str, Mapping[str, Any]]) -> tuple[str, str]:
    """Return what to do about an item, and why."""
    place = places.get(item.column, {"verdict": ""})
    if place["verdict"] in ("better in another group", "fits a group"):
        return f"belongs to {place['other']}", f"predicted better there, by {place['ahead']:.3f} nats per row"
    if item.group is None:
        return "says little", "in no group"
    if item.stability is not None and item.stability < MIN_STABILITY:
        other, share = item.elsewhere, item.elsewhere_share or 0
        if share >= MIN_STABILITY:
            return f"belongs to {other}", f"found there in {percent(share)} % of the searches"
        elsewhere = "" if other is None else f", in {other} in {percent(share)} %"
        return "fits no group clearly", f"in {item.group} in {percent(item.stability)} % of the searches{elsewhere}"
    strength = abs(item.loading or 0) if item.item_rest is None else item.item_rest
    if strength < MIN_ITEM_REST:
        what = "loading" if item.item_rest is None else "item-rest correlation"
        return "says little", f"{what} {strength:.2f}"
    other = item.redundant_with
    if other is not None and (loadings[item.column], other) < (loadings[other], item.column):
        return f"redundant with {other}", f"correlate {item.residual:.2f} beyond their group"
    return ("keep, reversed", "falls when its group rises") if item.direction < 0 else ("keep", "")


def _remark(item: Item, alpha: float | None) -> str:
    """Return that nearly all people answer alike, or that alpha rises without the item, as far as it is printed."""
    found = [
        f"{percent(alike)} % give the {end} answer"
        for alike, end in ((item.floor, "lowest"), (item.ceiling, "highest"))
        if alike is not None and alike > MAX_ALIKE
    ]
    without = item.alpha_without
    if alpha is not None and without is not None and round(without, 2) > round(alpha, 2):
        found.append(f"alpha rises to {without:.2f} without it")
    return "; ".join(found)


def item_columns(facts: Mapping[str, Any]) -> dict[str, list[Any]]:
    """Return the columns of the frame of items by name."""
    return {name: [_rounded(one[name]) for one in facts["items"]] for name in _order()}


def item_table(facts: Mapping[str, Any]) -> Iterator[list[str]]:
    """Yield the lines of a CSV file, the header first: one per column of the table."""
    yield list(_order())
    for one in facts["items"]:
        yield [guarded("" if one[name] is None else str(_rounded(one[name]))) for name in _order()]


def _order() -> Sequence[str]:
    return ("column", "group", *(name for name in _NAMES if name not in ("column", "group")))


def item_lines(facts: Mapping[str, Any]) -> list[str]:
    """Return the items as text, group by group."""
    items: Sequence[Mapping[str, Any]] = facts["items"]
    names = {one["column"]: _marked(one) for one in items}
    width = max(map(len, names.values()))
    lines = [f"{plural(len(items), 'column')}, {plural(facts['n_rows'], 'row')}"]
    for group in facts["groups"]:
        figures = [f"{what} {group[what]:.2f}" for what in ("alpha", "reliability") if group[what] is not None]
        name = clipped(group["name"]) if group["name"] else "in no group"
        lines += ["", f"{name}: {', '.join(figures)}" if figures else name]
        lines.append(f"  {'':{width}}   load  rest alpha- rel.- miss  low high again  verdict")
        for one in items:
            if (one["group"] or "") != group["name"]:
                continue
            shares = (_share(one[name]) for name in ("missing", "floor", "ceiling"))
            lines.append(
                f"  {names[one['column']]:{width}}  {_number(one['loading']):>5} {_number(one['item_rest']):>5} "
                f"{_number(one['alpha_without']):>6} {_number(one['reliability_without']):>5} "
                f"{' '.join(f'{share:>4}' for share in shares)} {_share(one['stability']):>5}  {one['verdict']}"
            )
    lines += ["", *wrap(_LEGEND, _WIDTH)]
    reasons = [f"{clipped(one['column'])}: {one['verdict']} ({_reason(one)})" for one in items if _is_said(one)]
    found = [line for reason in reasons for line in wrap(reason, _WIDTH, subsequent_indent="  ")]
    return [*lines, "", *found] if found else lines


def _marked(item: Mapping[str, Any]) -> str:
    unsure = item["stability"] is not None and item["stability"] < MIN_STABILITY
    return marked({"name": item["column"], "direction": item["direction"], "unsure": unsure})


def _is_said(item: Mapping[str, Any]) -> bool:
    return bool(not item["verdict"].startswith("keep") or item["remark"])


def _reason(item: Mapping[str, Any]) -> str:
    return "; ".join(text for text in (item["because"], item["remark"]) if text)


def _number(number: float | None) -> str:
    return "" if number is None else f"{number:.2f}"


def _share(share: float | None) -> str:
    return "" if share is None else f"{percent(share)}%"


def _rounded(value: Any) -> Any:
    return round(value, _DECIMALS) if isinstance(value, float) else value
