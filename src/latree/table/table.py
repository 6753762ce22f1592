"""Tables of discrete data: columns, rows of codes with missing cells and weights, and sums over rows."""

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from functools import cached_property, partial
from hashlib import sha256
from typing import Any

import numpy as np
from numpy.typing import NDArray

from latree._util.arrays import CodeArray, FloatArray, IntArray, RandomState, generator
from latree._util.progress import Progress, no_progress
from latree._util.text import did_you_mean
from latree.errors import InputError
from latree.table.chunks import Block, Sums, missing_code
from latree.table.columns import DEFAULT_MISSING, Column
from latree.table.discretize import learn_columns
from latree.table.encode import MISSING, Unseen, code_type, encode_column
from latree.table.memory import LocalRows, MemoryRows, ProgressRows, Rows
from latree.table.readers import open_source
from latree.table.sources import RawBatch, RowSource, RowWeights, count_rows

# Number of bins of a numeric column.
DEFAULT_BINS = 10
# Most states of a column for learners that look at four columns at a time: the counts of a quartet of columns with n
# states have n^4 cells and unfold to an n^2 x n^2 matrix, so with more states a single test takes minutes.
FEW_STATES = 64
# Most states of a column for learners that look at two columns at a time.
MANY_STATES = 1000
# A column with more than FEW_STATES states needs this many rows per state. With fewer it is most likely an identifier.
_MIN_ROWS_PER_STATE = 20
# Largest sum of weights. Above it, adding one row no longer changes a float reliably.
MAX_WEIGHT = 1e15
# Most problems of columns, and most names of columns, that one message lists.
_LISTED_PROBLEMS = 5
_LISTED_NAMES = 8


