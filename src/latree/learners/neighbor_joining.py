"""Neighbour joining (Saitou and Nei 1987): join the two nodes that are nearest to each other and far from the others.

Of r nodes, the pair with the smallest ``d_ij - u_i - u_j`` with ``u_i = Σ_k d_ik / (r - 2)`` is joined by a new node w
at ``d_wk = ½ (d_ik + d_jk - d_ij)`` from the others. If distances add up along the paths of a binary tree, that tree
comes back.
"""

from collections.abc import Sequence

import numpy as np

from latree._util.arrays import FloatArray, IntArray
from latree._util.progress import Progress, no_progress
from latree.counts.distances import finite
from latree.learners.latent_class import latent_class
from latree.learners.structure import Structure
from latree.tree import Tree

_ROUNDING = 1e-10  # by how much bounds may be off, relative to the numbers they are sums of


def neighbor_joining(names: Sequence[str], distance: FloatArray, progress: Progress = no_progress) -> Structure:
    """Build a binary tree from any matrix of distances.

    Parameters
    ----------
    names : sequence of str
        Names of the leaves.
    distance : array, shape (d, d)
        Symmetric. Infinite distances are taken for larger than all others (:func:`latree.counts.distances.finite`).
    progress : callable
        Told the number of leaves joined, and of all leaves.

    Returns
    -------
    Structure
        Its tree has lengths; negative ones, which the formulas can give, are set to zero.
    """
    if len(names) < 3:
        return latent_class(names)
    edges, lengths = join(finite(distance), progress)
    return Structure(Tree(names, edges, np.maximum(lengths, 0)))


def join(distance: FloatArray, progress: Progress = no_progress) -> tuple[IntArray, FloatArray]:
    """Join at least three leaves; give the edges and their lengths, new nodes being d, d + 1, ...

    Pairs are searched in few rows: with ``b_i`` at most the smallest ``d_ij - u_j`` over the nodes j that are older
    than i, no such pair can be better than ``b_i - u_i``, and one node of every pair is the older. As nodes are joined,
    u changes little, and b_i is lowered by as much as any u_j has grown since the row was searched. Nodes that are left
    stand in the first r rows.
    """
    d = len(distance)
    node = np.arange(d)
    distance = np.array(distance, dtype=np.float64)
    np.fill_diagonal(distance, 0)
    total = distance.sum(axis=1)
    np.fill_diagonal(distance, np.inf)
    u = total / max(1, d - 2)
    bound = (distance - u).min(axis=1)
    edges: list[tuple[int, int]] = []
    lengths: list[float] = []
    for r in range(d, 3, -1):
        i, j = _closest(distance, u, bound)
        new = 2 * d - r
        apart = distance[i, j]
        edges += [(int(node[i]), new), (int(node[j]), new)]
        lengths += [(apart + u[i] - u[j]) / 2, (apart + u[j] - u[i]) / 2]

        # The new node takes the place of i, the last node that of j.
        row = (distance[i, :r] + distance[j, :r] - apart) / 2
        row[[i, j]] = 0
        total[:r] += row - distance[i, :r] - distance[j, :r]
        total[i] = row.sum()
        row[[i, j]] = np.inf
        distance[i, :r] = distance[:r, i] = row
        node[i] = new
        last = r - 1
        if j != last:
            distance[j, :last], distance[:last, j] = distance[last, :last], distance[:last, last]
            distance[j, j] = np.inf
            for array in (total, u, bound, node, row):
                array[j] = array[last]
        before, row = u[:last], row[:last]
        u = total[:last] / (last - 2)
        before[i] = u[i]
        bound = bound[:last] - (u - before).max()
        bound[i] = (row - u).min()
        progress(d - r + 1, d)
    sides = [distance[0, 1], distance[0, 2], distance[1, 2]]
    edges += [(int(leaf), 2 * d - 3) for leaf in node[:3]]
    lengths += [(sum(sides) - 2 * opposite) / 2 for opposite in reversed(sides)]
    progress(d, d)
    return np.array(edges, dtype=np.intp), np.array(lengths)


def _closest(distance: FloatArray, u: FloatArray, bound: FloatArray) -> tuple[int, int]:
    """Find the best pair, and bring the bounds of the rows that were searched up to date."""
    r = len(u)
    hopeful = bound - u
    first = int(np.argmin(hopeful))
    best = float((distance[first, :r] - u).min() - u[first])
    rows = np.flatnonzero(hopeful <= best + _ROUNDING * (abs(best) + np.abs(u).max()))
    block = distance[rows, :r] - u
    bound[rows] = block.min(axis=1)
    position = int(np.argmin(bound[rows] - u[rows]))
    i, j = int(rows[position]), int(np.argmin(block[position]))
    return (i, j) if i < j else (j, i)
