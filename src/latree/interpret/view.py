"""One reading of a model: what its nodes say about each other, and a score for every state of a hidden variable.

EM numbers states at random. So every hidden variable gets a score for each of its states. It is the mean of what its
ordered columns are expected to be in each state, weighted by their loadings:

1. Its columns are those of the main group that it stands for, if the model has groups, or else those beside it.
2. ``m_c(s) = E[z_c | state s]`` for each of them that is ordered, where ``z_c`` is the column's code with mean 0 and
   variance 1 under the model.
3. ``score(s) = Σ_c w_c m_c(s)``, where the weights w are the leading right singular vector of the matrix
   ``sqrt(P(s)) m_c(s)``. They are proportional to the loadings, that is, to the correlations of columns with the score:
   columns that point in the opposite direction have weights of the other sign.
4. A hidden variable without columns is scored in the same way by the scores of hidden variables beside it, which take
   the place of ``z_c``. Nearer ones come first.

A column follows the order if its means rise, or fall, from state to state. A step in the other direction contradicts
it, unless the standard errors of the two means allow for it. States are steps from low to high if the columns that
contradict their order have less than a quarter of the variance ``Σ_c Var(m_c)`` that the states explain. Otherwise they
are kinds of rows: of three kinds, each with columns of its own, any order has one in the middle, and its columns, a
third of all, contradict the order.

The sign of a score is free. A hidden variable should grow with its own columns, and agree with closely related hidden
variables. So the signs ``t_h`` of all scores together maximise

    ``Σ_h t_h b_h + Σ_gh t_g t_h log((1 + r_gh) / (1 - r_gh))``,

where ``b_h`` is the sum of the score's correlations with its own ordered columns, and ``r_gh`` the correlation of the
scores of neighbours. The logarithm is the log odds that two signs with this correlation agree. So two reversed items
that have a hidden variable of their own are turned to agree with the rest of their scale, and a scale of five items
keeps its own direction beside scales with which its correlation is moderate.

Nothing here depends on how columns or states are numbered: ties are broken by names.
"""

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from latree._util.arrays import FloatArray
from latree.counts.distances import informational_correlation
from latree.interpret.dependence import Dependence
from latree.model import LatentTreeModel
from latree.model.group import MIN_STABILITY
from latree.model.loading import LOADING_DECIMALS, leading_score, standardised_codes

# Correlations are kept below this, so that log odds are finite.
_CLOSEST = 1 - 1e-6
# Sums of directions below this are rounding.
_ROUNDING = 1e-9
# Numbers that agree in so many decimals are a tie.
_DECIMALS = 9
# Two means differ if the difference is more than this many standard errors: in 5 of 100 cases by chance.
_MIN_ERRORS = 2.0
# States are kinds if the columns that contradict their order have this share of the variance that states explain. It is
# less than the third that contradicts any order of three kinds.
_MIN_OF_KINDS = 0.25
# Names of states from low to high, by their number. More states are numbered.
_ORDERED_NAMES: dict[int, tuple[str, ...]] = {
    2: ("low", "high"),
    3: ("low", "middle", "high"),
    4: ("low", "rather low", "rather high", "high"),
    5: ("low", "rather low", "middle", "rather high", "high"),
}


@dataclass(frozen=True)
class Score:
    """The score of each state of a hidden variable, of mean 0 and variance 1, and a name that breaks ties."""

    values: FloatArray
    name: str
    own_direction: float  # the sum of the score's correlations with the variable's ordered columns
    has_steps: bool  # whether states are steps from low to high, and not kinds


class Trend(NamedTuple):
    """How a variable changes from state to state of a hidden variable, from the lowest score to the highest."""

    direction: int  # 1 if it rises, -1 if it falls, 0 if neither is certain
    contradicts: bool  # whether it certainly does not follow the order


def trend(given: FloatArray, values: FloatArray, scores: FloatArray, n_rows: FloatArray) -> Trend:
    """Return how a variable changes with the score of a hidden variable.

    Parameters
    ----------
    given : array, shape (states, values)
        P(value | state).
    values : array
        The numbers that the values of the variable stand for.
    scores : array
        The scores of the states.
    n_rows : array
        The number of rows in each state; infinite where the model is the truth. A state without rows says nothing.
    """
    means = given @ values
    variances = np.maximum(given @ values**2 - means**2, 0)
    errors = np.divide(variances, n_rows, out=np.full(len(means), np.inf), where=n_rows > 0)
    scores = np.round(scores, _DECIMALS)
    # For each two states, the higher one in the row: the difference of the means, and how much of it may be chance.
    difference = means[:, None] - means[None, :]
    chance = _MIN_ERRORS * np.sqrt(errors[:, None] + errors[None, :]) + _ROUNDING
    is_higher, is_equal = scores[:, None] > scores[None, :], scores[:, None] == scores[None, :]
    rises, falls = (bool((is_higher & (sign * difference > chance)).any()) for sign in (1, -1))
    # A difference between states that the score does not tell apart contradicts the order, too.
    contradicts = (rises and falls) or bool((is_equal & (difference > chance)).any())
    return Trend(0 if contradicts else int(rises) - int(falls), contradicts)


