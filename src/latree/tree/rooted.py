"""A tree hung from a root: for each node its parent, and an order in which to visit the nodes."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

from latree._util.arrays import IntArray

Value = TypeVar("Value")


@dataclass(frozen=True, eq=False)
class Rooted:
    """A tree (or forest) hung from a root in each component.

    Attributes
    ----------
    parent : array of int
        The parent of each node; -1 for roots.
    order : array of int
        All nodes, each after its parent. The nodes of a subtree stand next to each other.
    up : array of int
        The edge from each node to its parent; -1 for roots.

    Examples
    --------
    >>> import latree
    >>> rooted = latree.Tree.from_newick("((a,b),c,d);").rooted()
    >>> rooted.children[rooted.roots[0]]
    (5, 2, 3)
    >>> rooted.subtree_sums([1, 1, 1, 1, 0, 0])  # the number of leaves below each node
    [1, 1, 1, 1, 4, 2]
    """

    parent: IntArray
    order: IntArray
    up: IntArray

    @cached_property
    def roots(self) -> list[int]:
        """The root of each component."""
        return [node for node in self.order.tolist() if self.parent[node] < 0]

    @cached_property
    def postorder(self) -> list[int]:
        """All nodes, each before its parent."""
        return [int(node) for node in self.order[::-1]]

    @cached_property
    def children(self) -> tuple[tuple[int, ...], ...]:
        """The children of each node, in the order of the visit."""
        return children_of(self.parent, self.order)

    def subtree_sums(self, values: Iterable[int]) -> list[int]:
        """Return for each node the sum of the values of all nodes of its subtree, itself included."""
        return self.combined(values, int.__add__)

    def combined(self, values: Iterable[Value], combine: Callable[[Value, Value], Value]) -> list[Value]:
        """Return for each node the values of its subtree combined, such as the union of sets."""
        found = list(values)
        for node in self.postorder:
            parent = self.parent[node]
            if parent >= 0:
                found[parent] = combine(found[parent], found[node])
        return found


def children_of(parent: IntArray, order: IntArray) -> tuple[tuple[int, ...], ...]:
    """Return the children of each node in the order of the visit."""
    found: list[list[int]] = [[] for _ in parent]
    for node in order.tolist():
        if parent[node] >= 0:
            found[parent[node]].append(node)
    return tuple(map(tuple, found))
