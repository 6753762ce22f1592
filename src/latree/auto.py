"""The default learner: joining by a distance that needs no number of states, rearranging by soft evidence.

The tree is the joined one, unless rows that were not fitted say clearly that something else predicts them better: one
hidden variable above all columns, or, if prediction is what is asked for, a hidden Chow-Liu tree.
"""

from dataclasses import dataclass, field

import numpy as np

from latree.arrays import RandomState, generator
from latree.builders import Progress, Structure
from latree.builders.hidden_chow_liu import hidden_chow_liu
from latree.builders.latent_class import latent_class
from latree.builders.neighbor_joining import neighbor_joining
from latree.distances import covariance, finite, information, pairwise
from latree.em import ConvergenceMonitor, fit_model
from latree.model import LatentTreeModel
from latree.rearrange import Verdict, exchanged, verdicts
from latree.states import Choice, Criterion, choose, held_out, is_better, mean_entropy, regular
from latree.table import MemoryRows, Table
from latree.tree import Tree

_STATES = 4  # of the model whose posteriors are looked at
_SMOOTHING = 1.0
_TOLERANCE = 5e-5
_MAX_ITERATIONS = 60
_ROWS = 10_000  # no more are looked at
_LEAD = 1.5  # standard errors by which another pairing must be better
_SWEEPS = 10
_CLEARLY = 2.0  # standard errors by which another kind of tree must predict better


def rearranged(table: Table, tree: Tree, seed: int) -> tuple[Tree, int]:
    """Exchange subtrees across inner edges while that is worth it.

    Returns
    -------
    tree : Tree
        With the support of every inner edge.
    exchanges : int
    """
    block = table.some_rows(_ROWS, seed)
    some = Table(table.columns, MemoryRows(*block))
    done = 0
    for sweep in range(_SWEEPS + 1):
        found = verdicts(_model(some, tree, seed), block)
        if sweep == _SWEEPS:
            break
        moves: list[Verdict] = []
        touched: set[int] = set()
        for verdict in sorted(found.values(), key=lambda verdict: -verdict.rival_lead):
            around = {*verdict.ends, *verdict.tops}
            if verdict.rival_lead > _LEAD and not touched & around:
                moves.append(verdict)
                touched |= around
        if not moves:
            break
        for move in moves:
            tree = exchanged(tree, move)
        done += len(moves)
    support = np.full(len(tree.edges), np.nan)
    for edge, verdict in found.items():
        support[edge] = verdict.support
    return Tree(tree.names, tree.edges, support=support), done


def _model(table: Table, tree: Tree, seed: int) -> LatentTreeModel:
    sizes = regular(tree, table.n_states.tolist(), _STATES)
    monitor = ConvergenceMonitor(_TOLERANCE * mean_entropy(table), _MAX_ITERATIONS)
    return fit_model(table, tree, sizes, smoothing=_SMOOTHING, monitor=monitor, random_state=seed).model


def joined(table: Table, seed: int) -> Structure:
    """Join by distances, and rearrange."""
    start = neighbor_joining(table.names, finite(pairwise(table, covariance))).tree
    tree, exchanges = rearranged(table, start, seed)
    return Structure(tree, {"exchanges": exchanges})


@dataclass(frozen=True)
class Chosen(Structure):
    """A structure with the numbers of states and the smoothing that it was chosen with."""

    choice: Choice = field(kw_only=True)


def auto(
    table: Table, *, criterion: Criterion, n_states: int | None, random_state: RandomState, progress: Progress
) -> Chosen:
    """Learn the tree that an expert would pick.

    Parameters
    ----------
    table : Table
    criterion : {"held-out", "bic"}
        Whether to predict or to explain; see :mod:`latree.states`.
    n_states : int, optional
        Number of states of every hidden variable, where that is known.
    random_state : int, Generator or None
    progress : callable
    """
    rng = generator(random_state)
    seed = int(rng.integers(2**31))
    parts = held_out(table, rng)
    rivals = [latent_class(table.names)]
    if criterion == "held-out":
        rivals.append(hidden_chow_liu(table.names, pairwise(table, information)))
    steps = 2 + len(rivals)
    progress(0, steps)
    best = joined(table, seed)
    progress(1, steps)

    def chosen(structure: Structure) -> Choice:
        return choose(table, structure.tree, parts, criterion=criterion, n_states=n_states, random_state=seed)

    choice = chosen(best)
    progress(2, steps)
    for done, rival in enumerate(rivals, start=3):
        tried = chosen(rival)
        if is_better(tried.scores, choice.scores, errors=_CLEARLY):
            best, choice = rival, tried
        progress(done, steps)
    return Chosen(best.tree, best.facts, choice=choice)
