"""The report: facts as one HTML file that contains its styles, scripts and data."""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from jinja2 import Environment

from latree._util.files import write_text
from latree._util.words import beginning, counted, one_line, percent, shortened
from latree.facts.citation import cite
from latree.facts.found import report_facts, title_of
from latree.facts.text import group_table, groups_as_markdown
from latree.facts.topics import are_documents, topic_facts, words_of
from latree.facts.words import caption, stability_words, usefulness
from latree.interpret.groups import with_groups
from latree.interpret.view import view_of
from latree.model import LatentTreeModel
from latree.report.drawing import drawing_facts, with_colours
from latree.report.page import MAX_PAGE, inline, policy, script, templates
from latree.report.payload import has_table, letters_within, payload
from latree.report.picture import convergence_chart, first_picture, is_folded, tree_picture
from latree.table import Table
from latree.table.formats.text import write_lines

# The number of unusual rows, and of rows in words, that a report shows if rows are given.
DEFAULT_ROWS = 5

# The figures of the table of groups, with their titles and explanations.
_FIGURES = (
    ("size", "Size", "The number of its columns"),
    ("loading", "Loading", "The mean loading of its columns, whatever their signs"),
    ("stability", "Stability", "How often its columns are in this group again in searches on parts of the rows"),
    (
        "reliability",
        "Reliability",
        "The share of the variance of its score that is not uncertainty, if the model is right",
    ),
)
# The number of lines of the table that are on the page at first, on paper, and without JavaScript: about two pages.
_TABLE_ROWS = 60

# In letters: the most and the least width of a cell of a card, and the most of all its states in half a page.
_MAX_CELL, _MIN_CELL, _MAX_ACROSS = 20, 6, 32
# The most letters of a word of a name that is not broken, and of a line of a card on half a page of paper.
_MAX_WORD, _MAX_ON_PAPER = 30, 38
# Tables of groups of at most so many nodes can be copied.
_MAX_COPIED = 1000
# The height in pixels of the bar of a group that is always found again, and the most bars.
_BAR_HEIGHT, _MAX_BARS = 24, 20
# The words of a topic, and the number of topics that are on the page at first. If there are more, parts are folded.
_TOPIC_WORDS, _MAX_TOPICS = 8, 60
# The most letters of a name in the list of smaller groups. If all together have more bytes, they are cut more.
_LIST_LETTERS, _MAX_LISTED = 32, 250_000
# Stands for the data until it is known how large the rest of the page is.
_DATA = "\0data\0"

# The files of the drawing's script. Each one builds on those before it.
_SCRIPTS = (
    "elements",
    "tree",
    "view",
    "layout",
    "draw",
    "values",
    "panel",
    "card",
    "table",
    "search",
    "legend",
    "select",
    "download",
    "heatmap",
    "controls",
)


def report_html(
    model: LatentTreeModel,
    table: Table | None = None,
    *,
    test: Table | None = None,
    labels: Mapping[str, str] | None = None,
    rows: int = DEFAULT_ROWS,
) -> str:
    """Return the report of a model as one HTML page.

    The page says what was found and how sure it is, and shows a card for each group of columns, the tree, the
    dependence between the columns, unusual rows, and how well the model fits. It contains everything it needs, so it
    opens offline. The same input gives the same text. Use :func:`write_report` to write it to a file.

    Parameters
    ----------
    model : LatentTreeModel
    table : Table, optional
        The rows that the model was fitted to, encoded with the model's columns (see :meth:`LatentTreeModel.encode`).
        They add the distribution of each column in the data; groups are found with them.
    test : Table, optional
        New rows. If ``table`` is given, the gain over independent columns on them is added, for this model and simpler
        ones.
    labels : mapping of str to str, optional
        Your own label of each column, by the name of the column. Labels give colours, and are compared with the groups.
    rows : int
        The number of most unusual rows of ``table`` to show, by the names that the table has for them. As many rows,
        evenly spaced over the table, are described in words: where they stand on each group.

    Returns
    -------
    str

    Examples
    --------
    >>> import latree
    >>> from latree import report_html
    >>> tree = latree.random_tree(5, random_state=0)
    >>> model = latree.random_model(tree, n_states=2, random_state=0)
    >>> html = report_html(model, model.sample(100, random_state=0), labels={"x0": "first"}, rows=3)
    >>> html.startswith("<!doctype html>")
    True
    >>> "<h1" in html
    True
    """
    return render(page_facts(model, table, test=test, labels=labels, rows=rows))


