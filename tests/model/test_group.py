"""Groups that a model keeps: what does not fit its tree is refused."""

from dataclasses import replace

import pytest

from latree.errors import InputError
from latree.model import Group
from latree.model.group import check_groups
from latree.tree import Tree

# Two hidden variables, nodes 6 and 7, with three columns each.
TREE = Tree("abcdef", [*((column, 6 + column // 3) for column in range(6)), (6, 7)])
FIRST = Group("first", "main", ("a", "b", "c"), "H1", None, 0.5, (0, 1, 2, 6), 6, (1.0, 0.0, 0.5))
SECOND = Group("second", "main", ("d", "e", "f"), "H2", 2, None, (3, 4, 5, 7), 7)
ALL = Group("all", "broad", tuple("abcdef"), "H1", None, None, tuple(range(8)), 6)
PART = Group("part", "fine", ("d", "e"), "H2", 1, None, (3, 4, 7), 7)


def test_groups_that_fit():
    check_groups([FIRST, SECOND, ALL, PART], TREE)
    check_groups([], TREE)


@pytest.mark.parametrize("group", [FIRST, SECOND, ALL, PART])
def test_plain_data_come_back(group):
    assert Group.from_dict(group.to_dict(), TREE) == group


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        ([ALL, FIRST], "must come first"),
        ([FIRST, replace(SECOND, parent=None), FIRST], "column 'a' is in two main groups"),
        ([replace(FIRST, columns=("a", "b"))], "columns are not"),
        ([replace(FIRST, columns=("a", "b", "c", "c"))], "columns are not"),
        ([replace(FIRST, nodes=(0, 1, 2, 7), centre=7, hidden="H2")], "not connected"),
        ([replace(FIRST, nodes=(0, 1, 2, 6, 8))], "nodes of the tree"),
        ([replace(FIRST, nodes=(6, 0, 1, 2))], "sorted"),
        ([replace(FIRST, nodes=(6,), columns=())], "columns are not"),
        ([replace(FIRST, centre=7, hidden="H2")], "centre"),
        ([replace(FIRST, hidden="H2")], "hidden variable"),
        ([replace(FIRST, centre=0)], "hidden variable"),
        ([replace(FIRST, stability=1.5)], "between 0 and 1"),
        ([replace(FIRST, column_stability=(1.0, 1.0, -0.5))], "between 0 and 1"),
        ([replace(FIRST, column_stability=(1.0,))], "3 columns need"),
        ([replace(FIRST, parent=1)], "no group 1"),
        ([FIRST, replace(SECOND, parent=0)], "not a part of"),
        ([FIRST, SECOND, ALL, replace(PART, parent=0)], "not a part of"),
        ([FIRST, SECOND, ALL, replace(PART, parent=2)], "not a part of"),
    ],
)
def test_groups_that_do_not_fit_are_refused(groups, message):
    with pytest.raises(InputError, match=message):
        check_groups(groups, TREE)
