"""Trees by joining: neighbour joining, spectral neighbour joining, and average linkage of the most alike clusters."""

from collections.abc import Sequence

import numpy as np
from scipy.cluster.hierarchy import linkage
from scipy.spatial.distance import squareform

from latree._util.arrays import FloatArray, IntArray
from latree._util.progress import claim_progress
from latree.counts.distances import finite
from latree.counts.tensor import singular_values
from latree.learners.structure import Structure, latent_class
from latree.tree import Tree

_ROUNDING = 1e-10  # relative rounding error that the bounds of the search may have


def neighbor_joining(names: Sequence[str], distance: FloatArray) -> Structure:
    """Build a binary tree from any matrix of distances.

    Use it as a fast learner for many columns, with :func:`latree.research.log_det` if hidden variables have as many
    states as columns, or with :func:`latree.research.covariance` if their number of states is unknown.

    In each step, of r nodes the pair i, j with the smallest

        ``d_ij - u_i - u_j``  with  ``u_i = Σ_k d_ik / (r - 2)``

    is joined by a new hidden node w, at these distances from the two and from every other node k:

        ``d_iw = ½ (d_ij + u_i - u_j)``,  ``d_jw = ½ (d_ij + u_j - u_i)``,  ``d_wk = ½ (d_ik + d_jk - d_ij)``

    If distances add up along the paths of a binary tree, that tree is returned.

    Parameters
    ----------
    names : sequence of str
        Names of the leaves.
    distance : array, shape (d, d)
        Symmetric. Infinite distances count as larger than all others.

    Returns
    -------
    Structure
        Its tree has lengths; negative ones, which the formulas can give, are set to zero.

    References
    ----------
    Saitou and Nei (1987), The Neighbor-joining Method: A New Method for Reconstructing Phylogenetic Trees.

    Examples
    --------
    Leaves a and b are neighbours, c and d are neighbours, and the inner edge has length 3:

    >>> import numpy as np
    >>> from latree.research import neighbor_joining
    >>> distance = np.array([[0, 3, 5, 6], [3, 0, 6, 7], [5, 6, 0, 3], [6, 7, 3, 0]])
    >>> print(neighbor_joining("abcd", distance).tree.to_newick().strip())
    (a:1.0,b:2.0,(d:2.0,c:1.0):3.0);
    """
    if len(names) < 3:
        return latent_class(names)
    edges, lengths = join(finite(distance))
    return Structure(Tree(names, edges, np.maximum(lengths, 0)))


def join(distance: FloatArray) -> tuple[IntArray, FloatArray]:
    """Join at least three leaves; return the edges and their lengths. New nodes are d, d + 1, ...

    Few rows of the matrix are searched in each step. Every node i has a lower bound b_i of ``d_ij - u_j`` over the
    nodes j that are older than i. As one node of every pair is the older one, no pair is better than the smallest
    ``b_i - u_i``, and only rows that this bound does not rule out are searched. As nodes are joined, u changes little:
    after each step all bounds are lowered by the largest growth of any u_j.

    The r nodes that are left to join always occupy the first r rows and columns of the arrays.
    """
    progress = claim_progress()
    d = len(distance)
    node = np.arange(d)  # the node in each row
    distance = np.array(distance, dtype=np.float64)
    np.fill_diagonal(distance, 0)
    total = distance.sum(axis=1)  # Σ_k d_ik
    np.fill_diagonal(distance, np.inf)  # so that no node is its own nearest
    u = total / max(1, d - 2)
    bound = (distance - u).min(axis=1)
    edges: list[tuple[int, int]] = []
    lengths: list[float] = []
    for r in range(d, 3, -1):
        # The pair with the smallest d_ij - u_i - u_j.
        i, j = _best_pair(distance, u, bound)
        d_ij = distance[i, j]

        # Join it by a new node w, at d_iw = ½ (d_ij + u_i - u_j) and d_jw = ½ (d_ij + u_j - u_i).
        w = 2 * d - r
        edges += [(int(node[i]), w), (int(node[j]), w)]
        lengths += [(d_ij + u[i] - u[j]) / 2, (d_ij + u[j] - u[i]) / 2]

        # d_wk = ½ (d_ik + d_jk - d_ij) for every other node k.
        row = (distance[i, :r] + distance[j, :r] - d_ij) / 2
        row[[i, j]] = 0

        # In the sums of the others, d_wk takes the place of d_ik + d_jk.
        total[:r] += row - distance[i, :r] - distance[j, :r]
        total[i] = row.sum()

        # w takes the row of i, and the last node the row of j.
        row[[i, j]] = np.inf
        distance[i, :r] = distance[:r, i] = row
        node[i] = w
        last = r - 1
        if j != last:
            distance[j, :last], distance[:last, j] = distance[last, :last], distance[:last, last]
            distance[j, j] = np.inf
            for array in (total, u, bound, node, row):
                array[j] = array[last]

        # The new u. All bounds are lowered by its largest growth, except that of w, which is computed.
        old_u, row = u[:last], row[:last]
        u = total[:last] / (last - 2)
        old_u[i] = u[i]
        bound = bound[:last] - (u - old_u).max()
        bound[i] = (row - u).min()
        progress(d - r + 1, d)

    # Three nodes a, b and c are left, whose lengths follow from their distances: d_aw = ½ (d_ab + d_ac - d_bc).
    sides = [distance[0, 1], distance[0, 2], distance[1, 2]]
    edges += [(int(leaf), 2 * d - 3) for leaf in node[:3]]
    lengths += [(sum(sides) - 2 * opposite) / 2 for opposite in reversed(sides)]
    progress(d, d)
    return np.array(edges, dtype=np.intp), np.array(lengths)


