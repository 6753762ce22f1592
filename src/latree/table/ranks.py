"""Numbers at given ranks of a column that has too many to sort in memory, found exactly.

Marks part the numbers into intervals of about equally many rows. One pass over the rows counts each interval, a second
one collects the numbers of the few intervals in which the wanted ranks are.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from latree._util.arrays import FloatArray, IntArray
from latree.table.encode import read_numbers
from latree.table.factors import Factor, masses


class Found(NamedTuple):
    """Numbers at ranks, with what is next to them."""

    numbers: FloatArray
    cumulative: FloatArray  # weight of all numbers up to and with each
    below: FloatArray  # the next smaller number; the same where there is none
    cumulative_below: FloatArray
    above: FloatArray  # the next larger number; the same where there is none


@dataclass(frozen=True)
class Intervals:
    """The numbers of a column as counted intervals; the last number of each interval is its mark."""

    marks: FloatArray
    masses: FloatArray

    @property
    def total(self) -> float:
        """Weight of all numbers."""
        return float(self.cumulative[-1])

    @property
    def cumulative(self) -> FloatArray:
        """Weight of all numbers up to each mark."""
        return np.cumsum(self.masses)

    def wanted(self, ranks: FloatArray) -> NDArray[np.bool_]:
        """Tell which intervals must be known in full to find the numbers at some ranks."""
        at = self._at(ranks)
        wanted = np.zeros(len(self.marks), dtype=bool)
        wanted[at] = True
        wanted[np.minimum(at + 1, len(self.marks) - 1)] = True
        return wanted

    def find(self, ranks: FloatArray, numbers: FloatArray, masses: FloatArray) -> Found:
        """Find the first number at which the cumulative weight reaches each rank.

        Parameters
        ----------
        ranks : array of float
        numbers, masses : array of float
            All distinct numbers of the wanted intervals, rising, and their weights.
        """
        before = np.concatenate([[0.0], self.cumulative])
        interval = np.searchsorted(self.marks, numbers)
        first = np.searchsorted(interval, interval)
        inside = np.cumsum(masses) - masses
        cumulative = before[interval] + (inside - inside[first]) + masses
        at = self._at(ranks)
        low, high = np.searchsorted(interval, at), np.searchsorted(interval, at, side="right")
        place = np.clip(np.searchsorted(cumulative, ranks), low, high - 1)
        inner = place > low
        smaller = np.where(inner, numbers[np.maximum(place - 1, 0)], self.marks[np.maximum(at - 1, 0)])
        below = np.where(inner | (at > 0), cumulative[place] - masses[place], 0)
        least = ~inner & (at == 0)
        return Found(
            numbers[place],
            cumulative[place],
            np.where(least, numbers[place], smaller),
            np.where(least, cumulative[place], below),
            numbers[np.minimum(place + 1, len(numbers) - 1)],
        )

    def _at(self, ranks: FloatArray) -> IntArray:
        return np.minimum(np.searchsorted(self.cumulative, ranks), len(self.marks) - 1)


def counted(factor: Factor, weights: FloatArray | None, missing: tuple[str, ...], marks: FloatArray) -> FloatArray:
    """Weigh the intervals between marks."""
    numbers, mass = _numbers(factor, weights, missing)
    return masses(np.searchsorted(marks, numbers), mass, len(marks))


def collected(
    factor: Factor,
    weights: FloatArray | None,
    missing: tuple[str, ...],
    marks: FloatArray,
    wanted: NDArray[np.bool_],
) -> tuple[FloatArray, FloatArray]:
    """Give the distinct numbers in some intervals, rising, and their weights."""
    numbers, mass = _numbers(factor, weights, missing)
    kept = wanted[np.searchsorted(marks, numbers)]
    distinct, place = np.unique(numbers[kept], return_inverse=True)
    return distinct, masses(place, mass[kept], len(distinct))


def _numbers(factor: Factor, weights: FloatArray | None, missing: tuple[str, ...]) -> tuple[FloatArray, FloatArray]:
    mass = masses(factor.codes, weights, len(factor.values))
    numbers = read_numbers(factor, missing).values
    kept = (mass > 0) & np.isfinite(numbers)
    return numbers[kept], mass[kept]
