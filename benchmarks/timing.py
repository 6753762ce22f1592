"""Times of interleaved tasks, their ratios, and how they grow."""

import os
import time
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np


class Taken(NamedTuple):
    """Seconds of a task."""

    wall: float
    processor: float


def interleaved(tasks: dict[str, Callable[[], object]], repeats: int) -> dict[str, Taken]:
    """Run all tasks in turn, several times, and return the minimum time of each."""
    least = dict.fromkeys(tasks, Taken(np.inf, np.inf))
    for _ in range(repeats):
        for name, task in tasks.items():
            wall, processor = time.perf_counter(), _processor_seconds()
            task()
            taken = time.perf_counter() - wall, _processor_seconds() - processor
            least[name] = Taken(*map(min, least[name], taken))
    return least


def _processor_seconds() -> float:
    """Return the processor time of this process and of its children that have ended."""
    return sum(os.times()[:4])


def exponent(sizes: Sequence[float], amounts: Sequence[float]) -> float:
    """Return the exponent of a power law fitted to amounts over sizes."""
    return float(np.polyfit(np.log(sizes), np.log(amounts), 1)[0])


def growth(
    what: str, expected: str, sizes: Sequence[int], task: Callable[[int], Callable[[], object]], repeats: int = 3
) -> None:
    """Print how the processor time of a task grows with its size."""
    tasks = {str(size): task(size) for size in sizes}
    taken = [least.processor for least in interleaved(tasks, repeats).values()]
    line = f"  growth with {what:22} {exponent(sizes, taken):5.2f}, expected {expected}  ({sizes[0]} .. {sizes[-1]})"
    print(line, flush=True)


def show_ratios(taken: dict[str, Taken]) -> None:
    """Print times and their ratios to the first."""
    reference = next(iter(taken.values()))
    print(f"{'':32}{'seconds':>9}{'ratio':>8}{'cpu':>9}{'ratio':>8}")
    for name, (wall, processor) in taken.items():
        ratios = wall / reference.wall, processor / reference.processor
        print(f"{name:32}{wall:9.3f}{ratios[0]:8.2f}{processor:9.3f}{ratios[1]:8.2f}", flush=True)
