"""Cutting a numeric column into bins with equally many rows, as far as ties allow."""

import numpy as np

from latree._util.arrays import FloatArray, IntArray

# Cuts are searched at this many evenly spaced ranks per bin (and on both sides of the value at each rank). The ideal
# ranks are among them, and no bin is off its best size by more than one hundredth.
RANKS_PER_BIN = 100


def equal_cuts(values: FloatArray, counts: FloatArray, bins: int) -> FloatArray:
    """Return the cut points that make the sizes of the bins as equal as ties allow.

    Among all ways to cut the sorted values into ``bins`` bins that are not empty, these have the least sum of squared
    sizes. Quantiles would not do: where many rows have the same value, several quantiles coincide, and the remaining
    bins are fewer and of unequal size.

    Parameters
    ----------
    values : array of float
        The distinct values, increasing.
    counts : array of float
        The number of rows (or their weight) of each value.
    bins : int
        The number of bins. If there are fewer values, every value gets its own bin.

    Returns
    -------
    array of float
        Increasing cut points, each between the values it separates: ``x <= cut`` is below it.
    """
    positions = _candidate_positions(counts, bins)
    above = values[np.minimum(positions + 1, len(values) - 1)]
    return best_cuts(values[positions], above, np.cumsum(counts)[positions], bins)


def best_cuts(below: FloatArray, above: FloatArray, cumulative: FloatArray, bins: int) -> FloatArray:
    """Choose the best cut points among candidates.

    Parameters
    ----------
    below, above : array of float
        The values next to each candidate, increasing. The last candidate is the end of all values, which is no cut.
    cumulative : array of float
        The number of rows below each candidate.
    bins : int
    """
    chosen = _last_of_each_bin(cumulative, min(bins, len(cumulative)))[:-1]
    below, above = below[chosen], above[chosen]
    # A cut is in the middle between its two values. Where rounding puts the middle on the upper value, it is the lower.
    middle = below / 2 + above / 2
    return np.where((below <= middle) & (middle < above), middle, below)


def candidate_ranks(total: float, bins: int) -> FloatArray:
    """Return the ranks among the sorted rows at whose values cuts are searched, just below or just above the value."""
    ranks = total * np.arange(1, bins * RANKS_PER_BIN) / (bins * RANKS_PER_BIN)
    return ranks * (1 - 1e-12)  # a rank that rounding puts just above a whole number must not miss its value


def _candidate_positions(counts: FloatArray, bins: int) -> IntArray:
    """Return the positions in the sorted values after which a cut may come, and the last position."""
    if len(counts) <= 2 * bins * RANKS_PER_BIN:
        return np.arange(len(counts))
    cumulative = np.cumsum(counts)
    at = np.searchsorted(cumulative, candidate_ranks(cumulative[-1], bins))
    return np.unique(np.concatenate([at, np.maximum(at - 1, 0), [len(counts) - 1]]))


def _last_of_each_bin(cumulative: FloatArray, bins: int) -> IntArray:
    """Divide candidates into ``bins`` bins with the least sum of squared sizes; return the last candidate of each.

    This is a dynamic program. Let ``C_j`` be the weight of the first ``j`` candidates, and ``cost_b(j)`` the least sum
    of squares when these ``j`` candidates make ``b`` bins. The last bin starts after some candidate ``i``, so

        ``cost_0(0) = 0``,   ``cost_b(j) = min over i < j of cost_{b-1}(i) + (C_j - C_i)^2``.
    """
    total = np.concatenate([[0.0], cumulative])  # C_j
    cost = np.full(len(total), np.inf)  # cost_b(j), at first for b = 0
    cost[0] = 0.0
    starts = []  # of each number of bins: the best i for every j
    for _ in range(bins):
        cost, start = _best_starts(cost, total)
        starts.append(start)
    # Follow the best starts back from the end: the bin that ends with candidate j starts after candidate i.
    j = len(total) - 1
    lasts = []
    for start in reversed(starts):
        lasts.append(j - 1)
        j = int(start[j])
    return np.array(lasts[::-1], dtype=np.intp)


def _best_starts(cost: FloatArray, total: FloatArray) -> tuple[FloatArray, IntArray]:
    """Return for every ``j`` the least ``cost[i] + (total[j] - total[i])^2`` over ``i < j``, and the first best ``i``.

    The best ``i`` never decreases as ``j`` increases, because the square is convex. So the ``j`` are solved level by
    level, at distances that halve: each between two neighbours that are solved already, whose best ``i`` bound its own.
    A level takes about ``n`` comparisons in array operations, and there are about ``log n`` levels.
    """
    size = len(total)
    best = np.zeros(size, dtype=np.intp)
    value = np.full(size, np.inf)
    step = 1 << size.bit_length()
    while step >= 1:
        # The j of this level, and the range low..high of their candidates i.
        targets = np.arange(step, size, 2 * step)
        if len(targets):
            low = best[targets - step]
            right = targets + step
            high = np.minimum(np.where(right < size, best[np.minimum(right, size - 1)], size), targets - 1)
            high = np.maximum(high, low)
            # All pairs (j, i) of the level in one array: the candidates of the first j, then of the second, and so on.
            widths = high - low + 1
            starts = np.cumsum(widths) - widths
            candidates = np.arange(widths.sum()) - np.repeat(starts, widths) + np.repeat(low, widths)
            costs = cost[candidates] + (np.repeat(total[targets], widths) - total[candidates]) ** 2
            costs[candidates >= np.repeat(targets, widths)] = np.inf
            # The least cost of each j, and the first candidate that has it.
            value[targets] = np.minimum.reduceat(costs, starts)
            hits = np.flatnonzero(costs == np.repeat(value[targets], widths))
            best[targets] = candidates[hits[np.searchsorted(hits, starts)]]
        step //= 2
    return value, best
