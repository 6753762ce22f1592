"""Reading CSV and TSV files, plain or gzipped, in UTF-8, UTF-16 or Windows-1252, with decimal points or commas."""

import csv
import gzip
import io
import re
import zipfile
import zlib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from itertools import chain, islice, repeat
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, TextIO

from latree._util.files import readable, text_encoding
from latree._util.progress import Progress, claim_progress
from latree._util.words import plural, quoted, setting
from latree.errors import InputError
from latree.table.formats import FileFormat, Files
from latree.table.raw import RawColumn, check_header, check_same_columns, from_texts, parse_number, text_array
from latree.table.sources import LocalSource, Names, batch_rows, file_source

if TYPE_CHECKING:
    import _csv

_GZIP_ERRORS = (gzip.BadGzipFile, EOFError, zlib.error)
# The largest text that is read as a whole; a small gzipped file may hold much more.
_MAX_TEXT = 2**29
_TEXT_AT_ONCE = 2**20
# Longer lines, and more blank lines one after the other, are not those of a table: the file would never end.
_MAX_LINE = 2**24
_MAX_BLANK = 10**6
# What is said about a file that seems to have only one column.
SEPARATORS = "cells must be separated by commas, semicolons or tabs"
# Rows that tell which columns have decimal commas, and the most texts among their cells that are no numbers.
_SNIFFED_ROWS = 1000
_MAX_MARKS = 3
_DECIMAL_COMMA = re.compile(r"\s*[+-]?\d+,\d+\s*")
# The encoding of files that Windows programs of western Europe and America write without a word about it.
_WINDOWS = "cp1252"
# Letters of UTF-8 that are not ASCII.
_UTF8_LETTER = re.compile(rb"[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}")


def text_source(files: Files) -> LocalSource:
    """Return a source of the rows of text files with the same columns, one file after the other."""
    headers, paths = [], files.paths
    remarks = {path: remark for path in paths if (remark := _remark_on_windows(path))}
    encodings = dict.fromkeys(remarks, _WINDOWS)
    for path in paths:
        with _open(path, encodings.get(path)) as stream:
            headers.append(_reader(path, stream)[0])
        check_same_columns(path, headers[-1], paths[0], headers[0])
        if headers[-1] != headers[0]:
            raise InputError(f"{path}: its columns are not in the order of {paths[0]}: put them in the same order")
    if len(headers[0]) == 1 and "|" in headers[0][0]:
        raise InputError(f"{paths[0]}: only one column was found: {SEPARATORS} (the first line has '|')")
    commas = _decimal_commas(paths[0], encodings.get(paths[0]))
    source = file_source(files.where, headers[0], partial(_read_batches, paths, encodings, commas, claim_progress()))
    return replace(source, remarks=tuple(remarks.values())[:1])


def _read_batches(
    paths: Sequence[Path], encodings: Mapping[Path, str], commas: Collection[str], progress: Progress, names: Names
) -> Iterator[list[RawColumn]]:
    """Read columns batch by batch, and report the number of bytes that are read."""
    sizes = [path.stat().st_size for path in paths]
    wanted = None if names is None else set(names)
    for number, path in enumerate(paths):
        with _open(path, encodings.get(path)) as stream:
            header, reader = _reader(path, stream)
            rows = _checked_rows(path, reader, len(header))
            size = batch_rows(len(header))
            is_first = path == paths[0]  # the first batch is yielded even if it is empty
            while (batch := list(islice(rows, size))) or is_first:
                is_first = False
                columns = zip(*batch, strict=True) if batch else [()] * len(header)
                named = zip(header, columns, strict=True)
                raw = [from_texts(name, cells) for name, cells in named if wanted is None or name in wanted]
                yield [_with_points(column) if column.name in commas else column for column in raw]
                progress(sum(sizes[:number]) + _bytes_read(stream), sum(sizes))


def _decimal_commas(path: Path, encoding: str | None) -> frozenset[str]:
    """Return the columns whose numbers have decimal commas, by the first rows of a file.

    There are none in files whose cells are separated by commas: there, 1,5 in quotes may mean the answers 1 and 5.
    """
    with _open(path, encoding) as stream:
        header, reader = _reader(path, stream)
        if reader.dialect.delimiter == ",":
            return frozenset()
        rows = islice(_checked_rows(path, reader, len(header)), _SNIFFED_ROWS)
        columns = zip(header, zip(*rows, strict=True), strict=False)
        return frozenset(name for name, cells in columns if _has_decimal_commas(set(cells)))


