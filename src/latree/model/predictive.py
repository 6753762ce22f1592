"""The predictive distribution of a cell: the probabilities of its states, and for numbers the densities inside bins.

The states of a numeric column are bins. Given the probabilities ``P(b)`` of its bins, the distribution of the number is
the mixture ``Σ_b P(b) f(x | b)`` of the densities inside them. Bins follow each other, so all that is wanted of the
mixture has a closed form. The functions take the probabilities of several cells of a column, one row per cell.
"""

import numpy as np

from latree._util.arrays import FloatArray, IntArray
from latree.table import Column


def quantile_states(probabilities: FloatArray, share: float) -> IntArray:
    """Return the first state that brings the probability of it and of all lower ones to a share."""
    return np.asarray((np.cumsum(probabilities, axis=1)[:, :-1] < share).sum(axis=1))


def quantiles(column: Column, probabilities: FloatArray, share: float) -> FloatArray:
    """Return the number below which a share of each distribution lies, for a column with bins."""
    assert column.density is not None
    bins = quantile_states(probabilities, share)
    rows = np.arange(len(bins))
    own = probabilities[rows, bins]
    below = np.cumsum(probabilities, axis=1)[rows, bins] - own
    inside = np.divide(share - below, own, out=np.full(len(own), 0.5), where=own > 0)
    return column.density.quantile(bins, np.clip(inside, 0, 1))


def shares_below(column: Column, probabilities: FloatArray, numbers: FloatArray, bins: IntArray) -> FloatArray:
    """Return the share of each distribution that lies below a number, which is in its bin: the inverse of quantiles."""
    assert column.density is not None
    rows = np.arange(len(bins))
    own = probabilities[rows, bins]
    below = np.cumsum(probabilities, axis=1)[rows, bins] - own
    return np.clip(below + own * column.density.share(numbers, bins), 0, 1)
