"""Trees as text for a terminal."""

from collections.abc import Sequence
from math import isnan

from latree._util.arrays import FloatArray
from latree._util.text import printable
from latree.tree.rooted import Rooted


def draw(names: Sequence[str], n_observed: int, rooted: Rooted, support: FloatArray, hidden: bool) -> str:
    """Draw a rooted tree with one line per observed variable, small branches first.

    A forest is drawn as one tree after another; a named inner node stands on its own line above its branches. The
    support of an edge stands on it, in per cent.

    Parameters
    ----------
    names : sequence of str
        Names of all nodes.
    n_observed : int
        Nodes below this number are observed.
    rooted : Rooted
    support : array of float
        One number per edge; NaN is not shown.
    hidden : bool
        Whether hidden nodes are named, too.
    """
    children = branches_of(rooted, n_observed)
    lines: list[str] = []
    # A node to draw, what stands left of it on its first line, and what stands left of it on all later lines.
    stack = [(root, "─", " ") for root in reversed(rooted.roots)]
    while stack:
        node, first, later = stack.pop()
        branches = children[node]
        named = hidden or node < n_observed
        if named:
            lines.append(f"{first} {printable(names[node])}")
            first = later
        last = len(branches) - 1
        drawn = []
        for position, child in enumerate(branches):
            if position == 0 and not named:
                lead = first + ("┬" if last else "─")
            else:
                lead = later + ("├" if position < last else "└")
            certainty = support[rooted.up[child]]
            share = "" if isnan(certainty) else f"{round(100 * certainty)}─"
            beside = later + ("│" if position < last else " ") + " " * (1 + len(share))
            drawn.append((child, f"{lead}─{share}", beside))
        stack.extend(reversed(drawn))
    return "\n".join(line.rstrip() for line in lines) + "\n"


def branches_of(rooted: Rooted, n_observed: int) -> list[list[int]]:
    """Return the children of each node, those with few observed variables below them first."""
    size = rooted.subtree_sums(int(node < n_observed) for node in range(len(rooted.parent)))
    return [sorted(children, key=lambda child: (size[child], child)) for children in rooted.children]
