"""Files and folders that are written whole or not at all."""

import codecs
import json
import os
import re
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from glob import escape
from itertools import takewhile
from pathlib import Path
from typing import Any, BinaryIO

from latree.errors import InputError

# A folder with these files is the result of a fit, which another fit may replace.
_FILES_OF_A_RUN = ("model.json", "summary.json")

# A temporary file or folder that nobody has written to for this long was left by a process that was killed.
_LEFTOVER_SECONDS = 24 * 60 * 60


def refuse_existing(
    path: Path, replace: bool = False, folder: bool = False, advice: str = "choose another name", or_else: str = ""
) -> None:
    """Raise if the path of an output already exists, or if its folder cannot be made.

    With ``replace`` a file may take the place of a file, and a ``folder`` that of a folder that holds the result of a
    fit.
    """
    _nearest_folder(path)
    if not path.exists() and not path.is_symlink():
        return
    is_folder = path.is_dir() and not path.is_symlink()
    if is_folder:
        if not all((path / name).is_file() for name in _FILES_OF_A_RUN):
            raise InputError(
                f"{path}: already exists and is a folder that latree fit did not write; it is not replaced, {advice}"
            )
        if not folder:
            raise InputError(f"{path}: already exists and is a folder; it is not replaced by a file, {advice}")
    elif folder and path.is_file():
        raise InputError(f"{path}: already exists and is a file; it is not replaced by a folder, {advice}")
    if not replace or not (is_folder if folder else path.is_file()):
        raise InputError(f"{path}: already exists; nothing was written ({advice}{or_else})")


def read_text(path: Path) -> str:
    """Read a text file in UTF-8, or in UTF-16 with a byte order mark, which is left out."""
    with readable(path):
        content = path.read_bytes()
        return content.decode(text_encoding(content))


def text_encoding(start: bytes) -> str:
    """Return the encoding of a text file by its first bytes: by its byte order mark, or UTF-8 if it has none."""
    marks = {
        codecs.BOM_UTF8: "utf-8-sig",
        codecs.BOM_UTF32_LE: "utf-32",  # before UTF-16, whose mark is the first half of this one
        codecs.BOM_UTF32_BE: "utf-32",
        codecs.BOM_UTF16_LE: "utf-16",
        codecs.BOM_UTF16_BE: "utf-16",
    }
    return next((encoding for mark, encoding in marks.items() if start.startswith(mark)), "utf-8")


@contextmanager
def readable(path: Path) -> Iterator[None]:
    """Turn errors of reading a file into one clear line; a pipe or a device is refused, as it may not end."""
    if path.exists() and not path.is_file() and not path.is_dir():
        raise InputError(f"{path}: not a file but a pipe or a device: save its content as a file first")
    try:
        yield
    except UnicodeDecodeError:
        raise InputError(f"{path}: not UTF-8 text") from None
    except OSError as error:
        reasons = {FileNotFoundError: "no such file", IsADirectoryError: "is a folder, not a file"}
        raise InputError(f"{path}: {reasons.get(type(error), error.strerror or str(error))}") from None


def write_text(path: Path, text: str) -> None:
    """Write a text file, whole or not at all."""
    write_bytes(path, text.encode())


def write_bytes(path: Path, content: bytes) -> None:
    """Write a file, whole or not at all."""
    with new_file(path) as stream:
        stream.write(content)


