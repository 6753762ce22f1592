"""Rows on a cluster: Dask's workers read and keep them, and only small arrays are sent.

Every task depends on the tasks that made its arguments, so the scheduler can repeat them when a worker is lost. Chunks
are the same as in memory, and their sums are added in the same order.
"""

import logging
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from itertools import pairwise
from pathlib import Path
from threading import Thread
from typing import Any, NamedTuple

import numpy as np
from dask import delayed
from distributed import Client, Future, KilledWorker, default_client, wait
from distributed.comm import CommClosedError
from numpy.typing import NDArray

from latree._util.arrays import IntArray
from latree._util.progress import Progress, claim_progress, no_progress
from latree._util.words import plural
from latree._util.workers import one_blas_thread, one_thread
from latree.errors import InputError
from latree.table.formats.parquet import parquet_names, read_batches, row_groups
from latree.table.frames import from_frame
from latree.table.raw import RawColumn, check_names
from latree.table.rows import (
    FAN_IN,
    Block,
    BootstrapSample,
    Item,
    MemoryRows,
    Outcome,
    Rows,
    Sums,
    add,
    chunk_rows,
    concatenate,
    distinct_rows,
    merge_distinct,
    reorder_columns,
    slice_rows,
    split_into_blocks,
    take_rows,
    total_weight,
)
from latree.table.sources import (
    Encoder,
    Names,
    RawBatch,
    Result,
    RowSource,
    RowWeights,
    count_rows,
    raw_batch,
    take_cells,
)

# Seconds that a scheduler, and then its first worker, may take to answer.
CONNECT_SECONDS = 10
# Seconds between two looks at whether there are still workers.
_POLL_SECONDS = 1
# What the scheduler and the workers must be able to do.
_IMPORT = "import latree.table.dask"
# A task reads row groups of a file until it has this many rows.
_ROWS_PER_TASK = 2**20
# Results of chunks that are computed and sent to this process at a time.
_RESULTS_AT_ONCE = 64
# The first results are fewer, because the caller may stop after them.
_FIRST_RESULTS = 8


