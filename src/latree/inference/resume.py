"""EM with progress and checkpoints: a fit that was stopped goes on where it was, and ends with the same bits."""

from collections.abc import Sequence
from functools import partial
from hashlib import sha256

import numpy as np
from numpy.typing import NDArray

from latree._util.arrays import FloatArray
from latree._util.checkpoint import Arrays, Keeper
from latree._util.progress import Progress
from latree.inference.em import ConvergenceMonitor, Expectation, State, Tables, evaluate, iterate, pack, step

_KIND = "fits"  # the kind of work that EM's checkpoints are filed under


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
        progress(len(monitor.history) - 1, monitor.max_iterations)

    def save(state: State, finished: bool) -> None:
        arrays = _to_arrays(state, monitor) | {"finished": np.array(finished)}
        keep.save(_KIND, number, arrays | start, finished=finished)

    def on_state(state: State) -> None:
        report()
        if keep.is_due():
            save(state, finished=False)

    known = keep.load(_KIND, number, start)
    if known is None:
        state = evaluate(expectation, tables, smoothing)
    else:
        state = _from_arrays(known, monitor, like=tables)
        report()
        if known["finished"]:
            return state
        state = next_state(state)  # the monitor has seen the state that was kept
    state = iterate(state, next_state, monitor, expectation.n_cells, on_state)
    report()
    save(state, finished=True)
    return state


def _checksum(tables: Tables, smoothing: float, monitor: ConvergenceMonitor) -> NDArray[np.uint8]:
    """Return a checksum of all that decides how EM goes on the same rows."""
    rules = np.array([smoothing, monitor.tolerance, monitor.max_iterations])
    return np.frombuffer(sha256(pack([*tables, rules]).tobytes()).digest(), dtype=np.uint8)


def _to_arrays(state: State, monitor: ConvergenceMonitor) -> Arrays:
    return {
        "tables": pack(state.tables),
        "counts": pack(state.counts),
        "length": np.array(state.length),
        "history": np.array(monitor.history),
        "converged": np.array(monitor.converged),
    }


def _from_arrays(arrays: Arrays, monitor: ConvergenceMonitor, like: Tables) -> State:
    monitor.history, monitor.converged = arrays["history"].tolist(), bool(arrays["converged"])
    tables, counts = _unpack(arrays["tables"], like), _unpack(arrays["counts"], like)
    return State(tables, counts, monitor.history[-1], float(arrays["length"]))


def _unpack(packed: FloatArray, like: Sequence[FloatArray]) -> Tables:
    """Split an array into tables of the same shapes as others."""
    parts = np.split(packed, np.cumsum([table.size for table in like])[:-1])
    return tuple(part.reshape(table.shape) for part, table in zip(parts, like, strict=True))
