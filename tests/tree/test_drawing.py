"""Trees drawn as text."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings

from helpers.strategies import any_tree
from latree.tree import Tree

checked = settings(deadline=None, derandomize=True, max_examples=100)


@pytest.mark.parametrize(
    ("text", "drawing"),
    [
        ("((a,b),(c,d),e);", "─┬─ e\n ├─┬─ a\n │ └─ b\n └─┬─ c\n   └─ d\n"),
        ("((a,b),(c,d));(e,f);g;", "─┬─┬─ a\n │ └─ b\n └─┬─ c\n   └─ d\n─┬─ e\n └─ f\n─ g\n"),
        ("((((e)d)c)b)a;", "─ c\n ├─ d\n │ └─ e\n └─ b\n   └─ a\n"),
        ("(a,(c,(d)e)b);", "─┬─ a\n └─ b\n   ├─ c\n   └─ e\n     └─ d\n"),
    ],
)
def test_drawings(text, drawing):
    assert Tree.from_newick(text).draw() == drawing


@pytest.mark.parametrize(
    ("text", "drawing"),
    [
        (
            "((a,b)0.5,(c,d)0.07,((e,f)1,g)0.2);",
            "─┬─50─┬─ a\n │    └─ b\n ├─7─┬─ c\n │   └─ d\n └─20─┬─ g\n      └─100─┬─ e\n            └─ f\n",
        ),
        ("((a,b)0.126,c,(d,e));", "─┬─ c\n ├─13─┬─ a\n │    └─ b\n └─┬─ d\n   └─ e\n"),
        ("(a,(((b,c)1))0,d);", "─┬─100─┬─ b\n │     └─ c\n └───0─┬─ a\n       └─ d\n"),
        ("(a,(b,d)c[&support=0.25],e);", "─┬─ a\n ├─ e\n └─25─ c\n      ├─ b\n      └─ d\n"),
    ],
)
def test_support_stands_on_edges_in_per_cent(text, drawing):
    assert Tree.from_newick(text).draw() == drawing


def test_support_stands_on_the_edges_of_hidden_names():
    tree = Tree("abcd", [(4, 0), (4, 1), (4, 5), (5, 2), (5, 3)], support=[np.nan, np.nan, 0.5, np.nan, np.nan])
    assert tree.draw(hidden=True) == "─ H1\n ├─ a\n ├─ b\n └─50─ H2\n      ├─ c\n      └─ d\n"


@checked
@given(any_tree)
def test_drawings_connect_and_show_every_name_once(tree):
    lines = tree.draw().splitlines()
    assert sorted(line.split()[-1] for line in lines) == sorted(tree.names)
    for above, line in pairwise(lines):
        for column, mark in enumerate(line):
            if mark == "│":
                assert above[column : column + 1] in {"│", "├", "┬"}


def test_names_cannot_steer_the_terminal():
    assert Tree(["a\nb", "\x1b[31mred"], [(0, 1)]).draw() == "─ a b\n └─ \ufffd[31mred\n"


def test_hidden_variables_are_drawn_by_name_if_asked():
    tree = Tree.from_newick("((a,b),c,d);")
    assert tree.draw(hidden=True) == "─ H1\n ├─ a\n ├─ b\n └─ H2\n   ├─ c\n   └─ d\n"


def test_some_hidden_variables_have_names():
    tree = Tree.from_newick("((a,b)0.5,(c,d),e);")
    assert tree.draw(names={6: "mo\nod"}) == "─┬─ e\n ├─50─┬─ a\n │    └─ b\n └─ mo od\n   ├─ c\n   └─ d\n"
    assert tree.draw(True, {6: "mood"}) == tree.draw(hidden=True).replace("H2", "mood")


def test_long_names_are_cut():
    drawn = Tree(["x" * 100_000, "y"], [(0, 1)]).draw()
    assert max(map(len, drawn.splitlines())) < 100
    assert "x…x" in drawn
