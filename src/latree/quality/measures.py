"""How two tables differ: distances of single columns, associations of pairs, a classifier, and nearest rows.

All are functions of arrays: cells are numbers or codes of texts, NaN where they are missing (:mod:`stacked`).
"""

from functools import partial
from typing import NamedTuple

import numpy as np
from scipy.stats import rankdata
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold
from sklearn.neighbors import NearestNeighbors
from threadpoolctl import threadpool_limits

from latree._util.arrays import FloatArray, IntArray
from latree._util.workers import map_ordered
from latree.quality.stacked import BoolArray, Stacked, distinct_codes

# Rarer texts of a column count as one, except for its own distance: a classifier takes at most 255 categories, and the
# association of rare texts is noise.
MAX_CATEGORIES = 20
FOLDS = 5


def column_distances(codes: IntArray, n_values: int, is_number: bool, is_drawn: BoolArray) -> float:
    """Return how far apart the distributions of one column in the two tables are, from 0 to 1, without missing cells.

    For numbers: Kolmogorov and Smirnov's distance, the largest difference of the distribution functions. For texts:
    the total variation, that is, the share of rows that would have to change. NaN if a table has no value.
    """
    here = codes >= 0
    counts = [np.bincount(codes[here & (is_drawn == drawn)], minlength=n_values) for drawn in (False, True)]
    if not n_values or not all(count.sum() for count in counts):
        return np.nan
    difference = counts[0] / counts[0].sum() - counts[1] / counts[1].sum()
    return float(np.abs(np.cumsum(difference)).max() if is_number else np.abs(difference).sum() / 2)


def with_common_texts(table: Stacked) -> Stacked:
    """Return a table in which rare texts of a column are one, so that each has at most MAX_CATEGORIES."""
    cells = table.cells.copy()
    for j in np.flatnonzero(~table.is_number):
        codes, n_values = distinct_codes(cells[:, j])
        counts = np.bincount(codes[codes >= 0], minlength=n_values)
        order = np.argsort(-counts, kind="stable")
        place = np.empty(n_values)
        place[order] = np.minimum(np.arange(n_values), MAX_CATEGORIES - 1)
        cells[codes >= 0, j] = place[codes[codes >= 0]]
    return Stacked(table.names, cells, table.is_number, table.is_drawn)


def associations(cells: FloatArray, is_number: BoolArray) -> FloatArray:
    """Return the association of every two columns of a table, over the rows that have both; NaN if undefined.

    Two columns of numbers: Spearman's rank correlation, from -1 to 1. Numbers and texts: the correlation ratio of the
    ranks, from 0 to 1, without its bias (Kelley's epsilon). Two columns of texts: Cramér's V, from 0 to 1, without its
    bias (Bergsma 2013). For two columns with two values each, all three are the same but for sign and bias.
    """
    n_rows, n_columns = cells.shape
    found = np.full((n_columns, n_columns), np.nan)
    numbers, texts = np.flatnonzero(is_number), np.flatnonzero(~is_number)
    here = ~np.isnan(cells)
    ranks = rankdata(cells[:, numbers], axis=0, nan_policy="omit") if len(numbers) else np.empty((n_rows, 0))
    # Centred, so that sums of squares lose no digits.
    ranks = np.where(here[:, numbers], ranks - (here[:, numbers].sum(axis=0) + 1) / 2, 0.0)
    has_number = here[:, numbers].astype(np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        found[np.ix_(numbers, numbers)] = _rank_correlations(ranks, has_number)
        if len(texts):
            shown, starts = _indicators(cells[:, texts])
            mixed = _correlation_ratios(ranks, has_number, shown, starts)
            found[np.ix_(numbers, texts)], found[np.ix_(texts, numbers)] = mixed, mixed.T
            found[np.ix_(texts, texts)] = _cramers_v(shown, starts)
    np.fill_diagonal(found, np.nan)
    return found


def _rank_correlations(ranks: FloatArray, here: FloatArray) -> FloatArray:
    """Return the correlations of ranks, which are 0 where a cell is missing."""
    n = here.T @ here
    sums, squares = ranks.T @ here, np.square(ranks).T @ here  # of the first column, over rows that have the second
    variance = squares - sums**2 / n
    found = (ranks.T @ ranks - sums * sums.T / n) / np.sqrt(variance * variance.T)
    return np.where(np.minimum(variance, variance.T) > 1e-9 * n, np.clip(found, -1, 1), np.nan)


def _indicators(cells: FloatArray) -> tuple[FloatArray, IntArray]:
    """Return one column of zeros and ones for each text of each column, and where those of each column start."""
    parts = []
    for column in cells.T:
        codes, n_values = distinct_codes(column)
        parts.append((codes[:, None] == np.arange(max(n_values, 1))).astype(np.float64))
    starts = np.cumsum([0, *(part.shape[1] for part in parts[:-1])])
    return np.concatenate(parts, axis=1), starts.astype(np.intp)


def _correlation_ratios(ranks: FloatArray, here: FloatArray, shown: FloatArray, starts: IntArray) -> FloatArray:
    """Return the correlation ratio of each column of ranks with each column of texts."""
    counts, sums, squares = here.T @ shown, ranks.T @ shown, np.square(ranks).T @ shown

    def added(values: FloatArray) -> FloatArray:
        return np.add.reduceat(values, starts, axis=1)

    n, groups = added(counts), added((counts > 0).astype(np.float64))
    mean_square = added(sums) ** 2 / n
    total = added(squares) - mean_square
    within = 1 - (added(np.where(counts > 0, sums**2 / np.maximum(counts, 1), 0.0)) - mean_square) / total
    unbiased = 1 - within * (n - 1) / (n - groups)
    is_defined = (total > 1e-9 * n) & (groups > 1) & (n > groups)
    return np.where(is_defined, np.sqrt(np.maximum(unbiased, 0.0)), np.nan)


def _cramers_v(shown: FloatArray, starts: IntArray) -> FloatArray:
    """Return Cramér's V of all pairs of columns of texts."""
    here = np.add.reduceat(shown, starts, axis=1)
    counts = shown.T @ shown
    margins = shown.T @ here  # rows with a text that have a value of the other column
    sizes = np.diff([*starts, shown.shape[1]])
    expected = np.repeat(margins, sizes, axis=1) * np.repeat(margins, sizes, axis=1).T  # times the number of rows

    def added(values: FloatArray) -> FloatArray:
        return np.add.reduceat(np.add.reduceat(values, starts, axis=0), starts, axis=1)

    n = here.T @ here
    groups = np.add.reduceat((margins > 0).astype(np.float64), starts, axis=0)  # of the first column, beside the second
    phi = added(np.where(expected > 0, counts**2 / np.maximum(expected, 1), 0.0)) - 1
    unbiased = np.maximum(phi - (groups - 1) * (groups.T - 1) / (n - 1), 0.0)
    shrunk = groups - (groups - 1) ** 2 / (n - 1)
    most = np.minimum(shrunk, shrunk.T) - 1
    is_defined = (np.minimum(groups, groups.T) > 1) & (most > 0)
    return np.where(is_defined, np.minimum(np.sqrt(unbiased / most), 1.0), np.nan)


def classifier_auc(table: Stacked, seed: int) -> FloatArray:
    """Return the area under the ROC curve of a classifier of real and drawn rows, on each of the rows it did not see.

    The classifier is gradient boosting with trees, as scikit-learn sets it: it takes missing cells and texts as they
    are, and needs no scaling, so that nothing has to be chosen for a table. Each fold is predicted from the others.
    """
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=seed).split(table.cells, table.is_drawn)
    return np.array(list(map_ordered(partial(_area, table, seed), folds)))


