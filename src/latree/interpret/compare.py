"""Two models side by side: their trees, their groups of columns, and the scores that they give to the same rows.

Models are compared on the columns that both have. Robinson-Foulds compares the trees, and the adjusted Rand index the
main groups: over all pairs of columns, how often both models agree that the two are in one group, or that they are not.
It is 1 for the same groups, and 0 on average for groups at random. A column that is in no group is a group of its own.
"""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment

from latree.errors import InputError
from latree.interpret.groups import adjusted_rand, known_groups
from latree.interpret.scores import RowScores, row_scores
from latree.interpret.view import view_of
from latree.model import LatentTreeModel
from latree.tree import Tree


class NothingInCommon(InputError):
    """Two models or trees without a common column."""


def compare_models(first: LatentTreeModel, second: LatentTreeModel, data: Any = None, **reading: Any) -> dict[str, Any]:
    """Return how two models agree: on the tree, on the groups of columns, and on the scores of rows.

    Use it for models of two samples, two years or two methods. They are compared on the columns that both have.

    Parameters
    ----------
    first, second : LatentTreeModel
    data : data frame or path, optional
        Rows with the columns of both models, which score them (:func:`row_scores`).
    **reading
        How the data are read: ``format``, ``unseen`` and ``names`` as for :meth:`LatentTreeModel.encode`.

    Returns
    -------
    dict
        ``columns``: the names of those in both models (``common``) and in one of them (``only_first``,
        ``only_second``). ``robinson_foulds``: the distance of the trees on the common columns, ``max``: the largest
        distance that such trees can have, ``splits``: how many the ``first`` and the ``second`` tree have, and how many
        of them the other one has not (``only_first``, ``only_second``). ``adjusted_rand``: the agreement of the main
        groups, 1 if they are the same and about 0 if they agree by chance. ``groups``: the pairs of groups that
        correspond to each other, in the order of the first model, each with the names ``first`` and ``second`` (None
        for a group without counterpart), the columns ``shared``, ``only_first`` and ``only_second``, and ``overlap``:
        the share of the columns of either group that are in both. With data, also ``n_rows``, and for each pair of
        groups ``correlation``: that of their scores over the rows; None where there is none.

    References
    ----------
    L. Hubert, P. Arabie: *Comparing partitions*, 1985. D. F. Robinson, L. R. Foulds: *Comparison of phylogenetic
    trees*, 1981.

    Examples
    --------
    >>> import latree
    >>> from latree import compare_models
    >>> trees = [latree.Tree.from_newick(text) for text in ("((a,b,c),(d,e,f,g));", "((a,b,c,d),(e,f,g));")]
    >>> one, two = (latree.random_model(tree, n_states=2, start="identity", random_state=5) for tree in trees)
    >>> found = compare_models(one, two)
    >>> found["robinson_foulds"], found["max"]
    (2, 8)
    >>> [(pair["shared"], pair["overlap"]) for pair in found["groups"]]
    [(['e', 'f', 'g'], 0.75), (['a', 'b', 'c'], 0.75)]

    The scores of the same rows under both models:

    >>> import pandas as pd
    >>> rows = pd.DataFrame(one.sample(100, random_state=0).decode())
    >>> [round(pair["correlation"], 2) for pair in compare_models(one, two, rows)["groups"]]
    [0.95, 0.95]
    """
    facts = compare_trees(first.tree, second.tree)
    common = facts["columns"]["common"]
    groups = [_groups_among(model, common) for model in (first, second)]
    labels = [_labels(own, common) for own in groups]
    facts |= {"adjusted_rand": adjusted_rand(*labels), "groups": _matched(*groups)}
    if data is not None:
        scores = [row_scores(model, model.encode(data, **reading)) for model in (first, second)]
        facts["n_rows"] = len(scores[0].log_density)
        for pair in facts["groups"]:
            pair["correlation"] = _correlation(scores[0], pair["first"], scores[1], pair["second"])
    return facts