def _has_decimal_commas(texts: set[str]) -> bool:
    others = {text for text in texts if text.strip() and parse_number(text.strip()) is None}
    commas = {text for text in others if _DECIMAL_COMMA.fullmatch(text)}
    return bool(commas) and len(others) - len(commas) <= _MAX_MARKS


def _with_points(raw: RawColumn) -> RawColumn:
    """Return a column of texts with a decimal point in place of each decimal comma."""
    texts = [text.replace(",", ".") if _DECIMAL_COMMA.fullmatch(text) else text for text in raw.values]
    return replace(raw, values=text_array(texts))


def _bytes_read(stream: TextIO) -> int:
    """Return how many bytes of a file are read; of a gzipped file, compressed bytes."""
    binary: Any = stream.buffer
    return int(getattr(binary, "fileobj", binary).tell())  # a gzip stream holds the compressed file inside


def read_lines(path: Path) -> tuple[list[str], list[tuple[int, list[str]]]]:
    """Read the header and the rows of a file, each row with the number of the line on which it ends."""
    with _open(path) as stream:
        header, reader = _reader(path, stream)
        return header, [(reader.line_num, row) for row in _checked_rows(path, reader, len(header))]


def text_lines(path: Path) -> list[str]:
    """Return the lines of a text file, plain or gzipped, without their ends; for files that are read as a whole."""
    parts, size, is_blank = [], 0, True
    with _open(path) as stream:
        for part in iter(partial(stream.read, _TEXT_AT_ONCE), ""):
            if "\0" in part:
                raise InputError(f"{path}: has a NUL byte: it is no text file, or is damaged")
            parts.append(part)
            size += len(part)
            is_blank = is_blank and part.isspace()
            if is_blank and size > _MAX_LINE:
                raise InputError(f"{path}: begins with more than {_MAX_LINE} blanks and blank lines: remove them")
            if size > _MAX_TEXT:
                raise InputError(f"{path}: more than {_MAX_TEXT} letters, which are read at once: divide it")
    return re.split(r"\r\n|\r|\n", "".join(parts))


def bad_line(path: Path, line: int, problem: str) -> InputError:
    """Return the error for what is wrong on a line of a file, and how to correct it."""
    return InputError(f"{path}: line {line}: {problem}")


# How texts begin that a spreadsheet takes for a formula.
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def guarded(text: str) -> str:
    """Return a text for a file that people open in a spreadsheet, with an apostrophe before what looks like a formula.

    A name in a table from somebody else could be one that runs a program. Numbers stay as they are. So do the cells of
    people's own tables, which have to come back as they were.
    """
    return f"'{text}" if text.startswith(_FORMULA) and parse_number(text) is None else text


def unguarded(text: str) -> str:
    """Return the text that :func:`guarded` made this one of."""
    return text[1:] if text.startswith("'") and guarded(text[1:]) == text else text


def write_columns(columns: Mapping[str, Sequence[Any]]) -> str:
    """Return columns as the text of a CSV file; numbers have four decimals, and what is not a number is empty.

    Texts are :func:`guarded`.
    """
    cells = (
        ["" if x != x else f"{x:.4f}" if isinstance(x, float) else guarded(str(x)) for x in column]
        for column in columns.values()
    )
    return write_lines([list(map(guarded, columns)), *zip(*cells, strict=True)])


def write_lines(rows: Iterable[Sequence[object]], delimiter: str = ",") -> str:
    """Return rows as lines of a CSV file."""
    lines = _Lines()
    csv.writer(lines, delimiter=delimiter, lineterminator="\r\n").writerows(rows)
    return lines.getvalue()


class _Lines(io.StringIO):
    """Ends lines with a line feed alone. Python puts quotes around a carriage return only where it ends lines, too."""

    def write(self, line: str) -> int:
        """Write one line."""
        return super().write(line.removesuffix("\r\n") + "\n")


def delimiter_of(path: Path | None) -> str:
    """Return the delimiter of a file to write, by its name; a comma where the text is printed."""
    return "\t" if path is not None and path.suffix == ".tsv" else ","


