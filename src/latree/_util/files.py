"""Files and folders that are written whole or not at all, and that two runs never write at the same time.

Everything is written in a temporary folder beside its place and then moved there in one step. What a run that was
killed leaves behind is a folder with a name such as ``.latree-3f9k2a1b``. No later run removes it, nor anything else
that it did not write itself.
"""

import codecs
import json
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import takewhile
from pathlib import Path
from typing import Any, BinaryIO

from latree.errors import InputError

if sys.platform != "win32":
    import fcntl

# What a model's file says about its format.
MODEL_FORMAT = "latree-model"
# What latree fit may write into a folder. The model comes last: whoever reads it while they are replaced, one after the
# other, finds an old model beside new reports, and never the other way round.
_FILES_OF_A_RUN = (
    "report.html",
    "report.txt",
    "groups.csv",
    "loadings.csv",
    "profiles.csv",
    "tree.nwk",
    "consensus.nwk",
    "summary.json",
    "model.json",
)
# Those that have no names of groups and no directions.
_WITHOUT_NAMES = ("tree.nwk", "consensus.nwk", "model.json")
# How the two files begin by which a folder is known as the result of a fit.
_MARKS_OF_A_RUN = {
    "model.json": rb'\s*\{\s*"format":\s*"%s"' % MODEL_FORMAT.encode(),
    "summary.json": rb'\s*\{\s*"latree":\s*"',
}
_MARK_BYTES = 200
# The folder in a run with new files that are to replace those of the run, and the list in it of files that only go.
_REPLACEMENT, _REMOVED = ".latree-replacement", "removed.txt"


def refuse_existing(
    path: Path, replace: bool = False, folder: bool = False, advice: str = "choose another name", or_else: str = ""
) -> None:
    """Raise if the path of an output already exists, or if its folder cannot be made.

    With ``replace`` a file may take the place of a file, and the files of a ``folder`` those of the result of a fit.
    """
    _nearest_folder(path)
    if not path.exists() and not path.is_symlink():
        return
    is_folder = path.is_dir() and not path.is_symlink()
    if is_folder:
        if not _is_run(path):
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


def remove_empty(folder: Path) -> None:
    """Remove a folder if nothing is in it."""
    with suppress(OSError):
        folder.rmdir()


def write_text(path: Path, text: str) -> None:
    """Write a text file, whole or not at all."""
    write_bytes(path, text.encode())


def write_bytes(path: Path, content: bytes) -> None:
    """Write a file, whole or not at all."""
    with new_file(path) as stream:
        stream.write(content)


@contextmanager
def new_file(path: Path, replace: bool = True) -> Iterator[BinaryIO]:
    """Open a file that becomes ``path`` if the block succeeds, so that no reader ever sees half of it."""
    with staged(path, replace) as temporary, open(temporary, "wb") as stream:
        yield stream
        sync(stream)


def sync(stream: BinaryIO) -> None:
    """Wait until what was written is on the disk; otherwise a power cut could leave an empty file."""
    stream.flush()
    os.fsync(stream.fileno())


def files_with_names(folder: Path) -> list[str]:
    """Return the files of a fit in a folder that have the names and the directions of groups, beside the model."""
    return [name for name in _FILES_OF_A_RUN if name not in _WITHOUT_NAMES and (folder / name).is_file()]


@contextmanager
def new_folder(path: Path, replace: bool = False) -> Iterator[Path]:
    """Make a folder that becomes ``path`` if the block succeeds and is removed if it fails.

    With ``replace`` its files take the place of those of an earlier fit. Other files in that folder stay.
    """
    refuse_existing(path, replace, folder=True)
    with staged(path, replace) as temporary:
        temporary.mkdir()
        yield temporary
        refuse_existing(path, replace, folder=True)  # something may have appeared there during the work


@contextmanager
def staged(path: Path, replace: bool = True) -> Iterator[Path]:
    """Yield a path of the same name in a temporary folder; what the block writes there becomes ``path``.

    Folders that lead to it are made then, too, if there are none. If the block fails, nothing is left of it. Without
    ``replace``, raise if something else has appeared at the path during the work.
    """
    with writable(path):
        folder = Path(tempfile.mkdtemp(dir=_nearest_folder(path), prefix=".latree-"))
    temporary = folder / path.name
    try:
        with writable(path):
            yield temporary
            with made_parents(path):
                _move(temporary, path, replace)
    except InputError as error:  # people know the path that they asked for, not the temporary one
        raise InputError(str(error).replace(str(temporary), str(path))) from None
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _move(temporary: Path, path: Path, replace: bool) -> None:
    if temporary.is_dir():
        if replace and path.is_dir():
            _replace_run(temporary, path)
        else:
            _rename_to_new_folder(temporary, path)
    elif replace:
        if path.exists():
            shutil.copymode(path, temporary)  # what others may not read, they may not read now
        temporary.replace(path)
    else:
        _rename_to_new(temporary, path)


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


