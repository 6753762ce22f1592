"""Places in a tree whatever the numbers of its nodes, and moves that do not touch each other."""

from collections.abc import Callable, Iterable
from typing import TypeVar

from latree.model import LatentTreeModel
from latree.tree import Tree

AnyMove = TypeVar("AnyMove")


def apart(moves: Iterable[AnyMove], touched_by: Callable[[AnyMove], tuple[set[int], set[int]]]) -> list[AnyMove]:
    """Return moves that can be made at once, the first ones first.

    Parameters
    ----------
    moves : iterable
    touched_by : callable
        Given a move, returns the nodes that it changes, and those that it is next to. A node may be next to many moves,
        but a node that one changes is neither changed by another one nor next to it.
    """
    chosen: list[AnyMove] = []
    changed: set[int] = set()
    nearby: set[int] = set()
    for move in moves:
        nodes, neighbors = touched_by(move)
        if not nodes & (changed | nearby) and not neighbors & changed:
            chosen.append(move)
            changed |= nodes
            nearby |= neighbors
    return chosen


def clusters(edges: Iterable[tuple[int, int]], most: int) -> list[list[int]]:
    """Return the groups of nodes that some edges connect, the first edges first.

    An edge that would connect more than a number of nodes is left out.
    """
    groups: dict[int, set[int]] = {}
    for u, v in edges:
        together = groups.get(u, {u}) | groups.get(v, {v})
        if len(together) <= most:
            groups |= dict.fromkeys(together, together)
    return [sorted(group) for node, group in groups.items() if node == min(group)]


def place(tree: Tree, node: int) -> object:
    """Return what identifies a node whatever its number: the splits of its edges."""
    return frozenset(tree.edge_splits[edge] for _, edge in tree.neighbors[node])


def edge_place(tree: Tree, edge: int) -> object:
    """Return what identifies an edge and its neighbourhood whatever its number."""
    return frozenset(place(tree, node) for node in tree.edges[edge].tolist())


def outline(model: LatentTreeModel) -> object:
    """Return what must stay the same for a search to end."""
    return model.tree.splits, tuple(sorted(model.n_states.tolist()))
