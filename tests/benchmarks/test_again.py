from types import SimpleNamespace

import numpy as np
import pytest

from again import columns_again, contradicts, edges_again
from latree import Tree
from latree.tree import Split


def tree_of(newick):
    tree = Tree.from_newick(newick)
    return tree.reordered(sorted(tree.names))


@pytest.mark.parametrize(
    ("other", "exact", "contradicted", "transfer"),
    [
        ("(a,b,c,(d,e,f,g));", True, False, 1.0),
        ("(a,b,c,d,(e,f,g));", False, False, 0.5),
        ("(a,b,d,(c,e,f,g));", False, True, 0.0),
        ("(a,b,c,d,e,f,g);", False, False, 0.0),
        ("(a,b,c); (d,e,f,g);", True, False, 1.0),
        ("(a,b,c,(d,e,f));", True, False, 1.0),
    ],
)
def test_what_another_tree_says_about_an_edge(other, exact, contradicted, transfer):
    tree = tree_of("(a,b,c,(d,e,f,g)0.8);")
    (row,) = edges_again(tree, tree_of(other))
    assert row == {"support": 0.8, "transfer": transfer, "exact": exact, "contradicted": contradicted}


def test_a_split_of_other_columns_contradicts_nothing():
    assert not contradicts(tree_of("((a,b),(c,d)); (e,f);"), Split(0b110000, 0b110011))
    assert contradicts(tree_of("((a,b),(c,d)); (e,f);"), Split(0b1010, 0b1111))


def test_a_column_comes_again_with_more_than_half_of_its_mates():
    def group(columns, stability=None, level="main"):
        return SimpleNamespace(columns=tuple(columns), level=level, column_stability=stability)

    one = [group("abcde", [1.0, 0.9, 0.8, 0.7, 0.6]), group("fgh"), group("ab", level="fine")]
    rows = columns_again(one, [group("abcd"), group("ef"), group("gh"), group("abcdefgh", level="broad")])
    assert [row["again"] for row in rows] == [True] * 4 + [False] * 4  # g and h find one of two
    assert [row["stability"] for row in rows[:5]] == [1.0, 0.9, 0.8, 0.7, 0.6]
    assert np.isnan([row["stability"] for row in rows[5:]]).all()
