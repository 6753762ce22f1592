"""Reading CSV and TSV files, plain or gzipped."""

import csv
import gzip
import io
import re
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from latree._util.files import readable
from latree._util.progress import Progress, no_progress
from latree.errors import InputError
from latree.table.raw import RawColumn, check_names, check_same_columns, from_texts
from latree.table.sources import LocalSource, Names, batch_rows, file_source

if TYPE_CHECKING:
    import _csv

_GZIP_ERRORS = (gzip.BadGzipFile, EOFError, zlib.error)
# The largest text that is read as a whole; a small gzipped file may hold much more.
_MAX_TEXT = 2**29
_BAD_GZIP = "not a whole gzip file: copy or download it again"


def text_source(where: str, paths: Sequence[Path], progress: Progress = no_progress) -> LocalSource:
    """Return a source of the rows of text files with the same columns, one file after the other."""
    headers = []
    for path in paths:
        with _open(path) as stream:
            headers.append(_reader(path, stream)[0])
        check_same_columns(path, headers[-1], paths[0], headers[0])
        if headers[-1] != headers[0]:
            raise InputError(
                f"{path}: its columns are in another order than those of {paths[0]}: put them in the same order"
            )
    return file_source(where, headers[0], partial(_read_batches, paths, progress))


def _read_batches(paths: Sequence[Path], progress: Progress, names: Names) -> Iterator[list[RawColumn]]:
    """Read columns batch by batch, and report the number of bytes that are read."""
    sizes = [path.stat().st_size for path in paths]
    for number, path in enumerate(paths):
        with _open(path) as stream:
            header, reader = _reader(path, stream)
            rows = _checked_rows(path, reader, len(header))
            size = batch_rows(len(header))
            is_first = path == paths[0]  # the first batch is yielded even if it is empty
            while (batch := list(islice(rows, size))) or is_first:
                is_first = False
                columns = zip(*batch, strict=True) if batch else [()] * len(header)
                named = zip(header, columns, strict=True)
                yield [from_texts(name, cells) for name, cells in named if names is None or name in names]
                progress(sum(sizes[:number]) + _bytes_read(stream), sum(sizes))


def _bytes_read(stream: TextIO) -> int:
    """Return how many bytes of a file are read; of a gzipped file, compressed bytes."""
    binary: Any = stream.buffer
    return int(getattr(binary, "fileobj", binary).tell())  # a gzip stream holds the compressed file inside


def read_cells(path: Path) -> tuple[list[str], list[list[str]]]:
    """Read the header and the rows of a file, without changing any cell."""
    header, rows = read_lines(path)
    return header, [row for _, row in rows]


def read_lines(path: Path) -> tuple[list[str], list[tuple[int, list[str]]]]:
    """Read the header and the rows of a file, each row with the number of the line on which it ends."""
    with _open(path) as stream:
        header, reader = _reader(path, stream)
        return header, [(reader.line_num, row) for row in _checked_rows(path, reader, len(header))]


def text_lines(path: Path) -> list[str]:
    """Return the lines of a text file, plain or gzipped, without their ends; for files that are read as a whole."""
    with _open(path) as stream:
        text = stream.read(_MAX_TEXT + 1)
    if len(text) > _MAX_TEXT:
        raise InputError(f"{path}: more than {_MAX_TEXT} letters, and such a file is read as a whole: divide it")
    return re.split(r"\r\n|\r|\n", text)


def write_cells(header: list[str], rows: Iterable[Sequence[object]], delimiter: str = ",") -> str:
    """Return a table as the text of a CSV file."""
    return write_lines([header, *rows], delimiter)


def write_columns(columns: Mapping[str, Sequence[Any]]) -> str:
    """Return columns as the text of a CSV file; numbers have four decimals, and what is not a number is empty."""
    cells = (
        ["" if x != x else f"{x:.4f}" if isinstance(x, float) else x for x in column] for column in columns.values()
    )
    return write_cells(list(columns), zip(*cells, strict=True))


def write_lines(rows: Iterable[Sequence[object]], delimiter: str = ",") -> str:
    """Return rows as lines of a CSV file."""
    stream = io.StringIO()
    csv.writer(stream, delimiter=delimiter, lineterminator="\n").writerows(rows)
    return stream.getvalue()


def delimiter_of(path: Path | None) -> str:
    """Return the delimiter of a file to write, by its name; a comma where the text is printed."""
    return "\t" if path is not None and path.suffix == ".tsv" else ","


def _reader(path: Path, stream: TextIO) -> tuple[list[str], "_csv.Reader"]:
    """Read the header, and return it with a reader of the rows."""
    # The delimiter is the candidate that occurs most often in the first line, outside of quotes.
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


def _checked_rows(path: Path, reader: "_csv.Reader", width: int) -> Iterator[list[str]]:
    """Yield the rows that are not blank; raise if one has too few or too many cells."""
    for number, row in enumerate((row for row in reader if row), start=1):
        if len(row) != width:
            raise InputError(
                f"{path}: data row {number} (line {reader.line_num}) has {len(row)} cells where the header has {width}"
                ": add or remove cells, or put quotes around cells that hold a delimiter"
            )
        yield row


@contextmanager
def _open(path: Path) -> Iterator[TextIO]:
    """Open a file for reading; what is wrong with it becomes an InputError of one line."""
    opener = gzip.open if _is_gzipped(path) else open
    with readable(path):
        try:
            with opener(path, "rt", encoding="utf-8-sig", newline="") as stream:
                yield stream
        except UnicodeDecodeError:
            raise InputError(f"{path}: {_first_bad_line(path)}") from None
        except _GZIP_ERRORS:
            raise InputError(f"{path}: {_BAD_GZIP}") from None
        except csv.Error as error:
            raise InputError(f"{path}: not a well-formed table ({error}): check its quotes and delimiters") from None


def _is_gzipped(path: Path) -> bool:
    return path.name.lower().endswith(".gz")


def _first_bad_line(path: Path) -> str:
    """Return a message that names the first line that is not UTF-8."""
    try:
        with gzip.open(path, "rb") if _is_gzipped(path) else open(path, "rb") as stream:
            for number, line in enumerate(stream, start=1):
                try:
                    line.decode("utf-8")
                except UnicodeDecodeError as error:
                    return f"line {number} is not UTF-8 text (byte 0x{line[error.start]:02x}); save the file as UTF-8"
    except _GZIP_ERRORS:
        return _BAD_GZIP
    return "not UTF-8 text; save the file as UTF-8"
