"""Recursive grouping (Choi, Tan, Anandkumar and Willsky 2011): find families of nodes, give each a parent, repeat."""

from collections.abc import Sequence

import numpy as np
from scipy.cluster.hierarchy import linkage
from scipy.spatial.distance import squareform

from latree._util.arrays import FloatArray, IntArray
from latree._util.progress import Progress, no_progress
from latree.counts.distances import finite
from latree.learners.simplest import latent_class
from latree.learners.structure import Structure
from latree.tree import Tree

# A pair is judged by at least this many other nodes, its witnesses, however far they are.
_MIN_WITNESSES = 5


def recursive_grouping(
    names: Sequence[str],
    distance: FloatArray,
    *,
    reach: float = np.inf,
    shortest: float = 1e-6,
    progress: Progress = no_progress,
) -> Structure:
    """Build a tree from distances that add up along paths.

    Use it if columns may be inner nodes of the tree, or hidden variables may have more than three neighbours. It is
    made for hidden variables with as many states as the columns, and for up to a few hundred columns.

    The difference ``Φ_ijk = d_ik - d_jk`` identifies families. Nodes i and j are siblings, or one is the other's
    parent, if and only if ``Φ_ijk`` is the same for all other nodes k; j is the parent of i if moreover
    ``Φ_ijk = d_ij``. In each round, every family gets a hidden parent h, unless one of its members is the parent. The
    parents go on to the next round, at the distances

        ``d_ih = ½ (d_ij + Φ_ijk)``  and  ``d_hl = d_il - d_ih``

    from their children i and from every other node l, averaged over all i, j and k that may be used.

    The paper leaves open how to find families from sampled distances. Here, as in its authors' program, nodes are
    clustered by how much ``Φ_ijk`` varies with k, and the clustering with the largest mean silhouette is taken. (Theirs
    clusters around random medoids. Complete linkage, which is used here, needs no random numbers.)

    Parameters
    ----------
    names : sequence of str
        Names of the columns.
    distance : array, shape (d, d)
        Symmetric, such as :func:`latree.counts.log_det`.
    reach : float
        Distances above this are too uncertain to be used.
    shortest : float
        Shorter edges are contracted. All nodes are one family if no ``Φ_ijk`` varies by more than twice this.
    progress : callable
        Called with the number of columns that have a parent, and of all columns.

    References
    ----------
    Choi, Tan, Anandkumar and Willsky (2011), Learning Latent Tree Graphical Models.

    Examples
    --------
    Three columns in a chain: b lies between a and c, and no hidden variable is needed.

    >>> import numpy as np
    >>> from latree.learners import recursive_grouping
    >>> distance = np.array([[0.0, 1.0, 3.0], [1.0, 0.0, 2.0], [3.0, 2.0, 0.0]])
    >>> tree = recursive_grouping("abc", distance).tree
    >>> tree.edges.tolist(), tree.lengths.tolist()
    ([[0, 1], [2, 1]], [1.0, 2.0])
    """
    if len(names) < 3:
        return latent_class(names)
    edges, lengths = group(finite(distance), reach, shortest, progress)
    return Structure(Tree(names, *contracted(edges, lengths, len(names), shortest)))


def group(
    distance: FloatArray, reach: float, shortest: float, progress: Progress = no_progress
) -> tuple[IntArray, FloatArray]:
    """Group at least three nodes; return the edges and their lengths. New nodes are d, d + 1, ..."""
    d = n_nodes = len(distance)
    node = np.arange(d)  # the nodes of this round: columns first, then the parents that were found
    edges: list[tuple[int, int]] = []
    lengths: list[float] = []
    while len(node) > 2:
        spread, mean = _differences(distance, reach)
        parents: list[int] = []  # of each family, which are the nodes of the next round
        weight = np.zeros((0, len(node)))  # of the nodes of this round in the distances of each parent, which are means
        offset: list[float] = []  # the mean distance of each parent from these nodes, which is subtracted
        for family in _families(spread, shortest):
            member_weight = np.zeros(len(node))
            parent = _parent(family, distance, mean, shortest)
            if parent is not None:
                # A member is the parent: it keeps its distances.
                member_weight[parent] = 1
                offset.append(0.0)
                parents.append(int(node[parent]))
                children = family[family != parent]
                child_lengths = distance[parent, children]
            else:
                # A new hidden parent h: d_ih = ½ (d_ij + Φ_ijk), averaged over the other members j and all k.
                member_weight[family] = 1 / len(family)
                children = family
                inner = np.ix_(family, family)
                child_lengths = np.maximum((distance[inner] + mean[inner]).sum(axis=1) / (2 * (len(family) - 1)), 0)
                offset.append(float(child_lengths.mean()))
                parents.append(n_nodes)
                n_nodes += 1
            edges += [(int(node[child]), parents[-1]) for child in children]
            lengths += child_lengths.tolist()
            weight = np.vstack([weight, member_weight])
        # d_hl = d_il - d_ih, averaged over the members i of the family of h; and the same for the members below l.
        distance = np.maximum(weight @ distance @ weight.T - np.add.outer(offset, offset), 0)
        np.fill_diagonal(distance, 0)
        node = np.array(parents)
        progress(d - len(node), d)
    if len(node) == 2:
        edges.append((int(node[0]), int(node[1])))
        lengths.append(float(distance[0, 1]))
    progress(d, d)
    return np.array(edges, dtype=np.intp), np.array(lengths)


