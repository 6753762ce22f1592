"""Cutting a tree into groups at three levels.

Suppose that two groups of columns measure two factors with correlation ρ. Then a column i of one group and a column j
of the other have the correlation ``R_ij = ρ λ_i λ_j``, where λ is the loading of a column on its own factor. So two
groups are apart at the threshold t if ``Σ R_ij < t Σ λ_i λ_j`` over the pairs between them. The best cut at t maximises

``Q(t) = Σ (R_ij - t λ_i λ_j)`` over all pairs of columns that stay together.

This is the constant Potts model of Traag, Van Dooren & Nesterov (2011), with loadings as weights. Unlike modularity, it
has no resolution limit: whether two groups are apart depends on these two, and not on how many others there are.

====== ========== =======================================================================================
level  range      what it finds
====== ========== =======================================================================================
broad  0.20-0.45  groups of main groups, such as the domains of a personality questionnaire
main   0.50-0.75  the scales of a questionnaire, sectors, branches of a language family
fine   0.80-0.90  parts of main groups. A latent correlation above 0.85 is commonly read as: the same thing
====== ========== =======================================================================================

Within its range, each level takes the number of groups that the most thresholds agree on. So a level shows the division
that is stable, and not what one threshold happens to cut.
"""

from collections.abc import Callable, Iterable
from copy import copy
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from latree._util.arrays import FloatArray, IntArray
from latree.tree import Tree

# Cuts for several thresholds are changed together while their pairs of inner nodes are not more than this. Of one
# threshold, so many pairs are added up at a time: with thousands of columns, all pairs are much memory.
_CELLS_AT_ONCE = 2**17
# The most rounds of changes from one cut to a better one nearby. Two or three are enough, as a rule. More would only be
# needed at a threshold that many groups are near, and that threshold then agrees with no other.
_MAX_ROUNDS = 10
# A change of a cut must raise Q by more than this share of all similarity, so that rounding errors never decide.
_MIN_GAIN = 1e-9


@dataclass(frozen=True, eq=False)
class _Rule:
    """Which cuts are made: those below a latent correlation, with enough columns on both sides, at allowed edges."""

    threshold: float
    min_columns: int
    allowed: NDArray[np.bool_]  # whether the edge above each inner node may be cut


