"""The headline, how sure the finding is, and what is said about the worth of a model."""

from statistics import NormalDist

import numpy as np
import pytest

from latree.facts.groups import compare_labels
from latree.facts.words import (
    LIKELY,
    SURE,
    candidate_name,
    certainty,
    discovery_lines,
    finding,
    headline,
    key_facts,
    label_match,
    levels_lines,
    stability_words,
    usefulness,
    worth_facts,
    worth_lines,
)
from latree.model.record import Candidate, Key, Place, SimplerGain, Worth


def facts_of(labels, groups, **more):
    """Return the facts that a headline needs, of groups of columns."""
    n_columns = len(labels) if labels else sum(map(len, groups))
    found = {"is_given": False, "n_columns": n_columns, "groups": [{"n_states": 3}] * len(groups), "finding": "groups"}
    return found | {"labels": {"match": label_match(compare_labels(labels, groups))} if labels else None} | more


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
    assert headline(facts_of(None, [[0, 1], [2, 3, 4]]) | {"is_given": True}) == "5 columns in 2 groups, as given"
    assert headline(facts_of(None, [], finding="independent")) == "No dependence found"
    assert headline(facts_of(None, [[0, 1]], finding="one hidden variable")) == (
        "One hidden variable with 3 states explains 2 columns"
    )
    assert headline(facts_of(None, [], finding="no groups", n_columns=2)) == "2 columns form no groups"


def test_how_well_numbers_of_groups_come_again():
    shares = [1.0, 0.9, 0.5, 0.97, 0.984, 0.7, 0.6, 0.55, 0.4]
    levels = [
        {"n_groups": number, "comes_again": share, "is_main": number == 5}
        for number, share in enumerate(shares, start=1)
    ]
    (line,) = levels_lines(levels)
    assert line.replace("\xa0", " ") == (
        "In parts of the rows, 5 groups come again: 98 %. "
        "Other numbers of groups: 2: 90 %, 3: 50 %, 4: 97 %, 6: 70 %, 7: 60 %, 8: 55 %."
    )
    (line,) = levels_lines([levels[0] | {"is_main": True}])
    assert line.replace("\xa0", " ") == "In parts of the rows, 1 group comes again: 100 %."
    assert levels_lines([]) == levels_lines([levels[4] | {"comes_again": None}]) == []


def said_of_discoveries(**known):
    """What is told, with plain spaces."""
    nothing = {
        "labels": None,
        "groups": [{}, {}],
        "names": [],
        "misplaced": [],
        "between": [],
        "closest": None,
        "unexpected": [],
    }
    return [line.replace("\xa0", " ") for line in discovery_lines(nothing | known)]


def test_columns_among_those_of_another_label_are_named():
    labels = ["R", "R", "R", "R", "D", "D", "D", "D", ""]
    names = ["ann", "bob", "cleo", "dan", "eve", "fay", "guy", "hal", "ida"]
    groups = [[0, 1, 2, 8], [3, 4, 5, 6, 7]]
    assert said_of_discoveries(labels=compare_labels(labels, groups), names=names) == [
        "1 column is among those of another label: dan (R) is with D."
    ]
    # Where labels are mixed throughout, no column is news.
    mixed = compare_labels(labels, [[0, 1, 4, 5, 8], [2, 3, 6, 7]])
    assert said_of_discoveries(labels=mixed, names=names) == []
    assert said_of_discoveries(labels=compare_labels(labels, groups), names=names, groups=[{}]) == []


def test_columns_that_fit_another_group_than_theirs_are_named_first():
    one = {"column": "C5", "other": "order"}
    assert said_of_discoveries(misplaced=[one]) == ["1 column fits another group better than its own: C5 (order)."]
    (line,) = said_of_discoveries(misplaced=[one] * 14)
    assert line.startswith("14 columns fit another group better than their own: C5 (order), C5")
    assert line.endswith(", and 2 more.")


