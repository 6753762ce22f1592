"""Tables of codes: discrete columns, missing cells, row weights, and sums over rows."""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from latree._util.arrays import CodeArray, FloatArray, IntArray, RandomState, generator
from latree._util.progress import Progress, no_progress
from latree.errors import InputError
from latree.table.chunks import Block, Sums, missing_code
from latree.table.columns import DEFAULT_MISSING, Column
from latree.table.encode import MISSING, Unseen, code_type, encode_column
from latree.table.finding import find_source
from latree.table.learning import learn_columns
from latree.table.memory import LocalRows, MemoryRows, Rows, ToldRows
from latree.table.sources import Piece, Source, Weights, n_rows

DEFAULT_BINS = 10
# A quartet of columns with n states has n⁴ cells, and unfolds to n² x n²: beyond this, a single test takes minutes.
FEW_STATES = 64
MANY_STATES = 1000  # what learners take that look at two columns at a time
_ROWS_A_STATE = 20  # a column with more than few states needs so many rows each, or it is most likely an identifier
MAX_WEIGHT = 1e15  # beyond it, floats no longer tell one row more or less


@dataclass(frozen=True, repr=False, eq=False)
class Table:
    """Discrete data: what the columns are, and rows of codes somewhere.

    Attributes
    ----------
    columns : tuple of Column
        Name, states and kind of each column.
    rows : Rows
        Where the codes are; read through :meth:`sum` and :meth:`map`.
    """

    columns: tuple[Column, ...]
    rows: Rows

    @classmethod
    def from_codes(cls, columns: Iterable[Column], codes: NDArray[Any], weights: FloatArray | None = None) -> "Table":
        """Make a table in memory from codes; a negative code is a missing cell."""
        columns = tuple(columns)
        codes = np.asarray(codes)
        limits = [column.n_states for column in columns]
        if codes.shape[1:] != (len(columns),) or (len(codes) and np.any(codes.max(axis=0) >= limits)):
            raise InputError("the codes do not fit their columns: too many columns, or a code that is no state")
        dtype = code_type(columns)
        compact = np.array(codes, dtype=dtype, order="F")
        if np.issubdtype(codes.dtype, np.signedinteger):
            compact[codes < 0] = np.iinfo(dtype).max
        return cls(columns, MemoryRows(compact, weights))

    def __repr__(self) -> str:
        return f"<Table: {self.n_rows} rows, {self.n_columns} columns>"

    @property
    def names(self) -> tuple[str, ...]:
        """The columns' names."""
        return tuple(column.name for column in self.columns)

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return len(self.columns)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.rows.n_rows

    @cached_property
    def n_states(self) -> IntArray:
        """Number of states of each column."""
        return np.array([column.n_states for column in self.columns], dtype=np.intp)

    @cached_property
    def total_weight(self) -> float:
        """Sum of the rows' weights; the number of rows if they have none."""
        return self.rows.total_weight

    @cached_property
    def n_missing(self) -> NDArray[np.int64]:
        """Number of missing cells of each column."""
        return self.rows.n_missing

    def sum(self, statistic: Callable[[Block], Sums], block_rows: int | None = None, *, in_turn: bool = False) -> Sums:
        """Add up a statistic over blocks of rows.

        Parameters
        ----------
        statistic : callable
            From a :class:`Block` to an array, or a tuple of arrays. It is called from several threads, or sent to other
            machines, and must not hold the table itself.
        block_rows : int, optional
            The most rows of a block.
        in_turn : bool
            Whether blocks are worked on one after the other: a statistic of many small steps gains nothing by threads.

        Returns
        -------
        array or tuple of arrays
            The sums. They do not depend on the number of threads, nor on where the rows are.
        """
        return self.rows.sum(statistic, block_rows, in_turn=in_turn)

    def map(self, function: Callable[[Block], NDArray[Any]]) -> NDArray[Any]:
        """Apply a function that gives one result a row, and collect the results in the rows' order."""
        return self.rows.map(function)

    def told(self, progress: Progress) -> "Table":
        """Give the same table, whose sums tell how many rows of this machine they have come to."""
        return replace(self, rows=ToldRows(self.rows, progress)) if isinstance(self.rows, LocalRows) else self

    def taken(self, rows: IntArray) -> "Table":
        """Give a table of some of the rows, in memory."""
        return replace(self, rows=MemoryRows.of(self.rows.fetch(rows)))

    @cached_property
    def distinct(self) -> "Table":
        """The same table for sums that take long: rows that are the same only once, with their weight."""
        return replace(self, rows=self.rows.distinct())

    def at_most(self, rows: int, random_state: RandomState) -> "Table":
        """Give a table of all rows, or of so many at random if they are more, in memory."""
        return replace(self, rows=MemoryRows.of(self.some_rows(rows, random_state)))

    def some_rows(self, most: int, random_state: RandomState) -> Block:
        """Give all rows as one block in memory, or so many of them at random, in their order, if they are more."""
        if self.n_rows <= most:
            return self.rows.fetch(np.arange(self.n_rows))
        return self.rows.fetch(np.sort(generator(random_state).choice(self.n_rows, most, replace=False)))

    def codes(self) -> NDArray[np.int32]:
        """Collect all codes as one signed array, -1 where missing."""
        return self.map(lambda block: signed_codes(block.codes))

    def decode(self) -> dict[str, list[Any]]:
        """Turn codes back into values, column by column; None where missing."""
        codes = self.codes()
        return {column.name: decode_column(column, codes[:, j]) for j, column in enumerate(self.columns)}


