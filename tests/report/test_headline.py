"""The headline, and how sure the finding is."""

import pytest

from latree.interpret.groups import compare_labels
from latree.report.headline import LIKELY, SURE, certainty, finding, headline


def facts_of(labels, groups, **more):
    """Return the facts that a headline needs, of groups of columns."""
    n_columns = len(labels) if labels else sum(map(len, groups))
    found = {"n_columns": n_columns, "groups": [{"n_states": 3}] * len(groups), "finding": "groups"}
    return found | {"labels": compare_labels(labels, groups) if labels else None} | more


@pytest.mark.parametrize(
    ("numbers", "kind"),
    [
        ((0, 0, 0), "independent"),
        ((5, 1, 1), "one hidden variable"),
        ((5, 1, 2), "groups"),
        ((5, 3, 1), "groups"),
        ((4, 0, 2), "groups"),
        ((1, 0, 0), "no groups"),
    ],
)
def test_what_was_found(numbers, kind):
    assert finding(*numbers) == kind


def test_headlines():
    assert headline(facts_of(None, [[0, 1], [2, 3, 4]])) == "5 columns fall into 2 groups"
    assert headline(facts_of(None, [[0, 1, 2]])) == "3 columns form 1 group"
    assert headline(facts_of(None, [], finding="independent")) == "No dependence found"
    assert headline(facts_of(None, [[0, 1]], finding="one hidden variable")) == (
        "One hidden variable with 3 states explains 2 columns"
    )
    assert headline(facts_of(None, [], finding="no groups", n_columns=2)) == "2 columns form no groups"


def test_labels_in_the_headline():
    labels = ["a", "a", "b", "b", "c", "c"]
    assert headline(facts_of(labels, [[0, 1], [2, 3], [4, 5]])).endswith(": exactly your 3 labels")
    assert headline(facts_of(labels, [[0, 1], [2, 3, 4, 5]])).endswith(": 3 of your 3 labels are whole, 1 exact")
    assert headline(facts_of(labels, [[0, 1], [2, 3], [4], [5]])).endswith(": 2 of your 3 labels are whole, 2 exact")
    assert headline(facts_of(labels, [[0, 2], [1, 3, 4], [5]])) == "6 columns fall into 3 groups"
    # One label for all columns says nothing.
    assert headline(facts_of(["a"] * 4, [[0, 1], [2, 3]])) == "4 columns fall into 2 groups"


def test_edges_are_sure_likely_or_unsure():
    found = certainty([None, SURE, SURE - 1, LIKELY, LIKELY - 1, 100], [], None)
    assert (found["n_edges"], found["sure"], found["likely"], found["unsure"]) == (5, 2, 2, 1)
    assert (SURE, LIKELY) == (90, 50)
    assert found["stability"] is found["least_stable"] is None
    cards = [{"number": 1, "stability": 90}, {"number": 2, "stability": 70}, {"number": 3, "stability": None}]
    assert certainty([], cards, 0.8)["least_stable"] == 2
    assert certainty([], cards, 0.8)["stability"] == 80
