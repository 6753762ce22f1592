"""What a notebook shows of a fitted model: the finding in words, the groups in their colours, and the tree."""

from collections.abc import Mapping
from typing import Any

from markupsafe import Markup

from latree._util.words import percent, shortened
from latree.facts.found import facts_of
from latree.facts.text import marked
from latree.facts.words import certainty_lines, kinds_lines, redundancy_lines, worth_lines
from latree.figure.colours import colour_of
from latree.figure.draw import overview
from latree.figure.overview import MAX_LINES
from latree.model import LatentTreeModel
from latree.report.drawing import with_colours

# The number of groups, and of the columns of a group, that are listed.
_MAX_GROUPS, _MAX_COLUMNS = 12, 12
_ROW = Markup(
    "<tr><td style='text-align:left;white-space:nowrap'><span style='color:{colour}'>●</span> {number} "
    "<b><bdi>{name}</bdi></b></td><td>{stability}</td><td style='text-align:left'>{columns}</td></tr>"
)


def notebook_html(model: LatentTreeModel, labels: Mapping[str, str] | None) -> str:
    """Return a fragment of HTML without scripts, in the colours of the page that it is put into.

    Parameters
    ----------
    model : LatentTreeModel
        With groups.
    labels : mapping of str to str, optional
        The user's own label of each column.
    """
    facts = with_colours(facts_of(model, labels))
    groups = facts["groups"]
    parts = [Markup("<div style='font-size:1.25em;font-weight:600'>{}</div>").format(facts["headline"])]
    lines = [
        *facts["discoveries"],
        *certainty_lines(facts["certainty"]),
        *kinds_lines([group["name"] for group in groups if group["states_are"] == "kinds"]),
        *facts["key"],
        *worth_lines(facts["summary"].get("worth")),
        *redundancy_lines([(pair["names"], pair["strength"]) for pair in facts["redundant"]]),
    ]
    parts += [Markup("<div>{}</div>").format(line) for line in lines]
    if facts["finding"] != "independent":
        if len(groups) > 1:
            rows = Markup("").join(map(_row, groups[:_MAX_GROUPS]))
            head = Markup("<tr><th style='text-align:left'>group</th><th>stability</th><th></th></tr>")
            parts.append(Markup("<table>{}{}</table>").format(head, rows))
            if len(groups) > _MAX_GROUPS:
                parts.append(Markup("<div>and {} more groups</div>").format(len(groups) - _MAX_GROUPS))
        parts.append(Markup(overview(model, labels or {}, MAX_LINES).to_svg(page=False)))
    parts += [Markup("<div>Warning: {}</div>").format(warning) for warning in facts["warnings"]]
    return str(Markup("").join(parts))


def _row(group: Mapping[str, Any]) -> Markup:
    names = list(map(marked, group["columns"][:_MAX_COLUMNS]))
    if len(group["columns"]) > len(names):
        names.append(f"and {len(group['columns']) - len(names)} more")
    return _ROW.format(
        colour=colour_of(group["colour"]),
        number=group["number"],
        name=shortened(group["name"], 60),
        stability="" if group["stability"] is None else f"{percent(group['stability'])} %",
        columns=Markup(", ").join(Markup("<bdi>{}</bdi>").format(name) for name in names),
    )
