"""What the script of a page knows: facts as compact JSON, which leaves out what would make the page too large."""

from collections.abc import Mapping, Sequence
from math import inf
from typing import Any

from markupsafe import Markup

from latree._util.words import beginning, one_line, percent, shortened
from latree.facts.groups import MAX_CARDS
from latree.facts.words import LIKELY, SURE
from latree.report.page import page_json

# The most bytes of all names of nodes together. If there are more, long names are cut, but not to fewer than so many
# letters.
_MAX_NAMES, _MIN_LETTERS = 400_000, 16
# The most letters of a column's description in a card.
_MAX_DESCRIPTION = 160
_DIGITS = "0123456789abcdefghijklmnopqrstuv"


def payload(facts: dict[str, Any], room: float = inf) -> Markup:
    """Return the facts that the script needs, as JSON that an HTML parser cannot take for markup.

    Parameters
    ----------
    facts : dict
        From :func:`latree.report.render.page_facts`.
    room : float
        How many bytes it may have. Details that do not fit are left out, the most wanted last; the script says so.
    """
    parts = [f'"{key}":{page_json(part)}' for key, part in _required(facts).items()]
    room -= 1 + sum(len(part.encode()) + 1 for part in parts)  # with brackets and commas
    for key, detail in _details(facts).items():
        part = f'"{key}":{page_json(detail)}'
        size = len(part.encode()) + 1
        if size <= room:
            parts.append(part)
            room -= size
    return Markup("{" + ",".join(parts) + "}")


def _required(facts: Mapping[str, Any]) -> dict[str, Any]:
    labels, matrix = facts["labels"], facts["matrix"]
    return {
        "n_columns": facts["n_columns"],
        "names": _names(facts["names"]),
        "aliases": facts["aliases"],
        "tree": _tree(facts["tree"]),
        "folds": facts["folds"],
        "branch_names": {node: one_line(name) for node, name in facts["branch_names"].items()},
        "groups": _groups(facts),
        "has_table": has_table(facts),
        "labels": labels and {key: labels[key] for key in ("of", "colours")} | {"names": _shown(labels["names"])},
        "matrix": matrix and matrix | {"values": [packed(row) for row in matrix["values"]]},
        "states": _states(facts["hidden"]),
        "files": facts["files"],
        "has_rows": facts["has_rows"],
        "limits": [SURE, LIKELY],
    }


def _details(facts: Mapping[str, Any]) -> dict[str, Any]:
    """Return what may be left out, the most wanted first."""
    columns, missing = facts["columns"], facts["data"]["missing"]
    are_bins = [one["ordered"] and len(one["bounds"]) > 2 for one in facts["category_lists"]]
    return {
        "cards": _cards(facts) if has_table(facts) else None,
        "values": {
            # Of bins, only the bounds: names are made from them, and all have about the same share.
            "lists": [
                [_bound(text) for text in one["bounds"]] if is_bins else one | {"names": _shown(one["names"])}
                for one, is_bins in zip(facts["category_lists"], are_bins, strict=True)
            ],
            "of": [column["category_list"] for column in columns],
            "percent": ["" if are_bins[column["category_list"]] else packed(column["percent"]) for column in columns],
            "missing": {node: count for node, count in enumerate(missing or ()) if count},
        },
        "profiles": {
            "model": [packed(column["model"]) for column in columns],
            # Of every hidden variable, some columns, their loadings, and the shares of their values in one state after
            # the other.
            "columns": [
                [[one["column"], one["loading"], "".join(map(packed, one["shares"]))] for one in details["columns"]]
                for details in facts["hidden"]
            ],
        },
        "descriptions": {
            node: beginning(text, _MAX_DESCRIPTION) for node, text in enumerate(facts["descriptions"]) if text
        },
        "related": _related(columns),
    }