class GroupColumn(NamedTuple):
    """A column of a group."""

    name: str
    loading: float | None  # on the hidden variable of the group; None if it has none
    stability: float | None  # None if it was not computed
    direction: int = 0  # 1 if it rises from state to state of the group, -1 if it falls, 0 if neither is certain
    elsewhere: tuple[str, float] | None = None  # the other group that it is most often in, and how often

    @property
    def is_unsure(self) -> bool:
        """Whether the column is in its group in fewer than half of the replicates."""
        return self.stability is not None and self.stability < MIN_STABILITY


def view_of(model: LatentTreeModel) -> "View":
    """Return the one reading of a model: it is made when it is first asked for, and kept with the model."""
    kept = vars(model)
    if "_view" not in kept:
        kept["_view"] = View(model)
    found: View = kept["_view"]
    return found


class View(Dependence):
    """What a model says of its hidden variables, groups and columns; each thing is computed once, when it is needed.

    Use :func:`view_of`.
    """

    def kept_for(self, model: LatentTreeModel) -> LatentTreeModel:
        """Return a model that differs only in names, groups or results in its record, and let it share this reading."""
        view = copy(self)
        view.model = model
        if model.groups is not self.model.groups:
            for name in ("scores", "own_scores", "kinds", "group_columns"):
                vars(view).pop(name, None)
        vars(model)["_view"] = view
        return model

    @cached_property
    def scores(self) -> dict[int, Score]:
        """The scores of hidden variables whose states have an order, by the columns of the groups they stand for."""
        groups = {
            group.centre: group.nodes
            for group in self.model.groups
            if group.level == "main" and group.hidden is not None
        }
        return self._turned(_oriented(self, _state_scores(self, groups)))

    @cached_property
    def own_scores(self) -> dict[int, Score]:
        """The same by the columns beside each hidden variable, whatever group it stands for."""
        return self._turned(_oriented(self, _state_scores(self, {}))) if self.model.groups else self.scores

    def _turned(self, scores: dict[int, Score]) -> dict[int, Score]:
        """Return scores with the signs that the user wants."""
        turned = set(self.model.flipped)
        return {node: replace(one, values=-one.values) if node in turned else one for node, one in scores.items()}

    @cached_property
    def kinds(self) -> set[int]:
        """Hidden variables whose states are kinds of rows, and not steps from low to high."""
        return {node for node, score in self.scores.items() if not score.has_steps}

    def rows_in_states(self, node: int, column: int | None = None) -> FloatArray:
        """Return the expected number of rows in each state of a node, of those where a column is present.

        They are infinite for a model that was not fitted to rows.
        """
        record, shares = self.model.record, self.marginals[node]
        if record is None:
            return np.where(shares > 0, np.inf, 0.0)
        present = 1 - record.n_missing[column] / record.n_rows if column is not None and record.n_rows else 1.0
        return shares * record.total_weight * present

    def state_names(self, node: int) -> tuple[str, ...]:
        """Return the names of the states of a hidden variable; see :func:`latree.interpret.state_names`."""
        n, score = len(self.marginals[node]), self.scores.get(node)
        numbered = tuple(f"state {number}" for number in range(1, n + 1))
        if score is None:
            return numbered
        ranks = np.argsort(np.argsort(score.values, kind="stable"))
        in_steps = _ORDERED_NAMES.get(n) or tuple(f"{number} of {n}" for number in range(1, n + 1))
        names = in_steps if score.has_steps else numbered
        return tuple(names[rank] for rank in ranks.tolist())

    def loadings(self, wanted: Mapping[int, Sequence[int]]) -> dict[int, list[float]]:
        """Return the loadings of some columns on some hidden variables, by the nodes of the hidden variables.

        Parameters
        ----------
        wanted : mapping of int to sequence of int
            From hidden variables to columns.
        """
        found: dict[int, list[float]] = {}
        codes = {
            column: standardised_codes(self.marginals[column])
            for column in {column for columns in wanted.values() for column in columns}
            if self.model.columns[column].ordered
        }
        for hidden, conditionals in self.columns_given(wanted):
            shares, score = self.marginals[hidden], self.scores.get(hidden)
            found[hidden] = []
            for column in wanted[hidden]:
                conditional = conditionals[column]
                if column in codes and score is not None:
                    # r = Σ_h P(h) score(h) E[code | h], where score and code have mean 0 and variance 1.
                    loading = float((shares * score.values) @ (codes[column] @ conditional))
                else:
                    loading = float(informational_correlation(np.array(self.information(hidden, column, conditional))))
                found[hidden].append(float(np.clip(loading, -1, 1)))
        return found

    def directions(self, wanted: Mapping[int, Sequence[int]]) -> dict[int, list[int]]:
        """Return whether some columns rise (1) or fall (-1) with some hidden variables, by the nodes of the latter.

        It is 0 where a column has no order, where its means in the states do not follow the order of the states, and
        where all differences between them may be chance. Nothing rises or falls where the states are kinds of rows and
        not steps. See :meth:`loadings` for the parameter.
        """
        found: dict[int, list[int]] = {}
        for hidden, conditionals in self.columns_given(wanted):
            score = self.scores.get(hidden)
            found[hidden] = [
                trend(
                    conditionals[column].T,
                    self.standardised[column],
                    score.values,
                    self.rows_in_states(hidden, column),
                ).direction
                if column in self.standardised and score is not None and score.has_steps
                else 0
                for column in wanted[hidden]
            ]
        return found

    @cached_property
    def group_columns(self) -> list[list[GroupColumn]]:
        """The columns of each group of the model, the strongest loadings first; of equal ones, the first by name."""
        node = {name: number for number, name in enumerate(self.tree.names)}
        # Groups of several levels may have the same centre.
        wanted: dict[int, list[int]] = {}
        for group in self.model.groups:
            if group.hidden is not None:
                known = wanted.setdefault(group.centre, [])
                known += [node[name] for name in group.columns if node[name] not in known]
        loadings, directions = self.loadings(wanted), self.directions(wanted)
        found = []
        for group in self.model.groups:
            columns = []
            unknown = (None,) * len(group.columns)
            shares, others = group.column_stability or unknown, group.column_elsewhere or unknown
            for name, share, other in zip(group.columns, shares, others, strict=True):
                elsewhere = None if other is None else (self.model.groups[other[0]].name, other[1])
                if group.hidden is None:
                    columns.append(GroupColumn(name, None, share, elsewhere=elsewhere))
                    continue
                place = wanted[group.centre].index(node[name])
                loading, direction = loadings[group.centre][place], directions[group.centre][place]
                # Where the certain differences and all of them together do not agree, there is no direction.
                direction = direction if direction * loading > 0 else 0
                columns.append(GroupColumn(name, loading, share, direction, elsewhere))
            columns.sort(key=lambda column: (-round(abs(column.loading or 0), LOADING_DECIMALS), column.name))
            found.append(columns)
        return found


