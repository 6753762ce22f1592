"""From data of any supported form to a table of codes, whole or part by part."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, cast, get_args

import numpy as np

from latree._util.words import did_you_mean
from latree.errors import InputError
from latree.table.columns import DEFAULT_MISSING, FEW_STATES, Column, Unseen, are_counted, is_text
from latree.table.discretize import KindSetting, LearnedColumn, learn_columns
from latree.table.findings import Finding, advice, as_typed, doubts_about_weights, findings_of, findings_of_file
from latree.table.opening import open_source
from latree.table.raw import label_of
from latree.table.rows import MemoryRows
from latree.table.sources import (
    Encoder,
    LocalSource,
    RawBatch,
    RawRows,
    RowNames,
    RowSource,
    RowWeights,
    WeightsAre,
    WeightSums,
    if_survey,
)
from latree.table.table import Table

# Largest sum of weights that count rows. Above it, adding one row no longer changes a float reliably.
MAX_WEIGHT = 1e15
# Most names of columns that one message lists.
_LISTED_NAMES = 8


def as_table(
    data: Any,
    reading: "Reading | Mapping[str, Any] | None" = None,
    *,
    columns: Sequence[Column] | None = None,
    names: Sequence[str] | None = None,
    weights: Any = None,
    unseen: Unseen = "error",
    client: Any = None,
    **options: Any,
) -> Table:
    """Make a table of codes from data of any supported form.

    Texts, booleans and few different whole numbers become categories. Numbers with fractions, many whole numbers, dates
    and times are cut into bins with about equally many rows, as many as the rows call for. A column that says nothing,
    because it is constant or has no value, is left out, and ``findings`` of the table says so. All functions of latree
    that take data call this one. :func:`latree.check` shows what it makes of each column.

    Parameters
    ----------
    data : Table, data frame, 2-D array, sparse matrix, or path of a file
        A Table is returned unchanged. A frame may be of pandas, polars, pyarrow or any other library that narwhals
        supports. A path may be a pattern, such as ``"folder/*.parquet"``; text files may be gzipped. Files may be
        larger than memory: their codes, one byte per cell, then go to a temporary file. The rows of a Dask dataframe
        stay on the cluster. A sparse matrix of scipy, or an object that has one as its ``X`` and names as its
        ``var_names``, such as AnnData, stays sparse.
    reading : Reading or dict, optional
        How columns are chosen and cells are read: bins, missing cells, columns to drop and so on. See
        :class:`latree.Reading` for all options; a dict has the same names.
    columns : sequence of Column, optional
        Columns of another table: the data are encoded with their bins and categories, in their order, and other columns
        of the data are ignored. By default the columns are learned from the data.
    names : sequence of str, optional
        Names for the columns of an array or a sparse matrix, such as ``vectorizer.get_feature_names_out()``; x0, x1,
        ... by default.
    weights : array of float or str, optional
        One weight per row, or the name of the column that holds the weights; ``weights_are`` of the reading says what
        they mean.
    unseen : {"warn", "error", "missing"}
        What to do with a category that ``columns`` do not have. With "error", a number that they do not have gets the
        state of the nearest number that they have.
    client : dask.distributed.Client, optional
        The cluster that reads Parquet files and keeps their rows. For a Dask dataframe, Dask's default client by
        default.
    **options
        Options of the reading by their names, such as ``bins=2``, instead of ``reading`` or beside it.

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
    reading = as_reading(reading, **options)
    if isinstance(data, Table):
        changes = weights is not None or names is not None or reading.chooses
        if changes or (columns is not None and tuple(columns) != data.columns):
            raise InputError(
                "a Table has its own columns and weights: to change them, pass the original data instead of the Table"
            )
        if reading.weights_are is not None and data.weights_are not in (None, reading.weights_are):
            raise InputError(
                f"the weights of the Table are {data.weights_are!r}, not {reading.weights_are!r}: pass weights_are to "
                "latree.as_table when you make it"
            )
        return data
    if columns is not None:
        reading = replace(reading, counts=are_counted(columns))
    source = open_data(data, names, weights, reading, client)
    wanted = reading.wanted(source)
    findings = tuple(findings_of_file(source.remarks))
    with errors_naming(source.where):
        if columns is None:
            columns, found = _columns_to_learn_from(reading.learn_columns(source, wanted), reading)
            findings += (*doubts_about_weights(source.weights), *found)
            columns = [replace(column, description=source.descriptions.get(column.name, "")) for column in columns]
            wanted = [column.name for column in columns]
            unseen = "missing"  # only rows of weight zero can have values that the columns do not
        else:
            wanted = names_in(source, columns, wanted)
        rows = source.store(Encoder(tuple(columns), tuple(wanted), unseen), wanted)
        row_names = _row_names(data, source, names, reading)
        weights_are = (reading.weights_are or "counts") if source.weights else None
        again = partial(open_data, data, names, None, reading, client)
        raw = RawRows(again, tuple(wanted), unseen)
        return Table(tuple(columns), rows, findings, row_names, weights_are, raw)