@dataclass(frozen=True, repr=False, eq=False)
class Table:
    """Discrete data: what the columns are, and one small integer code per cell.

    Make one with :func:`latree.as_table`, or from codes with :meth:`from_codes`. The rows may be in memory, on disk or
    on a cluster. Every statistic is a sum over rows, which :meth:`sum` computes wherever they are.

    Attributes
    ----------
    columns : tuple of Column
        Name, states and kind of each column.
    rows : Rows
        Where the codes are; use :meth:`sum` and :meth:`map` to read them.

    Examples
    --------
    >>> from latree import as_table
    >>> table = as_table([["red", 1], ["blue", 2], ["red", None]], names=["colour", "size"])
    >>> table
    <Table: 3 rows, 2 columns>
    >>> table.names, table.n_states.tolist(), table.n_missing.tolist()
    (('colour', 'size'), [2, 2], [0, 1])
    >>> table.codes().tolist()
    [[1, 0], [0, 1], [1, -1]]
    """

    columns: tuple[Column, ...]
    rows: Rows

    @classmethod
    def from_codes(cls, columns: Iterable[Column], codes: NDArray[Any], weights: FloatArray | None = None) -> "Table":
        """Make a table in memory from codes; a negative code is a missing cell.

        Parameters
        ----------
        columns : iterable of Column
        codes : array of int
            One row per row, one column per column.
        weights : array of float, optional
            One weight per row.

        Examples
        --------
        >>> import numpy as np
        >>> from latree.table import Column, Table
        >>> columns = [Column("a", "text", ("no", "yes")), Column("b", "integer", ("1", "2"))]
        >>> Table.from_codes(columns, np.array([[0, 1], [1, -1]])).decode()
        {'a': ['no', 'yes'], 'b': [2, None]}
        """
        columns = tuple(columns)
        codes = np.asarray(codes)
        if codes.shape[1:] != (len(columns),):
            raise InputError(
                f"codes of shape {codes.shape} for {len(columns)} columns: pass an array with one column for each"
            )
        limits = np.array([column.n_states for column in columns])
        if len(codes) and np.any(bad := codes.max(axis=0) >= limits):
            column, code = columns[np.argmax(bad)], codes[:, np.argmax(bad)].max()
            raise InputError(
                f"column {column.name!r}: the code {code} is not one of its {column.n_states} states: use codes from 0 "
                f"to {column.n_states - 1}, and -1 for missing cells"
            )
        dtype = code_type(columns)
        compact = np.array(codes, dtype=dtype, order="F")
        if np.issubdtype(codes.dtype, np.signedinteger):
            compact[codes < 0] = np.iinfo(dtype).max
        return cls(columns, MemoryRows(compact, weights))

    def __repr__(self) -> str:
        return f"<Table: {self.n_rows} rows, {self.n_columns} columns>"

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns."""
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
        """Sum of the weights of the rows; the number of rows if they have no weights."""
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
            Most rows of a block.
        in_turn : bool
            Whether to work on one block after the other. A statistic of many small steps gains nothing from threads.

        Returns
        -------
        array or tuple of arrays
            The sums. They do not depend on the number of threads, nor on where the rows are.

        Examples
        --------
        How many rows have each state of the first column:

        >>> import numpy as np
        >>> from latree import as_table
        >>> table = as_table([["a", "x"], ["b", "x"], ["a", "y"]])
        >>> table.sum(lambda block: np.bincount(block.codes[:, 0], block.weights, minlength=2)).tolist()
        [2, 1]
        """
        return self.rows.sum(statistic, block_rows, in_turn=in_turn)

    def map(self, function: Callable[[Block], NDArray[Any]]) -> NDArray[Any]:
        """Apply a function that returns one result per row to all blocks, and concatenate the results.

        Examples
        --------
        >>> from latree import as_table
        >>> as_table([[0, 0], [1, 1], [1, 0]]).map(lambda block: block.codes.sum(axis=1)).tolist()
        [0, 2, 1]
        """
        return self.rows.map(function)

    def with_progress(self, progress: Progress) -> "Table":
        """Return the same table, whose sums report how many rows they have reached to a callback ``(done, total)``.

        Rows on a cluster do not report.
        """
        return replace(self, rows=ProgressRows(self.rows, progress)) if isinstance(self.rows, LocalRows) else self

    def take(self, rows: IntArray) -> "Table":
        """Return a table in memory of the rows with these numbers.

        Examples
        --------
        >>> import numpy as np
        >>> from latree import as_table
        >>> as_table([["a"], ["b"], ["c"]]).take(np.array([2, 0])).decode()
        {'x0': ['c', 'a']}
        """
        return replace(self, rows=MemoryRows.from_block(self.rows.fetch(rows)))

    @cached_property
    def distinct(self) -> "Table":
        """The same table with equal rows merged and their weights added, for sums that take long.

        If that would save little, the rows stay as they are.
        """
        return replace(self, rows=self.rows.distinct())

    def subsample(self, max_rows: int, random_state: RandomState) -> "Table":
        """Return a table in memory of all rows, or of ``max_rows`` random ones if there are more, in their order."""
        return replace(self, rows=MemoryRows.from_block(self.subsample_block(max_rows, random_state)))

    def subsample_block(self, max_rows: int, random_state: RandomState) -> Block:
        """Return all rows as one block in memory, or ``max_rows`` random ones if there are more, in their order."""
        if self.n_rows <= max_rows:
            return self.rows.fetch(np.arange(self.n_rows))
        return self.rows.fetch(np.sort(generator(random_state).choice(self.n_rows, max_rows, replace=False)))

    def codes(self) -> NDArray[np.int32]:
        """Return all codes as one signed array, -1 where a cell is missing."""
        return self.map(lambda block: signed_codes(block.codes))

    def decode(self) -> dict[str, list[Any]]:
        """Return the values that the codes stand for, column by column; None where a cell is missing.

        Examples
        --------
        >>> from latree import as_table
        >>> as_table([["yes", 3], ["", 5]], names=["answer", "grade"]).decode()
        {'answer': ['yes', None], 'grade': [3, 5]}
        """
        codes = self.codes()
        return {column.name: decode_column(column, codes[:, j]) for j, column in enumerate(self.columns)}

    def fingerprint(self) -> str:
        """Return a short text that changes with columns, codes or weights, and not with where the rows are.

        Examples
        --------
        >>> from latree import as_table
        >>> one, other = as_table([["a"], ["b"]]), as_table([["b"], ["a"]])
        >>> one.fingerprint() == other.fingerprint()
        False
        >>> one.fingerprint().rpartition(",")[0]
        '2 rows, 1 columns'
        """
        columns = sha256(json.dumps([asdict(column) for column in self.columns]).encode()).digest()
        total = np.asarray(self.sum(_checksum)).tobytes()
        return f"{self.n_rows} rows, {self.n_columns} columns, {sha256(columns + total).hexdigest()[:16]}"


def _checksum(block: Block) -> NDArray[np.uint64]:
    """Return a checksum of rows as unsigned numbers; their sums wrap around."""
    checksum = sha256(block.codes.tobytes(order="F"))
    if block.weights is not None:
        checksum.update(block.weights.tobytes())
    return np.frombuffer(checksum.digest(), dtype="<u8").astype(np.uint64)


def signed_codes(codes: CodeArray) -> NDArray[np.int32]:
    """Return codes as signed integers, -1 where a cell is missing."""
    return np.where(codes == missing_code(codes), MISSING, codes.astype(np.int32)).astype(np.int32)


