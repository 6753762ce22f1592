"""Work on several cores: threads, and forked copies of this process.

NumPy releases the interpreter lock inside large array operations, so threads use all cores without copying data.
OpenBLAS's own threads make matrices of our sizes (100 x 100) slower, hence the limit.
Why not joblib: its threading backend takes about 13 ms per call for 8 tasks that do nothing, this pool 0.2 ms.

Fits of small models are many short array operations, between which threads wait for the interpreter lock. A forked
copy of the process takes milliseconds to make and has everything in memory already; only results are sent back.

A copy has none of the process's other threads. If one of them held a lock in that moment, nobody opens it in the copy.
So a copy first shows that it can compute, and one that does not is given up: it has taken no work by then. Somebody may
stop a copy, as a debugger or a container does: one that uses no time of a processor is given up, too. What a copy had
taken when it died or was given up is done again.

OpenBLAS ends its own threads before a fork, and waits without end if one of them is at work for another thread of the
process. So it is kept to one thread, and no copy is made while another thread computes: it may have begun before.
"""

import gc
import os
import pickle
import select
import signal
import sys
import threading
import time
import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from functools import cache
from io import BytesIO, FileIO
from itertools import chain, islice
from typing import Any, BinaryIO, Generic, TypeVar

import numpy as np
from threadpoolctl import ThreadpoolController

from latree._util.progress import no_progress, part_of_stage, reported_to

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


# Work that takes less than this, in seconds, judged by its last item, is done without copies.
_WORTH_A_COPY = 0.1

# Seconds after all work was taken in which a copy must show that it can compute; later it is given up if it neither
# computes nor sends anything for as long.
_PATIENCE = 5.0

_READY = b"r"  # what a copy sends first
_SIZE = 4  # bytes of a number in the pipe that all processes take their work from
_PARTS = 1024  # numbers that fit into the smallest such pipe
_PART_BYTES = 2**20  # bytes that are read from a pipe at once


def map_forked(
    function: Callable[[Item], Result], items: Sequence[Item], shared: Iterable[object] = (), *, long: bool = False
) -> list[Result]:
    """Apply a function to every item on all cores and return the results in the items' order.

    Without cores to spare, and on systems other than Linux, everything is computed in this process.

    Parameters
    ----------
    function : callable
        It must not change anything: what it changes in a copy of the process is lost.
    items : sequence
        Those that take longest come first.
    shared : iterable of object
        Objects that results may refer to: from a copy, only references to them are sent.
    long : bool
        Whether every item takes so long that it keeps a core busy: copies are made at once, and each item is computed
        on one core.
    """
    if not items:
        return []
    n_copies = (min(n_threads(), len(items)) if sys.platform == "linux" else 1) - 1
    if long and n_copies:
        with one_thread():
            return _with_copies(function, items, shared, n_copies)
    *waiting, last = items
    with one_blas_thread():
        started = time.perf_counter()
        last_result = function(last)
        is_worth_it = (time.perf_counter() - started) * len(waiting) > _WORTH_A_COPY
        results = _with_copies(function, waiting, shared, min(n_copies, len(waiting) - 1) if is_worth_it else 0)
    return [*results, last_result]


def _with_copies(
    function: Callable[[Item], Result], items: Sequence[Item], shared: Iterable[object], n_copies: int
) -> list[Result]:
    found: dict[int, Result] = {}
    # If the system allows no more processes or pipes, what is missing is computed here.
    with suppress(OSError):
        if n_copies > 0 and _is_alone():
            found = _Work(function, items, {id(one): one for one in shared}).done(n_copies)
    return [found[number] if number in found else _reported(function, items, number) for number in range(len(items))]


def _reported(function: Callable[[Item], Result], items: Sequence[Item], number: int) -> Result:
    """Apply a function to an item, as its part of a stage: items are taken in order, so all before it were taken."""
    with part_of_stage(number / len(items), (number + 1) / len(items)):
        return function(items[number])


def _is_alone() -> bool:
    """Return whether no other thread of this process computes; threads of BLAS may do so some time after their work."""
    until = time.monotonic() + _WORTH_A_COPY
    while busy := any(map(_computes, os.listdir("/proc/self/task"))):
        if time.monotonic() > until:
            break
        time.sleep(0.001)
    return not busy


def _computes(thread: str) -> bool:
    """Return whether a thread is not this one, and runs or waits for a processor or the disk."""
    if int(thread) == threading.get_native_id():
        return False
    with suppress(OSError), open(f"/proc/self/task/{thread}/stat", "rb") as stream:
        return stream.read().rpartition(b")")[2].split()[0] in (b"R", b"D")
    return False  # it has ended


