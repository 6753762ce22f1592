"""The groups of columns: what each of them measures, and how its columns look in each state of it."""

from collections import Counter
from collections.abc import Mapping, Sequence
from math import floor, log10
from typing import Any

import numpy as np
from scipy.special import rel_entr

from latree._util.arrays import FloatArray
from latree._util.words import percent, shortened, whole_shares
from latree.facts.words import label_match, label_meaning
from latree.interpret.columns import column_numbers
from latree.interpret.scores import scored_groups
from latree.interpret.view import View
from latree.table import Column
from latree.table.raw import label_of

# Up to so many groups have a card each: about what a reader looks through. More are the lines of a table.
MAX_CARDS = 20
# The number of columns of a group that are shown in full, the strongest first, and the same if there are many groups.
# The others are listed by name, unless they are very few.
_MAX_COLUMNS, _MAX_COLUMNS_OF_MANY, _VERY_FEW = 12, 5, 2
# The number of states that are shown; if there are more, the largest of them.
MAX_STATES = 8
# The number of shades of a heat map's cells, beside the lightest.
_SHADES = 10
# The number of columns that say in words what a high score means, for each of the two directions, and their least
# loading: factors are commonly read by loadings of 0.3 and more, which explain about a tenth of a column.
_MEANING, _MIN_LOADING = 3, 0.3
# The most letters of a value in a cell.
_MAX_VALUE = 26
# The values of a column with two values that mean "yes", in small letters.
_YES = frozenset({"yes", "y", "true", "1", "present", "ja", "oui", "si", "sí", "sim"})
# The number of states that have a profile, the largest of them, and the number of columns in a profile.
MAX_PROFILES = 24
_MAX_TYPICAL = 8
# A column is typical of a state if it tells at least so many nats about the state.
_MIN_INFORMATION = 0.02


def all_groups(view: View) -> list[dict[str, Any]]:
    """Return what is known of each group: main groups first, then those above and below; strong loadings come first."""
    model, record, found = view.model, view.model.record, list[dict[str, Any]]()
    node = {name: number for number, name in enumerate(view.tree.names)}
    scored = [group.name for group in scored_groups(model)]
    known = record.reliability if record and len(record.reliability) == len(scored) else [(None, None)] * len(scored)
    reliability = {name: share for name, (share, _) in zip(scored, known, strict=True)}
    parts: dict[int | None, list[list[str]]] = {}
    for part in model.groups:
        if part.level == "fine":
            parts.setdefault(part.parent, []).append(list(part.columns))
    for number, (group, columns) in enumerate(zip(model.groups, view.group_columns, strict=True)):
        facts: dict[str, Any] = {
            "number": number + 1,
            "name": group.name,
            "level": group.level,
            "centre": group.centre,
            "hidden": group.hidden,
            "nodes": list(group.nodes),
            "stability": group.stability,
            "reliability": reliability.get(group.name),
            "parent": None if group.parent is None else model.groups[group.parent].name,
            "parts": parts.get(number, []),
            "columns": [
                {
                    "node": node[column.name],
                    "name": column.name,
                    "loading": _rounded(column.loading),
                    "direction": column.direction,
                    "unsure": column.is_unsure,
                    "stability": column.stability,
                    "elsewhere": column.elsewhere and {"group": column.elsewhere[0], "share": column.elsewhere[1]},
                }
                for column in columns
            ],
            "n_states": 0 if group.hidden is None else len(view.marginals[group.centre]),
            # None: no column has an order, or no hidden variable stands for the group
            "states_are": None
            if group.centre not in view.scores
            else "kinds"
            if group.centre in view.kinds
            else "steps",
        }
        found.append(facts | {"mean_loading": _mean_loading(facts["columns"]), "meaning": _meaning(facts["columns"])})
    return found


def with_states(groups: Sequence[Mapping[str, Any]], view: View) -> list[dict[str, Any]]:
    """Return main groups, from :func:`all_groups`, with what their columns are in each state."""
    model = view.model
    shown = {
        group["centre"]: [column["node"] for column in group["columns"][: _n_shown(group, len(groups))]]
        for group in groups
        if group["hidden"] is not None
    }
    conditionals = dict(view.columns_given(shown))
    cards = []
    for group in groups:
        centre = group["centre"]
        card: dict[str, Any] = {
            **group,
            "columns": [column | {"cells": []} for column in group["columns"]],
            "n_shown": _n_shown(group, len(groups)),
            "states": [],
        }
        if centre in shown:
            states, sizes, kept = _largest_states(view, centre, MAX_STATES)
            names = view.state_names(centre)
            card["states"] = [{"name": names[states[place]], "size": sizes[place]} for place in kept]
            kept_states = [states[place] for place in kept]
            given = {column: conditionals[centre][column][:, kept_states] for column in shown[centre]}
            # Shares of "yes" are often small, such as those of words: the largest one is the darkest cell.
            yes = {column: yes_of(model.columns[column]) for column in given}
            shares = [float(given[column][value].max()) for column, value in yes.items() if value is not None]
            darkest = max(shares, default=1.0) or 1.0
            card["scale"] = _scale([model.columns[column] for column in shown[centre]], darkest)
            for facts in card["columns"][: card["n_shown"]]:
                facts["cells"] = _cells(model.columns[facts["node"]], given[facts["node"]], darkest)
        cards.append(card)
    return cards


