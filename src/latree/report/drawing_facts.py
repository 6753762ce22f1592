"""What the drawing shows and its panel says: the rooted tree, the columns, and the states of hidden variables."""

from typing import Any

import numpy as np

from latree._util.rounding import percent
from latree.explain.dependence import Dependence
from latree.report.node_details import column_details, hidden_details, nats
from latree.table import Table


def drawing_facts(dependence: Dependence, table: Table | None) -> dict[str, Any]:
    """Return the tree, the columns with their categories, and the hidden variables."""
    columns, category_lists = column_details(dependence, table)
    # Columns with the same categories share one list of them.
    keys = [(categories.names, categories.ordered, categories.bounds) for categories in category_lists]
    distinct = list(dict.fromkeys(keys))
    number = {key: place for place, key in enumerate(distinct)}
    for column, key in zip(columns, keys, strict=True):
        column["category_list"] = number[key]
    return {
        "tree": _tree_facts(dependence),
        "category_lists": [
            {"names": list(names), "ordered": ordered, "bounds": list(bounds)} for names, ordered, bounds in distinct
        ],
        "columns": columns,
        "hidden": hidden_details(dependence, category_lists),
        "drawing": dependence.model.draw(),
    }


def _tree_facts(dependence: Dependence) -> dict[str, Any]:
    """Return the rooted tree. The values of an edge are listed at its lower node; a root has None.

    The support of an edge is in per cent, rounded once for the whole page.
    """
    tree = dependence.tree
    rooted = tree.rooted()
    strengths, lengths = (
        [None if edge < 0 else round(float(values[edge]), 3) for edge in rooted.up]
        for values in (dependence.model.edge_strengths(), dependence.model.edge_lengths())
    )
    return {
        "parent": rooted.parent.tolist(),
        "strength": strengths,
        "length": lengths,
        "information": [None if edge < 0 else nats(float(dependence.edge_information[edge])) for edge in rooted.up],
        "support": [
            None if edge < 0 or np.isnan(tree.support[edge]) else percent(float(tree.support[edge]))
            for edge in rooted.up
        ],
    }