class _Work(Generic[Item, Result]):
    """Items for this process and its copies to take one after another."""

    def __init__(self, function: Callable[[Item], Result], items: Sequence[Item], shared: dict[int, object]) -> None:
        self.function, self.items, self.shared = function, items, shared
        self.process = os.getpid()
        self.step = -(-len(items) // _PARTS)
        self.reading, writing = os.pipe()
        with open(writing, "wb") as pipe:
            pipe.writelines(number.to_bytes(_SIZE) for number in range(0, len(items), self.step))

    def done(self, n_copies: int) -> dict[int, Result]:
        """Do the work with some copies of this process, and return the results that came back."""
        copies: list[tuple[int, FileIO]] = []
        try:
            copies.extend(self._copy() for _ in range(n_copies))
            found = self._take()
            for process, pipe in copies:
                found |= self._received(process, pipe)
            return found
        finally:
            os.close(self.reading)
            for process, pipe in copies:
                pipe.close()
                with suppress(ProcessLookupError, ChildProcessError):  # programs may have the system wait for it
                    os.kill(process, signal.SIGKILL)
                    os.waitpid(process, 0)

    def _take(self) -> dict[int, Result]:
        """Take items until none is left."""
        found: dict[int, Result] = {}
        while taken := os.read(self.reading, _SIZE):
            if self.process not in (os.getpid(), os.getppid()):  # this is a copy, and the process is gone
                break
            start = int.from_bytes(taken)
            for number in range(start, min(start + self.step, len(self.items))):
                found[number] = _reported(self.function, self.items, number)
        return found

    def _copy(self) -> tuple[int, FileIO]:
        """Make a copy of this process, and return its number and the pipe that its results come through."""
        reading, writing = os.pipe()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # Python's about threads: see above
            try:
                process = os.fork()
            except OSError:
                os.close(reading)
                os.close(writing)
                raise
        if process:
            os.close(writing)
            return process, FileIO(reading)
        try:  # this is the copy
            os.close(reading)  # else it would wait for itself to read, once the process is gone
            for number in (signal.SIGINT, signal.SIGTERM):
                signal.signal(number, signal.SIG_DFL)
            gc.disable()
            with one_thread(), reported_to(no_progress), open(writing, "wb") as pipe:
                np.ones((64, 64)) @ np.ones((64, 64))
                pipe.write(_READY)
                pipe.flush()
                _Pickler(pipe, self.shared).dump(self._take())
        finally:  # without the end of the program that this is a copy of
            os._exit(0)

    def _received(self, process: int, pipe: FileIO) -> dict[int, Result]:
        """Return the results of a copy; none if it does not answer, is stopped, or died."""
        if not _is_readable(pipe) or pipe.read(1) != _READY:
            return {}
        content, used = BytesIO(), 0.0
        while True:
            if _is_readable(pipe):
                if not (part := pipe.read(_PART_BYTES)):
                    break
                content.write(part)
            elif used == (now := _processor_seconds(process)):
                return {}
            else:
                used = now
        content.seek(0)
        try:
            found: dict[int, Result] = _Unpickler(content, self.shared).load()
        except (EOFError, pickle.UnpicklingError):
            return {}
        return found


def _is_readable(pipe: FileIO) -> bool:
    """Wait until there is something in a pipe, or its other end is closed; return False if that takes too long."""
    return bool(select.select([pipe], [], [], _PATIENCE)[0])


def _processor_seconds(process: int) -> float:
    """Return how long a process has computed; a number of clock_getcpuclockid(3) names its clock on Linux."""
    return time.clock_gettime(~process << 3 | 2)


class _Pickler(pickle.Pickler):
    """Sends references instead of objects that the other process has, too."""

    def __init__(self, pipe: BinaryIO, shared: dict[int, object]) -> None:
        super().__init__(pipe, protocol=5)
        self.shared = shared

    def persistent_id(self, obj: Any) -> int | None:
        """Return the reference of an object that is shared."""
        return id(obj) if id(obj) in self.shared else None


class _Unpickler(pickle.Unpickler):
    """Receives what a :class:`_Pickler` sends."""

    def __init__(self, pipe: BinaryIO, shared: dict[int, object]) -> None:
        super().__init__(pipe)
        self.shared = shared

    def persistent_load(self, reference: int) -> object:
        """Return the object of a reference."""
        return self.shared[reference]
