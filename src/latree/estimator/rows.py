"""The estimator on rows: scores, densities, drawn rows and missing cells."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import TransformerMixin
from sklearn.utils.validation import check_is_fitted

from latree._util.arrays import FloatArray, RandomState, backend_of, make_frame
from latree.errors import InputError
from latree.estimator.data import DataMethods, warn
from latree.interpret.reliability import few_rows, reliability
from latree.interpret.scores import Of, Scorer, ScoreScale, row_scores, with_scale
from latree.model.explain import one_row
from latree.model.impute import How, impute_like
from latree.table.storage import common_type, typed_frame


class RowMethods(TransformerMixin, DataMethods):  # type: ignore[misc]
    """What :class:`latree.LatentTree` says of rows."""

    def score_samples(self, X: Any) -> FloatArray:
        """Return the log density of each row in the units of the data, in nats.

        It can be compared with that of other estimators, such as scikit-learn's ``GaussianMixture``: categories count
        by their probability, and numbers by their density; see :meth:`latree.LatentTreeModel.log_density_rows`.
        """
        table = self._encoded(X)  # raises if the estimator is not fitted
        return self.model_.log_density_rows(table)

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Return the mean of :meth:`score_samples` over the rows; ``sample_weight`` is as in :meth:`fit`."""
        table = self._encoded(X, sample_weight)
        return self.model_.log_density(table) / table.total_weight

    def transform(self, X: Any, of: Of = "groups", scale: ScoreScale = "unit") -> Any:
        """Return where each row stands: a score from 0 (lowest) to 1 (highest) for each main group of columns.

        See :func:`latree.row_scores` for what a score is, for its standard error and for the most probable
        states. A model without scores, such as a Chow-Liu tree, gives the log density of the rows as the only
        column, so that a pipeline or a grid search goes on.

        Parameters
        ----------
        X : data frame, array, sparse matrix, Table, or name of a file
        of : {"groups", "hidden"}
            Score the main groups, or all hidden variables.
        scale : {"unit", "t", "percentile", "z"}
            From 0 to 1; or by the norms of the rows of the fit: T values (mean 50, standard deviation 10), percentiles,
            or z values (mean 0, standard deviation 1).

        Returns
        -------
        data frame or array
            One column per group. For a frame, a frame of the same library; for an array, an array.
        """
        if of != "groups" and self._output_is_set():
            raise InputError("set_output names the scores of groups only: use set_output(transform='default')")
        table = self._encoded(X)
        rows = with_scale(self.model_, row_scores(self.model_, table, of), scale, of)
        scores = rows.scores if rows.names else rows.log_density[:, None]
        return self._like(X, list(self.get_feature_names_out(of=of)), scores)

    def get_feature_names_out(self, input_features: Any = None, of: Of = "groups") -> NDArray[Any]:
        """Return the names of the columns of :meth:`transform`: those of the groups, or of the hidden variables."""
        check_is_fitted(self)
        return np.array(Scorer.of_model(self.model_, of).names or ["log-density"], dtype=object)

    def predict(self, X: Any, of: Of = "groups") -> Any:
        """Return the most probable state of each main group's hidden variable in each row, given the whole row.

        States are numbered from 0: from low to high, or by size where columns have no order. :meth:`profiles` has their
        names. In rows that are impossible under the model it is -1.
        ``X`` and ``of`` are as in :meth:`transform`, and so is the form of the result: one column per group. Groups
        without a hidden variable are left out.
        """
        table = self._encoded(X)
        rows = row_scores(self.model_, table, of)
        return self._like(X, rows.names, rows.states)

    def predict_proba(self, X: Any, of: Of = "groups") -> Any:
        """Return the probability of each state of each main group's hidden variable in each row, given the whole row.

        ``X`` and ``of`` are as in :meth:`transform`, and so is the form of the result: one column per state, with names
        such as ``N1, N2 +3 = low``.
        """
        table = self._encoded(X)
        scales = Scorer.of_model(self.model_, of).scales
        posteriors = list(self.model_.posteriors(table).values())
        first = self.model_.tree.n_observed
        parts = [np.empty((table.n_rows, 0)), *(posteriors[scale.hidden - first] for scale in scales)]
        names = [f"{scale.name} = {state}" for scale in scales for state in scale.state_names]
        return self._like(X, names, np.concatenate(parts, axis=1))

    def reliability(self, X: Any, sample_weight: Any = None) -> Any:
        """Return how reliable the score of each group is on some rows, with Cronbach's alpha beside it, as a frame.

        The reliability is right as far as the model is, and counts what only some columns of a group share. Cronbach's
        alpha needs no model and counts what all of them share, so it is usually smaller. NaN where a figure is not
        defined. ``summary_["reliability"]`` has the figures for the rows of the fit.
        """
        table = self._encoded(X, sample_weight)
        warn(few_rows(table.n_rows))
        found = reliability(self.model_, table)
        columns: dict[str, Any] = {"group": [one.name for one in found]}
        columns["columns"] = np.array([one.n_columns for one in found], dtype=np.int64)
        columns["reliability"] = np.array([one.reliability for one in found], dtype=np.float64)
        columns["alpha"] = np.array([one.alpha for one in found], dtype=np.float64)
        return make_frame(columns, backend_of(X))

    def sample(self, n_samples: int = 1, random_state: RandomState = None, *, missing: bool = False) -> Any:
        """Draw rows from the model, in the form of the data it was fitted to, with the types of its columns.

        Numbers are drawn from the density inside their bin: whole numbers are whole, and others have as many decimals
        as in the data.

        Parameters
        ----------
        n_samples : int
            The number of rows.
        random_state : int, RandomState, Generator or None
            The seed. Without one, every call draws other rows, also if the estimator has a seed.
        missing : bool
            Whether cells are missing as often as in the data of the fit: of each column the same share, at random,
            independently of all other cells.
        """
        check_is_fitted(self)
        columns = self.model_.sample_values(n_samples, random_state, missing=missing)
        if self._backend is None:
            stacked = np.column_stack([_array_of(values) for values in columns.values()])
            return stacked.astype(common_type([column.storage for column in self.model_.columns]) or stacked.dtype)
        return typed_frame(columns, {column.name: column.storage for column in self.model_.columns}, self._backend)

    def explain_row(self, row: Any) -> Any:
        """Return how unusual each cell of a row is, given the other cells of the row, and what was to be expected.

        ``explain_row(df.iloc[7])`` takes a row as a series, a mapping, a sequence, or a frame or an array of one row,
        and returns a frame with the most unusual cells first; see :meth:`latree.LatentTreeModel.explain_row`.
        """
        check_is_fitted(self)
        X = one_row(row, self.model_.tree.names)
        is_whole = isinstance(X, np.ndarray) and X.shape[1] == len(self._names_in)
        table = self.model_.encode(X, unseen=self.unseen, names=self._names_in if is_whole else None)
        return self.model_._explain_row(table, self._backend)

    def impute(
        self,
        X: Any,
        how: How = "auto",
        *,
        draws: int | None = None,
        return_interval: float | None = None,
        random_state: RandomState = None,
    ) -> Any:
        """Fill every missing cell given the present cells of its row; other cells do not change.

        Parameters
        ----------
        X : data frame, array, sparse matrix, Table, or name of a file
        how : {"auto", "mode", "median", "mean", "draw"}
            The most probable value (``mode``); the median, for columns with an order; the expected value, for numbers
            (``mean``); the mean, the median or the mode, as it suits the column (``auto``); or a draw from the model.
            See :meth:`latree.LatentTreeModel.impute`.
        draws : int, optional
            For multiple imputation, with ``how="draw"``: the number of tables to draw, which are returned as a list.
        return_interval : float, optional
            Return also the bounds of the interval that has this probability, such as 0.9, given the rest of the row.
        random_state : int, Generator or None
            The seed of ``draw``. Without one, every call draws other values, also if the estimator has a seed.

        Returns
        -------
        data frame, array or sparse matrix
            In the form of X; for a file or a Table, a data frame. With ``draws``, a list. With ``return_interval``, a
            tuple of three: the filled data, and the same data with missing cells filled with the lower and with the
            upper bounds; cells of columns without an order stay missing there.
        """
        table, X = self._encoded(X), self._validated(X, reset=False)
        model = self.model_
        return impute_like(
            model.network,
            model.columns,
            X,
            table,
            how,
            draws,
            return_interval,
            random_state,
            self._names_in,
            model.linear,
        )


def _array_of(values: list[Any]) -> NDArray[Any]:
    """Return the values of a column as an array; a missing number is NaN."""
    if any(value is None for value in values) and all(isinstance(value, int | float | None) for value in values):
        return np.array([np.nan if value is None else value for value in values])
    return np.array(values)
