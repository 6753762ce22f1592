"""Single rows: the states of their hidden variables, and why the most unusual rows are unusual."""

from typing import Any

import numpy as np

from latree._util.arrays import FloatArray, IntArray
from latree.model import LatentTreeModel
from latree.report.node_details import category_name, per_mille
from latree.table import Table

_N_CELLS = 4  # the number of least expected cells that are shown of an unusual row


def row_facts(model: LatentTreeModel, table: Table, hidden: list[int], count: int) -> dict[str, Any]:
    """Return facts about the most unusual rows, and about rows that are evenly spaced over the table.

    Parameters
    ----------
    model : LatentTreeModel
    table : Table
    hidden : list of int
        The hidden nodes whose most probable states are shown.
    count : int
        The number of rows of each of the two kinds.
    """
    scores = model.log_likelihood_rows(table)
    unusual = np.lexsort((np.arange(len(scores)), np.round(scores, 6)))[:count]
    spaced = np.unique(np.linspace(0, len(scores) - 1, min(count, len(scores))).round().astype(np.intp))
    finite = scores[np.isfinite(scores)]
    return {
        "median": round(float(np.median(finite)), 2) if finite.size else None,
        "unusual": [
            {**facts, "cells": _least_expected_cells(model, table, row)}
            for facts, row in zip(_states_of(model, table, unusual, scores, hidden), unusual.tolist(), strict=True)
        ],
        "spaced": _states_of(model, table, spaced, scores, hidden),
        "hidden": hidden,
    }


def _states_of(
    model: LatentTreeModel, table: Table, rows: IntArray, scores: FloatArray, hidden: list[int]
) -> list[dict[str, Any]]:
    """Return for each row its log-likelihood, and the most probable state of each hidden variable."""
    posteriors = model.posteriors(table.take(rows))
    names = [model.tree.node_names[node] for node in hidden]
    facts = []
    for position, row in enumerate(rows.tolist()):
        states = []
        for name in names:
            posterior = posteriors[name][position]
            is_possible = not np.isnan(posterior).any()
            state = int(np.argmax(np.round(posterior, 9))) if is_possible else None
            states.append([state, per_mille(posterior[[state]])[0] if is_possible else None])
        score = float(scores[row])
        facts.append({"row": row + 1, "score": round(score, 2) if np.isfinite(score) else None, "states": states})
    return facts


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
