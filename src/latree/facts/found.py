"""Everything that is known of a model, as one plain dict without HTML.

The text, the page, the notebook, ``summary.json`` and ``groups.csv`` are made from this dict. Whatever they say is
computed, and put into words, once. Numbers that are not stored in the model are rounded, so that another machine gets
the same report.
"""

from collections.abc import Mapping
from glob import has_magic
from math import inf, isnan
from pathlib import Path
from typing import Any

from latree import __version__
from latree._util.progress import part_of_stage
from latree._util.words import percent
from latree.errors import InputError
from latree.facts.discovery import between_groups, closest_groups, typical_rows, unexpected_pairs
from latree.facts.fit import fit_facts
from latree.facts.groups import all_groups, label_facts, state_profiles, with_states
from latree.facts.rows import data_facts, row_facts
from latree.facts.warnings import warnings_of
from latree.facts.words import (
    certainty,
    discovery_lines,
    finding,
    headline,
    key_facts,
    key_lines,
    levels_lines,
    misplaced,
    worth_facts,
)
from latree.interpret.dependence import SEED
from latree.interpret.groups import n_groups_of, with_groups
from latree.interpret.reliability import reliability
from latree.interpret.scores import scored_groups
from latree.interpret.view import view_of
from latree.model import LatentTreeModel
from latree.model.query import MAX_ROWS
from latree.model.record import Record
from latree.model.row_model import aic, bic
from latree.table import Table
from latree.table.sources import weights_facts

_FIT_DONE = 0.6  # share of the time until the simpler models are fitted


def facts_of(model: LatentTreeModel, labels: Mapping[str, str] | None = None) -> dict[str, Any]:
    """Return what a model and the record of its fit say. It is computed once, and kept with the model: change nothing.

    Parameters
    ----------
    model : LatentTreeModel
        With groups.
    labels : mapping of str to str, optional
        The user's own label of each column; by default those of the fit.
    """
    own = dict(model.record.labels) if model.record else {}
    if labels is not None and labels != own:
        return _facts_of(model, labels)
    kept = vars(model)
    if "_facts" not in kept:
        kept["_facts"] = _facts_of(model, own or None)
    found: dict[str, Any] = kept["_facts"]
    return found


def _facts_of(model: LatentTreeModel, labels: Mapping[str, str] | None) -> dict[str, Any]:
    view, tree, record = view_of(model), model.tree, model.record
    every = all_groups(view)
    groups = [group for group in every if group["level"] == "main"]
    grouped = {node for group in groups for node in group["nodes"]}
    group_of = {column["name"]: group["name"] for group in groups for column in group["columns"]}
    facts = {
        "latree": __version__,
        "source": record.source if record else None,
        "names": list(model.node_names),
        "aliases": list(tree.node_names[tree.n_observed :]),
        "descriptions": [column.description for column in model.columns],
        "n_rows": record.n_rows if record else None,
        "n_columns": tree.n_observed,
        "n_hidden": tree.n_hidden,
        # Columns that depend on no other one are not called parts.
        "n_parts": sum(component.bit_count() > 1 for component in tree.components),
        "finding": finding(len(tree.edges), tree.n_hidden, len(groups)),
        "groups": groups,
        "levels": (levels := _levels(model, len(groups))),
        "comes_again": levels_lines(levels),
        "alone": [node for node in range(tree.n_observed) if node not in grouped],
        "redundant": [
            {
                "columns": [model.node(one), model.node(other)],
                "names": [one, other],
                "group": group_of.get(one, ""),
                "strength": strength,
            }
            for one, other, strength in (record.redundant if record else ())
        ],
        "labels": None if labels is None else label_facts([labels.get(name, "") for name in tree.names], groups),
        "drawing": model.draw(),
        "warnings": warnings_of(model),
    }
    key = key_facts(record.key) if record and record.key else None
    facts |= {"is_given": bool(record and record.settings.key), "key": key_lines(key), "misplaced": misplaced(key)}
    facts |= {"between": between_groups(groups), "closest": closest_groups(view, groups), "unexpected": []}
    facts["discoveries"] = discovery_lines(facts)
    support = [None if isnan(share) else percent(share) for share in tree.support.tolist()]
    facts |= {"headline": headline(facts), "certainty": certainty(support, groups)}
    return facts | {"summary": _summary(model, record, facts, every) if record else {}}


def _levels(model: LatentTreeModel, n_main: int) -> list[dict[str, Any]]:
    """Return every number of groups that the tree can be cut into, and how well it comes again."""
    least, most = n_groups_of(model)
    shares = model.levels.replication or (None,) * (most - least + 1)
    return [
        {"n_groups": number, "comes_again": share, "is_main": number == n_main}
        for number, share in zip(range(least, most + 1), shares, strict=True)
        if model.levels.edges
    ]


def summary_of(model: LatentTreeModel) -> dict[str, Any]:
    """Return the facts of a fit that a model remembers, as plain data for JSON; none if it has no record."""
    record, n_scores = model.record, len(scored_groups(model))
    if record and len(record.reliability) != n_scores:
        raise InputError(f"the fit's reliability has {len(record.reliability)} pairs for {n_scores} scores")
    return dict(facts_of(model)["summary"])


