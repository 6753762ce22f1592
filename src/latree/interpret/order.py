"""The order of hidden states: from low to high where columns have an order, by size otherwise.

EM numbers states at random. Here every hidden variable gets a score for each of its states, and states are numbered by
it. The score is the mean of what its ordered columns are expected to be in each state, weighted by their loadings:

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

Nothing here depends on how columns or states are numbered: ties are broken by names and by distributions of columns.
"""

from collections.abc import Container, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from latree._util.arrays import FloatArray, IntArray
from latree.model import LatentTreeModel

# Of a column's variance, a hidden variable must explain more than this share; less is rounding.
_MIN_EXPLAINED = 1e-12
# Singular values that differ relatively by less than this are equal.
_EQUAL_WITHIN = 1e-6
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


class OrderedModel(NamedTuple):
    """A model whose states are in order, and the directions of its columns.

    Attributes
    ----------
    model : LatentTreeModel
    directions : array of int
        One number per column, the sign of its correlation with the score of the hidden variable that it hangs on: 1 if
        the column grows with it on the whole, -1 if it falls, and 0 if the column has no order, or if there is no
        hidden variable that says anything about it.

    Examples
    --------
    >>> import latree
    >>> from latree.interpret.order import order_states
    >>> tree = latree.random_tree(6, random_state=0)
    >>> model, directions = order_states(latree.random_model(tree, n_states=3, start="identity", random_state=0))
    >>> directions.tolist()
    [1, 1, 1, 1, 1, 1]
    """

    model: LatentTreeModel
    directions: IntArray


def order_states(model: LatentTreeModel) -> OrderedModel:
    """Sort the states of every hidden variable from low to high, and return the direction of every column.

    Use it before you read a model or compare two of them. Models that latree learned are in order already. The rows'
    probabilities stay the same: only the rows and columns of tables change places.

    States are ordered by what ordered columns (numbers, bins, booleans, ordered categories) are expected to be in each
    state, weighted by their loadings. These are the columns of the main group that the hidden variable stands for, if
    the model has groups (:func:`with_groups`), or else those beside it. Columns in the opposite direction, such as
    reversed items of a questionnaire, are recognised. A hidden variable without columns follows the hidden variables
    beside it. Where the columns have no order, the largest state comes first.

    Parameters
    ----------
    model : LatentTreeModel

    Returns
    -------
    OrderedModel

    Examples
    --------
    Three answers from 1 to 3. The third question is reversed, and the states are not in order:

    >>> import numpy as np
    >>> from latree import LatentTreeModel, Tree
    >>> from latree.interpret.order import order_states
    >>> from latree import Column
    >>> tree = Tree.from_newick("(calm,relaxed,nervous);")
    >>> columns = tuple(Column(name, "integer", ("1", "2", "3"), ordered=True) for name in tree.names)
    >>> high, low = [0.1, 0.2, 0.7], [0.6, 0.3, 0.1]
    >>> usual, reversed_item = np.transpose([high, low]), np.transpose([low, high])
    >>> shares = np.array([[0.4], [0.6]])
    >>> ordered = order_states(LatentTreeModel(tree, columns, (usual, usual, reversed_item, shares)))
    >>> ordered.directions.tolist()
    [1, 1, -1]
    >>> ordered.model.tables[0].T.tolist()  # P(calm | low state), P(calm | high state)
    [[0.6, 0.3, 0.1], [0.1, 0.2, 0.7]]
    """
    neighbourhood = Neighbourhood(model)
    scores = scores_of(neighbourhood)
    orders = [np.arange(len(table)) for table in model.tables]
    for node in neighbourhood.hidden:
        orders[node] = _state_order(neighbourhood, node, scores[node].values if node in scores else None)
    tables = tuple(
        np.ascontiguousarray(table[orders[node]][:, orders[parent]] if parent >= 0 else table[orders[node]])
        for node, (table, parent) in enumerate(zip(model.tables, model.tree.rooted().parent.tolist(), strict=True))
    )
    return OrderedModel(replace(model, tables=tables), _directions(neighbourhood, scores))


