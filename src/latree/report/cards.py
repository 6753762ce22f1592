"""The group cards: what each group of columns measures, and how its columns look in each state of it."""

from collections.abc import Mapping, Sequence
from math import floor, log10
from typing import Any

import numpy as np

from latree._util.arrays import FloatArray
from latree._util.words import percent, shortened, whole_shares
from latree.figure.draw import group_colours
from latree.interpret.columns import column_numbers
from latree.interpret.view import GroupColumn, View
from latree.model import Group, LatentTreeModel
from latree.report.node_details import category_name
from latree.table import Column

# The number of columns of a group that are shown in full, the strongest first, and the same if there are many groups.
# The others are listed by name, unless they are very few.
_MAX_COLUMNS, _MAX_COLUMNS_OF_MANY, _VERY_FEW = 12, 5, 2
_MANY_GROUPS = 20
# The number of groups that have a card, the largest; all others have a line in a list.
_MAX_CARDS = 40
# The number of states that are shown; if there are more, the largest of them.
MAX_STATES = 6
# The number of shades of a heat map's cells, beside the lightest.
_SHADES = 10
# The number of columns that say in words what a high score means, for each of the two directions, and their least
# loading: factors are commonly read by loadings of 0.3 and more, which explain about a tenth of a column.
_MEANING, _MIN_LOADING = 3, 0.3
# The most letters of a value in a cell.
_MAX_VALUE = 16
# The values of a column with two values that mean "yes", in small letters.
_YES = frozenset({"yes", "y", "true", "1", "present", "ja", "oui", "si", "sí", "sim"})


def group_cards(view: View, reliability: Mapping[str, float | None] | None = None) -> list[dict[str, Any]]:
    """Return the card of each main group of a model, in the order of the groups.

    Parameters
    ----------
    view : View
        Of a model with groups.
    reliability : mapping, optional
        The reliability of each group's score by the group's name; None without rows.
    """
    model = view.model
    listed = zip(model.groups, view.group_columns, strict=True)
    main = [(group, columns) for group, columns in listed if group.level == "main"]
    node = {name: number for number, name in enumerate(model.tree.names)}
    shown = {
        group.centre: [node[column.name] for column in columns[: _n_shown(columns, len(main))]]
        for group, columns in main[:_MAX_CARDS]
        if group.hidden is not None
    }
    cards = []
    conditionals = {
        centre: {column: found[column] for column in shown[centre]} for centre, found in view.columns_given(shown)
    }
    for number, ((group, columns), colour) in enumerate(zip(main, group_colours(len(main)), strict=True), start=1):
        score = view.scores.get(group.centre)
        card: dict[str, Any] = {
            "number": number,
            "colour": colour,
            "name": group.name,
            "centre": group.centre,
            "hidden": group.hidden,
            "nodes": list(group.nodes),
            "stability": None if group.stability is None else percent(group.stability),
            "reliability": _rounded(reliability.get(group.name)) if reliability else None,
            "broad": None if group.parent is None else model.groups[group.parent].name,
            "parts": [list(part.columns) for part in _parts_of(model, group)],
            "columns": [_column_facts(node[column.name], column) for column in columns],
            "has_card": number <= _MAX_CARDS,
            "n_shown": _n_shown(columns, len(main)),
            "states": [],
            "n_states": 0,
            "has_kinds": score is not None and not score.has_steps,
        }
        card["meaning"] = _meaning(card["columns"])
        if group.hidden is not None:
            card["n_states"] = len(view.marginals[group.centre])
        if group.hidden is not None and card["has_card"]:
            marginal = view.marginals[group.centre]
            states = states_in_order(len(marginal), score.values if score else None)
            sizes = whole_shares([float(marginal[state]) for state in states])
            largest = sorted(range(len(states)), key=lambda place: (-sizes[place], place))[:MAX_STATES]
            kept = sorted(largest)
            of_states = view.state_names(group.centre)
            card["states"] = [{"name": of_states[states[place]], "size": sizes[place]} for place in kept]
            card["scale"] = _scale([model.columns[column] for column in shown[group.centre]])
            for facts in card["columns"][: card["n_shown"]]:
                conditional = conditionals[group.centre][facts["node"]][:, [states[place] for place in kept]]
                facts["cells"] = _cells(model.columns[facts["node"]], conditional)
        cards.append(card)
    return cards


def columns_alone(model: LatentTreeModel) -> list[int]:
    """Return the columns that are in no main group."""
    grouped = {node for group in model.groups if group.level == "main" for node in group.nodes}
    return [node for node in range(model.tree.n_observed) if node not in grouped]


def states_in_order(n_states: int, scores: FloatArray | None) -> list[int]:
    """Return the states of a hidden variable from low to high by their scores, or as they are if they have none."""
    return list(range(n_states)) if scores is None else list(np.argsort(np.round(scores, 9), kind="stable").tolist())


