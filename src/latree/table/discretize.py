"""Learning the states of columns: categories, or bins with equally many rows.

A column gets bins if its numbers have fractions, if it has many distinct whole numbers, or if it holds dates or times.
Every other column keeps its distinct values as categories. What must be known of a column is gathered batch by batch,
in one pass over the rows. How many bins there are is chosen in a second pass (:mod:`latree.table.binning`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import Literal, NamedTuple, TypeAlias

import numpy as np

from latree._util.arrays import FloatArray
from latree._util.words import setting
from latree.errors import InputError
from latree.table.binning import FINE_BINS, choose_bins
from latree.table.clock import SECONDS, Unit, as_numbers, clock_label, unit_of
from latree.table.columns import (
    Column,
)
from latree.table.cuts import SPIKE, cut_points
from latree.table.density import Density
from latree.table.raw import label_of
from latree.table.sources import Encoder, RawBatch, RowSource
from latree.table.summary import ColumnSummary, summarise

# What a column is taken for, whatever the data look like: a number, categories with an order, or without one. A tuple
# has the categories from low to high.
KindSetting: TypeAlias = Literal["number", "ordered", "category"] | tuple[str, ...]


# Bounds of bins from 1 up to this number have no exponent.
_MAX_PLAIN = 1e12


class LearnedColumn(NamedTuple):
    """What is known of a column, and its states: a column, or why it has none."""

    summary: ColumnSummary
    column: Column | None
    problem: str | None


def learn_columns(
    source: RowSource,
    names: Sequence[str],
    bins: int | None,
    missing: tuple[str, ...],
    kinds: Mapping[str, KindSetting],
) -> list[LearnedColumn]:
    """Learn the states of columns. Rows of weight zero are ignored.

    Parameters
    ----------
    source : RowSource
    names : sequence of str
        The columns to learn.
    bins : int or None
        Number of bins of every number; 0 makes no bins. None chooses them by the rows.
    missing : tuple of str
        Cells that mean missing.
    kinds : mapping of str to {"number", "ordered", "category"} or tuple of str
        What some columns are taken for; a tuple has the categories from low to high.
    """
    # Plain categories have an order without labels.
    orders = {name: kind if isinstance(kind, tuple) else () for name, kind in kinds.items() if not _keeps_order(kind)}
    forgotten = frozenset(name for name, kind in kinds.items() if _keeps_order(kind))
    measure = partial(_summarise, names=names, missing=missing, orders=orders, forgotten=forgotten)
    summaries = source.reduce(measure, _merge, None if tuple(names) == source.names else names)
    columns = []
    for summary in summaries:
        try:
            columns.append(LearnedColumn(summary, _learn(summary, bins, missing, kinds.get(summary.name)), None))
        except InputError as error:  # all such columns are told at once
            columns.append(LearnedColumn(summary, None, str(error)))
    return columns if bins is not None else _with_chosen_bins(source, columns, missing)


def _keeps_order(kind: KindSetting) -> bool:
    """Return whether a setting takes a column for numbers, whatever the data say about an order of categories."""
    return kind in ("number", "ordered")


def _learn(summary: ColumnSummary, bins: int | None, missing: tuple[str, ...], kind: KindSetting | None) -> Column:
    """Return a column with its states; fine bins, from which others are chosen, if ``bins`` is None."""
    is_quantity = summary.is_numeric or summary.is_time
    if kind in ("number", "ordered") and not is_quantity and not summary.is_empty and summary.kinds != {"boolean"}:
        example = min(summary.texts or [summary.first_text or ""])
        if kind == "ordered":
            raise InputError(
                f"column {summary.name!r} holds texts, such as {example!r:.40}: list them from low to high, as "
                f"{setting('kinds', {summary.name: ['low', 'high']})}"
            )
        raise InputError(
            f"column {summary.name!r} is to be a number, but has {summary.first_text!r:.40}: correct it, or make such "
            f"cells missing ({setting('missing_also', [summary.first_text])})"
        )
    has_bins = is_quantity if kind == "number" else summary.needs_bins(bins) and (kind != "ordered" or summary.is_time)
    if not has_bins or bins == 0:
        return summary.without_clock().column_without_bins(missing)
    return _fine_column(summary, missing) if bins is None else _column_with_bins(summary, bins, missing)


def _summarise(
    batch: RawBatch,
    names: Sequence[str],
    missing: tuple[str, ...],
    orders: dict[str, tuple[str, ...]],
    forgotten: frozenset[str],
) -> list[ColumnSummary]:
    columns = (batch.columns[name] for name in names)
    ordered = (
        replace(raw, order=None if raw.name in forgotten else orders.get(raw.name, raw.order)) for raw in columns
    )
    return [summarise(raw, batch.weights, missing) for raw in ordered]


def _merge(one: list[ColumnSummary], other: list[ColumnSummary]) -> list[ColumnSummary]:
    return [a.merge(b) for a, b in zip(one, other, strict=True)]


def _with_chosen_bins(source: RowSource, learned: list[LearnedColumn], missing: tuple[str, ...]) -> list[LearnedColumn]:
    """Replace fine bins by as many as the rows call for."""
    fine = [one.column for one in learned if one.column is not None and one.column.n_states > 1]
    if not any(column.cuts is not None for column in fine):
        return learned
    names = [column.name for column in fine]
    rows = source.store(Encoder(tuple(fine), tuple(names), "missing"), names)
    chosen = dict(zip(names, choose_bins(fine, rows), strict=True))
    return [
        one
        if one.column is None or one.column.cuts is None
        else one._replace(column=_column_with_bins(one.summary, chosen[one.column.name], missing))
        for one in learned
    ]


def _fine_column(summary: ColumnSummary, missing: tuple[str, ...]) -> Column:
    """Return a column with fine bins, which have codes only; of one number, what it stays."""
    counts = summary.counts
    if len(counts.numbers) == 1:
        return _column_with_bins(summary, 1, missing)
    numbers, unit = _in_unit(summary)
    is_spike = counts.weights >= SPIKE * counts.weights.sum()
    cumulative = np.cumsum(np.where(is_spike, 0, counts.weights))
    ranks = np.arange(1, FINE_BINS) / FINE_BINS * cumulative[-1]
    spikes = np.flatnonzero(is_spike)
    last = np.unique([*np.searchsorted(cumulative, ranks * (1 - 1e-12)), *spikes, *np.maximum(spikes - 1, 0)])
    cuts = tuple(numbers[last[last < len(numbers) - 1]].tolist()) or (float(numbers[-2]),)
    labels = tuple(map(str, range(len(cuts) + 1)))
    return Column(summary.name, summary.kind, labels, missing, cuts, ordered=True, unit=unit)


def _in_unit(summary: ColumnSummary) -> tuple[FloatArray, Unit | None]:
    """Return the numbers of a column; of dates and times, in the largest unit in which they are whole."""
    if summary.clock is None:
        return summary.counts.numbers, None
    unit = unit_of(summary.clock, summary.counts.numbers)
    return as_numbers(summary.counts.numbers, unit), unit


def _column_with_bins(summary: ColumnSummary, bins: int, missing: tuple[str, ...]) -> Column:
    _, weights, _, bits = summary.counts
    if len(weights) == 1:
        return summary.without_clock().column_without_bins(missing)
    numbers, unit = _in_unit(summary)
    cuts = cut_points(numbers, weights, bins)
    if bits:  # of numbers that are counted together, only the largest is known
        cuts = numbers[np.searchsorted(numbers, cuts, side="right") - 1]
    # Bins of one number each are named by that number.
    is_each = len(numbers) == len(cuts) + 1
    bounds = numbers if is_each else cuts
    if summary.clock is None or unit is None:
        labels = list(map(label_of, numbers.tolist())) if is_each else _interval_labels(_number_texts(cuts))
    else:
        texts = [clock_label(summary.clock, bound * SECONDS[unit], unit) for bound in bounds.tolist()]
        labels = texts if is_each else _interval_labels(texts)
    inside = tuple(cuts.tolist()), Density.learn(numbers, weights, cuts)
    return Column(
        summary.name,
        summary.kind,
        tuple(labels),
        missing,
        *inside,
        ordered=True,
        unit=unit,
        storage=summary.storage,
    )


def _number_texts(cuts: FloatArray) -> list[str]:
    """Return the bounds of bins as texts, with at least four digits and as many as make the bounds differ."""
    digits = next((d for d in range(4, 17) if len({f"{cut:.{d}g}" for cut in cuts}) == len(cuts)), 17)
    # An income of 23450 is easier to read than one of 2.345e+04.
    return [label_of(float(f"{cut:.{digits}g}")) if 1 <= abs(cut) < _MAX_PLAIN else f"{cut:.{digits}g}" for cut in cuts]


def _interval_labels(bounds: Sequence[str]) -> list[str]:
    """Name the bins by their bounds."""
    between = [f"({low}, {high}]" for low, high in pairwise(bounds)]
    return [f"<= {bounds[0]}", *between, f"> {bounds[-1]}"]
