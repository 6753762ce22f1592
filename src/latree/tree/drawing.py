"""Trees drawn as text, for a terminal."""

from collections.abc import Mapping
from math import isnan

from latree._util.arrays import FloatArray
from latree._util.words import clipped, percent
from latree.tree.rooted import Rooted


def draw(names: Mapping[int, str], n_observed: int, rooted: Rooted, support: FloatArray) -> str:
    """Return a drawing of a rooted tree with one line per observed variable, small branches first.

    The components of a forest are drawn one below the other. An inner node with a name has its own line above its
    branches. The support of an edge stands on it, in per cent.

    Parameters
    ----------
    names : mapping of int to str
        Names of the observed nodes, and of the hidden ones that have a line.
    n_observed : int
        Nodes below this number are observed.
    rooted : Rooted
    support : array of float
        One number per edge; NaN is not shown.
    """
    children = branches_of(rooted, n_observed)
    lines: list[str] = []
    # Nodes to draw, each with what stands left of it on its first line and on all its later lines.
    stack = [(root, "─", " ") for root in reversed(rooted.roots)]
    while stack:
        node, first, later = stack.pop()
        branches = children[node]
        named = node in names
        if named:
            lines.append(f"{first} {clipped(names[node])}")
            first = later
        last = len(branches) - 1
        drawn = []
        for position, child in enumerate(branches):
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


def branches_of(rooted: Rooted, n_observed: int) -> list[list[int]]:
    """Return the children of each node, those with few observed variables below them first."""
    size = rooted.subtree_sums(int(node < n_observed) for node in range(len(rooted.parent)))
    return [sorted(children, key=lambda child: (size[child], child)) for children in rooted.children]