@contextmanager
def new_file(path: Path, replace: bool = True) -> Iterator[BinaryIO]:
    """Open a temporary file that becomes ``path`` if the block succeeds, so that no reader ever sees half of it.

    Folders that lead to it are made then, too, if there are none. Without ``replace``, raise if something else has
    appeared at the path during the work.
    """
    _remove_leftovers(path)
    with _writable(path):
        handle, name = tempfile.mkstemp(dir=_nearest_folder(path), prefix=f".{path.name}.")
    temporary = Path(name)
    try:
        with _writable(path):
            with os.fdopen(handle, "wb") as stream:
                yield stream
                stream.flush()
                os.fsync(stream.fileno())  # otherwise a power cut could leave an empty file
            temporary.chmod(0o666 & ~_umask())
            with made_parents(path):
                if replace:
                    temporary.replace(path)
                else:
                    _rename_to_new(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _rename_to_new(temporary: Path, path: Path) -> None:
    """Rename a file; raise if the new name is taken. Of two runs that do so at the same moment, one fails."""
    try:
        path.hardlink_to(temporary)
    except FileExistsError:
        raise _taken(path) from None
    except OSError:  # a file system without hard links: somebody may still come between these two lines
        if path.exists():
            raise _taken(path) from None
        temporary.replace(path)
    else:
        temporary.unlink()


def _taken(path: Path) -> InputError:
    return InputError(f"{path}: already exists, since another run wrote it; nothing was written (choose another name)")


def _remove_leftovers(path: Path) -> None:
    """Remove what runs that were killed while they wrote the same path have left, unless it is recent."""
    before = time.time() - _LEFTOVER_SECONDS
    with suppress(OSError):  # another process may remove it at the same time
        for other in _nearest_folder(path).glob(f".{escape(path.name)}.*"):
            if is_temporary(other) and other.stat().st_mtime < before:
                if other.is_dir() and not other.is_symlink():
                    shutil.rmtree(other, ignore_errors=True)
                else:
                    other.unlink()


@contextmanager
def _writable(path: Path) -> Iterator[None]:
    """Turn errors of writing a file into one clear line that names the file, not the temporary one."""
    try:
        yield
    except OSError as error:
        raise InputError(f"{path}: {error.strerror or error}") from None


def _nearest_folder(path: Path) -> Path:
    """Return the nearest folder above a path that exists; raise if something else stands in its place."""
    nearest = next((parent for parent in path.parents if parent.exists() or parent.is_symlink()), path)
    if not nearest.is_dir():
        raise InputError(f"{path}: {nearest} is not a folder; choose another name")
    return nearest


@contextmanager
def made_parents(path: Path) -> Iterator[None]:
    """Make the folders that lead to a path, and remove them again if the block fails."""
    nearest = _nearest_folder(path)
    missing = list(takewhile(lambda parent: parent != nearest, path.parents))
    try:
        with _writable(path):
            path.parent.mkdir(parents=True, exist_ok=True)
        yield
    except BaseException:
        for parent in missing:
            with suppress(OSError):  # someone else may have put something there
                parent.rmdir()
        raise


def is_temporary(path: Path) -> bool:
    """Return whether a file name is that of a temporary file, which a killed process may have left behind."""
    return re.fullmatch(r"\..+\.[a-z0-9_]{8}", path.name) is not None


@contextmanager
def new_folder(path: Path, replace: bool = False) -> Iterator[Path]:
    """Make a temporary folder that becomes ``path`` if the block succeeds and is removed if it fails.

    Folders that lead to it are made then, too. With ``replace`` it takes the place of the result of an earlier fit.
    """
    refuse_existing(path, replace, folder=True)
    _remove_leftovers(path)
    with _writable(path):
        temporary = Path(tempfile.mkdtemp(dir=_nearest_folder(path), prefix=f".{path.name}."))
    try:
        yield temporary
        temporary.chmod(0o777 & ~_umask())
        refuse_existing(path, replace, folder=True)  # something may have appeared there during the work
        with made_parents(path), _set_aside(path):
            try:
                temporary.rename(path)
            except OSError:
                if path.exists():
                    raise _taken(path) from None
                raise
    except BaseException as error:
        shutil.rmtree(temporary, ignore_errors=True)
        # People know the folder that they asked for, not the temporary one.
        if isinstance(error, InputError):
            raise InputError(str(error).replace(str(temporary), str(path))) from None
        if isinstance(error, OSError):
            raise InputError(f"{path}: {error.strerror or error}") from None
        raise


@contextmanager
def _set_aside(path: Path) -> Iterator[None]:
    """Move what is at a path out of the way; remove it if the block succeeds, and put it back if it fails."""
    if not path.exists():
        yield
        return
    aside = Path(tempfile.mkdtemp(dir=path.parent, prefix=f".{path.name}."))
    try:
        path.rename(aside / path.name)
    except OSError:  # Windows moves no folder in which a file is open
        aside.rmdir()
        raise
    try:
        yield
    except BaseException:
        (aside / path.name).rename(path)  # if this fails, the earlier result stays where it is
        aside.rmdir()
        raise
    shutil.rmtree(aside, ignore_errors=True)


def to_json(value: Any) -> str:
    """Format as JSON that people can read; floats keep every bit."""
    return json.dumps(value, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
