"""Plurals, and names that are safe to show."""

import pytest

from latree._util.words import beginning, did_you_mean, listed, one_line, plural, printable, quoted, shortened


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


def test_names_on_one_line():
    assert one_line("two\nlines\t") == "two lines"
    assert one_line("a \u202e\u2066b\x00") == "a b\N{REPLACEMENT CHARACTER}"
    assert one_line("\u2028") == one_line("\u202e") == "(blank)"
    assert (
        one_line("\u2800") == one_line("\u3164 \u2800") == one_line("\u200d") == "(blank)"
    )  # blanks that are no spaces
    assert one_line("a\u2800b") == "a b"
    assert one_line("👩\u200d👧") == "👩\u200d👧"


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("x" * 20, "x" * 20),
        ("x" * 5000, "x" * 13 + "…" + "x" * 6),
        ("I am the life of the party", "I am the life…party"),  # between two words
        ("I am the life it is a party", "I am the life…party"),  # both cuts are between words
        ("I am " + "x" * 100, "I am " + "x" * 8 + "…" + "x" * 6),  # too little would be left
        ("Zufriedenheit mit dem Einkommen", "Zufriedenheit…kommen"),
        ("Zufriedenheit mit der Wohnung", "Zufriedenheit…ohnung"),
        ("two\n lines", "two lines"),
    ],
)
def test_long_names_lose_their_middle(name, shown):
    assert shortened(name, 20) == shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("I am the life of the party", "I am the life of…"),  # between two words
        ("I am the life of it the party", "I am the life of it…"),  # the cut is at the end of a word
        ("I am " + "x" * 100, "I am " + "x" * 14 + "…"),  # too little would be left
    ],
)
def test_long_texts_lose_their_end(text, shown):
    assert beginning(text, 20) == shown


def test_lists_of_names():
    assert listed(["a"]) == "'a'"
    assert listed(["a", "b"]) == "'a' and 'b'"
    assert listed(["a", "b", "c"]) == "'a', 'b' and 'c'"
    assert quoted("two\nlines") == "'two lines'"
    assert len(quoted("x" * 100)) == 42


def test_names_like_an_unknown_one_are_suggested_once():
    assert did_you_mean("siz", ["colour", "size", "size"], 3) == "did you mean 'size'?"
    assert did_you_mean("size", ["sizes", "sized"], 2) == "did you mean 'sizes' or 'sized'?"
    assert did_you_mean("zzz", ["size"]) == ""
