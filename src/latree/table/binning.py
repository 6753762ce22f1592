"""How many bins a column of numbers has, chosen by the rows.

The density inside the bins describes the column by itself, whatever its bins are. What bins carry is the dependence on
other columns: too few of them blur it, and with too many each has too few rows to say what it depends on. So a column
has as many bins as predict its number best from a few other columns: its bins maximise

    sum over rows of  log P(bin | other column) - log P(bin),

where both probabilities are estimated without the row itself. This is what the other column adds to the log density of
the number, in units of the data, because the density inside the bin is in both terms and cancels.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from latree._util.arrays import CodeArray, FloatArray, IntArray
from latree._util.workers import one_blas_thread
from latree.table.columns import Column
from latree.table.cuts import SPIKE
from latree.table.raw import weighted_counts
from latree.table.rows import Rows

# Numbers are first cut into so many bins, and neighbours are put together. More bins than these hardly pay: they would
# need more than 1000 rows in which a number is known to a thirtieth of its range.
FINE_BINS = 32
# The numbers of bins to choose from. Steps are about a fourth, because the optimum is flat.
_CHOICES = np.array([3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20, 24, FINE_BINS])
# The other column, like the hidden variable that stands for it in a model, has one of these numbers of states: the one
# that says most, on average over the numbers of bins.
_STATES = np.array([2, 3, 5, 8])
# Columns that a number is predicted from, one at a time: a hidden variable has several neighbours.
_PARTNERS = 3
# These are searched among so many columns, drawn at random from wide tables; a group of a hundredth of the columns is
# among them with near certainty.
_SEARCHED = 512
# They are found by bins as coarse as this, for so many columns at a time.
_COARSE, _AT_ONCE = 4, 64
# Most categories without an order of a column that is searched.
_MOST_NAMES = 16
# A random sample of so many rows is looked at; more rows would choose the same, because the optimum is flat.
_MAX_ROWS = 4000
# A probability is estimated with half a row more in every bin (Jeffreys' prior).
_PRIOR = 0.5
# Bins have so many rows on average: with fewer, their probabilities in states are mostly chance.
MIN_ROWS_PER_BIN = 10
# A larger number of bins must gain more than this for a column, in nats over all rows: less is chance.
_MIN_GAIN = 2.0
# Columns share one number of bins, so that columns that rise together have their cuts at the same rows: a column with
# 7 bins says little exactly about its copy with 8. A column has a number of its own if that gains more than this; by
# chance, the best of all numbers gained up to 24 in columns of breast cancer and stocks, where it did harm. In a dozen
# other frames it decided as three standard errors of the gain would; two of them let chance in.
_OWN_GAIN = 30.0


class _Coded(NamedTuple):
    """A column in some rows: the codes, with the number of states where a cell is missing, and the rows per state."""

    codes: IntArray
    counts: FloatArray
    is_ordered: bool


def choose_bins(columns: Sequence[Column], rows: Rows) -> list[int]:
    """Return the number of bins of each column.

    Parameters
    ----------
    columns : sequence of Column
        Those with bins have fine ones.
    rows : Rows
        Rows of their codes. A random sample of them is looked at, which is the same wherever they are.
    """
    rng = np.random.default_rng(0)
    n_rows = min(rows.n_rows, _MAX_ROWS)
    block = rows.fetch(np.sort(rng.choice(rows.n_rows, n_rows, replace=False)))
    weights = np.ones(n_rows) if block.weights is None else block.weights
    coded = [_coded(block.codes[:, j], column, weights) for j, column in enumerate(columns)]
    # Names of more kinds say little about others in so few rows.
    able = [j for j, one in enumerate(coded) if one.is_ordered or len(one.counts) <= _MOST_NAMES]
    searched = np.sort(rng.choice(able, min(len(able), _SEARCHED), replace=False)).tolist()
    wanted = [j for j, column in enumerate(columns) if column.cuts is not None]
    partners = _partners(coded, wanted, searched, weights)
    gains = {j: _gains_of_choices(coded[j], [coded[k] for k in partners[j]], weights) for j in wanted}
    # Of too many bins, some would have too few rows.
    n_choices = max(int(np.count_nonzero(weights.sum() >= _CHOICES * MIN_ROWS_PER_BIN)), 1)
    gains = {j: own[:n_choices] for j, own in gains.items()}
    # What is chance in one column averages out over several.
    common = _first_best(np.mean(list(gains.values()), axis=0), _MIN_GAIN / np.sqrt(len(gains)))
    chosen = {
        j: common if own.max() - own[common] <= _OWN_GAIN else _first_best(own, _MIN_GAIN) for j, own in gains.items()
    }
    return [int(_CHOICES[chosen[j]]) if j in chosen else column.n_states for j, column in enumerate(columns)]


def _first_best(gains: FloatArray, margin: float) -> int:
    """Return the smallest choice that is at most so much worse than the best one."""
    return int(np.flatnonzero(gains >= gains.max() - margin)[0])


def _coded(codes: CodeArray, column: Column, weights: FloatArray) -> _Coded:
    n_states = column.n_states
    known = np.minimum(codes, n_states).astype(np.intp)
    return _Coded(known, weighted_counts(known, weights, n_states + 1)[:n_states], column.ordered)


def _partners(
    coded: Sequence[_Coded], wanted: Sequence[int], searched: Sequence[int], weights: FloatArray
) -> dict[int, list[int]]:
    """Return for each wanted column those of the searched ones that say most about it, all with coarse states."""
    parts = [_indicators(coded[j]) for j in searched]
    starts = np.cumsum([0, *(part.shape[1] for part in parts[:-1])])
    others = np.concatenate(parts, axis=1) * weights.astype(np.float32)[:, None]
    found = {}
    for start in range(0, len(wanted), _AT_ONCE):
        some = wanted[start : start + _AT_ONCE]
        own = [_indicators(coded[j]) for j in some]
        first = np.cumsum([0, *(part.shape[1] for part in own[:-1])])
        with one_blas_thread():
            counts = np.concatenate(own, axis=1).T @ others
        for j, gains in zip(some, _gains(counts.astype(np.float64), first, starts), strict=True):
            best = [searched[place] for place in np.argsort(-gains, kind="stable").tolist()]
            found[j] = [k for k in best if k != j][:_PARTNERS]
    return found


def _indicators(one: _Coded) -> NDArray[np.float32]:
    """Return which coarse state each row has; none where the cell is missing."""
    groups = _groups(one, _COARSE)
    states = np.eye(groups.max() + 2, groups.max() + 1, dtype=np.float32)
    return np.asarray(states[np.append(groups, groups.max() + 1)[one.codes]])


def _groups(one: _Coded, n: int) -> IntArray:
    """Return the group of each state if neighbours make up n groups of about equally many rows; names stay apart."""
    if not one.is_ordered or len(one.counts) <= n:
        return np.arange(len(one.counts))
    return np.unique(_place(one.counts, n), return_inverse=True)[1]


def _bins(one: _Coded, n: int) -> IntArray:
    """Return the bin of each fine bin if there are n: spikes are bins of their own, and the others are grouped."""
    is_spike = one.counts >= SPIKE * one.counts.sum()
    n_others = n - int(np.count_nonzero(is_spike))
    if n_others <= 0:
        return _groups(one, n)
    place = _place(np.where(is_spike, 0, one.counts), n_others)
    changes = (np.diff(place) > 0) | is_spike[1:] | is_spike[:-1]
    return np.concatenate([[0], np.cumsum(changes)]).astype(np.intp)


def _place(counts: FloatArray, n: int) -> IntArray:
    """Return in which of n equal parts of all rows the middle row of each state is."""
    middle = (np.cumsum(counts) - counts / 2) / max(counts.sum(), 1)
    return np.asarray(np.minimum((middle * n).astype(np.intp), n - 1))


def _gains_of_choices(one: _Coded, partners: Sequence[_Coded], weights: FloatArray) -> FloatArray:
    """Return what the partners of a column say about it, on average, for each number of bins."""
    bins = [_bins(one, n) for n in _CHOICES.tolist()]
    gains = np.zeros(len(_CHOICES))
    for partner in partners:
        shape = (len(one.counts) + 1, len(partner.counts) + 1)  # with a state for missing cells
        cells = weighted_counts(one.codes * shape[1] + partner.codes, weights, shape[0] * shape[1])
        counts = cells.reshape(shape)[:-1, :-1]
        states = [_groups(partner, n) for n in (_STATES if partner.is_ordered else _STATES[:1]).tolist()]
        gathered, first = _gathered(counts, bins)
        gathered, first_states = _gathered(gathered.T, states)
        found = _gains(gathered.T, first, first_states)
        gains += found[:, int(found.sum(axis=0).argmax())] / len(partners)
    return gains


def _gathered(counts: FloatArray, groupings: Sequence[IntArray]) -> tuple[FloatArray, IntArray]:
    """Return the sums of rows of a table by several groupings of them, one below the other, and where each begins."""
    sizes = [int(groups.max()) + 1 for groups in groupings]
    starts = np.cumsum([0, *sizes])
    sums = np.zeros((starts[-1], counts.shape[0]))
    for start, groups in zip(starts.tolist(), groupings, strict=False):
        sums[start + groups, np.arange(len(groups))] = 1
    return sums @ counts, starts[:-1]


def _gains(counts: FloatArray, first: IntArray, first_other: IntArray) -> FloatArray:
    """Return what columns say about another one: the gain in log probability over all rows, each row left out.

    Parameters
    ----------
    counts : array of float
        Rows with each state of a column and each state of another one, for several ways to divide both into states.
    first : array of int
        Where the states of each way begin; ``first_other`` for the other column.

    Returns
    -------
    array of float
        One row per way to divide the column, one column per way to divide the other one.
    """
    n_states = np.diff(first, append=len(counts))
    cells = counts * np.log(np.maximum(counts - 1, 0) + _PRIOR)
    joint = np.add.reduceat(np.add.reduceat(cells, first, axis=0), first_other, axis=1)
    # Row totals differ between other columns with missing cells, and so do column totals between ways.
    by_state = np.add.reduceat(counts, first_other, axis=1)
    own = np.add.reduceat(by_state * np.log(np.maximum(by_state - 1, 0) + _PRIOR), first, axis=0)
    by_other = np.add.reduceat(counts, first, axis=0)
    prior = _PRIOR * n_states[:, None]
    other = np.add.reduceat(by_other * np.log(np.maximum(by_other - 1, 0) + prior), first_other, axis=1)
    total = np.add.reduceat(by_other, first_other, axis=1)
    every = total * np.log(np.maximum(total - 1, 0) + prior)
    # Σ n_bs [log P(b | s) - log P(b)], where P(b | s) = (n_bs - 1 + a) / (n_s - 1 + a m) and so on.
    return np.asarray(joint - other - own + every)
