"""Expectation-maximisation (EM) for the conditional probability tables of a network.

The objective is the (weighted) log-likelihood plus ``smoothing`` times the sum of the logarithms of all probabilities:
a Dirichlet prior that adds ``smoothing`` rows to every cell of every table. No iteration lowers it.

An iteration is one call of :func:`step`, a function from a :class:`State` to the next one. :func:`iterate` repeats it
until a :class:`ConvergenceMonitor` stops it.

References
----------
Dempster, Laird & Rubin (1977): Maximum likelihood from incomplete data via the EM algorithm.
Salakhutdinov & Roweis (2003): Adaptive overrelaxed bound optimization methods.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

import numpy as np

from latree._util.arrays import FloatArray
from latree._util.progress import claim_progress
from latree.inference.messages import expected_counts
from latree.inference.network import Network
from latree.inference.patterns import PlanCache
from latree.settings import Settings
from latree.table import Block, Table

DEFAULT_SMOOTHING = 0.1

# The step length η is multiplied by this after every iteration that raised the objective.
_GROWTH = 1.2

# The step length η never exceeds this.
_MAX_LENGTH = 10.0

# The ratio θ_EM / θ that a longer step is made of is kept between 1 / _MAX_RATIO and _MAX_RATIO.
_MAX_RATIO = 10.0

# Blocks of fewer rows than this are worked on one after the other, because threads would wait for each other.
_MIN_ROWS_FOR_THREADS = 2**15

Tables: TypeAlias = tuple[FloatArray, ...]


@dataclass
class ConvergenceMonitor:
    """Records the objective and decides when EM stops; subclass it for another rule.

    Attributes
    ----------
    tol : float
        EM has converged when an iteration gains less than this, in nats per cell of the data.
    max_iter : int
        EM stops after this many iterations in any case.
    history : list of float
        The objective of the start and after each iteration.
    converged : bool
        Whether the tolerance was reached.

    Examples
    --------
    >>> from latree.model import ConvergenceMonitor
    >>> monitor = ConvergenceMonitor(tol=0.01)
    >>> [monitor.goes_on(objective, n_cells=100) for objective in (-250.0, -220.0, -219.5)]
    [True, True, False]
    >>> monitor.converged
    True
    """

    tol: float = Settings.tol
    max_iter: int = Settings.max_iter
    history: list[float] = field(default_factory=list)
    converged: bool = False

    def restarted(self) -> "ConvergenceMonitor":
        """Return a monitor with the same rules and no history."""
        return replace(self, history=[], converged=False)

    def goes_on(self, objective: float, n_cells: float) -> bool:
        """Record an objective and return whether another iteration is worth it."""
        self.converged = bool(self.history) and objective - self.history[-1] < self.tol * n_cells
        self.history.append(objective)
        return not self.converged and len(self.history) <= self.max_iter


class Expectation:
    """EM's E-step for the rows of a table. Message plans, which do not depend on the probabilities, are kept."""

    def __init__(self, table: Table, network: Network) -> None:
        self.table, self.network = table, network
        self.plans = PlanCache(network)
        self.n_cells = table.total_weight * table.n_columns

    def __call__(self, tables: Tables) -> tuple[list[FloatArray], float]:
        """Return the expected counts behind every conditional probability table, and the log-likelihood."""
        plans, network = self.plans, replace(self.network, tables=tables)

        def statistic(block: Block) -> tuple[FloatArray, ...]:
            return expected_counts(network, plans.plan_for(block), block.weights)

        in_turn = plans.max_rows < _MIN_ROWS_FOR_THREADS
        *counts, log_likelihood = self.table.distinct.sum(statistic, plans.max_rows, in_turn=in_turn)
        return counts, float(log_likelihood[0])


@dataclass(frozen=True)
class State:
    """Where EM stands after an iteration.

    Attributes
    ----------
    tables : tuple of array
        Conditional probability tables θ.
    counts : tuple of array
        Expected counts behind each of them, given the rows and θ.
    objective : float
        Of θ.
    length : float
        The length η of the next step; 1 is EM's own step.
    """

    tables: Tables
    counts: Tables
    objective: float
    length: float


