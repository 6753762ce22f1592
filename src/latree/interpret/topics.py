"""Topics: which words occur together, in which share of the documents, and in which documents.

Rows are documents, columns are words. A topic is a set of states of a hidden variable in which some words of its group
are more probable than elsewhere (Liu, Zhang & Chen 2014):

1. The smallest groups of the hierarchy are looked at: those that are not divided further. The states of the hidden
   variable in the middle of a group are steps from few of the words to many, or kinds of documents
   (:mod:`latree.interpret.view`). Of steps, the states above the average are a topic, and so are the states below it if
   some words are more probable there. Of kinds, each state is a topic. If the words of one kind are all words of
   another kind, too, and none of them is certainly rarer there, documents of the other kind have the topic as well.
2. The words of a topic are those of the group that have a positive correlation of at least 0.1 with it. Words that say
   less are not listed, and a state with fewer than two words is no topic: it is the background.
3. A group that is divided further is a topic above its parts. A document has it if it has any of these. So it has at
   least the share of each of them, and every document has a parent at least as probably as a child.

Everything is exact under the model. Given a row, the probability that a topic is absent is a sum over the states of
hidden variables in which all of its parts are absent. In the rooted tree it is computed upwards: ``r_v(x)`` is the
probability that no part at or below the node v is present, given the state x of v and the cells below v,

    ``r_v(x) = [x is a state of absence] Π_c E[r_c | v = x, cells below c]``

over the children c of v that have parts below them.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import chain, count, pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, vstack

from latree._util.arrays import CodeArray, FloatArray, IntArray
from latree._util.words import shortened
from latree.errors import InputError
from latree.inference.evidence import BoolArray
from latree.inference.messages import Upward, downward, upward
from latree.inference.network import Network
from latree.inference.patterns import plan_messages
from latree.interpret.cutting import MIN_COLUMNS
from latree.interpret.groups import known_groups
from latree.interpret.names import MAX_LENGTH, SEPARATOR, made_of_columns
from latree.interpret.view import View, trend, view_of
from latree.model import Group, LatentTreeModel
from latree.model.loading import MIN_EXPLAINED
from latree.table import Block, Column, Table
from latree.table.columns import code_type
from latree.table.table import row_weights, signed_codes

# A word with a smaller correlation says little about a topic: less than what is commonly called a small effect (Cohen).
MIN_CORRELATION = 0.1
# A name has so many words, and more if another topic has the same name.
_N_IN_NAME = 2
# The name of a topic above others has the first word of each, but of no more than so many.
_N_PARTS_IN_NAME = 3
# A topic above others has at least so many parts.
_MIN_PARTS = 2
# A document is typical of a topic only if it has the topic more probably than not.
_HALF = 0.5
# Numbers that agree in so many decimals are a tie, which is broken by names.
_DECIMALS = 9
# The single words that are looked at at a time. This limits the memory that is needed.
_WORDS_AT_ONCE = 512


class TopicWord(NamedTuple):
    """A word of a topic.

    Attributes
    ----------
    column : int
        The number of its column.
    inside, outside : float
        The shares of the documents with the topic, and of those without it, that have the word.
    correlation : float
        The correlation of the word with the topic, from -1 to 1.
    """

    column: int
    inside: float
    outside: float
    correlation: float


@dataclass(frozen=True)
class Topic:
    """A topic of documents.

    Attributes
    ----------
    name : str
        A name for people: its first words, or the name that its group was given.
    level : int
        1 for topics that are part of no other one, 2 for their parts, and so on.
    parent : int or None
        The number of the topic that it is a part of, in the list of topics.
    group : str
        The name of the group of columns that its words are in.
    share : float
        The share of documents that have the topic, under the model.
    words : tuple of TopicWord
        The words that say the most about the topic come first.
    absent : mapping
        From hidden variables, by their nodes, to which of their states mean that the topic is absent.
    """

    name: str
    level: int
    parent: int | None
    group: str
    share: float
    words: tuple[TopicWord, ...]
    absent: Mapping[int, BoolArray]


def find_topics(model: LatentTreeModel) -> tuple[Topic, ...]:
    """Return the topics of a model of documents, each after the topic that it is a part of, large ones first.

    They are found once, and kept with the model.

    Parameters
    ----------
    model : LatentTreeModel
        Its columns are words: False or 0 where a word is not in a document. Other columns belong to no topic.

    References
    ----------
    T. Liu, N. L. Zhang, P. Chen: *Hierarchical latent tree analysis for topic detection*, 2014.

    Examples
    --------
    >>> import latree
    >>> from latree.interpret.topics import find_topics
    >>> tree = latree.Tree.from_newick("((moon,orbit,nasa),(god,bible,jesus));")
    >>> model = latree.random_model(tree, n_states=2, hidden_states=2, start="identity", random_state=5)
    >>> [topic.name for topic in find_topics(model)]
    ['jesus, bible', 'orbit, moon']
    """
    kept = vars(model)
    if "_topics" not in kept:
        kept["_topics"] = _find_topics(model)
    found: tuple[Topic, ...] = kept["_topics"]
    return found


def _find_topics(model: LatentTreeModel) -> tuple[Topic, ...]:
    number = {column.name: node for node, column in enumerate(model.columns) if is_word(column)}
    if not number:
        raise InputError(
            "topics need columns that say whether a word is there: False and True, 0 and 1, or counts; for other "
            "columns, look at groups and loadings"
        )
    view, groups = view_of(model), known_groups(model)
    columns = [[number[name] for name in group.columns if name in number] for group in groups]
    # Topics of the groups' own hidden variables, then topics above others.
    drafts = [_Draft(at, columns[at], absent) for at in range(len(groups)) for absent in _states(view, groups[at])]
    by_group = _by_group(_with_words(view, drafts))
    drafts = [draft for some in by_group.values() for draft in _with_stronger_states(view, some)]
    by_group = _by_group(_with_words(view, drafts))
    parts_of: dict[int | None, list[int]] = {}
    for at, group in enumerate(groups):
        parts_of.setdefault(group.parent, []).append(at)

    def topics_of(at: int) -> list[_Draft]:
        parts = [topic for part in parts_of.get(at, []) for topic in topics_of(part)]
        if len(parts) < _MIN_PARTS:
            return by_group.get(at) or parts
        return [_Draft(at, columns[at], _all_absent(parts), parts=tuple(parts))]

    found = [topic for at in parts_of.get(None, []) for topic in topics_of(at)]
    above = [draft for draft in _every(found) if draft.parts]
    return _named(model, groups, _complete(found, iter(_with_words(view, above))))


def is_word(column: Column) -> bool:
    """Return whether a column says that a word is there: its lowest value is zero, which means that it is not."""
    return column.ordered and column.kind != "text" and column.decode(0) == 0


@dataclass(frozen=True)
class _Draft:
    """A topic without a name yet, and the topics below it."""

    group: int
    columns: list[int]  # the words of the group
    absent: Mapping[int, BoolArray]
    parts: tuple["_Draft", ...] = ()
    share: float = 0.0
    words: tuple[TopicWord, ...] = ()


def _states(view: View, group: Group) -> list[dict[int, BoolArray]]:
    """Return which states mean that a topic is absent, for each set of states that may be a topic of a group."""
    score = view.scores.get(group.centre) if group.hidden is not None else None
    if score is None:
        return []
    if score.has_steps:
        is_above = score.values > 0  # their mean is 0
        return [{group.centre: ~is_above}, {group.centre: is_above}]
    return [{group.centre: row} for row in ~np.eye(len(score.values), dtype=bool)]


def _with_stronger_states(view: View, drafts: Sequence[_Draft]) -> list[_Draft]:
    """Return the topics of a hidden variable's states, each with the states that have its words even more.

    A state that is part of another one's topic is no topic of its own.
    """
    stronger = [[other for other in drafts if _is_stronger(view, other, draft)] for draft in drafts]
    parts = [other for found in stronger for other in found]
    return [
        replace(draft, absent=_all_absent([draft, *others]))
        for draft, others in zip(drafts, stronger, strict=True)
        if not any(draft is part for part in parts)
    ]


def _is_stronger(view: View, draft: _Draft, other: _Draft) -> bool:
    """Return whether a topic has all words of another one, none of them certainly less, and more of them on the whole.

    The topics are sets of states of one hidden variable.
    """
    inside = {word.column: word.inside for word in draft.words}
    if not all(word.column in inside for word in other.words):
        return False

    order = np.array([0.0, 1.0])

    def does_not_fall(word: TopicWord) -> bool:
        there = np.array([word.inside, inside[word.column]])
        n_rows = [
            float(view.rows_in_states(node, word.column)[~absent].sum())
            for one in (other, draft)
            for node, absent in one.absent.items()
        ]
        found = trend(np.stack([1 - there, there], axis=1), order, order, np.array(n_rows))
        return found.direction >= 0

    more = sum(inside[word.column] - word.inside for word in other.words)
    return round(more, _DECIMALS) > 0 and all(map(does_not_fall, other.words))


def _by_group(drafts: Iterable[_Draft]) -> dict[int, list[_Draft]]:
    """Return the topics of each group, without those of too few words."""
    found: dict[int, list[_Draft]] = {}
    for draft in drafts:
        if len(draft.words) >= MIN_COLUMNS:
            found.setdefault(draft.group, []).append(draft)
    return found


def _all_absent(parts: Sequence[_Draft]) -> dict[int, BoolArray]:
    """Return the states in which several topics are absent."""
    found: dict[int, BoolArray] = {}
    for part in parts:
        for node, absent in part.absent.items():
            found[node] = found[node] & absent if node in found else absent
    return found


def _every(drafts: Sequence[_Draft]) -> Iterator[_Draft]:
    """Yield topics, each before its parts."""
    for draft in drafts:
        yield draft
        yield from _every(draft.parts)


def _complete(drafts: Sequence[_Draft], above: Iterator[_Draft]) -> list[_Draft]:
    """Return topics, large ones first, with the words of those above others, which come in the order of _every.

    Where a topic above others has no words, because nearly all documents have it, its parts take its place.
    """
    found: list[_Draft] = []
    for draft in drafts:
        with_words = next(above) if draft.parts else draft
        parts = _complete(draft.parts, above)
        found += [replace(with_words, parts=tuple(parts))] if len(with_words.words) >= MIN_COLUMNS else parts
    return sorted(found, key=lambda one: (-round(one.share, _DECIMALS), [word.column for word in one.words]))


def _with_words(view: View, drafts: Sequence[_Draft]) -> list[_Draft]:
    """Return topics with their shares and words, by what the model says of documents of which one word is known."""
    model = view.model
    scorer = TopicScorer.of(model.network, [draft.absent for draft in drafts])
    columns = np.array(sorted({column for draft in drafts for column in draft.columns}), dtype=np.intp)
    (absent,) = scorer.absent(_rows_without(model, np.array([-1])))  # of documents of which nothing is known
    # P(topic absent | word not there), of each word and topic.
    given = np.empty((len(columns), len(drafts)))
    for start in range(0, len(columns), _WORDS_AT_ONCE):
        some = columns[start : start + _WORDS_AT_ONCE]
        given[start : start + len(some)] = scorer.absent(_rows_without(model, some))
    place = {column: at for at, column in enumerate(columns.tolist())}
    return [
        replace(
            draft,
            share=1 - float(absent[at]),
            words=_words(
                view, draft.columns, float(absent[at]), given[[place[column] for column in draft.columns], at]
            ),
        )
        for at, draft in enumerate(drafts)
    ]


def _rows_without(model: LatentTreeModel, columns: IntArray) -> CodeArray:
    """Return the codes of one row per column, whose word is not there, while nothing is known of the other words."""
    dtype = code_type(model.columns)
    codes = np.full((len(columns), model.tree.n_observed), np.iinfo(dtype).max, dtype=dtype)
    is_column = columns >= 0
    codes[np.flatnonzero(is_column), columns[is_column]] = 0
    return codes


def _words(view: View, columns: Sequence[int], absent: float, given: FloatArray) -> tuple[TopicWord, ...]:
    """Return the words that say something about a topic, those that say the most first.

    Parameters
    ----------
    columns : sequence of int
        Words.
    absent : float
        The probability that the topic is absent.
    given : array
        The same given that a word is not there, of each word.
    """
    found: list[TopicWord] = []
    for column, probability in zip(columns, given.tolist(), strict=True):
        not_there = float(view.marginals[column][0])
        there = 1 - not_there
        # P(there, absent) = P(absent) - P(absent | not there) P(not there), and the rest of P(there) is with the topic.
        outside = min(max(absent - probability * not_there, 0.0), there, absent)
        inside = min(there - outside, 1 - absent)
        variance = absent * (1 - absent) * there * not_there
        if variance <= MIN_EXPLAINED:
            continue
        correlation = (inside - (1 - absent) * there) / float(np.sqrt(variance))
        if correlation >= MIN_CORRELATION:
            found.append(TopicWord(column, inside / (1 - absent), outside / absent, correlation))
    return tuple(sorted(found, key=lambda word: (-round(word.correlation, _DECIMALS), view.tree.names[word.column])))


def _named(model: LatentTreeModel, groups: Sequence[Group], drafts: Sequence[_Draft]) -> tuple[Topic, ...]:
    """Return topics in a list, with their names: those of single hidden variables have the first choice."""
    listed: list[tuple[_Draft, int, int | None]] = []

    def add(some: Sequence[_Draft], level: int, parent: int | None) -> None:
        for draft in some:
            listed.append((draft, level, parent))
            add(draft.parts, level + 1, len(listed) - 1)

    add(drafts, 1, None)
    n_topics = Counter(draft.group for draft, *_ in listed)
    names: dict[int, str] = {}
    for at in sorted(range(len(listed)), key=lambda at: bool(listed[at][0].parts)):
        draft = listed[at][0]
        given = _given_name(groups[draft.group])
        candidates = _names(draft, model.tree.names)
        if given is not None:
            candidates = chain(
                [given] if n_topics[draft.group] == 1 else [], (f"{given}: {name}" for name in candidates)
            )
        names[at] = next(name for name in candidates if name not in names.values())
    return tuple(
        Topic(names[at], level, parent, groups[draft.group].name, draft.share, draft.words, draft.absent)
        for at, (draft, level, parent) in enumerate(listed)
    )


def _given_name(group: Group) -> str | None:
    """Return the name of a group if somebody gave it, or if it is a label: not a list of columns."""
    (is_of_columns,) = made_of_columns([group.name], group.columns)
    return None if is_of_columns else group.name


def _names(draft: _Draft, names: Sequence[str]) -> Iterator[str]:
    """Yield names of a topic, the best first, without an end."""
    words = [shortened(names[word.column], MAX_LENGTH) for word in draft.words]
    if draft.parts:
        first = dict.fromkeys(shortened(names[part.words[0].column], MAX_LENGTH) for part in draft.parts)
        yield SEPARATOR.join(list(first)[:_N_PARTS_IN_NAME])
    for n in range(_N_IN_NAME, len(words) + 1):
        yield SEPARATOR.join(words[:n])
    yield from (f"{SEPARATOR.join(words[:_N_IN_NAME])} ({number})" for number in count(2))


class _Part(NamedTuple):
    """The part of the rooted tree that a topic is about: the nodes between its hidden variables, children first."""

    nodes: tuple[int, ...]
    absent: Mapping[int, BoolArray]


@dataclass(frozen=True)
class TopicScorer:
    """Computes how probable topics are in rows; it can be sent to other machines.

    Attributes
    ----------
    network : Network
    parts : tuple
        Of each topic, the nodes that it is about and their states.
    """

    network: Network
    parts: tuple[_Part, ...]

    @classmethod
    def of(cls, network: Network, absent: Sequence[Mapping[int, BoolArray]]) -> "TopicScorer":
        """Return the scorer of topics, by the states in which each is absent; see :class:`Topic`."""
        place = {node: at for at, node in enumerate(network.order.tolist())}
        parts = []
        for states in absent:
            # How many hidden variables of the topic are at or below a node. Its part ends at the lowest with all.
            below: Counter[int] = Counter()
            for node in states:
                while node >= 0:
                    below[node] += 1
                    node = int(network.parent[node])
            top = max((node for node in below if below[node] == len(states)), key=place.__getitem__)
            inside = [node for node in below if place[node] >= place[top]]
            parts.append(_Part(tuple(sorted(inside, key=place.__getitem__, reverse=True)), states))
        return cls(network, tuple(parts))

    def absent(self, codes: CodeArray) -> FloatArray:
        """Return the probability that each topic is absent, given each row; NaN in rows that are impossible."""
        up = upward(self.network, plan_messages(self.network, codes, repeats=False))
        at_top: dict[int, list[int]] = {}
        for number, part in enumerate(self.parts):
            at_top.setdefault(part.nodes[-1], []).append(number)
        found = np.empty((len(codes), len(self.parts)))
        for step, _, posterior in downward(up):
            for number in at_top.get(step.number, ()) if step.is_node else ():
                found[:, number] = (posterior * self._absent_below(up, self.parts[number])).sum(axis=1)
        found[np.isneginf(up.log_likelihood)] = np.nan
        return np.clip(found, 0, 1)

    def _absent_below(self, up: Upward, part: _Part) -> FloatArray:
        """Return ``r_v(x)`` of the top node of a topic's part: one row per row, one column per state."""
        waiting: dict[int, FloatArray] = {}
        for node in part.nodes:
            none = np.ones(up.likelihood[node].shape)
            if node in part.absent:
                none *= part.absent[node]
            for child in self.network.children[node]:
                if child in waiting:
                    none *= up.average(child, waiting.pop(child))
            waiting[node] = none
        return waiting[part.nodes[-1]]


