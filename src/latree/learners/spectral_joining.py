"""Spectral neighbour joining (Jaffe, Amsel, Aizenbud, Nadler, Chang and Kluger 2021)."""

from collections.abc import Sequence

import numpy as np

from latree._util.arrays import FloatArray, IntArray
from latree._util.progress import Progress, no_progress
from latree.counts.tensor import singular_values
from latree.learners.simplest import latent_class
from latree.learners.structure import Structure
from latree.tree import Tree

# Submatrices are copied out of the affinities this many cells at a time (32 MB).
_SUBMATRIX_CELLS_AT_ONCE = 2**22


def spectral_joining(names: Sequence[str], distance: FloatArray, progress: Progress = no_progress) -> Structure:
    """Build a binary tree from distances that add up along paths.

    Use it as an alternative to neighbour joining, for trees whose hidden variables have as many states as the columns.
    It takes much more time: about d² singular value decompositions of submatrices of up to d rows.

    The affinity ``R_ij = exp(-d_ij)`` multiplies along paths. If an edge splits the leaves into A and the others, the
    submatrix ``R(A, others)`` has rank one. So in each step the two groups A and B are joined with the smallest second
    singular value

        ``σ_2(R(A ∪ B, others))``

    The submatrix of two groups does not change when other groups are joined, so that every pair of groups is looked at
    only once.

    Parameters
    ----------
    names : sequence of str
        Names of the leaves.
    distance : array, shape (d, d)
        Symmetric, such as :func:`latree.counts.log_det`; an infinite distance is an affinity of zero.
    progress : callable
        Called with the number of leaves joined, and of all leaves.

    References
    ----------
    Jaffe, Amsel, Aizenbud, Nadler, Chang and Kluger (2021), Spectral Neighbor Joining for Reconstruction of Latent Tree
    Models.

    Examples
    --------
    >>> import numpy as np
    >>> from latree.learners import spectral_joining
    >>> distance = np.array([[0, 3, 5, 6], [3, 0, 6, 7], [5, 6, 0, 3], [6, 7, 3, 0]])
    >>> print(spectral_joining("abcd", distance).tree.to_newick().strip())
    (b,a,(c,d));
    """
    d = len(names)
    if d < 4:
        return latent_class(names)
    affinity = np.exp(-distance)
    groups: dict[int, IntArray] = {leaf: np.array([leaf]) for leaf in range(d)}  # from the top of a group to its leaves
    score = np.full((2 * d - 3, 2 * d - 3), np.inf)  # σ_2 of each pair of groups that are left, the younger one first
    for leaf in range(1, d):
        score[leaf, :leaf] = _second_values(affinity, [np.array([leaf, other]) for other in range(leaf)])
    edges: list[tuple[int, int]] = []
    for new in range(d, 2 * d - 3):
        # Join the two groups with the smallest score by a new node.
        i, j = np.unravel_index(np.argmin(score), score.shape)
        edges += [(int(i), new), (int(j), new)]
        score[[i, j]] = np.inf
        score[:, [i, j]] = np.inf
        union = np.concatenate([groups.pop(int(i)), groups.pop(int(j))])
        # Score the union with every other group.
        others = list(groups)
        score[new, others] = _second_values(affinity, [np.concatenate([union, groups[other]]) for other in others])
        groups[new] = union
        progress(new - d + 1, d)
    # Three groups are left, which have only one tree.
    edges += [(node, 2 * d - 3) for node in groups]
    progress(d, d)
    return Structure(Tree(names, edges))


def _second_values(affinity: FloatArray, unions: list[IntArray]) -> FloatArray:
    """Return the second singular value of the submatrix of each union of groups against all other leaves."""
    d = len(affinity)
    values = np.zeros(len(unions))  # stays zero if only one leaf is left: a submatrix of one column
    sizes = np.array([len(union) for union in unions])
    for size in np.unique(sizes[sizes < d - 1]).tolist():
        same_size = np.flatnonzero(sizes == size)
        step = max(1, _SUBMATRIX_CELLS_AT_ONCE // (size * (d - size)))
        for batch in np.split(same_size, range(step, len(same_size), step)):
            rows = np.stack([unions[number] for number in batch])
            inside = np.zeros((len(batch), d), dtype=bool)
            np.put_along_axis(inside, rows, True, axis=1)
            columns = np.argsort(inside, axis=1, kind="stable")[:, : d - size]
            values[batch] = singular_values(affinity[rows[:, :, None], columns[:, None, :]])[:, 1]
    return values
