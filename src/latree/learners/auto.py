"""The default learner: joining by a distance that needs no number of states, rearranging by soft evidence.

To predict, the joined tree is one of several candidates (:mod:`latree.learners.predict`).
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import accumulate
from itertools import pairwise as spans

import numpy as np

from latree._util.checkpoint import NOTHING_KEPT, Keeper
from latree._util.progress import WHOLE, Attempts, Progress, no_progress, part_of
from latree.counts.distances import chance, covariance, pairwise_all
from latree.learners.independent import independent
from latree.learners.neighbor_joining import neighbor_joining
from latree.learners.predict import predict
from latree.learners.rearrange import Verdict, Views, exchanged
from latree.learners.structure import Context, Structure
from latree.learners.support import bootstrap_trees, with_support
from latree.model import ConvergenceMonitor, LatentTreeModel, fit_model
from latree.model.heldout import held_out
from latree.model.states import MAX_ITERATIONS, cap_states, choose, rough_tolerance
from latree.settings import Settings
from latree.table import Table
from latree.table.memory import MemoryRows
from latree.tree import Tree

_STATES = 4  # of the model whose posteriors are looked at
_SMOOTHING = 1.0
_ROWS = 10_000  # the most rows whose posteriors are computed
_VIEWS = 2**27  # the most numbers that these posteriors may take: fewer rows where columns have many states
_LEAD = 1.5  # standard errors by which another pairing must be better
_SWEEPS = 10
_REPLICATES = 50  # bootstrap replicates for the support of the edges
_SUPPORT_ROWS = 50_000  # bootstrap replicates are drawn from at most this many rows
_FEW_REPLICATES = 20  # bootstrap replicates for tables of many columns
_MANY_COLUMNS = 200
_CHANCE = 0.01  # probability with which independent columns may be taken for dependent
_INDEPENDENT = 0.05  # sides of an edge whose covariance is more probable than this by chance may be independent

# How much of the time each stage takes, about, on tables of 200 to 1000 columns: what is told on the way.
_SHARES = {"joining": 0.02, "rearranging": 0.08, "resampling": 0.2, "choosing": 0.7}


@dataclass(frozen=True)
class Rearranged:
    """A tree that no exchange improves.

    Attributes
    ----------
    tree : Tree
        With the support of every inner edge.
    exchanges : int
    independent : tuple of int
        The edges whose two sides seem to be independent of each other.
    """

    tree: Tree
    exchanges: int
    independent: tuple[int, ...]


def joined(table: Table, progress: Progress = no_progress) -> Structure:
    """Join by covariances all columns that show any dependence; the others stay by themselves.

    A column is left alone if chance would show a pair as dependent as its closest one in more than one table in a
    hundred.
    """
    d = table.n_columns
    p_values, distance = pairwise_all(table, [chance, covariance], progress)
    np.fill_diagonal(p_values, 1)
    columns = np.flatnonzero(p_values.min(axis=1) * d * (d - 1) / 2 < _CHANCE)
    if len(columns) < 2:
        return independent(table.names)
    names = table.names
    tree = neighbor_joining([names[column] for column in columns], distance[np.ix_(columns, columns)]).tree
    moved = np.array([*columns, *range(d, d + tree.n_hidden)])
    return Structure(Tree(names, moved[tree.edges]))


def rearranged(
    table: Table, tree: Tree, seed: int, progress: Progress = no_progress, keep: Keeper = NOTHING_KEPT
) -> Rearranged:
    """Exchange subtrees across inner edges while that is worth it."""
    block = table.subsample_block(min(_ROWS, _VIEWS // int(table.n_states.sum())), seed)
    some = Table(table.columns, MemoryRows.from_block(block))
    exchanges = 0
    attempts = Attempts(progress)
    for sweep in range(_SWEEPS + 1):
        views = Views(_model(some, tree, seed, attempts.within, keep), block)
        found = views.verdicts()
        attempts.end()
        moves = _apart(found.values()) if sweep < _SWEEPS else []
        if not moves:
            break
        for move in moves:
            tree = exchanged(tree, move)
        exchanges += len(moves)
    support = np.full(len(tree.edges), np.nan)
    for edge, verdict in found.items():
        support[edge] = verdict.support
    supported = Tree(tree.names, tree.edges, support=support)
    return Rearranged(supported, exchanges, tuple(views.independent_edges(_INDEPENDENT)))


def supported(
    table: Table, tree: Tree, start: Tree, seed: int, progress: Progress = no_progress, keep: Keeper = NOTHING_KEPT
) -> Tree:
    """Return the tree with bootstrap support: the share of resampled tables whose joined tree has the same edge.

    Edges that came about by exchanges, which joining does not make, keep the support of the exchange.
    """
    replicates = _REPLICATES if table.n_columns <= _MANY_COLUMNS else _FEW_REPLICATES
    some = table.subsample(_SUPPORT_ROWS, seed)
    trees = bootstrap_trees(some, lambda drawn, _: joined(drawn).tree, replicates, seed, progress, keep, "trees")
    counted = with_support(tree, trees)
    old = np.array([split in start.splits for split in tree.edge_splits], dtype=bool)
    return Tree(tree.names, tree.edges, tree.lengths, np.where(old, counted.support, tree.support))


def _apart(found: Iterable[Verdict]) -> list[Verdict]:
    """Return the exchanges that pay, the best first, no two of which share a node."""
    moves: list[Verdict] = []
    touched: set[int] = set()
    for verdict in sorted(found, key=lambda verdict: -verdict.rival_lead):
        around = {*verdict.ends, *verdict.tops}
        if verdict.rival_lead > _LEAD and not touched & around:
            moves.append(verdict)
            touched |= around
    return moves


def _model(table: Table, tree: Tree, seed: int, progress: Progress, keep: Keeper) -> LatentTreeModel:
    sizes = cap_states(tree, table.n_states.tolist(), _STATES)
    monitor = ConvergenceMonitor(rough_tolerance(table), MAX_ITERATIONS)
    return fit_model(
        table,
        tree,
        sizes,
        smoothing=_SMOOTHING,
        monitor=monitor,
        random_state=seed,
        progress=progress,
        keep=keep,
    ).model


def auto(table: Table, settings: Settings, context: Context) -> Structure:
    """Learn the tree that an expert would choose, with its numbers of states and smoothing."""
    seed, progress = int(context.rng.integers(2**31)), context.progress
    ends = [round(WHOLE * share) for share in accumulate(_SHARES.values())]
    told = {stage: part_of(progress, *span) for stage, span in zip(_SHARES, spans([0, *ends]), strict=True)}
    progress(0, WHOLE)
    tree = joined(table, told["joining"]).tree
    facts: dict[str, int] = {}
    if len(tree.edges):
        start = rearranged(table, tree, seed, told["rearranging"], context.keep)
        tree, facts = (
            supported(table, start.tree, tree, seed, told["resampling"], context.keep),
            {"exchanges": start.exchanges},
        )
    choosing = replace(context, progress=told["choosing"])
    if settings.goal == "predict" and settings.resolve == "tested":
        found = predict(table, [tree] if len(tree.edges) else [], settings, choosing)
    else:
        choice = choose(
            table,
            tree,
            held_out(table, context.rng),
            n_states=settings.n_states,
            smoothing=settings.smoothing,
            random_state=seed,
            progress=choosing.progress,
            keep=context.keep,
        )
        found = Structure(tree, facts, choice=choice)
    progress(WHOLE, WHOLE)
    return found
