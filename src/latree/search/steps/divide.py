"""Division: some neighbours of a hidden variable get one of their own."""

from collections.abc import Callable, Collection, Iterable
from functools import partial

from latree.model import LatentTreeModel
from latree.search.divide import best_division
from latree.search.edges import folds
from latree.search.gains import EdgeGains
from latree.search.moves import Move
from latree.search.places import apart, place
from latree.search.sample import Sample

# Divisions that miss what they must gain by less than so many nats are tried at the end: moves may complete them.
_NEARLY = 3.0

_ROUNDS = 4  # at most; each has folds of its own


class Dividing:
    """Puts new hidden variables above some neighbours of others.

    Parameters
    ----------
    sample : Sample
    gains : EdgeGains
        What a new hidden variable must gain.
    splits : collection of int
        Sides of the splits of starting trees, as bit sets: what they divide is tried, too.
    """

    def __init__(self, sample: Sample, gains: EdgeGains, splits: Collection[int] = ()) -> None:
        self._sample, self._gains, self._splits = sample, gains, splits
        self._undivided: set[object] = set()  # hidden variables that are not divided
        self._nearly_divided: set[object] = set()

    def divided(self, model: LatentTreeModel) -> LatentTreeModel:
        """Put new hidden variables above some neighbours of one where two predict better."""
        for number in range(_ROUNDS):
            places = {node: place for node, place in _divisible(model).items() if place not in self._undivided}
            moves = self._divisions(model, places, number)
            made = [move for move in moves if move.gain > self._gains.least_division]
            self._undivided |= set(places.values()) - {places[move.ends[0]] for move in made}
            self._nearly_divided |= {places[move.ends[0]] for move in moves[len(made) :]}
            chosen = _apart(made)
            if not chosen:
                break
            self._sample.steps["divisions"] += len(chosen)
            model = self._sample.after(model, chosen)
        return model

    def divided_further(
        self, model: LatentTreeModel, complete: Callable[[LatentTreeModel], LatentTreeModel]
    ) -> LatentTreeModel:
        """Put new hidden variables where it is nearly worth it, if other steps then make up for it.

        Each must lower half of the BIC by as much as other divisions. If all of them together do not, only the better
        half is made.

        Parameters
        ----------
        model : LatentTreeModel
        complete : callable
            The steps that follow.
        """
        sample = self._sample
        places = {node: place for node, place in _divisible(model).items() if place in self._nearly_divided}
        chosen = _apart(self._divisions(model, places, _ROUNDS))
        steps, bic = sample.steps, model.bic(sample.table)
        while chosen:
            sample.steps = {**steps, "divisions": steps["divisions"] + len(chosen)}
            tried = complete(sample.after(model, chosen))
            if (bic - tried.bic(sample.table)) / 2 > len(chosen) * self._gains.least_division:
                return tried
            sample.steps = steps
            chosen = chosen[: len(chosen) // 2]
        return model

    def _divisions(self, model: LatentTreeModel, nodes: Iterable[int], number: int) -> list[Move]:
        """Return the best division of each hidden variable that is worth it or nearly so, the best first."""
        around, sample = self._sample.around(model), self._sample
        fold = [folds(len(around.weights), sample.seed + again) for again in (number, number + _ROUNDS + 1)]
        least = self._gains.least_division - _NEARLY
        # Those that take longest come first.
        waiting = sorted(nodes, key=lambda node: -len(model.tree.neighbors[node]))
        found = around.map(partial(best_division, around, fold, self._splits, sample.log_rows, least), waiting)
        return sorted((move for move in found if move), key=lambda move: -move.gain)


def _divisible(model: LatentTreeModel) -> dict[int, object]:
    """Return the hidden variables, each with what must stay the same for another attempt to end as the last one."""
    tree = model.tree
    return {node: (place(tree, node), len(model.tables[node])) for node in range(tree.n_observed, tree.n_nodes)}


def _apart(moves: Iterable[Move]) -> list[Move]:
    """Return divisions, the first ones first, that do not touch each other."""
    return apart(moves, lambda move: ({move.ends[0]}, {*move.neighbors, *move.other_neighbors}))
