"""What may make a fitted model less trustworthy, in plain words."""

import numpy as np

from latree.counts.contingency import present_together
from latree.inference.em import Fit
from latree.model import LatentTreeModel
from latree.table import Table

_SAME = 0.01  # states under which no neighbour's probabilities differ by more mean the same


def doubts(table: Table, fit: Fit) -> list[str]:
    """Say in plain words what may make the result less trustworthy."""
    found = []
    if not fit.monitor.converged:
        found.append(
            f"EM stopped after {fit.monitor.max_iterations} iterations while it still gained more than "
            f"{fit.monitor.tolerance:g} nats a cell; allow it more iterations"
        )
    found += idle_states(fit.model, table.total_weight)
    if table.total_weight < 10 * int(table.n_states.max()):
        what = "rows" if table.total_weight == table.n_rows else "rows (the sum of their weights)"
        found.append(f"{table.total_weight:g} {what} are few for columns of up to {table.n_states.max()} states")
    if table.n_missing.any():
        mostly = [
            f"column {name!r} is missing in {n_missing} of {table.n_rows} rows"
            for name, n_missing in zip(table.names, table.n_missing.tolist(), strict=True)
            if n_missing > table.n_rows / 2
        ]
        apart = [
            f"columns {table.names[i]!r} and {table.names[j]!r} are never present in the same row"
            for i, j in np.argwhere(np.triu(present_together(table) == 0, 1)).tolist()
        ]
        found += [*_first_few(mostly), *_first_few(apart)]
    return found


def idle_states(model: LatentTreeModel, n_rows: float) -> list[str]:
    """Name hidden variables with states that no row is in, or that mean the same as another one."""
    empty, twins = [], []
    tree = model.tree
    for node, (name, shares) in list(enumerate(model.marginals().items()))[tree.n_observed :]:
        unused = shares * n_rows < 1
        if unused.any():
            empty.append(f"{int(unused.sum())} of the {len(shares)} of {name}")
        around = [model.joint([node, other]) for other, _ in tree.neighbors[node]]
        meanings = np.concatenate(around, axis=1)[~unused] / shares[~unused, None]
        alike = sum(np.abs(meanings[:i] - meaning).max(axis=1).min() < _SAME for i, meaning in enumerate(meanings) if i)
        if alike:
            twins.append(f"{alike} of the {len(shares)} of {name}")
    kinds = {
        "some states hold less than one row, so that fewer would do": empty,
        "some states mean the same as another one, so that fewer would do": twins,
    }
    return [f"{kind}: {', '.join(_first_few(names))}" for kind, names in kinds.items() if names]


def _first_few(messages: list[str], few: int = 3) -> list[str]:
    """Shorten a list of messages that are all of one kind."""
    more = len(messages) - few
    return messages if more <= 1 else [*messages[:few], f"{messages[few]}, and {more - 1} more of this kind"]
