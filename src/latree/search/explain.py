"""The search for the hidden variables that are there, and no more.

It starts from binary trees and fits the best of them. Then it cuts the tree where two parts are independent, contracts
the edges that the rows do not show, and improves what is left by moves on the fitted model, until no move helps. Every
move is a small fit to the messages around one or two hidden variables, and starts EM of the whole model where it ended:
nothing is fitted from a random start but the trees at the beginning.

Small fits run on all cores (:mod:`latree._util.forks`): with at most 5000 rows, two threads mostly wait for
the interpreter lock, and a search took a third longer with them.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import log

import numpy as np

from latree._util.arrays import FloatArray
from latree._util.progress import Progress, no_progress
from latree.model import LatentTreeModel
from latree.search.divide import best_division
from latree.search.draft import Draft, Replacement
from latree.search.edges import (
    SMOOTHING,
    EdgeTest,
    GainDistribution,
    Surroundings,
    bic_gain,
    examine_edges,
    folds,
)
from latree.search.independence import Independence
from latree.search.local import Star
from latree.search.moves import Move, best_moves
from latree.search.neighbors import small_fits
from latree.search.places import apart, clusters, edge_place, outline, place
from latree.search.rearrange import Views
from latree.search.relocate import best_relocations, movable
from latree.search.sample import START_ITERATIONS, Sample
from latree.search.states import Sized, best_size
from latree.search.support import edge_support
from latree.table import Table
from latree.tree import Tree

# Numbers of states are chosen with little smoothing, as BIC is about the likelihood.
_STATE_SMOOTHING = 0.1

# Another pairing of four subtrees must be better by this many standard errors.
_LEAD = 1.5

# Edges whose gain is this near the threshold, in nats, are tested again with other folds.
_DOUBTFUL = 6.0

# Edges whose gain is above the threshold by this, in nats, are not tested again while their neighbourhood stays.
_SURE = 15.0

# At most so many hidden variables become one at first; then the square of it, and so on. Each edge is tested as if all
# others were there, so that edges that can be spared one by one need not be spared together.
_MERGED = 3

# Edges that are there with a smaller probability are contracted at the end, however sure they were before. A larger
# number would cost true edges: with few states, hidden variables predict less.
_IMPROBABLE = 0.05

# A move must lower half of the BIC by more than this, in nats.
_MIN_MOVE = 1.0

# What a parameter costs, in nats, where a column or subtree moves to any hidden variable nearby. With the penalty of
# BIC, columns would move to hidden variables with few states.
_PENALTY = 1.0

# Such a move must raise the log-likelihood, less the penalty, by more than this, in nats.
_MIN_RELOCATION = 3.0

# A new hidden variable must predict rows better, or lower half of the BIC, by more than this, in nats.
_MIN_DIVISION = 4.0

# Divisions that miss this by less than so many nats are tried at the end: moves may complete them.
_NEARLY = 3.0

# So few hidden variables are compared with a single one.
_VERY_FEW = 3

# Numbers of states that a single hidden variable starts from; BIC then chooses.
_STAR_STATES = (2, 4)

# Most repeats of each kind of step.
_SWEEPS = 10
_CONTRACTIONS = 12
_MOVES = 8
_DIVISIONS = 4
_SIZINGS = 6
_CYCLES = 4


@dataclass(frozen=True)
class Found:
    """The end of a search.

    Attributes
    ----------
    model : LatentTreeModel
        Fitted to the rows of the search. The edges between hidden variables have support.
    steps : dict
        How many edges were contracted and cut, how many moves were made, and so on.
    """

    model: LatentTreeModel
    steps: dict[str, int]

    @property
    def n_states(self) -> tuple[int, ...]:
        """Number of states of each hidden variable."""
        return tuple(self.model.n_states[self.model.tree.n_observed :].tolist())

    def edge_tables(self, tree: Tree) -> tuple[FloatArray, ...]:
        """Return the joint distributions on the edges of the model's tree, in the order that another copy has them."""
        joint = Draft(self.model).joint
        return tuple(joint[u][v] for u, v in tree.edges.tolist())


