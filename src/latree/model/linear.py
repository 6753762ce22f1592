"""What numbers say of each other beyond the tree: a linear correction of expected values.

In a tree, what one column says about another passes along a single path, and of a number with bins only the bin passes.
So weak dependence between distant columns is lost, and so is that inside bins. Squared errors of numbers are smaller by
what a regression finds there. With the number of each column in a row, or its expected value under the tree where it is
missing, as ``v``, the expected value of a missing cell of column ``j`` is

    v_j + Σ_k w_jk (v_k - c_k),

where ``c`` are means and the sum also has ``k = j``, which makes the tree's own value count less where it is unsure.
Expected values of other columns are corrected first, in the same way. The weights of a column are those of a ridge
regression of ``x_j - v_j`` on ``v``, in rows of the fit of which cells were hidden. Its penalty, and whether there is
any correction, is chosen by the error of rows that are left out.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from latree._util.arrays import CodeArray, FloatArray, check_fields
from latree._util.workers import one_blas_thread
from latree.errors import InputError
from latree.inference.network import Network
from latree.model.predictive import cell_posteriors
from latree.table import Column, Table
from latree.table.columns import is_number
from latree.table.rows import missing_code
from latree.table.table import signed_codes

BoolArray: TypeAlias = NDArray[np.bool_]

# Every cell is hidden once, together with a tenth of all cells.
_PARTS = 10
# A random sample of so many rows says nearly as much as more of them.
_MAX_ROWS = 4000
# Of many columns, fewer rows, so that the numbers of all parts take 160 MB.
_MAX_CELLS = 2_000_000
# A column is corrected by so many others: those that say most about what the tree leaves unexplained.
_MAX_OTHERS = 30
# Penalties to choose from, in rows: a weight is shrunk by half where it is as sure as so many rows make it.
_PENALTIES = np.logspace(-2, 4, 13)
# A correction must lower the mean squared error of left-out rows by so many standard errors: less may be chance.
_MIN_ERRORS = 1.0


@dataclass(frozen=True)
class Linear:
    """A linear correction of the expected values of numbers.

    Attributes
    ----------
    columns : tuple of int
        The columns of numbers that take part.
    center, low, high : tuple of float
        The mean of each, and its smallest and largest number: expected values stay between these.
    weights : tuple of tuple of (int, float)
        For each of them the places of others in ``columns``, with their weights; empty for one without a correction.
    """

    columns: tuple[int, ...]
    center: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]
    weights: tuple[tuple[tuple[int, float], ...], ...]

    def expected(
        self, network: Network, columns: Sequence[Column], codes: CodeArray, numbers: FloatArray
    ) -> FloatArray:
        """Return the numbers of rows, and expected ones where a cell is missing; one column per column of ``columns``.

        Parameters
        ----------
        network : Network
            That of the model.
        columns : sequence of Column
            All columns of the model.
        codes, numbers : array
            The rows; a number with bins is NaN where it is not known.
        """
        known = numbers_of(columns, self.columns, codes, numbers)
        values = expected_numbers(network, columns, self.columns, codes, known)
        return self._corrected(values, np.isnan(known))

    def _corrected(self, values: FloatArray, is_missing: BoolArray) -> FloatArray:
        """Return the numbers of rows with corrected expected values where a cell is missing.

        Parameters
        ----------
        values : array, shape (rows, columns that take part)
            The numbers of rows; expected ones under the tree where a cell is missing.
        is_missing : array of bool, of the same shape
        """
        matrix = self._matrix
        own, found = np.diag(matrix), values
        for _ in range(2):
            moved = values + (found - self.center) @ matrix.T + (values - found) * own
            found = np.where(is_missing, np.clip(moved, self.low, self.high), values)
        return found

    @cached_property
    def _matrix(self) -> FloatArray:
        found = np.zeros((len(self.columns), len(self.columns)))
        for place, weights in enumerate(self.weights):
            for other, weight in weights:
                found[place, other] = weight
        return found

    def to_dict(self) -> dict[str, Any]:
        """Return the correction as plain data for JSON."""
        plain: dict[str, Any] = {"columns": list(self.columns), "center": list(self.center)}
        plain |= {"low": list(self.low), "high": list(self.high)}
        return plain | {"weights": [[list(weight) for weight in weights] for weights in self.weights]}

    @classmethod
    def from_dict(cls, plain: Any, columns: Sequence[Column]) -> "Linear":
        """Make a correction from plain data, trusting none of it."""
        if not isinstance(plain, dict):
            raise InputError('"linear" is not an object')
        fields = ("columns", "center", "low", "high", "weights")
        check_fields(plain, fields, "the linear correction")
        lists = [plain.get(field) for field in fields]
        if not all(isinstance(one, list) and len(one) == len(lists[0] or []) for one in lists):
            raise InputError("the lists of the linear correction are not equally long")
        own, center, low, high, weights = map(list[Any], lists)  # type: ignore[arg-type]
        are_columns = all(
            type(j) is int and 0 <= j < len(columns) and columns[j].means is not None for j in own
        ) and own == sorted(set(own))
        if not are_columns or not all(map(is_number, (*center, *low, *high))):
            raise InputError("the linear correction is not one of columns of numbers")
        if not all(a <= b for a, b in zip(low, high, strict=True)):
            raise InputError("the linear correction has a smallest number above a largest one")
        are_weights = all(
            isinstance(row, list)
            and all(
                isinstance(one, list)
                and len(one) == 2
                and type(one[0]) is int
                and 0 <= one[0] < len(own)
                and is_number(one[1])
                for one in row
            )
            for row in weights
        )
        if not are_weights:
            raise InputError("the weights of the linear correction are not pairs of a place and a number")
        middle, least, most = (tuple(map(float, one)) for one in (center, low, high))
        rows = tuple(tuple((other, float(weight)) for other, weight in row) for row in weights)
        return cls(tuple(own), middle, least, most, rows)


def learn_linear(network: Network, columns: Sequence[Column], table: Table) -> Linear | None:
    """Return the correction that rows show; None if there is none.

    Parameters
    ----------
    network : Network
        That of the model.
    columns : sequence of Column
    table : Table
        Rows of the fit. A random sample of them is looked at, which is the same wherever they are.
    """
    # A mean of two values is a probability, which is no sum.
    able = [j for j, column in enumerate(columns) if column.means is not None and column.n_states > 2]
    if len(able) < 2 or not any(columns[j].density is not None for j in able):
        return None
    rng = np.random.default_rng(0)
    n_rows = min(table.n_rows, _MAX_ROWS, max(_MAX_CELLS // len(able), 1))
    rows = np.sort(rng.choice(table.n_rows, n_rows, replace=False))
    block = table.rows.fetch(rows)
    weights = np.ones(len(rows)) if block.weights is None else block.weights
    truth = numbers_of(columns, able, block.codes, table.numbers(rows))
    is_known = ~np.isnan(truth) & (weights > 0)[:, None]
    present = np.flatnonzero(is_known.any(axis=0))
    able, truth, is_known = [able[place] for place in present.tolist()], truth[:, present], is_known[:, present]
    part = rng.integers(_PARTS, size=block.codes.shape)
    missing = missing_code(block.codes)
    hidden = np.stack(
        [
            expected_numbers(network, columns, able, np.where(part == one, missing, block.codes), truth)
            for one in range(_PARTS)
        ]
    )
    means = (np.average(one[own], weights=weights[own]) for one, own in zip(truth.T, is_known.T, strict=True))
    center = np.array(list(map(_rounded, means)))
    found = []
    for place, column in enumerate(able):
        # The rows of each part in which the cell of this column is hidden.
        known = np.flatnonzero(is_known[:, place])
        values = hidden[part[known, column], known] - center
        with one_blas_thread():
            found.append(ridge_weights(values, truth[known, place] - center[place], weights[known], place))
    if not any(found):
        return None
    low, high = (tuple(float(x) for x in end) for end in (np.nanmin(truth, axis=0), np.nanmax(truth, axis=0)))
    return Linear(tuple(able), tuple(center.tolist()), low, high, tuple(found))


def numbers_of(columns: Sequence[Column], chosen: Sequence[int], codes: CodeArray, numbers: FloatArray) -> FloatArray:
    """Return the numbers of rows in some columns of numbers, one column each; NaN where a cell is missing.

    Of a number with a bin that is not known, it is the mean of its bin.
    """
    signed = signed_codes(codes)
    found = np.empty((len(codes), len(chosen)))
    for place, j in enumerate(chosen):
        means = columns[j].means
        assert means is not None
        of_states = np.append(means, np.nan)[signed[:, j]]  # -1 for a missing cell is the last
        is_known = ~np.isnan(numbers[:, j]) & (signed[:, j] >= 0)
        found[:, place] = np.where(is_known, numbers[:, j], of_states)
    return found


def expected_numbers(
    network: Network, columns: Sequence[Column], chosen: Sequence[int], codes: CodeArray, numbers: FloatArray
) -> FloatArray:
    """Return numbers of rows in which missing ones are replaced by their expected values, given the row's codes."""
    found = numbers.copy()
    place = {j: number for number, j in enumerate(chosen)}
    for j, holes, posterior in cell_posteriors(network, codes):
        if j in place:
            means = columns[j].means
            assert means is not None
            found[holes, place[j]] = posterior @ means
    return found


