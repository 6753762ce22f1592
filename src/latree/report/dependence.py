"""How strongly the nodes of a model depend on each other, exact under the model."""

from collections.abc import Collection
from functools import cached_property
from heapq import heappop, heappush
from typing import NamedTuple

import numpy as np
from scipy.special import xlogy

from latree._util.arrays import FloatArray, IntArray
from latree.model import LatentTreeModel

_STATES_AT_ONCE = 512  # of sources that are followed through the tree together


class Relative(NamedTuple):
    """A column, and what a node says of it."""

    column: int
    information: float  # mutual information with the node, in nats
    conditional: FloatArray  # P(column = x | node = h), shape (states of the column, states of the node)


class Dependence:
    """The dependence between the nodes of a model.

    Parameters
    ----------
    model : LatentTreeModel
    """

    def __init__(self, model: LatentTreeModel) -> None:
        self.model = model
        self.tree = model.tree
        self.marginals = list(model.marginals().values())
        self._parent = model.network.parent

        self._upward: dict[int, FloatArray] = {}

    def step(self, source: int, target: int) -> FloatArray:
        """Give ``P(target = x | source = h)`` for two neighbours, one column a state of the source."""
        if self._parent[target] == source:
            return self.model.tables[target]
        if source not in self._upward:
            self._upward[source] = self._to_parent(source, target)
        return self._upward[source]

    def _to_parent(self, source: int, target: int) -> FloatArray:
        # P(parent | child) by Bayes' rule; a state of the child that never occurs says nothing.
        joint = self.model.tables[source].T * self.marginals[target][:, None]
        total = joint.sum(axis=0)
        known = np.divide(joint, total, out=np.zeros_like(joint), where=total > 0)
        return np.where(total > 0, known, self.marginals[target][:, None])

    def between(self, source: int, target: int, conditional: FloatArray) -> float:
        """Give the mutual information of two nodes, whose conditional table is known: ``H(v) - H(v | u)``."""
        left = -float(xlogy(conditional, conditional).sum(axis=0) @ self.marginals[source])
        return max(float(self.entropies[target]) - left, 0.0)

    @cached_property
    def edge_information(self) -> FloatArray:
        """Mutual information of the two ends of each edge, in nats."""
        return np.array([self.between(u, v, self.step(u, v)) for u, v in self.tree.edges.tolist()])

    @cached_property
    def entropies(self) -> FloatArray:
        """Entropy of each node, in nats."""
        return np.array([-float(xlogy(share, share).sum()) for share in self.marginals])

    def closest(self, source: int, count: int, within: Collection[int] | None = None) -> list[Relative]:
        """Give the columns that have most mutual information with a node, the first the most.

        Information only gets lost along a path (the data-processing inequality): no node has more with the source than
        the edges between them have. So the tree is searched from the source on, the best first, and only as far as
        needed.

        Parameters
        ----------
        source : int
        count : int
        within : collection of int, optional
            Nodes that the search stays in; the source is one of them.
        """
        found: list[Relative] = []
        start = np.eye(len(self.marginals[source]))
        # At most how much information, as a negative number; the node; where the path comes from; the table of the node
        # if it is known, and otherwise that of the node it comes from.
        heap: list[tuple[float, int, int, FloatArray, bool]] = [(-np.inf, source, -1, start, True)]
        while heap and len(found) < count:
            most, node, before, conditional, known = heappop(heap)
            if not known:
                conditional = self.step(before, node) @ conditional
                exact = self.between(source, node, conditional)
                heappush(heap, (-round(exact, 12), node, before, conditional, True))
                continue
            if node < self.tree.n_observed and node != source:
                found.append(Relative(node, -most, conditional))
            for other, edge in self.tree.neighbors[node]:
                if other != before and (within is None or other in within):
                    bound = max(most, -float(self.edge_information[edge]))
                    heappush(heap, (bound, other, node, conditional, False))
        return found

    @cached_property
    def between_columns(self) -> FloatArray:
        """Mutual information of every two columns, in nats; zeros on the diagonal."""
        rooted = self.tree.rooted()
        order = rooted.order.tolist()
        columns = [node for node in order if node < self.tree.n_observed]
        result = np.zeros((self.tree.n_observed, self.tree.n_observed))
        sizes = np.array([len(self.marginals[column]) for column in columns])
        for batch in np.split(np.arange(len(columns)), _batches(sizes)):
            sources = [columns[place] for place in batch]
            shares, starts = self._from(sources)
            weights = np.concatenate([self.marginals[source] for source in sources])
            for column in columns:
                left = -xlogy(shares[column], shares[column]).sum(axis=0) * weights
                result[column, sources] = self.entropies[column] - np.add.reduceat(left, starts)
        np.fill_diagonal(result, 0)
        return np.maximum(result + result.T, 0) / 2

    def _from(self, sources: list[int]) -> tuple[list[FloatArray], IntArray]:
        """Give ``P(v = x | source = h)`` for all nodes v: one column a state of each source, in their order.

        The sources are in the order of the rooted tree, so that those below a node stand together. Also gives where
        each source's columns start.
        """
        rooted = self.tree.rooted()
        order, parent = rooted.order.tolist(), rooted.parent.tolist()
        stops = np.cumsum([len(self.marginals[source]) for source in sources])
        starts = stops - [len(self.marginals[source]) for source in sources]
        # Every node starts as if it were independent of all sources; span[v] are the columns of the sources below v.
        shares = [np.repeat(share[:, None], stops[-1], axis=1) for share in self.marginals]
        span: list[tuple[int, int]] = [(0, 0)] * self.tree.n_nodes
        for source, start, stop in zip(sources, starts.tolist(), stops.tolist(), strict=True):
            shares[source][:, start:stop] = np.eye(stop - start)
            span[source] = start, stop
        for node in rooted.postorder:
            (start, stop), above = span[node], parent[node]
            if stop > start and above >= 0:
                shares[above][:, start:stop] = self.step(node, above) @ shares[node][:, start:stop]
                lowest, highest = span[above]
                span[above] = (start, stop) if highest == 0 else (min(start, lowest), max(stop, highest))
        for node in order:
            start, stop = span[node]
            if parent[node] >= 0:
                table, known = self.model.tables[node], shares[parent[node]]
                shares[node][:, :start] = table @ known[:, :start]
                shares[node][:, stop:] = table @ known[:, stop:]
        return shares, starts


def _batches(sizes: IntArray) -> IntArray:
    """Give the places where to part sizes so that the sum of each part is about the most that is done at once."""
    number = (np.cumsum(sizes) - 1) // _STATES_AT_ONCE
    return np.flatnonzero(np.diff(number)) + 1
