"""Reading CSV and TSV files, plain or gzipped."""

import csv
import gzip
import io
import re
import zlib
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import count, islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import numpy as np

from latree._util.files import readable
from latree._util.progress import Progress, no_progress
from latree.errors import InputError
from latree.table.factors import Factor, check_names, check_same, text_array
from latree.table.sources import CELLS_AT_ONCE, LocalSource, Names, in_files

if TYPE_CHECKING:
    import _csv

_GZIP_ERRORS = (gzip.BadGzipFile, EOFError, zlib.error)


def text_source(where: str, paths: Sequence[Path], progress: Progress = no_progress) -> LocalSource:
    """Make a source of text files with the same columns, one after the other."""
    headers = []
    for path in paths:
        with _open(path) as stream:
            headers.append(_reader(path, stream)[0])
        check_same(path, headers[-1], paths[0], headers[0])
        if headers[-1] != headers[0]:
            raise InputError(f"{path}: its columns are in another order than those of {paths[0]}")
    return in_files(where, headers[0], partial(_pieces, paths, progress))


def _pieces(paths: Sequence[Path], progress: Progress, names: Names) -> Iterator[list[Factor]]:
    """Read some columns, piece by piece; tell the bytes that are read."""
    sizes = [path.stat().st_size for path in paths]
    for number, path in enumerate(paths):
        with _open(path) as stream:
            header, reader = _reader(path, stream)
            rows = _checked(path, reader, len(header))
            at_once = max(1, CELLS_AT_ONCE // len(header))
            empty = path == paths[0]  # the first piece comes in any case
            while (chunk := list(islice(rows, at_once))) or empty:
                empty = False
                columns = zip(*chunk, strict=True) if chunk else [()] * len(header)
                wanted = zip(header, columns, strict=True)
                yield [_factor(name, cells) for name, cells in wanted if names is None or name in names]
                progress(sum(sizes[:number]) + _bytes_read(stream), sum(sizes))


def _bytes_read(stream: TextIO) -> int:
    """Count the bytes of a file that are read, compressed ones if it is."""
    binary: Any = stream.buffer
    return int(getattr(binary, "fileobj", binary).tell())  # a gzip file has the compressed one inside


def _factor(name: str, cells: Sequence[str]) -> Factor:
    positions: defaultdict[str, int] = defaultdict(_counter())
    codes = np.fromiter(map(positions.__getitem__, cells), np.intp, len(cells))
    return Factor(name, text_array(list(positions)), codes.astype(np.min_scalar_type(len(positions))))


def read_cells(path: Path) -> tuple[list[str], list[list[str]]]:
    """Read a file's header and rows as they stand."""
    header, rows = read_lines(path)
    return header, [row for _, row in rows]


def read_lines(path: Path) -> tuple[list[str], list[tuple[int, list[str]]]]:
    """Read a file's header and rows as they stand, each row with the number of the line it ends on."""
    with _open(path) as stream:
        header, reader = _reader(path, stream)
        return header, [(reader.line_num, row) for row in _checked(path, reader, len(header))]


def write_cells(header: list[str], rows: Iterable[Sequence[object]], delimiter: str = ",") -> str:
    """Give a table as the text of a CSV file."""
    stream = io.StringIO()
    csv.writer(stream, delimiter=delimiter, lineterminator="\n").writerows([header, *rows])
    return stream.getvalue()


def is_text_file(path: Path) -> bool:
    """Tell by its name whether a file is one that this module reads."""
    name = path.name.lower().removesuffix(".gz")
    return name.endswith((".csv", ".tsv", ".txt"))


def _counter() -> Callable[[], int]:
    return count().__next__


def _reader(path: Path, stream: TextIO) -> tuple[list[str], "_csv.Reader"]:
    first = stream.readline()
    stream.seek(0)
    delimiters = "\t,;" if path.name.lower().removesuffix(".gz").endswith(".tsv") else ",;\t"
    unquoted = re.sub(r'"[^"]*"', "", first)
    reader = csv.reader(stream, delimiter=max(delimiters, key=unquoted.count), strict=True)
    header = [name.strip() for name in next(reader, [])]
    if not header:
        raise InputError(f"{path}: the file is empty; the first line must name the columns")
    check_names(header, str(path))
    return header, reader


def _checked(path: Path, reader: Iterator[list[str]], width: int) -> Iterator[list[str]]:
    for number, row in enumerate((row for row in reader if row), start=1):
        if len(row) != width:
            raise InputError(f"{path}: data row {number} has {len(row)} cells where the header has {width}")
        yield row


@contextmanager
def _open(path: Path) -> Iterator[TextIO]:
    """Open for reading, and say in one line what is wrong with a file that cannot be read as a table."""
    opener = gzip.open if _is_gzipped(path) else open
    with readable(path):
        try:
            with opener(path, "rt", encoding="utf-8-sig", newline="") as stream:
                yield stream
        except UnicodeDecodeError:
            raise InputError(f"{path}: {_first_bad_line(path)}") from None
        except _GZIP_ERRORS:
            raise InputError(f"{path}: not a whole gzip file") from None
        except csv.Error as error:
            raise InputError(f"{path}: not a well-formed table ({error})") from None


def _is_gzipped(path: Path) -> bool:
    return path.name.lower().endswith(".gz")


def _first_bad_line(path: Path) -> str:
    try:
        with gzip.open(path, "rb") if _is_gzipped(path) else open(path, "rb") as stream:
            for number, line in enumerate(stream, start=1):
                try:
                    line.decode("utf-8")
                except UnicodeDecodeError as error:
                    return f"line {number} is not UTF-8 text (byte 0x{line[error.start]:02x}); save the file as UTF-8"
    except _GZIP_ERRORS:
        return "not a whole gzip file"
    return "not UTF-8 text"
