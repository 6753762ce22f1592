"""Two hidden variables in the place of one, and neighbours that are exchanged between two.

New hidden variables: some neighbours of one get a hidden variable of their own between them and it.

If a hidden variable explains all dependence between its neighbours, what it leaves over (residuals) is independent. So
neighbours whose residuals depend on each other may have another hidden variable in common. A hidden variable with many
states can stand for two with few states each: it explains everything, but with far more parameters. So numbers of
states are reduced before one and two are compared.
"""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from math import ceil, log, sqrt

import numpy as np
from scipy.cluster.hierarchy import linkage
from scipy.spatial.distance import squareform

from latree._util.arrays import FloatArray
from latree.inference.messages import TINY
from latree.search.local import Pair, Star, fit, gain_of_two, held_out
from latree.search.sample import Surroundings
from latree.search.states import merged_states, reduced

# Groups of neighbours that are tried for each hidden variable, of each kind: those that are most alike.
_CANDIDATES = 4

# Iterations of EM for each group, after which the best few go on. More iterations hardly change which ones are best.
_FIRST_ITERATIONS = 2

# How many go on, and the iterations of EM for each of these.
_FINALISTS, _ITERATIONS = 2, 8


# Another pairing of four subtrees must be better by this many standard errors of the difference.
_LEAD = 1.5


@dataclass(frozen=True)
class Arrangement:
    """Two neighbouring hidden variables with other neighbours than before.

    Attributes
    ----------
    ends : tuple of int
        The hidden variables; the second one may be new, with a number that no other node has.
    neighbors, other_neighbors : tuple of int
        Of the first and of the second one, without each other.
    pair : Pair
        The small model of both.
    gain : float
        By how many nats it is better. Of a division, what is asked for because many of them were tried is taken off:
        the prior probability of another hidden variable is shared by all of them.
    """

    ends: tuple[int, int]
    neighbors: tuple[int, ...]
    other_neighbors: tuple[int, ...]
    pair: Pair
    gain: float


def best_exchange(around: Surroundings, edge: int) -> Arrangement | None:
    """Return the best exchange of two neighbours across an edge of a binary tree, if it is clearly better."""
    h, g = around.tree.edges[edge].tolist()
    pair, weights, near, far = around.pair(h, g), around.weights, around.near(h, g), around.near(g, h)
    if len(near) != 2 or len(far) != 2:
        return None
    now = fit(pair, weights, max_iter=_ITERATIONS).rows
    found = []
    for place in range(2):
        tried = fit(pair.exchanged(1, place), weights, max_iter=_ITERATIONS)
        difference = weights * (tried.rows - now)
        sides = (near[0], far[place]), (far[1 - place], near[1])
        gain = float(difference.sum()) - _LEAD * float(np.sqrt((difference**2).sum()))
        found.append(Arrangement((h, g), *sides, tried.model, gain))
    best = max(found, key=lambda one: one.gain)
    return best if best.gain > 0 else None


def best_division(
    around: Surroundings, splits: Collection[int], log_rows: float, seed: int, node: int
) -> Arrangement | None:
    """Return the best way to put a new hidden variable above some neighbours of one.

    Parameters
    ----------
    around : Surroundings
    splits : collection of int
        Sides of splits of other trees, as bit sets of columns: groups of neighbours that they divide are tried, too.
    log_rows : float
        The logarithm of the number of rows: what BIC charges for two parameters.
    seed : int
        Of the folds.
    node : int
        A hidden variable; with fewer than four neighbours it cannot be divided.
    """
    near = around.near(node)
    if len(near) < 4:
        return None
    star, weights = around.star(node), around.weights
    alike = residual_dependence(star, weights)
    divided = groups_of_splits([around.tree.columns_behind(u, node) for u in near], splits)
    kinds = (_clusters(alike), _clusters(state_agreement(star)), _most_alike(alike, divided))
    groups = list(dict.fromkeys(group for kind in kinds for group in kind[:_CANDIDATES]))
    # With all states, two hidden variables explain any group; with the fewest that could do, only the right ones.
    k = len(star.prior)
    few = ceil(sqrt(k))
    starts = [
        (merged_states(star.divided(group), n_states), group)
        for n_states in sorted({(k, k), (k, few), (few, few)})
        for group in groups
    ]
    # Of groups that explain the rows alike, the one with the lowest BIC: it does with the fewest states.
    quick = [(fit(pair, weights, max_iter=_FIRST_ITERATIONS), group) for pair, group in starts]
    quick.sort(key=lambda one: one[0].half_bic(weights, log_rows))
    found = [(fit(one.model, weights, max_iter=_ITERATIONS), group) for one, group in quick[:_FINALISTS]]
    best, group = min(found, key=lambda one: one[0].half_bic(weights, log_rows))
    pair = reduced(best.model, weights, log_rows)
    gain = gain_of_two(pair, weights, seed)
    if gain > 0:  # the hidden variable that is there may have more states than one in the place of these two
        now = fit(star, weights, max_iter=_ITERATIONS).model
        gain = min(gain, held_out(pair, weights, seed) - held_out(now, weights, seed))
    gain -= log(len(groups))
    rest = tuple(u for place, u in enumerate(near) if place not in group)
    return Arrangement((node, node + around.tree.n_hidden), rest, tuple(near[place] for place in group), pair, gain)


