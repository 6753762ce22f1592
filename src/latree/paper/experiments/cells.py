"""Grids of independent cells: run by joblib's workers, each result kept in a file of its own as soon as it is there.

An interrupted run goes on where it stopped. A cell's random numbers depend on the run's seed and the cell's name alone,
so that neither the number of workers nor the order in which they finish changes a result.
"""

import csv
import io
import json
import signal
import threading
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs

from latree._util.checkpoint import clear, prepare
from latree._util.files import read_text, to_json, write_text
from latree._util.parallel import n_threads, one_thread
from latree._util.progress import Progress, no_progress
from latree.errors import InputError

Row: TypeAlias = dict[str, Any]

_CELLS = "-cells"  # the end of the names of folders of cells


@dataclass(frozen=True)
class Cell:
    """A piece of an experiment.

    Attributes
    ----------
    name : str
        Unique in its experiment; also the name of its file.
    function : callable
        From a random generator and the arguments to rows of the result. At the top level of a module, so that another
        process finds it.
    arguments : dict
    """

    name: str
    function: Callable[..., list[Row]]
    arguments: dict[str, Any]


@dataclass(frozen=True)
class Run:
    """Where and how experiments run.

    Attributes
    ----------
    out : Path
        Folder of the results.
    seed : int
    quick : bool
        Whether few repeats are enough.
    workers : int
        Processes at once; 0 for one a core, or for as many as the backend has that joblib was told to use.
    checkpoint : Path or None
        Folder that keeps finished cells until all is done; the results' own by default, which keeps them for good.
    """

    out: Path
    seed: int = 0
    quick: bool = False
    workers: int = 0
    checkpoint: Path | None = None

    def prepare(self, **inputs: str) -> None:
        """Make the folders, or go on in those that an equal run left; inputs are checksums of what the run reads."""
        settings = {"command": "reproduce", "seed": self.seed, "quick": self.quick}
        prepare(self.out, settings, inputs)
        if self.checkpoint is not None:
            prepare(self.checkpoint, settings, inputs)

    def rows(self, experiment: str, cells: Sequence[Cell], progress: Progress = no_progress) -> list[Row]:
        """Run what is not there yet, and give all rows in the order of the cells."""
        folder = (self.checkpoint or self.out) / f"{experiment}{_CELLS}"
        folder.mkdir(exist_ok=True)
        files = {cell.name: folder / f"{cell.name}.json" for cell in cells}
        waiting = [cell for cell in cells if not files[cell.name].is_file()]
        done = len(cells) - len(waiting)
        progress(done, len(cells))
        for name, rows in self._results(experiment, waiting):
            write_text(files[name], to_json(rows))
            done += 1
            progress(done, len(cells))
        return [row for cell in cells for row in _read_rows(files[cell.name])]

    def _results(self, experiment: str, cells: Sequence[Cell]) -> Iterator[tuple[str, list[Row]]]:
        """Give cells' names and results as they come."""
        if not cells:
            return
        told = effective_n_jobs(None)  # one where nobody told joblib anything
        workers = min(self.workers or (told if told > 1 else n_threads()), len(cells))
        work = (delayed(_work)(self.seed, experiment, cell, alone=workers == 1) for cell in cells)
        with _deaf_children():
            results = Parallel(workers, return_as="generator_unordered")(work)
        with closing(results):
            yield from results

    def kept(self) -> str:
        """Say in words what a run that was stopped leaves behind."""
        folder = self.checkpoint or self.out
        finished = len(list(folder.glob(f"*{_CELLS}/*.json")))
        return f"{folder} keeps {finished} finished parts; the same command goes on there"

    def finish(self) -> None:
        """Remove the checkpoint, if there is one beside the results."""
        if self.checkpoint is None:
            return
        for folder in self.checkpoint.glob(f"*{_CELLS}"):
            clear(folder, "*.json")
        clear(self.checkpoint)


@contextmanager
def _deaf_children() -> Iterator[None]:
    """Have processes that are started leave Ctrl-C to this one, which then ends them.

    They inherit that from the start: a signal while they still import modules would make each print a traceback.
    """
    if threading.current_thread() is not threading.main_thread():  # which alone is told of signals
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _work(seed: int, experiment: str, cell: Cell, alone: bool) -> tuple[str, list[Row]]:
    """Run a cell, with all threads if no other runs at the same time."""
    rng = np.random.default_rng([seed, zlib.crc32(f"{experiment}/{cell.name}".encode())])
    with nullcontext() if alone else one_thread():
        return cell.name, cell.function(rng, **cell.arguments)


def _read_rows(path: Path) -> list[Row]:
    try:
        rows: list[Row] = json.loads(read_text(path))
    except ValueError:
        raise InputError(f"{path}: damaged; remove this file, and that part of the work is done again") from None
    return rows


def to_csv(rows: Sequence[Row]) -> str:
    """Format rows, which all have the same keys, as CSV; floats with six digits."""
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    for row in rows:
        writer.writerow({key: f"{x:.6g}" if isinstance(x, float) else x for key, x in row.items()})
    return text.getvalue()


def mean_and_error(values: Sequence[float]) -> tuple[float, float]:
    """Give the mean and its standard error; an error of zero for a single value."""
    array = np.asarray(values, dtype=float)
    return float(array.mean()), float(array.std(ddof=1) / np.sqrt(len(array))) if len(array) > 1 else 0.0