@dataclass(frozen=True, repr=False)
class Reading:
    """How data become a table: which columns are learned from, and what their cells mean.

    :func:`latree.as_table`, :func:`latree.check`, :func:`latree.learn_tree` and :class:`latree.LatentTree` take it as
    ``reading``, or a dict of the same names. ``latree fit`` and ``latree check`` have the same options.

    Attributes
    ----------
    bins : int, optional
        Number of bins of every number, date and time, with about equally many rows. By default the rows choose it for
        each column: as many as predict it best from other columns. 0 makes every distinct value a category.
    kinds : mapping of str to str or sequence, optional
        What columns are taken for, by their names: ``"number"``, for one with bins; ``"ordered"``, for whole numbers
        that are categories in their order; ``"category"``, for names without an order, such as postal codes. Or all
        categories of a column from low to high, for texts that have an order: ``{"answer": ["never", "often"]}``. By
        default, numbers with fractions and dates are numbers, and so are whole numbers if there are more than 20
        different ones; fewer are ordered, and texts are categories.
    missing : collection of str or number
        Cells that mean missing, beside empty ones and NaN.
    missing_also : collection of str or number
        More cells that mean missing, beside those of ``missing``: ``missing_also=[-99]`` keeps NA and the others.
    drop : collection of str
        Names of columns to leave out. New data may have them or not.
    keep : collection of str, optional
        Names of the only columns to learn from.
    identifier : str, optional
        Name of a column that names the rows: it is not learned from, but reports and scores use it.
    weights_are : {"counts", "survey"}, optional
        What the weights of rows are, if there are some. ``"counts"``: a row of weight 3 counts as three rows, also for
        tests, smoothing and BIC. ``"survey"``: a weight says how many people a row stands for. Such weights are scaled
        to the effective number of rows, so that multiplying all of them by a constant changes nothing. By default
        weights are counts in Python, as in scikit-learn, with a warning if they do not look like counts; on the
        command line they are those of a survey.
    format : str, optional
        The format of a file whose ending does not tell it, such as ``"csv"``; ``latree check --help`` lists all.
    counts : bool
        For a sparse matrix: whether its numbers are used, with bins as in an array. By default a cell that is not zero
        is True, and others are False.
    strict : bool
        Whether a column that says nothing is refused, not left out.

    Examples
    --------
    >>> import latree
    >>> reading = latree.Reading(bins=5, drop="day", missing_also=[-99])
    >>> reading
    Reading(bins=5, missing_also=[-99], drop=['day'])
    >>> table = latree.as_table([[1, 3, 7], [2, -99, 8], [3, 4, 7]], reading, names=["day", "mood", "sleep"])
    >>> table.names, table.n_missing.tolist()
    (('mood', 'sleep'), [1, 0])
    """

    bins: int | None = None
    kinds: Mapping[str, str | Sequence[Any]] | None = None
    missing: Collection[Any] = DEFAULT_MISSING
    missing_also: Collection[Any] = ()
    drop: Collection[str] = ()
    keep: Collection[str] | None = None
    identifier: str | None = None
    weights_are: WeightsAre | None = None
    format: str | None = None
    counts: bool = False
    strict: bool = False

    def __post_init__(self) -> None:
        """Check the options as far as that is possible without the data, and write all cells as texts."""
        if self.bins is not None and not isinstance(self.bins, int | np.integer):
            raise InputError(f"bins must be a whole number, not {self.bins!r}")
        if self.bins not in (None, 0) and not 2 <= self.bins <= FEW_STATES:
            raise InputError(f"bins must be 0 (no bins) or from 2 to {FEW_STATES}, not {self.bins}")
        if self.weights_are not in (None, *get_args(WeightsAre)):
            known = " or ".join(map(repr, get_args(WeightsAre)))
            raise InputError(
                f"weights_are must be {known}, not {self.weights_are!r:.60}: the weights are sample_weight of fit"
            )
        kinds = {name: _kind(name, kind) for name, kind in (self.kinds or {}).items()}
        drop, keep = _several(self.drop), None if self.keep is None else _several(self.keep)
        both = [name for name in drop if name in (keep or ())]
        if both:
            raise InputError(f"column {both[0]!r} is both to keep and to drop: choose one")
        bins = None if self.bins is None else int(self.bins)
        plain: dict[str, Any] = {
            "bins": bins,
            "missing": _labels(self.missing),
            "missing_also": _labels(self.missing_also),
        }
        for name, value in (plain | {"drop": drop, "keep": keep, "kinds": kinds or None}).items():
            object.__setattr__(self, name, value)

    def __repr__(self) -> str:
        return f"Reading({', '.join(f'{name}={value!r}' for name, value in self.arguments().items())})"

    @property
    def chooses(self) -> bool:
        """Whether it says something about certain columns."""
        return bool(self.drop or self.keep is not None or self.identifier or self.kinds)

    @property
    def marks(self) -> tuple[str, ...]:
        """All cells that mean missing."""
        return tuple(dict.fromkeys((*self.missing, *self.missing_also)))

    def arguments(self) -> dict[str, Any]:
        """Return the options that are not as by default, as a person would write them."""
        chosen = {f.name: getattr(self, f.name) for f in fields(self) if getattr(self, f.name) != f.default}
        cells = ("missing", "missing_also")
        return {
            name: [as_typed(one) if name in cells else one for one in value] if isinstance(value, tuple) else value
            for name, value in chosen.items()
        }

    @classmethod
    def from_dict(cls, plain: Any) -> "Reading":
        """Read the options from plain data, trusting none of it."""
        names = [field.name for field in fields(cls)]
        if not isinstance(plain, dict) or sorted(plain) != sorted(names):
            raise InputError(f"the reading of the data is not an object with the names {', '.join(names)}")
        kinds = {} if plain["kinds"] is None else plain["kinds"]
        lists = [plain["missing"], plain["missing_also"], plain["drop"], [] if plain["keep"] is None else plain["keep"]]
        lists += [one for one in kinds.values() if not is_text(one)] if isinstance(kinds, dict) else [kinds]
        texts = [plain[name] for name in ("identifier", "format", "weights_are") if plain[name] is not None]
        if (
            type(plain["bins"]) not in (int, type(None))
            or not all(isinstance(one, list) and all(map(is_text, one)) for one in lists)
            or not all(map(is_text, (*texts, *kinds)))
            or not all(isinstance(plain[name], bool) for name in ("counts", "strict"))
        ):
            raise InputError(f"the reading of the data makes no sense: {plain!r:.60}")
        return cls(**plain)

    def learn_columns(self, source: RowSource, wanted: Sequence[str]) -> list[LearnedColumn]:
        """Learn the states of the wanted columns."""
        return learn_columns(source, wanted, self.bins, self.marks, cast(Mapping[str, KindSetting], self.kinds or {}))

    def wanted(self, source: RowSource) -> list[str]:
        """Return the names of the columns to learn from; raise if a name is not one of the data."""
        known = set(source.names)
        uses = [*((name, "to drop") for name in self.drop), *((name, "to keep") for name in self.keep or ())]
        uses += [(name, "named in kinds") for name in self.kinds or ()]
        uses += [(self.identifier, "that names rows")] if self.identifier is not None else []
        for name, use in uses:
            if name not in known:
                raise no_column(source, name, use)
        return self.select(source.names)

    def select(self, names: Iterable[str]) -> list[str]:
        """Return those of some names of columns that are to learn from."""
        left_out, kept = {*self.drop, self.identifier}, None if self.keep is None else set(self.keep)
        return [name for name in names if name not in left_out and (kept is None or name in kept)]


