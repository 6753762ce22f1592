"""The scikit-learn estimator."""

import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields, replace
from html import escape
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from sklearn import get_config
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

from latree._util.arrays import FloatArray, RandomState, backend_of, frame_like, make_frame
from latree._util.files import refuse_existing
from latree._util.progress import progress_bars, stage
from latree.errors import FitWarning, InputError
from latree.export.write import export_model
from latree.facts.citation import Form, cite
from latree.facts.differ import RowComparison, compared_rows, comparison_of
from latree.facts.found import facts_of, summary_of
from latree.facts.items import item_columns, item_facts
from latree.facts.short import ShortFormFound, short_facts, short_form_of
from latree.facts.topics import N_DOCUMENTS, N_WORDS, topic_columns, topic_facts
from latree.figure.draw import Layout, plot
from latree.figure.picture import Picture
from latree.interpret.asking import Question, next_question
from latree.interpret.columns import loadings, profiles
from latree.interpret.compare import opposite_groups
from latree.interpret.groups import group_labels, with_n_groups
from latree.interpret.order import flip
from latree.interpret.reliability import few_rows, reliability
from latree.interpret.scores import Of, Scorer, ScoreScale, row_scores, with_scale, with_state_numbers
from latree.interpret.topics import find_topics, topics_in_rows
from latree.learn import learn_model, trees_of_groups
from latree.learners.methods import find_method
from latree.model import Group, LatentTreeModel
from latree.model.explain import one_row
from latree.model.impute import How, impute_like
from latree.model.query import Answer, as_given
from latree.model.record import Origin
from latree.settings import Goal, Representatives, Resolve, Settings
from latree.table import Table, as_table
from latree.table.checking import check_learnable
from latree.table.columns import Unseen
from latree.table.findings import sentences
from latree.table.frames import check_frame_names
from latree.table.labels import as_labels
from latree.table.opening import is_annotated, is_elsewhere, is_frame, names_of, open_source
from latree.table.people import clusters_of, divide_rows
from latree.table.reading import Reading, as_reading
from latree.table.sparse import is_sparse
from latree.table.storage import common_type, typed_frame
from latree.tree import Tree