def decode_column(column: Column, codes: NDArray[Any]) -> list[Any]:
    """Return the values that the signed codes of one column stand for; None where a cell is missing."""
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
    """Make a table of codes from data of any supported form.

    Text, boolean and few whole numbers become categories. Fractions and many whole numbers are cut into quantile bins
    with about equally many rows. All functions of latree that take data call this one.

    Parameters
    ----------
    data : Table, data frame, 2-D array, or path of a CSV, TSV or Parquet file
        A Table is returned unchanged. A frame may be of pandas, polars, pyarrow or any other library that narwhals
        supports. A path may be a pattern, such as ``"folder/*.parquet"``; text files may be gzipped. Files may be
        larger than memory: their codes, one byte per cell, then go to a temporary file. The rows of a Dask dataframe
        stay on the cluster.
    columns : sequence of Column, optional
        Columns of another table: the data are encoded with their bins and categories, in their order, and other columns
        of the data are ignored. By default the columns are learned from the data.
    names : sequence of str, optional
        Names for the columns of an array; x0, x1, ... by default.
    weights : array of float or str, optional
        One weight per row, or the name of the column that holds the weights. A row of weight 3 counts as three rows,
        also for smoothing and BIC.
    bins : int
        Number of quantile bins for a numeric column with fractions, or with more than ``2 * bins`` distinct whole
        numbers. 0 makes every distinct value a category.
    missing : collection of str
        Cells that mean missing, beside empty ones. Given ``columns`` have their own.
    unseen : {"error", "missing"}
        What to do with a category that ``columns`` do not have.
    drop : collection of str
        Names of columns to leave out.
    client : dask.distributed.Client, optional
        The cluster that reads Parquet files and keeps their rows. For a Dask dataframe, Dask's default client by
        default.
    progress : callable
        Called as ``progress(done, total)`` while files are read, from zero again in every pass over them.

    Returns
    -------
    Table

    Examples
    --------
    >>> from latree import as_table
    >>> table = as_table([["red", 1.5], ["blue", 2.5], ["red", 4.0], ["", 7.5]], names=["colour", "size"], bins=2)
    >>> [column.categories for column in table.columns]
    [('blue', 'red'), ('<= 3.25', '> 3.25')]
    >>> table.codes().tolist()
    [[1, 0], [0, 0], [1, 1], [-1, 1]]

    New rows are encoded with the same bins and categories:

    >>> as_table([["blue", 100.0]], columns=table.columns).codes().tolist()
    [[0, 1]]
    """
    if isinstance(data, Table):
        if weights is not None or names is not None or drop or (columns is not None and tuple(columns) != data.columns):
            raise InputError(
                "a Table has its own columns and weights: to change them, pass the original data instead of the Table"
            )
        return data
    if not isinstance(bins, int | np.integer):
        raise InputError(f"bins must be a whole number, not {bins!r}")
    if bins != 0 and not 2 <= bins <= FEW_STATES:
        raise InputError(f"bins must be 0 (no bins) or from 2 to {FEW_STATES}, not {bins}")
    missing, drop = (tuple([texts] if isinstance(texts, str) else texts) for texts in (missing, drop))
    if isinstance(data, list | tuple):
        try:
            data = np.asarray(data)
        except ValueError:
            raise InputError("the data: rows of different lengths: give every row the same number of cells") from None
    source = open_source(data, names, client, progress)
    if weights is not None:
        source = _with_weights(source, weights, missing)
    wanted = _without(source, drop)
    with errors_naming(source.where):
        if columns is None:
            columns = learn_columns(source, wanted, bins, missing)
            unseen = "missing"  # only rows of weight zero can have values that the columns do not
        elif isinstance(data, np.ndarray):
            if len(wanted) != len(columns):
                raise InputError(
                    f"{len(wanted)} columns where the model has {len(columns)}: pass the same columns in the same order"
                )
        else:
            wanted = names_in(columns, wanted)
        encode = partial(encode_batch, columns=tuple(columns), names=tuple(wanted), unseen=unseen)
        return Table(tuple(columns), source.store(encode, wanted))


def names_in(columns: Sequence[Column], names: Collection[str]) -> list[str]:
    """Return the names of a model's columns; raise if data with these names lack some."""
    absent = [column.name for column in columns if column.name not in names]
    if len(absent) == 1:
        raise InputError(f"there is no column {absent[0]!r}, which the model needs: add it; its cells may be missing")
    if absent:
        raise InputError(
            f"{len(absent)} columns that the model needs are not there, {listed(absent)}: add them; their cells may be "
            "missing"
        )
    return [column.name for column in columns]


def encode_batch(batch: RawBatch, columns: tuple[Column, ...], names: tuple[str, ...], unseen: Unseen) -> Block:
    """Encode raw cells as codes of known columns; ``names`` are the names of these columns in the data."""
    dtype = code_type(columns)
    codes = np.empty((count_rows(batch.columns.values()) if names else 0, len(names)), dtype=dtype, order="F")
    for j, (column, name) in enumerate(zip(columns, names, strict=True)):
        signed = encode_column(column, batch.columns[name], unseen)
        codes[:, j] = np.where(signed < 0, np.iinfo(dtype).max, signed)
    return Block(codes, batch.weights)


