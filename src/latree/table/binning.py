"""How many bins a column of numbers has, chosen by the rows.

The density inside the bins describes the column by itself, whatever its bins are. What bins carry is the dependence on
other columns: too few of them blur it, and with too many each has too few rows to say what it depends on. So a column
has as many bins as predict its number best from a few other columns: its bins maximise

    sum over rows of  log P(bin | other column) - log P(bin),

where both probabilities are estimated without the row itself. This is what the other column adds to the log density of
the number, in units of the data, because the density inside the bin is in both terms and cancels.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from latree._util.arrays import CodeArray, FloatArray, IntArray
from latree.table.columns import Column
from latree.table.raw import weighted_counts
from latree.table.rows import Rows

# Numbers are first cut into so many bins, and neighbours are put together. More bins than these hardly pay: they would
# need more than 1000 rows in which a number is known to a thirtieth of its range.
FINE_BINS = 32
# The numbers of bins to choose from. Steps are about a fourth, because the optimum is flat.
_CHOICES = np.array([3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20, 24, FINE_BINS])
# The other column, and the hidden variable that stands for it in a model, has one of these numbers of states; the best
# of them counts.
_STATES = np.array([2, 3, 5, 8])
# Columns that a number is predicted from, one at a time: a hidden variable has several neighbours.
_PARTNERS = 3
# These are searched among so many columns, drawn at random from wide tables; a group of a hundredth of the columns is
# among them with near certainty.
_SEARCHED = 512
# They are found by bins as coarse as this.
_COARSE = 4
# A random sample of so many rows is looked at; more rows would choose the same, because the optimum is flat.
_MAX_ROWS = 4000
# A probability is estimated with half a row more in every bin (Jeffreys' prior).
_PRIOR = 0.5
# A larger number of bins must gain more than this, in nats over all rows: less is chance, and costs states.
_MIN_GAIN = 2.0
# Columns share one number of bins, so that columns that rise together have their cuts at the same rows: a column with
# 7 bins says little exactly about its copy with 8. A column has a number of its own if that gains more than this.
_OWN_GAIN = 10.0


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
    # Columns of more states than this say little about others in so few rows.
    able = [j for j, one in enumerate(coded) if len(one.counts) <= 2 * FINE_BINS]
    searched = np.sort(rng.choice(able, min(len(able), _SEARCHED), replace=False)).tolist()
    search = _Search.of(coded, searched, weights)
    gains = {
        j: _gains_of_choices(coded[j], [coded[k] for k in search.partners(j)], weights)
        for j, column in enumerate(columns)
        if column.cuts is not None
    }
    common = _first_best(np.sum(list(gains.values()), axis=0), _MIN_GAIN)
    chosen = {
        j: common if own.max() - own[common] <= _OWN_GAIN else _first_best(own, _MIN_GAIN) for j, own in gains.items()
    }
    return [int(_CHOICES[chosen[j]]) if j in chosen else column.n_states for j, column in enumerate(columns)]


def _first_best(gains: FloatArray, margin: float) -> int:
    """Return the first choice that is at most so much worse than the best one."""
    return int(np.flatnonzero(gains >= gains.max() - margin)[0])


def _coded(codes: CodeArray, column: Column, weights: FloatArray) -> _Coded:
    n_states = column.n_states
    known = np.minimum(codes, n_states).astype(np.intp)
    return _Coded(known, weighted_counts(known, weights, n_states + 1)[:n_states], column.ordered)


@dataclass(frozen=True)
class _Search:
    """Looks for the columns that say most about another one, all with coarse states.

    Attributes
    ----------
    coded : sequence of _Coded
        All columns.
    searched : list of int
        The numbers of the columns that are looked at.
    indicators : array of float
        For every row and every coarse state of these columns, the weight of the row if it has the state, or 0.
    starts : array of int
        Where the states of each of these columns begin.
    """

    coded: Sequence[_Coded]
    searched: list[int]
    indicators: NDArray[np.float32]
    starts: IntArray

    @classmethod
    def of(cls, coded: Sequence[_Coded], searched: list[int], weights: FloatArray) -> "_Search":
        """Prepare the columns to look at."""
        parts = [_indicators(coded[j]) for j in searched]
        starts = np.cumsum([0, *(part.shape[1] for part in parts[:-1])])
        return cls(coded, searched, np.concatenate(parts, axis=1) * weights.astype(np.float32)[:, None], starts)

    def partners(self, j: int) -> list[int]:
        """Return the columns that say most about a column."""
        counts = (_indicators(self.coded[j]).T @ self.indicators).astype(np.float64)
        gains = _gains(counts, np.zeros(1, dtype=np.intp), self.starts)[0]
        best = np.argsort(-gains, kind="stable").tolist()
        return [self.searched[place] for place in best if self.searched[place] != j][:_PARTNERS]


def _indicators(one: _Coded) -> NDArray[np.float32]:
    """Return which coarse state each row has; none where the cell is missing."""
    groups = _groups(one, _COARSE)
    states = np.eye(groups.max() + 2, groups.max() + 1, dtype=np.float32)
    return np.asarray(states[np.append(groups, groups.max() + 1)[one.codes]])


def _groups(one: _Coded, n: int) -> IntArray:
    """Return the group of each state if neighbours make up n groups of about equally many rows; names stay apart."""
    if not one.is_ordered or len(one.counts) <= n:
        return np.arange(len(one.counts))
    middle = (np.cumsum(one.counts) - one.counts / 2) / max(one.counts.sum(), 1)
    return np.unique(np.minimum((middle * n).astype(np.intp), n - 1), return_inverse=True)[1]


def _gains_of_choices(one: _Coded, partners: Sequence[_Coded], weights: FloatArray) -> FloatArray:
    """Return what the partners of a column say about it, on average, for each number of bins."""
    bins = [_groups(one, n) for n in _CHOICES.tolist()]
    gains = np.zeros(len(_CHOICES))
    for partner in partners:
        shape = (len(one.counts) + 1, len(partner.counts) + 1)  # with a state for missing cells
        cells = weighted_counts(one.codes * shape[1] + partner.codes, weights, shape[0] * shape[1])
        counts = cells.reshape(shape)[:-1, :-1]
        states = [_groups(partner, n) for n in (_STATES if partner.is_ordered else _STATES[:1]).tolist()]
        gathered, first = _gathered(counts, bins)
        gathered, first_states = _gathered(gathered.T, states)
        found = _gains(gathered.T, first, first_states)
        gains += found.max(axis=1) / len(partners)
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
