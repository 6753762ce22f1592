"""Files and folders that are written whole or not at all."""

import json
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from latree.errors import InputError


def refuse_existing(path: Path) -> None:
    """Raise if something already stands where an output is to go, or if it cannot go there."""
    if path.exists() or path.is_symlink():
        raise InputError(f"{path}: already exists; nothing was written (choose another name or remove it first)")
    if not path.parent.is_dir():
        raise InputError(f"{path}: the folder {path.parent} does not exist")


def read_text(path: Path) -> str:
    """Read a text file."""
    with readable(path):
        return path.read_text(encoding="utf-8")


@contextmanager
def readable(path: Path) -> Iterator[None]:
    """Say in one line why a file cannot be read."""
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
    """Write a file by way of a temporary one beside it, so that no reader ever sees half of it."""
    with _writable(path):
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    temporary = Path(name)
    try:
        with _writable(path):
            with os.fdopen(handle, "wb") as stream:
                stream.write(content)
                stream.flush()
                os.fsync(stream.fileno())  # or a power cut could leave the name of an empty file
            temporary.chmod(0o666 & ~_umask())
            temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


@contextmanager
def _writable(path: Path) -> Iterator[None]:
    """Say in one line why a file cannot be written, by its own name and not that of the temporary one."""
    try:
        yield
    except OSError as error:
        raise InputError(f"{path}: {error.strerror or error}") from None


def is_temporary(path: Path) -> bool:
    """Tell by its name whether a file is what a process that was killed while it wrote left behind."""
    return re.fullmatch(r"\..+\.[a-z0-9_]{8}", path.name) is not None


@contextmanager
def new_folder(path: Path) -> Iterator[Path]:
    """Give a temporary folder that becomes ``path`` if the block succeeds and vanishes if it does not."""
    refuse_existing(path)
    with _writable(path):
        temporary = Path(tempfile.mkdtemp(dir=path.parent, prefix=f".{path.name}."))
    try:
        yield temporary
        temporary.chmod(0o777 & ~_umask())
        temporary.rename(path)
    except BaseException:
        shutil.rmtree(temporary, ignore_errors=True)
        raise


def to_json(value: Any) -> str:
    """Format as JSON that a person can read; floats keep every bit."""
    return json.dumps(value, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
