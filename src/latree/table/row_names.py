"""The names of the rows: the cells of a column of identifiers, read again when some of them are wanted."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from latree._util.arrays import IntArray
from latree.table.raw import RawColumn
from latree.table.sources import LocalSource, RawBatch, RowSource


@dataclass(frozen=True)
class RowNames:
    """The column that names the rows, which is not learned from.

    Attributes
    ----------
    column : str
        Its name.
    data : RawColumn, RowSource or callable
        Its cells, or the data, or a function that opens the data again: the names of the rows of a large file would
        take more memory than its codes.
    """

    column: str
    data: "RawColumn | RowSource | Callable[[], RowSource]"

    def of(self, rows: IntArray) -> list[str]:
        """Return the names of the rows with these numbers."""
        if isinstance(self.data, RawColumn):
            return texts_of(self.data, rows)
        source = self.data if isinstance(self.data, RowSource) else self.data()
        if not isinstance(source, LocalSource):
            every: list[str] = source.reduce(partial(_every_text, self.column), _joined, [self.column])
            return [every[row] for row in rows.tolist()]
        found: dict[int, str] = {}
        start = 0
        for batch in source.batches([self.column]):
            raw = batch.columns[self.column]
            here = np.unique(rows[(rows >= start) & (rows < start + len(raw.codes))])
            found |= zip(here.tolist(), texts_of(raw, here - start), strict=True)
            start += len(raw.codes)
        return [found[row] for row in rows.tolist()]


def _every_text(column: str, batch: RawBatch) -> list[str]:
    # Not a method: workers of a cluster are sent this function, and the data, with their client, cannot be sent.
    raw = batch.columns[column]
    return texts_of(raw, np.arange(len(raw.codes)))


def _joined(one: list[str], other: list[str]) -> list[str]:
    return one + other


def texts_of(raw: RawColumn, rows: IntArray) -> list[str]:
    """Return the texts of some cells of a raw column."""
    labels = raw.labels()
    return [labels[code] for code in raw.codes[rows].tolist()]
