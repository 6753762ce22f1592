"""The model that predicts best: every kind of tree is a candidate, and held-out rows decide.

The candidates race. All begin with few states. The best of them then takes as many states as held-out rows pay for; the
others follow, and stop when they cannot be expected to catch up. Those that are still close are fitted as long as a
final model is, and the simplest of them wins unless another predicts better (docs/lab/predict.md).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from latree._util.arrays import FloatArray
from latree._util.progress import Attempts, reported_to
from latree._util.workers import map_forked
from latree.counts.distances import information, pairwise
from latree.learners.grouping import chow_liu, hidden_chow_liu
from latree.learners.structure import Structure, independent, latent_class
from latree.model.fitting import Part, StateSearch, held_out, is_better
from latree.model.record import Candidate
from latree.settings import Settings
from latree.table import Table
from latree.tree import Tree

_CLEARLY = 2.0  # standard errors behind the best after which a candidate is out of the race
_WORTH_MORE = 0.5  # standard errors by which a candidate with more parameters must predict better
_LEAST_GAIN = 2.0  # nats by which it must predict all held-out rows together better, however sure the difference is


@dataclass(eq=False)
class _Candidate:
    """A kind of tree, and how far its search for states and smoothing has come.

    Attributes
    ----------
    kind : str
    search : StateSearch
    optimism : float
        By how much a held-out row, times its weight, looks more probable because it took part in learning the tree.
    """

    kind: str
    search: StateSearch
    optimism: float = 0.0

    @property
    def scores(self) -> FloatArray:
        """What held-out rows would score if the tree were learned without them, too."""
        return self.search.best.scores - self.optimism

    @property
    def n_parameters(self) -> int:
        """Number of free parameters."""
        return self.search.best.models[0].n_parameters

    def is_better(self, other: "_Candidate", errors: float, nats: float = 0.0) -> bool:
        """Return whether held-out rows score better by more than some nats and some standard errors."""
        return is_better(self.scores - nats / len(self.scores), other.scores, errors)


def predict(
    table: Table,
    joined: Sequence[Tree],
    settings: Settings,
    rng: np.random.Generator,
    searched: Tree | None = None,
    search: Callable[[Table], Tree] | None = None,
) -> Structure:
    """Return the tree, the numbers of states and the smoothing that predict new rows best.

    Parameters
    ----------
    table : Table
    joined : sequence of Tree
        Candidates with hidden variables: resolved trees of all rows. A hidden Chow-Liu tree, one hidden variable, a
        Chow-Liu tree and independent columns are added.
    settings : Settings
        Numbers of states and smoothing are chosen unless they are given.
    rng : Generator
    searched : Tree, optional
        Another candidate, which ``search`` found in all rows.
    search : callable, optional
        Called with all rows if ``searched`` is not given and one of the joined trees is close to the best; and with the
        fitted rows of each part if the tree it found is close to the best, to see how much that tree owes to the
        held-out rows.
    """
    seed, parts = int(rng.integers(2**31)), held_out(table, rng)
    attempts = Attempts()

    def begin(kind: str, tree: Tree, optimism: float = 0.0) -> _Candidate:
        states = StateSearch(table, tree, parts, settings.n_states, settings.smoothing, seed, attempts)
        return _Candidate(kind, states, optimism)

    spanning, twins = begin("chow-liu", _spanning_tree(table)), begin("hclt", _twin_tree(table))
    spanning.optimism = _optimism(spanning.search, _spanning_tree, parts)
    twins.optimism = _optimism(twins.search, _twin_tree, parts)
    # Resolved trees depend on single rows as little as hidden Chow-Liu trees do.
    resolved = [begin("resolved", tree, twins.optimism) for tree in joined]
    candidates = [
        begin("independent", independent(table.names).tree),
        spanning,
        begin("lcm", latent_class(table.names).tree),
        *resolved,
        twins,
    ]
    if searched is None:
        close = _raced(candidates)
        if search is not None and any(candidate in close for candidate in resolved):
            with reported_to(attempts.within):
                searched = search(table)
            attempts.end()
    if searched is not None and searched.n_hidden:
        # A search looks at the rows at least as closely as a Chow-Liu tree.
        explained = begin("explained", searched, spanning.optimism)
        candidates.append(explained)
        close = _raced(candidates)
        # It takes long: only if it may win is it repeated without the held-out rows.
        if search is not None and explained in close:
            explained.optimism = max(explained.optimism, _optimism(explained.search, search, parts))
            attempts.end()
    close = _raced(candidates)
    for candidate in close:
        candidate.search.polish()
    best = _simplest_of_the_best(close)
    return Structure(best.search.tree, choice=best.search.choice, candidates=_compared(best, candidates))


def _compared(best: _Candidate, candidates: Sequence[_Candidate]) -> tuple[Candidate, ...]:
    """Return how far candidates are behind the chosen one, which comes first."""
    found = [Candidate(best.kind, 0.0, 0.0)]
    for candidate in candidates:
        behind = _differences(best.scores, candidate.scores)
        if candidate is not best and behind.size:
            found.append(Candidate(candidate.kind, float(behind.mean()), float(behind.std() / np.sqrt(behind.size))))
    return tuple(sorted(found, key=lambda one: (one.kind != best.kind, one.behind)))


def _spanning_tree(table: Table) -> Tree:
    return chow_liu(table.names, pairwise(table, information)).tree


def _twin_tree(table: Table) -> Tree:
    return hidden_chow_liu(table.names, pairwise(table, information)).tree


def _optimism(search: StateSearch, learn: Callable[[Table], Tree], parts: Sequence[Part]) -> float:
    """Return by how much rows score better on average if the tree was learned from all rows, not the fitted ones."""
    trees = map_forked(learn, [part.fitted for part in parts])
    gains = _differences(search.first.scores, search.scores_on(trees))
    return max(float(gains.mean()), 0.0) if gains.size else 0.0


def _differences(scores: FloatArray, others: FloatArray) -> FloatArray:
    """Return by how much rows score better that are possible under both models."""
    possible = np.isfinite(scores) & np.isfinite(others)
    return np.asarray(scores[possible] - others[possible])


def _raced(candidates: Sequence[_Candidate]) -> list[_Candidate]:
    """Let every candidate take the states that it needs, the most promising first; return those that are close."""
    leader, *others = sorted(candidates, key=lambda candidate: -float(candidate.scores.sum()))
    leader.search.climb()
    for candidate in others:
        candidate.search.climb(leader.scores + candidate.optimism)
        if candidate.is_better(leader, 0):
            leader = candidate
    return [candidate for candidate in candidates if not leader.is_better(candidate, _CLEARLY, _LEAST_GAIN)]


def _simplest_of_the_best(candidates: Sequence[_Candidate]) -> _Candidate:
    """Return the candidate with the fewest parameters, unless another one predicts better."""
    best, *others = sorted(candidates, key=lambda candidate: candidate.n_parameters)
    for candidate in others:
        if candidate.is_better(best, _WORTH_MORE, _LEAST_GAIN):
            best = candidate
    return best
