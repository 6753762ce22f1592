"""Which question to ask next: an adaptive test on all groups at once.

The score of a group is a posterior mean, and the square of its standard error a posterior variance
(:mod:`latree.interpret.scores`). One more answer x to the column c is expected to lower this variance from ``Var[T]``
to ``E[Var[T | x]]``, where the expectation is over the distribution of x given the answers so far. By the law of total
variance, the difference is ``Var[E[T | x]]``, the variance of the score that c would lead to. The next question is the
column for which it is largest. A column says something about the score of its own group only, so the column that lowers
the sum over all groups most is the one that lowers that of its own group most.

A group is finished when its score is as reliable as was asked for. The reliability of one person's score is
``1 - Var[T | answers] / Var[T]``: the share of the variance that the answers explain.
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from latree._util.words import did_you_mean
from latree.errors import InputError
from latree.interpret.scores import Scale, Scorer
from latree.model import LatentTreeModel
from latree.model.query import state_of
from latree.table.columns import code_type

# Gains and reliabilities that differ by less are equal: the first column is asked, in Python as in the page of
# `latree ask`, whose sums are rounded elsewhere. It is far above rounding, and far below what matters to a score from
# 0 to 1.
EQUAL_WITHIN = 1e-12


class Question(NamedTuple):
    """The next question, and what it would tell.

    Attributes
    ----------
    column : str
    group : str
        The group whose score it is about.
    error : float
        The standard error of this score now.
    expected_error : float
        The square root of the variance that is expected after the answer.
    """

    column: str
    group: str
    error: float
    expected_error: float


def next_question(
    model: LatentTreeModel,
    answers: Mapping[str, Any] | None = None,
    *,
    groups: Sequence[str] | None = None,
    columns: Sequence[str] | None = None,
    reliability: float | None = None,
) -> Question | None:
    """Return the question that is expected to lower the variance of the scores of the groups most.

    See :meth:`latree.LatentTree.next_question` for the parameters.
    """
    check_reliability(reliability)
    scales = scales_of(model, groups)
    number_of = {column.name: number for number, column in enumerate(model.columns)}
    if columns is not None:
        check_names(columns, number_of, "column")
    answers = answers or {}
    if not isinstance(answers, Mapping):
        raise InputError(f"answers must be a mapping such as {{'N2': 3}}, not {answers!r:.60}")
    check_names(answers, number_of, "column")
    kind = code_type(model.columns)
    before = np.full((1, len(model.columns)), np.iinfo(kind).max, dtype=kind)
    codes = before.copy()
    for name, value in answers.items():
        state = state_of(model.columns[number_of[name]], value)
        if state is not None:
            codes[0, number_of[name]] = state
    may_ask = {number_of[name] for name in number_of if name not in answers and (columns is None or name in columns)}
    found = []
    for scale in scales:
        variance = float(scale.moments(codes)[1][0])
        if np.isnan(variance):
            raise InputError(f"the answers are impossible under the model: {dict(answers)!r:.200}; leave something out")
        prior = float(scale.moments(before)[1][0])
        if reliability is not None and variance <= (1 - reliability) * prior + EQUAL_WITHIN:
            continue
        gains = {one.column: float(one.gain[0]) for one in scale.if_answered(codes) if one.column in may_ask}
        found += [(gain, column, variance, scale.name) for column, gain in gains.items() if gain > EQUAL_WITHIN]
    if not found:
        return None
    best = max(gain for gain, *_ in found)
    gain, column, variance, group = min((one for one in found if one[0] >= best - EQUAL_WITHIN), key=lambda one: one[1])
    after = float(np.sqrt(max(variance - gain, 0)))
    return Question(model.columns[column].name, group, float(np.sqrt(variance)), after)


def scales_of(model: LatentTreeModel, groups: Sequence[str] | None = None) -> list[Scale]:
    """Return the scales of the main groups that have a score, or of some of them by their names."""
    scales = {scale.name: scale for scale in Scorer.of_model(model).scales}
    if not scales:
        raise InputError("no group of this model has a score, so there is nothing to ask for")
    if groups is None:
        return list(scales.values())
    check_names(groups, scales, "group with a score")
    return [scale for name, scale in scales.items() if name in groups]


def check_reliability(reliability: float | None) -> None:
    """Raise unless this is a reliability that a score can have."""
    if reliability is not None and not 0 < reliability < 1:
        raise InputError(f"the reliability must be a number above 0 and below 1, not {reliability!r:.60}")


def check_names(names: Any, known: Mapping[str, Any], what: str) -> None:
    """Raise unless these are names of columns or groups that a model has."""
    if isinstance(names, str):
        raise InputError(f"give a list of names, such as [{names!r:.60}]")
    for name in names:
        if name not in known:
            hint = did_you_mean(name, known)
            raise InputError(f"the model has no {what} {name!r:.60}{': ' if hint else ''}{hint}")