def state_scores(model: LatentTreeModel) -> dict[int, FloatArray]:
    """Return the score of each state of each hidden variable, of mean 0 and variance 1, from low to high.

    A hidden variable that no ordered column says anything about has no score, and is left out.
    """
    return {node: score.values for node, score in scores_of(Neighbourhood(model)).items()}


def state_steps(model: LatentTreeModel) -> dict[int, bool]:
    """Return whether states are steps from low to high, and not kinds of rows, for hidden variables with a score."""
    return {node: score.has_steps for node, score in scores_of(Neighbourhood(model)).items()}


def scores_of(neighbourhood: "Neighbourhood") -> dict[int, "Score"]:
    """Return the scores of the hidden variables of a model whose neighbourhood is known, each in its direction."""
    return _oriented(neighbourhood, _state_scores(neighbourhood))


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


@dataclass(frozen=True)
class Neighbourhood:
    """What neighbours in a model say about each other."""

    model: LatentTreeModel

    @cached_property
    def marginals(self) -> list[FloatArray]:
        """The distribution of every node."""
        return self.model.network.marginals()

    @cached_property
    def hidden(self) -> range:
        """The hidden variables."""
        return range(self.model.tree.n_observed, self.model.tree.n_nodes)

    def neighbours(self, node: int, *, hidden: bool) -> list[int]:
        """Return the neighbours of a node that are hidden, or those that are columns, by name."""
        tree = self.model.tree
        found = [other for other, _ in tree.neighbors[node] if (other >= tree.n_observed) == hidden]
        return found if hidden else sorted(found, key=lambda column: tree.names[column])

    def given(self, node: int, other: int) -> FloatArray:
        """Return P(other | node) for neighbours, one row per state of the node."""
        parent = self.model.network.parent
        if parent[other] == node:
            return self.model.tables[other].T
        # P(other | node) = P(node | other) P(other) / P(node); a state that is impossible says nothing.
        joint = self.model.tables[node] * self.marginals[other]
        total = joint.sum(axis=1, keepdims=True)
        return np.where(total > 0, joint / np.where(total > 0, total, 1), self.marginals[other])

    @cached_property
    def groups(self) -> dict[int, tuple[int, ...]]:
        """The nodes of each main group, by the hidden variable that stands for it."""
        return {
            group.centre: group.nodes
            for group in self.model.groups
            if group.level == "main" and group.hidden is not None
        }

    def columns_of(self, node: int) -> dict[int, FloatArray]:
        """Return P(column | node) for the columns of a hidden variable, by name, one row per state of the node.

        They are those of the main group that it stands for, or else those beside it.
        """
        nodes = self.groups.get(node)
        if nodes is None:
            return {column: self.given(node, column) for column in self.neighbours(node, hidden=False)}
        found: dict[int, FloatArray] = {node: np.eye(len(self.marginals[node]))}
        for other, before in self.outwards(node, set(nodes)):
            # P(other | node) = Σ_b P(b | node) P(other | b), where b is the node before it on the path
            found[other] = found[before] @ self.given(before, other)
        columns = [other for other in found if other < self.model.tree.n_observed]
        return {column: found[column] for column in sorted(columns, key=lambda column: self.model.tree.names[column])}

    def outwards(self, start: int, nodes: Container[int]) -> list[tuple[int, int]]:
        """Return some connected nodes but the first one, nearest to it first, each with the one before it."""
        order = [(start, -1)]
        for node, before in order:  # which grows
            inside = (other for other, _ in self.model.tree.neighbors[node] if other in nodes)
            order += [(other, node) for other in inside if other != before]
        return order[1:]

    def rows_in_states(self, node: int, column: int | None = None) -> FloatArray:
        """Return the expected number of rows in each state of a node, of those where a column is present.

        They are infinite for a model that was not fitted to rows.
        """
        record, shares = self.model.record, self.marginals[node]
        if record is None:
            return np.where(shares > 0, np.inf, 0.0)
        present = 1 - record.n_missing[column] / record.n_rows if column is not None and record.n_rows else 1.0
        return shares * record.total_weight * present

    @cached_property
    def standardised(self) -> dict[int, FloatArray]:
        """The codes of each ordered column with mean 0 and variance 1 under the model; no constant columns."""
        found = {}
        for node, column in enumerate(self.model.columns):
            codes, shares = np.arange(column.n_states, dtype=np.float64), self.marginals[node]
            codes -= codes @ shares
            variance = float(codes**2 @ shares)
            if column.ordered and variance > _MIN_EXPLAINED:
                found[node] = codes / np.sqrt(variance)
        return found


