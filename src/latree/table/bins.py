"""Cutting a numeric column into bins that hold equally many rows, as far as ties allow."""

import numpy as np

from latree._util.arrays import FloatArray, IntArray

# Cuts are searched at this many evenly spaced ranks a bin (and at both ends of every value that spans one): the ideal
# ranks are among them, and no bin is off its best size by more than a hundredth.
RANKS_PER_BIN = 100


def equal_cuts(values: FloatArray, counts: FloatArray, bins: int) -> FloatArray:
    """Choose the cut points that make the bins' sizes as equal as ties allow.

    Equal means least sum of squared sizes among all ways to cut the sorted values into ``bins`` non-empty runs.

    Parameters
    ----------
    values : array of float
        The distinct values, rising.
    counts : array of float
        How many rows (or how much weight) each value has.
    bins : int
        The number of bins; fewer come out if there are fewer values.

    Returns
    -------
    array of float
        Rising cut points, each between the values it separates: ``x <= cut`` is below it.
    """
    ends = _candidate_ends(counts, bins)
    above = values[np.minimum(ends + 1, len(values) - 1)]
    return best_cuts(values[ends], above, np.cumsum(counts)[ends], bins)


def best_cuts(below: FloatArray, above: FloatArray, cumulative: FloatArray, bins: int) -> FloatArray:
    """Choose among places where a cut may come.

    Parameters
    ----------
    below, above : array of float
        The values next to each place, rising; the last place is above all values, and no cut.
    cumulative : array of float
        How many rows are below each place.
    bins : int
    """
    last = _best_runs(cumulative, min(bins, len(cumulative)))[:-1]
    below, above = below[last], above[last]
    middle = below / 2 + above / 2
    return np.where((below <= middle) & (middle < above), middle, below)


def candidate_ranks(total: float, bins: int) -> FloatArray:
    """Give the ranks (of sorted rows) at whose values a cut of many values may come: after the value, or before it."""
    ranks = total * np.arange(1, bins * RANKS_PER_BIN) / (bins * RANKS_PER_BIN)
    return ranks * (1 - 1e-12)


def _candidate_ends(counts: FloatArray, bins: int) -> IntArray:
    """Give the positions (of sorted values) after which a cut may come; the last position is always among them."""
    if len(counts) <= 2 * bins * RANKS_PER_BIN:
        return np.arange(len(counts))
    cumulative = np.cumsum(counts)
    at = np.searchsorted(cumulative, candidate_ranks(cumulative[-1], bins))
    return np.unique(np.concatenate([at, np.maximum(at - 1, 0), [len(counts) - 1]]))


def _best_runs(cumulative: FloatArray, runs: int) -> IntArray:
    """Split positions 0..u-1 into ``runs`` runs of least total squared weight; give the last position of each run.

    Dynamic programme over runs: ``cost_r(j) = min_i cost_{r-1}(i) + (C_j - C_i)^2``. The best ``i`` rises with ``j``.
    """
    total = np.concatenate([[0.0], cumulative])  # total[j]: the weight of the first j positions
    cost = np.full(len(total), np.inf)
    cost[0] = 0.0
    steps = []
    for _ in range(runs):
        cost, step = _best_previous(cost, total)
        steps.append(step)
    position = len(total) - 1
    lasts = []
    for step in reversed(steps):
        lasts.append(position - 1)
        position = int(step[position])
    return np.array(lasts[::-1], dtype=np.intp)


def _best_previous(cost: FloatArray, total: FloatArray) -> tuple[FloatArray, IntArray]:
    """Find for every ``j`` the ``i < j`` that minimises ``cost[i] + (total[j] - total[i])^2``.

    Because the best ``i`` rises with ``j``, it is found for every second ``j`` between neighbours already done, level
    by level: about ``u log u`` comparisons, all in array operations.
    """
    size = len(total)
    best = np.zeros(size, dtype=np.intp)
    value = np.full(size, np.inf)
    step = 1 << size.bit_length()
    while step >= 1:
        targets = np.arange(step, size, 2 * step)
        if len(targets):
            low = best[targets - step]
            right = targets + step
            high = np.minimum(np.where(right < size, best[np.minimum(right, size - 1)], size), targets - 1)
            high = np.maximum(high, low)
            widths = high - low + 1
            starts = np.cumsum(widths) - widths
            candidates = np.arange(widths.sum()) - np.repeat(starts, widths) + np.repeat(low, widths)
            costs = cost[candidates] + (np.repeat(total[targets], widths) - total[candidates]) ** 2
            costs[candidates >= np.repeat(targets, widths)] = np.inf
            value[targets] = np.minimum.reduceat(costs, starts)
            hit = np.flatnonzero(costs == np.repeat(value[targets], widths))
            first = hit[np.searchsorted(hit, starts)]
            best[targets] = candidates[first]
        step //= 2
    return value, best
