"""Small models for tests, and the obvious way to compute with them."""

import itertools

import numpy as np

from latree.counts.distances import PairDistributions
from latree.inference.starts import identity_table
from latree.model import LatentTreeModel
from latree.table import Column, Table
from latree.tree import Tree

MISSING_SHARE = 0.3


def model_on(tree, sizes, seed):
    """A model with random tables; sizes has one number of states per node."""
    rng = np.random.default_rng(seed)
    tables = []
    for node, parent in enumerate(tree.rooted().parent.tolist()):
        tables.append(rng.dirichlet(np.ones(sizes[node]), size=sizes[parent] if parent >= 0 else 1).T)
    columns = tuple(
        Column(name, "integer", tuple(map(str, range(size))), ordered=True)
        for name, size in zip(tree.names, sizes, strict=False)
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
    """The distribution of all nodes by multiplying the tables, one axis per node."""
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
    """The joint distributions of all pairs of columns, as infinitely many rows would show them."""
    d, n = len(model.columns), max(column.n_states for column in model.columns)
    joint = np.zeros((d, d, n, n))
    for i, j in np.ndindex(d, d):
        exact = model.joint([i, j]) if i != j else np.diag(model.joint([i]))
        joint[i, j, : exact.shape[0], : exact.shape[1]] = exact
    return PairDistributions(joint, np.full((d, d), np.inf))


def chain_model(*tables):
    """A model of a chain of columns with two states, from the tables of each given the one before."""
    names = "abcdef"[: len(tables)]
    tree = Tree(names, [(i, i + 1) for i in range(len(names) - 1)])
    root = tree.rooted()
    assert root.order[0] == 1
    columns = tuple(Column(name, "integer", ("0", "1"), ordered=True) for name in names)
    return LatentTreeModel(tree, columns, tuple(np.array(table) for table in tables))


def star(d):
    """A tree of one hidden variable with d columns."""
    return Tree([f"x{i}" for i in range(d)], [(i, d) for i in range(d)])


def holes(rows, seed, share=MISSING_SHARE):
    """The same rows with a share of the cells missing."""
    rows = np.array(rows)
    rows[np.random.default_rng(seed).random(rows.shape) < share] = -1
    return rows


def given_row(joint, row):
    """The entries of a joint distribution that agree with a row; missing cells agree with all."""
    kept = joint
    for axis, state in enumerate(row):
        if state >= 0:
            kept = np.take(kept, [state], axis=axis)
    return kept


def copying_model(tree, strength, sizes=None):
    """A model of variables that copy their neighbour with a probability, and are drawn anew otherwise.

    ``strength`` takes the two ends of an edge; ``sizes`` has one number of states per node, 2 if it is not given. The
    correlation of two variables of two states is the product of the strengths between them.
    """
    sizes = sizes or [2] * tree.n_nodes
    tables = []
    for node, parent in enumerate(tree.rooted().parent.tolist()):
        copied = strength(node, parent) if parent >= 0 else 0
        above = sizes[parent] if parent >= 0 else 1
        tables.append(copied * identity_table(sizes[node], above) + (1 - copied) / sizes[node])
    columns = tuple(
        Column(name, "integer", tuple(map(str, range(n)))) for name, n in zip(tree.names, sizes, strict=False)
    )
    return LatentTreeModel(tree, columns, tuple(tables))


def grouped_model(sizes=(4, 4, 4), strength=0.6, between=0.7, hidden_states=3, column_states=4, top=True):
    """Groups of columns that copy a hidden variable each, and these a general one; without that, independent groups."""
    d = sum(sizes)
    edges = [(column, d + group) for column, group in enumerate(np.repeat(np.arange(len(sizes)), sizes).tolist())]
    if top:
        edges += [(d + group, d + len(sizes)) for group in range(len(sizes))]
    tree = Tree([f"x{column:02}" for column in range(d)], edges)
    states = [column_states] * d + [hidden_states] * tree.n_hidden
    return copying_model(tree, lambda u, v: strength if min(u, v) < d else between, states)


def topics_table(n_topics, n_words, n_rows, seed=0):
    """Texts about one topic each: which of its words, and few others, each text has. Also the topic of each word."""
    rng = np.random.default_rng(seed)
    topics = np.repeat(np.arange(n_topics), n_words)
    about = rng.integers(n_topics, size=(n_rows, 1))
    cells = rng.random((n_rows, len(topics))) < np.where(about == topics, 0.5, 0.03)
    columns = tuple(Column(f"x{column:02}", "integer", ("0", "1"), ordered=True) for column in range(len(topics)))
    return Table.from_codes(columns, cells.astype(np.int32)), topics


def topics_tree(table, topics):
    """A hidden variable for each topic, and a general one."""
    d, n_topics = len(topics), max(topics) + 1
    edges = [(column, d + topic) for column, topic in enumerate(topics.tolist())]
    return Tree(table.names, [*edges, *((d + topic, d + n_topics) for topic in range(n_topics))])


def on_tree(model, tree):
    """The same distribution on the same tree with other numbers of columns; hidden variables keep their numbers."""
    old = [model.tree.names.index(name) for name in tree.names] + list(range(tree.n_observed, tree.n_nodes))
    tables = []
    for node, parent in enumerate(tree.rooted().parent.tolist()):
        joint = model.joint([old[node], old[parent]]) if parent >= 0 else model.joint([old[node]])[:, None]
        tables.append(joint / joint.sum(axis=0))
    return LatentTreeModel(tree, tuple(model.columns[node] for node in old[: tree.n_observed]), tuple(tables))
