"""Rearranging a tree by what whole subtrees say: the four-point rule on soft evidence.

An inner edge {ab|cd} parts four subtrees. A fitted model turns each row's cells of a subtree into the posterior of its
top; these four posteriors are noisy views of four nodes of a tree of their own, and their centred joint tables C obey
the four-point rule like those of columns: ``log ‖C_ab‖ + log ‖C_cd‖`` is the largest of the three pairings' sums where
{ab|cd} is right. All columns of a subtree speak, not one that stands for it, and no small model has to be fitted.

The Frobenius norm is smooth in the rows, so that the standard error of the sums' differences comes with them: it says
when an exchange is worth it, and how sure every edge is.
"""

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from latree.arrays import FloatArray
from latree.evidence import messages
from latree.messages import TINY
from latree.model import LatentTreeModel
from latree.table import Block
from latree.tree import Tree

# The three ways to pair four subtrees; {01|23} is the tree's own.
PAIRINGS = (((0, 1), (2, 3)), ((0, 2), (1, 3)), ((0, 3), (1, 2)))

_DRAWS = 2000  # of the three sums' errors, to tell how often the tree's own pairing has the largest


@dataclass(frozen=True)
class Verdict:
    """What the rows say of the three pairings at an inner edge.

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
    def support(self) -> float:
        """How often the tree's own pairing would come out best if rows were drawn anew."""
        rng = np.random.default_rng(0)
        spread = np.linalg.cholesky(self.covariance + np.eye(3) * (np.trace(self.covariance) * 1e-9 + TINY))
        drawn = self.sums + rng.standard_normal((_DRAWS, 3)) @ spread.T
        return float(np.mean(drawn.argmax(axis=1) == 0))


def verdicts(model: LatentTreeModel, block: Block) -> dict[int, Verdict]:
    """Look at all inner edges between hidden nodes with three neighbours each; give verdicts by edge."""
    tree = model.tree
    incoming = messages(model, block.codes)
    marginals = list(model.marginals().values())
    weights = np.ones(len(block.codes)) if block.weights is None else block.weights
    weights = weights / weights.sum()

    def view(top: int, below: int) -> FloatArray:
        """Give the centred posterior of a subtree's top given its own cells, times the root of the rows' weights."""
        joint = incoming[top, below] * marginals[top][:, None]
        posterior = joint / np.maximum(joint.sum(axis=0), TINY)
        return np.asarray(posterior - (posterior @ weights)[:, None])

    found = {}
    for edge, (h, g) in enumerate(tree.edges.tolist()):
        if min(h, g) < tree.n_observed or len(tree.neighbors[h]) != 3 or len(tree.neighbors[g]) != 3:
            continue
        one, two = (u for u, other in tree.neighbors[h] if other != edge)
        three, four = (u for u, other in tree.neighbors[g] if other != edge)
        views = [view(one, h), view(two, h), view(three, g), view(four, g)]
        found[edge] = Verdict((h, g), (one, two, three, four), *_sums(views, weights))
    return found


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


def exchanged(tree: Tree, verdict: Verdict) -> Tree:
    """Give the tree with the rival pairing at an edge."""
    h, g = verdict.ends
    (_, moved), _ = PAIRINGS[verdict.rival]
    leaving, coming = verdict.tops[1], verdict.tops[moved]
    edges = tree.edges.copy()
    for old, new, moving in ((h, g, leaving), (g, h, coming)):
        row = next(edge for other, edge in tree.neighbors[old] if other == moving)
        edges[row] = (moving, new)
    return Tree(tree.names, edges)
