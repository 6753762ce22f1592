"""The page about two tables: real rows beside drawn ones."""

from typing import Any

from latree.report.page import inline, policy
from latree.report.render import environment

# So many pairs, those that differ most, are on the page.
_MAX_PAIRS = 30


def tables_html(facts: dict[str, Any]) -> str:
    """Return the page as HTML; ``facts`` are those of ``ComparedTables.to_dict``."""
    style = inline("base.css", "report.css")
    return (
        environment()
        .get_template("tables.html")
        .render(
            facts=facts,
            title="Drawn rows beside real ones",
            style=style,
            policy=policy(style, []),
            max_pairs=_MAX_PAIRS,
        )
    )
