"""Groups of columns, and the names of hidden variables and groups, as data of a model.

A hidden variable has a technical name, such as H3, and may have a name for people beside it; both are accepted wherever
a variable is named. No name means two things: names of columns, technical names, names of hidden variables and names of
groups all differ, except that a group may have the name of its own hidden variable. A main group always has.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple, get_args

import numpy as np

from latree._util.arrays import check_fields
from latree._util.words import MAX_NAME, did_you_mean, printable
from latree.errors import InputError
from latree.table.columns import is_number, is_text
from latree.tree import Tree
from latree.tree.graph import component_numbers

Level = Literal["broad", "main", "fine"]
# Groups are listed level by level. The group above a main group is a broad one, that above a fine group a main one.
_LEVELS: tuple[Level, ...] = ("main", "broad", "fine")
_LEVEL_ABOVE: dict[Level, Level] = {"main": "broad", "fine": "main"}
# The fields of a group, and of the levels, in a model file.
_FIELDS = ("name", "level", "columns", "nodes", "centre", "parent", "stability", "column_stability", "column_elsewhere")
_FIELDS_OF_LEVELS = ("edges", "replication")


# Columns with a lower stability are unsure: they are often found in other groups.
MIN_STABILITY = 0.5


@dataclass(frozen=True)
class Group:
    """Columns that belong together, because they measure much the same thing.

    Attributes
    ----------
    name : str
        A name for people. A main group has the name of its hidden variable.
    level : {"broad", "main", "fine"}
        Main groups divide the columns. Broad groups are unions of main groups; fine groups are parts of them.
    columns : tuple of str
        The columns, in the order of the tree.
    hidden : str or None
        The hidden variable that stands for the group, the one in its middle, by its technical name such as ``"H3"``.
        None if columns are connected directly.
    parent : int or None
        The number of the group above in the list of groups.
    stability : float or None
        How often the columns are found in the group again when the search is repeated on parts of the rows, from 0 to
        1; None if that was not computed.
    nodes : tuple of int
        The nodes of the tree that belong to the group, columns and hidden variables: a connected part of the tree.
    centre : int
        The node in the middle: the one whose largest branch within the group has the fewest columns.
    column_stability : tuple of float, or None
        The stability of each column's membership, in the order of ``columns``.
    column_elsewhere : tuple of ((int, float) or None), or None
        Where else each column goes, in the order of ``columns``: the number of the main group, in the list of groups,
        that it is most often in instead, and how often. None for a column that is never in another one.

    Examples
    --------
    >>> import latree
    >>> from sklearn.datasets import load_iris
    >>> group = latree.LatentTree("lcm", n_states=3, random_state=0).fit(load_iris().data).groups_[0]
    >>> group.columns, group.level, group.parent
    (('x0', 'x1', 'x2', 'x3'), 'main', None)
    """

    name: str
    level: Level
    columns: tuple[str, ...]
    hidden: str | None
    parent: int | None
    stability: float | None
    nodes: tuple[int, ...] = field(repr=False)
    centre: int = field(repr=False)
    column_stability: tuple[float, ...] | None = field(default=None, repr=False)
    column_elsewhere: tuple[tuple[int, float] | None, ...] | None = field(default=None, repr=False)

    def to_dict(self) -> dict[str, Any]:
        """Return the group as plain data; the hidden variable is the node in the centre."""
        plain: dict[str, Any] = {"name": self.name, "level": self.level, "columns": list(self.columns)}
        plain |= {"nodes": list(self.nodes), "centre": self.centre, "parent": self.parent}
        if self.stability is not None:
            plain["stability"] = self.stability
        if self.column_stability is not None:
            plain["column_stability"] = list(self.column_stability)
        if self.column_elsewhere is not None:
            plain["column_elsewhere"] = [None if one is None else list(one) for one in self.column_elsewhere]
        return plain

    @classmethod
    def from_dict(cls, plain: Any, tree: Tree) -> "Group":
        """Read a group of a tree's columns from plain data. Only types are checked; see :func:`check_groups`."""
        if not isinstance(plain, dict) or not is_text(name := plain.get("name")):
            raise InputError("a group is not an object with a name")
        check_fields(plain, _FIELDS, f"group {name!r:.60}")
        nodes: Any = plain.get("nodes")
        centre: Any = plain.get("centre")
        parent = plain.get("parent")
        if plain.get("level") not in get_args(Level):
            raise InputError(f"group {name!r:.60}: the level is not broad, main or fine")
        columns = plain.get("columns")
        if not isinstance(columns, list) or not all(is_text(column) for column in columns):
            raise InputError(f"group {name!r:.60}: the columns are not a list of names")
        if not isinstance(nodes, list) or not all(_is_number_below(node, tree.n_nodes) for node in [*nodes, centre]):
            raise InputError(f"group {name!r:.60}: a node is not one of the {tree.n_nodes} nodes of the tree")
        if parent is not None and type(parent) is not int:
            raise InputError(f"group {name!r:.60}: the group above is not a whole number")
        shares = plain.get("column_stability")
        if shares is not None and not isinstance(shares, list):
            raise InputError(f"group {name!r:.60}: the stability of its columns is not a list")
        stability = plain.get("stability")
        if not all(is_number(share) for share in [*(shares or []), *([] if stability is None else [stability])]):
            raise InputError(f"group {name!r:.60}: a stability is not a number")
        elsewhere = plain.get("column_elsewhere")
        if elsewhere is not None and not (isinstance(elsewhere, list) and all(map(_is_place, elsewhere))):
            raise InputError(f"group {name!r:.60}: where else its columns go is not a list of groups and shares")
        return cls(
            name=name,
            level=plain["level"],
            columns=tuple(columns),
            hidden=tree.node_names[centre] if centre >= tree.n_observed else None,
            parent=parent,
            stability=None if stability is None else float(stability),
            nodes=tuple(nodes),
            centre=centre,
            column_stability=None if shares is None else tuple(map(float, shares)),
            column_elsewhere=None
            if elsewhere is None
            else tuple(None if one is None else (one[0], float(one[1])) for one in elsewhere),
        )