def _states(hidden: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the states of hidden variables. Most have the same names."""
    lists = list(dict.fromkeys(tuple(one["states"]) for one in hidden))
    number = {names: place for place, names in enumerate(lists)}
    return {
        "lists": lists,
        "of": [number[tuple(one["states"])] for one in hidden],
        "sizes": [one["sizes"] for one in hidden],
        # The number of other states, and their share, of the hidden variables that have some.
        "others": {place: one["others"] for place, one in enumerate(hidden) if one["others"]},
    }


def has_table(facts: Mapping[str, Any]) -> bool:
    """Return whether the groups are the lines of a table, because they are too many for a card each."""
    return len(facts["groups"]) > MAX_CARDS


def _names(names: Sequence[str]) -> list[str]:
    """Return names that are safe to show, cut if all together are too long."""
    shown = _shown(names)
    letters = letters_within(shown, _MAX_NAMES)
    return shown if letters is None else [shortened(name, letters) for name in shown]


def letters_within(names: Sequence[str], n_bytes: int) -> int | None:
    """Return how many letters each name may have, so that all together have so many bytes; None if they are shorter."""
    size = len("".join(names).encode())
    # Letters are taken to have the mean size of all.
    mean = size / max(sum(map(len, names)), 1)
    return None if size <= n_bytes else max(int(n_bytes / mean / len(names)), _MIN_LETTERS)


def _tree(tree: Mapping[str, Any]) -> dict[str, Any]:
    """Return the tree with strengths and lengths in thousandths."""
    thousandths = {
        key: [None if value is None else round(1000 * value) for value in tree[key]] for key in ("strength", "length")
    }
    width = _width(len(tree["order"]))
    return {
        **tree,
        **thousandths,
        "support": [-1 if share is None else share for share in tree["support"]],
        "order": {"width": width, "nodes": packed(tree["order"], width)},
    }


def _groups(facts: Mapping[str, Any]) -> dict[str, list[Any]]:
    """Return one list per property of groups: columns by their loadings before the hidden variables among the nodes."""
    groups = facts["groups"]

    def in_percent(key: str) -> list[int | None]:
        return [None if group[key] is None else percent(group[key]) for group in groups]

    return {
        # Most have the name of their hidden variable.
        "name": [
            None if group["name"] == facts["names"][group["centre"]] else one_line(group["name"]) for group in groups
        ],
        "columns": [[column["node"] for column in group["columns"]] for group in groups],
        "hidden": [[node for node in group["nodes"] if node >= facts["n_columns"]] for group in groups],
        "centre": [group["centre"] for group in groups],
        "colour": [group["colour"] for group in groups],
        "stability": in_percent("stability"),
        "reliability": in_percent("reliability"),
        "mean_loading": in_percent("mean_loading"),
    }


def _cards(facts: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the script builds the card of a group from."""
    groups, labels = facts["groups"], facts["labels"]
    state_lists = list(dict.fromkeys(tuple(state["name"] for state in group["states"]) for group in groups))
    state_numbers = {names: place for place, names in enumerate(state_lists)}
    scales = list(dict.fromkeys(beginning(group.get("scale", ""), 200) for group in groups))
    scale_numbers = {scale: place for place, scale in enumerate(scales)}
    node = {name: number for number, name in enumerate(facts["names"][: facts["n_columns"]])}
    group_number = {group["name"]: group["number"] for group in groups}
    return {
        "state_lists": state_lists,
        "scales": scales,
        "states": [state_numbers[tuple(state["name"] for state in group["states"])] for group in groups],
        "sizes": [[state["size"] for state in group["states"]] for group in groups],
        "n_states": [group["n_states"] for group in groups],
        "scale": [scale_numbers[beginning(group.get("scale", ""), 200)] for group in groups],
        "kinds": [group["number"] for group in groups if group["states_are"] == "kinds"],
        "loadings": [packed([_loading_code(column, group) for column in group["columns"]]) for group in groups],
        "cells": [[[cell[0] for cell in one["cells"]] for one in _with_cells(group)] for group in groups],
        "shades": [
            "".join(_DIGITS[cell[1]] for one in _with_cells(group) for cell in one["cells"]) for group in groups
        ],
        "parts": {
            group["number"]: [[node[one] for one in part] for part in group["parts"]]
            for group in groups
            if group["parts"]
        },
        # How often an unsure column is in its group, in per cent; and another group that it is in, and how often.
        "unsure": {
            column["node"]: [
                percent(column["stability"]),
                *(
                    (group_number.get(other["group"]), percent(other["share"]))
                    if (other := column["elsewhere"])
                    else ()
                ),
            ]
            for group in groups
            for column in group["columns"]
            if column["unsure"]
        },
        # The label of most columns, how many have it, and how many have any.
        "labels": labels
        and [
            [labels["names"].index(match["label"]) if match["label"] else -1, match["count"], match["labelled"]]
            for match in labels["groups"]
        ],
    }


def _with_cells(group: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [column for column in group["columns"] if column["cells"]]


def _loading_code(column: Mapping[str, Any], group: Mapping[str, Any]) -> int:
    """Return the loading of a column in hundredths, plus 101 times what marks it.

    0: no sign, 1: it rises, 2: it falls; 3 to 5: the same, and it is unsure; 6 and 7: it rises or falls, and it is one
    of those that say what a high score means.
    """
    mark = {0: 0, 1: 1, -1: 2}[column["direction"]]
    if column["unsure"]:
        mark += 3
    elif column["node"] in (*group["meaning"]["more"], *group["meaning"]["less"]):
        mark += 5
    return percent(abs(column["loading"] or 0.0)) + 101 * mark


def _related(columns: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the related columns of each, and their correlations in hundredths plus 100."""
    width = _width(len(columns))
    return {
        "width": width,
        "columns": [packed([other for other, _ in column["related"]], width) for column in columns],
        "values": [packed([value + 100 for _, value in column["related"]]) for column in columns],
    }


def _bound(text: str) -> float | str:
    """Return the bound of a bin as a number with as many digits as are shown, or as it is."""
    try:
        return float(f"{float(text):.3g}")
    except ValueError:
        return text


def _shown(names: Sequence[str]) -> list[str]:
    return [one_line(name) for name in names]


def _width(n: int) -> int:
    """Return the number of characters that a number below n is written with."""
    return 2 if n <= 32**2 else 3 if n <= 32**3 else 4


def packed(numbers: Sequence[int], width: int = 2) -> str:
    """Write whole numbers with some characters each, in base 32: they are most of the file."""
    return "".join("".join(_DIGITS[number // 32**place % 32] for place in reversed(range(width))) for number in numbers)
