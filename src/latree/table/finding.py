"""From whatever a user gives to a source of raw data."""

import glob
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import narwhals as nw
import numpy as np

from latree._util.progress import Progress, no_progress
from latree.errors import InputError
from latree.table.factors import from_frame, from_matrix
from latree.table.parquet import is_parquet, parquet_source
from latree.table.sources import Source, in_memory
from latree.table.textfile import is_text_file, text_source


def find_source(data: Any, names: Sequence[str] | None, client: Any = None, progress: Progress = no_progress) -> Source:
    """Make a source of a file's name or a pattern of names, an array or a data frame."""
    if names is not None and not isinstance(data, np.ndarray):
        raise InputError("names can be given for an array only; a file or a data frame has its own")
    if isinstance(data, str | Path):
        paths = find_files(Path(data))
        if client is not None:
            if not is_parquet(paths[0]):
                raise InputError(f"{data}: a cluster reads Parquet files; have dask.dataframe read others")
            on_cluster: Source = cluster().parquet_source(str(data), paths, client)
            return on_cluster
        read = parquet_source if is_parquet(paths[0]) else text_source
        return read(str(data), paths, progress)
    if is_on_cluster(data):
        frame: Source = cluster().frame_source(data, client)
        return frame
    if client is not None:
        raise InputError("a client is for Parquet files and Dask dataframes; other data are in this process already")
    if isinstance(data, np.ndarray):
        return in_memory("the array", from_matrix(data, names))
    return in_memory("the data frame", from_frame(data))


def is_on_cluster(data: Any) -> bool:
    """Tell whether data are a Dask dataframe."""
    return nw.dependencies.is_dask_dataframe(data)


def cluster() -> ModuleType:
    """Give the module that works with Dask, or say what is missing."""
    try:
        import latree.table.dask as module
    except ModuleNotFoundError:
        raise InputError("work on a cluster needs Dask; pip install 'latree[dask]'") from None
    return module


def find_files(path: Path) -> list[Path]:
    """Give the files that a name or a pattern stands for, sorted; they must all be of one readable kind."""
    paths = [path]
    if not path.exists() and glob.has_magic(str(path)):
        paths = sorted(map(Path, glob.glob(str(path))))
        if not paths:
            raise InputError(f"{path}: no file has a name like this")
    for one in paths:
        if one.is_dir():
            raise InputError(f"{one}: is a folder, not a file; '{one}/*.parquet' means all Parquet files in it")
        if not is_text_file(one) and not is_parquet(one):
            raise InputError(
                f"{one}: unknown kind of file; the name must end in .csv, .tsv or .txt (also with .gz), or in .parquet"
            )
    if len({is_parquet(one) for one in paths}) > 1:
        raise InputError(f"{path}: stands for both text and Parquet files")
    return paths
