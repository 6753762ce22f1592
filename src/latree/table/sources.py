"""Where raw data come from: pieces of columns, one after the other, as often as they are asked for.

Learning columns and coding cells are passes over the pieces. Data that are in memory are one piece; files are read in
pieces of some two million cells, and are read anew for every pass if they are large.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import NamedTuple, TypeAlias, TypeVar

import numpy as np

from latree._util.arrays import FloatArray
from latree._util.parallel import map_ordered
from latree.errors import InputError
from latree.table.chunks import Block, joined
from latree.table.disk import stored
from latree.table.encode import read_numbers, too_large
from latree.table.factors import Factor
from latree.table.memory import MemoryRows, Rows

CELLS_AT_ONCE = 2**21
_REMEMBERED_BYTES = 2**28  # of pieces of files, so that small ones are read only once

Result = TypeVar("Result")
Names: TypeAlias = Sequence[str] | None  # columns to read; None for all


class Piece(NamedTuple):
    """Some consecutive rows of raw data."""

    factors: dict[str, Factor]
    weights: FloatArray | None


@dataclass(frozen=True)
class Weights:
    """Where the rows' weights are.

    Attributes
    ----------
    column : str or None
        The column that holds them.
    array : array of float or None
        Or the weights themselves.
    missing : tuple of str
        Cells of the column that mean missing.
    """

    column: str | None
    array: FloatArray | None
    missing: tuple[str, ...]

    def of(self, factors: dict[str, Factor], start: int | None) -> FloatArray:
        """Give the weights of a piece whose first row has this number, if that is known; raise if one is none."""
        if self.column is None:
            assert self.array is not None
            first = start or 0
            weights = self.array[first : first + n_rows(factors.values())]
        else:
            factor = factors[self.column]
            numbers, odd, large = read_numbers(factor, self.missing)
            if odd is not None:
                raise InputError(f"weight column {self.column!r}: {odd!r:.60} is not a number")
            if large is not None:
                raise too_large(self.column, large)
            weights = numbers[factor.codes]
        bad = np.flatnonzero(~(np.isfinite(weights) & (weights >= 0)))
        if len(bad):
            row = "a row" if start is None else f"row {start + bad[0] + 1}"
            raise InputError(
                f"{self.name}: {row} has weight {weights[bad[0]]:g}; weights must not be negative or missing"
            )
        return weights

    @property
    def name(self) -> str:
        """What the weights are called in messages."""
        return "weights" if self.column is None else f"weight column {self.column!r}"


def n_rows(factors: Iterable[Factor]) -> int:
    """Count the rows of columns."""
    return max((len(factor.codes) for factor in factors), default=0)


def piece(factors: Iterable[Factor], weights: Weights | None, start: int | None) -> Piece:
    """Put the columns of some rows together with their weights."""
    by_name = {factor.name: factor for factor in factors}
    return Piece(by_name, None if weights is None else weights.of(by_name, start))


@dataclass(frozen=True)
class Source(ABC):
    """Raw data of any form.

    Attributes
    ----------
    where : str
        What the data are called in messages.
    names : tuple of str
        The columns' names, without that of the weights.
    weights : Weights or None
    """

    where: str
    names: tuple[str, ...]
    weights: Weights | None

    @abstractmethod
    def reduce(
        self, measure: Callable[[Piece], Result], merge: Callable[[Result, Result], Result], names: Names
    ) -> Result:
        """Measure all pieces, and put the results together."""

    @abstractmethod
    def store(self, encode: Callable[[Piece], Block], names: Names) -> Rows:
        """Code all pieces, and keep the codes as rows of a table."""

    def weighted(self, weights: Weights) -> "Source":
        """Give the same data with weights."""
        names = tuple(name for name in self.names if name != weights.column)
        return replace(self, names=names, weights=weights)

    def _with_weights(self, names: Names) -> Names:
        """Give the columns that must be read to have some columns and the weights."""
        if names is None or self.weights is None or self.weights.column is None:
            return names
        return [*names, self.weights.column]


@dataclass(frozen=True)
class LocalSource(Source):
    """Data that this process reads.

    Attributes
    ----------
    read : callable
        From the names of columns (others may come along) to pieces of these columns; there is always a piece, if only
        an empty one.
    may_go_to_disk : bool
        Whether codes go to disk if they are many; those of data that are in memory anyway do not.
    """

    read: Callable[[Names], Iterator[list[Factor]]]
    may_go_to_disk: bool = False

    def reduce(
        self, measure: Callable[[Piece], Result], merge: Callable[[Result, Result], Result], names: Names
    ) -> Result:
        """Measure all pieces, and put the results together in their order."""
        return reduce(merge, map_ordered(measure, self._pieces(names)))

    def store(self, encode: Callable[[Piece], Block], names: Names) -> Rows:
        """Code all pieces, and keep the codes in memory or on disk."""
        blocks = map_ordered(encode, self._pieces(names))
        return stored(blocks) if self.may_go_to_disk else MemoryRows.of(joined(blocks))

    def _pieces(self, names: Names) -> Iterator[Piece]:
        start = 0
        for factors in self.read(self._with_weights(names)):
            yield piece(factors, self.weights, start)
            start += n_rows(factors)


def in_memory(where: str, factors: list[Factor]) -> LocalSource:
    """Make a source of data that are all in memory."""
    return LocalSource(where, tuple(factor.name for factor in factors), None, lambda names: iter([factors]))


def in_files(where: str, names: Sequence[str], read: Callable[[Names], Iterator[list[Factor]]]) -> LocalSource:
    """Make a source of data in files; what is read of small files is remembered."""
    return LocalSource(where, tuple(names), None, _Remembering(read), may_go_to_disk=True)


class _Remembering:
    """Reads pieces; the second time from memory, if they are not too large."""

    def __init__(self, read: Callable[[Names], Iterator[list[Factor]]]) -> None:
        self._read = read
        self._kept: list[list[Factor]] | None = None

    def __call__(self, names: Names) -> Iterator[list[Factor]]:
        if self._kept is not None:
            yield from self._kept
            return
        kept: list[list[Factor]] = []
        left = _REMEMBERED_BYTES if names is None else -1
        for factors in self._read(names):
            left -= sum(_size(factor) for factor in factors)
            if left >= 0:
                kept.append(factors)
            else:
                kept.clear()
            yield factors
        if left >= 0:
            self._kept = kept


def _size(factor: Factor) -> int:
    """Estimate how many bytes a piece of a column takes."""
    return factor.codes.nbytes + len(factor.values) * (100 if factor.is_text else factor.values.itemsize)
