"""Topics: beside brute force, in documents about known topics, nested, and in agreement with states."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from sklearn.metrics.pairwise import cosine_similarity

from helpers.documents import BACKGROUND, INSIDE, OUTSIDE, SHARES, TOPICS, planted_documents
from helpers.models import all_rows, model_on, naive_joint, small_models
from latree import InputError, LatentTree, LatentTreeModel, Tree, as_table
from latree.datasets import load_python_manual
from latree.facts.topics import words_in_no_topic
from latree.interpret.groups import with_groups
from latree.interpret.topics import MIN_CORRELATION, TopicScorer, find_topics, topics_in_rows, typical_documents
from latree.table import Column, Table
from latree.tree.graph import component_numbers

EXACT = 1e-9
# Standard errors that a share may be away from the truth.
ERRORS = 4


def naive_absent(model, absent, row):
    """Return the probability of absence by visiting every combination of states; NaN if the row is impossible."""
    joint = naive_joint(model)
    for node, code in enumerate(row):
        if code >= 0:
            kept = np.zeros(joint.shape[node])
            kept[code] = 1
            joint = joint * np.expand_dims(kept, [axis for axis in range(joint.ndim) if axis != node])
    total = joint.sum()
    for node, states in absent.items():
        joint = joint * np.expand_dims(states, [axis for axis in range(joint.ndim) if axis != node])
    return joint.sum() / total if total > 0 else np.nan


@pytest.mark.parametrize("number", range(len(small_models())))
@given(st.data())
@settings(max_examples=10, deadline=None)
def test_probabilities_are_those_of_brute_force(number, data):
    model = small_models()[number]
    tree = model.tree
    component = component_numbers(tree.edges, tree.n_nodes)
    hidden = list(range(tree.n_observed, tree.n_nodes))
    first = data.draw(st.sampled_from(hidden))
    others = [node for node in hidden if component[node] == component[first] and data.draw(st.booleans())]
    absent = {
        node: np.array(data.draw(st.lists(st.booleans(), min_size=n, max_size=n)))
        for node in {first, *others}
        for n in [len(model.tables[node])]
    }
    rows = all_rows(model)
    some = rows[data.draw(st.lists(st.integers(0, len(rows) - 1), min_size=1, max_size=5))]
    codes = Table.from_codes(model.columns, some).rows.fetch(np.arange(len(some))).codes
    found = TopicScorer.of(model.network, [absent]).absent(codes)
    assert found[:, 0] == pytest.approx([naive_absent(model, absent, row) for row in some], abs=EXACT)


def hierarchy_of_words(seed=0):
    """A model of eight words in four groups, of which two and two belong together."""
    tree = Tree.from_newick("(((a,b),(c,d)),((e,f),(g,h)));")
    rng = np.random.default_rng(seed)
    has_words = {node for node in range(tree.n_nodes) if any(other < 8 for other, _ in tree.neighbors[node])}
    tables = []
    for node, parent in enumerate(tree.rooted().parent.tolist()):
        # A word and its group, two groups, or the two halves of the tree.
        low, high = (0.02, 0.9) if node < 8 else (0.1, 0.8) if {node, parent} & has_words else (0.25, 0.35)
        there = rng.uniform(0.9, 1, 2) * [low, high] if parent >= 0 else np.array([0.3])
        tables.append(np.stack([1 - there, there]))
    columns = tuple(Column(name, "boolean", ("False", "True"), ordered=True) for name in tree.names)
    return with_groups(LatentTreeModel(tree, columns, tuple(tables)))


@pytest.mark.parametrize("seed", range(6))
def test_shares_and_words_are_those_of_brute_force(seed):
    model = hierarchy_of_words(seed)
    joint = naive_joint(model)
    topics = find_topics(model)
    assert [topic.parent for topic in topics] == [None, 0, 0, None, 3, 3]
    for topic in topics:
        absent = joint
        for node, states in topic.absent.items():
            absent = absent * np.expand_dims(states, [axis for axis in range(joint.ndim) if axis != node])
        assert topic.share == pytest.approx(1 - absent.sum(), abs=EXACT)
        for word in topic.words:
            there = np.take(joint, 1, axis=word.column).sum()
            outside = np.take(absent, 1, axis=word.column).sum()
            assert word.inside == pytest.approx((there - outside) / topic.share, abs=EXACT)
            assert word.outside == pytest.approx(outside / (1 - topic.share), abs=EXACT)
            covariance = there - outside - topic.share * there
            deviation = np.sqrt(topic.share * (1 - topic.share) * there * (1 - there))
            assert word.correlation == pytest.approx(covariance / deviation, abs=EXACT)
            assert word.correlation >= MIN_CORRELATION
        assert list(topic.words) == sorted(topic.words, key=lambda word: -word.correlation)


@pytest.fixture(scope="module")
def planted():
    """An estimator fitted to documents about known topics, the documents, and their topics."""
    words, has = planted_documents()
    return LatentTree(random_state=0, n_resamples=2).fit(words), words, has


def test_planted_topics_come_back_with_their_words_and_shares(planted):
    model, words, has = planted
    names, topics = model.model_.tree.names, find_topics(model.model_)
    above = {topic.parent for topic in topics}
    lowest = [topic for at, topic in enumerate(topics) if at not in above]
    found = {frozenset(names[word.column] for word in topic.words): topic for topic in lowest}
    assert set(found) == set(map(frozenset, TOPICS.values()))
    for name, of_topic in TOPICS.items():
        topic = found[frozenset(of_topic)]
        error = np.sqrt(SHARES[name] * (1 - SHARES[name]) / len(words))
        assert abs(topic.share - SHARES[name]) < ERRORS * error
        for word in topic.words:
            truth = dict(zip(of_topic, INSIDE, strict=True))[names[word.column]]
            assert abs(word.inside - truth) < ERRORS * np.sqrt(truth * (1 - truth) / has[name].sum())
            assert abs(word.outside - OUTSIDE) < ERRORS * np.sqrt(OUTSIDE / len(words))


def test_leftovers_are_in_no_topic(planted):
    assert sorted(words_in_no_topic(planted[0].model_)) == sorted(BACKGROUND)


def test_the_documents_of_a_topic_are_those_that_have_it(planted):
    model, words, has = planted
    frame = model.topics(words)
    scores = model.topic_scores(words)
    for name, of_topic in TOPICS.items():
        at = next(at for at, some in enumerate(frame["words"]) if set(some.split(", ")) == set(of_topic))
        scored = scores[:, [at]].toarray()[:, 0]
        assert np.corrcoef(scored > 0.5, has[name])[0, 1] > 0.85
        assert frame["share_in_data"][at] == pytest.approx(SHARES[name], abs=0.04)
        for document in frame["documents"][at].split("; "):
            number, _, of_document = document[:-1].partition(" (")
            assert has[name][int(number) - 1]
            row = words.iloc[int(number) - 1]
            assert set(of_document.split(", ")) == {word for word in of_topic if row[word]}


def test_a_topic_is_some_states_of_a_hidden_variable(planted):
    model, words, _ = planted
    frame, scores = model.topics(), model.topic_scores(words).toarray()
    by_state = model.predict_proba(words, of="hidden")
    groups = {group.name: set(group.columns) for group in model.groups_}
    assert list(frame["id"]) == list(range(len(frame)))
    for topic in frame.itertuples():
        assert set(topic.words.split(", ")) <= groups[topic.group]
        assert bool(topic.hidden) == bool(topic.states) == (topic.topic not in set(frame["parent"]))
        if topic.hidden:
            present = sum(by_state[f"{topic.hidden} = {state}"] for state in topic.states.split(", "))
            stored = scores[:, topic.id] > 0
            assert scores[stored, topic.id] == pytest.approx(present[stored])


def test_names_are_made_of_words_and_differ(planted):
    frame = planted[0].topics()
    assert frame["topic"].is_unique
    for name, words in zip(frame["topic"], frame["words"], strict=True):
        assert set(name.split(", ")) <= set(words.split(", "))
    assert set(frame["parent"]) - {""} <= set(frame["topic"])


@pytest.fixture(scope="module")
def manual():
    words = load_python_manual().data
    return LatentTree(random_state=0, n_resamples=2).fit(words.sample(frac=1, random_state=0)), words


def test_the_hierarchy_is_nested(manual):
    model, words = manual
    topics = find_topics(model.model_)
    absent = TopicScorer.of(model.model_.network, [topic.absent for topic in topics]).absent(
        model.model_.encode(words).rows.fetch(np.arange(len(words))).codes
    )
    assert any(topic.parent is not None for topic in topics)
    groups = [set(group.columns) for group in model.groups_]
    for at, topic in enumerate(topics):
        assert (topic.level == 1) == (topic.parent is None)
        names = {model.tree_.names[word.column] for word in topic.words}
        assert any(names <= group for group in groups)
        if topic.parent is not None:
            parent = topics[topic.parent]
            assert topic.parent < at
            assert topic.level == parent.level + 1
            assert topic.share <= parent.share
            assert np.all(absent[:, at] >= absent[:, topic.parent] - EXACT)
            assert any(names | {model.tree_.names[word.column] for word in parent.words} <= group for group in groups)


def test_scores_are_the_probabilities_of_states_where_they_are_above_the_share(manual):
    model, words = manual
    topics, scores = find_topics(model.model_), model.topic_scores(words)
    posteriors = list(model.model_.posteriors(model.model_.encode(words)).values())
    by_state = model.predict_proba(words, of="hidden").to_numpy()
    assert isinstance(scores, csr_array)
    assert scores.shape == (len(words), len(topics))
    n_checked = 0
    for at, topic in enumerate(topics):
        stored = scores[:, [at]].toarray()[:, 0]
        assert np.all(stored[stored > 0] > topic.share)
        if len(topic.absent) == 1:
            (node, states), *_ = topic.absent.items()
            present = posteriors[node - model.tree_.n_observed][:, ~states].sum(axis=1)
            assert any(
                np.allclose(by_state[:, column], posteriors[node - model.tree_.n_observed][:, 0])
                for column in range(by_state.shape[1])
            )
            expected = np.where(present > topic.share, present, 0)
            close = np.isclose(present, topic.share)
            assert stored[~close] == pytest.approx(expected[~close], abs=EXACT)
            n_checked += 1
    assert n_checked > 3
    assert scores.nnz < 0.4 * np.prod(scores.shape)


def test_shares_in_data_are_means_of_probabilities_and_count_weights(manual):
    model, words = manual
    topics = find_topics(model.model_)
    table = model.model_.encode(words)
    absent = TopicScorer.of(model.model_.network, [topic.absent for topic in topics]).absent(
        table.rows.fetch(np.arange(len(words))).codes
    )
    assert topics_in_rows(model.model_, topics, table).shares == pytest.approx(1 - absent.mean(axis=0))
    weights = np.arange(len(words)) % 3
    frame = model.topics(words, sample_weight=weights)
    repeated = model.topics(words.loc[words.index.repeat(weights)])
    assert frame["share_in_data"].to_numpy() == pytest.approx(repeated["share_in_data"].to_numpy(), abs=1e-6)


def test_typical_documents_have_the_words_of_the_topic_and_few_others(manual):
    model, words = manual
    topics, table = find_topics(model.model_), model.model_.encode(words)
    found = topics_in_rows(model.model_, topics, table)
    there, dense = table.codes() > 0, found.scores.toarray()
    for at, (topic, typical) in enumerate(zip(topics, typical_documents(topics, found, table, 4), strict=True)):
        columns = [word.column for word in topic.words]
        weights = np.zeros(there.shape[1])
        weights[columns] = [word.correlation for word in topic.words]
        cosine = cosine_similarity(there, weights[None])[:, 0]
        candidates = np.where(dense[:, at] > 0.5, cosine, 0)
        best = np.sort(candidates)[::-1][:4]
        assert [candidates[one.row] for one in typical] == pytest.approx(best[best > 0])
        for one in typical:
            assert one.probability == dense[one.row, at]
            assert one.words == tuple(column for column in columns if there[one.row, column])
            assert one.words


def test_a_document_of_many_topics_is_typical_of_none(planted):
    model, words, _ = planted
    everything = pd.DataFrame(True, index=[0], columns=words.columns)
    frame = model.topics(pd.concat([everything, words], ignore_index=True))
    assert (model.topic_scores(everything).toarray() > 0.9).all()
    documents = [one.partition(" ")[0] for some in frame["documents"] for one in some.split("; ")]
    assert documents
    assert "1" not in documents


def test_the_order_of_columns_changes_nothing(manual):
    words = manual[1].iloc[:, :14]
    shuffled = words[np.random.default_rng(0).permutation(words.columns)]
    one, other = (LatentTree(random_state=0, n_resamples=0).fit(data).topics() for data in (words, shuffled))
    pd.testing.assert_frame_equal(one, other)


def test_a_name_that_was_given_is_kept():
    model = hierarchy_of_words()
    before = [topic.name for topic in find_topics(model)]
    group = next(group for group in model.groups if set(group.columns) == set("ab"))
    after = [topic.name for topic in find_topics(model.rename({group.name: "letters"}))]
    assert [name for name in after if name not in before] == ["letters"]
    assert len(after) == len(before)


def test_a_typical_document_has_words_of_the_topic():
    """Other words speak for the topic of a and b, too, of which nothing is known in the first document."""
    model = hierarchy_of_words()
    topics = find_topics(model)
    at = [topic.name for topic in topics].index("a, b")
    rows = Table.from_codes(model.columns, np.array([[-1, -1, 1, 1, 0, 0, 0, 0], [1, 1, 0, 0, 0, 0, 0, 0]]))
    found = topics_in_rows(model, topics, rows)
    assert found.scores[0, at] > 0.5
    assert [one.row for one in typical_documents(topics, found, rows, 2)[at]] == [1]


def test_a_group_with_one_part_is_a_topic_itself():
    model = hierarchy_of_words()
    without = replace(model, groups=tuple(group for group in model.groups if group.columns != ("c", "d")))
    words = [{model.tree.names[word.column] for word in topic.words} for topic in find_topics(without)]
    assert words == [set("efgh"), set("ef"), set("gh"), set("abcd")]


def test_steps_above_the_average_are_one_topic():
    tree = Tree.from_newick("(a,b,c,d,e);")
    there = np.array([0.02, 0.4, 0.8])
    columns = tuple(Column(name, "boolean", ("False", "True"), ordered=True) for name in tree.names)
    tables = (*[np.stack([1 - there, there])] * 5, np.array([[0.7], [0.2], [0.1]]))
    (topic,) = find_topics(with_groups(LatentTreeModel(tree, columns, tables)))
    assert topic.share == pytest.approx(0.3)
    assert [word.inside for word in topic.words] == pytest.approx([(0.2 * 0.4 + 0.1 * 0.8) / 0.3] * 5)
    assert [word.outside for word in topic.words] == pytest.approx([0.02] * 5)


def test_states_that_are_kinds_are_topics_of_their_own():
    """One hidden variable with a background and three kinds of documents, each with words of its own."""
    tree = Tree.from_newick("(a,b,c,d,e,f,g);")
    there = np.full((7, 4), 0.03)
    for kind in range(3):
        there[2 * kind : 2 * kind + 2, kind + 1] = 0.8
    there[6] = 0.3  # says nothing
    columns = tuple(Column(name, "boolean", ("False", "True"), ordered=True) for name in tree.names)
    shares = np.array([0.4, 0.3, 0.2, 0.1])
    tables = (*(np.stack([1 - some, some]) for some in there), shares[:, None])
    topics = find_topics(with_groups(LatentTreeModel(tree, columns, tables)))
    assert [topic.name for topic in topics] == ["a, b", "c, d", "e, f"]
    assert [topic.share for topic in topics] == pytest.approx([0.3, 0.2, 0.1])


def test_a_kind_with_the_words_of_another_one_has_its_topic_too():
    """Beside two kinds of documents, there are long ones about both, in which all words are more probable."""
    tree = Tree.from_newick("(a,b,c,d,e,f);")
    there = np.full((6, 4), 0.03)
    there[:3, 1] = there[3:, 2] = 0.4
    there[:, 3] = 0.8
    columns = tuple(Column(name, "boolean", ("False", "True"), ordered=True) for name in tree.names)
    shares = np.array([0.6, 0.2, 0.18, 0.02])
    tables = (*(np.stack([1 - some, some]) for some in there), shares[:, None])
    model = with_groups(LatentTreeModel(tree, columns, tables))
    topics = find_topics(model)
    assert [{tree.names[word.column] for word in topic.words} for topic in topics] == [set("abc"), set("def")]
    assert [topic.share for topic in topics] == pytest.approx([0.22, 0.2])
    there[0, 3] = 0.38  # less than in documents about the first three words: another kind
    rarer = replace(model, tables=(*(np.stack([1 - some, some]) for some in there), shares[:, None]))
    assert [topic.share for topic in find_topics(rarer)] == pytest.approx([0.2, 0.2])


def test_counts_are_words_and_other_columns_are_not():
    rng = np.random.default_rng(0)
    has = rng.random(1500) < 0.3
    counts = rng.poisson(np.where(has[:, None], 1.5, 0.05), (1500, 4)).clip(max=3)
    frame = pd.DataFrame(counts, columns=list("abcd")).assign(kind=np.where(has, "new", "old"))
    frame["kind"] = np.where(rng.random(1500) < 0.9, frame["kind"], "old")
    model = LatentTree(random_state=0, n_resamples=0).fit(frame)
    topics = model.topics()
    assert set(topics["words"][0].split(", ")) == set("abcd")
    assert topics["share"][0] == pytest.approx(0.3, abs=0.05)


def test_columns_that_are_no_words_are_an_error():
    model = model_on(Tree.from_newick("(a,b,c);"), [2, 2, 2, 2], 0)
    columns = tuple(Column(name, "text", ("no", "yes")) for name in "abc")
    with pytest.raises(InputError, match="topics need columns that say whether a word is there"):
        find_topics(LatentTreeModel(model.tree, columns, model.tables))


def test_rows_that_are_impossible_have_no_topics():
    tree = Tree.from_newick("(a,b,c);")
    columns = tuple(Column(name, "boolean", ("False", "True"), ordered=True) for name in tree.names)
    never = np.array([[1.0, 0.2], [0.0, 0.8]])
    always = np.array([[0.5, 1.0], [0.5, 0.0]])  # b is never there with the topic, and a never without it
    model = with_groups(LatentTreeModel(tree, columns, (never, always, never, np.array([[0.7], [0.3]]))))
    topics = find_topics(model)
    assert len(topics) == 1
    rows = as_table(pd.DataFrame({"a": [True, True, False], "b": [True, False, False], "c": [True, True, False]}))
    found = topics_in_rows(model, topics, model.encode(rows))
    assert found.scores.toarray()[:, 0].tolist() == [0, 1, 0]
    assert found.shares[0] == pytest.approx((1 + naive_present(model, topics[0], [0, 0, 0])) / 2)
    assert np.isnan(topics_in_rows(model, topics, model.encode(rows).take(np.array([0]))).shares).all()


def naive_present(model, topic, row):
    return 1 - naive_absent(model, topic.absent, row)


def test_a_table_without_dependence_has_no_topics():
    words = pd.DataFrame(np.random.default_rng(0).random((400, 6)) < 0.3, columns=list("abcdef"))
    model = LatentTree(random_state=0, n_resamples=0).fit(words)
    frame = model.topics(words)
    assert list(frame.columns) == [*model.topics().columns, "share_in_data", "documents"]
    assert len(frame) == 0
    assert model.topic_scores(words).shape == (400, 0)


@pytest.mark.parametrize("number", [-1, 2.5, True, "3"])
def test_numbers_of_words_and_documents_are_checked(planted, number):
    with pytest.raises(InputError, match="n_words must be a whole number of at least 0"):
        planted[0].topics(n_words=number)
    with pytest.raises(InputError, match="n_documents must be a whole number of at least 0"):
        planted[0].topics(n_documents=number)


def test_lists_are_as_long_as_asked(planted):
    model, words, _ = planted
    frame = model.topics(words, n_words=2, n_documents=1)
    assert all(len(some.split(", ")) == 2 for some in frame["words"])
    assert all("; " not in some for some in frame["documents"])
    assert set(model.topics(words, n_documents=0)["documents"]) == {""}
