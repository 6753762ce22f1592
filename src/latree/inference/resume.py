"""EM with progress and checkpoints: a fit that was stopped goes on where it was, and ends with the same bits."""

from collections.abc import Sequence
from functools import partial
from hashlib import sha256
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from latree._util.arrays import FloatArray
from latree._util.checkpoint import Arrays, Keeper
from latree._util.progress import Progress
from latree.inference.em import ConvergenceMonitor, Expectation, State, Tables, evaluate, iterate, pack, step

_KIND = "fits"  # the kind of work that EM's checkpoints are filed under

# Probabilities of a checkpoint add up to one within this.
_ROUNDING = 1e-6


def run_em(
    expectation: Expectation,
    tables: Tables,
    smoothing: float,
    monitor: ConvergenceMonitor,
    progress: Progress,
    keep: Keeper,
) -> State:
    """Run EM from some tables to the end, or from the last checkpoint of the same fit.

    Parameters
    ----------
    expectation : Expectation
    tables : tuple of array
        Where EM starts.
    smoothing : float
    monitor : ConvergenceMonitor
        New; it has the whole history in the end.
    progress : callable
        Called with the number of iterations done, and the largest possible number.
    keep : Keeper
        Keeps the state every few seconds, and the last one.
    """
    number = keep.next_number(_KIND)
    start = {"start": _checksum(tables, smoothing, monitor)}
    next_state = partial(step, expectation=expectation, smoothing=smoothing)

    def report() -> None:
        progress(len(monitor.history) - 1, monitor.max_iter)

    def save(state: State, finished: bool) -> None:
        arrays = _to_arrays(state, monitor) | {"finished": np.array(finished)}
        keep.save(_KIND, number, arrays | start, finished=finished)

    def on_state(state: State) -> None:
        report()
        if keep.is_due():
            save(state, finished=False)

    known = keep.load(_KIND, number, partial(_from_arrays, like=tables), start)
    if known is None:
        state = evaluate(expectation, tables, smoothing)
    else:
        state = known.state
        monitor.history, monitor.converged = known.history, known.converged
        report()
        if known.finished:
            return state
        state = next_state(state)  # the monitor has seen the state that was kept
    state = iterate(state, next_state, monitor, expectation.n_cells, on_state)
    report()
    save(state, finished=True)
    return state


def _checksum(tables: Tables, smoothing: float, monitor: ConvergenceMonitor) -> NDArray[np.uint8]:
    """Return a checksum of all that decides how EM goes on the same rows."""
    rules = np.array([smoothing, monitor.tol, monitor.max_iter])
    return np.frombuffer(sha256(pack([*tables, rules]).tobytes()).digest(), dtype=np.uint8)


def _to_arrays(state: State, monitor: ConvergenceMonitor) -> Arrays:
    return {
        "tables": pack(state.tables),
        "counts": pack(state.counts),
        "length": np.array(state.length),
        "history": np.array(monitor.history),
        "converged": np.array(monitor.converged),
    }


class _Kept(NamedTuple):
    """What a checkpoint says about a fit."""

    state: State
    history: list[float]
    converged: bool
    finished: bool


def _from_arrays(arrays: Arrays, like: Tables) -> _Kept:
    """Read a state of EM, trusting none of it; raise if it is not one of tables like these."""
    tables, counts = _unpack(arrays["tables"], like), _unpack(arrays["counts"], like)
    history, length = arrays["history"], float(arrays["length"])
    converged, finished = arrays["converged"].item(), arrays["finished"].item()
    if not all(np.allclose(table.sum(axis=0), 1, rtol=0, atol=_ROUNDING) for table in tables):
        raise ValueError("not probabilities")
    if any(array.min() < 0 or not np.isfinite(array).all() for array in (*tables, *counts)):
        raise ValueError("not probabilities and counts")
    if history.ndim != 1 or history.dtype != np.float64 or np.isnan(history).any() or (history == np.inf).any():
        raise ValueError("not a history of objectives")
    if not 1 <= length < np.inf or type(converged) is not bool or type(finished) is not bool:
        raise ValueError("not a state of EM")
    return _Kept(State(tables, counts, float(history[-1]), length), history.tolist(), converged, finished)


def _unpack(packed: FloatArray, like: Sequence[FloatArray]) -> Tables:
    """Split an array into tables of the same shapes as others."""
    if packed.dtype != np.float64 or packed.shape != (sum(table.size for table in like),):
        raise ValueError("not numbers of these tables")
    parts = np.split(packed, np.cumsum([table.size for table in like])[:-1])
    return tuple(part.reshape(table.shape) for part, table in zip(parts, like, strict=True))
