"""The search for the hidden variables that are there, and no more.

It starts from binary trees and fits the best of them. Then it cuts the tree where two parts are independent, contracts
the edges that the rows do not show, and improves what is left by moves on the fitted model, until no move helps. Every
move is a small fit to the messages around one or two hidden variables, and starts EM of the whole model where it ended:
nothing is fitted from a random start but the trees at the beginning.

Small fits run on all cores (:mod:`latree._util.workers`): with at most 5000 rows, two threads mostly wait for
the interpreter lock, and a search took a third longer with them.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from latree.inference.starts import start_from
from latree.model import LatentTreeModel
from latree.search.draft import Draft
from latree.search.edges import SMOOTHING
from latree.search.gains import EdgeGains
from latree.search.neighbors import small_fits
from latree.search.places import outline
from latree.search.sample import Sample
from latree.search.steps.contract import Contracting
from latree.search.steps.cut import Cutting
from latree.search.steps.divide import Dividing
from latree.search.steps.exchange import rearranged
from latree.search.steps.move import Moving
from latree.search.steps.size import STATE_SMOOTHING, Sizing
from latree.search.support import edge_support
from latree.table import Table
from latree.tree import Tree

# So few hidden variables are compared with a single one.
_VERY_FEW = 3

# Numbers of states that a single hidden variable starts from; BIC then chooses.
_STAR_STATES = (2, 4)

_CYCLES = 4  # of moves, divisions, contraction and numbers of states, at most


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

    def start(self, tree: Tree, table: Table) -> LatentTreeModel:
        """Return the model on another copy of its tree, without zeros: EM on all rows starts there."""
        joint = Draft(self.model).joint
        tables = start_from(table, tree, [joint[u][v] for u, v in tree.edges.tolist()])
        return LatentTreeModel(tree, table.columns, tables)


class Search:
    """Searches for the structure behind a table, in a sample of its rows.

    Parameters
    ----------
    table : Table
    seed : int
        Of the sample, the folds and all random starts.
    n_states : int, optional
        Of every hidden variable, if it is given.
    """

    def __init__(self, table: Table, seed: int, n_states: int | None = None) -> None:
        self.sample = Sample(table, seed, n_states)
        self.gains = EdgeGains(self.sample)
        self.sizing = Sizing(self.sample)
        self.contracting = Contracting(self.sample, self.gains, self.sizing)

    def resolved(self, trees: Sequence[Tree]) -> Found:
        """Return the best of some binary trees, rearranged, with the numbers of states that minimise BIC."""
        with small_fits():
            return self._found(self.sizing.sized(rearranged(self.sample.first(trees), self.sample)))

    def sized(self, tree: Tree) -> Found:
        """Return a model with the numbers of states that minimise BIC for a tree of any kind."""
        with small_fits():
            return Found(self.sizing.sized(self.sample.first([tree])), {})

    def explained(self, trees: Sequence[Tree], fewest: bool = False) -> Found:
        """Return the hidden variables that are there, found from the best of some binary trees.

        Parameters
        ----------
        trees : sequence of Tree
        fewest : bool
            Whether edges that are there are contracted, too, while that lowers BIC.
        """
        sample, contracting, sizing = self.sample, self.contracting, self.sizing
        cutting, moving = Cutting(sample, self.gains), Moving(sample)
        splits = sorted({split.side for tree in trees for split in tree.splits})
        dividing = Dividing(sample, self.gains, splits)
        with small_fits():
            model = cutting.cut(sample.first(trees), SMOOTHING)
            if self._mostly_there(model):
                model = rearranged(model, sample)
            model = contracting.contracted(model)
            for _ in range(_CYCLES):
                before = outline(model)
                model = dividing.divided(moving.moved(moving.relocated(model)))
                model = cutting.cut(sizing.sized(contracting.contracted(model)), STATE_SMOOTHING)
                if outline(model) == before:
                    break
            model = dividing.divided_further(
                model, lambda tried: sizing.sized(contracting.contracted(moving.moved(tried)))
            )
            model = contracting.without_improbable(model)
            model = contracting.fewest(model) if fewest else contracting.without_costly(model)
            return self._found(self._simplest(model))

    def _mostly_there(self, model: LatentTreeModel) -> bool:
        """Return whether the rows show most edges of a binary tree; rearranging would mislead where they do not."""
        around = self.sample.around(model)
        edges = around.inner_edges
        if not edges:
            return False
        self.gains.held_out(around, edges)  # estimates the distribution of gains
        return self.gains.threshold < 0

    def _simplest(self, model: LatentTreeModel) -> LatentTreeModel:
        """Return one hidden variable in the place of very few, fitted from a start of its own, if its BIC is lower."""
        tree = model.tree
        attached = [column for column in range(tree.n_observed) if tree.neighbors[column]]
        connected = any(component == sum(1 << column for column in attached) for component in tree.components)
        if not connected or not 1 <= tree.n_hidden <= _VERY_FEW:
            return model
        star = Tree(tree.names, [(column, tree.n_observed) for column in attached])
        stars = [self.sizing.sized(self.sample.first([star], n_states)) for n_states in _STAR_STATES]
        return min(model, *stars, key=lambda one: one.bic(self.sample.table))

    def _found(self, model: LatentTreeModel) -> Found:
        """Return a model with the support of its edges."""
        around = self.sample.around(model)
        edges = around.inner_edges
        support = np.full(len(model.tree.edges), np.nan)
        if edges:
            gains = self.gains.held_out(around, edges)
            assert self.gains.distribution is not None
            support[edges] = edge_support(around, edges, gains, self.gains.distribution, self.sample.log_rows)
        return Found(replace(model, tree=model.tree.with_numbers(support=support)), self.sample.steps)