def as_reading(reading: Reading | Mapping[str, Any] | None = None, **options: Any) -> Reading:
    """Return options of reading that are given as an object, as a dict or one by one."""
    if isinstance(reading, Reading) and not options:
        return reading
    if not isinstance(reading, Reading | Mapping | None):
        raise InputError(f"reading must be a latree.Reading or a dict of its options, not {reading!r:.60}")
    given = {**(reading.arguments() if isinstance(reading, Reading) else reading or {}), **options}
    names = [field.name for field in fields(Reading)]
    for name in given:
        if name not in names:
            hint = did_you_mean(name, names) or f"the options are {', '.join(names)}"
            raise InputError(f"reading has no option {name!r:.60}: {hint}")
    return Reading(**given)


def _kind(name: str, kind: Any) -> KindSetting:
    """Return what a column is to be taken for; raise if that is none of the kinds."""
    if isinstance(kind, str):
        known = ("number", "ordered", "category")
        for one in known:
            if kind == one:
                return cast(KindSetting, one)
        hint = did_you_mean(kind, known) or f"it must be {', '.join(known)}, or all its values from low to high"
        raise InputError(f"the kind of column {name!r} is {kind!r:.60}: {hint}")
    labels = _labels(kind)
    if len(labels) < 2 or len(set(labels)) < len(labels):
        raise InputError(f"the order of column {name!r}: give two or more different values, from low to high")
    return labels


