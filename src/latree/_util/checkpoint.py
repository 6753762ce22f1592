"""Checkpoints: finished pieces of long work, kept in a folder, so that a stopped run continues with the same result.

A piece is a set of named arrays with a kind and a number, such as the tree of one bootstrap replicate. Every file is
written whole or not at all and begins with a checksum of its content.
"""

import io
import json
import re
import time
import weakref
import zipfile
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from latree import __version__
from latree._util.arrays import parse_json
from latree._util.files import Lock, read_text, readable, remove_empty, sync, to_json, writable, write_text
from latree._util.words import plural
from latree.errors import InputError

Arrays: TypeAlias = dict[str, NDArray[Any]]
Piece = TypeVar("Piece")

SETTINGS = "settings.json"
_SAVE_INTERVAL = 5.0  # seconds between two saves of a piece that grows
# File name endings of pieces, and of a piece that is just being written.
_DONE, _WRITTEN = ".done", ".written"
_PIECE = re.compile(r"[a-z]+-\d{6,}\.(done|written)")
_CHECKSUM_BYTES = sha256().digest_size


class Keeper:
    """Stores pieces of work. This base class stores nothing; :class:`Checkpoint` stores them in a folder."""

    def expect(self, kind: str, total: int) -> None:
        """Set how many pieces of a kind there will be."""

    def is_due(self) -> bool:
        """Return whether it is time to save a piece that grows."""
        return False

    def load(self, kind: str, number: int, read: Callable[[Arrays], Piece]) -> Piece | None:
        """Return a piece, or None if it was not saved. ``read`` makes it of its arrays, and raises if it cannot."""
        return None

    def save(self, kind: str, number: int, arrays: Arrays) -> None:
        """Save a piece and replace what was saved of it before."""


NOTHING_KEPT = Keeper()


class Checkpoint(Keeper):
    """Stores pieces of work in a folder. Only one run at a time can use the folder.

    Parameters
    ----------
    folder : Path
        A new or empty folder, or the folder of a run with the same settings.
    settings : mapping
        Everything that the result depends on.
    """

    def __init__(self, folder: Path, settings: Mapping[str, Any]) -> None:
        prepare(folder, settings)
        self.folder = folder
        try:
            self._lock = Lock(folder / SETTINGS)
        except InputError:
            raise InputError(
                f"{folder}: another run is using it; wait until it ends, or choose another folder"
            ) from None
        weakref.finalize(self, self._lock.release)
        self._totals: dict[str, int] = {}
        self._saved_at = time.monotonic()

    def expect(self, kind: str, total: int) -> None:
        """Set how many pieces of a kind there will be."""
        self._totals[kind] = total

    def is_due(self) -> bool:
        """Return whether it is time to save a piece that grows: a few seconds after the last save."""
        return time.monotonic() - self._saved_at > _SAVE_INTERVAL

    def load(self, kind: str, number: int, read: Callable[[Arrays], Piece]) -> Piece | None:
        """Return a piece, or None if it was not saved; raise if its file is damaged."""
        path = self._path(kind, number)
        if not path.is_file():
            return None
        with readable(path):
            content = path.read_bytes()
        # A checksum finds damage. It does not stop anybody from writing a file of their own, so that all is checked.
        try:
            return read(read_arrays(content))
        except (ValueError, TypeError, KeyError, IndexError):
            raise InputError(
                f"{path}: damaged; remove this file and run the same command again to redo this part"
            ) from None

    def save(self, kind: str, number: int, arrays: Arrays) -> None:
        """Save a piece and replace what was saved of it before."""
        done = self._path(kind, number)
        # After a kill, this piece is done again and written to the same name, so that nothing is left in the end.
        written = done.with_suffix(_WRITTEN)
        with writable(done):
            with open(written, "wb") as stream:
                stream.write(arrays_to_bytes(arrays))
                sync(stream)
            written.replace(done)
        self._saved_at = time.monotonic()

    def describe(self) -> str:
        """Return in words what is saved, such as "4 of 10 replicates"; empty if nothing is."""
        kinds = Counter(path.name.rpartition("-")[0] for path in self.folder.glob(f"*{_DONE}"))
        totals = {
            kind: f"{count} of {self._totals[kind]} {kind}" for kind, count in kinds.items() if kind in self._totals
        }
        return " and ".join(totals.get(kind) or plural(count, kind.removesuffix("s")) for kind, count in kinds.items())

    def close(self) -> None:
        """Release the folder, so that other runs can use it."""
        self._lock.release()

    def remove(self) -> None:
        """Remove everything that was saved, and the folder if nothing else is in it; release it."""
        if self.folder.is_dir():
            clear(self.folder, [path for path in self.folder.iterdir() if _PIECE.fullmatch(path.name)])
        self.close()
        remove_empty(self.folder)

    def _path(self, kind: str, number: int) -> Path:
        return self.folder / f"{kind}-{number:06}{_DONE}"


