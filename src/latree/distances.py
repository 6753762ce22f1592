"""How much every two columns depend on each other.

A measure is a function of joint distributions, whole stacks of them at once, so that it can be asked of the counts of a
table (:func:`pairwise`) as well as of the exact distributions of a model.
"""

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from latree.arrays import FloatArray
from latree.table import Table
from latree.tables import column_tables
from latree.tensor import nuclear_norms, singular_values

_CELLS_AT_ONCE = 2**22  # pair tables are made and measured so many cells at a time
_MOST_SINGULAR = 1e-6  # what a singular value of zero counts as at most, however few rows there are
ROUNDING = 1e-14  # what independent columns may seem to depend on each other by


class Pairs(NamedTuple):
    """Joint distributions of pairs of columns."""

    joint: FloatArray  # shape (..., n, n); columns with fewer states than n are padded with zeros
    total: FloatArray  # shape (...): rows, or their weight, that each was counted in; infinite for exact ones

    @property
    def product(self) -> FloatArray:
        """What the joint distributions would be if columns were independent."""
        return np.asarray(self.joint.sum(axis=-1, keepdims=True) * self.joint.sum(axis=-2, keepdims=True))


Measure: TypeAlias = Callable[[Pairs], FloatArray]


def nuclear(pairs: Pairs) -> FloatArray:
    """Measure how far columns are from depending on each other: ``-log ‖P_ij - p_i p_jᵀ‖_*``.

    The nuclear norm of the centred pair table is zero if and only if the columns are independent; then, or where two
    columns are never present together, the distance is infinite. It needs no number of hidden states.
    """
    norms = nuclear_norms(pairs.joint - pairs.product)
    norms[norms < ROUNDING] = 0
    with np.errstate(divide="ignore"):
        return -np.log(norms)


def frobenius(pairs: Pairs) -> FloatArray:
    """Measure the same by another norm: ``-log ‖P_ij - p_i p_jᵀ‖_F``, which the weak directions' noise troubles less.

    Where hidden variables have two states it adds up along the paths of a tree.
    """
    squares = ((pairs.joint - pairs.product) ** 2).sum(axis=(-2, -1))
    squares[squares < ROUNDING**2] = 0
    with np.errstate(divide="ignore"):
        return np.asarray(-0.5 * np.log(squares))


def information(pairs: Pairs) -> FloatArray:
    """Give mutual information in nats: ``Σ P_ij log(P_ij / (p_i p_j))``; 0 for columns never present together."""
    ratio = np.divide(pairs.joint, pairs.product, out=np.ones_like(pairs.joint), where=pairs.joint > 0)
    return np.asarray(np.maximum((pairs.joint * np.log(ratio)).sum(axis=(-2, -1)), 0))


def log_det(pairs: Pairs) -> FloatArray:
    """Measure Lake's distance: ``½ log det diag p_i - log |det P_ij| + ½ log det diag p_j``.

    It adds up along the paths of a tree whose hidden variables have as many states as the columns (k = n).

    It is computed as ``-Σ log σ_s`` of ``diag(p_i)^-½ P_ij diag(p_j)^-½``, whose singular values are at most one, the
    first of them always one. Where the paper has no answer: a singular value of zero, or below min(1/m², 1e-6) for m
    rows, counts as that, so that a singular table makes a large but finite distance. If columns have different numbers
    of states, or a state does not occur, a table has only r < n singular values; their mean logarithm stands for all,
    ``-(n-1)/(r-1) Σ log σ_s``, so that distances stay comparable. The distance is infinite only where a column is
    constant or two columns are never present together.
    """
    joint = pairs.joint
    first, second = joint.sum(axis=-1), joint.sum(axis=-2)
    scale = np.sqrt(first[..., :, None] * second[..., None, :])
    values = singular_values(np.divide(joint, scale, out=np.zeros_like(joint), where=joint > 0))
    size = np.minimum((first > 0).sum(axis=-1), (second > 0).sum(axis=-1))[..., None]
    least = np.clip(1 / np.maximum(pairs.total, 1) ** 2, ROUNDING, _MOST_SINGULAR)[..., None]
    counted = np.arange(values.shape[-1]) < size
    total = -np.log(np.clip(values, least, 1), out=np.zeros_like(values), where=counted).sum(axis=-1)
    others = size[..., 0] - 1
    distance = total * (joint.shape[-1] - 1) / np.maximum(others, 1)
    return np.where(others > 0, distance, np.inf) + 0.0  # no zero with a sign


def pairwise(table: Table, measure: Measure) -> FloatArray:
    """Measure all pairs of a table's columns.

    Parameters
    ----------
    table : Table
    measure : callable
        Such as :func:`nuclear`, :func:`information` or :func:`log_det`.

    Returns
    -------
    array, shape (d, d)
        Symmetric.
    """
    d, n = table.n_columns, int(table.n_states.max())
    step = max(1, _CELLS_AT_ONCE // (d * n * n))
    result = np.empty((d, d))
    for i in range(0, d, step):
        result[i : i + step] = measure(as_pairs(column_tables(table, i, min(i + step, d))))
    return np.where(np.tri(d, dtype=bool), result.T, result)  # rounding must not make it lopsided


def as_pairs(counts: NDArray[np.int64] | FloatArray) -> Pairs:
    """Turn counts, shape (..., n, n), into joint distributions; all zeros where nothing was counted."""
    total = counts.sum(axis=(-2, -1), keepdims=True)
    return Pairs(counts / np.where(total > 0, total, 1), total[..., 0, 0].astype(float))


def finite(distance: FloatArray) -> FloatArray:
    """Replace infinite distances by one that is farther than all others: by as much as those are from zero, or 1."""
    others = distance[np.isfinite(distance) & ~np.eye(len(distance), dtype=bool)]
    farthest = float(others.max(initial=0.0))
    extent = farthest - float(others.min(initial=0.0))
    known = np.where(np.isfinite(distance), distance, farthest + (extent or 1.0))
    np.fill_diagonal(known, np.where(np.isfinite(np.diag(distance)), np.diag(distance), 0.0))
    return known
