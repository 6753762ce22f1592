"""Fitting a model's tables to data by expectation-maximisation.

The objective is the (weighted) log-likelihood plus ``smoothing`` times the sum of the logarithms of all table entries:
a Dirichlet prior that adds ``smoothing`` rows to every cell of every table. No iteration lowers it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256

import numpy as np
from numpy.typing import NDArray

from latree._util.arrays import CodeArray, FloatArray, RandomState, generator
from latree._util.checkpoint import NOTHING_KEPT, Arrays, Keeper
from latree._util.parallel import one_blas_thread
from latree._util.progress import Progress, no_progress
from latree.counts.contingency import column_counts
from latree.errors import InputError
from latree.inference.messages import TINY, Network, expected_counts, padded
from latree.inference.patterns import Plans
from latree.model import LatentTreeModel, identity_table
from latree.table import Block, Table
from latree.tree import Tree

DEFAULT_SMOOTHING = 0.1
DEFAULT_RESTARTS = 1
DEFAULT_MAX_ITERATIONS = 200
DEFAULT_TOLERANCE = 1e-5

_LONGER = 1.2  # by how much a step is longer than the one before
_LONGEST = 10.0
_FARTHEST = 10.0  # no share changes by more than this factor beyond EM's own step, times the length
_LEANING = 0.3  # how much columns lean towards the row that a state begins at
_SEED_ROWS = 2000  # rows that EM may start from are drawn from no more
_SHARED_ROWS = 2**15  # blocks of fewer rows are worked on one after the other: threads would wait for each other
_KIND = "fits"  # what climbs are called where they are kept
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
    keep: Keeper = NOTHING_KEPT,
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
    keep : Keeper
        Keeps every start's way, so that a run that was stopped can go on.
    """
    monitor = monitor or ConvergenceMonitor()
    if start is not None and not (
        start.columns == table.columns
        and np.array_equal(start.tree.edges, tree.edges)
        and np.all(start.n_states[tree.n_observed :] == np.asarray(n_states))
    ):
        raise InputError("the model to start from has another tree, other columns or other numbers of states")
    rng = generator(random_state)
    expectation: _Expectation | None = None
    best: Fit | None = None
    objectives = []
    for number in range(restarts):
        watch = monitor.restarted()

        def tell(done: int, number: int = number) -> None:
            progress(number * monitor.max_iterations + done, restarts * monitor.max_iterations)

        first = start if start is not None and number == 0 else random_start(table, tree, n_states, rng)
        expectation = expectation or _Expectation(table, first.network)
        with one_blas_thread():  # through all iterations: to set and lift the limit in each of them takes longer
            tables, objective = _climb(expectation, first.network, smoothing, watch, tell, keep)
        objectives.append(objective)
        if best is None or objective > best.objective:
            best = Fit(LatentTreeModel(tree, table.columns, tables), objective, watch, ())
    assert best is not None
    return Fit(best.model, best.objective, best.monitor, tuple(objectives))


def random_start(table: Table, tree: Tree, n_states: int | Sequence[int], random_state: RandomState) -> LatentTreeModel:
    """Draw a model to start from: neighbouring hidden variables mostly agree, columns lean towards rows of the table.

    Agreement lets what one end of the tree sees reach the other from the first iteration on. Each state begins at a row
    of its own, and rows unlike all those before are preferred (as k-means++ does), so that no two states begin alike
    while others are missed.
    """
    rng = generator(random_state)
    sizes = [*table.n_states.tolist(), *np.broadcast_to(np.asarray(n_states, dtype=np.intp), tree.n_hidden).tolist()]
    tables: list[FloatArray] = []
    frequency = frequencies(table)
    seeds = _unlike_rows(table, max(sizes[tree.n_observed :], default=1), rng)
    for node, parent in enumerate(tree.rooted().parent.tolist()):
        shape = (sizes[node], sizes[parent] if parent >= 0 else 1)
        if node < tree.n_observed and parent >= tree.n_observed:
            own = padded([np.eye(shape[0])])[np.minimum(seeds[: shape[1], node], shape[0])].T  # of a missing cell: ones
            raw = (1 - _LEANING) * frequency[node][:, None] + _LEANING * own / own.sum(axis=0)
        elif node < tree.n_observed:
            raw = frequency[node][:, None] * rng.uniform(0.5, 1.5, size=shape)
        else:
            raw = rng.dirichlet(np.ones(shape[0]), size=shape[1]).T
            raw = 0.1 * raw + 0.9 * (identity_table(*shape) if parent >= tree.n_observed else 1 / shape[0])
        tables.append(raw / raw.sum(axis=0))
    return LatentTreeModel(tree, table.columns, tuple(tables))


def _unlike_rows(table: Table, n_seeds: int, rng: np.random.Generator) -> CodeArray:
    """Draw rows with odds in proportion to their weight and to the squared number of cells that differ from the others.

    Rows that are alike count as one of their whole weight, so that neither their order nor repeating them matters.
    """
    some, weights, _ = table.subsample_block(_SEED_ROWS, int(rng.integers(2**31)))
    codes, which = np.unique(some, axis=0, return_inverse=True)
    weight = np.bincount(which, weights)
    chosen: list[int] = []
    unlike = np.full(len(codes), table.n_columns)
    for _ in range(n_seeds):
        odds = (unlike**2 + TINY) * weight
        chosen.append(int(rng.choice(len(codes), p=odds / odds.sum())))
        unlike = np.minimum(unlike, np.count_nonzero(codes != codes[chosen[-1]], axis=1))
    return np.asarray(codes[chosen])


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
    return [(counts + 0.5) / (counts + 0.5).sum() for counts in column_counts(table)]


