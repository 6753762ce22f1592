"""What the report tells of single nodes: distributions, relatives, and what the states of a hidden variable mean."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from latree._util.arrays import FloatArray
from latree.counts.contingency import column_counts
from latree.report.dependence import Dependence
from latree.table import Column, Table

MOST_COLUMNS = 8  # that a hidden variable is explained by
MOST_RELATIVES = 6
MOST_STATES = 8  # of a hidden variable, the largest, that are explained
MOST_CATEGORIES = 20  # of a column that are told apart; the rarest of more are added up


def per_mille(shares: FloatArray) -> list[int]:
    """Round shares to thousandths, coarse enough that noise in their last bits does not show."""
    return [round(1000 * round(float(share), 9)) for share in shares]


def nats(information: float) -> float:
    """Round an amount of information."""
    return round(information, 4)


def value_name(column: Column, code: int) -> str:
    """Name a value of a column for people: bins by their bounds."""
    name = column.categories[code]
    if column.cuts is None:
        return name
    return name.replace("<= ", "≤ ").replace("(", "").replace("]", "").replace(", ", " to ")


@dataclass(frozen=True)
class Scale:
    """The categories of a column that are shown: all, or the commonest, and one name for the others.

    Attributes
    ----------
    kept : tuple of int
        The categories that have a name of their own.
    names : tuple of str
    ordered : bool
        Whether they are numbers, all of them, in their order.
    bounds : tuple of str
        Of bins: what lies between each and the next one.
    """

    kept: tuple[int, ...]
    names: tuple[str, ...]
    ordered: bool
    bounds: tuple[str, ...]

    @classmethod
    def of(cls, column: Column, shares: FloatArray) -> "Scale":
        """Choose what is shown of a column."""
        kept = list(range(column.n_states))
        if column.n_states > MOST_CATEGORIES:
            kept = sorted(sorted(kept, key=lambda code: (-round(float(shares[code]), 9), code))[: MOST_CATEGORIES - 1])
        names = [value_name(column, code) for code in kept]
        whole = len(kept) == column.n_states
        if not whole:
            names.append(f"{column.n_states - len(kept)} others")
        is_bins = column.cuts is not None and names[0].startswith("≤ ")
        bounds = [names[0].removeprefix("≤ "), *(name.split(" to ")[-1] for name in names[1:-1])] if is_bins else []
        return cls(tuple(kept), tuple(names), whole and column.kind in ("integer", "number"), tuple(bounds))

    def shown(self, shares: FloatArray) -> list[int]:
        """Give the shares of what is shown, in thousandths."""
        kept = shares[list(self.kept)]
        return per_mille(np.append(kept, shares.sum() - kept.sum()) if len(self.names) > len(self.kept) else kept)


def observed_shares(table: Table) -> list[FloatArray | None]:
    """Count the categories of each column among its present cells; None where there are none."""
    return [counts / counts.sum() if counts.sum() > 0 else None for counts in column_counts(table)]


def column_details(dependence: Dependence, table: Table | None) -> tuple[list[dict[str, Any]], list[Scale]]:
    """Tell of every column its distribution, relatives, and information with its neighbours."""
    model = dependence.model
    observed = observed_shares(table) if table is not None else [None] * model.tree.n_observed
    details, scales = [], []
    for node, column in enumerate(model.columns):
        expected, seen = dependence.marginals[node], observed[node]
        scale = Scale.of(column, expected if seen is None else seen)
        shared = np.round(dependence.between_columns[node], 12)
        relatives = np.lexsort((np.arange(len(shared)), -shared))[:MOST_RELATIVES]
        details.append(
            {
                "model": scale.shown(expected),
                "data": None if seen is None else scale.shown(seen),
                "relatives": [
                    [column, nats(shared[column])] for column in relatives.tolist() if nats(shared[column]) > 0
                ],
                "entropy": nats(float(dependence.entropies[node])),
                "binned": column.cuts is not None,
            }
        )
        scales.append(scale)
    return details, scales


def hidden_details(dependence: Dependence, scales: list[Scale]) -> list[dict[str, Any]]:
    """Tell of every hidden variable its states, and the columns that it separates most, by state."""
    tree = dependence.tree
    found = []
    for node in range(tree.n_observed, tree.n_nodes):
        sizes = dependence.marginals[node]
        order = sorted(range(len(sizes)), key=lambda state: (-round(float(sizes[state]), 6), state))
        shown = order[:MOST_STATES]
        columns = [
            {
                "column": relative.column,
                "information": nats(relative.information),
                "shares": [scales[relative.column].shown(relative.conditional[:, state]) for state in shown],
            }
            for relative in dependence.closest(node, MOST_COLUMNS)
        ]
        found.append({"states": order, "sizes": per_mille(sizes[order]), "columns": columns})
    return found
