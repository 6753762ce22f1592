"""Cut points of bins: as equal as ties allow, and a number that many rows share is alone."""

import numpy as np

from latree._util.arrays import FloatArray, IntArray
from latree._util.words import whole_shares

# A number that at least this share of the rows has, such as an income of zero, is a bin of its own: its rows are a kind
# of their own, and would make up most of any bin that they share.
SPIKE = 0.1
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
    last = _last_of_each_bin(np.cumsum(counts)[positions], min(bins, len(positions)))[:-1]
    below, above = values[positions[last]], values[np.minimum(positions[last] + 1, len(values) - 1)]
    # A cut is in the middle between its two values. Where rounding puts the middle on the upper value, it is the lower.
    middle = below / 2 + above / 2
    # 10.275 and not 10.274999999999999: nobody sees more digits than these, and some of them are rounding.
    short = np.array([float(f"{cut:.12g}") for cut in middle.tolist()])
    middle = np.where((below <= short) & (short < above), short, middle)
    return np.where((below <= middle) & (middle < above), middle, below)


def _candidate_positions(counts: FloatArray, bins: int) -> IntArray:
    """Return the positions in the sorted values after which a cut may come, and the last position."""
    if len(counts) <= 2 * bins * RANKS_PER_BIN:
        return np.arange(len(counts))
    cumulative = np.cumsum(counts)
    ranks = cumulative[-1] * np.arange(1, bins * RANKS_PER_BIN) / (bins * RANKS_PER_BIN)
    # A rank that rounding puts just above a whole number must not miss its value.
    at = np.searchsorted(cumulative, ranks * (1 - 1e-12))
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


def cut_points(values: FloatArray, counts: FloatArray, bins: int) -> FloatArray:
    """Return cut points of bins with about equally many rows, in which a number that many rows share is alone.

    Parameters
    ----------
    values, counts : array of float
        As for :func:`equal_cuts`.
    bins : int
        The most bins. If too few would be left for other numbers, none is alone.
    """
    spikes = np.flatnonzero(counts >= SPIKE * counts.sum())
    # The numbers between two spikes are cut by themselves, into bins for their share of the other rows.
    parts = [part for part in np.split(np.arange(len(values)), np.unique([*spikes, *(spikes + 1)])) if len(part)]
    others = [part for part in parts if counts[part].sum() and part[0] not in spikes]
    if len(parts) > bins or not len(spikes):
        return equal_cuts(values, counts, bins)
    cuts = [_between(values, part[-1]) for part in parts[:-1]]
    more = whole_shares([float(counts[part].sum()) for part in others], bins - len(parts))
    for part, own in zip(others, more, strict=True):
        cuts += equal_cuts(values[part], counts[part], 1 + own).tolist()
    return np.array(sorted(cuts))


def _between(values: FloatArray, place: int) -> float:
    """Return the middle between a value and the next one; the value itself, if rounding puts the middle on the next."""
    below, above = float(values[place]), float(values[place + 1])
    middle = below / 2 + above / 2
    return middle if below <= middle < above else below