def contracted(edges: IntArray, lengths: FloatArray, n_observed: int, shortest: float) -> tuple[IntArray, FloatArray]:
    """Contract edges shorter than ``shortest``, except between two observed nodes, and renumber hidden nodes."""
    merged = np.arange(max(int(edges.max()) + 1, n_observed))  # the node that each node was merged into
    keep = np.ones(len(edges), dtype=bool)
    for edge in np.argsort(lengths, kind="stable"):
        low, high = sorted(merged[edges[edge]].tolist())
        if lengths[edge] >= shortest:
            break
        if high >= n_observed:
            merged[merged == high] = low
            keep[edge] = False
    hidden = np.unique(merged[merged >= n_observed])
    number = {old: n_observed + new for new, old in enumerate(hidden.tolist())}
    renamed = [[number.get(end, end) for end in pair] for pair in merged[edges[keep]].tolist()]
    return np.array(renamed, dtype=np.intp).reshape(-1, 2), lengths[keep]


def _differences(distance: FloatArray, reach: float) -> tuple[FloatArray, FloatArray]:
    """Return for every pair i, j how much ``Φ_ijk`` varies over its witnesses k, and its mean over them.

    The witnesses are all nodes within reach of both, but at least the ``_MIN_WITNESSES`` nearest ones.
    """
    r = len(distance)
    spread, mean = np.zeros((r, r)), np.zeros((r, r))
    diagonal = np.eye(r, dtype=bool)
    for i in range(r):
        # farther[j, k] = max(d_ik, d_jk), for k other than i and j
        farther = np.maximum(distance[i], distance)
        farther[diagonal[i] | diagonal] = np.inf
        nearest = np.sort(farther, axis=1)[:, min(_MIN_WITNESSES, r - 2) - 1]
        witness = (farther <= np.maximum(reach, nearest)[:, None]) & np.isfinite(farther)
        # Φ_ijk = d_ik - d_jk
        phi = distance[i] - distance
        spread[i] = np.where(witness, phi, -np.inf).max(axis=1) - np.where(witness, phi, np.inf).min(axis=1)
        mean[i] = (phi * witness).sum(axis=1) / np.maximum(witness.sum(axis=1), 1)
    spread[diagonal] = 0
    mean[diagonal] = 0
    # Pairs that are out of each other's reach vary more than all others, and farther pairs more than nearer ones.
    far = (distance > reach) & ~diagonal
    spread[far] = spread.max() * (1 + distance[far] / distance.max())
    return spread, mean


def _families(spread: FloatArray, shortest: float) -> list[IntArray]:
    """Return a clustering of the nodes into families, at least one of which has two members.

    Of all clusterings that complete linkage makes on its way from single nodes to one cluster, it is the one with the
    largest mean silhouette.
    """
    r = len(spread)
    if spread.max() <= 2 * shortest:
        return [np.arange(r)]
    spread = (spread + spread.T) / 2
    members: dict[int, IntArray] = {leaf: np.array([leaf]) for leaf in range(r)}
    total = np.full((r, 2 * r - 1), np.inf)  # sums of each node's spreads to the members of each cluster
    total[:, :r] = spread
    size = np.ones(2 * r - 1)
    best, chosen = -np.inf, [np.arange(r)]
    widest = 0.0
    for new, (i, j, height, _) in enumerate(linkage(squareform(spread, checks=False), "complete"), start=r):
        # Merge clusters i and j.
        one, other = int(i), int(j)
        members[new] = np.concatenate([members.pop(one), members.pop(other)])
        size[new] = len(members[new])
        total[:, new] = total[:, one] + total[:, other]
        total[:, [one, other]] = np.inf
        widest = max(widest, float(height))
        if len(members) == 1:
            break
        quality = _silhouette(total / size, members, widest)
        if quality > best:
            best, chosen = quality, list(members.values())
    return chosen


def _silhouette(to_cluster: FloatArray, members: dict[int, IntArray], widest: float) -> float:
    """Return the mean silhouette, ``(b - a) / max(a, b)`` averaged over the nodes.

    a is the mean spread of a node to the other members of its cluster, b that to the members of the nearest other
    cluster. A node alone has as its a the width of the widest cluster (Choi's rule).
    """
    own = np.empty(len(to_cluster))
    others = to_cluster.copy()
    for cluster, nodes in members.items():
        own[nodes] = widest if len(nodes) == 1 else to_cluster[nodes, cluster] * len(nodes) / (len(nodes) - 1)
        others[nodes, cluster] = np.inf
    nearest = others.min(axis=1)
    larger = np.maximum(own, nearest)
    return float(np.mean(np.divide(nearest - own, larger, out=np.zeros_like(own), where=larger > 0)))


def _parent(family: IntArray, distance: FloatArray, mean: FloatArray, shortest: float) -> int | None:
    """Return the member p that is the parent of the others, if any: ``Φ_ipk = d_ip`` for each child i."""
    if len(family) == 1:
        return int(family[0])
    inner = np.ix_(family, family)
    misfit = np.abs(distance[inner] - mean[inner]).sum(axis=0)  # Σ_i |d_ip - Φ_ipk| for each member p
    candidate = int(np.argmin(misfit))
    return int(family[candidate]) if misfit[candidate] < 2 * shortest * (len(family) - 1) else None
