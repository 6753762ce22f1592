"""Grids of independent cells: run by all cores, each result kept in a file of its own as soon as it is there.

An interrupted run goes on where it stopped. A cell's random numbers depend on the run's seed and the cell's name alone,
so that neither the number of workers nor the order in which they finish changes a result.
"""

import csv
import io
import json
import multiprocessing
import signal
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from multiprocessing.pool import Pool
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from latree import __version__
from latree.builders import Progress, no_progress
from latree.errors import InputError
from latree.files import read_text, to_json, write_text
from latree.parallel import n_threads, use_threads

Row: TypeAlias = dict[str, Any]


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
    """Where and how experiments run."""

    out: Path
    seed: int = 0
    quick: bool = False
    workers: int = 0  # 0: one a core

    def prepare(self, **inputs: str) -> None:
        """Make the folder, or go on in one that an equal run left; inputs are checksums of what the run reads."""
        settings = {"latree": __version__, "seed": self.seed, "quick": self.quick, **inputs}
        note = self.out / "settings.json"
        if note.is_file():
            known = json.loads(read_text(note))  # perhaps of another experiment, without these inputs
            for name, value in settings.items():
                if known.setdefault(name, value) != value:
                    raise InputError(
                        f"{self.out}: holds results with another {name} ({known[name]!r:.30}, now {value!r:.30}); "
                        "choose another folder"
                    )
            settings = known
        elif self.out.exists() and (not self.out.is_dir() or any(self.out.iterdir())):
            raise InputError(f"{self.out}: exists and holds something else; choose another folder")
        elif not self.out.parent.is_dir():
            raise InputError(f"{self.out}: the folder {self.out.parent} does not exist")
        self.out.mkdir(exist_ok=True)
        write_text(note, to_json(settings))

    def rows(self, experiment: str, cells: Sequence[Cell], progress: Progress = no_progress) -> list[Row]:
        """Run what is not there yet, and give all rows in the order of the cells."""
        folder = self.out / f"{experiment}-cells"
        folder.mkdir(exist_ok=True)
        waiting = [cell for cell in cells if not (folder / f"{cell.name}.json").is_file()]
        progress(len(cells) - len(waiting), len(cells))
        workers = min(self.workers or n_threads(), len(waiting))
        tasks = [(self.seed, experiment, cell, folder) for cell in waiting]
        if workers > 1:
            with _pool(workers) as pool:
                for done, _ in enumerate(pool.imap_unordered(_work, tasks), start=1):
                    progress(len(cells) - len(waiting) + done, len(cells))
        else:
            for done, task in enumerate(tasks, start=1):
                _work(task)
                progress(len(cells) - len(waiting) + done, len(cells))
        return [row for cell in cells for row in json.loads(read_text(folder / f"{cell.name}.json"))]


def _pool(workers: int) -> Pool:
    """Start processes that leave Ctrl-C to this one, which then ends them.

    They inherit that from the start: a signal while they still import modules would make each print a traceback.
    """
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        # A fresh interpreter each: forked ones would inherit locks that threads of this one hold.
        return multiprocessing.get_context("spawn").Pool(workers, use_threads, (1,))
    finally:
        signal.signal(signal.SIGINT, before)


def _work(task: tuple[int, str, Cell, Path]) -> None:
    seed, experiment, cell, folder = task
    rng = np.random.default_rng([seed, zlib.crc32(f"{experiment}/{cell.name}".encode())])
    write_text(folder / f"{cell.name}.json", to_json(cell.function(rng, **cell.arguments)))


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
