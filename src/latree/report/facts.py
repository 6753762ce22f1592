"""All that a report tells, as plain data: no HTML, and no bits that another machine would compute otherwise."""

from collections.abc import Mapping, Sequence
from glob import has_magic
from math import inf, isfinite
from pathlib import Path
from typing import Any

import numpy as np

from latree import __version__
from latree._util.progress import Progress, no_progress, part_of
from latree.inference.em import DEFAULT_SMOOTHING
from latree.model import LatentTreeModel
from latree.model.model import aic, bic
from latree.model.record import Record
from latree.report.dependence import Dependence
from latree.report.details import column_details, hidden_details, nats, per_mille
from latree.report.groups import Group, find_groups
from latree.report.labels import compare_labels
from latree.report.references import MOST_ROWS, references
from latree.report.strange import row_facts
from latree.table import Table
from latree.tree import Tree
from latree.tree.drawing import branches_of

_NAMED_BY = 3  # columns that name a group
N_COLOURS = 12
_FIT, _GROUPS = 600, 950  # steps of the whole after which the fit is compared, and the groups are found


def report_facts(
    model: LatentTreeModel,
    table: Table | None = None,
    *,
    test: Table | None = None,
    labels: Mapping[str, str] | None = None,
    rows: int = 0,
    progress: Progress = no_progress,
) -> dict[str, Any]:
    """Collect what a report tells of a model.

    Parameters
    ----------
    model : LatentTreeModel
    table : Table, optional
        The rows that the model was fitted to, coded with its columns.
    test : Table, optional
        Other rows to score.
    labels : mapping of str to str, optional
        From names of columns to labels.
    rows : int
        How many rows to look at one by one.
    progress : callable
    """
    fit = _fit_facts(model, table, test, part_of(progress, 0, _FIT))
    dependence = Dependence(model)
    groups = find_groups(model.tree, dependence.between_columns, part_of(progress, _FIT, _GROUPS))
    columns, scales = column_details(dependence, table)
    distinct = list(dict.fromkeys((scale.names, scale.ordered, scale.bounds) for scale in scales))
    numbers = {scale: number for number, scale in enumerate(distinct)}
    for column, scale in zip(columns, scales, strict=True):
        column["scale"] = numbers[scale.names, scale.ordered, scale.bounds]
    tree = model.tree
    record = model.record
    hubs = [group.hub for group in groups if group.hub >= tree.n_observed]
    colours = _colours(tree, groups)
    return {
        "source": record.source if record else None,
        "latree": __version__,
        "names": list(tree.node_names),
        "n_columns": tree.n_observed,
        "n_hidden": tree.n_hidden,
        "n_parts": len(tree.parts),
        "n_rows": table.n_rows if table is not None else record.n_rows if record else None,
        "tree": _tree_facts(dependence),
        "scales": [
            {"names": list(names), "ordered": ordered, "bounds": list(bounds)} for names, ordered, bounds in distinct
        ],
        "columns": columns,
        "hidden": hidden_details(dependence, scales),
        "groups": [
            {**_group_facts(dependence, group), "colour": colour} for group, colour in zip(groups, colours, strict=True)
        ],
        "labels": _label_facts([labels.get(name, "") for name in tree.names], groups, colours)
        if labels is not None
        else None,
        "fit": fit,
        "data": _data_facts(model, table),
        "rows": row_facts(model, table, hubs, rows) if rows and table is not None else None,
        "drawing": tree.draw(),
    }


def _tree_facts(dependence: Dependence) -> dict[str, Any]:
    """Give the tree hung from its middle; numbers of an edge stand at its lower end, None above a root."""
    tree = dependence.tree
    rooted = tree.rooted()
    support = [None if edge < 0 or np.isnan(tree.support[edge]) else float(tree.support[edge]) for edge in rooted.up]
    strengths, lengths = (
        [None if edge < 0 else round(float(values[edge]), 3) for edge in rooted.up]
        for values in (dependence.model.edge_strengths(), dependence.model.edge_lengths())
    )
    return {
        "parent": rooted.parent.tolist(),
        "strength": strengths,
        "length": lengths,
        "information": [None if edge < 0 else nats(float(dependence.edge_information[edge])) for edge in rooted.up],
        "support": [None if share is None else round(share, 3) for share in support],
    }


