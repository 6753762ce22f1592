"""Threads over independent pieces of work, with BLAS kept to one thread inside them.

NumPy releases the interpreter lock inside large array operations, so threads use all cores without copying data.
OpenBLAS's own threads make matrices of our sizes (100 x 100) slower, hence the limit.
Why not joblib: its threading backend takes about 13 ms per call for 8 tasks that do nothing, this pool 0.2 ms.
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

_THREAD_NAME = "latree"  # threads of the pool have names that begin like this

_single_threaded = ContextVar("single_threaded", default=False)


@contextmanager
def one_thread() -> Iterator[None]:
    """Use one thread, also in BLAS, for all work that this thread starts: other processes use the other cores."""
    token = _single_threaded.set(True)
    try:
        with one_blas_thread():
            yield
    finally:
        _single_threaded.reset(token)


def n_threads() -> int:
    """Return the number of threads to use: one per core that this process may use, or one inside ``one_thread``."""
    if _single_threaded.get():
        return 1
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@cache
def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(n_threads(), thread_name_prefix=_THREAD_NAME)


class _OneBlasThread:
    """Limits BLAS to one thread while anyone uses it: the first user sets the limit, the last one removes it."""

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
    # Finding the libraries takes 0.4 ms, setting a limit 0.01 ms: find them once.
    return ThreadpoolController()


one_blas_thread = _OneBlasThread()


def _reset_after_fork() -> None:
    """Make a new pool and lock in a forked child, which has none of its parent's threads."""
    _pool.cache_clear()
    one_blas_thread.lock = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_reset_after_fork)


def map_ordered(
    function: Callable[[Item], Result], items: Iterable[Item], *, in_turn: bool = False
) -> Iterator[Result]:
    """Apply a function to every item on all cores and yield the results in the items' order.

    At most two results per core wait at any time, so that a long stream needs little memory. Calls from inside a thread
    of the pool run in that thread. With ``in_turn`` everything runs in the calling thread: many small steps would make
    threads wait for the interpreter lock.
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
