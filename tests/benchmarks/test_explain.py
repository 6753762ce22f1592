from types import SimpleNamespace

import numpy as np
import pytest

from explain import Shown, label_columns, levels, mean, ratio


def group(name, columns, parent=None):
    return SimpleNamespace(name=name, columns=tuple(columns), parent=parent)


BROAD = group("A", "abcd")
OTHER = group("B", "ef")
FINE = [group("A1", "ab", "A"), group("A2", "cd", "A")]


def test_levels_go_from_broad_to_fine_and_keep_groups_without_parts():
    assert levels([BROAD, *FINE, OTHER]) == [[BROAD, OTHER], [*FINE, OTHER]]


def test_groups_without_a_hierarchy_are_one_level():
    assert levels([BROAD, OTHER]) == [[BROAD, OTHER]]


def test_a_column_in_no_group_is_a_group_of_its_own():
    labels = label_columns([*FINE, OTHER], "abcdefgh")
    assert labels[:6] == [0, 0, 1, 1, 2, 2]
    assert len(set(labels)) == 5


def test_shares_are_of_all_tables_together():
    rows = [{"right": 1, "edges": 1}, {"right": 0, "edges": 3}]
    assert ratio("right", "edges")(rows) == 0.25
    assert mean("edges")(rows) == 2


@pytest.mark.parametrize(("value", "shown"), [(0.125, "0.12"), (np.nan, "-"), ("2-4", "2-4")])
def test_what_is_not_known_is_a_dash(value, shown):
    assert Shown("x", lambda rows: value).of([]) == shown
