"""Single rows: the states of the hidden variables behind them, and what is strange about the strangest."""

from typing import Any

import numpy as np

from latree._util.arrays import FloatArray, IntArray
from latree.model import LatentTreeModel
from latree.report.details import per_mille, value_name
from latree.table import Table

_CELLS = 4  # of a row, the least expected ones


def row_facts(model: LatentTreeModel, table: Table, hubs: list[int], count: int) -> dict[str, Any]:
    """Give the strangest rows, and some rows spread evenly over the table, with the states of some hidden variables."""
    scores = model.log_likelihood_rows(table)
    strangest = np.lexsort((np.arange(len(scores)), np.round(scores, 6)))[:count]
    spread = np.unique(np.linspace(0, len(scores) - 1, min(count, len(scores))).round().astype(np.intp))
    finite = scores[np.isfinite(scores)]
    return {
        "median": round(float(np.median(finite)), 2) if finite.size else None,
        "strangest": [
            {**facts, "cells": _least_expected(model, table, row)}
            for facts, row in zip(_rows(model, table, strangest, scores, hubs), strangest.tolist(), strict=True)
        ],
        "some": _rows(model, table, spread, scores, hubs),
        "hubs": hubs,
    }


def _rows(
    model: LatentTreeModel, table: Table, rows: IntArray, scores: FloatArray, hubs: list[int]
) -> list[dict[str, Any]]:
    posteriors = model.posteriors(table.take(rows))
    names = [model.tree.node_names[hub] for hub in hubs]
    facts = []
    for place, row in enumerate(rows.tolist()):
        states = []
        for name in names:
            shares = posteriors[name][place]
            known = not np.isnan(shares).any()
            state = int(np.argmax(np.round(shares, 9))) if known else None
            states.append([state, per_mille(shares[[state]])[0] if known else None])
        score = float(scores[row])
        facts.append({"row": row + 1, "score": round(score, 2) if np.isfinite(score) else None, "states": states})
    return facts


def _least_expected(model: LatentTreeModel, table: Table, row: int) -> list[dict[str, Any]]:
    """Find the cells of a row that are least probable given its other cells: ``P(x_j | rest) = P(row) / P(rest)``."""
    codes = table.take(np.array([row])).codes()[0]
    present = np.flatnonzero(codes >= 0)
    if not len(present):
        return []
    without = np.repeat(codes[None, :], len(present) + 1, axis=0)
    without[np.arange(len(present)), present] = -1
    scores = model.log_likelihood_rows(Table.from_codes(model.columns, without))
    with np.errstate(invalid="ignore"):
        shares = np.exp(np.minimum(scores[-1] - scores[:-1], 0))
    shares = np.where(np.isnan(shares), 1.0, shares)  # nothing can be said beside another impossible cell
    chosen = np.lexsort((present, np.round(shares, 9)))[:_CELLS]
    filled = model.complete(Table.from_codes(model.columns, without[chosen])).codes()
    return [
        {
            "column": int(present[place]),
            "value": value_name(model.columns[present[place]], int(codes[present[place]])),
            "share": float(f"{shares[place]:.2g}"),
            "expected": value_name(model.columns[present[place]], int(filled[number, present[place]])),
        }
        for number, place in enumerate(chosen.tolist())
    ]
