"""From data of any supported form to a table of codes."""

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np

from latree._util.progress import Progress, no_progress
from latree._util.text import did_you_mean
from latree.errors import InputError
from latree.table.columns import DEFAULT_MISSING, Column, are_counted
from latree.table.discretize import learn_columns
from latree.table.encode import Unseen
from latree.table.learnable import FEW_STATES
from latree.table.readers import open_source
from latree.table.sources import Encoder, RawBatch, RowSource, RowWeights, count_rows
from latree.table.table import Table

# Number of bins of a numeric column.
DEFAULT_BINS = 10
# Largest sum of weights. Above it, adding one row no longer changes a float reliably.
MAX_WEIGHT = 1e15
# Most names of columns that one message lists.
_LISTED_NAMES = 8


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
    format: str | None = None,
    counts: bool = False,
    client: Any = None,
    progress: Progress = no_progress,
) -> Table:
    """Make a table of codes from data of any supported form.

    Text, boolean and few whole numbers become categories. Fractions and many whole numbers are cut into quantile bins
    with about equally many rows. All functions of latree that take data call this one.

    Parameters
    ----------
    data : Table, data frame, 2-D array, sparse matrix, or path of a file
        A Table is returned unchanged. A frame may be of pandas, polars, pyarrow or any other library that narwhals
        supports. A path may be a pattern, such as ``"folder/*.parquet"``; text files may be gzipped. Files may be
        larger than memory: their codes, one byte per cell, then go to a temporary file. The rows of a Dask dataframe
        stay on the cluster. A sparse matrix of scipy, or an object that has one as its ``X`` and names as its
        ``var_names``, such as AnnData, stays sparse.
    columns : sequence of Column, optional
        Columns of another table: the data are encoded with their bins and categories, in their order, and other columns
        of the data are ignored. By default the columns are learned from the data.
    names : sequence of str, optional
        Names for the columns of an array or a sparse matrix, such as ``vectorizer.get_feature_names_out()``; x0, x1,
        ... by default.
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
    format : str, optional
        The format of a file whose ending does not tell it: "csv", "parquet", "sav", "dta", "fasta",
        "phylip", "nexus", "npz" or "mtx".
    counts : bool
        For a sparse matrix: whether its numbers are used, with bins as in an array. By default a cell that is not zero
        is True, and others are False. Given ``columns`` know what they are.
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
    if columns is not None:
        counts = are_counted(columns)
    source = open_source(data, names, client, progress, format=format, counts=counts)
    if weights is not None:
        source = _with_weights(source, weights, missing)
    wanted = _without(source, drop)
    with errors_naming(source.where):
        if columns is None:
            columns = learn_columns(source, wanted, bins, missing)
            columns = [replace(column, description=source.descriptions.get(column.name, "")) for column in columns]
            unseen = "missing"  # only rows of weight zero can have values that the columns do not
        else:
            wanted = names_in(source, columns, wanted)
        return Table(tuple(columns), source.store(Encoder(tuple(columns), tuple(wanted), unseen), wanted))


def names_in(source: RowSource, columns: Sequence[Column], names: Sequence[str]) -> list[str]:
    """Return how data with these names call the columns of a model; raise if they lack some."""
    if source.matching == "positions":
        if len(names) != len(columns):
            raise InputError(
                f"{len(names)} columns where the model has {len(columns)}: pass the same columns in the same order"
            )
        return list(names)
    absent = [column.name for column in columns if column.name not in names]
    if source.matching == "items":
        absent = []  # an item that no row has is in none of them
    if len(absent) == 1:
        raise InputError(f"there is no column {absent[0]!r}, which the model needs: add it; its cells may be missing")
    if absent:
        raise InputError(
            f"{len(absent)} columns that the model needs are not there, {listed(absent)}: add them; their cells may be "
            "missing"
        )
    return [column.name for column in columns]


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
