"""Cutting a tree into groups: one hierarchy, from few groups to many.

If m columns of a group have the mean correlation w, the mean of the columns explains ``1 + (m - 1) w`` of their
variance. A single column explains 1, its own. So what a group adds is ``(m - 1) w``, and a cut of a tree is good if

``E = Σ (m_g - 1) w_g`` over all groups g

is large. Centroid clustering of variables compares partitions in this way (Vigneau & Qannari 2003; VARCLUS of SAS),
but with the variance that every group explains for nothing. E needs no threshold and no loadings, and nothing changes
if all correlations are half as high. A cut through columns that all correlate alike lowers E by w. Two groups of a
columns each, whose factors have the correlation ρ, are apart if ``ρ < 1 - 1/a``: below .8 for five columns, .9 for ten.

Two columns do not identify a factor, and may just be near-synonyms. So when a cut makes a pair, w of the pair counts
only up to that of the other side: columns are not cut off because they are more alike than others, but because they
have less to do with others.

The hierarchy is nested. It is made around the cut that maximises E. The groups of that cut are joined, those first
whose union lowers E least. Within the groups comes the cut that maximises E if a group costs half a column instead of
one, ``Σ (m_g - ½) w_g``: two parts of five columns are then apart if ρ is below .9. At last, parts are divided as far
as the tree allows, into groups of two columns or more.
"""

from heapq import heappop, heappush
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from latree._util.arrays import FloatArray, IntArray
from latree.tree import Tree
from latree.tree.graph import component_numbers

# A group has at least two columns.
MIN_COLUMNS = 2
# What a group costs, in columns, and what it costs at the fine level.
COST, FINE_COST = 1.0, 0.5
# Values of E are rounded to so many decimals, so that rounding errors never decide.
DECIMALS = 10


class Hierarchy(NamedTuple):
    """The order in which the edges of a tree are cut.

    Attributes
    ----------
    edges : tuple of int
        Edges of the tree. Each of them makes one group more.
    best : int
        The number of cuts that maximise E.
    fine : int
        The number of cuts that maximise E if groups cost half a column.
    """

    edges: tuple[int, ...]
    best: int
    fine: int


def find_hierarchy(tree: Tree, similarity: FloatArray) -> Hierarchy:
    """Return the hierarchy of groups of a tree's columns.

    Parameters
    ----------
    tree : Tree
    similarity : array, shape (d, d)
        Correlation of every two columns, from 0 to 1: symmetric, with zeros on the diagonal.
    """
    cutter = TreeCutter(tree, similarity)
    best = cutter.best(cutter.whole, COST)
    fine = cutter.best(best, FINE_COST)
    tops = [cutter.joined(best, cutter.whole), cutter.joined(fine, best), cutter.divided(fine)]
    edges = cutter.edge_above[np.array([top for some in tops for top in some], dtype=np.intp)]
    return Hierarchy(tuple(edges.tolist()), len(tops[0]), len(tops[0]) + len(tops[1]))


def pieces(tree: Tree, edges: tuple[int, ...]) -> IntArray:
    """Return the number of the piece that each node of a tree is in when some edges are cut."""
    return component_numbers(np.delete(tree.edges, np.array(edges, dtype=np.intp), axis=0), tree.n_nodes)


def explained(tree: Tree, edges: tuple[int, ...], similarity: FloatArray) -> FloatArray:
    """Return E after each number of cuts, from none to all.

    Parameters
    ----------
    tree : Tree
    edges : tuple of int
        The cuts, in their order.
    similarity : array, shape (d, d)
        As for :func:`find_hierarchy`.
    """
    piece_of = pieces(tree, edges)
    blocks = Blocks(similarity, piece_of[: tree.n_observed], int(piece_of.max(initial=-1)) + 1)
    return blocks.explained(piece_of[tree.edges[list(edges)]])