def connect(address: str) -> Client:
    """Connect to a scheduler; raise if it does not answer or has no workers."""
    if not re.fullmatch(r"((tcp|tls|ucx|wss?)://)?([^\s:/\[\]]+|\[[0-9a-fA-F:.]+\]):[0-9]{1,5}", address):
        raise InputError(f"{address!r}: not the address of a Dask scheduler; an address is like tcp://10.0.0.1:8786")
    for logger in ("distributed", "distributed.client"):  # errors are raised below, in one line
        logging.getLogger(logger).setLevel(logging.CRITICAL)
    try:
        client = _new_client(address)
    except (OSError, ValueError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise InputError(
            f"{address}: no Dask scheduler answers ({reason:.120}): check the address, or start one with dask scheduler"
        ) from None
    try:
        client.wait_for_workers(1, timeout=CONNECT_SECONDS)
    except TimeoutError:
        client.close()
        raise InputError(f"{address}: the scheduler has no workers: start some with dask worker {address}") from None
    return client


def _new_client(address: str) -> Client:
    """Return a client. What accepts a connection and never answers would keep Dask waiting in spite of its timeout."""
    found: list[Client | BaseException] = []

    def make() -> None:
        try:
            found.append(Client(address, timeout=CONNECT_SECONDS, set_as_default=False))
        except BaseException as error:
            found.append(error)

    thread = Thread(target=make, daemon=True)
    thread.start()
    thread.join(CONNECT_SECONDS + 1)
    client = found[0] if found else TimeoutError("it accepts connections and says nothing")
    if isinstance(client, BaseException):
        raise client
    return client


def _gather(client: Client, futures: list[Future], progress: Progress = no_progress) -> list[Any]:
    """Return the results of tasks; raise if there have been no workers for some seconds."""
    alone_since: float | None = None
    with _cluster_errors():
        while True:
            try:
                with client.as_current():
                    wait(futures, timeout=_POLL_SECONDS)
            except TimeoutError:
                progress(sum(future.done() for future in futures), len(futures))
                alone_since = None if client.nthreads() else alone_since or time.monotonic()
                if alone_since is not None and time.monotonic() - alone_since > CONNECT_SECONDS:
                    raise InputError(
                        "the cluster has no workers any more; see their logs: a worker may have been killed, or may "
                        "lack latree, which must be installed on all of them"
                    ) from None
            else:
                results: list[Any] = client.gather(futures)
                return results


def _check_installed(client: Client) -> None:
    """Raise if the scheduler or a worker cannot import latree: Dask ends workers that are sent what they lack."""
    # Every Python has the function exec; a function of latree's own would do the harm that this prevents.
    with _cluster_errors():
        failed = [error for error in client.run(exec, _IMPORT, on_error="return").values() if error is not None]
        where = f"{len(failed)} of {plural(len(client.nthreads()), 'worker')}"
    try:
        client.run_on_scheduler(exec, _IMPORT)
    except ImportError as error:
        failed, where = [error], "the scheduler"
    if failed:
        raise InputError(
            f"latree cannot be imported on {where} of the cluster ({failed[0]}): install the same version on the "
            "scheduler and on all workers"
        )


def frame_source(frame: Any, client: Client | None) -> "DaskSource":
    """Return a source of the rows of a Dask dataframe."""
    if client is None:
        try:
            client = default_client()
        except ValueError:
            raise InputError("a Dask dataframe needs a cluster: create a dask.distributed.Client first") from None
    _check_installed(client)
    where = "the Dask dataframe"
    names = tuple(str(name) for name in frame.columns)
    check_names(list(names), where)
    return DaskSource(where, names, None, client, tuple(frame.to_delayed()))


def parquet_source(where: str, paths: Sequence[Path], client: Client) -> "DaskSource":
    """Return a source of the rows of Parquet files that the workers can read under the same names as this process."""
    _check_installed(client)
    parts = []
    for path in paths:
        groups: list[int] = []
        rows = 0
        for number, size in enumerate(row_groups(path)):
            groups.append(number)
            rows += size
            if rows >= _ROWS_PER_TASK:
                parts.append(RowGroups(path.absolute(), tuple(groups)))
                groups, rows = [], 0
        if groups or not parts:
            parts.append(RowGroups(path.absolute(), tuple(groups)))
    return DaskSource(where, tuple(parquet_names(paths)), None, client, tuple(parts))


class RowGroups(NamedTuple):
    """Some row groups of a Parquet file, which one task reads."""

    path: Path
    groups: tuple[int, ...]


@dataclass(frozen=True)
class DaskSource(RowSource):
    """Raw data that workers read.

    Attributes
    ----------
    client : Client
    parts : tuple
        Delayed data frames, or row groups of files.
    """

    client: Client
    parts: tuple[Any, ...]

    def with_weights(self, weights: RowWeights) -> RowSource:
        """Return the same data with weights."""
        if weights.column is None:
            raise InputError("weights of rows on a cluster must be a column of the data: pass its name")
        return super().with_weights(weights)

    def reduce(
        self, measure: Callable[[RawBatch], Result], merge: Callable[[Result, Result], Result], names: Names
    ) -> Result:
        """Apply ``measure`` to all batches on the workers, and merge the results in groups, level by level."""
        results = self._on_parts(lambda batches: reduce(merge, map(measure, batches)), names)
        merging = delayed(merge, traverse=False)
        while len(results) > 1:
            results = [delayed(reduce, pure=False)(merging, group) for group in _groups(results)]
        result: Result = _gather(self.client, [self.client.compute(results[0])])[0]
        return result

    def store(self, encode: Encoder, names: Names) -> Rows:
        """Encode all batches, and keep the codes on the workers in the same chunks as in memory."""
        parts = self.client.compute(self._on_parts(lambda batches: concatenate(map(encode, batches)), names))
        shapes = _gather(self.client, self.client.map(lambda block: block.codes.shape, parts, pure=False))
        rows, columns = sum(shape[0] for shape in shapes), shapes[0][1]
        # Parts have any number of rows: make each chunk of the parts that it overlaps, from low to high in each.
        starts = np.cumsum([0, *(shape[0] for shape in shapes)])
        size = chunk_rows(columns)
        chunks = []
        for start in range(0, max(rows, 1), size):
            stop = min(start + size, rows)
            first = min(int(np.searchsorted(starts, start, side="right")) - 1, len(parts) - 1)
            last = max(int(np.searchsorted(starts, stop)), first + 1)
            bounds = [(max(start - starts[i], 0), stop - starts[i]) for i in range(first, last)]
            chunks.append(self.client.submit(_join_parts, parts[first:last], bounds, pure=False))
        return DaskRows(self.client, tuple(chunks), rows)

    def take(self, rows: IntArray, names: Sequence[str]) -> Sequence[Mapping[str, RawColumn]]:
        """Return the cells of some columns in rows with these numbers, which increase, in parts of their order."""
        sizes = _gather(self.client, self.client.compute(self._on_parts(_count_cells, names[:1])))
        stops = np.cumsum(sizes)
        parts = np.split(rows, np.searchsorted(rows, stops[:-1]))
        wanted = [part - (stop - size) for part, stop, size in zip(parts, stops, sizes, strict=True)]
        taken = [
            delayed(_take_from_part, pure=False)((tuple(names), of_part), part)
            for part, of_part in zip(self.parts, wanted, strict=True)
        ]
        return [cells for batches in _gather(self.client, self.client.compute(taken)) for cells in batches]

    def _on_parts(self, work: Callable[[Iterator[RawBatch]], Any], names: Names) -> list[Any]:
        """Return tasks that apply a function to the batches of each part."""
        task = delayed((work, self._names_to_read(names), self.weights), traverse=False)
        return [delayed(_on_part, pure=False)(task, part) for part in self.parts]


@contextmanager
def _cluster_errors() -> Iterator[None]:
    """Turn the failure of a cluster into an InputError of one line."""
    try:
        yield
    except (KilledWorker, CancelledError, ModuleNotFoundError, CommClosedError) as error:
        reason = " ".join(str(error).split())
        if "connection-lost" in reason:
            reason = "the connection to the scheduler was lost"
        raise InputError(f"the cluster failed: {reason:.200}; see the logs of its workers") from None


def _on_part(task: tuple[Callable[[Iterator[RawBatch]], Any], Names, RowWeights | None], part: Any) -> Any:
    """Apply a function to the batches of a part, on a worker."""
    work, names, weights = task
    batches: Iterable[list[RawColumn]]
    if isinstance(part, RowGroups):
        batches = read_batches(part.path, names, part.groups)
    else:
        batches = [from_frame(part if names is None else part[[name for name in part.columns if str(name) in names]])]
    return work(raw_batch(columns, weights, None) for columns in batches)


def _count_cells(batches: Iterator[RawBatch]) -> int:
    return sum(count_rows(batch.columns.values()) for batch in batches)


def _take_from_part(task: tuple[tuple[str, ...], IntArray], part: Any) -> list[dict[str, RawColumn]]:
    """Return the cells of some columns in some rows of a part, batch by batch, on a worker."""
    names, rows = task

    def take(batches: Iterator[RawBatch]) -> list[dict[str, RawColumn]]:
        return take_cells((list(batch.columns.values()) for batch in batches), rows, names)

    found: list[dict[str, RawColumn]] = _on_part((take, names, None), part)
    return found


def _join_parts(parts: list[Block], bounds: list[tuple[int, int]]) -> Block:
    """Make a chunk of the rows within the bounds of each part."""
    return concatenate(slice_rows(part, slice(low, high)) for part, (low, high) in zip(parts, bounds, strict=True))


def _groups(items: Sequence[Any], size: int = FAN_IN) -> list[Any]:
    return [items[start : start + size] for start in range(0, len(items), size)]


@dataclass(frozen=True)
class DaskRows(Rows):
    """Rows in chunks on Dask's workers.

    Attributes
    ----------
    client : Client
    chunks : tuple of Future
    n_stored : int
        Number of rows of the chunks.
    sample : BootstrapSample or None
        The sample to draw from the chunks; None for the rows themselves.
    order : array of int or None
        The columns of the chunks in the order of the rows; None where it is the same.
    """

    client: Client
    chunks: tuple[Future, ...]
    n_stored: int
    sample: BootstrapSample | None = None
    order: IntArray | None = None

    @cached_property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.n_stored if self.sample is None else sum(self._results(_count))

    @cached_property
    def chunk_weights(self) -> tuple[float, ...]:
        """Weight of each chunk."""
        return tuple(self._results(total_weight))

    def sum(self, statistic: Callable[[Block], Sums], block_rows: int | None = None, *, in_turn: bool = False) -> Sums:
        """Add up a statistic: over the blocks of a chunk on its worker, then over chunks in groups, level by level."""
        task = self._send(lambda rows: reduce(add, map(statistic, split_into_blocks(rows, block_rows))))
        parts = [self.client.submit(_on_chunk, task, chunk, i, pure=False) for i, chunk in enumerate(self.chunks)]
        while len(parts) > 1:
            parts = [self.client.submit(reduce, add, group, pure=False) for group in _groups(parts)]
        total: Sums = _gather(self.client, parts[:1])[0]
        return total

    def map(self, function: Callable[[Block], NDArray[Any]]) -> NDArray[Any]:
        """Apply a function that returns one result per row to all blocks, and concatenate the results."""
        results = self._results(lambda rows: np.concatenate(list(map(function, split_into_blocks(rows)))))
        return np.concatenate(list(results))

    def fetch(self, rows: IntArray) -> Block:
        """Copy the rows with these numbers into this process."""
        order = np.argsort(rows, kind="stable")
        stops = np.cumsum(list(self._results(_count)))
        starts = np.concatenate([[0], stops[:-1]])
        bounds = np.searchsorted(rows[order], [0, *stops])
        # Of each chunk: the wanted rows, numbered within the chunk.
        wanted = [rows[order][low:high] - start for (low, high), start in zip(pairwise(bounds), starts, strict=True)]
        task = self._send(take_rows)
        fetched = [
            self.client.submit(_on_chunk, task, chunk, position, rows_of_chunk, pure=False)
            for position, (chunk, rows_of_chunk) in enumerate(zip(self.chunks, wanted, strict=True))
            if len(rows_of_chunk) or position == 0
        ]
        return take_rows(concatenate(_gather(self.client, fetched)), np.argsort(order))

    def resampled(self, seed: int, number: int) -> "DaskRows":
        """Return a bootstrap sample of the rows; each worker draws from its own chunks."""
        sample = BootstrapSample.from_weights(self.chunk_weights, seed, number)
        return replace(self, sample=sample)

    def reordered(self, order: IntArray) -> "DaskRows":
        """Return the same rows with their columns in another order."""
        return replace(self, order=order if self.order is None else self.order[order])

    def distinct(self) -> Rows:
        """Return rows in this process where equal rows are merged, or the same rows if that saves little."""
        merged = merge_distinct(self._results(distinct_rows), self.n_rows)
        return self if merged is None else MemoryRows.from_block(merged)

    def run(self, function: Callable[[Item], Outcome], items: Sequence[Item]) -> list[Outcome]:
        """Apply a function to items that take long, on the workers."""
        sent = [self.client.scatter([item], hash=False)[0] for item in items]
        tasks = [self.client.submit(_on_one_thread, function, item, pure=False) for item in sent]
        return _gather(self.client, tasks, claim_progress())

    def _send(self, work: Callable[..., Any]) -> Future:
        """Send a function of the rows of a chunk to the cluster once; the workers copy it from each other."""
        return self.client.submit(lambda task: task, (work, self.sample, self.order), pure=False)

    def _results(self, work: Callable[[Block], Any]) -> Iterator[Any]:
        """Yield the results of all chunks in order, computing only a few at a time, and very few at first."""
        task, positions = self._send(work), range(len(self.chunks))
        for group in (positions[:_FIRST_RESULTS], *_groups(positions[_FIRST_RESULTS:], _RESULTS_AT_ONCE)):
            futures = [self.client.submit(_on_chunk, task, self.chunks[i], i, pure=False) for i in group]
            yield from _gather(self.client, futures)


def _on_chunk(
    task: tuple[Callable[..., Any], BootstrapSample | None, IntArray | None], chunk: Block, position: int, *more: Any
) -> Any:
    """Apply a function to the rows of a chunk, of a bootstrap sample if there is one, on a worker."""
    work, sample, order = task
    rows = chunk if sample is None else sample.draw(position, chunk)
    with one_blas_thread():
        return work(rows if order is None else reorder_columns(rows, order), *more)


def _on_one_thread(function: Callable[[Item], Outcome], item: Item) -> Outcome:
    """Apply a function to an item, on a worker: its other threads have tasks of their own."""
    with one_thread():
        return function(item)


def _count(rows: Block) -> int:
    return len(rows.codes)
