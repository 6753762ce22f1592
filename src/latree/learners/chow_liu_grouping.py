"""Chow-Liu grouping (Choi, Tan, Anandkumar and Willsky 2011): a spanning tree, into which hidden nodes are put."""

from collections.abc import Callable, Sequence

import numpy as np

from latree._util.arrays import FloatArray, IntArray
from latree._util.progress import Progress, no_progress
from latree.counts.distances import finite
from latree.learners.chow_liu import chow_liu
from latree.learners.joining import join
from latree.learners.recursive_grouping import contracted
from latree.learners.simplest import latent_class
from latree.learners.structure import Structure
from latree.tree import Tree


def chow_liu_grouping(
    names: Sequence[str],
    distance: FloatArray,
    learn: Callable[[FloatArray], tuple[IntArray, FloatArray]] = join,
    *,
    shortest: float = 1e-6,
    progress: Progress = no_progress,
) -> Structure:
    """Build a tree from distances that add up along paths, by learning many small trees.

    Use it like :func:`latree.learners.recursive_grouping`, but for many columns: it is much faster, as only neighbours
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
        Symmetric, such as :func:`latree.counts.log_det`.
    learn : callable
        From the distances of three or more nodes to edges and lengths:
        :func:`latree.learners.joining.join`, the default, or
        :func:`latree.learners.recursive_grouping.group`.
    shortest : float
        Shorter edges are contracted in the end.
    progress : callable
        Called with the number of inner nodes visited, and of all inner nodes.

    References
    ----------
    Choi, Tan, Anandkumar and Willsky (2011), Learning Latent Tree Graphical Models.

    Examples
    --------
    Leaves a and b are neighbours, c and d are neighbours, and the inner edge has length 3:

    >>> import numpy as np
    >>> from latree.learners import chow_liu_grouping
    >>> distance = np.array([[0, 3, 5, 6], [3, 0, 6, 7], [5, 6, 0, 3], [6, 7, 3, 0]])
    >>> print(chow_liu_grouping("abcd", distance).tree.to_newick().strip())
    (a:1.0,b:2.0,(c:1.0,d:2.0):3.0);
    """
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
