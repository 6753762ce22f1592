"""Rows on disk: codes in a scratch file, read chunk by chunk, for tables that are larger than memory.

The file has no name and vanishes with the rows. It is read, not mapped: pages of a mapped file would count as memory of
this process.
"""

import tempfile
import threading
import weakref
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from latree.errors import InputError
from latree.table.chunks import Block, chunk_rows, joined, weight_of
from latree.table.memory import LocalRows, MemoryRows

MEMORY_BYTES = 2**28  # so many bytes of codes are kept in memory; if there are more, all go to disk


def stored(blocks: Iterable[Block]) -> LocalRows:
    """Keep rows that come in pieces of any size: in memory if they are few, otherwise on disk."""
    kept: list[Block] = []
    size = 0
    stream = iter(blocks)
    for block in stream:
        kept.append(block)
        size += block.codes.nbytes
        if size > MEMORY_BYTES:
            return _on_disk(kept, stream)
    return MemoryRows.of(joined(kept))


class DiskRows(LocalRows):
    """Rows in a scratch file: chunk after chunk, in each chunk column after column, then its weights, if any.

    Parameters
    ----------
    chunks : iterable of Block
        All of the size that their number of columns asks for, but the last.
    """

    def __init__(self, chunks: Iterable[Block]) -> None:
        self._stream = tempfile.TemporaryFile()  # noqa: SIM115
        weakref.finalize(self, self._stream.close)
        self._lock = threading.Lock()
        self._places: list[tuple[int, int]] = []  # where each chunk starts in the file, and its number of rows
        weights_so_far = []
        for chunk in chunks:
            self._places.append((self._stream.tell(), len(chunk.codes)))
            self._write(chunk.codes.ravel(order="F"))
            if chunk.weights is not None:
                self._write(chunk.weights)
            weights_so_far.append(weight_of(chunk))
        self._stream.flush()
        self.chunk_weights = tuple(weights_so_far)
        self._dtype, self._columns, self._weighted = chunk.codes.dtype, chunk.codes.shape[1], chunk.weights is not None

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return sum(rows for _, rows in self._places)

    def chunks(self) -> Iterator[Block]:
        """Give the chunks in their order."""
        for start, rows in self._places:
            with self._lock:
                self._stream.seek(start)
                codes = np.fromfile(self._stream, self._dtype, rows * self._columns)
                weights = np.fromfile(self._stream, np.float64, rows) if self._weighted else None
            yield Block(codes.reshape((rows, self._columns), order="F"), weights)

    def __reduce__(self) -> Any:
        raise InputError("rows on this machine's disk cannot be sent to other processes; use threads, or Dask")

    def _write(self, array: NDArray[Any]) -> None:
        try:
            self._stream.write(array.data)
        except OSError as error:
            raise InputError(
                f"{tempfile.gettempdir()}: {error.strerror}; the table is larger than memory, and its codes take one "
                "byte a cell in this folder (the environment variable TMPDIR names another one)"
            ) from None


def _on_disk(kept: list[Block], stream: Iterator[Block]) -> DiskRows:
    def all_blocks() -> Iterator[Block]:
        while kept:
            yield kept.pop(0)  # nobody else needs them any more
        yield from stream

    return DiskRows(rechunked(all_blocks(), chunk_rows(kept[0].codes.shape[1])))


def rechunked(blocks: Iterable[Block], rows: int) -> Iterator[Block]:
    """Make pieces of so many rows out of pieces of any size; the last one may be smaller."""
    waiting: list[Block] = []
    count = 0
    for block in blocks:
        waiting.append(block)
        count += len(block.codes)
        while count >= rows:
            whole = joined(waiting)
            yield Block(whole.codes[:rows], None if whole.weights is None else whole.weights[:rows])
            waiting = [Block(whole.codes[rows:], None if whole.weights is None else whole.weights[rows:])]
            count -= rows
    if count:
        yield joined(waiting)
