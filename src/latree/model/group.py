"""Groups of columns, as a model keeps them."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from latree._util.plain import check_fields
from latree.errors import InputError
from latree.table.columns import is_number, is_text
from latree.tree import Tree

Level = Literal["broad", "main", "fine"]
# Groups are listed level by level. The group above a main group is a broad one, that above a fine group a main one.
_LEVELS: tuple[Level, ...] = ("main", "broad", "fine")
_LEVEL_ABOVE: dict[Level, Level] = {"main": "broad", "fine": "main"}
# The fields of a group in a model file.
_FIELDS = ("name", "level", "columns", "nodes", "centre", "parent", "stability", "column_stability")


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
        How often the columns are found in the group again in resampled tables, from 0 to 1; None if that was not
        computed.
    nodes : tuple of int
        The nodes of the tree that belong to the group, columns and hidden variables: a connected part of the tree.
    centre : int
        The node in the middle: the one whose largest branch within the group has the fewest columns.
    column_stability : tuple of float, or None
        The stability of each column's membership, in the order of ``columns``.

    Examples
    --------
    >>> import latree
    >>> from latree.explain import find_groups
    >>> tree = latree.Tree.from_newick("((a,b,c),(d,e,f));")
    >>> model = latree.random_model(tree, n_states=2, hidden_states=2, start="identity", random_state=5)
    >>> group = find_groups(model)[0]
    >>> group.columns, group.level, group.hidden, group.parent
    (('a', 'b', 'c'), 'main', 'H1', None)
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

    def to_dict(self) -> dict[str, Any]:
        """Return the group as plain data; the hidden variable is the node in the centre."""
        plain: dict[str, Any] = {"name": self.name, "level": self.level, "columns": list(self.columns)}
        plain |= {"nodes": list(self.nodes), "centre": self.centre, "parent": self.parent}
        if self.stability is not None:
            plain["stability"] = self.stability
        if self.column_stability is not None:
            plain["column_stability"] = list(self.column_stability)
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
        )


def check_groups(groups: Sequence[Group], tree: Tree) -> None:
    """Raise if groups do not fit a tree, or each other. Names are checked by :func:`latree.model.names.check_names`."""
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


def _check_parent(group: Group, groups: Sequence[Group]) -> None:
    if group.parent is None:
        return
    if not 0 <= group.parent < len(groups):
        raise InputError(f"group {group.name!r:.60}: there is no group {group.parent} above it")
    above = groups[group.parent]
    if above.level != _LEVEL_ABOVE.get(group.level) or not set(group.nodes) < set(above.nodes):
        raise InputError(f"group {group.name!r:.60}: it is not a part of the group above it, {above.name!r:.60}")


def _is_number_below(number: Any, bound: int) -> bool:
    return type(number) is int and 0 <= number < bound
