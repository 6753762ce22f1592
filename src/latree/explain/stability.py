"""How stable the groups of columns are: how often a column is found in its group again, in resampled rows.

A whole new search for each resampled table would take too long, and a quick learner makes other mistakes than the
search does. So the tree and its loadings stay, and what is decided again is what makes the groups: the correlation of
every two columns is counted in the resampled rows; the tree is cut anew, so that groups fall apart or come together;
then every column goes to the group whose factor it correlates with most, wherever it hangs in the tree.
"""

from functools import partial

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from latree._util.arrays import FloatArray, IntArray, RandomState, generator
from latree._util.parallel import map_ordered
from latree.counts.distances import information_above_chance, informational_correlation, pairwise
from latree.explain.cutting import TreeCutter
from latree.explain.levels import MIN_COLUMNS, Levels, main_level_nearby
from latree.table import Table
from latree.table.learnable import FEW_STATES

# The usual number of resampled tables.
RESAMPLES = 50
# Columns with a lower stability are unsure: they are often found in other groups.
MIN_STABILITY = 0.5
# Of larger tables, a random sample of so many rows is resampled: the search looks at no more either.
_MAX_ROWS = 5000
# All resampled tables together take about this many multiplications at most: one for each row and every two states of
# columns. Wide tables are resampled less often, but at least _MIN_RESAMPLES times, with at least _MIN_ROWS rows.
_MAX_WORK = 1e11
_MIN_RESAMPLES = 10
_MIN_ROWS = 1000
# With more columns than this, tables are resampled one after the other.
_MANY_COLUMNS = 1000
# A column leaves its group for another one only if its correlation there is higher by more than rounding errors.
_ROUNDING = 1e-9


def column_stability(
    cutter: TreeCutter,
    levels: Levels,
    similarity: FloatArray,
    loadings: FloatArray,
    table: Table,
    resamples: int = RESAMPLES,
    random_state: RandomState = 0,
) -> FloatArray | None:
    """Return for each column the share of resampled tables in which it is found in its main group again.

    The groups of a resampled table are matched with the main groups one to one, so that as many columns as possible are
    in the same group in both (Christensen & Golino 2021).

    Parameters
    ----------
    cutter : TreeCutter
        Of the model's tree.
    levels : Levels
        The levels of the groups.
    similarity : array, shape (d, d)
        The similarity of the columns that the groups were found with. It is used for columns that are never present
        together in a resampled table.
    loadings : array, shape (d,)
        Loading of each column on its hidden variable.
    table : Table
        The rows that the model was fitted to.
    resamples : int
        Number of resampled tables. Very wide tables are resampled less often.
    random_state : int, Generator, RandomState or None
        Seed of the resampling.

    Returns
    -------
    array, shape (d,), or None
        NaN for columns without a group. None if a column has so many states that pairs of columns are not counted.
    """
    if table.n_states.max() > FEW_STATES:
        return None
    groups = _labels(cutter, levels.main)
    seed = int(generator(random_state).integers(2**31))
    n_rows, n_resamples = _sizes(table, resamples)
    sample = table.subsample(n_rows, seed)

    def found_again(number: int) -> NDArray[np.bool_]:
        resampled = Table(sample.columns, sample.rows.resampled(seed, number))
        counted = pairwise(resampled, partial(information_above_chance, times=2))
        np.fill_diagonal(counted, 0)
        again = informational_correlation(counted)
        np.copyto(again, similarity, where=np.isnan(counted))
        del counted  # with thousands of columns, it is much memory
        cut = main_level_nearby(cutter.with_similarity(again), levels)
        return same_group(groups, nearest_group(_labels(cutter, cut), again, loadings))

    # Threads share the pairs of columns of one table instead where all pairs of several tables are much memory.
    in_turn = table.n_columns > _MANY_COLUMNS
    together = sum(found.astype(float) for found in map_ordered(found_again, range(n_resamples), in_turn=in_turn))
    return np.where(groups >= 0, together / n_resamples, np.nan)


def _sizes(table: Table, resamples: int) -> tuple[int, int]:
    """Return the number of rows to resample, and how often."""
    work_per_row = float(table.n_columns * table.n_states.max()) ** 2
    n_rows = int(np.clip(_MAX_WORK / (_MIN_RESAMPLES * work_per_row), _MIN_ROWS, _MAX_ROWS))
    n_rows = min(n_rows, table.n_rows)
    most = max(_MIN_RESAMPLES, int(_MAX_WORK / (n_rows * work_per_row)))
    return n_rows, min(resamples, most)


def _labels(cutter: TreeCutter, cut: IntArray) -> IntArray:
    """Return the number of each column's group; -1 for a column in a piece that has too few columns to be a group."""
    _, labels, sizes = np.unique(cut[cutter.home], return_inverse=True, return_counts=True)
    is_group = sizes >= MIN_COLUMNS
    numbers = np.where(is_group, np.cumsum(is_group) - 1, -1)
    return np.asarray(numbers[labels], dtype=np.intp)


def nearest_group(groups: IntArray, similarity: FloatArray, loadings: FloatArray) -> IntArray:
    """Return for each column in a group the number of the group whose factor it correlates with most.

    If column i and the factor of a group have the correlation ρ, then its correlation with column j of the group is
    ``R_ij = ρ λ_j``. So ρ is about ``Σ R_ij λ_j / Σ λ_j²`` over the other columns of the group.

    Parameters
    ----------
    groups : array of int, shape (d,)
        Number of the group of each column; -1 for a column that is in none, and stays so.
    similarity : array, shape (d, d)
        Correlations R, with zeros on the diagonal.
    loadings : array, shape (d,)
    """
    columns = np.flatnonzero(groups >= 0)
    if not len(columns):
        return groups
    member = np.zeros((len(groups), int(groups.max()) + 1))
    member[columns, groups[columns]] = loadings[columns]
    squares = np.repeat((member**2).sum(axis=0)[None], len(groups), axis=0) - member**2
    correlations = np.divide(similarity @ member, squares, out=np.zeros_like(squares), where=squares > _ROUNDING)
    correlations[columns, groups[columns]] += _ROUNDING
    return np.where(groups >= 0, correlations.argmax(axis=1), -1)


def same_group(groups: IntArray, others: IntArray) -> NDArray[np.bool_]:
    """Return for each column whether its group in one division is matched with its group in another one.

    Groups are matched one to one so that this holds for as many columns as possible. A column that is in no group in
    one of the two is not in the same group.
    """
    in_both = np.flatnonzero((groups >= 0) & (others >= 0))
    shared = np.zeros((int(groups.max(initial=-1)) + 1, int(others.max(initial=-1)) + 1))
    np.add.at(shared, (groups[in_both], others[in_both]), 1)
    matches = np.full(len(shared) + 1, -1, dtype=np.intp)  # the last entry is that of columns without a group
    one, other = linear_sum_assignment(shared, maximize=True)
    matches[one] = other
    return np.asarray((others >= 0) & (matches[groups] == others))
