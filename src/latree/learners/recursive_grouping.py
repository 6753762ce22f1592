"""Recursive grouping (Choi, Tan, Anandkumar and Willsky 2011): find families of nodes, put a parent above each, repeat.

For distances that add up along paths, ``Φ_ijk = d_ik - d_jk`` tells families: i and j are siblings, or one is the
other's parent, if and only if ``Φ_ijk`` is the same for all other nodes k; j is the parent of i if moreover
``Φ_ijk = d_ij``. Nodes of a family get a hidden parent, unless one of them is the parent already. Parents go on to the
next round, at

    ``d_ih = ½ (d_ij + Φ_ijk)``  and  ``d_hl = d_il - d_ih``

from their children and the others, averaged over all i, j and k that may be asked. Trees may have observed inner nodes
and hidden nodes with any number of neighbours.
"""

from collections.abc import Sequence

import numpy as np
from scipy.cluster.hierarchy import linkage
from scipy.spatial.distance import squareform

from latree._util.arrays import FloatArray, IntArray
from latree._util.progress import Progress, no_progress
from latree.counts.distances import finite
from latree.learners.latent_class import latent_class
from latree.learners.structure import Structure
from latree.tree import Tree

_MIN_WITNESSES = 5  # how many other nodes a pair is judged by at least, however far they are


def recursive_grouping(
    names: Sequence[str],
    distance: FloatArray,
    *,
    reach: float = np.inf,
    shortest: float = 1e-6,
    progress: Progress = no_progress,
) -> Structure:
    """Build a tree from distances that add up along paths.

    The paper leaves open how families are told from sampled distances; here, as in its authors' program, nodes are
    clustered by how much ``Φ_ijk`` varies with k, and the clustering with the largest mean silhouette is taken. (Theirs
    clusters around random medoids; here it is complete linkage, which needs no chance.)

    Parameters
    ----------
    names : sequence of str
        Names of the columns.
    distance : array, shape (d, d)
        Symmetric.
    reach : float
        Distances beyond this are too uncertain to be looked at.
    shortest : float
        Edges below this length are held for none and contracted; all nodes are one family if none of their ``Φ_ijk``
        vary by more than twice this.
    progress : callable
        Told the number of columns that have a parent, and of all columns.
    """
    if len(names) < 3:
        return latent_class(names)
    edges, lengths = group(finite(distance), reach, shortest, progress)
    return Structure(Tree(names, *contracted(edges, lengths, len(names), shortest)))


def group(
    distance: FloatArray, reach: float, shortest: float, progress: Progress = no_progress
) -> tuple[IntArray, FloatArray]:
    """Group at least three nodes; give the edges and their lengths, new nodes being d, d + 1, ..."""
    d = n_nodes = len(distance)
    node = np.arange(d)
    edges: list[tuple[int, int]] = []
    lengths: list[float] = []
    while len(node) > 2:
        spread, mean = _differences(distance, reach)
        weight = np.zeros((0, len(node)))  # of the old nodes in the mean distances of each new one
        offset: list[float] = []  # mean distance of a new node from those
        parents: list[int] = []
        for family in _families(spread, shortest):
            share = np.zeros(len(node))
            parent = _parent(family, distance, mean, shortest)
            if parent is not None:
                share[parent] = 1
                offset.append(0.0)
                parents.append(int(node[parent]))
                children = family[family != parent]
                away = distance[parent, children]
            else:
                share[family] = 1 / len(family)
                children = family
                inner = np.ix_(family, family)
                away = np.maximum((distance[inner] + mean[inner]).sum(axis=1) / (2 * (len(family) - 1)), 0)
                offset.append(float(away.mean()))
                parents.append(n_nodes)
                n_nodes += 1
            edges += [(int(node[child]), parents[-1]) for child in children]
            lengths += away.tolist()
            weight = np.vstack([weight, share])
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
    """Contract edges shorter than ``shortest``, except between two observed nodes; number hidden nodes anew."""
    merged = np.arange(max(int(edges.max()) + 1, n_observed))
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
    """Give for every pair how much ``Φ_ijk`` varies over the nodes k within reach of both, and its mean."""
    r = len(distance)
    spread, mean = np.zeros((r, r)), np.zeros((r, r))
    itself = np.eye(r, dtype=bool)
    for i in range(r):
        farther = np.maximum(distance[i], distance)  # [j, k]: how far k is from the farther of i and j
        farther[itself[i] | itself] = np.inf
        enough = np.sort(farther, axis=1)[:, min(_MIN_WITNESSES, r - 2) - 1]
        asked = (farther <= np.maximum(reach, enough)[:, None]) & np.isfinite(farther)
        phi = distance[i] - distance
        spread[i] = np.where(asked, phi, -np.inf).max(axis=1) - np.where(asked, phi, np.inf).min(axis=1)
        mean[i] = (phi * asked).sum(axis=1) / np.maximum(asked.sum(axis=1), 1)
    spread[itself] = 0
    mean[itself] = 0
    far = (distance > reach) & ~itself
    spread[far] = spread.max() * (1 + distance[far] / distance.max())  # more than all others, the more the farther
    return spread, mean


def _families(spread: FloatArray, shortest: float) -> list[IntArray]:
    """Part the nodes into families, at least one of them with two members."""
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
    """Give the mean silhouette; a node alone counts as if it had a cluster as wide as the widest (Choi's rule)."""
    own = np.empty(len(to_cluster))
    others = to_cluster.copy()
    for cluster, nodes in members.items():
        own[nodes] = widest if len(nodes) == 1 else to_cluster[nodes, cluster] * len(nodes) / (len(nodes) - 1)
        others[nodes, cluster] = np.inf
    nearest = others.min(axis=1)
    larger = np.maximum(own, nearest)
    return float(np.mean(np.divide(nearest - own, larger, out=np.zeros_like(own), where=larger > 0)))


def _parent(family: IntArray, distance: FloatArray, mean: FloatArray, shortest: float) -> int | None:
    """Find the member that is the parent of the others: for it, ``d_ip`` is ``Φ_ipk`` for each child i."""
    if len(family) == 1:
        return int(family[0])
    inner = np.ix_(family, family)
    misfit = np.abs(distance[inner] - mean[inner]).sum(axis=0)
    candidate = int(np.argmin(misfit))
    return int(family[candidate]) if misfit[candidate] < 2 * shortest * (len(family) - 1) else None
