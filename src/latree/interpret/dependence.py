"""How strongly the nodes of a model depend on each other: exactly under the model, and columns also in rows."""

from collections.abc import Callable, Collection, Container, Iterator, Mapping, Sequence
from functools import cached_property
from heapq import heappop, heappush
from itertools import combinations
from itertools import pairwise as successive
from typing import NamedTuple

import numpy as np
from scipy.special import xlogy

from latree._util.arrays import FloatArray, IntArray
from latree.counts.distances import (
    Measure,
    code_correlation,
    information_above_chance,
    informational_correlation,
    pairwise_all,
)
from latree.inference.messages import TINY
from latree.model import LatentTreeModel
from latree.model.loading import MIN_EXPLAINED, standardised_codes
from latree.model.query import MAX_ROWS
from latree.table import Table
from latree.table.checking import FEW_STATES

# The source columns of one batch have about this many states together. This limits the memory that is needed.
_BATCH_STATES = 512
# Conditional probabilities of two columns with many states that are computed at a time (32 MB).
_WIDE_CELLS = 2**22
# Conditional probabilities that are computed for two columns at most: pairs of columns with up to 8192 states each are
# exact. With more, the time would grow with the square of the states.
_MOST_WIDE_CELLS = 2**26
# Paths to columns are followed one by one if less than a tenth of all columns is wanted. Otherwise all columns at once
# take less time.
_FEW = 10
# The most nodes that a search for the closest columns looks at. In a wide tree, thousands of hidden variables may be
# closer to a hidden variable than any column of a distant branch.
_MAX_VISITED = 5000
SEED = 0


class RelatedColumn(NamedTuple):
    """A column, and how it depends on a node."""

    column: int
    information: float  # mutual information with the node, in nats
    conditional: FloatArray  # P(column = x | node = h), shape (states of the column, states of the node)


