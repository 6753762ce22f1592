"""Trees as text for a terminal."""

from math import isnan
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from latree.tree import Tree


def branches_of(tree: "Tree") -> list[list[int]]:
    """Give the branches below each node of a tree hung from its middle, small ones first."""
    rooted = tree.rooted()
    children: list[list[int]] = [[] for _ in range(tree.n_nodes)]
    size = [1 if node < tree.n_observed else 0 for node in range(tree.n_nodes)]
    for node in rooted.order[::-1].tolist():
        children[node].sort(key=lambda child: (size[child], child))
        if rooted.parent[node] >= 0:
            children[rooted.parent[node]].append(node)
            size[rooted.parent[node]] += size[node]
    return children


def draw(tree: "Tree", hidden: bool) -> str:
    """Draw a tree hung from its middle, one line an observed variable, small branches first.

    A forest is drawn as one tree after another; a named inner node stands on its own line above its branches. The
    support of an edge stands on it, in per cent.
    """
    rooted, children = tree.rooted(), branches_of(tree)
    lines: list[str] = []
    # A node to draw, what stands left of it on its first line, and what stands left of it on all later lines.
    stack = [(int(node), "─", " ") for node in rooted.order[::-1] if rooted.parent[node] < 0]
    while stack:
        node, first, later = stack.pop()
        branches = children[node]
        named = hidden or node < tree.n_observed
        if named:
            lines.append(f"{first} {_printable(tree.node_names[node])}")
            first = later
        if not branches:
            continue
        last = len(branches) - 1
        drawn = []
        for position, child in enumerate(branches):
            if position == 0 and not named:
                lead = first + ("┬" if last else "─")
            else:
                lead = later + ("├" if position < last else "└")
            support = tree.support[rooted.up[child]]
            share = "" if isnan(support) else f"{round(100 * support)}─"
            beside = later + ("│" if position < last else " ") + " " * (1 + len(share))
            drawn.append((child, f"{lead}─{share}", beside))
        stack.extend(reversed(drawn))
    return "\n".join(line.rstrip() for line in lines) + "\n"


def _printable(name: str) -> str:
    """Show what would move the cursor or break the line as a question mark."""
    return "".join(letter if letter.isprintable() else "?" for letter in name)
