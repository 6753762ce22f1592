"""The scikit-learn estimator."""

import warnings
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import fields
from html import escape
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn import get_config
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from latree._util.arrays import FloatArray, RandomState, backend_of, make_frame
from latree._util.files import refuse_existing
from latree._util.terminal import progress_bars
from latree.errors import FitWarning, InputError
from latree.estimator_data import HOW_TO_READ, DataMixin, names_of
from latree.export import export_model
from latree.facts import summary_of
from latree.figure import Picture, plot
from latree.figure.draw import Layout
from latree.interpret import RowScores, group_labels, loadings, profiles, reliability, row_scores
from latree.interpret.scores import Of, Scorer, few_rows, with_state_numbers
from latree.learn import learn_model
from latree.learners.methods import find_method
from latree.model import LatentTreeModel
from latree.model.impute import How, cell_probabilities, impute_like
from latree.model.record import Origin
from latree.settings import Goal, Representatives, Resolve, Settings
from latree.table import as_table
from latree.table.checking import check_learnable
from latree.table.columns import DEFAULT_MISSING, Unseen
from latree.table.findings import sentences
from latree.table.labels import as_labels
from latree.table.opening import is_annotated
from latree.table.reading import DEFAULT_BINS
from latree.table.sources import WeightsAre
from latree.table.sparse import is_sparse
from latree.tree import Tree


