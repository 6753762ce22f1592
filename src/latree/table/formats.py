"""The formats of files that latree reads: their names, their endings, and who opens them."""

import glob
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple, TypeAlias

from latree._util.progress import Progress
from latree._util.spelling import setting
from latree._util.words import did_you_mean
from latree.errors import InputError
from latree.table.alignment import alignment_source
from latree.table.arff import arff_source
from latree.table.basket import basket_source
from latree.table.excel import excel_source
from latree.table.matrixfile import matrix_source
from latree.table.parquet import parquet_source
from latree.table.sources import RowSource
from latree.table.statfile import stat_source
from latree.table.textfile import text_source


class Reading(NamedTuple):
    """What a reader of files is told.

    Attributes
    ----------
    where : str
        The name, or the pattern, that the user gave.
    paths : list of Path
        The files.
    progress : callable
    names : sequence of str or None
        Names for the columns of a file that has none.
    counts : bool
        Whether the numbers of a sparse matrix are used, or only whether they are there.
    """

    where: str
    paths: list[Path]
    progress: Progress
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
    FileFormat("csv", (".csv", ".tsv", ".txt"), lambda r: text_source(r.where, r.paths, r.progress), gzipped=True),
    FileFormat("parquet", (".parquet", ".pq"), lambda r: parquet_source(r.where, r.paths, r.progress)),
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
