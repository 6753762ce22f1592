"""Where each row stands on the hidden variables, and how reliable that is.

The score of a group is an estimate of what its columns have in common, from 0 (lowest) to 1 (highest):

1. Each state of a hidden variable h has a value ``v_h``: the first principal component of what the ordered columns
   beside h are expected to be in that state (:mod:`latree.interpret.view`), with mean 0 and variance 1.
2. The group measures ``T = Σ_h σ_h b_h v_h``, a sum over its hidden variables. The weight ``b_h`` is the sum of the
   absolute loadings of the ordered columns that hang on h, and the sign ``σ_h`` is that of the correlation of ``v_h``
   with the values of the hidden variable in the group's middle. As a column is expected to be its loading times
   ``v_h``, T is what the group's columns, each standardised, and reversed if it points the other way, are expected to
   add up to. Classical test theory calls that the true score.
3. T is scaled such that 0 is all hidden variables in their lowest state, and 1 all in their highest.
4. The score of a row is the mean of T given the cells of the group's columns, and its standard error is the square root
   of the variance of T given these cells. Both are exact.

A score uses the group's own columns alone. So what a row answers elsewhere does not pull its score, and a correlation
of two scores is not made by the model. States and their probabilities use the whole row: they are the best guess.

The score of a hidden variable is the mean of its states' scores, scaled from 0 to 1, given the whole row. Those of a
hidden variable that stands for a group are the first principal component of all of the group's columns. Where no column
of a group has an order, states have equally spaced values in the order of their numbers: the largest state is 0.
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from latree._util.arrays import CodeArray, FloatArray, IntArray
from latree.errors import InputError
from latree.inference.evidence import IfAnswered, moments_if_answered, posterior_moments
from latree.inference.messages import downward, upward
from latree.inference.network import Network
from latree.inference.patterns import plan_messages
from latree.interpret.groups import known_groups
from latree.interpret.view import view_of
from latree.model import Group, LatentTreeModel
from latree.table import Block, Table
from latree.table.columns import has_bins
from latree.table.table import row_weights

Of = Literal["groups", "hidden"]


@dataclass(frozen=True)
class RowScores:
    """Where rows stand on groups of columns, or on hidden variables.

    Attributes
    ----------
    names : tuple of str
        The groups, or the hidden variables.
    state_names : tuple of tuple of str
        The names of the states of each.
    scores : array of float, shape (rows, names)
        From 0 (lowest) to 1 (highest); NaN in rows that are impossible under the model.
    errors : array of float, shape (rows, names)
        The standard error of each score.
    states : array of int, shape (rows, names)
        The most probable state; -1 in rows that are impossible.
    probabilities : array of float, shape (rows, names)
        The probability of that state.
    log_density : array of float
        Of each row, in nats and in the units of the data: the lower, the more unusual is the row. NaN if a column has
        bins and the rows are codes without numbers.

    Examples
    --------
    >>> import latree
    >>> from latree import row_scores
    >>> tree = latree.Tree.from_newick("((a,b,c),(d,e,f));")
    >>> model = latree.random_model(tree, n_states=2, hidden_states=2, start="identity", random_state=5)
    >>> rows = row_scores(model, model.sample(3, random_state=1))
    >>> [rows.state_names[0][state] for state in rows.states[:, 0]]
    ['high', 'high', 'low']
    """

    names: tuple[str, ...]
    state_names: tuple[tuple[str, ...], ...]
    scores: FloatArray
    errors: FloatArray
    states: NDArray[np.intp]
    probabilities: FloatArray
    log_density: FloatArray


def row_scores(model: LatentTreeModel, data: Any, of: Of = "groups") -> RowScores:
    """Return where each row stands on each group of columns: a score, its standard error, a state, its probability.

    The score of a group estimates what its columns have in common, from 0 (all its hidden variables in their lowest
    state) to 1 (all in their highest). It is the posterior mean of a weighted sum over the group's hidden variables,
    given the row's cells in the group's columns; the standard error is the posterior standard deviation. Missing cells
    are summed out: a row without any cell of a group gets the mean score and a large standard error. The state is the
    most probable one of the hidden variable in the group's middle, given the whole row. :mod:`latree.interpret.scores`
    has the formula.

    Groups of columns that are connected directly, without a hidden variable, have no score and are left out.

    Parameters
    ----------
    model : LatentTreeModel
    data : data frame, array, path or Table
        Any rows with the model's columns; cells may be missing.
    of : {"groups", "hidden"}
        Score the main groups, or all hidden variables. The score of a hidden variable is the posterior mean of its
        states' values, scaled from 0 to 1, given the whole row.

    Returns
    -------
    RowScores

    Examples
    --------
    >>> import numpy as np
    >>> import latree
    >>> from latree import row_scores
    >>> tree = latree.Tree.from_newick("((a,b,c),(d,e,f));")
    >>> model = latree.random_model(tree, n_states=2, hidden_states=2, start="identity", random_state=5)
    >>> rows = row_scores(model, np.array([[0, 0, 0, 1, 1, 1], [0, np.nan, np.nan, 1, 0, 1]]))
    >>> rows.scores.round(2)
    array([[0.02, 0.98],
           [0.18, 0.77]])
    >>> rows.errors.round(2)
    array([[0.13, 0.14],
           [0.38, 0.42]])
    """
    table = model.encode(data)
    scorer = Scorer.of_model(model, of)
    return scorer.rows_of(table.map(scorer.block))


# How scores can be written: from 0 to 1; with mean 50 and standard deviation 10 in the rows of the fit; as the share of
# these rows, in per cent, that are lower; or with mean 0 and standard deviation 1.
ScoreScale = Literal["unit", "t", "percentile", "z"]
# The percentiles of more rows than this are those of a sample: their standard error is at most a third of one.
_MAX_NORM_ROWS = 20_000
_PERCENTILES = np.arange(101.0)


def norms_of(model: LatentTreeModel, table: Table) -> tuple[tuple[float, ...], ...]:
    """Return the mean, the standard deviation and the percentiles from 0 to 100 of each group's scores on some rows."""
    scorer = Scorer.of_model(model)
    rows = table.subsample(_MAX_NORM_ROWS, 0)
    found = scorer.rows_of(rows.map(scorer.block))
    weights = rows.map(row_weights)
    possible = np.isfinite(found.log_density) & (weights > 0)
    weights = weights[possible]
    if not len(weights):
        return ()
    norms = []
    for scores in found.scores[possible].T:
        mean = float(np.average(scores, weights=weights))
        deviation = float(np.sqrt(np.average((scores - mean) ** 2, weights=weights)))
        order = np.argsort(scores, kind="stable")
        # The middle of a row's weight is the share of rows that are lower.
        places = 100 * (np.cumsum(weights[order]) - weights[order] / 2) / weights.sum()
        percentiles = np.interp(_PERCENTILES, places, scores[order])
        norms.append((mean, deviation, *percentiles.tolist()))
    return tuple(norms)


