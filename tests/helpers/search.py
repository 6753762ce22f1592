"""Small models of random numbers, messages of every kind, and the obvious way to compute with them."""

import itertools
from dataclasses import replace
from itertools import pairwise
from math import log
from types import SimpleNamespace

import numpy as np

from helpers.models import copying_model
from latree.inference.evidence import column_cells
from latree.model import fit_model
from latree.paper.simulate import random_tree
from latree.search.local import SMOOTHING, Pair, Star
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


def naive_em(model, weights, smoothing, n_steps):
    """Some steps of EM, row by row: expected counts of every state of every variable, divided by their sums."""
    for _ in range(n_steps):
        model = _naive_step(model, weights, smoothing)
    return model


def _naive_step(model, weights, smoothing):
    ends = [(model.tables, model.messages)]
    if isinstance(model, Pair):
        ends.append((model.other_tables, model.other_messages))
    counts = [[np.full(table.shape, smoothing) for table in tables] for tables, _ in ends]
    # P(h, g) with one state g where there is no second hidden variable
    joint = (model.between * model.prior).T if isinstance(model, Pair) else model.prior[:, None]
    together = np.zeros(joint.shape)
    for row, weight in enumerate(weights):
        posterior = joint.copy()
        for h, g in np.ndindex(joint.shape):
            for (tables, messages), state in zip(ends, (h, g), strict=False):
                posterior[h, g] *= likelihood(tables, messages, state, row)
        posterior *= weight / posterior.sum()
        together += posterior
        for axis, (tables, messages) in enumerate(ends):
            for found, table, message in zip(counts[axis], tables, messages, strict=True):
                own = table * message[:, [row]]  # P(u, cells | h)
                found += own / own.sum(axis=0) * posterior.sum(axis=1 - axis)

    def shares(array):
        return array / array.sum(axis=0)

    new = [tuple(shares(found) for found in side) for side in counts]
    changed = {"prior": shares(together.sum(axis=1) + smoothing), "tables": new[0]}
    if isinstance(model, Pair):
        changed |= {"between": shares(together.T + smoothing), "other_tables": new[1]}
    return replace(model, **changed)


def all_of(table):
    """All rows of a table as one block."""
    return table.subsample_block(10**9, 0)


def surroundings(model, table):
    """The messages around the hidden variables of a model, in the table's own order of rows."""
    block = all_of(table)
    cells = column_cells(block.codes, table.n_states.tolist())
    rows = SimpleNamespace(block=block, cells=cells, n_states=None, log_rows=log(table.total_weight))
    return Surroundings(model, rows)


def around_fitted(tree, table, n_states=3):
    """The messages around the hidden variables of a tree that is fitted to the rows."""
    return surroundings(fit_model(table, tree, n_states, smoothing=SMOOTHING, random_state=0).model, table)


def two_groups(first, second):
    """Two hidden variables next to each other, with these columns."""
    d = len(first) + len(second)
    edges = [(column, d) for column in first] + [(column, d + 1) for column in second]
    return Tree([f"x{column}" for column in range(d)], [*edges, (d, d + 1)])


def rows_of_two(sizes=(4, 4), between=0.6, n_rows=600, seed=0, strength=0.6):
    """Rows of two hidden variables that depend on each other, with some columns each, and their tree."""
    d = sum(sizes)
    tree = two_groups(range(sizes[0]), range(sizes[0], d))
    model = copying_model(tree, lambda u, v: strength if min(u, v) < d else between, [4] * d + [3, 3])
    return tree, model.sample(n_rows, seed)


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