def check_learnable(table: Table, source: str = "the data", most_states: int = MANY_STATES) -> None:
    """Raise if a table has fewer than two rows or columns, or columns with one state or with too many."""
    if table.n_columns < 2:
        raise InputError(
            f"{source}: {table.n_columns} feature(s) (column(s)): {', '.join(map(repr, table.names)) or 'none'}; "
            "a tree needs at least two"
        )
    if table.n_rows == 0:
        raise InputError(f"{source}: no rows (0 sample(s)), only column names: add rows")
    if table.n_rows == 1:
        raise InputError(f"{source}: only one row (1 sample): add rows, nothing can be learned from one")
    problems = [
        f"column {column.name!r} {problem}"
        for column, n_missing in zip(table.columns, table.n_missing, strict=True)
        if (problem := _problem(column, n_missing == table.n_rows, table.total_weight, most_states))
    ]
    if problems:
        more = f"; and {len(problems) - _LISTED_PROBLEMS} more columns" if len(problems) > _LISTED_PROBLEMS else ""
        raise InputError(f"{source}: {'; '.join(problems[:_LISTED_PROBLEMS])}{more}")


def _problem(column: Column, all_missing: bool, n_rows: float, most_states: int) -> str | None:
    """Return why a column cannot be learned from, or None if it can."""
    if all_missing:
        return "has no value at all (every cell is missing): drop it"
    if column.n_states == 1:
        return f"is constant (every cell is {column.categories[0]!r:.60}): drop it"
    if column.n_states > most_states:
        why = f"more than {most_states}"
        why += " (other methods take more)" if most_states < MANY_STATES else ""
    elif column.n_states > FEW_STATES and n_rows < _MIN_ROWS_PER_STATE * column.n_states:
        why = f"which have fewer than {_MIN_ROWS_PER_STATE} rows each"
    else:
        return None
    return (
        f"has {column.n_states} different values, such as {column.categories[0]!r:.40}, {why}: drop it if it is an "
        "identifier or a date, merge rare values, or bin numbers"
    )


@contextmanager
def errors_naming(source: str) -> Iterator[None]:
    """Put the name of the data in front of the message of an InputError."""
    try:
        yield
    except InputError as error:
        if str(error).startswith(f"{source}: "):
            raise
        raise InputError(f"{source}: {error}") from None


def _with_weights(source: RowSource, weights: Any, missing: tuple[str, ...]) -> RowSource:
    """Return the same data with weights; raise if these are not valid."""
    if isinstance(weights, str):
        if weights not in source.names:
            raise no_column(source, weights, "to take weights from")
        row_weights = RowWeights(weights, None, missing)
    else:
        try:
            row_weights = RowWeights(None, np.asarray(weights, dtype=np.float64), missing)
        except (ValueError, TypeError):
            raise InputError(f"{source.where}: weights must be one number per row, not {weights!r:.60}") from None
    with errors_naming(source.where):
        if row_weights.array is not None:
            rows = source.reduce(lambda batch: count_rows(batch.columns.values()), lambda a, b: a + b, source.names[:1])
            if row_weights.array.shape != (rows,):
                raise InputError(
                    f"weights: {rows} rows need {rows} weights, got an array of shape {row_weights.array.shape}"
                )
        result = source.with_weights(row_weights)
        rows, total = result.reduce(_sum_weights, lambda a, b: (a[0] + b[0], a[1] + b[1]), source.names[:1])
        if rows and not total:
            raise InputError(f"{row_weights.name}: all of them are zero: at least one row needs a positive weight")
        if total > MAX_WEIGHT:
            raise InputError(
                f"{row_weights.name}: their sum is {total:g}, more than {MAX_WEIGHT:g}; weights count as rows: divide "
                "them by a number"
            )
    return result


def _sum_weights(batch: RawBatch) -> tuple[int, float]:
    """Return the number of rows of a batch and the sum of their weights."""
    assert batch.weights is not None
    return len(batch.weights), float(batch.weights.sum())


def _without(source: RowSource, drop: Collection[str]) -> list[str]:
    """Return the names of the columns that are not dropped."""
    for name in drop:
        if name not in source.names:
            raise no_column(source, name, "to drop")
    return [name for name in source.names if name not in drop]


def no_column(source: RowSource, name: str, use: str) -> InputError:
    """Return the error for a column that the data do not have."""
    hint = did_you_mean(name, source.names) or f"its columns are {listed(source.names)}"
    return InputError(f"{source.where}: there is no column {name!r} {use}: {hint}")


def listed(names: Sequence[str]) -> str:
    """Return the first few names for a message."""
    return ", ".join(map(repr, names[:_LISTED_NAMES])) + (", ..." if len(names) > _LISTED_NAMES else "")
