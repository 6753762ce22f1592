"""Graphs of observed and hidden nodes as arrays of integers, and their rooted form.

Data model: a tree over ``d`` observed variables and ``h`` hidden ones has nodes ``0 .. d+h-1``. Node ``i < d`` is the
observed variable ``names[i]``; the others are hidden. ``edges`` has one row ``(u, v)`` per edge; ``lengths`` and
``support`` have one number per edge, NaN where there is none. Observed inner nodes, nodes with any number of
neighbours, and forests are all legal; cycles are not.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from latree._util.arrays import FloatArray, IntArray
from latree.errors import InputError

Item = TypeVar("Item")


@dataclass(frozen=True, eq=False)
class Rooted:
    """A tree (or forest) hung from a root in each component.

    Use it wherever results flow along the edges: :attr:`order` visits parents first, :attr:`postorder` children first,
    and :meth:`subtree_sums` and :meth:`combined` collect values from the leaves upwards. :meth:`Tree.rooted
    <latree.Tree.rooted>` makes one.

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


# What a tree may have that a binary tree with its observed variables at the leaves does not have.
NonBinaryFeature: TypeAlias = Literal["parts", "inner columns", "two neighbours", "many neighbours"]


class Graph:
    """The nodes and edges of a tree. :class:`latree.Tree` adds splits, changes, and forms as text."""

    def __init__(
        self,
        names: Sequence[str],
        edges: Any,
        lengths: Any = None,
        support: Any = None,
    ) -> None:
        self.names = tuple(names)
        self.edges: IntArray = _edge_array(edges)
        self.lengths: FloatArray = _edge_numbers(lengths, len(self.edges), "lengths")
        self.support: FloatArray = _edge_numbers(support, len(self.edges), "support")
        if (bad := self.support[(self.support < 0) | (self.support > 1)]).size:
            raise InputError(f"the support of an edge is {float(bad[0])!r}; it must be from 0 to 1")
        if not self.names:
            raise InputError("a tree needs at least one observed variable")
        if len(set(self.names)) != len(self.names):
            twice, _ = Counter(self.names).most_common(1)[0]
            raise InputError(f"two observed variables of a tree have the same name, {twice!r:.60}")
        if len(self.edges) and self.edges.min() < 0:
            raise InputError(f"an edge of a tree names a negative node, {self.edges.min()}")
        if with_nul := [name for name in self.names if "\0" in name]:
            raise InputError(f"the name {with_nul[0]!r:.40} of a node has a NUL character: rename it")
        self.n_observed = len(self.names)
        self.n_nodes = max(self.n_observed, int(self.edges.max(initial=-1)) + 1)
        self.n_hidden = self.n_nodes - self.n_observed
        if self.n_nodes > len(self.edges) + len(self.names):
            raise InputError("a tree has more hidden nodes than its edges can join")
        if any(len(pairs) < 2 for pairs in self.neighbors[len(self.names) :]):
            raise InputError("a hidden node of a tree has fewer than two neighbours")
        if len(self.edges) != self.n_nodes - (int(self._component.max()) + 1):
            raise InputError("the edges of a tree form a cycle")

    @cached_property
    def node_names(self) -> tuple[str, ...]:
        """Names of all nodes.

        Hidden nodes are H1, H2, ..., or HH1, HH2, ... if an observed variable has such a name, and so on.
        """
        prefix = "H"
        while any(name.startswith(prefix) and name[len(prefix) :].isdigit() for name in self.names):
            prefix += "H"
        return (*self.names, *(f"{prefix}{i}" for i in range(1, self.n_hidden + 1)))

    @cached_property
    def neighbors(self) -> tuple[tuple[tuple[int, int], ...], ...]:
        """For each node its neighbours, as pairs (node, edge).

        Examples
        --------
        >>> import latree
        >>> latree.Tree("abc", [(3, 0), (3, 1), (3, 2)]).neighbors[3]
        ((0, 0), (1, 1), (2, 2))
        """
        found: list[list[tuple[int, int]]] = [[] for _ in range(self.n_nodes)]
        for edge, (u, v) in enumerate(self.edges.tolist()):
            found[u].append((v, edge))
            found[v].append((u, edge))
        return tuple(tuple(pairs) for pairs in found)

    @cached_property
    def components(self) -> frozenset[int]:
        """The observed variables of each connected component, as bit sets (bit ``i`` for ``names[i]``).

        Examples
        --------
        >>> import latree
        >>> forest = latree.Tree.from_newick("(a,b); c;")
        >>> sorted(f"{component:03b}" for component in forest.components)
        ['011', '100']
        """
        found: dict[int, int] = {}
        for node, component in enumerate(self._component[: self.n_observed].tolist()):
            found[component] = found.get(component, 0) | 1 << node
        return frozenset(found.values())

    def non_binary_features(self) -> dict[NonBinaryFeature, str]:
        """Return how the tree differs from a binary tree with all observed variables at the leaves.

        Returns
        -------
        dict
            For each kind of difference one example, in words. It is empty for a binary tree.

        Examples
        --------
        >>> import latree
        >>> latree.Tree.from_newick("(a,b,c,d);").non_binary_features()
        {'many neighbours': 'hidden variable H1 has 4 neighbours'}
        """
        found: dict[NonBinaryFeature, str] = {}
        if len(self.components) > 1:
            found["parts"] = f"the tree falls into {len(self.components)} parts"
        for node, pairs in enumerate(self.neighbors):
            degree, name = len(pairs), self.node_names[node]
            if node < self.n_observed and degree > 1:
                found.setdefault("inner columns", f"column {name!r:.60} is an inner node")
            elif node >= self.n_observed and degree != 3:
                kind: NonBinaryFeature = "two neighbours" if degree == 2 else "many neighbours"
                found.setdefault(kind, f"hidden variable {name} has {degree} neighbours")
        return found

    def rooted(self, root: int | None = None) -> Rooted:
        """Return the tree hung from a node; every other component hangs from its centre.

        Parameters
        ----------
        root : int, optional
            A node. The default is the centre: the hidden node (or the observed one, if there is no hidden one) whose
            largest branch has the fewest nodes.

        Examples
        --------
        >>> import latree
        >>> tree = latree.Tree.from_newick("((a,b),c,d);")
        >>> [tree.node_names[node] for node in tree.rooted().order]
        ['H1', 'a', 'b', 'H2', 'c', 'd']
        >>> [tree.node_names[node] for node in tree.rooted(2).order]
        ['c', 'H2', 'H1', 'a', 'b', 'd']
        """
        if root is None:
            return self._from_centers
        if not 0 <= root < self.n_nodes:
            raise InputError(f"a tree of {self.n_nodes} nodes has no node {root}")
        others = [center for center in self._centers if self._component[center] != self._component[root]]
        return self._hung_from([root, *others])

    def path_lengths(self) -> NDArray[np.int32]:
        """Return the number of edges on the path between every two observed variables; -1 between components.

        Examples
        --------
        >>> import latree
        >>> latree.Tree.from_newick("((a,b),c,d);").path_lengths().tolist()
        [[0, 2, 3, 3], [2, 0, 3, 3], [3, 3, 0, 2], [3, 3, 2, 0]]
        """
        return path_lengths(self.rooted(), self.n_observed)

    @cached_property
    def _from_centers(self) -> Rooted:
        return self._hung_from(self._centers)

    def _hung_from(self, roots: Iterable[int]) -> Rooted:
        """Visit each component from its root, depth first, neighbours in the order of their edges."""
        parent, up = [-1] * self.n_nodes, [-1] * self.n_nodes
        order: list[int] = []
        for root in roots:
            stack = [root]
            while stack:
                node = stack.pop()
                order.append(node)
                for other, edge in reversed(self.neighbors[node]):
                    if edge != up[node]:
                        parent[other], up[other] = node, edge
                        stack.append(other)
        return Rooted(*(np.array(numbers, dtype=np.intp) for numbers in (parent, order, up)))

    @cached_property
    def _component(self) -> IntArray:
        """The number of each node's component; components are numbered in the order of their first nodes."""
        return component_numbers(self.edges, self.n_nodes)

    @cached_property
    def _centers(self) -> tuple[int, ...]:
        """The centre of each component, in the order of the components' first nodes; see :meth:`rooted`."""
        _, first_nodes = np.unique(self._component, return_index=True)
        rooted = self._hung_from(first_nodes.tolist())
        size = rooted.subtree_sums([1] * self.n_nodes)

        def largest_branch(node: int, n_nodes: int) -> int:
            return max(n_nodes - size[node], *(size[child] for child in rooted.children[node]), 0)

        return tuple(
            min(nodes, key=lambda node: (node < self.n_observed, largest_branch(node, len(nodes)), node))
            for nodes in rooted.components
        )