def _group_facts(dependence: Dependence, group: Group) -> dict[str, Any]:
    tree = dependence.tree
    found = dependence.closest(group.hub, len(group.columns), within=frozenset(group.nodes))
    informative = [relative.column for relative in found]
    if group.hub < tree.n_observed:
        informative = [group.hub, *informative]
    known = [float(tree.support[edge]) for edge in group.edges if not np.isnan(tree.support[edge])]
    hidden = group.hub >= tree.n_observed
    return {
        "named_by": informative[:_NAMED_BY],
        "columns": informative,
        "nodes": list(group.nodes),
        "hub": group.hub,
        "sizes": sorted(per_mille(dependence.marginals[group.hub]), reverse=True) if hidden else None,
        "support": round(min(known), 3) if known else None,
        "ties": len(group.edges),
    }


def _colours(tree: Tree, groups: list[Group]) -> list[int]:
    """Give the groups numbers of colours in the order in which the tree is drawn, so that neighbours differ."""
    rooted, place = tree.rooted(), dict[int, int]()
    branches = branches_of(rooted, tree.n_observed)
    stack = [node for node in rooted.order.tolist() if rooted.parent[node] < 0]
    while stack:
        node = stack.pop()
        place[node] = len(place)
        stack.extend(reversed(branches[node]))
    order = sorted(range(len(groups)), key=lambda number: min(place[column] for column in groups[number].columns))
    return [order.index(number) % N_COLOURS for number in range(len(groups))]


def _label_facts(labels: Sequence[str], groups: list[Group], colours: list[int]) -> dict[str, Any]:
    """Compare labels with groups; a label has the colour of the first group that it is the commonest of."""
    facts = compare_labels(labels, [group.columns for group in groups])
    wanted = {match["label"]: colour for match, colour in reversed([*zip(facts["groups"], colours, strict=True)])}
    spare = [colour for colour in range(N_COLOURS) if colour not in wanted.values()] or list(range(N_COLOURS))
    others = [name for name in facts["names"] if name not in wanted]
    wanted |= {name: spare[number % len(spare)] for number, name in enumerate(others)}
    return {**facts, "colours": [wanted[name] for name in facts["names"]]}


def _fit_facts(model: LatentTreeModel, table: Table | None, test: Table | None, progress: Progress) -> dict[str, Any]:
    record = model.record
    weight = table.total_weight if table is not None else record.total_weight if record else None
    log_likelihood = model.log_likelihood(table) if table is not None else record.log_likelihood if record else None
    facts: dict[str, Any] = {
        "n_parameters": model.n_parameters,
        "total_weight": weight,
        "compared": [],
        "n_compared": min(table.n_rows, MOST_ROWS) if table is not None else None,
        "n_test": test.n_rows if test is not None else None,
        "history": [round(objective, 3) for objective in record.history] if record else [],
        "converged": record.converged if record else None,
        "warnings": list(record.warnings) if record else [],
        "record": _record_facts(record, model) if record else None,
        "n_states": model.n_states[model.tree.n_observed :].tolist(),
    }
    if log_likelihood is not None and weight is not None:
        facts["own"] = _scores(model, log_likelihood, weight, test)
    if table is not None:
        smoothing = record.smoothing if record else DEFAULT_SMOOTHING
        facts["compared"] = [
            {
                "name": reference.name,
                "what": reference.what,
                **_scores(reference.model, reference.model.log_likelihood(table), table.total_weight, test),
            }
            for reference in references(table, smoothing, progress)
        ]
        if record and (table.n_rows != record.n_rows or not _agree(log_likelihood, record.log_likelihood)):
            facts["warnings"].append("these are not the rows that the model was fitted to")
    return facts


def _agree(one: float | None, other: float | None) -> bool:
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
    plain = record.to_dict()
    states = model.n_states[model.tree.n_observed :].tolist() or [1]
    own = (min(states), max(states), record.smoothing)
    # Of several attempts like the model, the best was taken.
    best = max(
        (attempt for attempt in record.tried if attempt[:3] == own),
        key=lambda attempt: (-(attempt.bic or 0), -inf if attempt.held_out is None else attempt.held_out),
        default=None,
    )
    plain["tried"] = [{**attempt._asdict(), "chosen": attempt is best} for attempt in record.tried]
    plain["counts"] = dict(record.counts)
    return {key: plain[key] for key in plain if key not in ("version", "history", "n_missing", "warnings")}


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
        "missing_words": sorted({word for column in model.columns for word in column.missing}),
    }


def title_of(source: str | None) -> str:
    """Give a title for people from the name of the data."""
    if not source:
        return "a table"
    return "/".join(Path(source).parts[-2:]) if has_magic(source) else Path(source).name