def signed_codes(codes: CodeArray) -> NDArray[np.int32]:
    """Give codes as signed integers, -1 where missing."""
    return np.where(codes == missing_code(codes), MISSING, codes.astype(np.int32)).astype(np.int32)


def decode_column(column: Column, codes: NDArray[Any]) -> list[Any]:
    """Turn the codes of one column into values; None where missing."""
    values = [column.decode(code) for code in range(column.n_states)]
    return [None if code < 0 else values[code] for code in codes.tolist()]


def as_table(
    data: Any,
    *,
    columns: Sequence[Column] | None = None,
    names: Sequence[str] | None = None,
    weights: Any = None,
    bins: int = DEFAULT_BINS,
    missing: Collection[str] = DEFAULT_MISSING,
    unseen: Unseen = "error",
    drop: Collection[str] = (),
    client: Any = None,
    progress: Progress = no_progress,
) -> Table:
    """Turn data of any supported form into a table of codes.

    Parameters
    ----------
    data : Table, data frame, 2-D array, or path of a CSV, TSV or Parquet file
        A Table is given back as it is. A frame may be of pandas, polars, pyarrow or any other library that narwhals
        knows. A path may be a pattern, such as ``"folder/*.parquet"``; text files may be gzipped. Files are only ever
        read, and may be larger than memory: their codes, one byte a cell, then go to a temporary file. The rows of a
        Dask dataframe stay on the cluster.
    columns : sequence of Column, optional
        Columns learned before: the data are cut and coded like them, their order is kept, other columns of the data
        are passed over. By default the columns are learned from the data.
    names : sequence of str, optional
        Names for the columns of an array; x0, x1, ... by default.
    weights : array of float or str, optional
        A weight for each row, or the name of the column that holds it. A row of weight 3 counts as three rows, also for
        smoothing and BIC.
    bins : int
        Number of quantile bins for a numeric column with fractions, or with more than ``2 * bins`` distinct whole
        numbers. 0 keeps every distinct value as a category.
    missing : collection of str
        Cells that mean missing, beside empty ones. Columns learned before know their own.
    unseen : {"error", "missing"}
        What to do with a category that ``columns`` do not have.
    drop : collection of str
        Names of columns to leave out.
    client : dask.distributed.Client, optional
        The cluster that reads Parquet files and keeps their rows. The default client where the data are a Dask
        dataframe.
    progress : callable
        Told how much of files is read; anew for every pass over them.

    Returns
    -------
    Table
    """
    if isinstance(data, Table):
        if weights is not None or names is not None or drop or (columns is not None and tuple(columns) != data.columns):
            raise InputError("a Table has its own columns and weights; make another one from the data")
        return data
    if not isinstance(bins, int | np.integer):
        raise InputError(f"bins must be a whole number, not {bins!r}")
    if bins != 0 and not 2 <= bins <= FEW_STATES:
        raise InputError(f"bins must be 0 (never cut) or from 2 to {FEW_STATES}, not {bins}")
    missing, drop = (tuple([texts] if isinstance(texts, str) else texts) for texts in (missing, drop))
    if isinstance(data, list | tuple):
        data = _as_array(data, "the data")
    source = find_source(data, names, client, progress)
    if weights is not None:
        source = _weighted(source, weights, missing)
    wanted = _without(source, drop)
    with _naming(source.where):
        if columns is None:
            columns = learn_columns(source, wanted, bins, missing)
            unseen = "missing"  # only rows without weight can hold anything new
        elif isinstance(data, np.ndarray):
            if len(wanted) != len(columns):
                raise InputError(f"{len(wanted)} columns where the model has {len(columns)}")
        else:
            absent = [column.name for column in columns if column.name not in wanted]
            if absent:
                raise InputError(f"there is no column {absent[0]!r}, which the model needs")
            wanted = [column.name for column in columns]
        encode = partial(_encode_piece, columns=tuple(columns), names=tuple(wanted), unseen=unseen)
        return Table(tuple(columns), source.store(encode, wanted))


