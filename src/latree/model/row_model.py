"""What a model says of rows of data: their likelihood, their hidden variables, and what their cells should be."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from latree._util.arrays import FloatArray, RandomState, backend_of, make_frame
from latree.errors import InputError
from latree.inference.messages import downward, log_likelihoods, total_log_likelihood, upward
from latree.inference.network import Network
from latree.inference.patterns import plan_messages
from latree.model.distribution import TreeDistribution
from latree.model.explain import explained_frame, one_row
from latree.model.impute import How, cell_probabilities, draw_seeds, fill, fill_codes, impute_like
from latree.model.linear import Linear
from latree.table import Block, Table, as_table
from latree.table.columns import Unseen, has_bins


@dataclass(frozen=True, repr=False, eq=False)
class RowModel(TreeDistribution):
    """What follows from a distribution and rows of data. :class:`latree.LatentTreeModel` adds names and a file."""

    linear: Linear | None = field(default=None, kw_only=True)

    def encode(
        self,
        data: Any,
        *,
        format: str | None = None,
        unseen: Unseen = "error",
        names: Sequence[str] | None = None,
    ) -> Table:
        """Encode new data with the model's columns.

        Parameters
        ----------
        data : data frame, array, path or Table
            See :func:`latree.as_table`. A Table must have the model's columns already.
        format : str, optional
            The format of a file whose ending does not tell it.
        unseen : {"warn", "error", "missing"}
            What to do with a category that the model does not know. With "error", a number that it does not know
            gets the state of the nearest number that it knows.
        names : sequence of str, optional
            Names of the columns of an array, needed if it has more columns than the model.
        """
        if isinstance(data, Table):
            if data.columns != self.columns:
                raise InputError(
                    "the table was not encoded with this model's columns; pass the data that it was made from"
                )
            return data
        return as_table(data, columns=self.columns, names=names, format=format, unseen=unseen)

    def log_likelihood_rows(self, data: Any) -> FloatArray:
        """Return the log-likelihood ``log P(row)`` of each row, in nats; missing cells are summed out.

        Numbers count as their bins. Models of the same columns can be compared by it; :meth:`log_density_rows` is in
        the units of the data.

        Examples
        --------
        >>> import latree
        >>> tree = latree.Tree.from_newick("((a,b),c,d);")
        >>> model = latree.random_model(tree, n_states=2, hidden_states=2, start="identity", random_state=1)
        >>> model.log_likelihood_rows(model.sample(3, random_state=0)).round(3)
        array([-2.981, -2.54 , -1.831])
        """
        return self.encode(data).map(lambda block: log_likelihoods(self.network, block.codes))

    def log_density_rows(self, data: Any) -> FloatArray:
        """Return the log density of each row in the units of the data, in nats; missing cells are integrated out.

        It is the log-likelihood of the row plus, for each of its numbers with bins, the log density of the number
        inside its bin. So it can be compared with other estimators of a density, such as scikit-learn's.

        Parameters
        ----------
        data : data frame, array, path or Table
            A Table must have been made from data, by :func:`latree.as_table`, if a column has bins.

        Examples
        --------
        >>> import numpy as np, latree
        >>> heights = np.random.default_rng(0).normal(170, 10, (1000, 2))
        >>> model = latree.LatentTree("independent").fit(heights).model_
        >>> model.log_density_rows(np.array([[170.0, 170.0], [190.0, 170.0], [250.0, 170.0]])).round(1)
        array([ -6.6,  -8.7, -18.1])
        """
        return self.encode(data).map(partial(log_densities, self.network, has_bins(self.columns)))

    def log_density(self, data: Any) -> float:
        """Return the sum of the rows' log densities times their weights, in nats; see :meth:`log_density_rows`."""
        binned = has_bins(self.columns)

        def total(block: Block) -> FloatArray:
            return total_log_likelihood(log_densities(self.network, binned, block), block.weights)

        return float(np.asarray(self.encode(data).sum(total))[0])

    def log_likelihood(self, data: Any) -> float:
        """Return the sum of the rows' log-likelihoods times their weights, in nats; numbers count as their bins."""

        def total(block: Block) -> FloatArray:
            return total_log_likelihood(log_likelihoods(self.network, block.codes), block.weights)

        return float(np.asarray(self.encode(data).sum(total))[0])

    def aic(self, data: Any) -> float:
        """Return Akaike's information criterion, ``2 p - 2 log L`` for p parameters; smaller is better."""
        return aic(self.log_likelihood(data), self.n_parameters)

    def bic(self, data: Any) -> float:
        """Return the Bayesian information criterion, ``p log m - 2 log L``; smaller is better.

        Here p is the number of parameters and m the number of rows (or their total weight). Use it to compare models
        of the same rows with different trees or numbers of states.
        """
        table = self.encode(data)
        return bic(self.log_likelihood(table), self.n_parameters, table.total_weight)

    def posteriors(self, data: Any) -> dict[str, FloatArray]:
        """Return the posterior probabilities of every hidden variable in every row, given the row's cells.

        Returns
        -------
        dict
            From the name of a hidden variable to an array of shape (rows, states); NaN in rows that are impossible
            under the model.

        Examples
        --------
        >>> import latree
        >>> tree = latree.Tree.from_newick("((a,b),c,d);")
        >>> model = latree.random_model(tree, n_states=2, hidden_states=2, start="identity", random_state=1)
        >>> posteriors = model.posteriors(model.sample(2, random_state=0))
        >>> sorted(posteriors), posteriors["H1"].shape
        (['H1', 'H2'], (2, 2))
        """
        hidden = range(self.tree.n_observed, self.tree.n_nodes)

        def block_posteriors(block: Block) -> FloatArray:
            up = upward(self.network, plan_messages(self.network, block.codes, repeats=False))
            found = {step.number: posterior for step, _, posterior in downward(up)}
            stacked = np.concatenate([np.empty((len(block.codes), 0)), *(found[node] for node in hidden)], axis=1)
            stacked[np.isneginf(up.log_likelihood)] = np.nan
            return stacked

        stops = np.cumsum([len(self.tables[node]) for node in hidden])
        parts = np.split(self.encode(data).map(block_posteriors), stops[:-1], axis=1)
        return {self.tree.node_names[node]: part for node, part in zip(hidden, parts, strict=False)}

    def complete(self, data: Any, how: How = "mode", random_state: RandomState = None) -> Table:
        """Fill every missing cell, and return a table of codes.

        Weights of rows are not kept. :meth:`impute` returns the values in the form of the data.

        Parameters
        ----------
        data : data frame, array, path or Table
        how : {"auto", "mode", "median", "mean", "draw"}
            See :meth:`impute`. A number gets the code of its bin.
        random_state : int, Generator or None
            The seed of ``draw``.

        Examples
        --------
        >>> import latree
        >>> tree = latree.Tree.from_newick("((a,b),c,d);")
        >>> model = latree.random_model(tree, n_states=2, hidden_states=2, start="identity", random_state=1)
        >>> import numpy as np
        >>> model.complete(np.array([[1, np.nan, 1, 0]])).codes()
        array([[1, 1, 1, 0]], dtype=int32)
        """
        table = self.encode(data)
        filled = fill(self.network, self.columns, table, how, *draw_seeds(random_state, 1), linear=self.linear)
        codes = table.codes()
        for j, column in enumerate(self.columns):
            holes = np.flatnonzero(codes[:, j] < 0)
            codes[holes, j] = fill_codes(column, filled[holes, j])
        return Table.from_codes(self.columns, codes)

    def impute(
        self,
        data: Any,
        how: How = "auto",
        *,
        draws: int | None = None,
        return_interval: float | None = None,
        random_state: RandomState = None,
    ) -> Any:
        """Fill every missing cell given the present cells of its row; other cells do not change.

        Parameters
        ----------
        data : data frame, array, path or Table
        how : {"auto", "mode", "median", "mean", "draw"}
            ``auto`` takes the mean for numbers with bins, the median for other columns with an order, and the mode for
            the rest. ``mode``, the most probable value, makes the fewest wrong cells; in a column with bins it is the
            median of the most probable bin. ``median`` makes the smallest absolute error; columns without an order get
            the mode. ``mean``, the expected value, makes the smallest squared error; columns that are not numbers get
            the median. It is corrected by a regression on what the tree leaves out. ``draw`` draws all missing cells of
            a row together from the model, numbers from the density inside their bin, so that the filled table varies
            like the data.
        draws : int, optional
            For multiple imputation: the number of tables to draw.
        return_interval : float, optional
            Return also the bounds of the interval that has this probability, such as 0.9, given the rest of the row.
        random_state : int, Generator or None
            The seed of ``draw``. The result does not depend on where the rows are.

        Returns
        -------
        data frame, array or sparse matrix
            In the form of the data; for a path or a Table, a data frame. With ``draws``, a list. With
            ``return_interval``, a tuple of three: the filled data, and the same data with missing cells filled with the
            lower and with the upper bounds. Cells of columns without an order have no bounds and stay missing there.

        Examples
        --------
        >>> import latree
        >>> tree = latree.Tree.from_newick("((a,b),c,d);")
        >>> model = latree.random_model(tree, n_states=2, hidden_states=2, start="identity", random_state=1)
        >>> import numpy as np
        >>> model.impute(np.array([[1, np.nan, 1, 0]]), how="mean").round(2)
        array([[1.  , 0.82, 1.  , 0.  ]])
        """
        table = self.encode(data)
        return impute_like(
            self.network, self.columns, data, table, how, draws, return_interval, random_state, linear=self.linear
        )

    def explain_row(self, row: Any) -> Any:
        """Return how unusual each cell of a row is, given the other cells of the row, and what was to be expected.

        Parameters
        ----------
        row : mapping, series, sequence, or data frame or array of one row
            Cells may be missing, and a mapping, a series or a frame need not have all columns.

        Returns
        -------
        data frame
            One row per cell that is not missing, the most unusual first, with the columns

            - ``column``, ``value``.
            - ``expected``: what :meth:`impute` would fill in if the cell were missing.
            - ``probability``: that of a value that is at least as unusual. For a category, all categories that are no
              more probable count; for a number with bins, all that are as far out or further, on both sides.
            - ``log_density``: the log density of the value given the rest of the row, in the units of the data; of a
              category, the log probability.

        Examples
        --------
        >>> import latree, numpy as np, pandas as pd
        >>> rng = np.random.default_rng(0)
        >>> size = rng.normal(size=2000)
        >>> table = pd.DataFrame({name: size + 0.3 * rng.normal(size=2000) for name in "abc"})
        >>> model = latree.LatentTree(goal="predict", random_state=0).fit(table).model_
        >>> model.explain_row({"a": 1.5, "b": 1.4, "c": -1.6})["column"].tolist()
        ['c', 'a', 'b']
        """
        return self._explain_row(self.encode(one_row(row, self.tree.names)), backend_of(row))

    def _explain_row(self, table: Table, backend: str | None) -> Any:
        return explained_frame(self.network, self.columns, table, backend, self.linear)

    def impute_proba(self, data: Any) -> Any:
        """Return the probability of every value of each column that has missing cells, given the rest of the row.

        Returns
        -------
        data frame
            Like the data, with columns such as ``b=0`` and ``b=1``. Where a cell is present, its value has probability
            1.

        Examples
        --------
        >>> import latree
        >>> tree = latree.Tree.from_newick("((a,b),c,d);")
        >>> model = latree.random_model(tree, n_states=2, hidden_states=2, start="identity", random_state=1)
        >>> import pandas as pd
        >>> model.impute_proba(pd.DataFrame({"a": [1, 0], "b": [None, 1], "c": [1, 0], "d": [0, 1]})).round(2)
            b=0   b=1
        0  0.18  0.82
        1  0.00  1.00
        """
        columns = cell_probabilities(self.network, self.columns, self.encode(data))
        return make_frame(columns, backend_of(data))


def log_densities(network: Network, binned: bool, block: Block) -> FloatArray:
    """Return the log density of each row of a block; ``binned`` says whether a column has bins."""
    found = log_likelihoods(network, block.codes)
    if not binned:
        return found
    if block.inside is None:
        raise InputError("these rows are codes, and columns with bins need numbers: pass the data they were made from")
    return np.asarray(found + block.inside)


def aic(log_likelihood: float, n_parameters: int) -> float:
    """Return Akaike's information criterion, ``2 p - 2 log L``."""
    return 2 * n_parameters - 2 * log_likelihood


def bic(log_likelihood: float, n_parameters: int, n_rows: float) -> float:
    """Return the Bayesian information criterion, ``p log m - 2 log L``."""
    return n_parameters * float(np.log(n_rows)) - 2 * log_likelihood
