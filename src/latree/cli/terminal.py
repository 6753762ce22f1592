"""Progress of long work: on a terminal, and nowhere else."""

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from latree._util.progress import Progress, Stages, no_stages

if TYPE_CHECKING:
    from rich.table import Table

_SECONDS = 2.0  # what takes less is not shown
_SURE = 0.05  # share of the work, or
_SURE_SECONDS = 10.0  # after which time left is told
_TIMES_A_SECOND = 5
_TEXT = 50  # columns that all but the bar take
_BAR = (8, 40)  # its narrowest and widest


@dataclass
class Stage:
    """A stage of some work, and how long it may take.

    Attributes
    ----------
    name : str
    at_most : bool
        Whether it mostly ends long before its total.
    started : float
        When it began, in seconds of some clock.
    ended : float or None
    done, total : int
        What it told last; a total of zero is not known yet.
    passes : int
        How often the same was done, each time from its beginning.
    """

    name: str
    at_most: bool
    started: float
    ended: float | None = None
    done: int = 0
    total: int = 0
    passes: int = 1
    _first: tuple[float, int] | None = field(default=None, init=False)  # when the first report of a pass came, and what
    _last: float = field(default=0.0, init=False)

    def tell(self, done: int, total: int, now: float) -> None:
        """Take a report."""
        if done < self.done:
            self.passes += 1
            self._first = None
        if self._first is None:
            self._first = (now, done)
        if done != self.done or total != self.total:
            self._last = now
        self.done, self.total = done, total

    def taken(self, now: float) -> float:
        """Give the seconds since it began."""
        return (now if self.ended is None else self.ended) - self.started

    def left(self, now: float) -> float | None:
        """Give the seconds that are left if all steps take as long as those since the first report; None if unknown.

        What is known before the first report (the pieces that a stopped run left, say) took no time, and what goes
        before it is other work: neither tells how long the rest takes.
        """
        if self._first is None or self.ended is not None:
            return None
        since, steps = self._last - self._first[0], self.done - self._first[1]
        if steps <= 0 or (steps < _SURE * self.total and now - self._first[0] < _SURE_SECONDS):
            return None
        step = since / steps
        left = step * (self.total - self.done) - (now - self._last)
        return left if left > 0 else None  # it takes longer than it seemed


@contextmanager
def progress_bars(wanted: bool) -> Iterator[Stages]:
    """Show the stages of some work on standard error, if that is a terminal; they vanish at the end.

    A stage begins where the one before ends. One that takes less than two seconds is not shown.
    """
    if not wanted or not sys.stderr.isatty():
        yield no_stages
        return
    stages: list[Stage] = []

    def begin(name: str, at_most: bool = False) -> Progress:
        now = time.monotonic()
        if stages:
            stages[-1].ended = now
        stage = Stage(name, at_most, now)
        stages.append(stage)
        return lambda done, total: stage.tell(done, total, time.monotonic())

    over = threading.Event()
    shown = threading.Thread(target=_show, args=(stages, over), daemon=True)
    shown.start()
    try:
        yield begin
    finally:
        over.set()
        shown.join()


def _show(stages: list[Stage], over: threading.Event) -> None:
    """Draw the stages until all is over; from the first moment on when one of them is long."""
    while not _long(stages):
        if over.wait(1 / _TIMES_A_SECOND):
            return
    from rich.console import Console
    from rich.live import Live

    console = Console(stderr=True)
    with Live(
        console=console,
        get_renderable=lambda: _drawn(_long(stages), console.width),
        refresh_per_second=_TIMES_A_SECOND,
        transient=True,
        redirect_stdout=False,
        redirect_stderr=False,
    ):
        over.wait()


def _long(stages: list[Stage]) -> list[Stage]:
    now = time.monotonic()
    return [stage for stage in stages if stage.taken(now) >= _SECONDS]


def _drawn(stages: list[Stage], width: int) -> "Table":
    from rich.progress_bar import ProgressBar
    from rich.table import Table

    now = time.monotonic()
    table = Table.grid(padding=(0, 1))
    for stage in stages:
        known, ended = stage.total > 0, stage.ended is not None
        share = 1.0 if ended else stage.done / stage.total if known else 0.0
        bar = ProgressBar(1.0, share, width=min(max(width - _TEXT, _BAR[0]), _BAR[1]), pulse=not (known or ended))
        name = stage.name if stage.passes == 1 else f"{stage.name} ({stage.passes})"
        left = stage.left(now)
        rest = "" if left is None else f"{'at most' if stage.at_most else 'about'} {_clock(left)} left"
        percent = f"{100 * share:3.0f}%" if known or ended else ""
        table.add_row(name, bar, percent, _clock(stage.taken(now)), rest)
    return table


def _clock(seconds: float) -> str:
    """Write a time as minutes and seconds, with hours if there are any."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
