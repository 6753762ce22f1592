"""The neighbours of a hidden variable in a small model: their messages and tables, and the steps of EM for them.

Messages are arranged once for all models that are fitted to the same ones: those of columns together, those of others
with equally many states together, so that few large array operations do the work.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from itertools import groupby, pairwise
from typing import Any

import numpy as np

from latree._util.arrays import FloatArray
from latree._util.workers import one_blas_thread
from latree.inference.evidence import BoolArray
from latree.inference.messages import TINY

# With at least this many rows, EM computes in single precision, which is faster. Its rounding errors are less than
# 0.01 nats for all rows together. With fewer rows it is not faster. Rows that are scored without a fit are always
# computed in double precision.
_MANY_ROWS = 1000

# A product of messages whose logarithm may be below the first number is scaled: two of them must not be too small for a
# floating-point number of this precision. A state whose logarithm is below the second number, relative to the largest,
# counts as if it had this one.
_LEAST_LOGARITHMS = {np.float32: (-35.0, -80.0), np.float64: (-300.0, -700.0)}

# What a neighbour's cells say about its state: one row per state, one column per row. Of a column it is a bool array,
# true for the state of its cell, and for all states if the cell is missing. The largest number of a row is one.
Message = FloatArray | BoolArray
Messages = tuple[Message, ...]
Precision = type[np.float32] | type[np.float64]
Tables = tuple[FloatArray, ...]


class _Evidence:
    """The messages of a hidden variable's neighbours: those of columns together, then others of equal size together."""

    def __init__(self, messages: Messages, precision: Precision) -> None:
        self.precision = precision
        hard = [place for place, message in enumerate(messages) if message.dtype == np.bool_]
        soft = [place for place, message in enumerate(messages) if message.dtype != np.bool_]
        self.places = hard + sorted(soft, key=lambda place: len(messages[place]))
        self.sizes = np.array([len(messages[place]) for place in self.places], dtype=np.intp)
        self.starts = np.cumsum(self.sizes) - self.sizes
        # Whose state each row of the stacked tables is.
        self.neighbor = np.repeat(np.arange(len(self.sizes)), self.sizes)
        # The columns' states are stacked. A missing cell is in no state; ``missing`` has one row per column.
        self.n_columns, self.n_hard = len(hard), int(self.sizes[: len(hard)].sum())
        self.missing: FloatArray | None = None
        if hard:
            self.cells = converted(np.concatenate([messages[place] for place in hard]), precision)
            if np.count_nonzero(self.cells) > len(hard) * self.cells.shape[1]:
                self.missing = converted(np.stack([messages[place].all(axis=0) for place in hard]), precision)
                self.cells -= self.missing.take(self.neighbor[: self.n_hard], axis=0)
        # Messages of others with equally many states are stacked: the numbers of the neighbours, and the messages.
        self.soft: list[tuple[range, FloatArray]] = []
        for _, group in groupby(range(len(hard), len(self.sizes)), key=self.sizes.__getitem__):
            numbers = list(group)
            stacked = np.stack([converted(messages[self.places[number]], precision) for number in numbers])
            self.soft.append((range(numbers[0], numbers[-1] + 1), stacked))


class _Same:
    """Messages that are the same only if they are the same object: comparing them would take too long."""

    def __init__(self, messages: Messages, precision: Precision) -> None:
        self.messages, self.precision = messages, precision

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and self.messages is other.messages and self.precision is other.precision

    def __hash__(self) -> int:
        return id(self.messages)


@lru_cache(maxsize=8)
def _arranged(same: _Same) -> _Evidence:
    """Return messages arranged for fits: one model after another is fitted to the same ones."""
    return _Evidence(same.messages, same.precision)


@contextmanager
def small_fits() -> Iterator[None]:
    """Use one thread for matrix products while small models are fitted, and forget their messages afterwards."""
    try:
        with one_blas_thread():
            yield
    finally:
        _arranged.cache_clear()


