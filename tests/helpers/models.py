"""Small models for tests, and the obvious way to compute with them."""

import itertools

import numpy as np

from latree.counts.distances import PairDistributions
from latree.model import LatentTreeModel
from latree.table import Column, Table
from latree.tree import Tree

MISSING_SHARE = 0.3


def model_on(tree, sizes, seed):
    """A model with random tables; sizes has one number of states a node."""
    rng = np.random.default_rng(seed)
    tables = []
    for node, parent in enumerate(tree.rooted().parent.tolist()):
        tables.append(rng.dirichlet(np.ones(sizes[node]), size=sizes[parent] if parent >= 0 else 1).T)
    columns = tuple(
        Column(name, "integer", tuple(map(str, range(size)))) for name, size in zip(tree.names, sizes, strict=False)
    )
    return LatentTreeModel(tree, columns, tuple(tables))


def small_models():
    """Every shape that a tree may have: binary, star, forest, observed inner nodes, a chain of hidden nodes."""
    binary = Tree("abcde", [(0, 5), (1, 5), (5, 6), (2, 6), (6, 7), (3, 7), (4, 7)])
    star = Tree("abcd", [(i, 4) for i in range(4)])
    forest = Tree("abcde", [(0, 5), (1, 5), (2, 5), (3, 4)])
    observed_inner = Tree("abcde", [(0, 1), (1, 5), (5, 2), (5, 3), (3, 4)])
    chain = Tree("abc", [(0, 3), (3, 4), (4, 1), (4, 5), (5, 2)])
    return [
        model_on(binary, [2, 3, 2, 4, 3, 2, 3, 2], 1),
        model_on(star, [3, 2, 3, 2, 3], 2),
        model_on(forest, [2, 2, 3, 3, 2, 2], 3),
        model_on(observed_inner, [2, 3, 2, 3, 2, 2], 4),
        model_on(chain, [2, 3, 2, 2, 3, 2], 5),
    ]


def naive_joint(model):
    """The distribution of all nodes by multiplying the tables, one axis a node."""
    sizes = model.n_states.tolist()
    parent = model.tree.rooted().parent.tolist()
    joint = np.zeros(sizes)
    for states in itertools.product(*map(range, sizes)):
        joint[states] = np.prod(
            [table[states[v], states[parent[v]] if parent[v] >= 0 else 0] for v, table in enumerate(model.tables)]
        )
    return joint


def all_rows(model):
    """Every possible row of the columns, missing cells (-1) among them."""
    return np.array(list(itertools.product(*(range(-1, c.n_states) for c in model.columns))))


def table_of(model, codes, weights=None):
    return Table.from_codes(model.columns, np.asarray(codes), weights)


def exact_pairs(model):
    """The pair tables of all columns, as infinitely many rows would show them."""
    d, n = len(model.columns), max(column.n_states for column in model.columns)
    joint = np.zeros((d, d, n, n))
    for i, j in np.ndindex(d, d):
        exact = model.joint([i, j]) if i != j else np.diag(model.joint([i]))
        joint[i, j, : exact.shape[0], : exact.shape[1]] = exact
    return PairDistributions(joint, np.full((d, d), np.inf))
