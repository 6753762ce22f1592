"""Files of sparse matrices: baskets, SciPy's .npz and Matrix Market's .mtx."""

import csv
import gzip
from collections import Counter, defaultdict
from collections.abc import Sequence
from itertools import count
from pathlib import Path
from typing import Any, Literal

import numpy as np
from scipy.io import mmread
from scipy.sparse import coo_array, csc_array, load_npz
from threadpoolctl import threadpool_limits

from latree.errors import InputError
from latree.table.formats import FileFormat, Files
from latree.table.formats.foreign import Parcel, read_apart
from latree.table.formats.text import bad_line, text_lines
from latree.table.sparse import SparseSource, checked_matrix, is_sparse, sparse_source

# The separators of items that are looked for; if there are none, blanks separate items.
_SEPARATORS = ",;\t"


def basket_source(files: Files) -> SparseSource:
    """Return a source of baskets: a column for each item, in the order in which they first appear.

    Blank lines are ignored. An item that a line names twice is counted twice, if counts are used. New baskets need not
    have all items of a model.
    """
    path = files.path
    number_of: defaultdict[str, int] = defaultdict(count().__next__)
    rows: list[int] = []
    items: list[int] = []
    lines = [(number, line) for number, line in enumerate(text_lines(path), start=1) if line.strip()]
    if not lines:
        raise InputError(f"{path}: the file is empty; every line must list the items of a basket")
    separator = _separator([line for _, line in lines])
    for row, (number, line) in enumerate(lines):
        for item in _items(path, number, line, separator):
            rows.append(row)
            items.append(number_of[item])
    if not items:
        raise InputError(f"{path}: no items, only separators; every line must list the items of a basket")
    matrix = coo_array((np.ones(len(items), dtype=np.int64), (rows, items)), shape=(len(lines), len(number_of)))
    return sparse_source(str(path), matrix, list(number_of), files.counts, "items")


def _separator(lines: Sequence[str]) -> str | None:
    """Return the separator that most lines have; None for blanks."""
    times = Counter(sign for line in lines for sign in _SEPARATORS if sign in line)
    return max(_SEPARATORS, key=lambda sign: times[sign]) if times else None


def _items(path: Path, number: int, line: str, separator: str | None) -> list[str]:
    """Return the items of a line; an item in quotes may have separators in it."""
    try:
        cells = line.split() if separator is None else next(csv.reader([line], delimiter=separator, strict=True))
    except csv.Error as error:
        raise bad_line(path, number, f"{line!r:.40} cannot be divided ({error}): check its quotes") from None
    return [item for cell in cells if (item := cell.strip())]


# How a Matrix Market file begins, in small or large letters.
_BANNER = b"%%matrixmarket"
# Kinds of files: how they are called in messages, and how to write them.
_TITLES = {
    "npz": ("a sparse matrix of SciPy", "write it with scipy.sparse.save_npz"),
    "mtx": ("a Matrix Market file", "write it with scipy.io.mmwrite"),
}


def matrix_source(files: Files) -> SparseSource:
    """Return a source of the rows of a sparse matrix in a file; columns without names become x0, x1, ..."""
    path, (what, remedy) = files.path, _TITLES[files.format]
    shape, arrays = read_apart(_parse, path, files.format, what=what, remedy=remedy)
    try:
        matrix = csc_array(tuple(arrays), shape=tuple(shape))
    except (ValueError, TypeError) as error:
        raise InputError(f"{path}: not {what} ({error!s:.120}): {remedy}") from None
    return sparse_source(str(path), matrix, files.names, files.counts)


def _parse(path: Path, kind: Literal["npz", "mtx"]) -> Parcel:
    """Read a matrix, in a child process."""
    if kind == "npz":
        with path.open("rb") as stream:
            matrix = load_npz(stream)
    else:
        matrix = _read_matrix_market(path)
    if not is_sparse(matrix):
        raise InputError(f"{path}: its matrix is dense: write it as a sparse one, or as a CSV or Parquet file")
    columns = checked_matrix(str(path), matrix)
    np.empty(columns.shape[0])  # raise if one column of so many rows does not fit in the memory of this process
    return Parcel(list(map(int, columns.shape)), [columns.data, columns.indices, columns.indptr])


def _read_matrix_market(path: Path) -> Any:
    """Read a Matrix Market file. SciPy would read a first line of any length, so that is looked at before."""
    with gzip.open(path) if path.name.lower().endswith(".gz") else path.open("rb") as stream:
        if not stream.read(len(_BANNER)).lower() == _BANNER:
            raise ValueError("its first line does not begin with %%MatrixMarket")
    with threadpool_limits(1, user_api="scipy"):  # a thread per core would take more memory than the child has
        return mmread(path)


_WHAT = "see [sparse matrices](#sparse-matrices)"
FORMATS = (
    FileFormat("basket", "baskets", (".basket",), basket_source, "see [baskets](#baskets)", gzipped=True),
    FileFormat("npz", "sparse matrix of SciPy", (".npz",), matrix_source, _WHAT, takes_names=True),
    FileFormat("mtx", "Matrix Market", (".mtx",), matrix_source, _WHAT, gzipped=True, takes_names=True),
)