class Neighbors:
    """The neighbours of a hidden variable.

    Parameters
    ----------
    messages, tables : tuple of array
        Of the neighbours.
    least : float
        No probability will be below this, divided by the number of the neighbour's states, after steps of EM.
    precision : type
        Of the numbers of rows. Tables always have double precision.
    known : array, optional
        What the cells of further neighbours say about the hidden variable, whose tables are not fitted: one row per
        state. There may be no other neighbours then.
    """

    def __init__(
        self,
        messages: Messages,
        tables: Tables,
        least: float = 1.0,
        precision: Precision = np.float64,
        known: FloatArray | None = None,
    ) -> None:
        self.evidence = evidence = _arranged(_Same(messages, precision))
        self.known = None if known is None else converted(known, precision)
        none = np.empty((0, tables[0].shape[1] if known is None else len(known)))
        self.table = np.concatenate([none, *(tables[place] for place in evidence.places)])
        # No neighbour's factor is below its table's smallest probability, as the largest message is one. Where the
        # product of all of them may be too small for a floating-point number, it is scaled.
        smallest = np.minimum(np.minimum.reduceat(self.table.min(axis=1), evidence.starts), least / evidence.sizes)
        logarithms = np.log(np.maximum(smallest, TINY)).tolist()
        self.precision, self.tiny = precision, np.finfo(precision).tiny
        least_logarithm, self.lowest = _LEAST_LOGARITHMS[precision]
        self.is_scaled = sum(logarithms) < least_logarithm
        # The states of other neighbours in the table, their messages, and parts after each of which it is scaled.
        self.soft = []
        for numbers, stacked in evidence.soft:
            start = int(evidence.starts[numbers[0]])
            bounds = [logarithms[number] for number in numbers]
            parts = _parts(bounds, least_logarithm if self.is_scaled else -np.inf)
            self.soft.append((slice(start, start + stacked.shape[0] * stacked.shape[1]), stacked, parts))

    def product(self) -> tuple[FloatArray, FloatArray | float]:
        """Return ``Π_u Σ_x P(u = x | h) message_u(x)``, one row per state h, and the logarithm of its scale.

        What is known about h is a factor, too.
        """
        scale: FloatArray | float = 0.0
        self.logarithms = np.log(np.maximum(self.table, TINY))
        table = np.maximum(converted(self.table, self.precision), self.tiny)  # no factor is zero
        k = table.shape[1]
        self.factors = [
            table[states].reshape(*stacked.shape[:2], k).transpose(0, 2, 1) @ stacked
            for states, stacked, _ in self.soft
        ]
        if self.evidence.n_hard:
            product = converted(self.logarithms[: self.evidence.n_hard], self.precision).T @ self.evidence.cells
            if self.is_scaled:
                scale = product.max(axis=0)
                product -= scale
                np.maximum(product, self.lowest, out=product)
            np.exp(product, out=product)
        else:
            product = np.ones((k, 1), dtype=self.precision)
        for (_, _, parts), factors in zip(self.soft, self.factors, strict=True):
            for part in parts:
                product = product * np.multiply.reduce(factors[part], axis=0)
                if self.is_scaled:
                    largest = np.maximum(product.max(axis=0), self.tiny)
                    product, scale = product / largest, scale + np.log(largest)
        return (product if self.known is None else product * self.known), scale

    def maximise(self, posterior: FloatArray, smoothing: float) -> None:
        """Do the M-step after :meth:`product`, given ``P(h | row)`` times the rows' weights."""
        counts = np.empty_like(self.table)
        if self.evidence.n_hard:
            # Expected counts of a column: rows in each state, and for missing cells the shares that the table gives.
            counts[: self.evidence.n_hard] = self.evidence.cells @ posterior.T
            if self.evidence.missing is not None:
                shares = (self.evidence.missing @ posterior.T).take(
                    self.evidence.neighbor[: self.evidence.n_hard], axis=0
                )
                counts[: self.evidence.n_hard] += self.table[: self.evidence.n_hard] * shares
        # Those of others: P(u = x | h) Σ_rows message_u(x) P(h | row) / factor_u(h).
        for (states, stacked, _), factors in zip(self.soft, self.factors, strict=True):
            np.divide(posterior, factors, out=factors)
            expected = stacked @ factors.transpose(0, 2, 1)
            counts[states] = self.table[states] * expected.reshape(-1, counts.shape[1])
        counts += smoothing
        totals = np.maximum(np.add.reduceat(counts, self.evidence.starts, axis=0), TINY)
        self.table = counts / totals.take(self.evidence.neighbor, axis=0)

    def log_probabilities(self) -> float:
        """Return the sum of the logarithms of all probabilities, after :meth:`product`."""
        return float(self.logarithms.sum())

    def tables(self) -> Tables:
        """Return ``P(u | h)`` for each neighbour, in their order."""
        places = self.evidence.places
        found = dict(zip(places, np.split(self.table, self.evidence.starts[1:]) if places else [], strict=True))
        return tuple(found[place] for place in range(len(found)))


def precision_for(weights: FloatArray) -> Precision:
    """Return the precision in which so many rows are computed where many small models are fitted."""
    return np.float32 if len(weights) >= _MANY_ROWS else np.float64


def converted(array: Message, precision: Any) -> FloatArray:
    """Return an array with numbers of some precision."""
    return np.asarray(array, dtype=precision)


def normalised(counts: FloatArray) -> FloatArray:
    """Return counts divided by the sum of each column."""
    return np.asarray(counts / np.maximum(counts.sum(axis=0), TINY))


def _parts(logarithms: Sequence[float], least: float) -> list[slice]:
    """Divide numbers into parts of consecutive ones whose sums are not below the least, unless a part is one number."""
    stops, total = [0], 0.0
    for number, logarithm in enumerate(logarithms):
        if total + logarithm < least and number > stops[-1]:
            stops.append(number)
            total = 0.0
        total += logarithm
    return [slice(*ends) for ends in pairwise([*stops, len(logarithms)])]
