"""Paragraphs of Python's manual as words."""

import re

from latree.datasets import load_python_manual


def test_cells_say_whether_a_word_occurs():
    manual = load_python_manual()
    for word in ("class", "dictionary", "key"):
        plural = {"class": "classes", "dictionary": "dictionaries", "key": "keys"}[word]
        occurs = manual.rows["text"].str.contains(rf"(?<![a-z])(?:{word}|{plural})(?![a-z])", flags=re.IGNORECASE)
        assert (manual.data[word] == occurs).all()
        assert 0.02 < manual.data[word].mean() < 0.3


def test_no_paragraph_comes_twice_and_none_is_a_heading():
    texts = load_python_manual().rows["text"]
    assert texts.is_unique
    assert min(len(set(re.findall("[a-z]+", text.lower()))) for text in texts) == 13