def _state_scores(neighbourhood: Neighbourhood) -> dict[int, Score]:
    """Return the scores of hidden variables' states, each up to its sign, where there are ordered columns."""
    names = neighbourhood.model.tree.names
    found: dict[int, Score] = {}
    # Hidden variables with ordered columns, which have the last word.
    waiting = set()
    for node in neighbourhood.hidden:
        columns = neighbourhood.columns_of(node)
        ordered = [
            _Indicator(names[column], given, codes, neighbourhood.rows_in_states(node, column))
            for column, given in columns.items()
            if (codes := neighbourhood.standardised.get(column)) is not None
        ]
        if (score := _common_score(ordered, neighbourhood.marginals[node])) is not None:
            correlations = [float((neighbourhood.marginals[node] * score.values) @ one.means) for one in ordered]
            found[node] = replace(score, own_direction=sum(correlations))
        elif not columns:
            waiting.add(node)
    # Hidden variables without columns: those beside scored ones first, then those beside these, and so on.
    frontier = set(found)
    while frontier:
        ready = {other for node in frontier for other in neighbourhood.neighbours(node, hidden=True)} & waiting
        waiting -= ready
        scored = {node: _score_by_neighbours(neighbourhood, node, found) for node in ready}
        new = {node: score for node, score in scored.items() if score is not None}
        found |= new
        frontier = set(new)
    return found


def _score_by_neighbours(neighbourhood: Neighbourhood, node: int, scores: dict[int, Score]) -> Score | None:
    """Return the score of a hidden variable by the scores of hidden variables beside it."""
    others = [other for other in neighbourhood.neighbours(node, hidden=True) if other in scores]
    others.sort(key=lambda other: scores[other].name)
    rows = neighbourhood.rows_in_states(node)
    indicators = [
        _Indicator(scores[other].name, neighbourhood.given(node, other), scores[other].values, rows) for other in others
    ]
    return _common_score(indicators, neighbourhood.marginals[node])


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
    """Return the first principal component of expected values, one number per state, of mean 0 and variance 1.

    None if the variables say nothing.
    """
    means = np.array([one.means for one in indicators]).reshape(len(indicators), len(shares))
    weighted = means * np.sqrt(shares)
    if not indicators or (weighted**2).sum(axis=1).max() <= _MIN_EXPLAINED:
        return None
    left, singular, _ = np.linalg.svd(weighted, full_matrices=False)
    # If several components are equally strong, take their mixture that is nearest to one of the variables: the one that
    # they explain best or, of those that they explain equally well, the first.
    leading = left[:, singular > singular[0] * (1 - _EQUAL_WITHIN)]
    explained = np.round((leading**2).sum(axis=1), _DECIMALS)
    weights = leading @ leading[int(np.argmax(explained))]
    score = weights @ means
    score = score - score @ shares
    score = np.asarray(score / np.sqrt(score**2 @ shares))
    # Columns that contradict the order must not have much of what the states explain: Var(m_c) = Σ_s P(s) m_c(s)².
    variances = (weighted**2).sum(axis=1)
    contradict = [trend(one.given, one.values, score, one.n_rows).contradicts for one in indicators]
    return Score(score, indicators[0].name, 0.0, bool(variances[contradict].sum() < _MIN_OF_KINDS * variances.sum()))


def _oriented(neighbourhood: Neighbourhood, scores: dict[int, Score]) -> dict[int, Score]:
    """Choose the sign of each score: those that maximise the sum at the top of this module, found exactly."""
    couplings = _couplings(neighbourhood, scores)
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


