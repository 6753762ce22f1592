"""Neighbour joining (Saitou and Nei 1987): join the two nodes that are nearest to each other and far from the others.

Of r nodes, the pair with the smallest ``d_ij - u_i - u_j`` with ``u_i = Σ_k d_ik / (r - 2)`` is joined by a new node w
at ``d_wk = ½ (d_ik + d_jk - d_ij)`` from the others. If distances add up along the paths of a binary tree, that tree
comes back.
"""

from collections.abc import Sequence

import numpy as np

from latree.arrays import FloatArray, IntArray
from latree.builders import Progress, Structure, no_progress
from latree.builders.latent_class import latent_class
from latree.distances import finite
from latree.tree import Tree


def neighbor_joining(names: Sequence[str], distance: FloatArray, progress: Progress = no_progress) -> Structure:
    """Build a binary tree from any matrix of distances.

    Parameters
    ----------
    names : sequence of str
        Names of the leaves.
    distance : array, shape (d, d)
        Symmetric. Infinite distances are taken for larger than all others (:func:`latree.distances.finite`).
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

    Pairs are searched in few rows: with ``m_i`` at most a row's smallest distance, no pair in row i can be better than
    ``m_i - u_i - max u``. Nodes that are left stand in the first r rows.
    """
    d = len(distance)
    node = np.arange(d)
    distance = np.array(distance, dtype=np.float64)
    np.fill_diagonal(distance, 0)
    total = distance.sum(axis=1)
    np.fill_diagonal(distance, np.inf)
    least = distance.min(axis=1)
    edges: list[tuple[int, int]] = []
    lengths: list[float] = []
    for r in range(d, 3, -1):
        u = total[:r] / (r - 2)
        i, j = _closest(distance, u, least)
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
        least[:r] = np.minimum(least[:r], row)
        least[i] = row.min()
        node[i] = new
        last = r - 1
        if j != last:
            distance[j, :last], distance[:last, j] = distance[last, :last], distance[:last, last]
            distance[j, j] = np.inf
            total[j], least[j], node[j] = total[last], least[last], node[last]
        progress(d - r + 1, d)
    sides = [distance[0, 1], distance[0, 2], distance[1, 2]]
    edges += [(int(leaf), 2 * d - 3) for leaf in node[:3]]
    lengths += [(sum(sides) - 2 * opposite) / 2 for opposite in reversed(sides)]
    progress(d, d)
    return np.array(edges, dtype=np.intp), np.array(lengths)


def _closest(distance: FloatArray, u: FloatArray, least: FloatArray) -> tuple[int, int]:
    """Find the best pair, and bring the bounds of the rows that were searched up to date."""
    r = len(u)
    hopeful = least[:r] - u
    first = int(np.argmin(hopeful))
    best = float((distance[first, :r] - u).min() - u[first])
    rows = np.flatnonzero(hopeful <= best + u.max() + 1e-12 * abs(best))
    block = distance[rows, :r]
    least[rows] = block.min(axis=1)
    position, j = divmod(int(np.argmin(block - u - u[rows, None])), r)
    i = int(rows[position])
    return (i, j) if i < j else (j, i)
