"""New hidden variables: some neighbours of one get a hidden variable of their own between them and it.

If a hidden variable explains all dependence between its neighbours, what it leaves over (residuals) is independent. So
neighbours whose residuals depend on each other may have another hidden variable in common. A hidden variable with many
states can stand for two with few states each: it explains everything, but with far more parameters. So numbers of
states are reduced before one and two are compared.
"""

from collections.abc import Collection, Sequence
from math import ceil, sqrt

import numpy as np
from scipy.cluster.hierarchy import linkage
from scipy.spatial.distance import squareform

from latree._util.arrays import FloatArray, IntArray
from latree.inference.messages import TINY
from latree.search.edges import SMOOTHING, Surroundings, held_out_gain
from latree.search.local import Pair, Star, fit
from latree.search.moves import Move
from latree.search.states import Sized, best_size, merged_states, reduced

# Groups of neighbours of either kind that are tried for each hidden variable.
_CANDIDATES = 8

# Groups from the starting trees that are tried for each hidden variable: those whose residuals depend most on each
# other. Only hidden variables with many neighbours have more.
_SPLIT_CANDIDATES = 24

# Iterations of EM for each group, after which the best few go on. More iterations hardly change which ones are best.
_FIRST_ITERATIONS = 2

# How many groups go on, with all states and with few.
_FINALISTS = 2

# Iterations of EM for each of these.
_ITERATIONS = 15

# Gains that are this near to what is asked for, in nats, are measured again with other folds.
_DOUBTFUL = 6.0

# After these iterations, EM gains less than this, in nats; after the first ones, less than the second number.
_SLACK, _LATE_GAIN = 20.0, 300.0


def best_division(
    around: Surroundings,
    fold: Sequence[IntArray],
    splits: Collection[int],
    log_rows: float,
    least_gain: float,
    node: int,
) -> Move | None:
    """Return the best way to put a new hidden variable above some neighbours of one, if it gains enough.

    Parameters
    ----------
    around : Surroundings
    fold : sequence of array of int
        The fold of each row, see :func:`latree.search.edges.folds`. The second and later ones are used where the gain
        of the first is near to what is asked for; the mean of all counts then.
    splits : collection of int
        Sides of splits of other trees, as bit sets of columns: groups of neighbours that they divide are tried, too.
    log_rows : float
        The logarithm of the number of rows: what BIC charges for two parameters.
    least_gain : float
        What it must gain, in nats.
    node : int
        A hidden variable; with fewer than four neighbours it cannot be divided.

    Returns
    -------
    Move or None
        The one with the lowest BIC. Its gain is by how many nats two hidden variables predict rows better than one
        (cross-validated), or by how much half of the BIC falls, whichever is more. The new hidden variable has a number
        that no other node has, and no other division gives.
    """
    near = [u for u, _ in around.tree.neighbors[node]]
    if len(near) < 4:
        return None
    star, weights = around.star(node), around.weights
    divided = groups_of_splits(around.branches(node), splits)
    if len(divided) > _SPLIT_CANDIDATES:
        alike = residual_dependence(star, weights)
        divided = sorted(divided, key=lambda group: (-_cohesion(alike, group), group))[:_SPLIT_CANDIDATES]
    groups = dict.fromkeys([*candidate_groups(star, weights), *divided])
    # One hidden variable may have states too many: two must be better than it with as few as BIC asks for, too.
    alone = best_size(star, weights, smoothing=SMOOTHING, log_rows=log_rows, more=False)
    target = _least_fit(star, alone, log_rows, least_gain)

    def fitted(pair: Pair, max_iter: int, target: float = target) -> tuple[float, Pair]:
        found = fit(pair, weights, smoothing=SMOOTHING, max_iter=max_iter, target=target)
        return float(weights @ found.rows), found.model

    def half_bic(model: Pair) -> float:
        return model.n_parameters * log_rows / 2 - float(weights @ model.rows())

    # With all states, two hidden variables explain any group; with the fewest that could do, only the right ones.
    few = ceil(sqrt(len(star.prior)))
    quick: dict[tuple[int, ...], list[tuple[float, Pair]]] = {}
    for group in groups:
        start = star.divided(group)
        quick[group] = [
            fitted(pair, _FIRST_ITERATIONS, target - _LATE_GAIN) for pair in (start, merged_states(start, few))
        ]
    chosen: dict[tuple[int, ...], None] = {}
    for fits in zip(*quick.values(), strict=True):
        ranked = sorted(zip(quick, fits, strict=True), key=lambda one: -one[1][0])
        chosen |= dict.fromkeys(group for group, _ in ranked[:_FINALISTS])
    further = [(group, fitted(pair, _ITERATIONS)) for group in chosen for _, pair in quick[group]]
    finalists = [
        (reduced(pair, weights, smoothing=SMOOTHING, log_rows=log_rows), group)
        for group, (log_likelihood, pair) in further
        if log_likelihood > target
    ]
    if not finalists:
        return None
    pair, group = min(finalists, key=lambda one: half_bic(one[0]))
    gain = alone.bic / 2 - half_bic(pair)
    if float(weights @ pair.rows()) > alone.log_likelihood(log_rows):
        stars = [star] if len(alone.star.prior) == len(star.prior) else [star, alone.star]
        predicted = [min(held_out_gain(pair, one, weights, fold[0]) for one in stars)]
        if abs(predicted[0] - least_gain) < _DOUBTFUL:
            predicted += [min(held_out_gain(pair, one, weights, other) for one in stars) for other in fold[1:]]
        gain = max(gain, sum(predicted) / len(predicted))
    if gain < least_gain:
        return None
    rest = [u for place, u in enumerate(near) if place not in group]
    return Move((node, node + around.tree.n_hidden), tuple(rest), tuple(near[place] for place in group), pair, gain)