class TypicalDocument(NamedTuple):
    """A document that has a topic, and little else.

    Attributes
    ----------
    row : int
        Its number.
    probability : float
        Of the topic, given the document.
    words : tuple of int
        The words of the topic that it has, by their columns, in the order of the topic.
    """

    row: int
    probability: float
    words: tuple[int, ...]


@dataclass(frozen=True)
class TopicRows:
    """Topics in some documents.

    Attributes
    ----------
    shares : array of float
        The mean probability of each topic; NaN if there is no document that is possible under the model.
    absent : csr_array of float, shape (documents, topics)
        The probability that a topic is absent, where the topic is more probable than in a document of which nothing is
        known. Other cells are not stored.
    similarity : array of float
        Of each stored cell, the cosine of the words that the document has and the topic's words, which are weighted by
        their correlations. It is 0 if the document has none of them: other words may speak for a topic, too.
    """

    shares: FloatArray
    absent: csr_array
    similarity: FloatArray

    @cached_property
    def scores(self) -> csr_array:
        """The probability of each topic in each document, where it is stored."""
        return csr_array((1 - self.absent.data, self.absent.indices, self.absent.indptr), shape=self.absent.shape)


def topics_in_rows(model: LatentTreeModel, topics: Sequence[Topic], table: Table) -> TopicRows:
    """Return how probable topics are in the rows of a table with the model's columns."""
    are_words = np.array([is_word(column) for column in model.columns])
    found = table.map(partial(_in_block, model.network, tuple(topics), are_words))
    absent, similarity, present, weights = zip(*(one for one in found if one is not None), strict=True)
    total = sum(weights)
    shares = sum(present) / total if total else np.full(len(topics), np.nan)
    return TopicRows(np.asarray(shares), vstack(absent, format="csr"), np.concatenate(similarity))


