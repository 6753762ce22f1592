"""Chow-Liu trees, recursive grouping, and recursive grouping around a Chow-Liu tree."""

from collections.abc import Callable, Sequence

import numpy as np
from scipy.cluster.hierarchy import linkage
from scipy.spatial.distance import squareform

from latree._util.arrays import FloatArray, IntArray
from latree._util.progress import claim_progress
from latree.counts.distances import finite
from latree.learners.joining import join
from latree.learners.structure import Structure, latent_class
from latree.tree import Tree


def chow_liu(names: Sequence[str], information: FloatArray) -> Structure:
    """Build the maximum spanning tree of mutual information over the columns.

    Use it as a fast baseline without hidden variables. Among all trees whose nodes are the columns, the one of maximum
    likelihood is the spanning tree with the largest sum of mutual information over its edges,

        ``Σ_(i,j) I(x_i; x_j)``

    It is built by Prim's algorithm. Of edges with the same information, which the paper leaves open, the edge of the
    earlier column is taken.

    Parameters
    ----------
    names : sequence of str
        Names of the columns.
    information : array, shape (d, d)
        Mutual information of every two columns, from :func:`latree.research.information`.

    References
    ----------
    Chow and Liu (1968), Approximating Discrete Probability Distributions with Dependence Trees.

    Examples
    --------
    >>> import numpy as np
    >>> from latree.research import chow_liu
    >>> information = np.array([[0.7, 0.3, 0.1], [0.3, 0.7, 0.4], [0.1, 0.4, 0.7]])
    >>> chow_liu("abc", information).tree.edges.tolist()
    [[0, 1], [1, 2]]
    """
    d = len(names)
    # For each column, its best edge into the tree so far: the information, and the column at the other end.
    best, partner = information[0].copy(), np.zeros(d, dtype=np.intp)
    outside = np.ones(d, dtype=bool)
    outside[0] = False
    edges = []
    for _ in range(d - 1):
        # Add the column with the best edge into the tree.
        column = int(np.argmax(np.where(outside, best, -np.inf)))
        edges.append((int(partner[column]), column))
        outside[column] = False
        # Some columns now have a better edge, to the column just added.
        better = information[column] > best
        best[better], partner[better] = information[column][better], column
    return Structure(Tree(names, edges))


def hidden_chow_liu(names: Sequence[str], information: FloatArray) -> Structure:
    """Build the Chow-Liu tree over hidden twins of the columns, with every column attached to its twin.

    Use it for a good density, not to explain the columns: it has one hidden variable per column.

    Parameters
    ----------
    names : sequence of str
        Names of the columns.
    information : array, shape (d, d)
        Mutual information of every two columns, from :func:`latree.research.information`.

    References
    ----------
    Liu and Van den Broeck (2021), Tractable Regularization of Probabilistic Circuits.

    Examples
    --------
    Nodes 3, 4 and 5 are the twins of columns a, b and c:

    >>> import numpy as np
    >>> from latree.research import hidden_chow_liu
    >>> information = np.array([[0.7, 0.3, 0.1], [0.3, 0.7, 0.4], [0.1, 0.4, 0.7]])
    >>> hidden_chow_liu("abc", information).tree.edges.tolist()
    [[0, 3], [1, 4], [2, 5], [3, 4], [4, 5]]
    """
    d = len(names)
    own = [(column, d + column) for column in range(d)]
    between = [(d + u, d + v) for u, v in chow_liu(names, information).tree.edges.tolist()]
    return Structure(Tree(names, own + between))


# A pair is judged by at least this many other nodes, its witnesses, however far they are.
_MIN_WITNESSES = 5


