"""Finished pieces of long work, kept in a folder, so that a run that was stopped goes on and ends the same.

A piece is some named arrays, under a kind and a number: a fit of EM, the tree of a replicate. Work that is done in a
fixed order by one thread numbers its pieces by that order. Every file is written whole or not at all, and begins with
the checksum of what follows.
"""

import io
import json
import time
import weakref
from collections import Counter
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import IO, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from latree import __version__
from latree._util.files import is_temporary, read_text, readable, to_json, write_bytes, write_text
from latree.errors import InputError

try:
    import fcntl
except ModuleNotFoundError:  # Windows has no such locks
    fcntl = None  # type: ignore[assignment]

Arrays: TypeAlias = dict[str, NDArray[Any]]

SETTINGS = "settings.json"
_LOCK = ".lock"
_SECONDS = 5.0  # between two times that unfinished pieces are kept
_DONE, _BEGUN = ".done", ".begun"
_CHECKSUM_BYTES = sha256().digest_size


class Keeper:
    """Where pieces of work are kept; this one keeps nothing."""

    def next_number(self, kind: str) -> int:
        """Give the number of the next piece of a kind."""
        return 0

    def expect(self, kind: str, total: int) -> None:
        """Be told how many pieces of a kind there will be."""

    def is_due(self) -> bool:
        """Tell whether it is time to keep what is not finished."""
        return False

    def load(self, kind: str, number: int, start: Arrays | None = None) -> Arrays | None:
        """Give the arrays of a piece; None where nothing of it was kept. Raise if it has another start than this."""
        return None

    def save(self, kind: str, number: int, arrays: Arrays, finished: bool = True) -> None:
        """Keep a piece, in place of what was kept of it before."""


NOTHING_KEPT = Keeper()


class Checkpoint(Keeper):
    """Pieces of work in a folder.

    Parameters
    ----------
    folder : Path
        A new or empty one, or that of an equal run.
    settings : mapping
        All that the result depends on.
    """

    def __init__(self, folder: Path, settings: Mapping[str, Any]) -> None:
        prepare(folder, settings)
        self.folder = folder
        self._lock = _held(folder)
        weakref.finalize(self, self._lock.close)
        self._numbers: Counter[str] = Counter()
        self._totals: dict[str, int] = {}
        self._kept_at = time.monotonic()

    def next_number(self, kind: str) -> int:
        """Give the number of the next piece of a kind."""
        self._numbers[kind] += 1
        return self._numbers[kind]

    def expect(self, kind: str, total: int) -> None:
        """Be told how many pieces of a kind there will be."""
        self._totals[kind] = total

    def is_due(self) -> bool:
        """Tell whether it is time to keep what is not finished: every few seconds."""
        return time.monotonic() - self._kept_at > _SECONDS

    def load(self, kind: str, number: int, start: Arrays | None = None) -> Arrays | None:
        """Give the arrays of a piece; None where nothing of it was kept. Raise if it has another start than this."""
        path = next((path for path in self._paths(kind, number) if path.is_file()), None)
        if path is None:
            return None
        with readable(path):
            content = path.read_bytes()
        if sha256(content[_CHECKSUM_BYTES:]).digest() != content[:_CHECKSUM_BYTES]:
            raise InputError(f"{path}: damaged; remove this file, and that part of the work is done again")
        with np.load(io.BytesIO(content[_CHECKSUM_BYTES:]), allow_pickle=False) as stored:
            arrays = dict(stored)
        if any(not np.array_equal(arrays[name], array) for name, array in (start or {}).items()):
            raise InputError(
                f"{path}: made by another computation, perhaps with other libraries; remove {self.folder} and start "
                "anew"
            )
        return arrays

    def save(self, kind: str, number: int, arrays: Arrays, finished: bool = True) -> None:
        """Keep a piece, in place of what was kept of it before."""
        stream = io.BytesIO()
        np.savez(stream, allow_pickle=False, **arrays)
        content = stream.getvalue()
        done, begun = self._paths(kind, number)
        write_bytes(done if finished else begun, sha256(content).digest() + content)
        if finished:
            begun.unlink(missing_ok=True)
        self._kept_at = time.monotonic()

    def kept(self) -> str:
        """Say in words what is kept; nothing where nothing is."""
        parts = []
        kinds = Counter(path.name.rpartition("-")[0] for path in self.folder.glob(f"*{_DONE}"))
        for kind in sorted(kinds):
            count, total = kinds[kind], self._totals.get(kind)
            if total is not None:
                parts.append(f"{count} of {total} {kind}")
            else:
                parts.append(f"{count} {kind if count != 1 else kind.removesuffix('s')}")
        if any(self.folder.glob(f"*{_BEGUN}")):
            parts.append("a part of the next" if parts else "a part of the first")
        return " and ".join([", ".join(parts[:-1]), parts[-1]] if parts[1:] else parts)

    def close(self) -> None:
        """Let other runs in."""
        self._lock.close()

    def remove(self) -> None:
        """Remove all that was kept, and the folder if nothing else is in it."""
        clear(self.folder, f"*{_DONE}", f"*{_BEGUN}")

    def _paths(self, kind: str, number: int) -> tuple[Path, Path]:
        return self.folder / f"{kind}-{number:06}{_DONE}", self.folder / f"{kind}-{number:06}{_BEGUN}"