def with_scale(model: LatentTreeModel, rows: RowScores, scale: ScoreScale, of: Of = "groups") -> RowScores:
    """Return scores with the norms of the rows that the model was fitted to.

    Percentiles have no standard error: NaN.
    """
    if scale not in get_args(ScoreScale):
        raise InputError(f"scale must be one of {', '.join(get_args(ScoreScale))}, not {scale!r:.60}")
    if scale == "unit":
        return rows
    if of != "groups":
        raise InputError(f"scale {scale!r} is for scores of groups, which have norms: leave out of='hidden'")
    norms = model.record.norms if model.record else ()
    if len(norms) != len(rows.names):
        raise InputError(f"scale {scale!r} needs the norms of a fit, which this model does not have: fit it again")
    if scale == "percentile":
        scores = [_percentiles(own, np.array(norm[2:])) for own, norm in zip(rows.scores.T, norms, strict=True)]
        columns = np.array(scores).T.reshape(rows.scores.shape)
        return replace(rows, scores=columns, errors=np.full(columns.shape, np.nan))
    means, deviations = np.array([norm[:2] for norm in norms]).reshape(-1, 2).T
    deviations = np.where(deviations > 0, deviations, np.nan)
    times, plus = (10.0, 50.0) if scale == "t" else (1.0, 0.0)
    return replace(
        rows, scores=plus + times * (rows.scores - means) / deviations, errors=times * rows.errors / deviations
    )