def recursive_grouping(
    names: Sequence[str],
    distance: FloatArray,
    *,
    reach: float = np.inf,
    shortest: float = 1e-6,
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
        Symmetric, such as :func:`latree.research.log_det`.
    reach : float
        Distances above this are too uncertain to be used.
    shortest : float
        Shorter edges are contracted. All nodes are one family if no ``Φ_ijk`` varies by more than twice this.

    References
    ----------
    Choi, Tan, Anandkumar and Willsky (2011), Learning Latent Tree Graphical Models.

    Examples
    --------
    Three columns in a chain: b lies between a and c, and no hidden variable is needed.

    >>> import numpy as np
    >>> from latree.research import recursive_grouping
    >>> distance = np.array([[0.0, 1.0, 3.0], [1.0, 0.0, 2.0], [3.0, 2.0, 0.0]])
    >>> tree = recursive_grouping("abc", distance).tree
    >>> tree.edges.tolist(), tree.lengths.tolist()
    ([[0, 1], [2, 1]], [1.0, 2.0])
    """
    if len(names) < 3:
        return latent_class(names)
    edges, lengths = group(finite(distance), reach, shortest)
    return Structure(Tree(names, *contracted(edges, lengths, len(names), shortest)))


def group(distance: FloatArray, reach: float, shortest: float) -> tuple[IntArray, FloatArray]:
    """Group at least three nodes; return the edges and their lengths. New nodes are d, d + 1, ..."""
    progress = claim_progress()
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


def chow_liu_grouping(
    names: Sequence[str],
    distance: FloatArray,
    learn: Callable[[FloatArray], tuple[IntArray, FloatArray]] = join,
    *,
    shortest: float = 1e-6,
) -> Structure:
    """Build a tree from distances that add up along paths, by learning many small trees.

    Use it like :func:`latree.research.recursive_grouping`, but for many columns: it is much faster, as only neighbours
    in a spanning tree are compared.

    The minimum spanning tree of the distances joins columns that are near each other in the hidden tree. Each of its
    inner nodes, with its neighbours, is then replaced by the tree that recursive grouping (CLRG) or neighbour joining
    (CLNJ) makes of these few nodes alone. The distances of a hidden node are not known. So a hidden neighbour is
    represented by its surrogate: the column during whose replacement it was made.

    Inner nodes of the spanning tree are visited in order of falling number of neighbours, as in the authors' program,
    and of equally many, those with nearer neighbours first. The paper leaves the order open.

    Parameters
    ----------
    names : sequence of str
        Names of the columns.
    distance : array, shape (d, d)
        Symmetric, such as :func:`latree.research.log_det`.
    learn : callable
        From the distances of three or more nodes to edges and lengths:
        :func:`latree.learners.joining.join`, the default, or
        :func:`latree.learners.grouping.group`.
    shortest : float
        Shorter edges are contracted in the end.

    References
    ----------
    Choi, Tan, Anandkumar and Willsky (2011), Learning Latent Tree Graphical Models.

    Examples
    --------
    Leaves a and b are neighbours, c and d are neighbours, and the inner edge has length 3:

    >>> import numpy as np
    >>> from latree.research import chow_liu_grouping
    >>> distance = np.array([[0, 3, 5, 6], [3, 0, 6, 7], [5, 6, 0, 3], [6, 7, 3, 0]])
    >>> print(chow_liu_grouping("abcd", distance).tree.to_newick().strip())
    (a:1.0,b:2.0,(c:1.0,d:2.0):3.0);
    """
    progress = claim_progress()
    d = len(names)
    if d < 3:
        return latent_class(names)
    distance = finite(distance)
    near: dict[int, dict[int, float]] = {node: {} for node in range(d)}  # the neighbours of a node, and their distance

    def connect(u: int, v: int, length: float) -> None:
        near[u][v] = near[v][u] = length

    # The minimum spanning tree of the distances is the Chow-Liu tree of their negatives.
    for u, v in chow_liu(names, -distance).tree.edges.tolist():
        connect(u, v, float(distance[u, v]))
    inner = [node for node in range(d) if len(near[node]) > 1]
    inner.sort(key=lambda node: (-len(near[node]), sum(near[node].values())))

    surrogate = {node: (node, 0.0) for node in range(d)}  # the column that represents a node, and how far it is
    for count, center in enumerate(inner, start=1):
        # Take the center and its neighbours; hidden neighbours are represented by their surrogates.
        represented: dict[int, int] = {center: center}  # from a column to the node that it represents
        for node in near[center]:
            represented.setdefault(surrogate[node][0], node)
        if len(represented) < 3:
            continue

        # Remove the edges between them.
        for node in list(represented.values())[1:]:
            del near[center][node], near[node][center]

        # Learn a tree over them, and number its hidden nodes.
        columns, nodes = list(represented), list(represented.values())
        edges, lengths = learn(distance[np.ix_(columns, columns)])
        nodes += range(len(near), len(near) + int(edges.max()) + 1 - len(columns))
        near.update({node: {} for node in nodes[len(columns) :]})

        # Add its edges. An edge to a surrogate ends at the hidden node before it: subtract the distance between them.
        for (i, j), length in zip(edges.tolist(), lengths.tolist(), strict=True):
            beyond = sum(surrogate[nodes[end]][1] for end in (i, j) if end < len(columns))
            connect(nodes[i], nodes[j], max(length - beyond, 0.0))

        # The center is the surrogate of all hidden nodes that were made here.
        from_center = _path_lengths(edges, lengths)
        surrogate.update(
            {node: (center, from_center[number]) for number, node in enumerate(nodes) if number >= len(columns)}
        )
        progress(count, len(inner))
    pairs = [(u, v, length) for u, others in near.items() for v, length in others.items() if u < v]
    all_edges = np.array([(u, v) for u, v, _ in pairs], dtype=np.intp)
    return Structure(Tree(names, *contracted(all_edges, np.array([length for *_, length in pairs]), d, shortest)))


def _path_lengths(edges: IntArray, lengths: FloatArray) -> dict[int, float]:
    """Return the distance of every node of a tree from node 0."""
    found = {0: 0.0}
    waiting = list(zip(edges.tolist(), lengths.tolist(), strict=True))
    while waiting:
        later = []
        for (i, j), length in waiting:
            if i in found or j in found:
                found.setdefault(i, found.get(j, 0.0) + length)
                found.setdefault(j, found[i] + length)
            else:
                later.append(((i, j), length))
        waiting = later
    return found