def ridge_weights(
    values: FloatArray, truth: FloatArray, weights: FloatArray, place: int
) -> tuple[tuple[int, float], ...]:
    """Return the places and weights of a column's correction; none if it does not lower the error of left-out rows.

    Parameters
    ----------
    values : array, shape (rows, columns that take part)
        Numbers and expected ones, without the center of each column.
    truth : array
        The numbers of the column, likewise; those in ``values`` are expected ones.
    weights : array
        Of the rows, which count in proportion to them.
    place : int
        That of the column.
    """
    if len(truth) < 3:
        return ()
    # Squares of very large numbers would overflow.
    scale, unit = np.abs(values).max(axis=0), float(np.abs(truth).max()) or 1.0
    values = values / np.where(scale > 0, scale, 1)
    share = weights / weights.sum()
    spread = np.sqrt(share @ values**2)
    scale, values = scale * spread, values / np.where(spread > 0, spread, 1)
    error = truth / unit - values[:, place] * (scale[place] / unit)
    said = np.abs((share * error) @ values)
    said[place] = np.inf
    others = np.sort(np.argsort(-said, kind="stable")[: _MAX_OTHERS + 1])
    others = others[scale[others] > 0]
    if not len(others):
        return ()
    # Ridge regression by the singular values.
    root = np.sqrt(share * len(share))
    left, sizes, right = np.linalg.svd(values[:, others] * root[:, None], full_matrices=False)
    target = error * root
    on_left = left.T @ target
    best: tuple[float, FloatArray, FloatArray] | None = None
    for penalty in _PENALTIES:
        kept = sizes**2 / (sizes**2 + penalty)
        # The error of a row without it is its error divided by 1 - leverage.
        left_out = (target - left @ (kept * on_left)) / (1 - np.minimum(left**2 @ kept, 1 - 1e-9))
        total = float(left_out @ left_out)
        if best is None or total < best[0]:
            weight = right.T @ (sizes / (sizes**2 + penalty) * on_left) * (unit / scale[others])
            best = total, weight, left_out
    assert best is not None
    gain = target**2 - best[2] ** 2
    if gain.mean() <= _MIN_ERRORS * gain.std() / np.sqrt(len(gain)):
        return ()
    return tuple(zip(others.tolist(), map(_rounded, best[1].tolist()), strict=True))


def _rounded(number: float) -> float:
    """Return a number with the digits that matter: the last bits of sums depend on where arrays are in memory."""
    return float(f"{number:.6g}")
