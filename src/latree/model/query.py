"""Questions to a model: the distribution of some variables, given the values of others, by exact inference.

An answer is exact for the model, and the model is a tree. Along a long path, a tree may carry less dependence than the
rows show, or even dependence of the other sign. So an answer has the correlations of its columns in the model beside
those in the rows.
"""

from collections.abc import Callable, Hashable, Mapping, Sequence
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from latree._util.arrays import FloatArray
from latree._util.words import did_you_mean, listed
from latree.counts.distances import (
    PairDistributions,
    as_pairs,
    code_correlation,
    information_above_chance,
    informational_correlation,
)
from latree.errors import InputError
from latree.inference.network import Network
from latree.model.predictive import quantile_states, quantiles
from latree.table import Column
from latree.table.columns import is_missing, nearest_states, number_label, numbers_are, same_label
from latree.table.raw import label_of

# More rows than this say little more about two columns: a random sample of so many is counted.
MAX_ROWS = 5000
# A correlation in the rows below this is negligible: Cohen calls 0.1 small.
MIN_CORRELATION = 0.1
# A correlation may be chance if it is less than this many standard errors.
_MIN_ERRORS = 2.0
# An answer is doubtful if the model has less than this share of the correlation in the rows.
_LITTLE = 0.5
# More combinations of values than this are not listed: they would fill the memory.
_MAX_COMBINATIONS = 10_000_000
# Most values that a message lists.
_N_LISTED = 8


class PairDependence(NamedTuple):
    """How strongly two columns depend on each other.

    The numbers are correlations of codes, from -1 to 1, if both columns have an order, and otherwise informational
    correlations, from 0 to 1.
    """

    columns: tuple[str, str]
    in_model: float
    in_rows: float | None  # None if it is not known
    by_chance: float  # a correlation in the rows below this may be chance

    @property
    def is_doubtful(self) -> bool:
        """Whether the model has less than half of a correlation that the rows show, or one of the other sign."""
        if self.in_rows is None or abs(self.in_rows) < max(MIN_CORRELATION, self.by_chance):
            return False
        return bool(self.in_model * np.sign(self.in_rows) < _LITTLE * abs(self.in_rows))


class Answer(dict[Any, float]):
    """From the value of a variable, or a tuple of values of several, to its probability.

    For a column of numbers it is a distribution with a mean, a median and intervals, in the units of the data: inside
    its bins, a number has a density.

    Attributes
    ----------
    column : Column or None
        The column that was asked about; None for a hidden variable, and for several variables.
    dependence : tuple of PairDependence
        How strongly each two columns of the question depend on each other, in the model and in the rows. Two columns
        that are given are not compared, and no row has a hidden variable: empty if nothing was compared.
    warning : str
        What to know before you rely on the answer; empty if the rows agree with it, or if nothing was compared: then
        ``dependence`` is empty, or has no ``in_rows``.
    """

    column: Column | None = None
    dependence: tuple[PairDependence, ...] = ()
    warning: str = ""

    @property
    def mean(self) -> Any:
        """The expected value, for a column of numbers or dates."""
        if self.column is None or self.column.means is None:
            raise InputError("only a single column of numbers has a mean")
        mean = float(self._probabilities[0] @ self.column.means)
        return mean if self.column.unit is None else self.column.value_of(mean)

    @property
    def median(self) -> Any:
        """The median, for a column with an order."""
        return self.quantile(0.5)

    def quantile(self, share: float) -> Any:
        """Return the value that a share of the distribution lies below, for a column with an order."""
        if self.column is None or not self.column.ordered:
            raise InputError("only a single column with an order has a median, quantiles and intervals")
        if not 0 <= share <= 1:
            raise InputError(f"the share of a quantile must be from 0 to 1, not {share!r:.60}")
        if self.column.density is None:
            return self.column.decode(int(quantile_states(self._probabilities, share)[0]))
        return self.column.value_of(float(quantiles(self.column, self._probabilities, share)[0]))

    def interval(self, probability: float = 0.9) -> tuple[Any, Any]:
        """Return the ends of the central interval that has a probability, for a column with an order."""
        return self.quantile((1 - probability) / 2), self.quantile((1 + probability) / 2)

    @property
    def _probabilities(self) -> FloatArray:
        return np.array([list(self.values())])


def pair_dependence(joint: FloatArray, n_rows: float, columns: tuple[Column, Column]) -> float | None:
    """Return the correlation of two columns, given their joint distribution, or counts of so many rows.

    None without rows. What chance adds to an informational correlation is subtracted.
    """
    padded = np.zeros((1, max(joint.shape), max(joint.shape)))
    padded[0, : joint.shape[0], : joint.shape[1]] = joint
    pairs = PairDistributions(as_pairs(padded).joint, np.array([n_rows]))
    if all(column.ordered for column in columns):
        found = code_correlation(pairs)
    else:
        found = informational_correlation(information_above_chance(pairs))
    return None if np.isnan(found[0]) else float(found[0])


