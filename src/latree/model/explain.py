"""How unusual each cell of a row is, given the other cells of the row, and what was to be expected in its place."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import narwhals as nw
import numpy as np

from latree._util.arrays import CodeArray, FloatArray, IntArray, backend_of, make_frame
from latree.errors import InputError
from latree.inference.network import Network
from latree.model.impute import fill_values, fills
from latree.model.linear import Linear
from latree.model.predictive import cell_posteriors, shares_below
from latree.table import Column, Table
from latree.table.raw import label_of

_MAX_COPIED = 2**22  # the number of cells of copies of a row that are in memory at a time


class ExplainedCell(NamedTuple):
    """A cell of a row, compared with the distribution that the other cells of the row leave for it.

    Attributes
    ----------
    column : int
        The number of the column.
    value, expected : object
        What is there, and what was to be expected, as ``impute`` would fill it in. Of a number of which only the bin is
        known, the labels of bins.
    probability : float
        The probability of a value that is at least as unusual. For a category, all categories that are no more probable
        count; for a number, all that are as far out or further, on both sides.
    log_density : float
        The log density of the value in the units of the data; of a category, the log probability.
    """

    column: int
    value: Any
    expected: Any
    probability: float
    log_density: float


def explain_cells(
    network: Network, columns: Sequence[Column], codes: IntArray, numbers: FloatArray, linear: Linear | None = None
) -> list[ExplainedCell]:
    """Compare each present cell of a row with its distribution given the others; the most unusual ones come first.

    Parameters
    ----------
    network : Network
    columns : sequence of Column
    codes : array of int
        Those of the row, -1 where a cell is missing.
    numbers : array of float
        The numbers of the row in columns with bins; NaN where they are not known.
    linear : Linear, optional
        The correction of expected numbers.
    """
    present = np.flatnonzero(codes >= 0)
    if not len(present):
        return []
    found: list[ExplainedCell] = []
    for part in np.array_split(present, -(-len(present) * len(codes) // _MAX_COPIED)):
        # One copy of the row without each of its cells.
        copies = np.repeat(codes[None, :], len(part), axis=0)
        copies[np.arange(len(part)), part] = -1
        copy_of = {column: row for row, column in enumerate(part.tolist())}
        rows = Table.from_codes(columns, copies).rows.fetch(np.arange(len(part)))
        means = _corrected_means(network, columns, rows.codes, np.tile(numbers, (len(part), 1)), linear)
        for column, holes, posterior in cell_posteriors(network, rows.codes):
            if column in copy_of:
                own = posterior[holes == copy_of[column]]
                mean = None if column not in means else float(means[column][copy_of[column]])
                found.append(_explained(column, columns[column], int(codes[column]), float(numbers[column]), own, mean))
    return sorted(found, key=lambda cell: (round(cell.probability, 9), cell.column))


def _corrected_means(
    network: Network, columns: Sequence[Column], codes: CodeArray, numbers: FloatArray, linear: Linear | None
) -> dict[int, FloatArray]:
    """Return the expected numbers of rows in each column of numbers with bins that is corrected."""
    if linear is None:
        return {}
    found = linear.expected(network, columns, codes, numbers)
    corrected = (place for place, weights in enumerate(linear.weights) if weights)
    return {
        linear.columns[place]: found[:, place]
        for place in corrected
        if columns[linear.columns[place]].density is not None
    }


def _explained(
    number: int, column: Column, code: int, value: float, posterior: FloatArray, mean: float | None
) -> ExplainedCell:
    """Compare one cell with its distribution, a row of probabilities of states; ``mean`` is a corrected one."""
    own = posterior[0, code]
    with np.errstate(divide="ignore"):
        log_density = float(np.log(own))
    if column.density is not None and not np.isnan(value):
        numbers, bins = np.array([value]), np.array([code])
        below = float(shares_below(column, posterior, numbers, bins)[0])
        probability = 2 * min(below, 1 - below)
        log_density += float(column.density.log_density(numbers, bins)[0])
        shown: Any = column.value_of(value)
    else:
        # Probabilities that differ by rounding alone are equal.
        probability = float(posterior[0, posterior[0] <= own * (1 + 1e-9)].sum())
        shown = column.categories[code] if column.density is not None else column.decode(code)
    if column.density is not None and np.isnan(value):
        expected: Any = column.categories[int(posterior[0].argmax())]
    else:
        fill = fills(column, posterior, "auto") if mean is None else np.array([mean])
        (expected,) = fill_values(column, fill, "auto")
    return ExplainedCell(number, shown, expected, min(probability, 1.0), log_density)


def one_row(row: Any, names: Sequence[str]) -> Any:
    """Return a row that is a mapping, a series or a sequence as a table of one row.

    Cells of columns that a mapping, a series or a frame does not have are missing, but it has one of them at least.
    """
    if backend_of(row) is None and isinstance(row, Mapping):
        return one_row(make_frame({str(name): [value] for name, value in row.items()}), names)
    if hasattr(row, "to_dict") and getattr(row, "ndim", 2) == 1:  # a series of pandas: a row of a frame
        return one_row(row.to_dict(), names)
    if backend_of(row) is not None:
        frame = nw.from_native(row, eager_only=True)
        absent = [name for name in names if name not in set(map(str, frame.columns))]
        if len(absent) < len(names):
            row = frame.with_columns(nw.lit(None).alias(name) for name in absent).to_native()
    if isinstance(row, list | tuple | np.ndarray) and np.ndim(np.asarray(row, dtype=object)) == 1:
        return np.array([row], dtype=object)
    return row


def explained_frame(
    network: Network, columns: Sequence[Column], table: Table, backend: str | None, linear: Linear | None
) -> Any:
    """Return a frame with the cells of a table of one row."""
    if table.n_rows != 1:
        raise InputError(f"explain_row takes one row, not {table.n_rows}: pass a dict, or a frame of one row")
    numbers = table.numbers(np.array([0]))[0]
    cells = explain_cells(network, columns, table.codes()[0], numbers, linear)
    found: dict[str, Any] = {
        "column": [columns[cell.column].name for cell in cells],
        "value": [cell.value for cell in cells],
        "expected": [cell.expected for cell in cells],
        "probability": np.array([cell.probability for cell in cells]),
        "log_density": np.array([cell.log_density for cell in cells]),
    }
    mixes = nw.dependencies.is_pandas_like_dataframe(make_frame({"column": found["column"]}, backend))
    if not mixes and len({type(value) for name in ("value", "expected") for value in found[name]}) > 1:
        found |= {name: list(map(label_of, found[name])) for name in ("value", "expected")}
    return make_frame(found, backend)