def _area(table: Stacked, seed: int, fold: tuple[IntArray, IntArray]) -> float:
    train, test = fold
    model = HistGradientBoostingClassifier(categorical_features=~table.is_number, random_state=seed)
    # Folds use the cores. Boosting's own threads wait for each other after every node, on a busy machine for long.
    with threadpool_limits(1, user_api="openmp"):
        model.fit(table.cells[train], table.is_drawn[train])
        return float(roc_auc_score(table.is_drawn[test], model.predict_proba(table.cells[test])[:, 1]))


class Nearness(NamedTuple):
    """How near rows come to real ones.

    Attributes
    ----------
    drawn : array of float
        The distance of each drawn row to the nearest real row.
    real : array of float
        The distance of each real row to the nearest other real row.
    """

    drawn: FloatArray
    real: FloatArray

    @property
    def closer(self) -> float:
        """The probability that a drawn row is nearer than a real one; where both are as near, one half."""
        ranks = rankdata(np.concatenate([self.real, self.drawn]))[: len(self.real)]
        wins = ranks.sum() - len(self.real) * (len(self.real) + 1) / 2
        return float(wins / (len(self.real) * len(self.drawn)))


def nearness(table: Stacked) -> Nearness:
    """Return the distances of drawn and of real rows to the nearest (other) real row.

    The distance of two rows is the mean over the columns. Numbers differ by the share of real rows between them, texts
    by 0 or 1; a missing cell differs from one that is not by at least one half.
    """
    parts = []
    for cells, is_number in zip(table.cells.T, table.is_number, strict=True):
        missing = np.isnan(cells)
        if is_number:
            place = _places(cells, cells[~table.is_drawn & ~missing])
            parts.append(np.column_stack([np.where(missing, 0.5, place), missing * 0.5]))
        else:
            codes, n_values = distinct_codes(cells)
            parts.append((codes[:, None] == np.arange(-1, n_values)) * 0.5)
    space = np.concatenate(parts, axis=1).astype(np.float32)
    real = space[~table.is_drawn]
    search = NearestNeighbors(metric="manhattan").fit(real)
    n_columns = len(table.names)
    to_real = search.kneighbors(space[table.is_drawn], 1)[0][:, 0] / n_columns
    among_real = search.kneighbors(n_neighbors=1)[0][:, 0] / n_columns  # without the row itself
    return Nearness(to_real, among_real)


def _places(cells: FloatArray, real: FloatArray) -> FloatArray:
    """Return the place of numbers among real ones, from 0 for the lowest to 1 for the highest."""
    values, counts = np.unique(real, return_counts=True)
    if len(values) < 2:
        return np.where(np.isin(cells, values), 0.5, 1.0)
    middle = np.cumsum(counts) - counts / 2
    places: FloatArray = np.interp(cells, values, (middle - middle[0]) / (middle[-1] - middle[0]))
    return places


def share_of_copies(table: Stacked) -> tuple[float, float]:
    """Return the share of drawn rows that equal a real row, and that of real rows that equal another real row."""
    codes = np.column_stack([distinct_codes(column)[0] for column in table.cells.T])
    _, rows = np.unique(codes, axis=0, return_inverse=True)
    rows = rows.ravel()
    in_real = np.bincount(rows[~table.is_drawn], minlength=rows.max() + 1)
    return float((in_real[rows[table.is_drawn]] > 0).mean()), float((in_real[rows[~table.is_drawn]] > 1).mean())