def component_numbers(edges: IntArray, n_nodes: int) -> IntArray:
    """Return the number of each node's connected component, in the order of the components' first nodes."""
    graph = coo_array((np.ones(len(edges)), edges.T), shape=(n_nodes, n_nodes))
    _, component = connected_components(graph, directed=False)
    return np.asarray(component, dtype=np.intp)


def _read_only(array: NDArray[Any]) -> NDArray[Any]:
    array.setflags(write=False)
    return array


def _edge_array(edges: Any) -> IntArray:
    array = np.array(edges)
    if not array.size:
        array = np.empty((0, 2), dtype=np.intp)
    if array.ndim != 2 or array.shape[1] != 2 or not np.issubdtype(array.dtype, np.integer):
        raise InputError("a tree's edges are pairs of whole numbers")
    return _read_only(array.astype(np.intp))


def _edge_numbers(numbers: Iterable[float] | None, n_edges: int, what: str) -> FloatArray:
    array = np.full(n_edges, np.nan) if numbers is None else np.array(numbers, dtype=np.float64)
    if np.isinf(array).any():
        raise InputError(f"a tree's {what} must be finite")
    if array.shape != (n_edges,):
        raise InputError(f"a tree of {n_edges} edges needs {n_edges} {what}, not an array of shape {array.shape}")
    return _read_only(array)
