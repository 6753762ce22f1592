"""Fitting a model's tables to data by expectation-maximisation.

The objective is the (weighted) log-likelihood plus ``smoothing`` times the sum of the logarithms of all table entries:
a Dirichlet prior that adds ``smoothing`` rows to every cell of every table. No iteration lowers it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from latree.arrays import FloatArray, RandomState, generator
from latree.builders import Progress, no_progress
from latree.errors import InputError
from latree.messages import Network, expected_counts
from latree.model import LatentTreeModel, identity_table
from latree.table import Block, Table
from latree.tree import Tree

DEFAULT_SMOOTHING = 0.1
DEFAULT_RESTARTS = 1
DEFAULT_MAX_ITERATIONS = 200
DEFAULT_TOLERANCE = 1e-5

_FLOOR = 1e-3  # added to every share of a table that EM starts from: what is zero would stay zero


@dataclass
class ConvergenceMonitor:
    """Watches the objective and says when to stop; a caller may bring another one.

    Attributes
    ----------
    tolerance : float
        Stop when an iteration gains less than this, in nats a cell of the table.
    max_iterations : int
        Stop after so many iterations in any case.
    history : list of float
        The objective at the start of each iteration.
    converged : bool
        Whether the tolerance was reached.
    """

    tolerance: float = DEFAULT_TOLERANCE
    max_iterations: int = DEFAULT_MAX_ITERATIONS
    history: list[float] = field(default_factory=list)
    converged: bool = False

    def restarted(self) -> "ConvergenceMonitor":
        """Give a monitor with the same rules and no history."""
        return replace(self, history=[], converged=False)

    def goes_on(self, objective: float, n_cells: float) -> bool:
        """Take the objective of one more iteration; tell whether another one is worth it."""
        self.converged = bool(self.history) and objective - self.history[-1] < self.tolerance * n_cells
        self.history.append(objective)
        return not self.converged and len(self.history) <= self.max_iterations


@dataclass(frozen=True)
class Fit:
    """What EM found.

    Attributes
    ----------
    model : LatentTreeModel
    objective : float
        Log-likelihood plus the smoothing's part.
    monitor : ConvergenceMonitor
        How the best start went.
    objectives : tuple of float
        The final objective of every start.
    """

    model: LatentTreeModel
    objective: float
    monitor: ConvergenceMonitor
    objectives: tuple[float, ...]

    @property
    def iterations(self) -> int:
        """Number of times that the best start's tables were estimated anew."""
        return len(self.monitor.history) - 1


def fit_model(
    table: Table,
    tree: Tree,
    n_states: int | Sequence[int],
    *,
    smoothing: float = DEFAULT_SMOOTHING,
    restarts: int = DEFAULT_RESTARTS,
    monitor: ConvergenceMonitor | None = None,
    start: LatentTreeModel | None = None,
    random_state: RandomState = None,
    progress: Progress = no_progress,
) -> Fit:
    """Fit the tables of a latent tree model.

    Parameters
    ----------
    table : Table
    tree : Tree
        Over the table's columns.
    n_states : int or sequence of int
        States of every hidden variable, or of each.
    smoothing : float
        Pseudo-rows added to every cell of every table; 0 is maximum likelihood.
    restarts : int
        Number of starts; the best is kept.
    monitor : ConvergenceMonitor, optional
        When to stop.
    start : LatentTreeModel, optional
        Where to start first, instead of at random: a model on the same tree, with the same columns and numbers of
        states.
    random_state : int, Generator or None
    progress : callable
        Told the number of iterations done, and the most there can be.
    """
    monitor = monitor or ConvergenceMonitor()
    if start is not None and not (
        start.columns == table.columns
        and np.array_equal(start.tree.edges, tree.edges)
        and np.all(start.n_states[tree.n_observed :] == np.asarray(n_states))
    ):
        raise InputError("the model to start from has another tree, other columns or other numbers of states")
    rng = generator(random_state)
    best: Fit | None = None
    objectives = []
    for number in range(restarts):
        watch = monitor.restarted()

        def tell(done: int, number: int = number) -> None:
            progress(number * monitor.max_iterations + done, restarts * monitor.max_iterations)

        first = start if start is not None and number == 0 else random_start(table, tree, n_states, rng)
        tables, objective = _climb(table, first.network, smoothing, watch, tell)
        objectives.append(objective)
        if best is None or objective > best.objective:
            best = Fit(LatentTreeModel(tree, table.columns, tables), objective, watch, ())
    assert best is not None
    return Fit(best.model, best.objective, best.monitor, tuple(objectives))


