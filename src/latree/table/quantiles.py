"""Exact quantiles of a column that has too many numbers to sort in memory.

The numbers are divided into intervals with about equally many rows. A first pass over the rows counts the rows of each
interval, which tells in which intervals the wanted ranks are. A second pass collects the numbers of these few intervals
only.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from latree._util.arrays import FloatArray, IntArray
from latree.table.encode import parse_numbers
from latree.table.raw import RawColumn, weighted_counts


class Quantiles(NamedTuple):
    """Numbers at given ranks, with their neighbours among the distinct numbers of the column.

    Attributes
    ----------
    numbers : array of float
        The first number at which the cumulative weight reaches each rank.
    cumulative : array of float
        Weight of all numbers up to and including each.
    below : array of float
        The next smaller number; the number itself where there is none.
    cumulative_below : array of float
        Weight of all numbers up to and including ``below``.
    above : array of float
        The next larger number; the number itself where there is none.
    """

    numbers: FloatArray
    cumulative: FloatArray
    below: FloatArray
    cumulative_below: FloatArray
    above: FloatArray


@dataclass(frozen=True)
class Intervals:
    """The numbers of a column, divided into intervals.

    Attributes
    ----------
    ends : array of float
        The largest number of each interval, which is a number of the column.
    weights : array of float
        The number of rows of each interval, or their weight.
    """

    ends: FloatArray
    weights: FloatArray

    @property
    def total(self) -> float:
        """Weight of all numbers."""
        return float(self.cumulative[-1])

    @property
    def cumulative(self) -> FloatArray:
        """Weight of all numbers up to the end of each interval."""
        return np.cumsum(self.weights)

    def needed(self, ranks: FloatArray) -> NDArray[np.bool_]:
        """Return which intervals must be known in full to find the numbers at these ranks.

        These are the interval of each rank, and the next one: the next larger number may be its first.
        """
        at = self._interval_of(ranks)
        needed = np.zeros(len(self.ends), dtype=bool)
        needed[at] = True
        needed[np.minimum(at + 1, len(self.ends) - 1)] = True
        return needed

    def find(self, ranks: FloatArray, numbers: FloatArray, weights: FloatArray) -> Quantiles:
        """Find the first number at which the cumulative weight reaches each rank.

        Parameters
        ----------
        ranks : array of float
        numbers, weights : array of float
            All distinct numbers of the intervals that are :meth:`needed`, increasing, and their weights.
        """
        # The cumulative weight of a number = weight of all intervals before its own
        #   + weight of the smaller numbers in its interval + its own weight.
        before = np.concatenate([[0.0], self.cumulative])
        interval = np.searchsorted(self.ends, numbers)
        first = np.searchsorted(interval, interval)  # where the interval of each number begins in the array
        smaller_weight = np.cumsum(weights) - weights
        cumulative = before[interval] + (smaller_weight - smaller_weight[first]) + weights
        # The number at a rank is in the interval of the rank, even if rounding of the sums says otherwise.
        at = self._interval_of(ranks)
        low, high = np.searchsorted(interval, at), np.searchsorted(interval, at, side="right")
        place = np.clip(np.searchsorted(cumulative, ranks), low, high - 1)
        # The next smaller number is in the same interval, or is the end of the interval before. The smallest number of
        # the column has none.
        has_smaller_inside = place > low
        is_smallest = ~has_smaller_inside & (at == 0)
        smaller = np.where(has_smaller_inside, numbers[np.maximum(place - 1, 0)], self.ends[np.maximum(at - 1, 0)])
        return Quantiles(
            numbers=numbers[place],
            cumulative=cumulative[place],
            below=np.where(is_smallest, numbers[place], smaller),
            cumulative_below=np.where(is_smallest, cumulative[place], cumulative[place] - weights[place]),
            above=numbers[np.minimum(place + 1, len(numbers) - 1)],
        )

    def _interval_of(self, ranks: FloatArray) -> IntArray:
        """Return the interval in which the cumulative weight reaches each rank."""
        return np.minimum(np.searchsorted(self.cumulative, ranks), len(self.ends) - 1)


def interval_weights(
    raw: RawColumn, weights: FloatArray | None, missing: tuple[str, ...], ends: FloatArray
) -> FloatArray:
    """Return the number of rows, or their weight, in each interval."""
    numbers, number_weights = _present_numbers(raw, weights, missing)
    return weighted_counts(np.searchsorted(ends, numbers), number_weights, len(ends))


def numbers_in_intervals(
    raw: RawColumn,
    weights: FloatArray | None,
    missing: tuple[str, ...],
    ends: FloatArray,
    needed: NDArray[np.bool_],
) -> tuple[FloatArray, FloatArray]:
    """Return the distinct numbers in some of the intervals, increasing, and their weights."""
    numbers, number_weights = _present_numbers(raw, weights, missing)
    inside = needed[np.searchsorted(ends, numbers)]
    distinct, position = np.unique(numbers[inside], return_inverse=True)
    return distinct, weighted_counts(position, number_weights[inside], len(distinct))


def _present_numbers(
    raw: RawColumn, weights: FloatArray | None, missing: tuple[str, ...]
) -> tuple[FloatArray, FloatArray]:
    """Return the numbers of a column that rows with weight have, and the weight of each."""
    number_weights = weighted_counts(raw.codes, weights, len(raw.values))
    numbers = parse_numbers(raw, missing).values
    present = (number_weights > 0) & np.isfinite(numbers)
    return numbers[present], number_weights[present]
