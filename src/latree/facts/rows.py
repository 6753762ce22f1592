"""The data: what the columns are taken for, what is missing and odd; rows in words, and the most unusual rows."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from latree._util.arrays import FloatArray, IntArray
from latree._util.words import percent
from latree.facts.groups import value_name
from latree.interpret.scores import RowScores, row_scores, scored_groups
from latree.interpret.view import view_of
from latree.model import LatentTreeModel
from latree.model.explain import explain_cells
from latree.table import Column, Table
from latree.table.checking import facts_of_column, labels_in_words
from latree.table.findings import sentences

_N_CELLS = 4  # the number of least expected cells that are shown of an unusual row
_N_GROUPS = 6  # the number of groups on which a row is described, those that say most about it
# A state says something about a row if knowing it is worth so many nats: a state that most rows are in says little.
_MIN_INFORMATION = 0.1
# The most letters of a list of values, and the most bounds of bins that are listed.
_MAX_VALUES, _MAX_CUTS = 100, 12
_MIDDLE = "middle"  # the state that is not worth a word


def row_facts(model: LatentTreeModel, table: Table, count: int) -> dict[str, Any]:
    """Return facts about the most unusual rows, and about rows that are evenly spaced over the table.

    Parameters
    ----------
    model : LatentTreeModel
        With groups.
    table : Table
    count : int
        The number of rows of each of the two kinds.
    """
    scores = model.log_density_rows(table)
    unusual = np.lexsort((np.arange(len(scores)), np.round(scores, 6)))[:count]
    spaced = np.unique(np.linspace(0, len(scores) - 1, min(count, len(scores))).round().astype(np.intp))
    finite = scores[np.isfinite(scores)]

    def named(rows: IntArray) -> list[dict[str, Any]]:
        return [
            {"row": name, "score": round(float(scores[row]), 2) if np.isfinite(scores[row]) else None}
            for name, row in zip(table.names_of_rows(rows), rows.tolist(), strict=True)
        ]

    standing = row_scores(model, table.take(spaced))
    shares = [view_of(model).marginals[group.centre] for group in scored_groups(model)]
    return {
        "median": round(float(np.median(finite)), 2) if finite.size else None,
        "unusual": [
            facts | {"cells": _least_expected_cells(model, codes, numbers)}
            for facts, codes, numbers in zip(
                named(unusual), table.take(unusual).codes(), table.numbers(unusual), strict=True
            )
        ],
        "spaced": [
            facts | {"standing": _standing(standing, shares, position)} for position, facts in enumerate(named(spaced))
        ]
        if standing.names
        else [],
    }


def _standing(rows: RowScores, shares: Sequence[FloatArray], position: int) -> list[dict[str, Any]]:
    """Return the states of a row and the groups that are in each, such as high on two groups and low on one.

    Groups come by how much their state says about the row: ``p log(p / q)``, where p is the probability of the state in
    this row, and q its share of all rows.
    """
    found = []
    for names, state, group, p, share in zip(
        rows.state_names, rows.states[position].tolist(), rows.names, rows.probabilities[position], shares, strict=True
    ):
        information = round(float(p * np.log(p / share[state])), 6) if state >= 0 and share[state] > 0 else 0.0
        if information >= _MIN_INFORMATION and names[state] != _MIDDLE:
            found.append((-information, group, names[state], percent(float(p))))
    kept = sorted(found)[:_N_GROUPS]
    return [
        {
            "state": state,
            "groups": [
                {"name": group, "probability": probability} for _, group, own, probability in kept if own == state
            ],
        }
        for state in dict.fromkeys(state for _, _, state, _ in kept)
    ]


def _least_expected_cells(model: LatentTreeModel, codes: IntArray, numbers: FloatArray) -> list[dict[str, Any]]:
    """Return the most unusual cells of a row, given its other cells, in words."""
    return [
        {
            "column": cell.column,
            "value": value_name(model.columns[cell.column], cell.value),
            "probability": float(f"{cell.probability:.2g}"),
            "expected": value_name(model.columns[cell.column], cell.expected),
        }
        for cell in explain_cells(model.network, model.columns, codes, numbers, model.linear)[:_N_CELLS]
    ]


def data_facts(model: LatentTreeModel, table: Table | None) -> dict[str, Any]:
    """Return the facts about the columns and, without a table, what the record of the fit has.

    Columns that a fit left out, and what else was odd at that time, are in the record. So a report that is made
    again from the model and the rows is the same.
    """
    record = model.record
    missing = table.n_missing.tolist() if table is not None else list(record.n_missing) if record else None
    n_rows = table.n_rows if table is not None else record.n_rows if record else None
    known = set(record.odd) if record else set()
    return {
        "missing": missing,
        "n_missing": sum(missing) if missing is not None else None,
        "n_cells": n_rows * len(model.columns) if n_rows is not None else None,
        "kinds": _kinds(model.columns),
        "bins": sorted({column.n_states for column in model.columns if column.cuts is not None}),
        "odd": [one for one in sentences(table.oddities) if one not in known] if table is not None else [],
    }


def _kinds(columns: tuple[Column, ...]) -> list[dict[str, Any]]:
    """Return what columns are taken for; columns with the same values are listed together."""
    found: dict[tuple[str, int, str], list[int]] = {}
    for node, column in enumerate(columns):
        facts = facts_of_column(column, 0)
        text = labels_in_words(facts, _MAX_VALUES) if column.cuts is None else _cuts_in_words(column)
        found.setdefault((facts.taken_for, column.n_states, text), []).append(node)
    return [
        {"taken_for": taken_for, "n_states": n_states, "text": text, "columns": nodes}
        for (taken_for, n_states, text), nodes in found.items()
    ]


def _cuts_in_words(column: Column) -> str:
    cuts = column.cuts or ()
    # In as many digits as a reader can use; dates and times as they are.
    texts = [f"{cut:.4g}" if column.unit is None else column.text_of(cut) for cut in cuts[:_MAX_CUTS]]
    shown = ", ".join(texts)
    return f"cut at {shown}{', ...' if len(cuts) > _MAX_CUTS else ''}" if cuts else ""