class LatentTree(TransformerMixin, BaseEstimator):  # type: ignore[misc]
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
    resolve : {"tested", "all"}
        For ``auto``: which edges between hidden variables are kept. ``"tested"``: those that the rows show and that
        come again in parts of the rows, so that the tree may be non-binary or a forest. ``"all"``: the fully resolved
        binary tree, as in the paper.
    n_states : int, optional
        Number of states of every hidden variable; by default it is found. ``spectral`` needs it.
    representatives : {"nearest", "random"}
        For ``tensor``: which leaf of a branch represents it in a quartet test.
    reading : Reading or dict, optional
        How columns are chosen and cells are read: ``{"bins": 4, "drop": ["day"], "missing_also": [-99]}``. See
        :class:`latree.Reading` for all options.
    unseen : {"warn", "error", "missing"}
        What to do with a category of new data that the fitted data did not have, as a fold of a cross-validation may
        have one: it counts as missing, with a warning or without, or is an error. With the first two, a number that
        they did not have gets the state of the nearest number that they had.
    smoothing : float, optional
        Pseudo-rows added to every cell of every probability table. By default 0.1 to explain, and chosen on held-out
        rows to predict.
    n_resamples : int
        For ``auto``: in how many random halves of the rows everything is learned again. The support of an edge, and
        the stability of a group and of its columns, say how much of it is found there. More of them make both more
        exact and take longer; 0 for neither.
    bootstrap : int
        Number of bootstrap replicates of the rows for the support of the edges of any method; 0 for none.
    max_iter : int
        Most iterations of EM.
    tol : float
        EM stops when an iteration gains less than this, in nats per cell.
    labels : mapping of str to str, or name of a file, optional
        Your own label of each column, by the name of the column. A group is named by a label if most of its columns
        have the label, and most columns with the label are in the group.
        A file is read as by ``latree fit --labels``: a CSV file with a header and these two columns.
    key : mapping of str to str, or name of a file, optional
        The group of each column, by the name of the column, if you have groups in mind: the model has these groups and
        no others, and ``summary_["key"]`` says how well they fit. A file is read as that of ``labels``. For ``auto``.
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
        The groups of columns: main groups first, then groups of groups, then parts of groups.
    labels_ : array of int
        One label per column of the data, as in scikit-learn's ``FeatureAgglomeration``, and not per row: the number of
        the main group of the column, ``groups_[labels_[j]]``; -1 for a column that is in no group, also if it says
        nothing and was left out. For rows, see :meth:`predict`.
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
        reading: Reading | Mapping[str, Any] | None = None,
        unseen: Unseen = "warn",
        smoothing: float | None = None,
        n_resamples: int = Settings.n_resamples,
        bootstrap: int = 0,
        max_iter: int = Settings.max_iter,
        tol: float = Settings.tol,
        labels: Mapping[str, str] | str | Path | None = None,
        key: Mapping[str, str] | str | Path | None = None,
        random_state: RandomState = None,
        verbose: int = 0,
    ) -> None:
        self.method = method
        self.goal = goal
        self.resolve = resolve
        self.n_states = n_states
        self.representatives = representatives
        self.reading = reading
        self.unseen = unseen
        self.smoothing = smoothing
        self.n_resamples = n_resamples
        self.bootstrap = bootstrap
        self.max_iter = max_iter
        self.tol = tol
        self.labels = labels
        self.key = key
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
            A weight for each row, or the name of the column that holds it. ``weights_are`` of ``reading`` says what it
            means: by default, a row of weight 2 counts as two rows.
        """
        asked = {field.name: getattr(self, field.name) for field in fields(Settings)}
        settings = Settings(**asked | {"key": None if self.key is None else ()})
        reading = as_reading(self.reading)
        self._weights = sample_weight if isinstance(sample_weight, str) else None
        X = self._validated(X, reset=True)
        with progress_bars(bool(self.verbose), at_once=True):
            with stage("Reading the table"):
                table = as_table(X, reading, weights=sample_weight)
            self._library = backend_of(X) or ("numpy" if isinstance(X, np.ndarray) or is_sparse(X) else None)
            if self._library is None and not is_annotated(X):
                self.n_features_in_, self.feature_names_in_ = table.n_columns, np.array(table.names, dtype=object)
            by_name = self._library is None
            self._names_in = list(self.feature_names_in_) if by_name else names_of(self._features(X, reset=True))
            check_learnable(table, most_states=find_method(settings.method).most_states)
            labels = None if self.labels is None else as_labels(self.labels, table.names)
            if self.key is not None:
                settings = replace(settings, key=tuple(as_labels(self.key, table.names, "key").items()))
            odd = sentences(table.oddities)
            if reading.weights_are is not None and table.weights_are is None:
                _warn([f"weights_are={reading.weights_are!r}, but there is no sample_weight: rows count as one."])
            _warn(sentences(one for one in table.oddities if one.kind != "file"))  # before the work starts
            origin = Origin(
                weights=self._weights,
                reading=replace(reading, format=None),  # which is of one file
                columns=tuple(self._names_in),
                library=self._library,
                unseen=self.unseen,
                labels=tuple((labels or {}).items()),
            )
            learned = learn_model(table, settings, origin, labels=labels)
        _warn(warning for warning in learned.warnings if warning not in odd)
        self.model_, self.summary_ = learned.model, learned.summary
        return self

    @property
    def tree_(self) -> Tree:
        """The tree of the fitted model."""
        return self.model_.tree

    @property
    def groups_(self) -> list[Group]:
        """The groups of columns."""
        return list(self.model_.groups)

    def groups(self, n: int) -> list[Group]:
        """Return the columns in another number of groups, from the hierarchy of the fitted model.

        The main groups in ``groups_`` are the ones that latree would choose. Each number of groups is made of the one
        before by dividing one group, so that these are nested. ``summary_["levels"]`` says how well each number of
        groups comes again in other rows.

        Parameters
        ----------
        n : int
            The number of groups, from 1, or the number of parts of a forest, to the most that the tree allows.

        Examples
        --------
        >>> import latree
        >>> tree = latree.Tree.from_newick("((a,b,c,d),(e,f,g,h));")
        >>> rows = latree.random_model(tree, n_states=2, start="identity", random_state=0).sample(2000, random_state=0)
        >>> model = latree.LatentTree(random_state=0).fit(rows)
        >>> [[len(group.columns) for group in model.groups(n)] for n in (1, 2)]
        [[8], [4, 4]]
        """
        check_is_fitted(self)
        return [group for group in with_n_groups(self.model_, n).groups if group.level == "main"]

    @property
    def labels_(self) -> NDArray[np.int64]:
        """The number of the main group of each column."""
        return group_labels(self.groups_, self._names_in)

    @property
    def n_iter_(self) -> int:
        """The iterations of EM."""
        return int(self.summary_["iterations"])

    def save(self, path: str | Path) -> None:
        """Write the fitted estimator to a JSON file, which :meth:`load` reads.

        The file is a ``model.json``: all commands, such as ``latree transform``, take it, too. It has no rows of the
        data. A seed that is not a number is not kept.
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
        reading = record.reading.arguments() if record.reading else {}
        reading |= {"weights_are": "survey"} if record.weights_are == "survey" else {}
        kept |= {"reading": reading or None, "unseen": record.unseen, "labels": dict(record.labels) or None}
        kept |= {"key": None if record.settings.key is None else dict(record.settings.key)}
        loaded = cls(**kept)
        loaded._weights, loaded._library = record.weights, record.library
        loaded._names_in = list(record.columns or model.tree.names)
        loaded.n_features_in_ = len(loaded._names_in)
        if record.library != "numpy":
            loaded.feature_names_in_ = np.array(loaded._names_in, dtype=object)
        loaded.model_ = model
        try:
            loaded.summary_ = summary_of(model)
            loaded.labels_  # noqa: B018  # raises if the groups are not those of the columns
        except InputError as error:
            raise InputError(f"{path}: {error}") from None
        return loaded

    def rename(self, names: Mapping[str, str]) -> "LatentTree":
        """Rename hidden variables and groups, and return the estimator; see :meth:`latree.LatentTreeModel.rename`."""
        check_is_fitted(self)
        return self._changed(self.model_.rename(names))

    def flip(self, *names: str, like: "LatentTree | LatentTreeModel | None" = None) -> "LatentTree":
        """Let scores of groups or hidden variables count in the other direction, and return the estimator.

        The lowest state becomes the highest one, and loadings change their signs. The rows' probabilities stay.

        Parameters
        ----------
        *names : str
            Groups or hidden variables.
        like : LatentTree or LatentTreeModel, optional
            Another model of the same questionnaire, such as that of the last sample: all groups that count in the
            opposite direction of its groups are flipped, too.

        Examples
        --------
        >>> import latree
        >>> from latree.datasets import make_questionnaire
        >>> answers = make_questionnaire(600, random_state=0)
        >>> model = latree.LatentTree(random_state=0, n_resamples=0).fit(answers.data)
        >>> before = model.transform(answers.data)["worry"]
        >>> bool((model.flip("worry").transform(answers.data)["worry"] + before).round(6).eq(1).all())
        True
        """
        check_is_fitted(self)
        known = list(names)
        if like is not None:
            known += opposite_groups(flip(self.model_, names), like.model_ if isinstance(like, LatentTree) else like)
        return self._changed(flip(self.model_, known))

    def _changed(self, model: LatentTreeModel) -> "LatentTree":
        """Take another reading of the same fit."""
        self.model_ = model
        self.summary_ = self.summary_ | summary_of(model)
        return self

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
        first = self.tree_.n_observed
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
        _warn(few_rows(table.n_rows))
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

    def query(self, variables: str | Sequence[str], given: Mapping[str, Any] | None = None, X: Any = None) -> Answer:
        """Return the exact distribution of one or several variables, given the values of others.

        ``query("N1", given={"A1": 2, "E3": 5})`` returns a dict from each value of N1 to its probability. Hidden
        variables take part by their names, too, and ``given`` has their states by number or by name, such as
        ``{"N": "high"}``: see :meth:`latree.LatentTreeModel.query`. With rows ``X``, the answer is compared with these.
        """
        check_is_fitted(self)
        rows = None if X is None else self._encoded(X)
        found = self.model_._answer(variables, with_state_numbers(self.model_, as_given(given)), rows)
        _warn([found.warning] if found.warning else [])
        return found

    def next_question(
        self,
        answers: Mapping[str, Any] | None = None,
        *,
        groups: Sequence[str] | None = None,
        columns: Sequence[str] | None = None,
        reliability: float | None = None,
    ) -> Question | None:
        """Return the question to ask a person next, given the answers so far.

        It is the column whose answer is expected to lower the variance of the scores most, summed over the groups.
        Scores are those of :meth:`transform`. ``latree ask`` writes a page that asks in this way.

        Parameters
        ----------
        answers : mapping of str to value, optional
            From names of columns to values of the data; in a column with bins a number means its bin. None means that
            the question was skipped: it is not asked again.
        groups : sequence of str, optional
            The groups whose scores matter; by default all.
        columns : sequence of str, optional
            The columns that may be asked; by default all.
        reliability : float, optional
            Ask no more about a group whose score has this reliability: the share of the score's variance that the
            answers explain, such as 0.8. By default, ask as long as an answer says something.

        Returns
        -------
        Question or None
            A named tuple: the ``column``, the ``group`` whose score it is about, the standard ``error`` of this score
            now, and the ``expected_error`` after the answer. None if there is nothing more to ask.

        Examples
        --------
        >>> import latree
        >>> tree = latree.Tree.from_newick("((a,b,c,d),(e,f,g,h));")
        >>> rows = latree.random_model(tree, n_states=2, start="identity", random_state=0).sample(2000, random_state=0)
        >>> model = latree.LatentTree(random_state=0).fit(rows)
        >>> first = model.next_question()
        >>> second = model.next_question({first.column: 1})
        >>> first.column, second.column, second.expected_error < second.error
        ('e', 'a', True)
        """
        check_is_fitted(self)
        return next_question(self.model_, answers, groups=groups, columns=columns, reliability=reliability)

    def short_form(
        self,
        X: Any,
        n_items: int | None = None,
        *,
        keep: Sequence[str] = (),
        drop: Sequence[str] = (),
        groups: Sequence[str] | None = None,
        sample_weight: Any = None,
    ) -> ShortFormFound:
        """Return the columns of a shorter questionnaire that keep the scores of all groups best.

        Columns are chosen one after the other, with exchanges, such that the scores of :meth:`transform` from them have
        the highest mean correlation with those from all columns. What forms of all lengths keep is measured on rows
        that had no part in choosing them: probabilities are estimated and columns are chosen again without each third
        of the rows.

        Parameters
        ----------
        X : data frame, array, or name of a file
            Rows with the columns of the model, such as those of the fit; of more than 5000, a random sample is used.
        n_items : int, optional
            The number of columns. By default the smallest one with which every score shares 90 % of its variance with
            the score from all columns.
        keep, drop : sequence of str
            Columns that must be in the form, and columns that must not. With ``keep`` alone, a form of your own is
            judged.
        groups : sequence of str, optional
            The groups whose scores matter; by default all.
        sample_weight : array of float, or str, optional
            The weights of the rows, as in :meth:`fit`.

        Returns
        -------
        ShortFormFound
            ``columns`` is a list of names; ``groups`` and ``curve`` are data frames with what this form, and forms of
            every length, keep of each score; ``facts`` is everything as plain data; ``print`` shows it. In the frames
            ``correlation`` is that of the short score with the full score of the same answers, ``apart`` is what to
            expect if both were answered separately, ``sqrt(reliability of one * reliability of the other)``.

        References
        ----------
        P. Levy: *The correction for spurious correlation in the evaluation of short-form tests*, 1967. G. T. Smith,
        D. M. McCarthy and K. G. Anderson: *On the sins of short-form development*, 2000.

        Examples
        --------
        >>> import latree
        >>> from latree.datasets import make_questionnaire
        >>> answers = make_questionnaire(600, random_state=0)
        >>> model = latree.LatentTree(random_state=0, n_resamples=0).fit(answers.data)
        >>> short = model.short_form(answers.data, n_items=8, drop=["worry_1"])
        >>> len(short.columns), bool((short.groups["correlation"] > 0.8).all())
        (8, True)
        """
        table = self._encoded(X, sample_weight)
        facts = short_facts(self.model_, table, n_items, keep=keep, drop=drop, groups=groups)
        return short_form_of(facts, self._backend if backend_of(X) is None else backend_of(X))

    def items(self, X: Any, sample_weight: Any = None) -> Any:
        """Return what each column adds to the score of its group, with a verdict, as a frame.

        Parameters
        ----------
        X : data frame, array, or name of a file
            Rows with the columns of the model, such as those of the fit; of more than 5000, a random sample is used.
        sample_weight : array of float, or str, optional
            The weights of the rows, as in :meth:`fit`.

        Returns
        -------
        data frame
            One row per column, group by group, with the columns

            - ``column``, ``group``, ``description``, and ``verdict`` with the reason ``because``: "belongs to ..." if
              it is more often found in another group, or fits another one of a ``key`` better; "says little" if
              ``item_rest`` is below 0.3 or more than 80 % answer alike; "redundant with ..." if another column with a
              stronger loading says the same; "reverse" if it falls when its group rises; "keep".
            - ``loading`` on the hidden variable of the group, and ``direction``, -1 if it falls when the group rises.
            - ``item_rest``: its correlation with the sum of the other columns of the group, reversed ones turned round.
            - ``alpha_without``, ``reliability_without``: Cronbach's alpha of the other columns, and the reliability of
              the score from them; :meth:`reliability` has those of all columns.
            - ``redundant_with``, ``residual``: see :func:`latree.redundant_columns`.
            - ``stability``, ``elsewhere``, ``elsewhere_share``: how often it is in this group in parts of the rows, and
              in which other one it is most often.
            - ``missing``, ``floor``, ``ceiling``: the share of missing cells, and those of answers at the lowest and at
              the highest value.

        Examples
        --------
        >>> import latree
        >>> from latree.datasets import make_questionnaire
        >>> answers = make_questionnaire(600, random_state=0)
        >>> model = latree.LatentTree(random_state=0, n_resamples=0).fit(answers.data)
        >>> model.items(answers.data)[["column", "group", "item_rest", "verdict"]].round(2).head(3)
            column  group  item_rest verdict
        0  worry_1  worry       0.70    keep
        1  worry_2  worry       0.67    keep
        2  worry_3  worry       0.65    keep
        """
        facts = item_facts(self.model_, self._encoded(X, sample_weight))
        return make_frame(item_columns(facts), self._backend if backend_of(X) is None else backend_of(X))

    def loadings(self, of: Of = "hidden") -> Any:
        """Return the loading of every column on every hidden variable, as a frame like the data.

        A loading is a correlation: how strongly a column depends on the hidden variable, and in which direction. With
        ``of="groups"`` only those of the main groups.
        """
        check_is_fitted(self)
        return loadings(self.model_, of, self._backend)

    def profiles(self, hidden: str | Sequence[str] | None = None) -> Any:
        """Return the distribution and the mean of each column in each state of its hidden variable, as a frame.

        With names of hidden variables: of all columns in their states.
        """
        check_is_fitted(self)
        return profiles(self.model_, hidden, self._backend)

    def compare_rows(
        self,
        X: Any,
        by: Any,
        *,
        cuts: Sequence[float] | None = None,
        parts: int | None = None,
        cluster: Any = None,
        sample_weight: Any = None,
        trees: int = 0,
    ) -> RowComparison:
        """Return how groups of people differ: where they stand, and which columns work differently in them.

        Differences of standing are those of the latent variable, in standard deviations within groups. They are not
        pulled towards 0 by unreliable scores. A column works differently if people with the same standing answer
        differently, depending on their group (differential item functioning). Tests are at the 5 % level
        for all columns together. Columns that work differently do not count for the differences of standing. Columns
        without an order and numbers with bins are left out.

        Parameters
        ----------
        X : data frame, array, or name of a file
            Rows with the columns of the model, such as those of the fit.
        by : str, or sequence with one value per row
            The column of X that tells the groups, which may also be a column of the model; or the groups themselves. A
            group needs at least 50 rows. The first group is the one that others are compared with.
        cuts : sequence of float, optional
            Numbers to cut ``by`` at: ``[30, 50]`` makes three age groups.
        parts : int, optional
            In how many groups of about equally many rows ``by`` is cut; 3 if it has more than 10 different numbers.
        cluster : str, or sequence with one value per row, optional
            What tells rows of the same person, school and so on, which are not independent. For waves of the same
            people, ``by`` is the wave and ``cluster`` the person.
        sample_weight : array of float, or str, optional
            The weights of the rows, as in :meth:`fit`.
        trees : int
            If not 0, a tree is learned in each group, and in this number of random divisions of the same rows, to see
            whether the trees of the groups differ by more than chance. 19 are enough for the 5 % level.

        Returns
        -------
        RowComparison
            ``means`` and ``items`` are data frames, ``facts`` is everything as plain data; ``print`` shows it.

        Examples
        --------
        >>> import latree
        >>> from latree.datasets import make_questionnaire
        >>> answers = make_questionnaire(600, random_state=0)
        >>> model = latree.LatentTree(random_state=0, n_resamples=0).fit(answers.data)
        >>> found = model.compare_rows(answers.data, by=["first", "second"] * 300)
        >>> bool(found.means["differs"].any()), bool(found.items["differs"].any())
        (False, False)
        """
        check_is_fitted(self)
        table = self._encoded(self._without(X, [by, cluster]), sample_weight)
        divided = divide_rows(X, by, cuts=cuts, parts=parts, missing=as_reading(self.reading).marks)
        clusters = None if cluster is None else clusters_of(X, cluster)
        facts, rows, groups = compared_rows(self.model_, table, divided, clusters)
        if trees:
            settings = Settings(**{field.name: getattr(self, field.name) for field in fields(Settings)})
            facts["trees"] = trees_of_groups(rows, groups, settings, trees, leave_out=[divided.column])
        return comparison_of(facts, self._backend if backend_of(X) is None else backend_of(X))

    def topics(
        self,
        X: Any = None,
        *,
        n_words: int = N_WORDS,
        n_documents: int = N_DOCUMENTS,
        sample_weight: Any = None,
    ) -> Any:
        """Return the topics of documents, as a frame: rows of the data are documents, and columns are words.

        A topic is a state, or several, of a group's hidden variable in which words of the group are more probable than
        elsewhere. A group that is divided further is a topic above its parts; a document has it if it has any of them.
        Words that say little about a topic are not listed, and words that depend on no other one are in none.

        Parameters
        ----------
        X : data frame, array, sparse matrix, Table, or name of a file, optional
            Documents, for the share of each topic in them and for typical ones.
        n_words : int
            The most words of a topic.
        n_documents : int
            The most typical documents of a topic.
        sample_weight : array of float, or str, optional
            The weights of the documents, as in :meth:`fit`.

        Returns
        -------
        data frame
            One row per topic, each after the topic that it is a part of, large ones first, with the columns

            - ``id``: its column in :meth:`topic_scores`.
            - ``topic``: a name, made of its first words; or that of its group, if you gave it one by :meth:`rename`.
            - ``level``, ``parent``: 1 for topics that are part of no other one, 2 for their parts, and so on; and the
              name of the topic that it is a part of, or an empty text.
            - ``group``: the group of columns that its words are in.
            - ``hidden``, ``states``: the hidden variable that has the topic as some of its states, and these; empty
              texts for a topic above others.
            - ``share``: the share of documents that have the topic, under the model.
            - ``words``: those that say the most about the topic come first.
            - ``share_in_data``, with X: the mean probability of the topic in these documents.
            - ``documents``, with X: those that have the topic, and whose words are the most similar to its words; by
              the column of identifiers or by their numbers from 1, each with the words of the topic that it has.

        Examples
        --------
        >>> import latree
        >>> from latree.datasets import load_python_manual
        >>> words = load_python_manual().data[["key", "dictionary", "mapping", "pattern", "match", "subject"]]
        >>> model = latree.LatentTree(random_state=0, n_resamples=0).fit(words.sample(frac=1, random_state=0))
        >>> model.topics().round(1)[["topic", "share", "words"]]
                     topic  share                     words
        0  key, dictionary    0.1  key, dictionary, mapping
        1   pattern, match    0.1   pattern, match, subject
        """
        check_is_fitted(self)
        for name, number in (("n_words", n_words), ("n_documents", n_documents)):
            if type(number) is not int or number < 0:
                raise InputError(f"{name} must be a whole number of at least 0, not {number!r:.60}")
        table = None
        if X is not None:
            table = self._encoded(X, sample_weight, self._column_in(X, as_reading(self.reading).identifier))
        facts = topic_facts(self.model_, table, n_words, n_documents)
        return make_frame(topic_columns(facts, table is not None), self._backend)

    def topic_scores(self, X: Any) -> csr_array:
        """Return the probability of each topic in each document, as a sparse matrix.

        Only cells are stored where the topic is more probable than in a document of which nothing is known, that is,
        than the ``share`` of the topic in :meth:`topics`. The topics are in the same order as there. ``X`` is as in
        :meth:`transform`.
        """
        table = self._encoded(X)
        return topics_in_rows(self.model_, find_topics(self.model_), table).scores

    def explain_row(self, row: Any) -> Any:
        """Return how unusual each cell of a row is, given the other cells of the row, and what was to be expected.

        ``explain_row(df.iloc[7])`` takes a row as a series, a mapping, a sequence, or a frame or an array of one row,
        and returns a frame with the most unusual cells first; see :meth:`latree.LatentTreeModel.explain_row`.
        """
        check_is_fitted(self)
        X = one_row(row)
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
            model.network, model.columns, X, table, how, draws, return_interval, random_state, self._names_in
        )

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
        from latree.report.render import report_html, write_report

        check_is_fitted(self)
        if not overwrite:
            refuse_existing(Path(path))
        if sample_weight is None and self.model_.record is not None:
            sample_weight = self._column_in(X, self.model_.record.weights)
        identifier = self._column_in(X, as_reading(self.reading).identifier)
        table = None if X is None else self._encoded(X, sample_weight, identifier)
        others = None if test is None else self._encoded(test)
        shown = self.labels if labels is None else labels
        if shown is not None:
            shown = as_labels(shown, self.tree_.names)
        page = report_html(self.model_, table, test=others, labels=shown, rows=rows)
        write_report(Path(path), page)

    def cite(self, format: Form = "text") -> str:
        """Return a paragraph for a paper: what was done, with settings, versions, numbers and references.

        Parameters
        ----------
        format : {"text", "markdown", "bibtex"}
            A paragraph with its references, as plain text or Markdown; or the entries of the references for BibTeX.
        """
        check_is_fitted(self)
        return cite(facts_of(self.model_), format)

    def export(self, to: str | Path, *, hidden: bool = False) -> str:
        """Write the model for another program, by the ending of the path; see :func:`latree.export_model`."""
        check_is_fitted(self)
        return export_model(self.model_, to, hidden=hidden)

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

    def _validated(self, X: Any, reset: bool) -> Any:
        """Check the data as scikit-learn does; frames keep their columns' types."""
        if isinstance(X, Table) or is_elsewhere(X):
            return X
        if is_annotated(X):
            if reset:
                self.feature_names_in_ = np.array(list(map(str, X.var_names)), dtype=object)
                self.n_features_in_ = len(self.feature_names_in_)
            return X
        if nw.dependencies.is_polars_lazyframe(X):
            X = X.collect()
        if is_frame(X):
            check_frame_names(X)
            validate_data(self, self._features(X, reset), reset=reset, skip_check_array=True)
            return X
        if isinstance(X, np.ma.MaskedArray):
            plain = {"dtype": None, "ensure_all_finite": "allow-nan"}
            validate_data(self, np.ma.getdata(X), reset=reset, **plain)  # it would forget what is masked
            return X
        # Sparse matrices of other kinds are converted to the first, because they cannot be checked.
        how = {"accept_sparse": ["csr", "csc", "coo"], "dtype": None, "ensure_all_finite": "allow-nan"}
        if not reset and self._library is None:  # a Table has names where the array that it was made from has none
            return check_array(X, **how)
        return validate_data(self, X, reset=reset, **how)

    def _features(self, X: Any, reset: bool) -> Any:
        """Return the columns of a frame that must be the same in every call; others may be there or not."""
        if not is_frame(X):
            return X
        names = names_of(X)
        if reset or self._library is not None:
            wanted = set(as_reading(self.reading).select(names)) - {self._weights}
        else:
            wanted = set(self.feature_names_in_)
        if wanted.issuperset(names):
            return X
        frame = nw.from_native(X, eager_only=True)
        return frame.select(name for name in frame.columns if str(name) in wanted).to_native()

    @property
    def _backend(self) -> str | None:
        """The library of frames that the model was fitted to; None if it was something else."""
        return None if self._library == "numpy" else self._library

    def _like(self, X: Any, names: Sequence[str], values: NDArray[Any]) -> Any:
        """Return an array as it is, or named columns like the data, unless these are an array."""
        if not (is_frame(X) or is_elsewhere(X) or isinstance(X, Table)):
            return values
        return frame_like(X, names, values)

    def _encoded(self, X: Any, weights: Any = None, identifier: str | None = None) -> Table:
        """Return new data as a table of the model's columns."""
        check_is_fitted(self)
        X = self._validated(X, reset=False)
        is_matrix = isinstance(X, np.ndarray) or is_sparse(X)
        names = self._names_in if is_matrix and X.shape[1] == len(self._names_in) else None
        if weights is None and identifier is None:
            table = self.model_.encode(X, unseen=self.unseen, names=names)
        else:
            reading = Reading(identifier=identifier, weights_are=as_reading(self.reading).weights_are)
            how: dict[str, Any] = {"names": names, "unseen": self.unseen, "weights": weights}
            table = as_table(X, reading, columns=self.model_.columns, **how)
        if table.n_rows == 0:
            raise InputError("no rows (0 sample(s)) to work on")
        return table

    def _without(self, X: Any, names: Iterable[Any]) -> Any:
        """Return a frame without some columns, unless the estimator was fitted to them."""
        if not is_frame(X):
            return X
        extra = [name for name in names if isinstance(name, str) and name not in self._names_in]
        return nw.from_native(X).drop(extra, strict=False).to_native()

    def _column_in(self, X: Any, column: str | None) -> str | None:
        """Return the name of a column that is not learned from, if the data have it; None if not."""
        if X is None or isinstance(X, Table):
            return None
        names: Sequence[str] = open_source(X, None).names if isinstance(X, str | Path) else names_of(X)
        return column if column in names else None


def _array_of(values: list[Any]) -> NDArray[Any]:
    """Return the values of a column as an array; a missing number is NaN."""
    if any(value is None for value in values) and all(isinstance(value, int | float | None) for value in values):
        return np.array([np.nan if value is None else value for value in values])
    return np.array(values)


def _warn(texts: Iterable[str]) -> None:
    """Warn the user who called a method of :class:`LatentTree`."""
    for text in texts:
        warnings.warn(text, FitWarning, stacklevel=3)