def test_where_columns_between_two_groups_go():
    one = {"name": "x1", "group": "mood", "stability": 0.6, "other": "sleep", "share": 0.375}
    assert said_of_discoveries(between=[one]) == [
        "Between groups: x1 (mood in 60 % of the searches, sleep in 38 %, neither in 2 %)."
    ]
    half = one | {"stability": 0.625}
    assert said_of_discoveries(between=[half])[0].endswith("(mood in 63 % of the searches, sleep in 38 %).")
    assert said_of_discoveries(between=[one] * 5)[0].endswith(", and 2 more.")
    assert said_of_discoveries(between=[one | {"other": "nap, bed +2"}]) == [
        "Between groups: x1 (mood in 60 % of the searches, 'nap, bed +2' in 38 %, neither in 2 %)."
    ]


def test_the_closest_groups_and_unexpected_pairs_in_words():
    closest = {"groups": ["mood", "sleep"], "correlation": -0.456, "has_order": True}
    assert said_of_discoveries(closest=closest) == [
        "Rows that are high on mood are often low on sleep: no two groups depend on each other more "
        "(correlation −0.46)."
    ]
    assert said_of_discoveries(closest=closest | {"has_order": False, "correlation": 0.3}) == [
        "Of all groups, mood and sleep depend on each other most (informational correlation 0.30)."
    ]
    assert said_of_discoveries(closest=closest | {"correlation": 0.05}) == []
    pair = {"names": ["a", "b"], "in_rows": -0.35, "in_model": 0.12}
    assert said_of_discoveries(unexpected=[pair]) == [
        "Correlations that the tree does not explain: a and b (−0.35 in the rows, 0.12 in the tree)."
    ]
    pair = {"names": ["a-0", "b"], "in_rows": -1.0, "in_model": -0.004}
    assert said_of_discoveries(unexpected=[pair]) == [
        "Correlations that the tree does not explain: a-0 and b (−1.00 in the rows, 0.00 in the tree)."
    ]


def test_usefulness_is_per_cell_and_in_words():
    assert usefulness(10 * np.log(2), 10) == "2.0 times as good a guess per cell"
    assert usefulness(1.0, 10) == "1.11 times as good a guess per cell"
    assert usefulness(-1.0, 10) == "0.90 times as good a guess per cell"
    assert usefulness(None, 10) == usefulness(1.0, 0) == ""


def test_stability_goes_from_the_least_to_the_most():
    groups = [{"stability": share} for share in (0.59, None, 1.0, 0.8)]
    assert stability_words(groups).replace("\xa0", " ") == "Groups are 59 to 100 % stable"
    assert stability_words(groups[:1]).replace("\xa0", " ") == "Group is 59 % stable"
    assert stability_words(groups[1:2]) == ""


def test_labels_in_the_headline():
    labels = ["a", "a", "b", "b", "c", "c"]
    assert headline(facts_of(labels, [[0, 1], [2, 3], [4, 5]])).endswith(": exactly your 3 labels")
    assert headline(facts_of(labels, [[0, 1], [2, 3, 4, 5]])).endswith(": 3 of your 3 labels are whole, 1 exact")
    assert headline(facts_of(labels, [[0, 1], [2, 3], [4], [5]])).endswith(": 2 of your 3 labels are whole, 2 exact")
    assert headline(facts_of(labels, [[0, 2], [1, 3, 4], [5]])) == "6 columns fall into 3 groups"
    # One label for all columns says nothing.
    assert headline(facts_of(["a"] * 4, [[0, 1], [2, 3]])) == "4 columns fall into 2 groups"


def test_edges_are_sure_likely_or_unsure():
    found = certainty([None, SURE, SURE - 1, LIKELY, LIKELY - 1, 100], [])
    assert (found["n_edges"], found["sure"], found["likely"], found["unsure"]) == (5, 2, 2, 1)
    assert (SURE, LIKELY) == (90, 50)
    assert found["stability"] is found["least_stable"] is None
    cards = [{"number": 1, "stability": 0.9}, {"number": 2, "stability": 0.7}, {"number": 3, "stability": None}]
    assert certainty([], cards)["least_stable"] == 2
    assert certainty([], cards)["stability"] == pytest.approx(0.8)


def said_of(*args, goal="explain", **more):
    found = worth_facts(worth(*args, **more), goal)
    return found["headline"], found["verdict"]


