"""Small models of random numbers, messages of every kind, and the obvious way to compute with them."""

import itertools
from itertools import pairwise
from types import SimpleNamespace

import numpy as np

from latree.inference.evidence import column_cells
from latree.paper.simulate import random_tree
from latree.search.local import Pair, Star
from latree.search.sample import Surroundings
from latree.tree import Tree

KINDS = ("hard", "missing", "soft")


def random_message(kind, n_states, n_rows, rng):
    """What a neighbour's cells say: certain cells, some of which may be missing, or likelihoods of its states."""
    if kind == "soft":
        return rng.random((n_states, n_rows))
    cells = np.arange(n_states)[:, None] == rng.integers(n_states, size=n_rows)
    if kind == "missing":
        cells[:, rng.random(n_rows) < 0.4] = True
    return cells


def random_tables(sizes, k, rng):
    return tuple(rng.dirichlet(np.ones(n), size=k).T for n in sizes)


def random_star(kinds, sizes, k, rng, n_rows=40):
    messages = tuple(random_message(kind, n, n_rows, rng) for kind, n in zip(kinds, sizes, strict=True))
    return Star(messages, rng.dirichlet(np.ones(k)), random_tables(sizes, k, rng))


def random_pair(kinds, sizes, k, rng, n_rows=40):
    """Two hidden variables of ``k = (h, g)`` states; ``kinds`` and ``sizes`` have one tuple for each."""
    one, other = (random_star(kinds[side], sizes[side], k[side], rng, n_rows) for side in range(2))
    between = rng.dirichlet(np.ones(k[1]), size=k[0]).T
    return Pair(one.messages, other.messages, one.prior, between, one.tables, other.tables)


def likelihood(tables, messages, state, row):
    """The probability of the neighbours' cells in a row, given the state of their hidden variable."""
    return np.prod([table[:, state] @ message[:, row] for table, message in zip(tables, messages, strict=True)])


def naive_rows(model):
    """The log-likelihood of each row, by a sum over the states of the hidden variables."""
    n_rows = model.messages[0].shape[1]
    if isinstance(model, Star):
        return [
            np.log(sum(p * likelihood(model.tables, model.messages, h, row) for h, p in enumerate(model.prior)))
            for row in range(n_rows)
        ]
    pairs = list(itertools.product(*map(range, model.between.shape[::-1])))
    return [
        np.log(
            sum(
                model.prior[h]
                * model.between[g, h]
                * likelihood(model.tables, model.messages, h, row)
                * likelihood(model.other_tables, model.other_messages, g, row)
                for h, g in pairs
            )
        )
        for row in range(n_rows)
    ]


def all_of(table):
    """All rows of a table as one block."""
    return table.subsample_block(10**9, 0)


def surroundings(model, table):
    """The messages around the hidden variables of a model, in the table's own order of rows."""
    block = all_of(table)
    cells = column_cells(block.codes, table.n_states.tolist())
    return Surroundings(model, SimpleNamespace(block=block, cells=cells))


def groups_of(tree):
    """The columns of each hidden variable that has some, by their names."""
    near = ([tree.names[u] for u, _ in around if u < tree.n_observed] for around in tree.neighbors[tree.n_observed :])
    return {frozenset(names) for names in near if names}


def random_binary(table, seed=0):
    """A binary tree that knows nothing of the rows."""
    tree = random_tree(table.n_columns, 0.5, seed)
    return Tree(table.names, tree.edges)


def resolved(tree, seed=0):
    """A binary tree that has all edges of a tree without columns between others, and random ones."""
    edges, n_nodes, rng = [], tree.n_nodes, np.random.default_rng(seed)
    ends = {node: [u for u, _ in tree.neighbors[node]] for node in range(tree.n_observed, tree.n_nodes)}
    at = {}  # where a neighbour finds the part of a hidden variable that it hangs on
    for node, near in ends.items():
        near = rng.permutation(near).tolist()
        parts = [node, *range(n_nodes, n_nodes + len(near) - 3)]
        n_nodes += len(parts) - 1
        edges += list(pairwise(parts))
        slots = [parts[0], *parts, parts[-1]]
        at |= {(node, other): slot for other, slot in zip(near, slots, strict=True)}
    edges += [(at.get((u, v), u), at.get((v, u), v)) for u, v in tree.edges.tolist()]
    return Tree(tree.names, edges)


def hidden_states(model):
    """Return the number of states of each hidden variable."""
    return tuple(model.n_states[model.tree.n_observed :].tolist())
