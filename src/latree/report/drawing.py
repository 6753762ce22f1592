"""What the drawing shows and its panel says: the tree, columns, hidden variables and heat map."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from latree._util.arrays import FloatArray
from latree._util.words import percent, shortened, whole_shares
from latree.counts.contingency import column_counts
from latree.counts.distances import informational_correlation
from latree.export.trees import plain_newick
from latree.facts.groups import category_name
from latree.facts.text import group_table
from latree.figure.colours import group_colours, label_colours
from latree.figure.overview import Overview
from latree.figure.sketch import tree_facts
from latree.interpret.between import node_correlation
from latree.interpret.columns import loading_columns
from latree.interpret.dependence import RelatedColumn
from latree.interpret.names import MAX_LENGTH, SEPARATOR, made_of_columns
from latree.interpret.view import View
from latree.model import LatentTreeModel
from latree.model.loading import standardised_codes
from latree.report.heatmap import MAX_COLUMNS as MAX_MATRIX
from latree.report.heatmap import MAX_GROUPS, matrix_facts
from latree.table import Column, Table
from latree.table.formats.text import write_columns, write_lines

# With more numbers, loadings.csv is not part of the page: it would be most of the file.
_MAX_LOADINGS = 20_000
# A longer text is not offered for download: the page has to stay below 2 MB.
_MAX_FILE = 100_000
# The number of columns that explain the states of a hidden variable.
MAX_COLUMNS = 5
# The number of related columns that are shown of a column; fewer if there are too many columns for the heat map.
MAX_RELATED, _MAX_RELATED_OF_MANY = 6, 3
# The number of groups in the name of a branch.
_N_GROUPS_IN_NAME = 3
# The number of states of a hidden variable that are explained: the largest ones.
MAX_STATES = 8
# The number of categories that are shown of a column. If it has more, the rarest are added up under one name.
MAX_CATEGORIES = 20


def with_colours(facts: dict[str, Any]) -> dict[str, Any]:
    """Return the facts with a colour for each main group, and for each of the user's labels."""
    groups, labels = facts["groups"], facts["labels"]
    colours = group_colours(len(groups))
    facts = facts | {"groups": [group | {"colour": one} for group, one in zip(groups, colours, strict=True)]}
    if labels is not None:
        of_labels = label_colours(labels["names"], [match["label"] for match in labels["groups"]])
        facts["labels"] = labels | {"colours": of_labels}
    return facts


def drawing_facts(view: View, table: Table | None, facts: Mapping[str, Any]) -> dict[str, Any]:
    """Return the tree, the columns with their categories, the hidden variables, and the matrix of the heat map."""
    model = view.model
    is_wide = model.tree.n_observed > MAX_MATRIX
    correlation = None if is_wide else view.column_correlation if table is None else view.counted_correlation(table)
    columns, category_lists = column_details(view, table, correlation)
    # Columns with the same categories share one list of them.
    keys = [(categories.names, categories.ordered, categories.bounds) for categories in category_lists]
    distinct = list(dict.fromkeys(keys))
    number = {key: place for place, key in enumerate(distinct)}
    for column, key in zip(columns, keys, strict=True):
        column["category_list"] = number[key]
    tree = _rounded_tree(model)
    overview = Overview(tree, model.tree.n_observed, facts["groups"])
    order = model.leaves.columns
    if correlation is None:
        matrix = _group_matrix(view, facts["groups"], tree["order"])
    else:
        matrix = matrix_facts(correlation, order, [column.ordered for column in model.columns]) | {"of": "columns"}
    return {
        "tree": tree,
        "order": order,
        "folds": asdict(overview.folds),
        "branch_names": _branch_names(view, overview, facts["groups"]),
        "category_lists": [
            {"names": list(names), "ordered": ordered, "bounds": list(bounds)} for names, ordered, bounds in distinct
        ],
        "columns": columns,
        "hidden": hidden_details(view, category_lists),
        "matrix": matrix,
        "has_rows": table is not None,
        "files": _files(model, facts),
    }