class Search:
    """Searches for the structure behind a table, in a sample of its rows.

    Parameters
    ----------
    table : Table
    seed : int
        Of the sample, the folds and all random starts.
    n_states : int, optional
        Of every hidden variable, if it is given.
    progress : callable
        Called with an estimate of how much is done.
    """

    def __init__(self, table: Table, seed: int, n_states: int | None = None, progress: Progress = no_progress) -> None:
        self.sample = Sample(table, seed, n_states, progress)
        self.block, self.table = self.sample.block, self.sample.table
        self.seed, self.n_states = seed, n_states
        self.log_rows = log(max(self.table.total_weight, 2.0))
        self.steps = dict.fromkeys(("exchanges", "cuts", "contractions", "moves", "divisions"), 0)
        # Tests of the last model. Then places that need not be looked at again: edges that are sure, edges
        # without a move, nodes without a division, nodes with the best number of states, nodes without a better place.
        self._tested: tuple[LatentTreeModel | None, dict[tuple[int, int], EdgeTest]] = (None, {})
        self._sure: set[object] = set()
        self._settled: set[object] = set()
        self._undivided: set[object] = set()
        self._nearly_divided: set[object] = set()
        self._right_size: set[object] = set()
        self._in_place: set[object] = set()
        self._distribution: GainDistribution | None = None
        self._independence = Independence(self.block, self.table.n_states)
        self._splits: list[int] = []  # of the trees that the search starts from

    def resolved(self, trees: Sequence[Tree]) -> Found:
        """Return the best of some binary trees, rearranged, with the numbers of states that minimise BIC."""
        with small_fits():
            return self._found(self._sized(self._rearranged(self.sample.first(trees))))

    def sized(self, tree: Tree) -> Found:
        """Return a model with the numbers of states that minimise BIC for a tree of any kind."""
        with small_fits():
            return Found(self._sized(self.sample.first([tree])), {})

    def explained(self, trees: Sequence[Tree], fewest: bool = False) -> Found:
        """Return the hidden variables that are there, found from the best of some binary trees.

        Parameters
        ----------
        trees : sequence of Tree
        fewest : bool
            Whether edges that are there are contracted, too, while that lowers BIC.
        """
        with small_fits():
            self._splits = sorted({split.side for tree in trees for split in tree.splits})
            model = self._cut(self.sample.first(trees), SMOOTHING)
            if self._mostly_there(model):
                model = self._rearranged(model)
            model = self._contracted(model)
            for _ in range(_CYCLES):
                before = outline(model)
                model = self._divided(self._moved(self._relocated(model)))
                model = self._cut(self._sized(self._contracted(model)), _STATE_SMOOTHING)
                if outline(model) == before:
                    break
            model = self._without_improbable(self._divided_further(model))
            return self._found(self._simplest(self._fewest(model) if fewest else model))

    def _without_improbable(self, model: LatentTreeModel) -> LatentTreeModel:
        """Contract edges that were sure, and are very probably not there after changes elsewhere in the tree."""
        if self._distribution is None:
            return model
        self._sure.clear()
        contracted = self._contracted(model, self._distribution.least_gain(_IMPROBABLE))
        return model if contracted is model else self._sized(contracted)

    def _fewest(self, model: LatentTreeModel) -> LatentTreeModel:
        """Contract edges while that lowers BIC, whether they are there or not."""
        contracted: LatentTreeModel | None = model
        while contracted is not None:
            model = contracted
            around = Surroundings(model, self.block)
            edges = model.tree.edges[around.inner_edges].tolist()
            contracted = self._replaced(model, around.map(partial(self._contraction, around), edges))
            if contracted is not None:
                self.steps["contractions"] += model.tree.n_hidden - contracted.tree.n_hidden
                contracted = self._sized(contracted)
        return model

    def _contraction(self, around: Surroundings, ends: Sequence[int]) -> tuple[float, Replacement]:
        """Return by how much BIC falls if two neighbouring hidden variables become one; negative if it grows."""
        pair = around.pair(*ends)
        now = pair.n_parameters * self.log_rows - 2 * float(around.weights @ pair.rows())
        neighbors, star = around.merged(ends)
        best = self._best_size(around, star)
        return now - best.bic, Replacement(ends, neighbors, best.star)

    def _simplest(self, model: LatentTreeModel) -> LatentTreeModel:
        """Return one hidden variable in the place of very few, fitted from a start of its own, if its BIC is lower."""
        tree = model.tree
        attached = [column for column in range(tree.n_observed) if tree.neighbors[column]]
        connected = any(component == sum(1 << column for column in attached) for component in tree.components)
        if not connected or not 1 <= tree.n_hidden <= _VERY_FEW:
            return model
        star = Tree(tree.names, [(column, tree.n_observed) for column in attached])
        stars = [self._sized(self.sample.first([star], n_states)) for n_states in _STAR_STATES]
        return min(model, *stars, key=lambda one: one.bic(self.table))

    def _found(self, model: LatentTreeModel) -> Found:
        """Return a model with the support of its edges."""
        around = self.sample.around(model)
        edges = around.inner_edges
        support = np.full(len(model.tree.edges), np.nan)
        if edges:
            gains = self._gains(around, edges, 0)
            assert self._distribution is not None
            support[edges] = edge_support(around, edges, gains, self._distribution, self.log_rows)
        return Found(replace(model, tree=model.tree.with_numbers(support=support)), self.steps)

    def _rearranged(self, model: LatentTreeModel) -> LatentTreeModel:
        """Exchange subtrees of a binary tree where the four-point rule on their posteriors asks for it."""
        for _ in range(_SWEEPS):
            verdicts = Views(model, self.block).verdicts().values()
            leading = sorted((one for one in verdicts if one.rival_lead > _LEAD), key=lambda one: -one.rival_lead)
            chosen = apart(leading, lambda one: ({*one.ends, *one.tops}, set()))
            if not chosen:
                break
            draft = Draft(model)
            for verdict in chosen:
                (h, g), (leaving, coming) = verdict.ends, verdict.exchange
                draft.move(leaving, h, g)
                draft.move(coming, g, h)
            self.steps["exchanges"] += len(chosen)
            model = self.sample.fitted(draft.start(self.table), START_ITERATIONS)
        return model

    def _cut(self, model: LatentTreeModel, smoothing: float) -> LatentTreeModel:
        """Cut edges whose two sides are independent."""
        while True:
            around = self.sample.around(model)
            edges = self._independence.doubtful(model.tree, around.inner_edges)
            gone = self._independence.edges(model.tree, edges, self._tests(around, edges, 0))
            if not gone:
                return model
            draft = Draft(model)
            for edge in gone:
                draft.disconnect(*model.tree.edges[edge].tolist())
            draft.tidy()
            self.steps["cuts"] += len(gone)
            model = self.sample.fitted(draft.start(self.table), smoothing=smoothing)

    def _mostly_there(self, model: LatentTreeModel) -> bool:
        """Return whether the rows show most edges of a binary tree; rearranging would mislead where they do not."""
        around = self.sample.around(model)
        edges = around.inner_edges
        if not edges:
            return False
        self._gains(around, edges, 0)  # estimates the distribution of gains
        return self._least_gain < 0

    def _contracted(self, model: LatentTreeModel, least_gain: float | None = None) -> LatentTreeModel:
        """Contract the edges that the rows do not show, until they show all edges that are left.

        These are edges whose gain is at most a number, by default the threshold of the distribution of gains.
        """
        for number in range(_CONTRACTIONS):
            around = self.sample.around(model)
            edges = [edge for edge in around.inner_edges if edge_place(model.tree, edge) not in self._sure]
            if not edges:
                break
            gains = self._gains(around, edges, number)
            self._sure |= {
                edge_place(model.tree, edge)
                for edge, gain in zip(edges, gains, strict=True)
                if gain > self._least_gain + _SURE
            }
            least = self._least_gain if least_gain is None else least_gain
            # Those that are there least come first.
            gone = [edges[place] for place in np.argsort(gains, kind="stable").tolist() if gains[place] <= least]
            if not gone:
                break
            draft = Draft(model)
            together = clusters(model.tree.edges[gone].tolist(), _MERGED ** (number + 1))
            draft.replace(around.map(partial(self._merged, around), together))
            draft.tidy()
            self.steps["contractions"] += sum(len(nodes) - 1 for nodes in together)
            model = self.sample.fitted(draft.start(self.table))
        return model

    def _tests(self, around: Surroundings, edges: Sequence[int], number: int) -> list[EdgeTest]:
        """Test edges with the folds of this number; tests of the same model are kept."""
        if self._tested[0] is not around.model:
            self._tested = around.model, {}
        known = self._tested[1]
        new = [edge for edge in edges if (edge, number) not in known]
        known |= zip([(edge, number) for edge in new], examine_edges(around, new, self.seed + number), strict=True)
        return [known[edge, number] for edge in edges]

    def _gains(self, around: Surroundings, edges: Sequence[int], number: int) -> FloatArray:
        """Return the gain of each edge; the mean of two where it is near the threshold.

        The first binary tree decides about the threshold: later, most edges that are not there are gone.
        """
        gains = np.array([test.gain for test in self._tests(around, edges, number)])
        if self._distribution is None:
            n_cells = self.table.n_rows * self.table.n_columns
            present = 1 - float(self.table.n_missing.sum()) / n_cells
            self._distribution = GainDistribution.of(gains, present)
        close = np.flatnonzero(np.abs(gains - self._least_gain) < _DOUBTFUL)
        again = self._tests(around, [edges[place] for place in close.tolist()], number + _CONTRACTIONS)
        gains[close] = (gains[close] + [test.gain for test in again]) / 2
        # As where hidden variables are divided, two may also be better than one because BIC asks for them.
        doubtful = np.flatnonzero(gains <= self._least_gain + _SURE)
        least = self._least_division
        asked = around.map(partial(self._bic_gain, around, least), [edges[place] for place in doubtful.tolist()])
        gains[doubtful] = np.where(np.array(asked) > least, np.maximum(gains[doubtful], asked), gains[doubtful])
        return gains

    def _bic_gain(self, around: Surroundings, least: float, edge: int) -> float:
        return bic_gain(around.pair(*around.tree.edges[edge].tolist()), around.weights, self.log_rows, least)

    @property
    def _least_gain(self) -> float:
        """The gain above which an edge is taken to be there."""
        assert self._distribution is not None
        return self._distribution.threshold

    def _merged(self, around: Surroundings, nodes: Sequence[int]) -> Replacement:
        """Return one hidden variable in the place of several, with more states if that lowers BIC."""
        neighbors, star = around.merged(nodes)
        if self.n_states is None:
            star = best_size(
                star, around.weights, smoothing=SMOOTHING, log_rows=self.log_rows, seed=self.seed, fewer=False
            ).star
        return Replacement(nodes, neighbors, star)

    def _moved(self, model: LatentTreeModel) -> LatentTreeModel:
        """Move neighbours of hidden variables to the next ones while that lowers BIC."""
        model = self.sample.fitted(model)
        best = model.bic(self.table)
        for _ in range(_MOVES):
            around = self.sample.around(model)
            places = {edge: edge_place(model.tree, edge) for edge in around.inner_edges}
            edges = [edge for edge in around.inner_edges if places[edge] not in self._settled]
            moves = [move for move in best_moves(around, edges, self.log_rows) if move.gain > _MIN_MOVE]
            movable = {frozenset(move.ends) for move in moves}
            self._settled |= {
                places[edge] for edge in edges if frozenset(model.tree.edges[edge].tolist()) not in movable
            }
            chosen = apart(moves, lambda move: ({*move.ends}, {*move.neighbors, *move.other_neighbors}))
            # Each move lowers BIC by itself. If all of them together do not, only the better half is made.
            while chosen:
                tried = self._after(model, chosen)
                if tried.bic(self.table) < best:
                    break
                chosen = chosen[: len(chosen) // 2]
            if not chosen:
                break
            self.steps["moves"] += len(chosen)
            model, best = tried, tried.bic(self.table)
        return model

    def _relocated(self, model: LatentTreeModel) -> LatentTreeModel:
        """Attach columns and subtrees to other hidden variables nearby while that predicts the rows better."""
        score = self._score(model)
        for _ in range(_MOVES):
            around, tree = self.sample.around(model), model.tree
            # A node is looked at again when the neighbourhood of its hidden variable has changed.
            nodes = {(u, v): (tree.edge_splits[edge], place(tree, v)) for u, v, edge in movable(tree)}
            nodes = {ends: where for ends, where in nodes.items() if where not in self._in_place}
            found = best_relocations(around, list(nodes), _PENALTY)
            moves = [move for move in found if move.gain > _MIN_RELOCATION]
            self._in_place |= set(nodes.values()) - {nodes[move.node, move.old] for move in moves}
            chosen = apart(moves, lambda move: ({move.node, move.old, move.new}, set()))
            while chosen:
                draft = Draft(model)
                for move in chosen:
                    draft.disconnect(move.node, move.old)
                    draft.connect(move.node, move.new, move.joint)
                draft.tidy()
                tried = self.sample.fitted(draft.start(self.table))
                if self._score(tried) > score:
                    break
                chosen = chosen[: len(chosen) // 2]
            if not chosen:
                break
            self.steps["moves"] += len(chosen)
            model, score = tried, self._score(tried)
        return model

    def _score(self, model: LatentTreeModel) -> float:
        """Return the log-likelihood of the rows, less the penalty of relocations."""
        return model.log_likelihood(self.table) - _PENALTY * model.n_parameters

    def _divided(self, model: LatentTreeModel) -> LatentTreeModel:
        """Put new hidden variables above some neighbours of one where two predict better."""
        for number in range(_DIVISIONS):
            places = {node: place for node, place in self._divisible(model).items() if place not in self._undivided}
            moves = self._divisions(model, places, number)
            made = [move for move in moves if move.gain > self._least_division]
            self._undivided |= set(places.values()) - {places[move.ends[0]] for move in made}
            self._nearly_divided |= {places[move.ends[0]] for move in moves[len(made) :]}
            chosen = self._divisions_apart(made)
            if not chosen:
                break
            self.steps["divisions"] += len(chosen)
            model = self._after(model, chosen)
        return model

    def _divided_further(self, model: LatentTreeModel) -> LatentTreeModel:
        """Put new hidden variables where it is nearly worth it, if moves and numbers of states then make up for it.

        Each must lower half of the BIC by as much as other divisions. If all of them together do not, only the better
        half is made.
        """
        places = {node: place for node, place in self._divisible(model).items() if place in self._nearly_divided}
        chosen = self._divisions_apart(self._divisions(model, places, _DIVISIONS))
        steps, bic = self.steps, model.bic(self.table)
        while chosen:
            self.steps = {**steps, "divisions": steps["divisions"] + len(chosen)}
            tried = self._sized(self._contracted(self._moved(self._after(model, chosen))))
            if (bic - tried.bic(self.table)) / 2 > len(chosen) * self._least_division:
                return tried
            self.steps = steps
            chosen = chosen[: len(chosen) // 2]
        return model

    @property
    def _least_division(self) -> float:
        """What a new hidden variable must gain, in nats."""
        return _MIN_DIVISION if self._distribution is None else max(_MIN_DIVISION, self._least_gain)

    @staticmethod
    def _divisible(model: LatentTreeModel) -> dict[int, object]:
        """Return the hidden variables, each with what must stay the same for another attempt to end as the last one."""
        tree = model.tree
        return {node: (place(tree, node), len(model.tables[node])) for node in range(tree.n_observed, tree.n_nodes)}

    def _divisions(self, model: LatentTreeModel, nodes: Iterable[int], number: int) -> list[Move]:
        """Return the best division of each hidden variable that is worth it or nearly so, the best first."""
        around = self.sample.around(model)
        fold = [folds(len(around.weights), self.seed + again) for again in (number, number + _DIVISIONS + 1)]
        least = self._least_division - _NEARLY
        # Those that take longest come first.
        waiting = sorted(nodes, key=lambda node: -len(model.tree.neighbors[node]))
        found = around.map(partial(best_division, around, fold, self._splits, self.log_rows, least), waiting)
        return sorted((move for move in found if move), key=lambda move: -move.gain)

    @staticmethod
    def _divisions_apart(moves: Iterable[Move]) -> list[Move]:
        """Return divisions, the first ones first, that do not touch each other."""
        return apart(moves, lambda move: ({move.ends[0]}, {*move.neighbors, *move.other_neighbors}))

    def _after(self, model: LatentTreeModel, moves: Iterable[Move]) -> LatentTreeModel:
        """Make some moves and fit the whole model again."""
        draft = Draft(model)
        for move in moves:
            draft.rearrange(move)
        return self.sample.fitted(draft.start(self.table))

    def _sized(self, model: LatentTreeModel) -> LatentTreeModel:
        """Choose the number of states of each hidden variable by BIC."""
        model = self.sample.fitted(model, smoothing=_STATE_SMOOTHING)
        if self.n_states is not None:
            return model
        for _ in range(_SIZINGS):
            around = self.sample.around(model)
            hidden = range(model.tree.n_observed, model.tree.n_nodes)
            places = {node: (place(model.tree, node), self._sizes_around(model, node)) for node in hidden}
            nodes = [node for node in hidden if places[node] not in self._right_size]
            found = around.map(partial(self._resized, around), nodes)
            self._right_size |= {places[node] for node, (gain, _) in zip(nodes, found, strict=True) if gain <= 0}
            resized = self._replaced(model, found)
            if resized is None:
                break
            model = resized
            del around, found  # with many hidden variables, their messages are much memory
        return model

    def _replaced(self, model: LatentTreeModel, found: Iterable[tuple[float, Replacement]]) -> LatentTreeModel | None:
        """Replace hidden variables where that lowers BIC, many that do not touch at once; None if it lowers it nowhere.

        Each replacement comes with what it gains by itself. If all of them together do not lower BIC, only the better
        half is made.
        """
        gains = sorted((one for one in found if one[0] > 0), key=lambda one: -one[0])
        chosen = apart(gains, lambda one: ({*one[1].nodes}, {*one[1].neighbors}))
        best = model.bic(self.table)
        while chosen:
            draft = Draft(model)
            draft.replace([replacement for _, replacement in chosen])
            tried = self.sample.fitted(draft.start(self.table), smoothing=_STATE_SMOOTHING)
            if tried.bic(self.table) < best:
                return tried
            chosen = chosen[: len(chosen) // 2]
        return None

    @staticmethod
    def _sizes_around(model: LatentTreeModel, node: int) -> tuple[int, ...]:
        """Return the number of states of a node, and those of its neighbours."""
        return tuple(len(model.tables[u]) for u in (node, *sorted(u for u, _ in model.tree.neighbors[node])))

    def _resized(self, around: Surroundings, node: int) -> tuple[float, Replacement]:
        """Return by how much BIC falls with the best number of states of a hidden variable; 0 if that is its own."""
        star = around.star(node)
        best = self._best_size(around, star)
        now = star.n_parameters * self.log_rows - 2 * float(around.weights @ star.rows())
        gain = now - best.bic if len(best.star.prior) != len(star.prior) else 0.0
        return gain, Replacement([node], [u for u, _ in around.tree.neighbors[node]], best.star)

    def _best_size(self, around: Surroundings, star: Star) -> Sized:
        """Return a hidden variable with the number of states that minimises BIC, unless the number is given."""
        free = self.n_states is None
        return best_size(
            star,
            around.weights,
            smoothing=_STATE_SMOOTHING,
            log_rows=self.log_rows,
            seed=self.seed,
            fewer=free,
            more=free,
        )