class TreeCutter:
    """Cuts of a tree into connected pieces, for a similarity of columns and their loadings.

    A leaf always stays with its neighbour, so only inner nodes matter: each stands for itself and its leaves. They are
    numbered in the order of the rooted tree, where a subtree is a slice. A cut is an array with the top of the piece of
    each inner node; the edge above each top is cut.

    Parameters
    ----------
    tree : Tree
    similarity : array, shape (d, d)
        Similarity R of every two columns, from 0 to 1: symmetric, with zeros on the diagonal.
    loadings : array, shape (d,)
        Loading λ of every column on the hidden variable that it hangs on, from 0 to 1.

    Attributes
    ----------
    inner : array of int
        The node of the tree that each number stands for.
    home : array of int
        The number of the inner node that each column belongs to.
    whole : array of int
        The cut that cuts nothing: one piece per component.
    """

    def __init__(self, tree: Tree, similarity: FloatArray, loadings: FloatArray) -> None:
        rooted = tree.rooted()
        columns = np.arange(tree.n_observed)
        home = np.array([_home(tree, column) for column in columns.tolist()], dtype=np.intp)
        is_inner = np.ones(tree.n_nodes, dtype=bool)
        is_inner[columns[home != columns]] = False
        self.inner = rooted.order[is_inner[rooted.order]]
        number = np.full(tree.n_nodes + 1, -1, dtype=np.intp)  # the last entry is the parent of roots
        number[self.inner] = np.arange(len(self.inner))
        self.home, self.parent = number[home], number[rooted.parent[self.inner]]
        self.size = np.array(rooted.subtree_sums(is_inner.astype(int).tolist()), dtype=np.intp)[self.inner]
        self.whole = np.arange(len(self.inner))
        for node in np.flatnonzero(self.parent >= 0).tolist():
            self.whole[node] = self.whole[self.parent[node]]
        # Sums over the columns of every inner node.
        self.loadings = np.bincount(self.home, loadings, len(self.inner))
        self.n_columns = np.bincount(self.home, minlength=len(self.inner))
        self._set_similarity(similarity)

    def _set_similarity(self, similarity: FloatArray) -> None:
        columns = np.arange(len(self.home))
        belongs = csr_array((np.ones(len(columns)), (columns, self.home)), shape=(len(columns), len(self.inner)))
        self.similarity: FloatArray = belongs.T @ similarity @ belongs
        self.min_gain = _MIN_GAIN * float(similarity.sum())

    def with_similarity(self, similarity: FloatArray) -> "TreeCutter":
        """Return a cutter of the same tree, with the same loadings, for another similarity of the columns."""
        other = copy(self)
        other._set_similarity(similarity)
        return other

    def best(
        self, threshold: float, min_columns: int, start: IntArray | None = None, among: IntArray | None = None
    ) -> IntArray:
        """Return the best cut found: cut greedily, then revise single edges until nothing improves.

        Parameters
        ----------
        threshold : float
            The latent correlation t below which groups are apart.
        min_columns : int
            Every piece that a new cut makes has at least this many columns.
        start : array of int, optional
            A cut to refine: what it cuts stays cut.
        among : array of int, optional
            A cut to coarsen: nothing else is cut.
        """
        start = self.whole if start is None else start
        allowed = np.ones(len(start), dtype=bool) if among is None else among == np.arange(len(start))
        rule = _Rule(threshold, min_columns, allowed)
        cut = start.copy()
        waiting = np.unique(cut).tolist()
        while waiting:
            top = waiting.pop()
            piece = np.flatnonzero(cut == top)
            gains = self._gains(piece, rule)
            best = int(np.argmax(gains))
            if gains[best] > self.min_gain:
                node = int(piece[best])
                cut[self._below(piece, node)] = node
                waiting += [top, node]
        # Every round raises Q. Two or three rounds are enough, as a rule.
        for _ in range(len(cut)):
            if not self._revise(cut, start, rule):
                break
        return cut

    def nearby(
        self, cuts: IntArray, thresholds: FloatArray, min_columns: int, start: IntArray | None = None
    ) -> IntArray:
        """Return better cuts near given ones: edges are cut, and cuts undone, while that raises Q.

        It is many times as fast as :meth:`best`, because all cuts are changed at once: for resampled rows, whose best
        cuts are mostly those of the rows themselves.

        Parameters
        ----------
        cuts : array of int, shape (t, inner nodes)
            One cut for each threshold, to begin from.
        thresholds : array of float, shape (t,)
            The latent correlation of each cut, below which groups are apart.
        min_columns : int
            Every piece that a new cut makes has at least this many columns.
        start : array of int, optional
            A cut to refine: what it cuts stays cut.

        Returns
        -------
        array of int, shape (t, inner nodes)
        """
        n_nodes = cuts.shape[1]
        nodes = np.arange(n_nodes)
        kept = np.zeros(n_nodes, dtype=bool) if start is None else start == nodes
        # Whether the edge above each node is cut; a root has no such edge.
        is_cut = ((cuts == nodes) | kept) & (self.parent >= 0)
        step = max(1, _CELLS_AT_ONCE // n_nodes**2)
        for some in (slice(first, first + step) for first in range(0, len(cuts), step)):
            self._improve(is_cut[some], thresholds[some], min_columns, kept)
        return self._tops(is_cut)

    def _improve(
        self, is_cut: NDArray[np.bool_], thresholds: FloatArray, min_columns: int, kept: NDArray[np.bool_]
    ) -> None:
        """Cut edges and undo cuts, in place, while that raises Q."""
        for _ in range(_MAX_ROUNDS):
            cut = self._tops(is_cut)
            cutting = self._gains_of_cutting(is_cut, cut, thresholds, min_columns)
            joining = self._gains_of_joining(cut, thresholds, kept)
            if not self._change(is_cut, cut, np.where(is_cut, joining, cutting)):
                break

    def _tops(self, is_cut: NDArray[np.bool_]) -> IntArray:
        """Return cuts as tops of the pieces of nodes, from whether the edge above each node is cut."""
        tops = np.empty(is_cut.shape, dtype=np.intp)
        for node, parent in enumerate(self.parent.tolist()):
            tops[:, node] = node if parent < 0 else np.where(is_cut[:, node], node, tops[:, parent])
        return tops

    def _gains_of_cutting(
        self, is_cut: NDArray[np.bool_], cut: IntArray, thresholds: FloatArray, min_columns: int
    ) -> FloatArray:
        """Return how much a cut above each node raises Q, for several cuts at once; -inf where there can be none."""
        n_nodes = cut.shape[1]

        def together(nodes: slice) -> FloatArray:
            """Return R - t λ λ of pairs in one piece; what is below a node in another piece has no pairs outside."""
            expected = self.loadings[nodes, None] * self.loadings
            excess = self.similarity[nodes] - thresholds[:, None, None] * expected
            return np.where(cut[:, nodes, None] == cut[:, None, :], excess, 0)

        across = _sums_across(together, np.arange(n_nodes), np.arange(n_nodes) + self.size, len(cut))
        below = np.repeat(self.n_columns[None], len(cut), axis=0)
        for node in range(n_nodes - 1, -1, -1):
            if (parent := int(self.parent[node])) >= 0:
                below[:, parent] += np.where(is_cut[:, node], 0, below[:, node])
        smaller_side = np.minimum(below, np.take_along_axis(below, cut, axis=1) - below)
        return np.where((smaller_side >= min_columns) & (self.parent >= 0), np.round(-across, 12), -np.inf)

    def _gains_of_joining(self, cut: IntArray, thresholds: FloatArray, kept: NDArray[np.bool_]) -> FloatArray:
        """Return how much it raises Q to undo the cut above each node, for several cuts at once."""
        gains = np.empty(cut.shape)
        for number, tops in enumerate(cut):
            order = np.argsort(tops, kind="stable")
            pieces, firsts = np.unique(tops[order], return_index=True)
            # Sums over every two pieces.
            similarity = np.add.reduceat(np.add.reduceat(self.similarity[order], firsts)[:, order], firsts, axis=1)
            loadings = np.add.reduceat(self.loadings[order], firsts)
            one = np.searchsorted(pieces, tops)
            other = one[self.parent]
            gains[number] = similarity[one, other] - thresholds[number] * loadings[one] * loadings[other]
        return np.where(kept | (self.parent < 0), -np.inf, np.round(gains, 12))

    def _change(self, is_cut: NDArray[np.bool_], cut: IntArray, gains: FloatArray) -> bool:
        """Make the changes that raise Q, the best first, at most one for each piece; return whether there are any."""
        numbers, nodes = np.nonzero(gains > self.min_gain)
        changed = set[tuple[int, int]]()
        for position in np.lexsort((nodes, -gains[numbers, nodes])).tolist():
            number, node = int(numbers[position]), int(nodes[position])
            pieces = {(number, int(cut[number, node]))}
            if is_cut[number, node]:
                pieces.add((number, int(cut[number, self.parent[node]])))
            if not pieces & changed:
                changed |= pieces
                is_cut[number, node] = not is_cut[number, node]
        return bool(changed)

    def _revise(self, cut: IntArray, start: IntArray, rule: _Rule) -> bool:
        """Replace or undo each cut where that raises Q; return whether the cut changed."""
        tops = np.setdiff1d(cut, start).tolist()
        gain_of = {}
        for top in tops:
            merged = self._merged(cut, top)
            gain_of[top] = float(self._gains(merged, rule)[np.searchsorted(merged, top)])
        changed = False
        # The weakest cut comes first, so that the order does not depend on the order of columns.
        for top in sorted(tops, key=lambda top: (gain_of[top], top)):
            merged = self._merged(cut, top)
            gains = self._gains(merged, rule)
            best, own = int(np.argmax(gains)), int(np.searchsorted(merged, top))
            if max(gains[best], 0.0) > gains[own] + self.min_gain:
                cut[merged] = cut[self.parent[top]]
                if gains[best] > self.min_gain:
                    node = int(merged[best])
                    cut[self._below(merged, node)] = node
                changed = True
        return changed

    def _merged(self, cut: IntArray, top: int) -> IntArray:
        """Return the piece that appears when the edge above a top is not cut."""
        return np.flatnonzero((cut == top) | (cut == cut[self.parent[top]]))

    def _gains(self, piece: IntArray, rule: _Rule) -> FloatArray:
        """Return for each node of a piece how much a cut above it raises Q; -inf where there can be no cut.

        A cut into the sides A and B gains ``t Σ λ_i λ_j - Σ R_ij``, over the columns i of A and j of B.
        """
        # The nodes of the piece below its node number p are piece[p:last[p]].
        first, last = np.arange(len(piece)), np.searchsorted(piece, piece + self.size[piece])
        across = _sums_across(lambda some: self.similarity[np.ix_(piece[some], piece)][None], first, last)[0]
        loadings = np.concatenate([[0.0], self.loadings[piece].cumsum()])
        side = loadings[last] - loadings[first]
        gains = rule.threshold * side * (loadings[-1] - side) - across
        n_columns = np.concatenate([[0], self.n_columns[piece].cumsum()])
        n_below = n_columns[last] - n_columns[first]
        smaller_side = np.minimum(n_below, n_columns[-1] - n_below)
        possible = rule.allowed[piece] & (smaller_side >= rule.min_columns)
        possible[0] = False  # the edge above the top is cut already, or there is none
        return np.where(possible, np.round(gains, 12), -np.inf)

    def _below(self, piece: IntArray, node: int) -> IntArray:
        """Return the nodes of a piece that are in the subtree of one of them."""
        return np.asarray(piece[(piece >= node) & (piece < node + self.size[node])])


def _sums_across(
    matrix: Callable[[slice], FloatArray], first: IntArray, last: IntArray, n_matrices: int = 1
) -> FloatArray:
    """Return the sum of a symmetric matrix over all pairs of a node in a subtree and one outside, for every subtree.

    Parameters
    ----------
    matrix : callable
        Returns some rows of several matrices, shape (matrices, rows, nodes).
    first, last : array of int, shape (nodes,)
        Every subtree is the slice ``first:last`` of the nodes.
    n_matrices : int

    Returns
    -------
    array, shape (matrices, nodes)
    """
    n_nodes = len(first)
    # Sums over blocks are differences of cumulative sums over rows and columns. They are needed in the rows ``first``
    # and ``last``, at the columns ``first`` and ``last`` and at the end.
    columns = np.column_stack([first, last, np.full(n_nodes, n_nodes)])
    corners = np.empty((2, n_matrices, n_nodes, 3))
    before = np.zeros((n_matrices, n_nodes + 1))
    step = max(1, _CELLS_AT_ONCE // (n_nodes + 1))
    for start in range(0, n_nodes, step):
        rows = matrix(slice(start, start + step))
        sums = np.zeros((n_matrices, rows.shape[1] + 1, n_nodes + 1))
        sums[:, 0] = before
        rows.cumsum(axis=2, out=sums[:, 1:, 1:])
        sums = sums.cumsum(axis=1)
        for number, row in enumerate((first, last)):
            nodes = np.flatnonzero((row >= start) & (row <= start + rows.shape[1]))
            corners[number][:, nodes] = sums[:, row[nodes, None] - start, columns[nodes]]
        before = sums[:, -1]
    of_subtree = corners[1] - corners[0]
    return np.asarray(of_subtree[..., 2] - (of_subtree[..., 1] - of_subtree[..., 0]))


def _home(tree: Tree, column: int) -> int:
    """Return the inner node that a column belongs to: the neighbour of a leaf; a column inside the tree is its own."""
    if len(tree.neighbors[column]) != 1:
        return column
    neighbor = tree.neighbors[column][0][0]
    # Two columns that have only each other: one of them stands for both.
    return min(column, neighbor) if len(tree.neighbors[neighbor]) == 1 else neighbor


# The thresholds of each level: its lowest and highest latent correlation.
_BROAD = (0.2, 0.45)
_MAIN = (0.5, 0.75)
_FINE = (0.8, 0.9)
_STEP = 0.025
# A main group has at least two columns. A part of a main group has at least three, which is what it takes to identify a
# factor: two columns that share a little more with each other than with the rest are a pair, not a group.
MIN_COLUMNS = 2
_MIN_COLUMNS_FINE = 3
# A main group that has this share of all columns in groups says as little as a single group.
_NEARLY_ALL = 0.9


class Levels(NamedTuple):
    """The cuts of a tree at the three levels.

    Attributes
    ----------
    broad, main, fine : array of int
        Cuts: the top of the piece of each inner node, see :class:`TreeCutter`.
    main_cuts, fine_cuts : array of int, shape (thresholds, inner nodes)
        The best cut at each threshold of the range.
    """

    broad: IntArray
    main: IntArray
    fine: IntArray
    main_cuts: IntArray
    fine_cuts: IntArray


def find_levels(cutter: TreeCutter) -> Levels:
    """Return the cuts of the three levels, which are nested."""
    main_cuts = _best_cuts(cutter, _MAIN, MIN_COLUMNS)
    main = most_persistent(main_cuts)
    fine_cuts = _best_cuts(cutter, _FINE, _MIN_COLUMNS_FINE, start=main)
    fine = most_persistent(fine_cuts)
    if _is_one_group(cutter, main):
        main = fine
    broad = most_persistent(_best_cuts(cutter, _BROAD, MIN_COLUMNS, among=main))
    return Levels(broad, main, fine, main_cuts, fine_cuts)


def main_level_nearby(cutter: TreeCutter, levels: Levels) -> IntArray:
    """Return the cut of the main level for another similarity of the columns, from cuts near those of known levels."""
    main = most_persistent(cutter.nearby(levels.main_cuts, _thresholds(_MAIN), MIN_COLUMNS))
    if not _is_one_group(cutter, main):
        return main
    return most_persistent(cutter.nearby(levels.fine_cuts, _thresholds(_FINE), _MIN_COLUMNS_FINE, start=main))


def most_persistent(cuts: Iterable[IntArray]) -> IntArray:
    """Return the cut with the number of pieces that the most cuts agree on, the smaller among equals.

    Of the cuts that agree, which are sorted by threshold, the one in the middle is taken.
    """
    cuts = list(cuts)
    numbers = [len(np.unique(cut)) for cut in cuts]
    chosen = min(numbers, key=lambda number: (-numbers.count(number), number))
    agreeing = [cut for cut, number in zip(cuts, numbers, strict=True) if number == chosen]
    return agreeing[len(agreeing) // 2]


def _is_one_group(cutter: TreeCutter, cut: IntArray) -> bool:
    """Return whether there is at most one group beside pairs, or one that has nearly all columns.

    One group says little. If it falls into parts, these are of more use.
    """
    sizes = np.bincount(cut, cutter.n_columns)
    in_groups = sizes[sizes >= MIN_COLUMNS].sum()
    return bool((sizes >= _MIN_COLUMNS_FINE).sum() <= 1 or sizes.max() >= _NEARLY_ALL * in_groups)


def _best_cuts(
    cutter: TreeCutter,
    bounds: tuple[float, float],
    min_columns: int,
    start: IntArray | None = None,
    among: IntArray | None = None,
) -> IntArray:
    return np.array([cutter.best(threshold, min_columns, start, among) for threshold in _thresholds(bounds).tolist()])


def _thresholds(bounds: tuple[float, float]) -> FloatArray:
    lowest, highest = bounds
    return np.linspace(lowest, highest, round((highest - lowest) / _STEP) + 1)
