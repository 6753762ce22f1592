"""Reading files with the libraries of others, in a child process of limited memory and time.

The libraries that read files of SPSS, Stata, Excel and matrices take damaged files badly: some crash the process, some
never end, and a few bytes may ask for more memory than there is. So a child process reads such a file, and whatever
happens there becomes one line here. A crafted file may even take over the child. So what it sends back is JSON and
arrays of numbers, which are checked; it is never unpickled.

On Linux the child is a forked copy of this process, which takes milliseconds. Elsewhere, where forks are not safe, it
is a new Python. Memory is limited on Linux only, time everywhere.
"""

import faulthandler
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext, suppress
from importlib import import_module
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from latree._util.files import readable
from latree._util.words import as_in_shell, in_shell
from latree.errors import InputError
from latree.table.clock import CLOCKS
from latree.table.raw import RawColumn, text_array

with suppress(ModuleNotFoundError):  # on Windows
    import resource

# What a child may take: seconds and bytes for any file, and more for each byte of it. No honest file takes more: a byte
# of a compressed file unfolds to at most a thousand, and a cell of one byte becomes a number of 32 bytes.
_SECONDS, _SECONDS_PER_BYTE = 60.0, 1e-3
_MEMORY, _MEMORY_PER_BYTE = 2**30, 32_000

_ON_LINUX = sys.platform == "linux"
# Signals of a crash. Programs that watch for crashes must not see those of the child.
_CRASHES = [
    getattr(signal, name) for name in ("SIGSEGV", "SIGBUS", "SIGABRT", "SIGFPE", "SIGILL") if hasattr(signal, name)
]
_LONGEST_PAUSE = 0.05


class Parcel(NamedTuple):
    """What a child sends: plain data for JSON, and arrays of numbers or booleans."""

    facts: Any
    arrays: Sequence[NDArray[Any]] = ()


class Limits(NamedTuple):
    """What a child may take."""

    seconds: float
    memory: int

    @classmethod
    def for_file(cls, path: Path) -> "Limits":
        """Return the limits for a child that reads a file."""
        size = path.stat().st_size
        memory = _MEMORY + _MEMORY_PER_BYTE * size
        if _ON_LINUX and (found := re.search(r"MemAvailable: +(\d+) kB", Path("/proc/meminfo").read_text())):
            memory = min(memory, max(_MEMORY, 1024 * int(found[1])))
        return cls(_SECONDS + _SECONDS_PER_BYTE * size, memory)

    def set(self) -> None:
        """Limit this process, beyond the memory that it has already; the time also if its parent is killed."""
        if sys.platform == "win32":  # it knows no limits
            return
        limits = {resource.RLIMIT_CORE: 0, resource.RLIMIT_CPU: int(self.seconds) + 1}
        if _ON_LINUX:
            n_pages = int(Path("/proc/self/statm").read_text().split()[0])
            limits[resource.RLIMIT_AS] = n_pages * resource.getpagesize() + self.memory
        for kind, limit in limits.items():  # each may be lower already
            known = [one for one in resource.getrlimit(kind) if one != resource.RLIM_INFINITY]
            resource.setrlimit(kind, (min([limit, *known]),) * 2)


def read_apart(function: Callable[..., Parcel], path: Path, *arguments: Any, what: str, remedy: str) -> Parcel:
    """Call a function on a file in a child process, and return what it returns.

    Parameters
    ----------
    function : callable
        A function of a module of latree, called as ``function(path, *arguments)``.
    path : Path
        The file; ``arguments`` are plain data for JSON.
    what, remedy : str
        What the file should be, and what to do if it is not, for the message of the InputError.
    """
    with readable(path):
        path.open("rb").close()
        limits = Limits.for_file(path)
    with tempfile.TemporaryFile() as stream:
        start = _fork if _ON_LINUX else _spawn
        ended = start(function, (str(path), *arguments), limits, stream)
        answer = _received(stream)
    if answer is not None and "facts" in answer.facts:
        return Parcel(answer.facts["facts"], answer.arrays)
    if answer is not None and isinstance(line := answer.facts.get("refused"), str):
        raise InputError(" ".join(line.split()))
    reason = str((answer.facts if answer is not None else {}).get("reason", "reading it crashed"))
    if not ended:
        reason = f"reading it took more than {limits.seconds:.0f} seconds"
    raise InputError(f"{path}: not {what} that can be read ({' '.join(reason.split()):.120}): {remedy}")


