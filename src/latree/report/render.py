"""From facts to one HTML file that needs nothing else: styles, scripts and data are part of it."""

import json
from base64 import b64encode
from hashlib import sha256
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from latree.report.charts import comparison_chart, convergence_chart
from latree.report.facts import title_of

_HERE = Path(__file__).parent
_LONGEST = 48  # letters of a name that a table shows

# The page's own script, in the order in which its parts build on each other.
_SCRIPT = ("names", "layout", "labels", "select", "about", "controls")

# What the drawing of the tree needs to know.
_FOR_SCRIPT = ("names", "n_columns", "tree", "scales", "columns", "hidden", "labels")


def render(facts: dict[str, Any]) -> str:
    """Write the report of some facts as HTML; see :func:`latree.report.facts.report_facts`."""
    environment = Environment(
        loader=FileSystemLoader(_HERE / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {
        "count": count,
        "decimal": decimal,
        "percent": percent,
        "elided": elided,
        "plain": plain,
        "number": number,
    }
    style, library = _inline("report.css"), _inline("d3.js")
    script = _inline(*(f"script/{name}.js" for name in _SCRIPT), frame='(() => {{\n"use strict";\n\n{}}})();\n')
    return environment.get_template("report.html").render(
        facts=facts,
        title=title_of(facts["source"]),
        style=style,
        library=library,
        script=script,
        policy=_policy(style, [library, script]),
        data=_embedded(facts),
        comparison=comparison_chart(facts["fit"]),
        convergence=convergence_chart(facts["fit"]["history"]),
    )


def _inline(*names: str, frame: str = "{}") -> Markup:
    """Give some files as the text of one element."""
    text = frame.format("\n".join((_HERE / name).read_text(encoding="utf-8") for name in names))
    assert "</s" not in text  # nothing may end the element that the text stands in
    return Markup(text)


def _policy(style: str, scripts: list[str]) -> str:
    """Allow these scripts and this style, pictures that are part of the file, and nothing else."""
    hashes = " ".join(f"'{_hash(script)}'" for script in scripts)
    return (
        f"default-src 'none'; script-src {hashes}; style-src '{_hash(style)}'; img-src data:; base-uri 'none'; "
        "form-action 'none'"
    )


def _hash(text: str) -> str:
    return "sha256-" + b64encode(sha256(text.encode()).digest()).decode()


def _embedded(facts: dict[str, Any]) -> Markup:
    """Give what the script needs as JSON that no HTML parser can take for markup."""
    groups = [{key: group[key] for key in ("named_by", "nodes", "hub", "colour")} for group in facts["groups"]]
    wanted = {key: facts[key] for key in _FOR_SCRIPT} | {"groups": groups, "missing": facts["data"]["missing"]}
    wanted["hidden"] = [
        {
            **hidden,
            "columns": [
                {**column, "shares": [_packed(shares) for shares in column["shares"]]} for column in hidden["columns"]
            ],
        }
        for hidden in facts["hidden"]
    ]
    text = json.dumps(wanted, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for letter in "<>&\u2028\u2029":
        text = text.replace(letter, f"\\u{ord(letter):04x}")
    return Markup(text)


def _packed(thousandths: list[int]) -> str:
    """Write numbers up to 1000 with two letters each, base 32; they are most of the file."""
    letters = "0123456789abcdefghijklmnopqrstuv"
    return "".join(letters[number // 32] + letters[number % 32] for number in thousandths)


def count(whole: float, what: str, many: str | None = None) -> str:
    """Give a number with the word that goes with it: 1 column, 2 columns."""
    return f"{number(whole)} {what if whole == 1 else many or what + 's'}"


def number(value: float) -> str:
    """Write a number with a comma at the thousands."""
    return f"{value:,.0f}" if float(value).is_integer() else f"{value:,.6g}"


def decimal(value: float | None, digits: int = 2) -> str:
    """Write a number with so many digits behind the point; a dash for none."""
    return "–" if value is None else f"{value:,.{digits}f}".replace("-", "−")


def percent(share: float | None) -> str:
    """Write a share in per cent; a dash for none."""
    if share is None:
        return "–"
    return f"{100 * share:.0f}\u00a0%" if share >= 0.0095 or share == 0 else f"{100 * share:.1g}\u00a0%"


def plain(name: str) -> str:
    """Give a name on one line, without letters that show nothing; joiners, which make some letters one, stay."""
    shown = "".join(letter if letter.isprintable() or letter in "\u200c\u200d" else " " for letter in name)
    return " ".join(shown.split()) or "(blank)"


def elided(name: str, longest: int = _LONGEST) -> str:
    """Give a name on one line, the end of a long one replaced by dots."""
    shown = plain(name)
    return shown if len(shown) <= longest else shown[: longest - 1].rstrip() + "…"