def _encode_piece(piece: Piece, columns: tuple[Column, ...], names: tuple[str, ...], unseen: Unseen) -> Block:
    """Turn raw cells into codes of known columns, which have these names in the data."""
    dtype = code_type(columns)
    codes = np.empty((n_rows(piece.factors.values()) if names else 0, len(names)), dtype=dtype, order="F")
    for j, (column, name) in enumerate(zip(columns, names, strict=True)):
        signed = encode_column(column, piece.factors[name], unseen)
        codes[:, j] = np.where(signed < 0, np.iinfo(dtype).max, signed)
    return Block(codes, piece.weights)


def check_learnable(table: Table, source: str = "the data", most_states: int = MANY_STATES) -> None:
    """Raise if a table has no rows, or a column from which nothing can be learned, or only with too much memory."""
    if table.n_columns < 2:
        raise InputError(
            f"{source}: {table.n_columns} feature(s) (column(s)): {', '.join(map(repr, table.names)) or 'none'}; "
            "a tree joins at least two"
        )
    if table.n_rows == 0:
        raise InputError(f"{source}: no rows (0 sample(s)), only column names")
    if table.n_rows == 1:
        raise InputError(f"{source}: only one row (1 sample); nothing can be learned from it")
    problems = [
        f"column {column.name!r} {problem}"
        for column, n_missing in zip(table.columns, table.n_missing, strict=True)
        if (problem := _problem(column, n_missing == table.n_rows, table.total_weight, most_states))
    ]
    if problems:
        more = f"; and {len(problems) - 5} more columns" if len(problems) > 5 else ""
        raise InputError(f"{source}: {'; '.join(problems[:5])}{more}")


def _problem(column: Column, all_missing: bool, n_rows: float, most_states: int) -> str | None:
    if all_missing:
        return "has no value at all: every cell is missing"
    if column.n_states == 1:
        return f"is constant (every cell is {column.categories[0]!r:.60}): drop it, it says nothing about the others"
    if column.n_states > most_states:
        why = f"more than {most_states}"
        why += " (other methods take more)" if most_states < MANY_STATES else ""
    elif column.n_states > FEW_STATES and n_rows < _ROWS_A_STATE * column.n_states:
        why = f"which have fewer than {_ROWS_A_STATE} rows each"
    else:
        return None
    return (
        f"has {column.n_states} different values, such as {column.categories[0]!r:.40}, {why}: drop it if it is an "
        "identifier or a date, merge rare values, or have numbers cut"
    )


def _as_array(data: Any, what: str, dtype: Any = None) -> NDArray[Any]:
    try:
        return np.asarray(data, dtype=dtype)
    except (ValueError, TypeError):
        raise InputError(f"{what}: rows of different lengths, or cells that are no numbers") from None


@contextmanager
def _naming(source: str) -> Iterator[None]:
    """Put the name of the data in front of what is wrong with them."""
    try:
        yield
    except InputError as error:
        raise InputError(f"{source}: {error}") from None


def _weighted(source: Source, weights: Any, missing: tuple[str, ...]) -> Source:
    """Check the weights, and take their column out of the data if they are one."""
    if isinstance(weights, str):
        if weights not in source.names:
            raise InputError(f"{source.where}: there is no column {weights!r} to take weights from")
        found = Weights(weights, None, missing)
    else:
        found = Weights(None, _as_array(weights, f"{source.where}: weights", np.float64), missing)
    with _naming(source.where):
        if found.array is not None:
            rows = source.reduce(lambda piece: n_rows(piece.factors.values()), lambda a, b: a + b, source.names[:1])
            if found.array.shape != (rows,):
                raise InputError(f"weights: {rows} rows need {rows} weights, got an array of shape {found.array.shape}")
        result = source.weighted(found)
        rows, total = result.reduce(_weigh, lambda a, b: (a[0] + b[0], a[1] + b[1]), source.names[:1])
        if rows and not total:
            raise InputError(f"{found.name}: all of them are zero")
        if total > MAX_WEIGHT:
            raise InputError(f"{found.name}: their sum is {total:g}, more than {MAX_WEIGHT:g}; weights count as rows")
    return result


def _weigh(piece: Piece) -> tuple[int, float]:
    assert piece.weights is not None
    return len(piece.weights), float(piece.weights.sum())


def _without(source: Source, drop: Collection[str]) -> list[str]:
    for name in drop:
        if name not in source.names:
            raise InputError(f"{source.where}: there is no column {name!r} to drop")
    return [name for name in source.names if name not in drop]
