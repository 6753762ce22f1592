"""The search for the hidden variables that are there, and no more.

It starts from a binary tree, and then asks the same question again and again, wherever the tree has changed: are rows
predicted better that the model has not seen?

1. *Cut* an edge whose two sides are independent.
2. *Contract* an edge if one hidden variable predicts as well as the two at its ends.
3. *Relocate* a column or a subtree to another hidden variable nearby, if it is predicted better from there.
4. *Divide* a hidden variable, if two in its place predict better.
5. *Size*: give a hidden variable as many states as BIC asks for.

A step makes all changes that do not touch each other, and fits the whole model. The search ends when no step changes
anything. Contracting and dividing are the same comparison, :func:`latree.search.local.gain_of_two`. What two hidden
variables must gain over one depends on the share of the first tree's edges that are there: where most are, a doubtful
one probably is, too.

Every comparison is a small fit to the messages around one or two hidden variables, and starts EM of the whole model
where it ended: nothing is fitted from a random start but the trees at the beginning.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cached_property, partial
from math import log
from typing import TypeVar

import numpy as np

from latree.model import LatentTreeModel
from latree.search.divide import Arrangement, best_division, best_exchange
from latree.search.draft import Draft, Replacement
from latree.search.independence import SideTest, sides
from latree.search.local import CLEAR, SURELY, gain_of_two, one_for_two
from latree.search.neighbors import small_fits
from latree.search.places import apart, clusters, edge_place, outline, place
from latree.search.relocate import best_relocations, movable
from latree.search.sample import Sample, Surroundings
from latree.search.states import best_size
from latree.table import Table
from latree.tree import Tree

# Two sides are independent if chance makes as much covariance between them with at least this probability.
_CHANCE = 0.01

# Sides that fit the rows better together than apart by more than this, in nats, are not tested, and stay together.
# Hidden variables are tuned to the rows, so that independent sides reach values up to it.
_DEPENDENT = 18.0

# Some of the rows are looked at first only if all rows are so many times as many: often, that does not decide.
_MANY_TIMES = 3

# At most so many hidden variables become one at first; then the square of it, and so on. Each edge is tested as if all
# others were there, so that one may do without each of several edges, but not without all of them.
_MERGED = 3

_ROUNDS = 8  # of a step, at most
_CYCLES = 5  # of all steps, at most

Item = TypeVar("Item")


class Search:
    """Searches for the structure behind a table, in a sample of its rows.

    Parameters
    ----------
    table : Table
    seed : int
        Of the sample and of all random starts.
    n_states : int, optional
        Of every hidden variable, if it is given.
    """

    def __init__(self, table: Table, seed: int, n_states: int | None = None) -> None:
        self.sample = Sample(table, seed, n_states)
        self._cycle = 0  # each has folds of its own
        self.least = 0.0  # what two hidden variables must gain over one
        self._splits: list[int] = []  # sides of the splits of trees to start from
        self._seen: set[tuple[str, object]] = set()  # places that a step has looked at

    def explained(self, trees: Sequence[Tree], whole: bool = True) -> LatentTreeModel:
        """Return the hidden variables that are there, found from the best of some binary trees.

        Parameters
        ----------
        trees : sequence of Tree
            Without any tree, all columns are independent.
        whole : bool
            Whether the search goes on until nothing changes. One round without divisions and numbers of states finds
            much the same tree: to see what comes again, that is enough.
        """
        self._splits = sorted({split.side for tree in trees for split in tree.splits})
        steps = [self._cut, self._contracted, self._relocated, *([self._divided, self._sized] if whole else [])]
        with small_fits():
            model = self._cut(self.sample.first(trees or [Tree(self.sample.table.names, [])]))
            self.least = least_gain(self._gains(self.sample.around(model)).values())
            for self._cycle in range(_CYCLES if whole else 1):
                before = outline(model)
                # Edges are tested again with other folds, and places are looked at again in the light of other changes.
                self._seen = {one for one in self._seen if one[0] not in ("contract", "relocate")}
                for step in steps:
                    model = step(model)
                if outline(model) == before:
                    break
            return model

    def revised(
        self, draft: Draft, least: float, settled: Sequence[Collection[int]], whole: bool = True
    ) -> LatentTreeModel:
        """Fit a tree that was put together from parts, and look once more at what is new in the light of the whole.

        Parameters
        ----------
        draft : Draft
        least : float
            What two hidden variables must gain over one.
        settled : sequence of collection of int
            The nodes of subtrees that were searched together with one message of all the rest. Their columns may still
            go elsewhere.
        whole : bool
            Whether hidden variables are divided, too.
        """
        self.least = least
        with small_fits():
            draft.tidy()
            number = draft.numbers()
            model = self.sample.fitted(draft.start(self.sample.table))
            self._settle(model, [{number[node] for node in nodes if node in number} for nodes in settled])
            for step in (self._contracted, self._relocated, *([self._divided, self._sized] if whole else [])):
                model = step(model)
            return model

    def _settle(self, model: LatentTreeModel, subtrees: Iterable[set[int]]) -> None:
        """Remember the places in some subtrees: no step but relocation looks at them while they are the same."""
        tree = model.tree
        for nodes in subtrees:
            for node in (node for node in nodes if node >= tree.n_observed):
                near = tree.neighbors[node]
                if sum(u not in nodes for u, _ in near) <= 1:
                    self._seen |= {("divide", self._division(model, node)), ("size", self._size(model, node))}
                self._seen |= {("contract", edge_place(tree, edge)) for u, edge in near if u in nodes}

    @staticmethod
    def _division(model: LatentTreeModel, node: int) -> object:
        """Return what identifies a hidden variable for its division."""
        return place(model.tree, node), len(model.tables[node])

    @staticmethod
    def _size(model: LatentTreeModel, node: int) -> object:
        """Return what identifies a hidden variable for its number of states."""
        near = sorted(u for u, _ in model.tree.neighbors[node])
        return place(model.tree, node), *(len(model.tables[u]) for u in (node, *near))

    def resolved(self, trees: Sequence[Tree]) -> LatentTreeModel:
        """Return the best of some binary trees, after exchanges, with the numbers of states that minimise BIC."""
        with small_fits():
            return self._sized(self._exchanged(self.sample.first(trees)))

    def sized(self, tree: Tree) -> LatentTreeModel:
        """Return a model with the numbers of states that minimise BIC for a tree of any kind."""
        with small_fits():
            return self._sized(self.sample.first([tree]))

    def without(self, model: LatentTreeModel, edges: Sequence[int]) -> LatentTreeModel:
        """Contract some edges between hidden variables, and choose numbers of states again."""
        with small_fits():
            return self._sized(self._merged(model, edges, model.tree.n_nodes)) if edges else model

    def _new(self, step: str, places: Mapping[Item, object]) -> list[Item]:
        """Return what a step has not looked at yet, by its place, and remember the places."""
        new = [item for item, where in places.items() if (step, where) not in self._seen]
        self._seen |= {(step, places[item]) for item in new}
        return new

    def _cut(self, model: LatentTreeModel) -> LatentTreeModel:
        """Cut edges whose two sides are independent."""
        around, tree = self.sample.around(model), model.tree
        edges = self._new("cut", {edge: tree.edge_splits[edge] for edge in around.inner_edges})
        gone = np.flatnonzero(around.map(partial(self._is_cut, around), edges))
        draft = Draft(model)
        for number in gone.tolist():
            draft.disconnect(*tree.edges[edges[number]].tolist())
        return self._fitted(draft) if len(gone) else model

    def _is_cut(self, around: Surroundings, edge: int) -> bool:
        pair = around.rough_pair(*around.tree.edges[edge].tolist())
        h, g = pair.apart()
        if float(around.weights @ (pair.rows() - h.rows() - g.rows())) > _DEPENDENT:
            return False
        return self._side_test.p_value(*sides(around.tree, edge)) > _CHANCE

    @cached_property
    def _side_test(self) -> SideTest:
        return SideTest(self.sample.block, self.sample.table.n_states)

    def _contracted(self, model: LatentTreeModel) -> LatentTreeModel:
        """Contract edges until two hidden variables predict better than one at all that are left."""
        for number in range(_ROUNDS):
            gains = self._gains(self.sample.around(model))
            gone = sorted((gain, edge) for edge, gain in gains.items() if gain <= self.least)
            if not gone:
                break
            model = self._merged(model, [edge for _, edge in gone], _MERGED ** (number + 1))
        return model

    def _gains(self, around: Surroundings) -> dict[int, float]:
        """Return what the edges gain that were not tested yet in this cycle."""
        if around.gains is None:
            places = {edge: edge_place(around.tree, edge) for edge in around.inner_edges}
            edges = self._new("contract", places)
            pairs = [around.tree.edges[edge].tolist() for edge in edges]
            gains = around.map(partial(_gain, around, around.rough, self._cycle), pairs)
            around.gains = dict(zip(edges, gains, strict=True))
        return around.gains

    def _merged(self, model: LatentTreeModel, edges: Sequence[int], most: int) -> LatentTreeModel:
        """Contract some edges, the first ones first, so that no more than some hidden variables become one."""
        around, draft = self.sample.around(model), Draft(model)
        together = clusters(model.tree.edges[list(edges)].tolist(), most)
        draft.replace(around.map(lambda nodes: Replacement(nodes, *around.merged(nodes)), together))
        return self._fitted(draft)

    def _relocated(self, model: LatentTreeModel) -> LatentTreeModel:
        """Attach columns and subtrees to other hidden variables nearby where they are predicted better."""
        for _ in range(_ROUNDS):
            around, tree = self.sample.around(model), model.tree
            nodes = self._new(
                "relocate", {(u, v): (tree.edge_splits[edge], place(tree, v)) for u, v, edge in movable(tree)}
            )
            moves = [move for move in best_relocations(around, nodes) if move.gain > 0]
            chosen = apart(moves, lambda move: ({move.node, move.old, move.new}, set()))
            if not chosen:
                break
            draft = Draft(model)
            for move in chosen:
                draft.move(move.node, move.old, move.new, move.joint)
            del around  # with many hidden variables, messages are much memory
            model = self._fitted(draft)
        return model

    def _divided(self, model: LatentTreeModel) -> LatentTreeModel:
        """Put two hidden variables in the place of one where they predict better."""
        for _ in range(_ROUNDS):
            around, tree = self.sample.around(model), model.tree
            # Those that take longest come first.
            hidden = sorted(range(tree.n_observed, tree.n_nodes), key=lambda node: -len(tree.neighbors[node]))
            nodes = self._new("divide", {node: self._division(model, node) for node in hidden})
            found = around.map(partial(best_division, around, self._splits, self.sample.log_rows, self._cycle), nodes)
            del around
            divided = self._arranged(model, [one for one in found if one and one.gain > self.least])
            if divided is model:
                break
            model = divided
        return model

    def _exchanged(self, model: LatentTreeModel) -> LatentTreeModel:
        """Exchange subtrees of a binary tree across its edges where that clearly makes the rows more probable."""
        for _ in range(_ROUNDS):
            around = self.sample.around(model)
            edges = self._new("exchange", {edge: edge_place(model.tree, edge) for edge in around.inner_edges})
            found = around.map(partial(best_exchange, around), edges)
            del around
            exchanged = self._arranged(model, [one for one in found if one])
            if exchanged is model:
                break
            model = exchanged
        return model

    def _arranged(self, model: LatentTreeModel, found: Sequence[Arrangement]) -> LatentTreeModel:
        """Arrange hidden variables differently, the best first, where changes do not touch each other."""
        best = sorted(found, key=lambda one: -one.gain)
        draft = Draft(model)
        for one in apart(best, lambda one: ({*one.ends}, {*one.neighbors, *one.other_neighbors})):
            draft.arrange(one)
        return self._fitted(draft) if best else model

    def _sized(self, model: LatentTreeModel) -> LatentTreeModel:
        """Choose the numbers of states of hidden variables that minimise BIC, unless they are given."""
        sample = self.sample
        model = sample.fitted(model)
        for _ in range(_ROUNDS if sample.n_states is None else 0):
            around, tree = sample.around(model), model.tree
            sizes = {node: self._size(model, node) for node in range(tree.n_observed, tree.n_nodes)}
            found = around.map(partial(self._resized, around), self._new("size", sizes))
            found = sorted((one for one in found if one[0] > 0), key=lambda one: -one[0])
            if not found:
                break
            draft = Draft(model)
            chosen = apart(found, lambda one: ({*one[1].nodes}, {*one[1].neighbors}))
            draft.replace([replacement for _, replacement in chosen])
            del around  # with many hidden variables, messages are much memory
            model = sample.fitted(draft.start(sample.table))
        return model

    def _resized(self, around: Surroundings, node: int) -> tuple[float, Replacement]:
        """Return by how much BIC falls with the best number of states of a hidden variable; 0 if that is its own."""
        star, sample = around.star(node), self.sample
        best = best_size(star, around.weights, sample.log_rows, seed=sample.seed)
        now = star.n_parameters * sample.log_rows - 2 * float(around.weights @ star.rows())
        gain = now - best.bic if len(best.star.prior) != len(star.prior) else 0.0
        return gain, Replacement([node], around.near(node), best.star)

    def _fitted(self, draft: Draft) -> LatentTreeModel:
        """Tidy up a draft and fit the whole model."""
        draft.tidy()
        return self.sample.fitted(draft.start(self.sample.table))


def _gain(around: Surroundings, rough: Surroundings, seed: int, ends: tuple[int, int]) -> float:
    """Return what an edge gains; where a rough look shows that it is much, what it gains at least."""
    first = rough.rough_pair(*ends)
    if first.is_fitted and len(around.weights) < _MANY_TIMES * len(rough.weights):
        return gain_of_two(around.pair(*ends), around.weights, seed)
    _, difference = one_for_two(first, rough.weights)
    least = difference.sum() - SURELY * np.sqrt((difference**2).sum())
    gain = float(least * around.weights.sum() / rough.weights.sum())
    return gain if gain > CLEAR else gain_of_two(around.pair(*ends), around.weights, seed)


def least_gain(gains: Iterable[float]) -> float:
    """Return what an edge must gain, in nats, to be there more probably than not, given the gains of all edges.

    A gain is the logarithm of how much more probable two hidden variables make unseen rows than one (a pseudo-Bayes
    factor). With it, the share of edges that are there is estimated by EM (empirical Bayes), with one edge of either
    kind added, so that the share is never zero or one. Where it is one half, an edge need not gain anything.

    References
    ----------
    Geisser and Eddy (1979), A Predictive Approach to Model Selection.
    """
    factors, odds = np.exp(np.clip(list(gains), -500, 500)), 1.0
    for _ in range(100):
        share = (np.sum(odds * factors / (1 + odds * factors)) + 1) / (len(factors) + 2)
        odds = share / (1 - share)
    return -log(odds)