def correlation_by_chance(n_rows: float, columns: tuple[Column, Column], n_errors: float = _MIN_ERRORS) -> float:
    """Return how large a correlation in rows may be by chance: so many standard errors.

    The correlation of codes of independent columns has the standard error ``1 / sqrt(m)`` in m rows. Their information,
    without its bias, has ``sqrt(f / 2) / m``, where ``f = (r - 1) (c - 1)`` for r and c states.
    """
    if all(column.ordered for column in columns):
        return float(n_errors / np.sqrt(n_rows))
    freedom = np.prod([column.n_states - 1 for column in columns])
    return float(informational_correlation(np.array(n_errors * np.sqrt(freedom / 2) / n_rows)))


def doubts(dependence: Sequence[PairDependence]) -> str:
    """Return a warning about the pair of columns on which the rows contradict an answer most; empty if none do."""
    found = sorted((pair for pair in dependence if pair.is_doubtful), key=lambda pair: -abs(pair.in_rows or 0))
    if not found:
        return ""
    worst = found[0]
    others = f" {len(found) - 1} more of its pairs of columns are like that." if len(found) > 1 else ""
    # Adding zero turns -0.0 into 0.0.
    in_rows, in_model = (round(number, 2) + 0.0 for number in (worst.in_rows or 0.0, worst.in_model))
    what = "the other sign" if in_model * in_rows < 0 else "too little of it"
    return (
        f"The correlation of {listed(worst.columns)} is {in_rows:.2f} in the rows, but {in_model:.2f} in the model: "
        f"the tree has {what}, so do not rely on this answer. Compare the columns in the rows.{others}"
    )


def joint_distribution(
    network: Network, wanted: Sequence[int], evidence: Mapping[int, int] | None = None
) -> FloatArray:
    """Return the joint distribution of some nodes given the states of others, with one axis per wanted node.

    Only the paths between these nodes are visited. All zeros if the evidence is impossible.
    """
    evidence = evidence or {}
    parent = network.parent
    needed = {*wanted, *evidence}
    for node in tuple(needed):
        while (node := int(parent[node])) >= 0 and node not in needed:
            needed.add(node)
    # For each node (-1: above all roots): of each child on a path, the wanted nodes at and below the child, and
    # P(wanted nodes, evidence at and below the child | node), with one row per state of the node and one column per
    # combination of their states.
    below: dict[int, list[tuple[list[int], FloatArray]]] = {node: [] for node in (-1, *needed)}
    for node in (node for node in network.order[::-1].tolist() if node in needed):
        table = network.tables[node].T
        found = [other for nodes, _ in below[node] for other in nodes]
        # P(below | node) is the product of what the children say. The last factor waits: see below.
        *others, last = [message for _, message in below.pop(node)] or [np.ones((table.shape[1], 1))]
        likelihood = _product(others, table.shape[1], bool(evidence))
        # Evidence leaves one state possible.
        if node in evidence:
            likelihood = likelihood * (np.arange(table.shape[1]) == evidence[node])[:, None]
        # A wanted node is added to those below it: P(node = x, below | parent) = P(node = x | parent) P(below | x).
        if node in wanted:
            found = [node, *found]
            message = table[:, :, None, None] * likelihood[:, :, None] * last[:, None, :]
        # The states of another node are summed out: P(below | parent) = Σ_x P(node = x | parent) P(below | node = x).
        # The matrix product sums them out while it combines the last factor with the others, because the product of
        # all of them, for every state x, may be much larger than the result.
        else:
            message = (table[:, None, :] * likelihood.T) @ last
        below[int(parent[node])].append((found, _scaled(message.reshape(len(table), -1), bool(evidence))))
    found = [node for nodes, _ in below[-1] for node in nodes]
    likelihood = _product([message for _, message in below[-1]], 1, bool(evidence))
    tensor = likelihood.reshape([len(network.tables[node]) for node in found])
    if evidence and (total := tensor.sum()) > 0:
        tensor = tensor / total
    return tensor.transpose([found.index(node) for node in wanted])


def _product(messages: Sequence[FloatArray], n_states: int, scale: bool) -> FloatArray:
    """Multiply messages: one row per state, one column per combination of their columns."""
    product = np.ones((n_states, 1))
    for message in messages:
        product = _scaled((product[:, :, None] * message[:, None, :]).reshape(n_states, -1), scale)
    return product


def _scaled(message: FloatArray, scale: bool) -> FloatArray:
    """Much evidence makes small numbers: scale them up before they become zero."""
    largest = message.max() if scale else 0
    return np.asarray(message / largest) if largest > 0 else message


