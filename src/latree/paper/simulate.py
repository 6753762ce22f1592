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
    """Draw a binary tree for a simulation.

    The leaves are divided recursively into two groups. A group of s leaves is divided into ``round(balance * s)``
    leaves, chosen at random, and the rest, until every group is one leaf. Every division becomes a hidden variable. The
    first one would have only two neighbours and is left out, so that every hidden variable has exactly three.

    Parameters
    ----------
    n_leaves : int
        At least three. The leaves are called x0, x1, ...
    balance : float
        The paper's β: near 0.5 for balanced trees, near 0 or 1 for skewed ones.
    random_state : int, Generator or None
        Seed of the random numbers.

    Returns
    -------
    Tree

    See Also
    --------
    random_model : Draw the parameters of a model on a tree.

    Examples
    --------
    >>> from latree import random_tree
    >>> tree = random_tree(6, random_state=0)
    >>> print(tree.to_newick().strip())
    (x1,(x4,x0),(x5,(x2,x3)));
    >>> tree.n_observed, tree.n_hidden
    (6, 4)
    """
    if n_leaves < 3:
        raise ValueError(f"a random tree needs at least three leaves, not {n_leaves}")
    rng = generator(random_state)
    edges: list[tuple[int, int]] = []
    n_nodes = n_leaves
    tops: list[int] = []  # the nodes at the top of the first two groups, which one edge connects
    # Groups that are still to be divided, each with its parent node.
    stack: list[tuple[IntArray, int]] = [(group, -1) for group in _divide(np.arange(n_leaves), balance, rng)]
    while stack:
        group, parent = stack.pop()
        if len(group) == 1:
            node = int(group[0])
        else:
            node, n_nodes = n_nodes, n_nodes + 1
            stack.extend((part, node) for part in _divide(group, balance, rng))
        if parent >= 0:
            edges.append((parent, node))
        else:
            tops.append(node)
    edges.append((tops[0], tops[1]))
    return Tree([f"x{i}" for i in range(n_leaves)], edges)


def _divide(group: IntArray, balance: float, rng: np.random.Generator) -> tuple[IntArray, IntArray]:
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
    """Draw the parameters of a model on a tree, as in the paper's simulations.

    Every conditional probability table starts from a simple one: between a hidden variable and a column from the
    identity (state h goes with state h modulo the number of states), between two hidden variables from the identity or
    from independence (uniform columns), at the root from the uniform distribution. Then noise is added, and every
    distribution is normalised: ``P(a = i | b) = (P(a = i | b) + u_i) / sum`` with ``u_i`` uniform in
    [0, perturbation].

    Parameters
    ----------
    tree : Tree
    n_states : int
        Number of states of every column.
    hidden_states : int, (low, high), or one int per hidden variable
        Number of states of the hidden variables. For a pair, each number is drawn from low to high, both included.
    start : {"independent", "identity"}
        Where tables between hidden variables start; the paper's text can be read both ways. With "independent",
        neighbouring hidden variables stay nearly independent, and no method can recover large trees.
    perturbation : float
        The paper's μ: more noise makes the tree harder to recover.
    random_state : int, Generator or None
        Seed of the random numbers.

    Returns
    -------
    LatentTreeModel

    Examples
    --------
    >>> from latree import random_model, random_tree
    >>> tree = random_tree(6, random_state=0)
    >>> model = random_model(tree, n_states=3, hidden_states=2, start="identity", perturbation=0.2, random_state=0)
    >>> model.sample(3, random_state=0).codes().tolist()
    [[2, 0, 1, 2, 2, 1], [0, 1, 0, 0, 1, 0], [0, 2, 2, 0, 0, 0]]
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
            start_table = identity_table(*shape)
        else:
            start_table = np.full(shape, 1 / shape[0])
        tables.append(perturbed(start_table, perturbation, rng))
    categories = tuple(str(state) for state in range(n_states))
    columns = tuple(Column(name, "integer", categories, ordered=True) for name in tree.names)
    return LatentTreeModel(tree, columns, tuple(tables))


def perturbed(table: FloatArray, perturbation: float, rng: np.random.Generator) -> FloatArray:
    """Add uniform noise to a conditional probability table and normalise its columns."""
    noisy = table + rng.uniform(0, perturbation, size=table.shape)
    return np.asarray(noisy / noisy.sum(axis=0))