def groups_of_splits(branches: Sequence[int], splits: Collection[int]) -> list[tuple[int, ...]]:
    """Return groups of neighbours, by their places, that splits of other trees divide from the rest.

    A neighbour is on the side of a split that has most of the columns behind it.

    Parameters
    ----------
    branches : sequence of int
        The columns behind each neighbour, as bit sets.
    splits : collection of int
        Sides of splits, as bit sets.
    """
    found: dict[tuple[int, ...], None] = {}
    for side in splits:
        inside = [2 * (branch & side).bit_count() > branch.bit_count() for branch in branches]
        groups = [tuple(place for place, is_in in enumerate(inside) if is_in == wanted) for wanted in (True, False)]
        group = min(groups, key=lambda group: (len(group), group))
        if len(group) >= 2:
            found[group] = None
    return list(found)


def _clusters(alike: FloatArray) -> list[tuple[int, ...]]:
    """Return clusters of neighbours, the most alike first, that leave at least two others."""
    degree = len(alike)
    distance = alike.max() - alike
    np.fill_diagonal(distance, 0)
    found: dict[tuple[int, ...], None] = {}
    for method in ("average", "complete"):
        members: dict[int, tuple[int, ...]] = {place: (place,) for place in range(degree)}
        joins = linkage(squareform(distance, checks=False), method)
        for number, (one, other, _, _) in enumerate(joins, start=degree):
            members[number] = tuple(sorted(members[int(one)] + members[int(other)]))
            if len(members[number]) <= degree - 2:
                found[members[number]] = None
    return _most_alike(alike, found)


def _most_alike(alike: FloatArray, groups: Iterable[tuple[int, ...]]) -> list[tuple[int, ...]]:
    """Return groups sorted by how much their members are alike, more for larger groups."""
    return sorted(groups, key=lambda group: (-alike[np.ix_(group, group)].sum() / (len(group) - 1), group))


def state_agreement(star: Star) -> FloatArray:
    """Return how much every two neighbours agree about which states differ: the cosine of their distances of states.

    The distance of two states for a neighbour u is the total variation between ``P(u | h)`` and ``P(u | h')``, times
    the root of the states' probabilities.
    """
    one, other = np.triu_indices(len(star.prior), 1)
    apart = np.stack([np.abs(table[:, one] - table[:, other]).sum(axis=0) for table in star.tables])
    apart = apart * np.sqrt(star.prior[one] * star.prior[other])
    apart /= np.maximum(np.sqrt((apart**2).sum(axis=1, keepdims=True)), TINY)
    found = apart @ apart.T
    np.fill_diagonal(found, 0)
    return np.asarray(found)


def residual_dependence(star: Star, weights: FloatArray) -> FloatArray:
    """Return how much the residuals of every two neighbours depend on each other; about 1 or less where they do not.

    The residual of neighbour u is ``P(u | row) - Σ_h P(u | h) P(h | row)``: what its own cells say beyond the hidden
    variable. The measure is the squared norm of the covariance C of two residuals, over its mean for independent ones.

    A hidden variable that stands for two makes neighbours of different ones too much alike, so that their residuals are
    dependent, too: C points against the covariance M that the hidden variable gives both neighbours. The measure is
    multiplied by ``1 + min(cos(C, M), 0)``, which is zero for such neighbours.
    """
    posterior = star.posterior()
    residuals = []
    for table, message in zip(star.tables, star.messages, strict=True):
        # P(u = x | row) = message(x) Σ_h P(x | h) P(h | row) / factor(h)
        own = message * (table @ (posterior / np.maximum(table.T @ message, TINY)))
        residuals.append((own - table @ posterior) * np.sqrt(weights))
    stacked, tables = np.concatenate(residuals), np.concatenate(star.tables)
    starts = np.cumsum([0, *(len(table) for table in star.tables[:-1])])

    def sums(products: FloatArray) -> FloatArray:
        """Add up the products for each two neighbours."""
        return np.asarray(np.add.reduceat(np.add.reduceat(products, starts, axis=0), starts, axis=1))

    covariance = stacked @ stacked.T
    # M = Σ_h P(h) P(u | h) P(v | h)ᵀ - P(u) P(v)ᵀ
    marginal = tables @ star.prior
    explained = (tables * star.prior) @ tables.T - np.outer(marginal, marginal)
    norms = sums(covariance**2)
    cosine = sums(covariance * explained) / np.maximum(np.sqrt(norms * sums(explained**2)), TINY)
    traces = np.add.reduceat((stacked**2).sum(axis=1), starts)
    found = norms * weights.sum() / np.maximum(traces[:, None] * traces, TINY) * (1 + np.minimum(cosine, 0))
    np.fill_diagonal(found, 0)
    return np.asarray((found + found.T) / 2)