def _in_block(network: Network, topics: tuple[Topic, ...], are_words: BoolArray, block: Block) -> NDArray[Any]:
    """Return what is found in a block at its first row, and None at the others: of a matrix, few cells are stored."""
    absent, weights = (
        TopicScorer.of(network, [topic.absent for topic in topics]).absent(block.codes),
        row_weights(block),
    )
    is_possible = ~np.isnan(absent).any(axis=1)
    rows, columns = np.nonzero(1 - absent > [topic.share for topic in topics])  # NaN is not
    # The words of each topic as a vector of length 1, and the words of each row.
    own = np.zeros((len(are_words), len(topics)))
    for at, topic in enumerate(topics):
        own[[word.column for word in topic.words], at] = [word.correlation for word in topic.words]
    own /= np.linalg.norm(own, axis=0)
    there = csr_array((signed_codes(block.codes) > 0) & are_words)
    lengths = np.sqrt(np.maximum(there.sum(axis=1), 1))
    found = np.full(len(absent), None, dtype=object)
    found[0] = (
        csr_array((absent[rows, columns], (rows, columns)), shape=absent.shape),
        (there @ own)[rows, columns] / lengths[rows],
        weights[is_possible] @ (1 - absent[is_possible]),
        float(weights[is_possible].sum()),
    )
    return found


