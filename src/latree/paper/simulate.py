"""The paper's random trees and models (section 6)."""

from collections.abc import Sequence
from typing import Literal

import numpy as np

from latree._util.arrays import FloatArray, IntArray, RandomState, generator
from latree.inference.starts import identity_table
from latree.model import LatentTreeModel
from latree.table import Column
from latree.tree import Tree


def random_tree(n_leaves: int, balance: float = 0.5, random_state: RandomState = None) -> Tree:
    """Draw a binary tree by splitting the leaves recursively into two groups.

    A group of s leaves is split into ``round(balance * s)`` of them, chosen at random, and the rest, until groups are
    leaves; every split is a hidden variable. The first split has only two neighbours and is taken out, so that every
    hidden variable has three.

    Parameters
    ----------
    n_leaves : int
        At least three.
    balance : float
        The paper's β: near 0.5 for balanced trees, near 0 or 1 for skewed ones.
    random_state : int, Generator or None
    """
    if n_leaves < 3:
        raise ValueError(f"a random tree needs at least three leaves, not {n_leaves}")
    rng = generator(random_state)
    edges: list[tuple[int, int]] = []
    n_nodes = n_leaves
    tops: list[int] = []  # the two sides of the first split
    stack: list[tuple[IntArray, int]] = [(group, -1) for group in _split(np.arange(n_leaves), balance, rng)]
    while stack:
        group, parent = stack.pop()
        if len(group) == 1:
            node = int(group[0])
        else:
            node, n_nodes = n_nodes, n_nodes + 1
            stack.extend((part, node) for part in _split(group, balance, rng))
        if parent >= 0:
            edges.append((parent, node))
        else:
            tops.append(node)
    edges.append((tops[0], tops[1]))
    return Tree([f"x{i}" for i in range(n_leaves)], edges)


def _split(group: IntArray, balance: float, rng: np.random.Generator) -> tuple[IntArray, IntArray]:
    size = int(np.clip(round(balance * len(group)), 1, len(group) - 1))
    shuffled = rng.permutation(group)
    return shuffled[:size], shuffled[size:]


def random_model(
    tree: Tree,
    *,
    n_states: int = 10,
    hidden_states: int | tuple[int, int] | Sequence[int] = (2, 8),
    start: Literal["independent", "identity"] = "independent",
    perturbation: float = 0.5,
    random_state: RandomState = None,
) -> LatentTreeModel:
    """Draw the parameters of a model by the paper's scheme.

    Tables between a hidden variable and a column start as the identity (state h goes with state h modulo the number of
    states), tables between hidden variables as the identity or as independence (uniform columns), the root as uniform;
    then ``P(a = i | b) = (P(a = i | b) + u_i) / sum`` with ``u_i`` uniform in [0, perturbation].

    Parameters
    ----------
    tree : Tree
    n_states : int
        States of every column.
    hidden_states : int, (low, high), or one int a hidden variable
        States of the hidden variables; a pair is drawn from, both ends included, for each of them.
    start : {"independent", "identity"}
        Where tables between hidden variables start; the paper's text can be read both ways. From "independent",
        neighbouring hidden variables stay nearly independent, and large trees cannot be recovered by any method.
    perturbation : float
        The paper's μ.
    random_state : int, Generator or None
    """
    if start not in ("independent", "identity"):
        raise ValueError(f"start must be 'independent' or 'identity', not {start!r}")
    rng = generator(random_state)
    if isinstance(hidden_states, tuple) and len(hidden_states) == 2:
        hidden = rng.integers(hidden_states[0], hidden_states[1] + 1, size=tree.n_hidden)
    else:
        hidden = np.broadcast_to(np.asarray(hidden_states, dtype=np.intp), (tree.n_hidden,))
    sizes = np.concatenate([np.full(tree.n_observed, n_states), hidden]).astype(np.intp)
    if sizes.min() < 1:
        raise ValueError("every variable needs at least one state")
    rooted = tree.rooted()
    tables: list[FloatArray] = []
    for node, parent in enumerate(rooted.parent.tolist()):
        shape = (int(sizes[node]), int(sizes[parent]) if parent >= 0 else 1)
        if parent >= 0 and (min(node, parent) < tree.n_observed or start == "identity"):
            begin = identity_table(*shape)
        else:
            begin = np.full(shape, 1 / shape[0])
        tables.append(perturbed(begin, perturbation, rng))
    categories = tuple(str(state) for state in range(n_states))
    columns = tuple(Column(name, "integer", categories) for name in tree.names)
    return LatentTreeModel(tree, columns, tuple(tables))


def perturbed(table: FloatArray, perturbation: float, rng: np.random.Generator) -> FloatArray:
    """Add uniform noise to a conditional table, and make its columns distributions again."""
    noisy = table + rng.uniform(0, perturbation, size=table.shape)
    return np.asarray(noisy / noisy.sum(axis=0))
