"""Progress of long work. Work reports how far it is, and whoever started it decides whether that is shown.

No function takes a callback: :func:`stages_shown_by` says once, around some work, where its stages are shown, and
:func:`claim_progress` returns the callback of the stage that is running. Work that calls other work which reports, too,
gives it a part of the stage by :func:`part_of_stage`. All else reports to nobody.
"""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from typing import Protocol, TypeAlias

# Called with the steps done and the total number of steps. Fewer steps than before mean that the work starts again.
Progress: TypeAlias = Callable[[int, int], None]

WHOLE = 1000  # total number of steps of work that consists of different parts
_ATTEMPT_SHARE = 1 / 6  # each attempt is shown as this share of the work that is left
_SECONDS_PER_LINE = 10.0  # between two lines about the same stage, where progress is shown as lines


class Stages(Protocol):
    """Begins a named stage of some work and returns the callback for its progress."""

    def __call__(self, name: str, at_most: bool = False) -> Progress:
        """Begin a stage; ``at_most`` means that it usually ends long before it reaches its total."""


def no_progress(done: int, total: int) -> None:
    """Ignore the report."""


def _no_stages(name: str, at_most: bool = False) -> Progress:
    """Ignore all stages."""
    return no_progress


_stages: ContextVar[Stages] = ContextVar("stages", default=_no_stages)
_current: ContextVar[Progress] = ContextVar("progress", default=no_progress)


@contextmanager
def stages_shown_by(stages: Stages) -> Iterator[None]:
    """Show the stages of the work inside."""
    token = _stages.set(stages)
    try:
        yield
    finally:
        _stages.reset(token)


@contextmanager
def stage(name: str, at_most: bool = False) -> Iterator[None]:
    """Name the work inside, to which the next :func:`claim_progress` belongs."""
    with reported_to(_stages.get()(name, at_most)):
        yield


@contextmanager
def part_of_stage(start: float, stop: float) -> Iterator[None]:
    """Let the work inside report as a part of the stage, from one share of it to another."""
    whole, first, last = _current.get(), round(start * WHOLE), round(stop * WHOLE)

    def report(done: int, total: int) -> None:
        whole(first + (last - first) * done // max(total, 1), WHOLE)

    with reported_to(report):
        yield


def claim_progress() -> Progress:
    """Return the callback of the stage that is running. Who claims it is the only one who reports to it."""
    current = _current.get()
    _current.set(no_progress)
    return current


@contextmanager
def reported_to(progress: Progress) -> Iterator[None]:
    """Let the work inside report to a callback."""
    token = _current.set(progress)
    try:
        yield
    finally:
        _current.reset(token)


class Attempts:
    """Reports progress over an unknown number of attempts: each one takes a fixed share of what is left."""

    def __init__(self) -> None:
        self._progress = claim_progress()
        self._made = 0

    def within(self, done: int, total: int) -> None:
        """Report the progress of the current attempt."""
        left = (1 - _ATTEMPT_SHARE) ** (self._made + done / max(total, 1))
        self._progress(int((1 - left) * WHOLE), WHOLE)

    def end(self) -> None:
        """Report the end of the current attempt."""
        self._made += 1
        self.within(0, 1)


@contextmanager
def progress_bars(wanted: bool, at_once: bool = False) -> Iterator[None]:
    """Show the stages of some work on standard error.

    On a terminal they are bars, which vanish at the end; a stage ends where the next one begins, and one that takes
    less than two seconds is not shown. Elsewhere, such as in a notebook or a log, they are lines: one every ten seconds
    while a stage goes on and, if stages are shown ``at_once``, one when it begins.
    """
    if wanted and sys.stderr.isatty():
        from latree._util.bars import StageBars  # needs rich, which takes 0.2 s to import

        with StageBars() as bars, stages_shown_by(bars.begin):
            yield
    elif wanted:
        with stages_shown_by(partial(_begin_lines, at_once)):
            yield
    else:
        yield


def _begin_lines(at_once: bool, name: str, at_most: bool = False) -> Progress:
    """Return the callback that prints how far a stage is; print that it begins, if it is shown at once."""
    if at_once:
        print(f"latree: {name}", file=sys.stderr, flush=True)
    started = began = last = time.monotonic()
    before = 0
    word = "at most" if at_most else "about"

    def report(done: int, total: int) -> None:
        nonlocal began, before, last
        now = time.monotonic()
        if done < before:  # the same work starts again
            began = now
        before = done
        if now - last >= _SECONDS_PER_LINE:
            last = now
            share = f"{100 * done // total} %, " if total else ""
            left = f", {word} {(now - began) * (total - done) / done:.0f} s left" if done and total else ""
            print(f"latree: {name}: {share}{now - started:.0f} s{left}", file=sys.stderr, flush=True)

    return report
