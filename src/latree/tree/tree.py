"""Unrooted trees as tables of integers.

Data model: a tree over ``d`` observed variables and ``h`` hidden ones has nodes ``0 .. d+h-1``. Node ``i < d`` is the
observed variable ``names[i]``; the others are hidden. ``edges`` has one row ``(u, v)`` an edge; ``lengths`` and
``support`` have one number an edge, NaN where there is none. Observed inner nodes, nodes with any number of neighbours,
and forests are all legal; cycles are not.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cached_property
from html import escape
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from latree._util.arrays import FloatArray, IntArray
from latree.errors import InputError
from latree.tree.drawing import draw
from latree.tree.newick import read_newick, write_newick
from latree.tree.rooted import Rooted

# What a tree may have that a binary tree with its observed variables at the leaves has not.
Oddity: TypeAlias = Literal["parts", "inner columns", "two neighbours", "many neighbours"]


class Split(NamedTuple):
    """What removing an edge does to the observed variables, as bit sets (bit ``i`` for ``names[i]``)."""

    side: int  # the side without the component's first variable
    within: int  # all observed variables of the component


class Tree:
    """An unrooted tree whose leaves are observed variables and whose inner nodes are mostly hidden.

    Parameters
    ----------
    names : sequence of str
        Names of the observed variables.
    edges : array of int, shape (e, 2)
        Pairs of nodes; nodes from ``len(names)`` on are hidden.
    lengths, support : array of float, shape (e,), optional
        One number an edge.
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
        if not self.names:
            raise InputError("a tree needs an observed variable")
        if len(set(self.names)) != len(self.names):
            raise InputError("two observed variables of a tree have the same name")
        if len(self.edges) and self.edges.min() < 0:
            raise InputError("an edge names a negative node")
        self.n_nodes = max(len(self.names), int(self.edges.max(initial=-1)) + 1)
        if self.n_nodes > len(self.edges) + len(self.names):
            raise InputError("a tree has more hidden nodes than its edges can join")
        if any(len(pairs) < 2 for pairs in self.neighbors[len(self.names) :]):
            raise InputError("a hidden node of a tree has fewer than two neighbours")
        if len(self.edges) != self.n_nodes - len(set(self._components.tolist())):
            raise InputError("the edges of a tree run in a circle")

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
        """Names of all nodes; hidden ones are H1, H2, ... (with as many H as keep them apart from columns)."""
        prefix = "H"
        while any(name.startswith(prefix) and name[len(prefix) :].isdigit() for name in self.names):
            prefix += "H"
        return (*self.names, *(f"{prefix}{i}" for i in range(1, self.n_hidden + 1)))

    @cached_property
    def neighbors(self) -> tuple[tuple[tuple[int, int], ...], ...]:
        """For each node its neighbours, as pairs (node, edge)."""
        found: list[list[tuple[int, int]]] = [[] for _ in range(self.n_nodes)]
        for edge, (u, v) in enumerate(self.edges.tolist()):
            found[u].append((v, edge))
            found[v].append((u, edge))
        return tuple(tuple(pairs) for pairs in found)

    def oddities(self) -> dict[Oddity, str]:
        """Say what sets the tree apart from a binary one with observed variables at the leaves, one example each."""
        found: dict[Oddity, str] = {}
        if len(self._roots) > 1:
            found["parts"] = f"the tree falls into {len(self._roots)} parts"
        for node, pairs in enumerate(self.neighbors):
            degree, name = len(pairs), self.node_names[node]
            if node < self.n_observed and degree > 1:
                found.setdefault("inner columns", f"column {name!r:.60} is an inner node")
            elif node >= self.n_observed and degree != 3:
                kind: Oddity = "two neighbours" if degree == 2 else "many neighbours"
                found.setdefault(kind, f"hidden variable {name} has {degree} neighbours")
        return found

    def rooted(self, root: int | None = None) -> Rooted:
        """Hang the tree from a node, and every other component from its middle.

        Parameters
        ----------
        root : int, optional
            A node; by default the middle: the node, a hidden one if there is one, whose largest branch is smallest.
        """
        if root is not None and not 0 <= root < self.n_nodes:
            raise InputError(f"a tree of {self.n_nodes} nodes has no node {root}")
        parent = np.full(self.n_nodes, -1, dtype=np.intp)
        up = np.full(self.n_nodes, -1, dtype=np.intp)
        order: list[int] = []
        for start in self._roots if root is None else [root, *(r for r in self._roots if not self._joined(r, root))]:
            stack = [start]
            while stack:
                node = stack.pop()
                order.append(node)
                for other, edge in reversed(self.neighbors[node]):
                    if edge != up[node]:
                        parent[other], up[other] = node, edge
                        stack.append(other)
        return Rooted(parent, np.array(order, dtype=np.intp), up)

    @cached_property
    def _components(self) -> IntArray:
        component = np.full(self.n_nodes, -1, dtype=np.intp)
        for start in range(self.n_nodes):
            if component[start] >= 0:
                continue
            component[start] = start
            stack = [start]
            while stack:
                node = stack.pop()
                for other, _ in self.neighbors[node]:
                    if component[other] < 0:
                        component[other] = start
                        stack.append(other)
        return component

    def _joined(self, u: int, v: int) -> bool:
        return bool(self._components[u] == self._components[v])

    @cached_property
    def _roots(self) -> tuple[int, ...]:
        return tuple(self._center(start) for start in np.unique(self._components).tolist())

    def _center(self, start: int) -> int:
        """Find the node (a hidden one, if there is one) whose largest branch is smallest."""
        order, parent = [start], {start: -1}
        for node in order:
            for other, _ in self.neighbors[node]:
                if other != parent[node]:
                    parent[other] = node
                    order.append(other)
        size = dict.fromkeys(order, 1)
        for node in reversed(order[1:]):
            size[parent[node]] += size[node]
        heaviest = {node: len(order) - size[node] for node in order}
        for node in order[1:]:
            heaviest[parent[node]] = max(heaviest[parent[node]], size[node])
        return min(order, key=lambda node: (node < self.n_observed, heaviest[node], node))

    @cached_property
    def edge_splits(self) -> tuple[Split, ...]:
        """What removing each edge does to the observed variables."""
        rooted = self.rooted()
        below = rooted.combined(
            (1 << node if node < self.n_observed else 0 for node in range(self.n_nodes)), int.__or__
        )
        splits: list[Split] = [Split(0, 0)] * len(self.edges)
        within = 0
        for node in rooted.order.tolist():
            if rooted.parent[node] < 0:
                within = below[node]
            else:
                first = within & -within
                side = below[node] ^ within if below[node] & first else below[node]
                splits[rooted.up[node]] = Split(side, within)
        return tuple(splits)

    @cached_property
    def splits(self) -> frozenset[Split]:
        """The partitions of the observed variables that edges imply, without those that part off one variable or none.

        In a forest an edge parts its own component only.
        """
        return frozenset(
            split
            for split in self.edge_splits
            if split.side.bit_count() > 1 and (split.side ^ split.within).bit_count() > 1
        )

    def robinson_foulds(self, other: "Tree") -> int:
        """Count the partitions that one tree implies and the other does not: ``a + b`` of the paper.

        A forest leaves open how its components hang together. Where the two have different components, an edge of one
        counts as found in the other if its partition, restricted to each component of the other that it parts, is
        implied there; an edge that parts none of them counts as missing. So a tree that fell into two right halves has
        distance 1 from the whole.

        Parameters
        ----------
        other : Tree
            A tree over the same observed variables, in any order.
        """
        return sum(self.unshared(other))

    def unshared(self, other: "Tree") -> tuple[int, int]:
        """Count the partitions that only this tree implies, and those that only the other does: the paper's a and b."""
        other = other.reordered(self.names)
        if self.parts == other.parts:
            return len(self.splits - other.splits), len(other.splits - self.splits)
        mine = sum(not other.implies(split) for split in self.splits)
        return mine, sum(not self.implies(split) for split in other.splits)

    @cached_property
    def parts(self) -> frozenset[int]:
        """The observed variables of each component, as bit sets."""
        found: dict[int, int] = {}
        for node in range(self.n_observed):
            component = int(self._components[node])
            found[component] = found.get(component, 0) | 1 << node
        return frozenset(found.values())

    def implies(self, split: Split) -> bool:
        """Tell whether the components that a partition parts are all parted like that by an edge of their own."""
        sides = split.side, split.side ^ split.within
        if split.within in self.parts:  # the common case, without a loop
            return split in self.splits or min(side.bit_count() for side in sides) == 1
        parted = [within for within in self.parts if all(side & within for side in sides)]
        return bool(parted) and all(
            min((side & within).bit_count() for side in sides) == 1
            or any(
                own.within == within and own.side & split.within in (sides[0] & within, sides[1] & within)
                for own in self.splits
            )
            for within in parted
        )

    @property
    def max_robinson_foulds(self) -> int:
        """The largest distance that two trees over these observed variables can have."""
        return 2 * max(0, self.n_observed - 3)

    def reordered(self, names: Sequence[str]) -> "Tree":
        """Give the same tree with its observed variables in another order."""
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

    def with_numbers(self, *, lengths: Any = None, support: Any = None) -> "Tree":
        """Return the same tree with other lengths or support; those that are not given stay."""
        return Tree(
            self.names,
            self.edges,
            self.lengths if lengths is None else lengths,
            self.support if support is None else support,
        )

    def path_lengths(self) -> NDArray[np.int32]:
        """Count the edges on the path between every two observed variables; -1 between components."""
        rooted = self.rooted()
        place = np.empty(self.n_nodes, dtype=np.intp)
        place[rooted.order] = np.arange(self.n_nodes)
        size = rooted.subtree_sums([1] * self.n_nodes)
        depth = np.zeros(self.n_nodes, dtype=np.int32)
        distance = np.full((self.n_nodes, self.n_nodes), -1, dtype=np.int32)  # rows by node, columns by place
        for node in rooted.order.tolist():
            parent, below = rooted.parent[node], slice(place[node], place[node] + size[node])
            if parent < 0:
                for other in rooted.order[below].tolist():
                    depth[other] = depth[rooted.parent[other]] + 1 if rooted.parent[other] >= 0 else 0
                distance[node, below] = depth[rooted.order[below]]
            else:  # one step further from everything, but one nearer to what is below
                distance[node] = np.where(distance[parent] < 0, -1, distance[parent] + 1)
                distance[node, below] -= 2
        return distance[: self.n_observed, place[: self.n_observed]]

    def contracted(self, edges: Iterable[int]) -> "Tree":
        """Merge the two ends of some edges, given by their numbers; both ends of each are hidden."""
        gone = set(edges)
        top = list(range(self.n_nodes))
        for u, v in (self.edges[edge].tolist() for edge in sorted(gone)):
            kept, merged = sorted((top[u], top[v]))
            top = [kept if node == merged else node for node in top]
        rest = [edge for edge in range(len(self.edges)) if edge not in gone]
        moved = [(top[u], top[v]) for u, v in self.edges[rest].tolist()]
        return Tree(self.names, _renumbered(moved, self.n_observed), self.lengths[rest], self.support[rest])

    def cut(self, edges: Iterable[int]) -> "Tree":
        """Remove some edges, given by their numbers, and hidden nodes that then tie nothing together.

        Where a hidden node is left with two neighbours, these are tied to each other directly, unless both are
        observed; the new edge has the sum of the two lengths and the smaller support, NaN where one of them is unknown.
        """
        gone = set(edges)
        left = {
            edge: (*self.edges[edge].tolist(), float(self.lengths[edge]), float(self.support[edge]))
            for edge in range(len(self.edges))
            if edge not in gone
        }
        waiting = list(range(self.n_observed, self.n_nodes))
        while waiting:
            node = waiting.pop()
            around = [edge for edge, (u, v, _, _) in left.items() if node in (u, v)]
            others = [u + v - node for u, v, _, _ in (left[edge] for edge in around)]
            if len(around) == 1:
                del left[around[0]]
                waiting += [other for other in others if other >= self.n_observed]
            elif len(around) == 2 and max(others) >= self.n_observed:
                one, two = (left.pop(edge) for edge in around)
                left[around[0]] = (others[0], others[1], one[2] + two[2], float(np.minimum(one[3], two[3])))
        rows = list(left.values())
        moved = _renumbered([(u, v) for u, v, _, _ in rows], self.n_observed)
        return Tree(self.names, moved, [row[2] for row in rows], [row[3] for row in rows])

    def to_newick(self) -> str:
        """Write the tree in Newick format; a forest as one statement a component."""
        return write_newick(self.names, self.rooted(), self.lengths, self.support)

    @classmethod
    def from_newick(cls, text: str) -> "Tree":
        """Read a tree, or a forest, from Newick format (see :mod:`latree.tree.newick` for the rules)."""
        return cls(*read_newick(text))

    def to_networkx(self) -> Any:
        """Give the tree as a :class:`networkx.Graph`.

        Nodes are names, with an attribute ``hidden``; edges have ``length`` and ``support`` where the tree does.
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

    def draw(self, hidden: bool = False) -> str:
        """Draw the tree as text, one line a leaf; with ``hidden``, also one line a hidden variable, with its name."""
        return draw(self.node_names, self.n_observed, self.rooted(), self.support, hidden)

    def _repr_html_(self) -> str:
        return f"<pre>{escape(self.draw())}</pre>"

    def __repr__(self) -> str:
        return f"<Tree: {self.n_observed} observed, {self.n_hidden} hidden>"


def _renumbered(edges: Sequence[tuple[int, int]], n_observed: int) -> list[tuple[int, int]]:
    """Give hidden nodes the numbers from ``n_observed`` on, in their order."""
    hidden = sorted({node for edge in edges for node in edge if node >= n_observed})
    number = {node: place for place, node in enumerate(hidden, start=n_observed)}
    return [(number.get(u, u), number.get(v, v)) for u, v in edges]


def _frozen(array: NDArray[Any]) -> NDArray[Any]:
    array.setflags(write=False)
    return array


def _edge_array(edges: Any) -> IntArray:
    array = np.array(edges)
    if not array.size:
        array = np.empty((0, 2), dtype=np.intp)
    if array.ndim != 2 or array.shape[1] != 2 or not np.issubdtype(array.dtype, np.integer):
        raise InputError("a tree's edges are pairs of whole numbers")
    return _frozen(array.astype(np.intp))


def _edge_numbers(numbers: Iterable[float] | None, n_edges: int, what: str) -> FloatArray:
    array = np.full(n_edges, np.nan) if numbers is None else np.array(numbers, dtype=np.float64)
    if np.isinf(array).any():
        raise InputError(f"a tree's {what} must be finite")
    if array.shape != (n_edges,):
        raise InputError(f"a tree of {n_edges} edges needs as many {what}, not an array of shape {array.shape}")
    return _frozen(array)
