"""The scikit-learn estimator."""

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from html import escape
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from latree._util.arrays import RandomState, backend_of
from latree._util.files import refuse_existing
from latree._util.progress import progress_bars, stage
from latree.errors import InputError
from latree.estimator.data import warn
from latree.estimator.questions import QuestionMethods
from latree.estimator.rows import RowMethods
from latree.export.write import export_model
from latree.facts.citation import Form, cite
from latree.facts.found import facts_of, summary_of
from latree.figure.draw import Layout, plot
from latree.figure.marks import Ring
from latree.figure.picture import Picture
from latree.interpret.compare import opposite_groups
from latree.interpret.groups import group_labels, with_n_groups
from latree.interpret.order import flip
from latree.learn import learn_model
from latree.learners.methods import find_method
from latree.model import Group, LatentTreeModel
from latree.model.record import Origin
from latree.settings import Goal, Representatives, Resolve, Settings
from latree.table import as_table
from latree.table.checking import check_learnable
from latree.table.columns import Unseen
from latree.table.findings import sentences
from latree.table.labels import as_labels
from latree.table.opening import is_annotated, names_of
from latree.table.reading import Reading, as_reading
from latree.table.sparse import is_sparse
from latree.tree import Tree


class LatentTree(RowMethods, QuestionMethods):
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
        have one, or with a text among numbers: it counts as missing, with a warning or without, or is an error. With
        the first two, a number that they did not have gets the state of the nearest number that they had.
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
        The groups of columns: main groups first, then groups of groups, then parts of groups. The columns of a group
        are in the order of the tree, not of their loadings, which :meth:`loadings` has.
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
                warn([f"weights_are={reading.weights_are!r}, but there is no sample_weight: rows count as one."])
            warn(sentences(one for one in table.oddities if one.kind != "file"))  # before the work starts
            origin = Origin(
                weights=self._weights,
                reading=replace(reading, format=None),  # which is of one file
                columns=tuple(self._names_in),
                library=self._library,
                unseen=self.unseen,
                labels=tuple((labels or {}).items()),
            )
            learned = learn_model(table, settings, origin, labels=labels)
        warn(warning for warning in learned.warnings if warning not in odd)
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

    def plot(
        self,
        path: str | Path | None = None,
        *,
        layout: Layout = "horizontal",
        labels: Mapping[str, str] | None = None,
        hidden: bool = False,
        rings: Sequence[Ring] = (),
        width: float | None = None,
        font_size: float | None = None,
        scale_bar: bool = True,
    ) -> Picture:
        """Draw the fitted tree; see :func:`latree.plot`."""
        check_is_fitted(self)
        return plot(
            self.model_,
            path,
            layout=layout,
            labels=labels,
            hidden=hidden,
            rings=rings,
            width=width,
            font_size=font_size,
            scale_bar=scale_bar,
        )

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