class _Expectation:
    """EM's first step: expected counts of a table's rows. What the tables do not change is worked out once."""

    def __init__(self, table: Table, network: Network) -> None:
        self.plans = Plans(network)
        self.table = table
        self.n_cells = table.total_weight * table.n_columns

    def __call__(self, network: Network) -> tuple[list[FloatArray], float]:
        """Give the expected counts behind every table, and the log-likelihood."""
        plans = self.plans

        def statistic(block: Block) -> tuple[FloatArray, ...]:
            return expected_counts(network, plans.of(block), block.weights)

        in_turn = plans.most_rows < _SHARED_ROWS
        *counts, log_likelihood = self.table.distinct.sum(statistic, plans.most_rows, in_turn=in_turn)
        return counts, float(log_likelihood[0])


def _climb(
    expectation: _Expectation,
    network: Network,
    smoothing: float,
    monitor: ConvergenceMonitor,
    tell: Callable[[int], None],
    keep: Keeper,
) -> tuple[tuple[FloatArray, ...], float]:
    """Iterate until the monitor stops it; give the tables that reached the last objective.

    EM's steps point the right way and are short. Each is made longer than the one before while that pays (adaptive
    overrelaxation, Salakhutdinov & Roweis 2003); a step that would lower the objective is taken back to EM's own, which
    cannot. What was kept of the same climb is not done again.
    """
    number = keep.next_number(_KIND)
    start = {"start": _checksum(network.tables, smoothing, monitor)}
    plain, length, goes_on = network.tables, 1.0, True
    known = keep.load(_KIND, number, start)
    if known is not None:
        network = replace(network, tables=_unpacked(known["tables"], plain))
        plain, length, goes_on = _unpacked(known["plain"], plain), float(known["length"]), bool(known["goes_on"])
        monitor.history, monitor.converged = known["history"].tolist(), bool(known["converged"])
        tell(len(monitor.history) - 1)
    best = monitor.history[-1] if monitor.history else -np.inf
    while goes_on:
        counts, log_likelihood = expectation(network)
        objective = log_likelihood + _log_prior(network.tables, smoothing)
        if objective < best and length > 1:
            network, length = replace(network, tables=plain), 1.0
            continue
        goes_on = monitor.goes_on(objective, expectation.n_cells)
        tell(len(monitor.history) - 1)
        best = objective
        if goes_on:
            plain, farther = _steps(counts, network.tables, smoothing, length)
            network = replace(network, tables=farther)
            length = min(_LONGER * length, _LONGEST)
        if not goes_on or keep.is_due():
            state: Arrays = {"tables": _packed(network.tables), "plain": _packed(plain), **start}
            state |= {"history": np.array(monitor.history), "length": np.array(length)}
            state |= {"converged": np.array(monitor.converged), "goes_on": np.array(goes_on)}
            keep.save(_KIND, number, state, finished=not goes_on)
    return network.tables, best


def _checksum(tables: Sequence[FloatArray], smoothing: float, monitor: ConvergenceMonitor) -> NDArray[np.uint8]:
    """Give a checksum of what decides how a climb goes."""
    rules = np.array([smoothing, monitor.tolerance, monitor.max_iterations])
    return np.frombuffer(sha256(_packed([*tables, rules]).tobytes()).digest(), dtype=np.uint8)


def _packed(tables: Sequence[FloatArray]) -> FloatArray:
    return np.concatenate([table.ravel() for table in tables])


def _unpacked(packed: FloatArray, like: Sequence[FloatArray]) -> tuple[FloatArray, ...]:
    """Part an array into tables of the same shapes as others."""
    parts = np.split(packed, np.cumsum([table.size for table in like])[:-1])
    return tuple(part.reshape(table.shape) for part, table in zip(parts, like, strict=True))


def _steps(
    counts: Sequence[FloatArray], old: Sequence[FloatArray], smoothing: float, length: float
) -> tuple[tuple[FloatArray, ...], tuple[FloatArray, ...]]:
    """Give the tables after EM's own step, and after one so many times as long.

    All nodes with tables of the same shape are worked on at once.
    """
    places: dict[tuple[int, ...], list[int]] = {}
    for place, table in enumerate(old):
        places.setdefault(table.shape, []).append(place)
    plain: list[FloatArray] = [np.empty(0)] * len(old)
    farther = plain.copy()
    for some in places.values():
        before = np.stack([old[place] for place in some])
        best = _maximise(np.stack([counts[place] for place in some]), before, smoothing)
        for place, own, longer in zip(some, best, _farther(best, before, length), strict=True):
            plain[place], farther[place] = own, longer
    return tuple(plain), tuple(farther)


def _farther(new: FloatArray, old: FloatArray, length: float) -> FloatArray:
    """Go on in the direction of a step, in the logarithms of the shares, so many times as far."""
    if length == 1:
        return new
    ratio = np.divide(new, old, out=np.ones_like(new), where=old > 0)
    shares = new * np.clip(ratio, 1 / _FARTHEST, _FARTHEST) ** (length - 1)
    return np.asarray(shares / shares.sum(axis=-2, keepdims=True))


def _log_prior(tables: Sequence[FloatArray], smoothing: float) -> float:
    return smoothing * float(np.log(_packed(tables)).sum()) if smoothing else 0.0


def _maximise(counts: FloatArray, old: FloatArray, smoothing: float) -> FloatArray:
    """Give the tables that fit their expected counts best; a state of the parent that no row is in keeps its column."""
    smoothed = counts + smoothing
    total = smoothed.sum(axis=-2, keepdims=True)
    return np.where(total > 0, smoothed / np.where(total > 0, total, 1), old)
