"""Reading Parquet files with pyarrow, batch by batch."""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from latree._util.files import readable
from latree._util.progress import Progress, claim_progress
from latree.errors import InputError
from latree.table.clock import Clock
from latree.table.formats import FileFormat, Files
from latree.table.raw import (
    EXACT,
    RawColumn,
    check_names,
    check_same_columns,
    infinite_value,
    label_of,
    order_of,
    text_array,
)
from latree.table.sources import LocalSource, Names, batch_rows, file_source

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq


# Bytes of the compressed pages of a column that are read ahead. Without a limit, whole row groups are held in memory.
_BUFFER_BYTES = 2**20


def parquet_source(files: Files) -> LocalSource:
    """Return a source of the rows of Parquet files with the same columns, one file after the other."""
    return file_source(files.where, parquet_names(files.paths), partial(_read_batches, files.paths, claim_progress()))


def parquet_names(paths: Sequence[Path]) -> list[str]:
    """Return the names of the columns of Parquet files; raise if they differ, except in their order."""
    names: list[str] = []
    for path in paths:
        with _open(path) as file:
            own = _column_names(file.schema_arrow)
            check_names(own, str(path))
            for name in own:
                _check_type(path, file.schema_arrow.field(name))
        names = names or own
        check_same_columns(path, own, paths[0], names)
    if not names:
        raise InputError(f"{paths[0]}: the file has no columns: write it again with at least two")
    return names


def _read_batches(paths: Sequence[Path], progress: Progress, names: Names) -> Iterator[list[RawColumn]]:
    """Read columns batch by batch, and report the number of rows that are read."""
    total = sum(sum(row_groups(path)) for path in paths)
    done = 0
    for path in paths:
        for columns in read_batches(path, names):
            yield columns
            done += len(columns[0].codes)
            progress(done, total)


def read_batches(path: Path, names: Names, groups: Sequence[int] | None = None) -> Iterator[list[RawColumn]]:
    """Read columns of a file, or of some of its row groups, batch by batch; no rows make one empty batch."""
    with _open(path) as file:
        wanted = _column_names(file.schema_arrow) if names is None else list(names)
        size = batch_rows(len(wanted))
        empty = True
        for batch in file.iter_batches(batch_size=size, row_groups=groups, columns=wanted):
            empty = False
            yield _raw_columns(batch, wanted)
        if empty:
            yield _raw_columns(file.schema_arrow.empty_table(), wanted)


def _column_names(schema: "pa.Schema") -> list[str]:
    """Return the names of the columns, without the index that pandas writes beside them."""
    return [name for name in schema.names if not re.fullmatch(r"__index_level_\d+__", name)]


def row_groups(path: Path) -> list[int]:
    """Return the number of rows of each row group."""
    with _open(path) as file:
        return [file.metadata.row_group(group).num_rows for group in range(file.num_row_groups)]


def _raw_columns(batch: "pa.RecordBatch | pa.Table", names: Sequence[str]) -> list[RawColumn]:
    batch.validate(full=True)  # cells of damaged files point to values that are not there
    return [_raw_column(name, batch.column(batch.schema.get_field_index(name))) for name in names]


def _raw_column(name: str, cells: Any) -> RawColumn:
    """Make a raw column of cells, whose types are read like those of a data frame."""
    import pyarrow as pa

    cells = cells.combine_chunks() if isinstance(cells, pa.ChunkedArray) else cells
    if pa.types.is_decimal(cells.type):
        cells = cells.cast(pa.float64())
    if not pa.types.is_dictionary(cells.type):
        cells = cells.dictionary_encode()
    # Null cells point to one more value, which is missing.
    values, has_nulls = cells.dictionary, cells.indices.null_count > 0
    order = order_of(values.to_pylist()) if cells.type.ordered else None
    codes = (cells.indices.fill_null(len(values)) if has_nulls else cells.indices).to_numpy(zero_copy_only=False)
    exact = pa.types.is_integer(values.type)
    clock = None if cells.type.ordered else _clock(values.type)
    found = _values(name, values, has_nulls) if clock is None else _seconds(values, has_nulls)
    return RawColumn(name, found, codes.astype(np.min_scalar_type(len(values))), order, exact, clock)


def _clock(kind: "pa.DataType") -> Clock | None:
    """Return what values of a type show: dates, times or durations; None for others."""
    import pyarrow as pa

    if pa.types.is_timestamp(kind):
        return "datetime" if kind.tz is None else "instant"
    if pa.types.is_date(kind):
        return "date"
    if pa.types.is_time(kind):
        return "time"
    return "duration" if pa.types.is_duration(kind) else None


def _seconds(values: Any, has_nulls: bool) -> Any:
    """Return dates or times as seconds, with one more that is missing if there are nulls."""
    import pyarrow as pa

    kind = values.type
    if pa.types.is_date(kind):
        values = values.cast(pa.timestamp("s"))
    micro = pa.time64 if pa.types.is_time(kind) else pa.duration if pa.types.is_duration(kind) else pa.timestamp
    seconds = values.cast(micro("us"), safe=False).cast(pa.int64()).to_numpy(zero_copy_only=False) / 1e6
    return np.append(seconds, np.nan) if has_nulls else seconds


def _values(name: str, values: Any, has_nulls: bool) -> Any:
    """Return distinct values as an array, with one more that is missing if there are nulls."""
    import pyarrow as pa

    kind = values.type
    if pa.types.is_floating(kind) or pa.types.is_integer(kind):
        numbers = values.to_numpy(zero_copy_only=False)
        if np.isinf(numbers).any():
            raise infinite_value(name)
        if has_nulls and pa.types.is_integer(kind) and (abs(numbers.astype(np.float64)) >= EXACT).any():
            return text_array([*map(str, numbers.tolist()), ""])
        return np.append(numbers.astype(np.float64), np.nan) if has_nulls else numbers
    if pa.types.is_boolean(kind) and not has_nulls:
        return values.to_numpy(zero_copy_only=False)
    return text_array([label_of(value) for value in values.to_pylist()] + [""] * has_nulls)


def _check_type(path: Path, field: "pa.Field[Any]") -> None:
    import pyarrow as pa

    if pa.types.is_nested(field.type):
        raise InputError(f"{path}: column {field.name!r} holds {field.type}, not single values: drop it from the file")


@contextmanager
def _open(path: Path) -> Iterator["pq.ParquetFile"]:
    """Open a file for reading; what is wrong with it becomes an InputError of one line."""
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ModuleNotFoundError:
        raise InputError(f"{path}: Parquet files are read with pyarrow: pip install pyarrow") from None
    with readable(path):
        try:
            with path.open("rb") as stream:
                texts = [
                    field.name
                    for field in pq.read_schema(stream)
                    if pa.types.is_string(field.type) or pa.types.is_large_string(field.type)
                ]
                stream.seek(0)
                yield pq.ParquetFile(stream, read_dictionary=texts, buffer_size=_BUFFER_BYTES, pre_buffer=False)
        except pa.ArrowException as error:
            reason = " ".join(str(error).split()) or type(error).__name__
            raise InputError(f"{path}: not a Parquet file ({reason:.120}): write or download it again") from None
        except OSError as error:  # pyarrow raises it without errno, in several lines, for damaged pages
            if error.errno is not None:
                raise
            reason = " ".join(str(error).split())
            raise InputError(f"{path}: a damaged Parquet file ({reason:.120}): write or download it again") from None


_WHAT = "columns with their types and the order of their categories"
FORMATS = (FileFormat("parquet", "Parquet", (".parquet", ".pq"), parquet_source, _WHAT, "arrow"),)
