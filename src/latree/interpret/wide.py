"""Cutting the tree of a wide table into groups, without the correlations of all pairs of columns.

The tree is divided into connected parts of some hundred columns, at edges that carry little information. Within a part,
everything is as for other tables (:mod:`latree.interpret.cutting`): all correlations are counted, and the part is cut
where that explains the most. Between larger pieces, the mean correlation is that of a sample of pairs of columns. So
the time grows with the number of columns, not with its square.

A sample of a piece consists of the columns that come first in a random order of all columns. So the sample of a union
is made from the samples of its parts. The random order depends on the names of columns alone.
"""

from collections.abc import Callable, Sequence
from functools import cached_property
from heapq import heapify, heappop, heappush
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from latree._util.arrays import FloatArray, IntArray
from latree._util.workers import map_ordered
from latree.counts.contingency import count_bits, pair_tables, state_bits
from latree.counts.distances import as_pairs, information_above_chance, informational_correlation, pairwise
from latree.interpret.cutting import (
    COST,
    DECIMALS,
    FINE_COST,
    MIN_COLUMNS,
    Blocks,
    Hierarchy,
    TreeCutter,
    gain_of_cuts,
    pieces,
)
from latree.table import Block, Table
from latree.tree import Tree

# Tables with more columns are wide. Up to here, all correlations take a few seconds and a few megabytes.
WIDE = 1000
# The most columns of a part. Groups that people read are smaller.
_MAX_PART = 250
# The most pairs of columns that stand for two pieces. With fewer pairs than that, all of them are counted. The mean of
# 256 correlations has a sixteenth of the standard deviation of one of them.
_N_PAIRS = 256
# Pairs are counted in batches of this many cells (8 MB).
_CELLS_AT_ONCE = 2**20
# Columns with at most this many states are counted by bits.
_FEW_STATES = 8
# Steps of the golden ratio fill an interval evenly, however many there are.
_GOLDEN = (5**0.5 - 1) / 2
_SEED = 0


