"""How sure an edge is: the probability that it is there at all, times the probability that it is the right one."""

from collections.abc import Sequence

import numpy as np

from latree._util.arrays import FloatArray
from latree.search.edges import GainDistribution, Surroundings
from latree.search.moves import arranged_rows

_DRAWS = 2000  # of the rows' sums, to count how often the tree's own arrangement is the best


def edge_support(
    around: Surroundings, edges: Sequence[int], gains: FloatArray, distribution: GainDistribution, log_rows: float
) -> list[float]:
    """Return the support of edges between hidden variables.

    An edge must answer two questions. Is it there at all? The gain of two hidden variables over one says so, see
    :class:`GainDistribution`. Is it the right one? The neighbours of its ends could be divided differently: each other
    way is fitted to the same messages, and the support is the share of samples of rows in which the tree's own way is
    the best one by BIC. The samples are not drawn: sums over rows are about normal (the RELL method).

    References
    ----------
    Kishino, Miyata and Hasegawa (1990), Maximum Likelihood Inference of Protein Phylogeny.
    """

    def is_right(edge: int) -> float:
        rows, n_parameters = arranged_rows(around, edge, log_rows)
        penalty = (n_parameters[1:] - n_parameters[0]) * log_rows / 2
        return share_of_best(rows[1:] - rows[0], around.weights, penalty)

    there = distribution.probability(gains)
    return [float(one * other) for one, other in zip(there, around.map(is_right, edges), strict=True)]


def share_of_best(differences: FloatArray, weights: FloatArray, penalty: FloatArray) -> float:
    """Return how often no alternative would be better if rows were drawn again.

    Parameters
    ----------
    differences : array, shape (alternatives, rows)
        Log-likelihood of each row under an alternative minus that under the tree's own arrangement.
    weights : array
        Of the rows.
    penalty : array
        By how many nats each alternative must be better, because it has more parameters.
    """
    if not len(differences):
        return 1.0
    sums = differences @ weights
    centred = differences - (sums / weights.sum())[:, None]
    covariance = (centred * weights) @ centred.T
    spread = np.linalg.cholesky(covariance + np.eye(len(sums)) * (np.trace(covariance) * 1e-9 + 1e-9))
    drawn = sums + np.random.default_rng(0).standard_normal((_DRAWS, len(sums))) @ spread.T
    return float(np.mean((drawn - penalty).max(axis=1) <= 0))
