"""How many states a hidden variable has: one more or one less, by BIC, on the messages around it."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from latree._util.arrays import FloatArray
from latree.search.local import Pair, Star, fit

_ITERATIONS = 15  # of EM after a state was added or taken away
# After any state was split, so many iterations come first, and the best model goes on. EM gains at most this then, in
# nats: in 20 splits that were worth it, it was 230 once, where the first iterations were enough, and else at most 110.
_FIRST_ITERATIONS, _LATE_GAIN = 5, 150.0
_SPLIT = 0.5  # how far the two halves of a state are moved apart
MIN_STATES, MAX_STATES = 2, 32


@dataclass(frozen=True)
class Sized:
    """A hidden variable with some number of states."""

    star: Star
    bic: float  # smaller is better; comparable for the same messages


def best_size(
    star: Star, weights: FloatArray, log_rows: float, *, seed: int = 0, fewer: bool = True, more: bool = True
) -> Sized:
    """Return the number of states with the lowest BIC, found by taking away or adding states one by one.

    Parameters
    ----------
    star : Star
        With the present number of states.
    weights : array
        Of the rows.
    log_rows : float
        The logarithm of the number of rows: what BIC charges for two parameters.
    seed : int
        Of the directions in which states are split.
    fewer, more : bool
        Whether states may be taken away, and whether they may be added.
    """

    def sized(start: Star, target: float = -np.inf, max_iter: int = _ITERATIONS) -> Sized:
        found = fit(start, weights, max_iter=max_iter, target=target)
        return Sized(found.model, found.model.n_parameters * log_rows - 2 * float(weights @ found.rows))

    def with_one_less(now: Sized) -> Iterator[Sized]:
        for start in _with_one_less(now.star):
            yield sized(start, (start.n_parameters * log_rows - now.bic) / 2)

    def with_one_more(now: Sized) -> Iterator[Sized]:
        # After a split, EM may gain little for some iterations and then much.
        starts = [fit(start, weights, max_iter=_FIRST_ITERATIONS) for start in _with_one_more(now.star, seed)]
        if starts:
            first = max(starts, key=lambda one: float(weights @ one.rows))
            target = (first.model.n_parameters * log_rows - now.bic) / 2
            if float(weights @ first.rows) > target - _LATE_GAIN:
                yield sized(first.model, max_iter=_ITERATIONS - _FIRST_ITERATIONS)

    best = sized(star)
    # A state is added only if none could be taken away: after that, one more has a higher BIC.
    for candidates in [*([with_one_less] if fewer else []), *([with_one_more] if more else [])]:
        if len(best.star.prior) != len(star.prior):
            break
        while (tried := min(candidates(best), key=lambda found: found.bic, default=best)).bic < best.bic:
            best = tried
    return best


def reduced(pair: Pair, weights: FloatArray, log_rows: float) -> Pair:
    """Take away states of two neighbouring hidden variables, of one and then of the other, while that lowers BIC."""
    for _ in range(2):
        if len(pair.prior) > MIN_STATES:
            pair = pair.with_star(best_size(pair.as_star(), weights, log_rows, more=False).star)
        pair = pair.flipped()
    return pair


def merged_states(pair: Pair, n_states: tuple[int, int]) -> Pair:
    """Merge states of two neighbouring hidden variables until they have so many, the most alike first; fit nothing."""
    for n in n_states:
        star = Star((), pair.prior, (*pair.tables, pair.between))  # no fit, so that no messages are needed
        while len(star.prior) > n:
            star = next(_with_one_less(star))
        pair = pair.with_star(star).flipped()
    return pair


def _with_one_less(star: Star) -> Iterator[Star]:
    """Yield the model with two states merged: the two whose neighbours' distributions differ least."""
    k = len(star.prior)
    if k <= MIN_STATES:
        return
    profile = np.concatenate(star.tables)
    cost = ((profile[:, :, None] - profile[:, None, :]) ** 2).sum(axis=0)
    cost *= star.prior[:, None] * star.prior / (star.prior[:, None] + star.prior)
    cost[np.tril_indices(k)] = np.inf
    one, other = np.unravel_index(int(cost.argmin()), cost.shape)
    share = star.prior[one] / (star.prior[one] + star.prior[other])
    prior = np.delete(star.prior, other)
    prior[one] = star.prior[one] + star.prior[other]
    tables = []
    for table in star.tables:
        merged = np.delete(table, other, axis=1)
        merged[:, one] = share * table[:, one] + (1 - share) * table[:, other]
        tables.append(merged)
    yield replace(star, prior=prior, tables=tuple(tables))


def _with_one_more(star: Star, seed: int) -> Iterator[Star]:
    """Yield models in which one of the states is split in two that differ at random."""
    k = len(star.prior)
    others = np.sort([len(table) for table in star.tables])[:-1]
    if k >= min(MAX_STATES, np.prod(others.astype(float))):  # more states cannot matter (Zhang 2004, regular models)
        return
    for state in range(k):
        rng = np.random.default_rng([seed, k, state])
        prior = np.append(star.prior, star.prior[state] / 2)
        prior[state] /= 2
        tables = []
        for table in star.tables:
            factor = np.exp(_SPLIT * rng.standard_normal(len(table)))
            split = np.column_stack([table, table[:, state] / factor])
            split[:, state] *= factor
            tables.append(split / split.sum(axis=0))
        yield replace(star, prior=prior, tables=tuple(tables))
