"""Trees: splits of the columns, distances between trees, parts of a tree.

Removing an edge divides the observed variables of its component into two sides: that is the split the edge induces. The
splits of a binary tree determine its shape, so trees are compared by their splits (Robinson and Foulds, 1981).

Sets of observed variables are bit sets: whole numbers in which bit ``i`` stands for ``names[i]``.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from html import escape
from typing import Any, NamedTuple

import numpy as np

from latree._util.arrays import IntArray
from latree.errors import InputError
from latree.tree.graph import Graph, component_numbers
from latree.tree.leaves import leaves_of
from latree.tree.newick import draw, read_newick, write_newick


class Split(NamedTuple):
    """The two sides into which an edge divides the observed variables of its component.

    Attributes
    ----------
    side : int
        The side without the component's first variable, as a bit set.
    component : int
        All observed variables of the component, as a bit set.

    Examples
    --------
    >>> import latree
    >>> tree = latree.Tree.from_newick("((a,b),(c,d));")
    >>> (split,) = tree.splits
    >>> [name for i, name in enumerate(tree.names) if split.side >> i & 1]
    ['c', 'd']
    >>> f"{split.other_side:04b}"  # the last bit is the first variable's
    '0011'
    """

    side: int
    component: int

    @property
    def other_side(self) -> int:
        """The side with the component's first variable."""
        return self.component ^ self.side

    @property
    def smaller_side(self) -> int:
        """The number of variables on the smaller side.

        A split whose smaller side has one variable is trivial: every tree implies it.
        """
        return min(self.side.bit_count(), self.other_side.bit_count())


class Tree(Graph):
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
        One number per edge, NaN where it is unknown. Support is, from 0 to 1, how much of an edge is found again in
        trees of other rows.

    Attributes
    ----------
    names : tuple of str
    edges, lengths, support : array
    n_observed, n_hidden, n_nodes : int
        Number of observed variables, of hidden ones, and of both.

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

    @cached_property
    def edge_splits(self) -> tuple[Split, ...]:
        """The split that each edge induces: how its removal divides the observed variables of its component.

        Examples
        --------
        >>> import latree
        >>> tree = latree.Tree.from_newick("((a,b),c,d);")
        >>> [f"{split.side:04b}" for split in tree.edge_splits]
        ['1110', '0010', '1100', '0100', '1000']
        """
        rooted, below = self.rooted(), self._below
        splits = [Split(0, 0)] * len(self.edges)
        for root, *others in rooted.components:
            component = below[root]
            first = component & -component  # the lowest bit: the component's first variable
            for node in others:
                side = below[node] ^ component if below[node] & first else below[node]
                splits[rooted.up[node]] = Split(side, component)
        return tuple(splits)

    def columns_behind(self, node: int, neighbor: int) -> int:
        """Return the observed variables on a node's side of the edge to a neighbour, as a bit set.

        Examples
        --------
        >>> import latree
        >>> tree = latree.Tree.from_newick("((a,b),c,d);")
        >>> f"{tree.columns_behind(4, 5):04b}", f"{tree.columns_behind(5, 4):04b}"
        ('0011', '1100')
        """
        if self.rooted().parent[node] == neighbor:
            return self._below[node]
        split: Split = self.edge_splits[int(self.rooted().up[neighbor])]
        return split.component & ~self._below[neighbor]

    @cached_property
    def _below(self) -> list[int]:
        """The observed variables of each subtree of the rooted tree, as bit sets."""
        columns = (1 << node if node < self.n_observed else 0 for node in range(self.n_nodes))
        return self.rooted().combined(columns, int.__or__)

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
        >>> tree = latree.Tree.from_newick("((a,b),(c,d));")
        >>> other = latree.Tree.from_newick("((a,c),(b,d));").reordered(tree.names)
        >>> [tree.implies(split) for split in tree.splits], [other.implies(split) for split in tree.splits]
        ([True], [False])
        """
        if split.component in self.components:  # the common case, without a loop
            return split in self.splits or split.smaller_side == 1
        divided = [one for one in self.components if split.side & one and split.other_side & one]
        return bool(divided) and all(self._divides_alike(component, split) for component in divided)

    def _divides_alike(self, component: int, split: Split) -> bool:
        """Return whether an edge of one component divides its variables as a split does, which may lack some."""
        sides = split.side & component, split.other_side & component
        if min(sides[0].bit_count(), sides[1].bit_count()) == 1:  # trivial within this component
            return True
        return any(own.component == component and own.side & split.component in sides for own in self.splits)

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
        return self._cut(names, np.array(moved, dtype=np.intp)[self.edges], ())

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
        number = component_numbers(self.edges[gone], self.n_nodes)
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
        return self._cut(self.names, self.edges, edges)

    def _cut(self, names: Sequence[str], edges: IntArray, removed: Iterable[int]) -> "Tree":
        """Return the tree with these names and ends of edges, without some edges and without needless hidden nodes."""
        rows = zip(edges.tolist(), self.lengths.tolist(), self.support.tolist(), strict=True)
        gone, observed = set(removed), len(names)
        left = {number: edge for number, edge in enumerate(rows) if number not in gone}
        waiting = np.unique(edges[edges >= observed]).tolist()
        while waiting:
            node = waiting.pop()
            around = [number for number, (ends, _, _) in left.items() if node in ends]
            neighbours = [sum(left[number][0]) - node for number in around]
            if len(around) == 1:
                # A hidden leaf: it goes with its edge, and its neighbour has one neighbour less.
                del left[around[0]]
                waiting += [neighbour for neighbour in neighbours if neighbour >= observed]
            elif len(around) == 2 and max(neighbours) >= observed:
                # A hidden node between two others, of which one is hidden: one edge takes the place of its two.
                (_, length, support), (_, other_length, other_support) = (left.pop(number) for number in around)
                left[around[0]] = neighbours, length + other_length, float(np.minimum(support, other_support))
        # Close the gaps in the numbers of hidden nodes.
        hidden = sorted({node for ends, _, _ in left.values() for node in ends if node >= observed})
        number_of = {node: number for number, node in enumerate(hidden, start=observed)}
        ends = [[number_of.get(node, node) for node in ends] for ends, _, _ in left.values()]
        return Tree(names, ends, [length for _, length, _ in left.values()], [one for _, _, one in left.values()])

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
        named = dict(enumerate(self.node_names if hidden else self.names)) | dict(names or {})
        rooted = self.rooted()
        return draw(named, rooted, leaves_of(rooted, self.n_observed).branches, self.support)

    def _repr_html_(self) -> str:
        return f"<pre>{escape(self.draw())}</pre>"

    def __repr__(self) -> str:
        return f"<Tree: {self.n_observed} observed, {self.n_hidden} hidden>"
