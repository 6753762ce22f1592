"""Chow-Liu grouping (Choi, Tan, Anandkumar and Willsky 2011): a spanning tree first, then hidden nodes in it, locally.

The minimum spanning tree of the distances joins columns that are near each other in the hidden tree. Each of its inner
nodes, with its neighbours, is then replaced by the tree that recursive grouping (CLRG) or neighbour joining (CLNJ)
makes of these few nodes alone. A hidden neighbour takes part by the column during whose replacement it was made, its
surrogate.
"""

from collections.abc import Callable, Sequence

import numpy as np

from latree._util.arrays import FloatArray, IntArray
from latree._util.progress import Progress, no_progress
from latree.counts.distances import finite
from latree.learners.chow_liu import chow_liu
from latree.learners.latent_class import latent_class
from latree.learners.recursive_grouping import contracted
from latree.learners.structure import Structure
from latree.tree import Tree


def chow_liu_grouping(
    names: Sequence[str],
    distance: FloatArray,
    learn: Callable[[FloatArray], tuple[IntArray, FloatArray]],
    *,
    shortest: float = 1e-6,
    progress: Progress = no_progress,
) -> Structure:
    """Build a tree from distances that add up along paths.

    Inner nodes of the spanning tree are visited by falling number of neighbours, as in the authors' program, and of
    equally many, by how near those are; the paper leaves the order open.

    Parameters
    ----------
    names : sequence of str
        Names of the columns.
    distance : array, shape (d, d)
        Symmetric.
    learn : callable
        Makes edges and lengths from the distances of three or more nodes: :func:`latree.learners.neighbor_joining.join`
        or :func:`latree.learners.recursive_grouping.group`.
    shortest : float
        Shorter edges are contracted in the end.
    progress : callable
        Told the number of inner nodes visited, and of all.
    """
    d = len(names)
    if d < 3:
        return latent_class(names)
    distance = finite(distance)
    near: dict[int, dict[int, float]] = {node: {} for node in range(d)}  # neighbours, and how far they are

    def connect(u: int, v: int, length: float) -> None:
        near[u][v] = near[v][u] = length

    for u, v in chow_liu(names, -distance).tree.edges.tolist():
        connect(u, v, float(distance[u, v]))
    surrogate = {node: (node, 0.0) for node in range(d)}  # the column that stands for a node, and how far that is
    inner = [node for node in range(d) if len(near[node]) > 1]
    inner.sort(key=lambda node: (-len(near[node]), sum(near[node].values())))
    for count, center in enumerate(inner, start=1):
        standing: dict[int, int] = {center: center}  # column: the node that it stands for
        for node in near[center]:
            standing.setdefault(surrogate[node][0], node)
        if len(standing) < 3:
            continue
        for node in list(standing.values())[1:]:
            del near[center][node], near[node][center]
        columns, nodes = list(standing), list(standing.values())
        edges, lengths = learn(distance[np.ix_(columns, columns)])
        nodes += range(len(near), len(near) + int(edges.max()) + 1 - len(columns))
        near.update({node: {} for node in nodes[len(columns) :]})
        for (i, j), length in zip(edges.tolist(), lengths.tolist(), strict=True):
            beyond = sum(surrogate[nodes[end]][1] for end in (i, j) if end < len(columns))
            connect(nodes[i], nodes[j], max(length - beyond, 0.0))
        away = _path_lengths(edges, lengths)
        surrogate.update({node: (center, away[number]) for number, node in enumerate(nodes) if number >= len(columns)})
        progress(count, len(inner))
    pairs = [(u, v, length) for u, others in near.items() for v, length in others.items() if u < v]
    all_edges = np.array([(u, v) for u, v, _ in pairs], dtype=np.intp)
    return Structure(Tree(names, *contracted(all_edges, np.array([length for *_, length in pairs]), d, shortest)))


def _path_lengths(edges: IntArray, lengths: FloatArray) -> dict[int, float]:
    """Give the distance of every node of a tree from node 0."""
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