def broad_level(tree: Tree, edges: tuple[int, ...], similarity: FloatArray) -> int:
    """Return how many of some cuts make groups of groups: the same rule again, one level higher.

    Groups take the place of columns, and the correlations of their factors that of correlations. Corrected for
    attenuation, these are ``ρ = r / sqrt(w_g w_h)``, where r is the mean correlation of columns of g and h.
    """
    piece_of = pieces(tree, edges)
    n_pieces = int(piece_of.max(initial=-1)) + 1
    blocks = Blocks(similarity, piece_of[: tree.n_observed], n_pieces)
    within = blocks.sums.diagonal() / np.maximum(blocks.sizes * (blocks.sizes - 1), 1)
    scale = np.where(within > 0, blocks.sizes * np.sqrt(within), np.inf)
    factors = blocks.sums / np.outer(scale, scale)
    np.fill_diagonal(factors, 0)
    found = Blocks(factors, np.arange(n_pieces), n_pieces).explained(piece_of[tree.edges[list(edges)]])
    # Of equal ones, the last: groups are joined only if that explains something.
    return len(found) - 1 - int(np.argmax(np.round(found[::-1], DECIMALS)))


class TreeCutter:
    """Cuts of a tree into connected pieces, for a similarity of its columns; see :func:`find_hierarchy`.

    A leaf always stays with its neighbour, so only inner nodes matter: each stands for itself and its leaves. They are
    numbered in the order of the rooted tree, where a subtree is a slice. A cut is an array with the top of the piece of
    each inner node; the edge above each top is cut.

    Attributes
    ----------
    home : array of int
        The number of the inner node that each column belongs to.
    edge_above : array of int
        The edge of the tree above each inner node.
    whole : array of int
        The cut that cuts nothing: one piece per component.
    """

    def __init__(self, tree: Tree, similarity: FloatArray | None) -> None:
        rooted = tree.rooted()
        columns = np.arange(tree.n_observed)
        home = np.array([_home(tree, column) for column in columns.tolist()], dtype=np.intp)
        is_inner = np.ones(tree.n_nodes, dtype=bool)
        is_inner[columns[home != columns]] = False
        inner = rooted.order[is_inner[rooted.order]]
        number = np.full(tree.n_nodes + 1, -1, dtype=np.intp)  # the last entry is the parent of roots
        number[inner] = np.arange(len(inner))
        self.home, self.parent = number[home], number[rooted.parent[inner]]
        self.edge_above = rooted.up[inner]
        self.size = np.array(rooted.subtree_sums(is_inner.astype(int).tolist()), dtype=np.intp)[inner]
        self.whole = np.arange(len(inner))
        for node in np.flatnonzero(self.parent >= 0).tolist():
            self.whole[node] = self.whole[self.parent[node]]
        self.n_columns = np.bincount(self.home, minlength=len(inner)).astype(float)
        self.similarity = None if similarity is None else Blocks(similarity, self.home, len(inner)).sums

    def sums(self, piece: IntArray) -> FloatArray:
        """Return the sums of similarities over the columns of every two inner nodes of a piece."""
        assert self.similarity is not None
        return np.asarray(self.similarity[np.ix_(piece, piece)])

    def best(self, start: IntArray, cost: float) -> IntArray:
        """Return the best cut found that refines another one, if a group costs so many columns.

        Cut greedily while that raises E. Then replace or undo single cuts until nothing raises E. What a pair counts
        depends on the other side of its cut, so revisions may lead back to an earlier cut: they end there, too.
        """
        cut = start.copy()
        waiting = np.unique(cut).tolist()
        while waiting:
            top = waiting.pop()
            piece = np.flatnonzero(cut == top)
            gain, node = self._best_gain(piece, cost)
            if gain > 0:
                cut[self._below(piece, node)] = node
                waiting += [top, node]
        seen: set[bytes] = set()
        while cut.tobytes() not in seen:
            seen.add(cut.tobytes())
            self._revise(cut, start, cost)
        return cut

    def joined(self, cut: IntArray, start: IntArray) -> list[int]:
        """Return the tops of a cut that refines another one, in the order that cuts them.

        From the last to the first, those pieces are joined whose union lowers E least.
        """
        assert self.similarity is not None
        names, piece_of = np.unique(cut, return_inverse=True)
        blocks = Blocks(self.similarity, piece_of, len(names))
        blocks.sizes = np.bincount(piece_of, self.n_columns).astype(float)
        tops = np.setdiff1d(names, start)
        ends = np.column_stack([np.searchsorted(names, tops), piece_of[self.parent[tops]]])
        order: list[int] = []
        while len(tops):
            first = int(np.argmin(np.round(blocks.losses(ends), DECIMALS)))
            ends = blocks.join(ends, first)
            order.append(int(tops[first]))
            ends, tops = np.delete(ends, first, axis=0), np.delete(tops, first)
        return order[::-1]

    def divided(self, cut: IntArray) -> list[int]:
        """Return tops of cuts that divide the pieces of a cut until nothing can be divided, the best cuts first."""
        order: list[int] = []
        heap: list[tuple[float, int, int, IntArray]] = []

        def wait(top: int, piece: IntArray) -> None:
            gain, node = self._best_gain(piece, COST)
            if gain > -np.inf:
                heappush(heap, (-gain, top, node, piece))

        by_top = np.argsort(cut, kind="stable")
        for piece in np.split(by_top, np.flatnonzero(np.diff(cut[by_top])) + 1):
            wait(int(cut[piece[0]]), piece)
        while heap:
            _, top, node, piece = heappop(heap)
            below = self._below(piece, node)
            order.append(node)
            wait(top, np.setdiff1d(piece, below, assume_unique=True))
            wait(node, below)
        return order

    def _revise(self, cut: IntArray, start: IntArray, cost: float) -> None:
        """Replace or undo each cut where that raises E."""
        tops = np.setdiff1d(cut, start).tolist()
        gain_of = {top: self._gain(self._merged(cut, top), top, cost) for top in tops}
        # The weakest cut comes first, so that the order does not depend on the order of columns.
        for top in sorted(tops, key=lambda top: (gain_of[top], top)):
            merged = self._merged(cut, top)
            gain, node = self._best_gain(merged, cost)
            if max(gain, 0.0) > self._gain(merged, top, cost):
                cut[merged] = cut[self.parent[top]]
                if gain > 0:
                    cut[self._below(merged, node)] = node

    def _merged(self, cut: IntArray, top: int) -> IntArray:
        """Return the piece that appears when the edge above a top is not cut."""
        return np.flatnonzero((cut == top) | (cut == cut[self.parent[top]]))

    def _gain(self, piece: IntArray, node: int, cost: float) -> float:
        """Return how much a cut above a node of a piece raises E."""
        return float(self._gains(piece, cost)[np.searchsorted(piece, node)])

    def _best_gain(self, piece: IntArray, cost: float) -> tuple[float, int]:
        """Return how much the best cut of a piece raises E, and the node below it; -inf if there can be no cut."""
        gains = self._gains(piece, cost)
        best = int(np.argmax(gains))
        return float(gains[best]), int(piece[best])

    def _gains(self, piece: IntArray, cost: float) -> FloatArray:
        """Return for each node of a piece how much a cut above it raises E; -inf where there can be no cut."""
        # The nodes of the piece below its node number p are piece[p:last[p]]. Sums over blocks of similarities are
        # differences of cumulative sums.
        first, last = np.arange(len(piece)), np.searchsorted(piece, piece + self.size[piece])
        sums = np.zeros((len(piece) + 1, len(piece) + 1))
        np.cumsum(self.sums(piece), axis=0, out=sums[1:, 1:])
        np.cumsum(sums, axis=1, out=sums)
        below = sums[last, last] - sums[first, last] - sums[last, first] + sums[first, first]
        across = sums[last, -1] - sums[first, -1] - below
        above = sums[-1, -1] - 2 * across - below
        n_columns = np.concatenate([[0], self.n_columns[piece].cumsum()])
        n_below = n_columns[last] - n_columns[first]
        n_above = n_columns[-1] - n_below
        gains = gain_of_cuts((below, above), (n_below, n_above), across, cost)
        possible: NDArray[np.bool_] = np.minimum(n_below, n_above) >= MIN_COLUMNS
        possible[0] = False  # the edge above the top is cut already, or there is none
        return np.where(possible, np.round(gains, DECIMALS), -np.inf)

    def _below(self, piece: IntArray, node: int) -> IntArray:
        """Return the nodes of a piece that are in the subtree of one of them."""
        return np.asarray(piece[(piece >= node) & (piece < node + self.size[node])])


