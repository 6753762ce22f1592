"""The search for the hidden variables that are there, and no more.

It starts from a binary tree, and then asks one question again and again, wherever the tree has changed: do rows that the
model has not seen become more probable (:func:`latree.search.local.predicted`)?

1. *cut* an edge whose two sides are independent;
2. *contract* an edge if one hidden variable predicts as well as the two at its ends;
3. *relocate* a column or a subtree to another hidden variable nearby, if it is predicted better there;
4. *divide* a hidden variable, if two in its place predict better;
5. *size*: give a hidden variable as many states as BIC asks for.

A step makes all changes that do not touch each other, and fits the whole model. The search ends when no step changes
anything. Contracting and dividing are the same comparison. What two hidden variables must gain over one depends on the
share of the first tree's edges that are there, which is estimated: where most are, a doubtful one probably is, too.

Every comparison is a small fit to the messages around one or two hidden variables, and starts EM of the whole model
where it ended: nothing is fitted from a random start but the trees at the beginning.
"""

from collections.abc import Iterable, Sequence
from functools import partial
from math import log

import numpy as np

from latree._util.arrays import FloatArray
from latree.model import LatentTreeModel
from latree.search.divide import Arrangement, best_division, best_exchange
from latree.search.draft import Draft, Replacement
from latree.search.independence import SideTest, sides
from latree.search.local import Pair, fit, held_out
from latree.search.neighbors import small_fits
from latree.search.places import apart, clusters, edge_place, outline, place
from latree.search.relocate import best_relocations, movable
from latree.search.sample import Sample, Surroundings
from latree.search.states import best_size
from latree.table import Table
from latree.tree import Tree

# Two sides are independent if chance makes as much covariance between them with at least this probability.
_CHANCE = 0.01

# An edge is clearly there, and two sides clearly depend on each other, if that fits the rows better by this, in nats: no
# hidden variable too many does, and no fit of independent sides. Others are tested.
_CLEAR = 50.0
_CLEARLY_DEPENDENT = 18.0

# Iterations of EM for one hidden variable in the place of two: the first ones say whether an edge is clearly there.
_FIRST_ITERATIONS, _ITERATIONS = 6, 14

# At most so many hidden variables become one at first; then the square of it, and so on. Each edge is tested as if all
# others were there, so that one may do without each of several edges, but not without all of them.
_MERGED = 3

