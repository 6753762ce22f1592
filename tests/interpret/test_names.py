"""Names of groups and hidden variables: made of columns, unique, and the same for any order of columns."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import latree
from helpers.models import copying_model, model_on, on_tree, small_models
from helpers.report import hostile_model
from helpers.strategies import mixed_tree
from latree.interpret.groups import find_groups, with_groups
from latree.interpret.names import choose_names
from latree.interpret.view import View
from latree.tree import Tree

# How strongly the columns of a group copy its hidden variable: the first column the most.
STRENGTHS = (0.9, 0.8, 0.7, 0.6, 0.5)


def grouped(*groups, between=0.2):
    """A model with a hidden variable for each group of column names, in a chain."""
    names = [name for group in groups for name in group]
    home = [number for number, group in enumerate(groups) for _ in group]
    place = [number for group in groups for number, _ in enumerate(group)]
    d = len(names)
    edges = [(column, d + number) for column, number in enumerate(home)]
    edges += [(d + number, d + number + 1) for number in range(len(groups) - 1)]

    def strength(node, parent):
        return STRENGTHS[place[min(node, parent)]] if min(node, parent) < d else between

    return copying_model(Tree(names, edges), strength)


def names_of(model, labels=None):
    """The names of main groups, by their first columns."""
    return [group.name for group in sorted(find_groups(model, labels=labels), key=lambda group: group.nodes)]


def test_a_group_is_named_by_its_most_telling_columns():
    assert names_of(grouped(("space", "orbit", "moon", "nasa"), ("god", "jesus"))) == ["space, orbit +2", "god, jesus"]


def test_columns_that_may_not_belong_to_a_group_do_not_name_it():
    model = grouped(("space", "orbit", "moon", "nasa"), ("god", "jesus"))
    groups = find_groups(model)

    def name(space, orbit):
        own = replace(groups[0], column_stability=(space, orbit, 1.0, 1.0))
        return choose_names(View(model), [own, *groups[1:]])[0][0].name

    assert groups[0].columns == ("space", "orbit", "moon", "nasa")
    assert name(0.45, 0.9) == "orbit, moon +2"
    assert name(0.55, 0.2) == "space, moon +2"
    assert name(0.55, 0.55) == "space, orbit +2"


@pytest.mark.parametrize(
    ("columns", "other", "name"),
    [
        (("N1", "N2", "N3"), ("A1", "A2", "A3"), "N"),
        (("s1_1", "s1_2", "s1_3"), ("s2_1", "s2_2", "s2_3"), "s1"),
        (("mean size", "worst size", "size error"), ("mean age", "worst age", "age error"), "size"),
        (("d3.1", "d3.10", "d3.2"), ("d4.1", "d4.2", "d4.3"), "d3"),
        (("N1", "N2", "N3", "x"), ("A1", "A2", "A3"), "N"),  # three of four have it
        (("N1", "N2", "x"), ("A1", "A2", "A3"), "N1, N2 +1"),  # two of three
        (("N1", "N2", "N3"), ("A1", "A2", "N4"), "N"),  # three of four are here
        (("N1", "N2", "N3"), ("A1", "N5", "N4"), "N1, N2 +1"),  # three of five
        (("N1", "N2"), ("A1", "A2", "A3"), "N1, N2"),  # a pair is named in full
        (("N1", "N2", "N3"), ("N4", "N5", "N6"), "N1, N2 +1"),  # all columns have it
        (("1", "12", "13"), ("A1", "A2", "A3"), "1, 12 +1"),  # a number is no word
        (("N10", "N11", "N12"), ("N1", "N2", "N3"), "N10, N11 +1"),  # N1 is not a part of N10
        (("I like it 1", "I like it 2", "I like it 3"), ("A1", "A2", "A3"), "I like it"),
        (
            ("I do like it 1", "I do like it 2", "I do like it 3"),
            ("A1", "A2", "A3"),
            "I do like it 1, I do like it 2 +1",
        ),
        (tuple(f"How satisfied are you with {x} now" for x in "abc"), ("A1", "A2", "A3"), "How satisfied"),
        (("N1", "N2", "N3", "N"), ("A1", "A2", "A3"), "N1, N2 +2"),  # the stem is a column
        (("H1_1", "H1_2", "H1_3"), ("A1", "A2", "A3"), "H1_1, H1_2 +1"),  # H1 is a hidden variable's other name
    ],
)
def test_stems(columns, other, name):
    assert names_of(grouped(columns, other))[0] == name


@pytest.mark.parametrize(
    ("labels", "names"),
    [
        ({"a": "mood", "b": "mood", "c": "mood", "d": "mood"}, ["mood", "e, f +1"]),
        ({"a": "mood", "b": "mood", "c": "mood"}, ["mood", "e, f +1"]),  # three of four
        ({"a": "mood", "b": "mood", "c": "other"}, ["a, b +2", "e, f +1"]),  # half of the group
        (dict.fromkeys("abcefg", "mood"), ["a, b +2", "e, f +1"]),  # half of the label
        (dict.fromkeys("abcdefg", "mood"), ["mood", "e, f +1"]),  # four of seven
        (dict.fromkeys("abefg", "mood") | {"c": "other", "d": "other"}, ["a, b +2", "mood"]),
        (dict.fromkeys("abcd", "e"), ["e (a, b)", "e, f +1"]),  # a label that is a column
        (dict.fromkeys("abcd", "H2"), ["H2 (a, b)", "e, f +1"]),  # or another variable's technical name
        (dict.fromkeys("abcd", " two\n words "), ["two words", "e, f +1"]),
        (dict.fromkeys("abcd", "long " * 20), [("long " * 20).strip(), "e, f +1"]),
        (dict.fromkeys("abcd", " "), ["a, b +2", "e, f +1"]),
        ({"unknown": "mood"}, ["a, b +2", "e, f +1"]),
    ],
)
def test_labels(labels, names):
    assert names_of(grouped("abcd", "efg"), labels) == names


def test_labels_come_before_stems():
    model = grouped(("N1", "N2", "N3"), ("A1", "A2", "A3"))
    assert names_of(model, dict.fromkeys(("N1", "N2", "N3"), "neuroticism")) == ["neuroticism", "A"]


@pytest.mark.parametrize(("strengths", "name"), [((0.5, 0.49, 0.4), "c, b +1"), ((0.4, 0.4, 0.4), "a, b +1")])
def test_small_differences_decide_and_names_break_ties(strengths, name):
    assert names_of(copying_model(Tree("cba", [(0, 3), (1, 3), (2, 3)]), lambda u, v: strengths[min(u, v)])) == [name]


def test_long_names_are_cut_between_words():
    model = grouped(("I am the life of the party and more", "x" * 40, "c"), "def")
    assert names_of(model)[0] == f"I am the life of…and more, {'x' * 19}…{'x' * 10} +1"
    assert names_of(grouped(("x" * 30, "b"), "def"))[0] == f"{'x' * 30}, b"


def test_hidden_variables_that_are_no_groups():
    # A pair beside one more column, beside three more; a general variable connects two such groups and a column.
    edges = [(0, 8), (1, 8), (8, 9), (2, 9), (9, 10), (3, 11), (4, 11), (5, 11), (11, 10), (10, 12), (6, 12), (7, 12)]
    tree = Tree("abcdefgh", edges)
    strength = {8: 0.9, 9: 0.8, 10: 0.3, 11: 0.7, 12: 0.6}
    model = with_groups(copying_model(tree, lambda node, parent: strength[max(node, parent)]))
    assert dict(zip(tree.node_names[8:], model.hidden_names, strict=True)) == {
        "H1": "a, b +1",
        "H2": "c, a",
        "H3": "between d, g, c",
        "H4": "d, e +1",
        "H5": "g, h",
    }


def test_no_two_names_differ_only_in_the_order_of_their_columns():
    # A chain of hidden variables with one column each between two groups: the nearest of b is c, and that of c is b.
    edges = [(0, 8), (6, 8), (7, 8), (1, 9), (2, 10), (3, 11), (4, 11), (5, 11), (8, 9), (9, 10), (10, 11)]
    tree = Tree("abcdefgh", edges)
    strength = {(8, 9): 0.5, (9, 10): 0.9, (10, 11): 0.48}
    model = with_groups(copying_model(tree, lambda u, v: strength.get((min(u, v), max(u, v)), 0.8)))
    assert model.hidden_names[1:3] == ("b, c", "c, d")
    found = [tuple(sorted(name.split(", "))) for name in model.hidden_names]
    assert len(set(found)) == len(found)


def test_more_than_three_branches_are_counted():
    stars = [((3 * star + i), 12 + star) for star in range(4) for i in range(3)]
    tree = Tree("abcdefghijkl", [*stars, *((12 + star, 16) for star in range(4))])
    model = with_groups(copying_model(tree, lambda node, parent: 0.3 if max(node, parent) == 16 else 0.8))
    assert model.hidden_names[-1] == "between a, d, g +1"


def test_names_that_are_taken_get_more_columns_or_the_technical_name():
    # Commas in names of columns make equal names of different columns.
    tree = Tree(["a, b", "c", "a", "b, c"], [(0, 1), (2, 3)])
    assert names_of(copying_model(tree, lambda *_: 0.5)) == ["a, b, c", "a, b, c (2)"]
    assert names_of(grouped(("a, b", "c", "d"), ("a", "b, c", "e"))) == ["a, b, c +1", "a, b, c, e"]
    assert names_of(grouped(("a, b", "c"), ("a", "b, c"))) == ["a, b, c", "a, b, c (H2)"]


@pytest.mark.parametrize("model", [*small_models(), model_on(mixed_tree(14, 5), [2] * 60, 5), hostile_model()])
def test_every_hidden_variable_has_a_name_of_its_own(model):
    named = with_groups(model)  # LatentTreeModel checks the names
    assert len(named.hidden_names) == model.tree.n_hidden
    assert [group.name for group in named.groups] == [group.name for group in find_groups(model)]
    assert set(named.hidden_names).isdisjoint(model.tree.node_names)
    assert with_groups(named).hidden_names == named.hidden_names


def test_names_of_a_model_without_groups_are_kept():
    model = grouped("abcd", "efg").rename({"H2": "a, b +2"})
    named = with_groups(model)
    assert named.hidden_names == ("a, b, c +1", "a, b +2")
    assert [group.name for group in named.groups] == ["a, b, c +1", "a, b +2"]
    # Groups that were there before are found and named anew.
    assert with_groups(named).hidden_names == ("a, b +2", "e, f +1")
    assert with_groups(replace(named, groups=(), hidden_names=())).hidden_names == ("a, b +2", "e, f +1")


@given(seed=st.integers(0, 10**6), data=st.data())
@settings(deadline=None, max_examples=25)
def test_names_do_not_depend_on_the_order_of_columns(seed, data):
    model = latree.random_model(
        latree.random_tree(10, random_state=seed), n_states=3, start="identity", perturbation=0.2, random_state=seed
    )
    names = data.draw(st.permutations(model.tree.names))
    other = on_tree(model, model.tree.reordered(names))
    assert with_groups(other).hidden_names == with_groups(model).hidden_names
