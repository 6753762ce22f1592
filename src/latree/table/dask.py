"""Rows on a cluster: Dask's workers read and keep them, and only small arrays travel.

A task names what it needs, so that the scheduler can have it done again where a worker is lost. Chunks are the same as
in memory, and their sums are added in the same tree.
"""

import logging
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property, reduce
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from dask import delayed
from distributed import Client, Future, KilledWorker, default_client
from distributed.comm import CommClosedError
from numpy.typing import NDArray

from latree._util.arrays import IntArray
from latree._util.parallel import one_blas_thread
from latree.errors import InputError
from latree.table.chunks import (
    FAN_IN,
    Block,
    Draws,
    Sums,
    added,
    all_distinct,
    blocks_of,
    chunk_rows,
    distinct,
    joined,
    taken,
    weight_of,
)
from latree.table.factors import Factor, check_names, from_frame
from latree.table.memory import ChunkedRows, MemoryRows, Rows
from latree.table.parquet import parquet_names, read_pieces, row_groups
from latree.table.sources import Names, Piece, Result, Source, Weights, piece

CONNECT_SECONDS = 10  # how long a scheduler may take to answer
_ROWS_A_PART = 2**20  # row groups are read by one task until they have so many rows
_RESULTS_AT_ONCE = 64  # results of chunks that are on their way to this process,
_FIRST_RESULTS = 8  # and before it is known whether more are wanted