def _best_pair(distance: FloatArray, u: FloatArray, bound: FloatArray) -> tuple[int, int]:
    """Return the pair i < j with the smallest ``d_ij - u_i - u_j``, and update the bounds of the rows searched."""
    r = len(u)
    # Search the row with the smallest bound, which gives a pair that is hard to beat.
    row_bound = bound - u
    first = int(np.argmin(row_bound))
    best = float((distance[first, :r] - u).min() - u[first])
    # Search all rows whose bound, up to rounding, does not exceed the score of that pair.
    rows = np.flatnonzero(row_bound <= best + _ROUNDING * (abs(best) + np.abs(u).max()))
    searched = distance[rows, :r] - u
    bound[rows] = searched.min(axis=1)
    position = int(np.argmin(bound[rows] - u[rows]))
    i, j = int(rows[position]), int(np.argmin(searched[position]))
    return (i, j) if i < j else (j, i)


# Submatrices are copied out of the affinities this many cells at a time (32 MB).
_SUBMATRIX_CELLS_AT_ONCE = 2**22


def spectral_joining(names: Sequence[str], distance: FloatArray) -> Structure:
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
        Symmetric, such as :func:`latree.research.log_det`; an infinite distance is an affinity of zero.

    References
    ----------
    Jaffe, Amsel, Aizenbud, Nadler, Chang and Kluger (2021), Spectral Neighbor Joining for Reconstruction of Latent Tree
    Models.

    Examples
    --------
    >>> import numpy as np
    >>> from latree.research import spectral_joining
    >>> distance = np.array([[0, 3, 5, 6], [3, 0, 6, 7], [5, 6, 0, 3], [6, 7, 3, 0]])
    >>> print(spectral_joining("abcd", distance).tree.to_newick().strip())
    (b,a,(c,d));
    """
    progress = claim_progress()
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


def average_linkage(names: Sequence[str], similarity: FloatArray) -> Structure:
    """Build a binary tree by joining the two clusters with the largest mean similarity of their columns.

    It needs no additive distance, and is often the best start on questionnaires, where columns of one scale are alike
    and scales are not. Neighbour joining is better where some columns are much noisier than others.

    Parameters
    ----------
    names : sequence of str
    similarity : array, shape (d, d)
        Symmetric; larger means more alike. For example the mutual information, :func:`latree.research.information` by
        :func:`latree.research.pairwise`. The diagonal is not used.

    Returns
    -------
    Structure

    References
    ----------
    R. R. Sokal, C. D. Michener: *A Statistical Method for Evaluating Systematic Relationships*, 1958.

    Examples
    --------
    >>> import numpy as np
    >>> from latree.learners.joining import average_linkage
    >>> alike = np.array([[0, 5, 1, 1], [5, 0, 1, 1], [1, 1, 0, 4], [1, 1, 4, 0]])
    >>> average_linkage("abcd", alike).tree.to_newick().strip()
    '(a,b,(c,d));'
    """
    d = len(names)
    if d < 4:
        return latent_class(names)
    distance = float(similarity.max()) - similarity
    np.fill_diagonal(distance, 0)
    edges: list[tuple[int, int]] = []
    # Row i of the linkage joins two clusters into cluster d + i.
    for cluster, (one, other, _, _) in enumerate(linkage(squareform(distance, checks=False), "average"), start=d):
        if cluster == 2 * d - 2:  # the tree has no root: the last two clusters are neighbours
            edges.append((int(one), int(other)))
        else:
            edges += [(int(one), cluster), (int(other), cluster)]
    return Structure(Tree(names, edges))
