"""Everything that a report says, as plain data without HTML.

Numbers are rounded, so that another machine gets the same report.
"""

from collections.abc import Mapping, Sequence
from glob import has_magic
from math import inf, isfinite
from pathlib import Path
from typing import Any

import numpy as np

from latree import __version__
from latree._util.progress import Progress, no_progress, part_of
from latree._util.rounding import percent
from latree.explain.dependence import Dependence
from latree.explain.groups import with_groups
from latree.explain.overview import GroupColumn, columns_of_groups
from latree.explain.simpler_models import MAX_ROWS, fit_simpler_models
from latree.explain.stability import RESAMPLES
from latree.explain.worth import measure_worth
from latree.figure.colours import group_colours, label_colours
from latree.model import Group, LatentTreeModel
from latree.model.model import aic, bic
from latree.model.record import Record
from latree.model.worth import Worth
from latree.report.drawing_facts import drawing_facts
from latree.report.node_details import per_mille
from latree.report.unusual_rows import row_facts
from latree.report.user_labels import compare_labels
from latree.settings import Settings
from latree.table import Table
from latree.tree import Tree

# The method of the model that the report is about, where methods are compared.
_OWN = "own"
# Names and descriptions of the simpler models, by their methods.
_SIMPLER = {
    "chow-liu": ("Chow-Liu tree", "the best tree without hidden variables"),
    "lcm": ("One hidden variable", "{} latent classes, as many as BIC chooses"),
}
_N_NAMING_COLUMNS = 3  # the number of most telling columns of a group, whose labels come first in the drawing
_FIT_DONE = 600  # progress, of 1000 steps, when the simpler models are fitted
_GROUPS_DONE = 950  # progress when the groups are found


def report_facts(
    model: LatentTreeModel,
    table: Table | None = None,
    *,
    test: Table | None = None,
    labels: Mapping[str, str] | None = None,
    rows: int = 0,
    progress: Progress = no_progress,
) -> dict[str, Any]:
    """Return everything that a report says about a model; see :func:`latree.report.report_html` for the parameters."""
    fit = _fit_facts(model, table, test, part_of(progress, 0, _FIT_DONE))
    if not model.groups:
        model = with_groups(model, table, resamples=RESAMPLES)
    dependence = Dependence(model)
    listed = zip(model.groups, columns_of_groups(model), strict=True)
    columns_of = {group: columns for group, columns in listed if group.level == "main"}
    groups = list(columns_of)
    progress(_GROUPS_DONE, 1000)
    tree = model.tree
    record = model.record
    hidden_centres = [group.centre for group in groups if group.centre >= tree.n_observed]
    return {
        "source": record.source if record else None,
        "latree": __version__,
        "names": list(model.node_names),
        "aliases": list(tree.node_names[tree.n_observed :]),
        "n_columns": tree.n_observed,
        "n_hidden": tree.n_hidden,
        "n_components": len(tree.components),
        "n_rows": table.n_rows if table is not None else record.n_rows if record else None,
        **drawing_facts(dependence, table),
        "groups": [
            {**_group_facts(dependence, group, columns_of[group]), "number": number, "colour": colour}
            for number, (group, colour) in enumerate(zip(groups, group_colours(len(groups)), strict=True), start=1)
        ],
        "labels": _label_facts([labels.get(name, "") for name in tree.names], _columns_of(tree, groups))
        if labels is not None
        else None,
        "fit": fit,
        "data": _data_facts(model, table),
        "rows": row_facts(model, table, hidden_centres, rows) if rows and table is not None else None,
    }