def _least_fit(star: Star, alone: Sized, log_rows: float, least_gain: float) -> float:
    """Return the log-likelihood below which two hidden variables in the place of one cannot gain enough.

    They do not predict better than one with few states if they do not even fit better. Their BIC is lower by enough
    with two states each at best.
    """
    fewest = 3 + 2 * sum(len(table) - 1 for table in star.tables)
    return min(alone.log_likelihood(log_rows), fewest * log_rows / 2 - alone.bic / 2 + least_gain) - _SLACK


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


def candidate_groups(star: Star, weights: FloatArray) -> list[tuple[int, ...]]:
    """Return groups of neighbours, by their places, that may have another hidden variable in common.

    Either their residuals depend on each other; or the hidden variable has so many states that it explains them all,
    and the groups distinguish different states.
    """
    found: dict[tuple[int, ...], None] = {}
    for alike in (residual_dependence(star, weights), state_agreement(star)):
        found |= dict.fromkeys(_clusters(alike)[:_CANDIDATES])
    return list(found)


def _clusters(alike: FloatArray) -> list[tuple[int, ...]]:
    """Return clusters of neighbours, the most alike first, that leave at least two others."""
    degree = len(alike)
    distance = alike.max() - alike
    np.fill_diagonal(distance, 0)
    found: dict[tuple[int, ...], float] = {}
    for method in ("average", "complete"):
        members: dict[int, tuple[int, ...]] = {place: (place,) for place in range(degree)}
        joins = linkage(squareform(distance, checks=False), method)
        for number, (one, other, _, _) in enumerate(joins, start=degree):
            members[number] = tuple(sorted(members[int(one)] + members[int(other)]))
            if len(members[number]) <= degree - 2:
                found[members[number]] = _cohesion(alike, members[number])
    return sorted(found, key=lambda group: (-found[group], group))


def _cohesion(alike: FloatArray, group: tuple[int, ...]) -> float:
    """Return how much the members of a group are alike, more for larger groups."""
    return float(alike[np.ix_(group, group)].sum() / (len(group) - 1))


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
