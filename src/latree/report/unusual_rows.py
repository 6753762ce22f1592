"""Single rows: where they stand, in words, and why the most unusual rows are unusual."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from latree._util.arrays import FloatArray, IntArray
from latree._util.words import percent
from latree.interpret.scores import RowScores, row_scores, scored_groups
from latree.interpret.view import view_of
from latree.model import LatentTreeModel
from latree.report.node_details import category_name
from latree.table import Table

_N_CELLS = 4  # the number of least expected cells that are shown of an unusual row
_N_GROUPS = 6  # the number of groups on which a row is described, those that say most about it
# A state says something about a row if knowing it is worth so many nats: a state that most rows are in says little.
_MIN_INFORMATION = 0.1
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
    scores = model.log_likelihood_rows(table)
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
            facts | {"cells": _least_expected_cells(model, table, row)}
            for facts, row in zip(named(unusual), unusual.tolist(), strict=True)
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


def _least_expected_cells(model: LatentTreeModel, table: Table, row: int) -> list[dict[str, Any]]:
    """Find the cells of a row that are least probable given its other cells: ``P(x_j | rest) = P(row) / P(rest)``."""
    codes = table.take(np.array([row])).codes()[0]
    present = np.flatnonzero(codes >= 0)
    if not len(present):
        return []
    # One copy of the row without each present cell, and last the whole row.
    copies = np.repeat(codes[None, :], len(present) + 1, axis=0)
    copies[np.arange(len(present)), present] = -1
    scores = model.log_likelihood_rows(Table.from_codes(model.columns, copies))
    with np.errstate(invalid="ignore"):
        probabilities = np.exp(np.minimum(scores[-1] - scores[:-1], 0))
    # If the rest of the row is impossible, too, the probability is undefined: such a cell counts as expected.
    probabilities = np.where(np.isnan(probabilities), 1.0, probabilities)
    chosen = np.lexsort((present, np.round(probabilities, 9)))[:_N_CELLS]
    expected = model.complete(Table.from_codes(model.columns, copies[chosen])).codes()
    cells = []
    for number, position in enumerate(chosen.tolist()):
        column = int(present[position])
        cells.append(
            {
                "column": column,
                "value": category_name(model.columns[column], int(codes[column])),
                "probability": float(f"{probabilities[position]:.2g}"),
                "expected": category_name(model.columns[column], int(expected[number, column])),
            }
        )
    return cells
