"""Warnings about a fitted model: what makes it less trustworthy, and what to do about it."""

import numpy as np

from latree.counts.contingency import present_together
from latree.model.fitting import Fit
from latree.model.model import LatentTreeModel
from latree.settings import Goal
from latree.table import Table

# A state is empty if fewer rows than this are in it.
_MIN_ROWS_IN_STATE = 1

# Two states mean the same if no probability of a neighbour's state differs by this much or more between them.
_SAME_WITHIN = 0.01

# There are few rows if they are fewer than this many per state of the column with the most states.
_MIN_ROWS_PER_STATE = 10

# A column is mostly missing if more than this share of its cells is.
_MAX_MISSING_SHARE = 0.5

# This many warnings of one kind are written out.
_MAX_OF_A_KIND = 3


def warnings_about(table: Table, fit: Fit, goal: Goal) -> list[str]:
    """Return what makes a fit to a table less trustworthy, one sentence or two per reason."""
    found = []
    monitor = fit.monitor
    if not monitor.converged:
        found.append(
            f"EM stopped after {monitor.max_iterations} iterations, while it still gained more than "
            f"{monitor.tolerance:g} nats per cell. Use --max-iterations {2 * monitor.max_iterations}"
        )
    if goal == "explain":  # a model that predicts has states to spare: EM finds better optima with them
        found += unused_states(fit.model, table.total_weight)
    if table.total_weight < _MIN_ROWS_PER_STATE * int(table.n_states.max()):
        what = "rows" if table.total_weight == table.n_rows else "rows (the sum of their weights)"
        found.append(
            f"{table.total_weight:g} {what} are few for columns of up to {table.n_states.max()} states. "
            "Use more rows, or merge rare categories"
        )
    if table.n_missing.any():
        mostly_missing = [
            f"column {name!r} is missing in {n_missing} of {table.n_rows} rows"
            for name, n_missing in zip(table.names, table.n_missing.tolist(), strict=True)
            if n_missing > table.n_rows * _MAX_MISSING_SHARE
        ]
        never_together = [
            f"columns {table.names[i]!r} and {table.names[j]!r} are never present in the same row"
            for i, j in np.argwhere(np.triu(present_together(table) == 0, 1)).tolist()
        ]
        found += [*_first_few(mostly_missing), *_first_few(never_together)]
    return found


def unused_states(model: LatentTreeModel, n_rows: float) -> list[str]:
    """Return warnings about hidden variables with states that are empty or mean the same as another state.

    Parameters
    ----------
    model : LatentTreeModel
    n_rows : float
        Number of rows, or their total weight, that the model was fitted to.
    """
    empty, duplicate = [], []
    n_needed = 1  # this number of states is enough for every hidden variable
    tree = model.tree
    for node, (name, shares) in list(enumerate(model.marginals().items()))[tree.n_observed :]:
        is_empty = shares * n_rows < _MIN_ROWS_IN_STATE
        if is_empty.any():
            empty.append(f"{int(is_empty.sum())} of the {len(shares)} states of {name!r}")
        # What a state means: P(neighbour | state) for all neighbours, one row per state that is not empty.
        joints = [model.joint([node, other]) for other, _ in tree.neighbors[node]]
        meanings = np.concatenate(joints, axis=1)[~is_empty] / shares[~is_empty, None]
        n_duplicates = sum(
            bool(np.abs(meanings[:i] - meaning).max(axis=1).min() < _SAME_WITHIN)
            for i, meaning in enumerate(meanings)
            if i
        )
        if n_duplicates:
            duplicate.append(f"{n_duplicates} of the {len(shares)} states of {name!r}")
        n_needed = max(n_needed, len(meanings) - n_duplicates)
    kinds = {"are empty": empty, "mean the same as another state": duplicate}
    fewer = n_needed < max(model.n_states[tree.n_observed :], default=1)
    advice = f". Use --states {n_needed} for fewer states" if fewer else ""
    return [f"{', '.join(_first_few(states))} {what}{advice}" for what, states in kinds.items() if states]


def _first_few(messages: list[str]) -> list[str]:
    """Shorten a list of messages that are all of one kind."""
    more = len(messages) - _MAX_OF_A_KIND
    if more <= 1:
        return messages
    return [*messages[:_MAX_OF_A_KIND], f"{messages[_MAX_OF_A_KIND]}, and {more - 1} more of this kind"]