_ROUNDS = 8  # of a step, at most
_CYCLES = 5  # of all steps, at most


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
        self._share: float | None = None  # of the first tree's edges that are there
        self._splits: list[int] = []  # sides of the splits of trees to start from
        self._settled: set[object] = set()  # places that a step has looked at and left as they are
        self._dependent: set[object] = set()  # edges whose sides are clearly dependent, as splits

    def explained(self, trees: Sequence[Tree], whole: bool = True) -> LatentTreeModel:
        """Return the hidden variables that are there, found from the best of some binary trees.

        Parameters
        ----------
        trees : sequence of Tree
        whole : bool
            Whether the search goes on until nothing changes, and chooses numbers of states. One round of the other
            steps finds nearly the same tree.
        """
        self._splits = sorted({split.side for tree in trees for split in tree.splits})
        steps = (self._cut, self._contracted, self._relocated, self._divided)
        with small_fits():
            if not trees:
                return self.sample.first([Tree(self.sample.table.names, [])])
            model = self.sample.first(trees)
            for _ in range(_CYCLES):
                before = outline(model)
                for step in (*steps, self._sized) if whole else steps:
                    model = step(model)
                if not whole or outline(model) == before:
                    break
            return model

    def resolved(self, trees: Sequence[Tree]) -> LatentTreeModel:
        """Return the best of some binary trees, after exchanges, with the numbers of states that minimise BIC."""
        with small_fits():
            return self._sized(self._exchanged(self.sample.first(trees)))

    def without(self, model: LatentTreeModel, edges: Sequence[int]) -> LatentTreeModel:
        """Contract some edges between hidden variables."""
        with small_fits():
            return self._sized(self._merged_at(model, edges, model.tree.n_nodes)) if edges else model

    def sized(self, tree: Tree) -> LatentTreeModel:
        """Return a model with the numbers of states that minimise BIC for a tree of any kind."""
        with small_fits():
            return self._sized(self.sample.first([tree]))

    def _cut(self, model: LatentTreeModel) -> LatentTreeModel:
        """Cut edges whose two sides are independent."""
        around, tree = self.sample.around(model), model.tree
        splits = {edge: tree.edge_splits[edge] for edge in around.inner_edges}
        edges = [edge for edge, split in splits.items() if ("cut", split) not in self._settled]
        gone = [edge for edge, is_cut in zip(edges, around.map(partial(self._is_cut, around), edges)) if is_cut]
        self._settled |= {("cut", splits[edge]) for edge in edges if edge not in gone}
        if not gone:
            return model
        draft = Draft(model)
        for edge in gone:
            draft.disconnect(*tree.edges[edge].tolist())
        return self._fitted(draft)

    def _is_cut(self, around: Surroundings, edge: int) -> bool:
        pair = around.pair(*around.tree.edges[edge].tolist())
        h, g = pair.apart()
        if float(around.weights @ (pair.rows() - h.rows() - g.rows())) > _CLEARLY_DEPENDENT:
            return False
        return self._side_test.p_value(*sides(around.tree, edge)) > _CHANCE

    @property
    def _side_test(self) -> SideTest:
        if not hasattr(self, "_test"):
            self._test = SideTest(self.sample.block, self.sample.table.n_states)
        return self._test

    def _contracted(self, model: LatentTreeModel) -> LatentTreeModel:
        """Contract edges until two hidden variables predict better than one at all that are left."""
        for number in range(_ROUNDS):
            around, tree = self.sample.around(model), model.tree
            # Few states predict less: an edge that was there with more is there, too.
            places = {edge: ("contract", edge_place(tree, edge)) for edge in around.inner_edges}
            edges = [edge for edge in around.inner_edges if places[edge] not in self._settled]
            gains = around.map(partial(self._gain, around), edges)
            if self._share is None:
                self._share = share_there(gains)
            least = least_gain(self._share)
            gone = sorted((gain, edge) for gain, edge in zip(gains, edges, strict=True) if gain <= least)
            self._settled |= {places[edge] for gain, edge in zip(gains, edges, strict=True) if gain > least}
            if not gone:
                break
            model = self._merged_at(model, [edge for _, edge in gone], _MERGED ** (number + 1))
        return model

    def _merged_at(self, model: LatentTreeModel, edges: Sequence[int], most: int) -> LatentTreeModel:
        """Contract some edges, the first ones first, so that no more than some hidden variables become one."""
        around, draft = self.sample.around(model), Draft(model)
        together = clusters(model.tree.edges[list(edges)].tolist(), most)
        draft.replace(around.map(partial(self._merged, around), together))
        return self._fitted(draft)

    def _gain(self, around: Surroundings, edge: int) -> float:
        """Return by how many nats two hidden variables predict rows better than one in their place."""
        return gain_of_two(around.pair(*around.tree.edges[edge].tolist()), around.weights)

    def _merged(self, around: Surroundings, nodes: Sequence[int]) -> Replacement:
        """Return one hidden variable in the place of several."""
        return Replacement(nodes, *around.merged(nodes))

    def _relocated(self, model: LatentTreeModel) -> LatentTreeModel:
        """Attach columns and subtrees to other hidden variables nearby where they are predicted better."""
        for _ in range(_ROUNDS):
            around, tree = self.sample.around(model), model.tree
            # A node is looked at again when the neighbourhood of its hidden variable has changed.
            places = {(u, v): ("relocate", tree.edge_splits[edge], place(tree, v)) for u, v, edge in movable(tree)}
            nodes = [ends for ends, where in places.items() if where not in self._settled]
            moves = [move for move in best_relocations(around, nodes) if move.gain > 0]
            self._settled |= {places[ends] for ends in nodes}
            chosen = apart(moves, lambda move: ({move.node, move.old, move.new}, set()))
            if not chosen:
                break
            draft = Draft(model)
            for move in chosen:
                draft.disconnect(move.node, move.old)
                draft.connect(move.node, move.new, move.joint)
            model = self._fitted(draft)
        return model

    def _exchanged(self, model: LatentTreeModel) -> LatentTreeModel:
        """Exchange subtrees of a binary tree across its edges where that makes the rows more probable."""
        for _ in range(_ROUNDS):
            around = self.sample.around(model)
            places = {edge: ("exchange", edge_place(model.tree, edge)) for edge in around.inner_edges}
            edges = [edge for edge in around.inner_edges if places[edge] not in self._settled]
            self._settled |= {places[edge] for edge in edges}
            exchanged = self._arranged(model, filter(None, around.map(partial(best_exchange, around), edges)))
            if exchanged is None:
                break
            model = exchanged
        return model

    def _divided(self, model: LatentTreeModel) -> LatentTreeModel:
        """Put two hidden variables in the place of one where they predict better."""
        for _ in range(_ROUNDS):
            around, tree = self.sample.around(model), model.tree
            places = {node: ("divide", *_known(model, node)) for node in range(tree.n_observed, tree.n_nodes)}
            # Those that take longest come first.
            nodes = sorted(places, key=lambda node: -len(tree.neighbors[node]))
            nodes = [node for node in nodes if places[node] not in self._settled]
            found = around.map(partial(best_division, around, self._splits, self.sample.log_rows), nodes)
            least = 0.0 if self._share is None else least_gain(self._share)
            self._settled |= {places[node] for node in nodes}
            divided = self._arranged(model, (one for one in found if one and one.gain > least))
            if divided is None:
                break
            model = divided
        return model

    def _arranged(self, model: LatentTreeModel, found: Iterable[Arrangement]) -> LatentTreeModel | None:
        """Arrange hidden variables differently, the best first, where that does not touch; None if there is nothing."""
        best = sorted(found, key=lambda one: -one.gain)
        chosen = apart(best, lambda one: ({*one.ends}, {*one.neighbors, *one.other_neighbors}))
        draft = Draft(model)
        for one in chosen:
            draft.arrange(one)
        return self._fitted(draft) if chosen else None

    def _sized(self, model: LatentTreeModel) -> LatentTreeModel:
        """Give hidden variables the numbers of states that minimise BIC, unless they are given."""
        sample = self.sample
        model = sample.fitted(model)
        for _ in range(_ROUNDS if sample.n_states is None else 0):
            around, hidden = sample.around(model), range(model.tree.n_observed, model.tree.n_nodes)
            places = {node: ("size", *_known(model, node, around.near(node))) for node in hidden}
            nodes = [node for node in hidden if places[node] not in self._settled]
            found = [one for one in around.map(partial(self._resized, around), nodes) if one[0] > 0]
            self._settled |= {places[node] for node in nodes}
            chosen = apart(
                sorted(found, key=lambda one: -one[0]), lambda one: ({*one[1].nodes}, {*one[1].neighbors})
            )
            if not chosen:
                break
            draft = Draft(model)
            draft.replace([replacement for _, replacement in chosen])
            model = self._fitted(draft)
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


