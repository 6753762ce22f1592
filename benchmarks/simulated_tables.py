"""Models whose hidden variables are known, from which benchmarks and tests draw tables.

The paper's binary trees, non-binary trees, forests and independent columns.
"""

from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from latree import LatentTreeModel, Table, Tree, random_model, random_tree
from latree.counts.distances import as_pairs, information
from latree.table import Column

FloatArray: TypeAlias = NDArray[np.float64]
Draw: TypeAlias = Literal["copy", "dirichlet"]

# What makes the hidden variables of a random model visible, so that their numbers of states are a fair question.
MIN_INFORMATION = 0.1  # of the two ends of every edge, in nats
MIN_PROBABILITY = 0.05  # of every state of a hidden variable
MIN_DISTANCE = 0.2  # in total variation, between what two states say about a neighbour that tells them apart
MAX_REDRAWS = 200  # before a hidden variable that stays hard to see loses a state


def copy_table(n_states: int, states: NDArray[np.intp], share: float) -> FloatArray:
    """Return P(child | parent) of a child that copies with some probability and is uniform otherwise.

    Parameters
    ----------
    n_states : int
        Number of states of the child.
    states : array of int
        For each state of the parent, the child's state that copies it.
    share : float
        Probability of copying.

    Examples
    --------
    >>> copy_table(2, np.array([0, 1, 1]), 0.6)
    array([[0.8, 0.2, 0.2],
           [0.2, 0.8, 0.8]])
    """
    return share * np.eye(n_states)[:, states] + (1 - share) / n_states


def paper_model(setting: tuple[Any, ...], seed: int) -> LatentTreeModel:
    """Draw one of the paper's models: number of columns, states of columns and hidden variables, start, β, μ, rows."""
    n_columns, n_states, hidden, start, beta, mu, _ = setting
    return random_model(
        random_tree(n_columns, beta, seed),
        n_states=n_states,
        hidden_states=hidden,
        start=start,
        perturbation=mu,
        random_state=seed,
    )