def _couplings(neighbourhood: Neighbourhood, scores: dict[int, Score]) -> dict[int, dict[int, float]]:
    """Return ``log((1 + r) / (1 - r))`` for neighbouring hidden variables whose scores have the correlation r."""
    found: dict[int, dict[int, float]] = {node: {} for node in scores}
    for node, score in scores.items():
        for other in neighbourhood.neighbours(node, hidden=True):
            if other in scores and other > node:
                mean = neighbourhood.given(node, other) @ scores[other].values
                correlation = float((neighbourhood.marginals[node] * score.values) @ mean)
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


def _state_order(neighbourhood: Neighbourhood, node: int, scores: FloatArray | None) -> IntArray:
    """Return the states of a hidden variable in their order."""
    shares = neighbourhood.marginals[node]
    keys = [] if scores is None else [np.round(scores, _DECIMALS)]
    keys.append(-np.round(shares, _DECIMALS))
    if _n_distinct(keys) < len(shares):
        # States that tie and mean the same for all neighbours are interchangeable. Others are told apart by columns.
        meaning = [neighbourhood.given(node, other) for other, _ in neighbourhood.model.tree.neighbors[node]]
        meanings = list(np.round(np.concatenate(meaning, axis=1).T, _DECIMALS))
        for distribution in _distributions(neighbourhood, node):
            if _n_distinct(keys) == _n_distinct(keys + meanings):
                break
            keys += list(np.round(distribution.T, _DECIMALS))
    return np.lexsort(keys[::-1])  # np.lexsort sorts by its last key first


def _n_distinct(keys: list[FloatArray]) -> int:
    """Return how many states differ in one of the keys."""
    return len(np.unique(np.array(keys).T, axis=0))


def _distributions(neighbourhood: Neighbourhood, node: int) -> Iterator[FloatArray]:
    """Yield P(column | node) for all columns by name, neighbours first, one row per state: they break ties."""
    model = neighbourhood.model
    own = neighbourhood.neighbours(node, hidden=False)
    yield from (neighbourhood.given(node, column) for column in own)
    shares = neighbourhood.marginals[node][:, None]
    for column in sorted(set(range(model.tree.n_observed)) - set(own), key=lambda column: model.tree.names[column]):
        yield model.joint([node, column]) / np.where(shares > 0, shares, 1)


def _directions(neighbourhood: Neighbourhood, scores: dict[int, Score]) -> IntArray:
    """Return the direction of each column relative to the nearest hidden variable that has a score."""
    directions = np.zeros(neighbourhood.model.tree.n_observed, dtype=np.intp)
    name_of = dict(enumerate(neighbourhood.model.tree.names)) | {node: score.name for node, score in scores.items()}
    expected: dict[int, FloatArray] = {}  # of each column that was reached: E[score | column]
    reached = {node: score.values for node, score in scores.items()}
    while reached:
        # From hidden variables to the columns beside them, from these to columns beside them, and so on.
        candidates: dict[int, list[FloatArray]] = {}
        for node, values in sorted(reached.items(), key=lambda item: name_of[item[0]]):
            for column in neighbourhood.neighbours(node, hidden=False):
                if column not in expected:
                    candidates.setdefault(column, []).append(neighbourhood.given(column, node) @ values)
        reached = {column: _most_explained(neighbourhood, column, found) for column, found in candidates.items()}
        expected |= reached
    for column, codes in neighbourhood.standardised.items():
        if column in expected:
            correlation = float((neighbourhood.marginals[column] * codes) @ expected[column])
            directions[column] = np.sign(correlation) if correlation**2 > _MIN_EXPLAINED else 0
    return directions


def _most_explained(neighbourhood: Neighbourhood, column: int, expected: Iterable[FloatArray]) -> FloatArray:
    """Return the expected score that varies most with the column; the first of several."""
    return max(expected, key=lambda values: round(float(values**2 @ neighbourhood.marginals[column]), _DECIMALS))
