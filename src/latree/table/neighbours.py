"""Whether rows are like their neighbours, as repeated measures, pupils of a class, or days are.

Support, stability and worth take rows for independent. If rows are independent, any order of theirs is as probable as
any other, so two rows that are a fixed distance apart may change places. Let d_t = x_t - x_(t + distance) be the
difference of two such rows. To exchange them changes its sign and nothing else. So the signs of all d_t are fair coins,
and so are those of the products d_t · d_(t + lag), which are independent for each lag. If neighbours are alike, the
products are positive: d_t and d_(t + lag) then compare the same two classes, or nearly the same two days.

A table that is sorted stays a sample of independent rows. Long stretches of like rows cancel out in the differences.
Rows that differ in a column by which the table is sorted are not exchanged.
"""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from latree._util.arrays import CodeArray, FloatArray, IntArray
from latree.table.columns import Column
from latree.table.findings import Finding
from latree.table.rows import Rows, missing_code

# Rows that may change places are this far apart: farther than two members of a class, and not much, so that they are of
# one kind in most tables that are sorted by kind.
_DISTANCE = 32
# Lags between 1 and the size of a class; at the others, correlations are interpolated.
_LAGS = (1, 2, 3, 5, 8, 13, 21)
# Of a million tables with independent rows, at most one may be called dependent by chance.
_MAX_P = 1e-6
# Rows are dependent if they say no more than this share of as many independent rows. In simulated tables, false edges
# are common below it, and rare above it (docs/lab/explain.md).
_MAX_SHARE = 2 / 3
# Of a large table, stretches of neighbours with so many cells are looked at, and at least so many stretches.
_MAX_CELLS, _MIN_STRETCHES = 2**19, 32
# Of a wide table, so many columns are looked at.
_MAX_COLUMNS = 1024


def find_dependent_rows(columns: Sequence[Column], rows: Rows) -> Iterator[Finding]:
    """Yield that rows are like their neighbours, if that is clear, and if it makes support and stability too high."""
    distance = min(_DISTANCE, rows.n_rows // 2)
    if distance <= _LAGS[-1] or not columns:
        return
    size = 2 * distance
    n_stretches, most = rows.n_rows // size, max(_MIN_STRETCHES, _MAX_CELLS // (size * len(columns)))
    starts = size * np.linspace(0, n_stretches - 1, min(n_stretches, most)).astype(np.intp)
    codes = rows.fetch(np.add.outer(starts, np.arange(size)).ravel()).codes
    places = np.linspace(0, len(columns) - 1, min(len(columns), _MAX_COLUMNS)).astype(np.intp)
    correlations, p = _correlations(_differences(codes[:, places], [columns[j] for j in places], distance))
    if p > _MAX_P:
        return
    # Two columns that both have the autocorrelations r have a correlation whose variance is 1 + 2 Σ r² times as large
    # as with independent rows. Where some neighbours are alike and others are not, as at the border of two classes,
    # it is still larger.
    lags = np.arange(1, _LAGS[-1] + 1)
    n_effective = rows.n_rows / (1 + 2 * (np.interp(lags, _LAGS, correlations.clip(0)) ** 2).sum())
    if n_effective > _MAX_SHARE * rows.n_rows:
        return
    nearest = int(np.argmax(correlations))
    where = f"the row {_LAGS[nearest]} below it" if nearest else "the next"
    what = (
        f"Rows are like their neighbours: the correlation of a row with {where} is {correlations[nearest]:.2f}, and "
        "would be 0 if rows were independent. If the table is only sorted, nothing is wrong. Otherwise "
        f"{rows.n_rows} rows say no more than about {float(f'{n_effective:.2g}'):.0f} independent ones, and support, "
        "stability and the gain on new rows are too high: keep one row per person, household or class; of a time "
        "series, take changes instead of levels, or rows that are far apart"
    )
    yield Finding("", "dependent rows", what, option=None)


def _differences(codes: CodeArray, columns: Sequence[Column], distance: int) -> NDArray[np.float32]:
    """Return the differences of rows that may change places, shape (stretches, distance, columns).

    Codes are divided by the largest code of their column. Where a cell is missing, the difference is 0, and so are all
    of two rows that may not change places.
    """
    shape = (-1, 2, distance, len(columns))
    cells = np.divide(codes, [max(column.n_states - 1, 1) for column in columns], dtype=np.float32)
    cells[codes == missing_code(codes)] = np.nan
    halves = cells.reshape(shape)
    differences: NDArray[np.float32] = halves[:, 0] - halves[:, 1]
    differences[np.isnan(differences)] = 0
    strata = _strata(codes, columns, np.arange(len(codes)) // (2 * distance)).reshape(shape[:-1])
    differences[strata[:, 0] != strata[:, 1]] = 0
    return differences


def _strata(codes: CodeArray, columns: Sequence[Column], strata: IntArray) -> IntArray:
    """Divide strata of consecutive rows by each column by which they are sorted, and by what the parts are sorted by.

    Rows are sorted by a column if those of a stratum that have the same value are all neighbours.
    """
    changes = codes[1:] != codes[:-1]
    remaining = list(range(len(columns)))
    sorted_by = remaining
    while sorted_by:
        sorted_by = []
        inside = strata[1:] == strata[:-1]
        n_changes = np.count_nonzero(changes & inside[:, None], axis=0)
        for j in remaining:
            # Quick to see in most tables: too many changes even if all strata had all values, and missing cells.
            if n_changes[j] > (strata[-1] + 1) * columns[j].n_states:
                continue
            values = strata * (missing_code(codes) + 1) + codes[:, j]
            starts = np.diff(values, prepend=-1) != 0
            if np.count_nonzero(starts) == len(np.unique(values)):
                sorted_by.append(j)
                strata = np.cumsum(starts) - 1
        remaining = [j for j in remaining if j not in sorted_by]
    return strata


def _correlations(differences: NDArray[np.float32]) -> tuple[FloatArray, float]:
    """Return the correlations of rows for each lag, and the probability of any so large if rows were independent."""
    # Hidden variables show in what columns have in common. So directions count by their variance: the product of two
    # differences is d_t' C d_(t + lag), where C is the covariance matrix of the differences. No sign changes it.
    flat = differences.reshape(-1, differences.shape[-1])
    weighted = np.linalg.multi_dot([flat, flat.T, flat]).reshape(differences.shape)
    own = np.einsum("std,std->st", weighted, differences).astype(np.float64)
    correlations, log_p = np.zeros(len(_LAGS)), np.zeros(len(_LAGS))
    for place, lag in enumerate(_LAGS):
        products = np.einsum("std,std->st", weighted[:, :-lag], differences[:, lag:]).astype(np.float64)
        variance = (own[:, :-lag].sum() + own[:, lag:].sum()) / 2
        if variance > 0 and products.sum() > 0:
            correlations[place] = products.sum() / variance
            # Hoeffding's bound for a sum of numbers with random signs: it holds for few rows, and for any values.
            log_p[place] = -(products.sum() ** 2) / (2 * (products**2).sum())
    return correlations, float(len(_LAGS) * np.exp(log_p.min()))
