"""The facts that the script of a report needs, as JSON inside the page."""

import json
from typing import Any

from markupsafe import Markup

from latree._util.text import one_line

# Facts that are embedded as they are. Names are made safe to show, and long lists of numbers are packed.
_FACTS = ("n_columns", "tree", "columns", "aliases", "files")
_GROUP_FACTS = ("number", "nodes", "centre", "colour", "stability")


def payload(facts: dict[str, Any]) -> Markup:
    """Return the facts that the script needs, as JSON that an HTML parser cannot take for markup."""
    labels = facts["labels"]
    needed = {key: facts[key] for key in _FACTS} | {
        "names": _shown(facts["names"]),
        "labels": labels and {key: labels[key] for key in ("of", "colours")} | {"names": _shown(labels["names"])},
        "category_lists": [
            categories | {"names": _shown(categories["names"])} for categories in facts["category_lists"]
        ],
        "groups": [
            {"name": one_line(group["name"])} | {key: group[key] for key in _GROUP_FACTS} for group in facts["groups"]
        ],
        "hidden": [
            hidden | {"columns": [column | {"shares": _packed(column["shares"])} for column in hidden["columns"]]}
            for hidden in facts["hidden"]
        ],
        "matrix": facts["matrix"] | {"values": _packed(facts["matrix"]["values"])},
        "missing": facts["data"]["missing"],
        "has_rows": facts["has_rows"],
    }
    text = json.dumps(needed, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return Markup(text)


def _shown(names: list[str]) -> list[str]:
    return [one_line(name) for name in names]


def _packed(rows: list[list[int]]) -> list[str]:
    """Write whole numbers from 0 to 1000 with two characters each, in base 32: they are most of the file."""
    digits = "0123456789abcdefghijklmnopqrstuv"
    return ["".join(digits[number // 32] + digits[number % 32] for number in row) for row in rows]
