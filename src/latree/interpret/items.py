"""Items: what each column adds to the score of its group, as questionnaires are commonly looked at.

Beside what the model says of a column (loading, stability, redundancy), there are the classical figures of item
analysis. They need no model, but for the directions: columns that fall when their group rises are reversed.
With the covariances c of the columns of a group, each over the rows that have both cells:

- The item-rest correlation of column i is that with the sum of all others, ``Σ_j c_ij / sqrt(c_ii Σ_jk c_jk)`` for j
  and k other than i. It is also called corrected item-total correlation, and ``r.drop`` in R's psych.
- Alpha without the column is Cronbach's alpha of all others, ``alpha.drop`` there.
"""

from collections.abc import Iterator
from functools import partial
from typing import NamedTuple

import numpy as np

from latree._util.arrays import FloatArray
from latree.interpret.columns import RedundantPair, redundant_columns
from latree.interpret.reliability import alpha_of, covariances_of, explained_share, pair_sums
from latree.interpret.scores import Scale, Scorer
from latree.interpret.view import GroupColumn, view_of
from latree.model import Group, LatentTreeModel
from latree.model.query import MAX_ROWS
from latree.table import Block, Table
from latree.table.rows import missing_code
from latree.table.table import row_weights, signed_codes

_SEED = 0


class Item(NamedTuple):
    """What a column adds to the score of its group.

    Attributes
    ----------
    column : str
    description : str
    group : str or None
        Its main group; None if it is in none.
    loading : float or None
        On the hidden variable of the group.
    direction : int
        -1 if it falls when the group rises.
    item_rest : float or None
        Its correlation with the sum of the other columns of the group, reversed ones turned round.
    alpha_without, reliability_without : float or None
        Cronbach's alpha of the other columns, and the reliability of the score from them.
    redundant_with : str or None
        The column that it shares most with beyond what the group has in common, if that is much.
    residual : float or None
        The correlation of the two beyond the group.
    stability : float or None
        How often the column is in this group in parts of the rows.
    elsewhere, elsewhere_share : str or None, float or None
        The other group that it is most often in, and how often.
    missing : float
        The share of missing cells.
    floor, ceiling : float or None
        The shares of answers at the lowest and at the highest value; None for columns without an order or with bins.
    """

    column: str
    description: str
    group: str | None
    loading: float | None
    direction: int
    item_rest: float | None
    alpha_without: float | None
    reliability_without: float | None
    redundant_with: str | None
    residual: float | None
    stability: float | None
    elsewhere: str | None
    elsewhere_share: float | None
    missing: float
    floor: float | None
    ceiling: float | None


class ItemGroup(NamedTuple):
    """A main group, its reliability and alpha, and its columns, those with the strongest loadings first."""

    name: str
    reliability: float | None
    alpha: float | None
    items: tuple[Item, ...]


def item_groups(model: LatentTreeModel, table: Table) -> list[ItemGroup]:
    """Return what each column adds to the score of its group; last, a group without a name, of all other columns.

    Parameters
    ----------
    model : LatentTreeModel
        With its groups.
    table : Table
        Rows with the columns of the model; of more than 5000, a random sample is used.
    """
    rows = table.subsample(MAX_ROWS, _SEED)
    scales = {scale.name: scale for scale in Scorer.of_model(model).scales}
    shares = _shares(model, rows)
    partners = _partners(redundant_columns(model, rows))
    view, found = view_of(model), []
    number = {name: place for place, name in enumerate(model.tree.names)}

    def item(group: Group | None, column: GroupColumn, figures: _Figures) -> Item:
        partner, residual = partners.get(column.name, (None, None))
        elsewhere, share = column.elsewhere or (None, None)
        place = number[column.name]
        return Item(
            column.name,
            model.columns[place].description,
            None if group is None else group.name,
            column.loading,
            column.direction,
            *figures,
            partner,
            residual,
            column.stability,
            elsewhere,
            share,
            *shares[place],
        )

    for group, columns in zip(model.groups, view.group_columns, strict=True):
        if group.level != "main":
            continue
        whole, without = _of_scale(scales[group.name], rows) if group.name in scales else (_NO_FIGURES, {})
        items = [item(group, column, without.get(number[column.name], _NO_FIGURES)) for column in columns]
        found.append(ItemGroup(group.name, whole.reliability, whole.alpha, tuple(items)))
    grouped = {one.column for group in found for one in group.items}
    alone = [GroupColumn(name, None, None) for name in model.tree.names if name not in grouped]
    if alone:
        found.append(ItemGroup("", None, None, tuple(item(None, column, _NO_FIGURES) for column in alone)))
    return found