def worth(ahead, ahead_error=0.2, kind="latent tree", gain=3.0, error=0.1):
    tree = SimplerGain("chow-liu", 0, 3.0 - ahead, 0.1, ahead, ahead_error)
    return Worth(kind, 500, gain, error, (tree, SimplerGain("lcm", 4, 1.0, 0.1, 2.0, 0.1)))


def test_the_gain_has_its_error_and_direction():
    assert said_of(0.0)[0] == "New rows are 3.00 ± 0.10 nats more probable than under independence."
    assert said_of(0.0, gain=-0.0012, error=0.0004)[0] == (
        "New rows are 0.001 ± 0.000 nats less probable than under independence."
    )
    assert said_of(0.0, kind="independent")[0] == "The model treats the columns as independent of each other."
    impossible = said_of(0.0, gain=None, error=None)[0]
    assert impossible.startswith("Some new rows have probability 0")
    assert "use smoothing=0.1." in impossible


@pytest.mark.parametrize(
    ("ahead", "said"),
    [
        (0.5, "A Chow-Liu tree predicts new rows worse, by 0.50 ± 0.20 nats per row."),
        (0.3, "A Chow-Liu tree predicts new rows as well: the difference is 0.30 ± 0.20 nats per row."),
        (-0.3, "A Chow-Liu tree predicts new rows as well: the difference is 0.30 ± 0.20 nats per row."),
        (
            -0.5,
            "A Chow-Liu tree predicts new rows better, by 0.50 ± 0.20 nats per row. To predict, use goal='predict'.",
        ),
    ],
)
def test_the_verdict_needs_two_standard_errors(ahead, said):
    assert said_of(ahead)[1] == said


def test_a_model_that_predicts_is_not_told_to_predict():
    assert said_of(-0.5, goal="predict")[1] == "A Chow-Liu tree predicts new rows better, by 0.50 ± 0.20 nats per row."


def test_a_model_is_not_compared_with_its_own_kind():
    assert said_of(-0.5, kind="chow-liu")[1] == (
        "One hidden variable with 4 states predicts new rows worse, by 2.00 ± 0.10 nats per row."
    )
    alone = Worth("latent tree", 500, 3.0, 0.1, ())
    assert alone.best_simpler is None
    assert worth_facts(alone, "explain")["verdict"] == ""


def test_plain_data_have_figures_and_words():
    found = worth_facts(worth(-0.5), "explain")
    assert found["simpler"] == {
        "chow-liu": {"gain": 3.5, "standard_error": 0.1},
        "lcm": {"n_states": 4, "gain": 1.0, "standard_error": 0.1},
    }
    assert (found["gain"], found["standard_error"], found["n_rows"]) == (3.0, 0.1, 500)
    assert (found["best_simpler"], found["ahead"], found["ahead_standard_error"]) == ("chow-liu", -0.5, 0.2)
    unit = "One nat more means 2.7 times as probable."
    assert worth_lines(found) == [found["headline"], unit, found["verdict"]]
    assert worth_lines(None) == ["There are too few rows to measure how well the model predicts new ones."]


def test_kinds_of_models_have_names():
    assert candidate_name(Candidate("hclt", 0.0, 0.0)) == "a hidden Chow-Liu tree (hclt)"
    assert candidate_name(Candidate("new", 0.0, 0.0)) == "new"


@pytest.mark.parametrize("n_without", [0, 40])
def test_chance_alone_rarely_names_any_column_of_a_key(n_without):
    """The level is that of all comparisons together, also of those of columns without a group."""
    n_tests = 4 + 2 * n_without
    critical = NormalDist().inv_cdf(1 - 0.05 / n_tests)
    places = [
        Place(name, group, 1.0, 0.1, "other", (critical + more) * 0.1, 0.1)
        for name, group, more in [("a", "x", 0.01), ("b", "x", -0.01), ("c", "y", -1), ("d", "y", -1)]
    ]
    places += [Place(f"e{number}", None, 0.0, 0.1, "x", 0.0, 0.1) for number in range(n_without)]
    facts = key_facts(Key(100, 2.0, 2.0, 1.0, 0.0, 0.1, tuple(places)))
    assert [one["column"] for one in facts["columns"] if one["verdict"] == "better in another group"] == ["a"]
