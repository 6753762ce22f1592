"""Benchmarks that print one line for each setting: the means over its tables, as soon as they are known."""

import csv
from collections.abc import Callable, Iterable, Iterator, Mapping
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
# The value of each column of the printed table, for each line.
Figures: TypeAlias = Mapping[str, Mapping[str, Any]]


class Shown(NamedTuple):
    """A column of the printed table."""

    name: str
    value: Callable[[list[Row]], Any]
    form: str = ".2f"
    width: int = 8

    def cell(self, value: Any) -> str:
        """Return a value of the column as text."""
        return value if isinstance(value, str) else "-" if np.isnan(value) else format(value, self.form)


def mean(key: str) -> Callable[[list[Row]], float]:
    return lambda rows: float(np.mean([row[key] for row in rows]))


def total(key: str) -> Callable[[list[Row]], Any]:
    return lambda rows: sum(row[key] for row in rows)


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
    sheet = Sheet(columns, settings)
    written: list[Row] = []
    for name, rows in completed(settings, jobs):
        sheet.add(name, rows)
        written += [{"line": name} | row for row in rows]
        if path:
            write_csv(path, written)


def completed(settings: Settings, jobs: int = 1) -> Iterator[tuple[str, list[Row]]]:
    """Run the tasks of all settings; return the rows of each setting as soon as its last task ends."""
    tasks = [delayed(performed)(task, jobs > 1) for several in settings.values() for task in several]
    results = Parallel(n_jobs=jobs, return_as="generator")(tasks)
    return ((name, list(islice(results, len(several)))) for name, several in settings.items())


class Sheet:
    """A printed table.

    Parameters
    ----------
    columns : iterable of Shown
    names : iterable of str
        The names of all lines.
    before : dict
        Figures of another run, which are shown after a slash.

    Attributes
    ----------
    figures : dict
        For each printed line the values of its columns.
    """

    def __init__(self, columns: Iterable[Shown], names: Iterable[str], before: Figures | None = None) -> None:
        self.columns = list(columns)
        self.before = before or {}
        self.figures: dict[str, dict[str, Any]] = {}
        self.widths = [max(column.width + (6 if before else 0), len(column.name) + 2) for column in self.columns]
        self.label = max(map(len, names), default=0) + 2
        print(f"{'':{self.label}}{self._joined(column.name for column in self.columns)}", flush=True)

    def add(self, name: str, rows: list[Row]) -> None:
        """Print the line of some rows, if there are any."""
        if not rows:
            return
        line = self._joined(self._cell(name, rows, column) for column in self.columns)
        print(f"{name:{self.label}}{line}  {rows[0].get('note', '')}".rstrip(), flush=True)

    def _cell(self, name: str, rows: list[Row], column: Shown) -> str:
        """Return a cell of the printed table, empty for a table that was skipped."""
        if str(rows[0].get("note", "")).startswith("skipped"):
            return ""
        value = self.figures.setdefault(name, {})[column.name] = column.value(rows)
        old = self.before.get(name, {}).get(column.name)
        return column.cell(value) + ("" if old is None else f"/{column.cell(old)}")

    def _joined(self, cells: Iterable[str]) -> str:
        return "".join(f"{cell:>{width}}" for cell, width in zip(cells, self.widths, strict=True))


def performed(task: Task, in_processes: bool) -> Row:
    with one_thread() if in_processes else nullcontext():
        return task()


def write_csv(path: Path, rows: list[Row]) -> None:
    names = list(dict.fromkeys(name for row in rows for name in row))
    with path.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.DictWriter(stream, names)
        writer.writeheader()
        writer.writerows(rows)
