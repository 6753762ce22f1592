"""Warnings about a fitted model: what makes it less trustworthy, and what to do about it."""

from collections.abc import Iterable, Sequence

import numpy as np
from scipy.stats import norm

from latree._util.words import listed, plural, quoted, setting
from latree.facts.words import CLEAR, figure
from latree.interpret.view import view_of
from latree.model import Group, LatentTreeModel
from latree.model.query import MAX_ROWS, MIN_CORRELATION, correlation_by_chance
from latree.model.record import Record, Worth
from latree.table import Column
from latree.table.labels import warnings_about_labels

# A state is empty if fewer rows than this are in it.
_MIN_ROWS_IN_STATE = 1

# Two states mean the same if no probability of a neighbour's state differs by this much or more between them.
_SAME_WITHIN = 0.01

# This many columns or hidden variables are named in one warning.
_MAX_NAMED = 3

# Columns with this many ordered values or more rank rows more finely than two states do.
_MIN_ANSWERS = 4

# Letters of aligned sequences. Few amino acids might be grades of a school.
_NUCLEOTIDES, _AMINO_ACIDS, _MIN_AMINO_ACIDS = frozenset("ACGTU"), frozenset("ACDEFGHIKLMNPQRSTVWY"), 8

# A smaller loss is rounding, in nats per row: a model without edges is that of independent columns.
_SMALLEST_LOSS = 0.0005


def warnings_of(model: LatentTreeModel) -> list[str]:
    """Return what makes a fitted model less trustworthy: what it means, and what helps. One text per kind.

    What was odd about the table comes first. A model that was not fitted to rows has no warnings.
    """
    record = model.record
    if record is None:
        return []
    names = model.tree.names
    found = [*record.odd, *warnings_about_labels(dict(record.labels), names)]
    found += warnings_about_labels(dict(record.settings.key or ()), names, "group")
    if not record.converged:
        most = record.settings.max_iter
        found.append(
            f"EM was stopped after {plural(most, 'iteration')} before it converged, so that a longer fit may change "
            f"the probabilities. For that, use {setting('max_iter', 2 * most)}."
        )
    if record.settings.goal == "explain":  # a model that predicts has states to spare: EM finds better optima with them
        found += unused_states(model, record.total_weight)
        found += coarse_scores(model)
    else:
        found += columns_left_out(model, record)
    found += scores_without_direction(model, model.groups)
    found += worse_than_independent(record.worth)
    if record.order_cost is not None:
        found.append(
            f"The rows are in an order that matters: a row is {record.order_cost:.2g} nats less probable if the sixth "
            "of the table around it is held out, and not random rows. So the model was chosen to predict both rows "
            "like these and rows unlike them. If new rows are like these, shuffle the rows and fit again: the model "
            "will predict better."
        )
    return found


def worse_than_independent(worth: Worth | None) -> list[str]:
    """Return a warning if new rows are clearly less probable than under independent columns."""
    if worth is None or worth.gain is None or worth.error is None:
        return []
    if worth.gain > -max(CLEAR * worth.error, _SMALLEST_LOSS):
        return []
    return [
        f"New rows are less probable than under independent columns, by {figure(-worth.gain, worth.error)} nats per "
        "row: the model fits the chance in these rows. Do not rely on its groups, whatever their support and stability."
    ]


def columns_left_out(model: LatentTreeModel, record: Record) -> list[str]:
    """Return a warning if columns have no edge, although the rows show that they depend on others."""
    names, columns = model.tree.names, model.columns
    alone = [node for node in range(len(names)) if not model.tree.neighbors[node]]
    if record.correlations is None or not alone:
        return []
    # The largest correlation of independent columns is beyond these standard errors in a twentieth of all tables.
    n_pairs = len(names) * (len(names) - 1) / 2
    n_errors = float(norm.isf(0.025 / max(n_pairs, 1)))
    present = [max(1 - missing / record.n_rows, 0.0) for missing in record.n_missing]
    shown: list[tuple[float, int, int]] = []
    for node in alone:
        found = []
        for other in range(len(names)):
            n_rows = min(record.total_weight, MAX_ROWS) * present[node] * present[other]
            size = abs((record.correlation(node, other) if other != node and n_rows else None) or 0.0)
            if size > MIN_CORRELATION and size > correlation_by_chance(
                n_rows, (columns[node], columns[other]), n_errors
            ):
                found.append((-size, node, other))
        shown += sorted(found)[:1]
    if not shown:
        return []
    size, node, other = min(shown)
    first = f"{quoted(names[node])} has no edge in the tree, although its correlation with {quoted(names[other])} is "
    first += f"{-size:.2f} in the rows"
    more = f", and so have {plural(len(shown) - 1, 'more column')}" if len(shown) > 1 else ""
    return [
        f"{first}{more}: too little to predict held-out rows better. In this model such columns are independent of all "
        f"others. For a tree that connects all columns, use {setting('method', 'chow-liu')}."
    ]


