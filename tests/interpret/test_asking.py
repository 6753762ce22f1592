"""The next question: the one that lowers the expected variance of the scores most, beside brute force."""

import numpy as np
import pytest

from helpers.models import model_on
from helpers.report import grouped_model
from latree import InputError, Table
from latree.inference.messages import log_likelihoods
from latree.interpret.asking import next_question
from latree.interpret.scores import Scorer, row_scores
from latree.model import LatentTreeModel
from latree.tree import Tree

CLOSE = 1e-9


@pytest.fixture(scope="module")
def model():
    """Two groups beside a middle, columns of two to four states; q2 is an inner node."""
    edges = [(0, 8), (1, 8), (2, 8), (2, 3), (4, 9), (5, 9), (6, 9), (7, 9), (8, 9)]
    return model_on(Tree([f"q{number}" for number in range(8)], edges), [2, 3, 4, 3, 2, 3, 2, 4, 3, 2], 11)


def naive_gains(model, given):
    """Return for each column how much the sum of all variances falls, by scoring every answer."""
    scorer = Scorer.of_model(model)

    def variance(answers):
        return (row_scores(model, row_of(model, answers)).errors ** 2).sum()

    gains = {}
    for number, column in enumerate(model.columns):
        scale = next(scale for scale in scorer.scales if number in scale.columns)
        if column.name in given:
            continue
        rows = [row_of(model, given | {column.name: code}).rows.codes for code in range(column.n_states)]
        likelihoods = np.exp([log_likelihoods(scale.network, row[:, scale.columns])[0] for row in rows])
        after = [variance(given | {column.name: code}) for code in range(column.n_states)]
        gains[column.name] = variance(given) - likelihoods @ after / likelihoods.sum()
    return gains


def row_of(model, given):
    codes = np.full((1, len(model.columns)), -1)
    for name, code in given.items():
        codes[0, model.node(name)] = code
    return Table.from_codes(model.columns, codes)


@pytest.mark.parametrize("given", [{}, {"q0": 1}, {"q4": 1, "q2": 3}, {"q0": 0, "q1": 2, "q5": 0, "q7": 1}])
def test_it_lowers_the_expected_variance_most(model, given):
    gains = naive_gains(model, given)
    found = next_question(model, given)  # the values are the codes
    assert found.column == max(gains, key=gains.get)
    assert found.error**2 - found.expected_error**2 == pytest.approx(max(gains.values()), abs=CLOSE)
    scores = row_scores(model, row_of(model, given))
    assert found.error == pytest.approx(scores.errors[0][scores.names.index(found.group)], abs=CLOSE)


def test_what_says_something_is_asked_once(model):
    given = {}
    while (found := next_question(model, given)) is not None:
        assert found.column not in given
        given[found.column] = 0
    # q3 hangs on q2 alone: once q2 is known, it says nothing more.
    assert sorted(given) == ["q0", "q1", "q2", "q4", "q5", "q6", "q7"]


def test_a_skipped_question_is_not_asked_again_and_says_nothing(model):
    first = next_question(model)
    second = next_question(model, {first.column: None})
    assert second.column != first.column
    assert next_question(model, {first.column: float("nan")}) == second


def test_only_some_groups_or_columns_are_asked(model):
    names = Scorer.of_model(model).names
    for name in names:
        assert next_question(model, groups=[name]).group == name
    assert next_question(model, columns=["q5"]).column == "q5"
    assert next_question(model, {"q5": 0}, columns=["q5"]) is None


def test_a_reliable_score_needs_no_more_questions():
    model = grouped_model([8, 7])
    given, prior = {}, row_scores(model, row_of(model, {})).errors[0] ** 2
    while (found := next_question(model, given, reliability=0.6)) is not None:
        given[found.column] = 1
    codes = dict.fromkeys(given, 1)
    shares = 1 - row_scores(model, row_of(model, codes)).errors[0] ** 2 / prior
    assert (shares >= 0.6).all()
    assert len(given) < 15
    # One answer less was not enough.
    without = dict(list(codes.items())[:-1])
    assert (1 - row_scores(model, row_of(model, without)).errors[0] ** 2 / prior).min() < 0.6


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"answers": {"q9": 1}}, "the model has no column 'q9'"),
        ({"answers": {"q0": "often"}}, "column 'q0' has no value 'often'"),
        ({"answers": "q0"}, "answers must be a mapping"),
        ({"columns": "q0"}, r"give a list of names, such as \['q0'\]"),
        ({"groups": ["nobody"]}, "no group with a score 'nobody'"),
        ({"reliability": 1}, "above 0 and below 1, not 1"),
    ],
)
def test_what_is_wrong_is_said(model, how, message):
    with pytest.raises(InputError, match=message):
        next_question(model, **how)


def test_impossible_answers_are_refused():
    tree = Tree("abc", [(0, 3), (1, 3), (2, 3)])
    random = model_on(tree, [2, 2, 2, 2], 0)
    certain = np.eye(2)
    model = LatentTreeModel(tree, random.columns, (certain, certain, certain, np.full((2, 1), 0.5)))
    with pytest.raises(InputError, match="impossible under the model"):
        next_question(model, {"a": 0, "b": 1})
    assert next_question(model, {"a": 0}) is None


def test_a_model_without_scores_has_nothing_to_ask():
    model = model_on(Tree("abcd", [(0, 1), (1, 2), (2, 3)]), [2] * 4, 0)
    with pytest.raises(InputError, match="no group of this model has a score"):
        next_question(model)


def test_scores_of_adaptive_tests_have_the_errors_that_they_promise():
    """The mean squared error of the scores after a few questions is the mean of their variances."""
    model = grouped_model([8, 7])
    scales = Scorer.of_model(model).scales
    drawn = model.sample_all(20_000, 0)
    answers = Table.from_codes(model.columns, drawn[:, :15]).rows.codes
    given = np.full_like(answers, 255)
    rows = np.arange(len(answers))
    for _ in range(3):
        gains = np.full(answers.shape, -1.0)
        for scale in scales:
            for one in scale.if_answered(given):
                gains[:, one.column] = one.gain
        gains[given != 255] = -1
        asked = gains.argmax(axis=1)
        given[rows, asked] = answers[rows, asked]
    for scale in scales:
        score, variance = scale.moments(given)
        (values,) = scale.values.values()
        squares = (score - values[drawn[:, scale.hidden]]) ** 2
        assert squares.mean() == pytest.approx(variance.mean(), rel=0.1)
        assert variance.mean() < 0.7 * scale.moments(np.full_like(answers[:1], 255))[1][0]
