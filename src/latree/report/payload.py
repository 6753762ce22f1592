"""The facts that the script of a report needs, as JSON inside the page."""

import json
from typing import Any

from markupsafe import Markup

from latree._util.words import one_line
from latree.report.headline import LIKELY, SURE

# Facts that are embedded as they are. Names are made safe to show, and long lists of numbers are packed.
_FACTS = ("n_columns", "tree", "aliases", "files")
_GROUP_FACTS = ("number", "nodes", "centre", "colour", "stability")


def payload(facts: dict[str, Any]) -> Markup:
    """Return the facts that the script needs, as JSON that an HTML parser cannot take for markup."""
    labels = facts["labels"]
    # Most hidden variables have the same names of states.
    state_lists = [list(names) for names in dict.fromkeys(tuple(hidden["states"]) for hidden in facts["hidden"])]
    needed = {key: facts[key] for key in _FACTS} | {
        "names": _shown(facts["names"]),
        "labels": labels and {key: labels[key] for key in ("of", "colours")} | {"names": _shown(labels["names"])},
        "category_lists": [
            categories | {"names": _shown(categories["names"])} for categories in facts["category_lists"]
        ],
        "groups": [
            {"name": one_line(group["name"])} | {key: group[key] for key in _GROUP_FACTS} for group in facts["groups"]
        ],
        "columns": [
            column
            | {key: _packed(column[key]) for key in ("model", "percent")}
            | {"related": [number for pair in column["related"] for number in pair]}
            for column in facts["columns"]
        ],
        "state_lists": state_lists,
        "hidden": [
            {
                "states": state_lists.index(hidden["states"]),
                "sizes": hidden["sizes"],
                # A column, its loading, and the shares of its values in one state after the other.
                "columns": [
                    [column["column"], column["loading"], "".join(map(_packed, column["shares"]))]
                    for column in hidden["columns"]
                ],
            }
            | ({"others": hidden["others"]} if hidden["others"] else {})
            for hidden in facts["hidden"]
        ],
        "matrix": facts["matrix"] | {"values": [_packed(row) for row in facts["matrix"]["values"]]},
        "missing": facts["data"]["missing"],
        "has_rows": facts["has_rows"],
        "limits": [SURE, LIKELY],
    }
    text = json.dumps(needed, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return Markup(text)


def _shown(names: list[str]) -> list[str]:
    return [one_line(name) for name in names]


def _packed(numbers: list[int]) -> str:
    """Write whole numbers from 0 to 1000 with two characters each, in base 32: they are most of the file."""
    digits = "0123456789abcdefghijklmnopqrstuv"
    return "".join(digits[number // 32] + digits[number % 32] for number in numbers)
