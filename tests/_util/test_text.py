"""Plurals, and names that are safe to show."""

import pytest

from latree._util.text import plural, printable


@pytest.mark.parametrize(("number", "text"), [(0, "0 rows"), (1, "1 row"), (2, "2 rows")])
def test_plurals(number, text):
    assert plural(number, "row") == text


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("plain naïve name", "plain naïve name"),
        ("a\nb\tc\0d", "a\N{REPLACEMENT CHARACTER}b\N{REPLACEMENT CHARACTER}c\N{REPLACEMENT CHARACTER}d"),
        ("a\u2028b", "a\N{REPLACEMENT CHARACTER}b"),
        ("\ud800\uffff", "\N{REPLACEMENT CHARACTER}" * 2),
        ("a\u202eb\ufeff", "ab"),  # a change of direction, a byte order mark
        ("a\u00a0b\u3000c", "a b c"),
        ("\u0646\u200c\u0645", "\u0646\u200c\u0645"),  # letters that must not join
    ],
    ids=ascii,
)
def test_printable_names(name, shown):
    assert printable(name) == shown
