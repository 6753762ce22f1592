"""Latent tree models: a tree, a number of states for every node, and one probability table an edge."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from latree._util.arrays import FloatArray, IntArray, RandomState, generator
from latree._util.progress import Progress, no_progress
from latree.counts.distances import PairDistributions, information
from latree.errors import InputError
from latree.inference.messages import Network, downward, log_likelihoods, total_log_likelihood, upward
from latree.inference.patterns import plan_of
from latree.model.file import parts_from_dict, read_json, save_model
from latree.model.record import Record
from latree.table import Block, Column, Table, Unseen, as_table, signed_codes
from latree.tree import Tree

_LENGTHS = (0.05, 3.0)  # between which the lengths of drawn edges are kept


@dataclass(frozen=True, repr=False, eq=False)
class LatentTreeModel:
    """A probability model of a table's rows.

    Methods take new data in any form that :func:`latree.as_table` reads, and code it like the model's own.

    Attributes
    ----------
    tree : Tree
        Its observed variables are the columns, in their order.
    columns : tuple of Column
        What the columns are, so that new data can be coded alike.
    tables : tuple of array
        One a node: ``tables[v][x, h] = P(v = x | parent of v = h)``, where parents are those of ``tree.rooted()``.
        A root's table has one column. Columns sum to one.
    record : Record, optional
        How the model came about.
    """

    tree: Tree
    columns: tuple[Column, ...]
    tables: tuple[FloatArray, ...]
    record: Record | None = None

    def __post_init__(self) -> None:
        if tuple(column.name for column in self.columns) != self.tree.names:
            raise InputError("a model's columns are not its tree's observed variables")
        if len(self.tables) != self.tree.n_nodes:
            raise InputError(f"a tree of {self.tree.n_nodes} nodes needs as many tables, not {len(self.tables)}")
        rooted = self.tree.rooted()
        for node, table in enumerate(self.tables):
            name = self.tree.node_names[node]
            parent = rooted.parent[node]
            wanted = (
                self.columns[node].n_states if node < self.tree.n_observed else len(table),
                len(self.tables[parent]) if parent >= 0 else 1,
            )
            if table.shape != wanted or not table.size:
                raise InputError(f"the table of {name!r:.60} has shape {table.shape} where {wanted} is needed")
            in_range = np.all((table >= 0) & (table <= 1 + 1e-6))
            if not (in_range and np.allclose(table.sum(axis=0), 1, rtol=0, atol=1e-6)):
                raise InputError(f"the table of {name!r:.60} is not made of probability distributions")

    def __repr__(self) -> str:
        tree = self.tree
        return f"<LatentTreeModel: {tree.n_observed} observed, {tree.n_hidden} hidden, {self.n_parameters} parameters>"

    @cached_property
    def network(self) -> Network:
        """The rooted tree and tables on which messages run."""
        rooted = self.tree.rooted()
        return Network(self.tree.n_observed, rooted.parent, rooted.order, self.tables)

    @property
    def n_states(self) -> IntArray:
        """Number of states of every node, observed ones first."""
        return np.array([len(table) for table in self.tables], dtype=np.intp)

    @property
    def n_parameters(self) -> int:
        """Number of free parameters: a distribution over n states has n - 1."""
        return sum((table.shape[0] - 1) * table.shape[1] for table in self.tables)

    def encode(self, data: Any, *, unseen: Unseen = "error", progress: Progress = no_progress) -> Table:
        """Code new data like the model's own (see :func:`latree.as_table` for what data may be)."""
        if isinstance(data, Table):
            if data.columns != self.columns:
                raise InputError("the table was not coded with this model's columns; give the data it was made from")
            return data
        return as_table(data, columns=self.columns, unseen=unseen, progress=progress)

    def log_likelihood_rows(self, data: Any) -> FloatArray:
        """Give the log-likelihood of each row, in nats; missing cells are summed out."""
        return self.encode(data).map(lambda block: log_likelihoods(self.network, block.codes))

    def log_likelihood(self, data: Any) -> float:
        """Give the (weighted) log-likelihood of all rows together."""

        def total(block: Block) -> FloatArray:
            return total_log_likelihood(log_likelihoods(self.network, block.codes), block.weights)

        return float(np.asarray(self.encode(data).sum(total))[0])

    def aic(self, data: Any) -> float:
        """Akaike's criterion: ``2 p - 2 log L``; smaller is better."""
        return aic(self.log_likelihood(data), self.n_parameters)

    def bic(self, data: Any) -> float:
        """Schwarz's criterion: ``p log m - 2 log L`` for m rows (or their total weight); smaller is better."""
        table = self.encode(data)
        return bic(self.log_likelihood(table), self.n_parameters, table.total_weight)

    def posteriors(self, data: Any) -> dict[str, FloatArray]:
        """Give the distribution of every hidden variable in every row, given the row's cells.

        Returns
        -------
        dict
            From the name of a hidden variable to an array of shape (rows, states); NaN in rows that the model holds
            for impossible.
        """
        hidden = range(self.tree.n_observed, self.tree.n_nodes)

        def block_posteriors(block: Block) -> FloatArray:
            up = upward(self.network, plan_of(self.network, block.codes, repeats=False))
            found = {step.name: posterior for step, _, posterior in downward(self.network, up)}
            stacked = np.concatenate([np.empty((len(block.codes), 0)), *(found[node] for node in hidden)], axis=1)
            stacked[np.isneginf(up.log_likelihood)] = np.nan
            return stacked

        stops = np.cumsum([len(self.tables[node]) for node in hidden])
        parts = np.split(self.encode(data).map(block_posteriors), stops[:-1], axis=1)
        return {self.tree.node_names[node]: part for node, part in zip(hidden, parts, strict=False)}

    def complete(self, data: Any) -> Table:
        """Fill every missing cell with its most probable state given the row's present cells.

        Each cell is completed by its own posterior, which makes the expected number of wrong cells smallest. Weights of
        rows are not kept.
        """

        def filled(block: Block) -> NDArray[np.int32]:
            codes = signed_codes(block.codes)
            missing = codes < 0
            if missing.any():
                up = upward(self.network, plan_of(self.network, block.codes, repeats=False))
                for step, _, posterior in downward(self.network, up):
                    if step.name < self.tree.n_observed:
                        rows = missing[:, step.name]
                        codes[rows, step.name] = posterior[rows].argmax(axis=1)
                    for leaf in step.leaves.names if step.leaves else ():
                        rows = missing[:, leaf]
                        codes[rows, leaf] = (posterior[rows] @ self.tables[leaf].T).argmax(axis=1)
            return codes

        return Table.from_codes(self.columns, self.encode(data).map(filled))

    def sample(self, n_rows: int, random_state: RandomState = None, progress: Progress = no_progress) -> Table:
        """Draw rows from the model; ``decode`` of the table that comes back gives their values."""
        if n_rows < 1:
            raise InputError(f"the number of rows to draw must be at least 1, not {n_rows}")
        codes = self.sample_all(n_rows, random_state, progress)[:, : self.tree.n_observed]
        return Table.from_codes(self.columns, codes)

    def sample_all(
        self, n_rows: int, random_state: RandomState = None, progress: Progress = no_progress
    ) -> NDArray[np.int32]:
        """Draw rows of all nodes' states, hidden ones after the observed; tell the number of nodes drawn."""
        rng = generator(random_state)
        states = np.zeros((n_rows, self.tree.n_nodes), dtype=np.int32, order="F")
        for done, node in enumerate(self.network.order.tolist()):
            progress(done, self.tree.n_nodes)
            parent = self.network.parent[node]
            cumulative = np.cumsum(self.tables[node], axis=0)[:-1]
            above = cumulative[:, states[:, parent] if parent >= 0 else np.zeros(n_rows, dtype=np.intp)]
            states[:, node] = (rng.random(n_rows) >= above).sum(axis=0)
        return states

    def marginals(self) -> dict[str, FloatArray]:
        """Give the distribution of every node, observed and hidden."""
        found: list[FloatArray] = [np.ones(1)] * self.tree.n_nodes
        for node in self.network.order.tolist():
            parent = self.network.parent[node]
            found[node] = self.tables[node] @ (found[parent] if parent >= 0 else np.ones(1))
        return dict(zip(self.tree.node_names, found, strict=True))

    def joint(self, nodes: Sequence[int]) -> FloatArray:
        """Give the exact joint distribution of a few different nodes, one axis each.

        Only the paths between the nodes are visited; time and memory grow with the product of their states.
        """
        wanted = list(nodes)
        if len(set(wanted)) != len(wanted):
            raise ValueError("the nodes of a joint distribution must differ")
        parent = self.network.parent
        needed = set(wanted)
        for node in wanted:
            while (node := int(parent[node])) >= 0 and node not in needed:
                needed.add(node)
        # For a node (-1: above all roots) the wanted nodes found below it, and their joint likelihood: one row a state
        # of the node, one column a combination of their states.
        below: dict[int, tuple[list[int], FloatArray]] = {}
        for node in (node for node in self.network.order[::-1].tolist() if node in needed):
            n = len(self.tables[node])
            found, likelihood = below.pop(node, ([], np.ones((n, 1))))
            if node in wanted:
                found, likelihood = [node, *found], (np.eye(n)[:, :, None] * likelihood[:, None, :]).reshape(n, -1)
            message = self.tables[node].T @ likelihood
            others, so_far = below.get(int(parent[node]), ([], np.ones((len(message), 1))))
            combined = (so_far[:, :, None] * message[:, None, :]).reshape(len(message), -1)
            below[int(parent[node])] = ([*others, *found], combined)
        found, likelihood = below[-1]
        tensor = likelihood.reshape([len(self.tables[node]) for node in found])
        return tensor.transpose([found.index(node) for node in wanted])

    def edge_strengths(self) -> FloatArray:
        """Give how strongly the two ends u and v of every edge depend on each other, from 0 to 1.

        It is ``sqrt(I(u; v) / min(H(u), H(v)))``, of their mutual information and their entropies under the model: 1 if
        one end tells the other, 0 if they are independent or one of them is constant, and for weak dependence
        proportional to a correlation.
        """
        marginals = list(self.marginals().values())
        entropies = [-float((share * np.log(np.where(share > 0, share, 1))).sum()) for share in marginals]
        rooted = self.tree.rooted()
        shares = np.zeros(len(self.tree.edges))
        for node, (parent, edge) in enumerate(zip(rooted.parent.tolist(), rooted.up.tolist(), strict=True)):
            if edge >= 0 and (smaller := min(entropies[node], entropies[parent])) > 0:
                joint = PairDistributions(self.tables[node] * marginals[parent], np.array(np.inf))
                shares[edge] = float(information(joint)) / smaller
        return np.sqrt(np.clip(shares, 0, 1))

    def edge_lengths(self) -> FloatArray:
        """Give the lengths that edges are drawn with: -log of their strengths, within limits.

        Where correlations multiply along a path, such lengths add up.
        """
        return np.clip(-np.log(np.maximum(self.edge_strengths(), 1e-9)), *_LENGTHS)

    def quartet_tables(self, quartets: IntArray) -> FloatArray:
        """Give exact joint distributions of quadruples of columns, like those that are counted in rows."""
        n = max(column.n_states for column in self.columns)
        tensors = np.zeros((len(quartets), n, n, n, n))
        for tensor, quartet in zip(tensors, quartets.tolist(), strict=True):
            exact = self.joint(quartet)
            tensor[tuple(slice(size) for size in exact.shape)] = exact
        return tensors

    def save(self, path: str | Path) -> None:
        """Write the model to a JSON file; see :mod:`latree.model.file`."""
        save_model(self, Path(path))

    @classmethod
    def load(cls, path: str | Path) -> "LatentTreeModel":
        """Read a model from a JSON file, trusting none of it; see :mod:`latree.model.file`."""
        plain = read_json(Path(path))
        try:
            return cls(*parts_from_dict(plain))
        except InputError as error:
            raise InputError(f"{path}: {error}") from None


def aic(log_likelihood: float, n_parameters: int) -> float:
    """Give Akaike's criterion, ``2 p - 2 log L``."""
    return 2 * n_parameters - 2 * log_likelihood


def bic(log_likelihood: float, n_parameters: int, n_rows: float) -> float:
    """Give Schwarz's criterion, ``p log m - 2 log L``."""
    return n_parameters * float(np.log(n_rows)) - 2 * log_likelihood


def identity_table(n: int, k: int) -> FloatArray:
    """Give the table of a variable with n states that follows one with k: state h goes with state h modulo n."""
    table = np.zeros((n, k))
    table[np.arange(k) % n, np.arange(k)] = 1
    return table