class Levels(NamedTuple):
    """The hierarchy of groups: the order in which edges of the tree are cut, each of which makes one group more.

    Attributes
    ----------
    edges : tuple of int
        The edges.
    replication : tuple of float
        How well the groups come again when the search is repeated on parts of the rows: the mean adjusted Rand index,
        or 0 if that is negative, after each number of cuts, from none to all. Empty if that was not computed.
    """

    edges: tuple[int, ...] = ()
    replication: tuple[float, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the levels as plain data."""
        return {"edges": list(self.edges)} | ({"replication": list(self.replication)} if self.replication else {})

    @classmethod
    def from_dict(cls, plain: Any) -> "Levels":
        """Read levels from plain data. Only types are checked; see :func:`check_levels`."""
        if not isinstance(plain, dict):
            raise InputError("the levels are not an object")
        check_fields(plain, _FIELDS_OF_LEVELS, "the levels")
        edges, replication = plain.get("edges"), plain.get("replication", [])
        if not isinstance(edges, list) or not all(type(edge) is int for edge in edges):
            raise InputError("the edges of the levels are not whole numbers")
        if not isinstance(replication, list) or not all(map(is_number, replication)):
            raise InputError("the replication of the levels is not a list of numbers")
        return cls(tuple(edges), tuple(map(float, replication)))


NO_LEVELS = Levels()


def check_levels(levels: Levels, tree: Tree) -> None:
    """Raise if levels do not fit a tree."""
    edges, replication = levels
    if len(set(edges)) != len(edges) or not all(0 <= edge < len(tree.edges) for edge in edges):
        raise InputError("the edges of the levels must be edges of the tree, each of them once")
    if replication and len(replication) != len(edges) + 1:
        raise InputError(f"{len(edges) + 1} levels need as many replications, not {len(replication)}")
    if not all(0 <= share <= 1 for share in replication):
        raise InputError("a replication of the levels is not between 0 and 1")
    # Every end of a cut is in a piece with two columns or more.
    piece_of = component_numbers(np.delete(tree.edges, list(edges), axis=0), tree.n_nodes)
    n_columns = np.bincount(piece_of[: tree.n_observed], minlength=tree.n_nodes)
    if edges and n_columns[piece_of[tree.edges[list(edges)]]].min() < 2:
        raise InputError("the edges of the levels cut a tree into groups of two columns or more")


def check_groups(groups: Sequence[Group], tree: Tree) -> None:
    """Raise if groups do not fit a tree, or each other. Names are checked by :func:`latree.model.group.check_names`."""
    levels = [_LEVELS.index(group.level) for group in groups]
    if levels != sorted(levels):
        raise InputError("main groups must come first, then broad groups, then fine groups")
    seen: set[tuple[Level, str]] = set()
    for group in groups:
        _check_place(group, tree)
        _check_stability(group)
        for column in group.columns:
            if (group.level, column) in seen:
                raise InputError(f"column {column!r:.60} is in two {group.level} groups")
            seen.add((group.level, column))
    for group in groups:
        _check_parent(group, groups)
        _check_elsewhere(group, groups)


def _check_place(group: Group, tree: Tree) -> None:
    """Raise if a group is not a connected part of the tree with its columns and its centre."""
    nodes = set(group.nodes)
    in_range = all(0 <= node < tree.n_nodes for node in nodes)
    if not in_range or len(nodes) != len(group.nodes) or sorted(nodes) != list(group.nodes):
        raise InputError(f"group {group.name!r:.60}: its nodes must be nodes of the tree, sorted, each of them once")
    inside = [tree.names[node] for node in group.nodes if node < tree.n_observed]
    if not inside or sorted(inside) != sorted(group.columns):
        raise InputError(f"group {group.name!r:.60}: its columns are not the columns among its nodes")
    # Nodes of a tree are connected if there is one edge fewer between them than nodes. Each is seen from both ends.
    if sum(other in nodes for node in nodes for other, _ in tree.neighbors[node]) != 2 * (len(nodes) - 1):
        raise InputError(f"group {group.name!r:.60}: its nodes are not connected in the tree")
    if group.centre not in nodes:
        raise InputError(f"group {group.name!r:.60}: its centre is not one of its nodes")
    if group.hidden != (tree.node_names[group.centre] if group.centre >= tree.n_observed else None):
        raise InputError(f"group {group.name!r:.60}: its hidden variable is not the one in its centre")


def _check_stability(group: Group) -> None:
    shares = group.column_stability
    if shares is not None and len(shares) != len(group.columns):
        raise InputError(f"group {group.name!r:.60}: {len(group.columns)} columns need as many stabilities")
    if not all(0 <= share <= 1 for share in (*(shares or ()), 0 if group.stability is None else group.stability)):
        raise InputError(f"group {group.name!r:.60}: a stability is not between 0 and 1")


def _check_elsewhere(group: Group, groups: Sequence[Group]) -> None:
    if group.column_elsewhere is None:
        return
    if len(group.column_elsewhere) != len(group.columns):
        raise InputError(f"group {group.name!r:.60}: {len(group.columns)} columns need as many places elsewhere")
    for number, share in (one for one in group.column_elsewhere if one is not None):
        if not 0 <= number < len(groups) or groups[number].level != "main" or groups[number] is group:
            raise InputError(f"group {group.name!r:.60}: there is no other main group {number} for a column to go to")
        if not 0 <= share <= 1:
            raise InputError(f"group {group.name!r:.60}: the share of a column elsewhere is not between 0 and 1")


def _check_parent(group: Group, groups: Sequence[Group]) -> None:
    if group.parent is None:
        return
    if not 0 <= group.parent < len(groups):
        raise InputError(f"group {group.name!r:.60}: there is no group {group.parent} above it")
    above = groups[group.parent]
    if above.level != _LEVEL_ABOVE.get(group.level) or not set(group.nodes) < set(above.nodes):
        raise InputError(f"group {group.name!r:.60}: it is not a part of the group above it, {above.name!r:.60}")


def _is_place(one: Any) -> bool:
    """Return whether plain data are a place elsewhere: none, or the number of a group and a share."""
    return one is None or (isinstance(one, list) and len(one) == 2 and type(one[0]) is int and is_number(one[1]))


def _is_number_below(number: Any, bound: int) -> bool:
    return type(number) is int and 0 <= number < bound


# The number of names that a message about an unknown name suggests.
_N_SUGGESTED = 3
# The number of groups that it lists if no name is like the unknown one.
_N_LISTED = 8


def check_names(tree: Tree, hidden_names: Sequence[str], groups: Sequence[Group]) -> None:
    """Raise if a name of a hidden variable or a group cannot be shown, or means two things."""
    technical = tree.node_names[tree.n_observed :]
    if hidden_names and len(hidden_names) != tree.n_hidden:
        raise InputError(f"{tree.n_hidden} hidden variables need as many names, not {len(hidden_names)}")
    # What each name means, in words: a column, or a hidden variable by its technical name, or a group.
    meaning = dict.fromkeys(tree.names, "a column") | {name: f"hidden variable {name}" for name in technical}
    for name, alias in zip(hidden_names, technical, strict=False):
        _claim(name, f"hidden variable {alias}", meaning)
    # The names of hidden variables that no group shares yet: of two groups around a variable, one may have its name.
    free = dict(zip(technical, hidden_names or technical, strict=True))
    for number, group in enumerate(groups, start=1):
        if group.hidden is not None and group.name == free.get(group.hidden):
            del free[group.hidden]
        elif group.hidden is not None and group.level == "main":
            raise InputError(f"main group {number}, {group.name!r:.60}, must have the name of its hidden variable")
        else:
            _claim(group.name, f"group {number}", meaning)


def _claim(name: str, owner: str, meaning: dict[str, str]) -> None:
    """Record what a name means; raise if it cannot be shown or means something else already."""
    if not name.strip():
        raise InputError(f"the name of {owner} is empty; give it a name")
    if len(name) > MAX_NAME:
        raise InputError(f"the name {name!r:.60} of {owner} has {len(name)} letters; names have at most {MAX_NAME}")
    if name != printable(name).strip():
        raise InputError(f"the name {name!r:.60} of {owner} must be printable text without spaces around it")
    if meaning.setdefault(name, owner) != owner:
        raise InputError(f"the name {name!r:.60} of {owner} is also the name of {meaning[name]}; choose another name")


def find_node(name: str, known: Mapping[str, int], groups: Sequence[Group]) -> int:
    """Return the number of a column or a hidden variable, by either name; ``known`` is from :func:`known_names`."""
    if name not in known:
        raise _unknown(name, "variable", known, [group for group in groups if group.name in known])
    return known[name]


def renamed(
    new_names: Mapping[str, str], tree: Tree, hidden_names: Sequence[str], groups: Sequence[Group]
) -> tuple[tuple[str, ...], tuple[Group, ...]]:
    """Return the names of hidden variables, and the groups, after some of both were renamed."""
    known, first = known_names(tree, hidden_names), tree.n_observed
    of_groups = {group.name: number for number, group in enumerate(groups)}
    names = list(hidden_names or tree.node_names[first:])
    changed = list(groups)
    done: dict[tuple[str, int], str] = {}
    for old, new in new_names.items():
        if not isinstance(new, str):
            raise InputError(f"the new name of {old!r:.60} must be text, not {new!r:.60}")
        if old in tree.names:
            raise InputError(f"{old!r:.60} is a column; only hidden variables and groups can be renamed")
        if old not in known and old not in of_groups:
            raise _unknown(old, "hidden variable or group", [*list(known)[first:], *of_groups], groups)
        key = ("node", known[old]) if old in known else ("group", of_groups[old])
        if key in done:
            raise InputError(f"{done[key]!r:.60} and {old!r:.60} are the same variable; give it one new name")
        done[key] = old
        # A hidden variable, and the group with its name; or a group alone.
        current = old
        if old in known:
            current, names[known[old] - first] = names[known[old] - first], new
        if current in of_groups:
            number = of_groups[current]
            changed[number] = replace(groups[number], name=new)
    for old, new in new_names.items():
        if sum(group.name == new for group in changed) > 1 and list(new_names.values()).count(new) == 1:
            raise InputError(f"there is already a group {new!r:.60}; choose another name for {old!r:.60}")
    return tuple(names), tuple(changed)


def known_names(tree: Tree, hidden_names: Sequence[str]) -> dict[str, int]:
    """Return the node of each name: columns, names of hidden variables, technical names."""
    names = [*tree.names, *(hidden_names or tree.node_names[tree.n_observed :])]
    technical = {name: node for node, name in enumerate(tree.node_names)}
    return {name: node for node, name in enumerate(names)} | technical


def _unknown(name: str, kind: str, known: Iterable[str], groups: Sequence[Group]) -> InputError:
    """Return the error for a name that is not known, with names like it, or else with those of the groups."""
    hint = did_you_mean(name, known, _N_SUGGESTED, cutoff=0.5)
    if not hint and groups:
        names = [group.name for group in groups]
        more = f" and {len(names) - _N_LISTED} more" if len(names) > _N_LISTED else ""
        hint = f"the groups are {', '.join(f'{one!r:.60}' for one in names[:_N_LISTED])}{more}"
    return InputError(f"there is no {kind} {name!r:.60}{'; ' if hint else ''}{hint}")
