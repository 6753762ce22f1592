"""Edges are removed from a tree, and then the hidden nodes that connect nothing any more."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np


class Edge(NamedTuple):
    """An edge with its two ends and its numbers."""

    u: int
    v: int
    length: float
    support: float

    def other_end(self, node: int) -> int:
        """Return the end that is not this node."""
        return self.u + self.v - node


def cut(edges: Sequence[Edge], removed: Iterable[int], n_observed: int) -> list[Edge]:
    """Remove edges, given by their numbers, and hidden nodes that are left with too few neighbours.

    See :meth:`latree.tree.tree.Tree.cut`. Hidden nodes get the numbers from ``n_observed`` on, in their old order.
    """
    gone = set(removed)
    left = {number: edge for number, edge in enumerate(edges) if number not in gone}
    waiting = sorted({node for edge in edges for node in edge[:2] if node >= n_observed})
    while waiting:
        node = waiting.pop()
        around = [number for number, edge in left.items() if node in edge[:2]]
        neighbours = [left[number].other_end(node) for number in around]
        if len(around) == 1:
            # A hidden leaf: it goes with its edge, and its neighbour has one neighbour less.
            del left[around[0]]
            waiting += [neighbour for neighbour in neighbours if neighbour >= n_observed]
        elif len(around) == 2 and max(neighbours) >= n_observed:
            # A hidden node between two others, of which one is hidden: one edge takes the place of its two.
            first, second = (left.pop(number) for number in around)
            length, support = first.length + second.length, float(np.minimum(first.support, second.support))
            left[around[0]] = Edge(neighbours[0], neighbours[1], length, support)
    # Close the gaps in the numbers of hidden nodes.
    hidden = sorted({node for edge in left.values() for node in edge[:2] if node >= n_observed})
    number_of = {node: number for number, node in enumerate(hidden, start=n_observed)}
    return [edge._replace(u=number_of.get(edge.u, edge.u), v=number_of.get(edge.v, edge.v)) for edge in left.values()]