def _labels(values: Any) -> tuple[str, ...]:
    """Return cells as texts, as they are compared with those of the data."""
    return tuple(label_of(value).strip() for value in _several(values))


def _several(values: Any) -> tuple[Any, ...]:
    """Return one text or number, or several, as a tuple."""
    return (values,) if isinstance(values, str) or not isinstance(values, Iterable) else tuple(values)


def open_data(data: Any, names: Sequence[str] | None, weights: Any, reading: Reading, client: Any) -> RowSource:
    """Return a source of raw rows with their weights."""
    if isinstance(data, list | tuple):
        try:
            data = np.asarray(data)
        except ValueError:
            raise InputError("the data: rows of different lengths: give every row the same number of cells") from None
    source = open_source(data, names, client, format=reading.format, counts=reading.counts)
    if weights is not None:
        source = with_weights(source, weights, reading.weights_are, reading.marks)
    return source


def _columns_to_learn_from(
    learned: Sequence[LearnedColumn], reading: Reading
) -> tuple[list[Column], tuple[Finding, ...]]:
    """Return the columns that say something, and what is odd about all columns; raise if one cannot be read.

    If all columns say nothing, as in a table of one row, all of them are returned.
    """
    found = findings_of(learned, reading.identifier)
    refused = [one for one in found if one.action == "refused"]
    if refused:
        problems = "; ".join(f"{one.subject} {one.what}" for one in refused)
        raise InputError(f"{problems}; to leave such columns out, use {advice(refused)}")
    left_out = {one.column: one for one in found if one.action == "left out"}
    columns = [one.column for one in learned if one.column is not None]
    kept = [column for column in columns if column.name not in left_out]
    if reading.strict and (nothing := [one for one in left_out.values() if one.kind != "index"]):
        problems = "; ".join(f"{one.subject} {one.what}" for one in nothing)
        raise InputError(f"{problems}; drop such columns, or read the data without strict, which leaves them out")
    if not kept:
        return [column for column in columns if left_out[column.name].kind != "index"], ()
    return kept, tuple(found)


def _row_names(data: Any, source: RowSource, names: Sequence[str] | None, reading: Reading) -> RowNames | None:
    """Return where the names of the rows are."""
    identifier = reading.identifier
    if identifier is None:
        return None
    if not isinstance(source, LocalSource):
        return RowNames(identifier, source)
    if isinstance(data, str | Path):
        return RowNames(identifier, partial(open_source, data, names, format=reading.format))
    return RowNames(identifier, next(source.batches([identifier])).columns[identifier])


def positions_in_array(columns: Sequence[Column], names: Sequence[str]) -> list[int]:
    """Return where the columns of a model are in an array: in their order, or by name if it has more columns."""
    if len(names) == len(columns):
        return list(range(len(names)))
    position_of = {name: position for position, name in enumerate(names)}
    if not all(column.name in position_of for column in columns):
        raise InputError(
            f"{len(names)} columns where the model has {len(columns)}: pass the same columns in the same order"
        )
    return [position_of[column.name] for column in columns]


def names_in(source: RowSource, columns: Sequence[Column], names: Sequence[str]) -> list[str]:
    """Return how data with these names call the columns of a model; raise if they lack some."""
    if source.matching == "positions":
        return [names[position] for position in positions_in_array(columns, names)]
    known = set(names)
    absent = [column.name for column in columns if column.name not in known]
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
    """Put the name of the data in front of the message of an InputError, unless that names the file already."""
    try:
        yield
    except InputError as error:
        first, *rest = str(error).split(": ", 1)
        if rest and (first == source or Path(first).exists()):
            raise
        raise InputError(f"{source}: {error}") from None