def _branch_names(view: View, overview: Overview, groups: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """Return names of branches of several groups, by their upper nodes: the largest groups.

    A branch whose upper node has a name of its own keeps that.
    """
    are_of_columns = made_of_columns(view.model.node_names, view.tree.names)
    # Of a group that is named by columns, the first one is enough.
    whole = [group["name"] for group in groups]
    short = [
        name.split(SEPARATOR)[0] if is_of_columns else name
        for name, is_of_columns in zip(whole, made_of_columns(whole, view.tree.names), strict=True)
    ]
    found: dict[str, str] = {}
    for node in view.hidden:
        inside = sorted(overview.groups_below[node])
        if len(inside) > 1 and are_of_columns[node]:
            shown = [shortened(short[number], MAX_LENGTH) for number in inside[:_N_GROUPS_IN_NAME]]
            found[str(node)] = " · ".join([*shown, "…"] if len(inside) > len(shown) else shown)
    return found


def _group_matrix(view: View, groups: list[dict[str, Any]], nodes: Sequence[int]) -> dict[str, Any] | None:
    """Return the heat map of the largest groups, in the order of the tree; None if there is at most one group."""
    if len(groups) < 2:
        return None
    shown = groups[:MAX_GROUPS]
    correlation, is_ordered = node_correlation(view, [group["centre"] for group in shown])
    # A group comes where the first of its columns does.
    place = {node: place for place, node in enumerate(nodes)}
    order = sorted(range(len(shown)), key=lambda one: min(place[column["node"]] for column in shown[one]["columns"]))
    return matrix_facts(correlation, order, is_ordered) | {"of": "groups"}


def _files(model: LatentTreeModel, facts: Mapping[str, Any]) -> dict[str, str]:
    """Return the texts that the page offers for download, by the names that the files of a fit have."""
    files = {
        "tree.nwk": plain_newick(model),
        "groups.csv": write_lines(group_table(facts)),
    }
    if 0 < model.tree.n_observed * model.tree.n_hidden <= _MAX_LOADINGS:
        files["loadings.csv"] = write_columns(loading_columns(model))
    return {name: text for name, text in files.items() if len(text) <= _MAX_FILE}


def _rounded_tree(model: LatentTreeModel) -> dict[str, Any]:
    """Return the rooted tree, with strengths and lengths in three decimals."""
    facts = tree_facts(model)
    return facts | {
        key: [None if value is None else round(value, 3) for value in facts[key]] for key in ("strength", "length")
    }


@dataclass(frozen=True)
class CategoryList:
    """The categories of a column that are shown: all, or the most common and one name for the others.

    Attributes
    ----------
    codes : tuple of int
        The categories that have a name of their own.
    names : tuple of str
        Their names; if some categories are left out, the last name stands for these.
    ordered : bool
        Whether all categories are shown and are in an order from low to high.
    bounds : tuple of str
        For bins, the bound between each bin and the next one; otherwise empty.
    """

    codes: tuple[int, ...]
    names: tuple[str, ...]
    ordered: bool
    bounds: tuple[str, ...]

    @classmethod
    def of(cls, column: Column, shares: FloatArray) -> "CategoryList":
        """Choose the categories to show by their shares of the rows."""
        codes = list(range(column.n_states))
        if column.n_states > MAX_CATEGORIES:
            by_share = sorted(codes, key=lambda code: (-round(float(shares[code]), 9), code))
            codes = sorted(by_share[: MAX_CATEGORIES - 1])
        names = [category_name(column, code) for code in codes]
        is_complete = len(codes) == column.n_states
        if not is_complete:
            names.append(f"{column.n_states - len(codes)} others")
        is_bins = column.cuts is not None and names[0].startswith("≤ ")
        bounds = [names[0].removeprefix("≤ "), *(name.split(" to ")[-1] for name in names[1:-1])] if is_bins else []
        return cls(tuple(codes), tuple(names), is_complete and column.ordered, tuple(bounds))

    def shares(self, probabilities: FloatArray) -> FloatArray:
        """Return the probability of each name."""
        own = probabilities[list(self.codes)]
        has_others = len(self.names) > len(self.codes)
        return np.append(own, max(probabilities.sum() - own.sum(), 0)) if has_others else own

    def per_mille(self, probabilities: FloatArray) -> list[int]:
        """Return the probability of each name, in thousandths that add up to 1000."""
        return whole_shares(self.shares(probabilities).tolist(), 1000)


def observed_shares(table: Table) -> list[FloatArray | None]:
    """Return the share of each category among the present cells of each column; None for a column without cells."""
    return [counts / counts.sum() if counts.sum() > 0 else None for counts in column_counts(table)]


def column_details(
    view: View, table: Table | None, correlation: FloatArray | None
) -> tuple[list[dict[str, Any]], list[CategoryList]]:
    """Return for every column its distribution and related columns, and the categories that are shown.

    Parameters
    ----------
    view : View
    table : Table or None
        Rows, whose shares are shown; without rows, those of the model.
    correlation : array or None
        Of every two columns; None if there are too many of them. Then related columns are those of the model.
    """
    model = view.model
    observed = observed_shares(table) if table is not None else [None] * model.tree.n_observed
    details, category_lists = [], []
    for node, column in enumerate(model.columns):
        in_model, in_data = view.marginals[node], observed[node]
        shown = in_model if in_data is None else in_data
        categories = CategoryList.of(column, shown)
        if correlation is None:
            near = view.closest_columns(node, _MAX_RELATED_OF_MANY)
            others, values = [one.column for one in near], np.array([_correlation(view, node, one) for one in near])
        else:
            others, values = (
                list(range(len(correlation))),
                np.where(np.arange(len(correlation)) == node, 0, correlation[node]),
            )
        hundredths = np.round(100 * np.round(values, 9)).astype(int)
        related = np.lexsort((np.array(others), -abs(hundredths)))[:MAX_RELATED].tolist()
        details.append(
            {
                "model": categories.per_mille(in_model),
                "percent": whole_shares(categories.shares(shown).tolist()),
                "related": [[others[place], int(hundredths[place])] for place in related if hundredths[place]],
            }
        )
        category_lists.append(categories)
    return details, category_lists


def _correlation(view: View, column: int, other: RelatedColumn) -> float:
    """Return the correlation of two columns under the model: Pearson's of their codes, if both have an order."""
    if not (view.model.columns[column].ordered and view.model.columns[other.column].ordered):
        return float(informational_correlation(np.array(other.information)))
    codes, other_codes = (standardised_codes(view.marginals[node]) for node in (column, other.column))
    return float((view.marginals[column] * codes) @ (other_codes @ other.conditional))


def hidden_details(view: View, category_lists: list[CategoryList]) -> list[dict[str, Any]]:
    """Return for every hidden variable its states, and the distribution of its closest columns in each state."""
    scores = view.scores
    closest = {node: view.closest_columns(node, MAX_COLUMNS) for node in view.hidden}
    loadings = view.loadings({node: [one.column for one in found] for node, found in closest.items()})
    details = []
    for node, related in closest.items():
        sizes = whole_shares(view.marginals[node].tolist())
        by_size = sorted(range(len(sizes)), key=lambda state: (-sizes[state], state))
        # From low to high, where the states have an order.
        rank = scores[node].values if node in scores else np.arange(len(sizes))
        has_kinds = node in scores and not scores[node].has_steps
        states = sorted(by_size[:MAX_STATES], key=lambda state: (rank[state], state))
        others = by_size[MAX_STATES:]
        columns = [
            {
                "column": one.column,
                # Nothing rises or falls where the states are kinds.
                "loading": percent(abs(loading)) if loading >= 0 or has_kinds else -percent(-loading),
                "shares": [category_lists[one.column].per_mille(one.conditional[:, state]) for state in states],
            }
            for one, loading in zip(related, loadings[node], strict=True)
        ]
        details.append(
            {
                "states": [view.state_names(node)[state] for state in states],
                "sizes": [sizes[state] for state in states],
                # The number of other states, and their share.
                "others": [len(others), sum(sizes[state] for state in others)] if others else None,
                "columns": columns,
            }
        )
    return details
