"""A tree hung from a root: for each node its parent, and an order in which to visit the nodes."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from latree._util.arrays import IntArray

Item = TypeVar("Item")


@dataclass(frozen=True, eq=False)
class Rooted:
    """A tree (or forest) hung from a root in each component.

    Use it wherever results flow along the edges: :attr:`order` visits parents first, :attr:`postorder` children first,
    and :meth:`subtree_sums` and :meth:`combined` collect values from the leaves upwards. :meth:`Tree.rooted
    <latree.tree.Tree.rooted>` makes one.

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
    >>> rooted.parent.tolist()
    [4, 4, 5, 5, -1, 4]
    >>> rooted.children[rooted.roots[0]]
    (0, 1, 5)
    >>> rooted.subtree_sums([1, 1, 1, 1, 0, 0])  # the number of leaves below each node
    [1, 1, 1, 1, 4, 2]
    """

    parent: IntArray
    order: IntArray
    up: IntArray

    @cached_property
    def roots(self) -> tuple[int, ...]:
        """The root of each component."""
        return tuple(self.order[self.parent[self.order] < 0].tolist())

    @cached_property
    def postorder(self) -> tuple[int, ...]:
        """All nodes, each before its parent."""
        return tuple(self.order[::-1].tolist())

    @cached_property
    def children(self) -> tuple[tuple[int, ...], ...]:
        """The children of each node, in the order of the visit."""
        return children_of(self.parent, self.order)

    @cached_property
    def components(self) -> tuple[tuple[int, ...], ...]:
        """The nodes of each component in the order of the visit, its root first."""
        starts = self.position[list(self.roots)].tolist()
        order = self.order.tolist()
        return tuple(tuple(order[start:stop]) for start, stop in zip(starts, [*starts[1:], len(order)], strict=True))

    @cached_property
    def position(self) -> IntArray:
        """The place of each node in :attr:`order`.

        The subtree of a node is ``order[position[node] : position[node] + size[node]]``, where ``size`` is the number
        of its nodes.
        """
        position = np.empty_like(self.order)
        position[self.order] = np.arange(len(self.order))
        return position

    @cached_property
    def depth(self) -> tuple[int, ...]:
        """The number of edges between each node and its root."""
        depth = [0] * len(self.parent)
        parent = self.parent.tolist()
        for node in self.order.tolist():
            if parent[node] >= 0:
                depth[node] = depth[parent[node]] + 1
        return tuple(depth)

    def subtree_sums(self, values: Iterable[int]) -> list[int]:
        """Return for each node the sum of the values of all nodes of its subtree, itself included.

        Parameters
        ----------
        values : iterable of int
            One value per node.

        Examples
        --------
        >>> import latree
        >>> rooted = latree.Tree.from_newick("((a,b),c,d);").rooted()
        >>> rooted.subtree_sums([1] * 6)  # the number of nodes
        [1, 1, 1, 1, 6, 3]
        """
        return self.combined(values, int.__add__)

    def combined(self, values: Iterable[Item], combine: Callable[[Item, Item], Item]) -> list[Item]:
        """Return for each node the values of its subtree, combined from the leaves upwards.

        Children are combined into their parent one by one, the last of the visit first.

        Parameters
        ----------
        values : iterable
            One value per node.
        combine : callable
            Takes what a node has so far and the final value of one of its children. It returns what the node has then.

        Examples
        --------
        >>> import latree
        >>> rooted = latree.Tree.from_newick("((a,b),c,d);").rooted()
        >>> rooted.combined(map(frozenset, ["a", "b", "c", "d", "", ""]), frozenset.union)[5] == {"c", "d"}
        True
        >>> rooted.combined([0] * 6, lambda above, below: max(above, below + 1))  # edges to the farthest leaf
        [0, 0, 0, 0, 2, 1]
        """
        found = list(values)
        parent = self.parent.tolist()
        for node in self.postorder:
            above = parent[node]
            if above >= 0:
                found[above] = combine(found[above], found[node])
        return found


def children_of(parent: IntArray, order: IntArray) -> tuple[tuple[int, ...], ...]:
    """Return the children of each node in the order of the visit."""
    found: list[list[int]] = [[] for _ in parent]
    for node, above in zip(order.tolist(), parent[order].tolist(), strict=True):
        if above >= 0:
            found[above].append(node)
    return tuple(map(tuple, found))


def path_lengths(rooted: Rooted, n: int) -> NDArray[np.int32]:
    """Return the number of edges on the path between every two of the first n nodes; -1 between components."""
    n_nodes, order, position = len(rooted.parent), rooted.order, rooted.position
    size = rooted.subtree_sums([1] * n_nodes)
    depth = np.array(rooted.depth, dtype=np.int32)
    # Rows are nodes; columns are nodes in the order of the visit, where the nodes of a subtree are a slice.
    distance = np.full((n_nodes, n_nodes), -1, dtype=np.int32)
    for node in order.tolist():
        parent, subtree = rooted.parent[node], slice(position[node], position[node] + size[node])
        if parent < 0:
            distance[node, subtree] = depth[order[subtree]]
        else:
            # One step further than the parent from all nodes, except those of the own subtree: one step nearer.
            distance[node] = np.where(distance[parent] < 0, -1, distance[parent] + 1)
            distance[node, subtree] -= 2
    return distance[:n, position[:n]]
