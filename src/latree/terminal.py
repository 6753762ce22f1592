"""Progress bars for long work: on a terminal, and nowhere else."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from latree.builders import Progress, no_progress
from latree.learn import Stages


@contextmanager
def progress_bars(wanted: bool) -> Iterator[Stages]:
    """Give the stages of some work a bar each on standard error, if that is a terminal; bars vanish at the end."""
    if not wanted or not sys.stderr.isatty():
        yield lambda stage: no_progress
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bars

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Bars(*columns, console=Console(stderr=True), transient=True) as bars:

        def stage(name: str) -> Progress:
            task = bars.add_task(name, total=None)
            return lambda done, total: bars.update(task, completed=done, total=total)

        yield stage
