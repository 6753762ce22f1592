"""Columns that say the same as another one."""

import numpy as np
import pandas as pd

from latree.table import Column, Table, as_table
from latree.table.findings import find_duplicates


def duplicates(table):
    return find_duplicates(table.columns, table.rows)


def test_duplicates_are_found_whatever_their_states_are_called():
    rng = np.random.default_rng(0)
    a = rng.integers(0, 3, 5000)
    other = a.copy()
    other[4999] = (a[4999] + 1) % 3
    hole = np.where(np.arange(5000) == 17, np.nan, a)
    data = pd.DataFrame({"a": a, "b": rng.integers(0, 3, 5000), "same": 2 - a, "other": other, "hole": hole})
    data["word"] = np.array(["x", "y", "z"])[(a + 1) % 3]
    data["hole again"] = hole
    found = duplicates(as_table(data))
    assert [(one.column, one.what) for one in found] == [
        ("same", "says the same as 'a' in every row"),
        ("word", "says the same as 'a' in every row"),
        ("hole again", "says the same as 'hole' in every row"),
    ]
    assert duplicates(as_table(data.iloc[:0])) == []


def test_columns_that_differ_at_the_same_place_of_two_blocks_are_no_duplicates():
    codes = np.zeros((4096, 2), dtype=int)
    codes[5, 0] = codes[2048 + 5, 1] = 1
    columns = as_table([[0, 0], [1, 1]]).columns
    assert duplicates(Table.from_codes(columns, codes)) == []


def test_columns_of_many_states_are_not_compared():
    for n_states, found in ((256, 1), (257, 0)):
        columns = [Column(name, "integer", tuple(map(str, range(n_states)))) for name in "ab"]
        codes = np.arange(1000)[:, None] % n_states
        assert len(duplicates(Table.from_codes(columns, np.column_stack([codes, codes])))) == found