class Dependence:
    """What follows from the tree and the tables of a model: distributions of nodes, and how these depend on each other.

    Parameters
    ----------
    model : LatentTreeModel
    """

    def __init__(self, model: LatentTreeModel) -> None:
        self.model = model
        self.tree = model.tree
        self.marginals = model.network.marginals()
        self.hidden = range(model.tree.n_observed, model.tree.n_nodes)

    def given(self, node: int, other: int) -> FloatArray:
        """Return P(other | node) for neighbours, one row per state of the node."""
        return self.model.network.conditional(other, node).T

    def neighbours(self, node: int, *, hidden: bool) -> list[int]:
        """Return the neighbours of a node that are hidden, or those that are columns, by name."""
        found = [other for other, _ in self.tree.neighbors[node] if (other >= self.tree.n_observed) == hidden]
        return found if hidden else sorted(found, key=lambda column: self.tree.names[column])

    def outwards(self, start: int, nodes: Container[int]) -> list[tuple[int, int]]:
        """Return some connected nodes but the first one, nearest to it first, each with the one before it."""
        order = [(start, -1)]
        for node, before in order:  # which grows
            inside = (other for other, _ in self.tree.neighbors[node] if other in nodes)
            order += [(other, node) for other in inside if other != before]
        return order[1:]

    @cached_property
    def standardised(self) -> dict[int, FloatArray]:
        """The codes of each ordered column with mean 0 and variance 1 under the model; no constant columns."""
        return {
            node: codes
            for node, (column, shares) in enumerate(zip(self.model.columns, self.marginals, strict=False))
            if column.ordered and (codes := standardised_codes(shares, MIN_EXPLAINED)).any()
        }

    def _conditional(self, source: int, target: int) -> FloatArray:
        return self.model.network.conditional(target, source)

    def information(self, source: int, target: int, conditional: FloatArray) -> float:
        """Return the mutual information ``H(target) - H(target | source)``, given ``P(target | source)``."""
        remaining = -float(xlogy(conditional, conditional).sum(axis=0) @ self.marginals[source])
        return max(float(self.entropies[target]) - remaining, 0.0)

    @cached_property
    def edge_information(self) -> FloatArray:
        """Mutual information of the two ends of each edge, in nats."""
        return np.array([self.information(u, v, self._conditional(u, v)) for u, v in self.tree.edges.tolist()])

    @cached_property
    def entropies(self) -> FloatArray:
        """Entropy of each node, in nats."""
        return np.array([-float(xlogy(marginal, marginal).sum()) for marginal in self.marginals])

    def closest_columns(self, source: int, count: int, within: Container[int] | None = None) -> list[RelatedColumn]:
        """Return the columns with the most mutual information with a node, in descending order.

        Information can only decrease along a path (data-processing inequality), so no node shares more information with
        the source than any edge on the path between them. A best-first search from the source therefore visits only
        the part of the tree that it needs.

        Parameters
        ----------
        source : int
        count : int
            The number of columns.
        within : container of int, optional
            The nodes that the search may visit, the source included.

        Returns
        -------
        list of RelatedColumn
            If the search would visit thousands of nodes, fewer columns than asked for, but at least one.
        """
        found: list[RelatedColumn] = []
        # Each entry: minus an upper bound of the information; the node; the node before it on the path; a conditional
        # distribution given the source (None: of the source itself); and whether that belongs to the node itself (then
        # the bound is exact) or still to the node before it.
        heap: list[tuple[float, int, int, FloatArray | None, bool]] = [(-np.inf, source, -1, None, True)]
        n_visited = 0
        while heap and len(found) < count and not (found and n_visited > _MAX_VISITED):
            bound, node, previous, conditional, is_exact = heappop(heap)
            n_visited += 1
            if not is_exact:
                # P(node | source) = P(node | previous) P(previous | source)
                step = self._conditional(previous, node)
                conditional = step if conditional is None else step @ conditional
                information = self.information(source, node, conditional)
                heappush(heap, (-round(information, 12), node, previous, conditional, True))
                continue
            if node < self.tree.n_observed and conditional is not None:
                found.append(RelatedColumn(node, -bound, conditional))
            following = [
                (max(bound, -float(self.edge_information[edge])), neighbor, node, conditional, False)
                for neighbor, edge in self.tree.neighbors[node]
                if neighbor != previous and (within is None or neighbor in within)
            ]
            if n_visited > _MAX_VISITED and following:
                heap = [min(following, key=lambda entry: entry[:2])]  # straight on to a column
            else:
                for entry in following:
                    heappush(heap, entry)
        return found

    @cached_property
    def column_information(self) -> FloatArray:
        """Mutual information of every two columns, in nats, with zeros on the diagonal."""
        columns = range(self.tree.n_observed)
        result = np.zeros((self.tree.n_observed, self.tree.n_observed))
        for sources in self._batches(set(columns) - set(self._wide)):
            conditionals, starts = self._conditionals(sources)
            weights = np.concatenate([self.marginals[source] for source in sources])
            for column in columns:
                # H(column | source) = sum over h of P(source = h) H(column | source = h)
                remaining = -xlogy(conditionals[column], conditionals[column]).sum(axis=0) * weights
                result[column, sources] = self.entropies[column] - np.add.reduceat(remaining, starts)
        np.fill_diagonal(result, 0)
        return np.maximum(self._with_wide(result, self._wide_information), 0)

    @cached_property
    def column_correlation(self) -> FloatArray:
        """Correlation of every two columns, with ones on the diagonal.

        That of two ordered columns is Pearson's correlation of their codes, from -1 to 1. That of all others is the
        informational correlation, from 0 to 1, because they have no direction.
        """
        columns = range(self.tree.n_observed)
        codes = [standardised_codes(marginal) for marginal in self.marginals[: self.tree.n_observed]]
        result = np.zeros((self.tree.n_observed, self.tree.n_observed))
        for sources in self._batches(set(columns) - set(self._wide)):
            conditionals, starts = self._conditionals(sources)
            weights = np.concatenate([self.marginals[source] * codes[source] for source in sources])
            for column in columns:
                # r = sum over h of P(source = h) code(h) E[code of the column | source = h]
                result[column, sources] = np.add.reduceat(codes[column] @ conditionals[column] * weights, starts)
        signed = self._with_wide(result, self._wide_correlation)
        return self._signed_where_ordered(signed, self.column_information)

    @property
    def _wide(self) -> list[int]:
        """Columns with many states: never a source, because all their states given their own are too many numbers."""
        return [v for v in range(self.tree.n_observed) if len(self.marginals[v]) > _BATCH_STATES]

    def _with_wide(self, result: FloatArray, measure: Callable[[int, int], float]) -> FloatArray:
        """Complete a symmetric matrix, which has no numbers yet where wide columns are sources; average its halves."""
        wide = self._wide
        # With a narrow column, the number is known from the other side.
        result[:, wide] = result[wide].T
        for one, other in combinations(wide, 2):
            result[one, other] = result[other, one] = measure(one, other)
        return (result + result.T) / 2

    def _factors(self, source: int, target: int) -> tuple[FloatArray, FloatArray | None] | None:
        """Return ``P(target | last)`` and ``P(last | source)``, where last is the node before the target on the path.

        The second is None if the two are neighbours; all is None if there is no path. ``P(target | source)`` is the
        product, which may be too large for memory.
        """
        parent = self.tree.rooted(source).parent
        path = [target]
        while path[0] != source:
            if parent[path[0]] < 0:
                return None
            path.insert(0, int(parent[path[0]]))
        given: FloatArray | None = None
        for node, following in successive(path[:-1]):
            step = self._conditional(node, following)
            given = step if given is None else step @ given
        return self._conditional(path[-2], target), given

    def _wide_information(self, source: int, target: int) -> float:
        """Return the mutual information of two columns with many states, for a few states of the source at a time.

        If they have very many pairs of states, some states of the source are taken for all of them.
        """
        factors = self._factors(source, target)
        if factors is None:
            return 0.0
        table, given = factors
        states, weights = np.arange(len(self.marginals[source])), self.marginals[source]
        n_taken = max(1, _MOST_WIDE_CELLS // len(table))
        if len(states) > n_taken and given is not None:
            # A systematic sample: a state at equal steps of probability, in the order of what they say.
            order = np.argsort(given[0], kind="stable")
            steps = (np.arange(n_taken) + 0.5) / n_taken
            states = order[np.searchsorted(weights[order].cumsum()[:-1], steps)]
            weights = np.full(n_taken, 1 / n_taken)
        log_marginal = np.log(np.maximum(self.marginals[target], TINY))
        total = 0.0
        step_size = max(1, _WIDE_CELLS // len(table))
        for start in range(0, len(states), step_size):
            some = slice(start, start + step_size)
            conditional = table[:, states[some]] if given is None else table @ given[:, states[some]]
            # Σ_h P(h) Σ_x P(x | h) (log P(x | h) - log P(x))
            divergence = xlogy(conditional, conditional).sum(axis=0) - log_marginal @ conditional
            total += float(divergence @ weights[some])
        return total

    def _wide_correlation(self, source: int, target: int) -> float:
        """Return the correlation of the codes of two columns with many states."""
        factors = self._factors(source, target)
        if factors is None:
            return 0.0
        table, given = factors
        of_source, of_target = (standardised_codes(self.marginals[column]) for column in (source, target))
        expected = of_target @ table if given is None else of_target @ table @ given  # E[code of the target | source]
        return float(expected @ (self.marginals[source] * of_source))

    def _signed_where_ordered(self, signed: FloatArray, information: FloatArray) -> FloatArray:
        """Return the correlation of codes for pairs of ordered columns, and the informational one for all others."""
        is_ordered = np.array([column.ordered for column in self.model.columns])
        found = np.where(np.outer(is_ordered, is_ordered), signed, informational_correlation(information))
        np.fill_diagonal(found, 1)
        return np.clip(found, -1, 1)

    def counted_correlation(self, table: Table) -> FloatArray:
        """Return the correlation of every two columns in rows; see :attr:`column_correlation`.

        What the rows do not show is that of the model, as in :meth:`counted_information`.

        Parameters
        ----------
        table : Table
            Rows, encoded with the model's columns.
        """
        found = self.correlation_in_rows(table)
        if found is None:
            return self.column_correlation
        return np.where(np.isnan(found), self.column_correlation, found) if np.isnan(found).any() else found

    def correlation_in_rows(self, table: Table) -> FloatArray | None:
        """Return the correlation of every two columns in rows alone; nan where two are never present together.

        None if a column has so many states that chance would be most of what is counted.
        """
        counted = self._counted(table, [code_correlation, information_above_chance])
        return None if counted is None else self._signed_where_ordered(*counted)

    def counted_information(self, table: Table) -> FloatArray:
        """Return the mutual information of every two columns in rows, less what chance adds to it.

        A tree carries dependence over a long path of hidden variables with few states less well than rows show it. For
        columns that are never present together, and if a column has so many states that chance would be most of what
        is counted, the value is that of the model.

        Parameters
        ----------
        table : Table
            Rows, encoded with the model's columns.
        """
        counted = self._counted(table, [information_above_chance])
        if counted is None:
            return self.column_information
        np.fill_diagonal(counted[0], 0)
        unknown = np.isnan(counted[0])
        return np.where(unknown, self.column_information, counted[0]) if unknown.any() else counted[0]

    def _counted(self, table: Table, measures: list[Measure]) -> list[FloatArray] | None:
        """Return measures of all pairs of columns in rows, or None if a column has too many states."""
        table = self.model.encode(table)
        if table.n_states.max() > FEW_STATES:
            return None
        if table.n_rows > MAX_ROWS:
            table = table.subsample(MAX_ROWS, SEED)
        return pairwise_all(table, measures)

    def columns_given(self, wanted: Mapping[int, Sequence[int]]) -> Iterator[tuple[int, dict[int, FloatArray]]]:
        """Yield nodes with ``P(column = x | node = h)`` of some columns, by column, one array column per state h.

        Parameters
        ----------
        wanted : mapping of int to sequence of int
            From nodes to columns.
        """
        # If few columns are wanted, only the paths to them are followed.
        few = {node for node, columns in wanted.items() if len(columns) * _FEW < self.tree.n_observed}
        for source in self.tree.rooted().order.tolist() if few else ():
            if source in few:
                yield source, self._along_paths(source, wanted[source])
        for sources in self._batches(wanted.keys() - few):
            conditionals, starts = self._conditionals(sources)
            for source, start in zip(sources, starts.tolist(), strict=True):
                states = slice(start, start + len(self.marginals[source]))
                yield source, {column: conditionals[column][:, states] for column in wanted[source]}

    def _along_paths(self, source: int, columns: Sequence[int]) -> dict[int, FloatArray]:
        """Return ``P(column = x | source = h)`` of a few columns."""
        parent = self.tree.rooted().parent
        above = [source]  # and what is above it
        while (node := int(parent[above[-1]])) >= 0:
            above.append(node)
        place = {node: number for number, node in enumerate(above)}
        found, reached = {source: np.eye(len(self.marginals[source]))}, 0
        for column in columns:
            # Up from the column to the path that leads up from the source, or to what is known already.
            path, node = list[int](), column
            while node >= 0 and node not in found and node not in place:
                path.append(node)
                node = int(parent[node])
            if node < 0:  # in another component
                found[column] = np.repeat(self.marginals[column][:, None], len(self.marginals[source]), axis=1)
                continue
            for number in range(reached + 1, place.get(node, 0) + 1):
                before, following = above[number - 1], above[number]
                found[following] = self._conditional(before, following) @ found[before]
                reached = number
            for below in reversed(path):
                found[below] = self.model.tables[below] @ found[int(parent[below])]
        return {column: found[column] for column in columns}

    def _batches(self, nodes: Collection[int]) -> Iterator[list[int]]:
        """Yield nodes in the order of the rooted tree, in batches of about ``_BATCH_STATES`` states."""
        ordered = [node for node in self.tree.rooted().order.tolist() if node in nodes]
        ends = np.cumsum([len(self.marginals[node]) for node in ordered])
        starts = np.flatnonzero(np.diff((ends - 1) // _BATCH_STATES)) + 1
        return (batch.tolist() for batch in np.split(np.array(ordered, dtype=np.intp), starts) if len(batch))

    def _conditionals(self, sources: list[int]) -> tuple[list[FloatArray], IntArray]:
        """Return ``P(v = x | source = h)`` for every node v, with one array column per state of each source.

        The sources must be in the order of the rooted tree, so that the sources below a node are next to each other.
        Also returns the first array column of each source.
        """
        rooted = self.tree.rooted()
        n_states = np.array([len(self.marginals[source]) for source in sources])
        stops = np.cumsum(n_states)
        starts = stops - n_states
        # At first, every node is independent of all sources, except that a source determines itself.
        conditionals = [np.repeat(marginal[:, None], stops[-1], axis=1) for marginal in self.marginals]
        spans: list[tuple[int, int]] = [(0, 0)] * self.tree.n_nodes
        for source, start, stop in zip(sources, starts.tolist(), stops.tolist(), strict=True):
            conditionals[source][:, start:stop] = np.eye(stop - start)
            spans[source] = start, stop
        # spans[v]: the array columns of the sources in the subtree of v.
        spans = rooted.combined(spans, _joined_span)
        # Upwards: a source in the subtree of v reaches the parent of v through v.
        for node in rooted.postorder:
            (start, stop), parent = spans[node], int(rooted.parent[node])
            if stop > start and parent >= 0:
                given = self._conditional(node, parent)
                conditionals[parent][:, start:stop] = given @ conditionals[node][:, start:stop]
        # Downwards: every other source reaches v through its parent.
        for node in rooted.order.tolist():
            (start, stop), parent = spans[node], int(rooted.parent[node])
            if parent >= 0:
                table, of_parent = self.model.tables[node], conditionals[parent]
                conditionals[node][:, :start] = table @ of_parent[:, :start]
                conditionals[node][:, stop:] = table @ of_parent[:, stop:]
        return conditionals, starts


def _joined_span(one: tuple[int, int], other: tuple[int, int]) -> tuple[int, int]:
    """Return the smallest span that contains two spans; (0, 0) is the empty span."""
    if one == (0, 0) or other == (0, 0):
        return max(one, other)
    return min(one[0], other[0]), max(one[1], other[1])
