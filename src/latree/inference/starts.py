"""Where EM starts: conditional probability tables drawn at random, or made of joint distributions on the edges."""

from collections.abc import Sequence

import numpy as np

from latree._util.arrays import CodeArray, FloatArray, RandomState, generator
from latree.counts.contingency import column_counts
from latree.inference.messages import TINY, with_missing
from latree.table import Table
from latree.tree import Tree

# Each state of a hidden variable starts at a row of the data: the row has this weight in the columns' probabilities
# given the state, and the columns' overall frequencies have the rest.
_SEED_WEIGHT = 0.3

# Rows that states start at are drawn from a sample of at most this many rows.
_SEED_ROWS = 2000

# Weight of a random distribution in the probabilities of a hidden variable given its parent. With the rest of the
# weight, the two agree.
_NOISE_WEIGHT = 0.1

# When the states of a model are divided, two hidden variables are this much more probable in parts with the same number
# than by chance, and this much less in parts with different numbers. All probabilities also change at random, by up to
# half of it.
_GROWN_AGREEMENT = 0.8

# Added to every probability that comes from a learner, because EM never leaves a probability of zero.
_FLOOR = 1e-3


def random_start(
    table: Table, tree: Tree, n_states: int | Sequence[int], random_state: RandomState
) -> tuple[FloatArray, ...]:
    """Draw conditional probability tables that EM can start from.

    Neighbouring hidden variables mostly agree, so that information from one end of the tree reaches the other from the
    first iteration on. Each state starts at a row of its own. Rows unlike those already chosen are preferred, as in
    k-means++, so that the states cover different kinds of rows.

    Parameters
    ----------
    table : Table
    tree : Tree
        Over the table's columns.
    n_states : int or sequence of int
        Number of states of every hidden variable, or of each.
    random_state : int, Generator or None

    Returns
    -------
    tuple of array
        One per node, ``P(node | parent)``, where parents are those of ``tree.rooted()``.
    """
    rng = generator(random_state)
    sizes = [*table.n_states.tolist(), *np.broadcast_to(np.asarray(n_states, dtype=np.intp), tree.n_hidden).tolist()]
    tables: list[FloatArray] = []
    frequency = frequencies(table)
    seeds = _unlike_rows(table, max(sizes[tree.n_observed :], default=1), rng)
    for node, parent in enumerate(tree.rooted().parent.tolist()):
        shape = (sizes[node], sizes[parent] if parent >= 0 else 1)
        if node < tree.n_observed and parent >= tree.n_observed:
            # A column below a hidden variable: (1 - w) frequency + w (the seed row's cell; uniform if that is missing).
            cells = np.minimum(seeds[: shape[1], node], shape[0])
            own = with_missing([np.eye(shape[0])])[cells].T
            raw = (1 - _SEED_WEIGHT) * frequency[node][:, None] + _SEED_WEIGHT * own / own.sum(axis=0)
        elif node < tree.n_observed:
            # A column below another column, or a root: its frequencies with noise.
            raw = frequency[node][:, None] * rng.uniform(0.5, 1.5, size=shape)
        else:
            # A hidden variable: a random distribution, mixed with its parent's state, or with a uniform distribution.
            raw = rng.dirichlet(np.ones(shape[0]), size=shape[1]).T
            parent_state = identity_table(*shape) if parent >= tree.n_observed else 1 / shape[0]
            raw = _NOISE_WEIGHT * raw + (1 - _NOISE_WEIGHT) * parent_state
        tables.append(raw / raw.sum(axis=0))
    return tuple(tables)


def _unlike_rows(table: Table, n_seeds: int, rng: np.random.Generator) -> CodeArray:
    """Draw rows with odds ``weight * distance²``, as k-means++ does.

    The distance is the number of cells in which a row differs from the nearest row chosen so far. Equal rows count as
    one row with their total weight, so that neither their order nor repeating them matters.
    """
    sample, weights, *_ = table.subsample_block(_SEED_ROWS, int(rng.integers(2**31)))
    codes, which = np.unique(sample, axis=0, return_inverse=True)
    weight = np.bincount(which, weights)
    chosen: list[int] = []
    distance = np.full(len(codes), table.n_columns)
    for _ in range(n_seeds):
        odds = (distance**2 + TINY) * weight
        chosen.append(int(rng.choice(len(codes), p=odds / odds.sum())))
        distance = np.minimum(distance, np.count_nonzero(codes != codes[chosen[-1]], axis=1))
    return np.asarray(codes[chosen])