def _reader(path: Path, stream: TextIO) -> tuple[list[str], "_csv.Reader"]:
    """Read the header, and return it with a reader of the rows. Blank lines before the header are skipped."""
    lines = _lines(path, stream)
    first, n_blank = next(lines, ""), 0
    while first.isspace():
        first, n_blank = next(lines, ""), n_blank + 1
    # The delimiter is the candidate that occurs most often in the first line, outside of quotes.
    delimiters = "\t,;" if path.name.lower().removesuffix(".gz").endswith(".tsv") else ",;\t"
    unquoted = re.sub(r'"[^"]*"', "", first)
    # Blank lines are passed on without their blanks, so that the reader counts them.
    beginning = chain(repeat("\n", n_blank), [first])
    reader = csv.reader(chain(beginning, lines), delimiter=max(delimiters, key=unquoted.count), strict=True)
    header = [name.strip() for name in next(filter(any, reader), [])]
    if not header:
        raise InputError(f"{path}: the file is empty; the first line must name the columns")
    check_header(header, str(path))
    return header, reader


def _lines(path: Path, stream: TextIO) -> Iterator[str]:
    """Yield the lines of a file; raise if it is not a text file, or would not end."""
    n_blank = 0
    for number, line in enumerate(iter(partial(stream.readline, _MAX_LINE), ""), start=1):
        if "\0" in line:
            raise InputError(
                f"{path}: line {number} has a NUL byte: it is no text file, or is damaged, or is UTF-16 without a byte "
                "order mark; save it as UTF-8"
            )
        if len(line) == _MAX_LINE:
            raise InputError(f"{path}: line {number} has more than {_MAX_LINE} letters: check where lines end")
        n_blank = n_blank + 1 if line.isspace() else 0
        if n_blank > _MAX_BLANK:
            raise InputError(f"{path}: line {number} ends more than {_MAX_BLANK} blank lines: remove them")
        yield line


def _checked_rows(path: Path, reader: "_csv.Reader", width: int) -> Iterator[list[str]]:
    """Yield the rows that are not blank; raise if one has too few or too many cells."""
    for number, row in enumerate((row for row in reader if row), start=1):
        if len(row) != width:
            hint = ": add or remove cells, or put quotes around cells that hold a delimiter"
            if number == 1 and len(row) == width + 1:
                hint = ": name all columns; in R, use write.csv(..., row.names=FALSE)"
            raise InputError(
                f"{path}: data row {number} (line {reader.line_num}) has {plural(len(row), 'cell')} where the header "
                f"has {width}{hint}"
            )
        yield row


def _remark_on_windows(path: Path) -> str | None:
    """Return that a file is a text of Windows, with the first word that shows whether that is right; None if it is not.

    Such a file has letters beyond ASCII, none of them in UTF-8. A file with one letter of UTF-8 is UTF-8. It is damaged
    if it has other bytes, too.
    """
    remark, n_lines = None, 0
    with _opened(path) as stream:
        if text_encoding(stream.read(N_FIRST)) != "utf-8":
            return None
        stream.seek(0)
        for part in iter(lambda: stream.read(_TEXT_AT_ONCE) + stream.readline(_MAX_LINE), b""):
            if not part.isascii():
                if is_binary(part) or _UTF8_LETTER.search(part):
                    return None
                try:
                    text = part.decode(_WINDOWS)
                except UnicodeDecodeError:
                    return None
                if remark is None and (letter := re.search(r"[^\x00-\x7f]", text)):
                    word = next(one[0] for one in re.finditer(r"\w+|\W", text) if one.end() > letter.start())
                    line = n_lines + text.count("\n", 0, letter.start()) + 1
                    remark = (
                        f"{path} is not UTF-8. It is read as Windows-1252, with {quoted(word)} on line {line}: if that "
                        "is wrong, save it as UTF-8"
                    )
            n_lines += part.count(b"\n")
    return remark


@contextmanager
def _opened(path: Path) -> Iterator[Any]:
    """Open a file for reading bytes, which may be gzipped."""
    with readable(path):
        try:
            with gzip.open(path) if path.name.lower().endswith(".gz") else path.open("rb") as stream:
                yield stream
        except _GZIP_ERRORS:
            raise InputError(f"{path}: not a whole gzip file: copy or download it again") from None


