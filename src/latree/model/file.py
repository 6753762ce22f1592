"""Model files: versioned JSON, written whole, read as hostile input.

Format, version 1::

    {"format": "latree-model", "version": 1,
     "columns": [{"name", "kind", "categories", "missing", "cuts"?, "centers"?}, ...],
     "tree": {"edges": [[u, v], ...], "lengths"?: [...], "support"?: [...]},
     "tables": [[[P(x | h) for h] for x], ...],
     "fit"?: {"version": 1, ...}}

``tables`` has one table a node, of the node given its parent when the tree is hung from its middle
(:meth:`latree.tree.tree.Tree.rooted`). ``fit`` says how the model came about
(:class:`latree.model.record.Record`). Floats are written so that they read back bit for bit.
"""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from latree._util.arrays import FloatArray
from latree._util.files import read_text, to_json, write_text
from latree.errors import InputError
from latree.model.record import Record
from latree.table import Column
from latree.table.columns import is_number
from latree.table.raw import check_names
from latree.tree import Tree

if TYPE_CHECKING:
    from latree.model import LatentTreeModel

FORMAT = "latree-model"
VERSION = 1


def model_to_dict(model: "LatentTreeModel") -> dict[str, Any]:
    """Give a model as plain data."""
    tree: dict[str, Any] = {"edges": model.tree.edges.tolist()}
    for name, numbers in (("lengths", model.tree.lengths), ("support", model.tree.support)):
        if not np.isnan(numbers).all():
            tree[name] = [None if np.isnan(x) else float(x) for x in numbers]
    return {
        "format": FORMAT,
        "version": VERSION,
        "columns": [column.to_dict() for column in model.columns],
        "tree": tree,
        "tables": [table.tolist() for table in model.tables],
        **({"fit": model.record.to_dict()} if model.record else {}),
    }


def save_model(model: "LatentTreeModel", path: Path) -> None:
    """Write a model file."""
    write_text(path, to_json(model_to_dict(model)))


def parts_from_dict(plain: Any) -> tuple[Tree, tuple[Column, ...], tuple[FloatArray, ...], Record | None]:
    """Read what a model is made of from plain data, trusting none of it."""
    if not isinstance(plain, dict) or plain.get("format") != FORMAT:
        raise InputError("not a latree model")
    if type(plain.get("version")) is not int or plain["version"] != VERSION:
        raise InputError(f"version {plain.get('version')!r:.40} of the format; this latree reads version {VERSION}")
    columns, tree, tables = plain.get("columns"), plain.get("tree"), plain.get("tables")
    if not isinstance(columns, list) or not isinstance(tree, dict) or not isinstance(tables, list):
        raise InputError("columns, tree or tables are absent")
    if not columns:
        raise InputError("no columns")
    parsed = tuple(Column.from_dict(column) for column in columns)
    edges = tree.get("edges")
    if not isinstance(edges, list) or not all(_is_pair(edge) for edge in edges):
        raise InputError("the tree's edges are not pairs of whole numbers")
    numbers = {name: _edge_numbers(tree.get(name), name) for name in ("lengths", "support")}
    names = [column.name for column in parsed]
    check_names(names, "columns")
    record = Record.from_dict(plain["fit"], len(parsed)) if "fit" in plain else None
    return (
        Tree(names, edges, **numbers),
        parsed,
        tuple(_table(table, node) for node, table in enumerate(tables)),
        record,
    )


def read_json(path: Path) -> Any:
    """Read a JSON file, and say in one line what is wrong with one that cannot be read."""
    text = read_text(path)
    try:
        return json.loads(text)
    except (ValueError, RecursionError):  # also a number of more digits than Python reads
        raise InputError(f"{path}: not a JSON file") from None


def _is_pair(edge: Any) -> bool:
    return isinstance(edge, list) and len(edge) == 2 and all(type(node) is int and 0 <= node < 2**31 for node in edge)


def _edge_numbers(numbers: Any, name: str) -> list[float] | None:
    if numbers is None:
        return None
    if not isinstance(numbers, list) or not all(x is None or is_number(x) for x in numbers):
        raise InputError(f"the tree's {name} are not numbers")
    return [np.nan if x is None else float(x) for x in numbers]


def _table(rows: Any, node: int) -> FloatArray:
    if (
        not isinstance(rows, list)
        or not rows
        or not all(isinstance(row, list) and len(row) == len(rows[0]) and all(map(is_number, row)) for row in rows)
    ):
        raise InputError(f"the table of node {node} is not a rectangle of numbers")
    return np.array(rows, dtype=np.float64)
