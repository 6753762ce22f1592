"""Reading files of sparse matrices: SciPy's .npz and Matrix Market's .mtx."""

import gzip
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

from scipy.io import mmread
from scipy.sparse import load_npz

from latree._util.files import readable
from latree.errors import InputError
from latree.table.sparse import SparseSource, is_sparse, sparse_source

# How a Matrix Market file begins, in small or large letters.
_BANNER = b"%%matrixmarket"


def matrix_source(path: Path, kind: Literal["npz", "mtx"], names: Sequence[str] | None, counts: bool) -> SparseSource:
    """Return a source of the rows of a sparse matrix in a file; columns without names become x0, x1, ..."""
    return sparse_source(str(path), _read(path, kind), names, counts)


def _read(path: Path, kind: Literal["npz", "mtx"]) -> Any:
    """Read the matrix; whatever is wrong with the file becomes an InputError of one line."""
    what, how = {
        "npz": ("a sparse matrix of SciPy", "write it with scipy.sparse.save_npz"),
        "mtx": ("a Matrix Market file", "write it with scipy.io.mmwrite"),
    }[kind]
    try:
        with readable(path), path.open("rb") as stream, warnings.catch_warnings():
            warnings.simplefilter("ignore")  # NumPy and SciPy warn about some damaged files before they raise
            matrix = load_npz(stream) if kind == "npz" else _read_matrix_market(path)
    except InputError:
        raise
    except MemoryError:
        raise InputError(f"{path}: its matrix does not fit in memory: check the size on its first lines") from None
    except Exception as error:  # damaged files make these libraries raise nearly anything
        reason = " ".join(str(error).split()) or type(error).__name__
        raise InputError(f"{path}: not {what} ({reason:.120}): {how}") from None
    if not is_sparse(matrix):
        raise InputError(f"{path}: its matrix is dense: write it as a sparse one, or as a CSV or Parquet file")
    return matrix


def _read_matrix_market(path: Path) -> Any:
    """Read a Matrix Market file. SciPy would read a first line of any length, so that is looked at before."""
    with gzip.open(path) if path.name.lower().endswith(".gz") else path.open("rb") as stream:
        if not stream.read(len(_BANNER)).lower() == _BANNER:
            raise ValueError("its first line does not begin with %%MatrixMarket")
    return mmread(path)
