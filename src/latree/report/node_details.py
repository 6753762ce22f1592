"""What the report says about single nodes: distributions, related columns, and the meaning of hidden states."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from latree._util.arrays import FloatArray
from latree.counts.contingency import column_counts
from latree.explain.dependence import Dependence
from latree.table import Column, Table

# The number of columns that explain the states of a hidden variable.
MAX_COLUMNS = 8
# The number of related columns that are shown of a column.
MAX_RELATED = 6
# The number of states of a hidden variable that are explained, the largest first.
MAX_STATES = 8
# The number of categories that are shown of a column. If it has more, the rarest are added up under one name.
MAX_CATEGORIES = 20


def per_mille(probabilities: FloatArray) -> list[int]:
    """Round probabilities to thousandths. Rounding to 9 digits first hides noise in the last bits."""
    return [round(1000 * round(float(probability), 9)) for probability in probabilities]


def nats(information: float) -> float:
    """Round an amount of information."""
    return round(information, 4)


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

    def per_mille(self, probabilities: FloatArray) -> list[int]:
        """Return the probability of each name, in thousandths."""
        own = probabilities[list(self.codes)]
        has_others = len(self.names) > len(self.codes)
        return per_mille(np.append(own, probabilities.sum() - own.sum()) if has_others else own)


def observed_shares(table: Table) -> list[FloatArray | None]:
    """Return the share of each category among the present cells of each column; None for a column without cells."""
    return [counts / counts.sum() if counts.sum() > 0 else None for counts in column_counts(table)]


def column_details(dependence: Dependence, table: Table | None) -> tuple[list[dict[str, Any]], list[CategoryList]]:
    """Return for every column its distribution and related columns, and the categories that are shown."""
    model = dependence.model
    observed = observed_shares(table) if table is not None else [None] * model.tree.n_observed
    details, category_lists = [], []
    for node, column in enumerate(model.columns):
        in_model, in_data = dependence.marginals[node], observed[node]
        categories = CategoryList.of(column, in_model if in_data is None else in_data)
        information = np.round(dependence.column_information[node], 12)
        related = np.lexsort((np.arange(len(information)), -information))[:MAX_RELATED]
        details.append(
            {
                "model": categories.per_mille(in_model),
                "data": None if in_data is None else categories.per_mille(in_data),
                "related": [
                    [other, nats(information[other])] for other in related.tolist() if nats(information[other]) > 0
                ],
                "entropy": nats(float(dependence.entropies[node])),
                "binned": column.cuts is not None,
            }
        )
        category_lists.append(categories)
    return details, category_lists


def hidden_details(dependence: Dependence, category_lists: list[CategoryList]) -> list[dict[str, Any]]:
    """Return for every hidden variable its states, and the distribution of its closest columns in each state."""
    tree = dependence.tree
    details = []
    for node in range(tree.n_observed, tree.n_nodes):
        sizes = dependence.marginals[node]
        by_size = sorted(range(len(sizes)), key=lambda state: (-round(float(sizes[state]), 6), state))
        columns = [
            {
                "column": related.column,
                "information": nats(related.information),
                "shares": [
                    category_lists[related.column].per_mille(related.conditional[:, state])
                    for state in by_size[:MAX_STATES]
                ],
            }
            for related in dependence.closest_columns(node, MAX_COLUMNS)
        ]
        details.append({"states": by_size, "sizes": per_mille(sizes[by_size]), "columns": columns})
    return details