def typical_documents(topics: Sequence[Topic], found: TopicRows, table: Table, n: int) -> list[list[TypicalDocument]]:
    """Return the documents whose words are the most similar to those of each topic.

    They have the topic more probably than not. The most certain documents would be the longest ones, which have words
    of many topics.
    """
    cells = found.absent.tocoo()
    kept = np.flatnonzero((found.similarity > 0) & (cells.data < _HALF))
    rows, columns, absent = cells.row[kept], cells.col[kept], cells.data[kept]
    # Of each topic, the most similar first; of equal ones, the least probability of absence, then the first row.
    order = np.lexsort([rows, absent, -np.round(found.similarity[kept], _DECIMALS), columns])
    starts = np.searchsorted(columns[order], np.arange(len(topics) + 1))
    chosen = [order[start : min(start + n, stop)] for start, stop in pairwise(starts.tolist())]
    numbers = np.unique(rows[np.concatenate(chosen)]) if chosen else np.empty(0, dtype=np.intp)
    codes = signed_codes(table.rows.fetch(numbers).codes) if len(numbers) else np.empty((0, table.n_columns))
    typical: list[list[TypicalDocument]] = []
    for topic, some in zip(topics, chosen, strict=True):
        documents = zip(
            rows[some].tolist(), (1 - absent[some]).tolist(), codes[np.searchsorted(numbers, rows[some])], strict=True
        )
        typical.append(
            [
                TypicalDocument(
                    row, probability, tuple(word.column for word in topic.words if cells_of[word.column] > 0)
                )
                for row, probability, cells_of in documents
            ]
        )
    return typical
