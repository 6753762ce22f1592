"""Model files: versioned JSON, written whole or not at all, read as hostile input.

Format, version 1 (keys with a question mark may be absent)::

    {"format": "latree-model", "version": 1,
     "columns": [{"name", "kind", "categories", "ordered", "missing", "cuts"?, "density"?}, ...],
     "tree": {"edges": [[u, v], ...], "lengths"?: [...], "support"?: [...]},
     "tables": [[[P(x | h) for h] for x], ...],
     "linear"?: {"columns": [...], "center": [...], "low": [...], "high": [...], "weights": [[[k, w], ...], ...]},
     "hidden_names"?: [...],
     "groups"?: [{"name", "level", "columns", "nodes", "centre", "parent", "stability"?, "column_stability"?,
                  "column_elsewhere"?: [[group, share] or null, ...]}, ...],
     "levels"?: {"edges": [...], "replication"?: [...]},
     "flipped"?: [...],
     "fit"?: {"version": 1, ...}}

``columns``
    One object per column, in their order, with the fields of :class:`latree.Column`.
``tree``
    Pairs of node numbers. Columns have the numbers 0, 1, ... in their order, and hidden variables follow. ``lengths``
    and ``support`` have one number per edge, or null where it is unknown.
``tables``
    One conditional probability table per node, in the order of their numbers: one row per state of the node, one column
    per state of its parent, and a single column for a root. Roots and parents are those of
    :meth:`latree.Tree.rooted`, which depend on the edges alone.
``linear``
    The correction of expected values of numbers, with the fields of :class:`latree.model.linear.Linear`.
``hidden_names``
    The names for people of the hidden variables, in the order of their numbers.
``groups``
    The groups of columns, with the fields of :class:`latree.Group`; ``centre`` and ``nodes`` are node numbers.
``levels``
    The hierarchy of groups, with the fields of :class:`latree.model.group.Levels`: edges in the order in which they are
    cut.
``flipped``
    The node numbers of hidden variables whose direction the user turned.
``fit``
    How the model came about, with the fields of :class:`latree.model.record.Record`.

Floats are written so that they read back bit for bit.
"""

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from latree._util.arrays import FloatArray, check_fields, parse_json
from latree._util.files import MODEL_FORMAT, finish_replacement, read_text, to_json, write_text
from latree.errors import InputError
from latree.model.group import NO_LEVELS, Group, Levels
from latree.model.linear import Linear
from latree.model.record import Record
from latree.table import Column
from latree.table.columns import is_number, is_text
from latree.table.raw import check_names
from latree.tree import Tree

VERSION = 1

_FIELDS = (
    *("format", "version", "columns", "tree", "tables", "linear", "hidden_names", "groups", "levels", "flipped", "fit"),
)
_EDGE_NUMBERS = ("lengths", "support")


class Parts(NamedTuple):
    """What a model is made of, in the order of the fields of :class:`latree.LatentTreeModel`."""

    tree: Tree
    columns: tuple[Column, ...]
    tables: tuple[FloatArray, ...]
    linear: Linear | None
    record: Record | None
    groups: tuple[Group, ...]
    hidden_names: tuple[str, ...]
    levels: Levels
    flipped: tuple[int, ...]


def parts_to_dict(parts: Parts) -> dict[str, Any]:
    """Return what a model is made of as plain data."""
    tree, columns, tables, linear, record, groups, hidden_names, levels, flipped = parts
    plain_tree: dict[str, Any] = {"edges": tree.edges.tolist()}
    for name, numbers in zip(_EDGE_NUMBERS, (tree.lengths, tree.support), strict=True):
        if not np.isnan(numbers).all():
            plain_tree[name] = [None if np.isnan(x) else float(x) for x in numbers]
    return {
        "format": MODEL_FORMAT,
        "version": VERSION,
        "columns": [column.to_dict() for column in columns],
        "tree": plain_tree,
        "tables": [table.tolist() for table in tables],
        **({"linear": linear.to_dict()} if linear else {}),
        **({"hidden_names": list(hidden_names)} if hidden_names else {}),
        **({"groups": [group.to_dict() for group in groups]} if groups else {}),
        **({"levels": levels.to_dict()} if levels.edges else {}),
        **({"flipped": list(flipped)} if flipped else {}),
        **({"fit": record.to_dict()} if record else {}),
    }


def parts_from_dict(plain: Any) -> Parts:
    """Read what a model is made of from plain data, and check all of it."""
    if not isinstance(plain, dict) or plain.get("format") != MODEL_FORMAT:
        raise InputError('not a latree model: "format" is not "latree-model"')
    if type(plain.get("version")) is not int or plain["version"] != VERSION:
        raise InputError(
            f"version {plain.get('version')!r:.40} of the format, but this latree reads version {VERSION}; "
            "use the latree that wrote the file"
        )
    check_fields(plain, _FIELDS, "the model")
    columns, tree, tables = plain.get("columns"), plain.get("tree"), plain.get("tables")
    if not isinstance(columns, list) or not isinstance(tree, dict) or not isinstance(tables, list):
        raise InputError('"columns", "tree" or "tables" are absent or not of their type')
    groups, hidden_names = plain.get("groups", []), plain.get("hidden_names", [])
    if not isinstance(groups, list) or not isinstance(hidden_names, list) or not all(map(is_text, hidden_names)):
        raise InputError('"groups" or "hidden_names" are not of their type')
    flipped = plain.get("flipped", [])
    if not isinstance(flipped, list) or not all(type(node) is int for node in flipped):
        raise InputError('"flipped" is not a list of whole numbers')
    if not columns:
        raise InputError("the model has no columns")
    parsed = tuple(Column.from_dict(column) for column in columns)
    check_fields(tree, ("edges", *_EDGE_NUMBERS), "the tree")
    edges = tree.get("edges")
    if not isinstance(edges, list) or not all(_is_pair(edge) for edge in edges):
        raise InputError("the tree's edges are not pairs of whole numbers")
    edge_numbers = {name: _edge_numbers(tree.get(name), name) for name in _EDGE_NUMBERS}
    names = [column.name for column in parsed]
    check_names(names, "columns")
    built = Tree(names, edges, **edge_numbers)
    return Parts(
        built,
        parsed,
        tuple(_table(table, node) for node, table in enumerate(tables)),
        Linear.from_dict(plain["linear"], parsed) if "linear" in plain else None,
        Record.from_dict(plain["fit"], len(parsed)) if "fit" in plain else None,
        tuple(Group.from_dict(group, built) for group in groups),
        tuple(hidden_names),
        Levels.from_dict(plain["levels"]) if "levels" in plain else NO_LEVELS,
        tuple(flipped),
    )


def model_path(path: Path) -> Path:
    """Return the path of a model's file: the file itself, or the model.json in the folder of a fit."""
    finish_replacement(path if path.is_dir() else path.parent)
    if not path.is_dir():
        return path
    if not (path / "model.json").is_file():
        raise InputError(f"{path}: is a folder without a model.json; give a model.json or the folder of a fit")
    return path / "model.json"


def write_json(path: Path, plain: Any) -> None:
    """Write plain data to a JSON file, whole or not at all."""
    write_text(path, to_json(plain))


def read_json(path: Path) -> Any:
    """Read a JSON file; raise an InputError of one line if that fails."""
    text = read_text(path)
    try:
        return parse_json(text)
    except InputError as error:
        raise InputError(f"{path}: {error}; copy it again, or fit again") from None


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
