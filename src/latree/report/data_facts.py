"""What the data are: what the columns are taken for, what is missing, and what is odd."""

from typing import Any

from latree.model import LatentTreeModel
from latree.table import Column, Table
from latree.table.checking import facts_of_column, labels_in_words
from latree.table.findings import sentences
from latree.table.raw import label_of

# The most letters of a list of values, and the most bounds of bins that are listed.
_MAX_VALUES, _MAX_CUTS = 100, 12


def data_facts(model: LatentTreeModel, table: Table | None) -> dict[str, Any]:
    """Return the facts about the columns and, without a table, what the record of the fit has.

    Columns that a fit left out, and what else was odd at that time, are among the warnings of the record. So a report
    that is made again from the model and the rows is the same.
    """
    record = model.record
    missing = table.n_missing.tolist() if table is not None else list(record.n_missing) if record else None
    n_rows = table.n_rows if table is not None else record.n_rows if record else None
    warned = set(record.warnings) if record else set()
    return {
        "missing": missing,
        "n_missing": sum(missing) if missing is not None else None,
        "n_cells": n_rows * len(model.columns) if n_rows is not None else None,
        "kinds": _kinds(model.columns),
        "bins": sorted({column.n_states for column in model.columns if column.cuts is not None}),
        "odd": [one for one in sentences(table.oddities) if one not in warned] if table is not None else [],
    }


def _kinds(columns: tuple[Column, ...]) -> list[dict[str, Any]]:
    """Return what columns are taken for; columns with the same values are listed together."""
    found: dict[tuple[str, int, str], list[int]] = {}
    for node, column in enumerate(columns):
        facts = facts_of_column(column, 0)
        text = labels_in_words(facts, _MAX_VALUES) if column.cuts is None else _cuts_in_words(column.cuts)
        found.setdefault((facts.taken_for, column.n_states, text), []).append(node)
    return [
        {"taken_for": taken_for, "n_states": n_states, "text": text, "columns": nodes}
        for (taken_for, n_states, text), nodes in found.items()
    ]


def _cuts_in_words(cuts: tuple[float, ...]) -> str:
    shown = ", ".join(map(label_of, cuts[:_MAX_CUTS]))
    return f"cut at {shown}{', ...' if len(cuts) > _MAX_CUTS else ''}" if cuts else ""
