"""Callbacks through which long work reports its progress. The library never prints: the caller decides what to show."""

from collections.abc import Callable
from typing import Protocol, TypeAlias

# Called with the steps done and the total number of steps. Fewer steps than before mean that the work starts again.
Progress: TypeAlias = Callable[[int, int], None]

WHOLE = 1000  # total number of steps of work that consists of different parts
_ATTEMPT_SHARE = 1 / 6  # each attempt is shown as this share of the work that is left


def no_progress(done: int, total: int) -> None:
    """Ignore the report."""


class Stages(Protocol):
    """Begins a named stage of some work and returns the callback for its progress."""

    def __call__(self, name: str, at_most: bool = False) -> Progress:
        """Begin a stage; ``at_most`` means that it usually ends long before it reaches its total."""


def no_stages(name: str, at_most: bool = False) -> Progress:
    """Ignore all stages."""
    return no_progress


def part_of(progress: Progress, start: int, stop: int) -> Progress:
    """Return the callback for one part of some work, which covers steps ``start`` to ``stop`` of ``WHOLE``."""

    def report(done: int, total: int) -> None:
        progress(start + (stop - start) * done // max(total, 1), WHOLE)

    return report


class Attempts:
    """Reports progress over an unknown number of attempts: each one takes a fixed share of what is left."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._made = 0

    def within(self, done: int, total: int) -> None:
        """Report the progress of the current attempt."""
        left = (1 - _ATTEMPT_SHARE) ** (self._made + done / max(total, 1))
        self._progress(int((1 - left) * WHOLE), WHOLE)

    def end(self) -> None:
        """Report the end of the current attempt."""
        self._made += 1
        self.within(0, 1)
