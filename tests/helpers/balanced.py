"""Balanced lengths of binary trees pair by pair, and all trees that one regraft makes."""

import numpy as np

from latree.learners.minimum_evolution import BalancedTree
from latree.tree import Tree


def naive_length(tree, distance):
    """Pauplin's formula, a pair after another."""
    edges = tree.path_lengths()
    d = tree.n_observed
    return sum(2.0 ** (1 - edges[i, j]) * distance[i, j] for i in range(d) for j in range(i))


def noise(d, seed):
    values = np.random.default_rng(seed).uniform(1, 2, (d, d))
    return np.triu(values, 1) + np.triu(values, 1).T


def all_regrafts(tree):
    """Return for every subtree, by its top and the node it hangs on, all binary trees that have it elsewhere."""
    found = {}
    edges = tree.edges.tolist()
    for top, old in [*edges, *(edge[::-1] for edge in edges)]:
        if old < tree.n_observed:
            continue
        inside, waiting = {top}, [top]
        while waiting:
            node = waiting.pop()
            new = {other for other, _ in tree.neighbors[node]} - inside - {old}
            inside |= new
            waiting += new
        a, b = (other for other, _ in tree.neighbors[old] if other != top)
        left = [edge for edge in edges if old not in edge] + [[a, b]]
        found[top, old] = [
            Tree(tree.names, [edge for edge in left if edge is not cut] + [[top, old], [old, cut[0]], [old, cut[1]]])
            for cut in left
            if not inside & {*cut} and cut != [a, b]
        ]
    return found


def balanced(tree, distance):
    return BalancedTree([[other for other, _ in pairs] for pairs in tree.neighbors], distance)
