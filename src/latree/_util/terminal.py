"""Progress of long work on standard error: bars on a terminal, plain lines elsewhere if somebody asks for them."""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from latree._util.progress import Progress, stages_shown_by

# Seconds between two lines about the same stage.
_SECONDS_PER_LINE = 10.0


@contextmanager
def progress_bars(wanted: bool, lines: bool = False) -> Iterator[None]:
    """Show the stages of some work on standard error.

    On a terminal they are bars, which vanish at the end; a stage ends where the next one begins, and one that takes
    less than two seconds is not shown. Elsewhere, such as in a notebook or a log, they are shown if ``lines`` are
    wanted: one line when a stage begins, and one every ten seconds while it goes on.
    """
    if wanted and sys.stderr.isatty():
        from latree._util.bars import StageBars  # needs rich, which takes 0.2 s to import

        with StageBars() as bars, stages_shown_by(bars.begin):
            yield
    elif wanted and lines:
        with stages_shown_by(_begin_lines):
            yield
    else:
        yield


def _begin_lines(name: str, at_most: bool = False) -> Progress:
    """Print that a stage begins, and return the callback that prints how far it is."""
    print(f"latree: {name}", file=sys.stderr, flush=True)
    started = last = time.monotonic()

    def report(done: int, total: int) -> None:
        nonlocal last
        now = time.monotonic()
        if now - last >= _SECONDS_PER_LINE:
            last = now
            share = f"{100 * done // total} %, " if total else ""
            print(f"latree: {name}: {share}{now - started:.0f} s", file=sys.stderr, flush=True)

    return report