class LatentTree(DataMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Find the hidden variables behind a table and fit a probability model on them.

    Columns may be categories, whole numbers, booleans or numbers with fractions, which are cut into bins; cells may be
    missing. The fitted model scores, samples and fills in rows. :func:`latree.learn_tree` learns the tree alone.

    Parameters
    ----------
    method : str
        How the tree is learned; ``latree methods`` lists the names.
    goal : {"explain", "predict"}
        What the model is for. ``"explain"``: to be read. ``auto`` finds the hidden variables that are there and no
        more; they have few states, the numbers that minimise BIC. ``"predict"``: to score, sample and fill in rows.
        ``auto`` compares several kinds of trees, also without hidden variables; the kind of tree, the number of states
        and the smoothing maximise held-out likelihood.
    resolve : {"fewest", "tested", "all"}
        For ``auto``: which edges between hidden variables are kept. ``"tested"``: those that the rows show, so that the
        tree may be non-binary or a forest. ``"fewest"``: of these, only the edges that lower BIC, for the smallest
        tree. ``"all"``: the fully resolved binary tree, as in the paper.
    n_states : int, optional
        Number of states of every hidden variable; by default it is found. ``spectral`` needs it.
    representatives : {"nearest", "random"}
        For ``tensor``: which leaf of a branch represents it in a quartet test.
    bins : int
        Number of quantile bins for numeric columns with many values; 0 for no bins.
    missing : collection of str or number
        Cells that mean missing, beside empty ones and NaN.
    missing_also : collection of str or number
        More cells that mean missing, beside those of ``missing``, such as ``[-99]``.
    drop : collection of str
        Names of columns to leave out, such as dates. New data may have them or not.
    keep : collection of str, optional
        Names of the only columns to learn from.
    identifier : str, optional
        Name of a column that names the rows: it is not learned from, but the report uses it.
    ordered : mapping of str to sequence, optional
        For columns of texts that have an order: all their values from low to high, by the name of the column.
    unseen : {"error", "missing"}
        What to do with a category of new data that the fitted data did not have. With "error", a number that they did
        not have gets the state of the nearest number that they had.
    weights : {"counts", "survey"}, optional
        What ``sample_weight`` means. ``"counts"``: a row of weight 2 counts as two rows. ``"survey"``: a weight says
        how many people a row stands for; weights are scaled to the effective number of rows, so that multiplying all
        of them by a constant changes nothing. By default they are counts, as in scikit-learn, and :meth:`fit` warns if
        they are not whole numbers, or ten or more on average.
    smoothing : float, optional
        Pseudo-rows added to every cell of every probability table. By default 0.1 to explain, and chosen on held-out
        rows to predict.
    bootstrap : int
        Number of bootstrap replicates of the rows for the support of the edges; 0 for the support that ``auto``
        computes itself: the probability that an edge is there and is the right one.
    max_iterations : int
        Most iterations of EM.
    tolerance : float
        EM stops when an iteration gains less than this, in nats per cell.
    labels : mapping of str to str, or name of a file, optional
        Your own label of each column, by the name of the column. A group is named by a label if most of its columns
        have the label, and most columns with the label are in the group.
        A file is read as by ``latree fit --labels``: a CSV file with a header and these two columns.
    random_state : int, RandomState, Generator or None
        Seed of everything random.
    verbose : int
        1 to show progress while :meth:`fit` works: bars on a terminal, as on the command line, and plain lines on
        standard error elsewhere, such as in a notebook or a log. 0 for none.

    Attributes
    ----------
    tree_ : Tree
        The tree; ``tree_.support`` has the support of its edges.
    model_ : LatentTreeModel
        The fitted model.
    groups_ : list of Group
        The groups of columns: main groups first, then groups of groups, then parts of groups. See
        :func:`latree.interpret.find_groups`.
    labels_ : array of int
        The number of the main group of each column, ``groups_[labels_[j]]``; -1 for a column that is in no group, also
        if it says nothing and was left out.
    summary_ : dict
        Log-likelihood, BIC, number of quartet tests, warnings and other facts.
    n_iter_ : int
        Iterations of EM.
    n_features_in_ : int
    feature_names_in_ : array of str
        If the data had names.

    Examples
    --------
    >>> import latree
    >>> from sklearn.datasets import load_iris
    >>> model = latree.LatentTree("lcm", n_states=3, random_state=0).fit(load_iris().data)
    >>> model.tree_
    <Tree: 4 observed, 1 hidden>
    >>> model.transform(load_iris().data).shape
    (150, 1)
    """

    def __init__(
        self,
        method: str = Settings.method,
        *,
        goal: Goal = Settings.goal,
        resolve: Resolve = Settings.resolve,
        n_states: int | None = None,
        representatives: Representatives = Settings.representatives,
        bins: int = DEFAULT_BINS,
        missing: Collection[Any] = DEFAULT_MISSING,
        missing_also: Collection[Any] = (),
        drop: Collection[str] = (),
        keep: Collection[str] | None = None,
        identifier: str | None = None,
        ordered: Mapping[str, Sequence[Any]] | None = None,
        unseen: Unseen = "error",
        weights: WeightsAre | None = None,
        smoothing: float | None = None,
        bootstrap: int = 0,
        max_iterations: int = Settings.max_iterations,
        tolerance: float = Settings.tolerance,
        labels: Mapping[str, str] | str | Path | None = None,
        random_state: RandomState = None,
        verbose: int = 0,
    ) -> None:
        self.method = method
        self.goal = goal
        self.resolve = resolve
        self.n_states = n_states
        self.representatives = representatives
        self.bins = bins
        self.missing = missing
        self.missing_also = missing_also
        self.drop = drop
        self.keep = keep
        self.identifier = identifier
        self.ordered = ordered
        self.unseen = unseen
        self.weights = weights
        self.smoothing = smoothing
        self.bootstrap = bootstrap
        self.max_iterations = max_iterations
        self.tolerance = tolerance
        self.labels = labels
        self.random_state = random_state
        self.verbose = verbose

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        tags.input_tags.sparse = True
        return tags

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> "LatentTree":
        """Learn the tree and fit the model.

        What is odd about the data, or about the result, is a :class:`latree.FitWarning`, and ``summary_["warnings"]``
        keeps it. :func:`latree.check` says the former before a fit.

        Parameters
        ----------
        X : data frame, array, sparse matrix, Table, or name of a file
            Rows by columns; cells may be missing. A name may be a pattern, such as ``"folder/*.parquet"``; a frame may
            be one of Dask, whose rows stay on the cluster. A sparse matrix says which cells are there; for its numbers,
            or for names of its columns, pass ``latree.as_table(X, counts=True, names=...)``.
        y : ignored
        sample_weight : array of float, or str, optional
            A weight for each row, or the name of the column that holds it. The parameter ``weights`` says what it
            means: by default, a row of weight 2 counts as two rows.
        """
        settings = Settings(**{field.name: getattr(self, field.name) for field in fields(Settings)})
        self._weights = sample_weight if isinstance(sample_weight, str) else None
        X = self._validated(X, reset=True)
        with progress_bars(bool(self.verbose), lines=True) as stages:
            reading = stages("Reading the table")
            how_to_read = {name: getattr(self, name) for name in HOW_TO_READ}
            table = as_table(X, weights=sample_weight, weights_are=self.weights, progress=reading, **how_to_read)
            self._library = backend_of(X) or ("numpy" if isinstance(X, np.ndarray) or is_sparse(X) else None)
            if self._library is None and not is_annotated(X):
                self.n_features_in_, self.feature_names_in_ = table.n_columns, np.array(table.names, dtype=object)
            by_name = self._library is None
            self._names_in = list(self.feature_names_in_) if by_name else names_of(self._features(X, reset=True))
            check_learnable(table, most_states=find_method(settings.method).most_states)
            labels = None if self.labels is None else as_labels(self.labels, table.names)
            odd = sentences(table.oddities)
            if self.weights is not None and table.weights_are is None:
                _warn([f"weights={self.weights!r} says what sample_weight is, but there is none: rows count as one."])
            _warn(sentences(one for one in table.oddities if one.kind != "file"))  # before the work starts
            origin = Origin(
                weights=self._weights,
                reading=self._options,
                columns=tuple(self._names_in),
                library=self._library,
                unseen=self.unseen,
                labels=tuple((labels or {}).items()),
            )
            learned = learn_model(table, settings, stages, origin, labels=labels)
        _warn(warning for warning in learned.warnings if warning not in odd)
        self._take(learned.model, learned.summary)
        return self

    def save(self, path: str | Path) -> None:
        """Write the fitted estimator to a JSON file, which :meth:`load` reads.

        The file is a ``model.json``: all commands, such as ``latree transform``, take it, too. It has no rows of the
        data. A seed that is not a number is not kept.

        Examples
        --------
        >>> import tempfile, latree
        >>> from sklearn.datasets import load_iris
        >>> data = load_iris(as_frame=True).data
        >>> model = latree.LatentTree("lcm", n_states=3, random_state=0).fit(data)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     model.save(f"{folder}/iris.json")
        ...     again = latree.LatentTree.load(f"{folder}/iris.json")
        >>> again.transform(data).equals(model.transform(data))
        True
        """
        check_is_fitted(self)
        self.model_.save(path)

    @classmethod
    def load(cls, path: str | Path) -> "LatentTree":
        """Read a fitted estimator: a file of :meth:`save`, or the folder or ``model.json`` of ``latree fit``.

        Everything is there but the rows: groups, scores, imputation, reports, and ``summary_`` without the seconds.
        """
        model = LatentTreeModel.load(path)
        record = model.record
        if record is None:
            raise InputError(f"{path}: this model was not fitted by latree: read it with latree.LatentTreeModel.load")
        kept: dict[str, Any] = {field.name: getattr(record.settings, field.name) for field in fields(Settings)}
        kept |= record.reading.arguments() if record.reading else {}
        kept["weights"] = record.weights_are if record.weights_are == "survey" else None
        loaded = cls(**kept | {"unseen": record.unseen, "labels": dict(record.labels) or None})
        loaded._weights, loaded._library = record.weights, record.library
        loaded._names_in = list(record.columns or model.tree.names)
        loaded.n_features_in_ = len(loaded._names_in)
        if record.library != "numpy":
            loaded.feature_names_in_ = np.array(loaded._names_in, dtype=object)
        try:
            loaded._take(model, summary_of(model))
        except InputError as error:
            raise InputError(f"{path}: {error}") from None
        return loaded

    def _take(self, model: LatentTreeModel, summary: dict[str, Any]) -> None:
        """Set what users ask a fitted estimator for."""
        self.model_ = model
        self.tree_: Tree = model.tree
        self.groups_ = list(model.groups)
        self.labels_ = group_labels(self.groups_, self._names_in)
        self.summary_ = summary
        self.n_iter_: int = summary["iterations"]

    def rename(self, names: Mapping[str, str]) -> "LatentTree":
        """Rename hidden variables and groups of the fitted model, and return the estimator.

        Parameters
        ----------
        names : mapping of str to str
            From names of now, or technical names such as H3, to new ones; see :meth:`latree.LatentTreeModel.rename`.

        Examples
        --------
        >>> import latree
        >>> from sklearn.datasets import load_iris
        >>> model = latree.LatentTree("lcm", n_states=3, random_state=0).fit(load_iris(as_frame=True).data)
        >>> [group.name for group in model.groups_]
        ['petal width (cm), petal length (cm) +2']
        >>> [group.name for group in model.rename({"H1": "size"}).groups_]
        ['size']
        """
        check_is_fitted(self)
        model = self.model_.rename(names)
        self._take(model, self.summary_ | summary_of(model))
        return self

    def score_samples(self, X: Any) -> FloatArray:
        """Return the log-likelihood of each row, in nats."""
        table = self._encoded(X)
        return self.model_.log_likelihood_rows(table)

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Return the mean log-likelihood per row, in nats; ``sample_weight`` is as in :meth:`fit`."""
        table = self._encoded(X, sample_weight)
        return self.model_.log_likelihood(table) / table.total_weight

    def transform(self, X: Any, of: Of = "groups") -> Any:
        """Return where each row stands: a score from 0 (lowest) to 1 (highest) for each main group of columns.

        See :func:`latree.interpret.row_scores` for what a score is, for its standard error and for the most probable
        states. A model without scores, such as a Chow-Liu tree, gives the log-likelihood of the rows as the only
        column, so that a pipeline or a grid search goes on.

        Parameters
        ----------
        X : data frame, array, sparse matrix, Table, or name of a file
        of : {"groups", "hidden"}
            Score the main groups, or all hidden variables.

        Returns
        -------
        data frame or array
            One column per group. For a frame, a frame of the same library; for an array, an array.
        """
        if of != "groups" and self._output_is_set():
            raise InputError("set_output names the scores of groups only: use set_output(transform='default')")
        rows = self._row_scores(X, of)
        scores = rows.scores if rows.names else rows.log_likelihood[:, None]
        return self._like(X, list(self.get_feature_names_out(of=of)), scores)

    def get_feature_names_out(self, input_features: Any = None, of: Of = "groups") -> NDArray[Any]:
        """Return the names of the columns of :meth:`transform`: those of the groups, or of the hidden variables."""
        check_is_fitted(self)
        return np.array(Scorer.of_model(self.model_, of).names or ["log-likelihood"], dtype=object)

    def predict(self, X: Any, of: Of = "groups") -> Any:
        """Return the most probable state of each main group's hidden variable in each row, given the whole row.

        States are numbered from 0: from low to high, or by size where columns have no order. See
        :func:`latree.interpret.state_names` for their names. In rows that are impossible under the model it is -1.

        Parameters
        ----------
        X : data frame, array, sparse matrix, Table, or name of a file
        of : {"groups", "hidden"}
            The hidden variables of the main groups, or all of them.

        Returns
        -------
        data frame or array
            One column per group, in the form of X. Groups without a hidden variable are left out.
        """
        rows = self._row_scores(X, of)
        return self._like(X, rows.names, rows.states)

    def predict_proba(self, X: Any, of: Of = "groups") -> Any:
        """Return the probability of each state of each main group's hidden variable in each row, given the whole row.

        Parameters
        ----------
        X : data frame, array, sparse matrix, Table, or name of a file
        of : {"groups", "hidden"}
            The hidden variables of the main groups, or all of them.

        Returns
        -------
        data frame or array
            One column per state, in the form of X, with names such as ``N1, N2 +3 = low``.
        """
        table = self._encoded(X)
        scales = Scorer.of_model(self.model_, of).scales
        posteriors = list(self.model_.posteriors(table).values())
        first = self.tree_.n_observed
        parts = [np.empty((table.n_rows, 0)), *(posteriors[scale.hidden - first] for scale in scales)]
        names = [f"{scale.name} = {state}" for scale in scales for state in scale.state_names]
        return self._like(X, names, np.concatenate(parts, axis=1))

    def reliability(self, X: Any, sample_weight: Any = None) -> Any:
        """Return how reliable the score of each group is on some rows, with Cronbach's alpha beside it.

        The reliability is right as far as the model is, and counts what only some columns of a group share. Cronbach's
        alpha needs no model and counts what all of them share, so it is usually smaller. See
        :func:`latree.interpret.reliability`. ``summary_["reliability"]`` has the figures for the rows of the fit. If
        these had weights, pass them as ``sample_weight``, as in :meth:`fit`.

        Returns
        -------
        data frame
            One row per group: ``group``, ``columns`` (their number), ``reliability`` and ``alpha``; NaN where a figure
            is not defined.
        """
        table = self._encoded(X, sample_weight)
        _warn(few_rows(table.n_rows))
        found = reliability(self.model_, table)
        numbers = {
            "columns": np.array([one.n_columns for one in found], dtype=np.int64),
            "reliability": np.array([one.reliability for one in found], dtype=np.float64),
            "alpha": np.array([one.alpha for one in found], dtype=np.float64),
        }
        return make_frame({"group": [one.name for one in found]} | numbers, backend_of(X))

    def sample(self, n_samples: int = 1) -> Any:
        """Draw rows from the model, in the form of the data it was fitted to; ``random_state`` is the seed.

        A column that was cut into bins gets the median of the bin.
        """
        check_is_fitted(self)
        return self._as_fitted(self.model_.sample(n_samples, self.random_state).decode())

    def query(
        self, variables: str | Sequence[str], given: Mapping[str, Any] | None = None, X: Any = None
    ) -> dict[Any, float]:
        """Return the exact distribution of one or several variables, given the values of others.

        ``query("N1", given={"A1": 2, "E3": 5})`` returns a dict from each value of N1 to its probability. Hidden
        variables take part by their names, too, and ``given`` has their states by number or by name, such as
        ``{"N": "high"}``: see :meth:`latree.LatentTreeModel.query` and :func:`latree.interpret.state_names`.

        The answer is that of the tree. If the rows of the fit show clearly more dependence between two columns, or
        dependence of the other sign, there is a :class:`latree.FitWarning`, and ``dependence`` of the answer has the
        figures. With rows ``X``, the answer is compared with these.
        """
        check_is_fitted(self)
        rows = None if X is None else self._encoded(X)
        found = self.model_._answer(variables, with_state_numbers(self.model_, given or {}), rows)
        if found.warning:
            warnings.warn(found.warning, FitWarning, stacklevel=2)
        return found

    def joint(self, variables: Sequence[int | str]) -> FloatArray:
        """Return the exact joint distribution of some variables by name, as an array with one axis per variable."""
        check_is_fitted(self)
        return self.model_.joint(variables)

    def loadings(self, of: Of = "hidden") -> Any:
        """Return the loading of every column on every hidden variable, as a frame like the data.

        With ``of="groups"`` only on the hidden variables of the main groups. See :func:`latree.interpret.loadings`.
        """
        check_is_fitted(self)
        return loadings(self.model_, of, self._backend)

    def profiles(self, hidden: str | Sequence[str] | None = None) -> Any:
        """Return the distribution and the mean of each column in each state of its hidden variable, as a frame.

        With names of hidden variables: of all columns in their states. See :func:`latree.interpret.profiles`.
        """
        check_is_fitted(self)
        return profiles(self.model_, hidden, self._backend)

    def impute(self, X: Any, how: How = "mode", *, draws: int | None = None, random_state: RandomState = None) -> Any:
        """Fill every missing cell given the present cells of its row; other cells do not change.

        Parameters
        ----------
        X : data frame, array, sparse matrix, Table, or name of a file
        how : {"mode", "median", "mean", "draw"}
            The most probable value; the median, for columns with an order; the expected value, for numbers; or a draw
            from the model. See :meth:`latree.LatentTreeModel.impute`.
        draws : int, optional
            For multiple imputation, with ``how="draw"``: the number of tables to draw, which are returned as a list.
        random_state : int, Generator or None
            The seed of ``draw``; by default the ``random_state`` of the estimator.

        Returns
        -------
        data frame, array, sparse matrix or Table
            In the form of X; for a file, a Table (with ``mean``, a data frame). A column with bins gets the median of
            the bin, or with ``mean`` the expected median.
        """
        table, X = self._encoded(X), self._validated(X, reset=False)
        model, seed = self.model_, self.random_state if random_state is None else random_state
        return impute_like(model.network, model.columns, X, table, how, draws, seed, self._names_in)

    def impute_proba(self, X: Any) -> Any:
        """Return the probability of every value of each column that has missing cells, as a frame like the data.

        Columns have names like ``A1=2``. Where a cell is present, its value has probability 1.
        """
        columns = cell_probabilities(self.model_.network, self.model_.columns, self._encoded(X))
        return make_frame(columns, backend_of(X) or self._backend)

    def plot(
        self,
        path: str | Path | None = None,
        *,
        layout: Layout = "radial",
        labels: Mapping[str, str] | None = None,
        hidden: bool = False,
    ) -> Picture:
        """Draw the fitted tree; see :func:`latree.plot`."""
        check_is_fitted(self)
        return plot(self.model_, path, layout=layout, labels=labels, hidden=hidden)

    def report(
        self,
        path: str | Path,
        X: Any = None,
        *,
        sample_weight: Any = None,
        test: Any = None,
        labels: Mapping[str, str] | str | Path | None = None,
        rows: int = 5,
        overwrite: bool = True,
    ) -> None:
        """Write a report of the model: one HTML file that opens offline.

        Parameters
        ----------
        path : str or Path
            The file to write.
        X : data frame, array or Table, optional
            The rows that the model was fitted to. Without them the report does not have the columns' distributions
            in the data.
        sample_weight : array of float, or str, optional
            The weights of these rows, as in :meth:`fit`; by default the column of the fit, if X has it.
        test : data frame, array or Table, optional
            Other rows to score.
        labels : mapping of str to str, or name of a file, optional
            From names of columns to labels, for colours; by default those of the estimator.
        rows : int
            How many unusual rows of X to show, and how many others in words.
        overwrite : bool
            Whether a file that exists is replaced, as with `--force` on the command line; if not, it is an error.
        """
        from latree.report import report_html, write_report

        check_is_fitted(self)
        if not overwrite:
            refuse_existing(Path(path))
        if sample_weight is None and self.model_.record is not None:
            sample_weight = self._column_in(X, self.model_.record.weights)
        table = None if X is None else self._encoded(X, sample_weight, self._column_in(X, self.identifier))
        others = None if test is None else self._encoded(test)
        shown = self.labels if labels is None else labels
        if shown is not None:
            shown = as_labels(shown, self.tree_.names)
        page = report_html(self.model_, table, test=others, labels=shown, rows=rows)
        write_report(Path(path), page)

    def export(self, path: str | Path, *, hidden: bool = False) -> None:
        """Write the model for another program, by the ending of the path; see :func:`latree.export.export_model`.

        Functions such as :func:`latree.export.to_networkx` return ``model_`` as a text or an object of that program.
        """
        check_is_fitted(self)
        export_model(self.model_, path, hidden=hidden)

    @property
    def _repr_html_(self) -> Any:
        shown = super()._repr_html_  # there is none if scikit-learn is told to display text
        return self._fitted_html if hasattr(self, "model_") else shown

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        bundle: dict[str, str] = super()._repr_mimebundle_(**kwargs)
        if "text/html" in bundle and hasattr(self, "model_"):
            bundle["text/html"] = self._fitted_html()
        return bundle

    def _fitted_html(self) -> str:
        """Return what was found and the tree, for a notebook."""
        from latree.report.notebook import notebook_html

        labels = None if self.labels is None else as_labels(self.labels, self.tree_.names)
        return f"<div>{notebook_html(self.model_, labels)}<div><code>{escape(repr(self))}</code></div></div>"

    def _output_is_set(self) -> bool:
        """Return whether scikit-learn was told what :meth:`transform` returns, for this estimator or for all."""
        config = getattr(self, "_sklearn_output_config", {}).get("transform", get_config()["transform_output"])
        return bool(config != "default")

    def _row_scores(self, X: Any, of: Of) -> RowScores:
        table = self._encoded(X)
        return row_scores(self.model_, table, of)


def _warn(texts: Iterable[str]) -> None:
    """Warn the user who called :meth:`LatentTree.fit`."""
    for text in texts:
        warnings.warn(text, FitWarning, stacklevel=3)
