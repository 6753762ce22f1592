"""Fitting a model to a table: EM on a tree that is known."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from latree._util.arrays import RandomState
from latree._util.checkpoint import NOTHING_KEPT, Keeper
from latree._util.parallel import one_blas_thread
from latree._util.progress import Progress, no_progress
from latree.errors import InputError
from latree.inference.em import DEFAULT_SMOOTHING, ConvergenceMonitor, Expectation
from latree.inference.network import Network
from latree.inference.resume import run_em
from latree.inference.starts import random_start
from latree.model.model import LatentTreeModel
from latree.table import Table
from latree.tree import Tree


@dataclass(frozen=True)
class Fit:
    """A fitted model, and how EM got there.

    Attributes
    ----------
    model : LatentTreeModel
    objective : float
        Log-likelihood plus the log prior of the smoothing, ``smoothing * Σ log θ`` over all probabilities θ.
    monitor : ConvergenceMonitor
        With the objective's history, and whether EM converged.
    """

    model: LatentTreeModel
    objective: float
    monitor: ConvergenceMonitor

    @property
    def iterations(self) -> int:
        """Number of iterations."""
        return len(self.monitor.history) - 1


def fit_model(
    table: Table,
    tree: Tree,
    n_states: int | Sequence[int],
    *,
    smoothing: float = DEFAULT_SMOOTHING,
    monitor: ConvergenceMonitor | None = None,
    start: LatentTreeModel | None = None,
    random_state: RandomState = None,
    progress: Progress = no_progress,
    keep: Keeper = NOTHING_KEPT,
) -> Fit:
    """Fit the conditional probability tables of a model on a known tree, by expectation-maximisation (EM).

    Use it when tree and numbers of states are given. :class:`latree.LatentTree` finds them as well. EM climbs to a
    local optimum: for a better one, fit from several seeds and keep the fit with the largest ``objective``.

    Parameters
    ----------
    table : Table
    tree : Tree
        Over the table's columns.
    n_states : int or sequence of int
        Number of states of every hidden variable, or of each.
    smoothing : float
        Rows added to every cell of every conditional probability table; 0 is maximum likelihood.
    monitor : ConvergenceMonitor, optional
        Decides when to stop.
    start : LatentTreeModel, optional
        Where to start instead of at random: a model with the same tree, columns and numbers of states.
    random_state : int, Generator or None
        Seed of the random start.
    progress : callable
        Called with the number of iterations done, and the largest possible number.
    keep : Keeper
        Keeps EM's state, so that a run that was stopped can go on.

    Returns
    -------
    Fit

    Examples
    --------
    >>> import latree
    >>> from latree.model import fit_model
    >>> tree = latree.random_tree(5, random_state=0)
    >>> table = latree.random_model(tree, n_states=2, random_state=0).sample(300, random_state=0)
    >>> fit = fit_model(table, tree, n_states=2, random_state=0)
    >>> fit.model
    <LatentTreeModel: 5 observed, 3 hidden, 15 parameters>
    >>> fit.monitor.converged
    True
    """
    if start is not None and not (
        start.columns == table.columns
        and np.array_equal(start.tree.edges, tree.edges)
        and np.all(start.n_states[tree.n_observed :] == np.asarray(n_states))
    ):
        raise InputError("the model to start from has another tree, other columns or other numbers of states")
    monitor = (monitor or ConvergenceMonitor()).restarted()
    tables = start.tables if start is not None else random_start(table, tree, n_states, random_state)
    expectation = Expectation(table, Network.on_tree(tree, tables))
    with one_blas_thread():  # around all iterations: setting and lifting the limit in each of them takes longer
        state = run_em(expectation, tables, smoothing, monitor, progress, keep)
    return Fit(LatentTreeModel(tree, table.columns, state.tables), state.objective, monitor)
