"""Readers of files: one module for each format or family of formats.

Each module has a tuple ``FORMATS`` of its formats. :mod:`latree.table.opening` collects them, and with them the help of
the command line and the list in docs/data.md: a new format needs a new module here, and a target in fuzz/.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from latree.errors import InputError
from latree.table.sources import RowSource


class Files(NamedTuple):
    """The files that a reader opens.

    Attributes
    ----------
    where : str
        The name, or the pattern, that the user gave.
    paths : list of Path
    format : str
        The name of the format.
    names : sequence of str or None
        Names for the columns of a file that has none.
    counts : bool
        Whether the numbers of a sparse matrix are used, or only whether they are there.
    """

    where: str
    paths: list[Path]
    format: str
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


class FileFormat(NamedTuple):
    """A format of files.

    Attributes
    ----------
    name : str
        What the option ``format`` calls it.
    title : str
        What people call it.
    endings : tuple of str
        Of the names of files, in small letters; the usual one first.
    open : callable
        From the files to a source of rows.
    what : str
        What is read, for docs/data.md.
    needs : str
        The extra of latree that installs the library that it needs, if any.
    gzipped : bool
        Whether ``.gz`` may follow the ending.
    takes_names : bool
        Whether files have no names of columns, so that users may give them.
    """

    name: str
    title: str
    endings: tuple[str, ...]
    open: Callable[[Files], RowSource]
    what: str
    needs: str = ""
    gzipped: bool = False
    takes_names: bool = False

    def has_name(self, path: Path) -> bool:
        """Return whether a file has one of the endings."""
        name = path.name.lower()
        return (name.removesuffix(".gz") if self.gzipped else name).endswith(self.endings)
