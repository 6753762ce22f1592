"""Names for people: of hidden variables, and of the groups of columns that they stand for.

A hidden variable has a technical name, such as H3, and may have a name for people beside it; both are accepted wherever
a variable is named. No name means two things: names of columns, technical names, names of hidden variables and names of
groups all differ, except that a group may have the name of its own hidden variable. A main group always has.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from latree._util.words import MAX_NAME, did_you_mean, printable
from latree.errors import InputError
from latree.model.group import Group
from latree.tree import Tree

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


def find_node(name: str, tree: Tree, hidden_names: Sequence[str], groups: Sequence[Group]) -> int:
    """Return the number of a column or a hidden variable, by either name."""
    known = _known(tree, hidden_names)
    if name not in known:
        raise _unknown(name, "variable", known, [group for group in groups if group.name in known])
    return known[name]


def renamed(
    new_names: Mapping[str, str], tree: Tree, hidden_names: Sequence[str], groups: Sequence[Group]
) -> tuple[tuple[str, ...], tuple[Group, ...]]:
    """Return the names of hidden variables, and the groups, after some of both were renamed."""
    known, first = _known(tree, hidden_names), tree.n_observed
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


def _known(tree: Tree, hidden_names: Sequence[str]) -> dict[str, int]:
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