def unused_states(model: LatentTreeModel, n_rows: float) -> list[str]:
    """Return warnings about hidden variables with states that are empty or mean the same as another state.

    Parameters
    ----------
    model : LatentTreeModel
    n_rows : float
        Number of rows, or their total weight, that the model was fitted to.
    """
    empty, duplicate = dict[str, str](), dict[str, str]()  # from the name of a variable to how many of its states
    n_needed = 1  # this number of states is enough for every hidden variable
    tree = model.tree
    view = view_of(model)
    for node in range(tree.n_observed, tree.n_nodes):
        name, shares = model.node_names[node], view.marginals[node]
        is_empty = shares * n_rows < _MIN_ROWS_IN_STATE
        if is_empty.any():
            empty[name] = f"{int(is_empty.sum())} of the {len(shares)} states"
        # What a state means: P(neighbour | state) for all neighbours, one row per state that is not empty.
        meanings = np.concatenate([view.given(node, other) for other, _ in tree.neighbors[node]], axis=1)[~is_empty]
        n_duplicates = sum(
            bool(np.abs(meanings[:i] - meaning).max(axis=1).min() < _SAME_WITHIN)
            for i, meaning in enumerate(meanings)
            if i
        )
        if n_duplicates:
            duplicate[name] = f"{n_duplicates} of the {len(shares)} states"
        n_needed = max(n_needed, len(meanings) - n_duplicates)
    advice = "You can ignore such states."
    if n_needed < max(model.n_states[tree.n_observed :], default=1):
        advice = f"For fewer states, use {setting('n_states', n_needed)}."
    found = []
    if empty:
        found.append(f"No row is in {_states_of(empty)}. {advice}")
    if duplicate:
        found.append(f"Another state means the same as {_states_of(duplicate)}: read them as one. {advice}")
    return found


def _states_of(found: dict[str, str]) -> str:
    """Return which states are meant: how many of each variable, or of how many variables if these are many."""
    if len(found) <= _MAX_NAMED:
        return " and ".join(f"{states} of {quoted(name)}" for name, states in found.items())
    return f"some states of {len(found)} hidden variables, such as {listed([*found][:_MAX_NAMED])}"


def scores_without_direction(model: LatentTreeModel, groups: Iterable[Group]) -> list[str]:
    """Return a warning if there are main groups whose scores have no direction, because no column has an order."""
    columns = dict(zip(model.tree.names, model.columns, strict=True))
    if _are_sequences(model.columns):
        return []
    found = {
        group.name: sorted(group.columns)
        for group in groups
        if group.level == "main" and group.hidden and not any(columns[name].ordered for name in group.columns)
    }
    if not found:
        return []
    names = [*found]
    if len(names) == 1:
        owners, group = _columns(found[names[0]]).rstrip(","), f"group {quoted(names[0])}"
    else:
        shown = listed(names) if len(names) <= _MAX_NAMED else f"such as {listed(names[:_MAX_NAMED])}"
        owners, group = f"all columns of {len(names)} groups ({shown})", "these groups"
    return [
        f"The values of {owners} are texts without an order, so scores of {group} have no direction: use the states "
        f"instead. If the values have an order, code them as 1, 2, 3, or give it with {setting('kinds')}."
    ]


def coarse_scores(model: LatentTreeModel) -> list[str]:
    """Return a warning if most scores only tell low from high, although the columns say more."""
    columns = dict(zip(model.tree.names, model.columns, strict=True))
    scored = [group for group in model.groups if group.level == "main" and group.hidden]
    coarse = [
        group.name
        for group in scored
        if all(columns[name].ordered and columns[name].n_states >= _MIN_ANSWERS for name in group.columns)
        and [len(model.tables[node]) for node in group.nodes if node >= model.tree.n_observed] == [2]
    ]
    if 2 * len(coarse) <= len(scored):
        return []
    which = f"The group {quoted(coarse[0])} has" if len(coarse) == 1 else f"{len(coarse)} groups have"
    return [
        f"{which} only 2 states, because the rows show no more. Scores then tell low from high, but rank rows less "
        f"finely than the mean of the columns does. To rank rows, use {setting('n_states', 4)}, or that mean."
    ]


def _are_sequences(columns: Sequence[Column]) -> bool:
    """Return whether columns are aligned sequences: nobody expects nucleotides or amino acids to have an order."""
    letters = {label for column in columns for label in column.categories if column.kind == "text"}
    if not all(column.kind == "text" for column in columns) or not all(len(letter) == 1 for letter in letters):
        return False
    return letters <= _NUCLEOTIDES or (letters <= _AMINO_ACIDS and len(letters) >= _MIN_AMINO_ACIDS)


def _columns(names: list[str]) -> str:
    """Return all of a few names, or how many there are, and the first few."""
    if len(names) <= _MAX_NAMED:
        return listed(names)
    return f"{len(names)} columns, such as {listed(names[:_MAX_NAMED])},"
