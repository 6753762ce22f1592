"""Reading Parquet files with pyarrow, some rows at a time."""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from latree._util.files import readable
from latree._util.progress import Progress, no_progress
from latree.errors import InputError
from latree.table.factors import Factor, check_names, check_same, label_of, text_array
from latree.table.sources import CELLS_AT_ONCE, LocalSource, Names, in_files

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq

_BUFFER_BYTES = 2**20  # of a column's compressed pages that are read ahead, however large a row group is


def is_parquet(path: Path) -> bool:
    """Tell by its name whether a file is a Parquet file."""
    return path.name.lower().endswith((".parquet", ".pq"))


def parquet_source(where: str, paths: Sequence[Path], progress: Progress = no_progress) -> LocalSource:
    """Make a source of Parquet files with the same columns, one after the other."""
    return in_files(where, parquet_names(paths), partial(_pieces, paths, progress))


def parquet_names(paths: Sequence[Path]) -> list[str]:
    """Give the columns' names of Parquet files, which must be the same in all of them, in any order."""
    names: list[str] = []
    for path in paths:
        with _open(path) as file:
            own = _column_names(file.schema_arrow)
            check_names(own, str(path))
            for name in own:
                _check_type(path, file.schema_arrow.field(name))
        names = names or own
        check_same(path, own, paths[0], names)
    if not names:
        raise InputError(f"{paths[0]}: the file has no columns")
    return names


def _pieces(paths: Sequence[Path], progress: Progress, names: Names) -> Iterator[list[Factor]]:
    """Read some columns, piece by piece; tell the rows that are read."""
    total = sum(sum(row_groups(path)) for path in paths)
    done = 0
    for path in paths:
        for factors in read_pieces(path, names):
            yield factors
            done += len(factors[0].codes)
            progress(done, total)


def read_pieces(path: Path, names: Names, groups: Sequence[int] | None = None) -> Iterator[list[Factor]]:
    """Read some columns of a file, or of some of its row groups, piece by piece; no rows make one empty piece."""
    with _open(path) as file:
        wanted = _column_names(file.schema_arrow) if names is None else list(names)
        size = max(1, CELLS_AT_ONCE // max(1, len(wanted)))
        empty = True
        for batch in file.iter_batches(batch_size=size, row_groups=groups, columns=wanted):
            empty = False
            yield _factors(batch, wanted)
        if empty:
            yield _factors(file.schema_arrow.empty_table(), wanted)


def _column_names(schema: "pa.Schema") -> list[str]:
    """Give the columns' names, without the index that pandas writes beside them."""
    return [name for name in schema.names if not re.fullmatch(r"__index_level_\d+__", name)]


def row_groups(path: Path) -> list[int]:
    """Give the number of rows of each row group."""
    with _open(path) as file:
        return [file.metadata.row_group(group).num_rows for group in range(file.num_row_groups)]


def _factors(batch: "pa.RecordBatch | pa.Table", names: Sequence[str]) -> list[Factor]:
    return [_factor(name, batch.column(batch.schema.get_field_index(name))) for name in names]


def _factor(name: str, cells: Any) -> Factor:
    """Factor a column; every type of cells is read as it is from a data frame."""
    import pyarrow as pa

    cells = cells.combine_chunks() if isinstance(cells, pa.ChunkedArray) else cells
    if pa.types.is_decimal(cells.type):
        cells = cells.cast(pa.float64())
    if not pa.types.is_dictionary(cells.type):
        cells = cells.dictionary_encode()
    values, holes = cells.dictionary, cells.indices.null_count > 0
    codes = (cells.indices.fill_null(len(values)) if holes else cells.indices).to_numpy(zero_copy_only=False)
    return Factor(name, _values(name, values, holes), codes.astype(np.min_scalar_type(len(values))))


def _values(name: str, values: Any, holes: bool) -> Any:
    """Give distinct values as an array, with one more that is missing if there are holes."""
    import pyarrow as pa

    kind = values.type
    if pa.types.is_floating(kind) or pa.types.is_integer(kind):
        numbers = values.to_numpy(zero_copy_only=False)
        if np.isinf(numbers).any():
            raise InputError(f"column {name!r} has an infinite value")
        return np.append(numbers.astype(np.float64), np.nan) if holes else numbers
    if pa.types.is_boolean(kind) and not holes:
        return values.to_numpy(zero_copy_only=False)
    return text_array([label_of(value) for value in values.to_pylist()] + [""] * holes)


def _check_type(path: Path, field: "pa.Field[Any]") -> None:
    import pyarrow as pa

    if pa.types.is_nested(field.type):
        raise InputError(f"{path}: column {field.name!r} holds {field.type}, not single values: drop it")


@contextmanager
def _open(path: Path) -> Iterator["pq.ParquetFile"]:
    """Open for reading, and say in one line what is wrong with a file that cannot be read as a table."""
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ModuleNotFoundError:
        raise InputError(f"{path}: Parquet files are read with pyarrow; pip install 'latree[arrow]'") from None
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
            raise InputError(f"{path}: not a readable Parquet file ({reason:.120})") from None
        except OSError as error:  # pyarrow's own, of several lines, for pages that are damaged
            if error.errno is not None:
                raise
            raise InputError(f"{path}: a damaged Parquet file ({' '.join(str(error).split()):.120})") from None
