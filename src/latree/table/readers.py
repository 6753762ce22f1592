"""From the data that a user passes (array, data frame, file name, pattern) to a source of raw rows."""

import glob
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import narwhals as nw
import numpy as np

from latree._util.progress import Progress, no_progress
from latree.errors import InputError
from latree.table.parquet import is_parquet, parquet_source
from latree.table.raw import from_frame, from_matrix
from latree.table.sources import RowSource, memory_source
from latree.table.textfile import is_text_file, text_source


def open_source(
    data: Any, names: Sequence[str] | None, client: Any = None, progress: Progress = no_progress
) -> RowSource:
    """Return a source of the rows of a file, of files that match a pattern, of an array or of a data frame."""
    if names is not None and not isinstance(data, np.ndarray):
        raise InputError("names can be given for an array only: a file or a data frame has its own column names")
    if isinstance(data, str | Path):
        paths = find_files(Path(data))
        if client is not None:
            if not is_parquet(paths[0]):
                raise InputError(
                    f"{data}: a cluster reads Parquet files only: read other files with dask.dataframe, and pass that"
                )
            on_cluster: RowSource = dask_module().parquet_source(str(data), paths, client)
            return on_cluster
        read = parquet_source if is_parquet(paths[0]) else text_source
        return read(str(data), paths, progress)
    if is_dask_dataframe(data):
        frame: RowSource = dask_module().frame_source(data, client)
        return frame
    if client is not None:
        raise InputError("a client is for Parquet files and Dask dataframes: leave it out for data in this process")
    if isinstance(data, np.ndarray):
        return memory_source("the array", from_matrix(data, names))
    return memory_source("the data frame", from_frame(data))


def is_dask_dataframe(data: Any) -> bool:
    """Return whether data are a Dask dataframe."""
    return nw.dependencies.is_dask_dataframe(data)


def dask_module() -> ModuleType:
    """Import and return :mod:`latree.table.dask`; raise if Dask is not installed."""
    try:
        import latree.table.dask as module
    except ModuleNotFoundError:
        raise InputError("work on a cluster needs Dask: pip install 'latree[dask]'") from None
    return module


def find_files(path: Path) -> list[Path]:
    """Return the files that a name or a pattern matches, sorted; raise if they are not of one readable kind."""
    paths = [path]
    if not path.exists() and glob.has_magic(str(path)):
        paths = sorted(map(Path, glob.glob(str(path))))
        if not paths:
            raise InputError(f"{path}: no file matches this pattern: check the folder and the file name")
    for file in paths:
        if file.is_dir():
            raise InputError(f"{file}: is a folder, not a file; '{file}/*.parquet' means all Parquet files in it")
        if not is_text_file(file) and not is_parquet(file):
            raise InputError(
                f"{file}: unknown kind of file; the name must end in .csv, .tsv or .txt (also with .gz), or in .parquet"
            )
    if len({is_parquet(file) for file in paths}) > 1:
        raise InputError(f"{path}: matches both text and Parquet files: use a pattern that matches only one kind")
    return paths