def connect(address: str) -> Client:
    """Connect to a scheduler that has workers."""
    if not re.fullmatch(r"((tcp|tls|ucx|wss?)://)?([^\s:/\[\]]+|\[[0-9a-fA-F:.]+\]):[0-9]{1,5}", address):
        raise InputError(f"{address!r}: not the address of a Dask scheduler, such as tcp://10.0.0.1:8786")
    for logger in ("distributed", "distributed.client"):  # what goes wrong is said in one line
        logging.getLogger(logger).setLevel(logging.CRITICAL)
    try:
        client = Client(address, timeout=CONNECT_SECONDS, set_as_default=False)
    except (OSError, ValueError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise InputError(f"{address}: no Dask scheduler answers ({reason:.120})") from None
    try:
        client.wait_for_workers(1, timeout=CONNECT_SECONDS)
    except TimeoutError:
        client.close()
        raise InputError(f"{address}: the scheduler has no workers") from None
    return client


def frame_source(frame: Any, client: Client | None) -> "DaskSource":
    """Make a source of a Dask dataframe."""
    if client is None:
        try:
            client = default_client()
        except ValueError:
            raise InputError(
                "a Dask dataframe needs a cluster that keeps its rows: make a dask.distributed.Client first"
            ) from None
    where = "the Dask dataframe"
    names = tuple(str(name) for name in frame.columns)
    check_names(list(names), where)
    return DaskSource(where, names, None, client, tuple(frame.to_delayed()))


def parquet_source(where: str, paths: Sequence[Path], client: Client) -> "DaskSource":
    """Make a source of Parquet files that the workers can read under the same names as this process."""
    parts = []
    for path in paths:
        groups: list[int] = []
        rows = 0
        for number, size in enumerate(row_groups(path)):
            groups.append(number)
            rows += size
            if rows >= _ROWS_A_PART:
                parts.append(RowGroups(path.absolute(), tuple(groups)))
                groups, rows = [], 0
        if groups or not parts:
            parts.append(RowGroups(path.absolute(), tuple(groups)))
    return DaskSource(where, tuple(parquet_names(paths)), None, client, tuple(parts))


class RowGroups(NamedTuple):
    """Some row groups of a Parquet file."""

    path: Path
    groups: tuple[int, ...]


@dataclass(frozen=True)
class DaskSource(Source):
    """Raw data that workers read.

    Attributes
    ----------
    client : Client
    parts : tuple
        Delayed data frames, or row groups of files.
    """

    client: Client
    parts: tuple[Any, ...]

    def weighted(self, weights: Weights) -> Source:
        """Give the same data with weights."""
        if weights.column is None:
            raise InputError("weights of rows on a cluster must be a column of them: give its name")
        return super().weighted(weights)

    def reduce(
        self, measure: Callable[[Piece], Result], merge: Callable[[Result, Result], Result], names: Names
    ) -> Result:
        """Measure all pieces on the workers, and put the results together in a tree."""
        work = delayed(_Pass(measure, merge, self._with_weights(names), self.weights), traverse=False)
        results = [delayed(_measured, pure=False)(work, part) for part in self.parts]
        while len(results) > 1:
            results = [delayed(_merged, pure=False)(work, group) for group in _groups(results)]
        with _answering():
            result: Result = self.client.compute(results[0]).result()
        return result

    def store(self, encode: Callable[[Piece], Block], names: Names) -> Rows:
        """Code all pieces, and keep the codes on the workers in chunks of the same rows as anywhere else."""
        work = delayed(_Pass(encode, None, self._with_weights(names), self.weights), traverse=False)
        parts = self.client.compute([delayed(_encoded, pure=False)(work, part) for part in self.parts])
        with _answering():
            shapes = self.client.gather(self.client.map(_shape, parts, pure=False))
        rows, columns = sum(shape[0] for shape in shapes), shapes[0][1]
        starts = np.cumsum([0, *(shape[0] for shape in shapes)])
        size = chunk_rows(columns)
        chunks = []
        for start in range(0, max(rows, 1), size):
            stop = min(start + size, rows)
            first = min(int(np.searchsorted(starts, start, side="right")) - 1, len(parts) - 1)
            last = max(int(np.searchsorted(starts, stop)), first + 1)
            bounds = [(max(start - starts[i], 0), stop - starts[i]) for i in range(first, last)]
            chunks.append(self.client.submit(_chunk, parts[first:last], bounds, pure=False))
        return DaskRows(self.client, tuple(chunks), rows)


@contextmanager
def _answering() -> Iterator[None]:
    """Say in one line what keeps a cluster from answering."""
    try:
        yield
    except (KilledWorker, CancelledError, ModuleNotFoundError, CommClosedError) as error:
        reason = " ".join(str(error).split())
        if "connection-lost" in reason:
            reason = "the connection to the scheduler was lost"
        raise InputError(f"the cluster gave up: {reason:.200}") from None


@dataclass(frozen=True)
class _Pass:
    """What is done to all pieces of raw data."""

    measure: Callable[[Piece], Any]
    merge: Any
    names: Names
    weights: Weights | None

    def over(self, part: Any) -> Iterator[Any]:
        """Measure the pieces of a part."""
        columns: Iterable[list[Factor]]
        if isinstance(part, RowGroups):
            columns = read_pieces(part.path, self.names, part.groups)
        elif self.names is None:
            columns = [from_frame(part)]
        else:
            columns = [from_frame(part[[name for name in part.columns if str(name) in self.names]])]
        return (self.measure(piece(factors, self.weights, None)) for factors in columns)


def _measured(work: _Pass, part: Any) -> Any:
    return reduce(work.merge, work.over(part))


def _merged(work: _Pass, results: list[Any]) -> Any:
    return reduce(work.merge, results)


def _encoded(work: _Pass, part: Any) -> Block:
    return joined(work.over(part))


def _shape(block: Block) -> tuple[int, ...]:
    return block.codes.shape


def _chunk(parts: list[Block], bounds: list[tuple[int, int]]) -> Block:
    """Put a chunk together out of the rows of parts that are in it."""
    return joined(
        Block(part.codes[low:high], None if part.weights is None else part.weights[low:high])
        for part, (low, high) in zip(parts, bounds, strict=True)
    )


def _groups(items: Sequence[Any], size: int = FAN_IN) -> list[Any]:
    return [items[start : start + size] for start in range(0, len(items), size)]


@dataclass(frozen=True)
class DaskRows(ChunkedRows):
    """Rows in chunks on Dask's workers.

    Attributes
    ----------
    client : Client
    chunks : tuple of Future
    n_all : int
        Number of rows.
    draws : Draws or None
        How rows are drawn anew from the chunks, if they are.
    """

    client: Client
    chunks: tuple[Future, ...]
    n_all: int
    draws: Draws | None = field(default=None)

    @cached_property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.n_all if self.draws is None else sum(self._results(_count, None))

    @cached_property
    def chunk_weights(self) -> tuple[float, ...]:
        """Weight of each chunk."""
        return tuple(self._results(_weight, None))

    def sum(self, statistic: Callable[[Block], Sums], block_rows: int | None = None, *, in_turn: bool = False) -> Sums:
        """Add up a statistic over all blocks: over a chunk's where the chunk is, and over chunks in a tree."""
        parts = self._submitted(_sum, statistic, block_rows)
        while len(parts) > 1:
            parts = [self.client.submit(_add, group, pure=False) for group in _groups(parts)]
        with _answering():
            total: Sums = parts[0].result()
        return total

    def map(self, function: Callable[[Block], NDArray[Any]]) -> NDArray[Any]:
        """Apply a function that gives one result a row to all blocks, and put the results in the rows' order."""
        return np.concatenate(list(self._results(_map, function)))

    def fetch(self, rows: IntArray) -> Block:
        """Copy some rows, by their numbers, into this process."""
        order = np.argsort(rows, kind="stable")
        stops = np.cumsum(list(self._results(_count, None)))
        places = np.searchsorted(rows[order], [0, *stops])
        wanted = [rows[order][low:high] for low, high in pairwise(places)]
        local = [some - (stop - size) for some, stop, size in zip(wanted, stops, np.diff([0, *stops]), strict=True)]
        work = self._work(None)
        fetched = [
            self.client.submit(_fetch, work, chunk, place, some, pure=False)
            for place, (chunk, some) in enumerate(zip(self.chunks, local, strict=True))
            if len(some) or place == 0
        ]
        with _answering():
            return taken(joined(self.client.gather(fetched)), np.argsort(order))

    def resampled(self, seed: int, number: int) -> "DaskRows":
        """Draw as many rows anew, with replacement and by their weights; the workers draw from their own chunks."""
        return DaskRows(self.client, self.chunks, self.n_all, Draws.of(self.chunk_weights, seed, number))

    def distinct(self) -> Rows:
        """Give rows that are the same only once, where that makes them much fewer; these are then in this process."""
        found = all_distinct(self._results(_distinct, None), self.n_rows)
        return self if found is None else MemoryRows.of(found)

    def _work(self, function: Any, block_rows: int | None = None) -> Future:
        """Send a function to the cluster once; the tasks that need it ask each other for it."""
        return self.client.submit(_same, _Work(function, self.draws, block_rows), pure=False)

    def _submitted(self, task: Callable[..., Any], function: Any, block_rows: int | None = None) -> list[Future]:
        work = self._work(function, block_rows)
        return [self.client.submit(task, work, chunk, place, pure=False) for place, chunk in enumerate(self.chunks)]

    def _results(self, task: Callable[..., Any], function: Any) -> Iterator[Any]:
        """Give the results of all chunks in their order, few of them on their way, and at first very few."""
        work, places = self._work(function), range(len(self.chunks))
        for some in (places[:_FIRST_RESULTS], *_groups(places[_FIRST_RESULTS:], _RESULTS_AT_ONCE)):
            futures = [self.client.submit(task, work, self.chunks[place], place, pure=False) for place in some]
            with _answering():
                results = self.client.gather(futures)
            yield from results


@dataclass(frozen=True)
class _Work:
    """What is done to all chunks: a function of blocks, after rows are drawn anew, if they are."""

    function: Any
    draws: Draws | None
    block_rows: int | None

    def rows(self, chunk: Block, place: int) -> Block:
        """Give the rows to work on."""
        return chunk if self.draws is None else self.draws.drawn(place, chunk)

    def results(self, chunk: Block, place: int) -> list[Any]:
        """Apply the function to all blocks."""
        with one_blas_thread():
            return [self.function(block) for block in blocks_of(self.rows(chunk, place), self.block_rows)]


def _same(work: _Work) -> _Work:
    return work


def _sum(work: _Work, chunk: Block, place: int) -> Sums:
    return _add(work.results(chunk, place))


def _add(parts: Sequence[Sums]) -> Sums:
    return reduce(added, parts)


def _map(work: _Work, chunk: Block, place: int) -> NDArray[Any]:
    return np.concatenate(work.results(chunk, place))


def _distinct(work: _Work, chunk: Block, place: int) -> Block:
    return distinct(work.rows(chunk, place))


def _fetch(work: _Work, chunk: Block, place: int, rows: IntArray) -> Block:
    return taken(work.rows(chunk, place), rows)


def _count(work: _Work, chunk: Block, place: int) -> int:
    return len(work.rows(chunk, place).codes)


def _weight(work: _Work, chunk: Block, place: int) -> float:
    return weight_of(work.rows(chunk, place))