def _group_facts(dependence: Dependence, group: Group, columns: Sequence[GroupColumn]) -> dict[str, Any]:
    tree = dependence.tree
    nodes = frozenset(group.nodes)
    related = dependence.closest_columns(group.centre, len(group.columns), within=nodes)
    telling = [column.column for column in related]
    is_hidden = group.centre >= tree.n_observed
    if not is_hidden:
        telling = [group.centre, *telling]
    number = {tree.names[node]: node for node in group.nodes if node < tree.n_observed}
    # The edges between the group and the rest of the tree have one end in the group.
    support = [
        float(share)
        for (u, v), share in zip(tree.edges.tolist(), tree.support, strict=True)
        if (u in nodes) != (v in nodes) and not np.isnan(share)
    ]
    return {
        "name": group.name,
        "named_by": telling[:_N_NAMING_COLUMNS],
        "columns": [number[column.name] for column in columns],
        "reversed": [number[column.name] for column in columns if column.is_reversed],
        "unsure": [number[column.name] for column in columns if column.is_unsure],
        "nodes": list(group.nodes),
        "centre": group.centre,
        "sizes": sorted(per_mille(dependence.marginals[group.centre]), reverse=True) if is_hidden else None,
        "support": percent(min(support)) if support else None,
        "stability": None if group.stability is None else percent(group.stability),
    }


def _columns_of(tree: Tree, groups: list[Group]) -> list[list[int]]:
    """Return the numbers of each group's columns."""
    return [[node for node in group.nodes if node < tree.n_observed] for group in groups]


def _label_facts(labels: Sequence[str], groups: list[list[int]]) -> dict[str, Any]:
    """Compare labels with groups, and give each label its colour."""
    facts = compare_labels(labels, groups)
    return {**facts, "colours": label_colours(facts["names"], [match["label"] for match in facts["groups"]])}


def _fit_facts(model: LatentTreeModel, table: Table | None, test: Table | None, progress: Progress) -> dict[str, Any]:
    record = model.record
    weight = table.total_weight if table is not None else record.total_weight if record else None
    log_likelihood = model.log_likelihood(table) if table is not None else record.log_likelihood if record else None
    worth = record.worth if record else None
    if worth is None and table is not None:
        worth = measure_worth(model, table, progress=progress)
    facts: dict[str, Any] = {
        "n_parameters": model.n_parameters,
        "total_weight": weight,
        "worth": _worth_facts(worth, record) if worth else None,
        "compared": _gains(worth) if worth else [],
        "n_fitted": min(table.n_rows, MAX_ROWS) if table is not None else None,
        "n_test": test.n_rows if test is not None else None,
        "test_gain": None,
        "history": [round(objective, 3) for objective in record.history] if record else [],
        "converged": record.converged if record else None,
        "warnings": list(record.warnings) if record else [],
        "record": _record_facts(record, model) if record else None,
        "n_states": model.n_states[model.tree.n_observed :].tolist(),
    }
    if log_likelihood is not None and weight is not None:
        facts["own"] = _scores(model, log_likelihood, weight, test)
    if table is not None and test is not None:
        gains = _test_gains(model, table, test)
        facts["test_gain"] = gains[_OWN]
        for compared in facts["compared"]:
            compared["test_gain"] = gains.get(compared["method"])
    if table is not None and record and not _is_fitted(table, log_likelihood, record):
        facts["warnings"].append(
            "These are not the rows that the model was fitted to: distributions of columns are those of other rows. "
            "To score other rows, give the fitted ones as DATA and the others with --test (test=... in Python)."
        )
    return facts


def _worth_facts(worth: Worth, record: Record | None) -> dict[str, Any]:
    goal = record.settings.goal if record else Settings.goal
    return {"headline": worth.headline(), "verdict": worth.verdict(goal), "n_rows": worth.n_rows}


def _gains(worth: Worth) -> list[dict[str, Any]]:
    """Return the gain of each simpler model per new row, and last that of the model itself."""
    rows: list[dict[str, Any]] = []
    for simpler in worth.simpler:
        name, description = _SIMPLER.get(simpler.method, (simpler.method, "{} states"))
        figures = {"gain": _rounded(simpler.gain), "error": _rounded(simpler.error), "test_gain": None}
        rows.append(
            {"method": simpler.method, "name": name, "description": description.format(simpler.n_states), **figures}
        )
    own = {"gain": _rounded(worth.gain), "error": _rounded(worth.error), "test_gain": None}
    return [*rows, {"method": _OWN, "name": "This tree", "description": "", **own}]