def _largest_states(view: View, node: int, most: int) -> tuple[list[int], list[int], list[int]]:
    """Return the states of a hidden variable, their sizes in per cent, and the places of the largest of them.

    States go from low to high, or are as they are if they have no order.
    """
    marginal, score = view.marginals[node], view.scores.get(node)
    states = list(range(len(marginal)))
    if score is not None:
        states = np.argsort(np.round(score.values, 9), kind="stable").tolist()
    sizes = whole_shares([float(marginal[state]) for state in states])
    return states, sizes, sorted(sorted(range(len(states)), key=lambda place: (-sizes[place], place))[:most])


def state_profiles(view: View, hidden: int) -> list[dict[str, Any]]:
    """Return the size of each state of a hidden variable, and the columns that are most typical of it.

    A column is typical of a state if its distribution there differs from that in all rows: by the relative entropy.
    """
    model = view.model
    ((_, conditionals),) = view.columns_given({hidden: range(model.tree.n_observed)})
    names = view.state_names(hidden)
    states, sizes, kept = _largest_states(view, hidden, MAX_PROFILES)
    found = []
    for place in kept:
        state = states[place]
        typical = []
        for node in range(model.tree.n_observed):
            inside, overall = conditionals[node][:, state], view.marginals[node]
            information = round(float(rel_entr(inside, overall).sum()), 9)
            if information >= _MIN_INFORMATION:
                typical.append((information, {"node": node, **_typical(model.columns[node], inside, overall)}))
        # What is more frequent says more than what is missing: words of a topic come before words of other topics.
        typical.sort(key=lambda one: (not one[1]["more"], -one[0], one[1]["node"]))
        shown = [facts for _, facts in typical[:_MAX_TYPICAL]]
        found.append({"name": names[state], "size": sizes[place], "typical": shown})
    return found


def _typical(column: Column, inside: FloatArray, overall: FloatArray) -> dict[str, Any]:
    """Return what is typical of a column in a state, in words, beside the same figure for all rows."""
    if (yes := yes_of(column)) is not None:
        value, share, of_all = "", float(inside[yes]), float(overall[yes])
        return {"value": value, "text": _percent(share), "overall": _percent(of_all), "more": share >= of_all}
    numbers = column_numbers(column)
    if numbers is None:
        contributions = np.round(rel_entr(inside, overall), 9)
        best = int(contributions.argmax())
        texts = {"text": _percent(float(inside[best])), "overall": _percent(float(overall[best]))}
        return {"value": category_name(column, best), **texts, "more": True}
    span = float(np.ptp(numbers))
    mean, of_all = float(numbers @ inside), float(numbers @ overall)
    texts = {"text": two_digits(mean, span), "overall": two_digits(of_all, span)}
    return {"value": "high" if mean >= of_all else "low", **texts, "more": True}


def _n_shown(group: Mapping[str, Any], n_groups: int) -> int:
    """Return how many columns of a group are shown in full."""
    columns = group["columns"]
    most = _MAX_COLUMNS if n_groups <= MAX_CARDS else _MAX_COLUMNS_OF_MANY
    return len(columns) if len(columns) <= most + _VERY_FEW else most


def _meaning(columns: Sequence[Mapping[str, Any]]) -> dict[str, list[int]]:
    """Return the strongest columns that rise and that fall with the group, without weak ones and doubtful members."""
    sure = [
        column for column in columns if not column["unsure"] and round(abs(column["loading"] or 0), 2) >= _MIN_LOADING
    ]
    return {
        key: [column["node"] for column in sure if column["direction"] == direction][:_MEANING]
        for key, direction in (("more", 1), ("less", -1))
    }


def _mean_loading(columns: Sequence[Mapping[str, Any]]) -> float | None:
    """Return the mean of the loadings of a group's columns, whatever their signs; None if it has none."""
    loadings = [abs(column["loading"]) for column in columns if column["loading"] is not None]
    return _rounded(sum(loadings) / len(loadings)) if loadings else None


def two_digits(value: float, span: float) -> str:
    """Return a value of a column whose values span a range, to about two digits of that range."""
    decimals = 1 - floor(log10(span)) if span > 0 else 1
    # Adding zero turns -0.0 into 0.0.
    return f"{round(round(value, decimals + 9), decimals) + 0.0:,.{max(decimals, 0)}f}".replace("-", "−")