def prepare(folder: Path, settings: Mapping[str, Any], inputs: Mapping[str, Any] | None = None) -> None:
    """Make a folder for the work of a run, or look whether an equal run left it; note the settings in it.

    Inputs are settings that only some runs have: they must be the same in all of these.
    """
    note = folder / SETTINGS
    inputs = inputs or {}
    known: dict[str, Any] = {}
    asked = json.loads(to_json({"latree": __version__, **settings, **inputs}))
    if note.is_file():
        known = {**inputs, **_read_settings(note)}
        for name, value in asked.items():
            if known.get(name) != value:
                raise InputError(
                    f"{folder}: holds results of another run, whose {name} is {known.get(name)!r:.60}, not "
                    f"{value!r:.60}; choose another folder"
                )
    elif folder.exists() and not folder.is_dir():
        raise InputError(f"{folder}: is a file, not a folder")
    elif folder.exists() and not all(is_temporary(path) or path.name == _LOCK for path in folder.iterdir()):
        raise InputError(f"{folder}: exists and holds something else; choose another folder")
    elif not folder.parent.is_dir():
        raise InputError(f"{folder}: the folder {folder.parent} does not exist")
    folder.mkdir(exist_ok=True)
    write_text(note, to_json({**known, **asked}))


def _held(folder: Path) -> IO[str]:
    """Keep other runs out of a folder for as long as the file that this gives is open, or until the process ends."""
    stream = (folder / _LOCK).open("w")
    if fcntl is not None:
        try:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            stream.close()
            raise InputError(
                f"{folder}: another run is using it; wait until it ends, or choose another folder"
            ) from None
    return stream


def _read_settings(note: Path) -> dict[str, Any]:
    try:
        known = json.loads(read_text(note))
    except ValueError:
        raise InputError(f"{note}: damaged, not JSON; choose another folder") from None
    if not isinstance(known, dict) or "latree" not in known:
        raise InputError(f"{note.parent}: exists and holds something else; choose another folder")
    return known


def clear(folder: Path, *patterns: str) -> None:
    """Remove the settings and what matches patterns, and the folder if nothing else is in it."""
    if not folder.is_dir():  # somebody was faster
        return
    for path in sorted(folder.iterdir()):
        if is_temporary(path) or path.name in (SETTINGS, _LOCK) or any(path.match(pattern) for pattern in patterns):
            path.unlink()
    if not any(folder.iterdir()):
        folder.rmdir()
