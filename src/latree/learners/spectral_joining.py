"""Spectral neighbour joining (Jaffe, Amsel, Aizenbud, Nadler, Chang and Kluger 2021).

For a tree whose hidden variables have as many states as the columns, the affinity ``R_ij = exp(-d_ij)`` of Lake's
distance multiplies along paths. If an edge parts the columns into A and the others, the block of R with rows in A and
the others as columns has rank one. So the two groups are joined whose union has the block with the smallest second
singular value.
"""

from collections.abc import Sequence

import numpy as np

from latree._util.arrays import FloatArray, IntArray
from latree._util.progress import Progress, no_progress
from latree.counts.tensor import singular_values
from latree.learners.latent_class import latent_class
from latree.learners.structure import Structure
from latree.tree import Tree

_CELLS_AT_ONCE = 2**22  # blocks are gathered so many cells at a time


def spectral_joining(names: Sequence[str], distance: FloatArray, progress: Progress = no_progress) -> Structure:
    """Build a binary tree from distances that add up along paths.

    Parameters
    ----------
    names : sequence of str
        Names of the leaves.
    distance : array, shape (d, d)
        Symmetric; an infinite distance is an affinity of zero.
    progress : callable
        Told the number of leaves joined, and of all leaves.

    Notes
    -----
    The block of two groups does not change when others are joined, so that every pair of groups is looked at once:
    about d² singular value decompositions of blocks of up to d rows.
    """
    d = len(names)
    if d < 4:
        return latent_class(names)
    affinity = np.exp(-distance)
    groups: dict[int, IntArray] = {leaf: np.array([leaf]) for leaf in range(d)}
    score = np.full((2 * d - 3, 2 * d - 3), np.inf)
    for leaf in range(1, d):
        score[leaf, :leaf] = _second_values(affinity, [np.array([leaf, other]) for other in range(leaf)])
    edges: list[tuple[int, int]] = []
    for new in range(d, 2 * d - 3):
        i, j = np.unravel_index(np.argmin(score), score.shape)
        edges += [(int(i), new), (int(j), new)]
        score[[i, j]] = np.inf
        score[:, [i, j]] = np.inf
        joined = np.concatenate([groups.pop(int(i)), groups.pop(int(j))])
        others = list(groups)
        score[new, others] = _second_values(affinity, [np.concatenate([joined, groups[other]]) for other in others])
        groups[new] = joined
        progress(new - d + 1, d)
    edges += [(node, 2 * d - 3) for node in groups]
    progress(d, d)
    return Structure(Tree(names, edges))


def _second_values(affinity: FloatArray, unions: list[IntArray]) -> FloatArray:
    """Give the second singular value of the block of each union of groups against all other leaves."""
    d = len(affinity)
    values = np.zeros(len(unions))  # stays zero where only one leaf is left: a block of one column
    sizes = np.array([len(union) for union in unions])
    for size in np.unique(sizes[sizes < d - 1]).tolist():
        alike = np.flatnonzero(sizes == size)
        step = max(1, _CELLS_AT_ONCE // (size * (d - size)))
        for some in np.split(alike, range(step, len(alike), step)):
            rows = np.stack([unions[number] for number in some])
            inside = np.zeros((len(some), d), dtype=bool)
            np.put_along_axis(inside, rows, True, axis=1)
            columns = np.argsort(inside, axis=1, kind="stable")[:, : d - size]
            values[some] = singular_values(affinity[rows[:, :, None], columns[:, None, :]])[:, 1]
    return values