def _columns_of(view: View, node: int, nodes: Sequence[int] | None) -> dict[int, FloatArray]:
    """Return P(column | node) for the columns of a hidden variable, by name, one row per state of the node.

    They are those among the nodes of the main group that it stands for, or else those beside it.
    """
    if nodes is None:
        return {column: view.given(node, column) for column in view.neighbours(node, hidden=False)}
    found: dict[int, FloatArray] = {node: np.eye(len(view.marginals[node]))}
    for other, before in view.outwards(node, set(nodes)):
        # P(other | node) = Σ_b P(b | node) P(other | b), where b is the node before it on the path
        found[other] = found[before] @ view.given(before, other)
    columns = [other for other in found if other < view.tree.n_observed]
    return {column: found[column] for column in sorted(columns, key=lambda column: view.tree.names[column])}


def _state_scores(view: View, groups: Mapping[int, Sequence[int]]) -> dict[int, Score]:
    """Return the scores of hidden variables' states, each up to its sign, where there are ordered columns."""
    names = view.tree.names
    found: dict[int, Score] = {}
    # Hidden variables with ordered columns, which have the last word.
    waiting = set()
    for node in view.hidden:
        columns = _columns_of(view, node, groups.get(node))
        ordered = [
            _Indicator(names[column], given, codes, view.rows_in_states(node, column))
            for column, given in columns.items()
            if (codes := view.standardised.get(column)) is not None
        ]
        if (score := _common_score(ordered, view.marginals[node])) is not None:
            correlations = [float((view.marginals[node] * score.values) @ one.means) for one in ordered]
            found[node] = replace(score, own_direction=sum(correlations))
        elif not columns:
            waiting.add(node)
    # Hidden variables without columns: those beside scored ones first, then those beside these, and so on.
    frontier = set(found)
    while frontier:
        ready = {other for node in frontier for other in view.neighbours(node, hidden=True)} & waiting
        waiting -= ready
        scored = {node: _score_by_neighbours(view, node, found) for node in ready}
        new = {node: score for node, score in scored.items() if score is not None}
        found |= new
        frontier = set(new)
    return found