def _percentiles(scores: FloatArray, known: FloatArray) -> FloatArray:
    """Return the percentile of each score; where several are the same score, the middle of them."""
    last = np.interp(scores, known, _PERCENTILES)
    first = 100 - np.interp(-scores, -known[::-1], _PERCENTILES)
    return np.asarray((first + last) / 2)


def state_names(model: LatentTreeModel) -> dict[str, tuple[str, ...]]:
    """Return names for the states of every hidden variable.

    Two to five ordered states are called low, rather low, middle, rather high and high, as far as they exist; more are
    called "1 of 6", "2 of 6" and so on, from low to high. States that are kinds of rows, and not steps from low to
    high, are called "state 1", "state 2" and so on: there, many columns do not rise or fall from state to state. States
    without an order, where columns have none, are called so, too; the largest comes first.

    Parameters
    ----------
    model : LatentTreeModel

    Returns
    -------
    dict
        From the name of a hidden variable to the names of its states, in the order of their numbers.

    Examples
    --------
    >>> import latree
    >>> from latree.interpret.scores import state_names
    >>> tree = latree.Tree.from_newick("((a,b,c),(d,e,f));")
    >>> model = latree.random_model(tree, n_states=2, hidden_states=2, start="identity", random_state=5)
    >>> state_names(model)["H1"]
    ('low', 'high')
    """
    view = view_of(model)
    return {model.node_names[node]: view.state_names(node) for node in view.hidden}