def arrays_to_bytes(arrays: Arrays) -> bytes:
    """Return the content of a file of arrays: a checksum, and NumPy's format, uncompressed."""
    stream = io.BytesIO()
    np.savez(stream, allow_pickle=False, **arrays)
    content = stream.getvalue()
    return sha256(content).digest() + content


def read_arrays(content: bytes) -> Arrays:
    """Return the arrays of a file's content; raise a ValueError if that is not what :func:`arrays_to_bytes` returns."""
    checksum, rest = content[:_CHECKSUM_BYTES], content[_CHECKSUM_BYTES:]
    if sha256(rest).digest() != checksum:
        raise ValueError("the checksum is wrong")
    try:
        with zipfile.ZipFile(io.BytesIO(rest)) as archive:
            members = archive.infolist()
        # A small file must not become large arrays.
        if any(member.compress_type != zipfile.ZIP_STORED for member in members):
            raise ValueError("a part is compressed")
        if sum(member.file_size for member in members) > len(rest):
            raise ValueError("the parts are larger than the file")
        with np.load(io.BytesIO(rest), allow_pickle=False) as stored:
            arrays = dict(stored)
    except Exception as error:  # zipfile and NumPy raise a dozen kinds
        raise ValueError(f"not a file of arrays: {error}") from None
    if not all(isinstance(array, np.ndarray) for array in arrays.values()):
        raise ValueError("a part is not an array")
    return arrays


def prepare(folder: Path, settings: Mapping[str, Any], inputs: Mapping[str, Any] | None = None) -> None:
    """Make a folder for the work of a run, or check that a run with the same settings made it; save the settings in it.

    ``inputs`` are settings that only some runs have, such as a checksum of prices. Runs that have them must agree.
    """
    path = folder / SETTINGS
    inputs = inputs or {}
    stored: dict[str, Any] = {}
    wanted = json.loads(to_json({"latree": __version__, **settings, **inputs}))
    if path.is_file():
        stored = _read_settings(path)
        known = {**inputs, **stored}
        for name, value in wanted.items():
            if known.get(name) != value:
                raise InputError(
                    f"{folder}: holds results of another run, whose {name} is {known.get(name)!r:.60}, not "
                    f"{value!r:.60}; choose another folder"
                )
    elif folder.exists() and not folder.is_dir():
        raise InputError(f"{folder}: is a file, not a folder")
    elif folder.exists() and any(folder.iterdir()):
        raise InputError(f"{folder}: exists and holds something else; choose another folder")
    elif not folder.parent.is_dir():
        raise InputError(f"{folder}: the folder {folder.parent} does not exist")
    folder.mkdir(exist_ok=True)
    if stored != {**stored, **wanted}:
        write_text(path, to_json({**stored, **wanted}))


def _read_settings(path: Path) -> dict[str, Any]:
    try:
        known = parse_json(read_text(path))
    except InputError as error:
        raise InputError(f"{path}: {error}; choose another folder") from None
    if not isinstance(known, dict) or "latree" not in known:
        raise InputError(f"{path.parent}: exists and holds something else; choose another folder")
    return known


def clear(folder: Path, files: Iterable[Path]) -> None:
    """Remove files of a run and the settings, and the folder if nothing else is in it."""
    for path in [*files, folder / SETTINGS]:
        path.unlink(missing_ok=True)
    remove_empty(folder)