def evaluate(expectation: Expectation, tables: Tables, smoothing: float, length: float = 1.0) -> State:
    """Do the E-step at some tables; this is also how EM begins."""
    counts, log_likelihood = expectation(tables)
    return State(tables, tuple(counts), log_likelihood + _log_prior(tables, smoothing), length)


def step(state: State, expectation: Expectation, smoothing: float) -> State:
    """Do one iteration: an M-step that is made longer while that raises the objective, and the E-step after it.

    EM's steps point the right way and are short. Adaptive overrelaxation (Salakhutdinov & Roweis 2003) makes each step
    longer than the one before until the objective falls.
    """
    # M-step: θ_EM, and η times as far as θ_EM.
    plain, overrelaxed = _maximise_all(state.counts, state.tables, smoothing, state.length)
    # E-step there. The next step is longer: η ← min(1.2 η, 10).
    found = evaluate(expectation, overrelaxed, smoothing, min(_GROWTH * state.length, _MAX_LENGTH))
    # Take back a step that lowers the objective: EM's own step cannot lower it. Then η ← 1.
    if found.objective < state.objective:
        found = evaluate(expectation, plain, smoothing, 1.0)
    return found


def iterate(expectation: Expectation, tables: Tables, smoothing: float, monitor: ConvergenceMonitor) -> State:
    """Take steps from some tables until the monitor stops them."""
    progress = claim_progress()
    state = evaluate(expectation, tables, smoothing)
    while monitor.goes_on(state.objective, expectation.n_cells):
        progress(len(monitor.history) - 1, monitor.max_iter)
        state = step(state, expectation, smoothing)
    progress(len(monitor.history) - 1, monitor.max_iter)
    return state


def _maximise_all(counts: Tables, old: Tables, smoothing: float, length: float) -> tuple[Tables, Tables]:
    """Return the tables after EM's own step, and after one that is ``length`` times as long.

    All nodes whose tables have the same shape are worked on at once.
    """
    nodes_by_shape: dict[tuple[int, ...], list[int]] = {}
    for node, table in enumerate(old):
        nodes_by_shape.setdefault(table.shape, []).append(node)
    plain: list[FloatArray] = [np.empty(0)] * len(old)
    overrelaxed = plain.copy()
    for nodes in nodes_by_shape.values():
        before = np.stack([old[node] for node in nodes])
        best = _maximise(np.stack([counts[node] for node in nodes]), before, smoothing)
        for node, own, longer in zip(nodes, best, _overrelax(best, before, length), strict=True):
            plain[node], overrelaxed[node] = own, longer
    return tuple(plain), tuple(overrelaxed)


def _maximise(counts: FloatArray, old: FloatArray, smoothing: float) -> FloatArray:
    """Do the M-step; a state of the parent that no row is in keeps its column."""
    # θ_EM[x, h] = (counts[x, h] + smoothing) / Σ_x (counts[x, h] + smoothing)
    smoothed = counts + smoothing
    total = smoothed.sum(axis=-2, keepdims=True)
    return np.where(total > 0, smoothed / np.where(total > 0, total, 1), old)


def _overrelax(new: FloatArray, old: FloatArray, length: float) -> FloatArray:
    """Go ``length`` times as far as EM's step goes from old to new, in the logarithms of the probabilities."""
    if length == 1:
        return new
    # log θ' = log θ + η (log θ_EM - log θ) + constant, that is, θ' ∝ θ_EM (θ_EM / θ)^(η - 1)
    ratio = np.divide(new, old, out=np.ones_like(new), where=old > 0)
    product = new * np.clip(ratio, 1 / _MAX_RATIO, _MAX_RATIO) ** (length - 1)
    return np.asarray(product / product.sum(axis=-2, keepdims=True))


def _log_prior(tables: Tables, smoothing: float) -> float:
    # smoothing · Σ log θ
    return smoothing * float(np.log(pack(tables)).sum()) if smoothing else 0.0


def pack(tables: Sequence[FloatArray]) -> FloatArray:
    """Return the numbers of several tables as one long array."""
    return np.concatenate([table.ravel() for table in tables])