def _fork(function: Callable[..., Parcel], arguments: Sequence[Any], limits: Limits, stream: IO[bytes]) -> bool:
    """Call the function in a forked copy of this process; return whether it ended in time.

    The copy has none of the process's other threads. Python and the C library free their own locks in it. Should a
    thread have held another lock that the function needs, the copy ends with its time.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # Python's about threads
        process = os.fork()
    if not process:
        try:
            _answer(function, arguments, limits, stream.fileno())
        finally:  # without the end of the program that this is a copy of
            os._exit(0)
    deadline, pause = time.monotonic() + limits.seconds, 0.0005
    ended = False
    try:
        while not (ended := os.waitpid(process, os.WNOHANG)[0] != 0) and time.monotonic() < deadline:
            time.sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE)
    except ChildProcessError:  # programs may have the system wait for their children
        ended = True
    finally:
        if not ended:
            with suppress(ProcessLookupError, ChildProcessError):
                os.kill(process, signal.SIGKILL)
                os.waitpid(process, 0)
    return ended


def _spawn(function: Callable[..., Parcel], arguments: Sequence[Any], limits: Limits, stream: IO[bytes]) -> bool:
    """Call the function in a new Python; return whether it ended in time."""
    code = f"import sys; sys.path[:] = {sys.path!r}; from {__name__} import main; main()"
    request = {
        "function": [function.__module__, function.__qualname__],
        "arguments": arguments,
        "limits": limits,
        "in_shell": in_shell(),
    }
    child = subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=stream, stderr=subprocess.DEVNULL
    )
    try:
        child.communicate(json.dumps(request).encode(), limits.seconds)
    except subprocess.TimeoutExpired:
        return False
    finally:
        child.kill()
        child.wait()
    return True


def main() -> None:
    """Answer the request of a process that has spawned this one."""
    request = json.load(sys.stdin)
    module, name = request["function"]
    with as_in_shell() if request["in_shell"] else nullcontext():
        function = getattr(import_module(module), name)
        _answer(function, request["arguments"], Limits(*request["limits"]), sys.stdout.fileno())


def _answer(function: Callable[..., Parcel], arguments: Sequence[Any], limits: Limits, descriptor: int) -> None:
    """Call the function in this process, the child, and write what it returns, or why it does not."""
    faulthandler.disable()
    for number in (*_CRASHES, signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)
    with open(os.dup(descriptor), "wb") as stream, open(os.devnull, "r+") as nowhere:
        for number in (0, 1, 2):  # libraries print about damaged files
            os.dup2(nowhere.fileno(), number)
        sys.stdout = sys.stderr = nowhere
        limits.set()
        path, *others = arguments
        arrays: Sequence[NDArray[Any]] = ()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                facts, arrays = function(Path(path), *others)
                answer = {"facts": facts}
            except InputError as error:
                answer = {"refused": str(error)}
            except MemoryError:
                answer = {"reason": f"it asks for more than {limits.memory / 2**30:.1f} GB of memory"}
            except Exception as error:  # damaged files make libraries raise nearly anything
                answer = {"reason": str(error) or type(error).__name__}
        stream.write(json.dumps({**answer, "arrays": len(arrays)}).encode() + b"\n")
        for array in arrays:
            np.lib.format.write_array(stream, np.ascontiguousarray(array), allow_pickle=False)


def _received(stream: IO[bytes]) -> Parcel | None:
    """Return what a child has written; None if that is not whole."""
    stream.seek(0)
    try:
        answer = json.loads(stream.readline())
        return Parcel(answer, [_array(stream) for _ in range(answer["arrays"])])
    except (ValueError, TypeError, KeyError, RecursionError, MemoryError):
        return None


def _array(stream: IO[bytes]) -> NDArray[Any]:
    array: NDArray[Any] = np.lib.format.read_array(stream, allow_pickle=False)
    if array.dtype.kind not in "biuf":
        raise ValueError("not an array of numbers")
    return array


def packed_columns(columns: Sequence[RawColumn], **facts: Any) -> Parcel:
    """Return raw columns as a parcel, with other plain facts."""
    plain, arrays = [], []
    for raw in columns:
        texts = raw.values.tolist() if raw.is_text else None
        behind = None if raw.behind is None else raw.behind.tolist()
        plain.append({"name": raw.name, "texts": texts, "order": raw.order, "clock": raw.clock, "behind": behind})
        arrays += [raw.codes.astype(np.min_scalar_type(len(raw.values))), *([] if raw.is_text else [raw.values])]
    return Parcel({**facts, "columns": plain}, arrays)


def unpacked_columns(path: Path, parcel: Parcel) -> list[RawColumn]:
    """Return the raw columns of a parcel; raise if they are none."""
    arrays = iter(parcel.arrays)
    try:
        columns = [_column(plain, arrays) for plain in parcel.facts["columns"]]
        if len({len(raw.codes) for raw in columns}) > 1:
            raise ValueError("columns of different lengths")
        return columns
    except (TypeError, KeyError, ValueError, StopIteration):
        raise InputError(f"{path}: reading it gave no table: save it again, or as CSV") from None


def _column(plain: Mapping[str, Any], arrays: Iterator[NDArray[Any]]) -> RawColumn:
    name, texts, order, clock, behind = (plain[key] for key in ("name", "texts", "order", "clock", "behind"))
    codes = next(arrays)
    values = next(arrays) if texts is None else text_array(texts)
    if not all(isinstance(text, str) for text in (name, *(texts or ()), *(order or ()), *(behind or ()))):
        raise TypeError("not a text")
    if codes.ndim != 1 or values.ndim != 1 or codes.dtype.kind != "u" or (len(codes) and codes.max() >= len(values)):
        raise ValueError("not the codes of a column")
    if clock is not None and (clock not in CLOCKS or values.dtype != np.float64):
        raise ValueError("not the seconds of a column")
    if behind is not None and len(behind) != len(values):
        raise ValueError("not one value for each label")
    of_labels = None if behind is None else text_array(behind)
    return RawColumn(name, values, codes, None if order is None else tuple(order), clock=clock, behind=of_labels)
