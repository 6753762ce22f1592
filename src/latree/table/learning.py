"""Finding the states of columns: passes over raw data of any size.

A numeric column becomes (at most ``bins``) quantile bins if it has fractions, or more than ``2 * bins`` distinct whole
numbers; every other column keeps its distinct values as categories.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from latree._util.arrays import FloatArray
from latree.table.bins import best_cuts, candidate_ranks, equal_cuts
from latree.table.columns import Column
from latree.table.factors import label_of
from latree.table.ranks import Found, Intervals, collected, counted
from latree.table.sources import Piece, Source
from latree.table.summaries import Marks, Summary, merged_masses, summarised

_NUMBERS_AT_ONCE = 2**23  # numbers that are collected in one pass, over all columns

Result = TypeVar("Result")


def learn_columns(source: Source, names: Sequence[str], bins: int, missing: tuple[str, ...]) -> list[Column]:
    """Find the states of columns; ``bins=0`` never cuts. Rows without weight are as good as absent."""
    summaries = _measured(source, names, partial(_summary, missing=missing), Summary.merged)
    large = {
        summary.name: summary.counts.distinct
        for summary in summaries
        if summary.is_number and summary.is_cut(bins) and isinstance(summary.counts, Marks)
    }
    cuts = _cuts_of_large(source, large, bins, missing)
    columns = []
    for summary in summaries:
        if summary.name in large:
            points, centers = cuts[summary.name]
            columns.append(_binned(summary, points, centers, _interval_labels(points), missing))
        elif summary.is_number and summary.is_cut(bins):
            columns.append(_cut(summary, bins, missing))
        else:
            columns.append(summary.uncut(missing))
    return columns


def _measured(
    source: Source,
    names: Sequence[str],
    measure: Callable[[Piece, str], Result],
    merge: Callable[[Result, Result], Result],
) -> list[Result]:
    """Measure columns in one pass over the data."""
    return source.reduce(
        partial(_each, names=tuple(names), measure=measure),
        partial(_merged, merge=merge),
        None if tuple(names) == source.names else names,
    )


def _each(piece: Piece, names: Sequence[str], measure: Callable[[Piece, str], Result]) -> list[Result]:
    return [measure(piece, name) for name in names]


def _merged(one: list[Any], other: list[Any], merge: Callable[[Any, Any], Any]) -> list[Any]:
    return [merge(a, b) for a, b in zip(one, other, strict=True)]


def _summary(piece: Piece, name: str, missing: tuple[str, ...]) -> Summary:
    return summarised(piece.factors[name], piece.weights, missing)


def _cut(summary: Summary, bins: int, missing: tuple[str, ...]) -> Column:
    """Cut a column all of whose distinct numbers are known."""
    assert not isinstance(summary.counts, Marks)
    values, counts = summary.counts
    cuts = equal_cuts(values, counts, bins)
    bin_of = np.searchsorted(cuts, values, side="left")
    centers = np.array([_lower_median(values[bin_of == b], counts[bin_of == b]) for b in range(len(cuts) + 1)])
    labels = list(map(label_of, values.tolist())) if len(values) == len(centers) else _interval_labels(cuts)
    return _binned(summary, cuts, centers, labels, missing)


def _binned(
    summary: Summary, cuts: FloatArray, centers: FloatArray, labels: list[str], missing: tuple[str, ...]
) -> Column:
    return Column(
        summary.name, summary.kind, tuple(labels), missing, tuple(cuts.tolist()), tuple(map(float, centers.tolist()))
    )


def _lower_median(values: FloatArray, counts: FloatArray) -> float:
    cumulative = np.cumsum(counts)
    return float(values[np.searchsorted(cumulative, cumulative[-1] / 2)])


def _interval_labels(cuts: FloatArray) -> list[str]:
    """Name the bins by their bounds, with as few digits as keep the bounds apart."""
    digits = next((d for d in range(4, 17) if len({f"{cut:.{d}g}" for cut in cuts}) == len(cuts)), 17)
    texts = [f"{cut:.{digits}g}" for cut in cuts]
    between = [f"({low}, {high}]" for low, high in pairwise(texts)]
    return [f"<= {texts[0]}", *between, f"> {texts[-1]}"]


def _cuts_of_large(
    source: Source, marks: dict[str, FloatArray], bins: int, missing: tuple[str, ...]
) -> dict[str, tuple[FloatArray, FloatArray]]:
    """Find cut points and medians of columns of which only marks are known: the same as from all numbers at once."""
    if not marks:
        return {}
    masses = _measured(source, list(marks), partial(_counted, marks=marks, missing=missing), np.add)
    intervals = {name: Intervals(marks[name], mass) for name, mass in zip(marks, masses, strict=True)}
    ranks = {name: candidate_ranks(known.total, bins) for name, known in intervals.items()}
    cuts, halves = {}, {}
    for name, found in _find(source, intervals, ranks, missing).items():
        cuts[name], halves[name] = _cuts_and_halves(found, intervals[name], bins)
    medians = _find(source, intervals, halves, missing)
    return {name: (cuts[name], medians[name].numbers) for name in marks}


def _cuts_and_halves(found: Found, known: Intervals, bins: int) -> tuple[FloatArray, FloatArray]:
    """Choose cut points next to the numbers found, and give the rank of the median of each bin."""
    largest = known.marks[-1]
    below = np.concatenate([found.below, found.numbers, [largest]])
    next_to_below = np.where(found.below < found.numbers, found.numbers, found.above)
    above = np.concatenate([next_to_below, found.above, [largest]])
    cumulative = np.concatenate([found.cumulative_below, found.cumulative, [known.total]])
    below, first = np.unique(below, return_index=True)
    cuts = best_cuts(below, above[first], cumulative[first], bins)
    # A cut lies at or above the number below it, and under the next one.
    ends = np.concatenate([[0.0], cumulative[first][np.searchsorted(below, cuts, side="right") - 1], [known.total]])
    return cuts, ends[:-1] + np.diff(ends) / 2


def _find(
    source: Source, intervals: dict[str, Intervals], ranks: dict[str, FloatArray], missing: tuple[str, ...]
) -> dict[str, Found]:
    """Find numbers at ranks, of as many columns at once as fit in memory."""
    wanted = {name: intervals[name].wanted(ranks[name]) for name in ranks}
    found = {}
    for names in _batches({name: float(intervals[name].masses[wanted[name]].sum()) for name in ranks}):
        measure = partial(
            _collected,
            marks={name: intervals[name].marks for name in names},
            wanted={name: wanted[name] for name in names},
            missing=missing,
        )
        for name, numbers in zip(names, _measured(source, names, measure, merged_masses), strict=True):
            found[name] = intervals[name].find(ranks[name], *numbers)
    return found


def _batches(sizes: dict[str, float]) -> Iterator[list[str]]:
    batch: list[str] = []
    total = 0.0
    for name, size in sizes.items():
        if batch and total + size > _NUMBERS_AT_ONCE:
            yield batch
            batch, total = [], 0.0
        batch.append(name)
        total += size
    yield batch


def _counted(piece: Piece, name: str, marks: dict[str, FloatArray], missing: tuple[str, ...]) -> FloatArray:
    return counted(piece.factors[name], piece.weights, missing, marks[name])


def _collected(
    piece: Piece,
    name: str,
    marks: dict[str, FloatArray],
    wanted: dict[str, NDArray[np.bool_]],
    missing: tuple[str, ...],
) -> tuple[FloatArray, FloatArray]:
    return collected(piece.factors[name], piece.weights, missing, marks[name], wanted[name])