class Blocks:
    """Sums of similarities over the members of every two pieces, which can be joined."""

    def __init__(self, similarity: FloatArray, piece_of: IntArray, n_pieces: int) -> None:
        members = np.arange(len(piece_of))
        belongs = csr_array((np.ones(len(members)), (members, piece_of)), shape=(len(members), n_pieces))
        self.sums: FloatArray = np.asarray(belongs.T @ similarity @ belongs)
        self.sizes: FloatArray = np.bincount(piece_of, minlength=n_pieces).astype(float)

    def losses(self, ends: IntArray) -> FloatArray:
        """Return by how much E falls when two pieces are joined, for several pairs of them."""
        one, other = ends.T
        within = self.sums.diagonal()
        return gain_of_cuts(
            (within[one], within[other]), (self.sizes[one], self.sizes[other]), self.sums[one, other], COST
        )

    def join(self, ends: IntArray, number: int) -> IntArray:
        """Join the two pieces of a pair, and return all pairs with the number of the union in their place."""
        gone, kept = ends[number].tolist()
        self.sums[kept] += self.sums[gone]
        self.sums[:, kept] += self.sums[:, gone]
        self.sums[gone] = self.sums[:, gone] = 0
        self.sizes[kept] += self.sizes[gone]
        self.sizes[gone] = 0
        return np.where(ends == gone, kept, ends)

    def explained(self, ends: IntArray) -> FloatArray:
        """Return E after each number of cuts: all of them make the pieces, which are joined from the last cut on."""
        losses = []
        for number in range(len(ends) - 1, -1, -1):
            losses.append(float(self.losses(ends[number : number + 1])[0]))
            ends = self.join(ends, number)
        within = self.sums.diagonal() / np.maximum(self.sizes * (self.sizes - 1), 1)
        whole = float(((self.sizes - COST) * within).sum())
        return whole + np.cumsum([0.0, *losses[::-1]])


