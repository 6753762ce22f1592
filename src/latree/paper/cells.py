"""Grids of independent cells, run by joblib's workers. Each result is saved in a file of its own at once.

An interrupted run continues where it stopped. The random numbers of a cell depend only on the seed of the run and the
name of the cell, so neither the number of workers nor the order in which they finish changes a result.
"""

import csv
import io
import json
import signal
import threading
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs

from latree._util.checkpoint import clear, prepare
from latree._util.files import made_parents, read_text, remove_empty, to_json, write_text
from latree._util.progress import claim_progress
from latree._util.words import plural
from latree._util.workers import n_threads, one_thread
from latree.errors import InputError

Row: TypeAlias = dict[str, Any]

_CELLS = "-cells"  # ending of the names of folders that hold the results of cells


@dataclass(frozen=True)
class Cell:
    """One piece of an experiment, such as one setting and sample size.

    Attributes
    ----------
    name : str
        Unique in its experiment; also the name of its file.
    function : callable
        From a random generator and the arguments to rows of the result. It must stand at the top level of a module, so
        that other processes can import it.
    arguments : dict
    """

    name: str
    function: Callable[..., list[Row]]
    arguments: dict[str, Any]


@dataclass(frozen=True)
class Run:
    """Where and how the paper's experiments run.

    Give it to :func:`latree.research.reproduce`. A run that was interrupted continues if it is started again with the
    same settings.

    Attributes
    ----------
    out : Path
        Folder of the results; it is made if it does not exist, and so are the folders that lead to it.
    seed : int
        Seed of the random numbers.
    quick : bool
        Whether to run a small version with few repeats, which takes about a minute.
    workers : int
        Number of worker processes. 0 means one per core, or the number of workers of the active joblib backend.
    checkpoint : Path or None
        Folder that holds finished cells until the run is finished. By default they stay in ``out``.

    Examples
    --------
    >>> from pathlib import Path
    >>> from latree.research import Run
    >>> run = Run(Path("results"), seed=1, quick=True)
    >>> run.workers                                 # 0: one worker per core
    0
    """

    out: Path
    seed: int = 0
    quick: bool = False
    workers: int = 0
    checkpoint: Path | None = None
    _files: list[Path] = field(default_factory=list, init=False, repr=False, compare=False)

    def prepare(self, **inputs: str) -> None:
        """Make the folders, or continue in those of a run with equal settings; inputs are checksums of input files."""
        settings = {"command": "reproduce", "seed": self.seed, "quick": self.quick}
        with made_parents(self.out):
            prepare(self.out, settings, inputs)
        if self.checkpoint is not None:
            prepare(self.checkpoint, settings, inputs)

    def rows(self, experiment: str, cells: Sequence[Cell]) -> list[Row]:
        """Run the cells that are not finished, and return the rows of all cells in their order."""
        progress = claim_progress()
        folder = (self.checkpoint or self.out) / f"{experiment}{_CELLS}"
        folder.mkdir(exist_ok=True)
        files = {cell.name: folder / f"{cell.name}.json" for cell in cells}
        self._files.extend(files.values())
        waiting = [cell for cell in cells if not files[cell.name].is_file()]
        done = len(cells) - len(waiting)
        progress(done, len(cells))
        for name, rows in self._results(experiment, waiting):
            write_text(files[name], to_json(rows))
            done += 1
            progress(done, len(cells))
        return [row for cell in cells for row in _read_rows(files[cell.name])]

    def _results(self, experiment: str, cells: Sequence[Cell]) -> Iterator[tuple[str, list[Row]]]:
        """Yield names and results of cells as they finish."""
        if not cells:
            return
        backend_jobs = effective_n_jobs(None)  # one, unless the caller has set a joblib backend
        workers = min(self.workers or (backend_jobs if backend_jobs > 1 else n_threads()), len(cells))
        work = (delayed(_work)(self.seed, experiment, cell, alone=workers == 1) for cell in cells)
        with _children_ignore_interrupts():
            results = Parallel(workers, return_as="generator_unordered")(work)
        with closing(results):
            yield from results

    def describe(self) -> str:
        """Return in words what is saved of an interrupted run."""
        folder = self.checkpoint or self.out
        finished = len(list(folder.glob(f"*{_CELLS}/*.json")))
        return f"{folder} keeps {plural(finished, 'finished part')}; run the same command again to continue"

    def finish(self) -> None:
        """Remove the checkpoint folder, if there is one; files that no experiment of this run wrote stay."""
        if self.checkpoint is None:
            return
        for path in self._files:
            path.unlink(missing_ok=True)
            remove_empty(path.parent)
        if not any(self.checkpoint.glob(f"*{_CELLS}")):  # parts of other experiments need the settings
            clear(self.checkpoint, [])


@contextmanager
def _children_ignore_interrupts() -> Iterator[None]:
    """Start processes that ignore Ctrl-C; this process receives it and ends them.

    They inherit that from their start. Otherwise Ctrl-C while they import modules would make each print a traceback.
    """
    if threading.current_thread() is not threading.main_thread():  # only the main thread can set signal handlers
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _work(seed: int, experiment: str, cell: Cell, alone: bool) -> tuple[str, list[Row]]:
    """Run a cell, with all threads if it is the only one that runs."""
    rng = np.random.default_rng([seed, zlib.crc32(f"{experiment}/{cell.name}".encode())])
    with nullcontext() if alone else one_thread():
        return cell.name, cell.function(rng, **cell.arguments)


def _read_rows(path: Path) -> list[Row]:
    try:
        rows: list[Row] = json.loads(read_text(path))
    except ValueError:
        raise InputError(f"{path}: damaged: remove this file, and run the same command again") from None
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
    """Return the mean and its standard error, which is zero for a single value."""
    array = np.asarray(values, dtype=float)
    return float(array.mean()), float(array.std(ddof=1) / np.sqrt(len(array))) if len(array) > 1 else 0.0
