"""Threads over independent pieces of work, with BLAS kept to one thread inside them.

NumPy lets go of the interpreter lock inside large array operations, so threads use all cores without copying data.
OpenBLAS's own threads are a loss at our matrix sizes (100 x 100), hence the limit.
"""

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache
from itertools import islice
from typing import TypeVar

from threadpoolctl import ThreadpoolController

Item = TypeVar("Item")
Result = TypeVar("Result")


def n_threads() -> int:
    """Count the cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@cache
def _controller() -> ThreadpoolController:
    # Looking the libraries up costs 0.4 ms, entering a limit 0.01 ms: look once.
    return ThreadpoolController()


@cache
def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(n_threads(), thread_name_prefix="latree")


def map_ordered(function: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
    """Apply a function to every item on all cores and yield the results in the items' order.

    At most two results a core wait at any time, so that a long stream needs little memory.
    """
    stream = iter(items)
    first = list(islice(stream, 2))
    with _controller().limit(limits=1, user_api="blas"):
        if len(first) < 2 or n_threads() == 1:
            for item in (*first, *stream):
                yield function(item)
            return
        waiting: deque[Future[Result]] = deque()
        try:
            for item in (*first, *stream):
                waiting.append(_pool().submit(function, item))
                if len(waiting) >= 2 * n_threads():
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()
