"""Contraction: two hidden variables become one where the rows do not show the edge between them."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial

import numpy as np

from latree.model import LatentTreeModel
from latree.search.draft import Draft, Replacement
from latree.search.edges import SMOOTHING, Surroundings
from latree.search.gains import FOLD_SETS, EdgeGains
from latree.search.places import clusters, edge_place
from latree.search.sample import Sample
from latree.search.states import best_size
from latree.search.steps.size import Sizing

# At most so many hidden variables become one at first; then the square of it, and so on. Each edge is tested as if all
# others were there, so that one may do without each of several edges, but not without all of them.
_MERGED = 3

_ROUNDS = FOLD_SETS  # at most; each has folds of its own

# Edges that are there with a smaller probability are contracted at the end, however sure they were before. A larger
# number would cost true edges: with few states, hidden variables predict less.
_IMPROBABLE = 0.05

# Where fewer than half of the first tree's edges are there, edges that are not sure are contracted, too, if that lowers
# half of the BIC by this many nats more than they gain.
_MARGIN = 9.0

# Hidden variables in the place of others, and by how much each lowers BIC.
_Found = Iterator[tuple[float, Replacement]]


class Contracting:
    """Contracts edges between hidden variables."""

    def __init__(self, sample: Sample, gains: EdgeGains, sizing: Sizing) -> None:
        self._sample, self._gains, self._sizing = sample, gains, sizing
        self._sure: set[object] = set()  # edges that are clearly there

    def contracted(self, model: LatentTreeModel, least_gain: float | None = None) -> LatentTreeModel:
        """Contract the edges that the rows do not show, until they show all edges that are left.

        These are edges whose gain is at most a number, by default the threshold of the distribution of gains.
        """
        for number in range(_ROUNDS):
            around = self._sample.around(model)
            edges = self._unsure(around)
            if not edges:
                break
            gains = self._gains.worth(around, edges, number)
            self._sure |= {
                edge_place(model.tree, edge) for edge, gain in zip(edges, gains, strict=True) if gain > self._gains.sure
            }
            least = self._gains.threshold if least_gain is None else least_gain
            # Those that are there least come first.
            gone = [edges[place] for place in np.argsort(gains, kind="stable").tolist() if gains[place] <= least]
            if not gone:
                break
            draft = Draft(model)
            together = clusters(model.tree.edges[gone].tolist(), _MERGED ** (number + 1))
            draft.replace(around.map(partial(self._merged, around), together))
            draft.tidy()
            self._sample.steps["contractions"] += sum(len(nodes) - 1 for nodes in together)
            model = self._sample.fitted(draft.start(self._sample.table))
        return model

    def _unsure(self, around: Surroundings) -> list[int]:
        """Return the edges that may not be there."""
        return [edge for edge in around.inner_edges if edge_place(around.tree, edge) not in self._sure]

    def _merged(self, around: Surroundings, nodes: Sequence[int]) -> Replacement:
        """Return one hidden variable in the place of several, with more states if that lowers BIC."""
        neighbors, star = around.merged(nodes)
        if self._sample.n_states is None:
            log_rows, seed = self._sample.log_rows, self._sample.seed
            star = best_size(star, around.weights, smoothing=SMOOTHING, log_rows=log_rows, seed=seed, fewer=False).star
        return Replacement(nodes, neighbors, star)

    def without_improbable(self, model: LatentTreeModel) -> LatentTreeModel:
        """Contract edges that were sure, and are very probably not there after changes elsewhere in the tree."""
        if self._gains.distribution is None:
            return model
        self._sure.clear()
        contracted = self.contracted(model, self._gains.distribution.least_gain(_IMPROBABLE))
        return model if contracted is model else self._sizing.sized(contracted)

    def without_costly(self, model: LatentTreeModel) -> LatentTreeModel:
        """Contract edges that are not sure and cost clearly more parameters than they gain, by BIC.

        Only if most edges of the first tree are not there. Where most are there, as in a binary tree, edges that gain
        little are true edges that the rows hardly show.
        """
        if self._gains.distribution is None or self._gains.distribution.share >= 0.5:
            return model

        def found(around: Surroundings) -> _Found:
            edges = self._unsure(around)
            gains = self._gains.worth(around, edges).tolist() if edges else []
            for (fall, replacement), gain in zip(self._contractions(around, edges), gains, strict=True):
                yield fall - 2 * (max(gain, 0) + _MARGIN), replacement

        return self._contracted_while(found, model)

    def fewest(self, model: LatentTreeModel) -> LatentTreeModel:
        """Contract edges while that lowers BIC, whether they are there or not."""
        return self._contracted_while(lambda around: self._contractions(around, around.inner_edges), model)

    def _contracted_while(self, find: Callable[[Surroundings], _Found], model: LatentTreeModel) -> LatentTreeModel:
        """Contract the edges where that is worth it and choose numbers of states, until it is worth it nowhere."""
        contracted: LatentTreeModel | None = model
        while contracted is not None:
            model = contracted
            contracted = self._sizing.replaced(model, find(self._sample.around(model)))
            if contracted is not None:
                self._sample.steps["contractions"] += model.tree.n_hidden - contracted.tree.n_hidden
                contracted = self._sizing.sized(contracted)
        return model

    def _contractions(self, around: Surroundings, edges: Sequence[int]) -> _Found:
        """Return one hidden variable in the place of the two at each edge."""
        yield from around.map(partial(self._contraction, around), around.tree.edges[edges].tolist())

    def _contraction(self, around: Surroundings, ends: Sequence[int]) -> tuple[float, Replacement]:
        """Return by how much BIC falls if two neighbouring hidden variables become one; negative if it grows."""
        pair = around.pair(*ends)
        now = pair.n_parameters * self._sample.log_rows - 2 * float(around.weights @ pair.rows())
        neighbors, star = around.merged(ends)
        best = self._sizing.best(around, star)
        return now - best.bic, Replacement(ends, neighbors, best.star)
