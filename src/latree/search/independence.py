"""Whether two sets of columns are independent, from the rows alone: no fitted model can make them look dependent."""

import numpy as np
from numpy.typing import NDArray

from latree._util.arrays import IntArray
from latree.counts.distances import gamma_tail
from latree.table import Block


class SideTest:
    """Tests independence of a set of columns and all others.

    The statistic is the squared norm of the covariances between the indicators of the states on both sides, where every
    column has total variance one: the Hilbert-Schmidt independence criterion with a kernel that adds up over columns
    (Gretton et al. 2008). For independent sides it is about a gamma variable, see
    :func:`latree.counts.distances.gamma_tail`.
    """

    def __init__(self, block: Block, n_states: IntArray) -> None:
        weights = np.ones(len(block.codes)) if block.weights is None else block.weights
        self._total = float(weights.sum())
        indicators, self._column = [], np.repeat(np.arange(len(n_states)), n_states)
        for column, n in enumerate(n_states.tolist()):
            present = block.codes[:, column] < n
            states = np.zeros((n, len(present)))
            states[block.codes[present, column], np.flatnonzero(present)] = 1
            mean = (states @ weights) / max(float(weights @ present), 1.0)
            centred = (states - mean[:, None] * present) * np.sqrt(weights / self._total)
            indicators.append(centred / max(float(np.sqrt((centred**2).sum())), 1e-9))
        self._indicators = np.concatenate(indicators)

    def p_value(self, side: NDArray[np.bool_]) -> float:
        """Return the probability that independent sides show as much covariance.

        Parameters
        ----------
        side : array of bool
            For each column whether it is on the one side.
        """
        rows = side[self._column]
        one, other = self._indicators[rows], self._indicators[~rows]
        squared = ((one @ other.T) ** 2).sum()
        own = [part @ part.T for part in (one, other)]
        mean = np.trace(own[0]) * np.trace(own[1]) / self._total
        spread = np.sqrt((own[0] ** 2).sum() * (own[1] ** 2).sum()) / self._total
        return float(gamma_tail(*np.array([squared, mean, spread])))
