"""Short forms: the questions whose answers keep the scores of all groups best.

The score of a group uses the columns of the group alone (:mod:`latree.interpret.scores`). So a short form of n columns
is a short form of each group, and the numbers of their columns add up to n:

1. In each group, columns are chosen one after the other. The next one is that with which the score from the columns
   chosen so far has the highest correlation with the score from all columns. Then columns are exchanged: of the columns
   chosen and the next one, the one is left out that is missed least, as long as this makes the correlation higher.
2. For every n, the numbers of columns of the groups are those that make the mean correlation of all groups highest;
   found by dynamic programming.

What a choice is worth is measured on rows that had no part in it. Without each third of the rows, all probabilities are
estimated and as many columns of each group are chosen anew, and the third is scored. The tree stays, and so do the
numbers of columns. The columns that are returned are chosen on all rows.

The score from some columns is a part of the score from all of them, so that both have errors of the same answers in
common. Their correlation r says how well a short form stands for the full one *of the same sitting*. It would be lower
if both were answered separately. In classical test theory, the correlation of two measures of the same with independent
errors is ``sqrt(R_short R_full)``, where R are the reliabilities (Levy 1967; Smith, McCarthy and Anderson 2000).

P. Levy: *The correction for spurious correlation in the evaluation of short-form tests*, 1967. G. T. Smith, D. M.
McCarthy and K. G. Anderson: *On the sins of short-form development*, 2000. P. Pudil, J. Novovičová and J. Kittler:
*Floating search methods in feature selection*, 1994.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple, TypeAlias

import numpy as np

from latree._util.arrays import CodeArray, FloatArray
from latree._util.words import plural
from latree._util.workers import map_forked
from latree.errors import InputError
from latree.interpret.asking import EQUAL_WITHIN
from latree.interpret.scores import Scale, Scorer
from latree.interpret.worth import MIN_ROWS, Refits, folds
from latree.model import LatentTreeModel
from latree.model.fitting import Part
from latree.model.query import MAX_ROWS
from latree.table import Block, Table
from latree.table.rows import missing_code
from latree.table.table import row_weights

# Of many lengths, about so many are looked at, equally far apart.
_MAX_LENGTHS = 50
# A score whose variance is below this is the same in all rows, but for rounding.
_ROUNDING = 1e-12
_SEED = 0


class Kept(NamedTuple):
    """What some columns keep of the score of a group, in rows that had no part in choosing them.

    Attributes
    ----------
    correlation : float
        Of the score from these columns with the score from all columns, in the same answers.
    reliability : float
        Of the score from these columns.
    same_state : float
        The share of rows that have the same most probable state.
    """

    correlation: float
    reliability: float
    same_state: float


class ShortForm(NamedTuple):
    """The columns of a short form, by their numbers, and what it keeps of the score of each group."""

    columns: tuple[int, ...]
    kept: tuple[Kept, ...]


class ShortForms(NamedTuple):
    """Short forms of many lengths.

    Attributes
    ----------
    forms : dict
        By the number of columns, the shortest first.
    full : tuple of Kept
        The same figures for all columns.
    n_rows : int
        The rows that forms were chosen and judged on.
    """

    forms: dict[int, ShortForm]
    full: tuple[Kept, ...]
    n_rows: int


def short_forms(
    model: LatentTreeModel,
    table: Table,
    scales: Sequence[Scale],
    n_items: int | None = None,
    keep: Collection[int] = (),
    drop: Collection[int] = (),
) -> ShortForms:
    """Return the best short forms of all lengths, and what they keep of the scores of some groups.

    Parameters
    ----------
    model : LatentTreeModel
    table : Table
        Rows with the columns of the model; of more than 5000, a random sample is used.
    scales : sequence of Scale
        The groups whose scores matter.
    n_items : int, optional
        A length that must be among the forms.
    keep, drop : collection of int
        Columns that every form has, and columns that none has, by their numbers.
    """
    rows = table.units(MAX_ROWS, _SEED)
    rows = rows.take(np.flatnonzero(np.isfinite(model.log_likelihood_rows(rows))))
    if rows.n_rows < MIN_ROWS:
        raise InputError(f"{plural(rows.n_rows, 'row')}: at least {MIN_ROWS} are needed to choose and judge a form")
    limits = set(keep), set(drop)
    block = _block(rows)
    paths = map_forked(lambda scale: Choice(scale, block).path(*limits), scales)
    # Columns that say nothing about a score are in a form only because somebody wants them.
    others = tuple(sorted(set(keep).difference(*(scale.columns.tolist() for scale in scales))))
    sizes = {n + len(others): found for n, found in best_sizes(paths).items() if n + len(others)}
    sizes = {n: sizes[n] for n in _some_lengths(sorted(sizes), n_items)}
    refits, parts = Refits(model), folds(rows, np.random.default_rng(_SEED))
    # As in the measure of worth, the first fold decides where EM starts.
    tried = map_forked(lambda start: refits.fit(start, parts[0]), refits.starts)
    start = refits.starts[refits.chosen([fit.objective for fit in tried])]
    names = [scale.name for scale in scales]

    def judged(part: Part) -> FloatArray:
        """Return what forms that were chosen without the rows of a fold keep there; last, all columns."""
        scorer = Scorer.of_model(replace(model, tables=refits.fit(start, part).model.tables))
        scorer = replace(scorer, scales=tuple(scale for scale in scorer.scales if scale.name in names))
        fitted = _block(part.fitted)
        found = [Choice(scale, fitted).path(*limits) for scale in scorer.scales]
        forms = [_together(found, of_groups) for of_groups in sizes.values()]
        return _kept(scorer, _block(part.judged), [*(form + others for form in forms), range(len(model.columns))])

    weights = [part.judged.total_weight for part in parts]
    of_lengths = np.average(map_forked(judged, parts), axis=0, weights=weights)
    *kept, full = ([Kept(*figures) for figures in of_length.T.tolist()] for of_length in of_lengths)
    forms = {
        n: ShortForm(tuple(sorted(_together(paths, of_groups) + others)), tuple(found))
        for (n, of_groups), found in zip(sizes.items(), kept, strict=True)
    }
    return ShortForms(forms, tuple(full), rows.n_rows)


# The columns that were chosen and the correlation that they reach, for each number of columns.
Path: TypeAlias = dict[int, tuple[tuple[int, ...], float]]


def best_sizes(paths: Sequence[Path]) -> dict[int, tuple[int, ...]]:
    """Return the numbers of columns of the groups with the highest sum of correlations, for each sum of the numbers."""
    best: dict[int, tuple[float, tuple[int, ...]]] = {0: (0.0, ())}
    for path in paths:
        longer: dict[int, tuple[float, tuple[int, ...]]] = {}
        for n, (total, sizes) in best.items():
            for more, (_, value) in path.items():
                if n + more not in longer or total + value > longer[n + more][0] + EQUAL_WITHIN:
                    longer[n + more] = total + value, (*sizes, more)
        best = longer
    return {n: best[n][1] for n in sorted(best)}


def _together(paths: Sequence[Path], sizes: Sequence[int]) -> tuple[int, ...]:
    return tuple(column for path, size in zip(paths, sizes, strict=True) for column in path[size][0])


class Choice:
    """The choice of columns of one group, by the score that they give some rows."""

    def __init__(self, scale: Scale, block: Block) -> None:
        self.scale, self.codes, self.weights = scale, block.codes, row_weights(block)
        self.full = scale.moments(block.codes)[0]
        assert scale.network is not None
        tables = scale.network.tables
        # What is missed without one of these is known from the pass for all columns.
        self.plain = {int(scale.columns[leaf]) for leaf in scale.network.plain_leaves if tables[leaf].min() > 0}

    def correlation(self, columns: Collection[int]) -> float:
        """Return the correlation of the score from some columns with the score from all."""
        return self._with_full(self.scale.moments(only(self.codes, columns))[0])

    def path(self, keep: set[int], drop: set[int]) -> Path:
        """Return the columns that are chosen, for each number of columns."""
        own = set(self.scale.columns.tolist())
        kept, allowed = own & keep, own - drop
        chosen, value = kept, self.correlation(kept)
        path = {len(chosen): (tuple(sorted(chosen)), value)}
        while chosen != allowed:
            wider = chosen | {self._next(chosen, allowed - chosen)}
            # Of one column more, leave out the one that is missed least, as long as that is better than before.
            without = self._without_each(wider, wider - kept)
            missed_least = _highest(without)
            if without[missed_least] > value + EQUAL_WITHIN:
                chosen, value = wider - {missed_least}, without[missed_least]
            else:
                chosen, value = wider, self.correlation(wider)
            path[len(chosen)] = tuple(sorted(chosen)), value
        return path

    def _without_each(self, columns: set[int], candidates: set[int]) -> dict[int, float]:
        """Return the correlation of the score from some columns without each of the candidates."""
        found = {column: self.correlation(columns - {column}) for column in candidates - self.plain}
        for one in self.scale.if_answered(only(self.codes, columns), candidates & self.plain):
            found[one.column] = self._with_full(one.mean_before)
        return found

    def _next(self, chosen: Collection[int], candidates: Collection[int]) -> int:
        """Return the column that, with those that are chosen, gives the best score."""
        correlations = {}
        for one in self.scale.if_answered(only(self.codes, chosen), candidates):
            cells = self.codes[:, one.column]
            # Where the cell is missing, the score stays what it is.
            states = np.minimum(cells, one.mean.shape[1] - 1).astype(np.intp)
            answered = np.take_along_axis(one.mean, states[:, None], axis=1)[:, 0]
            scores = np.where(cells == missing_code(cells), one.mean_before, answered)
            correlations[one.column] = self._with_full(scores)
        return _highest(correlations)

    def _with_full(self, scores: FloatArray) -> float:
        return _correlation(scores, self.full, self.weights)


def only(codes: CodeArray, columns: Collection[int]) -> CodeArray:
    """Return the codes of some columns, with all others missing."""
    found, taken = np.full_like(codes, missing_code(codes)), list(columns)
    found[:, taken] = codes[:, taken]
    return found


def _highest(values: Mapping[int, float]) -> int:
    """Return the column with the highest value; of equal ones, the first."""
    best = max(values.values())
    return min(column for column, value in values.items() if value >= best - EQUAL_WITHIN)


def _some_lengths(lengths: list[int], n_items: int | None) -> list[int]:
    """Return not too many of the lengths, and the one that was asked for."""
    step = -(-len(lengths) // _MAX_LENGTHS)
    return [n for n in lengths if n % step == 0 or n in (lengths[0], lengths[-1], n_items)]


def _kept(scorer: Scorer, block: Block, forms: Sequence[Collection[int]]) -> FloatArray:
    """Return what forms keep of the scores of some rows: an array of shape (forms, fields of Kept, groups)."""
    weights = row_weights(block)
    full = scorer.rows_of(scorer.block(block))
    found = np.empty((len(forms), len(Kept._fields), len(scorer.scales)))
    for of_form, columns in zip(found, forms, strict=True):
        short = scorer.rows_of(scorer.block(block._replace(codes=only(block.codes, columns))))
        of_form[0] = [_correlation(*both, weights) for both in zip(short.scores.T, full.scores.T, strict=True)]
        of_form[1] = [_reliability(*both, weights) for both in zip(short.scores.T, short.errors.T, strict=True)]
        of_form[2] = weights @ (short.states == full.states) / weights.sum()
    return found


def _correlation(one: FloatArray, other: FloatArray, weights: FloatArray) -> float:
    """Return the correlation of two scores; 0 if one is the same in all rows, and so says nothing about the other."""
    (first, both), (_, second) = np.cov(one, other, aweights=weights, ddof=0)
    return float(both / np.sqrt(first * second)) if min(first, second) > _ROUNDING else 0.0


def _reliability(scores: FloatArray, errors: FloatArray, weights: FloatArray) -> float:
    """Return the share of the variance of what a group measures that is not uncertainty of the score."""
    variance = np.cov(scores, aweights=weights, ddof=0)
    whole = variance + np.average(errors**2, weights=weights)
    return float(variance / whole) if whole > _ROUNDING else 0.0


def _block(table: Table) -> Block:
    return table.rows.fetch(np.arange(table.n_rows))