def page_facts(model: LatentTreeModel, table: Table | None = None, **more: Any) -> dict[str, Any]:
    """Return everything that a page shows: the facts, and what its drawing needs; see :func:`report_html`."""
    if not model.groups:
        model = with_groups(model, table)
    facts = with_colours(report_facts(model, table, **more))
    facts["topics"] = _topics(model, facts["groups"])
    return facts | drawing_facts(view_of(model), table, facts)


def _topics(model: LatentTreeModel, groups: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the topics of documents, each with its parts and the main group of its first word.

    None if rows are no documents.
    """
    if not groups or not are_documents(model):
        return []
    group_of = {column["name"]: group for group in groups for column in group["columns"]}
    found: list[dict[str, Any]] = []
    for one in topic_facts(model, n_words=_TOPIC_WORDS):
        among = found if one["level"] == 1 else found[-1]["parts"]
        among.append({**one, "main": group_of.get(one["words"][0]["name"]), "text": words_of(one), "parts": []})
    return found


def write_report(path: str | Path, html: str) -> None:
    """Write a report to a file, either completely or not at all.

    Parameters
    ----------
    path : str or Path
        The file. One that exists is replaced.
    html : str
        The page, as :func:`report_html` returns it.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> import latree
    >>> from latree import report_html
    >>> from latree.report.render import write_report
    >>> model = latree.random_model(latree.random_tree(4, random_state=0), n_states=2, random_state=0)
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "report.html"
    ...     write_report(path, report_html(model))
    ...     path.exists()
    True
    """
    write_text(Path(path), html)


def render(facts: dict[str, Any]) -> str:
    """Return the HTML of a report from its facts; see :func:`page_facts`."""
    style = inline("base.css", "report.css", "drawing.css")
    page_script = script("page.js")
    drawing_script = script(*(f"script/{name}.js" for name in _SCRIPTS))
    page = (
        environment()
        .get_template("report.html")
        .render(
            facts=facts,
            title=f"{shortened(title_of(facts['source']), 80)}: {facts['headline']}",
            source=title_of(facts["source"]),
            citation=cite(facts) if facts["summary"] else None,
            caption=caption(facts, folded=is_folded(facts)) if facts["finding"] != "independent" else "",
            group_texts=_group_texts(facts),
            style=style,
            page_script=page_script,
            drawing_script=drawing_script,
            policy=policy(style, [page_script, *([] if facts["finding"] == "independent" else [drawing_script])]),
            data=_DATA,
            stability_words=stability_words(facts["groups"]),
            stability_bars=_stability_bars(facts["groups"]),
            usefulness=usefulness(facts["fit"]["compared"][-1]["gain"], facts["n_columns"])
            if facts["fit"]["compared"]
            else "",
            first_picture=None if facts["finding"] == "independent" else first_picture(facts),
            picture=tree_picture(facts),
            picture_is_folded=is_folded(facts),
            has_table=has_table(facts),
            table_figures=[
                figure for figure in _FIGURES if any(_table_line(group)[figure[0]] != "–" for group in facts["groups"])
            ],
            table_rows=_TABLE_ROWS,
            max_topics=_MAX_TOPICS,
            list_letters=min(
                _LIST_LETTERS, letters_within(facts["names"][: facts["n_columns"]], _MAX_LISTED) or _LIST_LETTERS
            ),
            broad_groups=_by_broad_group(facts["groups"]),
            convergence=convergence_chart(facts["fit"]["history"]),
        )
    )
    before, mark, after = page.rpartition(_DATA)
    return before + str(payload(facts, MAX_PAGE - len((before + after).encode()))) + after if mark else page


def environment() -> Environment:
    """Return the templates of pages with figures, and the filters that these use."""
    made = templates()
    made.filters |= {
        "beginning": beginning,
        "count": counted,
        "decimal": decimal,
        "table_line": _table_line,
        "needs_paper": _needs_paper,
        "needs_width": _needs_width,
        "number": number,
        "one_line": one_line,
        "percent": in_percent,
        "shortened": shortened,
        "state_size": state_size,
        "whole_percent": whole_percent,
    }
    return made


def _needs_width(group: Mapping[str, Any]) -> bool:
    """Return whether the card of a group is as wide as the page, because its states do not fit half of it."""
    letters = [len(cell[0]) for column in group["columns"] for cell in column["cells"]]
    longest = min(max(letters, default=0), _MAX_CELL)
    return len(group["states"]) * max(longest, _MIN_CELL) > _MAX_ACROSS


def _needs_paper(group: Mapping[str, Any]) -> bool:
    """Return whether the card of a group is as wide as a page of paper: half of it is less than on a screen."""
    words = [word for column in group["columns"][: group["n_shown"]] for word in one_line(column["name"]).split()]
    letters = min(max(map(len, words), default=0), _MAX_WORD)
    return letters + (len(group["states"]) + 1) * _MIN_CELL > _MAX_ON_PAPER


def _group_texts(facts: Mapping[str, Any]) -> dict[str, str]:
    """Return the table of groups as texts to copy, unless they are too long for the page."""
    groups = facts["groups"] if len(facts["names"]) <= _MAX_COPIED else []
    return {"csv": write_lines(group_table(facts)) if groups else "", "markdown": groups_as_markdown(groups)}


def _by_broad_group(groups: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the groups under the names of the broad groups above them; all others come last, under None.

    A broad group of a single group is none. If only one group is left over, it comes first: it needs no heading.
    """
    sizes = Counter(group["parent"] for group in groups if group["parent"] is not None)
    found: dict[str, list[dict[str, Any]]] = {name: [] for name, size in sizes.items() if size > 1}
    others = list[dict[str, Any]]()
    for group in groups:
        found.get(group["parent"], others).append(group)
    parts = [{"name": name, "groups": below} for name, below in found.items()]
    rest = [{"name": None, "groups": others}] if others else []
    return rest + parts if len(others) == 1 else parts + rest


def _stability_bars(groups: Sequence[Mapping[str, Any]]) -> list[dict[str, int]]:
    """Return a small bar for the stability of each of the largest groups."""
    return [
        {"colour": group["colour"], "height": round(_BAR_HEIGHT * group["stability"])}
        for group in groups[:_MAX_BARS]
        if group["stability"] is not None
    ]


def _table_line(group: Mapping[str, Any]) -> dict[str, str]:
    """Return the figures of a group as the table shows them; a dash for what is unknown."""
    return {
        "size": number(len(group["columns"])),
        "loading": hundredths(group["mean_loading"]),
        "stability": rounded_percent(group["stability"]),
        "reliability": hundredths(group["reliability"]),
    }


def number(value: float) -> str:
    """Return a number with commas between thousands."""
    return f"{value:,.0f}" if float(value).is_integer() else f"{value:,.6g}"


def decimal(value: float | None, digits: int = 2) -> str:
    """Return a number with some digits after the decimal point; a dash for None."""
    return "–" if value is None else f"{round(value, digits) + 0.0:,.{digits}f}".replace("-", "−")


def hundredths(value: float | None) -> str:
    """Return a number from 0 to 1 with two digits, rounded as per cent are; a dash for None."""
    return "–" if value is None else f"{percent(value) / 100:.2f}"


def in_percent(share: float | None) -> str:
    """Return a share in per cent; a dash for None."""
    if share is None:
        return "–"
    if 0 < share < 1e-5:
        return "<\u00a00.001\u00a0%"
    return f"{percent(share)}\u00a0%" if share >= 0.0095 or share == 0 else f"{100 * share:.1g}\u00a0%"


def rounded_percent(share: float | None) -> str:
    """Return a share in whole per cent; a dash for None."""
    return whole_percent(None if share is None else percent(share))


def whole_percent(number: int | None) -> str:
    """Return a whole number of per cent; a dash for None."""
    return "–" if number is None else f"{number}\u00a0%"


def state_size(number: int) -> str:
    """Return the size of a state in whole per cent; no state is empty."""
    return whole_percent(number) if number else "<\u00a01\u00a0%"