def grown_start(
    tree: Tree, tables: Sequence[FloatArray], n_states: Sequence[int], random_state: RandomState
) -> tuple[FloatArray, ...]:
    """Divide the states of a model's hidden variables, so that EM can go on with more of them.

    State h of a variable with m states becomes states h, h + m, h + 2m and so on: part 0, part 1, and so on. They share
    the probability of h. Neighbouring hidden variables are mostly in parts of the same number, so that the new
    difference is one that a whole stretch of the tree shares, not one of a single variable.

    Parameters
    ----------
    tree : Tree
    tables : sequence of array
        The model's probabilities, as :func:`random_start` returns them.
    n_states : sequence of int
        Number of states of each hidden variable, none smaller than before.
    random_state : int, Generator or None

    Returns
    -------
    tuple of array
        As for :func:`random_start`.
    """
    rng = generator(random_state)
    old = [len(table) for table in tables]
    new = [*old[: tree.n_observed], *n_states]
    grown: list[FloatArray] = []
    for node, parent in enumerate(tree.rooted().parent.tolist()):
        # P'(h' | g') = P(h' mod m | g' mod l) / parts of (h' mod m)
        own, above = np.arange(new[node]), np.arange(new[parent] if parent >= 0 else 1)
        from_own, from_above = own % old[node], above % (old[parent] if parent >= 0 else 1)
        n_parts = np.bincount(from_own, minlength=old[node])[from_own]
        raw = tables[node][np.ix_(from_own, from_above)] / n_parts[:, None]
        if min(node, parent) >= tree.n_observed:
            agree = (own // old[node])[:, None] == above // old[parent]
            raw = raw * np.where(agree, 1 + _GROWN_AGREEMENT, 1 - _GROWN_AGREEMENT)
        raw = raw * rng.uniform(1 - _GROWN_AGREEMENT / 2, 1 + _GROWN_AGREEMENT / 2, size=raw.shape)
        grown.append(raw / raw.sum(axis=0))
    return tuple(grown)


def start_from(table: Table, tree: Tree, edge_tables: Sequence[FloatArray]) -> tuple[FloatArray, ...]:
    """Make conditional probability tables out of the joint distributions of the two ends of every edge.

    Parameters
    ----------
    table : Table
        Its frequencies are used for columns that are roots.
    tree : Tree
    edge_tables : sequence of array
        ``P(u, v)`` for each edge (u, v) of the tree, in their order.

    Returns
    -------
    tuple of array
        As for :func:`random_start`; no probability is zero.
    """

    def joint(node: int, edge: int) -> FloatArray:
        """Return the joint distribution on an edge with one row per state of the node."""
        return edge_tables[edge] if tree.edges[edge, 0] == node else edge_tables[edge].T

    rooted = tree.rooted()
    tables: list[FloatArray] = []
    for node, frequency in enumerate([*frequencies(table), *[None] * tree.n_hidden]):
        if rooted.parent[node] >= 0:
            raw = joint(node, int(rooted.up[node]))
        elif frequency is not None:
            raw = frequency[:, None]
        else:
            raw = joint(node, tree.neighbors[node][0][1]).sum(axis=1, keepdims=True)
        # P(node | parent) = P(node, parent) / P(parent), then the floor, then columns that sum to one again.
        probabilities = raw / np.maximum(raw.sum(axis=0), np.finfo(float).tiny)
        tables.append((probabilities + _FLOOR) / (probabilities + _FLOOR).sum(axis=0))
    return tuple(tables)


def frequencies(table: Table) -> list[FloatArray]:
    """Return the frequency of each state of each column, with half a row added per state so that none is zero."""
    return [(counts + 0.5) / (counts + 0.5).sum() for counts in column_counts(table)]


def identity_table(n: int, k: int) -> FloatArray:
    """Return ``P(a | b)`` for a variable a with n states that copies b with k states: b = h gives a = h modulo n."""
    table = np.zeros((n, k))
    table[np.arange(k) % n, np.arange(k)] = 1
    return table