def random_start(table: Table, tree: Tree, n_states: int | Sequence[int], random_state: RandomState) -> LatentTreeModel:
    """Draw a model to start from: neighbouring hidden variables mostly agree, columns lean on them a little.

    Agreement lets what one end of the tree sees reach the other from the first iteration on.
    """
    rng = generator(random_state)
    sizes = [*table.n_states.tolist(), *np.broadcast_to(np.asarray(n_states, dtype=np.intp), tree.n_hidden).tolist()]
    tables: list[FloatArray] = []
    frequency = frequencies(table)
    for node, parent in enumerate(tree.rooted().parent.tolist()):
        shape = (sizes[node], sizes[parent] if parent >= 0 else 1)
        if node < tree.n_observed:
            raw = frequency[node][:, None] * rng.uniform(0.5, 1.5, size=shape)
        else:
            raw = rng.dirichlet(np.ones(shape[0]), size=shape[1]).T
            if parent >= tree.n_observed:
                raw = 0.1 * raw + 0.9 * identity_table(*shape)
        tables.append(raw / raw.sum(axis=0))
    return LatentTreeModel(tree, table.columns, tuple(tables))


def start_from(table: Table, tree: Tree, edge_tables: Sequence[FloatArray]) -> LatentTreeModel:
    """Make a model to start from out of joint distributions of the two ends of every edge, none of them quite zero."""

    def joint(node: int, edge: int) -> FloatArray:
        """Give the joint distribution on an edge with one row a state of the node."""
        return edge_tables[edge] if tree.edges[edge, 0] == node else edge_tables[edge].T

    rooted = tree.rooted()
    tables: list[FloatArray] = []
    for node, frequency in enumerate([*frequencies(table), *[None] * tree.n_hidden]):
        if rooted.parent[node] >= 0:
            raw = joint(node, int(rooted.up[node]))
        elif frequency is not None:
            raw = frequency[:, None]
        else:
            raw = joint(node, tree.neighbors[node][0][1]).sum(axis=1, keepdims=True)
        shares = raw / np.maximum(raw.sum(axis=0), np.finfo(float).tiny)
        tables.append((shares + _FLOOR) / (shares + _FLOOR).sum(axis=0))
    return LatentTreeModel(tree, table.columns, tuple(tables))


def frequencies(table: Table) -> list[FloatArray]:
    """Count each column's states, and half a row more of each, so that none is held for impossible."""
    n_states = table.n_states

    def count(block: Block) -> tuple[FloatArray, ...]:
        states = [np.minimum(block.codes[:, j], n) for j, n in enumerate(n_states)]
        return tuple(np.bincount(x, block.weights, n + 1).astype(float) for x, n in zip(states, n_states, strict=True))

    counts = table.sum(count)
    return [(column[:-1] + 0.5) / (column[:-1] + 0.5).sum() for column in counts]


def _climb(
    table: Table, network: Network, smoothing: float, monitor: ConvergenceMonitor, tell: Callable[[int], None]
) -> tuple[tuple[FloatArray, ...], float]:
    """Iterate until the monitor stops it; give the tables that reached the last objective."""
    while True:
        current = network

        def statistic(block: Block, network: Network = current) -> tuple[FloatArray, ...]:
            return expected_counts(network, block.codes, block.weights)

        *counts, log_likelihood = table.sum(statistic)
        objective = float(log_likelihood[0]) + _log_prior(network.tables, smoothing)
        goes_on = monitor.goes_on(objective, table.total_weight * table.n_columns)
        tell(len(monitor.history) - 1)
        if not goes_on:
            return network.tables, objective
        tables = tuple(_maximise(c, old, smoothing) for c, old in zip(counts, network.tables, strict=True))
        network = replace(network, tables=tables)


def _log_prior(tables: Sequence[FloatArray], smoothing: float) -> float:
    return smoothing * sum(float(np.log(table).sum()) for table in tables) if smoothing else 0.0


def _maximise(counts: FloatArray, old: FloatArray, smoothing: float) -> FloatArray:
    """Give the table that fits its expected counts best; a state of the parent that no row is in keeps its column."""
    smoothed = counts + smoothing
    total = smoothed.sum(axis=0)
    return np.where(total > 0, smoothed / np.where(total > 0, total, 1), old)
