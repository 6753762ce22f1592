"""Threads over independent pieces of work, with BLAS kept to one thread inside them.

NumPy lets go of the interpreter lock inside large array operations, so threads use all cores without copying data.
OpenBLAS's own threads are a loss at our matrix sizes (100 x 100), hence the limit.
"""

import os
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from itertools import chain, islice
from typing import Any, TypeVar

from threadpoolctl import ThreadpoolController

Item = TypeVar("Item")
Result = TypeVar("Result")

_THREAD_NAME = "latree"


_alone = ContextVar("alone", default=False)


@contextmanager
def one_thread() -> Iterator[None]:
    """Do all work of this thread in itself, and BLAS's too: others have the other cores."""
    token = _alone.set(True)
    try:
        with one_blas_thread():
            yield
    finally:
        _alone.reset(token)


def n_threads() -> int:
    """Count the threads to use: the cores that this process may use, or one where others have the other cores."""
    if _alone.get():
        return 1
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@cache
def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(n_threads(), thread_name_prefix=_THREAD_NAME)


class _OneBlasThread:
    """Limits BLAS while anybody needs it: the first to come sets the limit, the last to go lifts it."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.users = 0
        self.limiter: Any = None

    @contextmanager
    def __call__(self) -> Iterator[None]:
        with self.lock:
            self.users += 1
            if self.users == 1:
                self.limiter = _controller().limit(limits=1, user_api="blas")
        try:
            yield
        finally:
            with self.lock:
                self.users -= 1
                if self.users == 0:
                    self.limiter.restore_original_limits()


@cache
def _controller() -> ThreadpoolController:
    # Looking the libraries up costs 0.4 ms, entering a limit 0.01 ms: look once.
    return ThreadpoolController()


one_blas_thread = _OneBlasThread()


def _forget() -> None:
    """Start anew in a forked child, which has none of its parent's threads."""
    _pool.cache_clear()
    one_blas_thread.lock = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)


def map_ordered(
    function: Callable[[Item], Result], items: Iterable[Item], *, in_turn: bool = False
) -> Iterator[Result]:
    """Apply a function to every item on all cores and yield the results in the items' order.

    At most two results a core wait at any time, so that a long stream needs little memory. Work that is itself done by
    one of the threads is done there and then; so is work in turn, whose many small steps would make threads wait for
    the interpreter's lock.
    """
    stream = iter(items)
    first = list(islice(stream, 2))
    inside = threading.current_thread().name.startswith(_THREAD_NAME)
    with one_blas_thread():
        if len(first) < 2 or n_threads() == 1 or inside or in_turn:
            for item in chain(first, stream):
                yield function(item)
            return
        waiting: deque[Future[Result]] = deque()
        try:
            for item in chain(first, stream):
                waiting.append(_pool().submit(function, item))
                if len(waiting) >= 2 * n_threads():
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()