def as_given(given: Any) -> Mapping[str, Any]:
    """Return what is given, such as a row of a frame of pandas, as a mapping."""
    if given is None:
        return {}
    if hasattr(given, "to_dict") and getattr(given, "ndim", 2) == 1:
        given = given.to_dict()
    if not isinstance(given, Mapping):
        raise InputError(f"given must be a mapping such as {{'N2': 3}}, not {given!r:.60}")
    return given


def answer(
    network: Network,
    columns: Sequence[Column],
    find: Callable[[str], int],
    variables: str | Sequence[str],
    given: Mapping[str, Any],
) -> tuple[Answer, list[tuple[int, int]]]:
    """Return the distribution of some variables given the values of others, and the pairs of columns that it is about.

    ``find`` returns the node of a name.
    """
    names = [variables] if isinstance(variables, str) else list(variables)
    nodes = list(map(find, names))
    if not nodes or len(set(nodes)) != len(nodes):
        raise InputError(f"name one variable, or several that differ: not {variables!r:.60}")
    _check_size([len(network.tables[node]) for node in nodes])
    evidence: dict[int, int] = {}
    for name, value in given.items():
        node = find(name)
        is_hidden = node >= network.n_observed
        state = _hidden_state(name, len(network.tables[node]), value) if is_hidden else state_of(columns[node], value)
        if state is not None and evidence.setdefault(node, state) != state:
            raise InputError(f"{name!r:.60} is given twice, with different values: give it once")
    distribution = joint_distribution(network, nodes, evidence)
    if not distribution.any():
        raise InputError(f"what is given is impossible under the model: {dict(given)!r:.200}; leave something out")
    values = [
        column_values(columns[node]) if node < network.n_observed else list(range(len(network.tables[node])))
        for node in nodes
    ]
    keys = values[0] if isinstance(variables, str) else product(*values)
    # Each wanted column with the wanted ones before it, and with those that are given.
    pairs = [
        (node, other)
        for number, node in enumerate(nodes)
        for other in (*nodes[:number], *(other for other in evidence if other not in nodes))
        if max(node, other) < network.n_observed
    ]
    found = Answer(zip(keys, distribution.ravel().tolist(), strict=True))
    found.column = columns[nodes[0]] if isinstance(variables, str) and nodes[0] < network.n_observed else None
    return found, pairs


def _check_size(sizes: Sequence[int]) -> None:
    """Raise if several variables have more combinations of values than can be listed."""
    combinations = float(np.prod([float(size) for size in sizes]))
    if combinations > _MAX_COMBINATIONS:
        raise InputError(
            f"{len(sizes)} variables have {combinations:.3g} combinations of values, more than "
            f"{_MAX_COMBINATIONS:.3g}: ask about fewer variables at once"
        )


def column_values(column: Column) -> list[Hashable]:
    """Return the values of a column: its categories as they are in the data, and the labels of its bins."""
    return list(column.categories) if column.cuts is not None else [column.decode(x) for x in range(column.n_states)]


def state_of(column: Column, value: Any) -> int | None:
    """Return the state that a value of a column means; None for a missing cell.

    A number means its bin where the column has bins, and the nearest number of another ordered column of numbers; the
    label of a bin means that bin.
    """
    label = label_of(value).strip()
    if is_missing(label, column.missing):
        return None
    if column.cuts is not None:
        if label in column.categories:
            return column.categories.index(label)
        number = column.number_of(label)
        if number is None:
            raise InputError(
                f"column {column.name!r:.60} has bins: {value!r:.60} is neither one of them nor a {numbers_are(column)}"
            )
        return int(np.searchsorted(column.cuts, number, side="left"))
    label = same_label(column, label)
    if label not in column.categories and (near := nearest_states(column, [label])) is not None:
        return int(near[0])
    if label not in column.categories:
        raise _unknown_value(f"column {column.name!r:.60}", value, label, column_values(column))
    return column.categories.index(label)


def _hidden_state(name: str, n_states: int, value: Any) -> int | None:
    """Return the number of a hidden variable's state; None for one that is missing."""
    label = number_label(label_of(value))
    if not label:
        return None
    states = list(map(str, range(n_states)))
    if label not in states:
        raise _unknown_value(f"hidden variable {name!r:.60}", value, label, range(n_states))
    return states.index(label)


def _unknown_value(owner: str, value: Any, label: str, known: Sequence[Any]) -> InputError:
    near = did_you_mean(label, known)
    shown = ", ".join(f"{one!r:.40}" for one in known[:_N_LISTED]) + (", ..." if len(known) > _N_LISTED else "")
    return InputError(f"{owner} has no value {value!r:.60}: {near}{' ' if near else ''}it has {shown}")
