"""What a reader would not have guessed: columns between groups, groups that go together, pairs, and typical rows."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from scipy.stats import norm

from latree.interpret.between import node_correlation
from latree.interpret.scores import row_scores, scored_groups
from latree.interpret.view import View
from latree.model import LatentTreeModel
from latree.model.query import MAX_ROWS, PairDependence, correlation_by_chance
from latree.table import Table

# A column is between two groups if it is in the other one in so many of the searches on parts of the rows. There are
# six by default: once may be chance, twice is not.
_BETWEEN = 1 / 3
# So many groups, the largest, are compared with each other, and so many columns.
_MAX_GROUPS, _MAX_COLUMNS = 60, 400
# So many pairs are named, and so many rows of each state.
_MAX_PAIRS, _MAX_TYPICAL = 2, 3
# A pair is named if chance alone would name any pair of the table no more often than this.
_CHANCE = 0.05
# Probabilities that agree in so many decimals are equal.
_DECIMALS = 6


def between_groups(groups: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the columns that often go to another group, those that do so most often first."""
    found = [
        {
            "node": column["node"],
            "name": column["name"],
            "group": group["name"],
            "stability": column["stability"],
            "other": column["elsewhere"]["group"],
            "share": column["elsewhere"]["share"],
        }
        for group in groups
        for column in group["columns"]
        if column["elsewhere"] and round(column["elsewhere"]["share"], _DECIMALS) >= round(_BETWEEN, _DECIMALS)
    ]
    return sorted(found, key=lambda one: (-round(one["share"], _DECIMALS), one["name"]))


def closest_groups(view: View, groups: Sequence[Mapping[str, Any]]) -> dict[str, Any] | None:
    """Return the two groups that depend on each other most under the model, and how; None without two groups."""
    shown = [group for group in groups if group["hidden"] is not None][:_MAX_GROUPS]
    if len(shown) < 2:
        return None
    correlation, has_order = node_correlation(view, [group["centre"] for group in shown])
    strength = np.round(np.abs(np.triu(correlation, 1)), _DECIMALS)
    one, other = np.unravel_index(int(strength.argmax()), strength.shape)
    value = round(float(correlation[one, other]), _DECIMALS)
    return {
        "groups": [shown[one]["name"], shown[other]["name"]],
        "correlation": value,
        "has_order": has_order[one] and has_order[other],
    }


def unexpected_pairs(view: View, table: Table, groups: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return columns of different groups whose correlation in the rows is not that of the model, clearest first.

    Where the tree explains all pairs, one is named by chance in at most one of twenty tables.
    """
    model = view.model
    if model.tree.n_observed > _MAX_COLUMNS or len(groups) < 2:
        return []
    in_rows = view.correlation_in_rows(table)
    if in_rows is None:
        return []
    group_of = {column["node"]: number for number, group in enumerate(groups) for column in group["columns"]}
    in_model = view.column_correlation
    # At most so many rows have both cells.
    present = [min(table.n_rows - missing, MAX_ROWS) for missing in table.n_missing.tolist()]
    found: list[tuple[float, PairDependence]] = []
    pairs = np.transpose(np.triu_indices(len(in_rows), 1)).tolist()
    n_errors = float(norm.isf(_CHANCE / 2 / len(pairs)))
    for a, b in pairs:
        if group_of.get(a, -1) == group_of.get(b, -1) or np.isnan(in_rows[a, b]):
            continue
        columns = model.columns[a], model.columns[b]
        pair = PairDependence(
            (columns[0].name, columns[1].name),
            float(in_model[a, b]),
            float(in_rows[a, b]),
            correlation_by_chance(max(min(present[a], present[b]), 1), columns, n_errors),
        )
        # How far the two are apart, where 1 is the most that may be chance.
        apart = abs(float(in_rows[a, b] - in_model[a, b])) / pair.by_chance
        if pair.is_doubtful and apart >= 1:
            found.append((-round(apart, _DECIMALS), pair))
    return [
        {
            "names": list(pair.columns),
            "in_rows": round(pair.in_rows or 0.0, _DECIMALS),
            "in_model": round(pair.in_model, _DECIMALS),
        }
        for _, pair in sorted(found, key=lambda one: (one[0], one[1].columns))[:_MAX_PAIRS]
    ]


def typical_rows(model: LatentTreeModel, table: Table) -> dict[str, dict[str, list[str]]]:
    """Return the rows that are most surely in each state, by the names of groups and of their states.

    Of many rows, a part that is evenly spaced over the table is looked at.
    """
    groups = scored_groups(model)
    if not groups:
        return {}
    rows = np.unique(np.linspace(0, table.n_rows - 1, min(MAX_ROWS, table.n_rows)).round().astype(np.intp))
    scored = row_scores(model, table.take(rows))
    found: dict[str, dict[str, list[str]]] = {}
    for place, (name, states) in enumerate(zip(scored.names, scored.state_names, strict=True)):
        probabilities = np.round(scored.probabilities[:, place], _DECIMALS)
        found[name] = {}
        for state, state_name in enumerate(states):
            own = np.flatnonzero(scored.states[:, place] == state)
            surest = own[np.argsort(-probabilities[own], kind="stable")][:_MAX_TYPICAL]
            if len(surest):
                found[name][state_name] = table.names_of_rows(rows[surest])
    return found
