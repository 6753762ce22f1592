"""The order of hidden states: from low to high where columns have an order, by size otherwise.

EM numbers states at random. Here they are numbered by their scores (:mod:`latree.interpret.view`), or by their size
where there are none. Nothing depends on how columns or states were numbered before: ties are broken by names and by
distributions of columns.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from latree._util.arrays import FloatArray, IntArray
from latree.errors import InputError
from latree.interpret.view import Score, View, view_of
from latree.model import Group, LatentTreeModel
from latree.model.loading import MIN_EXPLAINED

# Numbers that agree in so many decimals are a tie.
_DECIMALS = 9


class OrderedModel(NamedTuple):
    """A model whose states are in order, and the directions of its columns.

    Attributes
    ----------
    model : LatentTreeModel
    directions : array of int
        One number per column, the sign of its correlation with the score of the hidden variable that it hangs on: 1 if
        the column grows with it on the whole, -1 if it falls, and 0 if the column has no order, or if there is no
        hidden variable that says anything about it.

    Examples
    --------
    >>> import latree
    >>> from latree.interpret.order import order_states
    >>> tree = latree.random_tree(6, random_state=0)
    >>> model, directions = order_states(latree.random_model(tree, n_states=3, start="identity", random_state=0))
    >>> directions.tolist()
    [1, 1, 1, 1, 1, 1]
    """

    model: LatentTreeModel
    directions: IntArray


def order_states(model: LatentTreeModel) -> OrderedModel:
    """Sort the states of every hidden variable from low to high, and return the direction of every column.

    Use it before you read a model or compare two of them. Models that latree learned are in order already. The rows'
    probabilities stay the same: only the rows and columns of tables change places.

    States are ordered by what ordered columns (numbers, bins, booleans, ordered categories) are expected to be in each
    state, weighted by their loadings. These are the columns of the main group that the hidden variable stands for, if
    the model has groups (:func:`with_groups`), or else those beside it. Columns in the opposite direction, such as
    reversed items of a questionnaire, are recognised. A hidden variable without columns follows the hidden variables
    beside it. Where the columns have no order, the largest state comes first.

    Parameters
    ----------
    model : LatentTreeModel

    Returns
    -------
    OrderedModel

    Examples
    --------
    Three answers from 1 to 3. The third question is reversed, and the states are not in order:

    >>> import numpy as np
    >>> from latree import LatentTreeModel, Tree
    >>> from latree.interpret.order import order_states
    >>> from latree import Column
    >>> tree = Tree.from_newick("(calm,relaxed,nervous);")
    >>> columns = tuple(Column(name, "integer", ("1", "2", "3"), ordered=True) for name in tree.names)
    >>> high, low = [0.1, 0.2, 0.7], [0.6, 0.3, 0.1]
    >>> usual, reversed_item = np.transpose([high, low]), np.transpose([low, high])
    >>> shares = np.array([[0.4], [0.6]])
    >>> ordered = order_states(LatentTreeModel(tree, columns, (usual, usual, reversed_item, shares)))
    >>> ordered.directions.tolist()
    [1, 1, -1]
    >>> ordered.model.tables[0].T.tolist()  # P(calm | low state), P(calm | high state)
    [[0.6, 0.3, 0.1], [0.1, 0.2, 0.7]]
    """
    view = view_of(model)
    scores = view.scores
    orders = [np.arange(len(table)) for table in model.tables]
    for node in view.hidden:
        orders[node] = _state_order(view, node, scores[node].values if node in scores else None)
    tables = tuple(
        np.ascontiguousarray(table[orders[node]][:, orders[parent]] if parent >= 0 else table[orders[node]])
        for node, (table, parent) in enumerate(zip(model.tables, model.tree.rooted().parent.tolist(), strict=True))
    )
    return OrderedModel(replace(model, tables=tables), _directions(view, scores))


def flip(model: LatentTreeModel, names: Iterable[str]) -> LatentTreeModel:
    """Return the same model with scores of groups, or of hidden variables, that count in the other direction.

    The lowest state becomes the highest one, and loadings change their signs. The rows' probabilities stay the same.
    """
    flipped = set(model.flipped)
    turned: set[int] = set()
    for name in names:
        group = next((group for group in model.groups if group.name == name), None)
        nodes = (model.node(name),) if group is None else group.nodes
        if group is None and nodes[0] < model.tree.n_observed:
            raise InputError(f"{name!r:.60} is a column; only groups and hidden variables can be flipped")
        turned ^= {number for number, one in enumerate(_scored(model)) if one.centre in nodes}
        flipped ^= {one for one in nodes if one >= model.tree.n_observed}
    record = model.record
    if record is not None:
        norms = (_mirrored(norm) if number in turned else norm for number, norm in enumerate(record.norms))
        record = replace(record, norms=tuple(norms))
    return order_states(replace(model, flipped=tuple(sorted(flipped)), record=record)).model


def _scored(model: LatentTreeModel) -> list[Group]:
    """Return the groups that have a score, in their order."""
    return [group for group in model.groups if group.level == "main" and group.hidden is not None]


def _mirrored(norm: tuple[float, ...]) -> tuple[float, ...]:
    """Return the mean, the deviation and the percentiles of 1 minus a score."""
    mean, deviation, *percentiles = norm
    return (1 - mean, deviation, *(1 - number for number in reversed(percentiles)))


def _state_order(view: View, node: int, scores: FloatArray | None) -> IntArray:
    """Return the states of a hidden variable in their order."""
    shares = view.marginals[node]
    keys = [] if scores is None else [np.round(scores, _DECIMALS)]
    keys.append(-np.round(shares, _DECIMALS))
    n_distinct = _n_distinct(keys)
    if n_distinct < len(shares):
        # States that tie and mean the same for all neighbours are interchangeable. Others are told apart by columns.
        meaning = [view.given(node, other) for other, _ in view.tree.neighbors[node]]
        most = _n_distinct([*keys, *np.round(np.concatenate(meaning, axis=1).T, _DECIMALS)])
        for distributions in _distributions(view, node):
            if n_distinct == most:
                break
            keys += list(np.round(distributions.T, _DECIMALS))
            n_distinct = _n_distinct(keys)
    return np.lexsort(keys[::-1])  # np.lexsort sorts by its last key first


def _n_distinct(keys: list[FloatArray]) -> int:
    """Return how many states differ in one of the keys."""
    return len({state.tobytes() for state in np.array(keys).T + 0.0})  # -0.0 + 0.0 is 0.0


def _distributions(view: View, node: int) -> Iterator[FloatArray]:
    """Yield P(column | node) with one row per state, the nearest columns first; those equally near together, by name.

    They break ties.
    """
    names, neighbors = view.tree.names, view.tree.neighbors
    reached = [(other, node, view.given(node, other)) for other, _ in neighbors[node]]
    while reached:
        columns = {names[at]: found for at, _, found in reached if at < view.tree.n_observed}
        if columns:
            yield np.concatenate([columns[name] for name in sorted(columns)], axis=1)
        reached = [
            (further, at, found @ view.given(at, further))
            for at, before, found in reached
            for further, _ in neighbors[at]
            if further != before
        ]


def _directions(view: View, scores: dict[int, Score]) -> IntArray:
    """Return the direction of each column relative to the nearest hidden variable that has a score."""
    directions = np.zeros(view.tree.n_observed, dtype=np.intp)
    name_of = dict(enumerate(view.tree.names)) | {node: score.name for node, score in scores.items()}
    expected: dict[int, FloatArray] = {}  # of each column that was reached: E[score | column]
    reached = {node: score.values for node, score in scores.items()}
    while reached:
        # From hidden variables to the columns beside them, from these to columns beside them, and so on.
        candidates: dict[int, list[FloatArray]] = {}
        for node, values in sorted(reached.items(), key=lambda item: name_of[item[0]]):
            for column in view.neighbours(node, hidden=False):
                if column not in expected:
                    candidates.setdefault(column, []).append(view.given(column, node) @ values)
        reached = {column: _most_explained(view, column, found) for column, found in candidates.items()}
        expected |= reached
    for column, codes in view.standardised.items():
        if column in expected:
            correlation = float((view.marginals[column] * codes) @ expected[column])
            directions[column] = np.sign(correlation) if correlation**2 > MIN_EXPLAINED else 0
    return directions


def _most_explained(view: View, column: int, expected: Iterable[FloatArray]) -> FloatArray:
    """Return the expected score that varies most with the column; the first of several."""
    return max(expected, key=lambda values: round(float(values**2 @ view.marginals[column]), _DECIMALS))