def _rename_to_new_folder(temporary: Path, path: Path) -> None:
    try:
        temporary.rename(path)
    except OSError:
        if path.exists():
            raise _taken(path) from None
        raise


def _taken(path: Path) -> InputError:
    return InputError(f"{path}: already exists, since another run wrote it; nothing was written (choose another name)")


def _is_run(path: Path) -> bool:
    """Return whether latree fit wrote a folder: by the content of its files, not by their names alone."""

    def begins(name: str, mark: bytes) -> bool:
        with suppress(OSError), open(path / name, "rb") as stream:
            return re.match(mark, stream.read(_MARK_BYTES)) is not None
        return False

    marked = all(begins(name, mark) for name, mark in _MARKS_OF_A_RUN.items())
    return marked and not any((path / name).is_dir() for name in _FILES_OF_A_RUN)


def _replace_run(new: Path, run: Path) -> None:
    """Replace the files of a run by those in another folder, and leave everything else that is in the run.

    The new files come into the run together, as a folder, in one step. From then on the new result counts: if this
    process is killed before it has moved each file to its place, whoever uses the run next does so.
    """
    _finish_replacement(run)
    removed = [name for name in _FILES_OF_A_RUN if not (new / name).exists()]
    write_text(new / _REMOVED, "\n".join(removed))
    new.rename(run / _REPLACEMENT)
    _finish_replacement(run)


def finish_replacement(run: Path) -> None:
    """Finish what a fit that was killed began to replace in a folder, unless a fit is just doing so."""
    if (run / _REPLACEMENT / _REMOVED).is_file():
        try:
            lock = Lock(run)
        except InputError:
            return
        try:
            _finish_replacement(run)
        finally:
            lock.release()


def _finish_replacement(run: Path) -> None:
    new = run / _REPLACEMENT
    if not (new / _REMOVED).is_file():
        return
    removed = read_text(new / _REMOVED).splitlines()
    for name in _FILES_OF_A_RUN:
        try:
            if (new / name).exists():
                (new / name).replace(run / name)
            elif name in removed:
                (run / name).unlink(missing_ok=True)
        except OSError as error:  # Windows replaces no file that is open
            raise InputError(
                f"{run / name}: {error.strerror or error}; the new result is complete in {new}: close the file, and "
                f"`latree groups {run}` moves all files to their places"
            ) from None
    with suppress(OSError):  # another run may do the same, since the model is in its place
        (new / _REMOVED).unlink()
        new.rmdir()


class Lock:
    """Keeps other runs from replacing a file, or the files of a run, until it is released or the process ends.

    The file itself is locked, so that nothing is left beside it, even by a process that is killed.
    """

    def __init__(self, path: Path) -> None:
        file = path / _FILES_OF_A_RUN[-1] if path.is_dir() else path
        with readable(file):
            self._handle = _acquire(file)
        if self._handle is None:
            raise InputError(f"{path}: another run is writing it; wait until it ends, or choose another name")

    def release(self) -> None:
        """Let other runs replace the file."""
        if self._handle is not None:
            _release(self._handle)
            self._handle = None


if sys.platform == "win32":
    # Windows replaces no open files. So a file beside it is open, which the system removes when its process ends.

    def _acquire(file: Path) -> int | None:
        try:
            return os.open(file.with_name(f".{file.name}.latree-lock"), os.O_CREAT | os.O_EXCL | os.O_TEMPORARY)
        except (FileExistsError, PermissionError):
            return None

    _release = os.close

else:

    def _acquire(file: Path) -> int | None:
        # Network file systems lock only files that are open for writing.
        handle = os.open(file, os.O_RDWR if os.access(file, os.W_OK) else os.O_RDONLY)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            is_ours = False
        except OSError:  # a file system without locks: another run may come between
            is_ours = True
        else:  # unless another run has just replaced the file
            is_ours = file.exists() and os.path.samestat(os.fstat(handle), file.stat())
        if is_ours:
            return handle
        os.close(handle)
        return None

    def _release(handle: int) -> None:
        with suppress(OSError):
            fcntl.flock(handle, fcntl.LOCK_UN)  # also for copies of this process, which have the same file open
        os.close(handle)


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Keep other runs from replacing a file, or the files of a run, during a block; raise if one is at work on it."""
    lock = Lock(path)
    try:
        yield
    finally:
        lock.release()


@contextmanager
def writable(path: Path) -> Iterator[None]:
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
        with writable(path):
            path.parent.mkdir(parents=True, exist_ok=True)
        yield
    except BaseException:
        for parent in missing:
            remove_empty(parent)  # someone else may have put something there
        raise


def to_json(value: Any) -> str:
    """Format as JSON that people can read; floats keep every bit."""
    return json.dumps(value, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