def _cells(column: Column, conditional: FloatArray, darkest: float) -> list[list[Any]]:
    """Return what a column is expected to be in each state, as text and as a shade from low to high.

    That is the share of "yes" for a column with two values of which one means yes, the mean for an ordered column, and
    otherwise the most probable value with its share. ``darkest`` is the largest share of "yes" of all columns.
    """
    if (yes := yes_of(column)) is not None:
        return [[f"{percent(share)}\u00a0%", _shade(share / darkest)] for share in conditional[yes].tolist()]
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
    return [[_mean_in_words(column, mean, span), _shade(rank)] for mean, rank in zip(means, ranks, strict=True)]


def _mean_in_words(column: Column, mean: float, span: float) -> str:
    """Return a mean of a column whose numbers have some range; of dates and times, as the column writes them."""
    return two_digits(mean, span) if column.unit is None else column.text_of(mean)


def yes_of(column: Column) -> int | None:
    """Return the value of a column with two values that counts as "yes", if there is one."""
    if column.n_states != 2 or column.cuts is not None:
        return None
    meanings = [category.strip().lower() in _YES for category in column.categories]
    if sum(meanings) == 1:
        return meanings.index(True)
    return 1 if column.kind == "boolean" else None


def _scale(columns: Sequence[Column], darkest: float) -> str:
    """Return what the cells of a heat map are, in words, given the largest share of "yes"."""
    yes = [None if (value := yes_of(column)) is None else column.categories[value] for column in columns]
    if None not in yes:
        same = f"“{yes[0]}”" if len(set(yes)) == 1 else "“yes”"
        return f"Cells are shares of rows with {same}, from 0 (pale) to {_percent(darkest)} (strong)."
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
        return " to ".join(_answer(column, code) for code in (0, -1))
    span = float(np.ptp(numbers))
    return " to ".join(_mean_in_words(column, float(number), span) for number in (numbers[0], numbers[-1]))


def _answer(column: Column, code: int) -> str:
    """Return a category of a column of numbers, with the name of the answer."""
    label = column.categories[code]
    return f"{label} ({column.answers[code]})" if column.answers and column.answers[code] != label else label


def _shade(share: float) -> int:
    return min(max(round(_SHADES * round(share, 9)), 0), _SHADES)


def category_name(column: Column, code: int) -> str:
    """Return the name of a category for readers: that of the answer, if it is known; a bin is named by its bounds."""
    return column.answers[code] if column.answers else value_name(column, column.categories[code])


def value_name(column: Column, value: Any) -> str:
    """Return the name of a value for readers: a bin is named by its bounds, and a number has few digits."""
    if column.cuts is None:
        return label_of(value)
    if not isinstance(value, str):
        return label_of(float(f"{value:.4g}") if isinstance(value, float) else value)
    return value.replace("<= ", "≤ ").replace("(", "").replace("]", "").replace(", ", " to ")


def _percent(share: float) -> str:
    return f"{percent(share)}\u00a0%"


def _rounded(share: float | None) -> float | None:
    """Return a number without noise in the last bits. Adding zero turns -0.0 into 0.0."""
    return None if share is None else round(share, 9) + 0.0


def label_facts(labels: Sequence[str], groups: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return how the labels of columns compare with the main groups, and the same in words."""
    facts = compare_labels(labels, [[column["node"] for column in group["columns"]] for group in groups])
    match = label_match(facts)
    return {**facts, "match": match, "meaning": label_meaning(match)}


def compare_labels(labels: Sequence[str], groups: Sequence[Sequence[int]]) -> dict[str, Any]:
    """Return how well groups of columns match the labels of the columns.

    Parameters
    ----------
    labels : sequence of str
        The label of each column; "" for none.
    groups : sequence of sequences of int
        The columns of each group.

    Returns
    -------
    dict
        ``names``: the labels, the most common first. ``of``: for each column the number of its label, or -1.
        ``groups``: for each group its most common label, how many of its columns have that label, how many have any
        label, and which have another label. ``whole``: for each label, whether all its columns are in one group.
        ``exact``: for each label, whether that group has no other columns, with or without a label. ``purity``: the
        share of labelled columns that have the most common label of their group.
    """
    counts = Counter(label for label in labels if label)
    names = sorted(counts, key=lambda label: (-counts[label], label))
    number = {label: position for position, label in enumerate(names)}
    matches, n_matching = [], 0
    whole: set[str] = set()
    exact: set[str] = set()
    for columns in groups:
        inside = Counter(labels[column] for column in columns if labels[column])
        most_common = min(inside, key=lambda label: (-inside[label], number[label]), default=None)
        n_most_common = inside[most_common] if most_common else 0
        others = [column for column in columns if labels[column] not in ("", most_common)]
        matches.append({"label": most_common, "count": n_most_common, "labelled": inside.total(), "others": others})
        n_matching += n_most_common
        whole |= {label for label in inside if inside[label] == counts[label]}
        exact |= {label for label in inside if inside[label] == counts[label] == len(columns)}
    return {
        "names": names,
        "of": [number.get(label, -1) for label in labels],
        "groups": matches,
        "whole": [name in whole for name in names],
        "exact": [name in exact for name in names],
        "purity": round(n_matching / counts.total(), 6) if counts else None,
    }
