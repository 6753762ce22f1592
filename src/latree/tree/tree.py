"""Unrooted trees as tables of integers.

Data model: a tree over ``d`` observed variables and ``h`` hidden ones has nodes ``0 .. d+h-1``. Node ``i < d`` is the
observed variable ``names[i]``; the others are hidden. ``edges`` has one row ``(u, v)`` per edge; ``lengths`` and
``support`` have one number per edge, NaN where there is none. Observed inner nodes, nodes with any number of
neighbours, and forests are all legal; cycles are not.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from html import escape
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from latree._util.arrays import FloatArray, IntArray
from latree.errors import InputError
from latree.tree.cutting import Edge, cut
from latree.tree.drawing import draw
from latree.tree.newick import read_newick, write_newick
from latree.tree.rooted import Rooted, path_lengths
from latree.tree.splits import Split, edge_splits, implies

# What a tree may have that a binary tree with its observed variables at the leaves does not have.
NonBinaryFeature: TypeAlias = Literal["parts", "inner columns", "two neighbours", "many neighbours"]


class Tree:
    """An unrooted tree whose leaves are observed variables and whose inner nodes are mostly hidden.

    Node ``i < len(names)`` is the observed variable ``names[i]``; all other nodes are hidden variables. A tree may have
    observed inner nodes, nodes with any number of neighbours, and several components (a forest). Trees do not change:
    methods such as :meth:`cut` return new ones.

    Parameters
    ----------
    names : sequence of str
        Names of the observed variables.
    edges : array of int, shape (e, 2)
        Pairs of nodes; nodes from ``len(names)`` on are hidden. Every hidden node has two neighbours or more.
    lengths, support : array of float, shape (e,), optional
        One number per edge, NaN where it is unknown. Support is, from 0 to 1, the
        probability that an edge is there and is the right one, or the share of resampled tables whose trees imply the
        same split.

    Attributes
    ----------
    names : tuple of str
    edges, lengths, support : array
    n_nodes : int
        Number of nodes, observed and hidden.

    Examples
    --------
    >>> import latree
    >>> tree = latree.Tree(["a", "b", "c", "d"], [(4, 0), (4, 1), (4, 5), (5, 2), (5, 3)])
    >>> tree
    <Tree: 4 observed, 2 hidden>
    >>> print(tree.draw(), end="")
    ─┬─ a
     ├─ b
     └─┬─ c
       └─ d
    >>> print(tree.to_newick(), end="")
    (a,b,(c,d));
    """

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
            return self._hung_from(self._centers)
        if not 0 <= root < self.n_nodes:
            raise InputError(f"a tree of {self.n_nodes} nodes has no node {root}")
        others = [center for center in self._centers if self._component[center] != self._component[root]]
        return self._hung_from([root, *others])

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
        return _component_numbers(self.edges, self.n_nodes)

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

    @cached_property
    def edge_splits(self) -> tuple[Split, ...]:
        """The split that each edge induces: how its removal divides the observed variables of its component.

        Examples
        --------
        >>> import latree
        >>> tree = latree.Tree.from_newick("((a,b),c,d);")
        >>> [f"{split.side:04b}" for split in tree.edge_splits]
        ['0010', '1110', '0100', '1000', '1100']
        """
        return edge_splits(self.rooted(), self.n_observed)

    @cached_property
    def splits(self) -> frozenset[Split]:
        """The splits that edges induce, without trivial ones, whose smaller side has one variable or none.

        In a forest an edge divides its own component only.

        Examples
        --------
        >>> import latree
        >>> len(latree.Tree.from_newick("((a,b),c,(d,e));").splits)
        2
        """
        return frozenset(split for split in self.edge_splits if split.smaller_side > 1)

    def implies(self, split: Split) -> bool:
        """Return whether the tree implies a split, which may be one of another tree over the same variables.

        A tree implies the splits that its edges induce, and all trivial ones. A forest leaves open how its components
        are connected. It implies a split if the split divides at least one of its components, and every component the
        split divides has an edge that induces it there.

        Parameters
        ----------
        split : Split
            Its bits stand for this tree's ``names``.

        Examples
        --------
        >>> import latree
        >>> from latree.tree import Split
        >>> tree = latree.Tree.from_newick("((a,b),(c,d));")
        >>> tree.implies(Split(side=0b1100, component=0b1111))
        True
        >>> tree.implies(Split(side=0b1010, component=0b1111))
        False
        """
        return implies(self.splits, self.components, split)

    def robinson_foulds(self, other: "Tree") -> int:
        """Return the Robinson-Foulds distance: the number of splits that only one of the two trees implies.

        It is 0 for trees of the same shape and at most :attr:`max_robinson_foulds`. It is the paper's ``a + b``; see
        :meth:`unshared_splits` for the two numbers. Where the two trees have different components, :meth:`implies` says
        which splits count as shared: a tree that fell into two correct halves has distance 1 from the whole.

        Parameters
        ----------
        other : Tree
            A tree over the same observed variables, in any order.

        Examples
        --------
        >>> import latree
        >>> one, two = map(latree.Tree.from_newick, ["((a,b),(c,d));", "((a,c),(b,d));"])
        >>> one.robinson_foulds(two), one.robinson_foulds(one)
        (2, 0)
        """
        return sum(self.unshared_splits(other))

    def unshared_splits(self, other: "Tree") -> tuple[int, int]:
        """Return how many splits only this tree implies, and how many only the other: the paper's a and b.

        Examples
        --------
        >>> import latree
        >>> tree, star = map(latree.Tree.from_newick, ["((a,b),(c,d));", "(a,b,c,d);"])
        >>> tree.unshared_splits(star)
        (1, 0)
        """
        other = other.reordered(self.names)
        if self.components == other.components:
            return len(self.splits - other.splits), len(other.splits - self.splits)
        only_here = sum(not other.implies(split) for split in self.splits)
        return only_here, sum(not self.implies(split) for split in other.splits)

    @property
    def max_robinson_foulds(self) -> int:
        """The largest distance that two trees over these observed variables can have: twice the inner edges."""
        return 2 * max(0, self.n_observed - 3)

    def reordered(self, names: Sequence[str]) -> "Tree":
        """Return the same tree with its observed variables in another order.

        Examples
        --------
        >>> import latree
        >>> latree.Tree("abc", [(0, 1), (1, 2)]).reordered("cba").edges.tolist()
        [[2, 1], [1, 0]]
        """
        if tuple(names) == self.names:
            return self
        if set(names) != set(self.names) or len(names) != len(self.names):
            odd = sorted((Counter(names) - Counter(self.names)) + (Counter(self.names) - Counter(names)))
            raise InputError(f"the trees are over different variables: {odd[0]!r:.60} is in only one of them, or twice")
        position = {name: i for i, name in enumerate(names)}
        moved = np.array(
            [*(position[name] for name in self.names), *range(self.n_observed, self.n_nodes)], dtype=np.intp
        )
        return Tree(names, moved[self.edges], self.lengths, self.support)

    def restricted(self, names: Sequence[str]) -> "Tree":
        """Return the tree that this one induces on some of its observed variables, which keep the order of ``names``.

        The others are removed, and so are hidden nodes that then connect nothing, as in :meth:`cut`. An inner node
        whose variable is removed stays as a hidden node if it connects three others or more.

        Parameters
        ----------
        names : sequence of str
            Names of observed variables of the tree.

        Examples
        --------
        >>> import latree
        >>> tree = latree.Tree.from_newick("((a,b),(c,d),(e,f));")
        >>> print(tree.restricted("acef").to_newick(), end="")
        (e,f,(c,a));
        """
        if odd := set(names) - set(self.names):
            raise InputError(f"the tree has no variable {min(odd)!r:.60}")
        # Removed variables become hidden nodes, numbered after all others.
        kept = {name: position for position, name in enumerate(names)}
        removed = [name for name in self.names if name not in kept]
        numbers = {name: position for position, name in enumerate(removed, start=len(kept) + self.n_hidden)}
        moved = [*((kept | numbers)[name] for name in self.names), *range(len(kept), len(kept) + self.n_hidden)]
        ends = np.array(moved, dtype=np.intp)[self.edges].tolist()
        return self._from_edges(names, cut(self._edge_list(ends), (), len(kept)))

    def with_numbers(self, *, lengths: Any = None, support: Any = None) -> "Tree":
        """Return the same tree with other lengths or support; those that are not given stay.

        Examples
        --------
        >>> import latree
        >>> latree.Tree("ab", [(0, 1)]).with_numbers(lengths=[0.5]).lengths.tolist()
        [0.5]
        """
        return Tree(
            self.names,
            self.edges,
            self.lengths if lengths is None else lengths,
            self.support if support is None else support,
        )

    def path_lengths(self) -> NDArray[np.int32]:
        """Return the number of edges on the path between every two observed variables; -1 between components.

        Examples
        --------
        >>> import latree
        >>> latree.Tree.from_newick("((a,b),c,d);").path_lengths().tolist()
        [[0, 2, 3, 3], [2, 0, 3, 3], [3, 3, 0, 2], [3, 3, 2, 0]]
        """
        return path_lengths(self.rooted(), self.n_observed)

    def contracted(self, edges: Iterable[int]) -> "Tree":
        """Return the tree with some edges contracted: the two ends of each become one node.

        Parameters
        ----------
        edges : iterable of int
            Numbers of edges between hidden nodes.

        Examples
        --------
        >>> import latree
        >>> tree = latree.Tree("abcd", [(4, 0), (4, 1), (4, 5), (5, 2), (5, 3)])
        >>> print(tree.contracted([2]).to_newick(), end="")
        (a,b,c,d);
        """
        gone = sorted(set(edges))
        kept = np.delete(np.arange(len(self.edges)), gone)
        # Nodes that the contracted edges connect become one node. Numbers go by the first of them, so that observed
        # variables keep theirs.
        number = _component_numbers(self.edges[gone], self.n_nodes)
        if not np.array_equal(number[: self.n_observed], np.arange(self.n_observed)):
            raise InputError("two observed variables cannot become one node: contract edges between hidden nodes only")
        return Tree(self.names, number[self.edges[kept]], self.lengths[kept], self.support[kept])

    def cut(self, edges: Iterable[int]) -> "Tree":
        """Return the tree without some edges, and without hidden nodes that then connect nothing.

        A hidden node that is left with one neighbour or none is removed. A hidden node that is left with two neighbours
        is removed, and these are connected by one edge, unless both are observed. The new edge has the sum of the two
        lengths and the smaller support, NaN where one of them is unknown.

        Parameters
        ----------
        edges : iterable of int
            Numbers of edges.

        Examples
        --------
        >>> import latree
        >>> tree = latree.Tree.from_newick("((a:1,b:2):3,c:4,d:5);")
        >>> tree.edges[0].tolist()  # a and the hidden node between a and b
        [4, 0]
        >>> print(tree.cut([0]).to_newick(), end="")
        a;
        (c:4.0,d:5.0,b:5.0);
        """
        return self._from_edges(self.names, cut(self._edge_list(self.edges.tolist()), edges, self.n_observed))

    def _edge_list(self, ends: Sequence[Sequence[int]]) -> list[Edge]:
        """Return the edges with their numbers, and with the given nodes as their ends."""
        rows = zip(ends, self.lengths.tolist(), self.support.tolist(), strict=True)
        return [Edge(u, v, length, support) for (u, v), length, support in rows]

    @staticmethod
    def _from_edges(names: Sequence[str], edges: Sequence[Edge]) -> "Tree":
        return Tree(
            names,
            [(edge.u, edge.v) for edge in edges],
            [edge.length for edge in edges],
            [edge.support for edge in edges],
        )

    def to_newick(self) -> str:
        """Return the tree in Newick format; a forest as one statement per component.

        Lengths and support are written where they are known, so that :meth:`from_newick` reads the same tree again.

        Examples
        --------
        >>> import latree
        >>> tree = latree.Tree("abc", [(3, 0), (3, 1), (3, 2)], lengths=[0.5, 1, 2])
        >>> print(tree.to_newick(), end="")
        (a:0.5,b:1.0,c:2.0);
        """
        return write_newick(self.names, self.rooted(), self.lengths, self.support)

    @classmethod
    def from_newick(cls, text: str) -> "Tree":
        """Read a tree, or a forest, from Newick format.

        A number after an inner node is the support of the edge above it. :mod:`latree.tree.newick` lists all rules.

        Parameters
        ----------
        text : str
            One statement per component, each with ``;`` at its end.

        Examples
        --------
        >>> import latree
        >>> tree = latree.Tree.from_newick("((a:1,b:2)0.9:3,c:4,d:5);")
        >>> tree.names
        ('a', 'b', 'c', 'd')
        >>> tree.support.tolist()
        [nan, nan, 0.9, nan, nan]
        """
        return cls(*read_newick(text))

    def to_networkx(self) -> Any:
        """Return the tree as a :class:`networkx.Graph`.

        Nodes are names, with an attribute ``hidden``. Edges have ``length`` and ``support`` where they are known.

        Examples
        --------
        >>> import latree
        >>> graph = latree.Tree("ab", [(0, 1)], lengths=[0.5]).to_networkx()
        >>> graph.edges["a", "b"]
        {'length': 0.5}
        """
        try:
            import networkx
        except ImportError:
            raise ImportError("to_networkx needs networkx: pip install networkx") from None

        graph = networkx.Graph()
        for node, name in enumerate(self.node_names):
            graph.add_node(name, hidden=node >= self.n_observed)
        for (u, v), length, support in zip(self.edges.tolist(), self.lengths, self.support, strict=True):
            known = {"length": float(length), "support": float(support)}
            names = self.node_names
            graph.add_edge(names[u], names[v], **{key: value for key, value in known.items() if not np.isnan(value)})
        return graph

    def draw(self, hidden: bool = False, names: Mapping[int, str] | None = None) -> str:
        """Return the tree drawn as text, one line per observed variable.

        Parameters
        ----------
        hidden : bool
            Whether all hidden variables have lines with their names, too.
        names : mapping of int to str, optional
            Names of some hidden variables by their nodes, which have lines then.

        Examples
        --------
        >>> import latree
        >>> tree = latree.Tree.from_newick("((a,b)0.9,c,d);")
        >>> print(tree.draw(), end="")  # the support of an edge stands on it, in per cent
        ─┬─ a
         ├─ b
         └─90─┬─ c
              └─ d
        >>> print(tree.draw(hidden=True), end="")
        ─ H1
         ├─ a
         ├─ b
         └─90─ H2
              ├─ c
              └─ d
        >>> print(tree.draw(names={5: "mood"}), end="")
        ─┬─ a
         ├─ b
         └─90─ mood
              ├─ c
              └─ d
        """
        technical = enumerate(self.node_names if hidden else self.names)
        return draw(dict(technical) | dict(names or {}), self.n_observed, self.rooted(), self.support)

    def _repr_html_(self) -> str:
        return f"<pre>{escape(self.draw())}</pre>"

    def __repr__(self) -> str:
        return f"<Tree: {self.n_observed} observed, {self.n_hidden} hidden>"


def _component_numbers(edges: IntArray, n_nodes: int) -> IntArray:
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