def _test_gains(model: LatentTreeModel, table: Table, test: Table) -> dict[str, float | None]:
    """Return the mean gain per test row of the model, and of simpler models that are fitted to the table."""
    models = {simpler.method: simpler.model for simpler in fit_simpler_models(table)} | {_OWN: model}
    means = {method: found.log_likelihood(test) / test.total_weight for method, found in models.items()}
    independent = means.pop("independent")
    return {method: _rounded(mean - independent) for method, mean in means.items()}


def _rounded(value: float | None) -> float | None:
    return round(value, 4) if value is not None and isfinite(value) else None


def _is_fitted(table: Table, log_likelihood: float | None, record: Record) -> bool:
    """Return whether rows are those that a model was fitted to, as far as their number and likelihood show."""
    return table.n_rows == record.n_rows and _is_same(log_likelihood, record.log_likelihood)


def _is_same(one: float | None, other: float | None) -> bool:
    """Return whether two log-likelihoods agree up to rounding; None and minus infinity both mean impossible rows."""
    if one is None or other is None or not isfinite(one):
        return (one is None or not isfinite(one)) and other is None
    return abs(one - other) <= 1e-6 * abs(other)


def _scores(model: LatentTreeModel, log_likelihood: float, weight: float, test: Table | None) -> dict[str, Any]:
    held_out = model.log_likelihood(test) / test.total_weight if test is not None else None
    finite = isfinite(log_likelihood)
    return {
        "log_likelihood": round(log_likelihood, 2) if finite else None,
        "per_row": round(log_likelihood / weight, 4) if finite else None,
        "aic": round(aic(log_likelihood, model.n_parameters), 2) if finite else None,
        "bic": round(bic(log_likelihood, model.n_parameters, weight), 2) if finite else None,
        "n_parameters": model.n_parameters,
        "held_out": round(held_out, 4) if held_out is not None and isfinite(held_out) else None,
    }


def _record_facts(record: Record, model: LatentTreeModel) -> dict[str, Any]:
    facts = record.to_dict()
    states = model.n_states[model.tree.n_observed :].tolist() or [1]
    own = (min(states), max(states), record.smoothing)
    # If several attempts have the states and smoothing of the model, the best of them was chosen.
    best = max(
        (attempt for attempt in record.tried if attempt[:3] == own),
        key=lambda attempt: -inf if attempt.held_out is None else attempt.held_out,
        default=None,
    )
    facts["tried"] = [{**attempt._asdict(), "chosen": attempt is best} for attempt in record.tried]
    facts["counts"] = dict(record.counts)
    return {key: facts[key] for key in facts if key not in ("version", "history", "n_missing", "warnings", "worth")}


def _data_facts(model: LatentTreeModel, table: Table | None) -> dict[str, Any]:
    record = model.record
    missing = table.n_missing.tolist() if table is not None else list(record.n_missing) if record else None
    n_rows = table.n_rows if table is not None else record.n_rows if record else None
    binned = [node for node, column in enumerate(model.columns) if column.cuts is not None]
    return {
        "missing": missing,
        "n_missing": sum(missing) if missing is not None else None,
        "n_cells": n_rows * len(model.columns) if n_rows is not None else None,
        "binned": binned,
        "bins": sorted({model.columns[node].n_states for node in binned}),
        "n_states": sorted({column.n_states for column in model.columns}),
    }


def title_of(source: str | None) -> str:
    """Return a title for readers from the name of the data."""
    if not source:
        return "a table"
    return "/".join(Path(source).parts[-2:]) if has_magic(source) else Path(source).name
