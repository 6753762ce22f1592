"""Filling missing cells: with the mean, the median or the most probable value, or with draws from the model.

A missing cell has a posterior distribution given the present cells of its row. ``mode``, ``median`` and ``mean`` are
taken from the cell's own posterior, and minimise the expected number of wrong cells, the expected absolute error and
the expected squared error. ``draw`` draws all missing cells of a row together, so that drawn cells depend on each other
as the model says. In a column with bins, the distribution is that of the number: see :mod:`latree.model.predictive`.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from latree._util.arrays import CodeArray, FloatArray, IntArray, RandomState, backend_of, generator, make_frame
from latree._util.workers import map_ordered
from latree.errors import InputError
from latree.inference.messages import upward
from latree.inference.network import Network
from latree.inference.patterns import plan_messages
from latree.model.linear import Linear
from latree.model.predictive import cell_posteriors, quantile_states, quantiles
from latree.model.query import column_values
from latree.table import Block, Column, Table
from latree.table.opening import is_annotated, is_dask_dataframe
from latree.table.raw import array_names, label_of
from latree.table.reading import positions_in_array
from latree.table.rows import BLOCK_ROWS, missing_code
from latree.table.sparse import is_sparse
from latree.table.storage import typed_like
from latree.table.table import decode_column, signed_codes

How: TypeAlias = Literal["auto", "mode", "median", "mean", "draw"]
# How one column is filled: a share stands for that quantile.
Rule: TypeAlias = How | float
# Rows by columns: what missing cells are filled with, and the codes of the others. A fill is the number in a column
# with bins, and for the mean of a column of numbers; otherwise a code. NaN where a column has no such fill.
Filled: TypeAlias = FloatArray

HOWS: tuple[How, ...] = get_args(How)


def impute_like(
    network: Network,
    columns: tuple[Column, ...],
    data: Any,
    table: Table,
    how: How,
    draws: int | None,
    interval: float | None,
    random_state: RandomState,
    names: Sequence[str] | None = None,
    linear: Linear | None = None,
) -> Any:
    """Fill the missing cells of data, and return them in their own form.

    With ``draws``, return a list of so many; with ``interval``, three: the filled data, and the bounds of the interval.
    ``names`` are those of the columns of an array, if it has more columns than the model.
    """
    if how not in HOWS:
        raise InputError(f"how must be one of {', '.join(HOWS)}, not {how!r:.60}")
    if draws is not None and (how != "draw" or draws < 1):
        raise InputError(
            f"draws must be at least 1, and needs how='draw': not draws={draws!r:.60} with how={how!r:.60}"
        )
    bounds = interval_bounds(interval) if interval is not None else ()
    if bounds and draws is not None:
        raise InputError("draws and return_interval: choose one of the two")
    if backend_of(data) is not None:
        columns = _columns_of_frame(nw.from_native(data, eager_only=True), columns)
    seeds = draw_seeds(random_state, draws or 1)
    filled: list[tuple[Rule, Filled]] = [
        (how, fill(network, columns, table, how, seed, linear=linear)) for seed in seeds
    ]
    filled += [(share, fill(network, columns, table, share)) for share in bounds]
    if isinstance(data, Table | str | Path) or is_dask_dataframe(data) or is_annotated(data):
        numbers = table.numbers(np.arange(table.n_rows))
        results = [_filled_frame(columns, table, numbers, one, rule) for rule, one in filled]
    elif is_sparse(data):
        positions = positions_in_array(columns, array_names(data.shape[1]) if names is None else names)
        results = [_fill_sparse(data, positions, columns, one, rule) for rule, one in filled]
    elif backend_of(data) is not None:
        results = [_fill_frame(data, columns, table, one, rule) for rule, one in filled]
    else:
        given = np.asarray(data)
        positions = positions_in_array(columns, array_names(given.shape[1]) if names is None else names)
        results = [_fill_array(given, positions, columns, table, one, rule) for rule, one in filled]
    if bounds:
        return tuple(results)
    return results[0] if draws is None else results


def interval_bounds(interval: float) -> tuple[float, float]:
    """Return the shares of a distribution below the two ends of its central interval."""
    if not (isinstance(interval, float) and 0 < interval < 1):
        raise InputError(f"an interval must be a share between 0 and 1, such as 0.9, not {interval!r:.60}")
    return (1 - interval) / 2, (1 + interval) / 2


def fill(
    network: Network,
    columns: tuple[Column, ...],
    table: Table,
    how: Rule,
    seed: int = 0,
    first_row: int = 0,
    *,
    linear: Linear | None = None,
    numbers: FloatArray | None = None,
) -> Filled:
    """Return what the missing cells of a table are filled with.

    ``first_row`` is the number of its first row. ``linear`` corrects means, and ``numbers`` are those of the rows, if
    the table does not know them.
    """
    if how == "draw":
        codes = table.map(lambda block: block.codes)
        parts = map_ordered(
            lambda start: draw_block(network, columns, codes[start : start + BLOCK_ROWS], seed, first_row + start),
            range(0, max(len(codes), 1), BLOCK_ROWS),
        )
        return np.concatenate(list(parts))
    filled = table.map(lambda block: fill_block(network, columns, block.codes, how))
    if linear is None or how not in ("auto", "mean"):
        return filled
    codes = table.map(lambda block: block.codes)
    numbers = table.numbers(np.arange(table.n_rows)) if numbers is None else numbers
    corrected = linear.expected(network, table.columns, codes, numbers)
    for place, j in enumerate(linear.columns):
        if linear.weights[place] and _rule(columns[j], how) == "mean":
            holes = np.flatnonzero(codes[:, j] == missing_code(codes))
            filled[holes, j] = corrected[holes, place]
    return filled


def fill_block(network: Network, columns: tuple[Column, ...], codes: CodeArray, how: Rule) -> Filled:
    """Fill the missing cells of some rows, each by its own posterior."""
    filled = signed_codes(codes).astype(np.float64)
    for j, holes, posterior in cell_posteriors(network, codes):
        filled[holes, j] = fills(columns[j], posterior, how)
    return filled


def fills(column: Column, probabilities: FloatArray, how: Rule) -> FloatArray:
    """Return what cells of a column are filled with, given the probabilities of its states, one row per cell."""
    rule = _rule(column, how)
    if rule is None:
        return np.full(len(probabilities), np.nan)
    if rule == "mean":
        assert column.means is not None
        return np.asarray(probabilities @ column.means)
    if rule == "mode":
        states = probabilities.argmax(axis=1)
        return np.asarray(states.astype(np.float64) if column.density is None else column.density.medians[states])
    share = 0.5 if rule == "median" else float(rule)
    if column.density is not None:
        return quantiles(column, probabilities, share)
    return quantile_states(probabilities, share).astype(np.float64)


def _rule(column: Column, how: Rule) -> Rule | None:
    """Return how a column is filled, as far as it is possible there; None for a quantile of a column without order."""
    if how == "auto":
        how = "mean" if column.density is not None else "median"
    if how == "mean" and column.means is None:
        how = "median"
    if not column.ordered and how != "mean":
        return None if isinstance(how, float) else "mode"
    return how


def draw_block(network: Network, columns: tuple[Column, ...], codes: CodeArray, seed: int, first_row: int) -> Filled:
    """Draw the missing cells of some rows, all cells of a row together.

    The random numbers of a row depend on the seed and the row's number alone, not on how rows fall into blocks: one for
    each variable, and one for the place of each number inside its bin.
    """
    per_row = len(network.parent) + len(columns)
    bits = np.random.PCG64(seed).advance(first_row * per_row)
    uniform = np.random.Generator(bits).random((len(codes), per_row))
    present = signed_codes(codes)
    up = upward(network, plan_messages(network, codes, repeats=False))
    states = np.zeros((len(codes), len(network.parent)), dtype=np.intp)
    for node in network.order.tolist():
        # From the roots down: P(node | parent, cells below) is proportional to P(node | parent) P(cells below | node).
        parent = network.parent[node]
        prior = network.tables[node].T[states[:, parent] if parent >= 0 else np.zeros(len(codes), dtype=np.intp)]
        weights = prior if node in network.plain_leaves else up.times_likelihood(node, prior)
        cumulative = np.cumsum(weights, axis=1)
        impossible = cumulative[:, -1] == 0
        cumulative[impossible] = np.cumsum(prior[impossible], axis=1)
        drawn = (uniform[:, node, None] * cumulative[:, -1:] >= cumulative[:, :-1]).sum(axis=1)
        if node < network.n_observed:
            drawn = np.where(present[:, node] >= 0, present[:, node], drawn)
        states[:, node] = drawn
    filled = states[:, : network.n_observed].astype(np.float64)
    for j, column in enumerate(columns):
        holes = np.flatnonzero(present[:, j] < 0)
        if column.density is not None and len(holes):
            filled[holes, j] = column.density.quantile(states[holes, j], uniform[holes, len(network.parent) + j])
    return filled


def draw_seeds(random_state: RandomState, draws: int) -> list[int]:
    """Return a seed for each of several draws; the first ones do not depend on how many there are."""
    return [int(seed) for seed in generator(random_state).integers(2**63, size=draws)]


def fill_values(column: Column, filled: FloatArray, how: Rule) -> list[Any]:
    """Return the values that the fills of one column stand for; None where there is no fill."""
    rule = _rule(column, how)
    if rule is None:
        return [None] * len(filled)
    if column.density is not None:
        return list(map(column.value_of, filled.tolist()))
    if rule == "mean":
        return list(filled.tolist())
    return decode_column(column, filled.astype(np.intp))


def fill_codes(column: Column, filled: FloatArray) -> IntArray:
    """Return the codes of cells of one column that were filled with numbers or codes."""
    if column.cuts is None:
        return filled.astype(np.intp)
    return np.searchsorted(np.array(column.cuts), filled, side="left")


def _fill_array(
    given: NDArray[Any], positions: Sequence[int], columns: tuple[Column, ...], table: Table, filled: Filled, how: Rule
) -> NDArray[Any]:
    """Fill the missing cells of an array, in which columns are at these positions; others do not change."""
    missing = table.codes() < 0
    values = [fill_values(column, filled[missing[:, j], j], how) for j, column in enumerate(columns)]
    result = given.astype(np.result_type(given, *(np.asarray(cells) for cells in values if cells)))
    for j, cells in enumerate(values):
        result[missing[:, j], positions[j]] = cells
    return result


def _fill_sparse(given: Any, positions: Sequence[int], columns: tuple[Column, ...], filled: Filled, how: Rule) -> Any:
    """Fill the missing cells of a sparse matrix, which are NaN; others do not change."""
    result = given.tocoo(copy=True)
    number_of = {position: j for j, position in enumerate(positions)}
    for place in np.flatnonzero(np.isnan(result.data)).tolist():
        row, j = int(result.row[place]), number_of.get(int(result.col[place]))
        if j is not None:
            (result.data[place],) = fill_values(columns[j], filled[[row], j], how)
    return result.asformat(given.format)


def _columns_of_frame(frame: "nw.DataFrame[Any]", columns: tuple[Column, ...]) -> tuple[Column, ...]:
    """Return the columns of a model as a frame holds them: categories are no numbers, and have no mean."""
    categories = {str(name) for name, dtype in frame.schema.items() if dtype in (nw.Categorical, nw.Enum)}
    return tuple(replace(column, kind="text") if column.name in categories else column for column in columns)


def _fill_frame(given: Any, columns: tuple[Column, ...], table: Table, filled: Filled, how: Rule) -> Any:
    """Fill the missing cells of a data frame; others do not change."""
    missing = table.codes() < 0
    frame = nw.from_native(given, eager_only=True)
    names = {str(name): name for name in frame.columns}  # pandas takes numbers for names
    for j, column in enumerate(columns):
        holes = np.flatnonzero(missing[:, j])
        if len(holes):
            series = frame.get_column(names[column.name])
            frame = frame.with_columns(_fill_series(series, column, holes, fill_values(column, filled[holes, j], how)))
    return frame.to_native()


def _fill_series(
    series: "nw.Series[Any]", column: Column, holes: NDArray[np.intp], values: list[Any]
) -> "nw.Series[Any]":
    """Fill missing cells of a column and keep its type: values that occur in the column are taken from there."""
    cells = series.to_list()
    is_hole = np.zeros(len(cells), dtype=bool)
    is_hole[holes] = True
    known = {label_of(cell): cell for cell in _categories(series)}
    known |= {label_of(cell): cell for cell, hole in zip(cells, is_hole.tolist(), strict=True) if not hole}
    # A column without any cell has no type of its own, and pandas may call it one of texts.
    is_text = series.dtype in (nw.String, nw.Categorical) and not is_hole.all()
    for position, value in zip(holes.tolist(), values, strict=True):
        if value is None:
            cells[position] = None
        else:
            cells[position] = known.get(label_of(value), label_of(value) if is_text else value)
    return typed_like(series, cells, column.storage)


def _categories(series: "nw.Series[Any]") -> list[Any]:
    """Return all categories of a column, also those that no row has, as far as its library tells them."""
    if isinstance(series.dtype, nw.Enum):
        return list(series.dtype.categories)
    if series.dtype == nw.Categorical and series.implementation.is_pandas_like():
        return list(series.to_native().cat.categories)
    return []


def cell_probabilities(
    network: Network, columns: tuple[Column, ...], table: Table, wanted: Sequence[int] | None = None
) -> dict[str, FloatArray]:
    """Return the probability of every value of some columns in each row, by names like ``column=value``.

    By default these are the columns with missing cells. In a row where a cell is present, its value has probability 1.
    """
    if wanted is None:
        wanted = np.flatnonzero(table.n_missing).tolist()
    names = probability_names(columns, wanted)
    stacked = table.map(lambda block: _probabilities_of(network, block, wanted))
    return dict(zip(names, stacked.T, strict=True))


def probability_names(columns: tuple[Column, ...], wanted: Sequence[int]) -> list[str]:
    """Return a name for each value of some columns, such as ``A1=2``."""
    return [f"{columns[j].name}={label_of(value)}" for j in wanted for value in column_values(columns[j])]


def _probabilities_of(network: Network, block: Block, wanted: Sequence[int]) -> FloatArray:
    """Return the probabilities of the values of some columns in some rows, next to each other."""
    sizes = [len(network.tables[j]) for j in wanted]
    # A row of an identity matrix has probability 1 for the value that is there; a missing cell has a row of zeros.
    parts = {
        j: np.concatenate([np.eye(n), np.zeros((1, n))])[np.minimum(block.codes[:, j], n)]
        for j, n in zip(wanted, sizes, strict=True)
    }
    for j, holes, posterior in cell_posteriors(network, block.codes):
        if j in parts:
            parts[j][holes] = posterior
    return np.concatenate([np.empty((len(block.codes), 0)), *parts.values()], axis=1)


def _filled_frame(columns: tuple[Column, ...], table: Table, numbers: FloatArray, filled: Filled, how: Rule) -> Any:
    """Return the filled rows as a data frame; numbers are as they are in the data, as far as they are known."""
    codes = table.codes()
    cells = {}
    for j, column in enumerate(columns):
        values = decode_column(column, codes[:, j])
        for row in np.flatnonzero(~np.isnan(numbers[:, j])).tolist():
            values[row] = column.value_of(float(numbers[row, j]))
        holes = np.flatnonzero(codes[:, j] < 0)
        for hole, value in zip(holes.tolist(), fill_values(column, filled[holes, j], how), strict=True):
            values[hole] = value
        cells[column.name] = values
    return make_frame(cells)
