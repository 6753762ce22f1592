"""The page that asks: an adaptive questionnaire as one HTML file, with the model in it."""

from collections.abc import Sequence
from typing import Any

from latree._util.words import one_line
from latree.errors import InputError
from latree.interpret.asking import EQUAL_WITHIN, check_reliability, scales_of
from latree.interpret.scores import Scale
from latree.model import LatentTreeModel
from latree.report.page import MAX_PAGE, inline, page_json, policy, script, templates
from latree.table import Column
from latree.table.formats.text import guarded
from latree.table.raw import label_of

DEFAULT_TITLE = "Questions"


def ask_html(
    model: LatentTreeModel,
    *,
    groups: Sequence[str] | None = None,
    items: int | None = None,
    reliability: float | None = None,
    title: str = DEFAULT_TITLE,
) -> str:
    """Return a page that asks the questions that :func:`latree.interpret.asking.next_question` chooses.

    Parameters
    ----------
    model : LatentTreeModel
    groups : sequence of str, optional
        The groups whose scores matter; by default all.
    items : int, optional
        The most answers that are asked for.
    reliability : float, optional
        Ask no more about a group whose score has this reliability.
    title : str
    """
    check_reliability(reliability)
    scales = scales_of(model, groups)
    style, code = inline("base.css", "ask.css"), script("script/ask/scores.js", "script/ask/page.js")
    facts = _facts(model, scales) | {"items": items, "reliability": reliability, "equal_within": EQUAL_WITHIN}
    page = (
        templates()
        .get_template("ask.html")
        .render(
            title=one_line(title),
            style=style,
            script=code,
            policy=policy(style, [code]),
            data=page_json(facts),
        )
    )
    size = len(page.encode())
    if size > MAX_PAGE:
        n_columns = sum(len(scale.columns) for scale in scales)
        raise InputError(
            f"the page would have {size / 1e6:.1f} MB for {n_columns} columns in {len(scales)} groups, and at most "
            f"{MAX_PAGE / 1e6:.0f} MB open fast on a phone: choose groups with --group"
        )
    return page


def _facts(model: LatentTreeModel, scales: Sequence[Scale]) -> dict[str, Any]:
    asked = sorted({column for scale in scales for column in scale.columns.tolist()})
    number = {column: position for position, column in enumerate(asked)}
    return {
        "header": [column.name for column in model.columns],
        "columns": [{"place": column} | _column(model.columns[column]) for column in asked],
        "groups": [_group(scale, number) for scale in scales],
    }


def _column(column: Column) -> dict[str, Any]:
    return {
        "shown": one_line(column.name),
        "text": one_line(column.description) if column.description else "",
        "labels": [one_line(label) for label in column.answers or column.categories],
        # What stands for each state in a file that latree reads.
        "cells": [label_of(column.decode(code)) for code in range(column.n_states)],
        "cuts": None if column.cuts is None else list(column.cuts),
    }


def _group(scale: Scale, number: dict[int, int]) -> dict[str, Any]:
    assert scale.network is not None
    return {
        "shown": one_line(scale.name),
        "file": guarded(scale.name),
        "columns": [number[column] for column in scale.columns.tolist()],
        "parent": scale.network.parent.tolist(),
        "order": scale.network.order.tolist(),
        "tables": [table.tolist() for table in scale.network.tables],
        "values": {node: values.tolist() for node, values in scale.values.items()},
    }
