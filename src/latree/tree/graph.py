"""The nodes and edges of an unrooted tree: checked, numbered, and hung from a root.

Data model: a tree over ``d`` observed variables and ``h`` hidden ones has nodes ``0 .. d+h-1``. Node ``i < d`` is the
observed variable ``names[i]``; the others are hidden. ``edges`` has one row ``(u, v)`` per edge; ``lengths`` and
``support`` have one number per edge, NaN where there is none. Observed inner nodes, nodes with any number of
neighbours, and forests are all legal; cycles are not.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from latree._util.arrays import FloatArray, IntArray
from latree.errors import InputError
from latree.tree.rooted import Rooted, path_lengths

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
        self.n_nodes = max(len(self.names), int(self.edges.max(initial=-1)) + 1)
        if self.n_nodes > len(self.edges) + len(self.names):
            raise InputError("a tree has more hidden nodes than its edges can join")
        if any(len(pairs) < 2 for pairs in self.neighbors[len(self.names) :]):
            raise InputError("a hidden node of a tree has fewer than two neighbours")
        if len(self.edges) != self.n_nodes - (int(self._component.max()) + 1):
            raise InputError("the edges of a tree form a cycle")

    @property
    def n_observed(self) -> int:
        """Number of observed variables."""
        return len(self.names)

    @property
    def n_hidden(self) -> int:
        """Number of hidden variables."""
        return self.n_nodes - len(self.names)

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
