"""How reliable the score of a group is: the share of its variance that is not uncertainty, and Cronbach's alpha."""

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from latree._util.arrays import FloatArray
from latree._util.words import plural
from latree.interpret.scores import Scale, Scorer
from latree.interpret.worth import MIN_ROWS
from latree.model import LatentTreeModel
from latree.table import Block
from latree.table.table import signed_codes

# What to know before the two figures are compared.
CAVEAT = (
    "The reliability is right as far as the model is, and counts what only some columns of a group share. Cronbach's "
    "alpha needs no model and counts what all of them share, so it is usually smaller."
)

# Alpha needs more than one column.
_MIN_COLUMNS = 2


@dataclass(frozen=True)
class Reliability:
    """How reliable the score of a group is.

    Attributes
    ----------
    name : str
        The group.
    n_columns : int
        The number of its columns.
    reliability : float or None
        The share of the score's variance that is not uncertainty, from 0 to 1; None if the score is the same in all
        rows and certain.
    alpha : float or None
        Cronbach's alpha of the group's columns; None unless all of them are ordered, or if no row has two of them.

    Examples
    --------
    >>> import latree
    >>> from latree.interpret.reliability import reliability
    >>> tree = latree.Tree.from_newick("((a,b,c),(d,e,f));")
    >>> model = latree.random_model(tree, n_states=2, hidden_states=2, start="identity", random_state=5)
    >>> first, second = reliability(model, model.sample(1000, random_state=0))
    >>> first.name, round(first.reliability, 2), round(first.alpha, 2)
    ('b, a +1', 0.66, 0.61)
    """

    name: str
    n_columns: int
    reliability: float | None
    alpha: float | None


def reliability(model: LatentTreeModel, data: Any) -> list[Reliability]:
    """Return how reliable the scores of the main groups are on some rows.

    The reliability of a score is the share of its variance that is not uncertainty. By the law of total variance, the
    variance of what a group measures is the variance of the scores plus the mean of their squared standard errors:

        ``reliability = Var(score) / (Var(score) + mean(error²))``

    Cronbach's alpha is the usual figure for the sum of the columns. It takes no model, and counts as noise whatever
    some columns of the group share beyond what all of them share. So it is usually smaller than the reliability, which
    is right only as far as the model is:

        ``alpha = k / (k - 1) (1 - Σ_i c_ii / Σ_ij c_ij)``

    where k is the number of columns and c their covariances, each over the rows in which both cells are present. A
    column stands for its code, 0, 1, ... from its lowest value or bin on; columns that fall when the score rises are
    reversed.

    Parameters
    ----------
    model : LatentTreeModel
    data : data frame, array, path or Table
        Rows with the model's columns, such as those of the fit; weights of a Table count.

    Returns
    -------
    list of Reliability
        In the order of the groups; see :func:`row_scores` for which groups have a score.

    References
    ----------
    L. J. Cronbach: *Coefficient alpha and the internal structure of tests*, 1951. B. F. Green and others: *Technical
    guidelines for assessing computerized adaptive tests*, 1984.

    Examples
    --------
    >>> import latree
    >>> from latree.interpret.reliability import reliability
    >>> tree = latree.Tree.from_newick("((a,b,c),(d,e,f));")
    >>> model = latree.random_model(tree, n_states=2, hidden_states=2, start="identity", random_state=5)
    >>> [round(one.reliability, 2) for one in reliability(model, model.sample(1000, random_state=0))]
    [0.66, 0.61]
    """
    scorer = Scorer.of_model(model)
    return finish(scorer, model.encode(data).sum(partial(reliability_sums, scorer)))


def few_rows(n_rows: int) -> list[str]:
    """Return a warning if there are too few rows for a reliability."""
    if n_rows >= MIN_ROWS:  # with fewer, the worth of a model is not measured either
        return []
    return [
        f"The reliability of {plural(n_rows, 'row')} is mostly chance. Use that of the fit, in the summary, or at "
        f"least {MIN_ROWS} rows."
    ]


def reliability_sums(scorer: Scorer, block: Block, lines: FloatArray | None = None) -> tuple[FloatArray, ...]:
    """Return the sums over a block from which reliabilities are computed.

    ``lines`` are what :meth:`Scorer.block` returned for the block, if that is known already.
    """
    lines = scorer.block(block) if lines is None else lines
    weights = np.ones(len(block.codes)) if block.weights is None else block.weights
    possible = np.where(np.isfinite(lines[:, 0]), weights, 0.0)
    scores, errors = (np.nan_to_num(part) for part in np.split(lines[:, 1:], 4, axis=1)[:2])
    # The weight of the rows, and sums of the scores, of their squares and of the squared errors.
    weight = np.full(len(scorer.scales), possible.sum())
    moments = np.stack([weight, possible @ scores, possible @ scores**2, possible @ errors**2])
    codes = signed_codes(block.codes).astype(np.float64)
    return (moments, *(pair_sums(scale, codes, weights) for scale in scorer.scales))


def finish(scorer: Scorer, sums: Any) -> list[Reliability]:
    """Return the reliabilities for the sums over all rows; see :func:`reliability_sums`."""
    moments, *pairs = sums
    return [
        Reliability(
            scale.name,
            len(scale.columns),
            explained_share(*moments[:, number]),
            alpha_of(covariances_of(*pairs[number])),
        )
        for number, scale in enumerate(scorer.scales)
    ]


def pair_sums(scale: Scale, codes: FloatArray, weights: FloatArray) -> FloatArray:
    """Return for each two columns, over rows with both cells: the weight, and sums of one and of their product."""
    if not _has_alpha(scale):
        return np.empty((3, 0, 0))
    cells = codes[:, scale.columns]
    present = (cells >= 0).astype(np.float64)
    signed = np.where(cells >= 0, cells, 0.0) * scale.directions
    weighted = signed * weights[:, None]
    return np.stack([(present * weights[:, None]).T @ present, weighted.T @ present, weighted.T @ signed])


def _has_alpha(scale: Scale) -> bool:
    return len(scale.columns) >= _MIN_COLUMNS and bool(np.all(scale.directions))


def explained_share(weight: float, total: float, squares: float, uncertainty: float) -> float | None:
    """Return the share of the variance that is not uncertainty, from sums over rows."""
    if weight <= 0:
        return None
    variance = max(squares / weight - (total / weight) ** 2, 0.0)
    whole = variance + uncertainty / weight
    return float(variance / whole) if whole > 0 else None


def covariances_of(weight: FloatArray, sums: FloatArray, products: FloatArray) -> FloatArray | None:
    """Return the covariances of columns from :func:`pair_sums`, each over the rows with both; None if undefined."""
    if len(weight) < _MIN_COLUMNS or not np.all(weight > 0):
        return None
    # E[x_i x_j] - E[x_i] E[x_j]
    return np.asarray(products / weight - (sums / weight) * (sums / weight).T)


def alpha_of(covariances: FloatArray | None) -> float | None:
    """Return Cronbach's alpha; None where it is not defined."""
    if covariances is None or (k := len(covariances)) < _MIN_COLUMNS:
        return None
    whole = float(covariances.sum())
    return float(k / (k - 1) * (1 - np.trace(covariances) / whole)) if whole > 0 else None
