"""Numbers of states: of each hidden variable, by BIC."""

from collections.abc import Iterable
from functools import partial

from latree.model import LatentTreeModel
from latree.search.draft import Draft, Replacement
from latree.search.edges import Surroundings
from latree.search.local import Star
from latree.search.places import apart, place
from latree.search.sample import Sample
from latree.search.states import Sized, best_size

# Numbers of states are chosen with little smoothing, as BIC is about the likelihood.
STATE_SMOOTHING = 0.1

_ROUNDS = 6  # at most


class Sizing:
    """Chooses the number of states of each hidden variable by BIC."""

    def __init__(self, sample: Sample) -> None:
        self._sample = sample
        self._right: set[object] = set()  # hidden variables with the best number of states

    def sized(self, model: LatentTreeModel) -> LatentTreeModel:
        """Return a model with the best numbers of states, unless they are given."""
        model = self._sample.fitted(model, smoothing=STATE_SMOOTHING)
        if self._sample.n_states is not None:
            return model
        for _ in range(_ROUNDS):
            around = self._sample.around(model)
            hidden = range(model.tree.n_observed, model.tree.n_nodes)
            places = {node: (place(model.tree, node), _sizes_around(model, node)) for node in hidden}
            nodes = [node for node in hidden if places[node] not in self._right]
            found = around.map(partial(self._resized, around), nodes)
            self._right |= {places[node] for node, (gain, _) in zip(nodes, found, strict=True) if gain <= 0}
            resized = self.replaced(model, found)
            if resized is None:
                break
            model = resized
            del around, found  # with many hidden variables, their messages are much memory
        return model

    def replaced(self, model: LatentTreeModel, found: Iterable[tuple[float, Replacement]]) -> LatentTreeModel | None:
        """Replace hidden variables where that lowers BIC, many that do not touch at once; None if it lowers it nowhere.

        Each replacement comes with what it gains by itself. If all of them together do not lower BIC, only the better
        half is made.
        """
        gains = sorted((one for one in found if one[0] > 0), key=lambda one: -one[0])
        chosen = apart(gains, lambda one: ({*one[1].nodes}, {*one[1].neighbors}))
        table = self._sample.table
        best = model.bic(table)
        while chosen:
            draft = Draft(model)
            draft.replace([replacement for _, replacement in chosen])
            tried = self._sample.fitted(draft.start(table), smoothing=STATE_SMOOTHING)
            if tried.bic(table) < best:
                return tried
            chosen = chosen[: len(chosen) // 2]
        return None

    def best(self, around: Surroundings, star: Star) -> Sized:
        """Return a hidden variable with the number of states that minimises BIC, unless the number is given."""
        free = self._sample.n_states is None
        return best_size(
            star,
            around.weights,
            smoothing=STATE_SMOOTHING,
            log_rows=self._sample.log_rows,
            seed=self._sample.seed,
            fewer=free,
            more=free,
        )

    def _resized(self, around: Surroundings, node: int) -> tuple[float, Replacement]:
        """Return by how much BIC falls with the best number of states of a hidden variable; 0 if that is its own."""
        star = around.star(node)
        best = self.best(around, star)
        now = star.n_parameters * self._sample.log_rows - 2 * float(around.weights @ star.rows())
        gain = now - best.bic if len(best.star.prior) != len(star.prior) else 0.0
        return gain, Replacement([node], [u for u, _ in around.tree.neighbors[node]], best.star)


def _sizes_around(model: LatentTreeModel, node: int) -> tuple[int, ...]:
    """Return the number of states of a node, and those of its neighbours."""
    return tuple(len(model.tables[u]) for u in (node, *sorted(u for u, _ in model.tree.neighbors[node])))
