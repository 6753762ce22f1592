"""Questions to the estimator about columns, groups of rows and topics."""

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any

from scipy.sparse import csr_array
from sklearn.utils.validation import check_is_fitted

from latree._util.arrays import backend_of, make_frame
from latree.errors import InputError
from latree.estimator.data import DataMethods, warn
from latree.facts.differ import RowComparison, compared_rows, comparison_of
from latree.facts.items import item_columns, item_facts
from latree.facts.short import ShortFormFound, short_facts, short_form_of
from latree.facts.topics import N_DOCUMENTS, N_WORDS, topic_columns, topic_facts
from latree.interpret.asking import Question, next_question
from latree.interpret.columns import loadings, profiles
from latree.interpret.scores import (
    Of,
    with_state_numbers,
)
from latree.interpret.topics import find_topics, topics_in_rows
from latree.learn import trees_of_groups
from latree.model.query import Answer, as_given
from latree.settings import Settings
from latree.table.people import clusters_of, divide_rows
from latree.table.reading import as_reading


class QuestionMethods(DataMethods):
    """What :class:`latree.LatentTree` says of columns, groups of rows and topics."""

    def query(self, variables: str | Sequence[str], given: Mapping[str, Any] | None = None, X: Any = None) -> Answer:
        """Return the exact distribution of one or several variables, given the values of others.

        ``query("N1", given={"A1": 2, "E3": 5})`` returns a dict from each value of N1 to its probability. Hidden
        variables take part by their names, too, and ``given`` has their states by number or by name, such as
        ``{"N": "high"}``: see :meth:`latree.LatentTreeModel.query`. With rows ``X``, the answer is compared with these.
        """
        check_is_fitted(self)
        rows = None if X is None else self._encoded(X)
        found = self.model_._answer(variables, with_state_numbers(self.model_, as_given(given)), rows)
        warn([found.warning] if found.warning else [])
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
              it is more often found in another group, or fits another one of a ``key`` better; "says little" if it is
              in no group, or if ``item_rest`` is below 0.3; "redundant with ..." if another column with a stronger
              loading says the same; "reverse" if it falls when its group rises; "keep". ``remark`` says if more than
              80 % give the lowest answer, or the highest.
            - ``loading`` on the hidden variable of the group, and ``direction``, -1 if it falls when the group rises.
            - ``item_rest``: its correlation with the sum of the other columns of the group, reversed ones turned round.
            - ``alpha_without``, ``reliability_without``: Cronbach's alpha of the other columns, and the reliability of
              the score from them; :meth:`reliability` has those of all columns.
            - ``redundant_with``, ``residual``: the column that it shares most with beyond their group, if that is
              much, and their correlation beyond it.
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
        cuts: Sequence[Any] | None = None,
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
        cuts : sequence of numbers, dates or their texts, optional
            Where to cut ``by``: ``[30, 50]`` makes three age groups.
        parts : int, optional
            In how many groups of about equally many rows ``by`` is cut; 3 if it has more than 10 different numbers or
            dates.
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