class SampledCorrelations:
    """Correlations of the columns of a wide table, counted in its rows when they are asked for.

    Parameters
    ----------
    rows : Table
        In memory.
    strength : array of float
        How much information each edge of the model's tree carries.
    """

    def __init__(self, rows: Table, strength: FloatArray) -> None:
        self.rows, self.strength = rows, strength

    def reordered(self, order: IntArray) -> "SampledCorrelations":
        """Return the same for columns in another order, given by their numbers of now."""
        columns = tuple(self.rows.columns[column] for column in order)
        return SampledCorrelations(Table(columns, self.rows.rows.reordered(order)), self.strength)

    @cached_property
    def rank(self) -> IntArray:
        """The place of each column in a random order, which depends on the names of columns alone."""
        rank = np.empty(self.rows.n_columns, dtype=np.intp)
        rank[np.argsort(self.rows.names)] = np.random.default_rng(_SEED).permutation(len(rank))
        return rank

    def hierarchy(self, tree: Tree) -> Hierarchy:
        """Return the hierarchy of groups of the columns of the model's tree."""
        cutter = _WideCutter(tree, self, self.strength)
        best = cutter.best(cutter.parts, COST)
        fine = cutter.best(best, FINE_COST)
        above, losses = cutter.joins(best, cutter.whole)
        between, _ = cutter.joins(fine, best)
        tops = [*above, *between, *cutter.divided(fine)]
        # Parts were cut apart, whether that explains more or not: the first joins may undo it.
        n_undone = int(np.argmin(np.round(np.cumsum([0.0, *losses]), DECIMALS)))
        edges = cutter.edge_above[np.array(tops, dtype=np.intp)]
        return Hierarchy(tuple(edges.tolist()), len(above) - n_undone, len(above) + len(between))

    def explained(self, tree: Tree, edges: Sequence[int]) -> FloatArray:
        """Return E after each number of cuts, from none to all."""
        piece_of = pieces(tree, tuple(edges))
        found = [_Piece.of(columns, self.rank) for columns in _members(piece_of[: tree.n_observed], piece_of.max() + 1)]
        within = self._within(found)
        return _values(tree, edges, piece_of, found, within, self.across, self.rank)

    def broad_level(self, tree: Tree, edges: Sequence[int]) -> int:
        """Return how many of some cuts make groups of groups; see :func:`latree.interpret.cutting.broad_level`."""
        piece_of = pieces(tree, tuple(edges))
        n_pieces = int(piece_of.max()) + 1
        columns = _members(piece_of[: tree.n_observed], n_pieces)
        own = [_Piece.of(some, self.rank) for some in columns]
        sizes = np.array([piece.size for piece in own])
        mean = self._within(own) / np.maximum(sizes * (sizes - 1), 1)
        scale = np.where(mean > 0, np.sqrt(mean), np.inf)
        # Groups take the place of columns, in the order of the first of their columns.
        first = np.array([self.rank[piece.sample[0]] if piece.size else len(self.rank) for piece in own])
        units = [_Piece(1, np.array([number])) for number in range(n_pieces)]

        def across(joins: Sequence[tuple[_Piece, _Piece]]) -> FloatArray:
            return self.across(joins, own, scale)

        found = _values(tree, edges, piece_of, units, np.zeros(n_pieces), across, first)
        return len(found) - 1 - int(np.argmax(np.round(found[::-1], DECIMALS)))

    def within(self, columns: IntArray) -> FloatArray:
        """Return the correlations of all pairs of some columns, with zeros on the diagonal.

        A pair of columns that are never present together has the mean of all others.
        """
        part = Table(tuple(self.rows.columns[column] for column in columns), self.rows.rows.reordered(columns))
        found = informational_correlation(pairwise(part, information_above_chance))
        np.fill_diagonal(found, 0)
        unknown = np.isnan(found)
        if unknown.any():
            found[unknown] = found.sum(where=~unknown) / max((~unknown).sum() - len(found), 1)
        return found

    def of_pairs(self, pairs: IntArray) -> FloatArray:
        """Return the correlations of pairs of columns; nan for two that are never present together."""
        n_states = self.rows.n_states[pairs].max(axis=1, initial=1)
        by_bits = (n_states <= _FEW_STATES) & (self._block.weights is None)
        found = np.empty(len(pairs))
        batches = []
        # Pairs with about as many states are counted together.
        for some in (np.flatnonzero(by_bits), np.flatnonzero(~by_bits)):
            order = some[np.argsort(n_states[some], kind="stable")]
            n = self._bits.shape[1] if by_bits[order[:1]].any() else int(n_states[order].max(initial=1))
            step = max(1, _CELLS_AT_ONCE // n**2)
            batches += [order[start : start + step] for start in range(0, len(order), step)]

        def count(batch: IntArray) -> FloatArray:
            if by_bits[batch[0]]:
                n = self._bits.shape[1]
                counted = as_pairs(count_bits(self._bits, self._place[pairs[batch]]).reshape(-1, n, n))
            else:
                counted = as_pairs(pair_tables(self.rows, pairs[batch]))
            return informational_correlation(information_above_chance(counted))

        for batch, values in zip(batches, map_ordered(count, batches), strict=True):
            found[batch] = values
        return found

    @cached_property
    def _block(self) -> Block:
        return self.rows.rows.fetch(np.arange(self.rows.n_rows))

    @cached_property
    def _place(self) -> IntArray:
        """The place of each column among those with few states."""
        return np.asarray(np.cumsum(self.rows.n_states <= _FEW_STATES) - 1)

    @cached_property
    def _bits(self) -> NDArray[np.uint64]:
        """The states of columns with few of them, as bits."""
        few = np.flatnonzero(self.rows.n_states <= _FEW_STATES)
        n = int(self.rows.n_states[few].max(initial=1))
        codes = self._block.codes.T
        step = max(1, _CELLS_AT_ONCE // max(1, self.rows.n_rows))
        return np.concatenate([state_bits(codes[few[start : start + step]], n) for start in range(0, len(few), step)])

    def _within(self, some: Sequence["_Piece"]) -> FloatArray:
        """Return the sum of the correlations of the columns of each piece, both ways."""
        pairs = [piece.pairs_within() for piece in some]
        means = self._means(pairs)
        return np.array([mean * piece.size * (piece.size - 1) for mean, piece in zip(means, some, strict=True)])

    def across(
        self,
        joins: Sequence[tuple["_Piece", "_Piece"]],
        own: Sequence["_Piece"] | None = None,
        scale: FloatArray | None = None,
    ) -> FloatArray:
        """Return the sum of the correlations between the members of two pieces, for several pairs of pieces.

        Members are columns, or groups of columns: then ``own`` has the columns of each group, and correlations are
        divided by the ``scale`` of both groups.
        """
        pairs = [one.pairs_with(other) for one, other in joins]
        sizes = np.array([one.size * other.size for one, other in joins], dtype=float)
        if own is None or scale is None:
            return sizes * self._means(pairs)
        every = np.concatenate([*pairs, np.empty((0, 2), dtype=np.intp)])
        n_each = np.repeat([max(1, _N_PAIRS // max(1, len(some))) for some in pairs], [len(some) for some in pairs])
        of_groups = [
            own[one].pairs_with(own[other], most) for (one, other), most in zip(every.tolist(), n_each, strict=True)
        ]
        means = self._means(of_groups) / (scale[every[:, 0]] * scale[every[:, 1]])
        return sizes * _group_means(means, [len(some) for some in pairs])

    def _means(self, groups: Sequence[IntArray]) -> FloatArray:
        """Return the mean correlation of each group of pairs; 0 where none is known."""
        every = np.concatenate([*groups, np.empty((0, 2), dtype=np.intp)])
        return _group_means(self.of_pairs(every), [len(pairs) for pairs in groups])


class _Piece(NamedTuple):
    """Columns, or groups of columns, that are connected in the tree: their number, and a sample of them.

    The sample has those that come first in a random order, in this order.
    """

    size: int
    sample: IntArray

    @classmethod
    def of(cls, members: IntArray, rank: IntArray) -> "_Piece":
        return cls(len(members), members[np.argsort(rank[members])][:_N_PAIRS])

    def joined(self, other: "_Piece", rank: IntArray) -> "_Piece":
        """Return the union of two pieces."""
        members = np.concatenate([self.sample, other.sample])
        return _Piece(self.size + other.size, members[np.argsort(rank[members])][:_N_PAIRS])

    def pairs_with(self, other: "_Piece", most: int | None = None) -> IntArray:
        """Return pairs of a member of each piece: all of them, or as many as stand for them."""
        most = most or _N_PAIRS
        one, two = self.sample, other.sample
        if self.size * other.size <= most:
            return np.stack(np.meshgrid(one, two, indexing="ij"), axis=-1).reshape(-1, 2)
        steps = np.arange(most) + 0.5
        places = (steps / most * len(one)).astype(np.intp), (steps * _GOLDEN % 1 * len(two)).astype(np.intp)
        return np.stack([one[places[0]], two[places[1]]], axis=-1)

    def pairs_within(self) -> IntArray:
        """Return pairs of two members: all of them, or as many as stand for them."""
        one, two = np.triu_indices(len(self.sample), 1)
        if len(one) > _N_PAIRS:
            chosen = np.random.default_rng(_SEED).permutation(len(one))[:_N_PAIRS]
            one, two = one[chosen], two[chosen]
        return np.stack([self.sample[one], self.sample[two]], axis=-1)


_NOTHING = _Piece(0, np.empty(0, dtype=np.intp))


class _WideCutter(TreeCutter):
    """Cuts of the tree of a wide table.

    Attributes
    ----------
    parts : array of int
        The cut into connected parts: columns of different parts are not compared one by one.
    """

    def __init__(self, tree: Tree, correlations: SampledCorrelations, strength: FloatArray) -> None:
        super().__init__(tree, None)
        self.correlations = correlations
        self.parts = self._parts(strength)
        self._columns = _members(self.home, len(self.parts))
        nodes = _members(np.unique(self.parts, return_inverse=True)[1])
        self._sums = dict(zip((int(some[0]) for some in nodes), map_ordered(self._part_sums, nodes), strict=True))
        self._nodes = {int(some[0]): some for some in nodes}

    def _part_sums(self, nodes: IntArray) -> FloatArray:
        columns = [self._columns[node] for node in nodes]
        similarity = self.correlations.within(np.concatenate(columns))
        return Blocks(similarity, np.repeat(np.arange(len(nodes)), list(map(len, columns))), len(nodes)).sums

    def sums(self, piece: IntArray) -> FloatArray:
        """Return the sums of similarities over the columns of every two inner nodes of a piece of one part."""
        part = int(self.parts[piece[0]])
        places = np.searchsorted(self._nodes[part], piece)
        return np.asarray(self._sums[part][np.ix_(places, places)])

    def _parts(self, strength: FloatArray) -> IntArray:
        """Divide the tree from the leaves on: a node takes in what is below it, over strong edges first.

        What would make a part too large is a part of its own. So a hidden variable without columns is in a part with
        what it connects.
        """
        n_columns, parent = self.n_columns.tolist(), self.parent.tolist()
        below: list[list[int]] = [[] for _ in parent]
        for node, above in enumerate(parent):
            if above >= 0:
                below[above].append(node)
        top = list(range(len(parent)))
        weight = np.round(strength[self.edge_above], DECIMALS).tolist()
        for node in range(len(parent) - 1, -1, -1):  # children first
            for child in sorted(below[node], key=lambda child: (-weight[child], child)):
                sizes = n_columns[node], n_columns[child]
                if sum(sizes) <= _MAX_PART or min(sizes) < MIN_COLUMNS:
                    top[child], n_columns[node] = node, sum(sizes)
        for node, above in enumerate(top):  # parents first
            top[node] = top[above]
        return np.array(top, dtype=np.intp)

    def joins(self, cut: IntArray, start: IntArray) -> tuple[list[int], list[float]]:
        """Return the tops of a cut that refines another one, in the order that cuts them.

        From the last to the first, those pieces are joined whose union lowers E least. Also returns by how much each
        join lowers E, the first join first.
        """
        names, piece_of = np.unique(cut, return_inverse=True)
        rank = self.correlations.rank
        found = [
            _Piece.of(np.concatenate([self._columns[node] for node in nodes]), rank)
            for nodes in _members(piece_of, len(names))
        ]
        within = [float(self.sums(nodes).sum()) for nodes in _members(piece_of, len(names))]
        tops = np.setdiff1d(names, start)
        ends = np.column_stack([np.searchsorted(names, tops), piece_of[self.parent[tops]]]).tolist()
        union = list(range(len(names)))  # the piece that each piece was joined to
        version = [0] * len(names)

        def find(piece: int) -> int:
            while union[piece] != piece:
                union[piece] = union[union[piece]]
                piece = union[piece]
            return piece

        def losses(numbers: Sequence[int]) -> list[tuple[float, int, int, float]]:
            """Return by how much joins lower E, with what else the heap needs."""
            pairs = [(find(ends[number][0]), find(ends[number][1])) for number in numbers]
            across = self.correlations.across([(found[one], found[other]) for one, other in pairs])
            one, other = ([pair[side] for pair in pairs] for side in (0, 1))
            sums, sizes = (
                (np.array([of(piece) for piece in one]), np.array([of(piece) for piece in other]))
                for of in (within.__getitem__, lambda piece: found[piece].size)
            )
            lost = gain_of_cuts(sums, sizes, across, COST)
            return [
                (round(loss, DECIMALS), number, version[i] + version[j], between)
                for loss, number, (i, j), between in zip(lost.tolist(), numbers, pairs, across.tolist(), strict=True)
            ]

        heap = losses(range(len(tops)))
        heapify(heap)
        order: list[int] = []
        lost: list[float] = []
        while heap:
            loss, number, when, between = heappop(heap)
            one, other = find(ends[number][0]), find(ends[number][1])
            if version[one] + version[other] != when:  # one of the two has grown since then: measure again
                heappush(heap, losses([number])[0])
                continue
            union[one] = other
            found[other] = found[other].joined(found[one], rank)
            within[other] += within[one] + 2 * between
            version[other] += version[one] + 1
            order.append(int(tops[number]))
            lost.append(loss)
        return order[::-1], lost


def _values(
    tree: Tree,
    edges: Sequence[int],
    piece_of: IntArray,
    found: list[_Piece],
    within: FloatArray,
    across: Callable[[Sequence[tuple[_Piece, _Piece]]], FloatArray],
    rank: IntArray,
) -> FloatArray:
    """Return E after each number of cuts: all of them make some pieces, which are joined from the last cut on.

    Parameters
    ----------
    tree : Tree
    edges : sequence of int
        The cuts, in their order.
    piece_of : array of int
        The number of the piece that each node is in.
    found : list of _Piece
    within : array of float
        The sum of the correlations of the members of each piece, both ways.
    across : callable
        From pairs of pieces to the sums of the correlations between them.
    rank : array of int
        The order of members.
    """
    sums, union = within.tolist(), list(range(len(found)))

    def find(piece: int) -> int:
        while union[piece] != piece:
            union[piece] = union[union[piece]]
            piece = union[piece]
        return piece

    # What is joined does not depend on correlations: these are counted all at once.
    joins: list[tuple[int, int]] = []
    joined: list[tuple[_Piece, _Piece]] = []
    for one, other in piece_of[tree.edges[list(edges)]][::-1].tolist():
        gone, kept = find(one), find(other)
        joins.append((gone, kept))
        joined.append((found[gone], found[kept]))
        union[gone], found[kept], found[gone] = kept, found[kept].joined(found[gone], rank), _NOTHING
    between = across(joined)
    of_ends = []
    for (gone, kept), more in zip(joins, between.tolist(), strict=True):
        of_ends.append((sums[gone], sums[kept]))
        sums[kept], sums[gone] = sums[kept] + sums[gone] + 2 * more, 0.0
    totals = np.array(of_ends).reshape(-1, 2).T
    sizes = np.array([(one.size, other.size) for one, other in joined], dtype=float).reshape(-1, 2).T
    losses = gain_of_cuts((totals[0], totals[1]), (sizes[0], sizes[1]), between, COST)
    size = np.array([piece.size for piece in found], dtype=float)
    whole = float(((size - COST) * np.array(sums) / np.maximum(size * (size - 1), 1)).sum())
    return whole + np.cumsum([0.0, *losses[::-1]])


def _members(numbers: IntArray, n: int | None = None) -> list[IntArray]:
    """Return the places of each number, from 0 on."""
    counts = np.bincount(numbers, minlength=n or 0)
    return np.split(np.argsort(numbers, kind="stable"), np.cumsum(counts)[:-1])


def _group_means(values: FloatArray, lengths: Sequence[int]) -> FloatArray:
    """Return the mean of successive groups of values, without those that are nan; 0 where there are none."""
    number = np.repeat(np.arange(len(lengths)), lengths)
    known = ~np.isnan(values)
    totals = np.bincount(number[known], values[known], minlength=len(lengths))
    return np.asarray(totals / np.maximum(np.bincount(number[known], minlength=len(lengths)), 1))