def gain_of_two(pair: Pair, weights: FloatArray) -> float:
    """Return by how many nats two hidden variables predict rows better than one in their place.

    An edge that is clearly there is not tested to the end: what it fits better is returned.
    """
    one = fit(pair.merged(max(pair.between.shape)), weights, max_iter=_FIRST_ITERATIONS)
    gain = float(weights @ (pair.rows() - one.rows))
    if gain > _CLEAR:
        return gain
    one = fit(one.model, weights, max_iter=_ITERATIONS)
    return held_out(pair, weights) - held_out(one.model, weights)


def share_there(gains: Iterable[float]) -> float:
    """Return the share of edges that are there, given what each gains, in nats.

    A gain is the logarithm of how much more probable two hidden variables make the rows than one (a pseudo-Bayes
    factor, Geisser and Eddy 1979). With it, the share that makes all of them most probable is found by EM (empirical
    Bayes). One edge of either kind is added, so that it is never zero or one.
    """
    found, share = np.clip(np.array(list(gains)), -500, 500), 0.5
    for _ in range(100):
        odds = np.exp(found) * share / (1 - share)
        share = float((np.sum(odds / (1 + odds)) + 1) / (len(found) + 2))
    return share


def least_gain(share: float) -> float:
    """Return what an edge must gain to be there more probably than not, given the share of edges that are."""
    return -log(share / (1 - share))


def _known(model: LatentTreeModel, node: int, near: Iterable[int] = ()) -> tuple[object, ...]:
    """Return what must stay the same at a hidden variable for a step to end as it did: neighbourhood, and states."""
    return place(model.tree, node), tuple(len(model.tables[u]) for u in (node, *sorted(near)))

