"""The predictive distribution of a cell: the probabilities of its states, and for numbers the densities inside bins.

The states of a numeric column are bins. Given the probabilities ``P(b)`` of its bins, the distribution of the number is
the mixture ``Σ_b P(b) f(x | b)`` of the densities inside them. Bins follow each other, so all that is wanted of the
mixture has a closed form. The functions take the probabilities of several cells of a column, one row per cell.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from latree._util.arrays import CodeArray, FloatArray, IntArray
from latree.inference.messages import downward, upward
from latree.inference.network import Network
from latree.inference.patterns import plan_messages
from latree.table import Column
from latree.table.rows import missing_code


def cell_posteriors(network: Network, codes: CodeArray) -> Iterator[tuple[int, NDArray[np.intp], FloatArray]]:
    """Yield each column that has missing cells, their rows, and their posterior probabilities, one column per state.

    In rows that are impossible under the model, the distribution is that of the column without any evidence.
    """
    is_missing = codes == missing_code(codes)
    rows = np.flatnonzero(is_missing.any(axis=1))
    if not len(rows):
        return
    is_missing = is_missing[rows]
    up = upward(network, plan_messages(network, codes[rows], repeats=False))
    impossible = np.isneginf(up.log_likelihood)
    marginals = network.marginals() if impossible.any() else []
    for step, _, of_node in downward(up):
        found = [(leaf, network.tables[leaf].T) for leaf in step.leaves.columns] if step.leaves else []
        if step.number < network.n_observed:
            found.append((step.number, np.eye(len(network.tables[step.number]))))
        for column, given in found:
            holes = np.flatnonzero(is_missing[:, column])
            if len(holes):
                posterior = of_node[holes] @ given
                if impossible.any():
                    posterior[impossible[holes]] = marginals[column]
                yield column, rows[holes], posterior


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
