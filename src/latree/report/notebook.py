"""What a notebook shows of a fitted model: the finding in words, the groups in their colours, and the tree."""

from collections.abc import Mapping
from typing import Any

from markupsafe import Markup

from latree._util.words import one_line, shortened
from latree.figure.draw import colour_of, plot
from latree.interpret.columns import redundancy_lines
from latree.interpret.dependence import Dependence
from latree.interpret.overview import kinds_lines
from latree.model import LatentTreeModel
from latree.model.record import worth_lines
from latree.report.facts import story_facts

# The number of groups, and of the columns of a group, that are listed.
_MAX_GROUPS, _MAX_COLUMNS = 12, 12
_ROW = Markup(
    "<tr><td style='text-align:left;white-space:nowrap'><span style='color:{colour}'>●</span> {number} "
    "<b><bdi>{name}</bdi></b></td><td>{stability}</td><td style='text-align:left'>{columns}</td></tr>"
)


def notebook_html(model: LatentTreeModel, worth: Mapping[str, Any] | None, labels: Mapping[str, str] | None) -> str:
    """Return a fragment of HTML without scripts, in the colours of the page that it is put into.

    Parameters
    ----------
    model : LatentTreeModel
        With groups.
    worth : mapping or None
        The facts about its worth in a summary.
    labels : mapping of str to str, optional
        The user's own label of each column.
    """
    facts = story_facts(Dependence(model), labels)
    cards = facts["groups"]
    parts = [Markup("<div style='font-size:1.25em;font-weight:600'>{}</div>").format(facts["headline"])]
    redundant = [((one, other), strength) for one, other, strength in model.record.redundant] if model.record else []
    lines = [*_certainty_lines(facts), *_kinds_lines(facts), *worth_lines(worth), *redundancy_lines(redundant)]
    parts += [Markup("<div>{}</div>").format(line) for line in lines]
    if facts["finding"] != "independent":
        if len(cards) > 1:
            rows = Markup("").join(_row(model, card) for card in cards[:_MAX_GROUPS])
            head = Markup("<tr><th style='text-align:left'>group</th><th>stability</th><th></th></tr>")
            parts.append(Markup("<table>{}{}</table>").format(head, rows))
            if len(cards) > _MAX_GROUPS:
                parts.append(Markup("<div>and {} more groups</div>").format(len(cards) - _MAX_GROUPS))
        parts.append(Markup(plot(model, labels=labels).to_svg(page=False)))
    return str(Markup("").join(parts))


def _certainty_lines(facts: Mapping[str, Any]) -> list[str]:
    found = facts["certainty"]
    if not found["n_edges"]:
        return []
    others = [f"{found[kind]} {kind}" for kind in ("likely", "unsure") if found[kind]]
    sure = f"{found['sure']} of {found['n_edges']} edges sure"
    return [", ".join([sure, *others]) + "."]


def _kinds_lines(facts: Mapping[str, Any]) -> list[str]:
    return kinds_lines([card["name"] for card in facts["groups"] if card["has_kinds"]])


def _row(model: LatentTreeModel, card: Mapping[str, Any]) -> Markup:
    shown = card["columns"][:_MAX_COLUMNS]
    names = [
        shortened(one_line(model.tree.names[column["node"]]), 40)
        + (" (−)" if column["direction"] < 0 else "")
        + (" (?)" if column["unsure"] else "")
        for column in shown
    ]
    if len(card["columns"]) > len(shown):
        names.append(f"and {len(card['columns']) - len(shown)} more")
    return _ROW.format(
        colour=colour_of(card["colour"]),
        number=card["number"],
        name=shortened(card["name"], 60),
        stability="" if card["stability"] is None else f"{card['stability']} %",
        columns=Markup(", ").join(Markup("<bdi>{}</bdi>").format(name) for name in names),
    )
