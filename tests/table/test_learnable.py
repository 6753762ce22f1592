"""Tables that cannot be learned from."""

import numpy as np
import pytest

from latree.errors import InputError
from latree.table import Column, Table, as_table
from latree.table.checking import check_learnable


def table_of(*n_states, rows=30):
    columns = [Column(f"x{j}", "integer", tuple(map(str, range(n)))) for j, n in enumerate(n_states)]
    return Table.from_codes(columns, np.column_stack([np.arange(rows) % n for n in n_states]))


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (table_of(2), r"1 feature\(s\) \(column\(s\)\): 'x0'; a tree needs at least two"),
        (table_of(2, 2, rows=0), "the data: no rows, only column names: add rows"),
        (table_of(2, 2, rows=1), "only one row .* add rows"),
        (
            as_table(np.eye(3), weights=np.full(3, 1e-300)),
            "weights of all rows is 3e-300, less than one row, .*'survey'",
        ),
    ],
)
def test_too_little(table, message):
    with pytest.raises(InputError, match=message):
        check_learnable(table)


def test_numbers_of_states():
    check_learnable(table_of(64, 2))
    check_learnable(table_of(65, 1000, rows=20_000))
    for table in (table_of(65, 2, rows=1299), table_of(1001, 2, rows=10**5)):
        with pytest.raises(InputError, match=r"column 'x0' has .* different values"):
            check_learnable(table)
    check_learnable(table_of(65, 2, rows=1300))
    with pytest.raises(InputError, match=r"has 65 different values.*other methods take more"):
        check_learnable(table_of(65, 2, rows=1300), most_states=64)


def test_columns_that_say_nothing():
    with pytest.raises(InputError, match=r"the data: column 'x0' is constant .every cell is '0'"):
        check_learnable(table_of(1, 2))
    with pytest.raises(InputError, match="f: column 'x0' has no value at all"):
        check_learnable(as_table([[None, 1], [None, 2]], columns=table_of(2, 3).columns), "f")
