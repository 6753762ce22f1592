"""Names for formats: accepted, different, and unchanged where that is possible."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers.exports import hostile_names
from latree.export.names import identifier, one_line, state_identifier, unique_names


@given(st.lists(hostile_names, unique=True), st.sampled_from([identifier, state_identifier, one_line]))
def test_names_are_accepted_and_different(names, clean):
    found = unique_names(names, clean)
    assert len({name.casefold() for name in found}) == len(names)
    for name in found:
        assert name == clean(name)  # a number at the end does not make a bad name


@given(st.lists(hostile_names, unique=True))
def test_identifiers_are_words(names):
    for name in unique_names(names, identifier):
        assert re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name)
        assert not re.search("(table|default)[0-9eE]", name)


@given(st.lists(hostile_names, unique=True))
def test_one_line_is_one_line(names):
    for name in unique_names(names, one_line, str):
        assert name
        assert name.splitlines() == [name]
        assert name == " ".join(name.split())


def test_good_names_stay_and_others_get_numbers():
    assert unique_names(["a b", "a_b", "A_B", "c"], identifier) == ["a_b_3", "a_b", "A_B_2", "c"]
    assert unique_names(["a", "A"], identifier) == ["a", "A_2"]
    assert unique_names(["a", "A"], one_line, str) == ["a", "A"]
    assert unique_names(["x y", "x-y", "x_y_2", "x_y"], identifier) == ["x_y_3", "x_y_4", "x_y_2", "x_y"]


@pytest.mark.parametrize(
    ("name", "word"),
    [
        ("<= 2.5", "le_2_5"),
        ("> 2.5", "gt_2_5"),
        ("x>=3", "x_ge_3"),
        ("Größe", "Groe"),
        ("日本", "_"),
        ("2nd", "_2nd"),
        ("table", "table_"),
        ("Variable", "Variable_"),
        ("table1", "table_1"),
        ("", "_"),
    ],
)
def test_identifiers(name, word):
    assert identifier(name) == word


def test_states_may_be_whole_numbers():
    assert [state_identifier(label) for label in ("-1", "007", "2.5", "1e5")] == ["-1", "007", "_2_5", "_1e5"]


def test_many_names_that_become_the_same_take_no_time():
    assert len(set(unique_names(["日" * (i + 1) for i in range(20_000)], identifier))) == 20_000
