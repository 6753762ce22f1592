"""What the report says about single nodes: distributions, related columns, and the meaning of hidden states."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from latree._util.arrays import FloatArray
from latree._util.words import percent, whole_shares
from latree.counts.contingency import column_counts
from latree.interpret.view import View
from latree.table import Column, Table

# The number of columns that explain the states of a hidden variable.
MAX_COLUMNS = 5
# The number of related columns that are shown of a column.
MAX_RELATED = 6
# The number of states of a hidden variable that are explained: the largest ones.
MAX_STATES = 8
# The number of categories that are shown of a column. If it has more, the rarest are added up under one name.
MAX_CATEGORIES = 20


def per_mille(probabilities: FloatArray) -> list[int]:
    """Round probabilities to thousandths. Rounding to 9 digits first hides noise in the last bits."""
    return [round(1000 * round(float(probability), 9)) for probability in probabilities]


def category_name(column: Column, code: int) -> str:
    """Return the name of a category for readers; a bin is named by its bounds."""
    name = column.categories[code]
    if column.cuts is None:
        return name
    return name.replace("<= ", "≤ ").replace("(", "").replace("]", "").replace(", ", " to ")


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
    view: View, table: Table | None, correlation: FloatArray
) -> tuple[list[dict[str, Any]], list[CategoryList]]:
    """Return for every column its distribution and related columns, and the categories that are shown.

    Parameters
    ----------
    view : View
    table : Table or None
        Rows, whose shares are shown; without rows, those of the model.
    correlation : array
        Of every two columns.
    """
    model = view.model
    observed = observed_shares(table) if table is not None else [None] * model.tree.n_observed
    details, category_lists = [], []
    for node, column in enumerate(model.columns):
        in_model, in_data = view.marginals[node], observed[node]
        shown = in_model if in_data is None else in_data
        categories = CategoryList.of(column, shown)
        hundredths = np.round(100 * np.round(correlation[node], 9)).astype(int)
        hundredths[node] = 0
        related = np.lexsort((np.arange(len(hundredths)), -abs(hundredths)))[:MAX_RELATED]
        details.append(
            {
                "model": categories.per_mille(in_model),
                "percent": whole_shares(categories.shares(shown).tolist()),
                "related": [[other, int(hundredths[other])] for other in related.tolist() if hundredths[other]],
            }
        )
        category_lists.append(categories)
    return details, category_lists


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
