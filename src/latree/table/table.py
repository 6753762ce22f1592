"""Tables of discrete data: columns, rows of codes with missing cells and weights, and sums over rows."""

import json
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from hashlib import sha256
from typing import Any

import numpy as np
from numpy.typing import NDArray

from latree._util.arrays import CodeArray, FloatArray, IntArray, RandomState, generator
from latree._util.progress import claim_progress
from latree.errors import InputError
from latree.table.columns import MISSING, Column, code_type, has_bins
from latree.table.findings import Finding, find_duplicates, find_scarce
from latree.table.neighbours import find_dependent_rows
from latree.table.rows import Block, LocalRows, MemoryRows, ProgressRows, Rows, Sums, missing_code
from latree.table.sources import RawRows, RowNames, WeightsAre

# Sums of whole numbers below this are exact.
_MAX_EXACT = 2.0**53


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
    findings : tuple of Finding
        What is odd about the columns of the data that the table was learned from, also of those that were left out.
    row_names : RowNames or None
        The column that names the rows, if there is one; see :meth:`names_of_rows`.
    weights_are : {"counts", "survey"} or None
        What the weights of the rows are, as for :func:`latree.as_table`; None if they have none.
    raw : RawRows or None
        How to read the numbers of columns with bins again; see :meth:`numbers`.

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
    findings: tuple[Finding, ...] = ()
    row_names: RowNames | None = None
    weights_are: WeightsAre | None = None
    raw: RawRows | None = None

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
        >>> from latree import Column, Table
        >>> columns = [Column("a", "text", ("no", "yes")), Column("b", "integer", ("1", "2"))]
        >>> Table.from_codes(columns, np.array([[0, 1], [1, -1]])).decode()
        {'a': ['no', 'yes'], 'b': [2, None]}
        """
        columns = tuple(columns)
        codes = np.asarray(codes)
        if codes.shape[1:] != (len(columns),):
            raise InputError(f"codes of shape {codes.shape} for {len(columns)} columns: pass one column for each")
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

    @cached_property
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

    @cached_property
    def oddities(self) -> tuple[Finding, ...]:
        """What is odd about the table: the findings, duplicates of columns, too few rows, rows like their neighbours.

        Rows with counts have no neighbours: each is a kind of rows.
        """
        return (
            *self.findings,
            *find_duplicates(self.columns, self.rows),
            *find_scarce(self.columns, self.rows),
            *(() if self.has_counts else find_dependent_rows(self.columns, self.rows)),
        )

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

    def with_progress(self) -> "Table":
        """Return the same table, whose sums report how many rows they have reached; rows on a cluster do not."""
        if not isinstance(self.rows, LocalRows):
            return self
        return replace(self, rows=ProgressRows(self.rows, claim_progress()))

    def take(self, rows: IntArray) -> "Table":
        """Return a table in memory of the rows with these numbers.

        Examples
        --------
        >>> import numpy as np
        >>> from latree import as_table
        >>> as_table([["a"], ["b"], ["c"]]).take(np.array([2, 0])).decode()
        {'x0': ['c', 'a']}
        """
        return replace(self, rows=MemoryRows.from_block(self.rows.fetch(rows)), row_names=None, raw=None)

    def by_name(self) -> "Table":
        """Return the same rows with the columns sorted by name.

        Whatever is learned from it does not depend on the order of the columns.

        Examples
        --------
        >>> from latree import as_table
        >>> as_table([["red", 1], ["blue", 2]], names=["size", "colour"]).by_name().decode()
        {'colour': [1, 2], 'size': ['red', 'blue']}
        """
        order = np.argsort(np.array(self.names), kind="stable")
        if np.array_equal(order, np.arange(self.n_columns)):
            return self
        columns = tuple(self.columns[column] for column in order)
        return replace(self, columns=columns, rows=self.rows.reordered(order), raw=None)

    def names_of_rows(self, rows: IntArray) -> list[str]:
        """Return what rows are called: their cells in the column of identifiers, or else their numbers, from 1.

        Examples
        --------
        >>> import numpy as np
        >>> from latree import as_table
        >>> cells = [["ann", 1, 2], ["bob", 2, 2], ["cleo", 1, 1]]
        >>> as_table(cells, names=["person", "a", "b"], identifier="person").names_of_rows(np.array([2, 0]))
        ['cleo', 'ann']
        >>> as_table(cells, drop=["x0"]).names_of_rows(np.array([2, 0]))
        ['3', '1']
        """
        return [str(row + 1) for row in rows.tolist()] if self.row_names is None else self.row_names.of(rows)

    def numbers(self, rows: IntArray) -> FloatArray:
        """Return the numbers of some rows in columns with bins, read again from the data.

        NaN in other columns and where a cell is missing; also everywhere in a table that was made from codes.

        Examples
        --------
        >>> import numpy as np
        >>> from latree import as_table
        >>> as_table([[1.5, "a"], [2.5, "b"], [4.5, "b"]], bins=2).numbers(np.array([2, 0]))
        array([[4.5, nan],
               [1.5, nan]])
        """
        if self.raw is None or not has_bins(self.columns):
            return np.full((len(rows), self.n_columns), np.nan)
        return self.raw.numbers(self.columns, rows)

    @cached_property
    def distinct(self) -> "Table":
        """The same table with equal rows merged and their weights added, for sums that take long.

        If that would save little, the rows stay as they are.
        """
        return replace(self, rows=self.rows.distinct(), row_names=None, raw=None)

    def units(self, max_rows: int, random_state: RandomState) -> "Table":
        """Return a table in memory whose rows can be divided into folds: a row with the count 2 is two rows.

        If all weights are whole numbers, rows are repeated and have no weights any more. Rows with weight zero are left
        out. If more than ``max_rows`` rows are left, a random sample of them is taken, in their order.

        Examples
        --------
        >>> from latree import as_table
        >>> as_table([["a"], ["b"], ["c"]], weights=[2, 0, 1]).units(100, random_state=0).decode()
        {'x0': ['a', 'a', 'c']}
        """
        n_with_weight = self._weight_facts[0]
        n = int(self.total_weight) if self.has_counts else n_with_weight
        chosen = np.arange(n) if n <= max_rows else np.sort(generator(random_state).choice(n, max_rows, replace=False))
        if not self.has_counts:
            all_have_weight = n_with_weight == self.n_rows
            return self.take(chosen if all_have_weight else np.flatnonzero(self.map(row_weights))[chosen])
        # Copy number c of all repeated rows belongs to the first row whose weight, added to those before it, exceeds c.
        repeated = self.rows.fetch(np.searchsorted(np.cumsum(self.map(row_weights)), chosen, side="right"))
        return replace(self, rows=MemoryRows(repeated.codes, None), row_names=None, raw=None, weights_are=None)

    def sorted_rows(self) -> "Table":
        """Return a table in memory with the rows sorted by their codes, and equal rows by their weights.

        Examples
        --------
        >>> from latree import as_table
        >>> as_table([["b", 1], ["a", 2], ["b", 0]]).sorted_rows().decode()
        {'x0': ['a', 'b', 'b'], 'x1': [2, 0, 1]}
        """
        rows = self.rows.fetch(np.arange(self.n_rows))
        return self.take(np.lexsort([row_weights(rows), *rows.codes.T[::-1]]))

    @cached_property
    def has_counts(self) -> bool:
        """Whether weights say how often rows occurred: whole numbers, not of a survey, and some of them above 1."""
        _, n_fractional, n_above = self._weight_facts
        return bool(n_above and not n_fractional and self.total_weight < _MAX_EXACT and self.weights_are != "survey")

    @cached_property
    def _weight_facts(self) -> tuple[int, int, int]:
        """The number of weights above 0, of those that are not whole numbers, and of those above 1."""

        def count(block: Block) -> NDArray[np.int64]:
            weights = row_weights(block)
            return np.array([np.count_nonzero(found) for found in (weights, weights % 1, weights > 1)])

        return tuple(np.asarray(self.sum(count)).tolist())

    def subsample(self, max_rows: int, random_state: RandomState) -> "Table":
        """Return a table in memory of all rows, or of ``max_rows`` random ones if there are more, in their order."""
        sample = MemoryRows.from_block(self.subsample_block(max_rows, random_state))
        return replace(self, rows=sample, row_names=None, raw=None)

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
        >>> as_table([["yes", 3], ["", 5], ["no", 3]], names=["answer", "grade"]).decode()
        {'answer': ['yes', None, 'no'], 'grade': [3, 5, 3]}
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
        plain = [asdict(column) for column in self.columns]
        for column in plain:
            for name in ("description", "answers", "storage", "density"):  # say nothing about the codes
                del column[name]
            if column["unit"] is None:
                del column["unit"]
        columns = sha256(json.dumps(plain).encode()).digest()
        total = np.asarray(self.sum(_checksum)).tobytes()
        return f"{self.n_rows} rows, {self.n_columns} columns, {sha256(columns + total).hexdigest()[:16]}"


def row_weights(block: Block) -> FloatArray:
    """Return the weight of each row; 1 where rows have no weights."""
    return np.ones(len(block.codes)) if block.weights is None else block.weights


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