def _score_by_neighbours(view: View, node: int, scores: dict[int, Score]) -> Score | None:
    """Return the score of a hidden variable by the scores of hidden variables beside it."""
    others = [other for other in view.neighbours(node, hidden=True) if other in scores]
    others.sort(key=lambda other: scores[other].name)
    rows = view.rows_in_states(node)
    indicators = [
        _Indicator(scores[other].name, view.given(node, other), scores[other].values, rows) for other in others
    ]
    return _common_score(indicators, view.marginals[node])


@dataclass(frozen=True)
class _Indicator:
    """A variable of mean 0 and variance 1 that a hidden variable is scored by."""

    name: str
    given: FloatArray  # P(value | state), one row per state of the hidden variable
    values: FloatArray
    n_rows: FloatArray  # in each state

    @cached_property
    def means(self) -> FloatArray:
        """What the variable is expected to be in each state."""
        return np.asarray(self.given @ self.values)


def _common_score(indicators: list[_Indicator], shares: FloatArray) -> Score | None:
    """Return the first principal component of what variables are expected to be; None if they say nothing."""
    means = np.array([one.means for one in indicators]).reshape(len(indicators), len(shares))
    score = leading_score(means, shares)
    if score is None:
        return None
    # Columns that contradict the order must not have much of what the states explain: Var(m_c) = Σ_s P(s) m_c(s)².
    variances = (means**2 * shares).sum(axis=1)
    contradict = [trend(one.given, one.values, score, one.n_rows).contradicts for one in indicators]
    return Score(score, indicators[0].name, 0.0, bool(variances[contradict].sum() < _MIN_OF_KINDS * variances.sum()))


def _oriented(view: View, scores: dict[int, Score]) -> dict[int, Score]:
    """Choose the sign of each score: those that maximise the sum at the top of this module, found exactly."""
    couplings = _couplings(view, scores)
    signs: dict[int, float] = {}
    # Each part starts from the hidden variable with the first name.
    for root in sorted(scores, key=lambda node: scores[node].name):
        if root in signs:
            continue
        order, parent = _part(root, couplings)
        # Children first: how much better the sign 1 is than -1 for all that is below a node, its own columns included.
        gain = {node: scores[node].own_direction for node in order}
        for node in reversed(order[1:]):
            coupling = couplings[node][parent[node]]
            # max over s of (s g + s t c) is |g + t c| for the parent's sign t, so the parent gains half the difference.
            gain[parent[node]] += (abs(gain[node] + coupling) - abs(gain[node] - coupling)) / 2
        # Parents first: the better sign given the parent's. If neither is better, agree; a root keeps its sign.
        for node in order:
            towards = couplings[node][parent[node]] * signs[parent[node]] if node in parent else 0.0
            total = gain[node] + towards
            signs[node] = float(np.sign(total if abs(total) > _ROUNDING else towards)) or 1.0
    return {node: replace(score, values=signs[node] * score.values) for node, score in scores.items()}


def _couplings(view: View, scores: dict[int, Score]) -> dict[int, dict[int, float]]:
    """Return ``log((1 + r) / (1 - r))`` for neighbouring hidden variables whose scores have the correlation r."""
    found: dict[int, dict[int, float]] = {node: {} for node in scores}
    for node, score in scores.items():
        for other in view.neighbours(node, hidden=True):
            if other in scores and other > node:
                mean = view.given(node, other) @ scores[other].values
                correlation = float((view.marginals[node] * score.values) @ mean)
                log_odds = 2 * float(np.arctanh(np.clip(correlation, -_CLOSEST, _CLOSEST)))
                found[node][other] = found[other][node] = log_odds
    return found


def _part(root: int, links: dict[int, dict[int, float]]) -> tuple[list[int], dict[int, int]]:
    """Return the nodes that are linked to a root, each after its parent, and the parents of all but the root."""
    order, parent = [root], dict[int, int]()
    for node in order:  # which grows
        for other in links[node]:
            if other != parent.get(node):
                parent[other] = node
                order.append(other)
    return order, parent