@contextmanager
def _open(path: Path, encoding: str | None = None) -> Iterator[TextIO]:
    """Open a file for reading; what is wrong with it becomes an InputError of one line.

    Without an encoding, that is UTF-8, or what the byte order mark of the file says.
    """
    with _opened(path) as binary:
        start = binary.read(N_FIRST)
        encoding = encoding or text_encoding(start)
        if kind := other_kind(start, binary):
            raise InputError(f"{path}: {kind}")
        binary.seek(0)
        try:
            yield io.TextIOWrapper(binary, encoding, newline="")
        except UnicodeDecodeError:
            if encoding == "utf-8" and is_binary(start):
                raise InputError(f"{path}: is not a text file: save the table as CSV, in UTF-8") from None
            raise InputError(f"{path}: {_first_bad_line(path, encoding)}") from None
        except csv.Error as error:
            raise InputError(f"{path}: not a well-formed table ({error}): check its quotes and delimiters") from None


def _first_bad_line(path: Path, encoding: str) -> str:
    """Return a message that names the first line that is not UTF-8."""
    if not encoding.startswith("utf-8"):
        return f"not whole {encoding.upper()} text, as which it begins; save the file as UTF-8"
    with _opened(path) as stream:
        for number, line in enumerate(stream, start=1):
            try:
                line.decode("utf-8")
            except UnicodeDecodeError as error:
                return f"line {number} is not UTF-8 text (byte 0x{line[error.start]:02x}); save the file as UTF-8"
    return "not UTF-8 text; save the file as UTF-8"


# How many first bytes are looked at.
N_FIRST = 256

_MARKUP = re.compile(rb"\s*<(!doctype\s+html|html|head|body|\?xml)", re.IGNORECASE)
_JSON = re.compile(rb'\s*(\{\s*["}]|\[\s*[\[{])')
# Bytes that texts do not have, in no encoding that is an extension of ASCII.
_CONTROL = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")


def other_kind(start: bytes, stream: IO[Any]) -> str | None:
    """Return what a file is that begins with these bytes and what to do with it, or None if it may be a text file."""
    if start.startswith(b"PK\x03\x04"):
        return _kind_of_zip(stream)
    for signature, (title, ending, format) in _TABLES.items():
        if start.startswith(signature):
            return _use(title, ending, format)
    for signature, advice in _OTHERS.items():
        if start.startswith(signature):
            return advice
    if _MARKUP.match(start):
        return "this is a web page or XML, not a table: download the data themselves, or save them as CSV"
    if _JSON.match(start):
        return "this is a JSON file: save the table as CSV"
    return None


def is_binary(start: bytes) -> bool:
    """Return whether these are not the first bytes of a text."""
    return bool(_CONTROL.search(start))


def _use(title: str, ending: str, format: str) -> str:
    return f"this is {title}: name it {ending}, or use {setting('format', format)}"


# The first bytes of files that are read under another name: what they are, the ending of the name, and the format.
_TABLES = {
    b"$FL2@(#)": ("an SPSS file", ".sav", "sav"),
    b"$FL3@(#)": ("an SPSS file", ".zsav", "sav"),
    b"<stata_dta>": ("a Stata file", ".dta", "dta"),
    b"PAR1": ("a Parquet file", ".parquet", "parquet"),
}
# The first bytes of others, and what to do with them.
_OTHERS = {
    b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1": "this is an old Excel file (.xls): save it as .xlsx or as CSV",
    b"\x1f\x8b": "this is a gzipped file: give it a name that ends in .gz, such as data.csv.gz",
    b"%PDF-": "this is a PDF: save the table as CSV",
}


def _kind_of_zip(stream: IO[Any]) -> str:
    """Return what a file is that is a zip archive, as Excel files and matrices of numpy are."""
    try:
        with zipfile.ZipFile(stream) as archive:
            names = archive.namelist()
    except (zipfile.BadZipFile, OSError, EOFError, ValueError):
        names = []
    if any(name.startswith("xl/") for name in names):
        return _use("an Excel file", ".xlsx", "xlsx")
    if names and all(name.endswith(".npy") for name in names):
        return _use("a file of numpy", ".npz", "npz")
    if "content.xml" in names:
        return "this is an OpenDocument file: save it as .xlsx or as CSV"
    return "this is a zip archive: unpack it, and name a file in it"


_WHAT = (
    "the first line names the columns; cells are separated by commas, semicolons or tabs; UTF-8, or another "
    "[encoding](#encodings)"
)
FORMATS = (FileFormat("csv", "text", (".csv", ".tsv", ".txt"), text_source, _WHAT, gzipped=True),)
