"""Rows on disk: codes in a temporary file that is read chunk by chunk, for tables that are larger than memory.

The file has no name and is removed with the rows. It is read, not memory-mapped: pages of a mapped file would count as
memory of this process.
"""

import tempfile
import threading
import weakref
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from latree.errors import InputError
from latree.table.rows import Block, LocalRows, MemoryRows, chunk_rows, concatenate, slice_rows, total_weight

# Codes of a file that take at most this many bytes are kept in memory. Otherwise all codes go to disk.
MEMORY_BYTES = 2**28


def store_blocks(blocks: Iterable[Block]) -> LocalRows:
    """Keep the rows of blocks of any size: in memory if they are few, otherwise on disk."""
    kept: list[Block] = []
    size = 0
    remaining = iter(blocks)
    for block in remaining:
        kept.append(block)
        size += block.codes.nbytes
        if size > MEMORY_BYTES:
            return _write_to_disk(kept, remaining)
    return MemoryRows.from_block(concatenate(kept))


class DiskRows(LocalRows):
    """Rows in a temporary file: chunk by chunk, in each chunk column by column, then its weights, if any.

    Parameters
    ----------
    chunks : iterable of Block
        Each has :func:`chunk_rows` rows; the last one may have fewer.
    """

    def __init__(self, chunks: Iterable[Block]) -> None:
        self._stream = tempfile.TemporaryFile()  # noqa: SIM115
        weakref.finalize(self, self._stream.close)
        self._lock = threading.Lock()
        self._locations: list[tuple[int, int]] = []  # where each chunk starts in the file, and its number of rows
        weights = []
        for chunk in chunks:
            self._locations.append((self._stream.tell(), len(chunk.codes)))
            self._write(chunk.codes.ravel(order="F"))
            if chunk.weights is not None:
                self._write(chunk.weights)
            weights.append(total_weight(chunk))
        self._stream.flush()
        self.chunk_weights = tuple(weights)
        self._dtype, self._columns, self._weighted = chunk.codes.dtype, chunk.codes.shape[1], chunk.weights is not None

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return sum(rows for _, rows in self._locations)

    def chunks(self) -> Iterator[Block]:
        """Yield the chunks in order."""
        for start, rows in self._locations:
            with self._lock:
                self._stream.seek(start)
                codes = np.fromfile(self._stream, self._dtype, rows * self._columns)
                weights = np.fromfile(self._stream, np.float64, rows) if self._weighted else None
            yield Block(codes.reshape((rows, self._columns), order="F"), weights)

    def __reduce__(self) -> Any:
        raise InputError(
            "the table is on this machine's disk and cannot be sent to other processes: use threads, or pass a Dask "
            "client to as_table"
        )

    def _write(self, array: NDArray[Any]) -> None:
        try:
            self._stream.write(array.data)
        except OSError as error:
            raise InputError(
                f"{tempfile.gettempdir()}: {error.strerror}; the table is larger than memory, and its codes take one "
                "byte per cell in this folder: free some space, or set the environment variable TMPDIR to another "
                "folder"
            ) from None


def _write_to_disk(kept: list[Block], remaining: Iterator[Block]) -> DiskRows:
    def all_blocks() -> Iterator[Block]:
        while kept:
            yield kept.pop(0)  # frees its memory once it is written
        yield from remaining

    return DiskRows(rechunk(all_blocks(), chunk_rows(kept[0].codes.shape[1])))


def rechunk(blocks: Iterable[Block], size: int) -> Iterator[Block]:
    """Make chunks of ``size`` rows out of blocks of any size; the last chunk may be smaller."""
    waiting: list[Block] = []
    count = 0
    for block in blocks:
        waiting.append(block)
        count += len(block.codes)
        while count >= size:
            whole = concatenate(waiting)
            yield slice_rows(whole, slice(size))
            waiting = [slice_rows(whole, slice(size, None))]
            count -= size
    if count:
        yield concatenate(waiting)
