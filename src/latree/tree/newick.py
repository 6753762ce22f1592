"""Trees as text: Newick, and a drawing for the terminal.

Nested brackets are the tree, ``:1.5`` after a node is the length of the edge above it, and ``;`` ends a statement.

Rules where the format leaves a choice:

- A name is quoted unless it is all letters, digits and dots and does not look like a number; a quote in it is doubled.
- A number after an inner node is the support of the edge above it; any other label (or a quoted number) is the name of
  an observed inner node, whose edge's support is then written as a comment ``[&support=0.9]``.
- If any support is above 1, all are percentages, as many programs write them.
- Hidden nodes have no names, unless names for them are given; such a label has a comment ``[&hidden=true]``, so that it
  is not read as an observed inner node.
- An underscore stays an underscore. Other comments are passed over.
- A forest is several statements, one after another.

>>> import latree
>>> tree = latree.Tree.from_newick("((a:1,'b c':2)0.9:3,d,e);")
>>> tree.names
('a', 'b c', 'd', 'e')
>>> print(tree.to_newick(), end="")
(a:1.0,'b c':2.0,(d,e)0.9:3.0);
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import isnan
from typing import NamedTuple

import numpy as np

from latree._util.arrays import FloatArray
from latree._util.words import clipped, percent
from latree.errors import InputError
from latree.tree.graph import Rooted

# What a statement is made of: quoted names, comments, punctuation, and words (bare names and numbers).
_TOKEN = re.compile(
    r"\s*(?:(?P<quoted>'(?:[^']|'')*')|\[(?P<comment>[^\]]*)\]|(?P<punctuation>[(),:;])|(?P<word>[^\s()\[\]',:;]+))"
)
# Names that need no quotes, unless they look like a number.
_PLAIN = re.compile(r"[A-Za-z0-9.]*[A-Za-z][A-Za-z0-9.]*")


def write_newick(
    names: Sequence[str],
    rooted: Rooted,
    lengths: FloatArray,
    support: FloatArray,
    hidden: Sequence[str] = (),
    branches: Sequence[Sequence[int]] | None = None,
) -> str:
    """Return a rooted tree as text; a forest as one statement per component.

    Parameters
    ----------
    names : sequence of str
        Names of the first nodes, the observed variables.
    rooted : Rooted
    lengths, support : array of float
        One number per edge; NaN is not written.
    hidden : sequence of str
        Names of the other nodes, the hidden variables; empty: they are not named.
    branches : sequence of sequences of int, optional
        The children of each node in their order; by default that of the edges.
    """
    branches = branches or rooted.children
    labels = [*map(quoted_name, names), *map(quoted_name, hidden)]
    texts = [""] * len(rooted.parent)
    for node in rooted.postorder:
        children = branches[node]
        edge = int(rooted.up[node])
        length, edge_support = (lengths[edge], support[edge]) if edge >= 0 else (np.nan, np.nan)
        text = f"({','.join(texts[child] for child in children)})" if children else ""
        if node < len(labels):
            facts = ["hidden=true"] if node >= len(names) else []
            facts += [] if np.isnan(edge_support) else [f"support={float(edge_support)!r}"]
            text += labels[node] + (f"[&{','.join(facts)}]" if facts else "")
        elif not np.isnan(edge_support):
            text += repr(float(edge_support))
        texts[node] = text if np.isnan(length) else f"{text}:{float(length)!r}"
        for child in children:
            texts[child] = ""  # frees memory: a deep tree would keep a copy of every subtree
    return "\n".join(f"{texts[root]};" for root in rooted.roots) + "\n"


def quoted_name(name: str) -> str:
    """Return a name as it is written in Newick and NEXUS: in quotes, unless it is a plain word."""
    if _PLAIN.fullmatch(name) and _as_number(name) is None:
        return name
    return "'" + name.replace("'", "''") + "'"


class NewickTree(NamedTuple):
    """A tree as it was read: the arguments of :class:`latree.Tree`."""

    names: list[str]
    edges: list[tuple[int, int]]
    lengths: list[float]
    support: list[float]


def read_newick(text: str) -> NewickTree:
    """Read a tree or a forest. Observed variables are in the order of the text, hidden nodes after all of them.

    It is read token by token, without recursion: a caterpillar tree may have thousands of levels.
    """
    nodes: list[_Node] = []  # in the order in which they are complete; observed ones are numbered so
    groups: list[list[_Node]] = []  # the children found so far at each open bracket
    last: _Node | None = None  # the node that a label or a length would belong to
    after_colon = False
    for kind, value in _tokens(text):
        if kind == "comment":
            if last is not None and value.startswith("&"):
                last.take_facts(value[1:])
        elif after_colon:
            assert last is not None
            last.length = _number(value if kind == "word" else f"'{value}'")
            after_colon = False
        elif kind in ("name", "word"):
            if last is None:
                last = _Node(name=value)
                nodes.append(last)
            else:
                last.take_label(value, is_name=kind == "name")
        elif value == "(":
            if last is not None:
                raise InputError("not a Newick tree: '(' right after a node")
            groups.append([])
        elif value == ":":
            if last is None or not np.isnan(last.length):
                raise InputError("not a Newick tree: ':' without a node before it, or a second length of one node")
            after_colon = True
        else:  # the end of a node; behind a closing bracket, its parent is the last one
            if last is None:
                raise InputError(f"not a Newick tree: nothing before {value!r}")
            if (value == ";") != (not groups):
                raise InputError(f"not a Newick tree: brackets do not match at {value!r}")
            if groups:
                groups[-1].append(last)
            last = _Node(children=groups.pop()) if value == ")" else None
            nodes += [] if last is None else [last]
    if groups or last is not None or not nodes:
        raise InputError("not a Newick tree: no ';' at the end")
    names = [node.name for node in nodes if node.name is not None]
    for name, times in Counter(names).items():
        if times > 1:
            raise InputError(f"not a Newick tree: the name {name!r:.40} appears {times} times: names must differ")
    ordered = sorted(nodes, key=lambda node: node.name is None)  # stable: observed nodes first
    number = {id(node): i for i, node in enumerate(ordered)}
    below = [(node, child) for node in nodes for child in node.children]
    return NewickTree(
        names,
        [(number[id(node)], number[id(child)]) for node, child in below],
        [child.length for _, child in below],
        _shares([child.support for _, child in below]),
    )


def _tokens(text: str) -> Iterator[tuple[str, str]]:
    """Yield the kind and the text of every token; a quoted name comes without its quotes."""
    text = text.rstrip()
    position = 0
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None:
            raise InputError(f"not a Newick tree: cannot read {text[position:][:20]!r} at character {position}")
        position = match.end()
        kind = match.lastgroup or ""
        value = match.group(kind)
        yield ("name", value[1:-1].replace("''", "'")) if kind == "quoted" else (kind, value)


def _as_number(text: str) -> float | None:
    try:
        return None if "_" in text else float(text)
    except ValueError:
        return None


@dataclass
class _Node:
    name: str | None = None
    support: float = np.nan
    length: float = np.nan
    children: list["_Node"] = field(default_factory=list)

    def take_facts(self, comment: str) -> None:
        """Take what a comment such as ``hidden=true,support=0.9`` says."""
        for fact in comment.split(","):
            key, _, value = fact.partition("=")
            if key == "support":
                self.support = _number(value)
            elif (key, value) == ("hidden", "true") and self.children:
                self.name = None

    def take_label(self, label: str, is_name: bool) -> None:
        """Take the name of an inner node, or the support of its edge."""
        if not self.children or self.name is not None or not np.isnan([self.support, self.length]).all():
            raise InputError(f"not a Newick tree: {label!r:.40} follows a node that has a label")
        if is_name or _as_number(label) is None:
            self.name = label
        else:
            self.support = _number(label)


def _shares(support: list[float]) -> list[float]:
    """Return support from 0 to 1; percentages are divided by 100."""
    for number in support:
        if not (np.isnan(number) or 0 <= number <= 100):
            raise InputError(
                f"not a Newick tree: the support {number!r} is neither from 0 to 1 nor a percentage; put quotes around "
                "it if it is the name of a column"
            )
    is_percent = any(number > 1 for number in support)
    return [number / 100 for number in support] if is_percent else support


def _number(text: str) -> float:
    number = _as_number(text)
    if number is None or not np.isfinite(number):
        raise InputError(f"not a Newick tree: {text!r:.40} is not a number")
    return number


def draw(names: Mapping[int, str], rooted: Rooted, branches: Sequence[Sequence[int]], support: FloatArray) -> str:
    """Return a drawing of a rooted tree with one line per observed variable.

    The components of a forest are drawn one below the other. An inner node with a name has its own line above its
    branches. The support of an edge stands on it, in per cent.

    Parameters
    ----------
    names : mapping of int to str
        Names of the observed nodes, and of the hidden ones that have a line.
    rooted : Rooted
    branches : sequence of sequences of int
        The children of each node in their order.
    support : array of float
        One number per edge; NaN is not shown.
    """
    lines: list[str] = []
    # Nodes to draw, each with what stands left of it on its first line and on all its later lines.
    stack = [(root, "─", " ") for root in reversed(rooted.roots)]
    while stack:
        node, first, later = stack.pop()
        below_node = branches[node]
        named = node in names
        if named:
            lines.append(f"{first} {clipped(names[node])}")
            first = later
        last = len(below_node) - 1
        drawn = []
        for position, child in enumerate(below_node):
            if position == 0 and not named:
                lead = first + ("┬" if last else "─")
            else:
                lead = later + ("├" if position < last else "└")
            edge_support = support[rooted.up[child]]
            number = "" if isnan(edge_support) else f"{percent(edge_support)}─"
            below = later + ("│" if position < last else " ") + " " * (1 + len(number))
            drawn.append((child, f"{lead}─{number}", below))
        stack.extend(reversed(drawn))
    return "\n".join(line.rstrip() for line in lines) + "\n"