class _Figures(NamedTuple):
    """The item-rest correlation of a column; alpha and reliability, of a group or without the column."""

    item_rest: float | None
    alpha: float | None
    reliability: float | None


_NO_FIGURES = _Figures(None, None, None)


def _of_scale(scale: Scale, rows: Table) -> tuple[_Figures, dict[int, _Figures]]:
    """Return alpha and reliability of a group, and the same without each of its columns."""
    moments, pairs = rows.sum(partial(_scale_sums, scale))
    covariances = covariances_of(*pairs)
    found = {}
    for place, column in enumerate(scale.columns.tolist()):
        item_rest = alpha = None
        if covariances is not None:
            others = np.delete(np.delete(covariances, place, 0), place, 1)
            product = float(covariances[place, place] * others.sum())
            shared = float(np.delete(covariances[place], place).sum())
            item_rest, alpha = shared / np.sqrt(product) if product > 0 else None, alpha_of(others)
        found[column] = _Figures(item_rest, alpha, explained_share(*moments[place]))
    return _Figures(None, alpha_of(covariances), explained_share(*moments[-1])), found


def _scale_sums(scale: Scale, block: Block) -> tuple[FloatArray, FloatArray]:
    """Return sums of the score without each column, and with all of them last; and the sums of pairs of columns."""
    weights = row_weights(block)
    moments = [_score_sums(*scale.moments(codes), weights) for codes in _without_each(scale, block)]
    return np.array(moments), pair_sums(scale, signed_codes(block.codes).astype(np.float64), weights)


def _without_each(scale: Scale, block: Block) -> Iterator[FloatArray]:
    for column in scale.columns.tolist():
        codes = block.codes.copy()
        codes[:, column] = missing_code(codes)
        yield codes
    yield block.codes


def _score_sums(scores: FloatArray, variances: FloatArray, weights: FloatArray) -> tuple[float, ...]:
    """Return the weight of the rows that are possible, and sums of the score, its square and its variance."""
    possible = np.where(np.isfinite(scores), weights, 0.0)
    scores, variances = np.nan_to_num(scores), np.nan_to_num(variances)
    return float(possible.sum()), float(possible @ scores), float(possible @ scores**2), float(possible @ variances)


def _shares(model: LatentTreeModel, rows: Table) -> list[tuple[float, float | None, float | None]]:
    """Return for each column the share of missing cells, and the shares of the lowest and of the highest value."""
    counts = rows.sum(partial(_counts, int(model.n_states.max())))
    found: list[tuple[float, float | None, float | None]] = []
    for column, of_column in zip(model.columns, np.asarray(counts), strict=True):
        n_present = of_column[1:].sum()
        missing = float(of_column[0] / max(of_column.sum(), np.finfo(float).tiny))
        if not column.ordered or column.cuts is not None or not n_present:
            found.append((missing, None, None))
        else:
            floor, ceiling = (float(of_column[code] / n_present) for code in (1, column.n_states))
            found.append((missing, floor, ceiling))
    return found


def _counts(n_states: int, block: Block) -> FloatArray:
    """Return the weight of the rows with each code, one row per column; that of missing cells first."""
    weights = row_weights(block)
    codes = signed_codes(block.codes) + 1
    return np.array([np.bincount(column, weights, n_states + 1) for column in codes.T])


def _partners(pairs: list[RedundantPair]) -> dict[str, tuple[str, float]]:
    """Return for each column of a redundant pair the other one, and the strength; of several pairs, the strongest."""
    found: dict[str, tuple[str, float]] = {}
    for pair in pairs:  # the strongest first
        for one, other in (pair.columns, pair.columns[::-1]):
            found.setdefault(one, (other, pair.strength))
    return found
