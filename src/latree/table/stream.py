"""Rows that are encoded and used part by part, in one pass: for results with one line per row of a large file."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from latree._util.progress import Progress, no_progress
from latree.table.columns import DEFAULT_MISSING, Column, are_counted
from latree.table.encode import Unseen
from latree.table.memory import MemoryRows
from latree.table.readers import open_source
from latree.table.reading import errors_naming, names_in, no_column, with_weights
from latree.table.sources import Encoder, LocalSource, WeightsAre
from latree.table.table import Table


class StreamedRows(NamedTuple):
    """Some consecutive rows of a file: their codes, and the text of a column of identifiers, if there is one."""

    table: Table
    identifiers: list[str] | None


def stream_rows(
    path: Path,
    columns: Sequence[Column],
    *,
    identifier: str | None = None,
    format: str | None = None,
    unseen: Unseen = "error",
    weights: str | None = None,
    weights_are: WeightsAre | None = None,
    progress: Progress = no_progress,
) -> Iterator[StreamedRows]:
    """Encode the rows of a file with known columns, some at a time; the file may be larger than memory.

    Parameters
    ----------
    path : Path
        A file, or a pattern that matches several.
    columns : sequence of Column
        The columns of a model; the file must have them all.
    identifier : str, optional
        Another column of the file whose cells are kept as texts.
    format : str, optional
        The format of the file, if its ending does not tell it.
    unseen : {"error", "missing"}
        What to do with a category that ``columns`` do not have.
    weights : str, optional
        Another column of the file, with the weights of the rows.
    weights_are : {"counts", "survey"}, optional
        What the weights are, as for :func:`latree.as_table`.
    progress : callable
        Called with the rows, or bytes, that were read so far, and all of them.

    Yields
    ------
    StreamedRows
        The first may be empty.
    """
    source = open_source(path, None, None, progress, format=format, counts=are_counted(columns))
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
