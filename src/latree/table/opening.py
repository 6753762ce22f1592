"""From the data that a user passes (array, data frame, file name, pattern) to a source of raw rows."""

import glob
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple, TypeAlias

import narwhals as nw
import numpy as np

from latree._util.files import readable
from latree._util.words import did_you_mean, setting
from latree.errors import FitWarning, InputError
from latree.table.formats.alignment import alignment_source
from latree.table.formats.arff import arff_source
from latree.table.formats.excel import excel_source
from latree.table.formats.matrices import basket_source, matrix_source
from latree.table.formats.parquet import parquet_source
from latree.table.formats.stat import stat_source
from latree.table.formats.text import text_source
from latree.table.raw import from_frame, from_matrix
from latree.table.sources import RowSource, memory_source
from latree.table.sparse import is_sparse, sparse_source


class Reading(NamedTuple):
    """What a reader of files is told.

    Attributes
    ----------
    where : str
        The name, or the pattern, that the user gave.
    paths : list of Path
        The files.
    names : sequence of str or None
        Names for the columns of a file that has none.
    counts : bool
        Whether the numbers of a sparse matrix are used, or only whether they are there.
    """

    where: str
    paths: list[Path]
    names: Sequence[str] | None = None
    counts: bool = False

    @property
    def path(self) -> Path:
        """The file of a format that is read one file at a time."""
        if len(self.paths) > 1:
            raise InputError(
                f"{self.where}: matches {len(self.paths)} files, and files like {self.paths[0].name} are read one at a "
                "time: name one of them"
            )
        return self.paths[0]


Opener: TypeAlias = Callable[[Reading], RowSource]


class FileFormat(NamedTuple):
    """A format of files: the name that ``format`` takes, its endings, and the function that opens a source of rows."""

    name: str
    endings: tuple[str, ...]
    open: Opener
    gzipped: bool = False

    def has_name(self, path: Path) -> bool:
        """Return whether a file has one of the endings."""
        name = path.name.lower()
        return (name.removesuffix(".gz") if self.gzipped else name).endswith(self.endings)


FORMATS = (
    FileFormat("csv", (".csv", ".tsv", ".txt"), lambda r: text_source(r.where, r.paths), gzipped=True),
    FileFormat("parquet", (".parquet", ".pq"), lambda r: parquet_source(r.where, r.paths)),
    FileFormat("sav", (".sav", ".zsav"), lambda r: stat_source(r.path, "sav")),
    FileFormat("dta", (".dta",), lambda r: stat_source(r.path, "dta")),
    FileFormat("fasta", (".fasta", ".fa", ".fas", ".fna", ".faa"), lambda r: alignment_source(r.path, "fasta"), True),
    FileFormat("phylip", (".phy", ".phylip"), lambda r: alignment_source(r.path, "phylip"), True),
    FileFormat("nexus", (".nex", ".nexus", ".nxs"), lambda r: alignment_source(r.path, "nexus"), True),
    FileFormat("basket", (".basket",), lambda r: basket_source(r.path, r.counts), True),
    FileFormat("arff", (".arff",), lambda r: arff_source(r.path), True),
    FileFormat("xlsx", (".xlsx", ".xlsm"), lambda r: excel_source(r.path)),
    FileFormat("npz", (".npz",), lambda r: matrix_source(r.path, "npz", r.names, r.counts)),
    FileFormat("mtx", (".mtx",), lambda r: matrix_source(r.path, "mtx", r.names, r.counts), gzipped=True),
)
# Formats of matrices, whose files have no names of columns.
WITHOUT_NAMES = ("npz", "mtx")


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
        source = kind.open(Reading(str(data), paths, names, counts))
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
