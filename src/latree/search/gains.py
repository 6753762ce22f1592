"""What the edges of a fitted model gain, and what they must gain to be there."""

from collections.abc import Sequence
from functools import partial

import numpy as np

from latree._util.arrays import FloatArray
from latree.model import LatentTreeModel
from latree.search.edges import EdgeTest, GainDistribution, Surroundings, bic_gain, examine_edges
from latree.search.sample import Sample

# Edges whose gain is this near the threshold, in nats, are tested again with other folds.
_DOUBTFUL = 6.0

# Edges whose gain is above the threshold by this, in nats, are sure.
_SURE = 15.0

# A new hidden variable must predict rows better, or lower half of the BIC, by more than this, in nats.
_MIN_DIVISION = 4.0

# Numbers of sets of folds are below this; the second set of each is its number plus this.
FOLD_SETS = 12


class EdgeGains:
    """Tests edges between hidden variables.

    Attributes
    ----------
    distribution : GainDistribution or None
        Of the gains of the first tree whose edges are tested; None before.
    """

    def __init__(self, sample: Sample) -> None:
        self._sample = sample
        self.distribution: GainDistribution | None = None
        self._tested: tuple[LatentTreeModel | None, dict[tuple[int, int], EdgeTest]] = (None, {})  # of the last model

    @property
    def threshold(self) -> float:
        """The gain above which an edge is taken to be there."""
        assert self.distribution is not None
        return self.distribution.threshold

    @property
    def sure(self) -> float:
        """The gain above which an edge is not tested again while its neighbourhood stays."""
        return self.threshold + _SURE

    @property
    def least_division(self) -> float:
        """What a new hidden variable must gain, in nats."""
        return _MIN_DIVISION if self.distribution is None else max(_MIN_DIVISION, self.threshold)

    def tests(self, around: Surroundings, edges: Sequence[int], number: int) -> list[EdgeTest]:
        """Test edges with the folds of this number; tests of the same model are kept."""
        if self._tested[0] is not around.model:
            self._tested = around.model, {}
        known = self._tested[1]
        new = [edge for edge in edges if (edge, number) not in known]
        known |= zip(
            [(edge, number) for edge in new], examine_edges(around, new, self._sample.seed + number), strict=True
        )
        return [known[edge, number] for edge in edges]

    def held_out(self, around: Surroundings, edges: Sequence[int], number: int = 0) -> FloatArray:
        """Return the gain of each edge in rows that were held out; the mean of two where it is near the threshold.

        The first binary tree decides about the threshold: later, most edges that are not there are gone.
        """
        gains = np.array([test.gain for test in self.tests(around, edges, number)])
        if self.distribution is None:
            table = self._sample.table
            present = 1 - float(table.n_missing.sum()) / (table.n_rows * table.n_columns)
            self.distribution = GainDistribution.of(gains, present)
        close = np.flatnonzero(np.abs(gains - self.threshold) < _DOUBTFUL)
        again = self.tests(around, [edges[place] for place in close.tolist()], number + FOLD_SETS)
        gains[close] = (gains[close] + [test.gain for test in again]) / 2
        return gains

    def worth(self, around: Surroundings, edges: Sequence[int], number: int = 0) -> FloatArray:
        """Return what each edge is worth: its gain in rows that were held out, or by half of the BIC, if that is more.

        As where hidden variables are divided, two may also be better than one because BIC asks for them. It says
        whether an edge is contracted, not how probable it is: the distribution is that of gains.
        """
        gains = self.held_out(around, edges, number)
        doubtful = np.flatnonzero(gains <= self.sure)
        least = self.least_division
        asked = around.map(partial(self._bic_gain, around, least), [edges[place] for place in doubtful.tolist()])
        gains[doubtful] = np.where(np.array(asked) > least, np.maximum(gains[doubtful], asked), gains[doubtful])
        return gains

    def _bic_gain(self, around: Surroundings, least: float, edge: int) -> float:
        pair = around.pair(*around.tree.edges[edge].tolist())
        return bic_gain(pair, around.weights, self._sample.log_rows, least)
