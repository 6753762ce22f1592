"""Rearranging a tree by what whole subtrees say: the four-point rule on soft evidence.

An inner edge {ab|cd} parts four subtrees. A fitted model turns each row's cells of a subtree into the posterior of its
top; these four posteriors are noisy views of four nodes of a tree of their own, and their centred joint tables C obey
the four-point rule like those of columns: ``log ‖C_ab‖ + log ‖C_cd‖`` is the largest of the three pairings' sums where
{ab|cd} is right. All columns of a subtree speak, not one that stands for it, and no small model has to be fitted.

The Frobenius norm is smooth in the rows, so that the standard error of the sums' differences comes with them: it says
when an exchange is worth it.
"""

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from latree._util.arrays import FloatArray
from latree.counts.quartets import PAIRINGS
from latree.inference.evidence import messages
from latree.inference.messages import TINY
from latree.model import LatentTreeModel
from latree.table import Block


@dataclass(frozen=True)
class Verdict:
    """What the rows say of the three pairings at an inner edge, the first of which is the tree's own.

    Attributes
    ----------
    ends : tuple of int
        The two hidden nodes H and G.
    tops : tuple of int
        The other neighbours of H, two of them, then those of G.
    sums : array, shape (3,)
        ``log ‖C‖_F`` added up over the two pairs of each pairing.
    covariance : array, shape (3, 3)
        Of the sums, estimated from the rows.
    """

    ends: tuple[int, int]
    tops: tuple[int, int, int, int]
    sums: FloatArray
    covariance: FloatArray

    @property
    def rival(self) -> int:
        """The better one of the two other pairings."""
        return 1 + int(np.argmax(self.sums[1:]))

    @property
    def rival_lead(self) -> float:
        """By how many standard errors the rival is better than the tree's own pairing; negative where it is not."""
        gain = np.array([-1.0, *(float(pairing == self.rival) for pairing in (1, 2))])
        error = float(np.sqrt(max(gain @ self.covariance @ gain, TINY)))
        return float(gain @ self.sums) / error

    @property
    def exchange(self) -> tuple[int, int]:
        """The subtree that leaves H and the one that leaves G if the rival's pairing is taken."""
        (_, moved), _ = PAIRINGS[self.rival]
        return self.tops[1], self.tops[moved]


class Views:
    """What subtrees' own cells say of their tops, in the rows of a block."""

    def __init__(self, model: LatentTreeModel, block: Block) -> None:
        self.tree = model.tree
        weights = np.ones(len(block.codes)) if block.weights is None else block.weights
        self.n_rows = float(weights.sum())
        self.weights = weights / self.n_rows
        self._incoming = messages(model.network, block.codes)
        self._marginals = list(model.marginals().values())

    def of(self, top: int, other: int) -> FloatArray:
        """Return the centred posterior of a node given the cells on its side of the edge to a hidden node."""
        joint = self._incoming[top, other] * self._marginals[top][:, None]
        posterior = joint / np.maximum(joint.sum(axis=0), TINY)
        return np.asarray(posterior - (posterior @ self.weights)[:, None])

    def verdicts(self) -> dict[int, Verdict]:
        """Return the verdict at each inner edge between hidden nodes with three neighbours each."""
        found = {}
        for edge, (h, g) in self._inner_edges():
            if len(self.tree.neighbors[h]) == len(self.tree.neighbors[g]) == 3:
                one, two = (u for u, other in self.tree.neighbors[h] if other != edge)
                three, four = (u for u, other in self.tree.neighbors[g] if other != edge)
                views = [self.of(one, h), self.of(two, h), self.of(three, g), self.of(four, g)]
                found[edge] = Verdict((h, g), (one, two, three, four), *_sums(views, self.weights))
        return found

    def _inner_edges(self) -> list[tuple[int, tuple[int, int]]]:
        return [
            (edge, (h, g)) for edge, (h, g) in enumerate(self.tree.edges.tolist()) if min(h, g) >= self.tree.n_observed
        ]


def _sums(views: list[FloatArray], weights: FloatArray) -> tuple[FloatArray, FloatArray]:
    logarithm, influence = {}, {}
    for i, j in combinations(range(4), 2):
        table = (views[i] * weights) @ views[j].T
        square = max(float((table**2).sum()), TINY)
        logarithm[i, j] = 0.5 * np.log(square)
        # What one row more of this kind adds to the logarithm: <C, row's own table> / ‖C‖² - 1.
        influence[i, j] = (views[i] * (table @ views[j])).sum(axis=0) / square - 1
    sums = np.array([logarithm[one] + logarithm[other] for one, other in PAIRINGS])
    rows = np.stack([influence[one] + influence[other] for one, other in PAIRINGS])
    return sums, np.asarray((rows * weights**2) @ rows.T)
