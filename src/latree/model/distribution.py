"""The distribution of a latent tree model: a tree, and one conditional probability table per node."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from latree._util.arrays import FloatArray, IntArray, RandomState, generator
from latree._util.progress import claim_progress
from latree.counts.distances import PairDistributions, information
from latree.errors import InputError
from latree.inference.network import Network
from latree.model.query import joint_distribution
from latree.table import Column, Table
from latree.tree import Tree

# Lengths of edges are kept between these two, so that a figure shows every edge.
_LENGTH_LIMITS = (0.05, 3.0)


@dataclass(frozen=True, repr=False, eq=False)
class TreeDistribution:
    """What follows from a tree and its tables alone. :class:`latree.LatentTreeModel` adds names, data and a file."""

    tree: Tree
    columns: tuple[Column, ...]
    tables: tuple[FloatArray, ...]

    def __post_init__(self) -> None:
        if tuple(column.name for column in self.columns) != self.tree.names:
            raise InputError("the model's columns are not its tree's observed variables")
        n_nodes = self.tree.n_nodes
        if len(self.tables) != n_nodes:
            raise InputError(f"a tree of {n_nodes} nodes needs {n_nodes} tables, not {len(self.tables)}")
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

    @cached_property
    def network(self) -> Network:
        """The rooted tree with its conditional probability tables, on which messages run."""
        return Network.on_tree(self.tree, self.tables)

    @property
    def n_states(self) -> IntArray:
        """Number of states of every node, observed ones first."""
        return np.array([len(table) for table in self.tables], dtype=np.intp)

    @property
    def n_parameters(self) -> int:
        """Number of free parameters: each distribution over n states has n - 1."""
        return sum((table.shape[0] - 1) * table.shape[1] for table in self.tables)

    def marginals(self) -> dict[str, FloatArray]:
        """Return the distribution of every variable, observed and hidden, by its name.

        Examples
        --------
        >>> import latree
        >>> tree = latree.Tree.from_newick("((a,b),c,d);")
        >>> model = latree.random_model(tree, n_states=2, hidden_states=2, start="identity", random_state=1)
        >>> model.marginals()["a"].round(2)
        array([0.56, 0.44])
        """
        return dict(zip(self.tree.node_names, self.network.marginals(), strict=True))

    def edge_strengths(self) -> FloatArray:
        """Return how strongly the two ends u and v of every edge depend on each other, from 0 to 1.

        The strength is ``sqrt(I(u; v) / min(H(u), H(v)))``, from the mutual information and the entropies under the
        model. It is 1 if one end determines the other, and 0 if they are independent or one of them is constant. For
        weak dependence it is proportional to a correlation.
        """
        marginals = self.network.marginals()
        entropies = [-float((p * np.log(np.where(p > 0, p, 1))).sum()) for p in marginals]
        rooted = self.tree.rooted()
        squares = np.zeros(len(self.tree.edges))
        for node, (parent, edge) in enumerate(zip(rooted.parent.tolist(), rooted.up.tolist(), strict=True)):
            if edge >= 0 and (smaller := min(entropies[node], entropies[parent])) > 0:
                joint = PairDistributions(self.tables[node] * marginals[parent], np.array(np.inf))
                squares[edge] = float(information(joint)) / smaller
        return np.sqrt(np.clip(squares, 0, 1))

    def edge_lengths(self) -> FloatArray:
        """Return the lengths of edges in figures: ``-log(strength)``, from 0.05 to 3.

        Longer edges mean weaker dependence. Where correlations multiply along a path, these lengths add up.
        """
        return np.clip(-np.log(np.maximum(self.edge_strengths(), 1e-9)), *_LENGTH_LIMITS)

    def quartet_tables(self, quartets: IntArray) -> FloatArray:
        """Return the exact joint distributions of quartets of columns, padded with zeros to the same shape.

        They take the place of :func:`latree.research.quartet_tables` where a quartet test is asked about the model
        itself instead of rows.

        Parameters
        ----------
        quartets : array of int, shape (q, 4)

        Returns
        -------
        array, shape (q, n, n, n, n)
            For n the largest number of states of a column.
        """
        n = max(column.n_states for column in self.columns)
        tensors = np.zeros((len(quartets), n, n, n, n))
        for tensor, quartet in zip(tensors, quartets.tolist(), strict=True):
            exact = joint_distribution(self.network, quartet)
            tensor[tuple(slice(size) for size in exact.shape)] = exact
        return tensors

    def sample(self, n_rows: int, random_state: RandomState = None) -> Table:
        """Draw rows from the model.

        Parameters
        ----------
        n_rows : int
        random_state : int, Generator or None

        Returns
        -------
        Table
            Its ``decode`` returns the values.

        Examples
        --------
        >>> import latree
        >>> tree = latree.Tree.from_newick("((a,b),c,d);")
        >>> model = latree.random_model(tree, n_states=2, hidden_states=2, start="identity", random_state=1)
        >>> model.sample(2, random_state=0).decode()
        {'a': [0, 0], 'b': [1, 1], 'c': [1, 1], 'd': [1, 0]}
        """
        if n_rows < 1:
            raise InputError(f"the number of rows to draw must be at least 1, not {n_rows}")
        codes = self.sample_all(n_rows, random_state)[:, : self.tree.n_observed]
        return Table.from_codes(self.columns, codes)

    def sample_all(self, n_rows: int, random_state: RandomState = None) -> NDArray[np.int32]:
        """Draw rows with the states of all variables, hidden ones after the observed: one column per node."""
        progress = claim_progress()
        rng = generator(random_state)
        states = np.zeros((n_rows, self.tree.n_nodes), dtype=np.int32, order="F")
        for done, node in enumerate(self.network.order.tolist()):
            progress(done, self.tree.n_nodes)
            parent = self.network.parent[node]
            cumulative = np.cumsum(self.tables[node], axis=0)[:-1]
            above = cumulative[:, states[:, parent] if parent >= 0 else np.zeros(n_rows, dtype=np.intp)]
            states[:, node] = (rng.random(n_rows) >= above).sum(axis=0)
        return states
