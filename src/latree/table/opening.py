"""From the data that a user passes (array, data frame, file name, pattern) to a source of raw rows."""

import glob
import warnings
from collections.abc import Sequence
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from types import ModuleType
from typing import Any

import narwhals as nw
import numpy as np

from latree._util.files import readable
from latree._util.words import did_you_mean, setting
from latree.errors import FitWarning, InputError
from latree.table import formats
from latree.table.formats import FileFormat, Files
from latree.table.frames import from_frame
from latree.table.raw import array_names, from_matrix
from latree.table.sources import RowSource, memory_source
from latree.table.sparse import is_sparse, sparse_source
from latree.table.storage import Storage


def _all_formats() -> tuple[FileFormat, ...]:
    """Return the formats of all modules in the folder ``formats``: text first, others by the alphabet."""
    modules = (import_module(f"{formats.__name__}.{info.name}") for info in iter_modules(formats.__path__))
    found: list[FileFormat] = [format for module in modules for format in getattr(module, "FORMATS", ())]
    return tuple(sorted(found, key=lambda format: (format.name != "csv", format.title.lower())))


FORMATS = _all_formats()


def formats_in_words() -> str:
    """Return the names of the formats and the endings of their files, for the help of the command line."""
    *others, last = (f"{format.name} ({', '.join(format.endings)})" for format in FORMATS)
    gzipped = ", ".join(format.name for format in FORMATS if format.gzipped)
    return f"{', '.join(others)} or {last}. Files of these may be gzipped: {gzipped}."


def find_files(path: Path, format: str | None = None) -> tuple[FileFormat, list[Path]]:
    """Return the files that a name or a pattern matches, sorted, and their format, by their ending or as it is given.

    Raise if there are none, or if they are not of one format.
    """
    paths = [path]
    if not path.exists() and glob.has_magic(str(path)):
        paths = sorted(map(Path, glob.glob(str(path))))
        if not paths:
            raise InputError(f"{path}: no file matches this pattern: check the folder and the file name")
    for file in paths:
        if file.is_dir():
            raise InputError(f"{file}: is a folder, not a file; '{file}/*.parquet' means all Parquet files in it")
    if format is not None:
        return _named(format), paths
    found = [_by_ending(file) for file in paths]
    for other in found:
        if other != found[0]:
            raise InputError(
                f"{path}: matches both {found[0].name} and {other.name} files: use a pattern that matches only one kind"
            )
    return found[0], paths


def _by_ending(path: Path) -> FileFormat:
    for format in FORMATS:
        if format.has_name(path):
            return format
    endings = ", ".join(format.endings[0] for format in FORMATS)
    raise InputError(
        f"{path}: unknown kind of file; its name must have a known ending ({endings}, ...), or name its format with "
        f"{setting('format')}"
    )


def _named(name: str) -> FileFormat:
    for format in FORMATS:
        if format.name == name:
            return format
    names = [format.name for format in FORMATS]
    hint = did_you_mean(name, names) or f"it must be one of {', '.join(names)}"
    raise InputError(f"unknown format {name!r:.60}: {hint}")


def open_source(
    data: Any,
    names: Sequence[str] | None,
    client: Any = None,
    *,
    format: str | None = None,
    counts: bool = False,
) -> RowSource:
    """Return a source of the rows of a file, of files that match a pattern, of an array or of a data frame.

    See :func:`latree.as_table` for the arguments.
    """
    if isinstance(data, str | Path):
        kind, paths = find_files(Path(data), format)
        if names is not None and not kind.takes_names:
            without = ", ".join(format.endings[0] for format in FORMATS if format.takes_names)
            raise InputError(f"{data}: names are for files of matrices ({without}): other files have their own names")
        if client is not None:
            if kind.name != "parquet":
                raise InputError(
                    f"{data}: a cluster reads Parquet files only: read other files with dask.dataframe, and pass that"
                )
            on_cluster: RowSource = dask_module().parquet_source(str(data), paths, client)
            return on_cluster
        for path in paths:  # before a reader says that it needs a library
            with readable(path):
                path.stat()
        source = kind.open(Files(str(data), paths, kind.name, names, counts))
        for remark in source.remarks:
            warnings.warn(f"{remark}.", FitWarning, stacklevel=2)
        return source
    if format is not None:
        raise InputError(f"format={format!r} is for files: leave it out for data in memory")
    if names is not None and not isinstance(data, np.ndarray) and not is_sparse(data):
        raise InputError("names can be given for an array or a sparse matrix only: a data frame has its own names")
    if is_dask_dataframe(data):
        frame: RowSource = dask_module().frame_source(data, client)
        return frame
    if client is not None:
        raise InputError("a client is for Parquet files and Dask dataframes: leave it out for data in this process")
    if is_sparse(data):
        return sparse_source("the sparse matrix", data, names, counts)
    if is_annotated(data):
        where, own = "the annotated matrix", list(map(str, data.var_names))
        if is_sparse(data.X):
            return sparse_source(where, data.X, own, counts)
        return memory_source(where, from_matrix(np.asarray(data.X), own))
    if isinstance(data, np.ndarray):
        storage = Storage(str(data.dtype)) if data.dtype.kind in "iufb" else None
        columns = [replace(raw, storage=storage) for raw in from_matrix(data, names)]
        return memory_source("the array", columns, "positions" if names is None else "names")
    return memory_source("the data frame", from_frame(data))


def is_annotated(data: Any) -> bool:
    """Return whether data hold a matrix and the names of its columns, as AnnData does."""
    return hasattr(data, "X") and hasattr(data, "var_names")


def is_dask_dataframe(data: Any) -> bool:
    """Return whether data are a Dask dataframe."""
    return nw.dependencies.is_dask_dataframe(data)


def is_frame(data: Any) -> bool:
    """Return whether data are a frame in memory, or one of polars that is not computed yet."""
    return bool(nw.dependencies.is_into_dataframe(data) or nw.dependencies.is_polars_lazyframe(data))


def names_of(data: Any) -> list[str]:
    """Return the names of all columns of a frame or an array, also of those that are not learned from."""
    if isinstance(data, np.ndarray) or is_sparse(data):
        return array_names(data.shape[1])
    if is_annotated(data):
        return list(map(str, data.var_names))
    if nw.dependencies.is_polars_lazyframe(data):
        return data.collect_schema().names()
    return list(map(str, nw.from_native(data, eager_only=True).columns)) if is_frame(data) else []


def is_elsewhere(data: Any) -> bool:
    """Return whether data are in files or on a cluster, not in memory."""
    return isinstance(data, str | Path) or is_dask_dataframe(data)


def dask_module() -> ModuleType:
    """Import and return :mod:`latree.table.dask`; raise if Dask is not installed."""
    try:
        import latree.table.dask as module
    except ModuleNotFoundError:
        raise InputError("work on a cluster needs Dask: pip install 'dask[dataframe]' distributed") from None
    return module
