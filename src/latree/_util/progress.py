"""How long work tells how far it is. The library never prints: a caller decides what to show."""

from collections.abc import Callable
from typing import Protocol, TypeAlias

# Told how much of how much is done. Less than before means that the same is done once more.
Progress: TypeAlias = Callable[[int, int], None]

WHOLE = 1000  # steps of work that is made of unlike parts
_NEXT = 1 / 6  # of what is left: the share that is set aside for one more attempt


def no_progress(done: int, total: int) -> None:
    """Tell nobody."""


class Stages(Protocol):
    """From the name of a stage of some work, which begins, to the callback that it reports to."""

    def __call__(self, name: str, at_most: bool = False) -> Progress:
        """Begin a stage; ``at_most`` says that it mostly ends long before its total."""


def no_stages(name: str, at_most: bool = False) -> Progress:
    """Tell nobody."""
    return no_progress


def part_of(progress: Progress, start: int, stop: int) -> Progress:
    """Give what a part of some work reports to: it takes the work from one step of the whole to another."""

    def tell(done: int, total: int) -> None:
        progress(start + (stop - start) * done // max(total, 1), WHOLE)

    return tell


class Attempts:
    """Tells of attempts, when nobody knows how many there will be: each takes a fixed share of what is left."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._made = 0

    def within(self, done: int, total: int) -> None:
        """Tell how far the attempt is that is being made."""
        left = (1 - _NEXT) ** (self._made + done / max(total, 1))
        self._progress(int((1 - left) * WHOLE), WHOLE)

    def end(self) -> None:
        """Tell that an attempt was made."""
        self._made += 1
        self.within(0, 1)
