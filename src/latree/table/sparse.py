"""Sparse matrices: most cells are zero, and only the others are stored.

By default a cell says whether something is there: zero is False, and any other number is True. On request the numbers
themselves count, as in an array. Codes stay sparse, too: each column has a background code, that of its zeros, and only
cells with another code are stored. Rows are made dense chunk by chunk, when a sum reaches them.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array, csr_array, issparse

from latree._util.arrays import CodeArray, FloatArray, IntArray
from latree.errors import InputError
from latree.table.columns import code_type, encode_column, has_bins
from latree.table.raw import RawColumn, check_names, column_names, infinite_value
from latree.table.rows import Block, BootstrapSample, LocalRows, Rows, chunk_rows
from latree.table.sources import Encoder, LocalSource, Matching, Names, RawBatch, Result, batch_rows

# No learner takes nearly as many columns, and a few bytes of a file can ask for more than fit in memory.
_MAX_COLUMNS = 10**6


def sparse_source(
    where: str, matrix: Any, names: Sequence[str] | None, counts: bool, matching: Matching = "names"
) -> "SparseSource":
    """Return a source of the rows of a matrix of :mod:`scipy.sparse`; columns without names become x0, x1, ..."""
    checked = checked_matrix(where, matrix)
    matching = "positions" if names is None else matching
    names = column_names(names, checked.shape[1], where)
    check_names(list(names), where)
    cells = SparseColumns(checked, {name: j for j, name in enumerate(names)}, counts)
    return SparseSource(where, tuple(names), None, partial(_read_batches, cells), matching=matching, cells=cells)


def is_sparse(data: Any) -> bool:
    """Return whether data are a matrix or array of :mod:`scipy.sparse`."""
    return bool(issparse(data))


def checked_matrix(where: str, matrix: Any) -> csc_array:
    """Return a matrix as a copy by columns, in which every cell that is not zero is stored once."""
    if matrix.ndim != 2:
        raise InputError(f"{where}: expected rows and columns, got {matrix.ndim} dimension(s): reshape it to two")
    if matrix.shape[1] > _MAX_COLUMNS:
        raise InputError(f"{where}: {matrix.shape[1]} columns, more than {_MAX_COLUMNS}: keep some of them")
    if matrix.dtype.kind not in "biuf":
        raise InputError(f"{where}: its cells are of type {matrix.dtype}: convert them to numbers or booleans")
    if hasattr(matrix, "check_format"):
        try:
            matrix.check_format(full_check=True)
        except ValueError as error:
            raise InputError(f"{where}: its indices are damaged ({error}): make it again") from None
    columns = csc_array(matrix, copy=True)
    columns.sum_duplicates()
    columns.eliminate_zeros()
    return columns


@dataclass(frozen=True)
class SparseColumns(Mapping[str, RawColumn]):
    """The columns of a sparse matrix by name; each is made when it is asked for, so that one is dense at a time.

    Attributes
    ----------
    matrix : csc_array
    positions : dict
        The number of each column. A name that is not in it stands for a column of zeros.
    counts : bool
        Whether cells are numbers, and not only there or not.
    """

    matrix: csc_array
    positions: dict[str, int]
    counts: bool

    def __getitem__(self, name: str) -> RawColumn:
        return self.dense(name, self.counts)

    def __iter__(self) -> Iterator[str]:
        return iter(self.positions)

    def __len__(self) -> int:
        return len(self.positions)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.matrix.shape[0])

    def only(self, names: Sequence[str]) -> "SparseColumns":
        """Return some of the columns."""
        return replace(self, positions={name: self.positions[name] for name in names})

    def rows(self, start: int, stop: int) -> "SparseColumns":
        """Return some consecutive rows."""
        return replace(self, matrix=self.matrix[start:stop])

    def dense(self, name: str, counts: bool) -> RawColumn:
        """Return a column with one code per row."""
        rows, raw = self.stored(name, counts)
        codes = np.full(self.n_rows, raw.codes[-1])
        codes[rows] = raw.codes[:-1]
        return replace(raw, codes=codes)

    def stored(self, name: str, counts: bool) -> tuple[IntArray, RawColumn]:
        """Return the rows of the stored cells of a column, and their raw cells, followed by one cell for all others.

        If there are no others, that cell is like the first one, so that no value is there that no row has.
        """
        j = self.positions.get(name)
        entries = slice(0, 0) if j is None else slice(*self.matrix.indptr[j : j + 2].tolist())
        rows, numbers = self.matrix.indices[entries], self.matrix.data[entries]
        if numbers.dtype.kind == "f":
            if np.isinf(numbers).any():
                raise infinite_value(name, f" in row {rows[np.argmax(np.isinf(numbers))] + 1}")
            if not counts and np.isnan(numbers).any():
                raise InputError(
                    f"column {name!r} has NaN in row {rows[np.argmax(np.isnan(numbers))] + 1}: a cell is there or not; "
                    "remove NaN, or use the numbers (counts=True), of which NaN is missing"
                )
        cells = np.append(numbers, numbers[:1] if 0 < len(rows) == self.n_rows else np.zeros(1, numbers.dtype))
        values, codes = np.unique(cells if counts else cells != 0, return_inverse=True)
        return rows, RawColumn(name, values, codes)


@dataclass(frozen=True)
class SparseSource(LocalSource):
    """The rows of a sparse matrix.

    Attributes
    ----------
    cells : SparseColumns
        The columns by name.
    """

    cells: SparseColumns = field(kw_only=True)

    def reduce(
        self, measure: Callable[[RawBatch], Result], merge: Callable[[Result, Result], Result], names: Names
    ) -> Result:
        """Apply ``measure`` to all rows at once: its columns are made one by one."""
        cells = self.cells if names is None else self.cells.only(names)
        return measure(RawBatch(cells, self._row_weights()))

    def store(self, encode: Encoder, names: Names) -> Rows:
        """Encode the stored cells, and keep the codes that differ from the background of their column."""
        dtype = code_type(encode.columns)
        missing = np.iinfo(dtype).max
        background = np.zeros(len(encode.names), dtype=dtype)
        inside = np.zeros(self.cells.n_rows) if has_bins(encode.columns) else None
        rows, codes, lengths = [], [], []
        for j, (column, name) in enumerate(zip(encode.columns, encode.names, strict=True)):
            if self.cells.n_rows:
                where, raw = self.cells.stored(name, self.cells.counts)
                cells = encode_column(column, raw, encode.unseen)
                own = np.where(cells.codes < 0, missing, cells.codes).astype(dtype)
                if inside is not None and cells.inside is not None:
                    of_column = np.full(self.cells.n_rows, cells.inside[-1])
                    of_column[where] = cells.inside[:-1]
                    inside += of_column
                background[j] = own[-1]
                differs = own[:-1] != own[-1]
                rows.append(where[differs])
                codes.append(own[:-1][differs])
            lengths.append(len(rows[-1]) if rows else 0)
        indptr = np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])
        shape = (self.cells.n_rows, len(encode.names))
        empty = np.empty(0, dtype=dtype)
        by_column = csc_array(
            (np.concatenate([empty, *codes]), np.concatenate([empty.astype(np.int32), *rows]), indptr), shape=shape
        )
        return SparseRows(by_column.tocsr(), background, self._row_weights(), inside)

    def _row_weights(self) -> FloatArray | None:
        if self.weights is None:
            return None
        name = self.names[0] if self.weights.column is None else self.weights.column
        return self.weights.for_batch({name: self.cells.dense(name, counts=True)}, 0)


def _read_batches(cells: SparseColumns, names: Names) -> Iterator[list[RawColumn]]:
    """Read columns batch by batch, as from a file."""
    wanted = list(cells) if names is None else names
    size = batch_rows(len(wanted))
    for start in range(0, max(cells.n_rows, 1), size):
        part = cells.rows(start, start + size)
        yield [part[name] for name in wanted]


@dataclass(frozen=True)
class SparseRows(LocalRows):
    """Rows of which only cells that differ from the background of their column are stored.

    Attributes
    ----------
    codes : csr_array of uint8 or uint16
        The stored codes. Zero is a code like any other here, so nothing may remove it.
    background : array of uint8 or uint16
        The code of all other cells of each column; it may be the one that means missing.
    weights, inside : array of float or None
        As in a :class:`latree.table.rows.Block`.
    in_chunks_of : int or None
        Rows per chunk, if these are some columns of other rows.
    """

    codes: csr_array
    background: CodeArray
    weights: FloatArray | None
    inside: FloatArray | None = None
    in_chunks_of: int | None = None

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.codes.shape[0])

    @property
    def _chunk_rows(self) -> int:
        return self.in_chunks_of or chunk_rows(len(self.background))

    @cached_property
    def by_column(self) -> csc_array:
        """The stored codes by columns."""
        return self.codes.tocsc()

    def chunks(self) -> Iterator[Block]:
        """Yield the chunks in order, made dense."""
        size = self._chunk_rows
        for start in range(0, max(self.n_rows, 1), size):
            yield self._dense(slice(start, start + size))

    def fetch(self, rows: IntArray) -> Block:
        """Copy the rows with these numbers into memory, made dense."""
        return self._dense(np.asarray(rows))

    def resampled(self, seed: int, number: int) -> "SparseRows":
        """Return a bootstrap sample of the rows, which stays sparse."""
        sample = BootstrapSample.from_weights(self.chunk_weights, seed, number)
        size = self._chunk_rows
        drawn = []
        for position, start in enumerate(range(0, max(self.n_rows, 1), size)):
            stop = min(start + size, self.n_rows)
            weights = None if self.weights is None else self.weights[start:stop]
            drawn.append(sample.draw(position, Block(np.arange(start, stop)[:, None], weights)))
        rows = np.concatenate([block.codes[:, 0] for block in drawn])
        return SparseRows(self.codes[rows], self.background, np.concatenate([block.weights for block in drawn]))

    def reordered(self, order: IntArray) -> "SparseRows":
        """Return the same rows with their columns in another order; they stay sparse."""
        inside = self.inside if len(order) == len(self.background) else None
        return SparseRows(self.codes[:, order], self.background[order], self.weights, inside)

    def selected(self, columns: IntArray) -> "SparseRows":
        """Return the same rows with some of their columns, in the same chunks; they stay sparse."""
        return replace(self.reordered(columns), in_chunks_of=self._chunk_rows)

    @cached_property
    def chunk_weights(self) -> tuple[float, ...]:
        """Weight of each chunk."""
        starts = np.arange(0, max(self.n_rows, 1), self._chunk_rows)
        weights = np.ones(self.n_rows) if self.weights is None else self.weights
        return tuple(float(part.sum()) for part in np.split(weights, starts[1:]))

    def _dense(self, rows: slice | IntArray) -> Block:
        part = self.codes[rows]
        dense: NDArray[Any] = np.empty(part.shape, dtype=self.background.dtype, order="F")
        dense[:] = self.background
        dense[np.repeat(np.arange(part.shape[0]), np.diff(part.indptr)), part.indices] = part.data
        weights, inside = (None if one is None else one[rows] for one in (self.weights, self.inside))
        return Block(dense, weights, inside=inside)