def with_weights(source: RowSource, weights: Any, are: WeightsAre | None, missing: tuple[str, ...]) -> RowSource:
    """Return the same data with weights; raise if these are not valid."""
    if isinstance(weights, str):
        if weights not in source.names:
            raise no_column(source, weights, "to take weights from")
        row_weights = RowWeights(weights, None, missing, are)
    else:
        try:
            row_weights = RowWeights(None, np.asarray(weights, dtype=np.float64), missing, are)
        except (ValueError, TypeError):
            raise InputError(f"{source.where}: weights must be one number per row, not {weights!r:.60}") from None
    with errors_naming(source.where):
        if row_weights.array is not None:
            rows = source.n_rows()
            if row_weights.array.shape != (rows,):
                raise InputError(
                    f"weights: {rows} rows need {rows} weights, got an array of shape {row_weights.array.shape}"
                )
        sums = source.with_weights(row_weights).reduce(_sum_weights, WeightSums.merge, source.names[:1])
        if sums.n_rows and not sums.largest:
            raise InputError(f"{row_weights.name}: all of them are zero: at least one row needs a positive weight")
        total = sums.largest * sums.total
        if are != "survey" and total > MAX_WEIGHT:
            raise InputError(
                f"{row_weights.name}: their sum is {total:g}, more than {MAX_WEIGHT:g}, and weights count as rows: "
                f"{if_survey()}"
            )
    return source.with_weights(replace(row_weights, sums=sums))


def _sum_weights(batch: RawBatch) -> WeightSums:
    assert batch.weights is not None
    return WeightSums.of(batch.weights)


def no_column(source: RowSource, name: str, use: str) -> InputError:
    """Return the error for a column that the data do not have."""
    hint = did_you_mean(name, source.names) or f"its columns are {listed(source.names)}"
    return InputError(f"{source.where}: there is no column {name!r} {use}: {hint}")


def listed(names: Sequence[str]) -> str:
    """Return the first few names for a message."""
    return ", ".join(map(repr, names[:_LISTED_NAMES])) + (", ..." if len(names) > _LISTED_NAMES else "")


class StreamedRows(NamedTuple):
    """Some consecutive rows of a file: their codes, and the text of a column of identifiers, if there is one."""

    table: Table
    identifiers: list[str] | None


def stream_rows(
    path: Path,
    columns: Sequence[Column],
    *,
    names: Sequence[str] | None = None,
    identifier: str | None = None,
    format: str | None = None,
    unseen: Unseen = "error",
    weights: str | None = None,
    weights_are: WeightsAre | None = None,
) -> Iterator[StreamedRows]:
    """Encode the rows of a file with known columns, some at a time; the file may be larger than memory.

    Parameters
    ----------
    path : Path
        A file, or a pattern that matches several.
    columns : sequence of Column
        The columns of a model; the file must have them all.
    names : sequence of str, optional
        Names for the columns of a sparse matrix.
    identifier : str, optional
        Another column of the file whose cells are kept as texts.
    format : str, optional
        The format of the file, if its ending does not tell it.
    unseen : {"warn", "error", "missing"}
        What to do with a category that ``columns`` do not have.
    weights : str, optional
        Another column of the file, with the weights of the rows.
    weights_are : {"counts", "survey"}, optional
        What the weights are, as for :func:`latree.as_table`.

    Yields
    ------
    StreamedRows
        The first may be empty.
    """
    source = open_source(path, names, format=format, counts=are_counted(columns))
    assert isinstance(source, LocalSource)  # there is no cluster
    if identifier is not None and identifier not in source.names:
        raise no_column(source, identifier, "that names rows")
    if weights is not None:
        source = with_weights(source, weights, weights_are, DEFAULT_MISSING)
        assert isinstance(source, LocalSource)
    with errors_naming(source.where):
        wanted = names_in(source, columns, source.names)
        encode = Encoder(tuple(columns), tuple(wanted), unseen)
        for batch in source.batches(list(dict.fromkeys([*wanted, *([identifier] if identifier else [])]))):
            texts = None
            if identifier is not None:
                raw = batch.columns[identifier]
                labels = raw.labels()
                texts = [labels[code] for code in raw.codes.tolist()]
            yield StreamedRows(Table(tuple(columns), MemoryRows.from_block(encode(batch))), texts)