def gain_of_cuts(
    totals: tuple[FloatArray, FloatArray], sizes: tuple[FloatArray, FloatArray], across: FloatArray, cost: float
) -> FloatArray:
    """Return how much cuts raise E.

    Parameters
    ----------
    totals, sizes : pair of arrays
        The sum of the correlations of the columns of each side, ``m (m - 1) w``, and their number m.
    across : array
        The sum of the correlations of columns of one side with those of the other.
    cost : float
        What a group costs, in columns.
    """
    (one, other), both = sizes, sizes[0] + sizes[1]
    within = [total / np.maximum(size * (size - 1), 1) for total, size in zip(totals, sizes, strict=True)]
    together = (totals[0] + totals[1] + 2 * across) / np.maximum(both * (both - 1), 1)
    is_group = np.minimum(one, other) >= MIN_COLUMNS
    lower = np.where(is_group, np.minimum(*within), np.inf)
    counted = [np.where(size == MIN_COLUMNS, np.minimum(w, lower), w) for w, size in zip(within, sizes, strict=True)]
    return np.asarray((one - cost) * counted[0] + (other - cost) * counted[1] - (both - cost) * together)


def _home(tree: Tree, column: int) -> int:
    """Return the inner node that a column belongs to: the neighbour of a leaf; a column inside the tree is its own."""
    if len(tree.neighbors[column]) != 1:
        return column
    neighbor = tree.neighbors[column][0][0]
    # Two columns that have only each other: one of them stands for both.
    return min(column, neighbor) if len(tree.neighbors[neighbor]) == 1 else neighbor