def two_digits(value: float, span: float) -> str:
    """Return a value of a column whose values span a range, to about two digits of that range."""
    decimals = 1 - floor(log10(span)) if span > 0 else 1
    # Adding zero turns -0.0 into 0.0.
    return f"{round(round(value, decimals + 9), decimals) + 0.0:,.{max(decimals, 0)}f}".replace("-", "−")


def _n_shown(columns: Sequence[GroupColumn], n_groups: int) -> int:
    """Return how many columns of a group are shown in full."""
    most = _MAX_COLUMNS if n_groups <= _MANY_GROUPS else _MAX_COLUMNS_OF_MANY
    return len(columns) if len(columns) <= most + _VERY_FEW else most


def _parts_of(model: LatentTreeModel, group: Group) -> list[Group]:
    number = model.groups.index(group)
    return [part for part in model.groups if part.level == "fine" and part.parent == number]


def _column_facts(node: int, column: GroupColumn) -> dict[str, Any]:
    """Return the loading of a column: its absolute value, and its direction if that is certain."""
    loading = column.loading
    return {
        "node": node,
        "loading": None if loading is None else _rounded(abs(loading)),
        "direction": column.direction,
        "unsure": column.is_unsure,
        "stability": None if column.stability is None else percent(column.stability),
        "cells": [],
    }


def _meaning(columns: Sequence[Mapping[str, Any]]) -> dict[str, list[int]]:
    """Return the strongest columns that rise and that fall with the group, without weak ones and doubtful members."""
    sure = [column for column in columns if not column["unsure"] and (column["loading"] or 0) >= _MIN_LOADING]
    return {
        key: [column["node"] for column in sure if column["direction"] == direction][:_MEANING]
        for key, direction in (("more", 1), ("less", -1))
    }


def _cells(column: Column, conditional: FloatArray) -> list[list[Any]]:
    """Return what a column is expected to be in each state, as text and as a shade from low to high.

    That is the share of "yes" for a column with two values of which one means yes, the mean for an ordered column, and
    otherwise the most probable value with its share.
    """
    if (yes := yes_of(column)) is not None:
        return [[f"{percent(share)}\u00a0%", _shade(share)] for share in conditional[yes].tolist()]
    numbers = column_numbers(column)
    if numbers is None:
        best = np.round(conditional, 9).argmax(axis=0).tolist()
        shares = [float(conditional[value, state]) for state, value in enumerate(best)]
        names = [shortened(category_name(column, value), _MAX_VALUE) for value in best]
        return [[f"{name} {percent(share)}\u00a0%", _shade(share)] for name, share in zip(names, shares, strict=True)]
    means = (numbers @ conditional).tolist()
    # The shade is that of the mean rank: values of bins may be far apart at the ends.
    ranks = (np.arange(column.n_states) @ conditional / max(column.n_states - 1, 1)).tolist()
    span = float(np.ptp(numbers))
    return [[two_digits(mean, span), _shade(rank)] for mean, rank in zip(means, ranks, strict=True)]


def yes_of(column: Column) -> int | None:
    """Return the value of a column with two values that counts as "yes", if there is one."""
    if column.n_states != 2 or column.cuts is not None:
        return None
    meanings = [category.strip().lower() in _YES for category in column.categories]
    if sum(meanings) == 1:
        return meanings.index(True)
    return 1 if column.kind == "boolean" else None


def _scale(columns: Sequence[Column]) -> str:
    """Return what the cells of a heat map are, in words."""
    yes = [None if (value := yes_of(column)) is None else column.categories[value] for column in columns]
    if None not in yes:
        same = f"“{yes[0]}”" if len(set(yes)) == 1 else "“yes”"
        return f"Cells are shares of rows with {same}."
    ranges = {_range(column) for column in columns}
    if None not in ranges:
        on = f", on a scale from {next(iter(ranges))}" if len(ranges) == 1 else ""
        return f"Cells are means{on}."
    if ranges == {None}:
        return "Cells have the most frequent value and its share."
    return "Cells are means or, for columns without an order, the most frequent value and its share."


def _range(column: Column) -> str | None:
    """Return the lowest and the highest value of an ordered column; None for a column without an order."""
    numbers = column_numbers(column)
    if numbers is None:
        return None
    if column.kind == "text":
        return f"1 ({column.categories[0]}) to {column.n_states} ({column.categories[-1]})"
    if column.cuts is None:
        return f"{column.categories[0]} to {column.categories[-1]}"
    span = float(np.ptp(numbers))
    return f"{two_digits(float(numbers[0]), span)} to {two_digits(float(numbers[-1]), span)}"


def _shade(share: float) -> int:
    return min(max(round(_SHADES * round(share, 9)), 0), _SHADES)


def _rounded(share: float | None) -> float | None:
    """Return a share with two decimals. Rounding to 9 first hides noise in the last bits."""
    return None if share is None else round(round(share, 9), 2)