def opposite_groups(model: LatentTreeModel, other: LatentTreeModel) -> list[str]:
    """Return the groups of a model that count in the opposite direction of those of another that correspond to them.

    The loadings of the columns that both groups have decide: the sum of their products is negative.
    """
    common = [name for name in model.tree.names if name in set(other.tree.names)]
    if not common:
        raise NothingInCommon("no column is in both models")
    loadings = []
    for one in (model, other):
        view = view_of(one)
        named = zip(one.groups, view.group_columns, strict=True)
        loadings.append(
            {group.name: {column.name: column.loading or 0.0 for column in found} for group, found in named}
        )
    found = []
    for pair in _matched(*(_groups_among(one, common) for one in (model, other))):
        if pair["first"] is not None and pair["second"] is not None:
            first, second = loadings[0][pair["first"]], loadings[1][pair["second"]]
            if sum(first[column] * second[column] for column in pair["shared"]) < 0:
                found.append(pair["first"])
    return found


def compare_trees(first: Tree, second: Tree) -> dict[str, Any]:
    """Return how two trees agree on the columns that both have; see :func:`compare_models`."""
    common = [name for name in first.names if name in set(second.names)]
    if not common:
        names = " and ".join(f"{tree.names[0]!r:.60}" for tree in (first, second))
        raise NothingInCommon(f"no column is in both; their first columns are {names}")
    one, two = first.restricted(common), second.restricted(common)
    only_first, only_second = one.unshared_splits(two)
    return {
        "robinson_foulds": only_first + only_second,
        "max": one.max_robinson_foulds,
        "splits": {
            "first": len(one.splits),
            "second": len(two.splits),
            "only_first": only_first,
            "only_second": only_second,
        },
        "columns": {
            "common": common,
            "only_first": [name for name in first.names if name not in set(common)],
            "only_second": [name for name in second.names if name not in set(common)],
        },
    }


def _groups_among(model: LatentTreeModel, columns: Iterable[str]) -> dict[str, list[str]]:
    """Return the columns of each main group by its name, without columns that do not count, and without empty groups.

    The columns of a group are in the given order.
    """
    position = {name: number for number, name in enumerate(columns)}
    main = [group for group in known_groups(model) if group.level == "main"]
    found = {group.name: sorted(position.keys() & set(group.columns), key=position.__getitem__) for group in main}
    return {name: inside for name, inside in found.items() if inside}


def _labels(groups: dict[str, list[str]], columns: Iterable[str]) -> list[str]:
    """Return the group of each column; a column in no group has a label of its own."""
    group_of = {column: name for name, inside in groups.items() for column in inside}
    return [f"group {group_of[column]}" if column in group_of else f"column {column}" for column in columns]


def _matched(first: dict[str, list[str]], second: dict[str, list[str]]) -> list[dict[str, Any]]:
    """Return the pairs of groups with the largest sum of overlaps, and then groups that are left over."""
    overlaps = np.array([[_overlap(one, two) for two in second.values()] for one in first.values()])
    rows, columns = linear_sum_assignment(-overlaps) if overlaps.size else ([], [])
    names = list(second)
    partner = {
        list(first)[row]: names[column] for row, column in zip(rows, columns, strict=True) if overlaps[row, column] > 0
    }
    pairs: list[tuple[str | None, str | None]] = [(name, partner.get(name)) for name in first]
    pairs += [(None, name) for name in names if name not in partner.values()]
    return [_pair(one, two, first[one] if one else [], second[two] if two else []) for one, two in pairs]


def _correlation(first: RowScores, group: str | None, second: RowScores, other_group: str | None) -> float | None:
    """Return the correlation of two groups' scores over the rows that are possible under both models, if any."""
    if group not in first.names or other_group not in second.names:
        return None
    both = np.array([first.scores[:, first.names.index(group)], second.scores[:, second.names.index(other_group)]])
    both = both[:, np.isfinite(both).all(axis=0)]
    if both.shape[1] < 2 or (np.ptp(both, axis=1) == 0).any():
        return None
    return float(np.corrcoef(both)[0, 1])


def _overlap(one: Sequence[str], two: Sequence[str]) -> float:
    return len(set(one) & set(two)) / len(set(one) | set(two))


def _pair(name: str | None, other_name: str | None, one: list[str], two: list[str]) -> dict[str, Any]:
    return {
        "first": name,
        "second": other_name,
        "shared": [column for column in one if column in two],
        "only_first": [column for column in one if column not in two],
        "only_second": [column for column in two if column not in one],
        "overlap": _overlap(one, two),
    }