def with_state_numbers(model: LatentTreeModel, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return values of variables by name, with the numbers of hidden variables' states in the place of their names."""
    first = model.tree.n_observed
    nodes = {name: model.node(name) for name, value in given.items() if isinstance(value, str)}
    if all(node < first for node in nodes.values()):
        return dict(given)
    states = {name: view_of(model).state_names(node) for name, node in nodes.items() if node >= first}
    return {
        name: states[name].index(value) if name in states and value in states[name] else value
        for name, value in given.items()
    }


@dataclass(frozen=True)
class Scale:
    """A group of columns, or a hidden variable, that rows are scored on.

    Attributes
    ----------
    name : str
    hidden : int
        The hidden variable whose states are reported.
    state_names : tuple of str
    values : mapping
        From nodes of the network to the share that each of their states adds to the score.
    network : Network or None
        The part of the model that is scored alone. None: the whole model, and the only node is the hidden variable.
    columns : array of int
        The columns of the network.
    directions : array of int
        Of these columns: -1 if the column falls when the score rises, 1 if it rises, 0 if it has no order.
    """

    name: str
    hidden: int
    state_names: tuple[str, ...]
    values: Mapping[int, FloatArray]
    network: Network | None
    columns: IntArray
    directions: IntArray

    def moments(self, codes: CodeArray) -> tuple[FloatArray, FloatArray]:
        """Return the score of a group in each row, and the square of its standard error.

        ``codes`` are those of all columns of the model; what is missing is summed out. So the score from some of the
        columns is that of rows where all others are missing.
        """
        assert self.network is not None
        return posterior_moments(self.network, codes[:, self.columns], self.values)

    def if_answered(self, codes: CodeArray, columns: Collection[int] | None = None) -> Iterator[IfAnswered]:
        """Yield for each column of a group, or some, what one more answer would say about the score.

        Columns have their numbers in the model.

        See :func:`moments_if_answered` for the rows where it is right. The expected drop of the variance is
        :attr:`IfAnswered.gain`.
        """
        assert self.network is not None
        own = None if columns is None else np.flatnonzero(np.isin(self.columns, list(columns))).tolist()
        for found in moments_if_answered(self.network, codes[:, self.columns], self.values, own):
            yield found._replace(column=int(self.columns[found.column]))


@dataclass(frozen=True)
class Scorer:
    """Scores blocks of rows; it can be sent to other machines."""

    network: Network
    scales: tuple[Scale, ...]
    binned: bool  # whether a column has bins

    @classmethod
    def of_model(cls, model: LatentTreeModel, of: Of = "groups") -> "Scorer":
        """Return the scorer of a model's main groups, or of its hidden variables."""
        if of not in get_args(Of):
            raise InputError(f"of must be 'groups' or 'hidden', not {of!r:.60}")
        scales = _Scales(model)
        if of == "hidden":
            found = tuple(map(scales.of_hidden, scales.view.hidden))
        else:
            found = tuple(scales.of_group(group) for group in scored_groups(model))
        return cls(model.network, found, has_bins(model.columns))

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the scales."""
        return tuple(scale.name for scale in self.scales)

    def block(self, block: Block) -> FloatArray:
        """Return one line of numbers per row: the log density, then scores, errors, states and probabilities."""
        scores, errors, states, probabilities = (np.empty((len(block.codes), len(self.scales))) for _ in range(4))
        up = upward(self.network, plan_messages(self.network, block.codes, repeats=False))
        impossible = np.isneginf(up.log_likelihood)
        wanted = {scale.hidden: number for number, scale in enumerate(self.scales)}
        for step, _, posterior in downward(up):
            if (number := wanted.get(step.number)) is None:
                continue
            scale = self.scales[number]
            states[:, number] = posterior.argmax(axis=1)
            probabilities[:, number] = np.take_along_axis(posterior, posterior.argmax(axis=1)[:, None], axis=1)[:, 0]
            if scale.network is None:
                values = scale.values[scale.hidden]
                scores[:, number] = posterior @ values
                errors[:, number] = np.maximum(posterior @ values**2 - scores[:, number] ** 2, 0)
        for number, scale in enumerate(self.scales):
            if scale.network is not None:
                scores[:, number], errors[:, number] = scale.moments(block.codes)
        np.sqrt(errors, out=errors)
        scores[impossible], errors[impossible], probabilities[impossible], states[impossible] = (
            np.nan,
            np.nan,
            np.nan,
            -1,
        )
        if self.binned:
            inside = np.full(len(block.codes), np.nan) if block.inside is None else block.inside
        else:
            inside = np.zeros(len(block.codes))
        return np.concatenate([(up.log_likelihood + inside)[:, None], scores, errors, states, probabilities], axis=1)

    def rows_of(self, lines: FloatArray) -> RowScores:
        """Return the scores that lines of numbers stand for."""
        scores, errors, states, probabilities = np.split(lines[:, 1:], 4, axis=1)
        return RowScores(
            self.names,
            tuple(scale.state_names for scale in self.scales),
            scores,
            errors,
            states.astype(np.intp),
            probabilities,
            lines[:, 0],
        )


def scored_groups(model: LatentTreeModel) -> list[Group]:
    """Return the main groups that have a score: those around a hidden variable."""
    return [group for group in known_groups(model) if group.level == "main" and group.hidden is not None]


class _Scales:
    """Makes the scales of a model."""

    def __init__(self, model: LatentTreeModel) -> None:
        self.model, self.view = model, view_of(model)

    def of_hidden(self, node: int) -> Scale:
        """Return the scale of a hidden variable, given whole rows."""
        every, none = np.arange(self.model.tree.n_observed), np.zeros(self.model.tree.n_observed, dtype=np.intp)
        score = self.view.scores.get(node)
        values = _scaled({node: self._equally_spaced(node) if score is None else score.values})
        return Scale(self.model.node_names[node], node, self.view.state_names(node), values, None, every, none)

    def of_group(self, group: Group) -> Scale:
        """Return the scale of a group, given its own columns."""
        tree, centre = self.model.tree, group.centre
        order = sorted(group.nodes, key=self.model.tree.rooted().position.__getitem__)
        columns = sorted(node for node in order if node < tree.n_observed)
        hidden = sorted(node for node in order if node >= tree.n_observed)
        expected = self._expected_value(centre, set(group.nodes))
        values = {}
        for node in hidden:
            if node in self.view.own_scores and (weight := self._weight(node, set(columns))) > 0:
                own = self.view.own_scores[node].values
                agrees = float((self.view.marginals[node] * own) @ expected[node]) >= 0 if expected else True
                values[node] = (weight if agrees else -weight) * own
        values = _scaled(values or {centre: self._equally_spaced(centre)})
        number = {node: position for position, node in enumerate([*columns, *hidden])}
        return Scale(
            group.name,
            centre,
            self.view.state_names(centre),
            {number[node]: value for node, value in values.items()},
            self._part(order, number, len(columns)),
            np.array(columns, dtype=np.intp),
            np.array([self._direction(column, expected) for column in columns], dtype=np.intp),
        )

    def _part(self, order: list[int], number: Mapping[int, int], n_columns: int) -> Network:
        """Return the network of a connected part of the tree alone, whose nodes get new numbers."""
        parent = np.full(len(order), -1, dtype=np.intp)
        tables: list[FloatArray] = [np.empty(0)] * len(order)
        for node in order:
            above = int(self.model.network.parent[node])
            parent[number[node]] = number.get(above, -1)
            # The part's top has its own distribution.
            tables[number[node]] = self.model.tables[node] if above in number else self.view.marginals[node][:, None]
        return Network(n_columns, parent, np.array([number[node] for node in order], dtype=np.intp), tuple(tables))

    def _expected_value(self, centre: int, nodes: set[int]) -> dict[int, FloatArray]:
        """Return for every node of a group what the central value is expected to be, given each state of the node.

        The central value is that of the hidden variable nearest to the middle whose states have an order; nothing if
        there is none.
        """
        order = [centre, *(node for node, _ in self.view.outwards(centre, nodes))]
        nearest = next((node for node in order if node in self.view.scores), None)
        if nearest is None:
            return {}
        found = {nearest: self.view.scores[nearest].values}
        for node, before in self.view.outwards(nearest, nodes):
            found[node] = self.view.given(node, before) @ found[before]
        return found

    def _weight(self, node: int, columns: set[int]) -> float:
        """Return the sum of the absolute loadings of a group's ordered columns on a hidden variable beside them."""
        value = self.view.marginals[node] * self.view.own_scores[node].values
        beside = [
            column
            for column in self.view.neighbours(node, hidden=False)
            if column in columns and column in self.view.standardised
        ]
        loadings = (value @ self.view.given(node, column) @ self.view.standardised[column] for column in beside)
        return float(sum(map(abs, loadings)))

    def _direction(self, column: int, expected: Mapping[int, FloatArray]) -> int:
        """Return whether an ordered column rises (1) or falls (-1) with the group's central value; 0 without order."""
        if column not in expected or not self.model.columns[column].ordered:
            return 0
        codes = self.view.standardised.get(column)
        if codes is None:
            return 0
        return 1 if float((self.view.marginals[column] * codes) @ expected[column]) >= 0 else -1

    def _equally_spaced(self, node: int) -> FloatArray:
        return np.arange(len(self.model.tables[node]), dtype=np.float64)


def _scaled(values: Mapping[int, FloatArray]) -> dict[int, FloatArray]:
    """Move and scale the values of several nodes such that their sum goes from 0 to 1."""
    span = sum(float(np.ptp(value)) for value in values.values())
    return {node: (value - value.min()) / (span or 1.0) for node, value in values.items()}