def recipe_model(n_scales: int = 8, n_items: int = 5, n_states: int = 4) -> LatentTreeModel:
    """Return the model of a questionnaire: scales of some items each, under one general factor.

    The general factor is uniform on 3 states. The hidden variable of a scale copies it with probability 0.7, and is
    uniform otherwise. An item, of 4 states by default, copies its scale with probability 0.6, and is uniform otherwise.
    """
    n_columns = n_scales * n_items
    top = n_columns + n_scales
    edges = [(column, n_columns + column // n_items) for column in range(n_columns)]
    edges += [(scale, top) for scale in range(n_columns, top)]
    three = np.arange(3)
    tables = [copy_table(n_states, three, 0.6)] * n_columns + [copy_table(3, three, 0.7)] * n_scales
    tables.append(np.full((3, 1), 1 / 3))
    return _model(Tree([f"s{i // n_items + 1}_{i % n_items + 1}" for i in range(n_columns)], edges), tables)


def separate_groups_model(n_groups: int = 3, n_items: int = 6) -> LatentTreeModel:
    """Return the model of independent groups of columns, each with its own hidden variable.

    A hidden variable is uniform on 3 states, and a column of 4 states copies it with probability 0.6.
    """
    n_columns = n_groups * n_items
    edges = [(column, n_columns + column // n_items) for column in range(n_columns)]
    tables = [copy_table(4, np.arange(3), 0.6)] * n_columns + [np.full((3, 1), 1 / 3)] * n_groups
    return _model(Tree([f"x{i}" for i in range(n_columns)], edges), tables)


def independent_model(seed: int, n_columns: int = 20) -> LatentTreeModel:
    """Return a model of independent columns of 2 to 5 states."""
    rng = np.random.default_rng([seed, 0])
    tables = [rng.dirichlet(np.full(n, 2.0))[:, None] for n in rng.integers(2, 6, n_columns)]
    return _model(Tree([f"x{i}" for i in range(n_columns)], []), tables)


def non_binary_tree(seed: int, hidden: tuple[int, int] = (6, 30), neighbours: tuple[int, int] = (3, 7)) -> Tree:
    """Draw a tree whose hidden variables have between 3 and 7 neighbours; their number is drawn, too.

    Every hidden variable joins a random earlier one that still has room, and columns fill what is left. So some hidden
    variables have no column of their own.
    """
    rng = np.random.default_rng([seed, 1])
    n_hidden = int(rng.integers(hidden[0], hidden[1] + 1))
    room = rng.integers(neighbours[0], neighbours[1] + 1, n_hidden)
    pairs = []
    for node in range(1, n_hidden):
        other = int(rng.choice(np.flatnonzero(room[:node] > 0)))
        room[[node, other]] -= 1
        pairs.append((node, other))
    parents = rng.permutation(np.repeat(np.arange(n_hidden), room))  # of the columns
    n_columns = len(parents)
    edges = [(column, n_columns + int(parent)) for column, parent in enumerate(parents)]
    edges += [(n_columns + node, n_columns + other) for node, other in pairs]
    return Tree([f"x{i}" for i in range(n_columns)], edges)


def non_binary_model(seed: int, draw: Draw, hidden: tuple[int, int] = (6, 30)) -> LatentTreeModel:
    """Draw a model on a random non-binary tree, with hidden variables of 2 to 5 states and columns of 2 to 6.

    Models are regular: no hidden variable has more states than the product of its neighbours' divided by the largest.
    And all of it can be seen: the mutual information along every edge is at least 0.1 nats, a state of a hidden
    variable has a probability of at least 0.05, and at least two neighbours tell it from every other state. (If only
    one neighbour did, a model with the two states merged would be the same.) Tables are drawn again until this holds,
    at last with fewer states.

    Parameters
    ----------
    seed : int
    draw : {"copy", "dirichlet"}
        How conditional probability tables are drawn. "copy": the child copies its parent with a probability between 0.6
        and 0.9 and is uniform otherwise; states of the parent are copied by distinct states of the child where it has
        enough. "dirichlet": each column of a table is drawn from the Dirichlet distribution with parameter 0.5.
    hidden : (int, int)
        Least and largest number of hidden variables.
    """
    tree = non_binary_tree(seed, hidden)
    rng = np.random.default_rng([seed, 2])
    sizes = np.concatenate([rng.integers(2, 7, tree.n_observed), rng.integers(2, 6, tree.n_hidden)])
    while True:
        make_regular(tree, sizes)
        tables = _visible_tables(tree, sizes, draw, rng)
        if isinstance(tables, list):
            return _model(tree, tables, kind="text")
        sizes[tables] -= 1


def with_missing(table: Table, share: float, seed: int) -> Table:
    """Return the table with a share of its cells missing completely at random."""
    codes = table.codes()
    codes[np.random.default_rng([seed, 3]).random(codes.shape) < share] = -1
    return Table.from_codes(table.columns, codes)


def most_states(neighbour_sizes: NDArray[np.intp]) -> int:
    """Return the largest number of states of a hidden variable in a regular model."""
    return int(neighbour_sizes.prod() // neighbour_sizes.max())


def make_regular(tree: Tree, sizes: NDArray[np.intp]) -> None:
    """Lower numbers of states until the model is regular."""
    changed = True
    while changed:
        changed = False
        for node in range(tree.n_observed, tree.n_nodes):
            most = most_states(sizes[[other for other, _ in tree.neighbors[node]]])
            if sizes[node] > most:
                sizes[node], changed = most, True


def _visible_tables(
    tree: Tree, sizes: NDArray[np.intp], draw: Draw, rng: np.random.Generator
) -> list[FloatArray] | NDArray[np.intp]:
    """Draw tables until every hidden state can be seen; return them, or the nodes whose states stay hard to see."""
    rooted = tree.rooted()
    tables: list[FloatArray] = [np.empty((0, 0))] * tree.n_nodes
    marginals: list[FloatArray] = [np.empty(0)] * tree.n_nodes
    hard = np.arange(tree.n_observed, tree.n_nodes)
    for _ in range(MAX_REDRAWS):
        redrawn = set(hard.tolist()) | {child for node in hard.tolist() for child in rooted.children[node]}
        for node in rooted.order.tolist():
            parent = int(rooted.parent[node])
            if parent < 0:
                tables[node] = np.full((sizes[node], 1), 1 / sizes[node])
            elif node in redrawn:
                tables[node] = _edge_table(int(sizes[node]), marginals[parent], draw, rng)
            marginals[node] = tables[node] @ (marginals[parent] if parent >= 0 else np.ones(1))
        # P(neighbour, hidden variable), for each hidden variable and each of its neighbours
        hard = np.array(
            [
                node
                for node in range(tree.n_observed, tree.n_nodes)
                if not _is_visible(
                    marginals[node],
                    [
                        tables[other] * marginals[node]
                        if rooted.parent[other] == node
                        else (tables[node] * marginals[other]).T
                        for other, _ in tree.neighbors[node]
                    ],
                )
            ],
            dtype=np.intp,
        )
        if not len(hard):
            return tables
    return hard


def _edge_table(n_states: int, parent: FloatArray, draw: Draw, rng: np.random.Generator) -> FloatArray:
    """Draw P(child | parent), given the distribution of the parent."""
    if draw == "copy":
        # Distinct states where the child has enough; otherwise each state of the child copies about as many.
        repeats = -(-len(parent) // n_states)
        states = np.concatenate([rng.permutation(n_states) for _ in range(repeats)])[: len(parent)]
        return copy_table(n_states, rng.permutation(states), rng.uniform(0.6, 0.9))
    for _ in range(MAX_REDRAWS):
        table = rng.dirichlet(np.full(n_states, 0.5), size=len(parent)).T
        if information(as_pairs(table * parent)) >= MIN_INFORMATION:
            break
    return table


def _is_visible(marginal: FloatArray, joints: list[FloatArray]) -> bool:
    """Return whether states are frequent, edges strong, and two neighbours tell each two states apart."""
    if marginal.min() < MIN_PROBABILITY:
        return False
    if any(information(as_pairs(joint)) < MIN_INFORMATION for joint in joints):
        return False
    tellers = np.zeros((len(marginal), len(marginal)))
    for joint in joints:
        given = joint / marginal
        tellers += np.abs(given[:, :, None] - given[:, None, :]).sum(axis=0) / 2 >= MIN_DISTANCE
    return bool((tellers + 2 * np.eye(len(marginal)) >= 2).all())


def _model(tree: Tree, tables: list[FloatArray], kind: Literal["integer", "text"] = "integer") -> LatentTreeModel:
    columns = tuple(
        Column(name, kind, tuple(map(str, range(len(table))))) for name, table in zip(tree.names, tables, strict=False)
    )
    return LatentTreeModel(tree, columns, tuple(tables))
