"""What the drawing shows and its panel says: the rooted tree, the columns, and the states of hidden variables."""

from typing import Any

import numpy as np

from latree._util.words import percent
from latree.figure.layout import LayoutPlan, distances_from_root, rows_of
from latree.interpret.columns import loading_columns
from latree.interpret.overview import group_table
from latree.interpret.view import View
from latree.model import LatentTreeModel
from latree.report.matrix import matrix_facts
from latree.report.node_details import column_details, hidden_details
from latree.table import Table
from latree.table.formats.text import write_columns, write_lines

# With more numbers, loadings.csv is not part of the page: it would be most of the file.
_MAX_LOADINGS = 20_000


def drawing_facts(view: View, table: Table | None) -> dict[str, Any]:
    """Return the tree, the columns with their categories, the hidden variables, and the matrix of the heat map."""
    model = view.model
    correlation = view.column_correlation if table is None else view.counted_correlation(table)
    columns, category_lists = column_details(view, table, correlation)
    # Columns with the same categories share one list of them.
    keys = [(categories.names, categories.ordered, categories.bounds) for categories in category_lists]
    distinct = list(dict.fromkeys(keys))
    number = {key: place for place, key in enumerate(distinct)}
    for column, key in zip(columns, keys, strict=True):
        column["category_list"] = number[key]
    places = _places(model)
    order = sorted(range(model.tree.n_observed), key=lambda column: places["row"][column])
    return {
        "tree": _tree_facts(view),
        "places": places,
        "category_lists": [
            {"names": list(names), "ordered": ordered, "bounds": list(bounds)} for names, ordered, bounds in distinct
        ],
        "columns": columns,
        "hidden": hidden_details(view, category_lists),
        "matrix": matrix_facts(correlation, order, [column.ordered for column in model.columns]),
        "has_rows": table is not None,
        "files": _files(model),
    }


def _places(model: LatentTreeModel) -> dict[str, list[float]]:
    """Return where each node is in the horizontal layout: its row, and its distance from the root from 0 to 1."""
    plan = LayoutPlan.of(model.tree.with_numbers(lengths=model.edge_lengths()), 0.0)
    row, along, start = [0.0] * model.tree.n_nodes, [0.0] * model.tree.n_nodes, 0
    for component in plan.rooted.components:
        for node, place in rows_of(plan, component).items():
            row[node] = start + place
        for node, distance in distances_from_root(plan, component).items():
            along[node] = distance
        start += sum(node in plan.names for node in component)
    farthest = max(along) or 1.0
    return {"row": row, "along": [round(distance / farthest, 4) for distance in along]}


def _files(model: LatentTreeModel) -> dict[str, str]:
    """Return the texts that the page offers for download, by the names that the files of a fit have."""
    files = {
        "tree.nwk": model.tree.to_newick(),
        "groups.csv": write_lines(group_table(model)),
    }
    if 0 < model.tree.n_observed * model.tree.n_hidden <= _MAX_LOADINGS:
        files["loadings.csv"] = write_columns(loading_columns(model))
    return files


def _tree_facts(view: View) -> dict[str, Any]:
    """Return the rooted tree. The values of an edge are listed at its lower node; a root has None.

    The support of an edge is in per cent, rounded once for the whole page.
    """
    tree = view.tree
    rooted = tree.rooted()
    strengths, lengths = (
        [None if edge < 0 else round(float(values[edge]), 3) for edge in rooted.up]
        for values in (view.model.edge_strengths(), view.model.edge_lengths())
    )
    return {
        "roots": list(rooted.roots),
        "parent": rooted.parent.tolist(),
        "strength": strengths,
        "length": lengths,
        "support": [
            None if edge < 0 or np.isnan(tree.support[edge]) else percent(float(tree.support[edge]))
            for edge in rooted.up
        ],
    }