def _summary(
    model: LatentTreeModel, record: Record, facts: Mapping[str, Any], groups: list[dict[str, Any]]
) -> dict[str, Any]:
    log_likelihood = -inf if record.log_likelihood is None else record.log_likelihood
    n_states = model.n_states[model.tree.n_observed :].tolist()
    names = model.tree.node_names
    return {
        "latree": record.latree,
        "method": record.settings.method,
        "goal": record.settings.goal,
        "n_rows": record.n_rows,
        "weights": weights_facts(record.weights, record.weights_are, record.n_rows, record.total_weight),
        "n_columns": facts["n_columns"],
        "n_hidden": facts["n_hidden"],
        "n_groups": len(facts["groups"]),
        "groups": group_list(groups),
        # The numbers of groups that the tree can be cut into, and how well they come again.
        "levels": [{"n_groups": level["n_groups"], "comes_again": level["comes_again"]} for level in facts["levels"]],
        "labels": _summary_of_labels(dict(record.labels), model, facts["groups"]),
        "n_states": n_states[0] if len(set(n_states)) == 1 else n_states,
        "smoothing": record.smoothing,
        "n_parameters": model.n_parameters,
        "worth": worth_facts(record.worth, record.settings.goal) if record.worth else None,
        "key": key_facts(record.key) if record.key else None,
        "candidates": [candidate._asdict() for candidate in record.candidates or ()],
        "log_likelihood": log_likelihood,
        "aic": aic(log_likelihood, model.n_parameters),
        "bic": bic(log_likelihood, model.n_parameters, record.total_weight),
        # Of every inner edge that has one, by the names of its two ends.
        "support": {
            f"{names[u]}-{names[v]}": support
            for (u, v), support in zip(model.tree.edges.tolist(), model.tree.support.tolist(), strict=True)
            if not isnan(support)
        },
        "reliability": {
            group.name: {"reliability": share, "alpha": alpha}
            for group, (share, alpha) in zip(scored_groups(model), record.reliability, strict=False)
        },
        "redundant_columns": [
            {"columns": pair["names"], "group": pair["group"], "strength": pair["strength"]}
            for pair in facts["redundant"]
        ],
        "iterations": max(len(record.history) - 1, 0),
        "converged": record.converged,
        **dict(record.counts),
        "missing_cells": sum(record.n_missing),
        "left_out": dict(record.left_out),
        "binned_columns": sum(column.cuts is not None for column in model.columns),
        "settings": record.settings.to_dict(),
        "warnings": list(facts["warnings"]),
    }


def group_list(groups: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the main facts of groups of all levels, for JSON."""
    return [
        {
            "name": group["name"],
            "level": group["level"],
            "columns": [column["name"] for column in group["columns"]],
            **{key: group[key] for key in ("hidden", "parent", "stability")},
            "states": group["states_are"],
        }
        for group in groups
    ]


def _summary_of_labels(
    labels: Mapping[str, str], model: LatentTreeModel, groups: list[dict[str, Any]]
) -> dict[str, Any] | None:
    """Return how well the main groups match the labels of the model's fit, by names; None without labels."""
    if not labels:
        return None
    facts = label_facts([labels.get(name, "") for name in model.tree.names], groups)
    return {
        "match": facts["match"] or None,
        "purity": facts["purity"],
        # Of a label that is divided, columns are in several groups, or in none.
        "labels": {
            name: "exact" if exact else "whole" if whole else "divided"
            for name, whole, exact in zip(facts["names"], facts["whole"], facts["exact"], strict=True)
        },
        "groups": {
            group["name"]: match
            | {"others": {(name := model.tree.names[column]): labels[name] for column in match["others"]}}
            for group, match in zip(groups, facts["groups"], strict=True)
        },
    }


def report_facts(
    model: LatentTreeModel,
    table: Table | None = None,
    *,
    test: Table | None = None,
    labels: Mapping[str, str] | None = None,
    rows: int = 0,
) -> dict[str, Any]:
    """Return everything that a report says about a model; see :func:`latree.report.report_html` for the parameters."""
    with part_of_stage(0, _FIT_DONE):
        fit = fit_facts(model, table, test)
    with part_of_stage(_FIT_DONE, 1):
        if not model.groups:
            model = with_groups(model, table)
        view, found = view_of(model), facts_of(model, labels)
        is_single = found["finding"] == "one hidden variable"
        facts = found | {
            "groups": with_states(_with_reliability(found["groups"], model, table), view),
            "profiles": state_profiles(view, view.hidden[0]) if is_single else None,
        }
        if table is not None:
            facts["unexpected"] = unexpected_pairs(view, table, found["groups"])
            facts["discoveries"] = discovery_lines(facts)
        return facts | {
            "n_rows": table.n_rows if table is not None else found["n_rows"],
            "fit": fit | {"warnings": [*found["warnings"], *fit["warnings"]]},
            "data": data_facts(model, table),
            "typical_rows": typical_rows(model, table) if table is not None else {},
            "rows": row_facts(model, table, rows) if rows and table is not None else None,
        }


def _with_reliability(
    groups: list[dict[str, Any]], model: LatentTreeModel, table: Table | None
) -> list[dict[str, Any]]:
    """Return groups with the reliability of their scores on rows, or a sample of them, if the fit does not know it."""
    if table is None or any(group["reliability"] is not None for group in groups):
        return groups
    rows = table.subsample(MAX_ROWS, SEED) if table.n_rows > MAX_ROWS else table
    found = {one.name: one.reliability for one in reliability(model, rows)}
    return [group | {"reliability": found.get(group["name"])} for group in groups]


def title_of(source: str | None) -> str:
    """Return a title for readers from the name of the data."""
    if not source:
        return "a table"
    return "/".join(Path(source).parts[-2:]) if has_magic(source) else Path(source).name
