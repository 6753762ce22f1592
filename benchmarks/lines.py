"""Benchmarks that print one line for each setting: the means over its tables, as soon as they are known."""

import csv
from collections.abc import Callable, Iterable
from contextlib import nullcontext
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from joblib import Parallel, delayed

from latree._util.workers import one_thread
from truth import Row

Task: TypeAlias = Callable[[], Row]
Settings: TypeAlias = dict[str, list[Task]]


class Shown(NamedTuple):
    """A column of the printed table."""

    name: str
    value: Callable[[list[Row]], Any]
    form: str = ".2f"
    width: int = 8

    def of(self, rows: list[Row]) -> str:
        """Return the cell for the rows of one setting."""
        value = self.value(rows)
        return value if isinstance(value, str) else "-" if np.isnan(value) else format(value, self.form)


def mean(key: str) -> Callable[[list[Row]], float]:
    return lambda rows: float(np.mean([row[key] for row in rows]))


def ratio(part: str, whole: str) -> Callable[[list[Row]], float]:
    """Return the share of all tables together; NaN where there is nothing to share."""

    def share(rows: list[Row]) -> float:
        total = sum(row[whole] for row in rows)
        return sum(row[part] for row in rows) / total if total else np.nan

    return share


def each(key: str) -> Callable[[list[Row]], str]:
    """Show the values of single rows as they are."""
    return lambda rows: " ".join(str(row[key]) for row in rows)


def run(settings: Settings, columns: Iterable[Shown], jobs: int = 1, path: Path | None = None) -> None:
    """Run the tasks of all settings and print one line for each setting, as soon as its last task ends.

    Parameters
    ----------
    settings : dict
        For the name of each setting its tasks: functions that return one row of results.
    columns : iterable of Shown
    jobs : int
        Number of processes.
    path : Path, optional
        CSV file for the rows of all tasks. It is written anew after every setting.
    """
    columns = list(columns)
    widths = [max(column.width, len(column.name) + 2) for column in columns]
    label = max(map(len, settings), default=0) + 2
    header = "".join(f"{column.name:>{width}}" for column, width in zip(columns, widths, strict=True))
    print(f"{'':{label}}{header}", flush=True)
    tasks = [delayed(performed)(task, jobs > 1) for several in settings.values() for task in several]
    results = Parallel(n_jobs=jobs, return_as="generator")(tasks)
    written: list[Row] = []
    for name, several in settings.items():
        rows = list(islice(results, len(several)))
        if not rows:
            continue
        cells = (note_or(rows, column) for column in columns)
        line = "".join(f"{cell:>{width}}" for cell, width in zip(cells, widths, strict=True))
        print(f"{name:{label}}{line}  {rows[0].get('note', '')}".rstrip(), flush=True)
        written += [{"line": name} | row for row in rows]
        if path:
            write_csv(path, written)


def note_or(rows: list[Row], column: Shown) -> str:
    """Return a cell of the printed table, empty for a table that was skipped."""
    return "" if str(rows[0].get("note", "")).startswith("skipped") else column.of(rows)


def performed(task: Task, in_processes: bool) -> Row:
    with one_thread() if in_processes else nullcontext():
        return task()


def write_csv(path: Path, rows: list[Row]) -> None:
    names = list(dict.fromkeys(name for row in rows for name in row))
    with path.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.DictWriter(stream, names)
        writer.writeheader()
        writer.writerows(rows)
