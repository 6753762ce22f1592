"""Names for people of groups and hidden variables, made from the names of columns.

A main group, and the hidden variable in its middle, is named by the first of these that no other variable has:

1. A label, if the user brought labels: more than half of its columns have the label, and more than half of the columns
   with the label are in the group. So a label names one group at most, and a group has one label at most.
2. A stem: words that at least three quarters of its columns have in common, and at most a quarter of the columns with
   these words are elsewhere. ``s1_1``, ``s1_2`` and ``s1_3`` are ``s1``; ``mean fractal dimension``, ``worst fractal
   dimension`` and ``fractal dimension error`` are ``fractal dimension``. Of long names, only a beginning that ends in a
   long word is a stem: ``Satisfaction`` of ``Satisfaction with the place where you work``.
3. The two columns that share the most information with the hidden variable, and the number of the others:
   ``space, orbit +10``. Columns that are often found in other groups come last.

Other groups are named by columns, and give their name to the hidden variable in their middle if that has none. Any
other hidden variable is named by the columns beside it, those that share the most information with it first. If there
is only one, the nearest other column follows. A hidden variable without columns of its own connects others, and is
named by the nearest column of each branch: ``between N4, C5, E5``.

If a name is taken, or differs from another one only in the order of its columns, another column takes the second place,
or more columns are added. If that does not help, the technical name stands behind it. The order of columns in the table
does not matter.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from latree._util.words import one_line, shortened
from latree.interpret.dependence import Dependence
from latree.model import Group
from latree.model.group import MIN_STABILITY
from latree.tree import Tree

# The number of columns in a name.
_N_COLUMNS = 2
# The number of branches in the name of a hidden variable that connects others.
_N_BRANCHES = 3
# A label names a group if this is less than its share of the group's columns, and less than the group's share of it.
_HALF = 0.5
# A stem is shared by at least this share of a group's columns.
_NEARLY_ALL = 0.75
# A group has a stem if it has at least so many columns. Two columns are named both.
_MIN_COLUMNS_OF_STEM = 3
# A name of more words may be a sentence, whose words may be shared by chance. Its beginning says what it is about if
# the last word of that is so long: not "I often feel", and "Satisfaction" rather than "Satisfaction with the".
_MAX_WORDS, _LONG_WORD = 4, 6
# How the name of a hidden variable that connects others begins.
_BETWEEN = "between "
# What stands between columns.
SEPARATOR = ", "
# If a name is taken, so many other columns are tried beside the only column of a hidden variable.
_N_SPARE = 3
# Names of columns are cut to this length within other names.
MAX_LENGTH = 30
# Amounts of information that agree in so many decimals are a tie, which is broken by the names of columns.
_DECIMALS = 9


def made_of_columns(names: Iterable[str], columns: Iterable[str]) -> list[bool]:
    """Return whether each name is a list of some of the columns: neither a label, nor a stem, nor given by a person."""
    known = {shortened(column, MAX_LENGTH) for column in columns}
    return [known.issuperset(re.sub(r" \+\d+$", "", name.removeprefix(_BETWEEN)).split(SEPARATOR)) for name in names]


def choose_names(
    dependence: Dependence,
    groups: Sequence[Group],
    labels: Mapping[str, str] | None = None,
    kept: Mapping[int, str] | None = None,
) -> tuple[list[Group], tuple[str, ...]]:
    """Return groups with their names, and the name of each hidden variable.

    Parameters
    ----------
    dependence : Dependence
        Of the model's nodes.
    groups : sequence of Group
        Their own names do not matter.
    labels : mapping of str to str, optional
        The user's label of each column, by the name of the column.
    kept : mapping of int to str, optional
        Names that hidden variables have already, by their nodes.
    """
    tree = dependence.tree
    first = tree.n_observed
    of_node = dict(kept or {})
    taken = set(map(_parts, [*tree.node_names, *of_node.values()]))
    named: list[Group] = []
    label_of = {name: one_line(label) for name in tree.names if (label := (labels or {}).get(name)) and label.strip()}
    n_labelled = Counter(label_of.values())
    stems = _Stems(tree.names)
    for group in groups:
        if group.level == "main" and group.centre in of_node:
            named.append(replace(group, name=of_node[group.centre]))
            continue
        telling = _telling_columns(dependence, group)
        candidates = []
        if group.level == "main":
            if (label := _own_label(group, label_of, n_labelled)) is not None:
                candidates = [label, f"{label} ({_listed(tree, telling[:_N_COLUMNS])})"]
            candidates += stems.of(group.columns)
        name = _claim(_alternatives(tree, candidates, telling, group.hidden), taken)
        named.append(replace(group, name=name))
        if group.hidden is not None:
            of_node.setdefault(group.centre, name)
    rest = {node: _columns_of_hidden(dependence, node) for node in range(first, tree.n_nodes) if node not in of_node}
    for node in sorted(rest, key=lambda node: [tree.names[column] for column in rest[node][0]]):
        columns, n_named, is_between, spare = rest[node]
        others = [_listed(tree, [columns[0], other]) for other in (columns[1], *spare)] if spare else []
        names = _alternatives(tree, others, columns, tree.node_names[node], n_named, _BETWEEN if is_between else "")
        of_node[node] = _claim(names, taken)
    return named, tuple(of_node[node] for node in range(first, tree.n_nodes))


def _claim(candidates: Iterable[str], taken: set[tuple[str, ...]]) -> str:
    """Return the first candidate that is not taken, in any order of its columns, and take it."""
    name = next(candidate for candidate in candidates if _parts(candidate) not in taken)
    taken.add(_parts(name))
    return name


def _parts(name: str) -> tuple[str, ...]:
    """Return what two names have in common that differ only in the order of their columns."""
    return tuple(sorted(name.split(SEPARATOR)))


def _alternatives(
    tree: Tree,
    first: Iterable[str],
    columns: Sequence[int],
    alias: str | None,
    n_named: int = _N_COLUMNS,
    prefix: str = "",
) -> Iterator[str]:
    """Yield names, the best first, without an end: those given, then columns and the number of others."""
    yield from first
    for count in range(min(n_named, len(columns)), len(columns) + 1):
        others = f" +{len(columns) - count}" if count < len(columns) else ""
        yield f"{prefix}{_listed(tree, columns[:count])}{others}"
    name = f"{prefix}{_listed(tree, columns[:n_named])}"
    if alias is not None:
        yield f"{name} ({alias})"
    number = 2
    while True:
        yield f"{name} ({number})"
        number += 1


def _listed(tree: Tree, columns: Sequence[int]) -> str:
    return SEPARATOR.join(shortened(tree.names[column], MAX_LENGTH) for column in columns)


def _own_label(group: Group, label_of: Mapping[str, str], everywhere: Mapping[str, int]) -> str | None:
    """Return the label that most columns of a group have, if most columns with this label are in the group."""
    inside = Counter(map(label_of.get, group.columns))
    found = (
        label
        for label, count in inside.items()
        if label is not None and count > _HALF * max(len(group.columns), everywhere[label])
    )
    return next(found, None)


def _telling_columns(dependence: Dependence, group: Group) -> list[int]:
    """Return the columns of a group, those that share the most information with its centre first.

    Columns that are often found in other groups come last: a group is not named by what may not belong to it.
    """
    related = dependence.closest_columns(group.centre, len(group.columns), within=frozenset(group.nodes))
    ranked = _ranked(dependence.tree, {found.column: found.information for found in related})
    telling = ranked if len(ranked) == len(group.columns) else [group.centre, *ranked]  # the centre may be a column
    stability = dict(zip(group.columns, group.column_stability or (), strict=False))
    return sorted(telling, key=lambda column: stability.get(dependence.tree.names[column], 1.0) < MIN_STABILITY)


def _columns_of_hidden(dependence: Dependence, node: int) -> tuple[list[int], int, bool, list[int]]:
    """Return the columns that name a hidden variable, how many to show, and whether it only connects others.

    Last come other columns that may stand in the place of the second one.
    """
    tree = dependence.tree
    own = _ranked(
        tree,
        {
            other: float(dependence.edge_information[edge])
            for other, edge in tree.neighbors[node]
            if other < tree.n_observed
        },
    )
    if not own:
        around = frozenset(other for other, _ in tree.neighbors[node])
        nearest = [_nearest(dependence, node, _Branch(other, around)) for other, _ in tree.neighbors[node]]
        return _ranked(tree, dict(nearest)), _N_BRANCHES, True, []
    spare: list[int] = []
    if len(own) == 1:
        # One more candidate, because one of them may be the column that is there already.
        near = dependence.closest_columns(node, _N_COLUMNS + _N_SPARE)
        ranked = _ranked(tree, {found.column: found.information for found in near if found.column != own[0]})
        own += ranked[: _N_COLUMNS - 1]
        spare = ranked[_N_COLUMNS - 1 : _N_COLUMNS - 1 + _N_SPARE]
    return own, _N_COLUMNS, False, spare


@dataclass(frozen=True)
class _Branch:
    """The nodes that are reached from a node through one of its neighbours."""

    first: int
    neighbours: frozenset[int]

    def __contains__(self, node: object) -> bool:
        """Return whether a node that is reached from there, or is the first one, is in the branch."""
        return node == self.first or node not in self.neighbours


def _nearest(dependence: Dependence, node: int, branch: _Branch) -> tuple[int, float]:
    """Return the column of a branch that shares the most information with a node, and how much."""
    found = dependence.closest_columns(node, 1, within=branch)[0]
    return found.column, found.information


def _ranked(tree: Tree, information: Mapping[int, float]) -> list[int]:
    """Return columns in descending order of information; of equal ones, the first by name."""
    return sorted(information, key=lambda column: (-round(information[column], _DECIMALS), tree.names[column]))


class _Stems:
    """The words that columns have in common."""

    def __init__(self, names: Sequence[str]) -> None:
        self._stems = {name: _stems_of(name) for name in names}
        self._counts = Counter(stem for stems in self._stems.values() for stem in stems)

    def of(self, columns: Sequence[str]) -> list[str]:
        """Return the best stem of some columns, if they have one."""
        if len(columns) < _MIN_COLUMNS_OF_STEM:
            return []
        inside = Counter(stem for column in columns for stem in self._stems[column])
        found = [
            stem
            for stem, count in inside.items()
            if count >= _NEARLY_ALL * max(len(columns), self._counts[stem]) and self._counts[stem] < len(self._stems)
        ]
        return sorted(found, key=lambda stem: (-inside[stem], -len(stem), stem))[:1]


def _stems_of(name: str) -> set[str]:
    """Return the runs of words in the name of a column; a word has letters or digits only, a run has a letter."""
    words = list(re.finditer(r"[^\W\d_]+|\d+", name))
    if len(words) > _MAX_WORDS:
        last = [word for word in words[:_MAX_WORDS] if len(word.group()) >= _LONG_WORD]
        runs = {name[words[0].start() : word.end()] for word in last}
    else:
        runs = {name[one.start() : other.end()] for i, one in enumerate(words) for other in words[i:]}
    return {run for run in runs if any(letter.isalpha() for letter in run) and run == one_line(run)}
