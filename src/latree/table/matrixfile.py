"""Reading files of sparse matrices: SciPy's .npz and Matrix Market's .mtx."""

import gzip
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
from scipy.io import mmread
from scipy.sparse import csc_array, load_npz
from threadpoolctl import threadpool_limits

from latree.errors import InputError
from latree.table.foreign import Parcel, read_apart
from latree.table.sparse import SparseSource, checked_matrix, is_sparse, sparse_source

# How a Matrix Market file begins, in small or large letters.
_BANNER = b"%%matrixmarket"
# Kinds of files: how they are called in messages, and how to write them.
_TITLES = {
    "npz": ("a sparse matrix of SciPy", "write it with scipy.sparse.save_npz"),
    "mtx": ("a Matrix Market file", "write it with scipy.io.mmwrite"),
}


def matrix_source(path: Path, kind: Literal["npz", "mtx"], names: Sequence[str] | None, counts: bool) -> SparseSource:
    """Return a source of the rows of a sparse matrix in a file; columns without names become x0, x1, ..."""
    what, remedy = _TITLES[kind]
    shape, arrays = read_apart(_parse, path, kind, what=what, remedy=remedy)
    try:
        matrix = csc_array(tuple(arrays), shape=tuple(shape))
    except (ValueError, TypeError) as error:
        raise InputError(f"{path}: not {what} ({error!s:.120}): {remedy}") from None
    return sparse_source(str(path), matrix, names, counts)


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
