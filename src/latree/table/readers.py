"""From the data that a user passes (array, data frame, file name, pattern) to a source of raw rows."""

import warnings
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import narwhals as nw
import numpy as np

from latree._util.files import readable
from latree._util.progress import Progress, no_progress
from latree.errors import FitWarning, InputError
from latree.table.formats import WITHOUT_NAMES, Reading, find_files
from latree.table.raw import from_frame, from_matrix
from latree.table.sources import RowSource, memory_source
from latree.table.sparse import is_sparse, sparse_source


def open_source(
    data: Any,
    names: Sequence[str] | None,
    client: Any = None,
    progress: Progress = no_progress,
    *,
    format: str | None = None,
    counts: bool = False,
) -> RowSource:
    """Return a source of the rows of a file, of files that match a pattern, of an array or of a data frame.

    See :func:`latree.as_table` for the arguments.
    """
    if isinstance(data, str | Path):
        kind, paths = find_files(Path(data), format)
        if names is not None and kind.name not in WITHOUT_NAMES:
            raise InputError(f"{data}: names are for files of matrices (.npz, .mtx): other files have their own names")
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
        source = kind.open(Reading(str(data), paths, progress, names, counts))
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
            return sparse_source(where, data.X, own, counts, "names")
        return memory_source(where, from_matrix(np.asarray(data.X), own))
    if isinstance(data, np.ndarray):
        return memory_source("the array", from_matrix(data, names), "positions")
    return memory_source("the data frame", from_frame(data))


def is_annotated(data: Any) -> bool:
    """Return whether data hold a matrix and the names of its columns, as AnnData does."""
    return hasattr(data, "X") and hasattr(data, "var_names")


def is_dask_dataframe(data: Any) -> bool:
    """Return whether data are a Dask dataframe."""
    return nw.dependencies.is_dask_dataframe(data)


def dask_module() -> ModuleType:
    """Import and return :mod:`latree.table.dask`; raise if Dask is not installed."""
    try:
        import latree.table.dask as module
    except ModuleNotFoundError:
        raise InputError("work on a cluster needs Dask: pip install 'dask[dataframe]' distributed") from None
    return module
