"""Progress of long work, shown on a terminal and nowhere else."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from latree._util.progress import Stages, no_stages


@contextmanager
def progress_bars(wanted: bool) -> Iterator[Stages]:
    """Show the stages of some work on standard error, if that is a terminal; they vanish at the end.

    A stage ends where the next one begins. A stage that takes less than two seconds is not shown.
    """
    if not wanted or not sys.stderr.isatty():
        yield no_stages
        return
    from latree._util.bars import StageBars  # needs rich, which takes 0.2 s to import

    with StageBars() as bars:
        yield bars.begin
